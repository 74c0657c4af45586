import ChildProcess
import Foundation
import Glibc
import Testing

/// A terminal of the test's own, on which the program's words can be read.
final class PseudoTerminal {
    private let master: Int32
    /// What a program writes to; nil once it was given away.
    private var slave: FileHandle?

    /// - Parameter columns: the characters of a line.
    init(columns: UInt16) throws {
        master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (locked, number) = (0 as Int32, 0 as Int32)
        let unlocked = unsafe ioctl(master, Self.setLock, &locked)
        let numbered = unsafe ioctl(master, Self.getNumber, &number)
        try #require(unlocked == 0 && numbered == 0)
        let opened = unsafe open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(opened >= 0)
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        let answer = unsafe ioctl(opened, UInt(TIOCSWINSZ), &size)
        try #require(answer == 0)
        slave = FileHandle(fileDescriptor: opened, closeOnDealloc: true)
    }

    deinit { close(master) }

    /// Requests of ioctl_tty(2), from asm-generic/ioctls.h: TIOCSPTLCK and TIOCGPTN.
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    /// Runs the program on it to its end, with stdout and stderr there; gives back its exit code and its lines.
    func run(_ program: Program, _ words: [String], environment: [String: String] = [:]) throws -> (Int32, [String]) {
        let process = ChildProcess(Program.path, words)
        process.folder = program.folder
        process.environment["TERM"] = "xterm"
        process.environment["NO_COLOR"] = nil
        process.environment.merge(environment) { $1 }
        let end = try #require(slave)
        process.standardOutput = .handle(end)
        process.standardError = .handle(end)
        try process.run()
        try end.close()
        slave = nil
        let text = readAll()
        process.waitUntilExit()
        return (process.terminationStatus, text.split(whereSeparator: \.isNewline).map(String.init))
    }

    /// Reads until nobody has the other end open any more.
    private func readAll() -> String {
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = unsafe read(master, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return String(decoding: all, as: UTF8.self) }
            all += piece[..<count]
        }
    }
}
