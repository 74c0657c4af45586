import CMicroHTTPD
import Glibc

/// A request and its answer.
@safe package final class HTTPExchange {
    package let method: String
    /// Without what stands after a `?`.
    package let path: String
    package private(set) var body: [UInt8] = []

    /// Hears once that it is over, whoever ended it. Nothing it is told then reaches anybody.
    package var ended: (() -> Void)?
    /// Hears that all of a stream that was said has been taken.
    package var drained: (() -> Void)?

    /// Of its connection.
    package let descriptor: Int32
    private let connection: OpaquePointer
    private let longestBody: Int
    /// Has the library look again soon.
    private let wake: () -> Void
    /// Where it stands. The library calls again once it is not suspended any more.
    private enum Stage {
        case hearing
        /// Its owner has it.
        case asked
        case answered(HTTPAnswer)
        case streams(HTTPAnswer)
        /// What there is to be sent has been given to the library.
        case sent
        case over
    }
    private var stage = Stage.hearing
    private var isSuspended = false
    private var output: [UInt8] = []
    private var taken = 0
    private var isLast = false

    init(_ connection: OpaquePointer, method: String, path: String, longestBody: Int, wake: @escaping () -> Void) {
        unsafe self.connection = connection
        descriptor = unsafe wake_http_socket(connection)
        self.wake = wake
        (self.method, self.path, self.longestBody) = (method, path, longestBody)
    }

    /// A field of its head; nil when there is none of the name.
    package func field(_ name: String) -> String? {
        isOver ? nil : unsafe wake_http_field(connection, name).map { unsafe String(cString: $0) }
    }

    /// What the address says after `?`; nil when it does not say.
    package func argument(_ name: String) -> String? {
        isOver ? nil : unsafe wake_http_argument(connection, name).map { unsafe String(cString: $0) }
    }

    private var isOver: Bool { if case .over = stage { true } else { false } }

    // MARK: Answers

    /// Answers it, in one piece.
    package func answer(_ answer: HTTPAnswer) {
        guard case .asked = stage else { return }
        stage = .answered(answer)
        resume()
    }

    /// Begins an answer that goes on until ``finish()``, or until the client goes.
    package func stream(_ type: String, fields: [(name: String, value: String)] = []) {
        guard case .asked = stage else { return }
        stage = .streams(HTTPAnswer(200, type, [], fields: fields))
        resume()
    }

    /// Says more of a stream.
    package func send(_ bytes: [UInt8]) {
        if isOver || isLast { return }
        output += bytes
        resume()
    }

    /// Bytes of the stream that nobody has taken yet.
    package var unsent: Int { output.count - taken }

    /// Ends a stream once all of it has been taken.
    package func finish() {
        isLast = true
        resume()
    }

    // MARK: The library's side

    private func suspend() {
        guard !isSuspended else { return }
        isSuspended = true
        unsafe MHD_suspend_connection(connection)
    }

    private func resume() {
        guard isSuspended else { return }
        endSuspension()
        wake()
    }

    private func endSuspension() {
        guard isSuspended else { return }
        isSuspended = false
        unsafe MHD_resume_connection(connection)
    }

    /// The head has come.
    func began(_ admit: (HTTPExchange) -> HTTPAnswer?) -> MHD_Result {
        if let refusal = admit(self) { return queue(refusal) }
        if let size = field("Content-Length").flatMap({ Int($0) }), size > longestBody {
            return queue(HTTPAnswer(413, "text/plain", Array("at most \(longestBody) bytes\n".utf8)))
        }
        return wake_http_yes
    }

    /// Takes a piece of the body.
    ///
    /// - Returns: false when it has become too long: the connection is closed.
    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard case .hearing = stage else { return true }
        guard body.count + bytes.count <= longestBody else { return false }
        unsafe body += bytes
        return true
    }

    /// The whole request has come, or what its owner makes of it.
    func goOn(_ asked: (HTTPExchange) -> Void) -> MHD_Result {
        if case .hearing = stage {
            stage = .asked
            asked(self)
        }
        switch stage {
        case .answered(let answer): return queue(answer)
        case .streams(let head): return begin(head)
        case .hearing, .asked:
            suspend()
            return wake_http_yes
        case .sent, .over: return wake_http_yes
        }
    }

    private func queue(_ answer: HTTPAnswer) -> MHD_Result {
        let response = unsafe answer.body.withUnsafeBytes { bytes in
            unsafe wake_http_response(bytes.count, bytes.baseAddress)
        }
        return unsafe queue(response, answer)
    }

    private func begin(_ head: HTTPAnswer) -> MHD_Result {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        // -1: nobody knows how long it becomes.
        let response = unsafe MHD_create_response_from_callback(.max, Self.pieceSize, read, context, nil)
        return unsafe queue(response, head)
    }

    private func queue(_ response: OpaquePointer?, _ head: HTTPAnswer) -> MHD_Result {
        stage = .sent
        guard let response = unsafe response else { return wake_http_no }
        defer { unsafe MHD_destroy_response(response) }
        for (name, value) in [("Content-Type", head.type)] + head.fields {
            unsafe _ = MHD_add_response_header(response, name, value)
        }
        return unsafe MHD_queue_response(connection, head.status, response)
    }

    private static let pieceSize = 32 << 10

    /// Gives the library what there is of a stream; it waits where there is nothing.
    fileprivate func give(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, unsent)
        guard count > 0 else {
            if isLast { return -1 }
            suspend()
            return 0
        }
        unsafe output.withUnsafeBytes { bytes in
            unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[taken..<taken + count]))
        }
        taken += count
        if taken == output.count {
            output.removeAll(keepingCapacity: output.capacity <= 65_536)
            taken = 0
            drained?()
        } else if taken > 1 << 20 {
            output.removeFirst(taken)
            taken = 0
        }
        return count
    }

    /// The server is about to end: nobody hears of it any more, and nobody is there to be woken.
    func letGo() {
        (ended, drained) = (nil, nil)
        isLast = true
        endSuspension()
    }

    func end() {
        stage = .over
        isSuspended = false
        let ended = ended
        (self.ended, drained) = (nil, nil)
        ended?()
    }
}

private func read(
    _ context: UnsafeMutableRawPointer?,
    _ position: UInt64,
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ most: Int
) -> Int {
    guard let context = unsafe context else { return -1 }
    let exchange = unsafe Unmanaged<HTTPExchange>.fromOpaque(context).takeUnretainedValue()
    return unsafe exchange.give(UnsafeMutableRawBufferPointer(start: bytes, count: most))
}
