import Foundation
import Testing
import WakeModel

@testable import WakeReports

@Suite("How often rules decide")
struct RuleUseTests {
    private let fixture: ReportFixture

    init() throws { fixture = try ReportFixture() }

    private func use(_ decisions: [Decision], deeds: [Deed] = []) throws -> RuleUse {
        _ = try fixture.run([decisions])
        let outcomes = try OutcomeLog(creating: fixture.outcomesPath)
        for deed in deeds { try outcomes.append(DeedEntry(deed: deed, at: second(20), app: "com.acme.heart")) }
        try outcomes.flush()
        var use = RuleUse()
        use.add(try RunLog(folder: fixture.folder.path))
        return use
    }

    @Test("A record counts for the rule that decided it, and for those of its checks that were asked")
    func record() throws {
        var decision = fixture.resume(1, at: second(10))
        decision.checks[.bluetoothOn] = .pass
        decision.checks[.restoreIdentifier] = .notApplicable
        let use = try use([decision])
        #expect(use.decided(decision.rule) == 1)
        #expect(use.asked(.btc10) == 1)
        #expect(use.asked(.btc6) == 0)
        #expect(use.unused.contains(.btc10))
        #expect(!use.unused.contains(decision.rule))
    }

    @Test("A deed counts for its rule")
    func deed() throws {
        let use = try use([fixture.resume(1, at: second(10))], deeds: [.endedForAnswer, .endedForAnswer])
        #expect(use.decided(.cpu2) == 2)
    }

    @Test("A wake counts for the rule that gives it its window, and for the one that names it its cause")
    func window() throws {
        var relaunch = fixture.resume(1, at: second(10))
        (relaunch.verdict, relaunch.reason, relaunch.rule) = (.relaunch, .relaunched, .launch1)
        relaunch.snapshot.via = .region
        relaunch.snapshot.budgetLimit = .seconds(10)
        let use = try use([relaunch])
        #expect(use.decided(.loc8) == 1)
        #expect(use.decided(.launch7) == 1)
        #expect(use.decided(.btc1) == 0)
        #expect(use.decided(.ea2) == 0)
    }

    @Test("Moves, ends and the time of the receiver count for their rules")
    func lines() throws {
        _ = try fixture.run([[fixture.resume(1, at: second(10))]])
        let outcomes = try OutcomeLog(creating: fixture.outcomesPath)
        let app = "com.acme.heart"
        try outcomes.append(StateMove(app: app, at: second(1), from: .notRunning, to: .inactive, pid: 1))
        try outcomes.append(StateMove(app: app, at: second(2), from: .background, to: .suspended, pid: 1))
        try outcomes.append(ReceiverEntry(app: app, at: second(3), milliseconds: 1))
        try outcomes.flush()
        var use = RuleUse()
        use.add(try RunLog(folder: fixture.folder.path))
        #expect(use.decided(.life1) == 1)
        #expect(use.decided(.life3) == 1)
        #expect(use.decided(.loc9) == 1)
        #expect(use.decided(.life10) == 0)
    }

    @Test("A rule that shares its code with another counts what that one decided")
    func alias() throws {
        let alias = try #require(RuleCatalogue.entries.first { $0.aliasOf != nil })
        var decision = fixture.resume(1, at: second(10))
        decision.rule = try #require(alias.aliasOf)
        #expect(try use([decision]).decided(alias.id) == 1)
    }

    @Test("What an app's process does itself, and what decides nothing yet, is not missed")
    func notShown() throws {
        let unused = try use([]).unused
        #expect(!unused.contains(.scn1) && !unused.contains(.mode4) && unused.contains(.launch2))
    }

    @Test("A rule that lifts a check counts as one that decided")
    func lifted() throws {
        var decision = fixture.resume(1, at: second(10))
        decision.checks[.notForceQuit] = .notApplicable
        (decision.snapshot.forceQuitLifted, decision.snapshot.via) = (true, .processingTask)
        #expect(try use([decision]).decided(.bgt15) == 1)
    }

    @Test("The summary names the rules that decided nothing")
    func summary() throws {
        let use = try use([fixture.resume(1, at: second(10))])
        #expect(use.summary.hasPrefix("2 of \(RuleUse.shown.count) rules decided in 1 run; none of LIFE-1 "))
        #expect(use.lines.count == RuleID.allCases.count + 1)
    }
}
