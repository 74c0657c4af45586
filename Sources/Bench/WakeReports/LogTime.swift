import WakeModel

/// How instants, numbers and spans look in logs.
package enum LogTime {
    /// `T+02:14:07.250`; six or nine digits after the point only when milliseconds do not say it all.
    package static func text(_ instant: Instant) -> String {
        var line = LineBuffer()
        line.append(instant)
        return line.text
    }

    /// `T+02:14:07`: whole seconds, cut.
    package static func shortText(_ instant: Instant) -> String {
        String(text(instant).prefix { $0 != "." })
    }

    /// The instant of a text that ``text(_:)`` gave.
    package static func instant(_ text: String) -> Instant? {
        guard text.hasPrefix("T+") else { return nil }
        let parts = text.dropFirst(2).split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let hours = Int64(parts[0]), let minutes = Int64(parts[1]), minutes < 60 else {
            return nil
        }
        let seconds = parts[2].split(separator: ".", omittingEmptySubsequences: false)
        guard let whole = seconds.first.flatMap({ Int64($0) }), whole < 60, hours >= 0, minutes >= 0, whole >= 0,
            hours < 2_000_000
        else { return nil }
        var nanoseconds: Int64 = 0
        if seconds.count == 2 {
            guard seconds[1].count <= 9, let digits = Int64(seconds[1]), digits >= 0 else { return nil }
            nanoseconds = digits
            for _ in seconds[1].count..<9 { nanoseconds *= 10 }
        } else if seconds.count != 1 {
            return nil
        }
        return Instant(nanoseconds: ((hours * 60 + minutes) * 60 + whole) * 1_000_000_000 + nanoseconds)
    }

    /// `16m`, `1h4m`, `250ms`: the two largest units.
    package static func text(_ span: Instant.Span) -> String {
        let milliseconds = max(0, span.milliseconds)
        let seconds = milliseconds / 1000
        if milliseconds < 1000 { return "\(milliseconds)ms" }
        if seconds < 60 {
            let tenths = milliseconds % 1000 / 100
            return tenths == 0 ? "\(seconds)s" : "\(seconds).\(tenths)s"
        }
        if seconds < 3600 { return seconds % 60 == 0 ? "\(seconds / 60)m" : "\(seconds / 60)m\(seconds % 60)s" }
        let minutes = seconds / 60
        return minutes % 60 == 0 ? "\(minutes / 60)h" : "\(minutes / 60)h\(minutes % 60)m"
    }

    /// `d-000412`.
    package static func text(_ decision: DecisionID) -> String { padded("d-", decision.number) }

    /// `e-000398`.
    package static func text(_ event: EventID) -> String { padded("e-", event.number) }

    private static func padded(_ prefix: String, _ number: UInt64) -> String {
        var line = LineBuffer()
        line.append(raw: prefix)
        line.append(number, width: 6)
        return line.text
    }

    /// The number of `d-000412`, `e-000398` or `x-17`.
    package static func number(_ id: String) -> UInt64? {
        guard id.count > 2 else { return nil }
        return UInt64(id.dropFirst(2))
    }
}

extension AppState {
    /// The word used in records; an app without a process is `terminated` once it has ended.
    package func word(hasExited: Bool) -> String {
        switch self {
        case .notRunning: hasExited ? "terminated" : "not-running"
        case .inactive: "inactive"
        case .active: "active"
        case .background: "background"
        case .suspended: "suspended"
        }
    }

    /// The state of a record's word.
    package init?(recordWord: String) {
        guard
            let state = Self.allCases.first(where: {
                $0.word(hasExited: false) == recordWord || $0.word(hasExited: true) == recordWord
            })
        else { return nil }
        self = state
    }
}
