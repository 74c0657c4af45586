import WakeJSON
import WakeModel

/// What a client of the control socket asks for: one JSON object a line.
struct ControlRequest {
    /// The most bytes of a line.
    static let longestLine = 256 << 10
    /// The longest identifier of a command, in bytes.
    private static let longestID = 256

    let value: JSONValue
    let op: String
    /// What the client calls the request; its answer has the same.
    let request: Int64?

    /// - Throws: ``CommandFailure`` with exit code 2 for a line that is no request.
    init(_ line: [UInt8]) throws(CommandFailure) {
        guard let value = JSONValue(parsing: line), case .object = value, let op = value["op"]?.string else {
            throw CommandFailure(
                .usage,
                "a request is one JSON object a line, with a key 'op'",
                hint: "such as {\"op\":\"phones\"}"
            )
        }
        self.value = value
        self.op = op
        request = value["request"]?.integer
    }

    func text(_ key: String) throws(CommandFailure) -> String {
        guard let text = value[key]?.string, !text.isEmpty else {
            throw CommandFailure(.usage, "'\(op)' needs '\(key)', a text")
        }
        return text
    }

    func texts(_ key: String) throws(CommandFailure) -> [String] {
        guard let list = value[key] else { return [] }
        let texts = list.array.compactMap(\.string)
        guard case .array(let all) = list, texts.count == all.count else {
            throw CommandFailure(.usage, "'\(key)' is a list of texts")
        }
        return texts
    }

    /// What the client calls the command; empty for none.
    func id() throws(CommandFailure) -> String {
        guard let given = value["id"] else { return "" }
        guard let id = given.string, (1...Self.longestID).contains(id.utf8.count) else {
            throw CommandFailure(.usage, "'id' is a text of 1 to \(Self.longestID) bytes")
        }
        return id
    }

    /// The longest wait, in nanoseconds.
    func timeout() throws(CommandFailure) -> Int64 {
        guard let given = value["timeout"] else { return Self.usualTimeout }
        guard let seconds = given.double, (0...86_400).contains(seconds) else {
            throw CommandFailure(.usage, "'timeout' is 0 to 86400 seconds")
        }
        return Int64(seconds * 1e9)
    }

    /// In nanoseconds.
    private static let usualTimeout: Int64 = 10_000_000_000
}
