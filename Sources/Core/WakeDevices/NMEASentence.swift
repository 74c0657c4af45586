/// One sentence of NMEA 0183: `$GPGGA,…*47`.
///
/// Its checksum is right, or it has none: the standard leaves that open for most sentences.
package struct NMEASentence: Hashable, Sendable {
    /// Whose words it has.
    package enum Family: Hashable, Sendable {
        /// The standard's.
        case standard
        /// A maker's own: `$P…`.
        case maker
        /// Those of AIS, packed into text: `!…`.
        case packed
    }

    package var family: Family
    /// Who says it: `GP` GPS, `GL` GLONASS, `GA` Galileo, `GB` BeiDou, `GN` several of them together. Empty where the
    /// address is not two letters and three.
    package var talker: Substring
    /// What it is: `GGA`, `RMC`.
    package var kind: Substring
    /// What follows the address, an empty field for each thing not known.
    package var fields: [Substring]
    /// Whether it had a checksum.
    package var isChecked: Bool

    /// The longest sentence read, in bytes. The standard allows 82 with its line end; some receivers say more.
    package static let lengthLimit = 256

    /// How many fields a sentence without a checksum has at least: with fewer it may be one that was cut short.
    private static let leastFields = ["RMC": 9, "GGA": 10, "GNS": 10, "GLL": 6, "GSA": 17, "VTG": 6, "ZDA": 4]

    /// The kinds of which something is read.
    package static func isRead(_ kind: Substring) -> Bool { leastFields[String(kind)] != nil }

    /// Reads a line without its end; a time and TAG blocks may stand in front.
    ///
    /// Nil when it is no sentence: the checksum is wrong, a character is not printable ASCII, the address is none, or it has no
    /// checksum and too few fields.
    package init?(_ line: some Collection<UInt8>) {
        var body = LogLine.body(line)
        guard body.count <= Self.lengthLimit, let first = body.popFirst(),
            first == UInt8(ascii: "$") || first == UInt8(ascii: "!"),
            body.allSatisfy({ (0x20...0x7e).contains($0) })
        else { return nil }
        while body.last == UInt8(ascii: " ") { body.removeLast() }
        isChecked = false
        if let star = body.lastIndex(of: UInt8(ascii: "*")) {
            let digits = body[(star + 1)...]
            body = body[..<star]
            guard digits.count == 2, UInt8(String(decoding: digits, as: UTF8.self), radix: 16) == body.reduce(0, ^)
            else { return nil }
            isChecked = true
        }
        let parts = String(decoding: body, as: UTF8.self).split(separator: ",", omittingEmptySubsequences: false)
        fields = Array(parts.dropFirst())
        (family, talker, kind) = (.standard, "", parts[0])
        let isUsual = kind.utf8.count == 5 && kind.utf8.allSatisfy { (0x41...0x5a).contains($0) }
        if first == UInt8(ascii: "!") {
            family = .packed
        } else if kind.first == "P" {
            family = .maker
        } else if isUsual {
            (talker, kind) = (kind.prefix(2), kind.suffix(3))
        }
        guard !kind.isEmpty, kind.allSatisfy({ $0.isLetter || $0.isNumber }) else { return nil }
        if isChecked { return }
        // Its form is all that tells it from noise.
        guard isUsual || family == .maker && kind.utf8.count >= 4,
            fields.count >= Self.leastFields[String(kind)] ?? 1
        else { return nil }
    }

    /// The field at a position; nil when it is empty or missing.
    func text(_ position: Int) -> Substring? {
        guard fields.indices.contains(position), !fields[position].isEmpty else { return nil }
        return fields[position]
    }

    /// A number of digits, one dot and a sign at most.
    func number(_ position: Int) -> Double? {
        guard let text = text(position), text.utf8.count <= 20 else { return nil }
        let plain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2e || $0 == 0x2d }
        return plain ? Double(text) : nil
    }

    /// A number of so many digits and nothing else.
    private func digits(_ text: Substring, _ count: Int) -> Int? {
        guard text.utf8.count == count, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }

    /// An angle `dddmm.mmmm` with its half of the globe in the next field, in degrees.
    func angle(_ position: Int, limit: Double, _ positive: Substring, _ negative: Substring) -> Double? {
        guard let value = number(position), value >= 0, let side = text(position + 1),
            side == positive || side == negative
        else { return nil }
        let degrees = (value / 100).rounded(.down)
        let minutes = value - degrees * 100
        guard minutes < 60 else { return nil }
        let angle = degrees + minutes / 60
        guard angle <= limit else { return nil }
        return side == positive ? angle : -angle
    }

    /// A place whose latitude begins at a position.
    func place(_ position: Int) -> Coordinate? {
        guard let latitude = angle(position, limit: 90, "N", "S"),
            let longitude = angle(position + 2, limit: 180, "E", "W")
        else { return nil }
        return Coordinate(checking: latitude, longitude)
    }

    /// A time of day `hhmmss.ss`, in milliseconds; that of a leap second is none.
    func timeOfDay(_ position: Int) -> Int? {
        guard let clock = clock(position), clock.second < 60 else { return nil }
        return (clock.minutes * 60 + clock.second) * 1_000 + clock.milliseconds
    }

    /// Whether its time is in a leap second: `235960.00`.
    func isOfLeapSecond(_ position: Int) -> Bool { clock(position)?.second == 60 }

    /// Minutes of the day, seconds to 60, and what is more.
    private func clock(_ position: Int) -> (minutes: Int, second: Int, milliseconds: Int)? {
        guard let text = text(position), number(position) != nil, let whole = digits(text.prefix(6), 6)
        else { return nil }
        let (hour, minute, second) = (whole / 10_000, whole / 100 % 100, whole % 100)
        let rest = text.dropFirst(6)
        guard hour < 24, minute < 60, second <= 60, rest.isEmpty || rest.first == ".",
            let fraction = Double("0\(rest)0")
        else { return nil }
        return (hour * 60 + minute, second, min(Int((fraction * 1000).rounded()), 999))
    }

    /// A date `ddmmyy`, in days since 1970; the years are 1980 to 2079.
    func date(_ position: Int) -> Int? {
        guard let text = text(position), let value = digits(text, 6) else { return nil }
        let year = value % 100
        return UTCTime.days(year: year < 80 ? 2000 + year : 1900 + year, month: value / 100 % 100, day: value / 10_000)
    }

    /// A date of three fields, day, month and year, in days since 1970.
    func longDate(_ position: Int) -> Int? {
        guard let day = text(position).flatMap({ Int($0) }), let month = text(position + 1).flatMap({ Int($0) }),
            let year = text(position + 2).flatMap({ digits($0, 4) })
        else { return nil }
        return UTCTime.days(year: year, month: month, day: day)
    }
}
