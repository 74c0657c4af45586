import Glibc
import Testing
import WakeDevices
import WakeModel
import WakePorts
import WakeSystem
@testable import WakeLocation

private func fix(_ second: Int, latitude: Double = 48.1, device: String = "/dev/ttyACM0") -> String {
    let time = "2025-05-06T07:32:\(second < 10 ? "0" : "")\(second).000Z"
    return #"{"class":"TPV","device":"\#(device)","mode":3,"time":"\#(time)","lat":\#(latitude),"lon":11.5,"#
        + #""altHAE":560.0,"altMSL":520.0,"eph":18.24,"epv":33.1,"speed":14.2,"track":67.06}"# + "\r\n"
}

/// What gpsd says first of a moment: the place alone, and its own idea of the speed.
private func early(_ second: Int) -> String {
    #"{"class":"TPV","device":"/dev/ttyACM0","mode":2,"time":"2025-05-06T07:32:0\#(second).000Z","lat":48,"lon":11,"#
        + #""speed":99}"# + "\r\n"
}

@Suite("Location from gpsd", .serialized)
struct GPSDLocationTests {
    private let loop: EventLoop
    private let listener = LocationListener()

    init() throws {
        loop = try EventLoop()
    }

    private func source(port: UInt16, silence: Int64 = GPSDLocation.usualSilence) throws -> GPSDLocation {
        let source = try GPSDLocation(
            names: NameTable(),
            loop: loop,
            host: "127.0.0.1",
            port: port,
            silence: silence
        )
        listener.hear(source)
        return source
    }

    /// A source that has begun with a gpsd that the test plays: it connects from a child of the loop, since beginning
    /// waits for the greeting.
    private func begun(with gpsd: RecordedGPSD) throws -> GPSDLocation {
        let source = try source(port: gpsd.port)
        try source.begin()
        try turn(loop) { source.isUp }
        return source
    }

    /// Wants fixes, and waits until gpsd tells of them: what it hears before, it tells nobody.
    private func watch(_ source: GPSDLocation) throws {
        source.perform(.positioning(true), at: .zero)
        try turn(loop) { source.isWatching }
    }

    // MARK: The true gpsd

    @Test(
        "The log of a receiver through gpsd gives the positions that the simulated end plays",
        .enabled(if: GPSDaemon.isInstalled, "gpsd is not installed: Scripts/install test")
    )
    func sameAsSimulated() throws {
        let terminal = try Terminal()
        let port = try freePort()
        let daemon = try GPSDaemon(receiver: terminal.path, port: port, loop: loop)
        let source = try source(port: port)
        try source.start(at: .zero)
        try watch(source)
        try terminal.say(try ShippedLog.bytes(), on: loop)
        try turn(loop) { listener.positions.count == ShippedLog.fixes }
        let simulated = try ShippedLog.simulated()
        expectSame(listener.positions, simulated.positions, accuracy: false)
        #expect(listener.foldedKinds == simulated.foldedKinds)
        #expect(source.damagedLines == 0)
        source.stop()
        daemon.stop()
    }

    @Test(
        "gpsd stopped is reported once, and started again it serves again",
        .enabled(if: GPSDaemon.isInstalled, "gpsd is not installed: Scripts/install test")
    )
    func stoppedAndStarted() throws {
        let log = try ShippedLog.bytes()
        let first = ShippedLog.beginning(after: log.count / 4, in: log)
        let second = ShippedLog.beginning(after: log.count / 2, in: log)
        let terminal = try Terminal()
        let port = try freePort()
        var daemon = try GPSDaemon(receiver: terminal.path, port: port, loop: loop)
        let source = try source(port: port)
        try source.start(at: .zero)
        try watch(source)
        try terminal.say(Array(log[..<first]), on: loop)
        try turn(loop) { listener.positions.count >= 30 }
        let before = listener.positions.count
        daemon.stop()
        try turn(loop) { listener.failures.contains { $0.contains("went away") } }
        #expect(!source.isUp)
        #expect(source.interruptions == 1)
        let failures = listener.failures.count
        daemon = try GPSDaemon(receiver: terminal.path, port: port, loop: loop)
        try turn(loop) { source.isWatching }
        try terminal.say(Array(log[second...]), on: loop)
        try turn(loop) { listener.positions.count >= before + 30 }
        #expect(listener.failures.count { $0.contains("went away") } == 1)
        let words = "gpsd on 127.0.0.1:\(port) went away; positions are missing until it is back"
        #expect(listener.failures[failures - 1] == words)
        let times = listener.positions.map(\.timestamp)
        #expect(times == times.sorted())
        #expect(Set(times).count == times.count)
        source.stop()
        daemon.stop()
    }

    @Test(
        "A receiver of which gpsd hears nothing more is reported",
        .enabled(if: GPSDaemon.isInstalled, "gpsd is not installed: Scripts/install test")
    )
    func receiverGone() throws {
        let terminal = try Terminal()
        let port = try freePort()
        let daemon = try GPSDaemon(receiver: terminal.path, port: port, loop: loop)
        let source = try source(port: port, silence: 500)
        try source.start(at: .zero)
        try watch(source)
        let log = try ShippedLog.bytes()
        let first = ShippedLog.beginning(after: log.count / 4, in: log)
        try terminal.say(Array(log[..<first]), on: loop)
        try turn(loop) { listener.positions.count >= 30 }
        terminal.unplug()
        try turn(loop) { listener.failures.contains { $0.contains("hears nothing of its receiver") } }
        source.stop()
        daemon.stop()
    }

    // MARK: What gpsd may say

    @Test("Nobody on the port, or another service, is refused with its name and the remedy")
    func refused() throws {
        let port = try freePort()
        var failure = #expect(throws: SourceFailure.self) { try source(port: port).start(at: .zero) }
        #expect(failure?.kind == .environment)
        #expect(
            failure?.message
                == "location=gpsd: no gpsd on 127.0.0.1:\(port); start gpsd with a receiver, or name another port"
        )
        let nowhere = try GPSDLocation(names: NameTable(), loop: loop, host: "no.such.host.invalid")
        failure = #expect(throws: SourceFailure.self) { try nowhere.start(at: .zero) }
        #expect(failure?.message.contains("no.such.host.invalid") == true)
    }

    @Test("gpsd watches its receivers only while somebody wants fixes")
    func wanted() throws {
        let gpsd = try RecordedGPSD(on: loop)
        let source = try begun(with: gpsd)
        gpsd.say(fix(1))
        while try loop.runOnce(timeout: 0) {}
        source.perform(.positioning(true), at: .zero)
        try turn(loop) { gpsd.heard == "?WATCH={\"enable\":true,\"json\":true};\n" }
        gpsd.say(fix(2))
        try turn(loop) { !listener.positions.isEmpty }
        source.perform(.positioning(false), at: .zero)
        try turn(loop) { gpsd.heard.hasSuffix("?WATCH={\"enable\":false};\n") }
        let position = try #require(listener.positions.last)
        #expect(position.timestamp == 1_746_516_722)
        #expect(position.altitude == 520)
        #expect(position.horizontalAccuracy == 18.24)
        #expect(position.verticalAccuracy == 33.1)
        #expect(position.speed == 14.2)
        #expect(position.course == 67.06)
        source.stop()
    }

    @Test("What gpsd says more than once of one moment is one fix")
    func repeated() throws {
        let gpsd = try RecordedGPSD(on: loop)
        let source = try begun(with: gpsd)
        source.perform(.positioning(true), at: .zero)
        try turn(loop) { gpsd.heard.contains("true") }
        gpsd.say(fix(1) + fix(1) + fix(2) + fix(2) + fix(3))
        try turn(loop) { listener.positions.last?.timestamp == 1_746_516_723 }
        #expect(listener.positions.count == 3)
        source.stop()
    }

    @Test("What gpsd says later of a moment completes the fix, which is reported before the next, and before a loss")
    func completed() throws {
        let gpsd = try RecordedGPSD(on: loop)
        let source = try begun(with: gpsd)
        source.perform(.positioning(true), at: .zero)
        try turn(loop) { gpsd.heard.contains("true") }
        gpsd.say(fix(1) + early(1) + early(2) + fix(2) + #"{"class":"TPV","device":"/dev/ttyACM0","mode":1}"# + "\r\n")
        try turn(loop) { !listener.failures.isEmpty }
        #expect(listener.kinds == [.positionFixed, .positionFixed, .locationFailed])
        let (first, second) = (listener.positions[0], listener.positions[1])
        #expect(first.latitude == 48 && first.speed == 99 && first.course == 67.06 && first.altitude == 520)
        #expect(second.latitude == 48.1 && second.speed == 14.2 && second.course == 67.06)
        #expect(source.fixes == 2)
        source.stop()
    }

    @Test("Where gpsd takes longer over a moment the next is waited for as long, and no fix is reported again")
    func slowly() throws {
        let gpsd = try RecordedGPSD(on: loop)
        let source = try begun(with: gpsd)
        source.perform(.positioning(true), at: .zero)
        try turn(loop) { gpsd.heard.contains("true") }
        #expect(source.hold == GPSDLocation.usualHold)
        gpsd.say(early(1))
        try turn(loop) { listener.positions.count == 1 }
        gpsd.say(fix(1))
        try turn(loop) { source.hold > GPSDLocation.usualHold }
        #expect(source.hold >= 2 * GPSDLocation.usualHold && source.hold <= GPSDLocation.longestHold)
        gpsd.say(early(2) + fix(2))
        try turn(loop) { listener.positions.count == 2 }
        #expect(listener.positions.map(\.course) == [-1, 67.06])
        source.stop()
    }

    @Test(
        "Of several receivers the first with a fix is followed, the others are named once, and another when it is gone"
    )
    func receivers() throws {
        let gpsd = try RecordedGPSD(on: loop)
        let source = try begun(with: gpsd)
        var notes: [String] = []
        source.note = { notes.append($0) }
        source.perform(.positioning(true), at: .zero)
        try turn(loop) { gpsd.heard.contains("true") }
        let gone = { (device: String) in #"{"class":"DEVICE","path":"\#(device)","activated":0}"# + "\r\n" }
        gpsd.say(fix(1) + fix(2, latitude: 49, device: "/dev/b") + gone("/dev/b") + fix(3))
        gpsd.say(#"{"class":"TPV","device":"/dev/b","mode":1}"# + "\r\n" + fix(4, latitude: 49, device: "/dev/b"))
        try turn(loop) { listener.positions.count == 2 }
        #expect(listener.kinds == [.positionFixed, .positionFixed])
        #expect(listener.positions.map(\.latitude) == [48.1, 48.1])
        let place = "gpsd on 127.0.0.1:\(gpsd.port)"
        #expect(
            notes == ["\(place): several receivers have fixes: /dev/ttyACM0 is followed, and /dev/b left out"]
        )
        gpsd.say(gone("/dev/ttyACM0") + fix(5, latitude: 49, device: "/dev/b"))
        try turn(loop) { listener.positions.count == 3 }
        #expect(listener.positions.last?.latitude == 49)
        #expect(listener.failures == ["\(place) has lost its receiver; plug it in again"])
        #expect(notes.count == 1)
        source.stop()
    }

    @Test("Lines that are none of gpsd's are counted and skipped, also endless ones and those cut by packets")
    func nonsense() throws {
        let gpsd = try RecordedGPSD(on: loop)
        let source = try begun(with: gpsd)
        source.perform(.positioning(true), at: .zero)
        try turn(loop) { gpsd.heard.contains("true") }
        gpsd.say("nonsense\r\n{\"class\":\r\n{}\r\n{\"class\":\"TPV\",\"mode\":3,\"lat\":400,\"lon\":1}\r\n\r\n")
        gpsd.say([0x7b, 0, 0x7d, 0x0a, 0xff, 0xfe, 0x0a])
        gpsd.say(fix(1))
        try turn(loop) { listener.positions.count == 1 }
        // The object without a class, and the cut one; the zero, and what is no UTF-8.
        #expect(source.damagedLines == 5)
        let half = fix(2)
        gpsd.say(String(half.prefix(40)))
        while try loop.runOnce(timeout: 0) {}
        gpsd.say(String(half.dropFirst(40)))
        try turn(loop) { listener.positions.count == 2 }
        let damaged = source.damagedLines
        for _ in 0..<40 {
            gpsd.say([UInt8](repeating: 0x41, count: 2_048))
            while try loop.runOnce(timeout: 0) {}
        }
        gpsd.say("\r\n" + fix(3))
        try turn(loop) { listener.positions.count == 3 }
        #expect(source.damagedLines == damaged + 1)
        source.stop()
    }

    @Test("A connection that is lost is made again and fixes are asked for again; what is no gpsd is not served")
    func lost() throws {
        let gpsd = try RecordedGPSD(on: loop)
        let source = try begun(with: gpsd)
        source.perform(.positioning(true), at: .zero)
        try turn(loop) { gpsd.heard.contains("true") }
        for number in 1...3 {
            gpsd.drop()
            try turn(loop) { gpsd.connections == number + 1 && source.isUp }
            try turn(loop) { gpsd.heard.components(of: "\"enable\":true") == number + 1 }
        }
        gpsd.say(fix(1))
        try turn(loop) { listener.positions.count == 1 }
        #expect(source.interruptions == 3)
        #expect(listener.kinds.last == .positionFixed)
        source.stop()
        #expect(source.report == nil)
        let other = try RecordedGPSD(saying: "220 mail\r\n", on: loop)
        let stranger = try self.source(port: other.port)
        try stranger.begin()
        try turn(loop) { stranger.damagedLines == 1 }
        #expect(!stranger.isUp)
        stranger.stop()
    }

    // MARK: Lines

    @Test("Each class of line is what it says")
    func lines() {
        func read(_ text: String) -> GPSDLine? { GPSDLine(Array(text.utf8)) }
        #expect(read(RecordedGPSD.greeting) == .greeting(release: "3.22"))
        #expect(read(#"{"class":"TPV","device":"/dev/pts/0","mode":1}"#) == .noFix(device: "/dev/pts/0"))
        let inactive = #"{"class":"DEVICE","path":"/dev/pts/0","activated":0}"#
        #expect(read(inactive) == .receiver(device: "/dev/pts/0", isActive: false))
        let active = #"{"class":"DEVICE","path":"/dev/pts/0","activated":"2026-11-21T11:07:54.181Z","flags":1}"#
        #expect(read(active) == .receiver(device: "/dev/pts/0", isActive: true))
        #expect(read(#"{"class":"SKY","device":"/dev/pts/0","vdop":25.5,"hdop":25.5}"#) == .other)
        #expect(read(#"{"class":"WATCH","enable":true,"json":true}"#) == .watching(true))
        #expect(read("$GPGGA") == nil)
        #expect(read("") == nil)
        let old = #"{"class":"TPV","mode":3,"lat":1,"lon":2,"alt":7.5,"epx":3,"epy":4}"#
        var gathered = TrackPoint(Coordinate(latitude: 1, longitude: 2), altitude: 7.5)
        gathered.horizontalAccuracy = 5
        #expect(read(old) == .fix(gathered, device: nil))
        for text in [
            "[1]", "{", "{}", #"{"class":7}"#, #"{"class":"TPV"} x"#, #"{"class":"TPV","lat":1.2.3}"#,
            #"{"class":"TPV",}"#, #"{"class":"TPV" "mode":1}"#, #"{"class":"TPV","a":nul}"#,
            "{\"class\":\"TPV\",\"a\":" + String(repeating: "[", count: 5_000),
        ] { #expect(read(text) == nil, "\(text.prefix(40))") }
        #expect(read(#" { "class" : "SKY" , "a\"b" : [ 1 , {"c":[true,null]}, "x" ] } "#) == .other)
        guard case .fix(let first, device: "/dev/ttyACM0")? = read(String(fix(1).dropLast())),
            case .fix(let second, device: nil)? = read(#"{"class":"TPV","mode":2,"lat":-1.5,"lon":-180}"#)
        else {
            Issue.record("no fix")
            return
        }
        #expect(first.altitude == 520)
        var bare = TrackPoint(Coordinate(latitude: -1.5, longitude: -180))
        bare.horizontalAccuracy = nil
        #expect(second == bare)
    }

    @Test("What no receiver can mean is left out of a fix")
    func implausible() {
        let text =
            #"{"class":"TPV","mode":3,"lat":1,"lon":2,"altMSL":1e9,"speed":1e30,"track":-1,"eph":-3,"epv":1e9}"#
        let bare = TrackPoint(Coordinate(latitude: 1, longitude: 2))
        #expect(GPSDLine(Array(text.utf8)) == .fix(bare, device: nil))
    }

    @Test("A scrambled line never crashes")
    func scrambled() {
        let words = [fix(1), RecordedGPSD.greeting, #"{"class":"SKY","satellites":[{"PRN":2,"el":41.0,"az":87.0}]}"#]
        var state: UInt64 = 7
        func below(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for _ in 0..<20_000 {
            var bytes = Array(words[below(words.count)].utf8)
            for _ in 0...below(5) where !bytes.isEmpty {
                let place = below(bytes.count)
                switch below(3) {
                case 0: bytes[place] = UInt8(below(256))
                case 1: bytes.remove(at: place)
                default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + below(60))], at: place)
                }
            }
            guard case .fix(let point, _)? = GPSDLine(bytes) else { continue }
            let place = point.place
            #expect(Coordinate(checking: place.latitude, place.longitude) == place)
            #expect((0...360).contains(point.course ?? 0) && (point.horizontalAccuracy ?? 0) >= 0)
        }
    }
}

extension String {
    /// How often a text stands in this one.
    fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
