import Foundation
import Glibc
import Testing
import WakeDevices
import WakeJournal
import WakeModel
import WakePorts
import WakeReports

@testable import WakeBench

/// The folder of a phone, in a folder of a test's own.
private final class Place {
    let phones: URL
    let folder: PhoneFolder

    init(_ files: [String: String] = [:]) throws {
        phones = FileManager.default.temporaryDirectory.appending(path: "wakebench-phones-\(UUID())")
        folder = PhoneFolder(path: phones.appending(path: "one").path)
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        for (name, text) in files { try write(name, text) }
    }

    deinit { try? FileManager.default.removeItem(at: phones) }

    func write(_ name: String, _ text: String) throws {
        let file = URL(fileURLWithPath: folder.path).appending(path: name)
        let parent = file.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    /// What the phone is booted with. Its scenario is there once it has begun.
    var options: RunOptions { RunOptions(scenario: phones.path + "/one.yaml", out: folder.run) }

    /// Gives the phone the journal of a run that has begun.
    func begin() throws {
        try Data("scenario: one\napps: []\n".utf8).write(to: URL(fileURLWithPath: options.scenario))
        _ = try journal(of: folder)
    }

    /// That of the run of a phone with this one's scenario, which begins or goes on.
    func journal(of phone: PhoneFolder) throws -> RunJournal {
        var options = self.options
        options.out = phone.run
        let played = PlayedFiles(options)
        let identity = RunIdentity(options, try Scenario.load(file: played.scenario, files: played.files))
        return try RunJournal.of(options, in: try RunFolder(making: options.out), playing: played, as: identity)
    }

    /// All files of the phone but for those of its journal, by their names from its folder.
    var files: [String: String] {
        var files: [String: String] = [:]
        for name in FileManager.default.subpaths(atPath: folder.path) ?? [] {
            let path = folder.path + "/" + name
            var isFolder: ObjCBool = false
            _ = unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            if isFolder.boolValue || name.contains("/journal.sqlite") { continue }
            files[name] = try? String(contentsOfFile: path, encoding: .utf8)
        }
        return files
    }
}

/// What a killed daemon left, and what is to become of it.
struct LeftByKill: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var left: [String: String]
    var settled: [String: String]

    init(_ when: String, _ left: [String: String], _ settled: [String: String]) {
        (testDescription, self.left, self.settled) = (when, left, settled)
    }
}

@Suite("The folder of a phone")
struct PhoneFolderTests {
    private static let saves = [
        LeftByKill(
            "the copy is not whole",
            ["snapshots/base/run/j": "old", "snapshots/.base.new/run/j": "ha"],
            ["snapshots/base/run/j": "old"]
        ),
        LeftByKill(
            "the old one has made way",
            ["snapshots/.base.old/run/j": "old", "snapshots/.base.new/run/j": "new"],
            ["snapshots/base/run/j": "old"]
        ),
        LeftByKill(
            "the new one has its place",
            ["snapshots/.base.old/run/j": "old", "snapshots/base/run/j": "new"],
            ["snapshots/base/run/j": "new"]
        ),
        LeftByKill(
            "an earlier version was copying, beside a snapshot that is called so",
            ["snapshots/base/run/j": "a", "snapshots/base.new/run/j": "ha", "snapshots/base.old/run/j": "b"],
            ["snapshots/base/run/j": "a", "snapshots/base.old/run/j": "b"]
        ),
    ]

    private static let loads = [
        LeftByKill(
            "the copy is not whole",
            ["run/j": "old", "apps.ndjson": "old", "loading.new/run/j": "ha"],
            ["run/j": "old", "apps.ndjson": "old"]
        ),
        LeftByKill(
            "the copy is whole",
            ["run/j": "old", "apps.ndjson": "old", "loading/run/j": "new", "loading/apps.ndjson": "new"],
            ["run/j": "new", "apps.ndjson": "new"]
        ),
        LeftByKill(
            "the old run is away",
            ["apps.ndjson": "old", "loading/old/j": "old", "loading/run/j": "new", "loading/apps.ndjson": "new"],
            ["run/j": "new", "apps.ndjson": "new"]
        ),
        LeftByKill(
            "the new run is in place",
            ["run/j": "new", "apps.ndjson": "old", "loading/old/j": "old", "loading/apps.ndjson": "new"],
            ["run/j": "new", "apps.ndjson": "new"]
        ),
        LeftByKill(
            "what had joined is away, too",
            ["run/j": "new", "loading/old/j": "old", "loading/old-apps": "old", "loading/apps.ndjson": "new"],
            ["run/j": "new", "apps.ndjson": "new"]
        ),
        LeftByKill(
            "all is in place",
            ["run/j": "new", "apps.ndjson": "new", "loading/old/j": "old"],
            ["run/j": "new", "apps.ndjson": "new"]
        ),
        LeftByKill(
            "it is erased, and the run is there",
            ["run/j": "old", "apps.ndjson": "old", "loading/none": "", "loading/apps.ndjson": ""],
            ["apps.ndjson": ""]
        ),
        LeftByKill(
            "it is erased, and the run is away",
            ["apps.ndjson": "old", "loading/none": "", "loading/old/j": "old", "loading/apps.ndjson": ""],
            ["apps.ndjson": ""]
        ),
        LeftByKill("it is erased, and only what had joined is there", ["apps.ndjson": "old", "erasing/j": "old"], [:]),
        LeftByKill("what had joined is away, too, when it is erased", ["erasing/j": "old"], [:]),
        LeftByKill("what was erased is not removed yet", ["loading.new/j": "old"], [:]),
    ]

    @Test("A save or a load that was killed is undone or done, as a whole", arguments: saves + loads)
    func settled(_ kill: LeftByKill) throws {
        let place = try Place(kill.left)
        try place.folder.settle()
        #expect(place.files == kill.settled)
        // Who was killed while settling settles the rest.
        try place.folder.settle()
        #expect(place.files == kill.settled)
    }

    @Test(
        "A snapshot takes the place of one of its name, and the phone that of a snapshot or of none, and nothing is left"
    )
    func copies() throws {
        let place = try Place(["run/j": "1", "apps.ndjson": "one"])
        try place.begin()
        try place.folder.saveSnapshot("base", place.options)
        try place.write("run/j", "2")
        try place.folder.saveSnapshot("later", place.options)
        try place.write("run/j", "3")
        try place.folder.saveSnapshot("base", place.options)
        try place.folder.erase()
        let kept = [
            "snapshots/base/run/j": "3", "snapshots/base/apps.ndjson": "one", "snapshots/later/run/j": "2",
            "snapshots/later/apps.ndjson": "one",
        ]
        #expect(place.files == kept)
        try place.folder.loadSnapshot("later", place.options)
        #expect(place.files == kept.merging(["run/j": "2", "apps.ndjson": "one"]) { $1 })
        try place.folder.removeSnapshot("later")
        #expect(place.folder.snapshotNames == ["base"])
        let missing = CommandFailure(.notFound, "no snapshot 'later'", hint: "it has base")
        #expect(throws: missing) { try place.folder.loadSnapshot("later", place.options) }
        #expect(place.files["run/j"] == "2")
    }

    @Test("What keeps a copy from being whole leaves the phone and its snapshots as they were")
    func refusedCopies() throws {
        let place = try Place(["run/j": "1", "apps.ndjson": "one", "snapshots/base/run/j": "0"])
        let before = place.files
        // Nobody copies a folder into a file.
        try place.write("loading.new", "")
        try place.write("snapshots/.base.new", "")
        let inFile = place.folder.path + "/apps.ndjson/x"
        #expect(throws: CommandFailure.self) { try place.folder.loadSnapshot("base", place.options) }
        #expect(throws: CommandFailure.self) { try place.folder.saveSnapshot("base", place.options) }
        #expect(throws: CommandFailure.self) { try place.folder.copyState(to: inFile, place.options) }
        try place.folder.settle()
        #expect(place.files == before)
    }

    @Test("A folder in place of what has joined goes with the run, and one in a snapshot leaves the phone as it was")
    func folderOfJoined() throws {
        let place = try Place(["run/j": "1", "apps.ndjson/j": "folder", "snapshots/base/apps.ndjson/j": "folder"])
        let before = place.files
        func failure(_ path: String, _ hint: String) -> CommandFailure {
            CommandFailure(.environment, in: place.folder.path + path, "a folder, and no file", hint: hint)
        }
        let ofPhone = failure(
            "/apps.ndjson",
            "begin anew with 'wakebench phone erase one', or go back with 'wakebench phone snapshot load base -p one'"
        )
        #expect(throws: ofPhone) { try place.folder.readJoined() }
        #expect(throws: ofPhone) { try place.folder.saveSnapshot("other", place.options) }
        let remedy = "remove it with 'wakebench phone snapshot remove base -p one'"
        let ofSnapshot = failure("/snapshots/base/apps.ndjson", remedy)
        #expect(throws: ofSnapshot) { try place.folder.loadSnapshot("base", place.options) }
        #expect(place.files == before)
        try place.folder.removeSnapshot("base")
        try place.folder.erase()
        #expect(place.files == [:])
    }

    @Test("A copy has pipes and links as such and the rights of folders, waits for nobody, and leaves out sockets")
    func specialFiles() throws {
        let place = try Place(["run/apps/one/j": "1"])
        try place.begin()
        let home = "/run/apps/one"
        let made = place.folder.path + home
        #expect(unsafe mkfifo(made + "/pipe", 0o640) == 0)
        #expect(unsafe mknod(made + "/socket", S_IFSOCK | 0o600, 0) == 0)
        try FileManager.default.createSymbolicLink(atPath: made + "/link", withDestinationPath: "/nowhere")
        #expect(unsafe chmod(made, 0o750) == 0)
        try place.folder.saveSnapshot("base", place.options)
        let copy = place.folder.path + "/snapshots/base" + home
        #expect(try FileManager.default.contentsOfDirectory(atPath: copy).sorted() == ["j", "link", "pipe"])
        #expect(mode(copy) == S_IFDIR | 0o750)
        #expect(mode(copy + "/pipe") == S_IFIFO | 0o640)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: copy + "/link") == "/nowhere")
        #expect(try String(contentsOfFile: copy + "/j", encoding: .utf8) == "1")
    }

    @Test("A run that lies behind a link is copied itself, and what the phone goes back to is none but its own")
    func linkedRun() throws {
        let place = try Place(["run/j": "1"])
        try place.begin()
        let elsewhere = place.phones.path + "/elsewhere"
        try FileManager.default.moveItem(atPath: place.folder.run, toPath: elsewhere)
        try FileManager.default.createSymbolicLink(atPath: place.folder.run, withDestinationPath: elsewhere)
        try place.folder.saveSnapshot("base", place.options)
        try place.write("run/j", "2")
        #expect(place.files["snapshots/base/run/j"] == "1")
        try place.folder.loadSnapshot("base", place.options)
        #expect(place.files["run/j"] == "1")
        #expect(mode(place.folder.run).map { $0 & S_IFMT } == S_IFDIR)
        #expect(try String(contentsOfFile: elsewhere + "/j", encoding: .utf8) == "2")
    }

    /// What lies at a path, with its rights.
    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status.st_mode : nil
    }

    @Test("The processes of a copied run have a name of their own, which is the same when the run is opened again")
    func processNames() throws {
        let place = try Place()
        try place.begin()
        func name(_ phone: PhoneFolder) throws -> String { try place.journal(of: phone).runName }
        let first = try name(place.folder)
        let copy = PhoneFolder(path: place.phones.appending(path: "two").path)
        try place.folder.copyState(to: copy.path, place.options)
        let second = try name(copy)
        #expect(first != second)
        #expect(try name(place.folder) == first)
        let renamed = PhoneFolder(path: place.phones.appending(path: "three").path)
        try PhoneFolder.move(copy.path, to: renamed.path)
        #expect(try name(renamed) == second)
    }

    @Test("A phone is deleted with one step, and what is left of it when the daemon is killed is removed by the next")
    func deleted() throws {
        let place = try Place(["phone.json": "{}", "run/j": "1"])
        try place.folder.delete()
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.phones.path) == [])
        try place.folder.delete()
        for name in [".one.deleted", ".three.new", ".git", "two"] {
            let folder = place.phones.appending(path: name)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        PhoneFolder.sweep(place.phones.path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.phones.path).sorted() == [".git", "two"])
    }

    @Test("A whole line of what has joined that says nothing is told by its number, and one cut off was never there")
    func linesOfJoined() throws {
        let whole = "{\"scripted\":\"com.acme.one\"}\n"
        let place = try Place(["apps.ndjson": whole + "{\"scrip"])
        #expect(try place.folder.readJoined().count == 1)
        try place.write("apps.ndjson", whole + "{\"scrip\n" + whole)
        let failure = CommandFailure(
            .invalidFile,
            at: .init(file: place.folder.path + "/apps.ndjson", line: 2),
            "not what wakebench wrote",
            hint: "begin anew with 'wakebench phone erase one'"
        )
        #expect(throws: failure) { try place.folder.readJoined() }
    }

    // MARK: The clock

    @Test("A clock that was removed or replaced is where it was, with what it said, and a run that has none says so")
    func clock() throws {
        let place = try Place()
        let path = place.folder.path + "/clock"
        let (second, third) = (Instant(nanoseconds: 2_000_000_000), Instant(nanoseconds: 3_000_000_000))
        do {
            let clock = try KeptClock(path, isNew: true)
            let line = "wake.clock/1 0000000000000000000\n"
            #expect(place.files == ["clock": line])
            try clock.keep(second)
            try PhoneFolder.remove(path)
            try clock.returnToPlace()
            #expect(place.files == ["clock": "wake.clock/1 0000000002000000000\n"])
            try PhoneFolder.remove(path)
            try place.write("clock", line + line)
            try clock.returnToPlace()
            try clock.keep(third)
            #expect(place.files == ["clock": "wake.clock/1 0000000003000000000\n"])
        }
        #expect(try KeptClock(path, isNew: false).instant == third)
        try place.write("clock", "nonsense")
        #expect(try KeptClock(path, isNew: false).damage == "not what wakebench wrote")
        try PhoneFolder.remove(path)
        #expect(try KeptClock(path, isNew: false).damage == "missing or empty")
        let whole = try KeptClock(path, isNew: false)
        #expect(whole.damage == nil && whole.instant == .zero)
    }

    // MARK: Settings

    private static let udid = "8D200922-F56D-43E7-BD75-4FB68CC11E16"
    private static let whole = """
        {"schema":"wake.phone/1","name":"one","udid":"\(udid)","scenario":"/s.yaml","options":["--seed=1"],"booted":false}
        """
    private static let partlyDamaged: [String] = [
        ("wake.phone/1", "wake.phone/9"), ("one", ""), (udid, ""), (udid, "8D200922"), ("/s.yaml", ""),
        ("[\"--seed=1\"]", "\"--seed=1\""), ("\"--seed=1\"", "1"), ("\"options\"", "\"option\""),
        ("false", "\"no\""), ("false", "false,\"begun\":1"),
    ].map { (part: (String, String)) in whole.replacing(part.0, with: part.1) }

    @Test("A phone has the name of its folder, whatever its settings call it")
    func renamed() throws {
        let place = try Place()
        #expect(try place.folder.readSettings()?.name == nil)
        #expect(!place.folder.isThere)
        try place.folder.write(
            .init(
                name: "one",
                udid: Self.udid,
                scenario: "/s.yaml",
                options: ["--seed=1"],
                isBooted: true,
                hasBegun: true
            )
        )
        #expect(place.folder.isThere)
        let other = PhoneFolder(path: place.phones.appending(path: "two").path)
        try FileManager.default.moveItem(atPath: place.folder.path, toPath: other.path)
        let read = try #require(try other.readSettings())
        #expect(read.name == "two" && read.udid == Self.udid)
        #expect(read.scenario == "/s.yaml" && read.options == ["--seed=1"])
        #expect(read.isBooted && read.hasBegun && read.damage == nil)
    }

    @Test(
        "Settings that are damaged say which phone is to be deleted",
        arguments: ["", "{}", "pipe", "folder", "link", String(whole.dropLast(40))] + partlyDamaged
    )
    func damaged(_ content: String) throws {
        let place = try Place()
        let file = place.folder.path + "/phone.json"
        switch content {
        case "pipe": #expect(unsafe mkfifo(file, 0o600) == 0)
        case "folder": try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: true)
        case "link": try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "none")
        default: try place.write("phone.json", content)
        }
        let failure = #expect(throws: CommandFailure.self) { try place.folder.readSettings() }
        #expect(failure?.message.hasPrefix(file + ": ") == true, "\(String(describing: failure))")
        #expect(failure?.hint == "remove it with 'wakebench phone delete one', and make it anew")
        #expect(place.folder.isThere)
    }

    @Test("A folder that cannot be made for a snapshot is told with what mends it, not with another folder of phones")
    func noFolder() throws {
        let place = try Place()
        let path = place.folder.path
        try FileManager.default.removeItem(atPath: path)
        try Data().write(to: URL(fileURLWithPath: path))
        let failure = #expect(throws: CommandFailure.self) { try place.folder.saveSnapshot("good", place.options) }
        #expect(failure?.message == "\(path)/snapshots: mkdir: Not a directory")
        #expect(failure?.hint == "see to the space and the rights there")
    }

    @Test("Settings of an earlier version, which do not say whether the run has begun, are whole")
    func withoutBegun() throws {
        let place = try Place(["phone.json": Self.whole])
        let read = try #require(try place.folder.readSettings())
        #expect(read.udid == Self.udid && read.options == ["--seed=1"] && !read.hasBegun)
    }

    @Test("What stops the run of a phone is told with a remedy that a phone has")
    func remedies() throws {
        let erase = "begin anew with 'wakebench phone erase one'"
        let one = PhoneFolder(path: "/nowhere/one")
        func hint(_ kind: JournalError.Kind) -> String? {
            Daemon.failure(CommandFailure(JournalError(kind, path: "/run/journal.sqlite")), of: one).hint
        }
        for kind: JournalError.Kind in [.damaged("row 3"), .displaced, .missing, .exists, .notAJournal] {
            #expect(hint(kind) == erase, "\(kind)")
        }
        #expect(hint(.full) == "free some space there")
        let log = CommandFailure(.environment, ReportError(.full, path: "/run/decisions.ndjson"))
        #expect(Daemon.failure(log, of: one).hint == "free some space there")
        #expect(hint(.inUse(pid: 7)) == "stop that run first")
        #expect(hint(.system("no")) == "check the folder's permissions and disk")
        let other = CommandFailure(.invalidFile, "phone.yaml:3: unknown key", hint: "expected 'apps'")
        #expect(Daemon.failure(other, of: one) == other)
        let place = try Place(["snapshots/first/apps.ndjson": "", "snapshots/second/apps.ndjson": ""])
        #expect(place.folder.wayBack == "\(erase), or go back with 'wakebench phone snapshot load NAME -p one'")
    }
}
