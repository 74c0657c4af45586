import Glibc
import Testing
import WakeSystem

@testable import WakeExternalAccessory

/// A pump between an accessory's end and an app's, both in the test's hands.
private final class Stage {
    let loop: EventLoop
    let pump: SessionPump
    let accessory: Descriptor
    let app: Descriptor
    private var ends: [SessionPump.End] = []
    var isFinished = false

    /// What the ends were, in words.
    var told: [String] {
        ends.map { end in
            switch end {
            case .overflow: "overflow"
            case .linkClosed(let error): error == nil || error?.meansGone == true ? "gone" : "failed"
            }
        }
    }

    /// - Parameter reports: the link keeps the bounds of messages and cannot wait.
    init(reports: HIDReports.Report? = nil, limit: Int = 65_536) throws {
        loop = try EventLoop()
        let link: any AccessoryLink
        if let reports {
            let (near, far) = try Self.messages()
            link = ReportLink(try ReportLine(Descriptor(owning: near), path: "a test's", report: reports))
            accessory = Descriptor(owning: far)
        } else {
            let (near, far) = try streamPair()
            link = SocketLink(owning: near)
            accessory = Descriptor(owning: far)
        }
        pump = try SessionPump(link: link, limit: limit, loop: loop)
        app = Descriptor(owning: try #require(pump.socket.take()))
        pump.ended = { [unowned self] in ends.append($0) }
    }

    private static func messages() throws -> (Int32, Int32) {
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try #require(unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    /// Turns the loop until the condition holds. The deadline only limits how long a failure takes.
    func wait(for what: String, until condition: () throws -> Bool) throws {
        let deadline = MonotonicClock.now() + 20_000_000_000
        while try !condition() {
            let left = deadline - MonotonicClock.now()
            try #require(left > 0, "gave up waiting for \(what)")
            try loop.runOnce(timeout: min(left, 1_000_000_000))
        }
    }

    /// Turns until nothing more is ready.
    func settle() throws { while try loop.runOnce(timeout: 0) {} }

    static func fill(_ descriptor: borrowing Descriptor, from first: Int = 0, most: Int = .max) throws -> Int {
        var total = 0
        while total < most {
            let piece = pattern(first + total, min(4_096, most - total))
            guard let count = try descriptor.write(piece) else { break }
            total += count
        }
        return total
    }

    static func pattern(_ place: Int, _ count: Int) -> [UInt8] {
        (place..<place + count).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8 ^ $0 >> 16) }
    }

    static func read(_ descriptor: borrowing Descriptor, most: Int = .max) throws -> (bytes: [UInt8], ended: Bool) {
        var bytes: [UInt8] = []
        while bytes.count < most {
            var buffer = [UInt8](repeating: 0, count: min(65_536, most - bytes.count))
            guard let count = try descriptor.read(into: &buffer) else { return (bytes, false) }
            if count == 0 { return (bytes, true) }
            bytes += buffer[..<count]
        }
        return (bytes, false)
    }

    func appHears(_ count: Int) throws -> [UInt8] {
        var heard: [UInt8] = []
        try wait(for: "\(count) bytes") {
            heard += try Self.read(app).bytes
            return heard.count >= count
        }
        return heard
    }

    func accessoryHears(_ count: Int) throws -> [UInt8] {
        var heard: [UInt8] = []
        try wait(for: "\(count) bytes") {
            heard += try Self.read(accessory).bytes
            return heard.count >= count
        }
        return heard
    }
}

@Suite("Sessions over the links of devices")
struct DeviceLinkTests {
    @Test("Bytes go both ways as they are")
    func bothWays() throws {
        let stage = try Stage()
        _ = try stage.accessory.write([0, 10, 13, 255])
        _ = try stage.app.write([3, 4, 17, 19])
        #expect(try stage.appHears(4) == [0, 10, 13, 255])
        #expect(try stage.accessoryHears(4) == [3, 4, 17, 19])
    }

    @Test(
        "EA-5: Of reports more than the buffer holds are an overflow that ends the session; what it holds is still read"
    )
    func overflow() throws {
        let stage = try Stage(reports: HIDReports.Report(number: 1, size: 32), limit: 16_384)
        var reports = 0
        while stage.told.isEmpty {
            let data = Stage.pattern(reports * 32, 32)
            if try stage.accessory.write([1] + data) != nil { reports += 1 }
            try stage.settle()
            try #require(reports < 100_000)
        }
        #expect(stage.told == ["overflow"])
        var heard: [UInt8] = []
        try stage.wait(for: "the end") {
            heard += try Stage.read(stage.app).bytes
            if !stage.pump.socket.isHoldingBytes { stage.pump.close() }
            let (bytes, ended) = try Stage.read(stage.app)
            heard += bytes
            return ended
        }
        #expect(heard == Stage.pattern(0, heard.count))
        #expect(heard.count >= 16_384)
    }

    @Test("Reports of another number are passed over, and what is written is cut into reports and filled with zeros")
    func reports() throws {
        let stage = try Stage(reports: HIDReports.Report(number: 2, size: 4))
        _ = try stage.accessory.write([1, 9, 9, 9, 9])
        _ = try stage.accessory.write([2, 1, 2, 3, 4])
        #expect(try stage.appHears(4) == [1, 2, 3, 4])
        _ = try stage.app.write([5, 6, 7, 8, 9])
        #expect(try stage.accessoryHears(10) == [2, 5, 6, 7, 8, 2, 9, 0, 0, 0])
    }

    @Test("A device that does not take a report holds up the next one, and nobody who writes")
    func reportOnItsWay() throws {
        // A blocking pipe that holds less than a report stands for the device's file.
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        let device = Descriptor(owning: ends[0])
        let line = try ReportLine(
            Descriptor(owning: ends[1]),
            path: "a test's",
            report: .init(number: 1, size: 100_000)
        )
        let data = Stage.pattern(0, 150_000)
        #expect(try line.write(data) == 100_000)
        #expect(try line.write(data[100_000...]) == nil)
        var heard: [UInt8] = []
        while heard.count < 100_001 { heard += try Stage.read(device, most: 100_001 - heard.count).bytes }
        #expect(heard == [1] + data[..<100_000])
        var bell = pollfd(fd: line.roomNumber, events: Int16(POLLIN), revents: 0)
        try #require(unsafe poll(&bell, 1, 20_000) == 1)
        #expect(try line.write(data[100_000...]) == 50_000)
    }

    @Test("A device that has gone fails the report after the one on its way")
    func reportToNobody() throws {
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        close(ends[0])
        let line = try ReportLine(Descriptor(owning: ends[1]), path: "a test's", report: .init(number: 1, size: 4))
        #expect(try line.write([1, 2, 3, 4]) == 4)
        var bell = pollfd(fd: line.roomNumber, events: Int16(POLLIN), revents: 0)
        try #require(unsafe poll(&bell, 1, 20_000) == 1)
        #expect(throws: SystemError("write", code: EPIPE)) { try line.write([5]) }
    }

    @Test("An accessory that is pulled ends the session once, and what it had sent is still read")
    func pulled() throws {
        let stage = try Stage()
        let sent = try Stage.fill(stage.accessory, most: 20_000)
        shutdown(stage.accessory.number, Int32(SHUT_RDWR))
        try stage.wait(for: "the end") { !stage.told.isEmpty }
        #expect(stage.told == ["gone"])
        var heard: [UInt8] = []
        try stage.wait(for: "the end for the app") {
            heard += try Stage.read(stage.app).bytes
            if !stage.pump.socket.isHoldingBytes { stage.pump.close() }
            let (bytes, ended) = try Stage.read(stage.app)
            heard += bytes
            return ended
        }
        #expect(heard == Stage.pattern(0, sent))
        try stage.settle()
        #expect(stage.told == ["gone"])
    }

    @Test("An accessory that is pulled in the middle of a write ends the session")
    func pulledWhileWriting() throws {
        let stage = try Stage()
        while try Stage.fill(stage.app) > 0 { try stage.settle() }
        shutdown(stage.accessory.number, Int32(SHUT_RDWR))
        try stage.wait(for: "the end") { !stage.told.isEmpty }
        #expect(stage.told == ["gone"])
    }

    @Test("The last bytes of an app that closes its session still leave")
    func lastBytes() throws {
        let stage = try Stage()
        let sent = try Stage.fill(stage.app, most: 50_000)
        stage.pump.finish { stage.isFinished = true }
        #expect(try stage.accessoryHears(sent) == Stage.pattern(0, sent))
        try stage.wait(for: "the end") { stage.isFinished }
        #expect(stage.told == [])
        var buffer: [UInt8] = [0]
        #expect(try stage.accessory.read(into: &buffer) == 0)
    }

    @Test("An app that dies leaves its last bytes to the accessory, and nothing spins")
    func appDies() throws {
        let stage = try Stage()
        _ = try stage.app.write([1, 2, 3])
        shutdown(stage.app.number, Int32(SHUT_RDWR))
        #expect(try stage.accessoryHears(3) == [1, 2, 3])
        _ = try stage.accessory.write([4])
        try stage.settle()
        #expect(stage.told == [])
        #expect(try stage.loop.runOnce(timeout: 0) == false, "the pump spins while nothing can go on")
    }
}
