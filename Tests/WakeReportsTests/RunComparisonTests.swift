import Foundation
import Testing
import WakeModel

@testable import WakeReports

@Suite("In what two runs differ, in words")
struct RunComparisonTests {
    let left: ReportFixture
    let right: ReportFixture

    init() throws {
        left = try ReportFixture()
        right = try ReportFixture()
    }

    /// Wakes by two devices in turn, a second apart, so that no two neighbours are the same.
    private func wakes(_ fixture: ReportFixture, _ count: UInt64 = 10) -> [[Decision]] {
        (1...count).map { number in
            var decision = fixture.resume(number, at: second(Int64(number) + 10))
            decision.subject = fixture.names.intern("device-\(number % 2 == 0 ? "even" : "odd")\(number)")
            return [decision]
        }
    }

    private func compare(_ one: RunLog, _ other: RunLog) -> RunComparison {
        RunComparison(one, other, names: ("simulated", "real"))
    }

    @Test("A step that one run lacks is one difference, and all that follows agrees again")
    func oneMissing() throws {
        var fewer = wakes(right)
        fewer.remove(at: 4)
        let comparison = compare(try left.run(wakes(left)), try right.run(fewer))
        let difference = try #require(comparison.apps.first?.differences.first)
        #expect(comparison.apps.first?.differences.count == 1)
        #expect(difference.kind == .missing)
        #expect((difference.left?.number, difference.right?.number) == (5, nil))
        #expect((difference.before, difference.after) == (4, 5))
        #expect(
            difference.causes == [
                "real heard of no characteristic-notified device-odd5 from T+00:00:14.000 to T+00:00:16.000"
            ]
        )
        #expect(comparison.summary == "1 of 1 app differs: 9 of 10 steps agree")
        #expect(comparison.lines.contains("  around 4 steps agree before it, 5 after it agree again"))
    }

    @Test("What the user did in one run only is told as a cause, with its place in the scenario")
    func act() throws {
        var fewer = wakes(right)
        fewer.remove(at: 4)
        var other = try right.run(fewer)
        let quit = Act(
            event: EventID(90),
            at: second(14),
            word: "force quit",
            app: "com.acme.heart",
            origin: "night.yaml:31"
        )
        other.acts = [quit]
        let causes = compare(try left.run(wakes(left)), other).apps.first?.differences.first?.causes ?? []
        #expect(
            causes.first == "real has 'force quit' at T+00:00:14.000 [night.yaml:31] before it, and simulated has not"
        )
        var same = try left.run(wakes(left))
        same.acts = [quit]
        #expect(compare(same, other).apps.first?.differences.first?.causes.count == 1)
    }

    @Test("An event that reached another app, or none, in the run that lacks it is told")
    func elsewhere() throws {
        var others = wakes(right)
        others[4][0] = right.nobody(5, at: second(15))
        others[4][0].subject = right.names.intern("device-odd5")
        let comparison = compare(try left.run(wakes(left)), try right.run(others))
        let causes = comparison.apps.first { $0.app == "com.acme.heart" }?.differences.first?.causes ?? []
        #expect(
            causes == [
                "in real no app was registered for characteristic-notified device-odd5 at T+00:00:15.000 (d-000005)"
            ]
        )
    }

    @Test("Where the verdicts of one event differ, the check that decided is named with what both runs observed")
    func check() throws {
        var phone = RoutedPhone(left.names, app: 0, bundle: "com.acme.heart", profile: RoutedPhone.barring)
        phone.monitorHome(at: second(2), always: true)
        phone.suspend(at: second(9))
        var entry = phone.enterHome(at: second(20))
        entry.id = DecisionID(1)
        let comparison = compare(
            try left.run([[entry]]),
            try right.run([[right.forceQuit(1, at: second(20), always: true, quitAt: second(15))]])
        )
        let difference = try #require(comparison.apps.first?.differences.first)
        #expect(difference.kind == .verdict)
        let cause = try #require(difference.causes.first)
        #expect(
            cause.hasPrefix("LAUNCH-2 (app not force-quit by the user): simulated pass, observed false; "),
            "\(cause)"
        )
        #expect(cause.hasSuffix("real fail, observed true since T+00:00:15.000"), "\(cause)")
        #expect(difference.causes.contains { $0.hasPrefix("the app was suspended in simulated and ") })
    }

    @Test("Of the check that decided, the figures are told that stand beside what it observed")
    func figures() throws {
        func decision(_ fixture: ReportFixture, wakes: UInt32, _ result: CheckResult) -> Decision {
            var decision = fixture.resume(1, at: second(10))
            decision.verdict = result == .pass ? .resume : .deny
            decision.checks[.voipWakesLeft] = result
            decision.snapshot.voipWakes = wakes
            return decision
        }
        let comparison = compare(
            try left.run([[decision(left, wakes: 3, .pass)]]),
            try right.run([[decision(right, wakes: 16, .fail)]])
        )
        let cause = try #require(comparison.apps.first?.differences.first?.causes.first)
        #expect(cause.contains("): simulated pass, observed true, wakes 3, "), "\(cause)")
        #expect(cause.contains("; real fail, observed false, wakes 16, "), "\(cause)")
    }

    @Test("Two steps in another order have moved, and are neither lost nor new")
    func moved() throws {
        var swapped = wakes(right)
        swapped.swapAt(4, 5)
        let differences = compare(try left.run(wakes(left)), try right.run(swapped)).apps.first?.differences ?? []
        #expect(differences.map(\.kind) == [.moved])
        #expect(differences.first?.after == 4)
    }

    @Test("Values that one run lacks in the middle are counted, and those after them agree again")
    func values() throws {
        let all = (1...30).map { left.outcome($0, value: "06\($0)") }
        var fewer = all
        fewer.remove(at: 9)
        let comparison = compare(
            try left.run(wakes(left, 30), outcomes: all),
            try right.run(wakes(right, 30), outcomes: fewer)
        )
        let difference = try #require(comparison.apps.first?.differences.first)
        #expect(difference.kind == .value)
        #expect((difference.left?.text, difference.right?.text) == ("0610", "0611"))
        #expect((difference.before, difference.after) == (9, 20))
        #expect(difference.causes == ["simulated has 1 value there that real has not"])
    }

    @Test("Bytes that wait unread on a stream are no values to be equal")
    func streams() throws {
        let runs = try [(left, "0a"), (right, "0a0b")].map { fixture, unread in
            var given = fixture.outcome(1, value: "0648")
            var waiting = fixture.outcome(2, value: unread)
            waiting.delivered[0].name = "stream"
            given.delivered += waiting.delivered
            return try fixture.run(wakes(fixture, 1), outcomes: [given])
        }
        let comparison = compare(runs[0], runs[1])
        #expect(comparison.isEqual, "\(comparison.lines)")
        #expect(comparison.apps.map(\.values.left) == [1])
    }

    @Test("What was set differently comes first")
    func settings() throws {
        var other = try right.run([[right.forceQuit(1, at: second(20))]])
        other.header.seed = 7
        other.header.settings["backend"] = "bluez"
        let lines = compare(try left.run([[left.resume(1, at: second(20))]]), other).lines
        #expect(
            Array(lines.prefix(2)) == [
                "set differently  seed: simulated has \(UInt64.max); real has 7",
                "set differently  backend: simulated has simulated; real has bluez",
            ]
        )
    }

    @Test("A run that is different all over is told as such, and the lines stay few")
    func different() throws {
        let one = try left.run(wakes(left, 2_000))
        var other = one
        for place in other.decisions.indices where place > 10 { other.decisions[place].subject += "'" }
        let comparison = compare(one, other)
        #expect(comparison.apps.first?.differences.last?.kind == .rest)
        #expect(comparison.lines.count < 100)
    }

    @Test("JSON says the same")
    func json() throws {
        var fewer = wakes(right)
        fewer.remove(at: 4)
        let comparison = compare(try left.run(wakes(left)), try right.run(fewer))
        let value = try JSONSerialization.jsonObject(with: Data(comparison.json.utf8)) as? [String: Any]
        #expect(value?["equal"] as? Bool == false)
        let app = (value?["apps"] as? [[String: Any]])?.first
        #expect((app?["steps"] as? [String: Int]) == ["left": 10, "right": 9, "agree": 9])
        #expect((app?["differences"] as? [[String: Any]])?.first?["kind"] as? String == "missing")
        let same = compare(try left.run(wakes(left)), try right.run(wakes(right)))
        #expect(same.json.hasPrefix("{\"schema\":\"wake.compare/1\",\"ok\":true,\"equal\":true,"))
    }
}
