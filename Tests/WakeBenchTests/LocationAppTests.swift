import ChildProcess
import Foundation
import Testing

@Suite("Real apps that use location")
struct LocationAppTests {
    @Test(
        "REG-6: an app is allowed, has its regions watched, and finds them again in its next process",
        .enabled(if: BenchProgram.python, "needs /usr/bin/python3"),
        arguments: ["Fences", "FencesPython"]
    )
    func regionsOutliveTheProcess(name: String) throws {
        let bench = try BenchProgram()
        try bench.install(name)
        try bench.write(
            """
            scenario: fences
            apps:
              - {bundle: \(name).app, name: fences}
            steps:
              - {at: 0, launch: fences}
              - {at: 5s, home: fences}
              - {when: {app: fences, state: suspended}, terminate: fences, cause: memory}
              - {at: 60s, launch: fences}
              - {at: 65s, home: fences}
            """,
            to: "fences.yaml"
        )
        let run = try bench.run(["run", "fences.yaml", "--apps", "apps", "--out", "out", "--quiet"])
        #expect(run.code == 0, "\(run.errors)")
        let identifier = name == "Fences" ? "com.example.fences" : "com.example.fences.python"
        let log = try bench.lines(of: "out/apps/\(identifier).log").filter { line in
            // The turns of the app's life between foreground and background are another test's.
            !line.hasSuffix("Active") && !line.hasSuffix("ground")
        }
        #expect(
            log.map { $0.replacing(/pid=\d+/, with: "pid=N") } == [
                "didFinishLaunching pid=N launchOptions=[]", "didChangeAuthorization notDetermined",
                "didChangeAuthorization authorizedAlways monitored=[]", "didStartMonitoring office",
                "didStartMonitoring desk", "didDetermineState office unknown", "didDetermineState desk unknown",
                "didFinishLaunching pid=N launchOptions=[]",
                "didChangeAuthorization authorizedAlways monitored=[\"desk\", \"office\"]",
            ]
        )
    }

    @Test(
        "BCN-1, BCN-2: a beacon relaunches the app that the system ended, and its silence wakes it again",
        .enabled(if: BenchProgram.python, "needs /usr/bin/python3"),
        arguments: ["Fences", "FencesPython"]
    )
    func beaconComesAndGoes(name: String) throws {
        let bench = try BenchProgram()
        try bench.install(name)
        let shipped = BenchProgram.repository.appending(path: "Devices")
        let scenario = try String(contentsOf: shipped.appending(path: "Scenarios/desk-beacon.yaml"), encoding: .utf8)
        try bench.write(
            scenario.replacing("Fences.app", with: "\(name).app").replacing("../Bluetooth/", with: ""),
            to: "desk.yaml"
        )
        let beacon = try String(contentsOf: shipped.appending(path: "Bluetooth/desk-beacon.yaml"), encoding: .utf8)
        try bench.write(beacon, to: "desk-beacon.yaml")
        let run = try bench.run(["run", "desk.yaml", "--apps", "apps", "--out", "out", "--quiet"])
        #expect(run.code == 0, "\(run.errors)")
        // The first word comes once the app has launched, so that it is no matter of chance what the app asks before.
        let first = try bench.lines(of: "out/decisions.ndjson").first { $0.contains("location-authorization-changed") }
        #expect(first?.contains("\"reason\":\"InForeground\"") == true)
        let identifier = name == "Fences" ? "com.example.fences" : "com.example.fences.python"
        let lines = try bench.lines(of: "out/apps/\(identifier).log")
        let key = name == "Fences" ? "\"UIApplicationLaunchOptionsLocationKey\"" : "'location'"
        let heard = lines.filter { $0.hasPrefix("did") && $0.contains("Region") || $0.hasPrefix("didFinishLaunching") }
        let told = heard.map { $0.replacing(/pid=\d+/, with: "pid=N") }
        #expect(
            told == [
                "didFinishLaunching pid=N launchOptions=[]",
                "didFinishLaunching pid=N launchOptions=[\(key)]",
                "didEnterRegion desk pid=N count=1",
                "didExitRegion desk pid=N count=2",
            ]
        )
    }

    /// Makes a bundle of LocationApp with the background mode `location`.
    ///
    /// - Parameter command: The shell's words before the program's and after it.
    private func makeLocationApp(
        _ name: String,
        in bench: BenchProgram,
        _ command: (String) -> String
    ) throws {
        let program = try BenchProgram.built("LocationApp")
        try bench.makeApp(name, "test.\(name)", text: "#!/bin/sh\n\(command("exec '\(program)'"))\n")
        try bench.write(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
            <key>CFBundleIdentifier</key><string>test.\(name)</string>
            <key>CFBundleExecutable</key><string>program</string>
            <key>UIBackgroundModes</key><array><string>location</string></array>
            </dict></plist>
            """,
            to: "apps/\(name).app/Info.plist"
        )
    }

    private func run(_ bench: BenchProgram, _ scenario: String) throws {
        let drive = BenchProgram.repository.appending(path: "Devices/Location/office-visit.yaml").path
        try bench.write("scenario: drive\ndevices: [{file: \(drive), name: drive}]\n\(scenario)\n", to: "drive.yaml")
        let run = try bench.run(["run", "drive.yaml", "--apps", "apps", "--out", "out"])
        let output = try bench.lines(of: "stdout").joined(separator: "\n")
        #expect(run.code == 0, "\(run.errors)\(output)")
    }

    @Test(
        "REG-6: a condition of CLMonitor brings back the app that the system ended, which finds it and then its event"
    )
    func monitorOutlivesTheProcess() throws {
        let bench = try BenchProgram()
        try makeLocationApp("places", in: bench) {
            "if [ -e again ]; then \($0) condition-again; fi; : > again; \($0) condition"
        }
        try run(
            bench,
            """
            apps: [{bundle: places.app, name: places}]
            steps:
              - {at: 0, authorize: places, location: always}
              - {at: 1s, launch: places}
              - {at: 2s, home: places}
              - {at: 15s, terminate: places, cause: memory}
            expect:
              - {app: places, verdict: relaunch, kind: region-entered, count: 1}
              - {app: places, kind: region-exited, count: 1}
            until: 3m
            """
        )
        let told = try bench.lines(of: "out/apps/test.places.log").filter { $0.hasPrefix("condition") }
        #expect(
            told == [
                #"conditions ["office"]"#, #"conditions ["office"]"#, "condition office satisfied last=unsatisfied",
                "condition office unsatisfied last=satisfied",
            ]
        )
    }

    @Test("MON-3: the record of a condition outlives a reboot of the phone")
    func recordOutlivesReboot() throws {
        let bench = try BenchProgram()
        try makeLocationApp("trail", in: bench) { "\($0) trail" }
        try run(
            bench,
            """
            apps: [{bundle: trail.app, name: trail}]
            steps:
              - {at: 0, authorize: trail, location: always}
              - {at: 1s, launch: trail}
              - {at: 2s, home: trail}
              - {at: 3m, phone: reboot}
              - {at: 3m, phone: unlock}
              - {at: 4m, launch: trail}
            expect:
              - {app: trail, kind: region-exited, count: 1}
            until: 5m
            """
        )
        let told = try bench.lines(of: "out/apps/test.trail.log").filter { $0.hasPrefix("trail") }
        #expect(
            told == [
                "trail record unsatisfied", "trail satisfied before=unsatisfied", "trail unsatisfied before=satisfied",
                "trail record unsatisfied",
            ]
        )
    }

    @Test("SESS-3: a condition wakes an app with When In Use while it holds a session, and another app not")
    func monitorInUse() throws {
        let bench = try BenchProgram()
        try makeLocationApp("held", in: bench) { "\($0) session condition" }
        try makeLocationApp("free", in: bench) { "\($0) condition" }
        try run(
            bench,
            """
            apps: [{bundle: held.app, name: held}, {bundle: free.app, name: free}]
            steps:
              - {at: 0, authorize: [held, free], location: when-in-use}
              - {at: 1s, launch: free}
              - {at: 4s, home: free}
              - {at: 5s, launch: held}
              - {at: 9s, home: held}
            expect:
              - {app: held, verdict: resume, kind: region-entered, count: 1}
              - {app: free, verdict: deny, kind: region-entered, reason: NotAuthorized, rule: LOC-5, count: 1}
            until: 3m
            """
        )
        let told = try bench.lines(of: "out/apps/test.held.log").filter { $0.hasPrefix("condition office") }
        #expect(told.first == "condition office satisfied last=unsatisfied")
    }

    @Test("SESS-3: a scripted app with When In Use holds a session from its launch on")
    func scriptedSession() throws {
        let bench = try BenchProgram()
        func app(_ name: String, _ more: String) -> String {
            """
              - scripted: com.example.\(name)
                name: \(name)
                location:
                  authorization: when-in-use\(more)
                  regions: [{identifier: office, latitude: 48.137, longitude: 11.575, radius: 150m}]
            """
        }
        try bench.write(
            """
            scenario: session
            apps:
            \(app("held", "\n      background-session: true"))
            \(app("free", ""))
            steps:
              - {at: 1s, launch: held}
              - {at: 5s, launch: free}
              - {at: 10s, home: free}
              - {at: 1m, enter: office}
            expect:
              - {app: held, verdict: resume, kind: region-entered, count: 1}
              - {app: free, verdict: deny, kind: region-entered, rule: LOC-5, count: 1}
            until: 2m
            """,
            to: "session.yaml"
        )
        let run = try bench.run(["run", "session.yaml", "--out", "out"])
        #expect(run.code == 0, "\(run.errors)")
    }

    @Test("LOC-3: live updates keep an app running in the background while it holds a session, and another one not")
    func liveUpdatesInBackground() throws {
        let bench = try BenchProgram()
        try makeLocationApp("held", in: bench) { "\($0) session live" }
        try makeLocationApp("free", in: bench) { "\($0) live" }
        try run(
            bench,
            """
            apps: [{bundle: held.app, name: held}, {bundle: free.app, name: free}]
            steps:
              - {at: 0, authorize: [held, free], location: always}
              - {at: 1s, launch: free}
              - {at: 4s, home: free}
              - {at: 5s, launch: held}
              - {at: 9s, home: held}
            expect:
              - {app: held, verdict: background-deliver, kind: position-fixed, at-least: 30}
              - {app: held, state: background}
              - {app: free, verdict: foreground-deliver, kind: position-fixed, at-least: 2}
              - {app: free, state: suspended}
            until: 1m
            """
        )
        let told = try ["held", "free"].map { name in
            try bench.lines(of: "out/apps/test.\(name).log").count { $0.hasPrefix("live 52.") }
        }
        #expect(told[0] > 30 && (2..<30).contains(told[1]), "\(told)")
    }
}
