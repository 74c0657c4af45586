import BlueZStandIn
import Testing
import WakeBus
import WakeModel
import WakePorts
import WakeSystem

@testable import WakeBlueZ
@testable import WakeBluetooth
@testable import WakeDevices

private let heart = BluetoothClient(app: AppID(0), slot: 0)
private let log = BluetoothClient(app: AppID(1), slot: 0)
private let measurement: AttributeHandle = 0x0b
private let location: AttributeHandle = 0x0e

/// A stand-in bluetoothd, the real end of the port, and what it reported.
private final class Bench {
    static let belt = """
        device: bluetooth-peripheral
        name: HR Belt
        address: "F0:11:22:33:44:55"
        gatt:
          - service: 180D
            characteristics:
              - {uuid: 2A37, properties: [notify], stream: STREAM}
              - {uuid: 2A38, properties: [read, notify, write], value: "01"}
        """
    static let address = "F0:11:22:33:44:55"

    let bus: PrivateBus
    let bluez: StandInBlueZ
    let names = NameTable()
    let port: BlueZBluetooth
    let belt: NameID
    var reports: [SourceReport] = []

    init(
        stream: Bool = false,
        choice: BlueZAdapterChoice = .any,
        grace: Int64 = BlueZBluetooth.usualGrace,
        start: Bool = true,
        beside other: Bench? = nil
    ) throws {
        bus = try other?.bus ?? PrivateBus()
        bluez = other?.bluez ?? StandInBlueZ(bus: bus)
        let text = Self.belt.replacing("STREAM", with: stream ? "true" : "false")
        let peripheral = try BluetoothPeripheral.parse(Array(text.utf8), file: "belt.yaml")
        let device = ScenarioDevice(name: "belt", group: "belt", line: 1, form: .peripheral(peripheral))
        port = try BlueZBluetooth(
            devices: [device],
            names: names,
            loop: bus.loop,
            choice: choice,
            bus: .address(bus.address),
            grace: grace
        )
        belt = names.intern("belt")
        port.report = { [unowned self] in reports.append($0) }
        if start {
            if other == nil { try bluez.appear(powered: true) }
            try self.start()
        }
    }

    /// Without the question before the loop runs, which the stand-in on this very thread could not answer.
    func start() throws {
        try port.follow()
        try wait(for: "the adapter") { port.adapter.isReady }
    }

    func wait(for what: String, until condition: () -> Bool) throws {
        try bus.wait(for: what, until: condition)
    }

    func wait(for kind: EventKind, count: Int = 1) throws {
        try wait(for: "\(count) \(kind.word)") { events(kind).count >= count }
    }

    func events(_ kind: EventKind) -> [SourceReport] { reports.filter { $0.event.kind == kind } }

    func perform(_ command: BluetoothCommand) {
        let before = reports.count
        port.perform(command, at: .zero)
        #expect(reports.count == before, "a report came from inside perform")
    }

    func operate(_ operation: BluetoothOperation, for client: BluetoothClient = heart) {
        perform(.operate(client, peripheral: belt, operation))
    }

    func connect(_ client: BluetoothClient = heart) throws {
        let before = events(.peripheralConnected).count
        perform(.connect(client, peripheral: belt))
        try wait(for: .peripheralConnected, count: before + 1)
    }

    func subscribe(_ client: BluetoothClient = heart, to handle: AttributeHandle = measurement) throws {
        let before = events(.notificationStateChanged).count
        operate(.discoverServices([]), for: client)
        operate(.setNotify(handle, true), for: client)
        try wait(for: .notificationStateChanged, count: before + 1)
        #expect(events(.notificationStateChanged).last?.event.failed == false)
    }

    var values: [[UInt8]] {
        events(.characteristicNotified).map { report in
            if case .value(let value) = report.payload { value } else { [] }
        }
    }

    func notify(_ byte: UInt8) { bluez.notify(bluez.measurement(Self.address), [byte]) }

    func expectService() throws {
        try connect()
        try subscribe()
        let before = values.count
        notify(200)
        try wait(for: .characteristicNotified, count: before + 1)
        #expect(values.last == [200])
    }

    deinit { port.stop() }
}

@Suite(
    "Bluetooth through BlueZ",
    .enabled(if: PrivateBus.isInstalled, "dbus-daemon is missing: install the package dbus")
)
struct BlueZBluetoothTests {
    @Test("A scan finds the belt by its service, once, under its name in the scenario")
    func scan() throws {
        let bench = try Bench()
        let service = bench.names.intern("180D")
        bench.perform(.scan(heart, services: [service], allowDuplicates: false))
        try bench.wait(for: .peripheralDiscovered)
        bench.bluez.advertise(Bench.address)
        bench.perform(.scan(log, services: [], allowDuplicates: false))
        try bench.wait(for: .peripheralDiscovered, count: 2)
        #expect(bench.events(.peripheralDiscovered).map(\.event.client) == [heart, log])
        let found = try #require(bench.events(.peripheralDiscovered).first)
        #expect(found.event.peripheral == bench.belt)
        #expect(found.event.services == [service])
        guard case .advertisement(let said) = found.payload else { throw GaveUp(waitingFor: "an advertisement") }
        #expect(said.localName == "HR Belt")
        #expect(said.signalStrength == -60)
    }

    @Test("A name that bluetoothd did not hear before the first report is told once there is a link")
    func nameComesLater() throws {
        let bench = try Bench()
        bench.bluez.devices[Bench.address] = .belt
        bench.bluez.devices[Bench.address]?.name = nil
        bench.perform(.scan(heart, services: [bench.names.intern("180D")], allowDuplicates: false))
        try bench.wait(for: .peripheralDiscovered)
        guard case .advertisement(let said) = bench.events(.peripheralDiscovered).first?.payload else {
            throw GaveUp(waitingFor: "an advertisement")
        }
        #expect(said.localName == nil)
        #expect(bench.port.knownPeripheral(bench.belt)?.name == nil)
        bench.perform(.stopScan(heart))
        try bench.connect()
        #expect(bench.events(.nameChanged).isEmpty)
        bench.bluez.rename(Bench.address, to: "HR Belt")
        try bench.wait(for: .nameChanged)
        #expect(bench.events(.nameChanged).map(\.payload) == [.name("HR Belt")])
        #expect(bench.port.knownPeripheral(bench.belt)?.name == "HR Belt")
    }

    @Test("A link is closed though a phone of the same program holds one of the same object on another bus")
    func otherBus() throws {
        let (holders, first, second) = (BlueZLinkHolders(), try Bench(), try Bench())
        for bench in [first, second] {
            bench.port.adapter.holders = holders
            try bench.expectService()
        }
        second.perform(.disconnect(heart, peripheral: second.belt))
        try second.wait(for: "the link to end") { second.bluez.count("Disconnect") == 1 }
        #expect(first.bluez.count("Disconnect") == 0)
    }

    @Test("A link that two phones of one program hold is closed by the last of them, and a third one does not touch it")
    func twoPhones() throws {
        let (holders, first) = (BlueZLinkHolders(), try Bench())
        first.port.adapter.holders = holders
        try first.expectService()
        let second = try Bench(start: false, beside: first)
        second.port.adapter.holders = holders
        try second.start()
        try second.expectService()
        second.perform(.disconnect(heart, peripheral: second.belt))
        try second.wait(for: "no subscription") { second.bluez.count("StopNotify") == 1 }
        let third = try Bench(start: false, beside: first)
        third.port.adapter.holders = holders
        try third.start()
        third.port.stop()
        let before = first.values.count
        first.notify(9)
        try first.wait(for: .characteristicNotified, count: before + 1)
        #expect(first.bluez.count("Disconnect") == 0)
        #expect(first.events(.peripheralDisconnected).isEmpty)
        first.perform(.disconnect(heart, peripheral: first.belt))
        try first.wait(for: "the end of the link") { first.bluez.count("Disconnect") == 1 }
    }

    @Test("Who was subscribed of a service that went is not when it is back, until it subscribes again")
    func serviceReturns() throws {
        let bench = try Bench()
        try bench.expectService()
        guard let service = StandInDevice.belt.services.first else { throw GaveUp(waitingFor: "a service") }
        try bench.bluez.changeService(service, of: Bench.address, isThere: false)
        try bench.wait(for: .servicesModified)
        try bench.bluez.changeService(service, of: Bench.address, isThere: true)
        try bench.wait(for: .servicesModified, count: 2)
        let before = bench.values.count
        bench.notify(7)
        // Told after the value, so that this has come before anybody subscribes.
        bench.bluez.rename(Bench.address, to: "Another")
        try bench.wait(for: .nameChanged)
        try bench.subscribe()
        bench.notify(8)
        try bench.wait(for: .characteristicNotified, count: before + 1)
        #expect(bench.values.suffix(from: before) == [[8]])
        #expect(bench.bluez.count("StartNotify") == 2)
    }

    @Test("The filter names every app's services, or none as soon as one app wants all")
    func filter() throws {
        let bench = try Bench()
        bench.bluez.inReach = []
        bench.perform(.scan(heart, services: [bench.names.intern("180D")], allowDuplicates: false))
        try bench.wait(for: "the filter") { bench.bluez.isDiscovering }
        #expect(bench.bluez.filter?["Transport"]?.text == "le")
        #expect(bench.bluez.filter?["UUIDs"]?.texts == ["0000180d-0000-1000-8000-00805f9b34fb"])
        bench.perform(.scan(log, services: [], allowDuplicates: true))
        try bench.wait(for: "the wider filter") { bench.bluez.filter?["UUIDs"] == nil }
        #expect(bench.bluez.filter?["DuplicateData"]?.bool == true)
        bench.perform(.stopScan(heart))
        bench.perform(.stopScan(log))
        try bench.wait(for: "the end of the discovery") { !bench.bluez.isDiscovering }
    }

    @Test("A device that other programs look for is not reported to an app that looks for something else")
    func foreignSighting() throws {
        let bench = try Bench()
        bench.perform(.scan(heart, services: [bench.names.intern("180F")], allowDuplicates: false))
        bench.perform(.scan(log, services: [bench.names.intern("180D")], allowDuplicates: false))
        try bench.wait(for: .peripheralDiscovered)
        #expect(bench.events(.peripheralDiscovered).map(\.event.client) == [log])
    }

    @Test("The first app connects, the second finds the link up, and the last one ends it")
    func sharedLink() throws {
        let bench = try Bench()
        try bench.connect(heart)
        try bench.connect(log)
        #expect(bench.events(.peripheralConnected).map(\.event.client) == [nil, log])
        #expect(bench.bluez.count("Connect") == 1)
        bench.perform(.disconnect(heart, peripheral: bench.belt))
        try bench.wait(for: .peripheralDisconnected)
        #expect(bench.bluez.count("Disconnect") == 0)
        bench.perform(.disconnect(log, peripheral: bench.belt))
        try bench.wait(for: "the end of the link") { bench.bluez.count("Disconnect") == 1 }
        #expect(bench.events(.peripheralDisconnected).map(\.event.client) == [heart, log])
    }

    @Test("A link is asked for again after it came up and dropped at once")
    func abort() throws {
        let bench = try Bench()
        bench.bluez.connects = .abort
        try bench.connect()
        #expect(bench.events(.peripheralConnected).count == 1)
        #expect(bench.bluez.count("Connect") >= 2)
        #expect(bench.events(.peripheralDisconnected).isEmpty)
    }

    @Test("A link of which bluetoothd sends no signal is found by asking, and its end is heard")
    func unsaid() throws {
        let bench = try Bench()
        bench.bluez.connects = .unsaid
        try bench.connect()
        #expect(bench.bluez.count("Connect") == 1)
        try bench.bluez.dropLink(Bench.address)
        try bench.wait(for: .peripheralDisconnected)
    }

    @Test("A connection waits for a peripheral that is away until it is heard")
    func awaited() throws {
        let bench = try Bench()
        bench.bluez.inReach = []
        bench.perform(.connect(heart, peripheral: bench.belt))
        try bench.wait(for: "looking for it") { bench.bluez.isDiscovering }
        bench.bluez.advertise(Bench.address)
        try bench.wait(for: .peripheralConnected)
    }

    @Test(
        "An app that waits for a peripheral by its address alone holds the link",
        arguments: ["F0:11:22:33:44:99", "10:11:22:33:44:99"]
    )
    func addressed(address: String) throws {
        let bench = try Bench()
        let name = bench.names.intern(address)
        bench.perform(.connect(heart, peripheral: name))
        bench.perform(.scan(heart, services: [], allowDuplicates: false))
        bench.bluez.inReach = [address]
        bench.bluez.advertise(address)
        try bench.wait(for: .peripheralConnected)
        bench.perform(.operate(heart, peripheral: name, .discoverServices([])))
        try bench.wait(for: .servicesDiscovered)
        #expect(bench.events(.servicesDiscovered).first?.event.failed == false)
        #expect(bench.events(.peripheralConnected).map(\.event.peripheral) == [name])
    }

    @Test("BCN-2: an attempt to connect that nobody answers leaves time to listen for beacons, and is made again")
    func listensBetweenAttempts() throws {
        let bench = try Bench()
        bench.port.adapter.sharing = .init(attempt: .milliseconds(100), listening: 50)
        let beacons = bench.names.intern("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")
        bench.port.watchBeacons([BeaconIdentity(uuid: beacons)], at: .zero)
        try bench.wait(for: "listening") { bench.bluez.isDiscovering }
        bench.bluez.held = ["Connect"]
        bench.perform(.connect(heart, peripheral: bench.belt))
        try bench.wait(for: "an attempt") { bench.bluez.count("Connect") == 1 }
        #expect(!bench.bluez.isDiscovering)
        try bench.wait(for: "listening again") { bench.bluez.isDiscovering }
        #expect(bench.bluez.count("Disconnect") == 1)
        bench.bluez.held = []
        try bench.wait(for: .peripheralConnected)
    }

    @Test("Attributes are found only once the table is complete")
    func resolved() throws {
        let bench = try Bench()
        try bench.connect()
        bench.operate(.discoverServices([]))
        try bench.wait(for: .servicesDiscovered)
        let service = GATTService(uuid: "180D", handle: 0x0a)
        #expect(bench.events(.servicesDiscovered).first?.payload == .services([service]))
        bench.operate(.discoverCharacteristics(of: 0x0a, [bench.names.intern("2A37")]))
        try bench.wait(for: .characteristicsDiscovered)
        let found = GATTCharacteristic(uuid: "2A37", handle: measurement, properties: 16, service: 0x0a)
        #expect(bench.events(.characteristicsDiscovered).first?.payload == .characteristics([found]))
        bench.operate(.read(0x77))
        try bench.wait(for: .valueRead)
        #expect(bench.events(.valueRead).first?.payload == .failure(.invalidHandle))
    }

    @Test("Two apps share one subscription, and the last one ends it")
    func sharedNotifications() throws {
        let bench = try Bench()
        try bench.connect(heart)
        try bench.connect(log)
        try bench.subscribe(heart)
        try bench.subscribe(log)
        #expect(bench.bluez.count("StartNotify") == 1)
        bench.notify(1)
        bench.notify(2)
        try bench.wait(for: .characteristicNotified, count: 2)
        #expect(bench.values == [[1], [2]])
        #expect(bench.events(.characteristicNotified).allSatisfy { $0.event.client == nil })
        bench.operate(.setNotify(measurement, false), for: heart)
        try bench.wait(for: .notificationStateChanged, count: 3)
        #expect(bench.bluez.count("StopNotify") == 0)
        bench.operate(.setNotify(measurement, false), for: log)
        try bench.wait(for: "the end of the subscription") { bench.bluez.count("StopNotify") == 1 }
    }

    @Test("A stream comes through a socket of its own, drained in order")
    func acquired() throws {
        let bench = try Bench(stream: true)
        try bench.connect()
        try bench.subscribe()
        #expect(bench.port.notificationPath(of: bench.belt, measurement) == .acquireNotify)
        for byte in 0..<20 { bench.notify(UInt8(byte)) }
        try bench.wait(for: .characteristicNotified, count: 20)
        #expect(bench.values == (0..<20).map { [UInt8($0)] })
        #expect(bench.bluez.count("StartNotify") == 0)
        let origin = try #require(bench.events(.characteristicNotified).first?.event.origin)
        #expect(bench.names.text(origin) == "bluez:AcquireNotify")
    }

    @Test("A socket that is refused falls back to signals", arguments: ["InProgress", "NotPermitted", "NotSupported"])
    func acquireRefused(error: String) throws {
        let bench = try Bench(stream: true)
        bench.bluez.acquireError = error
        try bench.connect()
        try bench.subscribe()
        #expect(bench.port.notificationPath(of: bench.belt, measurement) == .startNotify)
        bench.notify(7)
        try bench.wait(for: .characteristicNotified)
        #expect(bench.values == [[7]])
    }

    @Test("What is notified right before the link drops is not lost")
    func lastValue() throws {
        let bench = try Bench(stream: true)
        try bench.connect()
        try bench.subscribe()
        bench.notify(1)
        try bench.bluez.dropLink(Bench.address)
        try bench.wait(for: .peripheralDisconnected)
        #expect(bench.values == [[1]])
        #expect(bench.reports.last?.event.kind == .peripheralDisconnected)
    }

    /// A bench that heard so many values of a stream, each right after the one before.
    private func streaming(values: UInt8) throws -> Bench {
        let bench = try Bench(stream: true)
        try bench.connect()
        try bench.subscribe()
        for value in 1...values {
            bench.notify(value)
            try bench.wait(for: .characteristicNotified, count: Int(value))
        }
        return bench
    }

    @Test("What a fast stream brought before an answer is told before it")
    func gatheredBeforeAnswer() throws {
        let bench = try streaming(values: 2)
        bench.notify(3)
        bench.operate(.read(location))
        try bench.wait(for: .valueRead)
        #expect(bench.values == [[1], [2], [3]])
        #expect(bench.reports.last?.event.kind == .valueRead)
    }

    @Test("What a fast stream brought before the link drops is told before that")
    func gatheredBeforeDisconnection() throws {
        let bench = try streaming(values: 2)
        bench.notify(3)
        try bench.bluez.dropLink(Bench.address)
        try bench.wait(for: .peripheralDisconnected)
        #expect(bench.values == [[1], [2], [3]])
        #expect(bench.reports.last?.event.kind == .peripheralDisconnected)
    }

    @Test("A fast stream that slows down is heard on")
    func slowingStream() throws {
        let bench = try streaming(values: 6)
        #expect(bench.values == (1...6).map { [UInt8($0)] })
    }

    @Test("A read's echo is no notification, and what is notified meanwhile is")
    func echo() throws {
        let bench = try Bench()
        try bench.connect()
        try bench.subscribe(to: location)
        bench.bluez.held = ["ReadValue"]
        bench.operate(.read(location))
        try bench.wait(for: "the read") { bench.bluez.heldCalls.count == 1 }
        bench.bluez.notify(bench.bluez.devicePath(Bench.address) + "/service000a/char000e", [9])
        bench.bluez.releaseHeld()
        try bench.wait(for: .valueRead)
        #expect(bench.values == [[9]])
        #expect(bench.events(.valueRead).first?.payload == .value([1]))
    }

    @Test("Operations on one characteristic go out one at a time, and are answered in order")
    func serialised() throws {
        let bench = try Bench()
        try bench.connect()
        bench.bluez.held = ["ReadValue"]
        bench.operate(.read(location))
        bench.operate(.write(location, [2], withResponse: true))
        try bench.wait(for: "the read") { bench.bluez.heldCalls.count == 1 }
        #expect(bench.bluez.count("WriteValue") == 0)
        bench.bluez.releaseHeld()
        try bench.wait(for: .valueWritten)
        let answers = bench.reports.map(\.event.kind).filter { $0 == .valueRead || $0 == .valueWritten }
        #expect(answers == [.valueRead, .valueWritten])
    }

    @Test("An operation in flight fails when the link drops, before the disconnection is told")
    func inFlight() throws {
        let bench = try Bench()
        try bench.connect()
        bench.bluez.held = ["ReadValue"]
        bench.operate(.read(location))
        try bench.wait(for: "the read") { bench.bluez.heldCalls.count == 1 }
        try bench.bluez.dropLink(Bench.address, reason: "org.bluez.Reason.Timeout")
        try bench.wait(for: .peripheralDisconnected)
        #expect(bench.reports.suffix(2).map(\.event.kind) == [.valueRead, .peripheralDisconnected])
        #expect(bench.events(.valueRead).first?.payload == .failure(.peripheralDisconnected))
        #expect(bench.events(.peripheralDisconnected).first?.payload == .failure(.connectionTimeout))
        bench.bluez.releaseHeld()
    }

    @Test("After a restart of bluetoothd there is one disconnection, and service again")
    func restart() throws {
        let bench = try Bench()
        try bench.connect(heart)
        try bench.connect(log)
        try bench.subscribe()
        bench.bluez.vanish()
        try bench.wait(for: .peripheralDisconnected)
        bench.perform(.connect(heart, peripheral: bench.belt))
        try bench.bluez.appear()
        try bench.wait(for: .peripheralConnected, count: 3)
        try bench.subscribe()
        bench.notify(5)
        try bench.wait(for: .characteristicNotified)
        #expect(bench.values == [[5]])
        #expect(bench.events(.peripheralDisconnected).count == 1)
        #expect(bench.events(.bluetoothPoweredOff).isEmpty)
        #expect(bench.port.adapter.generation == 1)
    }

    @Test("A link that a dead bluetoothd left behind is not taken for a new one")
    func staleLink() throws {
        let bench = try Bench()
        try bench.connect()
        bench.bluez.vanish()
        try bench.wait(for: .peripheralDisconnected)
        bench.perform(.connect(heart, peripheral: bench.belt))
        try bench.bluez.appear(powered: true)
        bench.bluez.advertise(Bench.address, connected: true)
        try bench.wait(for: "the adapter") { bench.port.adapter.isReady }
        try bench.bluez.dropLink(Bench.address)
        try bench.wait(for: .peripheralConnected, count: 2)
        try bench.subscribe()
        #expect(bench.events(.peripheralDisconnected).count == 1)
    }

    @Test("A link that comes up at once after a restart and drops is not told")
    func dyingLink() throws {
        let bench = try Bench()
        try bench.connect()
        bench.bluez.vanish()
        try bench.wait(for: .peripheralDisconnected)
        bench.perform(.connect(heart, peripheral: bench.belt))
        bench.bluez.connects = .leaveUnresolved
        try bench.bluez.appear(powered: true)
        try bench.wait(for: "the second attempt") { bench.bluez.count("Connect") == 2 }
        try bench.wait(for: "its answer") {
            bench.port.adapter.objects.properties(bench.bluez.devicePath(Bench.address), BlueZName.device)?["Connected"]
                == .bool(true)
        }
        try bench.bluez.dropLink(Bench.address)
        try bench.wait(for: .peripheralConnected, count: 2)
        try bench.subscribe()
        #expect(bench.events(.peripheralDisconnected).count == 1)
        #expect(bench.events(.peripheralConnected).count == 2)
    }

    @Test("A wanted link that another program makes is taken over")
    func foreignLink() throws {
        let bench = try Bench()
        bench.bluez.inReach = []
        bench.perform(.connect(heart, peripheral: bench.belt))
        try bench.wait(for: "looking for it") { bench.bluez.isDiscovering }
        bench.bluez.advertise(Bench.address, connected: true)
        bench.bluez.resolve(Bench.address)
        try bench.wait(for: .peripheralConnected)
        try bench.subscribe()
        #expect(bench.bluez.count("Connect") == 0)
    }

    @Test("The answer of an earlier bluetoothd is not listened to")
    func lateAnswer() throws {
        let bench = try Bench()
        bench.bluez.held = ["Connect"]
        bench.perform(.connect(heart, peripheral: bench.belt))
        try bench.wait(for: "the attempt") { bench.bluez.heldCalls.count == 1 }
        bench.bluez.vanish()
        bench.bluez.held = []
        try bench.bluez.appear()
        try bench.wait(for: .peripheralConnected)
        #expect(bench.events(.peripheralConnected).count == 1)
        #expect(bench.events(.peripheralDisconnected).isEmpty)
        try bench.subscribe()
    }

    @Test(
        "An adapter that comes back as another hci is found by its address, and switched on",
        arguments: [true, false]
    )
    func renumbered(listsChildren: Bool) throws {
        let bench = try Bench(choice: .address("00:aa:01:00:00:00"))
        bench.bluez.listsChildren = listsChildren
        try bench.connect()
        try bench.subscribe()
        try bench.bluez.removeAdapter(sayingOff: listsChildren)
        try bench.wait(for: .peripheralDisconnected)
        bench.perform(.connect(heart, peripheral: bench.belt))
        try bench.wait(for: "its absence") { !bench.port.adapter.isReady }
        bench.bluez.powerRefusals = 2
        bench.bluez.addAdapter(index: 2)
        try bench.wait(for: "the adapter") { bench.port.adapter.isReady }
        #expect(bench.port.adapter.path == "/org/bluez/hci2")
        try bench.wait(for: .peripheralConnected, count: 2)
        try bench.subscribe()
        bench.notify(1)
        try bench.wait(for: .characteristicNotified)
        #expect(bench.events(.peripheralDisconnected).count == 1)
        #expect(bench.events(.bluetoothPoweredOff).isEmpty)
    }

    @Test("BTC-10: an adapter that somebody switches off is off, and is not switched on again behind their back")
    func switchedOff() throws {
        let bench = try Bench(grace: 20)
        try bench.connect()
        bench.bluez.switchOff()
        try bench.wait(for: .bluetoothPoweredOff)
        #expect(bench.events(.peripheralDisconnected).count == 1)
        #expect(bench.bluez.count("Set") == 0)
    }

    @Test("Another adapter is not taken for the one that is wanted")
    func otherAdapter() throws {
        let bench = try Bench(choice: .address("00:AA:01:00:00:00"))
        try bench.bluez.removeAdapter()
        try bench.wait(for: "its absence") { !bench.port.adapter.isReady }
        bench.bluez.adapterAddress = "00:AA:01:00:00:01"
        bench.bluez.addAdapter(index: 1, powered: true)
        bench.bluez.adapterAddress = "00:AA:01:00:00:00"
        bench.bluez.addAdapter(index: 3, powered: true)
        try bench.wait(for: "the adapter") { bench.port.adapter.isReady }
        #expect(bench.port.adapter.path == "/org/bluez/hci3")
    }

    @Test("An adapter that stays away counts as Bluetooth off, and on when it is back; a note says each")
    func absence() throws {
        let bench = try Bench(grace: 20)
        var notes: [String] = []
        bench.port.note = { notes.append($0) }
        try bench.connect()
        try bench.bluez.removeAdapter()
        try bench.wait(for: .bluetoothPoweredOff)
        #expect(!bench.port.poweredOn)
        bench.bluez.addAdapter()
        try bench.wait(for: .bluetoothPoweredOn)
        try bench.expectService()
        let gone = "the adapter is gone; apps are told of it unless it is back within 20 ms"
        #expect(notes == [gone, "the adapter is there again"].map { "bluetooth=bluez: \($0)" })
    }

    @Test("BTC-10: a power step is silent for links, and told once each way")
    func power() throws {
        let bench = try Bench()
        try bench.connect()
        bench.port.setPower(false, at: .zero)
        try bench.wait(for: .bluetoothPoweredOff)
        #expect(bench.events(.peripheralDisconnected).isEmpty)
        bench.port.setPower(true, at: .zero)
        try bench.wait(for: .bluetoothPoweredOn)
        #expect(bench.reports.suffix(2).map(\.event.kind) == [.bluetoothPoweredOff, .bluetoothPoweredOn])
        try bench.expectService()
    }

    @Test("A device whose object goes has lost its link, whether or not that was said")
    func objectGone() throws {
        let bench = try Bench()
        try bench.connect()
        try bench.bluez.removeDevice(Bench.address)
        try bench.wait(for: .peripheralDisconnected)
        #expect(bench.events(.peripheralDisconnected).first?.event.failed == true)
    }

    @Test("A link left over from an earlier run is closed at the start, another program's is left alone")
    func leftOver() throws {
        let bench = try Bench(start: false)
        try bench.bluez.appear(powered: true)
        bench.bluez.advertise(Bench.address, connected: true)
        bench.bluez.advertise("F0:99:99:99:99:99", connected: true)
        try bench.start()
        try bench.wait(for: "its end") { bench.bluez.count("Disconnect") == 1 }
        bench.operate(.readSignalStrength)
        try bench.wait(for: .signalStrengthRead)
        #expect(
            bench.bluez.calls.filter { $0.hasPrefix("Disconnect") } == [
                "Disconnect \(bench.bluez.devicePath(Bench.address))"
            ]
        )
    }

    @Test("Disconnecting and connecting again makes a new link")
    func again() throws {
        let bench = try Bench()
        try bench.connect()
        bench.perform(.disconnect(heart, peripheral: bench.belt))
        bench.perform(.connect(heart, peripheral: bench.belt))
        try bench.wait(for: .peripheralConnected, count: 2)
        #expect(bench.bluez.count("Connect") == 2)
        #expect(bench.events(.peripheralDisconnected).map(\.event.failed) == [false])
        try bench.subscribe()
    }

    @Test("LAUNCH-2: an app that is let go ends its discovery, its notifications and, when it was the last, the link")
    func released() throws {
        let bench = try Bench()
        try bench.connect(heart)
        try bench.connect(log)
        try bench.subscribe(heart)
        bench.perform(.scan(heart, services: [bench.names.intern("1810")], allowDuplicates: false))
        try bench.wait(for: "the discovery") { bench.bluez.isDiscovering }
        bench.perform(.release(heart))
        try bench.wait(for: "the end of the discovery") { !bench.bluez.isDiscovering }
        try bench.wait(for: "the end of the notifications") { bench.bluez.count("StopNotify") == 1 }
        #expect(bench.bluez.count("Disconnect") == 0)
        bench.perform(.release(log))
        try bench.wait(for: "the end of the link") { bench.bluez.count("Disconnect") == 1 }
        #expect(bench.events(.peripheralDisconnected).isEmpty)
    }

    @Test("LAUNCH-2: a request for a link that is let go is not made when its device appears")
    func releasedRequest() throws {
        let bench = try Bench()
        bench.bluez.inReach = []
        bench.perform(.connect(heart, peripheral: bench.belt))
        try bench.wait(for: "the discovery") { bench.bluez.isDiscovering }
        bench.perform(.release(heart))
        try bench.wait(for: "the end of the discovery") { !bench.bluez.isDiscovering }
        #expect(bench.bluez.count("Connect") == 0)
    }

    static let failures: [(BusError, BluetoothFailure.Domain, Int32)] = [
        (BusError(name: "org.bluez.Error.NotConnected", message: "Not Connected"), .core, 7),
        (BusError(name: "org.freedesktop.DBus.Error.UnknownObject", message: "gone"), .att, 1),
        (BusError(name: "org.bluez.Error.NotPermitted", message: "Read not permitted"), .att, 2),
        (BusError(name: "org.bluez.Error.NotPermitted", message: "Write not permitted"), .att, 3),
        (BusError(name: "org.bluez.Error.NotAuthorized", message: "Not Authorized"), .att, 8),
        (BusError(name: "org.bluez.Error.NotSupported", message: "Operation is not supported"), .att, 6),
        (BusError(name: "org.bluez.Error.Failed", message: "Operation failed with ATT error: 0x80"), .att, 0x80),
        (BusError(name: "org.bluez.Error.Failed", message: "Operation failed with ATT error: 0xzz"), .att, 14),
        (BusError(name: "", message: ""), .att, 14),
    ]

    @Test("BlueZ's errors have their codes among Apple's", arguments: failures)
    func errorCodes(error: BusError, domain: BluetoothFailure.Domain, code: Int32) {
        let failure = BlueZBluetooth.failure(error)
        #expect(failure.domain == domain)
        #expect(failure.code == code)
    }

    @Test("No bluetoothd, and no adapter, are each one clear line")
    func missing() throws {
        let bench = try Bench(start: false)
        let none = #expect(throws: SourceFailure.self) { try bench.port.start(at: .zero) }
        #expect(none?.kind == .environment)
        #expect(none?.message.contains("bluetoothd") == true)
        #expect(none?.message.contains("\n") == false)
    }
}
