import WakeJSON
import WakeSystem

/// A client of the daemon, and what it follows.
final class ControlConnection {
    /// The most bytes of a stream that wait for a slow reader; what comes beyond is dropped, and counted for it.
    private static let mostStreamed = 1 << 20
    /// The most bytes of answers that wait before no further request is read.
    private static let mostUnsent = 1 << 20

    private let stream: LineStream
    /// What it follows: one phone, or all where the name is empty; nil for nothing.
    private(set) var followed: String?
    private var dropped: UInt64 = 0
    private var isOver = false
    /// Told a request; not told any more once it is over.
    var asked: ((ControlRequest, ControlConnection) -> Void)?
    var ended: ((ControlConnection) -> Void)?

    init(_ descriptor: consuming Descriptor, loop: EventLoop) throws(SystemError) {
        stream = try LineStream(
            descriptor,
            loop: loop,
            longestLine: ControlRequest.longestLine,
            mostUnsent: Self.mostUnsent
        )
        stream.heard = { [unowned self] line in heard(line) }
        stream.drained = { [unowned self] in tellGap() }
        stream.ended = { [unowned self] ending in
            isOver = true
            asked = nil
            _ = ending
            ended?(self)
        }
    }

    private func heard(_ line: [UInt8]) {
        do throws(CommandFailure) {
            asked?(try ControlRequest(line), self)
        } catch {
            refuse(nil, error)
        }
    }

    /// Says no, and that nothing more is heard.
    func refuseAll(_ failure: CommandFailure) {
        refuse(nil, failure)
        stream.close()
    }

    // MARK: Answers

    /// Answers a request with what it asked for.
    func answer(_ request: Int64?, _ write: (inout JSONWriter) -> Void = { _ in }) {
        var writer = JSONWriter()
        writer.openObject()
        if let request {
            writer.key("request")
            writer.integer(request)
        }
        writer.key("ok")
        writer.bool(true)
        write(&writer)
        writer.closeObject()
        stream.send(writer.bytes)
    }

    func refuse(_ request: Int64?, _ failure: CommandFailure) {
        var writer = JSONWriter()
        writer.openObject()
        if let request {
            writer.key("request")
            writer.integer(request)
        }
        writer.key("ok")
        writer.bool(false)
        writer.key("error")
        writer.value(failure.json)
        writer.closeObject()
        stream.send(writer.bytes)
    }

    // MARK: Streams

    func follow(_ phone: String) { followed = phone }

    /// Sends a line of what it follows, or counts it where it reads too slowly.
    func tell(_ line: [UInt8]) {
        guard !isOver else { return }
        if dropped > 0 || stream.unsent > Self.mostStreamed {
            dropped += 1
            if stream.unsent <= Self.mostStreamed / 2 { tellGap() }
            return
        }
        stream.send(line)
    }

    private func tellGap() {
        guard dropped > 0 else { return }
        var writer = JSONWriter()
        writer.openObject()
        writer.key("type")
        writer.string("gap")
        writer.key("dropped")
        writer.unsigned(dropped)
        writer.closeObject()
        dropped = 0
        stream.send(writer.bytes)
    }
}

extension CommandFailure {
    /// As errors stand in JSON everywhere.
    var json: JSONValue {
        var members = [
            JSONValue.Member(key: "code", value: .integer(Int64(code.rawValue))),
            JSONValue.Member(key: "kind", value: .string(code.word)),
            JSONValue.Member(key: "message", value: .string(message)),
        ]
        if let hint { members.append(JSONValue.Member(key: "hint", value: .string(hint))) }
        return .object(members)
    }
}
