import Testing
import WakeModel
import WakePorts

@testable import WakeBluetooth
@testable import WakeDevices

/// A phone that is a peripheral, a central within reach that plays a script, and time that can be made to pass.
final class RoleRig {
    let port: any BluetoothPeripheralPort
    let names: NameTable
    private(set) var reports: [SourceReport] = []
    /// What the central said, a line each.
    var transcript: [String] = []
    /// The values that the app answers reads with, by number of characteristic; an error code where there is none.
    var values: [UInt32: [UInt8]] = [:]
    /// What writes are answered with.
    var writeResult: UInt8 = 0
    /// What was written, by number of characteristic.
    var written: [[UInt8]] = []
    /// Whether the app answers at all.
    var answers = true
    private let now: () -> Instant
    /// Lets time pass until the condition holds; false when it does not within a generous time.
    private let pass: (_ until: () -> Bool) -> Bool
    private let power: (Bool) -> Void

    let first = BluetoothClient(app: AppID(0), slot: 0)
    let second = BluetoothClient(app: AppID(1), slot: 0)
    static let address = "F0:AA:00:00:00:01"

    init(
        port: any BluetoothPeripheralPort,
        names: NameTable,
        now: @escaping () -> Instant,
        power: @escaping (Bool) -> Void,
        pass: @escaping (_ until: () -> Bool) -> Bool
    ) {
        self.port = port
        self.names = names
        self.now = now
        self.power = power
        self.pass = pass
        port.report = { [unowned self] in hear($0) }
    }

    /// A device file of a central that plays these steps.
    static func central(_ script: [String], mtu: Int) throws -> ScenarioDevice {
        let steps = script.isEmpty ? "  []\n" : script.map { "  - \($0)\n" }.joined()
        let text =
            "device: bluetooth-central\naddress: \"\(address)\"\nmtu: \(mtu)\nscript:\n\(steps)"
            + "faults: [{name: mute, never-confirm: true}, {name: slow, slow-reader: 1s}]\n"
        let central = try BluetoothCentral.parse(Array(text.utf8), file: "reader.yaml")
        return ScenarioDevice(name: "reader", group: "reader", line: 1, form: .central(central))
    }

    /// The app: it answers what it is asked at once.
    private func hear(_ report: SourceReport) {
        reports.append(report)
        guard answers, let client = report.event.client else { return }
        let event = report.event
        switch report.payload {
        case .readRequest(let offset):
            let value = values[event.local]
            perform(
                .respond(
                    client,
                    request: event.request,
                    result: value == nil ? 0x80 : 0,
                    value: value.map { Array($0.dropFirst(Int(offset))) }
                )
            )
        case .writeRequests(let writes):
            written += writes.map(\.value)
            perform(.respond(client, request: event.request, result: writeResult, value: nil))
        default: break
        }
    }

    func perform(_ command: PeripheralRoleCommand) { port.perform(command, at: now()) }

    /// Switches the adapter, as the central role would, and says so.
    func setPower(_ on: Bool) {
        power(on)
        port.setPower(on, at: now())
    }

    func all(_ kind: EventKind) -> [SourceReport] { reports.filter { $0.event.kind == kind } }

    func wait(for what: String, until condition: () -> Bool) throws {
        let came = pass(condition)
        try #require(came, "\(what) did not come; \(reports.map(\.event.kind.word)); \(transcript)")
    }

    @discardableResult
    func wait(for kind: EventKind, count: Int = 1) throws -> SourceReport {
        try wait(for: "\(kind.word) number \(count)") { all(kind).count >= count }
        return all(kind)[count - 1]
    }

    func wait(for line: String) throws {
        try wait(for: "the line '\(line)'") { transcript.contains(line) }
    }

    /// 180D with 2A37 (11, notify), 2A38 (12, read write), 2A39 (13, indicate), 2A3A (14, a fixed value), 2A3B (15,
    /// without the permission to read) and 2A3C (16, write without response).
    static func heartRate() -> LocalService {
        func member(
            _ number: UInt32,
            _ uuid: String,
            _ properties: UInt16,
            _ permissions: UInt8,
            _ value: [UInt8]? = nil
        )
            -> LocalCharacteristic
        {
            LocalCharacteristic(
                number: number,
                uuid: uuid,
                properties: properties,
                permissions: permissions,
                value: value
            )
        }
        return LocalService(
            number: 1,
            uuid: "180D",
            characteristics: [
                member(11, "2A37", 16, 1), member(12, "2A38", 10, 3), member(13, "2A39", 32, 1),
                member(14, "2A3A", 2, 1, [1, 2, 3]), member(15, "2A3B", 2, 2), member(16, "2A3C", 4, 2),
            ]
        )
    }

    /// Publishes the heart rate and advertises it.
    func offer() throws {
        perform(.publish(first, Self.heartRate(), again: false))
        try wait(for: .serviceAdded)
        perform(
            .advertise(first, localName: "Strap", services: [names.intern("180D")], overflow: [], again: false)
        )
        try wait(for: .advertisingStarted)
    }
}

/// What scripted centrals in memory and bluetoothd promise alike: each is kept by every backend.
enum RolePromise: String, CaseIterable, CustomTestStringConvertible {
    case answersOnce = "Publishing and advertising are answered once each, and not when they are done again"
    case isFound = "A central finds the service that is advertised, and sees what is published"
    case readsAsk = "BTP-1: A read asks the app whose characteristic it is, and its answer reaches the central"
    case longReads = "A long value is asked for in pieces, each with its offset"
    case readError = "A read that the app refuses fails with its code"
    case fixedValue = "A fixed value is given out without asking"
    case notServing = "BTP-3: A fixed value is refused while its client does not serve"
    case notPermitted = "A read that the permissions do not allow fails without asking"
    case writesAsk = "BTP-1: Writes of each kind ask the app, each once and whole"
    case writeError = "A write that the app refuses fails with its code"
    case subscribes =
        "BTP-1: A central that subscribes is told with the length of its updates, and gets values until it leaves"
    case indicates = "An indication arrives as such"
    case linkEnds = "Subscriptions end with the link, one report each"
    case queueFills = "Updates beyond the queue are dropped, and the app is told when there is room"
    case unpublishEnds = "Taking a service back ends its subscriptions, with a report"
    case releaseIsSilent = "Releasing a client is silent, and its service is gone"
    case overflowIsFound = "BTP-2: A service in the overflow area is found"
    case oneAdvertisement = "A client advertises once at a time; again takes the place of what was before"
    case reserved = "The services of the system are not for apps"
    case powerOff = "Power off ends subscriptions, and what is offered again is found again"
    case twoApps = "Each app is asked for its own characteristics"

    var testDescription: String { rawValue }

    /// What the central does.
    var script: [String] {
        switch self {
        case .answersOnce, .oneAdvertisement, .reserved: []
        case .isFound: ["connect: 180D", "discover"]
        case .readsAsk, .longReads, .readError: ["connect: 180D", "read: 2A38"]
        case .fixedValue, .notServing: ["connect: 180D", "read: 2A3A"]
        case .notPermitted: ["connect: 180D", "read: 2A3B"]
        case .writesAsk:
            [
                "connect: 180D", "{write: 2A38, value: \"01\"}", "{write: 2A3C, value: \"02\", how: command}",
                "{write: 2A38, value: \"\(String(repeating: "03", count: 40))\", how: prepared}",
            ]
        case .writeError: ["connect: 180D", "{write: 2A38, value: \"01\"}"]
        case .subscribes: ["connect: 180D", "subscribe: 2A37", "await: 2A37", "unsubscribe: 2A37"]
        case .indicates: ["connect: 180D", "{subscribe: 2A39, indications: true}", "await: 2A39"]
        case .linkEnds:
            ["connect: 180D", "subscribe: 2A37", "subscribe: 2A39", "await: 2A37", "disconnect"]
        case .queueFills: ["connect: 180D", "subscribe: 2A37", "{await: 2A37, count: 1000}"]
        case .unpublishEnds, .releaseIsSilent: ["connect: 180D", "subscribe: 2A37", "{await: 2A37, count: 2}"]
        case .overflowIsFound: ["connect: 180D"]
        case .powerOff:
            [
                "connect: 180D", "subscribe: 2A37", "{await: 2A37, count: 2}", "disconnect", "connect: 180D",
                "read: 2A3A",
            ]
        case .twoApps: ["connect: 180D", "read: 2A38", "read: 2A19"]
        }
    }

    var mtu: Int { self == .longReads ? 23 : 185 }

    func check(_ rig: RoleRig) throws {
        switch self {
        case .answersOnce: try answersOnce(rig)
        case .isFound: try isFound(rig)
        case .readsAsk: try readsAsk(rig)
        case .longReads: try longReads(rig)
        case .readError: try readError(rig)
        case .fixedValue: try fixedValue(rig)
        case .notServing: try notServing(rig)
        case .notPermitted: try notPermitted(rig)
        case .writesAsk: try writesAsk(rig)
        case .writeError: try writeError(rig)
        case .subscribes: try subscribes(rig)
        case .indicates: try indicates(rig)
        case .linkEnds: try linkEnds(rig)
        case .queueFills: try queueFills(rig)
        case .unpublishEnds: try unpublishEnds(rig)
        case .releaseIsSilent: try releaseIsSilent(rig)
        case .overflowIsFound: try overflowIsFound(rig)
        case .oneAdvertisement: try oneAdvertisement(rig)
        case .reserved: try reserved(rig)
        case .powerOff: try powerOff(rig)
        case .twoApps: try twoApps(rig)
        }
    }

    private func answersOnce(_ rig: RoleRig) throws {
        try rig.offer()
        let added = rig.all(.serviceAdded)[0].event
        #expect(added.client == rig.first)
        #expect(added.local == 1)
        #expect(!added.failed)
        #expect(rig.names.text(added.subject) == "180D")
        #expect(rig.all(.advertisingStarted)[0].event.client == rig.first)
        rig.perform(.publish(rig.first, RoleRig.heartRate(), again: true))
        rig.perform(
            .advertise(rig.first, localName: nil, services: [], overflow: [rig.names.intern("180D")], again: true)
        )
        // What is answered next shows that the two were not.
        rig.perform(.publish(rig.second, LocalService(number: 1, uuid: "180F"), again: false))
        try rig.wait(for: .serviceAdded, count: 2)
        #expect(rig.all(.serviceAdded)[1].event.client == rig.second)
        #expect(rig.all(.advertisingStarted).count == 1)
    }

    private func isFound(_ rig: RoleRig) throws {
        try rig.offer()
        try rig.wait(for: "connected")
        try rig.wait(for: "service 180D 2A37 2A38 2A39 2A3A 2A3B 2A3C")
    }

    private func readsAsk(_ rig: RoleRig) throws {
        rig.values[12] = [7, 8]
        try rig.offer()
        let asked = try rig.wait(for: .readRequested)
        #expect(asked.event.client == rig.first)
        #expect(asked.event.local == 12)
        #expect(asked.event.request != 0)
        #expect(rig.names.text(asked.event.peripheral) == "reader")
        #expect(rig.names.text(asked.event.subject) == "reader/2A38")
        #expect(asked.payload == .readRequest(offset: 0))
        try rig.wait(for: "read 2A38 0708")
    }

    private func longReads(_ rig: RoleRig) throws {
        rig.values[12] = Array(0..<50)
        try rig.offer()
        try rig.wait(for: "read 2A38 " + (0..<50).map { hex(UInt8($0)) }.joined())
        let offsets = rig.all(.readRequested).map(\.payload)
        #expect(offsets == [0, 22, 44].map { .readRequest(offset: $0) })
        #expect(Set(rig.all(.readRequested).map(\.event.request)).count == 3)
    }

    private func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    private func readError(_ rig: RoleRig) throws {
        try rig.offer()
        try rig.wait(for: "read 2A38 error 0x80")
    }

    private func fixedValue(_ rig: RoleRig) throws {
        try rig.offer()
        try rig.wait(for: "read 2A3A 010203")
        #expect(rig.all(.readRequested).isEmpty)
    }

    private func notServing(_ rig: RoleRig) throws {
        rig.perform(.publish(rig.first, RoleRig.heartRate(), again: false))
        rig.perform(.setServing(rig.first, false))
        rig.perform(
            .advertise(rig.first, localName: nil, services: [rig.names.intern("180D")], overflow: [], again: false)
        )
        try rig.wait(for: "read 2A3A error 0x0e")
    }

    private func notPermitted(_ rig: RoleRig) throws {
        try rig.offer()
        try rig.wait(for: "read 2A3B error 0x02")
        #expect(rig.all(.readRequested).isEmpty)
    }

    private func writesAsk(_ rig: RoleRig) throws {
        try rig.offer()
        try rig.wait(for: .writeRequested, count: 3)
        let long = [UInt8](repeating: 3, count: 40)
        let expected: [EventPayload] = [
            .writeRequests([LocalWrite(characteristic: 12, offset: 0, value: [1])]),
            .writeRequests([LocalWrite(characteristic: 16, offset: 0, value: [2])]),
            .writeRequests([LocalWrite(characteristic: 12, offset: 0, value: long)]),
        ]
        #expect(rig.all(.writeRequested).map(\.payload) == expected)
        #expect(rig.all(.writeRequested).map(\.event.local) == [12, 16, 12])
        try rig.wait(for: "wrote 2A38 " + String(repeating: "03", count: 40))
        #expect(rig.transcript.filter { $0.hasPrefix("wrote") }.count == 3)
    }

    private func writeError(_ rig: RoleRig) throws {
        rig.writeResult = 0x0D
        try rig.offer()
        try rig.wait(for: "wrote 2A38 error 0x0d")
    }

    private func subscribes(_ rig: RoleRig) throws {
        try rig.offer()
        let came = try rig.wait(for: .centralSubscribed)
        #expect(came.event.client == rig.first)
        #expect(came.event.local == 11)
        #expect(came.payload == .central(maximumUpdateLength: 182))
        #expect(rig.port.maximumUpdateLength(of: came.event.peripheral) == 182)
        #expect(rig.port.maximumUpdateLength(of: rig.names.intern("nobody")) == 20)
        rig.perform(.update(rig.first, characteristic: 11, value: [0, 72], centrals: []))
        try rig.wait(for: "notified 2A37 0048")
        let gone = try rig.wait(for: .centralUnsubscribed)
        #expect(gone.event.local == 11)
        #expect(rig.names.text(gone.event.subject) == "reader/2A37")
        rig.perform(.update(rig.first, characteristic: 11, value: [0, 73], centrals: []))
        #expect(rig.all(.centralSubscribed).count == 1)
    }

    private func indicates(_ rig: RoleRig) throws {
        try rig.offer()
        let came = try rig.wait(for: .centralSubscribed)
        rig.perform(.update(rig.first, characteristic: 13, value: [9], centrals: [came.event.peripheral]))
        try rig.wait(for: "indicated 2A39 09")
    }

    private func linkEnds(_ rig: RoleRig) throws {
        try rig.offer()
        try rig.wait(for: .centralSubscribed, count: 2)
        rig.perform(.update(rig.first, characteristic: 11, value: [1], centrals: []))
        try rig.wait(for: .centralUnsubscribed, count: 2)
        #expect(Set(rig.all(.centralUnsubscribed).map(\.event.local)) == [11, 13])
        try rig.wait(for: "disconnected")
    }

    private func queueFills(_ rig: RoleRig) throws {
        try rig.offer()
        try rig.wait(for: .centralSubscribed)
        let count = 100
        for number in 0..<count {
            rig.perform(.update(rig.first, characteristic: 11, value: [UInt8(number)], centrals: []))
        }
        try rig.wait(for: .readyToUpdate)
        #expect(rig.all(.readyToUpdate)[0].event.client == rig.first)
        rig.perform(.update(rig.first, characteristic: 11, value: [255], centrals: []))
        try rig.wait(for: "notified 2A37 ff")
        let arrived = rig.transcript.filter { $0.hasPrefix("notified") }
        #expect(arrived.count >= PeripheralRole.updateQueueLength + 1)
        #expect(arrived.count < count)
        let expected = (0..<arrived.count - 1).map { "notified 2A37 \(hex(UInt8($0)))" } + ["notified 2A37 ff"]
        #expect(arrived == expected, "values keep their order, and the first ones are not those that are dropped")
        #expect(rig.all(.readyToUpdate).count == 1)
    }

    private func unpublishEnds(_ rig: RoleRig) throws {
        try rig.offer()
        try rig.wait(for: .centralSubscribed)
        rig.perform(.unpublish(rig.first, service: 1))
        let gone = try rig.wait(for: .centralUnsubscribed)
        #expect(gone.event.local == 11)
    }

    private func releaseIsSilent(_ rig: RoleRig) throws {
        try rig.offer()
        try rig.wait(for: .centralSubscribed)
        rig.perform(.release(rig.first))
        rig.perform(.publish(rig.second, RoleRig.heartRate(), again: false))
        try rig.wait(for: .serviceAdded, count: 2)
        #expect(rig.all(.centralUnsubscribed).isEmpty)
    }

    private func overflowIsFound(_ rig: RoleRig) throws {
        rig.perform(.publish(rig.first, RoleRig.heartRate(), again: false))
        rig.perform(
            .advertise(rig.first, localName: nil, services: [], overflow: [rig.names.intern("180D")], again: false)
        )
        try rig.wait(for: "connected")
    }

    private func oneAdvertisement(_ rig: RoleRig) throws {
        try rig.offer()
        let services = [rig.names.intern("180F")]
        rig.perform(.advertise(rig.first, localName: nil, services: services, overflow: [], again: false))
        let refused = try rig.wait(for: .advertisingStarted, count: 2)
        #expect(refused.event.failed)
        #expect(refused.payload == .failure(.alreadyAdvertising))
        rig.perform(.stopAdvertising(rig.first))
        rig.perform(.advertise(rig.first, localName: nil, services: services, overflow: [], again: false))
        let started = try rig.wait(for: .advertisingStarted, count: 3)
        #expect(!started.event.failed)
    }

    private func reserved(_ rig: RoleRig) throws {
        rig.perform(.publish(rig.first, LocalService(number: 3, uuid: "1801"), again: false))
        let refused = try rig.wait(for: .serviceAdded)
        #expect(refused.event.failed)
        #expect(refused.event.local == 3)
        #expect(refused.payload == .failure(.uuidNotAllowed))
    }

    private func powerOff(_ rig: RoleRig) throws {
        try rig.offer()
        try rig.wait(for: .centralSubscribed)
        rig.setPower(false)
        try rig.wait(for: .centralUnsubscribed)
        try rig.wait(for: "disconnected")
        rig.setPower(true)
        rig.perform(.publish(rig.first, RoleRig.heartRate(), again: true))
        rig.perform(
            .advertise(rig.first, localName: nil, services: [rig.names.intern("180D")], overflow: [], again: true)
        )
        try rig.wait(for: "read 2A3A 010203")
        #expect(rig.all(.advertisingStarted).count == 1)
        #expect(rig.all(.serviceAdded).count == 1)
    }

    private func twoApps(_ rig: RoleRig) throws {
        rig.values = [12: [1], 21: [2]]
        let level = LocalCharacteristic(number: 21, uuid: "2A19", properties: 2, permissions: 1)
        rig.perform(
            .publish(rig.second, LocalService(number: 1, uuid: "180F", characteristics: [level]), again: false)
        )
        try rig.offer()
        try rig.wait(for: "read 2A19 02")
        #expect(rig.all(.readRequested).map(\.event.client) == [rig.first, rig.second])
    }
}
