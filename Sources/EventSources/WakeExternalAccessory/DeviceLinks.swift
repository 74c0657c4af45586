import Glibc
import WakeSystem

/// A USB serial port.
final class TerminalLink: AccessoryLink {
    let number: Int32
    private var line: TerminalLine?
    private let loop: EventLoop

    init(_ line: TerminalLine, loop: EventLoop) {
        self.line = line
        self.loop = loop
        number = line.number
    }

    var holdsSender: Bool { true }

    func read(into buffer: inout [UInt8]) throws(SystemError) -> Int? {
        guard let line else { return 0 }
        return try line.read(into: &buffer)
    }

    func write(_ bytes: [UInt8]) throws(SystemError) -> Int? { try line?.write(bytes) }

    /// Keeps the tty until what was written has left.
    func close() {
        guard let line else { return }
        self.line = nil
        line.finish(on: loop) {}
    }
}

/// Reports of a HID device.
final class ReportLink: AccessoryLink {
    let number: Int32
    private var line: ReportLine?

    init(_ line: ReportLine) {
        self.line = line
        number = line.number
    }

    var holdsSender: Bool { false }

    func read(into buffer: inout [UInt8]) throws(SystemError) -> Int? {
        guard let line else { return 0 }
        guard let data = try line.read() else { return nil }
        buffer.replaceSubrange(0..<data.count, with: data)
        return data.count
    }

    var roomNumber: Int32? { line?.roomNumber }

    func write(_ bytes: [UInt8]) throws(SystemError) -> Int? { try line?.write(bytes) }

    /// The report on its way goes on.
    func close() { line = nil }
}

/// An RFCOMM socket.
final class SocketLink: AccessoryLink {
    let number: Int32
    private var isOpen = true

    /// Takes over a non-blocking stream socket.
    init(owning descriptor: Int32) { number = descriptor }

    deinit { close() }

    var holdsSender: Bool { true }

    func read(into buffer: inout [UInt8]) throws(SystemError) -> Int? {
        guard isOpen else { return 0 }
        let number = number
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            repeatingInterrupted { unsafe recv(number, bytes.baseAddress, bytes.count, 0) }
        }
        if count >= 0 { return count }
        if errno == EAGAIN { return nil }
        let error = SystemError(last: "recv")
        // The link broke.
        if error.meansGone { return 0 }
        throw error
    }

    func write(_ bytes: [UInt8]) throws(SystemError) -> Int? {
        guard isOpen else { return nil }
        let number = number
        let count = unsafe bytes.withUnsafeBytes { bytes in
            repeatingInterrupted { unsafe send(number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) }
        }
        if count >= 0 { return count }
        if errno == EAGAIN { return nil }
        throw SystemError(last: "send")
    }

    /// The kernel sends what it has before it hangs up.
    func close() {
        if isOpen { hangUp(number) }
        isOpen = false
    }
}

extension SystemError {
    /// The device or the link has gone, in the words of any driver.
    var meansGone: Bool {
        [
            EIO, ENODEV, ENXIO, EPIPE, ECONNRESET, ECONNABORTED, ENOTCONN, ESHUTDOWN, ETIMEDOUT, EHOSTDOWN, EBADFD,
        ].contains(code)
    }
}
