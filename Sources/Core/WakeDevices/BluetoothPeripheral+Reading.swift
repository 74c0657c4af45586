import WakeModel

extension BluetoothPeripheral: Device {
    package static let kind = "bluetooth-peripheral"
    package static let lack = "has no connections"
    package static let keys =
        ["name", "address", "advertising", "connection", "mtu", "gatt", "l2cap", "pairing", "faults"]
        + BluetoothAnswers.keys

    package var form: DeviceFile { .peripheral(self) }

    package init(_ fields: Fields) throws(FileError) {
        let services = try fields.list("gatt", of: "services", limit: 256, Service.init)
        self.init(
            file: fields.node.file,
            name: try fields.value("name", Self.localName),
            address: try Self.address(try fields.required("address")),
            advertising: try Advertising(fields["advertising"]),
            connection: try Connection(fields["connection"]),
            services: services,
            mtu: try fields["mtu"]?.integer(in: Self.mtuRange) ?? Self.usualMTU,
            answers: try BluetoothAnswers(fields, services: services),
            channels: try Channel.list(fields["l2cap"]),
            pairing: try Pairing(fields["pairing"]),
            faults: try fields.faults()
        )
        try checkRemovals(fields)
        let attributes = (services + servicesToCome).reduce(0) {
            $0 + 1 + $1.characteristics.reduce(0) { $0 + 3 + $1.descriptors.count }
        }
        if attributes > 60_000 {
            throw fields.node.error(found: "\(attributes) attributes", expected: "at most 60000")
        }
    }

    /// Reads a file to judge it: its connection may be one that no phone grants.
    init(judged root: YAMLNode) throws(FileError) {
        try self.init(root.setting("connection", to: nil))
        connection = try Connection(root["connection"], within: .ofDevice)
    }

    /// A fault removes what is there, or what another one brings.
    private func checkRemovals(_ fields: Fields) throws(FileError) {
        let known = (services + servicesToCome).map(\.uuid)
        for fault in faults {
            guard case .changeServices(let change) = fault.effect, let node = fields["faults"],
                let missing = change.removed.first(where: { !known.contains($0) })
            else { continue }
            throw node.error(
                found: "fault '\(fault.name)' removes \(missing), which the device has not",
                expected: known.isEmpty ? "a service of the device" : suggestion(for: missing, among: known)
            )
        }
    }

    static func localName(_ node: YAMLNode) throws(FileError) -> String {
        let expected = "a name of 1 to 248 bytes"
        let name = try node.text(expecting: expected)
        guard (1...248).contains(name.utf8.count) else { throw node.error(expected: expected) }
        return name
    }

    static func address(_ node: YAMLNode) throws(FileError) -> [UInt8] {
        let expected = "an address such as \"F0:11:22:33:44:55\""
        let parts = try node.text(expecting: expected).split(separator: ":", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { part in part.utf8.count == 2 ? UInt8(part, radix: 16) : nil }
        guard parts.count == 6, bytes.count == 6 else { throw node.error(expected: expected) }
        return bytes
    }

    /// The peripheral that a scenario's `count` makes of this one: its address is the next but `number` - 1.
    package func copy(_ number: Int) -> BluetoothPeripheral {
        var copy = self
        copy.address = Self.address(address, plus: number - 1)
        return copy
    }

    /// The address so many further.
    static func address(_ address: [UInt8], plus number: Int) -> [UInt8] {
        let value = address.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } &+ UInt64(number)
        return (0..<6).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}

extension BluetoothPeripheral.Advertising {
    init(_ node: YAMLNode?) throws(FileError) {
        self.init()
        guard let node else { return }
        let fields = try Fields(
            node,
            of: "an advertisement",
            keys: [
                "interval", "services", "manufacturer-data", "service-data", "connectable", "while-connected",
                "tx-power",
                "rssi",
            ]
        )
        if let node = fields["interval"] {
            interval = try node.duration()
            if interval < .milliseconds(20) || interval > .seconds(3600) {
                throw node.error(expected: "an advertising interval from 20ms to 1h")
            }
        }
        if let node = fields["services"] { services = try node.uuids() }
        if let node = fields["manufacturer-data"] { manufacturerData = try node.hex() }
        if let node = fields["service-data"] {
            serviceData = try node.list(expecting: "service data", limit: 64).map { (node) throws(FileError) in
                let fields = try Fields(node, of: "service data", keys: ["service", "data"])
                return Advertisement.ServiceData(
                    service: try fields.required("service").uuid(),
                    data: try fields.required("data").hex()
                )
            }
        }
        if let node = fields["connectable"] { connectable = try node.bool() }
        if let node = fields["while-connected"] { whileConnected = try node.bool() }
        if let node = fields["tx-power"] { txPower = Int16(try node.integer(in: -127...20)) }
        if let node = fields["rssi"] { signalStrength = Int16(try node.integer(in: -127...20)) }
    }
}

extension BluetoothPeripheral.Service {
    init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "a service", keys: ["service", "primary", "characteristics"])
        uuid = try fields.required("service").uuid()
        primary = try fields["primary"]?.bool() ?? true
        characteristics = try fields.list("characteristics", limit: 256, BluetoothPeripheral.Characteristic.init)
    }
}

extension BluetoothPeripheral.Characteristic {
    init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(
            node,
            of: "a characteristic",
            keys: [
                "uuid", "properties", "stream", "value", "security", "notifications", "repeat", "descriptors",
                "answers",
            ]
        )
        line = node.line
        uuid = try fields.required("uuid").uuid()
        properties = []
        for node in try fields.required("properties").list(expecting: "properties", limit: 8) {
            properties.insert(try node.word("property", of: CharacteristicProperties.words, \.word).property)
        }
        stream = try fields["stream"]?.bool() ?? false
        value = try fields["value"]?.hex() ?? []
        security = try fields["security"]?.security() ?? .none
        timetable = try Timetable(fields)
        if let node = fields["notifications"], !properties.canNotify {
            throw node.error(
                found: "notifications of \(uuid), which has neither notify nor indicate",
                expected: "one of the two among its properties"
            )
        }
        descriptors = try fields.list("descriptors", limit: 64, BluetoothPeripheral.Descriptor.init)
    }
}

extension BluetoothPeripheral.Channel {
    static func list(_ node: YAMLNode?) throws(FileError) -> [BluetoothPeripheral.Channel] {
        let nodes = try node?.list(expecting: "channels", limit: 64) ?? []
        let channels = try nodes.map(BluetoothPeripheral.Channel.init)
        for (index, channel) in channels.enumerated()
        where channels[..<index].contains(where: { $0.psm == channel.psm }) {
            throw nodes[index].error(found: "a second channel of PSM \(channel.psm)", expected: "another PSM")
        }
        return channels
    }

    init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "a channel", keys: ["psm", "echo", "security", "send", "repeat"])
        line = node.line
        // LE_PSM: Bluetooth Core Specification, Vol 3 Part A, 4.22.
        psm = UInt16(try fields.required("psm").integer(in: 1...255))
        echo = try fields["echo"]?.bool() ?? false
        security = try fields["security"]?.security() ?? .none
        timetable = try Timetable(fields, values: "send")
    }
}

extension BluetoothPeripheral.Descriptor {
    init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "a descriptor", keys: ["uuid", "value"])
        uuid = try fields.required("uuid").uuid()
        if uuid == "2902" {
            throw node.error(found: "descriptor 2902", expected: "none: notify and indicate bring it")
        }
        value = try fields["value"]?.hex() ?? []
    }
}

extension BluetoothPeripheral.Effect: FaultEffect {
    package static let effects = [
        "late-subscribe-answer", "disconnect-after", "stale-handles", "no-answer", "hold-notifications", "cut-values",
        "close-channel-after", "refuse-channels", "change-services", "change-name",
    ]

    package init(_ key: String, _ value: YAMLNode, _ fields: Fields) throws(FileError) {
        switch key {
        case "late-subscribe-answer": self = .lateSubscribeAnswer(try value.interval())
        case "disconnect-after": self = .disconnectAfter(try value.integer(in: 1...1_000_000))
        case "stale-handles": self = .staleHandles(try value.integer(in: 1...1000))
        case "no-answer": self = .noAnswer(try value.interval())
        case "hold-notifications": self = .holdNotifications(try value.interval())
        case "close-channel-after": self = .closeChannelAfter(try value.integer(in: 1...1_000_000))
        case "refuse-channels":
            guard try value.bool() else { throw value.error(expected: "true, or no such fault") }
            self = .refuseChannels
        case "change-services": self = .changeServices(try BluetoothPeripheral.ServicesChange(value))
        case "change-name": self = .changeName(try BluetoothPeripheral.localName(value))
        default: self = .cutValues(try value.integer(in: 0...512))
        }
    }
}

extension BluetoothPeripheral.ServicesChange {
    init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "a change of services", keys: ["remove", "add"])
        removed = try fields["remove"]?.uuids() ?? []
        added = try fields.list("add", of: "services", limit: 256, BluetoothPeripheral.Service.init)
        try fields["add"]?.refuseAnswers(
            in: "a service that comes later",
            else: "none: such a service keeps its values"
        )
        if removed.isEmpty, added.isEmpty {
            throw node.error(found: "a change of no service", expected: "services to 'remove' or to 'add'")
        }
    }
}

extension YAMLNode {
    /// Refuses answers among services whose device does not answer.
    func refuseAnswers(in what: String, else expected: String) throws(FileError) {
        let characteristics = members.flatMap { $0["characteristics"]?.members ?? [] }
        guard let answers = characteristics.lazy.compactMap({ $0["answers"] }).first else { return }
        throw answers.error(found: "answers in \(what)", expected: expected)
    }
}

extension Timetable {
    /// The keys `notifications` and `repeat` of a characteristic, or the like.
    init(
        _ fields: Fields,
        values key: String = "notifications",
        of what: String? = nil,
        _ entry: (YAMLNode) throws(FileError) -> Entry = Entry.init
    ) throws(FileError) {
        for node in try fields[key]?.list(expecting: what ?? key) ?? [] {
            if let recorded = try Entry.recorded(node) { entries += recorded } else { entries.append(try entry(node)) }
        }
        repeats = try fields.repeats(takesTime: takesTime, else: "a pause in \(key)")
    }
}

extension Timetable.Entry {
    init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "a notification", keys: ["after", "every", "values", "counter"])
        let (key, value) = try fields.one(of: ["values", "counter"], called: "values")
        guard key == "counter" else {
            let list = try value.list(expecting: "values").map { (node) throws(FileError) in try node.hex() }
            try self.init(.list(list), fields, value)
            return
        }
        let after = try fields["after"]?.duration() ?? .zero
        try fields.refuse(["every"], beside: "counter")
        let counter = try Fields(value, of: "a counter", keys: ["from", "count", "every", "width", "prefix"])
        let values = Timetable.Values.counter(try Timetable.Counter(counter))
        self.init(after: after, every: try counter.required("every").interval(), values: values)
    }

    /// Values, with the keys `after` and `every`.
    init(_ values: Timetable.Values, _ fields: Fields, _ node: YAMLNode) throws(FileError) {
        self.values = values
        after = try fields["after"]?.duration() ?? .zero
        every = try fields["every"]?.interval() ?? .zero
        if values.count == 0 { throw node.error(found: "an empty list", expected: "at least one value") }
        if values.count > 1, every == .zero {
            throw fields.node.error(found: "several values without 'every'", expected: "the time between them")
        }
    }
}

extension Timetable.Counter {
    init(_ fields: Fields) throws(FileError) {
        from = UInt32(try fields["from"]?.integer(in: 0...Int(UInt32.max)) ?? 0)
        count = try fields.required("count").integer(in: 1...10_000_000)
        width = 2
        if let node = fields["width"] {
            width = try node.integer(in: 1...4)
            if width == 3 { throw node.error(expected: "1, 2 or 4") }
        }
        prefix = try fields["prefix"]?.hex(limit: 508) ?? [0]
    }
}

extension BluetoothPeripheral.Pairing {
    /// `just-works`, `numeric`, `reject`, or `passkey 123456`.
    init(_ node: YAMLNode?) throws(FileError) {
        guard let node else {
            self = .justWorks
            return
        }
        let words = ["just-works", "numeric", "reject", "passkey 123456"]
        self = try node.word("way to pair", among: words) { word in
            switch word {
            case "just-works": return .justWorks
            case "numeric": return .numeric
            case "reject": return .reject
            default:
                let parts = word.split(separator: " ")
                guard parts.count == 2, parts[0] == "passkey", parts[1].utf8.count == 6,
                    parts[1].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
                else { return nil }
                return UInt32(parts[1]).map { .passkey($0) }
            }
        }
    }
}

extension YAMLNode {
    /// What an attribute asks of the link.
    func security() throws(FileError) -> BluetoothPeripheral.Security {
        try word("security", of: BluetoothPeripheral.Security.allCases) { "\($0)" }
    }
}
