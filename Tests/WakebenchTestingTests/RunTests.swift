import Foundation
import Testing
import WakeModel

@testable import WakebenchTesting

@Suite("A run that a unit test starts")
struct RunTests {
    private func inFolder(_ body: (Folder) async throws -> Void) async throws {
        let folder = try Folder()
        defer { folder.clean() }
        try await body(folder)
    }

    private func beacon(_ folder: Folder, _ more: String = "") throws -> Wakebench.Scenario {
        try folder.write("beacon.yaml", Scenarios.device)
        return .file(try folder.write("night.yaml", Scenarios.beacon(more)))
    }

    @Test("Its words for verdicts, reasons, kinds, results and exits are those of records")
    func words() {
        #expect(Wakebench.Verdict.allCases.map(\.rawValue) == Verdict.allCases.map(\.word))
        #expect(Set(Wakebench.Reason.allCases.map(\.rawValue)) == Set(Reason.allCases.map(\.word)))
        #expect(Wakebench.EventKind.allCases.map(\.rawValue) == EventKind.allCases.map(\.word))
        #expect(Wakebench.ExitCause.allCases.map(\.rawValue) == ExitCause.allCases.map(\.word))
        let results = Set(Wakebench.Decision.Check.Result.allCases.map(\.rawValue))
        #expect(results == Set(CheckResult.allCases.map(\.word)))
    }

    @Test("It has the verdicts, each with its time, reason, rule and checks")
    func verdicts() async throws {
        try await inFolder { folder in
            let run = try await Wakebench.run(beacon(folder))
            #expect(run.exitCode == 0)
            #expect(run.folder == nil)
            #expect(try run.count(app: "heart", verdict: .resume) == 1)
            #expect(try run.count(app: "com.acme.heart", kind: .regionEntered) == 1)
            let resume = try #require(try run.first(app: "heart", verdict: .resume))
            #expect(resume.kind == .regionExited)
            #expect(resume.reason == .resumed)
            #expect(resume.rule == "LIFE-4")
            #expect(resume.time > .seconds(20))
            #expect(resume.time <= run.end)
            #expect(resume.checks.contains { $0.name == "app not force-quit by the user" && $0.result == .pass })
            #expect(resume.decisive == nil)
        }
    }

    @Test("Profile, seed, settings and further options reach the bench")
    func options() async throws {
        try await inFolder { folder in
            let out = "\(folder.path)/kept"
            let run = try await Wakebench.run(
                .text(Scenarios.small()),
                profile: "ios13",
                seed: 42,
                clock: .virtual,
                settings: ["bluetoothWindow": "5s"],
                options: ["--no-journal"],
                folder: out
            )
            #expect(run.folder == out)
            let log = try String(contentsOfFile: "\(out)/decisions.ndjson", encoding: .utf8)
            for word in [#""profile":"ios13""#, #""seed":42"#, #""bluetoothWindow":"5"#] { #expect(log.contains(word)) }
            #expect(!FileManager.default.fileExists(atPath: "\(out)/journal.sqlite"))
            // A second time it is replaced.
            _ = try await Wakebench.run(.text(Scenarios.small()), folder: out)
        }
    }

    @Test("A decision that a check decided names it")
    func decisive() async throws {
        try await inFolder { folder in
            let steps = "  - {when: {app: heart, state: suspended}, force-quit: heart}\nuntil: 120s"
            let text = Scenarios.beacon("\(steps)\nsettings: {locationLiftsForceQuit: off}")
            try folder.write("beacon.yaml", Scenarios.device + "  - {after: 60s, metres: 1}\n")
            let scenario = Wakebench.Scenario.file(try folder.write("quit.yaml", text))
            let run = try await Wakebench.run(scenario, profile: "ios26")
            let refused = try #require(try run.first(app: "heart", verdict: .deny))
            #expect(refused.decisive?.name == "app not force-quit by the user")
            #expect(refused.decisive?.rule == "LAUNCH-2")
            #expect(refused.wouldHave == .relaunch)
            #expect(refused.description.contains("deny, ForceQuit [LAUNCH-2]; not so: app not force-quit by the user"))
        }
    }

    @Test("An expectation that is not met is thrown with its nearest decision, and the run is kept and named")
    func expectation() async throws {
        try await inFolder { folder in
            let scenario = try beacon(
                folder,
                "expect: [{app: heart, verdict: relaunch, kind: region-exited, count: 1}]"
            )
            let failure = try #require(
                await #expect(throws: Wakebench.Failure.self) { try await Wakebench.run(scenario) }
            )
            guard case .scenarioFailed(let run) = failure else {
                Issue.record(failure)
                return
            }
            let kept = try #require(run.folder)
            defer { try? FileManager.default.removeItem(at: URL(filePath: kept).deletingLastPathComponent()) }
            #expect(FileManager.default.fileExists(atPath: "\(kept)/report.html"))
            #expect(run.exitCode == 7)
            let expected = "\(folder.path)/night.yaml:12: heart relaunch region-exited: 1; found 0\n"
            #expect(failure.description.hasPrefix(expected), "\(failure)")
            let nearest = #/T\+00:00:[0-9.]+  region-exited \S+  resume, Resumed \[LIFE-4\]/#
            #expect(failure.description.firstMatch(of: nearest) != nil, "\(failure)")
            #expect(failure.description.contains("wakebench why com.acme.heart --run \(kept)"))
            #expect(failure.description.hasSuffix("the run is kept in \(kept)"))
            #expect(failure.localizedDescription == failure.description)
        }
    }

    @Test("With failure allowed it is returned, and nothing is kept")
    func allowedFailure() async throws {
        let scenario = Scenarios.small("until: 1s\nexpect: [{app: heart, verdict: relaunch, count: 1}]")
        let run = try await Wakebench.run(.text(scenario), allowsFailure: true)
        #expect(run.exitCode == 7)
        #expect(run.failedExpectations.map(\.expected) == ["heart relaunch: 1"])
        #expect(run.failedExpectations.map(\.found) == ["found 0"])
        #expect(run.folder == nil)
    }

    @Test("A step that waited in vain is the run's fault")
    func fault() async throws {
        let step = "  - {when: {app: heart, verdict: resume}, within: 5s, note: never}\n"
        let scenario = Scenarios.small("").replacing(
            "[{at: 0, launch: heart}]",
            with: "\n  - {at: 0, launch: heart}\n\(step)"
        )
        let run = try await Wakebench.run(.text(scenario), allowsFailure: true)
        #expect(run.exitCode == 6)
        #expect(run.fault?.kind == "timeout")
        #expect(run.fault?.message == "scenario.yaml:5: waited 5.0 s for 1 resume of heart; saw 0")
    }

    @Test("A scenario that cannot be read is refused in the bench's own words, with the name of its file")
    func invalid() async throws {
        try await inFolder { folder in
            let file = try folder.write("night.yaml", Scenarios.small("stepz: 1"))
            let failure = await #expect(throws: Wakebench.Failure.self) { try await Wakebench.run(.file(file)) }
            let line = "wakebench ended with code 11: \(file):4: unknown key 'stepz' in a scenario; expected "
            #expect(failure?.description.hasPrefix(line) == true, "\(failure.map(\.description) ?? "")")
        }
    }

    @Test(
        "A bundle that is nowhere is looked for beside the scenario, and not in the temporary folder, for all one sees"
    )
    func noBundle() async throws {
        try await inFolder { folder in
            let file = try folder.write("hour.yaml", Scenarios.hour)
            let failure = await #expect(throws: Wakebench.Failure.self) { try await Wakebench.run(.file(file)) }
            let line = "\(file):2: no app bundle 'Heart.app'; expected it in \(folder.path) or "
            #expect(failure?.description.contains(line) == true, "\(failure.map(\.description) ?? "")")
        }
    }

    @Test("An app that the scenario does not have is no app without verdicts")
    func unknownApp() async throws {
        let run = try await Wakebench.run(.text(Scenarios.small()))
        let words = "the scenario has no app 'haert'; it has heart (com.acme.heart)"
        var failure = #expect(throws: Wakebench.Failure.self) { try run.count(app: "haert", verdict: .deny) }
        #expect(failure?.description == words)
        failure = #expect(throws: Wakebench.Failure.self) { try run.log(of: "haert") }
        #expect(failure?.description == words)
    }

    @Test("An app given to the run goes before one beside the scenario, and the run's folder goes with it")
    func givenApp() async throws {
        try await inFolder { folder in
            try folder.makeApp(in: ".", script: "echo stale")
            let given = try folder.makeApp(in: "given", script: "echo given; pwd")
            let scenario = Wakebench.Scenario.file(try folder.write("hour.yaml", Scenarios.hour))
            let run = try await Wakebench.run(scenario, apps: [.bundle(given)], allowsFailure: true)
            #expect(run.exitCode == 8)
            #expect(run.fault?.kind == "app-fault")
            #expect(run.exits.first?.app == "com.acme.heart")
            let lines = try run.log(of: "heart").split(separator: "\n").map(String.init)
            #expect(lines.first == "given")
            let home = try #require(lines.last)
            #expect(home.hasSuffix("/run/apps/com.acme.heart"))
            #expect(!FileManager.default.fileExists(atPath: home))
        }
    }

    @Test("Of a program and an Info.plist a bundle is made")
    func program() async throws {
        try await inFolder { folder in
            let program = try folder.write("heart", "#!/bin/sh\necho made\n", executable: true)
            let info = try folder.write("Info.plist", Scenarios.plist)
            let scenario = Scenarios.hour.replacing("Heart.app", with: "heart.app")
            let run = try await Wakebench.run(
                .text(scenario),
                apps: [.program(program, info: info)],
                allowsFailure: true
            )
            #expect(try run.log(of: "heart") == "made\n")
            let failure = await #expect(throws: Wakebench.Failure.self) {
                try await Wakebench.run(.text(scenario), apps: [.program("Nothing", info: info)])
            }
            #expect(failure?.description.hasSuffix("/Nothing: no such program; build it, or give its path") == true)
        }
    }

    @Test("Many runs go on side by side, each with its own verdicts")
    func parallel() async throws {
        try await inFolder { folder in
            let scenario = try beacon(folder)
            try await withThrowingTaskGroup(of: (UInt64, Wakebench.Run).self) { group in
                for seed in UInt64(1)...12 {
                    group.addTask { (seed, try await Wakebench.run(scenario, seed: seed)) }
                }
                var seeds: Set<UInt64> = []
                for try await (seed, run) in group {
                    seeds.insert(seed)
                    #expect(try run.count(app: "heart", verdict: .resume) == 1, "seed \(seed)")
                }
                #expect(seeds.count == 12)
            }
        }
    }

    @Test("A test that is not asynchronous waits")
    func synchronous() throws {
        func play() throws(Wakebench.Failure) -> Wakebench.Run { try Wakebench.run(.text(Scenarios.small())) }
        #expect(try play().end == .seconds(1))
    }

    @Test(
        "Times of records are read to the nanosecond, and other texts are none",
        arguments: [
            ("T+00:00:00.000", Duration.zero), ("T+27:01:02.250", .milliseconds(97_262_250)),
            ("T+00:00:00.188401847", .nanoseconds(188_401_847)), ("00:00:00", nil), ("T+00:60:00", nil),
            ("T+00:00", nil), ("T+00:00:00.0000000001", nil), ("T+-1:00:00", nil),
        ] as [(String, Duration?)]
    )
    func times(text: String, time: Duration?) {
        #expect(LogTime.duration(text) == time)
        if let time, text.count == 14 { #expect(LogTime.text(time) == text) }
    }
}
