import WakeModel

extension CallServer: Device {
    package static let kind = "call-server"
    package static let article = "a call server"
    package static let lack = "takes no calls"
    package static let keys = ["port", "messages", "plan", "answers", "faults"]

    /// The most steps of a plan, answers and faults.
    private static let listLimit = 1_024
    /// The most bytes of one message.
    static let textLimit = 65_536

    package var form: DeviceFile { .callServer(self) }

    package init(_ fields: Fields) throws(FileError) {
        self.init(
            file: fields.node.file,
            port: UInt16(try fields["port"]?.integer(in: 0...65_535) ?? 0),
            framing: try fields["messages"]?.word("way to tell messages apart", of: Framing.allCases, \.rawValue)
                ?? .sip,
            plan: try fields.list("plan", of: "steps of a plan", limit: Self.listLimit) { (node) throws(FileError) in
                let fields = try Fields(node, of: "a step of a plan", keys: Step.effects)
                let (key, value) = try fields.one(of: Step.effects, called: "something to do")
                return try Step(key, value)
            },
            answers: try fields.list("answers", limit: Self.listLimit, Answer.init),
            faults: try fields.faults(limit: Self.listLimit)
        )
    }
}

extension CallServer.Step {
    /// Reads the one key of a step.
    fileprivate init(_ key: String, _ value: YAMLNode) throws(FileError) {
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

extension CallServer.Step: FaultEffect {
    package static let effects = [
        "send", "pour", "await", "pause", "stall", "garbage", "half-close", "close", "reset",
    ]

    package init(_ key: String, _ value: YAMLNode, _ fields: Fields) throws(FileError) {
        try self.init(key, value)
        if case .await = self { throw fields.node.error(found: "a fault that waits", expected: "another effect") }
    }
}

extension CallServer.Step {
    /// The keys of a scenario's step that says what a server does beside its plan.
    static let acts = ["say", "act"]

    /// Reads what a step of a scenario says beside `voip`.
    init(_ fields: Fields) throws(FileError) {
        let (key, value) = try fields.one(of: Self.acts, called: "what the server does")
        if key == "say" {
            self = .send(try value.message())
            return
        }
        let acts: KeyValuePairs<String, Self> = ["close": .close, "half-close": .halfClose, "reset": .reset]
        self = try value.word("act of a call server", of: Array(acts), \.key).value
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
