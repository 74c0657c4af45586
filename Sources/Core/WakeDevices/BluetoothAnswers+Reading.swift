import WakeModel

extension BluetoothAnswers {
    /// The keys of a device that all of its answers share.
    static let keys = ["states", "variables", "records"]
    static let ruleLimit = 256
    /// Names that conditions have already.
    static let reserved = ["state", "same", "differ", "less", "subscribed", "unsubscribed"]

    /// Reads what a device's answers share, and the key `answers` of each characteristic.
    init(_ fields: Fields, services: [BluetoothPeripheral.Service]) throws(FileError) {
        states = try fields.list("states", limit: 64) { (node) throws(FileError) in try node.answerName("state") }
        for node in try fields["variables"]?.entries(expecting: "variables", limit: 64) ?? [] {
            _ = try BluetoothAnswers.name(node, "variable", besides: Self.reserved)
            let start = try node.value.integer(in: 0...Int(UInt32.max))
            variables.append(Variable(name: node.key, start: UInt32(start)))
        }
        for node in try fields["records"]?.entries(expecting: "lists of records", limit: 16) ?? [] {
            records.append(try RecordList(try BluetoothAnswers.name(node, "list"), node.value))
        }
        if let node = fields["states"], let again = states.enumerated().first(where: { states[..<$0].contains($1) }) {
            throw node.error(found: "a second state '\(again.element)'", expected: "each state once")
        }
        var scope = BluetoothAnswerReading(answers: self, services: services)
        var place = 0
        for (service, described) in (fields["gatt"]?.members ?? []).enumerated() {
            for characteristic in described["characteristics"]?.members ?? [] {
                (scope.service, scope.own) = (service, place)
                rules.append(try scope.rules(characteristic["answers"]))
                place += 1
            }
        }
        if isEmpty { rules = [] }
    }

    /// The name that an entry of a mapping gives.
    private static func name(
        _ entry: YAMLNode.Entry,
        _ what: String,
        besides reserved: [String] = []
    ) throws(FileError) -> String {
        let name = YAMLNode(
            file: entry.value.file,
            line: entry.keyLine,
            column: entry.keyColumn,
            content: .scalar(entry.key, quoted: true)
        )
        guard !reserved.contains(entry.key) else {
            throw entry.error(found: "a \(what) '\(entry.key)', which is a condition's word", expected: "another name")
        }
        return try name.answerName(what)
    }
}

extension BluetoothAnswers.RecordList {
    /// Values, or `number` (where in each its number is) and `values`.
    fileprivate init(_ name: String, _ node: YAMLNode) throws(FileError) {
        self.name = name
        var list = node
        var place: (at: Int, width: Int, order: BluetoothAnswers.Order)?
        if case .mapping = node.content {
            let fields = try Fields(node, of: "a list of records", keys: ["number", "values"])
            list = try fields.required("values")
            if let node = fields["number"] {
                let number = try Fields(node, of: "a record's number", keys: ["at", "width", "order"])
                let at = try number.required("at").integer(in: 0...BluetoothAnswers.longestValue - 1)
                let width = try number["width"]?.integer(in: 1...4) ?? 2
                place = (at, width, try number["order"]?.order() ?? .little)
            }
        }
        let nodes = try list.list(expecting: "records", limit: 10_000)
        values = try nodes.map { (node) throws(FileError) in try node.hex() }
        numbers = values.indices.map(UInt32.init)
        guard let place else { return }
        for (index, value) in values.enumerated() {
            guard value.count >= place.at + place.width else {
                throw nodes[index].error(expected: "a record with its number at byte \(place.at)")
            }
            let bytes = Array(value[place.at..<place.at + place.width])
            numbers[index] = BluetoothAnswerMachine.number(bytes, place.order)
        }
    }
}

/// Reads rules, of which each name stands for something in the device.
struct BluetoothAnswerReading {
    let answers: BluetoothAnswers
    let services: [BluetoothPeripheral.Service]
    /// The characteristic whose rules are read, by position in the table, and its service.
    var own = 0
    var service = 0

    private var table: [(service: Int, characteristic: BluetoothPeripheral.Characteristic)] {
        services.enumerated().flatMap { service, described in described.characteristics.map { (service, $0) } }
    }

    func rules(_ node: YAMLNode?) throws(FileError) -> [BluetoothAnswers.Rule] {
        try node?.list(expecting: "answers", limit: BluetoothAnswers.ruleLimit).map(rule) ?? []
    }

    private func rule(_ node: YAMLNode) throws(FileError) -> BluetoothAnswers.Rule {
        let fields = try Fields(node, of: "an answer", keys: ["write", "read", "if", "do"])
        let (key, value) = try fields.one(of: ["write", "read"], called: "what it answers")
        var trigger = BluetoothAnswers.Trigger.read
        let properties = table[own].characteristic.properties
        if key == "write" {
            trigger = .write(try BluetoothAnswers.Pattern(value))
            guard !properties.isDisjoint(with: [.write, .writeWithoutResponse]) else {
                throw value.error(
                    found: "an answer to writes, which are not permitted",
                    expected: "write among its properties"
                )
            }
        } else {
            try value.word("read", among: ["any"]) { $0 == "any" ? () : nil }
            guard properties.contains(.read) else {
                throw value.error(
                    found: "an answer to reads, which are not permitted",
                    expected: "read among its properties"
                )
            }
        }
        let conditions = try conditions(fields["if"])
        let nodes = try fields.required("do").list(expecting: "things to do", limit: 64)
        var actions: [BluetoothAnswers.Action] = []
        for node in nodes {
            let action = try action(node)
            if case .fail = action.deed, let slow = actions.first(where: { !$0.isImmediate }) {
                throw node.error(
                    found: slow.after > .zero ? "'error' after a pause" : "'error' after what is sent",
                    expected: "it before them: the request is answered at once"
                )
            }
            actions.append(action)
        }
        return BluetoothAnswers.Rule(trigger: trigger, conditions: conditions, actions: actions, line: node.line)
    }

    // MARK: Actions

    private static let deeds = [
        "notify", "indicate", "set", "error", "state", "variable", "report", "count", "delete", "cancel", "disconnect",
    ]
    /// The keys that a deed may have beside.
    private static let extras: [String: [String]] = [
        "notify": ["on", "fragments", "every"], "indicate": ["on", "fragments", "every"], "set": ["on"],
        "variable": ["to", "add"], "report": ["on", "with", "fragments", "every", "from", "to", "pick"],
        "count": ["into", "from", "to", "pick"], "delete": ["from", "to", "pick"],
    ]

    private func action(_ node: YAMLNode) throws(FileError) -> BluetoothAnswers.Action {
        let extras = ["on", "with", "fragments", "every", "to", "add", "from", "pick", "into"]
        let fields = try Fields(node, of: "a thing to do", keys: Self.deeds + ["after", "if"] + extras)
        let (key, value) = try fields.one(of: Self.deeds, called: "what to do")
        try fields.refuse(extras.filter { Self.extras[key]?.contains($0) != true }, beside: key)
        let after = try fields["after"]?.duration() ?? .zero
        if key == "error", let node = fields["after"] {
            throw node.error(found: "'error' after a pause", expected: "no pause: the request is answered at once")
        }
        let conditions = try conditions(fields["if"])
        return BluetoothAnswers.Action(after: after, conditions: conditions, deed: try deed(key, value, fields))
    }

    private func deed(_ key: String, _ value: YAMLNode, _ fields: Fields) throws(FileError) -> BluetoothAnswers.Deed {
        switch key {
        case "notify", "indicate":
            return .send(try sending(fields, by: key), try parts(value))
        case "set": return .set(try characteristic(fields["on"]), try parts(value))
        case "error": return .fail(try value.attributeError())
        case "state": return .state(try state(value))
        case "variable":
            let variable = try variable(value)
            let (key, value) = try fields.one(of: ["to", "add"], called: "its value")
            return key == "to" ? .assign(variable, try number(value)) : .add(variable, try number(value))
        case "report":
            let way = try fields["with"]?.word("way to send", among: ["notify", "indicate"]) { $0 }
            return .report(try selection(value, fields), try sending(fields, by: way ?? "notify"))
        case "count":
            return .count(try selection(value, fields), into: try variable(try fields.required("into")))
        case "delete": return .delete(try selection(value, fields))
        default:
            guard try value.bool() else { throw value.error(expected: "true, or no '\(key)'") }
            return key == "cancel" ? .cancel : .disconnect
        }
    }

    private func sending(_ fields: Fields, by way: String) throws(FileError) -> BluetoothAnswers.Sending {
        let target = try characteristic(fields["on"])
        let property: CharacteristicProperties = way == "notify" ? .notify : .indicate
        let described = table[target].characteristic
        guard described.properties.contains(property) else {
            throw (fields["on"] ?? fields.node).error(
                found: "'\(way)' on \(described.uuid), which does not",
                expected: "\(way) among its properties, or 'on' with another characteristic"
            )
        }
        return BluetoothAnswers.Sending(
            characteristic: target,
            isIndication: way == "indicate",
            inFragments: try fields["fragments"]?.bool() ?? false,
            every: try fields["every"]?.duration() ?? .zero
        )
    }

    private func selection(_ node: YAMLNode, _ fields: Fields) throws(FileError) -> BluetoothAnswers.Selection {
        let names = answers.records.map(\.name)
        return BluetoothAnswers.Selection(
            list: try node.word("list of records", among: names) { names.firstIndex(of: $0) },
            from: try fields.value("from", number),
            to: try fields.value("to", number),
            pick: try fields["pick"]?.word("choice", of: BluetoothAnswers.Pick.allCases) { "\($0)" } ?? .all
        )
    }

    // MARK: Names

    /// The position of a characteristic: the rule's own without a node; one of the same service before others.
    private func characteristic(_ node: YAMLNode?) throws(FileError) -> Int {
        guard let node else { return own }
        let (uuid, table) = (try node.uuid(), table)
        let near = table.firstIndex { $0.characteristic.uuid == uuid && $0.service == service }
        guard let place = near ?? table.firstIndex(where: { $0.characteristic.uuid == uuid }) else {
            let known = table.map(\.characteristic.uuid)
            throw node.error(found: "unknown characteristic \(uuid)", expected: suggestion(for: uuid, among: known))
        }
        return place
    }

    private func state(_ node: YAMLNode) throws(FileError) -> Int {
        try node.word("state", among: answers.states) { answers.states.firstIndex(of: $0) }
    }

    private func variable(_ node: YAMLNode) throws(FileError) -> Int {
        let names = answers.variables.map(\.name)
        return try node.word("variable", among: names) { names.firstIndex(of: $0) }
    }

    // MARK: Conditions

    private func conditions(_ node: YAMLNode?) throws(FileError) -> [BluetoothAnswers.Condition] {
        guard let node else { return [] }
        let names = answers.variables.map(\.name)
        let fields = try Fields(node, of: "conditions", keys: BluetoothAnswers.reserved + names)
        var conditions: [BluetoothAnswers.Condition] = []
        for key in fields.present {
            let value = try fields.required(key)
            switch key {
            case "state": conditions.append(.state(try value.oneOrMore(limit: 64).map(state)))
            case "same", "differ":
                let sides = try value.list(expecting: "two values", limit: 2).map(parts)
                guard sides.count == 2 else { throw value.error(expected: "a list of two values") }
                conditions.append(key == "same" ? .same(sides[0], sides[1]) : .differ(sides[0], sides[1]))
            case "less":
                let sides = try value.list(expecting: "two numbers", limit: 2).map(number)
                guard sides.count == 2 else { throw value.error(expected: "a list of two numbers") }
                conditions.append(.less(sides[0], sides[1]))
            case "subscribed", "unsubscribed":
                let places = try value.oneOrMore(limit: 64).map { (node) throws(FileError) in
                    try self.characteristic(node)
                }
                conditions += places.map { .subscribed($0, key == "subscribed") }
            default:
                if let place = names.firstIndex(of: key) { conditions.append(.variable(place, try range(value))) }
            }
        }
        return conditions
    }

    private func range(_ node: YAMLNode) throws(FileError) -> ClosedRange<UInt32> {
        guard case .mapping = node.content else {
            let number = UInt32(try node.integer(in: 0...Int(UInt32.max)))
            return number...number
        }
        let fields = try Fields(node, of: "bounds", keys: ["from", "to"])
        let from = UInt32(try fields["from"]?.integer(in: 0...Int(UInt32.max)) ?? 0)
        return from...UInt32(try fields["to"]?.integer(in: Int(from)...Int(UInt32.max)) ?? Int(UInt32.max))
    }
}
