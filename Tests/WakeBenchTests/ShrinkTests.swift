import Foundation
import Testing
import WakeDevices
import WakeModel

@testable import WakeBench

@Suite("The smallest scenario that still comes to the same")
struct ShrinkTests {
    private static let belt = """
        device: bluetooth-peripheral
        address: "F0:11:22:33:44:55"
        advertising: {services: [180D]}
        gatt:
          - service: 180D
            characteristics:
              - {uuid: 2A37, properties: [notify], value: "0048", notifications: TIMETABLE}

        """

    private func belt(_ timetable: String = "[]") -> String { Self.belt.replacing("TIMETABLE", with: timetable) }

    /// Two groups of apps that share four belts, of which those of the first cannot be relaunched: once the system has ended
    /// one of them, its belt's values are refused to it.
    private func scenario(steps: String, expect: String) -> String {
        """
        # Many.
        scenario: many
        settings: {wakeWindow: first}
        devices: [{file: belt.yaml, name: belt, count: 4}]
        apps:
          - {scripted: com.acme.plain, name: plain, count: 4, modes: [bluetooth-central], uses: [{device: belt, characteristic: 2A37}]}
          - {scripted: com.acme.steady, name: steady, count: 4, modes: [bluetooth-central], uses: [{device: belt, characteristic: 2A37}]}
        steps:
          - {at: 0, launch: [plain, steady]}
          - {after: 5s, home: plain}
        \(steps)
        expect:
          - {app: steady, verdict: deny, count: 0}
        \(expect)

        """
    }

    private func notify(_ count: Int, from first: Int = 0) -> String {
        (first..<first + count).map { number in
            "  - {at: \(10 + number)s, notify: belt.\(number * 7 % 4 + 1), characteristic: 2A37, value: \"00\(40 + number % 50)\"}"
        }
        .joined(separator: "\n")
    }

    /// What comes of a scenario: the text of the result, which is one, and what was done.
    private func shrink(
        _ scenario: String,
        belt: String,
        _ wish: ShrinkGoal.Wish = .failures,
        bounds: ScenarioShrinker.Bounds = .init(),
        _ body: (ScenarioShrinker, ScenarioShrinker.Ending, String, Scenario) throws -> Void
    ) throws {
        try ScenarioFolder.with(scenario, belt: belt) { options in
            let out = URL(fileURLWithPath: options.scenario).deletingLastPathComponent().appending(path: "few.yaml")
                .path
            let shrinker = try ScenarioShrinker(options, keeping: wish, bounds: bounds, out: out)
            let ending = try shrinker.shrink()
            let text = try String(contentsOfFile: out, encoding: .utf8)
            try body(shrinker, ending, text, try Scenario.load(file: out))
        }
    }

    @Test(
        "Of many steps those are left that lead to the refusal, with one app of each group, and it fails in the same way"
    )
    func oneCause() throws {
        let steps =
            notify(60) + "\n  - {at: 70500ms, terminate: plain.3, cause: memory}\n" + notify(60, from: 61)
        try shrink(scenario(steps: steps, expect: "  - {app: plain, verdict: deny, count: 0}"), belt: belt()) {
            shrinker,
            ending,
            text,
            scenario in
            #expect(ending == .smallest)
            #expect(shrinker.first.events == 123)
            #expect(shrinker.progress.events <= 5)
            #expect(scenario.steps.count == shrinker.progress.events)
            #expect((scenario.apps.count, scenario.devices.count) == (2, 1))
            #expect(scenario.settings.isEmpty)
            #expect(text.hasPrefix("# Reduced by wakebench shrink from "))
            #expect(shrinker.goal.text.hasPrefix("plain.3 deny: 0, found "))
            #expect(scenario.expectations.count == 1)
            // Of too many as few are left as are still too many, and the app is one by itself.
            let judgement = try #require(try play(scenario).driver.judgements.first)
            #expect(text.contains("# Kept: plain deny: 0, found \(judgement.found).\n"))
            #expect(!judgement.met && shrinker.kept == "plain deny: 0, found \(judgement.found)")
        }
    }

    private func play(_ scenario: Scenario) throws -> Run {
        var options = RunOptions(scenario: scenario.file, out: scenario.file + ".run")
        options.journal = false
        let run = try Run(options)
        try run.execute()
        return run
    }

    @Test("A decision that is to be kept becomes an expectation that is met, and the values of a device's stream go")
    func keptDecision() throws {
        let stream =
            "[{after: 2s, every: 7s, values: [\"0040\", \"0041\", \"0042\"]}, {after: 30s, counter: {count: 40, every: 31s, width: 1}}]"
        let wish = try ShrinkGoal.Wish("plain:deny:NoRestoreIdentifier:characteristic-notified")
        let steps = "  - {at: 8m, terminate: plain, cause: memory}\n  - {at: 20m, note: the end}"
        try shrink(scenario(steps: steps, expect: ""), belt: belt(stream), wish) { shrinker, _, text, scenario in
            #expect(shrinker.progress.events <= 4)
            #expect(shrinker.first.events > 40)
            #expect(text.contains("few.devices/belt.yaml"))
            #expect(scenario.expectations.count == 1)
            let run = try play(scenario)
            #expect(run.driver.judgements.map(\.met) == [true])
        }
    }

    @Test("Where too little came, what came instead is kept, too: nothing at all would also be too little")
    func tooFew() throws {
        let steps = notify(4) + "\n  - {at: 20s, terminate: plain.3, cause: memory}\n" + notify(12, from: 20)
        let expect = "  - {app: plain.3, verdict: relaunch, kind: characteristic-notified, at-least: 1}"
        try shrink(scenario(steps: steps, expect: expect), belt: belt()) { shrinker, _, _, scenario in
            #expect(shrinker.goal.text.contains("(instead: deny NoRestoreIdentifier characteristic-notified)"))
            #expect(scenario.steps.contains { if case .terminate = $0.verb { true } else { false } })
            #expect(scenario.expectations.count == 1)
        }
    }

    @Test("Of a step that waits in vain what it saw is kept, too")
    func waits() throws {
        let steps =
            notify(12) + "\n  - {at: 5m, notify: belt.3, characteristic: 2A37, value: \"0041\"}\n"
            + "  - {when: {app: plain.3, verdict: resume, count: 3}, within: 1m, note: thrice}\n"
            + "  - {at: 330s, notify: belt.3, characteristic: 2A37, value: \"0042\"}"
        try shrink(scenario(steps: steps, expect: ""), belt: belt()) { shrinker, _, text, scenario in
            let first = try #require(shrinker.goal.unmet)
            #expect(first.wanted == "3 resume" && first.found != "0", "\(shrinker.goal.text)")
            let unmet = try #require(try play(scenario).driver.unmet)
            #expect(unmet.wanted == first.wanted && unmet.found == [first.found])
            #expect(text.contains("# Kept: \(unmet.text)"), "\(text)")
            #expect(scenario.steps.contains { if case .notify = $0.verb { true } else { false } })
        }
    }

    @Test("A step that waits in vain waits as long as it did, and not for the usual time")
    func waitsAsLong() throws {
        let steps = notify(4) + "\n  - {when: {app: plain.3, verdict: resume, count: 30}, within: 20s, note: never}"
        try shrink(scenario(steps: steps, expect: ""), belt: belt()) { _, _, text, scenario in
            #expect(text.contains("# Kept: waited 20.0 s for 30 resume of "), "\(text)")
            guard case .when(_, let within) = try #require(scenario.steps.last).trigger else {
                Issue.record("nothing waits")
                return
            }
            #expect(within == .seconds(20))
        }
    }

    @Test(
        "Where an app did not end so, or does not run, the end that it had instead is kept, too",
        arguments: ["exits: 1, cause: crash", "state: suspended"]
    )
    func endedOtherwise(expected: String) throws {
        let steps = notify(4) + "\n  - {at: 20s, terminate: plain.3, cause: memory}\n" + notify(4, from: 20)
        let expect = "  - {app: plain.3, \(expected)}"
        try shrink(scenario(steps: steps, expect: expect), belt: belt()) { shrinker, ending, text, scenario in
            #expect(ending == .smallest)
            #expect(text.contains(" (instead: exits with cause memory)."), "\(text)")
            #expect(scenario.steps.contains { if case .terminate = $0.verb { true } else { false } })
            #expect(scenario.expectations.count == 1)
            let judgements = try play(scenario).driver.judgements
            #expect(judgements.map(\.met) == [false])
        }
    }

    @Test("Where an app should have ended and runs, the state that it is in is kept, too")
    func runsOn() throws {
        let expect = "  - {app: plain.3, exits: 1}"
        try shrink(scenario(steps: notify(4), expect: expect), belt: belt()) { shrinker, _, _, scenario in
            #expect(shrinker.kept.hasPrefix("plain exits: 1, found 0 (instead: state "), "\(shrinker.kept)")
            #expect(!scenario.steps.isEmpty)
        }
    }

    @Test("Of two expectations each has what came instead of it beside it")
    func eachInstead() throws {
        let text = """
            scenario: two
            apps: [{scripted: com.acme.plain, name: plain}, {scripted: com.acme.steady, name: steady}]
            steps: [{at: 0, launch: plain}, {at: 1s, launch: steady}]
            expect: [{app: plain, exits: 1}, {app: steady, exits: 1}]
            until: 30s

            """
        try shrink(text, belt: belt()) { shrinker, _, text, _ in
            let each = /plain exits: 1, found 0 \(instead: state \S+\); steady exits: 1, found 0 \(instead: state \S+\)/
            #expect(shrinker.goal.text.wholeMatch(of: each) != nil, "\(shrinker.goal.text)")
            #expect(shrinker.kept.wholeMatch(of: each) != nil, "\(shrinker.kept)")
            #expect(text.contains("# Kept: \(shrinker.kept).\n"), "\(text)")
        }
    }

    @Test("Expectations that stand in one line of the file are told apart")
    func oneLine() throws {
        let text = """
            scenario: line
            apps: [{scripted: com.acme.plain, name: plain}, {scripted: com.acme.steady, name: steady}]
            steps: [{at: 0, launch: plain}, {at: 1s, launch: steady}, {at: 2s, force-quit: plain}]
            expect: [{app: plain, exits: 2}, {app: steady, exits: 0}]
            until: 3s

            """
        try shrink(text, belt: belt()) { shrinker, ending, _, scenario in
            #expect(ending == .smallest)
            #expect(shrinker.kept == "plain exits: 2, found 1")
            let run = try play(scenario)
            #expect(run.driver.judgements.map(\.found) == ["1"])
            #expect((scenario.apps.count, scenario.steps.count) == (1, 2))
        }
    }

    @Test("Of more than three failures it says how many more are not met")
    func manyFailures() throws {
        let text = """
            scenario: many
            apps: [{scripted: com.acme.plain, name: plain}]
            steps: [{at: 0, launch: plain}, {at: 2s, force-quit: plain}]
            expect: [{app: plain, exits: 2}, {app: plain, exits: 3}, {app: plain, exits: 4}, {app: plain, exits: 5}]
            until: 3s

            """
        try ScenarioFolder.with(text, belt: belt()) { options in
            let shrinker = try ScenarioShrinker(options, keeping: .failures, out: options.scenario + ".few")
            let said = [2, 3, 4].map { "plain exits: \($0), found 1" } + ["and 1 more not met"]
            #expect(shrinker.goal.text == said.joined(separator: "; "))
        }
    }

    @Test("A bound ends it, and what is there is the smallest so far")
    func bound() throws {
        var bounds = ScenarioShrinker.Bounds()
        bounds.runs = 6
        let steps = "  - {at: 9s, terminate: plain, cause: memory}\n" + notify(40)
        try shrink(
            scenario(steps: steps, expect: "  - {app: plain, verdict: deny, count: 0}"),
            belt: belt(),
            bounds: bounds
        ) {
            shrinker,
            ending,
            _,
            scenario in
            guard case .runs = ending else {
                Issue.record("it ended otherwise")
                return
            }
            #expect(shrinker.progress.runs == 6)
            #expect(scenario.steps.count < 43)
        }
    }

    @Test("What does not fail is refused, and so is a decision that nobody made")
    func nothing() throws {
        let good = scenario(steps: notify(2), expect: "")
        for (wish, code) in [
            (ShrinkGoal.Wish.failures, ExitCode.wrongState), (.expectation(1), .wrongState),
            (.expectation(9), .notFound),
            (.decision(app: "plain", DecisionFilter(verdict: .deny)), .notFound),
            (.decision(app: "plian", DecisionFilter(verdict: .deny)), .notFound),
        ] {
            do {
                try shrink(good, belt: belt(), wish) { _, _, _, _ in }
                Issue.record("\(wish) was taken")
            } catch let failure as CommandFailure {
                #expect(failure.code == code)
            }
        }
    }
}
