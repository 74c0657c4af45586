import WakeModel

extension CallServer {
    /// The kind of device that such a file names.
    package static let kind = "call-server"

    /// Reads a device file.
    ///
    /// - Throws: ``FileError`` with the line and what was expected.
    package static func load(file: String) throws(FileError) -> CallServer {
        try parse(try InputFile.read(file), file: file)
    }

    /// Reads the text of a device file; `file` is for errors.
    package static func parse(_ bytes: [UInt8], file: String) throws(FileError) -> CallServer {
        try CallServer(try YAMLReader.read(bytes, file: file))
    }

    /// The most steps of a plan, answers and faults.
    private static let listLimit = 1_024
    /// The most bytes of one message.
    static let textLimit = 65_536

    /// Reads the tree of a device file.
    init(_ root: YAMLNode) throws(FileError) {
        let kind = Self.kind
        let fields = try Fields(
            root,
            of: "a call server",
            keys: ["device", "port", "messages", "plan", "answers", "faults"]
        )
        _ = try fields.required("device").word("kind of device", among: [kind]) { $0 == kind ? $0 : nil }
        let framings = Framing.allCases.map(\.rawValue)
        let steps = try fields["plan"]?.list(expecting: "steps of a plan", limit: Self.listLimit) ?? []
        let answers = try fields["answers"]?.list(expecting: "answers", limit: Self.listLimit) ?? []
        let faults = try fields["faults"]?.list(expecting: "faults", limit: Self.listLimit) ?? []
        self.init(
            file: root.file,
            port: UInt16(try fields["port"]?.integer(in: 0...65_535) ?? 0),
            framing: try fields["messages"]?.word("way to tell messages apart", among: framings) {
                Framing(rawValue: $0)
            } ?? .sip,
            plan: try steps.map { (node) throws(FileError) in
                try Step(node, try Fields(node, of: "a step of a plan", keys: Step.keys))
            },
            answers: try answers.map { (node) throws(FileError) in try Answer(node) },
            faults: try faults.map { (node) throws(FileError) in try Fault(node) }
        )
        for (index, fault) in self.faults.enumerated()
        where self.faults[..<index].contains(where: { $0.name == fault.name }) {
            throw faults[index].error(found: "a second fault '\(fault.name)'", expected: "another name")
        }
    }
}

extension CallServer.Step {
    fileprivate static let keys = [
        "send", "pour", "await", "pause", "stall", "garbage", "half-close", "close", "reset",
    ]

    /// Reads the one key of a step.
    fileprivate init(_ node: YAMLNode, _ fields: Fields) throws(FileError) {
        let (key, value) = try fields.one(of: Self.keys, called: "something to do")
        switch key {
        case "send": self = .send(try value.message())
        case "pour": self = .pour(try value.byteCount(upTo: 1 << 30))
        case "await": self = .await(try value.text(expecting: "how a message begins"))
        case "pause": self = .pause(try value.interval())
        case "stall": self = .stall(try value.interval())
        case "garbage": self = .garbage(try value.byteCount(upTo: CallServer.textLimit))
        default:
            guard try value.bool() else { throw value.error(expected: "true") }
            self = key == "close" ? .close : key == "reset" ? .reset : .halfClose
        }
    }
}

extension CallServer.Answer {
    fileprivate init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "an answer", keys: ["to", "send"])
        prefix = try fields.required("to").text(expecting: "how a message begins")
        text = try fields.required("send").message()
    }
}

extension CallServer.Fault {
    fileprivate init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "a fault", keys: ["name"] + CallServer.Step.keys)
        name = try fields.required("name").text(expecting: "a name")
        step = try CallServer.Step(node, fields)
        if case .await = step { throw node.error(found: "a fault that waits", expected: "another effect") }
    }
}

extension CallAct {
    /// Reads what a step of a scenario says beside `voip`.
    init(_ fields: Fields) throws(FileError) {
        let (key, value) = try fields.one(of: Self.keys, called: "what the server does")
        if key == "say" {
            self = .send(try value.message())
            return
        }
        let words = ["close", "half-close", "reset"]
        self = try value.word("act of a call server", among: words) { word in
            switch word {
            case "close": .close
            case "half-close": .halfClose
            case "reset": .reset
            default: nil
            }
        }
    }
}

extension YAMLNode {
    /// The text of a message.
    fileprivate func message() throws(FileError) -> String {
        let text = try text(expecting: "the text of a message")
        if text.utf8.count > CallServer.textLimit {
            throw error(found: "\(text.utf8.count) bytes", expected: "at most \(CallServer.textLimit)")
        }
        return text
    }

    /// A number of bytes: plain, or with kB or MB of a thousand and a million.
    fileprivate func byteCount(upTo most: Int) throws(FileError) -> Int {
        let expected = "a number of bytes such as 512, 20kB or 100MB, at most \(most)"
        let text = try text(expecting: expected)
        let units = [("MB", 1_000_000), ("kB", 1_000)]
        let unit = units.first { text.hasSuffix($0.0) }
        let digits = unit.map { String(text.dropLast($0.0.count)) } ?? text
        guard let number = Int(digits), number > 0,
            case let (count, false) = number.multipliedReportingOverflow(
                by: unit?.1 ?? 1
            ), count <= most
        else { throw error(expected: expected) }
        return count
    }
}
