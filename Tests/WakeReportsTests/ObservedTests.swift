import Foundation
import Testing
import WakeJSON
import WakeModel
import WakeReports
import WakeRouter

@Suite("What the checks of a record show")
struct ObservedTests {
    let fixture: ReportFixture

    init() throws { fixture = try ReportFixture() }

    private func record(_ decision: Decision, profile: Profile = .ios17) throws -> [String: Any] {
        let log = DecisionLog(header: ReportFixture.header, profile: profile, names: fixture.names.text)
        try log.append(batch: [decision])
        let line = ShapedLines.records(of: log.contents)[1]
        return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    private func check(_ check: Check, of decision: Decision, profile: Profile = .ios17) throws -> [String: Any] {
        let checks = try #require(try record(decision, profile: profile)["checks"] as? [[String: Any]])
        return try #require(checks.first { $0["name"] as? String == check.statement })
    }

    @Test("Whatever check passes or fails shows what was looked at", arguments: Check.allCases)
    func everyCheck(check: Check) throws {
        for result in [CheckResult.pass, .fail] {
            var decision = fixture.resume(1, at: second(10))
            decision.checks[check] = result
            #expect(try self.check(check, of: decision)["observed"] != nil, "\(check) \(result.word)")
        }
    }

    /// The type of a value, as readers of tables tell them; nil for null, which is in each.
    private static func type(_ value: JSONValue) -> String? {
        switch value {
        case .null: nil
        case .bool: "flag"
        case .integer, .large, .number: "number"
        case .string: "text"
        case .array: "list"
        case .object: "object"
        }
    }

    @Test("Each key of a check has values of one type in all records, and what was observed is a text")
    func oneType() throws {
        var types: [String: Set<String>] = [:]
        for result in [CheckResult.pass, .fail, .notApplicable] {
            var decision = fixture.forceQuit(1, at: second(8_000))
            for check in Check.allCases { decision.checks[check] = result }
            for modes in [BackgroundModes([]), BackgroundModes([.audio, .fetch])] {
                decision.snapshot.modes = modes
                let log = DecisionLog(header: ReportFixture.header, profile: .ios17, names: fixture.names.text)
                try log.append(batch: [decision])
                let record = try #require(log.records.first.flatMap(JSONValue.init(parsing:)))
                for member in record["checks"]?.array.flatMap(\.members) ?? [] {
                    types[member.key, default: []].formUnion([Self.type(member.value)].compactMap(\.self))
                }
            }
        }
        #expect(types["observed"] == ["text"])
        #expect(types.filter { $0.value.count > 1 } == [:])
    }

    @Test("MODE-2: the background modes of an app are a text, also where it has none")
    func modes() throws {
        var decision = fixture.resume(1, at: second(10))
        decision.checks[.modePresent] = .fail
        decision.snapshot.modes = BackgroundModes([.bluetoothCentral, .fetch])
        #expect(try check(.modePresent, of: decision)["observed"] as? String == "bluetooth-central, fetch")
        decision.snapshot.modes = []
        #expect(try check(.modePresent, of: decision)["observed"] as? String == "none")
    }

    @Test("BTC-3, BTC-4, BT-1: a discovery shows the services of its scan, and whether it was the first")
    func discovery() throws {
        var phone = RoutedPhone(fixture.names, app: 0, bundle: "com.acme.heart")
        phone.scan(services: 2)
        let first = phone.sight(at: second(3))
        #expect(try check(.scanNamesServices, of: first)["observed"] as? String == "2")
        #expect(try check(.notDuplicate, of: first)["observed"] as? String == "true")
        #expect(try check(.deliveryWanted, of: first)["observed"] as? String == "true")
        let again = phone.sight(at: second(4))
        #expect(again.reason == .duplicateDiscovery)
        #expect(try check(.notDuplicate, of: again)["observed"] as? String == "false")
    }

    @Test("BTC-8: the restart that decides is shown")
    func restart() throws {
        var phone = RoutedPhone(fixture.names, app: 0, bundle: "com.acme.heart", profile: .ios8)
        let decision = phone.connectAfterRestart(at: second(60))
        let shown = try check(.exitAllowsRelaunch, of: decision)
        #expect(shown["result"] as? String == "fail")
        #expect(shown["observed"] as? String == "false")
        #expect(shown["restarted_since"] as? Bool == true)
    }

    @Test("BTC-8: an accessory that was set up is shown, and as what lifts the force quit")
    func accessorySetUp() throws {
        var phone = RoutedPhone(
            fixture.names,
            app: 0,
            bundle: "com.acme.heart",
            profile: .ios26,
            accessorySetup: true
        )
        phone.setUp()
        phone.subscribe(at: second(1))
        phone.suspend(at: second(2))
        phone.forceQuit(at: second(3), by: EventID(500))
        let decision = phone.notify(at: second(4))
        #expect(decision.verdict == .relaunch)
        let shown = try check(.notForceQuit, of: decision, profile: .ios26)
        #expect(shown["lifted_by"] as? String == "BTC-8")
        #expect(shown["observed"] as? String == "true")
        let exit = try check(.exitAllowsRelaunch, of: decision, profile: .ios26)
        #expect(exit["accessory_set_up"] as? Bool == true)
        #expect(exit["bluetooth_off_since"] as? Bool == false)
    }

    @Test("BTC-8: that Bluetooth was off stays shown where an accessory lifts it")
    func bluetoothOffLifted() throws {
        let decision = fixture.forceQuit(1, at: second(8_000))
        for lifted in [false, true] {
            var changed = decision
            changed.checks[.exitAllowsRelaunch] = lifted ? .pass : .fail
            changed.snapshot.bluetoothOffSince = true
            changed.snapshot.bluetoothOffLifted = lifted
            let shown = try check(.exitAllowsRelaunch, of: changed)
            #expect(shown["bluetooth_off_since"] as? Bool == true)
            #expect(shown["bluetooth_off_lifted"] as? Bool == (lifted ? true : nil))
        }
    }

    @Test("LAUNCH-4: what clears a force quit is what clears it on this phone")
    func clearedBy() throws {
        let decision = fixture.forceQuit(1, at: second(8_000))
        var profile = Profile.ios26
        #expect(
            try check(.notForceQuit, of: decision, profile: profile)["cleared_by"] as? [String]
                == ["user launch", "reboot"]
        )
        profile.rebootLiftsForceQuit = false
        #expect(try check(.notForceQuit, of: decision, profile: profile)["cleared_by"] as? [String] == ["user launch"])
    }

    @Test("VOIP-6, AUD-4, REG-2: limits and windows are those in force")
    func limits() throws {
        var profile = Profile.ios17
        profile.areas.voip.wakeLimit = 3
        profile.areas.voip.wakeWindow = .seconds(60)
        profile.areas.audio.silenceLimit = .seconds(7)
        profile.areas.location.regionDwell = .seconds(30)
        var decision = fixture.resume(1, at: second(10))
        for check in [Check.voipWakesLeft, .audible, .dwellOver] { decision.checks[check] = .fail }
        let calls = try check(.voipWakesLeft, of: decision, profile: profile)
        #expect(["wakes", "limit", "window_ms"].map { calls[$0] as? Int } == [0, 3, 60_000])
        #expect(try check(.audible, of: decision, profile: profile)["limit_ms"] as? Int == 7_000)
        #expect(try check(.dwellOver, of: decision, profile: profile)["dwell_ms"] as? Int == 30_000)
    }

    @Test(
        "REG-2, AUD-2: a record and a failing check say what of its rule is assumed, and so do the rule's page and list"
    )
    func assumed() throws {
        var decision = fixture.resume(1, at: second(10))
        decision.checks[.dwellOver] = .fail
        let shown = try check(.dwellOver, of: decision)
        #expect(shown["confidence"] as? String == "documented")
        #expect(shown["assumed"] as? String == "the inward margin")
        decision.rule = .aud2
        #expect(
            try record(decision)["assumed"] as? String
                == "the seconds that an app has to end its session after its sound"
        )
        #expect(RuleText.page(.reg2).contains("\n  assumed     the inward margin"))
        #expect(RuleText.list().contains { $0.hasPrefix("REG-2 ") && $0.hasSuffix("[assumed: the inward margin]") })
        #expect(RuleText.list().contains { $0.hasPrefix("REG-1 ") && !$0.contains("[assumed") })
    }

    @Test("REG-2: why quotes the dwell in force, and says what of the rule is assumed")
    func why() throws {
        var decision = fixture.nobody(1, at: second(10))
        decision.reason = .crossingBegan
        decision.rule = .reg2
        decision.checks = CheckResults()
        decision.checks[.crossesBoundary] = .pass
        decision.checks[.dwellOver] = .fail
        let why = Why(try fixture.run([[decision]]), app: "com.acme.heart")
        let text = try #require(why.explanation(event: EventID(1)))
        #expect(
            text.contains(
                "CrossingBegan   the position is past a boundary, and the dwell of 20 s is not over   "
                    + "[REG-2, documented; assumed: the inward margin]"
            )
        )
    }

    @Test("SYS-4: why says of an event that is for no app by itself what became of it, and not that nobody registered")
    func whyOfNoApp() throws {
        var decision = fixture.nobody(1, at: second(10))
        decision.reason = .nothingCrossed
        decision.rule = .reg1
        let why = Why(try fixture.run([[decision]]), app: "com.acme.heart")
        #expect(why.explanation().contains("the position crossed no boundary that anybody watches   [REG-1"))
        let text = try #require(why.explanation(event: EventID(1)))
        #expect(text.hasPrefix("com.acme.heart  NOT given it at T+00:00:10 by"))
        #expect(!text.contains("saw this event"))
    }

    @Test("The time of a wake is told of the record, and is no check")
    func budget() throws {
        let budget = try record(fixture.resume(1, at: second(10)))["budget"] as? [String: Int]
        #expect(budget == ["limit_ms": 10_000, "used_ms": 0, "left_ms": 10_000])
        #expect(try record(fixture.nobody(1, at: second(10)))["budget"] is NSNull)
    }
}
