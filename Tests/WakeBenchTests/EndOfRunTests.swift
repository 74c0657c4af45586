import Foundation
import Testing
import WakeBench

@Suite("The end of a run")
struct EndOfRunTests {
    private static let belt = """
        device: bluetooth-peripheral
        address: "F0:11:22:33:44:55"
        advertising: {services: [180D]}
        gatt:
          - service: 180D
            characteristics:
              - uuid: 2A37
                properties: [notify]
                notifications: [{after: 2s, values: ["0048"]}, {after: 30s, counter: {count: 100, every: 30s, width: 1}}]

        """

    /// A played app and a belt for ten minutes; the last step comes after the last event.
    private static let scenario = """
        scenario: end
        devices: [{file: belt.yaml, name: belt}]
        apps:
          - scripted: com.acme.heart
            name: heart
            modes: [bluetooth-central]
            restore-identifier: central
            uses: [{device: belt, characteristic: 2A37}]
            on: [{event: any, work: 1s, then: end}]
        steps:
          - {at: 0, launch: heart}
          - {at: 3s, home: heart}
        expect:
          - {app: heart, verdict: resume, at-least: 10}
          - {app: heart, state: suspended}
        until: 10m

        """

    private func logs(_ options: RunOptions) throws -> [Data] {
        try ["decisions", "outcomes"].map { try Data(contentsOf: URL(filePath: "\(options.out)/\($0).ndjson")) }
    }

    @Test(
        "A run that was killed before its reports were written has them written by going on, and decides nothing anew"
    )
    func killedBeforeReports() throws {
        try ScenarioFolder.with(Self.scenario, belt: Self.belt) { options in
            var first: Run? = try Run(options)
            try first?.execute()
            let found = try #require(first).driver.judgements
            let verdicts = try #require(first).verdicts
            #expect(found.allSatisfy { $0.met })
            // What a kill before finish() leaves: all but the reports.
            first = nil
            let before = try logs(options)
            var second: Run? = try Run(options)
            try second?.execute()
            #expect(try logs(options) == before)
            #expect(second?.driver.judgements == found)
            #expect(second?.verdicts == verdicts)
            #expect(second?.notes.contains { $0.contains("was already finished") } == true)
            try second?.finish()
            second = nil
            let error = #expect(throws: CommandFailure.self) { try Run(options) }
            #expect(error?.code == .wrongState)
            #expect(error?.message.contains("that run is over") == true)
        }
    }

    @Test("A signal while a journal is read back ends the run with a word, and it can be gone on with all the same")
    func interruptedReadingBack() throws {
        try ScenarioFolder.with(Self.scenario, belt: Self.belt) { options in
            var first: Run? = try Run(options)
            try first?.execute()
            first = nil
            let before = try logs(options)
            var (mine, usual) = (sigset_t(), sigset_t())
            unsafe sigemptyset(&mine)
            unsafe sigaddset(&mine, SIGINT)
            unsafe pthread_sigmask(SIG_BLOCK, &mine, &usual)
            defer { unsafe pthread_sigmask(SIG_SETMASK, &usual, nil) }
            pthread_kill(pthread_self(), SIGINT)
            var second: Run? = try Run(options)
            let error = #expect(throws: CommandFailure.self) { try second?.execute() }
            #expect(error?.code == .interrupted)
            #expect(error?.message == "interrupted while the journal in \(options.out) was read back")
            #expect(second?.hasPlayed == false)
            second = nil
            #expect(try logs(options) == before)
            let third = try Run(options)
            try third.execute()
            #expect(third.notes.contains { $0.contains("was already finished") })
            #expect(try logs(options) == before)
        }
    }

    @Test("A step that waited in vain has done so, too, when only the reports were missing")
    func vainBeforeReports() throws {
        let vain = Self.scenario.replacing(
            "expect:",
            with: "  - {when: {app: heart, verdict: relaunch}, within: 1m, note: never}\nexpect:"
        )
        try ScenarioFolder.with(vain, belt: Self.belt) { options in
            var first: Run? = try Run(options)
            try first?.execute()
            let failure = try #require(first?.driver.failure)
            first = nil
            let second = try Run(options)
            try second.execute()
            #expect(second.driver.failure == failure)
        }
    }

    @Test("A run without a journal has its folder to itself, and overwrites no run that has one")
    func lockWithoutJournal() throws {
        try ScenarioFolder.with(Self.scenario, belt: Self.belt) { options in
            var unjournaled = options
            unjournaled.journal = false
            var first: Run? = try Run(unjournaled)
            for other in [unjournaled, options] {
                let error = #expect(throws: CommandFailure.self) { try Run(other) }
                #expect(error?.code == .wrongState)
                #expect(error?.message.contains("in use by process \(getpid())") == true, "\(error?.message ?? "")")
            }
            try first?.execute()
            first = nil
            var replacing = options
            replacing.replaces = true
            let journaled = try Run(replacing)
            try journaled.execute()
            try journaled.finish()
            let before = try logs(options)
            let error = #expect(throws: CommandFailure.self) { try Run(unjournaled) }
            #expect(error?.code == .wrongState)
            #expect(try logs(options) == before)
        }
    }
}
