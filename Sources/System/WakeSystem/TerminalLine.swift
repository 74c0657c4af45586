import Glibc

/// An open tty, raw: bytes go through as they are, and neither reading nor writing waits.
package final class TerminalLine {
    /// The speeds that a tty can have, in baud. A USB accessory's tty has none, and takes any.
    package static let speeds: [(baud: Int, code: speed_t)] = [
        (4_800, speed_t(B4800)), (9_600, speed_t(B9600)), (19_200, speed_t(B19200)), (38_400, speed_t(B38400)),
        (57_600, speed_t(B57600)), (115_200, speed_t(B115200)), (230_400, speed_t(B230400)),
        (460_800, speed_t(B460800)), (921_600, speed_t(B921600)),
    ]

    /// What a tty is opened for.
    package enum Use: Sendable {
        /// Reading only; others may open it, too, and what came before is dropped.
        case listening
        /// Reading and writing, alone; what came before is kept.
        case talking
    }

    package let path: String
    private let descriptor: Descriptor

    /// The descriptor, valid while this lives.
    package var number: Int32 { descriptor.number }

    /// Opens a tty.
    ///
    /// - Parameter baud: one of ``speeds``; any other leaves the speed as it is.
    /// - Throws: ``SystemError``: ENOTTY for a file of another kind, EBUSY for one that another program has to itself.
    package convenience init(path: String, baud: Int, for use: Use) throws(SystemError) {
        let way = use == .talking ? O_RDWR : O_RDONLY
        try self.init(Descriptor.open(path, way | O_NONBLOCK | O_NOCTTY), path: path, baud: baud, for: use)
    }

    /// Takes over an open, non-blocking descriptor of a tty.
    package init(_ opened: consuming Descriptor, path: String, baud: Int, for use: Use) throws(SystemError) {
        let number = opened.number
        var settings = termios()
        guard unsafe tcgetattr(number, &settings) == 0 else { throw SystemError(last: "tcgetattr", subject: path) }
        if use == .talking { try Self.claim(number, path) }
        unsafe cfmakeraw(&settings)
        settings.c_cflag |= tcflag_t(CLOCAL | CREAD)
        if let speed = Self.speeds.first(where: { $0.baud == baud }) { unsafe cfsetspeed(&settings, speed.code) }
        guard unsafe tcsetattr(number, TCSANOW, &settings) == 0 else {
            throw SystemError(last: "tcsetattr", subject: path)
        }
        // What came before belongs to nobody who only listens.
        if use == .listening { tcflush(number, TCIFLUSH) }
        self.path = path
        descriptor = opened
    }

    /// Takes a tty for this program alone.
    private static func claim(_ number: Int32, _ path: String) throws(SystemError) {
        // The lock is for those whom TIOCEXCL does not stop: root, and whoever opened it before.
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno == EWOULDBLOCK ? EBUSY : errno
            throw SystemError("flock", code: code, subject: path)
        }
        // Where it is not known, as in umockdev's world, the lock alone has to do.
        _ = ioctl(number, Request.exclusive, 0)
        closeWithoutWaiting(number)
    }

    /// Closing a tty waits in the kernel for up to 30 s while the other end takes nothing. ``finish(on:patience:then:)``
    /// waits in the loop instead. Only root may change this; for others it stays, and a tty without the setting never waits.
    private static func closeWithoutWaiting(_ number: Int32) {
        // struct serial_struct of linux/serial.h: 72 bytes, closing_wait at 40.
        var settings = [UInt8](repeating: 0, count: 72)
        guard unsafe ioctl(number, Request.serialSettings, &settings) == 0 else { return }
        (settings[40], settings[41]) = (0xFF, 0xFF)
        _ = unsafe ioctl(number, Request.setSerialSettings, &settings)
    }

    /// Reads what is there, at most the buffer's size.
    ///
    /// - Returns: the number of bytes, 0 when the device has gone, nil when nothing is there yet.
    package func read(into buffer: inout [UInt8]) throws(SystemError) -> Int? {
        do throws(SystemError) {
            return try descriptor.read(into: &buffer)
        } catch  where error.code == EIO || error.code == ENXIO || error.code == ENODEV {
            // How the kernel says it depends on the driver and on the moment.
            return 0
        }
    }

    /// Writes as much as goes in.
    ///
    /// - Returns: the number of bytes, nil when nothing fits now.
    /// - Throws: ``SystemError``: EIO when the device has gone.
    package func write(_ bytes: [UInt8]) throws(SystemError) -> Int? { try descriptor.write(bytes) }

    /// The bytes that were written and have not left yet; 0 when the device has gone.
    package var unsent: Int {
        var count: Int32 = 0
        return unsafe ioctl(number, Request.unsent, &count) == 0 ? Int(count) : 0
    }

    private static let longestPause: Int64 = 64

    private var finishing: Timer?

    /// Waits until what was written has left, at the latest for `patience` milliseconds, and drops the rest. The line is to
    /// be let go after that.
    ///
    /// The kernel tells when more can be written, and nothing tells when all has left: it is asked after 1 ms, 2 ms, 4 ms
    /// and so on, at most every 64 ms.
    package func finish(on loop: EventLoop, patience: Int64 = 1_000, then done: @escaping () -> Void) {
        let end = MonotonicClock.now() + patience * 1_000_000
        finish(on: loop, before: end, pause: 1, done)
    }

    /// Waits no more: what has not left is dropped. The line is to be let go after that.
    package func drop() {
        finishing = nil
        tcflush(number, TCIOFLUSH)
    }

    private func finish(on loop: EventLoop, before end: Int64, pause: Int64, _ done: @escaping () -> Void) {
        let now = MonotonicClock.now()
        let hasLeft = unsent == 0
        let isDone = hasLeft || now >= end
        let timer = try? loop.timer(on: .monotonic) { [self] in
            finishing = nil
            if isDone {
                if !hasLeft { tcflush(number, TCOFLUSH) }
                done()
            } else {
                finish(on: loop, before: end, pause: min(pause * 2, Self.longestPause), done)
            }
        }
        guard let timer else { return done() }
        finishing = timer
        timer.arm(at: isDone ? now : min(end, now + pause * 1_000_000))
    }

    /// Requests of ioctl_tty(2), from asm-generic/ioctls.h.
    private enum Request {
        static let exclusive: UInt = 0x540C
        static let unsent: UInt = 0x5411
        static let serialSettings: UInt = 0x541E
        static let setSerialSettings: UInt = 0x541F
    }
}
