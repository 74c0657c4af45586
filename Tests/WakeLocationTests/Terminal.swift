import Glibc
import Testing
import WakeSystem

/// A pair of a terminal: the test is the receiver, and whoever opens ``path`` hears it.
final class Terminal {
    let path: String
    private var receiver: Descriptor?
    private let line: Descriptor
    private var watch: Watch?
    private var waiting: ArraySlice<UInt8> = []

    init() throws {
        let receiver = try Descriptor.open("/dev/ptmx", O_RDWR | O_NOCTTY)
        // TIOCSPTLCK and TIOCGPTN: what unlockpt and ptsname do, which Swift does not see.
        var (locked, place): (Int32, Int32) = (0, 0)
        try #require(unsafe ioctl(receiver.number, 0x4004_5431, &locked) == 0)
        try #require(unsafe ioctl(receiver.number, 0x8004_5430, &place) == 0)
        path = "/dev/pts/\(place)"
        // gpsd gives its rights away before it opens a receiver again.
        unsafe chmod(path, 0o666)
        line = try Descriptor.open(path, O_RDWR | O_NOCTTY)
        var settings = termios()
        unsafe tcgetattr(line.number, &settings)
        unsafe cfmakeraw(&settings)
        unsafe tcsetattr(line.number, TCSANOW, &settings)
        try receiver.makeNonBlocking()
        self.receiver = consume receiver
    }

    /// Says bytes as fast as they are heard.
    func say(_ bytes: [UInt8], on loop: EventLoop) throws {
        waiting += bytes
        guard let number = receiver?.number else { return }
        watch = try loop.watch(number, for: .writable) { [weak self] _ in self?.flow() }
    }

    private func flow() {
        while !waiting.isEmpty {
            guard let count = try? receiver?.write(Array(waiting.prefix(512))) ?? nil else { return }
            waiting = waiting.dropFirst(count)
        }
        watch?.disable()
    }

    /// The receiver is pulled out.
    func unplug() {
        watch?.cancel()
        watch = nil
        receiver = nil
    }
}

/// A folder of its own for a test, removed in the end.
final class TemporaryFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/wake-location-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in ["receiver", "pipe", "file", "new"] { unsafe unlink(path + "/" + name) }
        unsafe rmdir(path + "/below")
        unsafe rmdir(path)
    }
}
