import Glibc
import WakePorts
import WakeSystem

/// The port's end of an app's session: a stream socket, and what it has no room for yet.
///
/// It is watched only for what can move: for reading while the owner wants what the app writes, for writing while something
/// waits for the app.
package final class SessionSocket {
    /// The app's end; nil once it was taken. Whoever takes it closes it.
    private var appEnd: Int32?
    /// -1 once it is closed.
    private var descriptor: Int32
    private var waiting = ByteQueue()
    private var watch: Watch?
    private let limit: Int
    /// The app reads no more, or writes no more.
    package private(set) var isAppGone = false
    package private(set) var isAppDone = false

    /// Whether the owner has room for what the app writes.
    package var wantsBytes = true {
        didSet { if wantsBytes != oldValue { watchWhatCanMove() } }
    }

    /// Called from the loop when something can move; nil for an owner that looks by itself.
    package var ready: (() -> Void)?

    /// - Parameter limit: the most bytes that wait for the app beside what the socket holds (EA-5).
    package init(limit: Int, loop: EventLoop?) throws(SystemError) {
        let (own, theirs) = try streamPair()
        descriptor = own
        appEnd = theirs
        self.limit = limit
        watch = try? loop?.watch(own, for: .readable) { [unowned self] _ in ready?() }
        watchWhatCanMove()
    }

    deinit { close() }

    package var isOpen: Bool { descriptor >= 0 }

    /// How many bytes can be offered.
    package var room: Int { isOpen && !isAppGone ? limit - waiting.count : 0 }

    /// Whether something waits for the app that the socket had no room for.
    package var isHoldingBytes: Bool { !waiting.isEmpty }

    /// The app's end, a non-blocking stream; the caller closes it. Nil when it was taken.
    package func take() -> Int32? { appEnd.take() }

    /// Takes as many of the bytes as there is room for, and sends what goes in at once.
    ///
    /// - Returns: how many were taken.
    package func offer(_ bytes: ArraySlice<UInt8>) -> Int {
        let count = min(bytes.count, room)
        guard count > 0 else { return 0 }
        waiting.append(bytes.prefix(count))
        flush()
        return count
    }

    /// Sends what waits, as far as it goes in.
    ///
    /// - Returns: whether something went.
    @discardableResult
    package func flush() -> Bool {
        guard isOpen, !isAppGone else { return false }
        var moved = false
        while !waiting.isEmpty {
            let count = unsafe waiting.withFirst { start, count in
                repeatingInterrupted { unsafe send(descriptor, start, count, Int32(truncatingIfNeeded: MSG_NOSIGNAL)) }
            }
            if count > 0 {
                waiting.removeFirst(count)
                moved = true
            } else {
                if errno != EAGAIN { lose() }
                break
            }
        }
        watchWhatCanMove()
        return moved
    }

    /// Reads what the app has written, at most so many bytes.
    ///
    /// - Returns: nil when there is nothing now, or nothing any more.
    package func receive(atMost count: Int) -> [UInt8]? {
        guard isOpen, !isAppDone, count > 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: min(count, 65_536))
        let number = descriptor
        let size = buffer.count
        let read = repeatingInterrupted { unsafe recv(number, &buffer, size, 0) }
        if read > 0 {
            buffer.removeLast(size - read)
            return buffer
        }
        if read == 0 || errno != EAGAIN {
            isAppDone = true
            if read < 0 { lose() }
            watchWhatCanMove()
        }
        return nil
    }

    /// The app reads no more: what waits for it is of no use.
    private func lose() {
        isAppGone = true
        waiting.removeAll()
    }

    /// Takes what the app wrote and nobody will read: closed over it, the socket would end in an error instead of the end.
    private func discardRest() {
        shutdown(descriptor, Int32(SHUT_RD))
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while unsafe recv(descriptor, &buffer, buffer.count, 0) > 0 {}
    }

    private func watchWhatCanMove() {
        var interests: Readiness = []
        if wantsBytes, !isAppDone { interests.insert(.readable) }
        if !waiting.isEmpty, !isAppGone { interests.insert(.writable) }
        guard let watch, isOpen else { return }
        if interests.isEmpty {
            watch.disable()
        } else {
            watch.setInterests(interests)
            watch.enable()
        }
    }

    /// Closes the port's end, and the app's when nobody took it: the app reads what the socket has, and then the end.
    package func close() {
        watch?.cancel()
        watch = nil
        if descriptor >= 0 {
            discardRest()
            Glibc.close(descriptor)
        }
        descriptor = -1
        if let appEnd { Glibc.close(appEnd) }
        appEnd = nil
    }
}

/// Bytes in order, of which the first are taken away without moving the rest each time.
struct ByteQueue {
    private var bytes: [UInt8] = []
    private var head = 0

    var count: Int { bytes.count - head }
    var isEmpty: Bool { head == bytes.count }

    mutating func append(_ more: some Collection<UInt8>) { bytes.append(contentsOf: more) }

    mutating func removeFirst(_ count: Int) {
        head += count
        if head == bytes.count {
            removeAll()
        } else if head >= 65_536 {
            bytes.removeFirst(head)
            head = 0
        }
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        head = 0
    }

    /// The first bytes, at most so many.
    func prefix(_ count: Int) -> ArraySlice<UInt8> { bytes[head...].prefix(count) }

    /// Shows the bytes where they lie.
    func withFirst(_ body: (UnsafeRawPointer?, Int) -> Int) -> Int {
        unsafe bytes.withUnsafeBytes { buffer in
            let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[head...])
            return unsafe body(rest.baseAddress, rest.count)
        }
    }
}
