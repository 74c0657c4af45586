extension FieldValue {
    /// A Bluetooth UUID in capitals.
    func uuid(_ text: String) throws(WireError) -> String {
        guard let canonical = WireUUID.canonical(text) else {
            throw bad("a Bluetooth UUID of 4, 8 or 36 characters")
        }
        return canonical
    }

    func uuids() throws(WireError) -> [String] {
        try texts().map { (text) throws(WireError) in try uuid(text) }
    }
}

extension FieldShape where Value == String {
    /// A Bluetooth UUID of 4, 8 or 36 characters, in capitals.
    static var uuid: FieldShape {
        .string { (found) throws(WireError) in
            try found.uuid(found.text())
        }
    }
}

extension FieldShape where Value == [String] {
    /// Bluetooth UUIDs in capitals.
    static var uuids: FieldShape {
        .strings { (found) throws(WireError) in
            try found.uuids()
        }
    }

    /// 128-bit UUIDs in capitals.
    static var identifiers: FieldShape {
        .strings { (found) throws(WireError) in
            let all = try found.uuids()
            guard all.allSatisfy({ $0.utf8.count == 36 }) else {
                throw found.bad("UUIDs of 36 characters")
            }
            return all
        }
    }
}

/// Bluetooth UUIDs as text.
package enum WireUUID {
    /// The text in capitals, or nil when it is not 4 or 8 hexadecimal digits or the 36-character form.
    package static func canonical(_ text: String) -> String? {
        var text = text
        var isLower = false
        let isUUID = text.withUTF8 { bytes in
            guard bytes.count == 4 || bytes.count == 8 || bytes.count == 36 else {
                return false
            }
            for index in 0..<bytes.count {
                let isDash = bytes.count == 36 && (index == 8 || index == 13 || index == 18 || index == 23)
                switch unsafe bytes[index] {
                case UInt8(ascii: "-") where isDash, 0x30...0x39 where !isDash, 0x41...0x46 where !isDash: break
                case 0x61...0x66 where !isDash: isLower = true
                default: return false
                }
            }
            return true
        }
        guard isUUID else {
            return nil
        }
        return isLower ? text.uppercased() : text
    }
}
