import WakeJSON
import WakeSystem

/// A client of the control socket.
final class ControlConnection: Client {
    /// The most bytes of answers that wait before no further request is read.
    private static let mostUnsent = 1 << 20

    private let stream: LineStream
    var followed: String?
    /// Whether it has none of the places for clients that may ask for anything.
    var isExtra = true
    private var gap = StreamGap()
    private var isOver = false
    /// When it asked for something last, or connected, on the monotonic clock in nanoseconds.
    private var lastAsked = MonotonicClock.now()
    /// How many answers it waits for.
    private var owed = 0
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

    /// Since when nothing comes of it, on the monotonic clock in nanoseconds: it asks nothing, or does not take what it is told.
    /// For one that waits for an answer, or follows a phone, and takes all, that is never.
    var idleSince: Int64 {
        if stream.unsent > 0 { return stream.lastSent }
        return owed > 0 || followed != nil ? .max : lastAsked
    }

    private func heard(_ line: [UInt8]) {
        lastAsked = MonotonicClock.now()
        owed += 1
        do throws(CommandFailure) {
            asked?(try ControlRequest(line), self)
        } catch {
            refuse(nil, error)
        }
    }

    /// Says no, to a request or to all, and that nothing more is heard.
    func refuseAll(_ failure: CommandFailure, _ request: Int64? = nil) {
        refuse(request, failure)
        stream.close()
    }

    /// Says no, and ends at once, whether that is heard or not.
    func giveWay(_ failure: CommandFailure) {
        refuse(nil, failure)
        stream.drop()
    }

    // MARK: Lines

    func say(_ line: [UInt8]) {
        owed = max(0, owed - 1)
        stream.send(line)
    }

    func tell(_ line: [UInt8]) {
        guard !isOver else { return }
        if gap.admits(unsent: stream.unsent) { stream.send(line) } else { tellGap() }
    }

    private func tellGap() {
        if let line = gap.end(unsent: stream.unsent) { stream.send(line) }
    }
}

extension CommandFailure {
    /// As errors stand in JSON everywhere: what is wrong, what to do about it, and where that is, as far as it is known.
    package var json: JSONValue {
        var members = [
            JSONValue.Member(key: "code", value: .integer(Int64(code.rawValue))),
            JSONValue.Member(key: "kind", value: .string(code.word)),
            JSONValue.Member(key: "message", value: .string(message)),
        ]
        if let hint { members.append(JSONValue.Member(key: "hint", value: .string(hint))) }
        if let place {
            members.append(JSONValue.Member(key: "file", value: .string(place.file)))
            for (key, number) in [("line", place.line), ("column", place.column)] where number > 0 {
                members.append(JSONValue.Member(key: key, value: .integer(Int64(number))))
            }
        }
        return .object(members)
    }
}
