import Glibc
import WakeBlueZ
import WakeSystem

/// The accessory's end of a session on this machine: a tty, the reports of a hidraw file, or an RFCOMM socket.
protocol AccessoryLink: AnyObject {
    /// The descriptor to be watched.
    var number: Int32 { get }
    /// Whether the kernel holds the sender while nobody reads, so that nothing is lost (EA-5).
    var canWait: Bool { get }

    /// Reads what is there, at most the buffer's size.
    ///
    /// - Returns: the number of bytes, 0 when the other end has gone, nil when nothing is there yet.
    func read(into buffer: inout [UInt8]) throws(SystemError) -> Int?

    /// Writes as much as goes in.
    ///
    /// - Returns: the number of bytes, nil when nothing fits now.
    func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> Int?

    /// Lets go of the other end when what was written has left, as far as that can be known, and says so.
    func finish(on loop: EventLoop, then done: @escaping () -> Void)

    /// Lets go of the other end now.
    func drop()
}

/// A USB serial port.
final class TerminalLink: AccessoryLink {
    private let line: TerminalLine

    init(_ line: TerminalLine) { self.line = line }

    var number: Int32 { line.number }
    var canWait: Bool { true }

    func read(into buffer: inout [UInt8]) throws(SystemError) -> Int? { try line.read(into: &buffer) }
    func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> Int? { try line.write(Array(bytes)) }
    func finish(on loop: EventLoop, then done: @escaping () -> Void) { line.finish(on: loop, then: done) }
    func drop() { line.drop() }
}

/// Reports of a HID device.
final class ReportLink: AccessoryLink {
    private let line: ReportLine

    init(_ line: ReportLine) { self.line = line }

    var number: Int32 { line.number }
    var canWait: Bool { false }

    func read(into buffer: inout [UInt8]) throws(SystemError) -> Int? {
        guard let data = try line.read() else { return nil }
        buffer.replaceSubrange(0..<data.count, with: data)
        return data.count
    }

    func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> Int? { try line.write(bytes) }
    /// A report that was written has been taken.
    func finish(on loop: EventLoop, then done: @escaping () -> Void) { done() }
    func drop() {}
}

/// A stream socket, such as one of RFCOMM.
final class SocketLink: AccessoryLink {
    private var descriptor: Int32

    /// Takes over a non-blocking stream socket.
    init(owning descriptor: Int32) { self.descriptor = descriptor }

    deinit { drop() }

    var number: Int32 { descriptor }
    var canWait: Bool { true }

    func read(into buffer: inout [UInt8]) throws(SystemError) -> Int? {
        let number = descriptor
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            repeatingInterrupted { unsafe recv(number, bytes.baseAddress, bytes.count, 0) }
        }
        if count >= 0 { return count }
        switch errno {
        case EAGAIN: return nil
        // The link broke.
        case ECONNRESET, ETIMEDOUT, ENOTCONN, EBADFD, EHOSTDOWN, ECONNABORTED: return 0
        default: throw SystemError(last: "recv")
        }
    }

    func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> Int? {
        let number = descriptor
        let count = unsafe bytes.withUnsafeBytes { bytes in
            repeatingInterrupted { unsafe send(number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) }
        }
        if count >= 0 { return count }
        if errno == EAGAIN { return nil }
        throw SystemError(last: "send")
    }

    /// The kernel sends what it has before it hangs up.
    func finish(on loop: EventLoop, then done: @escaping () -> Void) {
        drop()
        done()
    }

    func drop() {
        if descriptor >= 0 { BlueZProfiles.hangUp(descriptor) }
        descriptor = -1
    }
}
