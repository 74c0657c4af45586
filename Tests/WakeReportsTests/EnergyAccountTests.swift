import Foundation
import Testing
import WakeModel

@testable import WakeReports

@Suite("Where the energy of apps goes")
struct EnergyAccountTests {
    private let fixture: ReportFixture
    private let app = "com.acme.heart"

    init() throws { fixture = try ReportFixture() }

    /// A run with two resumes, 10 s in the background, and 4 s of the location receiver.
    private func log() throws -> RunLog {
        _ = try fixture.run([[fixture.resume(1, at: second(10)), fixture.resume(2, at: second(30))]])
        let outcomes = try OutcomeLog(creating: fixture.outcomesPath)
        try outcomes.append(AppEntry(app: app, name: "heart"))
        try outcomes.append(StateMove(app: app, at: second(10), from: .suspended, to: .background))
        try outcomes.append(StateMove(app: app, at: second(20), from: .background, to: .suspended))
        try outcomes.append(ReceiverEntry(app: app, at: second(40), milliseconds: 4_000))
        try outcomes.flush()
        return try RunLog(folder: fixture.folder.path)
    }

    @Test("Each wake, second and event of an app is charged to it (PWR-1)")
    func charges() throws {
        let account = try #require(EnergyAccount.all(of: try log()).first { $0.app == app })
        #expect(account.counts == [.wake: 2, .radio: 2, .background: 10, .receiver: 4])
        #expect(account.total(by: EnergyModel()) == 676)
    }

    @Test("What still runs in the background at the end is charged up to it (PWR-1)")
    func openEnd() throws {
        _ = try fixture.run([[fixture.resume(1, at: second(10))]])
        let outcomes = try OutcomeLog(creating: fixture.outcomesPath)
        try outcomes.append(StateMove(app: app, at: second(10), from: .suspended, to: .background))
        try outcomes.append(EndEntry(at: second(25)))
        try outcomes.flush()
        let account = try #require(EnergyAccount.all(of: try RunLog(folder: fixture.folder.path)).first)
        #expect(account.counts[.background] == 15)
    }

    @Test("Processor time is charged as it was measured, however often it was written down (PWR-1)")
    func processor() throws {
        _ = try fixture.run([[fixture.resume(1, at: second(10))]])
        let outcomes = try OutcomeLog(creating: fixture.outcomesPath)
        try outcomes.append(UsageEntry(app: app, at: second(11), pid: 7, processor: .milliseconds(250), footprint: 9))
        try outcomes.append(UsageEntry(app: app, at: second(12), pid: 7, processor: .milliseconds(1_250)))
        try outcomes.append(UsageEntry(app: "com.example.other", at: second(12), pid: 8, processor: .seconds(9)))
        try outcomes.flush()
        let log = try RunLog(folder: fixture.folder.path)
        #expect(
            log.usage.first == UsageEntry(app: app, at: second(11), pid: 7, processor: .milliseconds(250), footprint: 9)
        )
        let account = try #require(EnergyAccount.all(of: log).first { $0.app == app })
        #expect(account.counts[.processor] == 1.5)
    }

    @Test("A million bytes of transfers are charged as one, up and down alike (PWR-1)")
    func transfers() throws {
        _ = try fixture.run([[fixture.resume(1, at: second(10))]])
        let outcomes = try OutcomeLog(creating: fixture.outcomesPath)
        try outcomes.append(TrafficEntry(app: app, at: second(11), number: 1, sent: 500_000, received: 2_000_000))
        try outcomes.flush()
        let account = try #require(
            EnergyAccount.all(of: try RunLog(folder: fixture.folder.path)).first { $0.app == app }
        )
        #expect(account.counts[.traffic] == 2.5)
    }

    @Test("The table has the figures that it was made with, and the whole")
    func table() throws {
        var model = EnergyModel()
        model[.wake] = 1_000
        let lines = EnergyAccount.lines(EnergyAccount.all(of: try log()), by: model)
        #expect(lines[1].hasPrefix("com.acme.heart  2.000  0.000 "))
        #expect(lines[1].hasSuffix(" 2.646   100 %"))
        #expect(try #require(lines.last).contains("wake 1000 mJ per wake"))
    }

    @Test("A figure that is none is refused with its line", arguments: ["-1", "much", "1e9"])
    func refused(figure: String) {
        let rows = EnergyModel.Charge.allCases.map { "\($0)\twake\t\t\($0 == .wake ? figure : "1")\tm\n" }
        let text = "charge\tunit\tsource\tmillijoules\tmeaning\n" + rows.joined()
        #expect(throws: TableError("energy.tsv", line: 2, "millijoules: there is no \(figure)")) {
            try EnergyModel.rows(Array(text.utf8))
        }
    }
}
