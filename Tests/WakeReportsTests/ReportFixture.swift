import Foundation
import WakeModel

@testable import WakeReports

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

    /// A resume of the heart app, suspended since 9 s, by a notification of its belt.
    func resume(
        _ number: UInt64,
        at: Instant,
        event: UInt64? = nil,
        app: UInt32 = 0,
        bundle: String = "com.acme.heart"
    ) -> Decision {
        var phone = RoutedPhone(names, app: app, bundle: bundle)
        phone.subscribe(at: min(second(2), at))
        phone.suspend(at: min(second(9), at))
        return relabelled(phone.notify(at: at), number, event)
    }

    /// The entry into a region of the heart app, force-quit at 7080 s by event 371, on a phone on which not even that brings
    /// it back: denied by LAUNCH-2. Under When In Use LOC-5 fails too.
    func forceQuit(
        _ number: UInt64,
        at: Instant,
        event: UInt64? = nil,
        always: Bool = false,
        quitAt: Instant = second(7080)
    ) -> Decision {
        var phone = RoutedPhone(names, app: 0, bundle: "com.acme.heart", profile: RoutedPhone.barring)
        phone.monitorHome(at: min(second(2), at), always: always)
        phone.suspend(at: min(second(9), at))
        phone.forceQuit(at: min(quitAt, at), by: EventID(371))
        return relabelled(phone.enterHome(at: at), number, event)
    }

    /// A notification that no app asked for.
    func nobody(_ number: UInt64, at: Instant, event: UInt64? = nil) -> Decision {
        var phone = RoutedPhone(names, app: 0, bundle: "com.acme.heart")
        return relabelled(phone.notify(at: at), number, event)
    }

    /// A decision of a router of its own, as one of a longer run.
    private func relabelled(_ decision: Decision, _ number: UInt64, _ event: UInt64?) -> Decision {
        var decision = decision
        decision.id = DecisionID(number)
        decision.event = EventID(event ?? number)
        return decision
    }

    /// The lines of these decisions, each inner list one turn, with records in full.
    func lines(_ batches: [[Decision]]) throws -> [String] {
        ShapedLines.records(of: try contents(batches))
    }

    /// The log of these decisions as it is written.
    func contents(_ batches: [[Decision]]) throws -> String {
        let log = DecisionLog(header: Self.header, profile: .ios17, names: names.text)
        for batch in batches { try log.append(batch: batch[...]) }
        return log.contents
    }

    /// Writes both logs into the folder and reads them.
    func run(_ batches: [[Decision]], outcomes: [Outcome] = [], app: String? = nil) throws -> RunLog {
        let log = try DecisionLog(
            creating: decisionsPath,
            header: Self.header,
            profile: .ios17,
            names: names.text
        )
        for batch in batches { try log.append(batch: batch[...]) }
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

extension ShapedLines {
    /// The lines of a whole log, records in full.
    static func records(of log: String) -> [String] {
        var lines = ShapedLines()
        return log.split(separator: "\n").compactMap { line in
            lines.record(of: Array(line.utf8)).map { String(decoding: $0, as: UTF8.self) }
        }
    }
}

extension ChromeTrace {
    /// The file as a text.
    static func text(_ log: RunLog) throws -> String {
        let place = FileManager.default.temporaryDirectory.appending(path: "wake-trace-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: place) }
        try save(log, to: place.path)
        return try String(contentsOf: place, encoding: .utf8)
    }
}
