import Glibc
import Testing
import WakeDevices
import WakeLocation
import WakeModel
import WakePorts
import WakeSystem

private func sentence(_ body: String) -> [UInt8] {
    let sum = body.utf8.reduce(0, ^)
    return Array("$\(body)*\(sum < 16 ? "0" : "")\(String(sum, radix: 16, uppercase: true))\r\n".utf8)
}

private func fix(_ time: String) -> [UInt8] {
    sentence("GNRMC,\(time),A,4807.038,N,01131.000,E,022.4,084.4,230394,,")
        + sentence("GNGGA,\(time),4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,")
}

@Suite("Location from an NMEA receiver", .serialized)
struct NMEALocationTests {
    private let loop: EventLoop
    private let listener = LocationListener()
    private let folder: TemporaryFolder

    init() throws {
        loop = try EventLoop()
        folder = try TemporaryFolder()
    }

    private func source(_ path: String, silence: Int64 = 20_000) throws -> NMEALocation {
        let source = try NMEALocation(.path(path), names: NameTable(), loop: loop, silence: silence)
        listener.hear(source)
        return source
    }

    @Test("The log of a receiver on a tty gives the positions that the simulated end plays")
    func sameAsSimulated() throws {
        let terminal = try Terminal()
        let source = try source(terminal.path)
        try source.start(at: .zero)
        source.perform(.positioning(true), at: .zero)
        try terminal.say(try ShippedLog.bytes(), on: loop)
        try turn(loop) { listener.positions.count == ShippedLog.fixes }
        let simulated = try ShippedLog.simulated()
        expectSame(listener.positions, simulated.positions, accuracy: true)
        #expect(listener.foldedKinds == simulated.foldedKinds)
        #expect(source.counts.damaged == 0)
        source.stop()
    }

    @Test("The last fix comes when the receiver pauses, without waiting for the next")
    func quiet() throws {
        let terminal = try Terminal()
        let source = try source(terminal.path)
        try source.start(at: .zero)
        source.perform(.positioning(true), at: .zero)
        try terminal.say(Array("noise\r\n".utf8) + fix("123519"), on: loop)
        try turn(loop) { listener.positions.count == 1 }
        let position = try #require(listener.positions.first)
        #expect(position.altitude == 545.4)
        #expect(position.timestamp == 764_426_119)
        #expect(source.counts.damaged == 1)
        source.stop()
    }

    @Test("A receiver is read while nobody wants fixes, and what it says then is no fix")
    func unwanted() throws {
        let terminal = try Terminal()
        let source = try source(terminal.path)
        try source.start(at: .zero)
        try terminal.say(fix("123519") + fix("123520"), on: loop)
        try turn(loop) { source.counts.sentences == 4 }
        source.perform(.positioning(true), at: .zero)
        try terminal.say(fix("123521"), on: loop)
        try turn(loop) { listener.positions.last?.timestamp == 764_426_121 }
        #expect(!listener.positions.contains { $0.timestamp < 764_426_120 })
        source.stop()
    }

    @Test("A receiver that is pulled out is reported once, and plugged in again is heard again")
    func unplugged() throws {
        let path = folder.path + "/receiver"
        let first = try Terminal()
        try #require(unsafe symlink(first.path, path) == 0)
        let source = try source(path)
        try source.start(at: .zero)
        source.perform(.positioning(true), at: .zero)
        try first.say(fix("123519"), on: loop)
        try turn(loop) { listener.positions.count == 1 }
        unsafe unlink(path)
        first.unplug()
        try turn(loop) { listener.failures.count == 1 }
        #expect(listener.failures == ["the receiver \(path) went away; positions are missing until it is back"])
        #expect(source.interruptions == 1)
        #expect(source.openPath == nil)
        let second = try Terminal()
        try #require(unsafe symlink(second.path, path) == 0)
        try second.say(fix("123530"), on: loop)
        try turn(loop) { listener.positions.count == 2 }
        #expect(listener.foldedKinds == [.positionFixed, .locationFailed, .positionFixed])
        source.stop()
    }

    @Test("A receiver whose folder goes with it is found when the folder is there again")
    func folderGone() throws {
        let below = folder.path + "/below"
        let path = below + "/receiver"
        let first = try Terminal()
        try #require(unsafe mkdir(below, 0o755) == 0)
        try #require(unsafe symlink(first.path, path) == 0)
        let source = try source(path)
        try source.start(at: .zero)
        unsafe unlink(path)
        unsafe rmdir(below)
        first.unplug()
        try turn(loop) { source.interruptions == 1 }
        let second = try Terminal()
        try #require(unsafe mkdir(below, 0o755) == 0)
        try #require(unsafe symlink(second.path, path) == 0)
        try turn(loop) { source.openPath == path }
        unsafe unlink(path)
        source.stop()
    }

    @Test("A receiver that says nothing is reported once, and is well when it speaks")
    func silent() throws {
        let terminal = try Terminal()
        let source = try source(terminal.path, silence: 50)
        try source.start(at: .zero)
        source.perform(.positioning(true), at: .zero)
        try turn(loop) { !listener.failures.isEmpty }
        #expect(listener.failures == ["the receiver \(terminal.path) says nothing; check its cable and its speed"])
        try terminal.say(fix("123519"), on: loop)
        try turn(loop) { listener.positions.count == 1 }
        source.stop()
    }

    @Test("A receiver that speaks and says nothing of its position is reported once, and is well when it does")
    func aside() throws {
        let terminal = try Terminal()
        let source = try source(terminal.path, silence: 1_000)
        try source.start(at: .zero)
        source.perform(.positioning(true), at: .zero)
        try terminal.say(sentence("GPGSV,1,1,00") + sentence("GPVTG,,T,,M,0.0,N,0.0,K,A"), on: loop)
        try turn(loop) { !listener.failures.isEmpty }
        let words = "says nothing of its position; check its speed, and that it says RMC or GGA"
        #expect(listener.failures == ["the receiver \(terminal.path) \(words)"])
        try terminal.say(fix("123519"), on: loop)
        try turn(loop) { listener.positions.count == 1 }
        #expect(listener.foldedKinds == [.locationFailed, .positionFixed])
        source.stop()
    }

    @Test("A receiver that knows neither time nor place does not know where it is, and its last fix comes before")
    func lost() throws {
        let terminal = try Terminal()
        let source = try source(terminal.path)
        try source.start(at: .zero)
        source.perform(.positioning(true), at: .zero)
        let empty = sentence("GPGGA,,,,,,0,00,,,M,,M,,") + sentence("GPRMC,,V,,,,,,,,,,N")
        try terminal.say(fix("123519") + empty + sentence("GPGSA,A,1,,,,,,,,,,,,,,,"), on: loop)
        try turn(loop) { !listener.failures.isEmpty }
        #expect(listener.kinds == [.positionFixed, .locationFailed])
        #expect(listener.failures == ["the receiver \(terminal.path) does not know where it is"])
        source.stop()
    }

    @Test("A receiver that says GNS, GLL and ZDA without checksums has fixes with dates")
    func others() throws {
        let terminal = try Terminal()
        let source = try source(terminal.path)
        try source.start(at: .zero)
        source.perform(.positioning(true), at: .zero)
        let words = """
            $GNZDA,101500.00,15,06,2021,00,00
            $GNGNS,101500.00,1030.00000,N,02015.00000,E,AAN,12,0.9,100.0,10.0,,
            $GNGLL,1030.00000,N,02015.00000,E,101501.00,A,A

            """
        try terminal.say(Array(words.utf8), on: loop)
        try turn(loop) { listener.positions.count == 2 }
        // 15 June 2021, 10:15:00 UTC.
        #expect(listener.positions.map(\.timestamp) == [1_623_752_100, 1_623_752_101])
        #expect(listener.positions.map(\.latitude) == [10.5, 10.5])
        #expect(source.counts.unchecked == 3 && source.counts.damaged == 0)
        source.stop()
    }

    @Test("A FIFO is a receiver too")
    func pipe() throws {
        let path = folder.path + "/pipe"
        try #require(unsafe mkfifo(path, 0o600) == 0)
        let source = try source(path)
        try source.start(at: .zero)
        source.perform(.positioning(true), at: .zero)
        for time in ["123519", "123520"] {
            let writer = try Descriptor.open(path, O_WRONLY)
            #expect(try writer.write(fix(time)) == fix(time).count)
        }
        try turn(loop) { listener.positions.count == 2 }
        source.stop()
    }

    @Test("What cannot be a receiver is refused with its name")
    func refused() throws {
        let file = folder.path + "/file"
        _ = try Descriptor.open(file, O_CREAT | O_WRONLY)
        for (path, reason) in [(file, "Inappropriate ioctl for device"), (folder.path + "/none", "No such file")] {
            let source = try source(path)
            let failure = #expect(throws: SourceFailure.self) { try source.start(at: .zero) }
            #expect(failure?.kind == .environment)
            #expect(failure?.message.contains(path) == true)
            #expect(failure?.message.contains(reason) == true, "\(failure as Any)")
        }
        let terminal = try Terminal()
        let slow = try NMEALocation(.path(terminal.path), baud: 1_234, names: NameTable(), loop: loop)
        let failure = #expect(throws: SourceFailure.self) { try slow.start(at: .zero) }
        #expect(failure?.kind == .unsupported)
    }
}
