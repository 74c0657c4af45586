import WakeDevices

/// A dump of umockdev's: devices with their properties and attributes, each before those that it hangs on.
package struct AccessoryDump: Sendable {
    /// One device of the kernel's.
    package struct Part: Hashable, Sendable {
        /// Below /sys.
        package var path: String
        /// Its file below /dev, such as `ttyACM0`.
        package var node: String?
        /// Of udev's properties and the kernel's attributes those that are asked for below.
        var values: [String: String] = [:]
        var reportDescriptor: [UInt8] = []

        subscript(_ name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }
    }

    private static let properties: Set<String> = ["DEVTYPE", "HID_ID", "HID_NAME", "HID_UNIQ", "SUBSYSTEM"]
    private static let attributes: Set<String> = [
        "address", "bInterfaceNumber", "bcdDevice", "channel", "idProduct", "idVendor", "manufacturer", "product",
        "serial",
    ]

    private static let mostParts = 4_096

    package let file: String
    package private(set) var parts: [Part] = []
    /// By the number of the line.
    package private(set) var leftOut = LeftOut()

    /// Reads a dump; lines that make no sense are left out and counted.
    package init(_ bytes: [UInt8], file: String) {
        self.file = file
        var part: Part?
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if line.isEmpty {
                if let part { parts.append(part) }
                part = nil
                continue
            }
            if line.first == UInt8(ascii: "#") { continue }
            guard line.count > 2, line[line.startIndex + 1] == UInt8(ascii: ":") else {
                leftOut.add("lines that are none of a dump's", at: index + 1)
                continue
            }
            let text = String(decoding: line.dropFirst(3), as: UTF8.self)
            if line.first == UInt8(ascii: "P") {
                if let part { parts.append(part) }
                guard parts.count < Self.mostParts else {
                    leftOut.add("devices beyond the first \(Self.mostParts)", at: index + 1)
                    return
                }
                part = Part(path: text)
            } else if part == nil {
                leftOut.add("lines before a device", at: index + 1)
            } else {
                part?.take(line[line.startIndex], text)
            }
        }
        if let part { parts.append(part) }
    }

    /// The serial ports and hidraw devices.
    var ends: [Part] { parts.filter { ["tty", "hidraw"].contains($0["SUBSYSTEM"]) && $0.node != nil } }

    /// What a device hangs on, the nearest first.
    func ancestors(of part: Part) -> [Part] {
        parts.filter { part.path.hasPrefix($0.path + "/") }.sorted { $0.path.utf8.count > $1.path.utf8.count }
    }

    /// The USB device that a device belongs to.
    func usbDevice(of part: Part) -> Part? {
        ancestors(of: part).first { $0["DEVTYPE"] == "usb_device" || $0["idVendor"] != nil }
    }
}

extension AccessoryDump.Part {
    /// Takes a line: `E: NAME=VALUE` of udev's, `A: name=value` and `H: name=HEX` of the kernel's, `N: node`.
    fileprivate mutating func take(_ kind: UInt8, _ text: String) {
        if kind == UInt8(ascii: "N") {
            // What a file of a plain kind contains stands behind its name.
            node = text.split(separator: "=", maxSplits: 1).first.map(String.init)
            return
        }
        guard let equals = text.firstIndex(of: "=") else { return }
        let name = String(text[..<equals])
        let value = text[text.index(after: equals)...]
        switch kind {
        case UInt8(ascii: "E"):
            if AccessoryDump.properties.contains(name) { values[name] = String(value) }
        case UInt8(ascii: "A"):
            if AccessoryDump.attributes.contains(name) { values[name] = Self.plain(value) }
        case UInt8(ascii: "H"):
            if name == "report_descriptor" { reportDescriptor = hexBytes(String(value)) ?? [] }
        default: break
        }
    }

    /// An attribute without its escapes and the white space around it: a line's end is `\n`, a backslash two.
    private static func plain(_ value: Substring) -> String {
        var plain = ""
        var isEscaped = false
        for character in value {
            if isEscaped {
                plain.append(character == "n" ? "\n" : character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else {
                plain.append(character)
            }
        }
        let isSpace: (Character) -> Bool = { $0.isWhitespace }
        return String(plain.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}
