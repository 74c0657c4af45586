/// Times of day as logs write them, counted in seconds since 1970 without leap seconds.
package enum UTCTime {
    /// The days from 1 January 1970 to a date of the Gregorian calendar; nil when there is no such date.
    static func days(year: Int, month: Int, day: Int) -> Int? {
        guard (1...9999).contains(year), (1...12).contains(month), day >= 1, day <= length(ofMonth: month, year) else {
            return nil
        }
        // Years are counted from March, so that the day that some years have more is the last of its year.
        let year = month > 2 ? year : year - 1
        let monthFromMarch = (month + 9) % 12
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        return 365 * year + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }

    private static func length(ofMonth month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The seconds of an xsd:dateTime such as `2024-05-06T07:08:09.250Z` or `...+02:00`; without a zone it is UTC.
    package static func seconds(dateTime text: some StringProtocol) -> Double? {
        var rest = Array(text.utf8)[...]
        guard let year = number(&rest, 4), skip("-", &rest), let month = number(&rest, 2), skip("-", &rest),
            let day = number(&rest, 2), skip("T", &rest), let hour = number(&rest, 2), skip(":", &rest),
            let minute = number(&rest, 2), skip(":", &rest), let second = number(&rest, 2),
            let days = days(year: year, month: month, day: day), hour < 24, minute < 60, second <= 60
        else { return nil }
        var fraction = 0.0
        if skip(".", &rest) {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            guard (1...12).contains(digits.count) else { return nil }
            fraction = Double("0." + String(decoding: digits, as: UTF8.self)) ?? 0
            rest = rest.dropFirst(digits.count)
        }
        guard let zone = zone(&rest), rest.isEmpty else { return nil }
        return Double(((days * 24 + hour) * 60 + minute - zone) * 60 + second) + fraction
    }

    /// The minutes by which a zone is ahead of UTC.
    private static func zone(_ rest: inout ArraySlice<UInt8>) -> Int? {
        if rest.isEmpty || skip("Z", &rest) { return 0 }
        let east = skip("+", &rest)
        guard east || skip("-", &rest), let hours = number(&rest, 2), skip(":", &rest), let minutes = number(&rest, 2),
            hours <= 14, minutes < 60
        else { return nil }
        return (hours * 60 + minutes) * (east ? 1 : -1)
    }

    private static func number(_ rest: inout ArraySlice<UInt8>, _ count: Int) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func skip(_ character: Unicode.Scalar, _ rest: inout ArraySlice<UInt8>) -> Bool {
        guard let first = rest.first, UInt32(first) == character.value else { return false }
        rest = rest.dropFirst()
        return true
    }
}
