import WakeJSON

/// A connection that sends requests to the daemon, and gets the events of the phones that it follows.
protocol Client: AnyObject {
    /// What it follows: one phone, or all where the name is empty; nil for nothing.
    var followed: String? { get set }

    /// Hears the answer to something that it asked, without the end of its line.
    func say(_ line: [UInt8])

    /// Hears a line of what it follows. Who reads too slowly loses lines, and is told how many.
    func tell(_ line: [UInt8])
}

extension Client {
    /// Answers a request with what it asked for.
    func answer(
        _ request: Int64?,
        _ schema: AnswerSchema = .control,
        _ write: (inout JSONWriter) -> Void = { _ in }
    ) {
        say(Self.answer(request, schema, isGood: true, write))
    }

    func refuse(_ request: Int64?, _ failure: CommandFailure) {
        let line = Self.answer(request, .control, isGood: false) { writer in
            writer.key("error")
            writer.value(failure.json)
        }
        say(line)
    }

    private static func answer(
        _ request: Int64?,
        _ schema: AnswerSchema,
        isGood: Bool,
        _ write: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.openObject()
        if let request {
            writer.key("request")
            writer.integer(request)
        }
        writer.key("schema")
        writer.string(schema.rawValue)
        writer.key("ok")
        writer.bool(isGood)
        write(&writer)
        writer.closeObject()
        return writer.bytes
    }

    func follows(_ phone: String) -> Bool { followed == phone || followed == "" }
}

/// What an answer of the control socket is.
enum AnswerSchema: String {
    case control = "wake.control/1"
    /// The first line of a stream.
    case stream = "wake.stream/1"
}

/// What of a stream a slow reader loses: lines that come while too much waits for it are dropped, and counted for it.
struct StreamGap {
    /// The most bytes that wait.
    static let mostStreamed = 1 << 20

    private var dropped: UInt64 = 0

    /// Whether a line is to be sent. One that is not is counted.
    mutating func admits(unsent: Int) -> Bool {
        if dropped == 0, unsent <= Self.mostStreamed { return true }
        dropped += 1
        return false
    }

    /// The line that says how much was lost, once the reader has come along; nil before, and where nothing was.
    mutating func end(unsent: Int) -> [UInt8]? {
        guard dropped > 0, unsent <= Self.mostStreamed / 2 else { return nil }
        var writer = JSONWriter()
        writer.openObject()
        writer.key("type")
        writer.string("gap")
        writer.key("dropped")
        writer.unsigned(dropped)
        writer.closeObject()
        dropped = 0
        return writer.bytes
    }
}
