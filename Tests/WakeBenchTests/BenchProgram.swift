import ChildProcess
import Foundation
import Testing
import WakeReports

/// The built `wakebench`, run as a process, with bundles and folders of the test's own that go with it.
final class BenchProgram {
    /// The longest a test waits for something that must happen.
    static let patience = 120.0

    let folder: URL
    /// In the environment of the bench, of its apps and of what they start, as long as they do not hide it.
    let mark = UUID().uuidString

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "wakebench-test-\(UUID())")
        try FileManager.default.createDirectory(at: folder.appending(path: "apps"), withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    static let repository = URL(filePath: #filePath).appending(path: "../../..").standardized

    /// A program of this package, beside the tests; wakebench is the one that WAKEBENCH_TEST_PROGRAM names, if it names one.
    static func built(_ name: String) throws -> String {
        if name == "wakebench", let named = ProcessInfo.processInfo.environment["WAKEBENCH_TEST_PROGRAM"] {
            return named
        }
        for path in [Bundle.main.executablePath ?? ""] + CommandLine.arguments {
            let folder = URL(filePath: path).deletingLastPathComponent()
            for place in [folder, folder.appending(path: "../../..").standardized] {
                let program = place.appending(path: name).path
                if FileManager.default.isExecutableFile(atPath: program) { return program }
            }
        }
        throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: name])
    }

    static let python = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")

    // MARK: Files

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: folder.appending(path: name))
    }

    /// Makes a bundle around a script; `copy` is a script of Tests/Support, `text` one of the test's own, and `keys` are more of its
    /// Info.plist.
    func makeApp(
        _ name: String,
        _ identifier: String,
        copy: String? = nil,
        text: String = "",
        modes: [String] = ["bluetooth-central"],
        keys: String = ""
    ) throws {
        let bundle = folder.appending(path: "apps/\(name).app")
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        let script = try copy.map { try Data(contentsOf: Self.repository.appending(path: "Tests/Support/\($0)")) }
        let program = bundle.appending(path: "program")
        try (script ?? Data(text.utf8)).write(to: program)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
        let list = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
            <key>CFBundleIdentifier</key><string>\(identifier)</string>
            <key>CFBundleExecutable</key><string>program</string>
            <key>UIBackgroundModes</key><array>\(modes.map { "<string>\($0)</string>" }.joined())</array>
            \(keys)</dict></plist>
            """
        try Data(list.utf8).write(to: bundle.appending(path: "Info.plist"))
    }

    /// Puts an example app into the folder `apps`, by hard links: it finds its Info.plist beside its program. Its service extension
    /// comes with it.
    func install(_ name: String) throws {
        try place(name, into: folder.appending(path: "apps/\(name).app"))
        let service = "\(name)Service"
        let example = Self.repository.appending(path: "Sources/Examples/\(service)").path
        guard FileManager.default.fileExists(atPath: example) else { return }
        try place(service, into: folder.appending(path: "apps/\(name).app/PlugIns/\(service).appex"))
    }

    private func place(_ name: String, into bundle: URL) throws {
        let source = Self.repository.appending(path: "Sources/Examples/\(name)")
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        let script = try FileManager.default.contentsOfDirectory(atPath: source.path).first { $0.hasSuffix(".py") }
        let program = try script.map { source.appending(path: $0) } ?? URL(filePath: Self.built(name))
        for file in [program, source.appending(path: "Info.plist")] {
            try link(file.path, to: bundle.appending(path: file.lastPathComponent).path)
        }
    }

    func lines(of name: String) throws -> [Substring] {
        let path = folder.appending(path: name)
        guard let data = try? Data(contentsOf: path) else { return [] }
        let text = String(decoding: data, as: UTF8.self)
        // Decisions are written in parts.
        guard name.hasSuffix(RunLog.decisionsName) else { return text.split(separator: "\n") }
        var shapes = ShapedLines()
        return text.split(separator: "\n").compactMap { line in
            shapes.record(of: Array(line.utf8)).map { String(decoding: $0, as: UTF8.self)[...] }
        }
    }

    /// The records of a log.
    func records(of name: String) throws -> [[String: Any]] {
        try lines(of: name).map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:] }
    }

    // MARK: Processes

    func start(
        _ arguments: [String],
        as prefix: [String] = [],
        environment: [String: String] = [:]
    ) throws -> ChildProcess {
        let words = prefix + [try Self.built("wakebench")] + arguments
        let process = ChildProcess(words[0], Array(words.dropFirst()))
        process.folder = folder
        process.environment["WAKEBENCH_APP_TEST_MARK"] = mark
        process.environment.merge(environment) { $1 }
        for file in ["stdout", "stderr"] {
            let path = folder.appending(path: file).path
            _ = FileManager.default.createFile(atPath: path, contents: nil)
        }
        process.standardOutput = .handle(try FileHandle(forWritingTo: folder.appending(path: "stdout")))
        process.standardError = .handle(try FileHandle(forWritingTo: folder.appending(path: "stderr")))
        try process.run()
        return process
    }

    /// Runs to the end.
    func run(
        _ arguments: [String],
        as prefix: [String] = [],
        environment: [String: String] = [:]
    ) throws -> (code: Int32, errors: String) {
        let process = try start(arguments, as: prefix, environment: environment)
        process.waitUntilExit()
        return (process.terminationStatus, try lines(of: "stderr").joined(separator: "\n"))
    }

    /// The processes that carry the test's mark.
    func left() -> [Int32] {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return numbers.compactMap { Int32($0) }.filter { number in
            guard number != getpid(), let data = FileManager.default.contents(atPath: "/proc/\(number)/environ") else {
                return false
            }
            return data.range(of: Data(mark.utf8)) != nil
        }
    }

    /// Waits until no process carries the mark; those left at the deadline.
    func waitForTheDead() -> [Int32] {
        let end = Date().addingTimeInterval(30)
        var found = left()
        while !found.isEmpty, Date() < end {
            moment(milliseconds: 2)
            found = left()
        }
        return found
    }

    /// The control groups of the run, in all hierarchies: more may follow its name after a dash. An enumerator stays on the file
    /// system that it begins on.
    func groups(of run: String) -> [String] {
        let root = "/sys/fs/cgroup"
        let hierarchies = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return Set([root] + hierarchies.map { "\(root)/\($0)" }).flatMap { hierarchy in
            let all = FileManager.default.enumerator(atPath: hierarchy)
            let groups = (all?.compactMap { $0 as? String } ?? []).filter {
                $0.hasSuffix(run) || $0.contains("\(run)/") || $0.contains("\(run)-")
            }
            return groups.map { "\(hierarchy)/\($0)" }
        }
    }
}

/// Lets the processes under test have the machine between two looks, or until a seeded moment of a kill.
func moment(milliseconds: Int32) {
    _ = poll(nil, 0, milliseconds)
}
