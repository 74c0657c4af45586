import Glibc

/// A connection that carries lines both ways, on a loop. What it keeps for a slow or careless other end is bounded.
package final class LineStream {
    /// How a connection came to its end.
    package enum Ending: Hashable, Sendable {
        /// The other end closed it, and nothing is left to be said to it.
        case closed
        /// A line went on beyond the bound.
        case tooLong
        case failed(SystemError)
    }

    /// Hears a line, without its end.
    package var heard: (([UInt8]) -> Void)?
    /// Hears how it ended, once. It is to be let go then.
    package var ended: ((Ending) -> Void)?
    /// Hears that all has been sent, where more had waited than is read beside.
    package var drained: (() -> Void)?

    private let descriptor: Int32
    private let longestLine: Int
    private let mostUnsent: Int
    private var watch: Watch?
    private var received: [UInt8] = []
    /// How much of it has been looked through for the end of a line.
    private var searched = 0
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    private var output: [UInt8] = []
    private var sent = 0
    private var isReading = true
    /// Whether more than ``mostUnsent`` waited since all had been sent last.
    private var wasFull = false
    private var isOver = false
    /// The other end says no more.
    private var isDeaf = false
    /// It ends when all has been sent.
    private var closesWhenSent = false

    /// Takes over a non-blocking descriptor.
    ///
    /// - Parameters:
    ///   - longestLine: in bytes.
    ///   - mostUnsent: the bytes beyond which nothing more is read until they are sent.
    package init(
        _ descriptor: consuming Descriptor,
        loop: EventLoop,
        longestLine: Int,
        mostUnsent: Int
    ) throws(SystemError) {
        self.descriptor = descriptor.release()
        self.longestLine = longestLine
        self.mostUnsent = mostUnsent
        watch = try loop.watch(self.descriptor, for: .readable) { [unowned self] readiness in ready(readiness) }
    }

    deinit {
        watch?.cancel()
        _ = Glibc.close(descriptor)
    }

    /// Bytes that wait for the other end to read.
    package var unsent: Int { output.count - sent }
    /// When something of what was said could be sent last, on the monotonic clock in nanoseconds.
    package private(set) var lastSent = MonotonicClock.now()

    /// Sends a line, to which its end is added.
    package func send(_ line: [UInt8]) {
        guard !isOver else { return }
        output += line
        output.append(0x0a)
        flush()
    }

    /// Ends when all that was said has been sent; nothing more is heard.
    package func close() {
        isDeaf = true
        closesWhenSent = true
        flush()
    }

    /// Ends at once. What was not sent is lost.
    package func drop() { finish(.closed) }

    private func ready(_ readiness: Readiness) {
        if readiness.contains(.writable) { flush() }
        if !isOver, isReading, !readiness.isDisjoint(with: [.readable, .hangup, .failed]) { read() }
    }

    private func read() {
        do throws(SystemError) {
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                repeatingInterrupted { unsafe Glibc.read(descriptor, bytes.baseAddress, bytes.count) }
            }
            if count < 0, errno == EAGAIN { return }
            guard count >= 0 else { throw SystemError(last: "read") }
            if count == 0 {
                isDeaf = true
                closesWhenSent = true
                return flush()
            }
            if isDeaf { return }
            received += buffer[..<count]
            takeLines()
        } catch {
            finish(.failed(error))
        }
    }

    private func takeLines() {
        var start = 0
        while !isOver, !isDeaf, let end = received[searched...].firstIndex(of: 0x0a) {
            if end - start > longestLine { return finish(.tooLong) }
            let line = Array(received[start..<end])
            (start, searched) = (end + 1, end + 1)
            if !line.isEmpty { heard?(line) }
        }
        received.removeFirst(start)
        searched = received.count
        if received.count > longestLine { finish(.tooLong) }
    }

    private func flush() {
        while !isOver, sent < output.count {
            let count = unsafe output.withUnsafeBytes { bytes in
                repeatingInterrupted {
                    unsafe Glibc.send(descriptor, bytes.baseAddress! + sent, output.count - sent, Int32(MSG_NOSIGNAL))
                }
            }
            if count < 0, errno == EAGAIN { break }
            guard count >= 0 else { return finish(.failed(SystemError(last: "send"))) }
            sent += count
            lastSent = MonotonicClock.now()
        }
        if sent == output.count {
            let wasFull = wasFull
            self.wasFull = false
            output.removeAll(keepingCapacity: output.capacity <= 65_536)
            sent = 0
            if closesWhenSent { return finish(.closed) }
            if wasFull { drained?() }
        } else if sent > 1 << 20 {
            output.removeFirst(sent)
            sent = 0
        }
        if unsent > mostUnsent { wasFull = true }
        isReading = unsent <= mostUnsent && !(isDeaf && closesWhenSent)
        var interests: Readiness = isReading ? .readable : []
        if unsent > 0 { interests.insert(.writable) }
        watch?.setInterests(interests)
    }

    private func finish(_ ending: Ending) {
        guard !isOver else { return }
        isOver = true
        watch?.cancel()
        watch = nil
        ended?(ending)
    }
}
