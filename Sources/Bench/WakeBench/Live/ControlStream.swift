import WakeJSON
import WakeSystem

/// A client of a daemon's control socket that never waits: it asks, and hears answers and what it follows from a loop.
package final class ControlStream {
    /// Hears the lines of what it follows.
    package var told: (JSONValue) -> Void = { _ in }
    /// Told once that the daemon is gone. Nothing that was asked and not answered is answered any more.
    package var ended: () -> Void = {}

    private let stream: LineStream
    private var answers: [Int64: (Result<JSONValue, CommandFailure>) -> Void] = [:]
    private var lastRequest: Int64 = 0

    /// The most bytes of an answer: it may have all apps of a phone.
    private static let longestLine = 64 << 20
    /// The bytes of requests that wait before no answer is read.
    private static let mostUnsent = 1 << 20

    /// - Throws: ``CommandFailure`` with exit code 9 when no daemon listens there.
    package init(socket: String, on loop: EventLoop) throws(CommandFailure) {
        do throws(SystemError) {
            let connection = try UnixSocket.connect(to: socket)
            stream = try LineStream(
                connection,
                loop: loop,
                longestLine: Self.longestLine,
                mostUnsent: Self.mostUnsent
            )
        } catch {
            throw CommandFailure(noDaemonAt: socket, error)
        }
        stream.heard = { [unowned self] in hear($0) }
        stream.ended = { [unowned self] _ in
            answers.removeAll()
            ended()
        }
    }

    /// Asks for something, and hears once what is answered, or why it was refused.
    package func ask(
        _ members: [JSONValue.Member],
        then answered: @escaping (Result<JSONValue, CommandFailure>) -> Void
    ) {
        lastRequest += 1
        answers[lastRequest] = answered
        let request = JSONValue.object([.init(key: "request", value: .integer(lastRequest))] + members)
        stream.send(request.encoded)
    }

    private func hear(_ line: [UInt8]) {
        guard let value = JSONValue(parsing: line) else { return }
        guard let isGood = value["ok"]?.bool else { return told(value) }
        // What is refused before it is read as a request has no number.
        let number = value["request"]?.integer ?? answers.keys.min() ?? 0
        answers.removeValue(forKey: number)?(isGood ? .success(value) : .failure(CommandFailure(value["error"])))
    }
}
