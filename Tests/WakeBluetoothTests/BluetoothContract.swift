import Glibc
import Testing
import WakeDevices
import WakeModel
import WakePorts

/// A radio within reach of a heart-rate belt, a thermometer and a logger as `Devices/Bluetooth` describes them, and time that can
/// be made to pass.
final class ContractRig {
    let port: any BluetoothCentralPort
    let names: NameTable
    /// The peripheral's name to the router.
    let belt: NameID
    let thermometer: NameID
    let logger: NameID
    let door: NameID
    let stranger: NameID
    let meter: NameID
    let uart: NameID
    /// What happens to the belt, beside what its file says.
    let fate: Fate
    private(set) var reports: [SourceReport] = []
    /// The time commands are given at.
    private let now: () -> Instant
    /// Lets time pass until the condition holds; false when it does not within half a minute.
    private let pass: (_ until: () -> Bool) -> Bool

    /// What a test does to the belt.
    struct Fate {
        /// The belt leaves the radio's reach, or comes back.
        var setRange: (_ inRange: Bool) throws -> Void
        /// The belt drops its link.
        var dropLink: () throws -> Void
        /// The belt's battery service goes, or comes.
        var setBattery: (_ isThere: Bool) throws -> Void
        /// The belt takes another name, `Belt 2`.
        var rename: (_ name: String) throws -> Void
    }

    let first = BluetoothClient(app: AppID(0), slot: 0)
    let second = BluetoothClient(app: AppID(1), slot: 0)

    init(
        port: any BluetoothCentralPort,
        names: NameTable,
        fate: Fate,
        now: @escaping () -> Instant,
        pass: @escaping (_ until: () -> Bool) -> Bool
    ) {
        self.port = port
        self.names = names
        self.fate = fate
        belt = names.intern("belt")
        thermometer = names.intern("thermometer")
        logger = names.intern("logger")
        door = names.intern("door")
        stranger = names.intern("stranger")
        meter = names.intern("meter")
        uart = names.intern("uart")
        self.now = now
        self.pass = pass
        port.report = { [unowned self] in reports.append($0) }
    }

    /// The devices as their files describe them.
    static func devices() throws -> [ScenarioDevice] {
        let folder = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/Devices/Bluetooth/"
        let files = [
            ("belt", "heart-rate-belt"), ("thermometer", "thermometer"), ("logger", "l2cap-sensor"),
            ("door", "smart-lock"), ("meter", "glucose-meter"), ("uart", "nordic-uart"),
        ]
        let peripherals = try files.map { name, file in
            let peripheral = try BluetoothPeripheral.load(file: folder + file + ".yaml")
            return ScenarioDevice(name: name, group: name, line: 1, form: .peripheral(peripheral))
        }
        let beacon = try Beacon.parse(Array(shop.utf8), file: "shop.yaml")
        let stranger = try BluetoothPeripheral.parse(Array(refusing.utf8), file: "stranger.yaml")
        return peripherals + [
            ScenarioDevice(name: "stranger", group: "stranger", line: 1, form: .peripheral(stranger)),
            ScenarioDevice(name: "shop", group: "shop", line: 1, form: .beacon(beacon)),
        ]
    }

    /// A peripheral that does not pair.
    private static let refusing = """
        device: bluetooth-peripheral
        address: "F0:11:22:33:99:99"
        pairing: reject
        gatt:
          - service: 181C
            characteristics:
              - {uuid: 2A8A, properties: [read], security: encrypted, value: "41"}
              - {uuid: 2A8B, properties: [write-without-response]}
        """

    /// A beacon that stands two metres away.
    private static let shop = """
        device: ibeacon
        address: "C2:5B:00:00:00:01"
        uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0
        major: 1
        minor: 7
        distance: [{metres: 2}]
        """

    /// The beacons of that one's UUID.
    var shopBeacons: BeaconIdentity { BeaconIdentity(uuid: names.intern("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")) }

    func perform(_ command: BluetoothCommand) { port.perform(command, at: now()) }

    func watchBeacons(_ beacons: [BeaconIdentity]) { port.watchBeacons(beacons, at: now()) }

    func setPower(_ on: Bool) { port.setPower(on, at: now()) }

    /// The reports so far that fit.
    func all(_ kind: EventKind, for client: BluetoothClient? = nil) -> [SourceReport] {
        reports.filter { $0.event.kind == kind && (client == nil || $0.event.client == client) }
    }

    /// Waits for the `count`th report of a kind; for one client's when it is given.
    @discardableResult
    func wait(for kind: EventKind, _ client: BluetoothClient? = nil, count: Int = 1) throws -> SourceReport {
        let came = pass { self.all(kind, for: client).count >= count }
        try #require(came, "no \(kind.word) number \(count) came; heard \(reports.map(\.event.kind.word))")
        return all(kind, for: client)[count - 1]
    }

    /// The reports of sightings of a peripheral to a client.
    func sightings(of peripheral: NameID, by client: BluetoothClient) -> Int {
        all(.peripheralDiscovered, for: client).filter { $0.event.peripheral == peripheral }.count
    }

    /// Waits for the `count`th sighting of a peripheral by a client.
    func waitForSighting(of peripheral: NameID, by client: BluetoothClient, count: Int = 1) throws {
        let came = pass { self.sightings(of: peripheral, by: client) >= count }
        try #require(came, "sighting \(count) did not come; heard \(reports.map(\.event.kind.word))")
    }

    /// Connects a client and waits until it is told.
    func connect(_ client: BluetoothClient, to peripheral: NameID? = nil) throws {
        let heard = { self.all(.peripheralConnected).filter { [nil, client].contains($0.event.client) }.count }
        let before = heard()
        perform(.connect(client, peripheral: peripheral ?? belt))
        let came = pass { heard() > before }
        try #require(came, "the client was not told of its connection")
    }

    /// The handle of a characteristic, found as an app finds it.
    func characteristic(_ uuid: String, of service: String, for client: BluetoothClient, on other: NameID? = nil) throws
        -> AttributeHandle
    {
        let peripheral = other ?? belt
        let services = all(.servicesDiscovered, for: client).count
        perform(.operate(client, peripheral: peripheral, .discoverServices([names.intern(service)])))
        let found = try wait(for: .servicesDiscovered, client, count: services + 1)
        guard case .services(let list) = found.payload, let handle = list.first?.handle else {
            throw SourceFailure(.unknown, "service \(service) was not found")
        }
        let characteristics = all(.characteristicsDiscovered, for: client).count
        let wanted = [names.intern(uuid)]
        perform(.operate(client, peripheral: peripheral, .discoverCharacteristics(of: handle, wanted)))
        let answer = try wait(for: .characteristicsDiscovered, client, count: characteristics + 1)
        guard case .characteristics(let members) = answer.payload, let member = members.first else {
            throw SourceFailure(.unknown, "characteristic \(uuid) was not found")
        }
        return member.handle
    }

    /// Opens a channel to the logger, and waits for the answer.
    func openChannel(_ psm: UInt16) throws -> SourceReport {
        try connect(first, to: logger)
        perform(.operate(first, peripheral: logger, .openChannel(psm: psm)))
        return try wait(for: .channelOpened, first)
    }

    /// Reads from a channel until so many bytes came.
    func read(_ count: Int, from descriptor: Int32) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let came = pass {
            self.port.look(at: self.now())
            var buffer = [UInt8](repeating: 0, count: 64)
            let got = unsafe recv(descriptor, &buffer, buffer.count, Int32(truncatingIfNeeded: MSG_DONTWAIT))
            if got > 0 { bytes += buffer[..<got] }
            return bytes.count >= count
        }
        try #require(came, "\(bytes.count) of \(count) bytes came")
        return bytes
    }

    /// Subscribes a connected client to the heart rate and waits for the answer.
    @discardableResult
    func subscribe(_ client: BluetoothClient) throws -> AttributeHandle {
        let handle = try characteristic("2A37", of: "180D", for: client)
        let before = all(.notificationStateChanged, for: client).count
        perform(.operate(client, peripheral: belt, .setNotify(handle, true)))
        try wait(for: .notificationStateChanged, client, count: before + 1)
        return handle
    }
}

/// What the simulated radio and BlueZ promise alike: each is kept by every backend.
enum BluetoothPromise: String, CaseIterable, CustomTestStringConvertible {
    case sightingOnce = "A scan reports a matching peripheral once, to the scanner, with its services"
    case sightingMatches = "A scan for a service that is not advertised finds nothing"
    case sightingAgain = "Each scan reports a peripheral anew"
    case connectionIsShared = "A second client on a standing link is told at once, and it alone"
    case discoveryGivesTable = "Discovery gives canonical UUIDs and the subject names the attribute"
    case answersInOrder = "Operations are answered in the order in which they were asked, each to its asker"
    case readsValue = "A read gives the value"
    case refusesUnknownHandle = "An unknown handle fails with an ATT error"
    case refusesUnconnected = "An operation without a connection fails with notConnected"
    case notifiesOnce = "A notification is one report for all subscribers"
    case unsubscribingIsOwn = "A client that unsubscribes takes nothing from the others"
    case lastLetsGo = "The link goes when its last client let go"
    case disconnectAnswersAsker = "Who gives up a connection is told, without failure and alone"
    case releaseIsSilent = "Releasing a client is silent"
    case releaseKeeps = "BTC-8: who is released but for a peripheral goes on hearing of it, and of no scan"
    case releaseLeavesOthers = "LAUNCH-2: who is released leaves the link and the values of the others"
    case powerOff = "BTC-10: power off ends every link with one report, and forgets requests and scans"
    case powerOn = "BTC-10: power on is reported, and scans work again"
    case emptyListFindsAll = "A scan without services finds every peripheral"
    case duplicatesRepeat = "A scan with duplicates reports a peripheral again and again, and only to who wants that"
    case connectedIsSilent = "A peripheral with a link is not seen"
    case outOfRangeIsUnseen = "What is out of range is not found"
    case requestAwaitsRange = "BTC-5: a connection request waits until the peripheral comes into range"
    case cancelAnswers = "Who gives up a request that still waits is told of a disconnection, without failure and alone"
    case operationFailsWithLink = "An operation in flight fails when the link drops, and then the disconnection is told"
    case channelCarriesBytes = "An opened channel is a stream to the device, given away once"
    case channelIsRefused = "A channel that the device does not offer is refused"
    case beaconIsSighted = "BCN-1: a beacon that is looked for is reported with what it says and how far away it is"
    case beaconIsAskedFor = "A beacon that nobody looks for is not reported, and no scan finds one"
    case beaconLeavesScans = "Looking for beacons leaves scans as they are"
    case pairsForAttribute = "A secured attribute makes the phone pair, and the operation is made again"
    case pairingIsRefused = "An operation on a secured attribute fails when the pairing is refused"
    case connectionIsWatched = "Who watches connections hears of them, whoever holds them"
    case commandsFillQueue = "Write commands fill a queue, and who filled it hears once that there is room again"
    case commandsAreLost = "A write command beyond the queue's room is lost, and nothing tells of the others"
    case servicesGo = "A service that goes is told to everyone connected, and its handles mean nothing"
    case servicesCome = "A service that comes is told to everyone connected, and found"
    case nameChanges = "Another name is told to everyone connected, and known from then on"
    case knowsPeripheral = "A peripheral is known once it was seen, and its table once it was discovered"

    case answersWrites = "A device that answers a write does so after the response, in the order of its file"
    case refusesWrites = "A write that a device refuses fails with its ATT error"
    case knowsLongestCommand = "The longest write command is what the MTU leaves, and 20 bytes without a link"
    case sendsFragments = "A value that a device sends in fragments comes in as many as the MTU asks for"

    var testDescription: String { rawValue }

    func check(_ rig: ContractRig) throws {
        switch self {
        case .sightingOnce: try sightingOnce(rig)
        case .sightingMatches: try sightingMatches(rig)
        case .sightingAgain: try sightingAgain(rig)
        case .connectionIsShared: try connectionIsShared(rig)
        case .discoveryGivesTable: try discoveryGivesTable(rig)
        case .answersInOrder: try answersInOrder(rig)
        case .readsValue: try readsValue(rig)
        case .refusesUnknownHandle: try refusesUnknownHandle(rig)
        case .refusesUnconnected: try refusesUnconnected(rig)
        case .notifiesOnce: try notifiesOnce(rig)
        case .unsubscribingIsOwn: try unsubscribingIsOwn(rig)
        case .lastLetsGo: try lastLetsGo(rig)
        case .disconnectAnswersAsker: try disconnectAnswersAsker(rig)
        case .releaseIsSilent: try releaseIsSilent(rig)
        case .releaseKeeps: try releaseKeeps(rig)
        case .releaseLeavesOthers: try releaseLeavesOthers(rig)
        case .powerOff: try powerOff(rig)
        case .powerOn: try powerOn(rig)
        case .emptyListFindsAll: try emptyListFindsAll(rig)
        case .duplicatesRepeat: try duplicatesRepeat(rig)
        case .connectedIsSilent: try connectedIsSilent(rig)
        case .outOfRangeIsUnseen: try outOfRangeIsUnseen(rig)
        case .requestAwaitsRange: try requestAwaitsRange(rig)
        case .cancelAnswers: try cancelAnswers(rig)
        case .operationFailsWithLink: try operationFailsWithLink(rig)
        case .channelCarriesBytes: try channelCarriesBytes(rig)
        case .channelIsRefused: try channelIsRefused(rig)
        case .beaconIsSighted: try beaconIsSighted(rig)
        case .beaconIsAskedFor: try beaconIsAskedFor(rig)
        case .beaconLeavesScans: try beaconLeavesScans(rig)
        case .pairsForAttribute: try pairsForAttribute(rig)
        case .pairingIsRefused: try pairingIsRefused(rig)
        case .connectionIsWatched: try connectionIsWatched(rig)
        case .commandsFillQueue: try commandsFillQueue(rig)
        case .commandsAreLost: try commandsAreLost(rig)
        case .servicesGo: try servicesGo(rig)
        case .servicesCome: try servicesCome(rig)
        case .nameChanges: try nameChanges(rig)
        case .knowsPeripheral: try knowsPeripheral(rig)
        case .answersWrites: try answersWrites(rig)
        case .refusesWrites: try refusesWrites(rig)
        case .knowsLongestCommand: try knowsLongestCommand(rig)
        case .sendsFragments: try sendsFragments(rig)
        }
    }

    private func answersWrites(_ rig: ContractRig) throws {
        try rig.connect(rig.first, to: rig.meter)
        let values = try rig.characteristic("2A18", of: "1808", for: rig.first, on: rig.meter)
        let control = try rig.characteristic("2A52", of: "1808", for: rig.first, on: rig.meter)
        for (count, handle) in [values, control].enumerated() {
            rig.perform(.operate(rig.first, peripheral: rig.meter, .setNotify(handle, true)))
            try rig.wait(for: .notificationStateChanged, rig.first, count: count + 1)
        }
        rig.perform(.operate(rig.first, peripheral: rig.meter, .write(control, [1, 1], withResponse: true)))
        #expect(try !rig.wait(for: .valueWritten, rig.first).event.failed)
        try rig.wait(for: .characteristicNotified, count: 7)
        let kinds = rig.reports.map(\.event.kind)
        #expect(kinds.suffix(8) == [.valueWritten] + Array(repeating: .characteristicNotified, count: 7))
        let notified = rig.all(.characteristicNotified)
        #expect(notified.map(\.event.attribute) == Array(repeating: values, count: 6) + [control])
        #expect(notified.last?.payload == .value([6, 0, 1, 1]))
        guard case .value(let third) = notified[2].payload else { throw SourceFailure(.unknown, "no value") }
        #expect(third.prefix(3) == [3, 3, 0])
    }

    private func refusesWrites(_ rig: ContractRig) throws {
        try rig.connect(rig.first, to: rig.meter)
        let control = try rig.characteristic("2A52", of: "1808", for: rig.first, on: rig.meter)
        rig.perform(.operate(rig.first, peripheral: rig.meter, .setNotify(control, true)))
        try rig.wait(for: .notificationStateChanged, rig.first)
        rig.perform(.operate(rig.first, peripheral: rig.meter, .write(control, [], withResponse: true)))
        let written = try rig.wait(for: .valueWritten, rig.first)
        guard case .failure(let failure) = written.payload else {
            Issue.record("the write did not fail: \(written.payload)")
            return
        }
        #expect(failure.domain == .att)
        #expect(failure.code == 13)
    }

    private func knowsLongestCommand(_ rig: ContractRig) throws {
        #expect(rig.port.longestWriteCommand(to: rig.uart) == 20)
        try rig.connect(rig.first, to: rig.uart)
        rig.perform(.operate(rig.first, peripheral: rig.uart, .discoverServices([])))
        try rig.wait(for: .servicesDiscovered, rig.first)
        #expect(rig.port.longestWriteCommand(to: rig.uart) == 182)
    }

    private func sendsFragments(_ rig: ContractRig) throws {
        let service = "6E400001-B5A3-F393-E0A9-E50E24DCCA9E"
        let (receives, sends) = ("6E400002-B5A3-F393-E0A9-E50E24DCCA9E", "6E400003-B5A3-F393-E0A9-E50E24DCCA9E")
        try rig.connect(rig.first, to: rig.uart)
        let to = try rig.characteristic(receives, of: service, for: rig.first, on: rig.uart)
        let from = try rig.characteristic(sends, of: service, for: rig.first, on: rig.uart)
        rig.perform(.operate(rig.first, peripheral: rig.uart, .setNotify(from, true)))
        try rig.wait(for: .notificationStateChanged, rig.first)
        let long = [UInt8](repeating: 7, count: 400)
        rig.perform(.operate(rig.first, peripheral: rig.uart, .write(to, long, withResponse: true)))
        try rig.wait(for: .characteristicNotified, count: 3)
        let lengths = rig.all(.characteristicNotified).map { report -> Int in
            if case .value(let value) = report.payload { value.count } else { 0 }
        }
        #expect(lengths == [182, 182, 36])
    }

    private func heartRate(_ rig: ContractRig) -> NameID { rig.names.intern("180D") }

    private func sightingOnce(_ rig: ContractRig) throws {
        rig.perform(.scan(rig.first, services: [heartRate(rig)], allowDuplicates: false))
        let seen = try rig.wait(for: .peripheralDiscovered)
        #expect(seen.event.client == rig.first)
        #expect(seen.event.peripheral == rig.belt)
        #expect(seen.event.subject == rig.belt)
        #expect(seen.event.services.contains(heartRate(rig)))
        guard case .advertisement(let advertisement) = seen.payload else {
            Issue.record("the payload is no advertisement")
            return
        }
        #expect(advertisement.localName == "HR Belt")
        #expect(advertisement.services.contains("180D"))
        #expect(advertisement.connectable)
        // A second scan that finds the belt shows that the first has had its chance to report it again.
        rig.perform(.scan(rig.second, services: [heartRate(rig)], allowDuplicates: false))
        try rig.wait(for: .peripheralDiscovered, rig.second)
        #expect(rig.all(.peripheralDiscovered, for: rig.first).count == 1)
    }

    private func sightingMatches(_ rig: ContractRig) throws {
        rig.perform(.scan(rig.first, services: [rig.names.intern("1810")], allowDuplicates: false))
        rig.perform(.scan(rig.second, services: [heartRate(rig)], allowDuplicates: false))
        try rig.wait(for: .peripheralDiscovered, rig.second)
        #expect(rig.all(.peripheralDiscovered, for: rig.first).isEmpty)
    }

    private func sightingAgain(_ rig: ContractRig) throws {
        for count in 1...3 {
            rig.perform(.scan(rig.first, services: [heartRate(rig)], allowDuplicates: false))
            try rig.wait(for: .peripheralDiscovered, rig.first, count: count)
        }
    }

    private func connectionIsShared(_ rig: ContractRig) throws {
        try rig.connect(rig.first)
        try rig.connect(rig.second)
        #expect(rig.all(.peripheralConnected, for: rig.second).count == 1)
        #expect(rig.all(.peripheralConnected).count == 2)
        #expect(rig.port.connectedPeripherals(services: [heartRate(rig)]) == [rig.belt])
        #expect(rig.port.connectedPeripherals(services: [rig.names.intern("1810")]).isEmpty)
    }

    private func discoveryGivesTable(_ rig: ContractRig) throws {
        try rig.connect(rig.first)
        rig.perform(.operate(rig.first, peripheral: rig.belt, .discoverServices([])))
        let answer = try rig.wait(for: .servicesDiscovered)
        guard case .services(let services) = answer.payload else {
            Issue.record("the payload is no list of services")
            return
        }
        #expect(services.map(\.uuid).filter { ["180D", "180F"].contains($0) } == ["180D", "180F"])
        #expect(services.map(\.handle) == services.map(\.handle).sorted())
        let handle = try #require(services.first { $0.uuid == "180D" }?.handle)
        rig.perform(.operate(rig.first, peripheral: rig.belt, .discoverCharacteristics(of: handle, [])))
        let found = try rig.wait(for: .characteristicsDiscovered)
        #expect(rig.names.text(found.event.subject) == "\(rig.names.text(rig.belt))/180D")
        #expect(found.event.attribute == handle)
        guard case .characteristics(let characteristics) = found.payload else {
            Issue.record("the payload is no list of characteristics")
            return
        }
        #expect(characteristics.map(\.uuid) == ["2A37", "2A38"])
        #expect(characteristics.map(\.properties) == [16, 2])
        #expect(characteristics.allSatisfy { $0.service == handle && $0.handle > handle })
    }

    private func answersInOrder(_ rig: ContractRig) throws {
        try rig.connect(rig.first)
        try rig.connect(rig.second)
        let handle = try rig.characteristic("2A38", of: "180D", for: rig.first)
        for client in [rig.first, rig.second, rig.second, rig.first] {
            rig.perform(.operate(client, peripheral: rig.belt, .read(handle)))
        }
        try rig.wait(for: .valueRead, count: 4)
        #expect(rig.all(.valueRead).map(\.event.client) == [rig.first, rig.second, rig.second, rig.first])
    }

    private func readsValue(_ rig: ContractRig) throws {
        try rig.connect(rig.first)
        let handle = try rig.characteristic("2A38", of: "180D", for: rig.first)
        rig.perform(.operate(rig.first, peripheral: rig.belt, .read(handle)))
        let read = try rig.wait(for: .valueRead, rig.first)
        #expect(read.payload == .value([1]))
        #expect(!read.event.failed)
        #expect(read.event.attribute == handle)
        #expect(rig.names.text(read.event.subject) == "\(rig.names.text(rig.belt))/2A38")
    }

    private func refusesUnknownHandle(_ rig: ContractRig) throws {
        try rig.connect(rig.first)
        rig.perform(.operate(rig.first, peripheral: rig.belt, .read(0xfff0)))
        let read = try rig.wait(for: .valueRead, rig.first)
        #expect(read.event.failed)
        #expect(read.payload == .failure(.invalidHandle))
    }

    private func refusesUnconnected(_ rig: ContractRig) throws {
        rig.perform(.operate(rig.first, peripheral: rig.belt, .readSignalStrength))
        let read = try rig.wait(for: .signalStrengthRead, rig.first)
        #expect(read.event.failed)
        #expect(read.payload == .failure(.notConnected))
    }

    private func notifiesOnce(_ rig: ContractRig) throws {
        try rig.connect(rig.first)
        try rig.connect(rig.second)
        let handle = try rig.subscribe(rig.first)
        try rig.subscribe(rig.second)
        let notified = try rig.wait(for: .characteristicNotified)
        #expect(notified.event.client == nil)
        #expect(notified.event.attribute == handle)
        #expect(notified.payload == .value([0x00, 0x48]))
        #expect(rig.names.text(notified.event.subject) == "\(rig.names.text(rig.belt))/2A37")
        rig.perform(.operate(rig.first, peripheral: rig.belt, .readSignalStrength))
        try rig.wait(for: .signalStrengthRead)
        #expect(rig.all(.characteristicNotified).count == 1)
    }

    private func unsubscribingIsOwn(_ rig: ContractRig) throws {
        try rig.connect(rig.first)
        try rig.connect(rig.second)
        let handle = try rig.subscribe(rig.first)
        try rig.subscribe(rig.second)
        rig.perform(.operate(rig.first, peripheral: rig.belt, .setNotify(handle, false)))
        let changed = try rig.wait(for: .notificationStateChanged, rig.first, count: 2)
        #expect(changed.payload == .notifying(false))
        try rig.wait(for: .characteristicNotified)
    }

    private func lastLetsGo(_ rig: ContractRig) throws {
        try rig.connect(rig.first)
        try rig.connect(rig.second)
        rig.perform(.disconnect(rig.first, peripheral: rig.belt))
        try rig.wait(for: .peripheralDisconnected, rig.first)
        #expect(rig.port.connectedPeripherals(services: [heartRate(rig)]) == [rig.belt])
        rig.perform(.disconnect(rig.second, peripheral: rig.belt))
        try rig.wait(for: .peripheralDisconnected, rig.second)
        // A peripheral with a link is silent on the air: that it can be seen shows that the link is gone.
        rig.perform(.scan(rig.first, services: [heartRate(rig)], allowDuplicates: false))
        try rig.wait(for: .peripheralDiscovered)
        #expect(rig.port.connectedPeripherals(services: [heartRate(rig)]).isEmpty)
        #expect(rig.all(.peripheralDisconnected).count == 2)
    }

    private func disconnectAnswersAsker(_ rig: ContractRig) throws {
        try rig.connect(rig.first)
        rig.perform(.disconnect(rig.first, peripheral: rig.belt))
        let gone = try rig.wait(for: .peripheralDisconnected)
        #expect(gone.event.client == rig.first)
        #expect(gone.event.subject == rig.belt)
        #expect(!gone.event.failed)
    }

    private func releaseIsSilent(_ rig: ContractRig) throws {
        try rig.connect(rig.first)
        try rig.subscribe(rig.first)
        rig.perform(.release(rig.first))
        rig.perform(.scan(rig.second, services: [heartRate(rig)], allowDuplicates: false))
        try rig.wait(for: .peripheralDiscovered, rig.second)
        #expect(rig.all(.peripheralDisconnected).isEmpty)
    }

    private func releaseKeeps(_ rig: ContractRig) throws {
        try rig.connect(rig.first)
        try rig.subscribe(rig.first)
        rig.perform(.release(rig.first, keeping: [rig.belt]))
        #expect(rig.port.connectedPeripherals(services: [heartRate(rig)]) == [rig.belt])
        try rig.wait(for: .characteristicNotified)
        #expect(rig.all(.peripheralDisconnected).isEmpty)
    }

    private func releaseLeavesOthers(_ rig: ContractRig) throws {
        try rig.connect(rig.first)
        try rig.connect(rig.second)
        try rig.subscribe(rig.first)
        try rig.subscribe(rig.second)
        rig.perform(.release(rig.first))
        #expect(rig.port.connectedPeripherals(services: [heartRate(rig)]) == [rig.belt])
        try rig.wait(for: .characteristicNotified)
        #expect(rig.all(.peripheralDisconnected).isEmpty)
    }

    private func powerOff(_ rig: ContractRig) throws {
        try rig.connect(rig.first)
        try rig.connect(rig.second)
        rig.setPower(false)
        let off = try rig.wait(for: .bluetoothPoweredOff)
        #expect(off.event.client == nil)
        #expect(!rig.port.poweredOn)
        #expect(rig.all(.peripheralDisconnected).isEmpty)
        #expect(rig.port.connectedPeripherals(services: [heartRate(rig)]).isEmpty)
        rig.setPower(true)
        try rig.wait(for: .bluetoothPoweredOn)
    }

    private func powerOn(_ rig: ContractRig) throws {
        rig.setPower(false)
        try rig.wait(for: .bluetoothPoweredOff)
        rig.setPower(true)
        try rig.wait(for: .bluetoothPoweredOn)
        #expect(rig.port.poweredOn)
        rig.perform(.scan(rig.first, services: [heartRate(rig)], allowDuplicates: false))
        try rig.wait(for: .peripheralDiscovered, rig.first)
    }

    private func emptyListFindsAll(_ rig: ContractRig) throws {
        rig.perform(.scan(rig.first, services: [], allowDuplicates: false))
        try rig.waitForSighting(of: rig.belt, by: rig.first)
        try rig.waitForSighting(of: rig.thermometer, by: rig.first)
    }

    private func duplicatesRepeat(_ rig: ContractRig) throws {
        rig.perform(.scan(rig.first, services: [heartRate(rig)], allowDuplicates: true))
        rig.perform(.scan(rig.second, services: [heartRate(rig)], allowDuplicates: false))
        try rig.waitForSighting(of: rig.belt, by: rig.first, count: 4)
        #expect(rig.sightings(of: rig.belt, by: rig.second) == 1)
    }

    private func connectedIsSilent(_ rig: ContractRig) throws {
        try rig.connect(rig.first)
        rig.perform(.scan(rig.second, services: [], allowDuplicates: true))
        try rig.waitForSighting(of: rig.thermometer, by: rig.second, count: 2)
        #expect(rig.sightings(of: rig.belt, by: rig.second) == 0)
    }

    private func outOfRangeIsUnseen(_ rig: ContractRig) throws {
        try rig.fate.setRange(false)
        rig.perform(.scan(rig.first, services: [], allowDuplicates: true))
        try rig.waitForSighting(of: rig.thermometer, by: rig.first, count: 2)
        #expect(rig.sightings(of: rig.belt, by: rig.first) == 0)
    }

    private func requestAwaitsRange(_ rig: ContractRig) throws {
        try rig.fate.setRange(false)
        rig.perform(.connect(rig.first, peripheral: rig.belt))
        rig.perform(.scan(rig.second, services: [], allowDuplicates: true))
        try rig.waitForSighting(of: rig.thermometer, by: rig.second, count: 2)
        #expect(rig.all(.peripheralConnected).isEmpty)
        try rig.fate.setRange(true)
        try rig.wait(for: .peripheralConnected)
    }

    private func cancelAnswers(_ rig: ContractRig) throws {
        try rig.fate.setRange(false)
        rig.perform(.connect(rig.first, peripheral: rig.belt))
        rig.perform(.disconnect(rig.first, peripheral: rig.belt))
        let gone = try rig.wait(for: .peripheralDisconnected)
        #expect(gone.event.client == rig.first)
        #expect(!gone.event.failed)
        try rig.fate.setRange(true)
        rig.perform(.scan(rig.second, services: [heartRate(rig)], allowDuplicates: true))
        try rig.waitForSighting(of: rig.belt, by: rig.second, count: 2)
        #expect(rig.all(.peripheralConnected).isEmpty)
    }

    private func operationFailsWithLink(_ rig: ContractRig) throws {
        try rig.connect(rig.first)
        let handle = try rig.characteristic("2A38", of: "180D", for: rig.first)
        rig.perform(.operate(rig.first, peripheral: rig.belt, .read(handle)))
        try rig.fate.dropLink()
        try rig.wait(for: .peripheralDisconnected)
        #expect(rig.reports.suffix(2).map(\.event.kind) == [.valueRead, .peripheralDisconnected])
        #expect(rig.all(.valueRead).first?.payload == .failure(.peripheralDisconnected))
        #expect(rig.all(.valueRead).first?.event.failed == true)
        #expect(rig.all(.peripheralDisconnected).first?.payload == .failure(.peripheralDisconnected))
    }

    private func channelCarriesBytes(_ rig: ContractRig) throws {
        let opened = try rig.openChannel(128)
        #expect(opened.payload == .psm(128))
        #expect(opened.event.subject == rig.logger)
        let descriptor = try #require(rig.port.takeChannel(opened.event.local))
        defer { close(descriptor) }
        #expect(rig.port.takeChannel(opened.event.local) == nil)
        let question: [UInt8] = [1, 2, 3, 4, 5]
        #expect(unsafe send(descriptor, question, question.count, 0) == question.count)
        #expect(try rig.read(question.count, from: descriptor) == question)
    }

    private func channelIsRefused(_ rig: ContractRig) throws {
        let refused = try rig.openChannel(77)
        #expect(refused.event.failed)
        #expect(refused.event.local == 0)
        #expect(refused.payload == .failure(.channelRefused))
    }

    private func beaconIsSighted(_ rig: ContractRig) throws {
        rig.watchBeacons([rig.shopBeacons])
        let seen = try rig.wait(for: .beaconSighted, count: 2)
        let beacon = try #require(seen.event.beacon)
        #expect(rig.shopBeacons.matches(beacon))
        #expect(beacon.major == 1)
        #expect(beacon.minor == 7)
        #expect((0.5..<8).contains(beacon.distance))
        #expect(seen.event.client == nil)
        #expect(rig.names.text(seen.event.subject) == "shop")
        #expect(rig.names.text(beacon.uuid) == "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")
        #expect((-80 ..< -50).contains(beacon.signalStrength))
    }

    private func beaconIsAskedFor(_ rig: ContractRig) throws {
        rig.watchBeacons([BeaconIdentity(uuid: rig.shopBeacons.uuid, major: 1, minor: 8)])
        rig.perform(.scan(rig.first, services: [], allowDuplicates: true))
        try rig.waitForSighting(of: rig.thermometer, by: rig.first, count: 3)
        #expect(rig.all(.beaconSighted).isEmpty)
        let known = [rig.belt, rig.thermometer, rig.logger, rig.door, rig.stranger, rig.meter, rig.uart]
        #expect(rig.all(.peripheralDiscovered).allSatisfy { known.contains($0.event.peripheral) })
    }

    private func beaconLeavesScans(_ rig: ContractRig) throws {
        rig.perform(.scan(rig.first, services: [heartRate(rig)], allowDuplicates: false))
        rig.watchBeacons([rig.shopBeacons])
        try rig.wait(for: .beaconSighted, count: 2)
        #expect(rig.all(.peripheralDiscovered).map(\.event.peripheral) == [rig.belt])
        rig.watchBeacons([])
        rig.perform(.scan(rig.second, services: [heartRate(rig)], allowDuplicates: false))
        try rig.waitForSighting(of: rig.belt, by: rig.second)
    }

    private func pairsForAttribute(_ rig: ContractRig) throws {
        let service = "C2A9A400-8A2D-4B6E-9B43-5B0D6A8D0E11"
        try rig.connect(rig.first, to: rig.door)
        let order = try rig.characteristic(
            "C2A9A401-8A2D-4B6E-9B43-5B0D6A8D0E11",
            of: service,
            for: rig.first,
            on: rig.door
        )
        rig.perform(.operate(rig.first, peripheral: rig.door, .write(order, [0], withResponse: true)))
        let written = try rig.wait(for: .valueWritten, rig.first)
        #expect(!written.event.failed, "\(written.payload)")
        let state = try rig.characteristic(
            "C2A9A402-8A2D-4B6E-9B43-5B0D6A8D0E11",
            of: service,
            for: rig.first,
            on: rig.door
        )
        rig.perform(.operate(rig.first, peripheral: rig.door, .read(state)))
        #expect(try rig.wait(for: .valueRead, rig.first).payload == .value([1]))
    }

    private func pairingIsRefused(_ rig: ContractRig) throws {
        try rig.connect(rig.first, to: rig.stranger)
        let handle = try rig.characteristic("2A8A", of: "181C", for: rig.first, on: rig.stranger)
        for count in 1...2 {
            rig.perform(.operate(rig.first, peripheral: rig.stranger, .read(handle)))
            let read = try rig.wait(for: .valueRead, rig.first, count: count)
            guard case .failure(let failure) = read.payload else {
                Issue.record("the value was read: \(read.payload)")
                return
            }
            #expect((failure.domain, failure.code) == (.att, 15))
        }
    }

    private func connectionIsWatched(_ rig: ContractRig) throws {
        rig.perform(.watchConnections(rig.second, peripherals: [], services: [heartRate(rig)]))
        try rig.connect(rig.first)
        let up = try rig.wait(for: .connectionEvent)
        #expect(up.event.client == rig.second)
        #expect(up.event.peripheral == rig.belt)
        #expect(up.payload == .connectionEvent(connected: true))
        try rig.fate.dropLink()
        #expect(try rig.wait(for: .connectionEvent, count: 2).payload == .connectionEvent(connected: false))
        rig.perform(.watchConnections(rig.second, peripherals: [], services: []))
        rig.perform(.watchConnections(rig.first, peripherals: [rig.belt], services: []))
        try rig.connect(rig.first)
        try rig.wait(for: .connectionEvent, rig.first)
        #expect(rig.all(.connectionEvent, for: rig.second).count == 2)
    }

    private func commandsFillQueue(_ rig: ContractRig) throws {
        try rig.connect(rig.first, to: rig.stranger)
        try rig.connect(rig.second, to: rig.stranger)
        let handle = try rig.characteristic("2A8B", of: "181C", for: rig.first, on: rig.stranger)
        let room = rig.port.writeRoom(of: rig.first, to: rig.stranger)
        #expect(room == 20)
        for count in 1...room {
            rig.perform(.operate(rig.first, peripheral: rig.stranger, .write(handle, [1], withResponse: false)))
            #expect(rig.port.writeRoom(of: rig.first, to: rig.stranger) == room - count)
        }
        #expect(rig.port.writeRoom(of: rig.second, to: rig.stranger) == room)
        let ready = try rig.wait(for: .readyToWrite)
        #expect(ready.event.client == rig.first)
        #expect(ready.event.peripheral == rig.stranger)
        #expect(!ready.event.failed)
        #expect(rig.port.writeRoom(of: rig.first, to: rig.stranger) > 0)
        // What is asked behind the commands is answered when they have gone out.
        rig.perform(.operate(rig.first, peripheral: rig.stranger, .read(handle)))
        try rig.wait(for: .valueRead, rig.first)
        #expect(rig.port.writeRoom(of: rig.first, to: rig.stranger) == room)
        #expect(rig.all(.readyToWrite).count == 1)
    }

    private func commandsAreLost(_ rig: ContractRig) throws {
        #expect(rig.port.writeRoom(of: rig.first, to: rig.stranger) == 0)
        try rig.connect(rig.first, to: rig.stranger)
        let handle = try rig.characteristic("2A8B", of: "181C", for: rig.first, on: rig.stranger)
        let write = BluetoothOperation.write(handle, [1], withResponse: false)
        for _ in 1...19 { rig.perform(.operate(rig.first, peripheral: rig.stranger, write)) }
        rig.perform(.operate(rig.first, peripheral: rig.stranger, .read(handle)))
        try rig.wait(for: .valueRead, rig.first)
        #expect(rig.all(.readyToWrite).isEmpty)
        for _ in 1...30 { rig.perform(.operate(rig.first, peripheral: rig.stranger, write)) }
        #expect(rig.port.writeRoom(of: rig.first, to: rig.stranger) == 0)
        rig.perform(.operate(rig.first, peripheral: rig.stranger, .read(handle)))
        try rig.wait(for: .valueRead, rig.first, count: 2)
        #expect(rig.all(.readyToWrite).count == 1)
        #expect(rig.port.writeRoom(of: rig.first, to: rig.stranger) == 20)
    }

    private func servicesGo(_ rig: ContractRig) throws {
        try rig.connect(rig.first)
        try rig.connect(rig.second)
        let level = try rig.characteristic("2A19", of: "180F", for: rig.first)
        try rig.fate.setBattery(false)
        let changed = try rig.wait(for: .servicesModified)
        #expect(changed.event.client == nil)
        #expect(changed.event.subject == rig.belt)
        #expect(changed.event.voidHandles?.contains(level) == true)
        guard case .handles(let handles) = changed.payload else {
            Issue.record("the payload is no list of handles")
            return
        }
        #expect(handles == [changed.event.attribute])
        rig.perform(.operate(rig.first, peripheral: rig.belt, .read(level)))
        #expect(try rig.wait(for: .valueRead, rig.first).payload == .failure(.invalidHandle))
        rig.perform(.operate(rig.first, peripheral: rig.belt, .discoverServices([])))
        guard case .services(let left) = try rig.wait(for: .servicesDiscovered, rig.first, count: 2).payload else {
            Issue.record("the payload is no list of services")
            return
        }
        #expect(left.map(\.uuid).contains("180D"))
        #expect(!left.map(\.uuid).contains("180F"))
        #expect(rig.all(.servicesModified).count == 1)
    }

    private func servicesCome(_ rig: ContractRig) throws {
        try rig.connect(rig.first)
        let heart = try rig.characteristic("2A38", of: "180D", for: rig.first)
        try rig.fate.setBattery(false)
        try rig.wait(for: .servicesModified)
        try rig.fate.setBattery(true)
        let came = try rig.wait(for: .servicesModified, count: 2)
        #expect(came.payload == .handles([]))
        #expect(came.event.voidHandles == nil)
        _ = try rig.characteristic("2A19", of: "180F", for: rig.first)
        rig.perform(.operate(rig.first, peripheral: rig.belt, .read(heart)))
        #expect(try rig.wait(for: .valueRead, rig.first).payload == .value([1]))
        #expect(rig.all(.servicesModified).count == 2)
    }

    private func nameChanges(_ rig: ContractRig) throws {
        rig.perform(.scan(rig.first, services: [heartRate(rig)], allowDuplicates: false))
        try rig.waitForSighting(of: rig.belt, by: rig.first)
        rig.perform(.stopScan(rig.first))
        try rig.connect(rig.first)
        #expect(rig.port.knownPeripheral(rig.belt)?.name == "HR Belt")
        try rig.fate.rename("Belt 2")
        let renamed = try rig.wait(for: .nameChanged)
        #expect(renamed.event.client == nil)
        #expect(renamed.event.subject == rig.belt)
        #expect(renamed.payload == .name("Belt 2"))
        #expect(rig.port.knownPeripheral(rig.belt)?.name == "Belt 2")
        #expect(rig.all(.nameChanged).count == 1)
    }

    private func knowsPeripheral(_ rig: ContractRig) throws {
        rig.perform(.scan(rig.first, services: [heartRate(rig)], allowDuplicates: false))
        try rig.wait(for: .peripheralDiscovered)
        #expect(rig.port.knownPeripheral(rig.belt)?.name == "HR Belt")
        #expect(rig.port.knownPeripheral(rig.names.intern("nobody")) == nil)
        rig.perform(.stopScan(rig.first))
        try rig.connect(rig.first)
        let handle = try rig.characteristic("2A37", of: "180D", for: rig.first)
        let known = try #require(rig.port.knownPeripheral(rig.belt))
        #expect(known.services.contains { $0.uuid == "180D" })
        #expect(known.characteristics.contains { $0.uuid == "2A37" && $0.handle == handle })
        let found = try #require(rig.port.knownPeripheral(rig.belt, of: rig.first))
        #expect(found.name == "HR Belt")
        #expect(found.services.map(\.uuid) == ["180D"])
        #expect(found.characteristics.map(\.handle) == [handle])
        #expect(rig.port.knownPeripheral(rig.belt, of: rig.second)?.services == [])
        rig.perform(.disconnect(rig.first, peripheral: rig.belt))
        try rig.wait(for: .peripheralDisconnected, rig.first)
        #expect(rig.port.knownPeripheral(rig.belt, of: rig.first)?.services == [])
    }
}
