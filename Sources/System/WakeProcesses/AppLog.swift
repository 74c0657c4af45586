import Glibc
import Synchronization
import WakeSystem

/// Where an app's processes write to: a file of which, once it has come to its bound, the newest half is kept.
///
/// A thread for each process takes what it writes, so that an app that never stops writing keeps nobody else waiting.
package final class AppLog: Sendable {
    /// The bound unless another is given, in bytes.
    package static let usualLimit = 16 << 20

    private struct State {
        /// Bytes in the file.
        var size: Int
        /// Bytes that were written and are not in it any more.
        var dropped = 0
        /// Bytes of the line that says so.
        var head = 0
        /// Nobody has joined them yet; each with what it does.
        var threads: [(number: pthread_t, reader: LogReader)] = []
        /// Those of them that have nothing more to take.
        var ended: [pthread_t] = []

        /// Takes out the threads that have ended.
        mutating func takeEnded() -> [pthread_t] {
            defer { ended = [] }
            threads.removeAll { ended.contains($0.number) }
            return ended
        }
    }

    package let path: String
    private let limit: Int
    private let file: Descriptor
    /// Rung once, when nothing more is to be waited for.
    private let end: Descriptor
    private let state: Mutex<State>

    /// Goes on with the file, or makes it.
    ///
    /// - Parameter limit: its bound in bytes, at least 65 536.
    package init(_ path: String, limit: Int = AppLog.usualLimit) throws(SystemError) {
        precondition(limit >= 65_536, "AppLog(limit: \(limit))")
        self.path = path
        self.limit = limit
        file = try Descriptor.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        end = try doorbell()
        let size = lseek(file.number, 0, SEEK_END)
        guard size >= 0 else { throw SystemError(last: "lseek", subject: path) }
        let (dropped, head) = Self.notKept(of: file)
        state = Mutex(State(size: Int(size), dropped: dropped, head: head))
    }

    /// What the first line of a log says that is not in it any more, and the bytes of that line.
    private static func notKept(of file: borrowing Descriptor) -> (bytes: Int, line: Int) {
        var first = [UInt8](repeating: 0, count: 128)
        let number = file.number
        let count = unsafe first.withUnsafeMutableBytes { bytes in
            repeatingInterrupted { unsafe pread(number, bytes.baseAddress, bytes.count, 0) }
        }
        let line = String(decoding: first.prefix(max(count, 0)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        // The app may have written it itself, with any number.
        guard line.hasPrefix(notKeptWords.before), line.hasSuffix(notKeptWords.after),
            let bytes = Int(line.dropFirst(notKeptWords.before.count).dropLast(notKeptWords.after.count)),
            (1...1 << 60).contains(bytes)
        else { return (0, 0) }
        return (bytes, line.utf8.count + 1)
    }

    private static let notKeptWords = (before: "[wakebench: ", after: " bytes before this are not kept]")

    /// What one process writes to; to be closed once it has it. What earlier processes wrote before stands before it in the file.
    package func input() throws(SystemError) -> Descriptor {
        for (_, reader) in state.withLock({ $0.threads }) { reader.takeWritten() }
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw SystemError(last: "pipe") }
        let output = Descriptor(owning: ends[0])
        let input = Descriptor(owning: ends[1])
        for number in ends { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        try output.makeNonBlocking()
        let reader = LogReader(output, self)
        // A thread keeps its stack until it is joined.
        let ended = try state.withLock { (state) throws(SystemError) in
            state.threads.append((try beginThread("app log", stack: Self.stackSize) { reader.work() }, reader))
            return state.takeEnded()
        }
        for thread in ended { pthread_join(thread, nil) }
        return input
    }

    /// Takes what is still there, and waits for no more. To be called when the processes have ended.
    package func finish() {
        end.ring()
        let threads = state.withLock { state in
            defer { (state.threads, state.ended) = ([], []) }
            return state.threads
        }
        for thread in threads { pthread_join(thread.number, nil) }
    }

    /// The calling thread has nothing more to take.
    fileprivate func endThread() {
        state.withLock { $0.ended.append(pthread_self()) }
    }

    fileprivate var endSignal: Int32 { end.number }

    /// A file that takes nothing, such as on a full disk, keeps no app waiting: what it does not take is lost.
    fileprivate func append(_ bytes: ArraySlice<UInt8>) {
        state.withLock { state in
            if state.size + bytes.count > limit { dropOldest(&state) }
            state.size += write(bytes, at: state.size)
        }
    }

    /// Keeps the newest half, from the beginning of a line, behind a line that says so.
    private func dropOldest(_ state: inout State) {
        var kept = [UInt8](repeating: 0, count: min(limit / 2, state.size))
        let from = state.size - kept.count
        let number = file.number
        let count = unsafe kept.withUnsafeMutableBytes { bytes in
            repeatingInterrupted { unsafe pread(number, bytes.baseAddress, bytes.count, off_t(from)) }
        }
        var rest = kept.prefix(max(count, 0))
        if let line = rest.firstIndex(of: UInt8(ascii: "\n")) { rest = rest[(line + 1)...] }
        state.dropped += state.size - state.head - rest.count
        let head = Array("\(Self.notKeptWords.before)\(state.dropped)\(Self.notKeptWords.after)\n".utf8)
        _ = ftruncate(file.number, 0)
        state.head = write(head[...], at: 0)
        state.size = state.head
        state.size += write(rest, at: state.size)
    }

    /// How many bytes were written.
    private func write(_ bytes: ArraySlice<UInt8>, at offset: Int) -> Int {
        var written = 0
        let number = file.number
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe pwrite(number, bytes.baseAddress! + written, bytes.count - written, off_t(offset + written))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            written += count
        }
        return written
    }

    /// A thread's stack, in bytes: what it takes goes through the heap.
    private static let stackSize = 256 << 10
}

/// Takes what one process writes, in a thread of its own.
private final class LogReader: @unchecked Sendable {
    private let output: Descriptor
    private let log: AppLog
    /// Held from a read until what it read is in the file: others may take something, too.
    private let turn = Mutex(())
    /// At the end, what a pipe can hold is taken, and no more of one that goes on writing.
    private static let lastPieces = 32

    init(_ output: consuming Descriptor, _ log: AppLog) {
        self.output = output
        self.log = log
    }

    func work() {
        takeAll()
        log.endThread()
    }

    private func takeAll() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var places = [output.number, log.endSignal].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var left = Self.lastPieces
        while left > 0 {
            let isEnding = places[1].revents != 0
            if isEnding { left -= 1 }
            guard let count = takePiece(&buffer) else {
                if isEnding { return }
                _ = unsafe poll(&places, nfds_t(places.count), -1)
                continue
            }
            // Every process that could write has ended.
            guard count > 0 else { return }
        }
    }

    /// Takes what its process has written so far; of one that goes on writing, what a pipe can hold.
    func takeWritten() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        for _ in 0..<Self.lastPieces {
            guard let count = takePiece(&buffer), count > 0 else { return }
        }
    }

    /// - Returns: how many bytes it took: 0 when nobody will write any more, nil when there is nothing now.
    private func takePiece(_ buffer: inout [UInt8]) -> Int? {
        turn.withLock { _ in
            guard let count = try? output.read(into: &buffer) else { return nil }
            if count > 0 { log.append(buffer[..<count]) }
            return count
        }
    }
}
