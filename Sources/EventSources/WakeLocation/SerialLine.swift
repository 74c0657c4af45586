import Glibc
import WakeSystem

/// An open tty or FIFO that a receiver speaks on; reading never waits.
final class SerialLine {
    /// The speeds that a tty can have, in baud.
    static let speeds: [(baud: Int, code: speed_t)] = [
        (4_800, speed_t(B4800)), (9_600, speed_t(B9600)), (19_200, speed_t(B19200)), (38_400, speed_t(B38400)),
        (57_600, speed_t(B57600)), (115_200, speed_t(B115200)), (230_400, speed_t(B230400)),
        (460_800, speed_t(B460800)), (921_600, speed_t(B921600)),
    ]

    private let descriptor: Descriptor

    var number: Int32 { descriptor.number }

    /// Opens a tty raw at a speed, or a FIFO, where the speed means nothing.
    ///
    /// - Throws: ``SystemError``: ENOTTY for a file of another kind.
    init(path: String, baud: Int) throws(SystemError) {
        let opened = try Descriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        var status = stat()
        guard unsafe fstat(opened.number, &status) == 0 else { throw SystemError(last: "fstat", subject: path) }
        if status.st_mode & S_IFMT == S_IFIFO {
            // Open for writing as well, it does not end when its last writer goes.
            descriptor = try Descriptor.open(path, O_RDWR | O_NONBLOCK)
            return
        }
        var settings = termios()
        guard unsafe tcgetattr(opened.number, &settings) == 0 else {
            throw SystemError(last: "tcgetattr", subject: path)
        }
        unsafe cfmakeraw(&settings)
        settings.c_cflag |= tcflag_t(CLOCAL | CREAD)
        if let speed = Self.speeds.first(where: { $0.baud == baud }) { unsafe cfsetspeed(&settings, speed.code) }
        guard unsafe tcsetattr(opened.number, TCSANOW, &settings) == 0 else {
            throw SystemError(last: "tcsetattr", subject: path)
        }
        // What came before belongs to nobody's fix.
        tcflush(opened.number, TCIFLUSH)
        descriptor = opened
    }

    /// Reads what is there; see ``Descriptor/read(into:)``.
    func read(into buffer: inout [UInt8]) throws(SystemError) -> Int? { try descriptor.read(into: &buffer) }
}
