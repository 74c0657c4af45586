/// One sentence of NMEA 0183 whose checksum is right: `$GPGGA,…*47`.
package struct NMEASentence: Hashable, Sendable {
    /// Who says it: `GP` GPS, `GL` GLONASS, `GA` Galileo, `GB` BeiDou, `GN` several of them together.
    package var talker: Substring
    /// What it is: `GGA`, `RMC`.
    package var kind: Substring
    /// What follows the address, an empty field for each thing not known.
    package var fields: [Substring]

    /// The longest sentence read, in bytes. The standard allows 82 with its line end; some receivers say more.
    package static let lengthLimit = 256

    /// Reads a line without its end.
    ///
    /// Nil when it is no sentence: the checksum is missing or wrong, a character is not printable ASCII, or the address
    /// is not two letters and three.
    package init?(_ line: some Collection<UInt8>) {
        let bytes = Array(line)
        guard bytes.count <= Self.lengthLimit, bytes.first == UInt8(ascii: "$"),
            bytes.allSatisfy({ (0x20...0x7e).contains($0) }),
            bytes.count >= 4, bytes[bytes.count - 3] == UInt8(ascii: "*"),
            let said = UInt8(String(decoding: bytes.suffix(2), as: UTF8.self), radix: 16)
        else { return nil }
        let body = bytes[1..<bytes.count - 3]
        guard body.reduce(0, ^) == said else { return nil }
        let parts = String(decoding: body, as: UTF8.self).split(separator: ",", omittingEmptySubsequences: false)
        let address = parts[0]
        guard address.utf8.count == 5, address.utf8.allSatisfy({ (0x41...0x5a).contains($0) }) else { return nil }
        talker = address.prefix(2)
        kind = address.suffix(3)
        fields = Array(parts.dropFirst())
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

    /// A time of day `hhmmss.ss`, in milliseconds.
    func timeOfDay(_ position: Int) -> Int? {
        guard let text = text(position), text.utf8.count >= 6, let value = number(position), value >= 0 else {
            return nil
        }
        let milliseconds = Int((value * 1000).rounded())
        let (hours, minutes, rest) = (
            milliseconds / 10_000_000, milliseconds / 100_000 % 100, milliseconds % 100_000
        )
        guard hours < 24, minutes < 60, rest < 61_000 else { return nil }
        return (hours * 60 + minutes) * 60_000 + rest
    }

    /// A date `ddmmyy`, in days since 1970; the years are 1980 to 2079.
    func date(_ position: Int) -> Int? {
        guard let text = text(position), text.utf8.count == 6, let value = Int(text), value >= 0 else { return nil }
        let year = value % 100
        return UTCTime.days(year: year < 80 ? 2000 + year : 1900 + year, month: value / 100 % 100, day: value / 10_000)
    }
}
