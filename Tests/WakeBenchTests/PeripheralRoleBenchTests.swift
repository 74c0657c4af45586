import Foundation
import Testing
import WakeBench
import WakeDevices
import WakeModel
import WakePorts
import WakeReports
import WakeRouter

/// A peripheral end that keeps what it is asked, and grants all of it.
private final class RecordedEnd: BluetoothPeripheralPort {
    /// A command, or the word for what else was done.
    enum Step: Equatable {
        case command(PeripheralRoleCommand)
        case power(Bool)
    }

    let backend = "simulated"
    var report: ((SourceReport) -> Void)?
    var nextDeadline: Instant? { nil }
    var steps: [Step] = []

    func start(at now: Instant) {}
    func stop() {}
    func timeReached(_ now: Instant) {}
    func setPower(_ on: Bool, at now: Instant) { steps.append(.power(on)) }
    func maximumUpdateLength(of central: NameID) -> UInt16 { 182 }
    func updateRoom(of client: BluetoothClient) -> Int { 16 }

    func perform(_ command: PeripheralRoleCommand, at now: Instant) {
        steps.append(.command(command))
        switch command {
        case .publish(let client, let service, again: false):
            report?(SourceReport(WakeEvent(kind: .serviceAdded, local: service.number, client: client)))
        case .advertise(let client, _, _, _, again: false):
            report?(SourceReport(WakeEvent(kind: .advertisingStarted, client: client)))
        default: break
        }
    }
}

/// Counts the reads of centrals that were decided about.
private final class ReadCounter: BenchObserver {
    var reads = 0

    func observe(_ item: InboxItem, _ output: RouterOutput, at now: Instant) {
        reads += output.decisions.count { $0.kind == .readRequested }
    }
}

/// A bench with one scripted app that is a battery, and a peripheral end that grants everything.
private struct Stage {
    let names = NameTable()
    let bench: Bench
    let end = RecordedEnd()
    let host: ScriptedAppHost
    let app = AppID(0)
    let client = BluetoothClient(app: AppID(0), slot: 0)

    init() throws {
        let text = """
            scenario: battery
            apps:
              - scripted: com.example.battery
                modes: [bluetooth-peripheral]
                peripheral:
                  restore-identifier: battery
                  name: Battery
                  services:
                    - service: 180F
                      characteristics:
                        - {uuid: 2A19, properties: [read, write, notify], value: "5064"}
                on:
                  - {event: any, then: end}
            steps: []
            until: T+00:01:00
            """
        let scenario = try Scenario.parse(Array(text.utf8), file: "battery.yaml", files: ScenarioFiles())
        guard case .scripted(let script) = scenario.apps[0].form else { throw CancellationError() }
        bench = Bench(
            router: Router(profile: .ios17),
            names: names,
            journal: NoJournal()
        )
        host = ScriptedAppHost(names: names, profile: .ios17)
        bench.add(end)
        bench.assign(app, to: host, leavesTheBench: false)
        bench.listen(to: host)
        host.add(script, as: app, devices: [])
        let manifest = AppManifest(bundle: names.intern(script.identifier), modes: script.modes)
        bench.submit(.install(app, manifest), origin: .none)
        try user(.launch)
    }

    /// What was asked of the end since the last time.
    func steps() -> [RecordedEnd.Step] {
        defer { end.steps.removeAll() }
        return end.steps
    }

    func user(_ action: UserAction) throws {
        bench.submit(.user(app, action), origin: .none)
        try bench.run(at: bench.now)
    }

    /// The central asks for something.
    func ask(_ kind: EventKind, request: UInt32, _ payload: EventPayload = .none) throws {
        let central = names.intern("reader")
        let event = WakeEvent(kind: kind, peripheral: central, local: 2, request: request, client: client)
        bench.submit(SourceReport(event, payload))
        try bench.run(at: bench.now)
    }

    func power(_ on: Bool) throws {
        bench.submit(SourceReport(WakeEvent(kind: on ? .bluetoothPoweredOn : .bluetoothPoweredOff)))
        try bench.run(at: bench.now)
    }

    func answer(_ request: UInt32, _ result: UInt8, _ value: [UInt8]?) -> RecordedEnd.Step {
        .command(.respond(client, request: request, result: result, value: value))
    }

    var service: LocalService {
        let battery = LocalCharacteristic(number: 2, uuid: "2A19", properties: 0x1a, permissions: 3)
        return LocalService(number: 1, uuid: "180F", characteristics: [battery])
    }

    func advertise(full: Bool, again: Bool) -> RecordedEnd.Step {
        let uuid = names.intern("180F")
        return .command(
            .advertise(
                client,
                localName: full ? "Battery" : nil,
                services: full ? [uuid] : [],
                overflow: full ? [] : [uuid],
                again: again
            )
        )
    }
}

@Suite("The peripheral role on the bench")
struct PeripheralRoleBenchTests {
    @Test("BTP-2: a scripted app publishes and advertises, and loses its name in the background")
    func publishes() throws {
        let stage = try Stage()
        #expect(
            stage.steps() == [
                .command(.setServing(stage.client, true)),
                .command(.publish(stage.client, stage.service, again: false)),
                stage.advertise(full: true, again: false),
            ]
        )
        try stage.user(.home)
        #expect(stage.steps() == [stage.advertise(full: false, again: true)])
    }

    @Test("BTP-1: a suspended scripted app answers reads and writes from its values, and updates who subscribes")
    func answers() throws {
        let stage = try Stage()
        try stage.user(.home)
        #expect(stage.bench.router.state(of: stage.app) == .suspended)
        _ = stage.steps()
        try stage.ask(.readRequested, request: 1, .readRequest(offset: 1))
        try stage.ask(.readRequested, request: 2, .readRequest(offset: 3))
        let write = LocalWrite(characteristic: 2, offset: 1, value: [7, 8])
        try stage.ask(.writeRequested, request: 3, .writeRequests([write]))
        try stage.ask(.centralSubscribed, request: 0, .central(maximumUpdateLength: 182))
        let reader = stage.names.intern("reader")
        #expect(
            stage.steps() == [
                stage.answer(1, 0, [0x64]), stage.answer(2, 7, nil), stage.answer(3, 0, nil),
                .command(
                    .update(stage.client, characteristic: 2, value: [0x50, 7, 8], centrals: [reader])
                ),
            ]
        )
        stage.host.timeReached(stage.bench.now)
        try stage.bench.run(at: stage.bench.now)
        #expect(stage.bench.router.state(of: stage.app) == .suspended)
    }

    @Test("BTP-4: a relaunched scripted app gets its services back and publishes nothing twice")
    func restores() throws {
        let stage = try Stage()
        try stage.user(.home)
        stage.bench.submit(.terminate(stage.app, .memory), origin: .none)
        try stage.bench.run(at: stage.bench.now)
        _ = stage.steps()
        try stage.ask(.readRequested, request: 4, .readRequest(offset: 0))
        #expect(stage.bench.router.generation(of: stage.app) == 2)
        #expect(stage.steps() == [stage.answer(4, 0, [0x50, 0x64])])
    }

    @Test("BTC-10: the end hears of the adapter before what is published again")
    func power() throws {
        let stage = try Stage()
        _ = stage.steps()
        try stage.power(false)
        try stage.power(true)
        #expect(
            stage.steps() == [
                .power(false), .power(true),
                .command(.publish(stage.client, stage.service, again: true)),
                .command(.setServing(stage.client, true)),
                stage.advertise(full: true, again: true),
            ]
        )
    }

    /// How many reads of a central came to an app without the mode that goes home while Bluetooth is off, and comes back
    /// at some time or never.
    private func reads(comingBack: String? = nil) throws -> Int {
        let folder = FileManager.default.temporaryDirectory.appending(path: "off-while-leaving-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let reader = """
            device: bluetooth-central
            address: "F0:AA:00:00:00:01"
            script: [wait: 5s, connect: 180F, read: 2A19, disconnect]
            """
        let scenario = """
            scenario: off-while-leaving
            backends: {bluetooth: simulated}
            devices: [{file: reader.yaml, name: reader}]
            apps:
              - scripted: com.example.battery
                name: battery
                peripheral:
                  name: Battery
                  services: [{service: 180F, characteristics: [{uuid: 2A19, properties: [read], value: "50"}]}]
            steps:
              - {at: 0, launch: battery}
              - {at: 1s, bluetooth: off}
              - {at: 2s, home: battery}
              - {at: 3s, bluetooth: on}
              \(comingBack.map { "- {at: \($0), launch: battery}" } ?? "")
            until: 60s
            """
        try Data(reader.utf8).write(to: folder.appending(path: "reader.yaml"))
        try Data(scenario.utf8).write(to: folder.appending(path: "scenario.yaml"))
        var options = RunOptions(
            scenario: folder.appending(path: "scenario.yaml").path,
            out: folder.appending(path: "out").path
        )
        options.journal = false
        let counter = ReadCounter()
        let run = try Run(options)
        run.bench.add(counter)
        try run.execute()
        return counter.reads
    }

    @Test("BTP-3: no central finds an app without the mode that went home while Bluetooth was off, until it is back")
    func leftWhileOff() throws {
        #expect(try reads() == 0)
        #expect(try reads(comingBack: "30s") == 1)
    }
}

@Suite("Values that steps have a scripted app notify")
struct NotifiedValuesTests {
    /// A run in which a central does what its script says.
    private func play(_ steps: [String], reader script: String) throws -> RunLog {
        let folder = FileManager.default.temporaryDirectory.appending(path: "notified-values-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let reader = """
            device: bluetooth-central
            address: "F0:AA:00:00:00:01"
            script: [\(script)]
            """
        let scenario = """
            scenario: notified-values
            backends: {bluetooth: simulated}
            devices: [{file: reader.yaml, name: reader}]
            apps:
              - scripted: com.example.strap
                name: strap
                modes: [bluetooth-peripheral]
                peripheral:
                  name: Strap
                  services:
                    - service: 180D
                      characteristics:
                        - {uuid: 2A37, properties: [notify], value: "0048"}
                        - {uuid: 2A39, properties: [write]}
                on: [{event: any, then: end}]
            steps: [\(steps.joined(separator: ", "))]
            until: 60s
            """
        try Data(reader.utf8).write(to: folder.appending(path: "reader.yaml"))
        try Data(scenario.utf8).write(to: folder.appending(path: "scenario.yaml"))
        let out = folder.appending(path: "out").path
        try Run(RunOptions(scenario: folder.appending(path: "scenario.yaml").path, out: out)).execute()
        return try RunLog(folder: out)
    }

    /// A central that subscribes, and writes as soon as it has so many values.
    private func reader(of values: Int) -> String {
        "connect: 180D, discover, subscribe: 2A37, {await: 2A37, count: \(values), within: 50s}, "
            + "{write: 2A39, value: \"01\"}"
    }

    /// When centrals wrote.
    private func writes(_ log: RunLog) -> [Instant] {
        log.decisions.filter { $0.kind == "write-requested" }.map(\.at)
    }

    @Test("Who is subscribed gets each value, beside the one that the subscription brought")
    func values() throws {
        let log = try play(
            [
                "{at: 0, launch: strap}",
                "{at: 10s, notify: strap, characteristic: 2A37, value: \"0049\"}",
                "{at: 20s, notify: strap, characteristic: 2A37, value: \"004a\"}",
            ],
            reader: reader(of: 3)
        )
        let written = writes(log)
        #expect(written.count == 1)
        #expect(written.allSatisfy { (Instant.seconds(20)..<Instant.seconds(21)).contains($0) }, "\(written)")
        let said = ["0049", "004a"].map { "notify strap 2A37 \($0): sent to reader" }
        #expect(log.notes.map(\.text) == said)
        #expect(log.notes.map(\.at) == [.seconds(10), .seconds(20)])
    }

    @Test("More values than the queue of the radio takes wait until the manager is ready, and all arrive")
    func queue() throws {
        let log = try play(
            [
                "{at: 0, launch: strap}",
                "{at: 5s, notify: strap, characteristic: 2A37, value: \"0049\", every: 1ms, times: 100}",
            ],
            reader: reader(of: 101)
        )
        let written = writes(log)
        #expect(written.count == 1)
        #expect(written.allSatisfy { $0 < Instant.seconds(10) }, "\(written)")
        #expect(log.decisions.count { $0.kind == "ready-to-update-subscribers" } > 1)
    }

    @Test("More values than an app keeps are refused one by one, in a line each")
    func flood() throws {
        let log = try play(
            [
                "{at: 0, launch: strap}",
                "{at: 5s, notify: strap, characteristic: 2A37, value: \"0049\", every: 1ms, times: 1500}",
            ],
            reader: reader(of: 1600)
        )
        let refused = log.notes.filter { $0.app == "com.example.strap" }
        #expect(!refused.isEmpty)
        #expect(
            refused.allSatisfy { $0.text == "notify strap 2A37 0049: 1000 of its values wait to be sent" },
            "\(refused.first?.text ?? "")"
        )
    }

    @Test("A value that reaches nobody is a line that says why, at its instant")
    func unheard() throws {
        let log = try play(
            [
                "{at: 0, notify: strap, characteristic: 2A37, value: \"0001\"}",
                "{at: 1s, launch: strap}",
                "{at: 2s, notify: strap, characteristic: 2A37, value: \"0002\"}",
                "{at: 3s, home: strap}",
                "{at: 20s, notify: strap, characteristic: 2A37, value: \"0003\"}",
            ],
            reader: "wait: 40s"
        )
        let lines = log.notes.filter { $0.app == "com.example.strap" }
        #expect(
            lines.map(\.text) == [
                "notify strap 2A37 0001: it does not run",
                "notify strap 2A37 0002: nobody is subscribed",
                "notify strap 2A37 0003: it is suspended",
            ]
        )
        #expect(lines.map(\.at) == [.zero, .seconds(2), .seconds(20)])
    }
}

extension Instant {
    fileprivate static func seconds(_ seconds: Int64) -> Instant { .zero.advanced(by: .seconds(seconds)) }
}
