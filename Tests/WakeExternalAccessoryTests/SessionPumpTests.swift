import Glibc
import Testing
import WakeExternalAccessory
import WakeSystem

/// A link that is a plain descriptor.
private final class DescriptorLink: AccessoryLink {
    let number: Int32
    let holdsSender: Bool
    private var descriptor: Descriptor?

    /// Takes over an open, non-blocking descriptor.
    init(owning number: Int32, holdsSender: Bool = true) {
        self.number = number
        self.holdsSender = holdsSender
        descriptor = Descriptor(owning: number)
    }

    func read(into buffer: inout [UInt8]) throws(SystemError) -> Int? {
        guard descriptor != nil else { return 0 }
        return try descriptor!.read(into: &buffer)
    }

    func write(_ bytes: [UInt8]) throws(SystemError) -> Int? {
        guard descriptor != nil else { return nil }
        return try descriptor!.write(bytes)
    }

    func close() { descriptor = nil }
}

/// A pump between two sockets that a test holds the far ends of: the device's, and the app's.
private final class PumpedSession {
    let loop: EventLoop
    let pump: SessionPump
    let device: Descriptor
    let app: Descriptor
    private(set) var ends: [String] = []

    init(holdsSender: Bool = true) throws {
        loop = try EventLoop()
        let (near, far) = try streamPair()
        device = Descriptor(owning: far)
        pump = try SessionPump(link: DescriptorLink(owning: near, holdsSender: holdsSender), loop: loop)
        app = Descriptor(owning: pump.socket.take()!)
        pump.ended = { [unowned self] in ends.append("\($0)") }
    }

    /// Runs the loop until nothing is ready.
    func settle() throws {
        while try loop.runOnce(timeout: 0) {}
    }

    /// Writes until the kernel takes no more, while the pump runs.
    func fill(_ descriptor: borrowing Descriptor, from place: inout Int, block: Int = 10_000) throws -> Int {
        let start = place
        while true {
            let bytes = (place..<place + block).map { Self.byte($0) }
            guard let count = try descriptor.write(bytes) else {
                try settle()
                guard let again = try descriptor.write(bytes) else { return place - start }
                place += again
                continue
            }
            place += count
        }
    }

    /// Reads all there is, while the pump runs.
    func drain(_ descriptor: borrowing Descriptor) throws -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            try settle()
            guard let count = try descriptor.read(into: &buffer), count > 0 else { return all }
            all += buffer[..<count]
        }
    }

    static func byte(_ place: Int) -> UInt8 { UInt8(truncatingIfNeeded: place ^ place >> 8 ^ place >> 16) }
}

@Suite("The pump between a link and a session")
struct SessionPumpTests {
    @Test("EA-5: at the bound the pump stops reading, the kernel holds the sender, and nothing is lost")
    func holdsSender() throws {
        let session = try PumpedSession()
        var place = 0
        let first = try session.fill(session.device, from: &place)
        // The buffer and three sockets' worth, and no more: the writer got EAGAIN.
        #expect(first > 65_536)
        #expect(first < 4 << 20)
        #expect(try session.device.write([0]) == nil)
        // Nobody reads, so nothing is ready: the bench sleeps.
        #expect(try !session.loop.runOnce(timeout: 0))
        let read = try session.drain(session.app)
        #expect(read.count == place)
        #expect(read.enumerated().allSatisfy { $1 == PumpedSession.byte($0) })
        #expect(session.ends.isEmpty)
    }

    @Test("EA-5: a device that takes nothing leaves the app's stream without space, and nothing is lost")
    func holdsApp() throws {
        let session = try PumpedSession()
        var place = 0
        _ = try session.fill(session.app, from: &place)
        #expect(place > 65_536)
        #expect(try !session.loop.runOnce(timeout: 0))
        let taken = try session.drain(session.device)
        #expect(taken.count == place)
        #expect(taken.enumerated().allSatisfy { $1 == PumpedSession.byte($0) })
    }

    @Test("EA-5: a link that cannot wait overflows once, and what fits is kept")
    func overflows() throws {
        let session = try PumpedSession(holdsSender: false)
        var sent = 0
        while session.ends.isEmpty, sent < 1_000_000 {
            if try session.device.write([UInt8](repeating: 7, count: 64)) != nil { sent += 64 }
            try session.settle()
        }
        #expect(session.ends == ["overflow"])
        let read = try session.drain(session.app)
        #expect(read.count >= 65_536 && read.count <= sent)
    }

    @Test("What arrived before the link ended still reaches the app, and then the end")
    func linkEnds() throws {
        let session = try PumpedSession()
        _ = try session.device.write([1, 2, 3])
        shutdown(session.device.number, Int32(SHUT_RDWR))
        #expect(try session.drain(session.app) == [1, 2, 3])
        #expect(session.ends == ["linkClosed(nil)"])
        session.pump.close()
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(try session.app.read(into: &buffer) == 0)
    }

    @Test("What an app wrote before it closed still reaches a slow device")
    func finishes() throws {
        let session = try PumpedSession()
        var place = 0
        _ = try session.fill(session.app, from: &place)
        shutdown(session.app.number, Int32(SHUT_RDWR))
        var isDone = false
        session.pump.finish { isDone = true }
        #expect(!isDone)
        #expect(try session.drain(session.device).count == place)
        #expect(isDone)
        #expect(!session.pump.isLinked)
    }

    @Test("A pseudo terminal's writer is held as well")
    func terminal() throws {
        let device = try Descriptor.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK)
        // TIOCSPTLCK and TIOCGPTN: what unlockpt and ptsname do, which Swift does not see.
        var unlocked: Int32 = 0
        var number: UInt32 = 0
        guard unsafe ioctl(device.number, 0x4004_5431, &unlocked) == 0,
            unsafe ioctl(device.number, 0x8004_5430, &number) == 0
        else { throw SystemError(last: "ioctl") }
        let path = "/dev/pts/\(number)"
        let link = try Descriptor.open(path, O_RDWR | O_NOCTTY | O_NONBLOCK)
        var settings = termios()
        _ = unsafe tcgetattr(link.number, &settings)
        unsafe cfmakeraw(&settings)
        _ = unsafe tcsetattr(link.number, TCSANOW, &settings)
        let loop = try EventLoop()
        let pump = try SessionPump(link: DescriptorLink(owning: link.release()), limit: 1_000, loop: loop)
        let app = Descriptor(owning: pump.socket.take()!)
        var written = 0
        var refusals = 0
        while refusals < 2 {
            if let count = try device.write([UInt8](repeating: 65, count: 1_000)) {
                written += count
                refusals = 0
            } else {
                refusals += 1
                while try loop.runOnce(timeout: 0) {}
            }
        }
        var read = 0
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while read < written {
            while try loop.runOnce(timeout: 0) {}
            if let count = try app.read(into: &buffer) {
                read += count
            } else if try !loop.runOnce(timeout: 10_000_000_000) {
                break
            }
        }
        #expect(read == written)
    }
}
