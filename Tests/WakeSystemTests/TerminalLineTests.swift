import Glibc
import Testing
import WakeSystem

/// A pair of a terminal: the test is the device.
private final class Device {
    let path: String
    var end: Descriptor?

    init() throws {
        let end = try Descriptor.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK)
        // TIOCSPTLCK and TIOCGPTN: what unlockpt and ptsname do, which Swift does not see.
        var (locked, place): (Int32, Int32) = (0, 0)
        try #require(unsafe ioctl(end.number, 0x4004_5431, &locked) == 0)
        try #require(unsafe ioctl(end.number, 0x8004_5430, &place) == 0)
        path = "/dev/pts/\(place)"
        self.end = consume end
    }

    func read() throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 64)
        guard let count = try end?.read(into: &buffer) ?? nil else { return [] }
        return Array(buffer[..<count])
    }
}

@Suite("An open tty")
struct TerminalLineTests {
    @Test("Bytes go through as they are, none is an end of line, a signal or an echo")
    func raw() throws {
        let device = try Device()
        let line = try TerminalLine(path: device.path, baud: 115_200, for: .talking)
        let odd: [UInt8] = [0, 3, 4, 10, 13, 17, 19, 26, 127, 255]
        #expect(try line.write(odd) == odd.count)
        #expect(try device.read() == odd)
        #expect(try device.end?.write(odd) == odd.count)
        var buffer = [UInt8](repeating: 0, count: 64)
        #expect(try line.read(into: &buffer) == odd.count)
        #expect(Array(buffer[..<odd.count]) == odd)
        #expect(try line.read(into: &buffer) == nil)
        #expect(try device.read() == [])
    }

    @Test("A tty that is talked on has no second talker, and is free afterwards")
    func exclusive() throws {
        let device = try Device()
        var line: TerminalLine? = try TerminalLine(path: device.path, baud: 0, for: .talking)
        let failure = #expect(throws: SystemError.self) {
            try TerminalLine(path: device.path, baud: 0, for: .talking)
        }
        #expect(failure?.code == EBUSY)
        #expect(failure?.subject == device.path)
        line = nil
        _ = try TerminalLine(path: device.path, baud: 0, for: .talking)
        #expect(line == nil)
    }

    @Test("The end of the device is the end of what is read, and writing says that it has gone")
    func gone() throws {
        let device = try Device()
        let line = try TerminalLine(path: device.path, baud: 0, for: .talking)
        device.end = nil
        var buffer = [UInt8](repeating: 0, count: 64)
        #expect(try line.read(into: &buffer) == 0)
        let failure = #expect(throws: SystemError.self) { _ = try line.write([1]) }
        #expect(failure?.code == EIO)
        #expect(line.unsent == 0)
    }

    @Test("A line is done with when what was written has left")
    func finishes() throws {
        let loop = try EventLoop()
        let device = try Device()
        let line = try TerminalLine(path: device.path, baud: 0, for: .talking)
        _ = try line.write([1, 2, 3])
        var isDone = false
        line.finish(on: loop) { isDone = true }
        #expect(!isDone)
        let deadline = MonotonicClock.now() + 10_000_000_000
        while !isDone, MonotonicClock.now() < deadline { try loop.runOnce(timeout: 1_000_000_000) }
        #expect(isDone)
        #expect(try device.read() == [1, 2, 3])
    }

    @Test("A file that is no tty is refused with its name")
    func refused() throws {
        let failure = #expect(throws: SystemError.self) {
            try TerminalLine(path: "/dev/null", baud: 0, for: .talking)
        }
        #expect(failure?.code == ENOTTY)
        #expect(failure?.subject == "/dev/null")
    }
}
