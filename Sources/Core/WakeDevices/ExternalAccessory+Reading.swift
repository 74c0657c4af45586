import WakeModel

extension ExternalAccessory: Device {
    package static let kind = "external-accessory"
    package static let article = "an accessory"
    package static let lack = "is no accessory"
    package static let keys = [
        "name", "manufacturer", "model", "serial-number", "firmware", "hardware", "usb", "bluetooth", "protocols",
        "presence", "faults",
    ]

    package var form: DeviceFile { .accessory(self) }

    package init(_ fields: Fields) throws(FileError) {
        let nodes = try fields.required("protocols").list(expecting: "protocols", limit: 32)
        let presence = try fields["presence"]?.list(expecting: "changes", limit: 10_000) ?? []
        self.init(
            file: fields.node.file,
            name: try fields.required("name").label(),
            manufacturer: try fields["manufacturer"]?.label() ?? "",
            model: try fields["model"]?.label() ?? "",
            serialNumber: try fields["serial-number"]?.label() ?? "",
            firmwareRevision: try fields["firmware"]?.label() ?? "",
            hardwareRevision: try fields["hardware"]?.label() ?? "",
            transport: try Transport(fields),
            protocols: try nodes.map(AccessoryProtocol.init),
            presence: try presence.map(Presence.init),
            faults: try fields.faults()
        )
        try check(fields, nodes, presence)
    }

    private func check(_ fields: Fields, _ nodes: [YAMLNode], _ changes: [YAMLNode]) throws(FileError) {
        if protocols.isEmpty {
            throw try fields.required("protocols").error(found: "an empty list", expected: "at least one protocol")
        }
        for (index, one) in protocols.enumerated() {
            if protocols[..<index].contains(where: { $0.name == one.name }) {
                throw nodes[index].error(found: "a second protocol '\(one.name)'", expected: "another name")
            }
            switch (transport, one.link) {
            case (.usb, .tty), (.usb, .hid), (.bluetooth, .rfcomm): break
            case (.usb, .rfcomm): throw nodes[index].error(found: "rfcomm on USB", expected: "tty or hid")
            case (.bluetooth, .tty), (.bluetooth, .hid):
                throw nodes[index].error(found: "a USB link over Bluetooth", expected: "rfcomm")
            }
        }
        for (index, change) in presence.enumerated() {
            let before = index > 0 ? presence[index - 1].attached : !change.attached
            if before == change.attached {
                let word = change.attached ? "attach" : "detach"
                throw changes[index].error(found: "'\(word)' twice", expected: "attach and detach in turn")
            }
        }
    }
}

extension ExternalAccessory.Transport {
    init(_ fields: Fields) throws(FileError) {
        let (key, value) = try fields.one(of: ["usb", "bluetooth"], called: "a way to be found")
        if key == "usb" {
            let keys = try Fields(value, of: "a USB device", keys: ["vendor", "product", "serial-number"])
            self = .usb(
                ExternalAccessory.USB(
                    vendor: try keys.required("vendor").usbNumber(),
                    product: try keys.required("product").usbNumber(),
                    serialNumber: try keys["serial-number"]?.label()
                )
            )
        } else {
            let keys = try Fields(value, of: "a Bluetooth device", keys: ["address"])
            self = .bluetooth(address: try BluetoothPeripheral.address(try keys.required("address")))
        }
    }
}

extension ExternalAccessory.Transport {
    /// The line of a file that says this.
    var text: String {
        switch self {
        case .usb(let usb):
            let serial = usb.serialNumber.map { ", serial-number: \(YAMLText.quoted($0))" } ?? ""
            return "usb: {vendor: \"\(usb.vendor.hexadecimal)\", product: \"\(usb.product.hexadecimal)\"\(serial)}"
        case .bluetooth(let address):
            let text = address.map { $0.hexadecimal.uppercased() }.joined(separator: ":")
            return "bluetooth: {address: \"\(text)\"}"
        }
    }

    /// An accessory that is found by its address on the air: six bytes, most significant first.
    package static func radio(_ address: [UInt8]) -> Self { .bluetooth(address: address) }
}

extension ExternalAccessory.AccessoryProtocol {
    init(_ node: YAMLNode) throws(FileError) {
        let links = ["tty", "hid", "rfcomm"]
        let fields = try Fields(
            node,
            of: "a protocol",
            keys: ["protocol", "send", "repeat", "answers", "echo"] + links
        )
        name = try fields.required("protocol").accessoryProtocol()
        line = node.line
        let (key, value) = try fields.one(of: links, called: "a link")
        switch key {
        case "tty":
            let keys = try Fields(value, of: "a serial port", keys: ["interface"])
            link = .tty(interface: try keys["interface"]?.integer(in: 0...31) ?? 0)
        case "hid":
            let keys = try Fields(value, of: "reports", keys: ["interface", "report", "size"])
            link = .hid(
                ExternalAccessory.HID(
                    interface: try keys["interface"]?.integer(in: 0...31) ?? 0,
                    report: try (keys["report"]?.integer(in: 1...255)).map(UInt8.init),
                    size: try keys["size"]?.integer(in: 1...1024) ?? 64
                )
            )
        default:
            let keys = try Fields(value, of: "an RFCOMM service", keys: ["service", "channel"])
            // Serial Port, of the Bluetooth Assigned Numbers.
            link = .rfcomm(
                service: try keys["service"]?.uuid() ?? "1101",
                channel: try keys["channel"]?.integer(in: 1...30)
            )
        }
        script = try ExternalAccessory.Script(fields)
    }
}

extension ExternalAccessory.Script {
    init(_ fields: Fields) throws(FileError) {
        timetable = try Timetable(ofAccessory: fields)
        answers = try fields.list("answers", limit: 64) { (node) throws(FileError) in
            let fields = try Fields(node, of: "an answer", keys: ["text", "hex", "send", "repeat"])
            let (key, value) = try fields.one(of: ["text", "hex"], called: "what it answers")
            let to = key == "text" ? Array(try value.text(expecting: "bytes").utf8) : try value.hex(limit: 256)
            if !(1...256).contains(to.count) { throw value.error(expected: "1 to 256 bytes") }
            return ExternalAccessory.Answer(to: to, timetable: try Timetable(ofAccessory: fields))
        }
        echo = try fields["echo"]?.bool() ?? false
    }
}

extension ExternalAccessory.Presence {
    init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "a change", keys: ["attach", "detach"])
        let (key, value) = try fields.one(of: ["attach", "detach"], called: "a change")
        attached = key == "attach"
        after = try value.duration()
    }
}

extension ExternalAccessory.Effect: FaultEffect {
    private static let pulling = ["unplug-after-received", "unplug-after-sent"]
    package static let effects = pulling + ["stall", "garbage", "flood"]
    package static let extras = ["back-after"]

    package init(_ key: String, _ value: YAMLNode, _ fields: Fields) throws(FileError) {
        let bytes = 1...100_000_000
        if !Self.pulling.contains(key) { try fields.refuse(Self.extras, beside: key) }
        let back = try fields["back-after"]?.interval()
        switch key {
        case "unplug-after-received": self = .unplugAfterReceived(try value.integer(in: bytes), backAfter: back)
        case "unplug-after-sent": self = .unplugAfterSent(try value.integer(in: bytes), backAfter: back)
        case "stall": self = .stall(try value.interval())
        case "garbage": self = .garbage(try value.integer(in: 1...65_536))
        default: self = .flood(try value.integer(in: bytes))
        }
    }
}

extension Timetable {
    /// The keys `send` and `repeat` of what an accessory sends: values as text, as hexadecimal digits, as a counter or as a
    /// long pattern.
    init(ofAccessory fields: Fields) throws(FileError) {
        try self.init(fields, values: "send", of: "values") { (node) throws(FileError) in
            let fields = try Fields(
                node,
                of: "values",
                keys: ["after", "every", "text", "values", "counter", "pattern"]
            )
            let (key, value) = try fields.one(of: ["text", "values", "counter", "pattern"], called: "values")
            switch key {
            case "values", "counter": return try Entry(node)
            case "text":
                let list = try value.list(expecting: "texts").map { (node) throws(FileError) in
                    Array(try node.text(expecting: "a text").utf8)
                }
                return try Entry(.list(list), fields, value)
            default: return try Entry(.pattern(try Pattern(value)), fields, value)
            }
        }
    }
}

extension Timetable.Pattern {
    fileprivate init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "a pattern", keys: ["bytes", "block"])
        bytes = try fields.required("bytes").integer(in: 1...1_000_000_000)
        block = try fields["block"]?.integer(in: 1...65_536) ?? 1024
    }
}

extension YAMLNode {
    /// A text of a descriptor: at most 126 characters, as USB's string descriptors have.
    fileprivate func label() throws(FileError) -> String {
        let expected = "a text of 1 to 126 characters, without control characters"
        let text = try text(expecting: expected)
        let plain = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f }
        guard plain, (1...126).contains(text.utf16.count) else { throw error(expected: expected) }
        return text
    }

    /// A number of USB: four hexadecimal digits.
    fileprivate func usbNumber() throws(FileError) -> UInt16 {
        let expected = "four hexadecimal digits in quotes such as \"1d6b\""
        let text = try text(expecting: expected)
        guard text.utf8.count == 4, let number = UInt16(text, radix: 16) else { throw error(expected: expected) }
        return number
    }

    /// The name of a protocol.
    package func accessoryProtocol() throws(FileError) -> String {
        let expected = "a reverse-DNS name such as com.example.log"
        let text = try identifier(expected, marks: ".-_", length: 3...155)
        guard text.contains(".") else { throw error(expected: expected) }
        return text
    }
}
