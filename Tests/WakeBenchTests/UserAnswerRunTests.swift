import Foundation
import Testing
import WakeModel
import WakeReports

@testable import WakeBench

/// Runs of what the user lets scripted apps do, of calls that end in one way or another, and of stays that are visits.
@Suite("Runs of what the user lets apps do")
struct UserAnswerRunTests {
    private static let route = """
        device: location-track
        route:
          - {latitude: 40.0, longitude: 5.0, speed: 50km/h, wait: 30m}
          - {latitude: 40.05, longitude: 5.0, speed: 50km/h, wait: 1h}
          - {latitude: 40.1, longitude: 5.0}

        """

    /// The logs of a run, which says the same when it is read back, as after a kill before its reports.
    private func run(_ scenario: String, device: String = Self.route) throws -> RunLog {
        var log: RunLog?
        try ScenarioFolder.with(scenario, belt: device) { options in
            try Run(options).execute()
            let file = options.out + "/outcomes.ndjson"
            let before = FileManager.default.contents(atPath: file)
            try Run(options).execute()
            #expect(FileManager.default.contents(atPath: file) == before)
            log = try RunLog(folder: options.out)
        }
        return try #require(log)
    }

    private func decisions(_ log: RunLog, _ kind: String) -> [String] {
        log.decisions.filter { $0.kind == kind }.map { "\($0.verdict.word) \($0.reason.word) \($0.rule.text)" }
    }

    @Test("LOC-11: an app that may not know the precise position hears of no region, and why says so")
    func reducedAccuracy() throws {
        let log = try run(
            """
            scenario: reduced-accuracy
            profile: ios17
            apps:
              - scripted: org.invented.coarse
                name: coarse
                authorizations: {precise-location: denied}
                location: {regions: [{identifier: h, latitude: 40, longitude: 5, radius: 200m}]}
            steps:
              - {at: 0, position: {latitude: 41, longitude: 5}}
              - {at: 1s, launch: coarse}
              - {at: 5s, home: coarse}
              - {at: 1m, enter: h}
            until: 5m

            """
        )
        #expect(decisions(log, "region-entered") == ["deny ReducedAccuracy LOC-11"])
        let why = Why(log, app: "org.invented.coarse").explanation()
        #expect(why.contains("because  ReducedAccuracy   the user keeps the precise position from the app"), "\(why)")
        #expect(why.contains("`authorize: APP, precise-location: allowed`"), "\(why)")
    }

    @Test("NOTE-7: a silent push wakes an app that may not show notifications, and a visible one is not shown")
    func notificationsDenied() throws {
        let log = try run(
            """
            scenario: notifications-denied
            profile: ios17
            apps:
              - scripted: org.invented.mail
                name: mail
                modes: [remote-notification]
                push: {}
                authorizations: {notifications: denied}
            steps:
              - {at: 0, launch: mail}
              - {at: 5s, home: mail}
              - {at: 60s, push: {app: mail, payload: {aps: {content-available: 1}}}}
              - {at: 100s, push: {app: mail, payload: {aps: {alert: "A word"}}}}
            until: 3m

            """
        )
        #expect(decisions(log, "push-received") == ["resume Pushed PUSH-1", "deny PushForUser PUSH-9"])
        let told: Set<Deed> = [.notificationWithheld, .notificationShown]
        #expect(log.deeds.map(\.deed).filter(told.contains) == [.notificationWithheld])
    }

    @Test("PUSH-9: why does not say of a push for the user that the user saw it: an app in front is given it itself")
    func pushInFront() throws {
        let log = try run(
            """
            scenario: push-in-front
            profile: ios17
            apps:
              - {scripted: org.invented.mail, name: mail, modes: [remote-notification], push: {}}
            steps:
              - {at: 0, launch: mail}
              - {at: 1m, push: {app: mail, payload: {aps: {alert: "A word"}}}}
            until: 2m

            """
        )
        #expect(decisions(log, "push-received") == ["deny PushForUser PUSH-9"])
        #expect(decisions(log, "notification-due") == ["foreground-deliver NotificationInFront NOTE-3"])
        let why = Why(log, app: "org.invented.mail").explanation()
        let words = "the push has no content-available: it is for the user, and no app runs for it   [PUSH-9, "
        #expect(why.contains("because  PushForUser   \(words)"), "\(why)")
    }

    @Test("BGT-15: why says that a task of an app that was force-quit lacks a charger for that, and not by its request")
    func forceQuitTask() throws {
        let log = try run(
            """
            scenario: force-quit-task
            profile: ios17
            apps:
              - scripted: org.invented.sync
                name: sync
                modes: [processing]
                tasks: {permitted: [org.invented.db], submits: [{id: org.invented.db, kind: processing, after: 15m}]}
            steps:
              - {at: 0, launch: sync}
              - {at: 1m, home: sync}
              - {at: 2m, force-quit: sync}
              - {at: 3m, phone: display-off}
            until: 1h

            """
        )
        #expect(decisions(log, "processing-task") == ["deny NoExternalPower BGT-7"])
        let why = Why(log, app: "org.invented.sync").explanation()
        let words = "the task requires external power, or its app was force-quit (BGT-15), and there is none   [BGT-7, "
        #expect(why.contains("because  NoExternalPower   \(words)"), "\(why)")
    }

    @Test("RESP-4: a lock on a shared file costs an app its process as it is suspended, and one on its own does not")
    func locks() throws {
        let log = try run(
            """
            scenario: locks
            profile: ios17
            apps:
              - {scripted: org.invented.shared, name: shared, process: {locks: 1}}
              - {scripted: org.invented.own, name: own, process: {private-locks: 1}}
            steps:
              - {at: 0, launch: shared}
              - {at: 5s, home: shared}
              - {at: 20s, launch: own}
              - {at: 25s, home: own}
            until: 1m

            """
        )
        #expect(log.exits.map(\.app) == ["org.invented.shared"])
        #expect(log.exits.map(\.code) == [0xdead_10cc])
        #expect(log.deeds.filter { $0.deed == .sparedPrivateLocks }.map(\.app) == ["org.invented.own"])
    }

    @Test(
        "AUD-6: a call ends with shouldResume, without it, or untold",
        arguments: [
            ("", ["resume ShouldResume AUD-6"]), (", interruption: resume", ["resume ShouldResume AUD-6"]),
            (", interruption: without-resume", ["defer AnswerWaits LAUNCH-6"]), (", interruption: never", []),
        ]
    )
    func callEnds(words: String, told: [String]) throws {
        let log = try run(
            """
            scenario: call-in-background
            profile: ios17
            apps:
              - {scripted: org.invented.tunes, name: tunes, modes: [audio], audio: {category: playback}}
            steps:
              - {at: 0, launch: tunes}
              - {at: 5s, home: tunes}
              - {at: 20s, call: begin}
              - {at: 3m, call: end\(words)}
            until: 5m

            """
        )
        #expect(decisions(log, "audio-interruption-ended") == told)
        #expect(log.deeds.map(\.deed).contains(.leftInterrupted) == told.isEmpty)
    }

    @Test("LOC-12: an app that the user allows the position once may know it until it leaves the foreground")
    func allowOnce() throws {
        let log = try run(
            """
            scenario: allow-once
            profile: ios17
            apps:
              - scripted: org.invented.once
                name: once
                location: {authorization: allow-once, regions: [{identifier: h, latitude: 40, longitude: 5, radius: 200m}]}
            steps:
              - {at: 1s, launch: once}
              - {at: 10s, enter: h}
              - {at: 20s, home: once}
              - {at: 40s, exit: h}
            until: 1m

            """
        )
        #expect(decisions(log, "region-entered").map { $0.prefix(18) } == ["foreground-deliver"])
        #expect(decisions(log, "region-exited") == ["deny NotAuthorized LOC-5"])
        let asked: [Deed] = [.allowedOnce, .endedOnce]
        let deeds: [Deed] = log.deeds.map { $0.deed }
        #expect(deeds.filter { asked.contains($0) } == asked)
    }

    @Test("MODE-2: the stays of a track are visits of an app that watches them")
    func visits() throws {
        let log = try run(
            """
            scenario: visits
            profile: ios17
            devices: [{file: belt.yaml, name: walk}]
            apps:
              - scripted: org.invented.walker
                name: walker
                location: {visits: true}
                on: [{event: any, work: 1s, then: end}]
            steps:
              - {at: 1s, launch: walker}
              - {at: 5s, home: walker}
            until: 3h

            """
        )
        let told = log.decisions.filter { $0.kind == "visit-began" || $0.kind == "visit-ended" }
        let lines = told.map { "\($0.kind) \($0.at.nanoseconds / 1_000_000_000)" }
        let stays = ["visit-began 300", "visit-ended 1810", "visit-began 2500", "visit-ended 5810", "visit-began 6500"]
        #expect(lines == stays)
        #expect(told.map(\.verdict) == [.resume, .resume, .resume, .resume, .resume])
    }
}
