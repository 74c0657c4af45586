import Foundation
import Testing

@Suite("What the program says of itself")
struct AnswerTests {
    private static let questions: [(String, [String])] = [
        ("help", ["help"]),
        ("help-run", ["run", "--help"]),
        ("help-scenario-run", ["scenario", "run", "--help"]),
        ("help-scenario-check", ["scenario", "check", "--help"]),
        ("help-app-new", ["app", "new", "--help"]),
        ("help-app-bundle", ["app", "bundle", "--help"]),
        ("help-app-verify", ["app", "verify", "--help"]),
        ("help-blame", ["blame", "--help"]),
        ("help-device-check", ["device", "check", "--help"]),
        ("help-device-fuzz", ["device", "fuzz", "--help"]),
        ("device-guidelines", ["device", "check", "--guidelines"]),
        ("help-can-wake", ["can-wake", "--help"]),
        ("help-import", ["import", "--help"]),
        ("help-record", ["record", "--help"]),
        ("help-record-ble", ["record", "ble", "--help"]),
        ("help-record-location", ["record", "location", "--help"]),
        ("help-record-accessory", ["record", "accessory", "--help"]),
        ("help-why", ["why", "--help"]),
        ("help-report", ["report", "--help"]),
        ("help-log", ["log", "--help"]),
        ("help-compare", ["compare", "--help"]),
        ("help-shrink", ["shrink", "--help"]),
        ("help-rules", ["rules", "--help"]),
        ("help-doctor", ["doctor", "--help"]),
        ("help-exit-codes", ["exit-codes", "--help"]),
        ("help-help", ["help", "--help"]),
        ("help-completion", ["completion", "--help"]),
        ("exit-codes", ["exit-codes"]),
        ("exit-codes-json", ["exit-codes", "--json"]),
        ("rules", ["rules"]),
        ("rules-reasons", ["rules", "--reasons"]),
        ("rules-settings", ["rules", "--settings"]),
        ("rules-launch-2", ["rules", "LAUNCH-2"]),
    ]

    @Test(
        "A question about the program itself has the answer that is kept",
        arguments: questions
    )
    func answer(name: String, words: [String]) throws {
        let program = try Program()
        defer { program.clean() }
        let outcome = try program.run(Program.path, words)
        #expect(outcome.code == 0)
        #expect(outcome.errors == "")
        try expectAnswer(outcome.output, name)
    }

    @Test("Without words, with --help and with -h it shows the same as help")
    func help() throws {
        let program = try Program()
        defer { program.clean() }
        let help = try program.run("help").output
        for words in [[], ["--help"], ["-h"], ["--help", "--help"], ["-h", "--help"]] {
            #expect(try program.run(Program.path, words).output == help)
        }
    }

    @Test("Each exit code has its line, and JSON has the same codes")
    func exitCodes() throws {
        let program = try Program()
        defer { program.clean() }
        let data = Data(try program.run("exit-codes", "--json").output.utf8)
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let codes = try #require(object["codes"] as? [[String: Any]]).compactMap { $0["code"] as? Int }
        #expect(codes == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 130])
    }

    @Test("Doctor has a line for each capability, ends with 0 and makes nothing, for ordinary users too")
    func doctor() throws {
        let program = try Program()
        defer { program.clean() }
        let nowhere = ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(program.folder.path)/no-bus"]
        let known = [
            "freezer cgroup2", "freezer cgroup1", "freezer sigstop", "virtual time in apps", "order in apps",
            "system D-Bus", "bluetoothd", "Bluetooth adapter", "Bluetooth by HCI",
            "udev", "USB accessories", "RFCOMM", "sound card", "alsa-lib", "APNs", "transfers",
            "phone machine", "run folder", "SQLite", "libsystemd",
            "libyaml",
        ]
        var outcomes = [try program.run("doctor", environment: nowhere)]
        if Program.isRoot, FileManager.default.isExecutableFile(atPath: Program.setpriv) {
            outcomes.append(try program.runAsNobody("doctor"))
        }
        for outcome in outcomes {
            #expect(outcome.code == 0)
            #expect(outcome.errors == "")
            // What killed runs left on this machine is told once.
            let all = outcome.output.split(separator: "\n").map(String.init)
            let lines = all.filter { !$0.hasPrefix("yes  control groups: removed") }
            #expect(lines.map { String($0.dropFirst(5).prefix { $0 != ":" }) } == known)
            for line in lines { #expect(line.hasPrefix("yes  ") || line.hasPrefix("no   "), "\(line)") }
            #expect(lines.contains { $0.hasPrefix("yes  freezer sigstop: ") })
        }
        // An ordinary user has no right to it, whatever the machine.
        #expect(outcomes.dropFirst().allSatisfy { $0.output.contains("no   order in apps: ") })
        #expect(outcomes[0].output.contains("no   system D-Bus: "))
        #expect(program.contents == [])
    }
}
