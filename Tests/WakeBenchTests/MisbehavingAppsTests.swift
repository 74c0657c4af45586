import ChildProcess
import Foundation
import Testing
import TriedFreezers
import WakeProcesses

/// A scenario of real apps in a folder of its own: a healthy one, and beside it all that misbehave.
private struct Stage {
    /// An app that behaves until it got a value, and then does what no app should.
    struct Rogue {
        var name: String
        var arguments: [String]
        /// What the run says of it.
        var said: String
    }

    let folder: String
    /// Whether everything is run by a user without rights.
    let asOrdinaryUser: Bool

    /// Files in which descendants of rogues count; each also holds the process that counts.
    static let counters = ["forks", "detaches"]

    static let rogues = [
        Rogue(name: "floods", arguments: ["flood"], said: "packet is not JSON"),
        Rogue(name: "oversizes", arguments: ["oversize"], said: "sent a packet of more than 65536 bytes"),
        Rogue(name: "sends-garbage", arguments: ["garbage"], said: "packet is not JSON"),
        Rogue(
            name: "acknowledges-too-much",
            arguments: ["overacknowledge"],
            said: "acknowledges deliveries 1 to 9007199254740991, which it does not owe"
        ),
        Rogue(name: "sends-nothing", arguments: ["empty"], said: "packet is not JSON"),
        Rogue(name: "closes-its-socket", arguments: ["close"], said: "closed its socket"),
        Rogue(name: "ignores-everything", arguments: ["ignore-term"], said: "no answer within the patience"),
        Rogue(name: "crashes", arguments: ["crash"], said: "crash"),
        Rogue(name: "stops-itself", arguments: ["own-stop"], said: "characteristic-notified"),
        Rogue(name: "forks", arguments: ["fork", "$COUNTER"], said: "no answer within the patience"),
        Rogue(name: "detaches", arguments: ["detach", "$COUNTER"], said: "no answer within the patience"),
    ]

    init(asOrdinaryUser: Bool = false) throws {
        self.asOrdinaryUser = asOrdinaryUser
        folder = FileManager.default.temporaryDirectory.path + "/wakebench-rogues-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder)
        // The build's own folder may be closed to other users.
        for name in ["wakebench", "MisbehavingApp"] {
            try link(try Self.program(name), to: "\(folder)/\(name)")
        }
        try bundle("healthy", "exec '\(folder)/MisbehavingApp' healthy")
        for rogue in Self.rogues {
            let arguments = rogue.arguments.map { $0 == "$COUNTER" ? "'\(counter(rogue.name))'" : $0 }
            let words = arguments.joined(separator: " ")
            try bundle(rogue.name, "WAKEBENCH_VALUES=1 exec '\(folder)/MisbehavingApp' \(words)")
        }
        try scenario.write(toFile: "\(folder)/scenario.yaml", atomically: true, encoding: .utf8)
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func bundle(_ name: String, _ command: String) throws {
        let bundle = "\(folder)/\(name).app"
        try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
        let plist: [String: Any] = [
            "CFBundleIdentifier": "com.example.\(name)", "CFBundleName": name, "CFBundleExecutable": "run",
            "UIBackgroundModes": ["bluetooth-central"],
        ]
        let data = try PropertyListSerialization.data(fromPropertyList: plist, format: .xml, options: 0)
        try data.write(to: URL(filePath: "\(bundle)/Info.plist"))
        try "#!/bin/sh\n\(command)\n".write(toFile: "\(bundle)/run", atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(bundle)/run")
    }

    private var scenario: String {
        let package = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
        let names = (["healthy"] + Self.rogues.map(\.name))
        let belt = (try? String(contentsOfFile: package + "/Devices/Bluetooth/heart-rate-belt.yaml", encoding: .utf8))
        try? belt?.write(toFile: "\(folder)/belt.yaml", atomically: true, encoding: .utf8)
        return """
            scenario: rogues
            backends: {bluetooth: simulated}
            devices: [{file: belt.yaml, name: belt}]
            apps:
            \(names.map { "  - {bundle: \($0).app, name: \($0)}" }.joined(separator: "\n"))
            steps:
              - {at: 0, launch: [\(names.joined(separator: ", "))]}
              - {at: 5s, home: [\(names.joined(separator: ", "))]}
            expect:
              - {app: healthy, verdict: resume, kind: characteristic-notified, count: 3}
              - {app: healthy, exits: 0}
              - {app: healthy, state: suspended}
              - {app: [floods, ignores-everything, forks], verdict: resume, at-least: 2}
            until: 80s
            """
    }

    /// A program of this package, beside the tests.
    private static func program(_ name: String) throws -> String {
        for path in [Bundle.main.executablePath ?? ""] + CommandLine.arguments {
            let folder = URL(filePath: path).deletingLastPathComponent()
            for place in [folder, folder.appending(path: "../../..").standardized] {
                let program = place.appending(path: name).path
                if FileManager.default.isExecutableFile(atPath: program) { return program }
            }
        }
        throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: name])
    }

    /// Runs the scenario. Gives the exit code, 124 after two minutes, and what was printed.
    func run(freezer: String) throws -> (code: Int32, output: String, errors: String) {
        var words = ["timeout", "120"]
        if asOrdinaryUser { words += ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] }
        words += ["\(folder)/wakebench", "run", "\(folder)/scenario.yaml", "--freezer", freezer]
        words += ["--out", "\(folder)/out", "--patience", "5"]
        // Files, since a pipe that nobody empties would stop the run.
        let process = ChildProcess("/usr/bin/env", words)
        for file in ["stdout", "stderr"] {
            _ = FileManager.default.createFile(atPath: "\(folder)/\(file)", contents: nil)
        }
        process.standardOutput = .handle(try FileHandle(forWritingTo: URL(filePath: "\(folder)/stdout")))
        process.standardError = .handle(try FileHandle(forWritingTo: URL(filePath: "\(folder)/stderr")))
        try process.run()
        process.waitUntilExit()
        return (process.terminationStatus, text("stdout"), text("stderr"))
    }

    func text(_ file: String) -> String {
        (try? String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)) ?? ""
    }

    /// The values that the healthy app wrote down, in base64.
    var values: [String] { text("out/apps/com.example.healthy/values").split(separator: "\n").map(String.init) }

    private func counter(_ name: String) -> String { "\(folder)/\(name).count" }

    /// The process that counted last for a rogue; nil when none did.
    func countingProcess(_ name: String) -> Int64? {
        guard let data = FileManager.default.contents(atPath: counter(name)), data.count >= 16 else { return nil }
        return data[8..<16].reversed().reduce(0) { $0 << 8 | Int64($1) }
    }

    /// Whether a process is there that has not ended.
    static func isAlive(_ pid: Int64) -> Bool {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let name = text.lastIndex(of: ")")
        else { return false }
        return !["Z", "X"].contains(text[name...].dropFirst(2).prefix(1))
    }

    func check(freezer: String) throws {
        let result = try run(freezer: freezer)
        #expect(result.code == 0, "\(result.output.suffix(4_000))\n\(result.errors)")
        // The belt's values at 2, 22, 42 and 62 s: 0048, 0049, 004a, 004b. None is lost, doubled or out of order.
        #expect(values == ["AEg=", "AEk=", "AEo=", "AEs="])
        let lines = result.output.split(separator: "\n")
        for rogue in Self.rogues {
            let said = lines.contains { $0.contains("com.example.\(rogue.name)") && $0.contains(rogue.said) }
            #expect(said, "nothing says '\(rogue.said)' of \(rogue.name)")
        }
        for name in Self.counters {
            let pid = try #require(countingProcess(name), "no child of \(name) counted")
            #expect(!Self.isAlive(pid), "a child of \(name) outlived the run")
        }
    }
}

@Suite("Misbehaving apps", .serialized)
struct MisbehavingAppsTests {

    @Test(
        "A healthy app beside apps that misbehave gets every event, under each freezer",
        arguments: TriedFreezers.names
    )
    func healthyBesideRogues(freezer: String) throws {
        let stage = try Stage()
        defer { stage.remove() }
        try stage.check(freezer: freezer)
    }

    @Test(
        "An ordinary user's healthy app gets every event too",
        .enabled(if: geteuid() == 0, "needs root, to run as another user"),
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv"), "needs setpriv of util-linux")
    )
    func ordinaryUser() throws {
        let stage = try Stage(asOrdinaryUser: true)
        defer { stage.remove() }
        try stage.check(freezer: "sigstop")
    }
}
