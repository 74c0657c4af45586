import ChildProcess
import Foundation
import Testing

@Suite("Real apps with UserDefaults")
struct DefaultsAppTests {
    /// What the app printed in a run in which the system launches it three times.
    private func play(_ name: String, dies: Bool) throws -> [String] {
        let bench = try BenchProgram()
        let bundle = bench.folder.appending(path: "apps/\(name).app")
        try bench.makeApp(name, "com.example.defaults")
        let program = bundle.appending(path: "program").path
        try FileManager.default.removeItem(atPath: program)
        try link(BenchProgram.built(name), to: program)
        let belt = BenchProgram.repository.appending(path: "Devices/Bluetooth/heart-rate-belt.yaml")
        // A value for each launch by the system, and one more for the app that was only suspended.
        let last = dies ? "\"004b\"]" : "\"004b\", \"004c\"]"
        let text = try String(contentsOf: belt, encoding: .utf8)
        try bench.write(text.replacing("\"004b\"]", with: last), to: "belt.yaml")
        let ends = dies ? [] : [32, 52, 72].map { "- {at: \($0)s, terminate: app, cause: memory}" }
        try bench.write(
            """
            scenario: defaults
            devices: [{file: belt.yaml, name: belt}]
            apps: [{bundle: \(name).app, name: app}]
            steps:
              - {at: 0, launch: app}
              - {at: \(dies ? 1 : 10)s, home: app}
            \(ends.map { "  " + $0 }.joined(separator: "\n"))
            until: 90s
            """,
            to: "defaults.yaml"
        )
        let run = try bench.run(
            ["run", "defaults.yaml", "--apps", "apps", "--out", "out", "--quiet"],
            environment: dies ? ["WAKEBENCH_APP_DIES": "1"] : [:]
        )
        #expect(run.code == 0, "\(run.errors)")
        return try bench.lines(of: "out/apps/com.example.defaults.log").map(String.init)
    }

    @Test(
        "BTC-6: what an app set is there when the system launches it again, its restore identifier too",
        arguments: ["DefaultsApp5", "DefaultsApp6"]
    )
    func kept(name: String) throws {
        #expect(
            try play(name, dies: false) == [
                "launch identifier=new values=0",
                "launch identifier=saved values=2", "restored",
                "launch identifier=saved values=3", "restored",
                "launch identifier=saved values=4", "restored",
            ]
        )
    }

    @Test("BTC-6: it is there where SIGKILL follows the set at once, too", arguments: ["DefaultsApp5", "DefaultsApp6"])
    func killed(name: String) throws {
        #expect(
            try play(name, dies: true) == [
                "launch identifier=new values=0",
                "launch identifier=saved values=1", "restored",
                "launch identifier=saved values=2", "restored",
                "launch identifier=saved values=3", "restored",
            ]
        )
    }
}
