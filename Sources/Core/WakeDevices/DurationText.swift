import WakeModel

/// Times as they are written in files: `250ms`, `152.5ms`, `30s`, `1h30m`, `T+01:30:00.250`, `0`.
package enum DurationText {
    /// The longest time a file can say.
    package static let longest = Instant.Span.seconds(3660 * 24 * 3600)

    private static let units: [(word: String, nanoseconds: Int64)] = [
        ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000),
    ]

    /// The shortest text that says a time exactly, such as `10m`, `1m30s` or `152.5ms`.
    package static func text(_ span: Instant.Span) -> String {
        var rest = span.nanoseconds
        var text = ""
        for (word, nanoseconds) in units.dropFirst().reversed() where rest >= nanoseconds {
            text += "\(rest / nanoseconds)\(word)"
            rest %= nanoseconds
        }
        let millisecond = units[0].nanoseconds
        if rest > 0 {
            let fraction = String(millisecond + rest % millisecond).dropFirst()
            let digits = fraction.lastIndex { $0 != "0" }.map { fraction[...$0] } ?? ""
            text += "\(rest / millisecond)\(digits.isEmpty ? "" : ".\(digits)")ms"
        }
        return text.isEmpty ? "0" : text
    }

    /// The same for people: `10 s` where it is less than a minute of whole seconds.
    package static func words(_ span: Instant.Span) -> String {
        let second: Int64 = 1_000_000_000
        let isFew = span.nanoseconds % second == 0 && span.nanoseconds < 60 * second
        return isFew ? "\(span.nanoseconds / second) s" : text(span)
    }

    /// The time a text says; nil when it says none or one longer than ``longest``.
    package static func span(_ text: String) -> Instant.Span? {
        if text == "0" { return .zero }
        let span = text.hasPrefix("T+") ? clock(text.dropFirst(2)) : sum(text[...])
        guard let span, span <= longest else { return nil }
        return span
    }

    private static func sum(_ text: Substring) -> Instant.Span? {
        var rest = text
        var total: Int64 = 0
        while !rest.isEmpty {
            guard let number = digits(&rest, atMost: 15) else { return nil }
            let places = skip(".", &rest) ? rest.prefix { $0.isASCII && $0.isNumber } : nil
            rest = rest.dropFirst(places?.count ?? 0)
            let word = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(word.count)
            guard let unit = units.first(where: { $0.word == word }),
                let fraction = fraction(places, of: unit.nanoseconds)
            else { return nil }
            let (whole, tooLong) = number.multipliedReportingOverflow(by: unit.nanoseconds)
            let (part, tooMuch) = whole.addingReportingOverflow(fraction)
            let (next, overflow) = total.addingReportingOverflow(part)
            if tooLong || tooMuch || overflow { return nil }
            total = next
        }
        return text.isEmpty ? nil : Instant.Span(nanoseconds: total)
    }

    /// What digits after a point are of a unit, in nanoseconds; nil for no digits, or where they say less than one.
    private static func fraction(_ places: Substring?, of unit: Int64) -> Int64? {
        guard let places else { return 0 }
        guard let digits = Int64(places), (1...9).contains(places.count) else { return nil }
        let divisor = places.reduce(Int64(1)) { product, _ in product * 10 }
        let (high, low) = digits.multipliedFullWidth(by: unit)
        let (quotient, remainder) = divisor.dividingFullWidth((high, low))
        return remainder == 0 ? quotient : nil
    }

    private static func clock(_ text: Substring) -> Instant.Span? {
        var rest = text
        guard let hours = digits(&rest, atMost: 5), skip(":", &rest), let minutes = digits(&rest, atMost: 2),
            skip(":", &rest), let seconds = digits(&rest, atMost: 2), minutes < 60, seconds < 60
        else { return nil }
        var milliseconds: Int64 = 0
        if skip(".", &rest) {
            guard rest.count == 3, let fraction = digits(&rest, atMost: 3) else { return nil }
            milliseconds = fraction
        }
        if !rest.isEmpty { return nil }
        return .milliseconds(((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds)
    }

    private static func digits(_ text: inout Substring, atMost limit: Int) -> Int64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, digits.count <= limit else { return nil }
        text = text.dropFirst(digits.count)
        return Int64(digits)
    }

    private static func skip(_ character: Character, _ text: inout Substring) -> Bool {
        guard text.first == character else { return false }
        text = text.dropFirst()
        return true
    }
}
