import WakeModel

extension BluetoothCentral: Device {
    package static let kind = "bluetooth-central"
    package static let lack = "is no central"
    package static let keys = ["name", "address", "mtu", "interval", "overflow", "script", "repeat", "faults"]

    package var form: DeviceFile { .central(self) }

    package init(_ fields: Fields) throws(FileError) {
        file = fields.node.file
        name = try fields.value("name", BluetoothPeripheral.localName)
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
        script = try steps.map(Step.init)
        let takesTime = script.contains { $0.action != .wait(.zero) }
        repeats = try fields.repeats(takesTime: takesTime, else: "steps in script")
        faults = try fields.faults()
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
                    throw node.error(found: "'\(step.word)' without a link", expected: "'connect' before it")
                }
            }
        }
        if repeats, isLinked, let last = nodes.last {
            throw last.error(found: "a repetition that begins with a link", expected: "'disconnect' at the end")
        }
    }

    /// The central that a scenario's `count` makes of this one: its address is the next but `number` - 1.
    package func copy(_ number: Int) -> BluetoothCentral {
        var copy = self
        copy.address = BluetoothPeripheral.address(address, plus: number - 1)
        return copy
    }
}

extension BluetoothCentral.Step {
    private static let verbs = [
        "wait", "connect", "discover", "read", "write", "subscribe", "unsubscribe", "await", "exchange", "disconnect",
    ]
    /// The keys that a verb may have beside.
    private static let extras: [String: [String]] = [
        "connect": ["within"], "write": ["value", "how"], "subscribe": ["indications"], "await": ["count", "within"],
        "exchange": ["value", "within"],
    ]

    init(_ node: YAMLNode) throws(FileError) {
        line = node.line
        if case .scalar(let text, _) = node.content {
            word = text
            action = try node.word("step", among: Self.verbs) { word in
                switch word {
                case "discover": .discover
                case "disconnect": .disconnect
                default: nil
                }
            }
            return
        }
        let extras = ["value", "how", "indications", "count", "within"]
        let fields = try Fields(node, of: "a step", keys: Self.verbs + extras)
        let (key, value) = try fields.one(of: Self.verbs, called: "a thing to do")
        try fields.refuse(extras.filter { Self.extras[key]?.contains($0) != true }, beside: key)
        word = key
        action = try Self.action(key, value, fields)
    }

    private static func action(
        _ key: String,
        _ value: YAMLNode,
        _ fields: Fields
    ) throws(FileError) -> BluetoothCentral.Action {
        let within = try fields["within"]?.interval()
        switch key {
        case "wait": return .wait(try value.duration())
        case "connect": return .connect(service: try value.uuid(), within: within)
        case "read": return .read(try value.uuid())
        case "write":
            let how = try fields["how"].map(BluetoothCentral.WriteKind.init) ?? .request
            return .write(try value.uuid(), try fields.required("value").hex(), how)
        case "subscribe":
            return .subscribe(try value.uuid(), indications: try fields["indications"]?.bool() ?? false)
        case "unsubscribe": return .unsubscribe(try value.uuid())
        case "await":
            let count = try fields["count"]?.integer(in: 1...1_000_000) ?? 1
            return .awaitValues(try value.uuid(), count: count, within: within)
        case "exchange":
            let bytes = try fields.required("value").hex()
            return .exchange(psm: UInt16(try value.integer(in: 1...255)), bytes, within: within)
        default: throw value.error(found: "'\(key)' with a value", expected: "'- \(key)'")
        }
    }
}

extension BluetoothCentral.WriteKind {
    init(_ node: YAMLNode) throws(FileError) {
        self = try node.word("way to write", of: Self.allCases) { "\($0)" }
    }
}

extension BluetoothCentral.Effect: FaultEffect {
    package static let effects = ["disconnect-after", "never-confirm", "slow-reader"]

    package init(_ key: String, _ value: YAMLNode, _ fields: Fields) throws(FileError) {
        switch key {
        case "disconnect-after": self = .disconnectAfter(try value.integer(in: 1...1_000_000))
        case "slow-reader": self = .slowReader(try value.interval())
        default:
            guard try value.bool() else { throw value.error(expected: "true, or no such fault") }
            self = .neverConfirm
        }
    }
}
