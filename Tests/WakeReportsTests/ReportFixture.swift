import Foundation
import WakeModel
import WakeReports

/// A small run to write and read: names, decisions and outcomes.
final class ReportFixture {
    let folder: URL
    let names = NameTable()

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "wake-reports-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var decisionsPath: String { folder.appending(path: "decisions.ndjson").path }
    var outcomesPath: String { folder.appending(path: "outcomes.ndjson").path }

    static let header = LogHeader(
        version: "0.1",
        phone: "lab-1",
        seed: .max,
        profile: "ios17",
        determinism: "router",
        settings: ["freezer": "cgroup2", "backend": "simulated"]
    )

    /// A resume of the heart app by a notification of its belt.
    func resume(
        _ number: UInt64,
        at: Instant,
        event: UInt64? = nil,
        app: UInt32 = 0,
        bundle: String = "com.acme.heart"
    ) -> Decision {
        var snapshot = AppSnapshot()
        snapshot.bundle = names.intern(bundle)
        snapshot.state = .suspended
        snapshot.stateSince = second(9)
        snapshot.generation = 1
        snapshot.modes = BackgroundModes([.bluetoothCentral, .fetch])
        snapshot.via = .subscription
        snapshot.restoreIdentifier = names.intern("acme.central")
        snapshot.registeredAt = second(2)
        snapshot.unlockedAt = second(1)
        snapshot.passcode = true
        snapshot.budgetLimit = .seconds(10)
        var checks = CheckResults()
        let ofCentralRole: [Check] = [
            .unlockedSinceBoot, .registered, .modePresent, .budgetLeft, .restoreIdentifier, .exitAllowsRelaunch,
            .bluetoothOn, .bluetoothAuthorized, .deliveryWanted, .runsInBackground,
        ]
        for check in ofCentralRole { checks[check] = .pass }
        for check in [Check.terminatedBySystem, .notForceQuit, .scanNamesServices, .notDuplicate] {
            checks[check] = .notApplicable
        }
        return Decision(
            id: DecisionID(number),
            at: at,
            event: EventID(event ?? number),
            kind: .characteristicNotified,
            subject: names.intern("heart-rate-belt/2A37"),
            origin: names.intern("night.yaml:31"),
            parent: .none,
            app: AppID(app),
            verdict: .resume,
            reason: .resumed,
            rule: .life4,
            checks: checks,
            wouldHave: .resume,
            supersedes: .none,
            snapshot: snapshot
        )
    }

    /// The same event after a force quit: denied by LAUNCH-2, with BTC-6 failing too.
    func forceQuit(_ number: UInt64, at: Instant, event: UInt64? = nil) -> Decision {
        var decision = resume(number, at: at, event: event)
        decision.snapshot.state = .notRunning
        decision.snapshot.stateSince = second(7080)
        decision.snapshot.lastExit = 17
        decision.snapshot.lastExitCause = .userForceQuit
        decision.snapshot.lastExitAt = second(7080)
        decision.snapshot.forceQuit = true
        decision.snapshot.forceQuitAt = second(7080)
        decision.snapshot.forceQuitBy = EventID(371)
        decision.snapshot.restoreIdentifier = .none
        decision.checks[.notForceQuit] = .fail
        decision.checks[.restoreIdentifier] = .fail
        decision.verdict = .deny
        decision.reason = .forceQuit
        decision.rule = .launch2
        decision.wouldHave = .deny
        return decision
    }

    /// An event that no app asked for.
    func nobody(_ number: UInt64, at: Instant, event: UInt64? = nil) -> Decision {
        var decision = resume(number, at: at, event: event)
        decision.app = .none
        decision.snapshot = AppSnapshot()
        decision.checks = CheckResults()
        decision.checks[.registered] = .fail
        decision.verdict = .drop
        decision.reason = .noRegistration
        decision.rule = .launch6
        decision.wouldHave = .drop
        return decision
    }

    /// The lines of these decisions, each inner list one turn.
    func lines(_ batches: [[Decision]]) throws -> [String] {
        let log = DecisionLog(header: Self.header, names: names.text)
        for batch in batches { try log.append(batch: batch) }
        return log.contents.split(separator: "\n").map(String.init)
    }

    /// Writes both logs into the folder and reads them.
    func run(_ batches: [[Decision]], outcomes: [Outcome] = [], app: String? = nil) throws -> RunLog {
        let log = try DecisionLog(creating: decisionsPath, header: Self.header, names: names.text)
        for batch in batches { try log.append(batch: batch) }
        try log.flush()
        let outcomeLog = try OutcomeLog(creating: outcomesPath)
        for outcome in outcomes { try outcomeLog.append(outcome) }
        try outcomeLog.flush()
        return try RunLog(folder: folder.path, app: app)
    }

    func outcome(_ number: UInt64, value: String? = nil, pid: Int32 = 4711) -> Outcome {
        Outcome(
            decision: DecisionID(number),
            event: EventID(number),
            app: "com.acme.heart",
            at: second(Int64(number)),
            wall: 1_795_233_611_120_000_000,
            pid: pid,
            spawn: .milliseconds(38),
            delivered: [.init(name: "didUpdateValueFor", at: second(Int64(number)), value: value)],
            acknowledged: true,
            used: .milliseconds(612),
            ended: .suspended
        )
    }
}

func second(_ number: Int64) -> Instant { Instant.zero.advanced(by: .seconds(number)) }
