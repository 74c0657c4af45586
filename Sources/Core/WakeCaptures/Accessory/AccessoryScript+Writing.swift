/// Writes what is said to and by an accessory as umockdev does, line by line.
package struct AccessoryScriptWriter: Sendable {
    /// The moment of the last line as it was written, in whole milliseconds from the beginning.
    private var last: Int64

    /// - Parameter now: in nanoseconds; times count from it.
    package init(at now: Int64) { last = now }

    /// What a script begins with.
    ///
    /// - Parameter device: its file, such as `/dev/ttyACM0`.
    package static func head(of device: String) -> [UInt8] { Array("d 0 \(device)\n".utf8) }

    /// A line for bytes that the device said, or was told.
    ///
    /// - Parameter now: in nanoseconds, not before the last line's.
    package mutating func line(_ bytes: some Sequence<UInt8>, isRead: Bool, at now: Int64) -> [UInt8] {
        let pause = max(0, now - last) / 1_000_000
        // What is left of a millisecond counts for the next line.
        last += pause * 1_000_000
        var line = Array("\(isRead ? "r" : "w") \(pause) ".utf8)
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "^"): line += [byte, UInt8(ascii: "`")]
            case ..<32: line += [UInt8(ascii: "^"), byte + 64]
            default: line.append(byte)
            }
        }
        line.append(UInt8(ascii: "\n"))
        return line
    }
}

extension AccessoryDump {
    /// What a dump says of a device.
    package struct Identity: Sendable {
        /// Such as `/sys/devices/…/tty/ttyACM0`.
        package var systemPath: String
        /// Such as `/dev/ttyACM0`.
        package var node: String
        package var subsystem: String
        /// The name of the USB device's folder in its path, such as `1-1.2`.
        package var port: String
        /// The kernel's attributes of the USB device, in order.
        package var attributes: [(name: String, value: String)]

        package init(
            systemPath: String,
            node: String,
            subsystem: String,
            port: String,
            attributes: [(name: String, value: String)]
        ) {
            (self.systemPath, self.node, self.subsystem, self.port) = (systemPath, node, subsystem, port)
            self.attributes = attributes
        }
    }

    /// A dump of a device and the USB device that it hangs on.
    package static func text(of device: Identity) -> String {
        let path = device.systemPath.hasPrefix("/sys/") ? String(device.systemPath.dropFirst(4)) : device.systemPath
        let node = device.node.hasPrefix("/dev/") ? String(device.node.dropFirst(5)) : device.node
        var lines = ["P: \(path)", "N: \(node)", "E: DEVNAME=\(device.node)", "E: SUBSYSTEM=\(device.subsystem)", ""]
        var parent: [Substring] = []
        for part in path.split(separator: "/") {
            parent.append(part)
            if part == device.port { break }
        }
        lines += ["P: /\(parent.joined(separator: "/"))", "E: DEVTYPE=usb_device", "E: SUBSYSTEM=usb"]
        for (name, value) in device.attributes { lines.append("A: \(name)=\(escaped(value))") }
        return lines.joined(separator: "\n") + "\n\n"
    }

    /// Without the ends of lines, which are `\n`, and with a backslash twice.
    private static func escaped(_ value: String) -> String {
        var text = ""
        for character in value {
            switch character {
            case "\\": text += "\\\\"
            case "\n", "\r\n": text += "\\n"
            default: text.append(character)
            }
        }
        return text
    }
}
