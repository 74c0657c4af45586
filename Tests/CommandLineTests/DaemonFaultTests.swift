import ChildProcess
import Foundation
import Glibc
import Testing

@Suite("A daemon in trouble", .timeLimit(.minutes(5)))
struct DaemonFaultTests {
    private static let hasPython = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")

    /// What a script prints that is given the program, and after it more words. It has `connect(path)`.
    private func python(_ script: String, _ program: Program, _ words: String...) throws -> String {
        let start = """
            import json, os, shutil, signal, socket, subprocess, sys
            def connect(path):
                s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                s.connect(path)
                return s
            class Client:
                def __init__(self, path):
                    self.socket = connect(path)
                    self.lines = self.socket.makefile()
                def ask(self, **request):
                    self.socket.sendall(json.dumps(request).encode() + b"\\n")
                    return json.loads(self.lines.readline())

            """
        let outcome = try program.run("/usr/bin/python3", ["-c", start + script, Program.path] + words)
        #expect(outcome.errors == "")
        return outcome.output
    }

    private func phones(_ bench: ServedBench) throws -> [String: [String: Any]] {
        let phones = try bench.json("phone", "list")["phones"] as? [[String: Any]] ?? []
        return Dictionary(uniqueKeysWithValues: phones.map { ($0["name"] as? String ?? "", $0) })
    }

    private func states(_ bench: ServedBench) throws -> [String: String] {
        try phones(bench).mapValues { $0["state"] as? String ?? "" }
    }

    private func contents(_ bench: ServedBench, _ folder: String) -> [String] {
        let path = bench.program.folder.appending(path: folder).path
        return ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    // MARK: Snapshots

    @Test("A snapshot that finds no room leaves the one before and the phone as they were, and no half copy")
    func noRoom() throws {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        #expect(try bench("time", "advance", "1h").code == 0)
        #expect(try bench("phone", "shutdown", "one").code == 0)
        try bench.program.write("state/phones/one/run/large", String(repeating: "x", count: 3 << 20))
        #expect(try bench("phone", "snapshot", "save", "base", "-p", "one").code == 0)
        #expect(try bench("phone", "boot", "one").code == 0)
        #expect(try bench("time", "advance", "1h").code == 0)
        #expect(try bench("phone", "shutdown", "one").code == 0)
        try bench.killAndServeAgain(largestFile: 1_024)
        for words in [["save", "base"], ["save", "other"], ["load", "base"]] {
            let refused = try bench.run(["phone", "snapshot"] + words + ["-p", "one"])
            expectRefusal(refused, code: 12, says: "phones/one", "see to the space")
        }
        expectRefusal(try bench("phone", "clone", "one", "two"), code: 12, says: "phones/.two.new", "see to the space")
        #expect(try bench("phone", "snapshot", "list", "-p", "one").output == "base\n")
        #expect(contents(bench, "state/phones") == ["one"])
        #expect(contents(bench, "state/phones/one") == ["phone.json", "run", "snapshots"])
        #expect(contents(bench, "state/phones/one/snapshots") == ["base"])
        #expect(try bench("phone", "boot", "one").code == 0)
        #expect(try bench("time", "now").output == "T+02:00:00.000\n")
        #expect(try bench("phone", "shutdown", "one").code == 0)
        try bench.killAndServeAgain()
        #expect(try bench("phone", "snapshot", "load", "base", "-p", "one").code == 0)
        #expect(try bench("phone", "boot", "one").code == 0)
        #expect(try bench("time", "now").output == "T+01:00:00.000\n")
    }

    /// What becomes of a part of a run, or of a snapshot.
    enum Damage: String, CaseIterable, Sendable {
        case journalCut, journalPipe, clockFolder, logsCut, transfersFile
        // What the daemon knows of a phone, and not of a snapshot.
        case journalRemoved, runRemoved, runFile, joinedRemoved

        static let ofRun: [Damage] = [.journalCut, .journalPipe, .clockFolder, .logsCut, .transfersFile]

        func strike(_ folder: String) throws {
            let run = folder + "/run"
            switch self {
            case .journalCut: #expect(unsafe truncate(run + "/journal.sqlite", 5_000) == 0)
            case .journalPipe:
                try FileManager.default.removeItem(atPath: run + "/journal.sqlite")
                #expect(unsafe mkfifo(run + "/journal.sqlite", 0o600) == 0)
            case .clockFolder:
                try FileManager.default.removeItem(atPath: run + "/clock")
                try FileManager.default.createDirectory(atPath: run + "/clock", withIntermediateDirectories: false)
            case .logsCut:
                for log in ["decisions", "outcomes"] { #expect(unsafe truncate("\(run)/\(log).ndjson", 0) == 0) }
            case .transfersFile: try Data("x".utf8).write(to: URL(fileURLWithPath: run + "/transfers"))
            case .journalRemoved: try FileManager.default.removeItem(atPath: run + "/journal.sqlite")
            case .runRemoved: try FileManager.default.removeItem(atPath: run)
            case .runFile:
                try FileManager.default.removeItem(atPath: run)
                try Data("x".utf8).write(to: URL(fileURLWithPath: run))
            case .joinedRemoved: try FileManager.default.removeItem(atPath: folder + "/apps.ndjson")
            }
        }
    }

    /// A phone that is shut down at two hours, with a snapshot of its first.
    private func benchWithSnapshot() throws -> ServedBench {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        #expect(try bench("app", "launch", "heart").code == 0)
        #expect(try bench("time", "advance", "1h").code == 0)
        #expect(try bench("phone", "shutdown", "one").code == 0)
        #expect(try bench("phone", "snapshot", "save", "base", "-p", "one").code == 0)
        #expect(try bench("phone", "boot", "one").code == 0)
        #expect(try bench("time", "advance", "1h").code == 0)
        #expect(try bench("phone", "shutdown", "one").code == 0)
        return bench
    }

    @Test(
        "A phone that cannot boot is neither saved nor copied: it says why as its boot does, and the snapshot that is good stays",
        arguments: Damage.ofRun
    )
    func savedDamage(_ damage: Damage) throws {
        let bench = try benchWithSnapshot()
        try damage.strike(bench.program.folder.appending(path: "state/phones/one").path)
        let boot = try bench("phone", "boot", "one")
        let anew =
            "; begin anew with 'wakebench phone erase one', or go back with 'wakebench phone snapshot load base -p one'"
        expectRefusal(
            boot,
            code: damage == .journalCut || damage == .journalPipe ? 11 : 12,
            says: "phones/one/run/",
            damage == .transfersFile ? "run/transfers: a link or a file, and no folder; remove it\n" : anew
        )
        for words in [["snapshot", "save", "base", "-p", "one"], ["clone", "one", "two"]] {
            let refused = try bench.run(["phone"] + words)
            #expect(refused.code == boot.code && refused.errors == boot.errors, "\(refused.errors)")
        }
        #expect(contents(bench, "state/phones") == ["one"])
        #expect(contents(bench, "state/phones/one/snapshots") == ["base"])
        #expect(try bench("phone", "snapshot", "load", "base", "-p", "one").code == 0)
        #expect(try bench("phone", "boot", "one").code == 0)
        #expect(try bench("time", "now").output == "T+01:00:00.000\n")
    }

    @Test(
        "A snapshot that is damaged is refused with the remedy, and the phone stays as it was",
        arguments: Damage.allCases
    )
    func loadedDamage(_ damage: Damage) throws {
        let bench = try benchWithSnapshot()
        try damage.strike(bench.program.folder.appending(path: "state/phones/one/snapshots/base").path)
        let code: Int32 =
            switch damage {
            case .journalCut, .journalPipe: 11
            case .clockFolder, .logsCut, .transfersFile: 12
            case .journalRemoved, .runRemoved, .runFile, .joinedRemoved: 4
            }
        let settings = try bench.program.read("state/phones/one/phone.json")
        expectRefusal(
            try bench("phone", "snapshot", "load", "base", "-p", "one"),
            code: code,
            says: "phones/one/snapshots/base/",
            damage == .transfersFile
                ? "run/transfers: a link or a file, and no folder; remove it\n"
                : "; remove it with 'wakebench phone snapshot remove base -p one'"
        )
        #expect(try bench.program.read("state/phones/one/phone.json") == settings)
        #expect(contents(bench, "state/phones/one") == ["phone.json", "run", "snapshots"])
        #expect(try bench("phone", "boot", "one").code == 0)
        #expect(try bench("time", "now").output == "T+02:00:00.000\n")
        #expect(try bench("phone", "snapshot", "remove", "base", "-p", "one").code == 0)
    }

    @Test("Apps that joined and are not known any more are told by their file, and a good phone or snapshot stays")
    func damagedJoined() throws {
        let bench = try ServedBench()
        #expect(try bench("phone", "create", "one").code == 0)
        #expect(try bench("phone", "boot", "one").code == 0)
        try bench.program.makeBundle()
        #expect(try bench("app", "install", "Heart.app").code == 0)
        #expect(try bench("phone", "shutdown", "one").code == 0)
        #expect(try bench("phone", "snapshot", "save", "base", "-p", "one").code == 0)
        let whole = try bench.program.read("state/phones/one/apps.ndjson")
        func become(_ text: String?, in folder: String) throws {
            let file = folder + "/apps.ndjson"
            guard let text else {
                return try FileManager.default.removeItem(at: bench.program.folder.appending(path: file))
            }
            try bench.program.write(file, text)
        }
        let missing = ": an app that joined the phone is missing"
        for (text, code, found) in [
            (nil, 4, ": removed since an app joined the phone"), ("", 11, missing),
            (String(whole.dropLast(3)), 11, missing), ("#" + whole, 11, ":1: not what wakebench wrote"),
            ("{\"foo\":1}\n", 11, ":1: unknown key 'foo' in an app, expected 'on'"),
            (whole + whole, 11, ":2: a second app named 'Heart', expected another name"),
        ] as [(String?, Int32, String)] {
            try become(text, in: "state/phones/one")
            for words in [["boot", "one"], ["snapshot", "save", "base", "-p", "one"], ["clone", "one", "two"]] {
                expectRefusal(
                    try bench.run(["phone"] + words),
                    code: code,
                    says: "phones/one/apps.ndjson\(found); begin anew with 'wakebench phone erase one', or",
                    "'wakebench phone snapshot load base -p one'\n"
                )
            }
            try become(whole, in: "state/phones/one")
            try become(text, in: "state/phones/one/snapshots/base")
            expectRefusal(
                try bench("phone", "snapshot", "load", "base", "-p", "one"),
                code: code,
                says: "snapshots/base/apps.ndjson\(found); remove it with",
                "'wakebench phone snapshot remove base -p one'\n"
            )
            try become(whole, in: "state/phones/one/snapshots/base")
        }
        // What a boot that was refused had opened is closed.
        #expect(try bench("phone", "boot", "one").code == 0)
        #expect(try bench("app", "list").output.split(separator: "\n").count == 2)
    }

    @Test("A run that is over, or is another than the phone's, is neither saved nor gone back to")
    func otherRun() throws {
        let bench = try benchWithSnapshot()
        let remedy = "; remove it with 'wakebench phone snapshot remove base -p one'\n"
        let settings = try bench.program.read("state/phones/one/phone.json")
        let other = settings.replacing("\"--clock=virtual\"", with: "\"--clock=virtual\",\"--seed=7\"")
        try bench.program.write("state/phones/one/phone.json", other)
        let found = "run/journal.sqlite: a run of another scenario, seed, profile, date or backend broke off there"
        let boot = try bench("phone", "boot", "one")
        expectRefusal(boot, code: 4, says: "phones/one/\(found); begin anew with 'wakebench phone erase one', or")
        #expect(try bench("phone", "snapshot", "save", "base", "-p", "one").errors == boot.errors)
        let load = ["phone", "snapshot", "load", "base", "-p", "one"]
        expectRefusal(try bench.run(load), code: 4, says: "snapshots/base/\(found)\(remedy)")
        try bench.program.write("state/phones/one/phone.json", settings)
        try bench.program.write("small.yaml", Scenarios.small)
        #expect(try bench.program.run("run", "small.yaml", "--out", "over", "-q").code == 0)
        let journal = "state/phones/one/snapshots/base/run/journal.sqlite"
        try FileManager.default.removeItem(at: bench.program.folder.appending(path: journal))
        try FileManager.default.copyItem(
            at: bench.program.folder.appending(path: "over/journal.sqlite"),
            to: bench.program.folder.appending(path: journal)
        )
        let over = "snapshots/base/run/journal.sqlite: that run is over"
        expectRefusal(try bench.run(load), code: 4, says: over + remedy)
        #expect(try bench("phone", "boot", "one").code == 0)
        #expect(try bench("time", "now").output == "T+02:00:00.000\n")
    }

    @Test("A snapshot of a phone that has not begun has no run, and brings the phone back to none")
    func savedBefore() throws {
        let bench = try ServedBench()
        #expect(try bench("phone", "create", "one", "--clock", "virtual").code == 0)
        #expect(try bench("phone", "snapshot", "save", "made", "-p", "one").code == 0)
        #expect(try bench("phone", "boot", "one").code == 0)
        #expect(try bench("time", "advance", "1h").code == 0)
        #expect(try bench("phone", "shutdown", "one").code == 0)
        #expect(try bench("phone", "snapshot", "load", "made", "-p", "one").code == 0)
        #expect(try bench("phone", "boot", "one").code == 0)
        #expect(try bench("time", "now").output == "T+00:00:00.000\n")
    }

    @Test(
        "However often a daemon is killed amid snapshots, each is whole, and the phone boots as it was or as was asked",
        .enabled(if: Self.hasPython)
    )
    func killedAmidSnapshots() throws {
        let program = try Program()
        defer { program.clean() }
        let script = Program.repository.appending(path: "Scripts/crash.d/snapshots.py").path
        let words = ["-B", script, "--program", Program.path, "--kills", "8"]
        let outcome = try program.run("/usr/bin/python3", words)
        #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
        #expect(outcome.output.contains("8 kills and "), "\(outcome.output)")
    }

    @Test("What is left of a phone that was being made, or deleted, when the daemon was killed stands in nobody's way")
    func halfMade() throws {
        let bench = try ServedBench()
        try bench.program.write("state/phones/.gone.deleted/run/large", "x")
        try bench.program.write("state/phones/.new.new/run/journal.sqlite", "x")
        try bench.killAndServeAgain()
        #expect(contents(bench, "state/phones") == [])
        #expect(try bench("phone", "list").output.split(separator: "\n").count == 1)
        #expect(try bench("daemon", "status").output.contains("0 of 0 phones booted"))
        #expect(try bench("phone", "create", "new").code == 0)
        #expect(try bench("phone", "boot", "new").code == 0)
        #expect(try bench("phone", "shutdown", "new").code == 0)
        #expect(try bench("phone", "clone", "new", "gone").code == 0)
        #expect(try bench.program.read("state/phones/gone/apps.ndjson") == "")
    }

    // MARK: Damaged phones

    @Test(
        "A phone whose settings are damaged costs only itself, and can be deleted",
        arguments: ["{}", "", "{\"name\":"]
    )
    func damagedSettings(_ content: String) throws {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        try bench.program.write("state/phones/bad/phone.json", content)
        #expect(try states(bench) == ["one": "booted", "bad": "failed"])
        let error = try #require(try phones(bench)["bad"]?["error"] as? [String: Any])
        #expect((error["message"] as? String)?.hasSuffix("phones/bad/phone.json: not what wakebench wrote") == true)
        #expect(error["hint"] as? String == "remove it with 'wakebench phone delete bad', and make it anew")
        for words in [["phone", "list"], ["simctl", "list"], ["top", "--once"]] {
            let list = try bench.run(words)
            #expect(list.code == 0, "\(list.errors)")
            let rows = list.output.split(separator: "\n").map { $0.split(separator: " ").prefix(2).map(String.init) }
            #expect(rows.contains(["one", "booted"]) && rows.contains(["bad", "failed"]), "\(list.output)")
        }
        for words in [["boot", "bad"], ["erase", "bad"], ["snapshot", "list", "-p", "bad"]] {
            let refused = try bench.run(["phone"] + words)
            expectRefusal(refused, code: 11, says: "not what wakebench wrote", "'wakebench phone delete bad'")
        }
        let whole = try bench.program.read("state/phones/one/phone.json")
        let unknown = whole.replacing("--clock=", with: "--bogus=").replacing(#""begun":true"#, with: #""begun":false"#)
        try bench.program.write("state/phones/bad/phone.json", unknown)
        expectRefusal(
            try bench("phone", "boot", "bad"),
            code: 11,
            says: "phones/bad/phone.json: its options: unknown option --bogus; remove it with",
            "'wakebench phone delete bad', and make it anew"
        )
        expectRefusal(try bench("phone", "create", "bad"), code: 4, says: "there is a phone 'bad' already")
        #expect(try bench("app", "launch", "heart").code == 0)
        #expect(try bench("phone", "delete", "bad").code == 0)
        #expect(try states(bench) == ["one": "booted"])
        #expect(contents(bench, "state/phones") == ["one"])
        #expect(try bench("phone", "create", "bad").code == 0)
    }

    @Test(
        "A phone whose settings were removed is failed: none is made over it, it can be deleted, and they can be brought back",
        arguments: ["run", "snapshots"]
    )
    func removedSettings(_ left: String) throws {
        let bench = try ServedBench()
        for phone in ["one", "two"] {
            try bench.makePhone(phone, "--clock", "virtual")
            #expect(try bench("phone", "shutdown", phone).code == 0)
        }
        #expect(try bench("phone", "snapshot", "save", "base", "-p", "one").code == 0)
        let folder = bench.program.folder.appending(path: "state/phones/one").path
        try FileManager.default.moveItem(atPath: folder + "/phone.json", toPath: folder + "/kept.json")
        try FileManager.default.removeItem(atPath: folder + (left == "run" ? "/snapshots" : "/run"))
        for _ in 1...2 {
            #expect(try states(bench) == ["one": "failed", "two": "shutdown"])
            expectRefusal(
                try bench("phone", "boot", "one"),
                code: 4,
                says: "phones/one/phone.json: removed since the phone was made",
                "bring it back, or remove the phone with 'wakebench phone delete one'"
            )
            expectRefusal(try bench("phone", "create", "one"), code: 4, says: "there is a phone 'one' already")
            expectRefusal(try bench("phone", "clone", "two", "one"), code: 4, says: "'one' cannot be the name of a new")
            #expect(contents(bench, "state/phones/one") == ["kept.json", left])
            try bench.killAndServeAgain()
        }
        try FileManager.default.moveItem(atPath: folder + "/kept.json", toPath: folder + "/phone.json")
        #expect(try states(bench) == ["one": "shutdown", "two": "shutdown"])
        try FileManager.default.removeItem(atPath: folder + "/phone.json")
        #expect(try bench("phone", "delete", "one").code == 0)
        #expect(try states(bench) == ["two": "shutdown"])
        #expect(contents(bench, "state/phones") == ["two"])
        #expect(try bench("phone", "create", "one").code == 0)
    }

    @Test("A phone whose journal is damaged says that it can be erased, and goes on when it is")
    func damagedJournal() throws {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        #expect(try bench("time", "advance", "1h").code == 0)
        #expect(try bench("phone", "shutdown", "one").code == 0)
        try bench.program.write("state/phones/one/run/journal.sqlite", "nonsense")
        expectRefusal(
            try bench("phone", "boot", "one"),
            code: 11,
            says: "journal.sqlite: not a journal of wakebench; begin anew with 'wakebench phone erase one'"
        )
        #expect(try bench("phone", "erase", "one").code == 0)
        #expect(try bench("phone", "boot", "one").code == 0)
        #expect(try bench("time", "now").output == "T+00:00:00.000\n")
    }

    @Test(
        "What lies in the place of a file of a phone is told with the remedy, which helps",
        arguments: ["pipe", "folder"]
    )
    func otherKind(_ kind: String) throws {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        for (name, code) in [
            ("apps.ndjson", 12), ("run/answers.ndjson", 12), ("run/clock", 12), ("run/journal.sqlite", 11),
            ("run/journal.sqlite-wal", 11), ("run/journal.sqlite.lock", 11),
        ] as [(String, Int32)] {
            #expect(try bench("time", "advance", "1h", "--id", "hour").code == 0)
            #expect(try bench("phone", "shutdown", "one").code == 0)
            let path = bench.program.folder.appending(path: "state/phones/one/\(name)").path
            try? FileManager.default.removeItem(atPath: path)
            if kind == "pipe" {
                #expect(unsafe mkfifo(path, 0o600) == 0)
            } else {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            }
            expectRefusal(
                try bench("phone", "boot", "one"),
                code: code,
                says: "phones/one/\(name)",
                kind == "pipe" ? "a pipe, a socket or a device" : "a folder",
                "begin anew with 'wakebench phone erase one'"
            )
            for verb in ["erase", "boot"] {
                let done = try bench("phone", verb, "one")
                #expect(done.code == 0, "\(name): \(done.errors)")
            }
            #expect(try bench("time", "now").output == "T+00:00:00.000\n", "\(name)")
        }
    }

    @Test("What lies among the phones and is none is not booted, deleted or made another of")
    func noPhone() throws {
        let bench = try ServedBench()
        try bench.program.write("state/phones/stray", "mine")
        for verb in ["boot", "delete"] {
            expectRefusal(try bench("phone", verb, "stray"), code: 3, says: "no phone 'stray'; make one with")
        }
        expectRefusal(
            try bench("phone", "create", "stray"),
            code: 4,
            says: "phones/stray: there already, and no folder of a phone; move it away, or give another name"
        )
        #expect(try bench.program.read("state/phones/stray") == "mine")
    }

    @Test("A folder among the phones that holds something and is none keeps it, and an empty one becomes a phone")
    func foldersOfOthers() throws {
        let bench = try ServedBench()
        let phones = bench.program.folder.appending(path: "state/phones")
        for name in ["full", "empty"] {
            let folder = phones.appending(path: name)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        }
        try bench.program.write("state/phones/full/thesis.txt", "mine")
        expectRefusal(
            try bench("phone", "create", "full"),
            code: 4,
            says: "phones/full: there already, and no folder of a phone; move it away, or give another name"
        )
        #expect(try bench.program.read("state/phones/full/thesis.txt") == "mine")
        let made = try bench("phone", "create", "empty")
        #expect(made.code == 0, "\(made.errors)")
        #expect(try bench("phone", "boot", "empty").code == 0)
    }

    @Test("A file in the place of a phone's snapshots is told by every verb about them, with the remedy")
    func fileOfSnapshots() throws {
        let bench = try ServedBench()
        #expect(try bench("phone", "create", "one").code == 0)
        try bench.program.write("state/phones/one/snapshots", "x")
        for words in [["list"], ["save", "base"], ["load", "base"], ["remove", "base"]] {
            expectRefusal(
                try bench.run(["phone", "snapshot"] + words + ["-p", "one"]),
                code: 12,
                says: "phones/one/snapshots: not a folder; remove it, and save snapshots anew"
            )
        }
    }

    @Test("A phone whose own scenario cannot be read says what to do")
    func pipeOfScenario() throws {
        let bench = try ServedBench()
        #expect(try bench("phone", "create", "one").code == 0)
        let path = bench.program.folder.appending(path: "state/phones/one/phone.yaml").path
        try FileManager.default.removeItem(atPath: path)
        #expect(unsafe mkfifo(path, 0o600) == 0)
        for words in [["boot", "one"], ["clone", "one", "two"]] {
            expectRefusal(
                try bench.run(["phone"] + words),
                code: 11,
                says: "phones/one/phone.yaml: a pipe; put a scenario in its place, or remove the phone with "
                    + "'wakebench phone delete one'"
            )
        }
        #expect(contents(bench, "state/phones") == ["one"])
    }

    @Test("A pipe in the place of what a phone writes stops this phone, and keeps no other waiting")
    func pipe() throws {
        let bench = try ServedBench()
        for phone in ["one", "two"] { try bench.makePhone(phone, "--clock", "virtual") }
        let answers = bench.program.folder.appending(path: "state/phones/one/run/answers.ndjson").path
        #expect(unsafe mkfifo(answers, 0o600) == 0)
        // What becomes of it cannot be written down.
        expectRefusal(
            try bench("app", "launch", "heart", "-p", "one", "--id", "first"),
            code: 12,
            says: "one: accepted as command 1, and then the phone failed: ",
            "one/run/answers.ndjson: a pipe, a socket or a device, and no file; begin anew with"
        )
        expectRefusal(
            try bench("app", "home", "heart", "-p", "one"),
            code: 12,
            says: "one/run/answers.ndjson: a pipe, a socket or a device, and no file",
            "begin anew with 'wakebench phone erase one'"
        )
        #expect(try bench("app", "launch", "heart", "-p", "two").code == 0)
        #expect(try states(bench) == ["one": "failed", "two": "booted"])
    }

    @Test(
        "On a full disk a phone is on or off as the answer says, and erasing one, which makes room, is no matter of space",
        .enabled(if: SmallDisk.canMount, "needs the right to mount")
    )
    func fullDisk() throws {
        let program = try Program()
        defer { program.clean() }
        let disk = try SmallDisk(program.folder.appending(path: "disk").path, size: 400)
        defer { disk.unmount() }
        func run(_ words: String...) throws -> Program.Outcome {
            try program.run(Program.path, words + ["--socket", "control"])
        }
        func states() throws -> [[String]] {
            try run("phone", "list").output.split(separator: "\n").dropFirst()
                .map { $0.split(separator: " ").prefix(2).map(String.init) }
        }
        #expect(try run("daemon", "start", "--state", "disk/s").code == 0)
        defer { _ = try? run("daemon", "stop") }
        for phone in ["off", "on"] {
            #expect(try run("phone", "create", phone).code == 0)
            #expect(try run("phone", "boot", phone).code == 0)
        }
        #expect(try run("phone", "shutdown", "off").code == 0)
        disk.fill()
        expectRefusal(try run("phone", "boot", "off"), code: 12, says: "no space left")
        #expect(try states() == [["off", "shutdown"], ["on", "booted"]])
        expectRefusal(
            try run("phone", "shutdown", "on"),
            code: 12,
            says: "on/phone.json: no space left; on is off, and is on again when the daemon is started again; see to"
        )
        #expect(try states() == [["off", "shutdown"], ["on", "shutdown"]])
        for phone in ["on", "off"] {
            let erased = try run("phone", "erase", phone)
            #expect(erased.code == 0, "\(erased.errors)")
        }
        #expect(try run("phone", "delete", "on").code == 0)
        #expect(try run("phone", "boot", "off").code == 0)
        #expect(try states() == [["off", "booted"]])
    }

    // MARK: Files that go

    @Test(
        "A phone whose files were removed refuses what comes and is failed; it can be shut down, erased and deleted",
        arguments: ["", "/journal.sqlite", "/journal.sqlite-wal", "/decisions.ndjson", "/outcomes.ndjson"]
    )
    func removed(_ file: String) throws {
        let bench = try ServedBench()
        for phone in ["one", "two"] { try bench.makePhone(phone, "--clock", "virtual") }
        #expect(try bench("app", "launch", "heart", "-p", "one").code == 0)
        try FileManager.default.removeItem(at: bench.program.folder.appending(path: "state/phones/one/run" + file))
        expectRefusal(
            try bench("app", "home", "heart", "-p", "one"),
            code: 4,
            says: "removed or replaced while the run went on",
            "begin anew with 'wakebench phone erase one'"
        )
        #expect(try states(bench) == ["one": "failed", "two": "booted"])
        #expect(try bench("app", "launch", "heart", "-p", "two").code == 0)
        #expect(try bench("phone", "shutdown", "one").code == 0)
        if file == "" || file == "/journal.sqlite" {
            for words in [["boot", "one"], ["clone", "one", "other"], ["snapshot", "save", "base", "-p", "one"]] {
                expectRefusal(
                    try bench.run(["phone"] + words),
                    code: 4,
                    says: "one/run/journal.sqlite: removed since the phone began its run",
                    "wakebench phone erase one"
                )
            }
            try bench.killAndServeAgain()
            expectRefusal(try bench("phone", "boot", "one"), code: 4, says: "removed since the phone began its run")
        }
        #expect(try bench("phone", "erase", "one").code == 0)
        #expect(try bench("phone", "boot", "one").code == 0)
        #expect(try bench("time", "now", "-p", "one").output == "T+00:00:00.000\n")
        try FileManager.default.removeItem(at: bench.program.folder.appending(path: "state/phones/one/run"))
        #expect(try bench("phone", "delete", "one").code == 0)
        #expect(try states(bench)["one"] == nil)
    }

    @Test("A phone whose run was replaced by a copy is failed, and leaves the copy as it is")
    func replaced() throws {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        #expect(try bench("app", "launch", "heart").code == 0)
        let run = bench.program.folder.appending(path: "state/phones/one/run").path
        try FileManager.default.moveItem(atPath: run, toPath: run + ".away")
        try FileManager.default.copyItem(atPath: run + ".away", toPath: run)
        let before = contents(bench, "state/phones/one/run")
        expectRefusal(try bench("app", "home", "heart"), code: 4, says: "removed or replaced while the run went on")
        #expect(contents(bench, "state/phones/one/run") == before)
        #expect(try bench("phone", "shutdown", "one").code == 0)
        #expect(try bench("phone", "boot", "one").code == 0)
        #expect(try bench("app", "state", "heart").code == 0)
    }

    @Test(
        "A phone that nobody commands notices at its next commit that its run was removed",
        .enabled(if: Self.hasPython)
    )
    func removedUnderWay() throws {
        let bench = try ServedBench()
        let belt = ServedBench.belt.replacing(
            "properties: [notify]}",
            with: "properties: [notify], repeat: true, notifications: [{after: 300ms, values: [\"0048\"]}]}"
        )
        try bench.program.write("belt.yaml", belt)
        try bench.program.write("phone.yaml", ServedBench.scenario)
        try #require(bench("phone", "create", "one", "--scenario", "phone.yaml").code == 0)
        try #require(bench("phone", "boot", "one").code == 0)
        #expect(try bench("app", "launch", "heart").code == 0)
        let said = try python(
            """
            client = Client(sys.argv[2])
            assert client.ask(op="follow", phone="one")["ok"]
            while json.loads(client.lines.readline())["type"] != "decision":
                pass
            shutil.rmtree(sys.argv[3])
            while (line := json.loads(client.lines.readline()))["type"] != "phone":
                pass
            print(line["phone"], line["state"])
            """,
            bench.program,
            bench.socket,
            bench.program.folder.appending(path: "state/phones/one/run").path
        )
        #expect(said == "one failed\n")
    }

    @Test(
        "A daemon whose state folder was removed says so of phones and of what is to be made, and shuts its phones down",
        .enabled(if: Self.hasPython)
    )
    func removedState() throws {
        let program = try Program()
        defer { program.clean() }
        let said = try python(
            """
            line = [sys.argv[1], "serve", "--state", "s", "--socket", "c"]
            daemon = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            try:
                assert daemon.stdout.readline().startswith("serving ")
                client = Client("c")
                assert client.ask(op="create", phone="one", options=["--clock=virtual"])["ok"]
                assert client.ask(op="boot", phone="one")["ok"]
                shutil.rmtree("s")
                def error(**request):
                    error = client.ask(**request)["error"]
                    print(error["code"], error["message"].removeprefix(os.getcwd()), error["hint"], sep="; ")
                error(op="do", phone="one", command={"step": {"note": "now"}})
                print([(phone["name"], phone["state"]) for phone in client.ask(op="phones")["phones"]])
                error(op="create", phone="two")
                print(client.ask(op="shutdown", phone="one")["ok"], client.ask(op="phones")["phones"])
                client.ask(op="stop")
                print(daemon.wait())
            finally:
                daemon.kill()
            """,
            program
        )
        #expect(
            said == """
                4; /s/phones/one: removed while the phone was served; remove what is left with 'wakebench phone delete one'
                [('one', 'failed')]
                12; /s: removed or replaced since it is served; stop the daemon, and start it again
                True []
                0

                """
        )
    }

    @Test(
        "A daemon whose lock was removed or replaced takes no phone in hand: another daemon may serve them",
        arguments: ["removed", "replaced"]
    )
    func lostLock(_ what: String) throws {
        let bench = try ServedBench()
        try bench.makePhone("one", "--clock", "virtual")
        #expect(try bench("phone", "shutdown", "one").code == 0)
        try FileManager.default.removeItem(at: bench.program.folder.appending(path: "state/daemon.lock"))
        if what == "replaced" { try bench.program.write("state/daemon.lock", "1\n") }
        for words in [
            ["boot", "one"], ["erase", "one"], ["snapshot", "save", "base", "-p", "one"], ["clone", "one", "two"],
            ["create", "two"], ["delete", "one"],
        ] {
            expectRefusal(
                try bench.run(["phone"] + words),
                code: 12,
                says: "state/daemon.lock: removed or replaced since it is served; stop the daemon, and start it again"
            )
        }
        #expect(contents(bench, "state/phones") == ["one"])
        try bench.stopAndServeAgain()
        #expect(try bench("phone", "boot", "one").code == 0)
    }

    // MARK: The socket

    @Test(
        "Nothing but a socket makes way for the daemon's",
        arguments: ["file", "folder", "link"],
        ["serve", "daemon start"]
    )
    func precious(kind: String, verb: String) throws {
        let program = try Program()
        defer { program.clean() }
        try program.write("notes/precious", "precious\n")
        let (path, target) = (program.folder.appending(path: "s.sock").path, "notes/precious")
        switch kind {
        case "file": try program.write("s.sock", "precious\n")
        case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        default: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        }
        let words = verb.split(separator: " ").map(String.init) + ["--state", "s", "--socket", "s.sock"]
        let refused = try program.run(Program.path, words)
        expectRefusal(refused, code: 12, says: "s.sock: a file that is no socket is there, and stays", "--socket")
        #expect(try program.read("notes/precious") == "precious\n")
        #expect(program.exists("s.sock"))
        if kind != "folder" { #expect(try program.read("s.sock") == "precious\n") }
    }

    @Test(
        "A socket at which so many wait that no other may is somebody's: it is not taken over, and a client says so",
        .enabled(if: Self.hasPython)
    )
    func fullBacklog() throws {
        let program = try Program()
        defer { program.clean() }
        let said = try python(
            """
            listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listening.bind("full.sock")
            listening.listen(0)
            before, waiting = os.stat("full.sock").st_ino, []
            while True:
                waiting.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
                waiting[-1].setblocking(False)
                try:
                    waiting[-1].connect("full.sock")
                except BlockingIOError:
                    break
            for words in [["serve", "--state", "s"], ["daemon", "status"]]:
                line = [sys.argv[1], *words, "--socket", "full.sock"]
                outcome = subprocess.run(line, capture_output=True, text=True)
                print(outcome.returncode, outcome.stderr.replace(os.getcwd(), "").strip())
            print(os.stat("full.sock").st_ino == before)
            """,
            program
        )
        #expect(
            said == """
                12 wakebench: /full.sock: another process serves there; stop it first, or give another place with --socket
                9 wakebench: the daemon at full.sock lets nobody in: too many clients wait for that; try again later; \
                one that is stopped goes on with 'kill -CONT' and its process
                True

                """
        )
    }

    @Test(
        "A socket that a process has bound, and where it does not listen yet, is that process's, and not taken over",
        .enabled(if: Self.hasPython)
    )
    func boundSocket() throws {
        let program = try Program()
        defer { program.clean() }
        let said = try python(
            """
            path = os.getcwd() + "/bound.sock"
            bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            bound.bind(path)
            before = os.stat(path).st_ino
            line = [sys.argv[1], "serve", "--state", "s", "--socket", "bound.sock"]
            outcome = subprocess.run(line, capture_output=True, text=True)
            print(outcome.returncode, outcome.stderr.replace(os.getcwd(), "").strip())
            print(os.stat(path).st_ino == before)
            bound.close()
            daemon = subprocess.Popen(line, stdout=subprocess.PIPE)
            print(daemon.stdout.readline().startswith(b"serving "))
            daemon.send_signal(signal.SIGTERM)
            print(daemon.wait())
            """,
            program
        )
        #expect(
            said == """
                12 wakebench: /bound.sock: another process has it, and does not listen there yet; stop it first, \
                or give another place with --socket
                True
                True
                0

                """
        )
    }

    @Test("A daemon removes its socket when it ends, and not what has taken its place")
    func ownSocket() throws {
        for isReplaced in [true, false] {
            let bench = try ServedBench()
            if isReplaced {
                try FileManager.default.removeItem(atPath: bench.socket)
                try bench.program.write("state/control.sock", "mine")
            }
            bench.daemon.terminate()
            bench.daemon.waitUntilExit()
            #expect(bench.daemon.terminationStatus == 0)
            #expect(bench.program.exists("state/control.sock") == isReplaced)
            if isReplaced { #expect(try bench.program.read("state/control.sock") == "mine") }
        }
    }

    // MARK: In the background

    @Test("What a daemon says is added to its log; a start that is refused says why, and leaves the log alone")
    func log() throws {
        let program = try Program()
        defer { program.clean() }
        let words = ["daemon", "start", "--state", "s", "--socket", "s/c"]
        let started = try program.run(Program.path, words + ["--http"])
        defer { _ = try? program.run("daemon", "stop", "--socket", "s/c") }
        #expect(started.code == 0 && started.errors == "", "\(started.errors)")
        let lines = started.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 2, "\(started.output)")
        #expect(lines[0].hasPrefix("serving ") && lines[0].hasSuffix("/s/c"), "\(lines)")
        #expect(lines[1].hasPrefix("page at http://127.0.0.1:"), "\(lines)")
        let log = try program.read("s/daemon.log")
        #expect(log == "wakebench: \(lines[1])\n")
        expectRefusal(
            try program.run(Program.path, words),
            code: 4,
            says: "/s: process ",
            "serves these phones already"
        )
        #expect(try program.read("s/daemon.log") == log)
        #expect(try program.run("daemon", "status", "--socket", "s/c").output.hasSuffix("\n\(lines[1])\n"))
        let status = try program.run("daemon", "status", "--socket", "s/c", "--json")
        let hello = try JSONSerialization.jsonObject(with: Data(status.output.utf8)) as? [String: Any]
        #expect((hello?["page"] as? String).map { "page at \($0)" } == lines[1])
        #expect(try program.run("daemon", "stop", "--socket", "s/c").code == 0)
        let again = try program.run(Program.path, words + ["--http", "--json"])
        let answer = try JSONSerialization.jsonObject(with: Data(again.output.utf8)) as? [String: Any]
        #expect(answer?["ok"] as? Bool == true && answer?["schema"] as? String == "wake.serve/1", "\(again.output)")
        let page = try #require(answer?["page"] as? String)
        #expect(try program.read("s/daemon.log") == log + "wakebench: page at \(page)\n")
    }

    @Test("A daemon that has its phones and no socket says why on stderr and in its log")
    func logOfRefusal() throws {
        let program = try Program()
        defer { program.clean() }
        try program.write("notes.txt", "")
        let refused = try program.run("daemon", "start", "--state", "s", "--socket", "notes.txt")
        expectRefusal(refused, code: 12, says: "notes.txt: a file that is no socket is there")
        #expect(try program.read("s/daemon.log") == refused.errors)
    }

    @Test(
        "What is no file in the place of the daemon's log is refused by what it is, and not waited for",
        arguments: [
            ("pipe", "a pipe that is not read, or a socket, and no file"), ("folder", "a folder, and no file"),
            ("link", "a symbolic link, which is not followed"),
        ]
    )
    func noFileOfLog(kind: String, words: String) throws {
        let program = try Program()
        defer { program.clean() }
        let state = program.folder.appending(path: "s").path
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        let log = state + "/daemon.log"
        let made =
            switch kind {
            case "pipe": unsafe mkfifo(log, 0o600)
            case "folder": unsafe mkdir(log, 0o700)
            default: unsafe symlink("elsewhere", log)
            }
        #expect(made == 0)
        let refused = try program.run("daemon", "start", "--state", "s", "--socket", "s/c")
        expectRefusal(
            refused,
            code: 12,
            says: "s/daemon.log: \(words)",
            "; remove it, or give another folder with --state"
        )
    }

    @Test("A folder in the place of the daemon's lock is named by its path")
    func folderOfLock() throws {
        let program = try Program()
        defer { program.clean() }
        let lock = program.folder.appending(path: "s/daemon.lock").path
        try FileManager.default.createDirectory(atPath: lock, withIntermediateDirectories: true)
        let refused = try program.run("daemon", "start", "--state", "s", "--socket", "s/c")
        expectRefusal(refused, code: 12, says: "wakebench: /", "/s/daemon.lock: open: Is a directory; check the folder")
    }

    @Test(
        "A state folder of another user is not served, and nothing is made in it",
        .enabled(if: Program.isRoot, "needs root, to have a folder of another user's"),
        arguments: ["serve", "daemon start"]
    )
    func foreignState(_ verb: String) throws {
        let program = try Program()
        defer { program.clean() }
        let theirs = program.folder.appending(path: "theirs").path
        try FileManager.default.createDirectory(atPath: theirs, withIntermediateDirectories: true)
        #expect(unsafe chown(theirs, 65_534, 65_534) == 0)
        let words = verb.split(separator: " ").map(String.init) + ["--state", "theirs", "--socket", "c"]
        let refused = try program.run(Program.path, words)
        expectRefusal(
            refused,
            code: 12,
            says: "/theirs: belongs to user 65534, not to user 0",
            "give a folder of your own with --state"
        )
        #expect(try FileManager.default.contentsOfDirectory(atPath: theirs) == [])
    }

    @Test("A phone is not served whose folders are another user's, or that others may write into; the others are")
    func foreignPhone() throws {
        let bench = try ServedBench()
        for phone in ["one", "two"] {
            try bench.makePhone(phone, "--clock", "virtual")
            #expect(try bench("phone", "shutdown", phone).code == 0)
        }
        #expect(try bench("phone", "snapshot", "save", "base", "-p", "one").code == 0)
        let writable = "users other than user \(geteuid()) may write into it; keep them out with 'chmod go-w /"
        let foreign = "belongs to user 65534, not to user 0; make it yours with 'chown', or move the phone away"
        for part in ["", "/run", "/snapshots"] {
            let folder = bench.program.folder.appending(path: "state/phones/one" + part).path
            for says in Program.isRoot ? [writable, foreign] : [writable] {
                #expect(unsafe chmod(folder, says == writable ? 0o777 : 0o700) == 0)
                if says == foreign { #expect(unsafe chown(folder, 65_534, 65_534) == 0) }
                for words in [["boot", "one"], ["clone", "one", "three"], ["snapshot", "load", "base", "-p", "one"]] {
                    let refused = try bench.run(["phone"] + words)
                    expectRefusal(refused, code: 12, says: "/state/phones/one\(part): \(says)")
                }
                #expect(try states(bench) == ["one": "failed", "two": "shutdown"])
                #expect(unsafe chown(folder, geteuid(), getegid()) == 0)
                #expect(unsafe chmod(folder, 0o700) == 0)
            }
        }
        for phone in ["one", "two"] { #expect(try bench("phone", "boot", phone).code == 0) }
    }

    /// A folder in which other users may put something else in the place of the state folder, or of what is in it.
    struct Disturbed: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// The folder that is not as it should be, from the test's own on, its mode and its owner.
        var folder: String
        var mode: mode_t
        var owner: uid_t?
        var says: [String]

        static let all = [
            Disturbed(
                testDescription: "that others may write into",
                folder: "above/s",
                mode: 0o777,
                says: [
                    "/above/s: users other than user \(geteuid()) may write into it",
                    "keep them out with 'chmod go-w ",
                ]
            ),
            Disturbed(
                testDescription: "that its group may write into",
                folder: "above/s",
                mode: 0o775,
                says: [
                    "/above/s: users other than user \(geteuid()) may write into it",
                    "keep them out with 'chmod go-w ",
                ]
            ),
            Disturbed(
                testDescription: "below one that others may write into",
                folder: "above",
                mode: 0o777,
                says: ["/above, where any user may put another in its place", "keep them out with 'chmod o-w "]
            ),
            Disturbed(
                testDescription: "below one of another user's",
                folder: "above",
                mode: 0o755,
                owner: 65_534,
                says: [
                    "/above, which belongs to user 65534, not to user 0",
                    "give a folder elsewhere with --state",
                ]
            ),
        ]
    }

    @Test(
        "A state folder is not served that others may write into, or put another in the place of",
        arguments: Disturbed.all.filter { $0.owner == nil || Program.isRoot }
    )
    func disturbed(_ found: Disturbed) throws {
        let program = try Program()
        defer { program.clean() }
        let state = program.folder.appending(path: "above/s").path
        let isOfState = found.folder == "above/s"
        let made = isOfState ? state : program.folder.appending(path: "above").path
        try FileManager.default.createDirectory(atPath: made, withIntermediateDirectories: true)
        let folder = program.folder.appending(path: found.folder).path
        unsafe chmod(folder, found.mode)
        if let owner = found.owner { #expect(unsafe chown(folder, owner, owner) == 0) }
        let words = ["daemon", "start", "--state", "above/s", "--socket", "c"]
        let refused = try program.run(Program.path, words)
        #expect(refused.code == 12)
        for text in found.says { #expect(refused.errors.contains(text), "\(refused.errors)") }
        #expect(program.exists("above/s") == isOfState && !program.exists("above/s/phones"))
        guard found.owner == nil else { return }
        unsafe chmod(folder, 0o755)
        #expect(try program.run(Program.path, words).code == 0)
        #expect(try program.run("daemon", "stop", "--socket", "c").code == 0)
    }

    // MARK: Clients

    @Test(
        "A client of a daemon that is stopped ends with its process and the remedy",
        arguments: [["daemon", "status"], ["phone", "lock"], ["daemon", "stop"], ["top", "--once"]]
    )
    func stopped(_ words: [String]) throws {
        let bench = try ServedBench()
        bench.daemon.send(SIGSTOP)
        let process = bench.daemon.processIdentifier
        expectRefusal(
            try bench.run(words),
            code: 9,
            says: "is stopped: process \(process)",
            "let it go on with 'kill -CONT \(process)'"
        )
        bench.daemon.send(SIGCONT)
        #expect(try bench("daemon", "status").code == 0)
    }

    @Test(
        "Clients that are idle, half said or read nothing keep nobody out, and one that follows stays",
        .enabled(if: Self.hasPython)
    )
    func idleClients() throws {
        let bench = try ServedBench()
        let said = try python(
            """
            path = sys.argv[2]
            follower = Client(path)
            assert follower.ask(op="follow", phone="all")["ok"]
            idle = [connect(path) for _ in range(255)]
            for number, client in enumerate(idle):
                if number % 3 == 1:
                    client.sendall(b'{"op":"hel')
                elif number % 3 == 2:
                    client.sendall(b'{"op":"phones"}\\n')
                if number % 51 == 0:
                    client.setblocking(False)
                    try:
                        while True:
                            client.send(b'{"op":"hello"}\\n' * 1000)
                    except BlockingIOError:
                        pass
            def until_let_in(*words):
                while True:
                    line = [sys.argv[1], *words, "--socket", path]
                    outcome = subprocess.run(line, capture_output=True, text=True)
                    if outcome.returncode != 4:
                        return outcome.returncode
                    assert "256 clients are connected; try again later" in outcome.stderr, outcome.stderr
            print(until_let_in("phone", "list"), until_let_in("phone", "list"))
            follower.socket.setblocking(False)
            try:
                print("ended" if follower.socket.recv(1) == b"" else "told")
            except BlockingIOError:
                print("follows")
            print(until_let_in("daemon", "stop"))
            """,
            bench.program,
            bench.socket
        )
        #expect(said == "0 0\nfollows\n0\n")
        bench.daemon.waitUntilExit()
        #expect(bench.daemon.terminationStatus == 0)
    }

    @Test(
        "Clients that follow keep nobody from asking for the daemon, and from ending it",
        .enabled(if: Self.hasPython)
    )
    func onlyFollowers() throws {
        let bench = try ServedBench()
        let said = try python(
            """
            path = sys.argv[2]
            followers = [Client(path) for _ in range(256)]
            assert all(follower.ask(op="follow", phone="all")["ok"] for follower in followers)
            extra = Client(path)
            assert extra.ask(op="hello")["ok"]
            refused = extra.ask(op="phones", request=7)
            print(refused["request"], refused["error"]["code"], refused["error"]["message"])
            print(repr(extra.lines.readline()))
            def run(*words):
                line = [sys.argv[1], *words, "--socket", path]
                outcome = subprocess.run(line, capture_output=True, text=True)
                return outcome.returncode, outcome.stderr
            print(*run("phone", "list"))
            print(*run("daemon", "status"))
            print(*run("daemon", "stop"))
            """,
            bench.program,
            bench.socket
        )
        let expected = [
            "7 4 256 clients are connected", "''", "4 wakebench: 256 clients are connected; try again later", "",
            "0 ", "0 ", "",
        ]
        #expect(said == expected.joined(separator: "\n"))
        bench.daemon.waitUntilExit()
        #expect(bench.daemon.terminationStatus == 0)
    }
}
