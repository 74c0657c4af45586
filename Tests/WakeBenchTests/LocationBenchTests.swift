import Testing
import WakeDevices
import WakeModel
import WakePorts
import WakeRouter

@testable import WakeBench
@testable import WakeJournal

/// Says where the phone is when the test does.
private final class Finger: LocationPort {
    let backend = "simulated"
    var report: ((SourceReport) -> Void)?
    var commands: [LocationCommand] = []
    var nextDeadline: Instant? { nil }

    func start(at now: Instant) {}
    func stop() {}
    func timeReached(_ now: Instant) {}
    func perform(_ command: LocationCommand, at now: Instant) { commands.append(command) }

    func point(_ latitude: Double, _ longitude: Double) {
        let place = Coordinate(latitude: latitude, longitude: longitude)
        let fix = Fix(direction: Geometry.direction(of: place))
        let position = Position(latitude: latitude, longitude: longitude, timestamp: 0)
        report?(SourceReport(WakeEvent(kind: .positionFixed, fix: fix), .position(position)))
    }
}

/// Keeps what a turn wrote down: the numbers of the inputs between a begin and a commit.
private final class Notebook: Journal {
    var inputs: [JournaledInput] = []
    var transactions: [[UInt64]] = []

    func begin() { transactions.append([]) }
    func append(
        _ input: Input,
        id: EventID,
        payload: EventPayload,
        sequence: UInt64,
        at: Instant,
        origin: NameID
    ) {
        inputs.append(
            JournaledInput(sequence: sequence, at: at, origin: origin, id: id, input: input, payload: payload)
        )
        transactions[transactions.count - 1].append(sequence)
    }
    func append(_ exit: ExitRecord) {}
    func append(_ delivery: Delivery) {}
    func acknowledge(app: AppID, from first: EventID, through last: EventID) {}
    func append(_ command: JournaledCommand) {}
    func append(_ name: NameID, text: String) {}
    func append(snapshot: [UInt8], sequence: UInt64, at: Instant) {}
    func commit() {}
    func rollback() {}
    func end(_ ending: RunEnding) {}
    func finish() {}

    func transaction(of kind: EventKind) -> Int? {
        let sequence = inputs.first { if case .event(let event) = $0.input { event.kind == kind } else { false } }
        return transactions.firstIndex { $0.contains(sequence?.sequence ?? 0) }
    }
}

/// Keeps all decisions, and the payload of each event.
private final class Keeper: BenchObserver {
    var decisions: [Decision] = []
    var payloads: [EventID: EventPayload] = [:]

    func observe(_ item: InboxItem, _ output: RouterOutput, at now: Instant) {
        decisions += output.decisions
        payloads[item.id] = item.payload
    }
}

/// A bench with one scripted app that uses location.
private struct Stage {
    let finger = Finger()
    let notebook = Notebook()
    let keeper = Keeper()
    let bench: Bench
    let host: ScriptedAppHost

    init() throws {
        let names = NameTable()
        bench = Bench(router: Router(profile: .ios17), names: names, journal: notebook)
        bench.add(finger)
        host = ScriptedAppHost(names: names, profile: .ios17)
        bench.listen(to: host)
        bench.add(keeper)
        bench.assign(AppID(0), to: host, leavesTheBench: false)
        let scenario = try Scenario.parse(Array(Self.text.utf8), file: "/place.yaml", files: ScenarioFiles())
        guard case .scripted(let script) = scenario.apps[0].form else { return }
        host.add(script, as: AppID(0), devices: [])
        bench.submit(
            .install(AppID(0), AppManifest(bundle: names.intern(script.identifier), modes: script.modes)),
            origin: .none
        )
        bench.submit(.user(AppID(0), .launch), origin: .none)
        try bench.run(at: .zero)
    }

    private static let text = """
        scenario: places
        apps:
          - scripted: com.example.places
            location:
              significant: true
              regions: [{identifier: office, latitude: 48.137, longitude: 11.575, radius: 150m}]
        """
}

@Suite("Location on the bench")
struct LocationBenchTests {
    @Test("A scripted app's wishes reach the source of positions")
    func wishes() throws {
        let stage = try Stage()
        #expect(stage.finger.commands == [.positioning(true)])
        #expect(stage.bench.router.locationAuthorization(of: AppID(0)) == .provisionalAlways)
        #expect(stage.bench.router.monitoredRegions(of: AppID(0)).circles.count == 1)
    }

    @Test("What the router found in a fix is the next input of its transaction, with the payload of the fix")
    func sameTransaction() throws {
        let stage = try Stage()
        stage.finger.point(48.2, 11.6)
        try stage.bench.run(at: Instant.zero.advanced(by: .seconds(1)))
        stage.finger.point(48.21, 11.6)
        try stage.bench.run(at: Instant.zero.advanced(by: .seconds(302)))
        let change = try #require(stage.keeper.decisions.last { $0.kind == .significantChange })
        #expect(change.verdict == .foregroundDeliver)
        let fix = try #require(stage.keeper.decisions.last { $0.kind == .positionFixed })
        #expect(change.parent == fix.event)
        #expect(stage.keeper.payloads[change.event] == stage.keeper.payloads[fix.event])
        #expect(
            stage.notebook.transaction(of: .significantChange) == stage.notebook.transaction(of: .positionFixed)
        )
    }

    @Test("LOC-1: the first change after starting has the position of the last fix")
    func cached() throws {
        let stage = try Stage()
        stage.finger.point(48.2, 11.6)
        try stage.bench.run(at: Instant.zero.advanced(by: .seconds(1)))
        let fix = try #require(stage.keeper.decisions.last { $0.kind == .positionFixed })
        stage.bench.submit(.request(AppID(0), .location(2, .stopSignificant)), origin: .none)
        stage.bench.submit(.request(AppID(0), .location(2, .startSignificant)), origin: .none)
        try stage.bench.run(at: Instant.zero.advanced(by: .seconds(2)))
        let change = try #require(stage.keeper.decisions.last)
        #expect(change.kind == .significantChange)
        #expect(change.parent == fix.event)
        #expect(stage.keeper.payloads[change.event] == stage.keeper.payloads[fix.event])
        guard case .position = stage.keeper.payloads[change.event] else {
            Issue.record("\(String(describing: stage.keeper.payloads[change.event]))")
            return
        }
    }

    @Test("A replay of the journal comes to the same decisions, and finds nothing twice (SYS-3)")
    func replay() throws {
        let stage = try Stage()
        for (second, latitude) in [(1, 48.2), (10, 48.137), (40, 48.137), (400, 48.2)] as [(Int64, Double)] {
            let now = Instant.zero.advanced(by: .seconds(second))
            while let next = stage.bench.router.nextDeadline, next <= now { try stage.bench.run(at: next) }
            stage.finger.point(latitude, 11.575)
            try stage.bench.run(at: now)
        }
        #expect(stage.keeper.decisions.contains { $0.kind == .regionEntered })
        let again = Bench(
            router: Router(profile: .ios17),
            names: NameTable(),
            journal: NoJournal()
        )
        let keeper = Keeper()
        again.add(keeper)
        again.assign(AppID(0), to: stage.host, leavesTheBench: false)
        for input in stage.notebook.inputs { again.replay(input) }
        #expect(keeper.decisions == stage.keeper.decisions)
    }
}
