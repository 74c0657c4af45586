import ChildProcess
import Foundation
import Testing

/// What processes of one app, one after the other or at once, find and leave in UserDefaults.
@Suite("UserDefaults of an app's processes")
struct KeptDefaultsTests {
    /// What a process prints, and what it complains of.
    private struct Said: Equatable {
        var lines: [String]
        var errors: [String] = []
    }

    /// The app's folder, with a bundle where it has an identifier.
    private final class App {
        let home = FileManager.default.temporaryDirectory.appending(path: "wakebench-defaults-\(UUID())")
        private let program: String
        private let groups: URL?

        init(_ identifier: String? = nil, groups: URL? = nil) throws {
            self.groups = groups
            let built = AppProcess.repository.appending(path: ".build/debug/DefaultsProgram").path
            let bundle = home.appending(path: "Program.app")
            try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
            guard let identifier else {
                program = built
                return
            }
            program = bundle.appending(path: "Program").path
            try link(built, to: program)
            let list = ["CFBundleIdentifier": identifier, "CFBundleExecutable": "Program"]
            let bytes = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
            try bytes.write(to: bundle.appending(path: "Info.plist"))
        }

        deinit { try? FileManager.default.removeItem(at: home) }

        /// The file that values are written down in.
        var log: URL { home.appending(path: ".config/wakebench-defaults") }

        /// The bytes of it.
        var size: Int { get throws { try Data(contentsOf: log).count } }

        /// Starts a process; its outputs are to be read to the end.
        func start(_ words: [String]) throws -> (process: ChildProcess, outputs: [Pipe]) {
            let process = ChildProcess(program, words)
            process.environment["HOME"] = home.path
            process.environment["XDG_CONFIG_HOME"] = nil
            process.environment["WAKEBENCH_GROUPS"] = groups?.path
            // No bench is asked for anything.
            process.environment["WAKEBENCH_SOCKET"] = "9"
            let outputs = [Pipe(), Pipe()]
            process.standardOutput = .pipe(outputs[0])
            process.standardError = .pipe(outputs[1])
            try process.run()
            return (process, outputs)
        }

        /// What a process says that does what the words say.
        func run(_ words: [String]) throws -> Said {
            let (process, outputs) = try start(words)
            let found = try outputs.map { output in
                String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
                    .split(separator: "\n").map(String.init)
            }
            process.waitUntilExit()
            return Said(lines: found[0], errors: found[1])
        }
    }

    @Test(
        "A domain that is removed or replaced by its name stays so, whether or not its values were synchronized",
        arguments: [nil, "com.example.defaults", "group.com.example"]
    )
    func domains(identifier: String?) throws {
        let isGroup = identifier?.hasPrefix("group.") == true
        let app = try App(isGroup ? nil : identifier)
        let name = identifier ?? "DefaultsProgram"
        func lines(_ words: String...) throws -> [String] {
            let run = try app.run((isGroup ? ["suite", name] : []) + words)
            #expect(run.errors == [])
            return run.lines
        }
        _ = try lines("set", "1", "a", "synchronize", "set", "2", "b", "die")
        #expect(try lines("set", "3", "c", "list", "remove-domain", name, "list") == ["keys abc", "keys "])
        #expect(try lines("list", "set", "4", "d", "set-domain", "e", "5", name, "die") == ["keys "])
        #expect(try lines("list", "suite", name, "get", "e") == ["keys e", "5"])
    }

    @Test("What is set and removed, of each kind and in each suite, is in Foundation's own files from the launch on")
    func launch() throws {
        let app = try App()
        _ = try app.run(["set", "1", "a", "set", "2", "b", "remove", "a", "suite", "group.x", "set", "3", "a", "die"])
        _ = try app.run(["set-kinds", "die"])
        let kinds = ["true 0.1", "0.25 2 bytes", "[\"text\"]"]
        #expect(try app.run(["get", "a", "get", "b", "kinds"]) == Said(lines: ["none", "2"] + kinds))
        #expect(try app.run(["suite", "group.x", "list", "get", "a"]) == Said(lines: ["keys a", "3"]))
        for (name, keys) in [
            ("DefaultsProgram", ["b", "bool", "data", "date", "dictionary", "double"]), ("group.x", ["a"]),
        ] {
            let file = app.log.deletingLastPathComponent().appending(path: "\(name).plist")
            let list = try unsafe PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
            #expect((list as? [String: Any])?.keys.sorted() == keys)
        }
    }

    @Test("What one program of a group sets and removes others have, also those that run, and they share its folder")
    func groups() throws {
        let groups = FileManager.default.temporaryDirectory.appending(path: "wakebench-groups-\(UUID())")
        defer { try? FileManager.default.removeItem(at: groups) }
        let (app, service) = (try App(groups: groups), try App(groups: groups))
        let suite = ["suite", "group.x"]
        _ = try app.run(suite + ["set", "1", "a", "set", "1", "b", "die"])
        let (process, outputs) = try service.start(
            suite + ["get", "a", "await", "a", "2", "get", "b", "set", "3", "c", "die"]
        )
        // It has read the first value: it would go on with that.
        let first = outputs[0].fileHandleForReading.availableData
        #expect(String(decoding: first, as: UTF8.self) == "1\n")
        _ = try app.run(suite + ["remove", "b", "set", "2", "a", "die"])
        let rest = try outputs[0].fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(String(decoding: rest, as: UTF8.self) == "2\nnone\n")
        #expect(try app.run(suite + ["list", "get", "c"]) == Said(lines: ["keys ac", "3"]))
        // What is no group's is each app's own.
        _ = try app.run(["set", "4", "d", "suite", "x", "set", "4", "d", "die"])
        #expect(try service.run(["get", "d", "suite", "x", "get", "d"]) == Said(lines: ["none", "none"]))
        let folder = groups.appending(path: "group.y").path
        #expect(try app.run(["container", "group.y", "container", "x"]) == Said(lines: [folder, "none"]))
        #expect(FileManager.default.fileExists(atPath: folder))
        #expect(try App().run(["container", "group.y"]) == Said(lines: ["none"]))
    }

    @Test("Observers hear of each change, and of no set that changes nothing")
    func observed() throws {
        let app = try App()
        let sets = ["set", "1", "a", "set", "1", "a", "set", "2", "a", "remove", "a", "remove", "a"]
        #expect(try app.run(["observe"] + sets) == Said(lines: Array(repeating: "changed true", count: 4)))
        #expect(
            try app.run(["observe", "get", "o", "suite", "x", "set", "1", "a"])
                == Said(lines: ["seen", "changed false"])
        )
    }

    @Test("A value that could not be read back is refused with a line, and nothing else is lost with it")
    func deep() throws {
        let app = try App()
        let run = try app.run(["set", "1", "a", "nest", "b", "600", "nest", "c", "100", "set", "2", "d", "die"])
        let why = "b: nested too deeply to be read back; what is set may end with the process"
        #expect(run == Said(lines: [], errors: ["wakebench: UserDefaults: \(why)"]))
        #expect(try app.run(["list"]) == Said(lines: ["keys acd"]))
    }

    @Test("A file that has grown is written anew with the latest values, and kept as it is where it cannot be")
    func writtenAnew() throws {
        let app = try App()
        _ = try app.run(["set", "1", "a", "pad", "b", "20", "remove", "a", "set", "2", "c", "die"])
        #expect(try app.size < 6 * 80_000)
        #expect(try app.run(["list", "get", "c"]) == Said(lines: ["keys bc", "2"]))
        // A folder is in the way.
        let new = URL(filePath: app.log.path + ".new")
        try FileManager.default.createDirectory(at: new, withIntermediateDirectories: false)
        #expect(try app.run(["pad", "b", "20", "set", "3", "c", "die"]) == Said(lines: []))
        #expect(try app.size > 20 * 80_000)
        #expect(try app.run(["list", "get", "c"]) == Said(lines: ["keys bc", "3"]))
    }

    @Test("Nothing is lost where two processes write down anew at once what was set")
    func writtenAnewAtOnce() throws {
        let app = try App()
        _ = try app.run(["set", "1", "a"])
        let file = try FileHandle(forReadingFrom: app.log)
        try #require(flock(file.fileDescriptor, LOCK_SH) == 0)
        // The fifth value that takes the place of one is worth it, and waits for the lock.
        let started = try ["b", "c"].map { try app.start(["pad", $0, "5", "count", $0, "100", "die"]) }
        let end = Date(timeIntervalSinceNow: 60)
        while try app.size < 10 * 80_000, Date() < end { usleep(1000) }
        #expect(flock(file.fileDescriptor, LOCK_UN) == 0)
        for (process, _) in started { process.waitUntilExit() }
        #expect(try app.size < 10 * 80_000)
        #expect(try app.run(["counted", "b", "100", "counted", "c", "100", "get", "a"]).lines == ["100", "100", "1"])
    }

    @Test("The format has a number: a file from before it is read, and one of another is refused and left as it is")
    func formats() throws {
        let app = try App()
        _ = try app.run(["set", "1", "a"])
        let head = "wake.defaults/1\n"
        let text = try String(contentsOf: app.log, encoding: .utf8)
        try #require(text.hasPrefix(head))
        try Data(text.dropFirst(head.count).utf8).write(to: app.log)
        #expect(try app.run(["get", "a", "set", "2", "b"]) == Said(lines: ["1"]))
        #expect(try app.run(["get", "a", "get", "b"]) == Said(lines: ["1", "2"]))
        let other = Data("wake.defaults/2\n\(text.dropFirst(head.count))".utf8)
        let newer = try App()
        try FileManager.default.createDirectory(
            at: newer.log.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try other.write(to: newer.log)
        let run = try newer.run(["get", "a", "set", "3", "c", "get", "c"])
        #expect(run.lines == ["none", "3"])
        let words =
            "wakebench: UserDefaults: \(newer.log.path): it is wake.defaults/2, and this version reads wake.defaults/1 "
            + "(remove it to begin anew); "
        #expect(
            run.errors == [
                words + "what was set before may be lost",
                words + "what is set may end with the process",
            ]
        )
        #expect(try Data(contentsOf: newer.log) == other)
    }

    @Test(
        "What is no file where values are written down is not waited for, and a line says what it is",
        arguments: ["a pipe", "a folder", "a link"]
    )
    func noFile(what: String) throws {
        let app = try App()
        let folder = app.log.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        switch what {
        case "a pipe": try #require(unsafe mkfifo(app.log.path, 0o600) == 0)
        case "a folder": try FileManager.default.createDirectory(at: app.log, withIntermediateDirectories: false)
        default: try FileManager.default.createSymbolicLink(at: app.log, withDestinationURL: folder)
        }
        let run = try app.run(["set", "3", "c", "get", "c"])
        #expect(run.lines == ["3"])
        let words =
            "wakebench: UserDefaults: \(app.log.path): it is \(what), and no file (remove it to begin anew); "
        #expect(
            run.errors == [
                words + "what was set before may be lost",
                words + "what is set may end with the process",
            ]
        )
    }

    @Test("A pipe where Foundation has its own file is not waited for: what was set is brought back in its place")
    func pipeOfFoundation() throws {
        let app = try App()
        _ = try app.run(["set", "1", "a", "die"])
        let file = app.log.deletingLastPathComponent().appending(path: "DefaultsProgram.plist")
        try? FileManager.default.removeItem(at: file)
        try #require(unsafe mkfifo(file.path, 0o600) == 0)
        #expect(try app.run(["get", "a"]) == Said(lines: ["1"]))
    }

    @Test("A line that was cut off as it was written is passed over, and damaged ones are told of once")
    func damage() throws {
        let app = try App()
        _ = try app.run(["set", "1", "a", "die"])
        try append("\n5e1f YnBsaXN0", to: app)
        #expect(try app.run(["get", "a", "set", "2", "b", "set", "3", "c"]) == Said(lines: ["1"]))
        try append("\nno line of ours\n", to: app)
        var words = "wakebench: UserDefaults: \(app.log.path): a line is damaged; what was set there may be lost"
        #expect(try app.run(["get", "a", "get", "b", "get", "c"]) == Said(lines: ["1", "2", "3"], errors: [words]))
        try append("\nnor this\n", to: app)
        words = "wakebench: UserDefaults: \(app.log.path): 2 lines are damaged; what was set there may be lost"
        #expect(try app.run(["set", "4", "d", "get", "d"]) == Said(lines: ["4"], errors: [words]))
    }

    private func append(_ text: String, to app: App) throws {
        let file = try FileHandle(forWritingTo: app.log)
        _ = try file.seekToEnd()
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }
}
