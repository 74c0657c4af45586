import Testing
import WakeModel

@testable import WakeDevices

@Suite("What the user lets apps do")
struct UserAnswerTests {
    private func scenario(_ app: String, _ step: String) throws -> Scenario {
        let text = """
            scenario: answers
            apps:
              - {scripted: com.example.a, name: a\(app)}
            steps:
              - {at: 0, \(step)}
            """
        return try Scenario.parse(Array(text.utf8), file: "/answers.yaml", files: ScenarioFiles())
    }

    @Test("LOC-11, NOTE-7: the precise position and notifications are refused with the app, or in a step")
    func answers() throws {
        let refused = try scenario(
            ", authorizations: {precise-location: denied, notifications: denied}",
            "authorize: a, precise-location: denied"
        )
        #expect(refused.apps[0].refusesPrecise)
        #expect(refused.apps[0].refusesNotifications)
        #expect(refused.steps[0].verb == .user(apps: [0], .refusePrecise))
        let allowed = try scenario(
            ", authorizations: {precise-location: allowed, notifications: allowed}",
            "authorize: a, precise-location: allowed"
        )
        #expect(!allowed.apps[0].refusesPrecise)
        #expect(!allowed.apps[0].refusesNotifications)
        #expect(allowed.steps[0].verb == .user(apps: [0], .allowPrecise))
        let steps = [("denied", UserAction.refuseNotifications), ("allowed", .allowNotifications)]
        for (word, action) in steps {
            let step = try scenario("", "authorize: a, notifications: \(word)")
            #expect(step.steps[0].verb == .user(apps: [0], action))
        }
    }

    @Test("LOC-12: the position is allowed once with the app, or in a step")
    func once() throws {
        let read = try scenario(", location: {authorization: allow-once}", "authorize: a, location: allow-once")
        guard case .scripted(let script) = read.apps[0].form else {
            Issue.record("no script")
            return
        }
        #expect(script.location?.authorization == .allowOnce)
        #expect(read.steps[0].verb == .user(apps: [0], .allowOnce))
    }

    @Test(
        "AUD-6: a call ends with shouldResume, without it, or untold",
        arguments: [
            ("", PhoneChange.callEnded), (", interruption: resume", .callEnded),
            (", interruption: without-resume", .callEndedWithoutResume), (", interruption: never", .callEndedUntold),
        ]
    )
    func callEnds(words: String, change: PhoneChange) throws {
        #expect(try scenario("", "call: end\(words)").steps[0].verb == .phone(change))
    }

    @Test("AUD-6: a scripted app that stops lets others go on, or does not")
    func soundStops() throws {
        let app = ", audio: {category: playback}"
        for (words, act) in [
            ("", ScriptedApp.SoundAct.stop), (", interruption: resume", .stop), (", interruption: never", .stopUntold),
        ] {
            #expect(try scenario(app, "sound: a, do: stop\(words)").steps[0].verb == .sound(apps: [0], act))
        }
        #expect(throws: FileError.self) { try scenario(app, "sound: a, do: play, interruption: never") }
        #expect(throws: FileError.self) { try scenario(app, "sound: a, do: stop, interruption: without-resume") }
    }

    @Test("RESP-4: locks on files of its own are said of a process beside those on shared ones")
    func privateLocks() throws {
        let read = try scenario(", process: {locks: 0, private-locks: 2}", "measure: a, private-locks: 1")
        guard case .scripted(let script) = read.apps[0].form else {
            Issue.record("no script")
            return
        }
        #expect(script.measures == [.locks(0), .privateLocks(2)])
        #expect(read.steps[0].verb == .process(apps: [0], [.measured(.privateLocks(1))]))
    }

    @Test(
        "An answer that nobody can give is refused with what can be",
        arguments: [
            ("authorize: a, precise-location: off", "unknown answer 'off'; expected one of allowed, denied"),
            ("authorize: a, notifications: granted", "unknown answer 'granted'; expected one of allowed, denied"),
            (
                "call: end, interruption: later",
                "unknown end of an interruption 'later'; expected one of resume, without-resume, never"
            ),
            (
                "call: begin, interruption: never",
                "'interruption' beside 'call: begin' in a step; expected one of the two"
            ),
        ]
    )
    func refused(step: String, message: String) {
        let error = #expect(throws: FileError.self) { try scenario("", step) }
        #expect(error?.description.hasSuffix(message) == true, "\(String(describing: error))")
    }
}
