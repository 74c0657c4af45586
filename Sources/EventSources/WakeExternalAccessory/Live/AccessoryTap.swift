import Glibc
import WakePorts
import WakeSystem
import WakeUdev

/// Hears an accessory on a tty: what it says, and what a program says to it that talks through the tap's own tty.
package final class AccessoryTap {
    /// A tty of this machine.
    package struct Place: Hashable, Sendable {
        package var node: String
        /// What udev knows of it; nil of a tty that is no device's.
        package var device: UdevDevice?
    }

    /// Bytes that may wait for a program that does not read.
    private static let room = 1 << 20
    private static let mostAtOnce = 4_096

    /// Takes what was said: by the accessory, else to it; in nanoseconds of ``MonotonicClock``.
    package var heard: ((_ bytes: [UInt8], _ isRead: Bool, _ now: Int64) -> Void)?
    /// Why nothing more comes; nil while more may.
    package private(set) var end: String?
    /// How many bytes a program that talks through the tap did not take, and lost.
    package private(set) var untaken = 0
    package let place: Place

    private let line: TerminalLine
    private var through: ThroughTerminal?
    private var lineWatch: Watch?
    private var throughWatch: Watch?
    private var toLine: [UInt8] = []
    private var toProgram: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: AccessoryTap.mostAtOnce)

    /// The tty of a path, or the only one of a USB device.
    ///
    /// - Throws: ``SourceFailure`` with the remedy.
    package static func place(_ path: String?) throws(SourceFailure) -> Place {
        let devices: [UdevDevice]
        do throws(SystemError) { devices = try Udev().devices(of: "tty") } catch {
            // A tty can be read without what is known of it.
            guard let path else { throw SourceFailure(.environment, "\(error); is libudev's /sys mounted?") }
            return Place(node: path)
        }
        if let path {
            let device = devices.first { $0.node == path || $0.links.contains(path) }
            return Place(node: path, device: device)
        }
        let there = devices.filter { $0.usb != nil && $0.node != nil }
        guard let only = there.first, let node = only.node else {
            throw SourceFailure(.environment, "no USB device has a tty; plug the accessory in, or name its tty")
        }
        guard there.count == 1 else {
            let list = there.compactMap(\.node).prefix(8).joined(separator: ", ")
            throw SourceFailure(.unsupported, "\(there.count) USB devices have a tty; name one: \(list)")
        }
        return Place(node: node, device: only)
    }

    /// Opens the tty for this alone.
    ///
    /// - Parameters:
    ///   - baud: its speed; 115200 means nothing to an accessory on USB.
    ///   - through: where a link to a tty is made that programs may open in its place; nil for none.
    /// - Throws: ``SystemError``: EEXIST when something is there already.
    package init(_ place: Place, baud: Int, through: String?, on loop: EventLoop) throws(SystemError) {
        self.place = place
        line = try TerminalLine(path: place.node, baud: baud, for: .talking)
        lineWatch = try loop.watch(line.number, for: .readable) { [unowned self] ready in
            if ready.contains(.writable) { writeLine() }
            readLine()
        }
        guard let through else { return }
        let terminal = try ThroughTerminal(link: through)
        self.through = terminal
        throughWatch = try loop.watch(terminal.number, for: .readable) { [unowned self] ready in
            if ready.contains(.writable) { writeProgram() }
            readProgram()
        }
    }

    deinit {
        lineWatch?.cancel()
        throughWatch?.cancel()
    }

    private func readLine() {
        while end == nil {
            let found: Int?
            do throws(SystemError) { found = try line.read(into: &buffer) } catch { return finish("\(error)") }
            guard let count = found else { return }
            if count == 0 { return finish("\(place.node) went away") }
            let bytes = Array(buffer[..<count])
            heard?(bytes, true, MonotonicClock.now())
            guard through != nil else { continue }
            toProgram += bytes
            writeProgram()
        }
    }

    private func finish(_ why: String) {
        end = why
        lineWatch?.cancel()
        lineWatch = nil
    }

    private func readProgram() {
        // What a program says waits in the kernel while the accessory does not take it.
        while toLine.isEmpty, let through, let count = try? through.read(into: &buffer) ?? nil, count > 0 {
            let bytes = Array(buffer[..<count])
            heard?(bytes, false, MonotonicClock.now())
            toLine += bytes
            writeLine()
        }
    }

    private func writeLine() {
        while end == nil, !toLine.isEmpty {
            let count: Int?
            do throws(SystemError) { count = try line.write(toLine) } catch { return finish("\(error)") }
            guard let count, count > 0 else { break }
            toLine.removeFirst(count)
        }
        lineWatch?.setInterests(toLine.isEmpty ? .readable : [.readable, .writable])
        if toLine.isEmpty { throughWatch?.enable() } else { throughWatch?.disable() }
    }

    private func writeProgram() {
        while !toProgram.isEmpty, let count = try? through?.write(toProgram) ?? nil, count > 0 {
            toProgram.removeFirst(count)
        }
        // Nobody may be there who reads: then the newest is what counts.
        if toProgram.count > Self.room {
            untaken += toProgram.count - Self.room
            toProgram.removeFirst(toProgram.count - Self.room)
        }
        throughWatch?.setInterests(toProgram.isEmpty ? .readable : [.readable, .writable])
    }
}

/// A tty that programs open in the place of another, by a link that is removed in the end.
private final class ThroughTerminal {
    private let descriptor: Descriptor
    /// Held open: else reading fails while no program has it.
    private let other: Descriptor
    private let link: String

    var number: Int32 { descriptor.number }

    init(link: String) throws(SystemError) {
        let opened = try Descriptor.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK)
        // TIOCSPTLCK and TIOCGPTN of asm-generic/ioctls.h: what unlockpt and ptsname do, which Swift does not see.
        var (locked, place): (Int32, Int32) = (0, 0)
        guard unsafe ioctl(opened.number, 0x4004_5431, &locked) == 0,
            unsafe ioctl(opened.number, 0x8004_5430, &place) == 0
        else { throw SystemError(last: "ioctl", subject: "/dev/ptmx") }
        let path = "/dev/pts/\(place)"
        other = try Descriptor.open(path, O_RDWR | O_NOCTTY)
        var settings = termios()
        unsafe tcgetattr(other.number, &settings)
        unsafe cfmakeraw(&settings)
        unsafe tcsetattr(other.number, TCSANOW, &settings)
        guard unsafe symlink(path, link) == 0 else { throw SystemError(last: "symlink", subject: link) }
        descriptor = opened
        self.link = link
    }

    deinit { unsafe unlink(link) }

    func read(into buffer: inout [UInt8]) throws(SystemError) -> Int? { try descriptor.read(into: &buffer) }

    func write(_ bytes: [UInt8]) throws(SystemError) -> Int? { try descriptor.write(bytes) }
}
