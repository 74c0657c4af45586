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
        let bytes = Array(text.utf8)
        return instant(bytes, 0..<bytes.count)
    }

    /// The same from a part of a line.
    static func instant(_ line: [UInt8], _ part: Range<Int>) -> Instant? {
        guard part.count > 9, line[part.lowerBound] == 0x54, line[part.lowerBound + 1] == 0x2b else { return nil }
        let end = part.upperBound
        var offset = part.lowerBound + 2
        guard let hours = whole(line, &offset, end), hours < 2_000_000, let minutes = sixtieth(line, &offset, end),
            let seconds = sixtieth(line, &offset, end)
        else { return nil }
        var nanoseconds: UInt64 = 0
        if offset < end {
            guard line[offset] == 0x2e else { return nil }
            offset += 1
            let start = offset
            guard end - start <= 9, let fraction = whole(line, &offset, end), offset == end else { return nil }
            nanoseconds = fraction
            for _ in (offset - start)..<9 { nanoseconds *= 10 }
        }
        return Instant(nanoseconds: Int64(((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000 + nanoseconds))
    }

    /// A colon and a number below 60.
    private static func sixtieth(_ line: [UInt8], _ offset: inout Int, _ end: Int) -> UInt64? {
        guard offset < end, line[offset] == 0x3a else { return nil }
        offset += 1
        return whole(line, &offset, end).flatMap { $0 < 60 ? $0 : nil }
    }

    /// The digits from an offset on, at most 18; nil when there are none.
    static func whole(_ line: [UInt8], _ offset: inout Int, _ end: Int) -> UInt64? {
        let start = offset
        var number: UInt64 = 0
        while offset < end, line[offset] >= 0x30, line[offset] <= 0x39, offset - start < 18 {
            number = number * 10 + UInt64(line[offset] - 0x30)
            offset += 1
        }
        return offset > start ? number : nil
    }

    /// `T+02:14:07.250`: whole milliseconds, cut, for tables that people read.
    package static func tableText(_ instant: Instant) -> String {
        text(Instant(nanoseconds: instant.nanoseconds / 1_000_000 * 1_000_000))
    }

    /// `612 ms`, and below a millisecond `340 µs`.
    static func shortSpan(_ span: Instant.Span) -> String {
        let microseconds = span.nanoseconds / 1_000
        return microseconds > 0 && microseconds < 1_000 ? "\(microseconds) µs" : "\(span.milliseconds) ms"
    }

    /// `16m`, `1h4m`, `250ms`, `340µs`: the two largest units.
    package static func text(_ span: Instant.Span) -> String {
        let milliseconds = max(0, span.milliseconds)
        let seconds = milliseconds / 1000
        if milliseconds == 0 {
            let microseconds = max(0, span.nanoseconds / 1_000)
            return microseconds == 0 ? "0s" : "\(microseconds)µs"
        }
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
    package static func text(_ decision: DecisionID) -> String { padded(UInt8(ascii: "d"), decision.number) }

    /// `e-000398`.
    package static func text(_ event: EventID) -> String { padded(UInt8(ascii: "e"), event.number) }

    /// Up to 15 bytes are a string without memory of its own, and every delivery has two of these.
    private static func padded(_ letter: UInt8, _ number: UInt64) -> String {
        let end = number < 10_000_000_000_000 ? 15 : 22
        return unsafe String(unsafeUninitializedCapacity: end) { text in
            var start = end
            var rest = number
            repeat {
                start -= 1
                unsafe text[start] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0 || end - start < 6
            unsafe text[0] = letter
            unsafe text[1] = UInt8(ascii: "-")
            for place in start..<end { unsafe text[2 + place - start] = unsafe text[place] }
            return 2 + end - start
        }
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
        self == .notRunning && hasExited ? Self.terminated : word
    }

    /// The state of a record's word.
    package init?(recordWord: String) {
        self.init(word: recordWord == Self.terminated ? Self.notRunning.word : recordWord)
    }

    private static let terminated = "terminated"
}
