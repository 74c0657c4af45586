import WakeDevices
import WakeModel

/// The UUIDs by which apps know peripherals: made from the peripheral's name, so the same in every run and process.
final class PeripheralIdentifiers {
    private let names: NameTable
    private var identifiers: [NameID: String] = [:]
    private var known: [String: NameID] = [:]

    init(names: NameTable) {
        self.names = names
    }

    /// The identifier of a peripheral: 36 characters in capitals.
    func identifier(of name: NameID) -> String {
        if let identifier = identifiers[name] { return identifier }
        let identifier = Self.make(names.text(name))
        identifiers[name] = identifier
        known[identifier] = name
        return identifier
    }

    /// The peripheral of an identifier that was given out before; apps may write it in either case.
    func name(of identifier: String) -> NameID? {
        known[identifier] ?? known[identifier.uppercased()]
    }

    /// A UUID of version 8 (RFC 9562: for makers' own schemes) out of two 64-bit FNV-1a hashes.
    private static func make(_ text: String) -> String {
        func hash(_ start: UInt64) -> UInt64 {
            text.utf8.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        }
        let high = hash(0xcbf2_9ce4_8422_2325) & ~0xf000 | 0x8000
        let low = hash(0x8422_2325_cbf2_9ce4) & ~(0xc0 << 56) | 0x80 << 56
        let digits = Array((high.hexadecimal + low.hexadecimal).uppercased())
        var parts: [String] = []
        var start = 0
        for length in [8, 4, 4, 4, 12] {
            parts.append(String(digits[start..<start + length]))
            start += length
        }
        return parts.joined(separator: "-")
    }
}
