import Glibc
import Testing
import WakeDevices
import WakeExternalAccessory
import WakeModel
import WakePorts
import WakeSystem

/// An app's end of a session.
private final class AppEnd {
    let descriptor: Descriptor

    init(_ number: Int32) { descriptor = Descriptor(owning: number) }
}

/// Accessories in memory, the apps' ends of their sessions, and all that was reported.
private final class Bench {
    let port: SimulatedAccessories
    let names = NameTable()
    private(set) var reports: [SourceReport] = []
    private(set) var now = Instant.zero
    private var ends: [AccessorySession: AppEnd] = [:]

    init(_ files: (name: String, text: String)..., isRadioOn: Bool = true) throws {
        let devices = try files.map { name, text in
            let accessory = try ExternalAccessory.parse(Array(text.utf8), file: "\(name).yaml")
            return ScenarioDevice(name: name, group: name, line: 1, form: .accessory(accessory))
        }
        port = SimulatedAccessories(devices: devices, names: names, seed: 7, loop: nil, isRadioOn: isRadioOn)
        port.report = { [unowned self] in reports.append($0) }
        try port.start(at: .zero)
        port.connect(at: .zero)
    }

    /// Bluetooth has gone on, or off.
    func turnRadio(_ isOn: Bool) {
        port.hear(WakeEvent(kind: isOn ? .bluetoothPoweredOn : .bluetoothPoweredOff), .none, at: now)
    }

    var kinds: [String] { reports.map(\.event.kind.word) }
    var connections: [UInt32] { reports.map(\.event.local) }

    func forget() { reports.removeAll() }

    /// Time passes; each deadline is handled when it comes.
    func wait(_ span: Instant.Span) {
        let target = now.advanced(by: span)
        while let next = port.nextDeadline, next <= target {
            now = max(now, next)
            port.timeReached(now)
            port.look(at: now)
        }
        now = target
        port.timeReached(now)
        port.look(at: now)
    }

    func open(
        _ session: AccessorySession = 1,
        with connection: AccessoryConnection = 1,
        _ name: String = "com.example.log"
    ) {
        port.perform(.open(session, accessory: connection, protocolName: names.intern(name)), at: now)
        if let number = port.takeSession(session) { ends[session] = AppEnd(number) }
    }

    func write(_ text: String, to session: AccessorySession = 1) throws {
        _ = try ends[session]?.descriptor.write(Array(text.utf8))
        port.look(at: now)
    }

    /// All that is there for the app, and whether the end is.
    func read(_ session: AccessorySession = 1) throws -> (bytes: [UInt8], isEnd: Bool) {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while let count = try ends[session]?.descriptor.read(into: &buffer) {
            if count == 0 { return (all, true) }
            all += buffer[..<count]
            port.look(at: now)
        }
        return (all, false)
    }

    func text(_ session: AccessorySession = 1) throws -> String {
        String(decoding: try read(session).bytes, as: UTF8.self)
    }
}

private func dock(_ rest: String, link: String = "tty: {}", above: String = "") -> String {
    """
    device: external-accessory
    name: Dock
    usb: {vendor: "1d6b", product: "0104"}
    \(above)
    protocols:
      - protocol: com.example.log
        \(link)
    \(rest)
    """
}

/// The same over Bluetooth.
private func printer(above: String = "") -> String {
    dock("", link: "rfcomm: {service: 1101}", above: above)
        .replacing("usb: {vendor: \"1d6b\", product: \"0104\"}", with: "bluetooth: {address: \"F0:11:22:33:90:00\"}")
}

@Suite("Simulated accessories")
struct SimulatedAccessoriesTests {
    @Test("EA-2: what comes over Bluetooth goes with the radio and comes again with it, and what is on a wire stays")
    func radio() throws {
        let bench = try Bench(("dock", dock("")), ("printer", printer()))
        #expect(bench.connections == [1, 2])
        bench.open(1, with: 1)
        bench.open(2, with: 2)
        bench.forget()
        bench.turnRadio(false)
        #expect(bench.kinds == ["accessory-disconnected"] && bench.connections == [2])
        #expect(bench.port.accessories.map(\.connection) == [1])
        #expect(try bench.read(2).isEnd)
        for (name, isThere) in [("dock", true), ("printer", false)] {
            let isSent = try bench.port.simulateSend(device: name, protocolName: nil, value: [1], at: bench.now)
            #expect(isSent == isThere, "\(name)")
            #expect(try bench.port.isAttached(name), "\(name)")
            #expect(try bench.port.lacksRadio(name) != isThere, "\(name)")
        }
        bench.forget()
        bench.turnRadio(false)
        #expect(bench.reports.isEmpty)
        bench.turnRadio(true)
        #expect(bench.kinds == ["accessory-connected"] && bench.connections == [3])
        #expect(try !bench.port.lacksRadio("printer"))
    }

    @Test("EA-2: what comes into range while the radio is off is there once it is on, and what has left is not")
    func movesWithoutRadio() throws {
        let presence = "presence: [{attach: 5s}, {detach: 10s}, {attach: 10s}, {detach: 10s}]"
        let bench = try Bench(("printer", printer(above: presence)), isRadioOn: false)
        bench.wait(.seconds(8))
        #expect(bench.reports.isEmpty)
        bench.turnRadio(true)
        #expect(bench.kinds == ["accessory-connected"])
        bench.turnRadio(false)
        bench.wait(.seconds(12))
        bench.forget()
        // Away from 15 s to 25 s.
        bench.turnRadio(true)
        #expect(bench.reports.isEmpty)
        bench.wait(.seconds(20))
        #expect(bench.kinds == ["accessory-connected", "accessory-disconnected"])
    }

    @Test("EA-2: an accessory that is there at the start comes over Bluetooth once that is on")
    func startsWithoutRadio() throws {
        let bench = try Bench(("dock", dock("")), ("printer", printer()), isRadioOn: false)
        #expect(bench.port.accessories.map(\.connection) == [1])
        try bench.port.simulateDetach(device: "printer", origin: .none, at: bench.now)
        try bench.port.simulateAttach(device: "printer", origin: .none, at: bench.now)
        #expect(bench.connections == [1])
        bench.turnRadio(true)
        #expect(bench.connections == [1, 2])
    }

    @Test("A snapshot holds whether the radio is on, and what is in range without it")
    func radioInSnapshot() throws {
        let bench = try Bench(("printer", printer()))
        bench.turnRadio(false)
        var writer = SnapshotCoder()
        try bench.port.code(with: &writer)
        let other = try Bench(("printer", printer(above: "presence: [{attach: 1h}]")))
        var reader = SnapshotCoder(reading: writer.bytes)
        try other.port.code(with: &reader)
        try reader.finish()
        #expect(try other.port.lacksRadio("printer"))
        other.turnRadio(true)
        #expect(other.connections == [2])
    }

    @Test("An accessory is there from the beginning, and comes and goes as its file says")
    func presence() throws {
        let bench = try Bench(
            ("dock", dock("")),
            ("guest", dock("", above: "presence: [{attach: 5s}, {detach: 10s}, {attach: 1s}]"))
        )
        #expect(bench.connections == [1])
        bench.wait(.seconds(60))
        #expect(
            bench.kinds == [
                "accessory-connected", "accessory-connected", "accessory-disconnected", "accessory-connected",
            ]
        )
        #expect(bench.connections == [1, 2, 2, 3])
        #expect(bench.port.accessories.map(\.connection) == [1, 3])
    }

    @Test(
        "What an app writes without end goes as fast as the link carries it",
        arguments: [("tty: {}", 1_216_000), ("hid: {size: 64}", 64_000), ("rfcomm: {service: 1101}", 272_262)]
    )
    func pace(_ link: String, rate: Int64) throws {
        let device =
            link.hasPrefix("rfcomm")
            ? dock("faults: [{name: pulled, unplug-after-received: 65537}]", link: link)
                .replacing(
                    "usb: {vendor: \"1d6b\", product: \"0104\"}",
                    with: "bluetooth: {address: \"F0:11:22:33:90:00\"}"
                )
            : dock("faults: [{name: pulled, unplug-after-received: 65537}]", link: link)
        let bench = try Bench(("dock", device))
        bench.open()
        try bench.port.arm(fault: "pulled", device: "dock", at: .zero)
        for _ in 0..<64 { try bench.write(String(repeating: "x", count: 4_096)) }
        #expect(!bench.kinds.contains("accessory-disconnected"))
        let quarter = try #require(bench.port.nextDeadline)
        // Each taking is rounded up to a nanosecond.
        #expect((0..<100).contains(quarter.nanoseconds - 16_384 * 1_000_000_000 / rate))
        bench.wait(quarter.since(.zero))
        #expect(bench.kinds.last == "accessory-disconnected")
        #expect(bench.port.nextDeadline == nil)
    }

    @Test("What an app writes now and then is not held up by its link")
    func burst() throws {
        let bench = try Bench(("dock", dock("    echo: true")))
        bench.open()
        for _ in 0..<100 {
            try bench.write(String(repeating: "x", count: 4_000))
            #expect(try bench.read().bytes.count == 4_000)
            #expect(bench.port.nextDeadline == nil)
            bench.wait(.milliseconds(4))
        }
    }

    @Test("A script sends what is due from the opening on, and answers what it is asked")
    func script() throws {
        let bench = try Bench(
            (
                "dock",
                dock(
                    """
                        send: [{after: 2s, text: ["a", "b"], every: 3s}]
                        answers: [{text: "GO", send: [{text: ["ok"]}, {after: 1s, text: ["done"]}]}]
                    """
                )
            )
        )
        bench.wait(.seconds(10))
        bench.open()
        #expect(bench.reports.last?.event.failed == false)
        bench.wait(.seconds(1))
        #expect(try bench.text() == "")
        bench.wait(.seconds(1))
        #expect(try bench.text() == "a")
        try bench.write("xG")
        try bench.write("O")
        bench.wait(.zero)
        #expect(try bench.text() == "ok")
        bench.wait(.seconds(3))
        #expect(try bench.text() == "doneb")
    }

    @Test("A session with what is not there, or of another protocol, fails")
    func refused() throws {
        let bench = try Bench(("dock", dock("")))
        bench.open(1, with: 9)
        bench.open(2, with: 1, "com.example.other")
        #expect(bench.reports.suffix(2).map(\.event.failed) == [true, true])
        #expect(bench.reports.last?.payload == .accessoryFailure(.gone))
    }

    @Test("EA-5: a script over a link that can wait stands still while nothing is read, and loses nothing")
    func waits() throws {
        let bench = try Bench(
            ("dock", dock("    send: [{pattern: {bytes: 3000000, block: 50000}, every: 1ms}]"))
        )
        bench.open()
        bench.wait(.seconds(10))
        let first = try bench.read().bytes
        var all = first
        while all.count < 3_000_000 {
            bench.wait(.milliseconds(1))
            let more = try bench.read().bytes
            if more.isEmpty, bench.port.nextDeadline == nil { break }
            all += more
        }
        #expect(first.count < 1_000_000)
        #expect(all.count == 3_000_000)
        #expect(all.enumerated().allSatisfy { $1 == Timetable.Pattern.byte($0) })
        #expect(!bench.kinds.contains("accessory-session-ended"))
    }

    @Test("EA-5: over a link that cannot wait a flood ends the session in an overflow, after what fits")
    func overflows() throws {
        let bench = try Bench(("dock", dock("faults: [{name: bursts, flood: 2000000}]", link: "hid: {size: 32}")))
        bench.open()
        bench.forget()
        try bench.port.arm(fault: "bursts", device: "dock", at: bench.now)
        #expect(bench.kinds == ["accessory-session-ended"])
        #expect(bench.reports.last?.event.failed == true)
        #expect(bench.reports.last?.payload == .accessoryFailure(.overflow))
        let read = try bench.read()
        #expect(read.bytes.count >= 65_536)
        #expect(!read.isEnd)
        bench.port.perform(.close(1), at: bench.now)
        #expect(try bench.read().isEnd)
    }

    @Test("Reports over HID are filled up with zeros")
    func reports() throws {
        let bench = try Bench(("dock", dock("    send: [{after: 1s, text: [\"abc\"]}]", link: "hid: {size: 5}")))
        bench.open()
        bench.wait(.seconds(1))
        #expect(try bench.read().bytes == [0x61, 0x62, 0x63, 0, 0])
    }

    @Test("Pulled in the middle of a write: the session ends, and the accessory comes back as a new connection")
    func pulled() throws {
        let bench = try Bench(
            ("dock", dock("faults: [{name: pulled, unplug-after-received: 3, back-after: 4s}]"))
        )
        bench.open()
        bench.forget()
        try bench.port.arm(fault: "pulled", device: "dock", at: bench.now)
        try bench.write("12345")
        #expect(bench.kinds == ["accessory-disconnected"])
        #expect(try bench.read().isEnd)
        bench.wait(.seconds(4))
        #expect(bench.connections == [1, 2])
        bench.open(2, with: 2)
        #expect(bench.reports.last?.event.failed == false)
    }

    @Test("Pulled after so many values, what it had sent is still read")
    func pulledAfterSending() throws {
        let bench = try Bench(
            (
                "dock",
                dock(
                    """
                        send: [{after: 1s, text: ["a", "b", "c"], every: 1s}]
                    faults: [{name: pulled, unplug-after-sent: 2}]
                    """
                )
            )
        )
        bench.open()
        try bench.port.arm(fault: "pulled", device: "dock", at: bench.now)
        bench.wait(.seconds(10))
        let read = try bench.read()
        #expect(read.bytes == Array("ab".utf8))
        #expect(read.isEnd)
    }

    @Test("While it stalls it neither sends nor takes, and then goes on")
    func stalls() throws {
        let bench = try Bench(
            (
                "dock",
                dock(
                    """
                        send: [{after: 1s, text: ["a"]}]
                        answers: [{text: "GO", send: [{text: ["ok"]}]}]
                    faults: [{name: stalls, stall: 30s}]
                    """
                )
            )
        )
        bench.open()
        try bench.port.arm(fault: "stalls", device: "dock", at: bench.now)
        try bench.write("GO")
        bench.wait(.seconds(29))
        #expect(try bench.text() == "")
        bench.wait(.seconds(1))
        #expect(try bench.text().sorted() == "ako".sorted())
    }

    @Test("Nonsense comes before the next value, the same for the same seed")
    func garbage() throws {
        func play() throws -> [UInt8] {
            let bench = try Bench(
                (
                    "dock",
                    dock(
                        """
                            send: [{after: 1s, text: ["a"]}]
                        faults: [{name: noise, garbage: 10}]
                        """
                    )
                )
            )
            bench.open()
            try bench.port.arm(fault: "noise", device: "dock", at: bench.now)
            bench.wait(.seconds(1))
            return try bench.read().bytes
        }
        let first = try play()
        #expect(first.count == 11)
        #expect(first.last == 0x61)
        #expect(try play() == first)
    }

    @Test("Steps attach, detach and send; an unknown device, protocol or fault is said")
    func steps() throws {
        let bench = try Bench(("dock", dock("")))
        bench.open()
        try bench.port.simulateSend(device: "dock", protocolName: nil, value: [1, 2], at: bench.now)
        #expect(try bench.read().bytes == [1, 2])
        try bench.port.simulateDetach(device: "dock", origin: .none, at: bench.now)
        try bench.port.simulateAttach(device: "dock", origin: .none, at: bench.now)
        #expect(bench.port.accessories.map(\.connection) == [2])
        #expect(throws: SourceFailure(.unknown, "no accessory 'dog'")) {
            try bench.port.simulateAttach(device: "dog", origin: .none, at: bench.now)
        }
        #expect(throws: SourceFailure(.unknown, "dock offers no protocol 'com.example.x'")) {
            try bench.port.simulateSend(device: "dock", protocolName: "com.example.x", value: [], at: bench.now)
        }
        #expect(throws: SourceFailure(.unknown, "dock has no fault 'x'")) {
            try bench.port.arm(fault: "x", device: "dock", at: bench.now)
        }
    }

    @Test("SYS-2: connecting anew ends the sessions of before, and gives new numbers")
    func anew() throws {
        let bench = try Bench(("dock", dock("")))
        bench.open()
        bench.forget()
        bench.port.connect(at: bench.now)
        #expect(bench.kinds == ["accessory-connected"])
        #expect(bench.connections == [2])
        #expect(try bench.read().isEnd)
    }
}
