import Glibc
import WakeSystem

/// An open tty or FIFO that a receiver speaks on; reading never waits.
final class SerialLine {
    private enum File: ~Copyable {
        case terminal(TerminalLine)
        case pipe(Descriptor)
    }

    private let file: File

    var number: Int32 {
        switch file {
        case .terminal(let line): line.number
        case .pipe(let pipe): pipe.number
        }
    }

    /// Opens a tty raw at a speed, or a FIFO, where the speed means nothing.
    ///
    /// - Throws: ``SystemError``: ENOTTY for a file of another kind.
    init(path: String, baud: Int) throws(SystemError) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw SystemError(last: "open", subject: path) }
        if status.st_mode & S_IFMT == S_IFIFO {
            // Open for writing as well, it does not end when its last writer goes.
            file = .pipe(try Descriptor.open(path, O_RDWR | O_NONBLOCK))
        } else {
            file = .terminal(try TerminalLine(path: path, baud: baud, for: .listening))
        }
    }

    /// Reads what is there.
    ///
    /// - Returns: the number of bytes, 0 when the receiver has gone, nil when nothing is there yet.
    func read(into buffer: inout [UInt8]) throws(SystemError) -> Int? {
        switch file {
        case .terminal(let line): try line.read(into: &buffer)
        case .pipe(let pipe): try pipe.read(into: &buffer)
        }
    }
}
