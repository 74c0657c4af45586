/// Lengths, speeds and angles as they are written in files: `5m`, `1.5km`, `50km/h`, `13.9m/s`, `45`.
enum Quantity {
    /// Metres.
    static let lengths: [(word: String, factor: Double)] = [("km", 1000), ("m", 1)]
    /// Metres a second.
    static let speeds: [(word: String, factor: Double)] = [("km/h", 1 / 3.6), ("m/s", 1), ("kn", 1852.0 / 3600)]

    /// The quantity a text says: a number, then one of the units. Nil when it says none.
    static func value(_ text: String, in units: [(word: String, factor: Double)]) -> Double? {
        for unit in units where text.hasSuffix(unit.word) {
            return number(text.dropLast(unit.word.count)).map { $0 * unit.factor }
        }
        return nil
    }

    /// A decimal number: a sign, digits, a point and an exponent as in `1e-05`, nothing else that Swift would read.
    static func number(_ text: some StringProtocol) -> Double? {
        let plain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "+"),
                UInt8(ascii: "e"), UInt8(ascii: "E"):
                true
            default: false
            }
        }
        guard plain, text.utf8.first != UInt8(ascii: "+"), text.utf8.count <= 24 else { return nil }
        return Double(text)
    }
}

extension YAMLNode {
    /// A length in metres.
    func metres(in range: ClosedRange<Double>) throws(FileError) -> Double {
        let expected = "a length such as 5m or 1.5km, from \(range.lowerBound.plain)m to \(range.upperBound.plain)m"
        guard let metres = Quantity.value(try text(expecting: expected), in: Quantity.lengths), range.contains(metres)
        else { throw error(expected: expected) }
        return metres
    }

    /// A speed in metres a second.
    func speed() throws(FileError) -> Double {
        let expected = "a speed such as 50km/h or 13.9m/s, from 0.001m/s to 10000m/s"
        guard let speed = Quantity.value(try text(expecting: expected), in: Quantity.speeds),
            (0.001...10_000).contains(speed)
        else { throw error(expected: expected) }
        return speed
    }

    func number(in range: ClosedRange<Double>, _ what: String) throws(FileError) -> Double {
        let expected = "\(what) from \(range.lowerBound.plain) to \(range.upperBound.plain)"
        guard let number = Quantity.number(try text(expecting: expected)), range.contains(number) else {
            throw error(expected: expected)
        }
        return number
    }
}

extension Double {
    /// Without `.0`.
    fileprivate var plain: String { self == rounded() ? "\(Int(self))" : "\(self)" }
}
