import ChildProcess
import Foundation
import Glibc
import Testing

/// The built program, run as a process in a folder of the test's own.
struct Program {
    /// What came of one command.
    struct Outcome {
        var code: Int32
        var output: String
        var errors: String

        /// The lines on stderr.
        var complaints: [String] { errors.split(separator: "\n").map(String.init) }
    }

    static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    /// The program that WAKEBENCH_TEST_PROGRAM names, such as the optimized one, or that of the debug build.
    static let path =
        ProcessInfo.processInfo.environment["WAKEBENCH_TEST_PROGRAM"]
        ?? repository.appending(path: ".build/debug/wakebench").path
    static let isRoot = getuid() == 0
    /// Where packages of tests that have this one as a dependency are built: what one has built of it the next need not.
    static let outside = repository.appending(path: ".build/outside/build").path
    static let setpriv = "/usr/bin/setpriv"

    /// Removed when the value's owner says ``clean()``.
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "wakebench-cli-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // An ordinary user that a test runs as writes here too, as in /tmp.
        unsafe chmod(folder.path, 0o1777)
    }

    func clean() { try? FileManager.default.removeItem(at: folder) }

    /// Writes a file of the folder, and those above it.
    @discardableResult
    func write(_ name: String, _ text: String, executable: Bool = false) throws -> URL {
        let file = folder.appending(path: name)
        let parent = file.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        if executable { try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path) }
        return file
    }

    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: folder.appending(path: name).path) }

    func read(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    /// The number of the event behind the first decision of a run that is about a kind of event.
    func event(of kind: String, in folder: String) throws -> String {
        for line in try run("log", folder).output.split(separator: "\n") {
            let decision = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            if let event = decision?["event"] as? [String: Any], event["kind"] as? String == kind {
                return try #require(event["id"] as? String)
            }
        }
        throw CocoaError(.keyValueValidation, userInfo: [NSDebugDescriptionErrorKey: "no \(kind) in \(folder)"])
    }

    /// The names in the folder.
    var contents: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }

    /// Runs the program to its end, at most two minutes.
    func run(_ words: String..., environment: [String: String] = [:]) throws -> Outcome {
        try run(Self.path, words, environment: environment)
    }

    /// The same as the user nobody, who owns nothing.
    func runAsNobody(_ words: String...) throws -> Outcome {
        let user = ["--reuid", "65534", "--regid", "65534", "--clear-groups", Self.path]
        return try run(Self.setpriv, user + words)
    }

    /// Runs any program to its end.
    ///
    /// - Parameter limit: seconds after which it is killed.
    func run(
        _ program: String,
        _ words: [String],
        environment: [String: String] = [:],
        limit: Int = 120
    ) throws -> Outcome {
        let talk = FileManager.default.temporaryDirectory.appending(path: "wakebench-talk-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: talk, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: talk) }
        let limited = ["--foreground", "--signal=KILL", "\(limit)", program] + words
        let process = try start("/usr/bin/timeout", limited, environment: environment, talk: talk)
        process.waitUntilExit()
        return try Outcome(
            code: process.terminationStatus,
            output: String(contentsOf: talk.appending(path: "output"), encoding: .utf8),
            errors: String(contentsOf: talk.appending(path: "errors"), encoding: .utf8)
        )
    }

    /// Starts a program whose output and errors go to files in `talk`.
    func start(_ program: String, _ words: [String], environment: [String: String] = [:], talk: URL) throws
        -> ChildProcess
    {
        let process = ChildProcess(program, words)
        process.folder = folder
        process.environment.merge(environment) { $1 }
        for file in ["output", "errors"] {
            _ = FileManager.default.createFile(atPath: talk.appending(path: file).path, contents: nil)
        }
        process.standardOutput = .handle(try FileHandle(forWritingTo: talk.appending(path: "output")))
        process.standardError = .handle(try FileHandle(forWritingTo: talk.appending(path: "errors")))
        try process.run()
        return process
    }
}

/// Checks a command that must be refused: its exit code, one line on stderr that begins with the program's name, nothing on
/// stdout.
func expectRefusal(
    _ outcome: Program.Outcome,
    code: Int32,
    says words: String...,
    location: SourceLocation = #_sourceLocation
) {
    #expect(outcome.code == code, "\(outcome.errors)", sourceLocation: location)
    #expect(outcome.output == "", sourceLocation: location)
    #expect(outcome.complaints.count == 1, "\(outcome.errors)", sourceLocation: location)
    #expect(outcome.errors.hasPrefix("wakebench: "), sourceLocation: location)
    for word in words { #expect(outcome.errors.contains(word), "\(outcome.errors)", sourceLocation: location) }
}

/// Compares a text with the answer kept beside the tests. With WAKEBENCH_RECORD in the environment it is written anew.
func expectAnswer(_ text: String, _ name: String, location: SourceLocation = #_sourceLocation) throws {
    let file = Program.repository.appending(path: "Tests/CommandLineTests/Answers/\(name).txt")
    if ProcessInfo.processInfo.environment["WAKEBENCH_RECORD"] != nil { try Data(text.utf8).write(to: file) }
    let kept = try String(contentsOf: file, encoding: .utf8)
    #expect(text == kept, "\(name) differs from \(file.path)", sourceLocation: location)
}

/// Texts of scenarios.
enum Scenarios {
    /// A beacon, and an app that the scenario plays: suspended, then force-quit, where that bars location, too.
    static let forceQuit = """
        scenario: swiped
        profile: ios26
        settings: {locationLiftsForceQuit: off}
        devices: [{file: beacon.yaml, name: beacon}]
        apps:
          - scripted: com.acme.heart
            name: heart
            location: {beacons: [{identifier: desk, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0}]}
            on: [{event: any, work: 1s, then: end}]
        steps:
          - {at: 0, launch: heart}
          - {when: {app: heart, verdict: foreground-deliver, kind: region-entered}, home: heart}
          - {when: {app: heart, verdict: resume, kind: region-exited}, note: woken}
          - {when: {app: heart, state: suspended}, force-quit: heart}
          - {when: {app: heart, verdict: deny, reason: ForceQuit}, note: refused}
        expect:
          - {app: heart, verdict: deny, reason: ForceQuit, rule: LAUNCH-2, at-least: 1}

        """

    /// Its beacon comes and goes.
    static let beacon = """
        device: ibeacon
        address: "C2:5B:00:00:01:00"
        uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0
        major: 1
        minor: 12
        distance:
          - {after: 2s, metres: 1}
          - {after: 10s, metres: away}
          - {after: 50s, metres: 1}
          - {after: 10s, metres: away}

        """

    /// One real app that nobody launches.
    static let oneBundle = """
        scenario: still
        apps: [{bundle: Heart.app, name: heart}]
        steps: [{at: 0, note: hello}]
        until: 1s

        """

    /// One played app, one step, an end.
    static let small = """
        scenario: small
        apps: [{scripted: com.acme.heart, name: heart, modes: [bluetooth-central]}]
        steps: [{at: 0, launch: heart}]
        until: 1s

        """
}

extension Program {
    /// Makes Heart.app, whose executable is a shell script.
    func makeBundle(executable: Bool = true, modes: [String] = ["bluetooth-central"], script: String = "exit 0") throws
    {
        let named = executable ? "<key>CFBundleExecutable</key><string>heart</string>" : ""
        let list = modes.map { "<string>\($0)</string>" }.joined()
        try write(
            "Heart.app/Info.plist",
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
            <key>CFBundleIdentifier</key><string>com.acme.heart</string>
            \(named)
            <key>UIBackgroundModes</key><array>\(list)</array>
            </dict></plist>
            """
        )
        try write("Heart.app/heart", "#!/bin/sh\n\(script)\n", executable: true)
    }

    /// Writes the force-quit scenario and its beacon.
    func writeForceQuit() throws {
        try write("beacon.yaml", Scenarios.beacon)
        try write("swiped.yaml", Scenarios.forceQuit)
    }
}
