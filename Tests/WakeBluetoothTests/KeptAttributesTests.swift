import Testing
import WakeBluetooth
import WakeDevices
import WakeModel
import WakePorts

/// A radio with a tag in reach, whose time the test moves.
private final class Tag {
    let names = NameTable()
    let radio: SimulatedBluetooth
    var now = Instant.zero
    var reports: [SourceReport] = []
    let client = BluetoothClient(app: AppID(0), slot: 0)
    let other = BluetoothClient(app: AppID(1), slot: 0)

    init(_ text: String, keepsAttributes: Bool = true) throws {
        let peripheral = try BluetoothPeripheral.parse(Array(text.utf8), file: "tag.yaml")
        let device = ScenarioDevice(name: "tag", group: "tag", line: 1, form: .peripheral(peripheral))
        radio = SimulatedBluetooth(devices: [device], names: names, seed: 1, keepsAttributes: keepsAttributes)
        radio.report = { [unowned self] in reports.append($0) }
        try radio.start(at: .zero)
    }

    var tag: NameID { names.intern("tag") }
    /// The changes that apps are told, each with its handles; and how many the phone was not told.
    var changes: [ClosedRange<AttributeHandle>?] {
        reports.filter { $0.event.kind == .servicesModified && !$0.event.failed }.map(\.event.voidHandles)
    }
    var untold: Int { reports.count { $0.event.isUntoldChange } }

    func run(for span: Instant.Span) {
        let end = now.advanced(by: span)
        while let next = radio.nextDeadline, next <= end {
            now = max(now, next)
            radio.timeReached(now)
        }
        now = end
        radio.timeReached(now)
    }

    func perform(_ command: BluetoothCommand) {
        radio.perform(command, at: now)
        run(for: .seconds(5))
    }

    func connect(_ client: BluetoothClient? = nil) { perform(.connect(client ?? self.client, peripheral: tag)) }

    /// The link is lost, and comes again; in between something may happen.
    func reconnect(after happens: (Tag) throws -> Void = { _ in }) throws {
        try radio.simulateDisconnect(device: "tag", at: now)
        run(for: .zero)
        try happens(self)
        connect()
    }

    func arm(_ fault: String) throws {
        try radio.arm(fault: fault, device: "tag", at: now)
        run(for: .zero)
    }

    /// What comes of an operation: the last report.
    @discardableResult
    func ask(_ operation: BluetoothOperation, _ client: BluetoothClient? = nil) throws -> SourceReport {
        perform(.operate(client ?? self.client, peripheral: tag, operation))
        return try #require(reports.last)
    }

    /// The handles of the services that an app finds.
    func services() throws -> [AttributeHandle] {
        guard case .services(let found) = try ask(.discoverServices([])).payload else { return [] }
        return found.map(\.handle)
    }

    func subject(_ report: SourceReport) -> String { names.text(report.event.subject) }
}

/// 180D at 10: 2A37 at 11 to 13, 2A39 at 14; 180F at 16: 2A19 at 17 to 19.
private let silent = """
    device: bluetooth-peripheral
    address: "F0:11:22:33:44:55"
    gatt:
      - service: 180D
        characteristics:
          - {uuid: 2A37, properties: [notify, read], value: "0102"}
          - {uuid: 2A39, properties: [write, read], value: "33"}
      - service: 180F
        characteristics:
          - {uuid: 2A19, properties: [read, notify], value: "5a"}
    faults:
      - {name: gone, change-services: {remove: [180F]}}
      - name: replaced
        change-services:
          remove: [180F]
          add: [{service: 180F, characteristics: [{uuid: 2A1A, properties: [read]}]}]
      - {name: near, stale-handles: 3}
      - {name: next, stale-handles: 6}
      - {name: far, stale-handles: 16}
    """
/// The same with Service Changed.
private let telling = silent.replacing(
    "\nfaults:",
    with: "\n  - {service: 1801, characteristics: [{uuid: 2A05, properties: [indicate]}]}\nfaults:"
)
/// The same, and it is bonded as soon as 2A39 is read.
private let bonded = telling.replacing("value: \"33\"", with: "value: \"33\", security: encrypted")

private let invalidHandle = EventPayload.failure(.invalidHandle)
private let notPermitted = EventPayload.failure(
    BluetoothFailure(domain: .att, code: 3, message: "Writing is not permitted.")
)

@Suite("The attributes that a phone keeps")
struct KeptAttributesTests {
    @Test("BTC-14: without Service Changed moved handles are not seen, and nothing is at the old ones")
    func moved() throws {
        let tag = try Tag(silent)
        tag.connect()
        #expect(try tag.services() == [10, 16])
        try tag.arm("far")
        try tag.reconnect()
        #expect(tag.untold == 1)
        #expect(try tag.services() == [10, 16])
        let answer = try tag.ask(.setNotify(11, true))
        #expect(answer.payload == invalidHandle && answer.event.failed && tag.subject(answer) == "tag/2A37")
        #expect(try tag.ask(.read(14)).payload == invalidHandle)
        #expect(try tag.ask(.write(14, [1], withResponse: true)).payload == invalidHandle)
        let isHeard = try tag.radio.simulateNotification(device: "tag", characteristic: "2A37", value: [7], at: tag.now)
        #expect(!isHeard)
        #expect(try tag.radio.forgetAttributes(of: "tag"))
        #expect(try !tag.radio.forgetAttributes(of: "tag"))
        #expect(try tag.services() == [26, 32])
        #expect(try tag.ask(.setNotify(27, true)).payload == .notifying(true))
        #expect(tag.changes.isEmpty)
    }

    @Test("BTC-14: an old handle reaches what has it now: that is read, and what it does not take is refused")
    func otherAttributes() throws {
        let tag = try Tag(silent)
        tag.connect()
        #expect(try tag.services() == [10, 16])
        try tag.arm("near")
        try tag.reconnect()
        // Now 180D at 13: 2A37 at 14 to 16, 2A39 at 17; 180F at 19: 2A19 at 20 to 22.
        #expect(try tag.ask(.read(11)).payload == invalidHandle)
        let read = try tag.ask(.read(14))
        #expect(read.payload == .value([1, 2]) && tag.subject(read) == "tag/2A39")
        #expect(try tag.ask(.read(17)).payload == .value([0x33]))
        #expect(try tag.ask(.write(14, [9], withResponse: true)).payload == notPermitted)
        #expect(try tag.ask(.setNotify(11, true)).payload == notPermitted)
        #expect(try tag.ask(.setNotify(17, true)).payload == notPermitted)
        #expect(try tag.ask(.readDescriptor(13)).payload == .value([0x0d, 0x18]))
        #expect(try tag.ask(.readDescriptor(19)).payload == .value([0x0f, 0x18]))
        #expect(try tag.ask(.writeDescriptor(19, [1])).payload == notPermitted)
        // One that the phone has never found is none.
        #expect(try tag.ask(.read(20)).payload == invalidHandle)
    }

    @Test("BTC-14: a value is taken for what has its handle in the old table, and reaches nobody where nothing has")
    func otherValues() throws {
        let tag = try Tag(silent)
        tag.connect()
        #expect(try tag.services() == [10, 16])
        try tag.arm("next")
        try tag.reconnect()
        // The configuration of 2A37 is now where that of 2A19 was, and 2A37 where 2A19 was.
        #expect(try tag.ask(.setNotify(17, true)).payload == .notifying(true))
        let isHeard = try tag.radio.simulateNotification(device: "tag", characteristic: "2A37", value: [7], at: tag.now)
        tag.run(for: .zero)
        let value = try #require(tag.reports.last)
        #expect(isHeard && value.payload == .value([7]))
        #expect(value.event.attribute == 17 && tag.subject(value) == "tag/2A19")
    }

    @Test(
        "BTC-14: over a link a change of services is told by Service Changed, and else not seen",
        arguments: [true, false]
    )
    func changed(isTold: Bool) throws {
        let tag = try Tag(isTold ? telling : silent)
        tag.connect()
        #expect(try tag.services() == [10, 16])
        try tag.arm("gone")
        #expect(tag.changes == (isTold ? [16...19] : []))
        #expect(tag.untold == (isTold ? 0 : 1))
        #expect(try tag.services() == (isTold ? [10] : [10, 16]))
        #expect(try tag.ask(.read(17)).payload == invalidHandle)
        tag.connect(tag.other)
        #expect(tag.untold == (isTold ? 0 : 2))
        #expect(tag.reports.last?.event.client == tag.other)
    }

    @Test("BTC-14: a service that another of its UUID replaces is gone, and the other is there")
    func replaced() throws {
        let tag = try Tag(telling)
        tag.connect()
        #expect(try tag.services() == [10, 16])
        try tag.arm("replaced")
        let found = try tag.services()
        #expect(found.count == 2 && found.first == 10 && found.last.map { $0 > 19 } == true, "\(found)")
    }

    @Test("BTC-14: a change before anything was found needs no telling")
    func changedUnseen() throws {
        let tag = try Tag(silent)
        tag.connect()
        try tag.arm("gone")
        #expect(tag.untold == 0)
        #expect(try tag.services() == [10])
    }

    @Test(
        "BTC-14: what was found outlives the link without Service Changed, or with a bond, and where the switch is on",
        arguments: [
            (silent, true, 10), (telling, true, 26), (bonded, true, 10), (silent, false, 26), (bonded, false, 26),
        ] as [(String, Bool, AttributeHandle)]
    )
    func outlives(text: String, isOn: Bool, first: AttributeHandle) throws {
        let tag = try Tag(text, keepsAttributes: isOn)
        tag.connect()
        #expect(try tag.services() == [10, 16])
        try tag.ask(.read(14))
        try tag.arm("far")
        try tag.reconnect()
        #expect(try tag.services().first == first)
        #expect(tag.untold == (first == 10 ? 1 : 0))
    }

    @Test(
        "BTC-14: a bonded device tells at its next link which services went while it was away",
        arguments: [true, false]
    )
    func toldLater(isBonded: Bool) throws {
        let tag = try Tag(bonded)
        tag.connect()
        #expect(try tag.services() == [10, 16])
        if isBonded { try tag.ask(.read(14)) }
        try tag.reconnect { try $0.arm("gone") }
        #expect(tag.changes == (isBonded ? [16...19] : []))
        #expect(tag.untold == 0)
        #expect(try tag.services() == [10])
    }

    @Test("BTC-14: Bluetooth that goes off and on keeps what was found, until the phone is to forget")
    func power() throws {
        let tag = try Tag(silent)
        tag.connect()
        #expect(try tag.services() == [10, 16])
        try tag.arm("far")
        for isForgotten in [false, true] {
            tag.perform(.power(false))
            if isForgotten { tag.perform(.forgetAttributes) }
            tag.perform(.power(true))
            tag.connect()
            #expect(try tag.services() == (isForgotten ? [26, 32] : [10, 16]))
        }
    }

    @Test("The services of the system take no handles, and no app finds them", arguments: ["1800", "1801"])
    func system(service: String) throws {
        let row = "- {service: \(service), characteristics: [{uuid: 2A05, properties: [indicate]}]}"
        let tag = try Tag(silent.replacing("\ngatt:", with: "\ngatt:\n  \(row)"))
        tag.connect()
        #expect(try tag.services() == [10, 16])
        #expect(try tag.ask(.discoverServices([tag.names.intern(service)])).payload == .services([]))
        #expect(tag.radio.knownPeripheral(tag.tag)?.services.map(\.handle) == [10, 16])
        #expect(tag.radio.knownPeripheral(tag.tag)?.characteristics.map(\.uuid) == ["2A37", "2A39", "2A19"])
        #expect(tag.radio.notified(by: "tag").map(\.uuid) == ["2A37", "2A19"])
        #expect(tag.radio.connectedPeripherals(services: [tag.names.intern(service)]).isEmpty)
        #expect(try tag.ask(.read(0)).payload == invalidHandle)
        #expect(try tag.ask(.read(17)).payload == .value([0x5a]))
    }

    @Test("BTC-14: a scenario has the device indicate Service Changed, of some handles or of all")
    func indicated() throws {
        let tag = try Tag(telling)
        func say(_ value: [UInt8]) throws -> Bool {
            defer { tag.run(for: .zero) }
            return try tag.radio.simulateNotification(
                device: "tag",
                characteristic: "2A05",
                value: value,
                at: tag.now
            )
        }
        #expect(try !say([10, 0, 15, 0]))
        #expect(tag.radio.silence(of: "tag", on: "2A05").why == "tag has no link")
        tag.connect()
        #expect(try tag.services() == [10, 16])
        #expect(try say([10, 0, 15, 0]))
        #expect(try say([15, 0, 10, 0]))
        #expect(tag.changes == [10...15, 1...AttributeHandle.max])
        let told = tag.reports.filter { $0.event.kind == .servicesModified }.map(\.payload)
        #expect(told == [.handles([10]), .handles([10, 16])])
    }

    @Test("BTC-6: a client has found what it was told over the link that is up, and what is void no more")
    func found() throws {
        let tag = try Tag(telling)
        tag.connect()
        tag.connect(tag.other)
        func found(_ client: BluetoothClient) -> [AttributeHandle]? {
            let known = tag.radio.knownPeripheral(tag.tag, of: client)
            return known.map { $0.services.map(\.handle) + $0.characteristics.map(\.handle) }
        }
        #expect(try tag.services() == [10, 16])
        try tag.ask(.discoverCharacteristics(of: 10, [tag.names.intern("2A37")]))
        try tag.ask(.discoverServices([tag.names.intern("180F")]), tag.other)
        #expect(found(tag.client) == [10, 16, 11])
        #expect(found(tag.other) == [16])
        try tag.arm("gone")
        #expect(found(tag.client) == [10, 11])
        #expect(found(tag.other) == [])
        tag.perform(.release(tag.client))
        #expect(found(tag.client) == [])
        tag.connect()
        try tag.ask(.discoverServices([]))
        try tag.reconnect()
        #expect(found(tag.client) == [])
        #expect(tag.radio.knownPeripheral(tag.names.intern("nobody"), of: tag.client) == nil)
    }

    @Test("A snapshot holds the old table and what each client has found")
    func snapshot() throws {
        let tag = try Tag(silent)
        tag.connect()
        #expect(try tag.services() == [10, 16])
        try tag.arm("near")
        try tag.reconnect()
        #expect(try tag.services() == [10, 16])
        var writer = SnapshotCoder()
        try tag.radio.code(with: &writer)
        let again = try Tag(silent)
        again.now = tag.now
        var reader = SnapshotCoder(reading: writer.bytes)
        try again.radio.code(with: &reader)
        try reader.finish()
        let found = again.radio.knownPeripheral(again.tag, of: again.client)
        #expect(found == tag.radio.knownPeripheral(tag.tag, of: tag.client) && found?.services.count == 2)
        #expect(try again.services() == [10, 16])
        #expect(try again.ask(.read(14)).payload == .value([1, 2]))
    }
}
