import ChildProcess
import Foundation
import Testing

@Suite("Bundles that are installed over an app")
struct UpdateTests {
    private func play(_ bench: BenchProgram, installing bundle: String) throws {
        try bench.install("RemindersPython")
        try bench.write(
            """
            scenario: update
            apps:
              - {bundle: RemindersPython.app, name: reminders}
            steps:
              - {at: 0, launch: reminders}
              - {at: 5s, install: reminders, bundle: \(bundle)}
              - {at: 20s, launch: reminders}
            """,
            to: "update.yaml"
        )
        let run = try bench.run(["run", "update.yaml", "--apps", "apps", "--out", "out", "--quiet"])
        #expect(run.code == 0, "\(run.errors)")
    }

    private func copy(_ bench: BenchProgram, as name: String, _ change: (String) -> String) throws {
        let source = BenchProgram.repository.appending(path: "Sources/Examples/RemindersPython")
        let bundle = bench.folder.appending(path: name)
        try FileManager.default.copyItem(at: source, to: bundle)
        let list = bundle.appending(path: "Info.plist")
        let text = try String(contentsOf: list, encoding: .utf8)
        try Data(change(text).utf8).write(to: list)
    }

    @Test(
        "LIFE-10: the running process ends with the cause update, and the next is the new program's",
        .enabled(if: BenchProgram.python, "needs /usr/bin/python3")
    )
    func replaced() throws {
        let bench = try BenchProgram()
        try copy(bench, as: "New.app") { $0 }
        let script = bench.folder.appending(path: "New.app/reminders.py")
        let text = try String(contentsOf: script, encoding: .utf8)
        try Data(text.replacing("log(\"didFinishLaunching\")", with: "log(\"the new one\")").utf8).write(to: script)
        try play(bench, installing: "New.app")
        let log = try bench.lines(of: "out/apps/com.example.reminders.python.log")
        #expect(
            log.filter { $0 == "didFinishLaunching" || $0 == "the new one" } == ["didFinishLaunching", "the new one"]
        )
        let exits = try bench.records(of: "out/outcomes.ndjson").filter { $0["cause"] as? String == "update" }
        #expect(exits.count == 1)
    }

    @Test(
        "MODE-3: a bundle of another app, or with a broken list, is refused with the key, and the app runs on",
        .enabled(if: BenchProgram.python, "needs /usr/bin/python3"),
        arguments: ["CFBundleIdentifier", "CFBundleExecutable", "Info.plist"]
    )
    func refused(key: String) throws {
        let bench = try BenchProgram()
        try copy(bench, as: "New.app") { list in
            switch key {
            case "CFBundleIdentifier": list.replacing("com.example.reminders.python", with: "com.example.other")
            case "CFBundleExecutable": list.replacing("reminders.py<", with: "nothing<")
            default: "no list"
            }
        }
        try play(bench, installing: "New.app")
        let log = try bench.lines(of: "out/apps/com.example.reminders.python.log")
        #expect(log.count { $0 == "didFinishLaunching" } == 1)
        let deeds = try bench.records(of: "out/outcomes.ndjson").filter { $0["deed"] as? String == "refused-bundle" }
        #expect(deeds.map { $0["subject"] as? String } == [key])
    }

    @Test(
        "MODE-3: a bundle whose service extension cannot have a folder of its own is refused, and the app runs on",
        .enabled(if: BenchProgram.python, "needs /usr/bin/python3")
    )
    func extensionWithoutFolder() throws {
        let bench = try BenchProgram()
        try copy(bench, as: "New.app") { $0 }
        let service = bench.folder.appending(path: "New.app/PlugIns/Service.appex")
        try FileManager.default.createDirectory(at: service, withIntermediateDirectories: true)
        let identifier = "com.example.reminders.python.service"
        try bench.write(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
            <key>CFBundleIdentifier</key><string>\(identifier)</string>
            <key>CFBundleExecutable</key><string>reminders.py</string>
            <key>NSExtension</key><dict>
            <key>NSExtensionPointIdentifier</key><string>com.apple.usernotifications.service</string>
            </dict></dict></plist>
            """,
            to: "New.app/PlugIns/Service.appex/Info.plist"
        )
        let script = bench.folder.appending(path: "New.app/reminders.py")
        try FileManager.default.copyItem(at: script, to: service.appending(path: "reminders.py"))
        // Its place is taken by a file.
        try FileManager.default.createDirectory(
            at: bench.folder.appending(path: "out/apps"),
            withIntermediateDirectories: true
        )
        try bench.write("", to: "out/apps/\(identifier)")
        try play(bench, installing: "New.app")
        let log = try bench.lines(of: "out/apps/com.example.reminders.python.log")
        #expect(log.count { $0 == "didFinishLaunching" } == 1)
        let deeds = try bench.records(of: "out/outcomes.ndjson").filter { $0["deed"] as? String == "refused-bundle" }
        #expect(deeds.map { $0["subject"] as? String } == ["PlugIns"])
    }
}
