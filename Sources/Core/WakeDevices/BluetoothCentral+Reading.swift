import WakeModel

extension BluetoothCentral {
    /// Reads the text of a device file; `file` is for errors.
    package static func parse(_ bytes: [UInt8], file: String) throws(FileError) -> BluetoothCentral {
        try BluetoothCentral(try YAMLReader.read(bytes, file: file))
    }

    init(_ root: YAMLNode) throws(FileError) {
        let fields = try Fields(
            root,
            of: "a device",
            keys: ["device", "name", "address", "mtu", "interval", "overflow", "script", "repeat", "faults"]
        )
        let kind = try fields.required("device")
        _ = try kind.word("kind of device", among: ["bluetooth-central"]) { $0 == "bluetooth-central" ? $0 : nil }
        file = root.file
        name = try fields["name"].map { (node) throws(FileError) in try BluetoothPeripheral.localName(node) }
        address = try BluetoothPeripheral.address(try fields.required("address"))
        mtu = try fields["mtu"]?.integer(in: 23...517) ?? 185
        interval = .milliseconds(30)
        if let node = fields["interval"] {
            interval = try node.interval()
            if interval < .milliseconds(8) || interval > .seconds(4) {
                throw node.error(expected: "a connection interval from 8ms to 4s")
            }
        }
        readsOverflow = try fields["overflow"]?.bool() ?? true
        let steps = try fields.required("script").list(expecting: "steps", limit: 10_000)
        script = try steps.map { (node) throws(FileError) in try Step(node) }
        repeats = try fields["repeat"]?.bool() ?? false
        if repeats, !script.contains(where: { $0.action != .wait(.zero) }), let node = fields["repeat"] {
            throw node.error(found: "a repetition that takes no time", expected: "steps in script")
        }
        let faults = try fields["faults"]?.list(expecting: "faults", limit: 256) ?? []
        self.faults = try faults.map { (node) throws(FileError) in try Fault(node) }
        for (index, fault) in self.faults.enumerated()
        where self.faults[..<index].contains(where: { $0.name == fault.name }) {
            throw faults[index].error(found: "a second fault '\(fault.name)'", expected: "another name")
        }
        try checkLinks(steps)
    }

    /// What needs a link stands after `connect`, and `connect` stands where there is none.
    private func checkLinks(_ nodes: [YAMLNode]) throws(FileError) {
        var isLinked = false
        for (step, node) in zip(script, nodes) {
            switch step.action {
            case .wait: break
            case .connect where isLinked:
                throw node.error(found: "'connect' on a link that is up", expected: "'disconnect' before it")
            case .connect: isLinked = true
            case .disconnect where isLinked: isLinked = false
            case .disconnect, .discover, .read, .write, .subscribe, .unsubscribe, .awaitValues, .exchange:
                if !isLinked {
                    throw node.error(found: "'\(step.action.word)' without a link", expected: "'connect' before it")
                }
            }
        }
        if repeats, isLinked, let last = nodes.last {
            throw last.error(found: "a repetition that begins with a link", expected: "'disconnect' at the end")
        }
    }

    /// The central that a scenario's `count` makes of this one: its address is the next but `number` - 1.
    func copy(_ number: Int) -> BluetoothCentral {
        var copy = self
        copy.address = BluetoothPeripheral.address(address, plus: number - 1)
        return copy
    }
}

extension BluetoothCentral.Action {
    /// The key of a step in a device file.
    package var word: String {
        switch self {
        case .wait: "wait"
        case .connect: "connect"
        case .discover: "discover"
        case .read: "read"
        case .write: "write"
        case .subscribe: "subscribe"
        case .unsubscribe: "unsubscribe"
        case .awaitValues: "await"
        case .exchange: "exchange"
        case .disconnect: "disconnect"
        }
    }
}

extension BluetoothCentral.Step {
    private static let verbs = [
        "wait", "connect", "discover", "read", "write", "subscribe", "unsubscribe", "await", "exchange",
        "disconnect",
    ]

    init(_ node: YAMLNode) throws(FileError) {
        line = node.line
        if case .scalar = node.content {
            action = try node.word("step", among: Self.verbs) { word in
                switch word {
                case "discover": .discover
                case "disconnect": .disconnect
                default: nil
                }
            }
            return
        }
        let fields = try Fields(
            node,
            of: "a step",
            keys: Self.verbs + ["value", "how", "indications", "count", "within"]
        )
        let (key, value) = try fields.one(of: Self.verbs, called: "a thing to do")
        try fields.refuse(Self.others(than: key), beside: key)
        action = try Self.action(key, value, fields)
    }

    /// The keys that mean nothing beside a verb.
    private static func others(than verb: String) -> [String] {
        let own: [String: [String]] = [
            "connect": ["within"], "write": ["value", "how"], "subscribe": ["indications"],
            "await": ["count", "within"], "exchange": ["value", "within"],
        ]
        return ["value", "how", "indications", "count", "within"].filter { own[verb]?.contains($0) != true }
    }

    private static func action(
        _ key: String,
        _ value: YAMLNode,
        _ fields: Fields
    ) throws(FileError) -> BluetoothCentral.Action {
        switch key {
        case "wait": return .wait(try value.duration())
        case "connect":
            let within = try fields["within"].map { (node) throws(FileError) in try node.interval() }
            return .connect(service: try value.uuid(), within: within)
        case "read": return .read(try value.uuid())
        case "write":
            let kinds = BluetoothCentral.WriteKind.allCases
            let how = try fields["how"].map { (node) throws(FileError) in
                try node.word("way to write", among: kinds.map(\.word)) { word in kinds.first { $0.word == word } }
            }
            return .write(try value.uuid(), try fields.required("value").hex(), how ?? .request)
        case "subscribe":
            return .subscribe(try value.uuid(), indications: try fields["indications"]?.bool() ?? false)
        case "unsubscribe": return .unsubscribe(try value.uuid())
        case "await":
            let within = try fields["within"].map { (node) throws(FileError) in try node.interval() }
            let count = try fields["count"]?.integer(in: 1...1_000_000) ?? 1
            return .awaitValues(try value.uuid(), count: count, within: within)
        case "exchange":
            let within = try fields["within"].map { (node) throws(FileError) in try node.interval() }
            let bytes = try fields.required("value").hex()
            return .exchange(psm: UInt16(try value.integer(in: 1...255)), bytes, within: within)
        default: throw value.error(found: "'\(key)' with a value", expected: "'- \(key)'")
        }
    }
}

extension BluetoothCentral.Fault {
    init(_ node: YAMLNode) throws(FileError) {
        let effects = ["disconnect-after", "never-confirm", "slow-reader"]
        let fields = try Fields(node, of: "a fault", keys: ["name"] + effects)
        name = try fields.required("name").text(expecting: "a name")
        let (key, value) = try fields.one(of: effects, called: "an effect")
        switch key {
        case "disconnect-after": effect = .disconnectAfter(try value.integer(in: 1...1_000_000))
        case "slow-reader": effect = .slowReader(try value.interval())
        default:
            guard try value.bool() else { throw value.error(expected: "true, or no such fault") }
            effect = .neverConfirm
        }
    }
}
