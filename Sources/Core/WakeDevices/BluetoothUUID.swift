/// The one spelling of a Bluetooth UUID: `180D` for those of the Bluetooth base, else 36 characters in capitals.
package enum BluetoothUUID {
    private static let base = "-0000-1000-8000-00805F9B34FB"

    /// The canonical spelling of a UUID of 4, 8 or 36 characters; nil for anything else.
    package static func canonical(_ text: String) -> String? {
        let capitals = text.uppercased()
        switch capitals.utf8.count {
        case 4: return isHex(capitals) ? capitals : nil
        case 8: return isHex(capitals) ? short(capitals + base) : nil
        case 36: return isLong(capitals) ? short(capitals) : nil
        default: return nil
        }
    }

    /// The 36 characters of a canonical UUID.
    package static func long(_ canonical: String) -> String {
        canonical.utf8.count == 4 ? "0000" + canonical + base : canonical
    }

    private static func short(_ long: String) -> String {
        guard long.hasPrefix("0000") && long.hasSuffix(base) else { return long }
        return String(long.dropFirst(4).prefix(4))
    }

    private static func isHex(_ text: some StringProtocol) -> Bool {
        text.unicodeScalars.allSatisfy { $0.isASCII && Character($0).isHexDigit }
    }

    private static func isLong(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map { $0.utf8.count } == [8, 4, 4, 4, 12] && parts.allSatisfy { isHex($0) }
    }
}

extension YAMLNode {
    /// A UUID in its one spelling.
    func uuid() throws(FileError) -> String {
        let expected = "a UUID of 4, 8 or 36 characters such as 180D"
        guard let uuid = BluetoothUUID.canonical(try text(expecting: expected)) else { throw error(expected: expected) }
        return uuid
    }

    /// A UUID of 36 characters.
    func longUUID() throws(FileError) -> String { BluetoothUUID.long(try uuid()) }

    /// A list of UUIDs.
    func uuids() throws(FileError) -> [String] {
        try list(expecting: "UUIDs", limit: 64).map { (node) throws(FileError) in try node.uuid() }
    }
}
