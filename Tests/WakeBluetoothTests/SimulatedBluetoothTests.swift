import Glibc
import Testing
import WakeBluetooth
import WakeDevices
import WakeModel
import WakePorts

/// A simulated radio whose time the test moves.
private final class Air {
    let names = NameTable()
    let radio: SimulatedBluetooth
    var now = Instant.zero
    var reports: [(at: Instant, SourceReport)] = []
    let client = BluetoothClient(app: AppID(0), slot: 0)
    let other = BluetoothClient(app: AppID(1), slot: 0)

    init(_ text: String, count: Int = 1, seed: UInt64 = 1) throws {
        let peripheral = try BluetoothPeripheral.parse(Array(text.utf8), file: "belt.yaml")
        let devices = (1...count).map { number in
            let name = count == 1 ? "belt" : "belt.\(number)"
            return ScenarioDevice(name: name, group: "belt", line: 1, form: .peripheral(peripheral))
        }
        radio = SimulatedBluetooth(devices: devices, names: names, seed: seed)
        radio.report = { [unowned self] in reports.append((now, $0)) }
        try radio.start(at: .zero)
    }

    var belt: NameID { names.intern("belt") }
    var kinds: [EventKind] { reports.map(\.1.event.kind) }
    var values: [[UInt8]] { notifications.map(\.value) }
    var notifications: [(at: Instant, value: [UInt8])] {
        reports.compactMap { at, report in
            guard report.event.kind == .characteristicNotified, case .value(let value) = report.payload else {
                return nil
            }
            return (at, value)
        }
    }

    /// Lets the time pass in the steps in which the radio asks for it.
    func run(to end: Instant) {
        while let next = radio.nextDeadline, next <= end {
            now = max(now, next)
            radio.timeReached(now)
        }
        now = end
        radio.timeReached(now)
    }

    func run(for span: Instant.Span) { run(to: now.advanced(by: span)) }

    func perform(_ command: BluetoothCommand) { radio.perform(command, at: now) }

    func connect(_ client: BluetoothClient? = nil) {
        perform(.connect(client ?? self.client, peripheral: belt))
        run(for: .seconds(1))
    }

    /// The handle of a characteristic of the connected belt.
    func handle(_ uuid: String = "2A37") throws -> AttributeHandle {
        let known = try #require(radio.knownPeripheral(belt))
        return try #require(known.characteristics.first { $0.uuid == uuid }?.handle)
    }

    func operate(_ operation: BluetoothOperation, _ client: BluetoothClient? = nil) {
        perform(.operate(client ?? self.client, peripheral: belt, operation))
    }
}

private let plain = """
    device: bluetooth-peripheral
    name: Belt
    address: "F0:11:22:33:44:55"
    advertising: {interval: 100ms, services: [180D]}
    gatt:
      - service: 180D
        characteristics:
          - uuid: 2A37
            properties: [notify]
            notifications:
              - {after: 10s, values: ["01", "02", "03"], every: 10s}
          - {uuid: 2A39, properties: [write, write-without-response, read], value: "00"}
    faults:
      - {name: late, late-subscribe-answer: 3s}
      - {name: drop, disconnect-after: 2}
      - {name: stale, stale-handles: 16}
      - {name: mute, no-answer: 30s}
      - {name: stuck, hold-notifications: 1m}
      - {name: cut, cut-values: 0}
    """

/// The same, and the phone is told of changes.
private let announcing = plain.replacing(
    "\nfaults:",
    with: "\n  - {service: 1801, characteristics: [{uuid: 2A05, properties: [indicate]}]}\nfaults:"
)

/// What the contract has happen to the belt, beside the faults of its file, which end it.
private let beltFaults = """

      - {name: gone, change-services: {remove: [180F]}}
      - name: back
        change-services: {add: [{service: 180F, characteristics: [{uuid: 2A19, properties: [read, notify]}]}]}
      - {name: Belt 2, change-name: Belt 2}
    """

@Suite("Simulated Bluetooth")
struct SimulatedBluetoothTests {
    @Test("The simulated radio keeps the promises of the port", arguments: BluetoothPromise.allCases)
    func contract(promise: BluetoothPromise) throws {
        let names = NameTable()
        var devices = try ContractRig.devices()
        let file = try #require(devices[0].peripheral).file
        let belt = try BluetoothPeripheral.parse(InputFile.read(file) + Array(beltFaults.utf8), file: file)
        devices[0] = ScenarioDevice(name: "belt", group: "belt", line: 1, form: .peripheral(belt))
        let radio = SimulatedBluetooth(devices: devices, names: names, seed: 7)
        var now = Instant.zero
        let fate = ContractRig.Fate(
            setRange: { try radio.simulateRange(device: "belt", inRange: $0, at: now) },
            dropLink: { try radio.simulateDisconnect(device: "belt", at: now) },
            setBattery: { try radio.arm(fault: $0 ? "back" : "gone", device: "belt", at: now) },
            rename: { try radio.arm(fault: $0, device: "belt", at: now) }
        )
        let rig = ContractRig(port: radio, names: names, fate: fate, now: { now }) { condition in
            let end = now.advanced(by: .seconds(30))
            while !condition() {
                guard let next = radio.nextDeadline, next <= end else { return false }
                now = max(now, next)
                radio.timeReached(now)
            }
            return true
        }
        try radio.start(at: now)
        try promise.check(rig)
    }

    // MARK: Snapshots

    /// Another radio with the same devices, as it comes out of a snapshot of the first; both have reported nothing.
    private func restored(_ air: Air, as devices: String) throws -> Air {
        var writing = SnapshotCoder()
        try air.radio.code(with: &writing)
        // Its own dice are another's.
        let restored = try Air(devices, seed: 99)
        var reading = SnapshotCoder(reading: writing.bytes)
        try restored.radio.code(with: &reading)
        try reading.finish()
        restored.now = air.now
        air.reports.removeAll()
        return restored
    }

    @Test(
        "A radio that is restored from a snapshot goes on as the one it was taken of",
        arguments: [0, 20, 700, 12_000]
    )
    func snapshot(milliseconds: Int64) throws {
        let air = try Air(plain)
        air.perform(.scan(air.other, services: [], allowDuplicates: true))
        air.connect()
        air.operate(.setNotify(try air.handle(), true))
        air.operate(.write(try air.handle("2A39"), [3], withResponse: false))
        for fault in ["late", "stale", "stuck"] { try air.radio.arm(fault: fault, device: "belt", at: air.now) }
        air.run(for: .milliseconds(milliseconds))
        let restored = try restored(air, as: plain)
        for each in [air, restored] {
            each.run(for: .seconds(30))
            try each.radio.simulateDisconnect(device: "belt", at: each.now)
            each.run(for: .seconds(5))
            each.connect()
            each.run(for: .seconds(60))
        }
        #expect(air.reports.count > 10)
        #expect(restored.reports.map(\.at) == air.reports.map(\.at))
        #expect(restored.reports.map(\.1) == air.reports.map(\.1))
    }

    // MARK: Timetables

    @Test("A timetable begins with the first subscription and keeps its pauses")
    func timetable() throws {
        let air = try Air(plain)
        air.connect()
        air.run(for: .seconds(100))
        #expect(air.values.isEmpty)
        air.operate(.setNotify(try air.handle(), true))
        air.run(for: .seconds(1))
        let answered = try #require(air.reports.last { $0.1.event.kind == .notificationStateChanged }).at
        air.run(for: .seconds(100))
        #expect(air.notifications.map { $0.at.since(answered) } == [.seconds(10), .seconds(20), .seconds(30)])
        #expect(air.values == [[1], [2], [3]])
    }

    @Test("A timetable keeps its place and the rest of its pause over a disconnect")
    func timetablePauses() throws {
        let air = try Air(plain)
        air.connect()
        air.operate(.setNotify(try air.handle(), true))
        air.run(for: .seconds(16))
        #expect(air.values == [[1]])
        let first = air.notifications[0].at
        let stopped = air.now
        try air.radio.simulateDisconnect(device: "belt", at: air.now)
        air.run(for: .seconds(60))
        air.connect()
        air.operate(.setNotify(try air.handle(), true))
        air.run(for: .seconds(1))
        let resumed = try #require(air.reports.last { $0.1.event.kind == .notificationStateChanged }).at
        air.run(for: .seconds(9))
        #expect(air.values == [[1], [2]])
        #expect(air.notifications[1].at.since(resumed) + stopped.since(first) == .seconds(10))
    }

    @Test("Unsubscribing stops the timetable, and only the last subscriber's")
    func unsubscribing() throws {
        let air = try Air(plain)
        air.connect()
        air.connect(air.other)
        let handle = try air.handle()
        air.operate(.setNotify(handle, true))
        air.operate(.setNotify(handle, true), air.other)
        air.run(for: .seconds(1))
        air.operate(.setNotify(handle, false))
        air.run(for: .seconds(12))
        #expect(air.values == [[1]])
        air.operate(.setNotify(handle, false), air.other)
        air.run(for: .seconds(100))
        #expect(air.values == [[1]])
    }

    @Test("A repeating timetable begins again")
    func repeating() throws {
        let air = try Air(
            plain.replacing(
                "      - {uuid: 2A39",
                with: "        repeat: true\n      - {uuid: 2A39"
            )
        )
        air.connect()
        air.operate(.setNotify(try air.handle(), true))
        air.run(for: .seconds(61))
        #expect(air.values == [[1], [2], [3], [1], [2], [3]])
    }

    @Test("A scripted notification reaches subscribers, and nobody when there are none")
    func scripted() throws {
        let air = try Air(plain)
        air.connect()
        let send = {
            try air.radio.simulateNotification(device: "belt", characteristic: "2A37", value: [9], at: air.now)
        }
        #expect(try send() == false)
        air.operate(.setNotify(try air.handle(), true))
        air.run(for: .seconds(1))
        #expect(try send() == true)
        #expect(air.values.isEmpty)
        air.run(for: .zero)
        #expect(air.values == [[9]])
    }

    // MARK: Links

    @Test("BTC-5: a connection request waits until the peripheral comes into range")
    func waitsForRange() throws {
        let air = try Air(plain)
        try air.radio.simulateRange(device: "belt", inRange: false, at: air.now)
        air.perform(.connect(air.client, peripheral: air.belt))
        air.run(for: .seconds(100_000))
        #expect(air.reports.isEmpty)
        try air.radio.simulateRange(device: "belt", inRange: true, at: air.now)
        air.run(for: .seconds(1))
        #expect(air.kinds == [.peripheralConnected])
        #expect(air.reports[0].1.event.client == nil)
    }

    @Test("BTC-5: a request made before the loss of a link is kept, and one that was granted is not")
    func requestsSurviveLoss() throws {
        let air = try Air(plain)
        air.connect()
        try air.radio.simulateDisconnect(device: "belt", at: air.now)
        air.perform(.connect(air.other, peripheral: air.belt))
        air.run(for: .seconds(1))
        #expect(air.kinds == [.peripheralConnected, .peripheralDisconnected, .peripheralConnected])
        air.operate(.readSignalStrength, air.other)
        air.operate(.readSignalStrength, air.client)
        air.run(for: .seconds(1))
        let answers = air.reports.filter { $0.1.event.kind == .signalStrengthRead }
        #expect(answers.first { $0.1.event.client == air.other }?.1.payload == .signalStrength(-55))
        #expect(answers.first { $0.1.event.client == air.client }?.1.payload == .failure(.notConnected))
    }

    @Test("A link out of range is lost once the supervision timeout has passed, for everyone at once")
    func outOfRange() throws {
        let air = try Air(plain)
        air.connect()
        air.connect(air.other)
        try air.radio.simulateRange(device: "belt", inRange: false, at: air.now)
        let left = air.now
        air.run(for: .seconds(10))
        let lost = air.reports.filter { $0.1.event.kind == .peripheralDisconnected }
        #expect(lost.count == 1)
        #expect(lost.first?.1.event.client == nil)
        #expect(lost.first?.1.event.failed == true)
        #expect(lost.first?.1.payload == .failure(.connectionTimeout))
        #expect(lost.first?.at.since(left) == .milliseconds(720))
    }

    @Test("A link out of range for less than the supervision timeout lives on")
    func shortlyOutOfRange() throws {
        let air = try Air(plain)
        air.connect()
        try air.radio.simulateRange(device: "belt", inRange: false, at: air.now)
        air.run(for: .milliseconds(700))
        try air.radio.simulateRange(device: "belt", inRange: true, at: air.now)
        air.run(for: .seconds(10))
        #expect(air.kinds == [.peripheralConnected])
    }

    @Test("A peripheral that says it is not connectable is never connected to")
    func notConnectable() throws {
        let air = try Air(plain.replacing("services: [180D]}", with: "services: [180D], connectable: false}"))
        air.perform(.connect(air.client, peripheral: air.belt))
        air.run(for: .seconds(1000))
        #expect(air.reports.isEmpty)
    }

    @Test("BTC-5: power off forgets requests")
    func powerOffForgets() throws {
        let air = try Air(plain)
        air.perform(.connect(air.client, peripheral: air.belt))
        air.radio.setPower(false, at: air.now)
        air.radio.setPower(true, at: air.now)
        air.run(for: .seconds(10))
        #expect(air.kinds == [.bluetoothPoweredOff, .bluetoothPoweredOn])
    }

    @Test("Who gives up before the link is there gets no connection")
    func givesUp() throws {
        let air = try Air(plain)
        air.perform(.connect(air.client, peripheral: air.belt))
        air.perform(.disconnect(air.client, peripheral: air.belt))
        air.run(for: .seconds(10))
        #expect(air.kinds == [.peripheralDisconnected])
    }

    @Test("A released client gets no answer to what it asked before")
    func releasedGetsNoAnswer() throws {
        let air = try Air(plain)
        air.connect()
        air.connect(air.other)
        air.operate(.readSignalStrength)
        air.perform(.release(air.client))
        air.perform(.connect(air.client, peripheral: air.belt))
        air.run(for: .seconds(1))
        #expect(!air.kinds.contains(.signalStrengthRead))
    }

    @Test("A scan with duplicates reports every advertisement while the peripheral advertises")
    func duplicates() throws {
        let air = try Air(plain)
        air.perform(.scan(air.client, services: [], allowDuplicates: true))
        air.perform(.scan(air.other, services: [], allowDuplicates: false))
        air.run(for: .seconds(10))
        let mine = air.reports.filter { $0.1.event.client == air.client }.count
        #expect((90...101).contains(mine))
        #expect(air.reports.count == mine + 1)
        air.connect()
        let connected = air.reports.count
        air.run(for: .seconds(10))
        #expect(air.reports.count == connected)
    }

    @Test("A peripheral whose file says so goes on advertising while it has a link")
    func advertisesWhileConnected() throws {
        let air = try Air(plain.replacing("services: [180D]}", with: "services: [180D], while-connected: true}"))
        air.connect()
        air.perform(.scan(air.other, services: [], allowDuplicates: true))
        air.run(for: .seconds(1))
        #expect(air.kinds.filter { $0 == .peripheralDiscovered }.count > 5)
    }

    // MARK: Attributes

    @Test("Writing needs the property, with and without response")
    func writing() throws {
        let air = try Air(plain)
        air.connect()
        let (rate, control) = (try air.handle(), try air.handle("2A39"))
        air.operate(.write(control, [7], withResponse: true))
        air.operate(.read(control))
        air.operate(.write(control, [8], withResponse: false))
        air.operate(.read(control))
        air.operate(.write(rate, [9], withResponse: true))
        air.operate(.read(rate))
        air.run(for: .seconds(1))
        let answers = air.reports.dropFirst().map(\.1)
        #expect(
            answers.map(\.event.kind)
                == [.valueWritten, .valueRead, .valueRead, .valueWritten, .valueRead]
        )
        #expect(answers[answers.startIndex + 1].payload == .value([7]))
        #expect(answers[answers.startIndex + 2].payload == .value([8]))
        #expect(answers.map(\.event.failed) == [false, false, false, true, true])
    }

    // MARK: The connection

    private static func connection(_ text: String) throws -> Air {
        let air = try Air(plain + "\nconnection: {\(text)}")
        air.connect()
        return air
    }

    /// When each of some write commands arrived, counted from the first.
    private func arrivals(_ air: Air, count: Int, bytes: Int) throws -> [Instant.Span] {
        let control = try air.handle("2A39")
        var times: [Instant] = []
        for number in 1...count {
            air.operate(.write(control, Array(repeating: UInt8(number), count: bytes), withResponse: false))
        }
        var room = air.radio.writeRoom(of: air.client, to: air.belt)
        while room < 20, let next = air.radio.nextDeadline {
            air.run(to: next)
            let now = air.radio.writeRoom(of: air.client, to: air.belt)
            times += Array(repeating: next, count: now - room)
            room = now
        }
        return times.map { $0.since(times[0]) }
    }

    @Test("Five write commands go out in a connection interval, one behind the other")
    func commandsInAnInterval() throws {
        let air = try Self.connection("interval: 30ms")
        let times = try arrivals(air, count: 12, bytes: 20)
        let exchange = BluetoothPeripheral.Connection().exchange(27)
        let expected = (0..<12).map { number in
            let events = Instant.Span.milliseconds(30 * Int64(number / 5))
            return events + Instant.Span(nanoseconds: exchange.nanoseconds * Int64(number % 5))
        }
        #expect(times == expected)
    }

    @Test("Without the data length extension a long write command takes several packets, and fewer go in an interval")
    func commandsOfSeveralPackets() throws {
        let air = try Self.connection("interval: 30ms, data-length: 27")
        let times = try arrivals(air, count: 5, bytes: 41)
        // Two packets each: two and a half of five in an event.
        #expect(times.map { $0.milliseconds / 25 } == [0, 0, 1, 1, 1])
        #expect(times.last.map { $0 > .milliseconds(29) } == true)
    }

    @Test("On the slower PHY a write command takes longer")
    func slowerPHY() throws {
        let fast = try arrivals(try Self.connection("phy: 2M"), count: 2, bytes: 20)
        let slow = try arrivals(try Self.connection("phy: 1M"), count: 2, bytes: 20)
        #expect(fast[1] < slow[1])
    }

    @Test(
        "An answer comes within an interval and a half, and later by what the peripheral sleeps",
        arguments: [("interval: 30ms", 15, 45), ("interval: 100ms", 50, 150), ("interval: 100ms, latency: 3", 50, 450)]
    )
    func answerLatency(text: String, low: Int64, high: Int64) throws {
        let air = try Self.connection(text)
        var spans: [Int64] = []
        for _ in 1...40 {
            let asked = air.now
            let count = air.reports.count
            air.operate(.readSignalStrength)
            while air.reports.count == count, let next = air.radio.nextDeadline { air.run(to: next) }
            spans.append(air.now.since(asked).milliseconds)
        }
        #expect(spans.allSatisfy { (low...high).contains($0) }, "\(spans)")
        #expect((spans.max() ?? 0) > high * 2 / 3)
    }

    @Test("The link is lost when the supervision timeout that the peripheral asked for has passed")
    func supervisionTimeout() throws {
        let air = try Self.connection("supervision-timeout: 4s")
        try air.radio.simulateRange(device: "belt", inRange: false, at: air.now)
        air.run(for: .milliseconds(3_999))
        #expect(!air.kinds.contains(.peripheralDisconnected))
        air.run(for: .milliseconds(1))
        #expect(air.kinds.contains(.peripheralDisconnected))
    }

    @Test("Write commands on their way out of range arrive when it is back, and those of a lost link never")
    func commandsOutOfRange() throws {
        let air = try Air(plain)
        air.connect()
        let control = try air.handle("2A39")
        try air.radio.simulateRange(device: "belt", inRange: false, at: air.now)
        air.operate(.write(control, [7], withResponse: false))
        air.run(for: .milliseconds(600))
        #expect(air.radio.writeRoom(of: air.client, to: air.belt) == 19)
        try air.radio.simulateRange(device: "belt", inRange: true, at: air.now)
        air.operate(.read(control))
        air.run(for: .seconds(1))
        #expect(air.reports.last?.1.payload == .value([7]))
        air.operate(.write(control, [9], withResponse: false))
        try air.radio.simulateDisconnect(device: "belt", at: air.now)
        air.run(for: .seconds(1))
        #expect(air.kinds.last == .peripheralDisconnected)
        air.connect()
        air.operate(.read(control))
        air.run(for: .seconds(1))
        #expect(air.reports.last?.1.payload == .value([7]))
        #expect(!air.kinds.contains(.readyToWrite))
    }

    // MARK: Names

    private static let longName = plain.replacing("name: Belt", with: "name: A Belt With A Longer Name")

    @Test("A name that does not fit into the advertisement is not in the first report, and in the next")
    func nameInScanResponse() throws {
        let air = try Air(Self.longName)
        air.perform(.scan(air.client, services: [], allowDuplicates: true))
        air.run(for: .milliseconds(350))
        let names = air.reports.compactMap { _, report -> String?? in
            guard case .advertisement(let seen) = report.payload else { return nil }
            return seen.localName
        }
        #expect(names.count > 2)
        #expect(names.first == .some(nil))
        #expect(names.dropFirst().allSatisfy { $0 == "A Belt With A Longer Name" })
        #expect(air.radio.knownPeripheral(air.belt)?.name == "A Belt With A Longer Name")
    }

    @Test("A name that was not reported is read once there is a link, and told")
    func nameReadFromLink() throws {
        let air = try Air(Self.longName)
        air.perform(.scan(air.client, services: [], allowDuplicates: false))
        air.run(for: .seconds(1))
        #expect(air.radio.knownPeripheral(air.belt)?.name == nil)
        air.perform(.stopScan(air.client))
        air.connect()
        #expect(air.kinds == [.peripheralDiscovered, .peripheralConnected, .nameChanged])
        #expect(air.reports.last?.1.payload == .name("A Belt With A Longer Name"))
        try air.radio.simulateDisconnect(device: "belt", at: air.now)
        air.connect()
        #expect(air.kinds.filter { $0 == .nameChanged }.count == 1)
    }

    @Test("Fault change-name: without a link the next advertisement has the name, and the next link tells of it")
    func nameChangesWithoutLink() throws {
        let air = try Air(plain + "\n  - {name: renamed, change-name: Other}")
        air.connect()
        try air.radio.simulateDisconnect(device: "belt", at: air.now)
        try air.radio.arm(fault: "renamed", device: "belt", at: air.now)
        air.perform(.scan(air.client, services: [], allowDuplicates: false))
        air.run(for: .seconds(1))
        guard case .advertisement(let seen) = air.reports.last?.1.payload else {
            Issue.record("nothing was seen")
            return
        }
        #expect(seen.localName == "Other")
        // The name of its attributes, read before, is the better one until they are read again.
        #expect(air.radio.knownPeripheral(air.belt)?.name == "Belt")
        air.connect()
        #expect(air.reports.last?.1.payload == .name("Other"))
    }

    // MARK: Services

    @Test(
        "Fault change-services: what was subscribed of a service that goes is not, and what comes has handles of its own"
    )
    func changeServices() throws {
        let air = try Air(
            announcing + """

                  - name: update
                    change-services:
                      remove: [180D]
                      add: [{service: 180F, characteristics: [{uuid: 2A19, properties: [read], value: "5a"}]}]
                """
        )
        air.connect()
        let rate = try air.handle()
        let last = try air.handle("2A39") + 1
        air.operate(.setNotify(rate, true))
        air.run(for: .seconds(15))
        #expect(air.values == [[1]])
        try air.radio.arm(fault: "update", device: "belt", at: air.now)
        air.run(for: .seconds(60))
        #expect(air.values == [[1]])
        let changed = try #require(air.reports.last).1
        #expect(changed.event.kind == .servicesModified)
        #expect(changed.event.voidHandles == rate - 1...last)
        #expect(air.radio.knownPeripheral(air.belt)?.services.map(\.uuid) == ["180F"])
        #expect(air.radio.connectedPeripherals(services: [air.names.intern("180D")]).isEmpty)
        air.operate(.read(try air.handle("2A19")))
        air.run(for: .seconds(1))
        #expect(air.reports.last?.1.payload == .value([0x5a]))
        #expect(air.reports.last.map { $0.1.event.attribute > last } == true)
    }

    @Test("Fault change-services without a link is told to nobody, and found by who connects")
    func changeServicesUnconnected() throws {
        let air = try Air(plain + "\n  - {name: gone, change-services: {remove: [180D]}}")
        air.connect()
        try air.radio.simulateDisconnect(device: "belt", at: air.now)
        air.run(for: .zero)
        try air.radio.arm(fault: "gone", device: "belt", at: air.now)
        air.connect()
        #expect(!air.kinds.contains(.servicesModified))
        #expect(air.radio.knownPeripheral(air.belt)?.services.isEmpty == true)
    }

    @Test("The client configuration shows the subscription and cannot be written")
    func configuration() throws {
        let air = try Air(plain)
        air.connect()
        let handle = try air.handle()
        air.operate(.discoverDescriptors(of: handle))
        air.run(for: .seconds(1))
        guard case .descriptors(let found) = try #require(air.reports.last).1.payload else {
            Issue.record("the payload is no list of descriptors")
            return
        }
        #expect(found.map(\.uuid) == ["2902"])
        #expect(found.map(\.handle) == [handle + 2])
        air.operate(.readDescriptor(handle + 2))
        air.operate(.setNotify(handle, true))
        air.operate(.readDescriptor(handle + 2))
        air.operate(.writeDescriptor(handle + 2, [0, 0]))
        air.run(for: .seconds(1))
        #expect(
            air.reports.filter { $0.1.event.kind == .descriptorRead }.map(\.1.payload)
                == [.value([0, 0]), .value([1, 0])]
        )
        #expect(air.reports.last?.1.event.failed == true)
    }

    @Test("Subscribing to a characteristic that does not notify fails")
    func subscribingNeedsNotify() throws {
        let air = try Air(plain)
        air.connect()
        air.operate(.setNotify(try air.handle("2A39"), true))
        air.run(for: .seconds(1))
        let answer = try #require(air.reports.last).1
        #expect(answer.event.kind == .notificationStateChanged)
        #expect(answer.event.failed)
    }

    // MARK: Faults

    @Test("Fault late-subscribe-answer: the answer comes that much later")
    func lateSubscribeAnswer() throws {
        let air = try Air(plain)
        air.connect()
        try air.radio.arm(fault: "late", device: "belt", at: air.now)
        air.operate(.setNotify(try air.handle(), true))
        air.run(for: .seconds(3))
        #expect(!air.kinds.contains(.notificationStateChanged))
        air.run(for: .seconds(1))
        #expect(air.kinds.contains(.notificationStateChanged))
    }

    @Test("Fault disconnect-after: the link drops with the last of so many notifications")
    func disconnectAfter() throws {
        let air = try Air(plain)
        air.connect()
        try air.radio.arm(fault: "drop", device: "belt", at: air.now)
        air.operate(.setNotify(try air.handle(), true))
        air.run(for: .seconds(100))
        #expect(air.values == [[1], [2]])
        #expect(air.kinds.last == .peripheralDisconnected)
        #expect(air.reports.last?.1.payload == .failure(.peripheralDisconnected))
    }

    @Test("Fault stale-handles: after the next link loss the old handles mean nothing")
    func staleHandles() throws {
        let air = try Air(plain)
        air.connect()
        let old = try air.handle("2A39")
        try air.radio.arm(fault: "stale", device: "belt", at: air.now)
        air.operate(.read(old))
        air.run(for: .seconds(1))
        #expect(air.reports.last?.1.payload == .value([0]))
        try air.radio.simulateDisconnect(device: "belt", at: air.now)
        air.connect()
        air.operate(.read(old))
        air.run(for: .seconds(1))
        #expect(air.reports.last?.1.payload == .failure(.invalidHandle))
        #expect(try air.handle("2A39") == old + 16)
    }

    @Test("Fault no-answer: nothing is answered, what was asked fails with the link, and all is well then")
    func noAnswer() throws {
        let air = try Air(plain)
        air.connect()
        try air.radio.arm(fault: "mute", device: "belt", at: air.now)
        air.operate(.readSignalStrength)
        air.run(for: .seconds(29))
        #expect(air.kinds == [.peripheralConnected])
        air.run(for: .seconds(2))
        #expect(air.kinds == [.peripheralConnected, .signalStrengthRead, .peripheralDisconnected])
        #expect(air.reports[1].1.payload == .failure(.peripheralDisconnected))
        air.connect()
        air.operate(.readSignalStrength)
        air.run(for: .seconds(1))
        #expect(air.reports.last?.1.payload == .signalStrength(-55))
    }

    @Test("Fault hold-notifications: the timetable stands still for that time")
    func holdNotifications() throws {
        let air = try Air(plain)
        air.connect()
        air.operate(.setNotify(try air.handle(), true))
        air.run(for: .seconds(11))
        try air.radio.arm(fault: "stuck", device: "belt", at: air.now)
        air.run(for: .seconds(100))
        #expect(air.notifications.count == 3)
        #expect(air.notifications[1].at.since(air.notifications[0].at) == .seconds(70))
        #expect(air.notifications[2].at.since(air.notifications[1].at) == .seconds(10))
    }

    @Test("Fault cut-values: notified values are cut")
    func cutValues() throws {
        let air = try Air(plain)
        air.connect()
        try air.radio.arm(fault: "cut", device: "belt", at: air.now)
        air.operate(.setNotify(try air.handle(), true))
        air.run(for: .seconds(11))
        #expect(air.values == [[]])
    }

    @Test("An unknown device, characteristic or fault is named")
    func unknownNames() throws {
        let air = try Air(plain)
        #expect(throws: SourceFailure(.unknown, "there is no device 'bell'; the scenario has belt")) {
            try air.radio.simulateDisconnect(device: "bell", at: .zero)
        }
        let fault = #expect(throws: SourceFailure.self) {
            try air.radio.arm(fault: "nothing", device: "belt", at: .zero)
        }
        #expect(fault?.message.contains("late, drop, stale") == true)
        let characteristic = "device belt has no characteristic 2A00; its file names them"
        #expect(throws: SourceFailure(.unknown, characteristic)) {
            try air.radio.simulateNotification(device: "belt", characteristic: "2A00", value: [], at: .zero)
        }
    }

    // MARK: Channels

    private var loggerText: String {
        let channel = """
            l2cap:
              - psm: 128
                echo: true
                send: [{after: 10s, values: ["01", "02", "03"], every: 10s}]
            faults:
              - {name: closes, close-channel-after: 2}
              - {name: refuses, refuse-channels: true}
            """
        return plain.split(separator: "faults:")[0] + channel
    }

    /// A logger that sends a value every ten seconds, its radio, and an open channel to it.
    private func logger() throws -> (Air, channel: Int32) {
        let air = try Air(loggerText)
        air.connect()
        air.operate(.openChannel(psm: 128))
        air.run(for: .seconds(1))
        let opened = try #require(air.reports.last).1
        return (air, try #require(air.radio.takeChannel(opened.event.local)))
    }

    /// What is there to read; empty at the end, nil when nothing is there yet.
    private func read(_ channel: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = unsafe recv(channel, &buffer, buffer.count, 0)
        return count < 0 ? nil : Array(buffer[..<count])
    }

    @Test("A radio that is restored from a snapshot goes on without its channel, and opens another")
    func channelInSnapshot() throws {
        let (air, channel) = try logger()
        defer { close(channel) }
        let restored = try restored(air, as: loggerText)
        for each in [air, restored] {
            each.run(for: .seconds(15))
            try each.radio.simulateDisconnect(device: "belt", at: each.now)
            each.connect()
            each.operate(.openChannel(psm: 128))
            each.run(for: .seconds(15))
        }
        #expect(restored.reports.map(\.at) == air.reports.map(\.at))
        #expect(restored.reports.map(\.1) == air.reports.map(\.1))
        let opened = try #require(restored.reports.last).1
        let next = try #require(restored.radio.takeChannel(opened.event.local))
        defer { close(next) }
        #expect(read(next) == [1])
    }

    @Test("A channel's values come at their time, and not out of range")
    func channelTimetable() throws {
        let (air, channel) = try logger()
        defer { close(channel) }
        #expect(read(channel) == nil)
        air.run(for: .seconds(10))
        #expect(read(channel) == [1])
        try air.radio.simulateRange(device: "belt", inRange: false, at: air.now)
        air.run(for: .milliseconds(500))
        try air.radio.simulateRange(device: "belt", inRange: true, at: air.now)
        air.run(for: .seconds(20))
        air.radio.look(at: air.now)
        #expect(read(channel) == [2, 3])
    }

    @Test("What an app writes into a channel without end goes as fast as the air carries it")
    func channelPace() throws {
        let (air, channel) = try logger()
        defer { close(channel) }
        let block = [UInt8](repeating: 7, count: 4_096)
        var taken = 0
        func fill() {
            while true {
                let count = unsafe send(channel, block, block.count, Int32(truncatingIfNeeded: MSG_DONTWAIT))
                if count <= 0 { break }
                taken += count
                air.radio.look(at: air.now)
                while let echoed = read(channel), !echoed.isEmpty {}
            }
        }
        fill()
        let burst = taken
        let end = air.now.advanced(by: .seconds(1))
        while let next = air.radio.nextDeadline, next <= end {
            air.run(for: next.since(air.now))
            fill()
        }
        // The socket was full before and is full after.
        #expect((90_000..<100_000).contains(taken - burst))
    }

    @Test("A channel ends with its link, after what was sent before")
    func channelEnds() throws {
        let (air, channel) = try logger()
        defer { close(channel) }
        air.run(for: .seconds(10))
        try air.radio.simulateDisconnect(device: "belt", at: air.now)
        #expect(read(channel) == [1])
        #expect(read(channel) == [])
        air.run(for: .seconds(100))
    }

    @Test("An app that closes its end of a channel leaves the link up")
    func channelClosed() throws {
        let (air, channel) = try logger()
        close(channel)
        air.radio.look(at: air.now)
        air.run(for: .seconds(100))
        #expect(!air.kinds.contains(.peripheralDisconnected))
    }

    @Test("Fault close-channel-after: the channel is closed with that value")
    func channelFault() throws {
        let (air, channel) = try logger()
        defer { close(channel) }
        try air.radio.arm(fault: "closes", device: "belt", at: air.now)
        air.run(for: .seconds(100))
        #expect(read(channel) == [1, 2])
        #expect(read(channel) == [])
    }

    @Test("Fault refuse-channels: no further channel is opened")
    func channelRefused() throws {
        let (air, channel) = try logger()
        defer { close(channel) }
        try air.radio.arm(fault: "refuses", device: "belt", at: air.now)
        air.operate(.openChannel(psm: 128))
        air.run(for: .seconds(1))
        #expect(air.reports.last?.1.payload == .failure(.channelRefused))
    }

    @Test("An app that writes more than the device sends back loses nothing that fits")
    func channelFull() throws {
        let (air, channel) = try logger()
        defer { close(channel) }
        let block = [UInt8](repeating: 7, count: 4_096)
        var sent = 0
        for _ in 0..<12 { sent += max(0, unsafe send(channel, block, block.count, 0)) }
        var got = 0
        for _ in 0..<200 {
            air.radio.look(at: air.now)
            while let bytes = read(channel), !bytes.isEmpty { got += bytes.count }
        }
        #expect(got == sent)
    }

    // MARK: Answers out of range

    @Test("What is asked out of range is answered once the packets come again, or fails with the link")
    func answersOutOfRange() throws {
        let air = try Air(plain)
        air.connect()
        for comesBack in [true, false] {
            let before = air.reports.count
            try air.radio.simulateRange(device: "belt", inRange: false, at: air.now)
            air.operate(.readSignalStrength)
            air.run(for: .milliseconds(600))
            #expect(air.reports.count == before)
            if comesBack { try air.radio.simulateRange(device: "belt", inRange: true, at: air.now) }
            air.run(for: .seconds(1))
            let answer = try #require(air.reports.dropFirst(before).first).1
            #expect(answer.event.failed == !comesBack)
            #expect(answer.payload == (comesBack ? .signalStrength(-55) : .failure(.peripheralDisconnected)))
        }
    }

    // MARK: Repeating itself

    @Test("The same seed gives the same reports at the same times, another seed others", arguments: [1, 99])
    func deterministic(seed: UInt64) throws {
        func play(_ seed: UInt64) throws -> [(at: Instant, SourceReport)] {
            let air = try Air(plain, count: 20, seed: seed)
            for number in 1...20 {
                air.perform(.connect(air.client, peripheral: air.names.intern("belt.\(number)")))
            }
            air.perform(.scan(air.other, services: [], allowDuplicates: true))
            air.run(for: .seconds(5))
            return air.reports
        }
        let (one, same, different) = (try play(seed), try play(seed), try play(seed + 1))
        #expect(one.map(\.at) == same.map(\.at))
        #expect(one.map(\.1) == same.map(\.1))
        #expect(one.map(\.at) != different.map(\.at))
    }

    @Test("Whatever is asked in whatever order, the radio stays consistent", arguments: 1...10)
    func randomCommands(seed: UInt64) throws {
        let air = try Air(plain, count: 3, seed: seed)
        var state = seed
        func below(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let clients = (0..<4).map { BluetoothClient(app: AppID(UInt32($0)), slot: 0) }
        let faults = ["late", "drop", "stale", "mute", "stuck", "cut", "nothing"]
        var linkIsUp: Set<NameID> = []
        var broken: [String] = []
        air.radio.report = { report in
            let name = report.event.peripheral
            switch report.event.kind {
            case .peripheralConnected: if report.event.client == nil { linkIsUp.insert(name) }
            case .peripheralDisconnected:
                if report.event.client == nil, linkIsUp.remove(name) == nil { broken.append("a loss without a link") }
            case .characteristicNotified:
                if !linkIsUp.contains(name) { broken.append("a notification without a link") }
            case .servicesModified:
                if !linkIsUp.contains(name) { broken.append("a change of services without a link") }
            case .bluetoothPoweredOff: linkIsUp.removeAll()
            case .bluetoothPoweredOn: break
            default: if report.event.client == nil { broken.append("an answer for nobody") }
            }
        }
        for _ in 0..<2000 {
            let client = clients[below(4)]
            let device = "belt.\(1 + below(4))"
            let name = air.names.intern(device)
            let handle = AttributeHandle(9 + below(24))
            switch below(22) {
            case 0...2: air.perform(.connect(client, peripheral: name))
            case 3: air.perform(.disconnect(client, peripheral: name))
            case 4: air.perform(.release(client))
            case 5:
                air.perform(
                    .scan(
                        client,
                        services: below(2) == 0 ? [] : [air.names.intern("180D")],
                        allowDuplicates: below(2) == 0
                    )
                )
            case 6: air.perform(.stopScan(client))
            case 7...9: air.perform(.operate(client, peripheral: name, .setNotify(handle, below(3) > 0)))
            case 10: air.perform(.operate(client, peripheral: name, .read(handle)))
            case 11: air.perform(.operate(client, peripheral: name, .write(handle, [1], withResponse: below(2) == 0)))
            case 12: air.perform(.operate(client, peripheral: name, .writeDescriptor(handle, [1])))
            case 13: air.perform(.operate(client, peripheral: name, .discoverCharacteristics(of: handle, [])))
            case 14: try? air.radio.simulateRange(device: device, inRange: below(2) == 0, at: air.now)
            case 15: try? air.radio.simulateDisconnect(device: device, at: air.now)
            case 16: try? air.radio.arm(fault: faults[below(7)], device: device, at: air.now)
            case 17: if below(8) == 0 { air.radio.setPower(below(3) > 0, at: air.now) }
            case 18:
                _ = try? air.radio.simulateNotification(device: device, characteristic: "2A37", value: [9], at: air.now)
            default: air.run(for: .milliseconds(Int64(below(4000))))
            }
        }
        air.run(for: .seconds(100))
        #expect(broken.isEmpty)
        #expect(Set(air.radio.connectedPeripherals(services: [air.names.intern("180D")])).isSubset(of: linkIsUp))
    }

    @Test("After stop nothing is reported and nothing is due")
    func stops() throws {
        let air = try Air(plain)
        air.connect()
        air.operate(.setNotify(try air.handle(), true))
        air.radio.stop()
        #expect(air.radio.nextDeadline == nil)
    }

    @Test("100 belts and 24 hours give 144 000 notifications")
    func manyNotifications() throws {
        let text = plain.replacing(
            #"- {after: 10s, values: ["01", "02", "03"], every: 10s}"#,
            with: "- {after: 10s, counter: {count: 1440, every: 1m}}"
        )
        let air = try Air(text, count: 100)
        var count = 0
        var last = Instant.zero
        var isInOrder = true
        var handles: [NameID: AttributeHandle] = [:]
        for number in 1...100 {
            air.perform(.connect(air.client, peripheral: air.names.intern("belt.\(number)")))
        }
        air.run(for: .seconds(1))
        for number in 1...100 {
            let name = air.names.intern("belt.\(number)")
            let known = try #require(air.radio.knownPeripheral(name))
            handles[name] = try #require(known.characteristics.first).handle
            air.perform(.operate(air.client, peripheral: name, .setNotify(handles[name] ?? 0, true)))
        }
        air.radio.report = { report in
            if air.now < last { isInOrder = false }
            last = air.now
            if report.event.kind == .characteristicNotified { count += 1 }
        }
        air.run(to: Instant(nanoseconds: 86_500_000_000_000))
        #expect(count == 144_000)
        #expect(isInOrder)
    }
}
