import Testing
import WakeModel
import WakePorts

@testable import WakeBluetooth
@testable import WakeDevices

/// A phone of a bench: both ends of its radio, and one client of each, in the place of a router.
private final class AirPhone {
    let name: String
    let names = NameTable()
    let radio: SimulatedBluetooth
    let role: SimulatedPeripheralRole
    let other: NameID
    let client = BluetoothClient(app: AppID(0), slot: 0)
    let server = BluetoothClient(app: AppID(1), slot: 0)
    var reports: [(at: Instant, report: SourceReport)] = []
    var wakes = 0

    init(_ name: String, beside other: String, called device: String) {
        self.name = name
        let phone = BluetoothPhone(file: "phone.yaml", phone: other)
        let scenario = ScenarioDevice(name: device, group: device, line: 1, form: .phone(phone))
        radio = SimulatedBluetooth(devices: [scenario], names: names, seed: 1)
        role = SimulatedPeripheralRole(devices: [scenario], names: names, seed: 1, beside: radio)
        self.other = names.intern(device)
    }

    func begin(on air: SharedAir, now: @escaping () -> Instant) throws {
        let report: (SourceReport) -> Void = { [unowned self] in
            reports.append((now(), $0))
            // It is accepted at once.
            radio.hear($0.event, $0.payload, at: now())
            role.hear($0.event, $0.payload, at: now())
        }
        (radio.report, role.report) = (report, report)
        try role.start(at: now())
        radio.join(air, as: name) { [unowned self] in wakes += 1 }
    }

    func all(_ kind: EventKind) -> [SourceReport] { reports.map(\.report).filter { $0.event.kind == kind } }

    func last(_ kind: EventKind) throws -> SourceReport { try #require(all(kind).last) }
}

/// Two phones that share the air, and their common time.
private final class TwoPhones {
    let air = SharedAir()
    let one = AirPhone("one", beside: "two", called: "thermometer")
    let two = AirPhone("two", beside: "one", called: "reader")
    var now = Instant.zero

    /// - Parameter advertises: `two` publishes and advertises a thermometer.
    init(advertises: Bool = true) throws {
        for phone in [one, two] { try phone.begin(on: air) { [unowned self] in now } }
        if advertises { offer(by: two) }
    }

    static let temperature: UInt32 = 2
    static let fixed: UInt32 = 3
    static let service = LocalService(
        number: 1,
        uuid: "1809",
        characteristics: [
            LocalCharacteristic(
                number: temperature,
                uuid: "2A1C",
                properties: 2 | 4 | 8 | 16,
                permissions: 3,
                descriptors: [LocalDescriptor(uuid: "2901", value: [0x54])]
            ),
            LocalCharacteristic(number: fixed, uuid: "2A1D", properties: 2, permissions: 1, value: [7]),
        ]
    )

    func offer(by phone: AirPhone) {
        phone.role.perform(.publish(phone.server, Self.service, again: false), at: now)
        let services = [phone.names.intern("1809")]
        phone.role.perform(
            .advertise(phone.server, localName: "Oven", services: services, overflow: [], again: false),
            at: now
        )
    }

    func pass(_ span: Instant.Span) {
        let end = now.advanced(by: span)
        while let next = deadline, next <= end {
            now = max(now, next)
            for phone in [one, two] {
                phone.radio.timeReached(now)
                phone.role.timeReached(now)
            }
        }
        now = end
    }

    private var deadline: Instant? {
        [one, two].flatMap { [$0.radio.nextDeadline, $0.role.nextDeadline] }.compactMap { $0 }.min()
    }

    func ask(_ operation: BluetoothOperation, for client: BluetoothClient? = nil, span: Instant.Span = .seconds(1)) {
        one.radio.perform(.operate(client ?? one.client, peripheral: one.other, operation), at: now)
        pass(span)
    }

    /// `one` is connected to `two`, and knows its characteristics.
    func connect() throws -> (temperature: AttributeHandle, fixed: AttributeHandle) {
        one.radio.perform(.connect(one.client, peripheral: one.other), at: now)
        pass(.seconds(1))
        _ = try one.last(.peripheralConnected)
        ask(.discoverServices([]))
        guard case .services(let services) = try one.last(.servicesDiscovered).payload, let first = services.first
        else {
            throw CancellationError()
        }
        ask(.discoverCharacteristics(of: first.handle, []))
        let found = one.radio.knownPeripheral(one.other)?.characteristics ?? []
        return (
            try #require(found.first { $0.uuid == "2A1C" }?.handle),
            try #require(found.first { $0.uuid == "2A1D" }?.handle)
        )
    }

    /// The app on `two` answers what was asked last.
    func respond(_ result: UInt8 = 0, _ value: [UInt8]? = nil, to kind: EventKind) throws {
        let request = try two.last(kind).event.request
        two.role.perform(.respond(two.server, request: request, result: result, value: value), at: now)
        pass(.seconds(1))
    }

    func update(_ value: [UInt8]) {
        two.role.perform(.update(two.server, characteristic: Self.temperature, value: value, centrals: []), at: now)
    }
}

@Suite("The air that phones of one bench share")
struct SharedAirTests {
    @Test("What is said is heard in a turn of the other phone's own, and never inside the call")
    func turns() throws {
        let phones = try TwoPhones(advertises: false)
        phones.pass(.seconds(1))
        let wakes = phones.one.wakes
        phones.offer(by: phones.two)
        #expect(phones.one.wakes > wakes && phones.one.radio.nextDeadline == .zero)
        #expect(phones.one.reports.isEmpty)
    }

    @Test("Phones that do not look for each other never wake one another")
    func strangers() throws {
        let phones = try TwoPhones(advertises: false)
        phones.pass(.seconds(1))
        let stranger = AirPhone("three", beside: "four", called: "oven")
        try stranger.begin(on: phones.air) { phones.now }
        let wakes = phones.two.wakes
        phones.offer(by: stranger)
        phones.pass(.seconds(1))
        stranger.radio.leaveAir(suddenly: false)
        #expect(phones.two.wakes == wakes)
        phones.offer(by: phones.two)
        #expect(stranger.wakes == 0 && phones.one.wakes > 0)
    }

    @Test("An app that advertises is seen with its name and services while it does, and not after")
    func advertisement() throws {
        let phones = try TwoPhones()
        let scan = BluetoothCommand.scan(
            phones.one.client,
            services: [phones.one.names.intern("1809")],
            allowDuplicates: false
        )
        phones.one.radio.perform(scan, at: phones.now)
        phones.pass(.seconds(1))
        let seen = try phones.one.last(.peripheralDiscovered)
        guard case .advertisement(let said) = seen.payload else { throw CancellationError() }
        #expect(said.localName == "Oven" && said.services == ["1809"] && seen.event.peripheral == phones.one.other)
        #expect(phones.one.radio.knownPeripheral(phones.one.other)?.name == "Oven")
        phones.two.role.perform(.stopAdvertising(phones.two.server), at: phones.now)
        phones.one.radio.perform(scan, at: phones.now)
        phones.pass(.seconds(5))
        #expect(phones.one.all(.peripheralDiscovered).count == 1)
    }

    @Test("A service in the overflow area is seen by whoever looks for it, and by nobody else")
    func overflow() throws {
        let phones = try TwoPhones(advertises: false)
        let services = [phones.two.names.intern("1809")]
        phones.two.role.perform(
            .advertise(phones.two.server, localName: nil, services: [], overflow: services, again: false),
            at: phones.now
        )
        for (slot, uuid) in ["180D", "1809"].enumerated() {
            let client = BluetoothClient(app: AppID(0), slot: UInt16(slot))
            let wanted = [phones.one.names.intern(uuid)]
            phones.one.radio.perform(.scan(client, services: wanted, allowDuplicates: false), at: phones.now)
        }
        phones.pass(.seconds(1))
        #expect(phones.one.all(.peripheralDiscovered).map(\.event.client?.slot) == [1])
        #expect(phones.one.all(.peripheralDiscovered).first?.event.services == [phones.one.names.intern("1809")])
    }

    @Test("Attributes are found, and a value reaches whoever is subscribed")
    func subscription() throws {
        let phones = try TwoPhones()
        let (temperature, _) = try phones.connect()
        phones.ask(.discoverDescriptors(of: temperature))
        guard case .descriptors(let found) = try phones.one.last(.descriptorsDiscovered).payload else { return }
        #expect(found.map(\.uuid) == ["2902", "2901"])
        phones.ask(.readDescriptor(found[1].handle))
        #expect(try phones.one.last(.descriptorRead).payload == .value([0x54]))
        phones.ask(.setNotify(temperature, true))
        #expect(try phones.one.last(.notificationStateChanged).payload == .notifying(true))
        let came = try phones.two.last(.centralSubscribed)
        #expect(came.event.peripheral == phones.two.other && came.payload == .central(maximumUpdateLength: 182))
        phones.update([1, 2])
        phones.pass(.seconds(1))
        let notified = try phones.one.last(.characteristicNotified)
        #expect(notified.payload == .value([1, 2]) && notified.event.attribute == temperature)
        #expect(phones.one.names.text(notified.event.subject) == "thermometer/2A1C")
        phones.ask(.setNotify(temperature, false))
        _ = try phones.two.last(.centralUnsubscribed)
        phones.update([3])
        phones.pass(.seconds(1))
        #expect(phones.one.all(.characteristicNotified).count == 1)
    }

    @Test("Attributes are looked for by their UUIDs, whatever numbers the names of either phone have")
    func wanted() throws {
        let phones = try TwoPhones()
        // No name has the same number in both.
        for number in 0..<20 { _ = phones.one.names.intern("name \(number)") }
        let (temperature, _) = try phones.connect()
        phones.ask(.discoverServices([phones.one.names.intern("1809")]))
        guard case .services(let services) = try phones.one.last(.servicesDiscovered).payload else { return }
        #expect(services.map(\.uuid) == ["1809"])
        phones.ask(.discoverCharacteristics(of: services[0].handle, [phones.one.names.intern("2A1C")]))
        guard case .characteristics(let found) = try phones.one.last(.characteristicsDiscovered).payload else { return }
        #expect(found.map(\.handle) == [temperature])
        phones.ask(.discoverServices([phones.one.names.intern("180D")]))
        #expect(try phones.one.last(.servicesDiscovered).payload == .services([]))
    }

    @Test("Values go on to one app of a phone when another of it does not want them any more")
    func sharedSubscription() throws {
        let phones = try TwoPhones()
        let (temperature, _) = try phones.connect()
        let second = BluetoothClient(app: AppID(2), slot: 0)
        phones.one.radio.perform(.connect(second, peripheral: phones.one.other), at: phones.now)
        phones.pass(.seconds(1))
        for client in [phones.one.client, second] { phones.ask(.setNotify(temperature, true), for: client) }
        phones.ask(.setNotify(temperature, false), for: second)
        #expect(phones.two.all(.centralSubscribed).count == 1 && phones.two.all(.centralUnsubscribed).isEmpty)
        phones.one.radio.perform(.disconnect(phones.one.client, peripheral: phones.one.other), at: phones.now)
        phones.pass(.seconds(1))
        #expect(phones.two.all(.centralUnsubscribed).count == 1)
    }

    @Test("An app that sends faster than the link hears when it may go on, and nothing is lost or out of order")
    func queue() throws {
        let phones = try TwoPhones()
        let (temperature, _) = try phones.connect()
        phones.ask(.setNotify(temperature, true))
        let count = PeripheralRole.updateQueueLength
        for number in 0..<count { phones.update([UInt8(number)]) }
        #expect(phones.two.role.updateRoom(of: phones.two.server) == 0)
        phones.pass(.seconds(1))
        #expect(phones.two.all(.readyToUpdate).count == 1)
        #expect(phones.one.all(.characteristicNotified).map(\.payload) == (0..<count).map { .value([UInt8($0)]) })
    }

    // MARK: Reading and writing

    @Test("A read waits for the app's own answer, and a long value is read in as many pieces as it takes")
    func read() throws {
        let phones = try TwoPhones()
        let (temperature, fixed) = try phones.connect()
        phones.ask(.read(fixed))
        #expect(try phones.one.last(.valueRead).payload == .value([7]))
        #expect(phones.two.all(.readRequested).isEmpty)
        let value = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
        phones.ask(.read(temperature))
        #expect(phones.one.all(.valueRead).count == 1)
        #expect(try phones.two.last(.readRequested).payload == .readRequest(offset: 0))
        try phones.respond(0, value, to: .readRequested)
        #expect(try phones.two.last(.readRequested).payload == .readRequest(offset: 184))
        try phones.respond(0, Array(value.dropFirst(184)), to: .readRequested)
        #expect(try phones.one.last(.valueRead).payload == .value(value))
    }

    @Test("A write reaches the app as it was made, and its refusal reaches who wrote")
    func write() throws {
        let phones = try TwoPhones()
        let (temperature, fixed) = try phones.connect()
        phones.ask(.write(temperature, [9], withResponse: true))
        let asked = try phones.two.last(.writeRequested)
        #expect(
            asked.payload == .writeRequests([LocalWrite(characteristic: TwoPhones.temperature, offset: 0, value: [9])])
        )
        try phones.respond(0x80, to: .writeRequested)
        guard case .failure(let failure) = try phones.one.last(.valueWritten).payload else { throw CancellationError() }
        #expect(failure.domain == .att && failure.code == 0x80)
        phones.ask(.write(temperature, [9], withResponse: true))
        try phones.respond(to: .writeRequested)
        #expect(try phones.one.last(.valueWritten).payload == .none)
        phones.ask(.write(fixed, [1], withResponse: true))
        guard case .failure(let refusal) = try phones.one.last(.valueWritten).payload else { throw CancellationError() }
        #expect(refusal.code == 3 && phones.two.all(.writeRequested).count == 2)
    }

    @Test("Commands reach the app without an answer, and who filled the queue hears that there is room")
    func commands() throws {
        let phones = try TwoPhones()
        let (temperature, _) = try phones.connect()
        for number in 0..<25 {
            let write = BluetoothOperation.write(temperature, [UInt8(number)], withResponse: false)
            phones.one.radio.perform(.operate(phones.one.client, peripheral: phones.one.other, write), at: phones.now)
        }
        #expect(phones.one.radio.writeRoom(of: phones.one.client, to: phones.one.other) == 0)
        phones.pass(.seconds(2))
        #expect(phones.two.all(.writeRequested).count == WriteQueue.limit)
        #expect(phones.one.all(.readyToWrite).count == 1 && phones.one.all(.valueWritten).isEmpty)
    }

    @Test("A request that is not answered in 30 s ends the link at both ends")
    func unanswered() throws {
        let phones = try TwoPhones()
        let (temperature, _) = try phones.connect()
        phones.ask(.setNotify(temperature, true))
        phones.ask(.read(temperature), span: .seconds(29))
        #expect(phones.one.all(.peripheralDisconnected).isEmpty)
        phones.pass(.seconds(2))
        #expect(try phones.one.last(.peripheralDisconnected).payload == .failure(.connectionTimeout))
        #expect(try phones.one.last(.valueRead).payload == .failure(.peripheralDisconnected))
        _ = try phones.two.last(.centralUnsubscribed)
    }

    @Test("The numbers of requests that a journal holds are not given out again")
    func numbers() throws {
        let phones = try TwoPhones()
        let before = WakeEvent(kind: .readRequested, request: (1 << 31) + 40)
        phones.two.role.hear(before, .readRequest(offset: 0), at: .zero)
        let (temperature, _) = try phones.connect()
        phones.ask(.read(temperature))
        #expect(try phones.two.last(.readRequested).event.request == (1 << 31) + 41)
    }

    // MARK: Ends

    @Test(
        "A phone that is switched off ends its links at once, and one that breaks off by its silence",
        arguments: [false, true]
    )
    func leaving(suddenly: Bool) throws {
        let phones = try TwoPhones()
        _ = try phones.connect()
        phones.two.radio.leaveAir(suddenly: suddenly)
        phones.pass(.milliseconds(100))
        #expect(phones.one.all(.peripheralDisconnected).isEmpty == suddenly)
        phones.pass(.seconds(1))
        let gone = try phones.one.last(.peripheralDisconnected)
        #expect(gone.payload == .failure(suddenly ? .connectionTimeout : .peripheralDisconnected) && gone.event.failed)
        #expect(phones.one.radio.isInReach(phone: "thermometer") == false)
    }

    @Test("A central that is switched off, or breaks off, is subscribed no more", arguments: [false, true])
    func centralLeaves(suddenly: Bool) throws {
        let phones = try TwoPhones()
        let (temperature, _) = try phones.connect()
        phones.ask(.setNotify(temperature, true))
        phones.one.radio.leaveAir(suddenly: suddenly)
        phones.pass(.milliseconds(100))
        #expect(phones.two.all(.centralUnsubscribed).isEmpty == suddenly)
        phones.pass(.seconds(1))
        #expect(phones.two.all(.centralUnsubscribed).count == 1)
    }

    @Test(
        "A link lives through a short absence with all that was said, and not through a long one",
        arguments: [true, false]
    )
    func range(byCentral: Bool) throws {
        let phones = try TwoPhones()
        let (temperature, _) = try phones.connect()
        phones.ask(.setNotify(temperature, true))
        func move(_ inRange: Bool) throws {
            if byCentral {
                phones.one.radio.simulateRange(phone: "thermometer", inRange: inRange, at: phones.now)
            } else {
                try phones.two.role.simulateRange(device: "reader", inRange: inRange, at: phones.now)
            }
        }
        try move(false)
        phones.update([5])
        phones.ask(.read(temperature), span: .milliseconds(500))
        #expect(phones.one.all(.characteristicNotified).isEmpty && phones.two.all(.readRequested).isEmpty)
        try move(true)
        phones.pass(.seconds(1))
        #expect(phones.one.all(.characteristicNotified).count == 1 && phones.two.all(.readRequested).count == 1)
        try phones.respond(0, [6], to: .readRequested)
        #expect(try phones.one.last(.valueRead).payload == .value([6]))
        try move(false)
        phones.pass(.seconds(2))
        #expect(try phones.one.last(.peripheralDisconnected).payload == .failure(.connectionTimeout))
        #expect(phones.two.all(.centralUnsubscribed).count == 1)
        phones.one.radio.perform(.connect(phones.one.client, peripheral: phones.one.other), at: phones.now)
        phones.pass(.seconds(2))
        #expect(phones.one.all(.peripheralConnected).count == 1)
        try move(true)
        phones.pass(.seconds(2))
        #expect(phones.one.all(.peripheralConnected).count == 2)
    }

    @Test("Bluetooth that is switched off at either end ends the link at both", arguments: [true, false])
    func power(ofCentral: Bool) throws {
        let phones = try TwoPhones()
        let (temperature, _) = try phones.connect()
        phones.ask(.setNotify(temperature, true))
        let phone = ofCentral ? phones.one : phones.two
        phone.radio.setPower(false, at: phones.now)
        phones.pass(.seconds(1))
        #expect(phones.two.all(.centralUnsubscribed).count == 1)
        #expect(phones.one.all(.peripheralDisconnected).count == (ofCentral ? 0 : 1))
    }

    @Test("A phone that restarts ends the links to it, and its apps hear nothing of it")
    func restart() throws {
        let phones = try TwoPhones()
        let (temperature, _) = try phones.connect()
        phones.ask(.setNotify(temperature, true))
        phones.two.role.endLinks(at: phones.now)
        phones.pass(.milliseconds(10))
        #expect(try phones.one.last(.peripheralDisconnected).payload == .failure(.peripheralDisconnected))
        #expect(phones.two.all(.centralUnsubscribed).isEmpty)
    }

    @Test("A service that goes is told, and nothing comes of it any more")
    func services() throws {
        let phones = try TwoPhones()
        let (temperature, _) = try phones.connect()
        phones.ask(.setNotify(temperature, true))
        phones.two.role.perform(.unpublish(phones.two.server, service: 1), at: phones.now)
        phones.pass(.seconds(1))
        let changed = try phones.one.last(.servicesModified).event
        #expect(changed.voidHandles?.contains(temperature) == true)
        #expect(phones.one.radio.knownPeripheral(phones.one.other)?.characteristics == [])
        phones.ask(.read(temperature))
        #expect(try phones.one.last(.valueRead).payload == .failure(BluetoothFailure.invalidHandle))
    }

    @Test("Two phones are peripherals and centrals to each other at once")
    func bothWays() throws {
        let phones = try TwoPhones()
        let (temperature, _) = try phones.connect()
        phones.offer(by: phones.one)
        phones.two.radio.perform(.connect(phones.two.client, peripheral: phones.two.other), at: phones.now)
        phones.pass(.seconds(1))
        let operation = BluetoothOperation.write(temperature, [3], withResponse: true)
        phones.two.radio.perform(.operate(phones.two.client, peripheral: phones.two.other, operation), at: phones.now)
        phones.pass(.seconds(1))
        #expect(try phones.one.last(.writeRequested).event.peripheral == phones.one.other)
        phones.ask(.write(temperature, [4], withResponse: true))
        #expect(try phones.two.last(.writeRequested).event.peripheral == phones.two.other)
    }

    @Test("A snapshot keeps what is known of a phone and whether it is in reach, and no link")
    func snapshot() throws {
        let phones = try TwoPhones()
        let (temperature, _) = try phones.connect()
        phones.one.radio.simulateRange(phone: "thermometer", inRange: false, at: phones.now)
        var writer = SnapshotCoder()
        try phones.one.radio.code(with: &writer)
        let again = AirPhone("one", beside: "two", called: "thermometer")
        var reader = SnapshotCoder(reading: writer.bytes)
        try again.radio.code(with: &reader)
        try reader.finish()
        let known = again.radio.knownPeripheral(again.other)
        #expect(known == phones.one.radio.knownPeripheral(phones.one.other))
        #expect(known?.characteristics.first { $0.uuid == "2A1C" }?.handle == temperature)
        #expect(again.radio.isInReach(phone: "thermometer") == false)
        #expect(again.radio.connectedPeripherals(services: [again.names.intern("1809")]).isEmpty)
    }

    @Test("A phone that the other does not name goes by what the bench calls it")
    func unnamed() throws {
        let phones = try TwoPhones()
        let third = AirPhone("three", beside: "two", called: "oven")
        try third.begin(on: phones.air) { phones.now }
        func pass() {
            for _ in 0..<200 {
                phones.pass(.milliseconds(10))
                third.radio.timeReached(phones.now)
                third.role.timeReached(phones.now)
            }
        }
        third.radio.perform(.connect(third.client, peripheral: third.other), at: phones.now)
        pass()
        third.radio.perform(.operate(third.client, peripheral: third.other, .discoverServices([])), at: phones.now)
        pass()
        guard case .services(let services) = try third.last(.servicesDiscovered).payload else { return }
        let found = BluetoothOperation.discoverCharacteristics(of: services[0].handle, [])
        third.radio.perform(.operate(third.client, peripheral: third.other, found), at: phones.now)
        pass()
        let handle = try #require(third.radio.knownPeripheral(third.other)?.characteristics.first?.handle)
        third.radio.perform(.operate(third.client, peripheral: third.other, .setNotify(handle, true)), at: phones.now)
        pass()
        #expect(phones.two.names.text(try phones.two.last(.centralSubscribed).event.peripheral) == "three")
    }
}
