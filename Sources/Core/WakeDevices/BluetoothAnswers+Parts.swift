import WakeModel

/// Values and numbers of answers.
extension BluetoothAnswerReading {
    /// How deep values may stand in values.
    private static let depth = 4

    /// Bytes, a part, or a list of both.
    func parts(_ node: YAMLNode) throws(FileError) -> [BluetoothAnswers.Part] { try parts(node, Self.depth) }

    /// A whole number, or a part that is one.
    func number(_ node: YAMLNode) throws(FileError) -> BluetoothAnswers.Number {
        guard case .mapping = node.content else {
            return .literal(UInt32(truncatingIfNeeded: try node.integer(in: Int(Int32.min)...Int(UInt32.max))))
        }
        return try number(node, Self.depth, inside: false).number
    }

    private func parts(_ node: YAMLNode, _ depth: Int) throws(FileError) -> [BluetoothAnswers.Part] {
        if depth == 0 {
            throw node.error(found: "values in values in values", expected: "at most \(Self.depth) levels")
        }
        guard case .sequence = node.content else { return [try part(node, depth)] }
        let parts = try node.list(expecting: "parts of a value", limit: 64)
        return try parts.map { (node) throws(FileError) in try part(node, depth) }
    }

    private func part(_ node: YAMLNode, _ depth: Int) throws(FileError) -> BluetoothAnswers.Part {
        guard case .mapping = node.content else { return .bytes(try node.hex()) }
        let (fields, key, value) = try Self.keys(node)
        if key == "request" {
            try fields.refuse(["order", "width"], beside: key)
            return .request(from: try value.place(), count: try fields["count"]?.place())
        }
        let (number, width) = try number(node, depth, inside: true)
        let order = try fields["order"]?.order() ?? .little
        return .number(number, width: try fields["width"]?.integer(in: 1...4) ?? width, order: order)
    }

    private static func keys(_ node: YAMLNode) throws(FileError) -> (Fields, String, YAMLNode) {
        let kinds = ["request", "variable", "length", "crc"]
        let extras = ["count", "width", "order", "of", "continues"]
        let fields = try Fields(node, of: "a part of a value", keys: kinds + extras)
        let (key, value) = try fields.one(of: kinds, called: "what it is")
        let beside = ["request": ["count", "width", "order"], "crc": ["width", "order", "of", "continues"]]
        try fields.refuse(
            extras.filter { beside[key, default: ["width", "order"]].contains($0) == false },
            beside: key
        )
        return (fields, key, value)
    }

    /// A number, and how many bytes it has where nothing else is said.
    private func number(
        _ node: YAMLNode,
        _ depth: Int,
        inside isPart: Bool
    ) throws(FileError) -> (number: BluetoothAnswers.Number, width: Int) {
        let (fields, key, value) = try Self.keys(node)
        if !isPart { try fields.refuse(["width"], beside: "a number") }
        switch key {
        case "request":
            let count = try fields.required("count").integer(in: 1...4)
            return (.request(from: try value.place(), count: count, order: try fields["order"]?.order() ?? .little), 4)
        case "variable":
            let names = answers.variables.map(\.name)
            return (.variable(try value.word("variable", among: names) { names.firstIndex(of: $0) }), 1)
        case "length": return (.length(try extent(value, depth, ["before", "after"], isPart)), 1)
        default:
            let kind = try value.word("checksum", of: Checksum.allCases, \.rawValue)
            var extent = BluetoothAnswers.Extent.before
            if let node = fields["of"] {
                extent = try self.extent(node, depth, ["before"], isPart)
            } else if !isPart {
                _ = try fields.required("of")
            }
            let names = answers.variables.map(\.name)
            let before = try fields["continues"]?.word("variable", among: names) { names.firstIndex(of: $0) }
            return (.checksum(kind, extent, continues: before), kind.width)
        }
    }

    /// `before` and `after` are words of a value's parts; anything else is a value itself.
    private func extent(
        _ node: YAMLNode,
        _ depth: Int,
        _ words: [String],
        _ isPart: Bool
    ) throws(FileError) -> BluetoothAnswers.Extent {
        if case .scalar(let text, _) = node.content, ["before", "after"].contains(text) {
            guard isPart, words.contains(text) else {
                throw node.error(expected: isPart ? "before, or a value" : "a value: there is nothing around it")
            }
            return text == "before" ? .before : .after
        }
        return .value(try parts(node, depth - 1))
    }
}

extension BluetoothAnswers.Pattern {
    /// Hexadecimal digits, `?` for any of four bits, and `*` at the end for any bytes more; `any` is `*` alone.
    init(_ node: YAMLNode) throws(FileError) {
        let expected = "bytes such as \"01 0? ?? *\", at most \(BluetoothAnswers.longestValue), or any"
        var text = try node.text(expecting: expected)
        if text == "any" { text = "*" }
        isOpen = text.hasSuffix("*")
        let digits = (isOpen ? text.dropLast() : text[...]).filter { $0 != " " }
        (bytes, mask) = ([], [])
        var high: (UInt8, UInt8)?
        for digit in digits {
            guard digit == "?" || digit.isASCII && digit.hexDigitValue != nil else {
                throw node.error(expected: expected)
            }
            let nibble: (UInt8, UInt8) = digit == "?" ? (0, 0) : (UInt8(digit.hexDigitValue ?? 0), 15)
            if let (value, counts) = high {
                bytes.append(value << 4 | nibble.0)
                mask.append(counts << 4 | nibble.1)
                high = nil
            } else {
                high = nibble
            }
        }
        guard high == nil, bytes.count <= BluetoothAnswers.longestValue else { throw node.error(expected: expected) }
    }
}

extension BluetoothAnswers.Action {
    /// Whether it is done before the request is answered.
    var isImmediate: Bool {
        switch deed {
        case .send, .report, .disconnect: false
        case .set, .fail, .state, .assign, .add, .count, .delete, .cancel: after == .zero
        }
    }
}

extension YAMLNode {
    /// The members of a list; none of anything else.
    var members: [YAMLNode] {
        if case .sequence(let nodes) = content { nodes } else { [] }
    }

    /// A mapping whose keys are names of the file's own.
    func entries(expecting what: String, limit: Int) throws(FileError) -> [Entry] {
        guard case .mapping(let entries) = content else { throw error(expected: "a mapping of \(what)") }
        if entries.count > limit {
            throw error(found: "\(entries.count) entries", expected: "at most \(limit) \(what)")
        }
        return entries
    }

    /// A value alone, or a list of them.
    func oneOrMore(limit: Int) throws(FileError) -> [YAMLNode] {
        guard case .sequence = content else { return [self] }
        let nodes = try list(expecting: "names", limit: limit)
        if nodes.isEmpty { throw error(found: "an empty list", expected: "at least one") }
        return nodes
    }

    func answerName(_ what: String) throws(FileError) -> String {
        let expected = "a \(what)'s name of letters, digits, - and _, at most 40"
        return try identifier(expected, marks: "-_", length: 1...40)
    }

    /// A place in a value, or a number of its bytes.
    func place() throws(FileError) -> Int { try integer(in: 0...BluetoothAnswers.longestValue) }

    func order() throws(FileError) -> BluetoothAnswers.Order {
        try word("order of bytes", of: BluetoothAnswers.Order.allCases) { "\($0)" }
    }

    /// A code of ATT by its name, or as `0x80`.
    func attributeError() throws(FileError) -> UInt8 {
        let text = try text(expecting: "an ATT error such as value-not-allowed, or 0x80 to 0x9f")
        if text.hasPrefix("0x") {
            guard let code = UInt8(text.dropFirst(2), radix: 16), code > 0 else {
                throw error(expected: "a code from 0x01 to 0xff")
            }
            return code
        }
        return try word("ATT error", of: AttributeErrorName.all, \.word).code
    }
}
