import Glibc
import WakeBundles
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
    }

    /// Where its run writes to.
    package var run: String { path + "/run" }
    private var settingsFile: String { path + "/phone.json" }
    private var joinedFile: String { path + "/apps.ndjson" }
    private var snapshots: String { path + "/snapshots" }
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

    /// Nil when the folder is none of a phone.
    func readSettings() throws(CommandFailure) -> Settings? {
        guard let text = try Self.read(settingsFile) else { return nil }
        guard let value = JSONValue(parsing: text), let name = value["name"]?.string, let udid = value["udid"]?.string,
            let scenario = value["scenario"]?.string, let booted = value["booted"]?.bool
        else { throw damaged(settingsFile) }
        return Settings(
            name: name,
            udid: udid,
            scenario: scenario,
            options: value["options"]?.array.compactMap(\.string) ?? [],
            isBooted: booted
        )
    }

    func write(_ settings: Settings) throws(CommandFailure) {
        var writer = JSONWriter()
        writer.openObject()
        writer.key("schema")
        writer.string("wake.phone/1")
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
        writer.closeObject()
        try Self.replace(settingsFile, by: writer.bytes + [0x0a])
    }

    private func damaged(_ file: String) -> CommandFailure {
        CommandFailure(.invalidFile, "\(file): not what wakebench wrote", hint: "delete the phone and make it anew")
    }

    // MARK: Apps that joined

    /// The entries of apps that have joined, oldest first. One that was cut off as it was written was never taken in.
    func readJoined() throws(CommandFailure) -> [JSONValue] {
        guard let text = try Self.read(joinedFile) else { return [] }
        var entries: [JSONValue] = []
        for line in text.split(separator: 0x0a) {
            if let entry = JSONValue(parsing: Array(line)) { entries.append(entry) }
        }
        return entries
    }

    /// Keeps the entries of all apps that have joined.
    func writeJoined(_ entries: [JSONValue]) throws(CommandFailure) {
        try Self.replace(joinedFile, by: entries.flatMap { $0.encoded + [0x0a] })
    }

    // MARK: Copies of the phone

    /// Removes the run and what has joined: the phone is as it was made.
    func erase() throws(CommandFailure) {
        try Self.remove(run)
        unsafe unlink(joinedFile)
    }

    func saveSnapshot(_ name: String) throws(CommandFailure) {
        try RunFolder.make(snapshots)
        let place = snapshots + "/" + name
        try Self.remove(place)
        try copyState(to: place + ".new")
        guard unsafe rename(place + ".new", place) == 0 else {
            throw CommandFailure(.environment, SystemError(last: "rename", subject: place).description)
        }
    }

    func loadSnapshot(_ name: String) throws(CommandFailure) {
        let place = snapshots + "/" + name
        guard snapshotNames.contains(name) else {
            throw CommandFailure(.notFound, "no snapshot '\(name)'", hint: "it has \(listed(snapshotNames))")
        }
        try erase()
        try PhoneFolder(path: place).copyState(to: path)
    }

    func removeSnapshot(_ name: String) throws(CommandFailure) {
        guard snapshotNames.contains(name) else {
            throw CommandFailure(.notFound, "no snapshot '\(name)'", hint: "it has \(listed(snapshotNames))")
        }
        try Self.remove(snapshots + "/" + name)
    }

    /// In the order of their names.
    var snapshotNames: [String] { FolderTree.names(in: snapshots).filter { !$0.hasSuffix(".new") } }

    private func listed(_ names: [String]) -> String { names.isEmpty ? "none" : names.joined(separator: ", ") }

    /// Copies the run and what has joined to another folder.
    func copyState(to other: String) throws(CommandFailure) {
        try Self.remove(other + "/run")
        try RunFolder.make(other)
        if unsafe access(run, F_OK) == 0 { try Self.copy(run, to: other + "/run") }
        if let text = try Self.read(joinedFile) { try Self.replace(PhoneFolder(path: other).joinedFile, by: text) }
    }

    // MARK: Files

    static func remove(_ path: String) throws(CommandFailure) {
        do throws(FolderTree.Failure) { try FolderTree.remove(path) } catch { throw CommandFailure(error) }
    }

    private static func copy(_ path: String, to other: String) throws(CommandFailure) {
        do throws(FolderTree.Failure) { try FolderTree.copy(path, to: other) } catch { throw CommandFailure(error) }
    }

    private static func read(_ path: String) throws(CommandFailure) -> [UInt8]? {
        do throws(SystemError) {
            let file = try Descriptor.open(path, O_RDONLY | O_NOFOLLOW)
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while let count = try file.read(into: &buffer), count > 0 { bytes += buffer[..<count] }
            return bytes
        } catch {
            if error.code == ENOENT { return nil }
            throw CommandFailure(.environment, error.description)
        }
    }

    /// Whoever reads the file finds it whole, as it was or as it is.
    static func replace(_ path: String, by bytes: [UInt8]) throws(CommandFailure) {
        let unnamed = path + ".new"
        do throws(ReportError) {
            let file = try LogFile(creating: unnamed)
            try file.write(bytes)
        } catch {
            throw CommandFailure(.environment, error)
        }
        guard unsafe rename(unnamed, path) == 0 else {
            throw CommandFailure(.environment, SystemError(last: "rename", subject: path).description)
        }
    }
}

extension CommandFailure {
    fileprivate init(_ failure: FolderTree.Failure) { self.init(.environment, "\(failure.path): \(failure.reason)") }
}
