import Glibc
import WakeBundles
import WakeDevices
import WakeJSON
import WakeReports
import WakeSystem

/// The folder of one emulated phone: what it is, what has joined it, and its run.
package struct PhoneFolder: Sendable {
    package let path: String

    /// What a phone is, as its folder has it.
    struct Settings {
        var name: String
        /// For whoever knows phones by such: a UUID that no other phone has.
        var udid: String
        /// The absolute path of the scenario with its apps and devices.
        var scenario: String
        /// The options of its run, as on a command line.
        var options: [String]
        /// Whether it is to run whenever the daemon does.
        var isBooted = false
        /// Whether it has begun its run since it was made, erased or brought to a snapshot: then its journal is to be there.
        var hasBegun = false
        /// Why nothing of this is known but the name; nil where it is known.
        var damage: CommandFailure?

        /// Those of a phone of which nothing but the name is known.
        static func damaged(_ name: String, _ damage: CommandFailure) -> Settings {
            Settings(name: name, udid: "", scenario: "", options: [], damage: damage)
        }
    }

    /// The folder's own: a renamed folder is a renamed phone.
    var name: String { path.split(separator: "/").last.map { String($0) } ?? path }
    /// Where its run writes to.
    package var run: String { path + "/run" }
    private var settingsFile: String { path + "/phone.json" }
    var joinedFile: String { path + "/apps.ndjson" }
    /// What names the folder of all phones where it cannot be used.
    static let option = "--state"
    /// The scenario of a phone that was made without one.
    var ownScenario: String { path + "/phone.yaml" }

    /// Whether a name can be a phone's: 1 to 64 letters, digits, dots, dashes and underscores, of which the first is none of the
    /// latter three.
    package static func isName(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard (1...64).contains(bytes.count), text != "booted", text != "all" else { return false }
        func isPlain(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: false
            }
        }
        return isPlain(bytes[0]) && bytes.allSatisfy { isPlain($0) || [0x2d, 0x2e, 0x5f].contains($0) }
    }

    // MARK: Settings

    /// Whether the folder is of a phone; its settings may be missing.
    var isThere: Bool { Self.exists(settingsFile) || isUsed }

    /// Whether it has a run, or is brought to another, or has snapshots: nobody makes another phone of it without a word.
    private var isUsed: Bool {
        [RunFolder(of: run).journal, loading, snapshots].contains(where: Self.exists)
    }

    /// Nil when it is no folder, or none of a phone.
    ///
    /// - Throws: ``CommandFailure`` where it is a phone's, and does not say what is in it, or is not this user's alone.
    func readSettings() throws(CommandFailure) -> Settings? {
        // What is not in the list of phones is not deleted as one.
        guard Self.isFolder(path) else { return nil }
        let found: [UInt8]?
        do throws(CommandFailure) { found = try Self.read(settingsFile) } catch {
            throw CommandFailure(error.code, error.message, hint: settingsRemedy, place: error.place)
        }
        guard let text = found else {
            guard isUsed else { return nil }
            throw CommandFailure(
                .wrongState,
                in: settingsFile,
                "removed since the phone was made",
                hint: "bring it back, or remove the phone with 'wakebench phone delete \(name)'"
            )
        }
        try requireOwn()
        guard let settings = parse(JSONValue(parsing: text)) else { throw damage("not what wakebench wrote") }
        return settings
    }

    /// Asks of the phone's folders what the daemon asks of its own.
    ///
    /// - Throws: ``CommandFailure`` with exit code 12 where one is another user's, or others may put anything into it.
    private func requireOwn() throws(CommandFailure) {
        for folder in [path, run, snapshots] {
            guard let found = RunFolder.attributes(of: folder) else { continue }
            guard found.st_uid == geteuid() else {
                throw CommandFailure(
                    .environment,
                    in: folder,
                    "belongs to user \(found.st_uid), not to user \(geteuid())",
                    hint: "make it yours with 'chown', or move the phone away"
                )
            }
            try RunFolder.requireUndisturbed(folder, option: Self.option)
        }
    }

    /// Nil for what is not wholly what ``write(_:)`` writes.
    private func parse(_ value: JSONValue?) -> Settings? {
        guard let value, value["schema"]?.string == Self.schema, let called = value["name"]?.string,
            Self.isName(called), let udid = value["udid"]?.string, FolderTree.isUUID(udid),
            let scenario = value["scenario"]?.string, !scenario.isEmpty, case .array(let words)? = value["options"],
            let isBooted = value["booted"]?.bool, let hasBegun = (value["begun"] ?? .bool(false)).bool
        else { return nil }
        let options = words.compactMap(\.string)
        guard options.count == words.count else { return nil }
        return Settings(
            name: name,
            udid: udid,
            scenario: scenario,
            options: options,
            isBooted: isBooted,
            hasBegun: hasBegun
        )
    }

    private static let schema = "wake.phone/1"
    private var settingsRemedy: String { "remove it with 'wakebench phone delete \(name)', and make it anew" }

    /// What is wrong with the settings.
    func damage(_ found: String) -> CommandFailure {
        CommandFailure(.invalidFile, in: settingsFile, found, hint: settingsRemedy)
    }

    func write(_ settings: Settings) throws(CommandFailure) {
        var writer = JSONWriter()
        writer.openObject()
        writer.key("schema")
        writer.string(Self.schema)
        writer.key("name")
        writer.string(settings.name)
        writer.key("udid")
        writer.string(settings.udid)
        writer.key("scenario")
        writer.string(settings.scenario)
        writer.key("options")
        writer.strings(settings.options)
        writer.key("booted")
        writer.bool(settings.isBooted)
        writer.key("begun")
        writer.bool(settings.hasBegun)
        writer.closeObject()
        try Self.replace(settingsFile, by: writer.bytes + [0x0a])
    }

    /// What to do where the run cannot be resumed.
    var wayBack: String {
        let erase = "begin anew with 'wakebench phone erase \(name)'"
        let kept = snapshotNames
        guard let first = kept.first else { return erase }
        let snapshot = kept.count == 1 ? first : "NAME"
        return "\(erase), or go back with 'wakebench phone snapshot load \(snapshot) -p \(name)'"
    }

    /// What is wrong with the scenario; where the phone's own cannot be read, with what to do about that.
    func failure(ofScenario error: FileError) -> CommandFailure {
        var failure = CommandFailure(.invalidFile, error)
        if error.file == ownScenario, error.line == 0 {
            failure.hint = "put a scenario in its place, or remove the phone with 'wakebench phone delete \(name)'"
        }
        return failure
    }

    // MARK: Apps that joined

    /// The entries of apps that have joined, a line each, oldest first. One that was cut off as it was written was never taken in.
    ///
    /// - Parameter remedy: what to do where they are damaged; nil for the remedy of a phone.
    /// - Throws: ``CommandFailure`` for a whole line that says nothing.
    func readJoined(remedy: String? = nil) throws(CommandFailure) -> [JSONValue] {
        guard let text = try joined(remedy: remedy) else { return [] }
        let lines = text.split(separator: 0x0a, omittingEmptySubsequences: false)
        var entries: [JSONValue] = []
        for (place, line) in lines.enumerated() {
            if let entry = JSONValue(parsing: Array(line)) {
                entries.append(entry)
            } else if place < lines.count - 1 {
                throw failure(ofJoined: place, "not what wakebench wrote", remedy: remedy)
            }
        }
        return entries
    }

    private func failure(ofJoined place: Int, _ found: String, remedy: String?) -> CommandFailure {
        CommandFailure(.invalidFile, at: .init(file: joinedFile, line: place + 1), found, hint: remedy ?? wayBack)
    }

    /// The scenario that the phone plays, with all that has joined it.
    ///
    /// - Parameter remedy: what to do where what has joined is damaged; nil for the remedy of a phone.
    func readScenario(_ played: PlayedFiles, remedy: String? = nil) throws(CommandFailure) -> LiveScenario {
        let joined = try readJoined(remedy: remedy)
        let live: LiveScenario
        do throws(FileError) { live = try LiveScenario(file: played.scenario, files: played.files) } catch {
            throw failure(ofScenario: error)
        }
        for (place, entry) in joined.enumerated() {
            do throws(FileError) { try live.join(entry) } catch {
                // Another file is one that the entry names.
                guard error.file == live.scenario.file else { throw CommandFailure(.invalidFile, error) }
                let found = "\(error.found), expected \(error.expected)"
                throw failure(ofJoined: place, found, remedy: remedy)
            }
        }
        return live
    }

    /// Asks whether a scenario has all apps that its run has.
    ///
    /// - Parameter remedy: what to do where one is missing; nil for the remedy of a phone.
    func requireJoined(by apps: Int, in scenario: Scenario, remedy: String? = nil) throws(CommandFailure) {
        let missing = apps - scenario.apps.count
        guard missing > 0 else { return }
        let hint = remedy ?? wayBack
        guard Self.exists(joinedFile) else {
            throw CommandFailure(.wrongState, in: joinedFile, "removed since an app joined the phone", hint: hint)
        }
        let what = missing == 1 ? "an app that joined the phone is" : "\(missing) apps that joined the phone are"
        throw CommandFailure(.invalidFile, in: joinedFile, "\(what) missing", hint: hint)
    }

    /// What the file says; nil where it is not there.
    ///
    /// - Parameter remedy: what to do where it cannot be read; nil for the remedy of a phone.
    func joined(remedy: String?) throws(CommandFailure) -> [UInt8]? {
        do throws(CommandFailure) { return try Self.read(joinedFile) } catch {
            let hint = remedy ?? wayBack
            throw CommandFailure(error.code, error.message, hint: hint, place: error.place)
        }
    }

    /// Keeps the entries of all apps that have joined.
    func writeJoined(_ entries: [JSONValue]) throws(CommandFailure) {
        try Self.replace(joinedFile, by: entries.flatMap { $0.encoded + [0x0a] })
    }

    // MARK: Files

    /// What to do where something cannot be written.
    private static let remedy = "see to the space and the rights there"
    /// The most bytes of a file that is read, unless more may be there.
    static let longestFile = 64 << 20

    /// Whether something is at a path; a link counts, also where its target is missing.
    static func exists(_ path: String) -> Bool { FileIdentity(at: path) != nil }

    /// Whether a folder, or a link to one, is at a path.
    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    static func isEmptyFolder(_ path: String) -> Bool {
        isFolder(path) && FolderTree.names(in: path).isEmpty
    }

    /// Makes a folder of a phone; one that is there is left as it is.
    static func makeFolder(_ path: String) throws(CommandFailure) {
        do throws(CommandFailure) { try RunFolder.make(path, option: option) } catch {
            // The folder of all phones is there, and another would not have this phone.
            throw CommandFailure(error.code, error.message, hint: remedy, place: error.place)
        }
    }

    static func remove(_ path: String) throws(CommandFailure) {
        do throws(FolderTree.Failure) { try FolderTree.remove(path) } catch {
            throw CommandFailure(.environment, in: error.path, error.reason, hint: remedy)
        }
    }

    static func copy(_ path: String, to other: String) throws(CommandFailure) {
        do throws(FolderTree.Failure) { try FolderTree.copy(path, to: other) } catch {
            throw CommandFailure(.environment, in: error.path, error.reason, hint: remedy)
        }
    }

    static func move(_ path: String, to other: String) throws(CommandFailure) {
        guard unsafe rename(path, other) == 0 else {
            throw CommandFailure(.environment, SystemError(last: "rename", subject: other).description, hint: remedy)
        }
    }

    /// Nil for a file that is not there.
    ///
    /// - Parameter limit: the most bytes that are read.
    static func read(_ path: String, limit: Int = PhoneFolder.longestFile) throws(CommandFailure) -> [UInt8]? {
        do throws(SystemError) {
            let file = try Descriptor.openFile(path, O_RDONLY)
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while let count = try file.read(into: &buffer), count > 0 {
                bytes += buffer[..<count]
                guard bytes.count <= limit else { throw SystemError("read", code: EFBIG) }
            }
            return bytes
        } catch {
            if error.code == ENOENT { return nil }
            throw failure(error, of: path)
        }
    }

    /// What became of a file of a phone or of a run, with exit code 12.
    ///
    /// - Parameter hint: what to do about it, unless something else is in the file's place.
    static func failure(_ error: SystemError, of path: String, hint: String? = nil) -> CommandFailure {
        let other: String
        switch error.code {
        case EISDIR: other = "a folder, and no file"
        case ENXIO: other = "a pipe, a socket or a device, and no file"
        case ELOOP: other = "a symbolic link, which is not followed"
        default: return CommandFailure(.environment, in: path, "\(error.call): \(error.reason)", hint: hint)
        }
        return CommandFailure(.environment, in: path, other, hint: "remove it, or give another folder with --out")
    }

    /// Whoever reads the file finds it whole, as it was or as it is, also when the machine loses its power.
    static func replace(_ path: String, by bytes: [UInt8]) throws(CommandFailure) {
        let unnamed = path + ".new"
        do throws(ReportError) {
            let file = try LogFile(creating: unnamed)
            try file.write(bytes)
            try file.sync()
        } catch {
            unsafe unlink(unnamed)
            throw CommandFailure(.environment, in: path, error.complaint, hint: remedy)
        }
        try move(unnamed, to: path)
    }
}
