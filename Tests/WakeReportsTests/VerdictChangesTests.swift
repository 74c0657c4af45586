import Foundation
import Testing
import WakeModel

@testable import WakeReports

@Suite("Verdicts that change from run to run")
struct VerdictChangesTests {
    private let fixture: ReportFixture

    init() throws { fixture = try ReportFixture() }

    private func log(_ decisions: [Decision]) throws -> RunLog {
        _ = try fixture.run([decisions])
        let outcomes = try OutcomeLog(creating: fixture.outcomesPath)
        try outcomes.flush()
        return try RunLog(folder: fixture.folder.path)
    }

    private func resumes(_ count: UInt64) -> [Decision] {
        (1...count).map { fixture.resume($0, at: second(Int64($0) * 10)) }
    }

    @Test("Equal runs have no change, and say how many events they have")
    func equal() throws {
        let changes = VerdictChanges(try log(resumes(3)), try log(resumes(3)))
        #expect(changes.changes.isEmpty)
        #expect(changes.lines(names: ("ios17", "ios26")) == ["0 of 3 events came to something else with ios26"])
    }

    @Test("An event that came to something else is listed with both verdicts and rules")
    func changed() throws {
        var second = resumes(3)
        second[1].verdict = .deny
        second[1].reason = .forceQuit
        second[1].rule = .launch2
        let changes = VerdictChanges(try log(resumes(3)), try log(second))
        #expect(changes.changes.count == 1)
        let change = try #require(changes.changes.first)
        #expect(change.number == 2)
        #expect(change.first?.verdict == .resume)
        #expect(change.second?.text == "deny ForceQuit LAUNCH-2")
    }

    @Test("An event that only one run has is listed without a verdict of the other")
    func missing() throws {
        let changes = VerdictChanges(try log(resumes(2)), try log(resumes(3)))
        #expect(changes.changes.map(\.number) == [3])
        #expect(changes.changes.first?.first == nil)
        #expect(changes.lines(names: ("ios17", "ios26")).last == "1 of 3 events came to something else with ios26")
    }

    @Test("Of an event that waited and was decided again the last record counts")
    func superseded() throws {
        var later = resumes(2)
        later[1].supersedes = later[0].id
        later[1].verdict = .drop
        later[1].reason = .appEnded
        later[1].rule = .sys4
        let changes = VerdictChanges(try log(resumes(1)), try log(later))
        #expect(changes.changes.map(\.second?.verdict) == [.drop])
        #expect(changes.count == 1)
    }
}
