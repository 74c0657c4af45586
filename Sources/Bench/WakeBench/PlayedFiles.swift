import Glibc
import Synchronization
import WakeDevices
import WakeJSON
import WakeReports

/// The files that a run plays: its scenario, and all that it names.
///
/// They are copied into the folder `played` of the run's, so that every verb about the run works with that folder alone, wherever
/// it is then, and whatever has become of the files. A run that goes on plays the copies.
final class PlayedFiles: Sendable {
    /// A file that was read.
    private struct File {
        /// As the run calls it.
        var path: String
        var size: Int
        var digest: String
        /// Nil once it is copied, and for one that is too large to be.
        var bytes: [UInt8]?
    }

    private struct Seen {
        /// In the order in which they were read: the scenario first.
        var files: [File] = []
        var paths: Set<String> = []
        /// The folders of app bundles.
        var bundles: [String] = []
        /// The bytes of those that are to be copied.
        var size = 0
        var isClosed = false
    }

    /// Whether the run has no end of its own. Such a run goes on with its copies whatever its scenario says by then, and with what
    /// it is told later.
    let isLive: Bool
    private let seen = Mutex(Seen())
    /// What the folder has of them already; nil for a new run.
    private let copies: PlayedCopies?
    private let given: String
    private let searchFolders: [String]
    private let bound: Int

    /// The most bytes that are copied.
    static let usualBound = 64 << 20
    /// The largest Info.plist that a bundle may have.
    private static let infoBound = 1 << 20

    /// - Parameters:
    ///   - options: what the run was asked for.
    ///   - isLive: whether the run has no end of its own.
    ///   - bound: the most bytes that are copied; of files beyond it the path and the digest are kept.
    init(_ options: RunOptions, isLive: Bool = false, bound: Int = PlayedFiles.usualBound) {
        (self.isLive, self.bound) = (isLive, bound)
        (given, searchFolders) = (options.scenario, options.appFolders)
        copies = Self.copies(options, isLive: isLive)
    }

    /// What a run that broke off played; nil when there is none, or when it was of another scenario than is given.
    private static func copies(_ options: RunOptions, isLive: Bool) -> PlayedCopies? {
        let folder = RunFolder(of: options.out)
        guard !options.replaces, unsafe access(folder.journal, F_OK) == 0, let copies = try? PlayedCopies(of: folder)
        else { return nil }
        if isLive { return copies }
        let bytes = try? InputFile.read(options.scenario)
        return bytes.map(Self.digest) == copies.digest ? copies : nil
    }

    /// 64 bits in hexadecimal.
    static func digest(_ bytes: [UInt8]) -> String { String(Mixing.hash(bytes), radix: 16) }

    /// The path of the scenario, as the run calls it.
    var scenario: String { copies?.scenario ?? given }

    /// The digest of the scenario; empty before it was read.
    var digest: String { copies?.digest ?? seen.withLock { $0.files.first?.digest ?? "" } }

    // MARK: Reading

    /// What the scenario is read by. Of a new run it notes what is read, to be copied.
    var files: ScenarioFiles {
        if let copies { return copies.files(besidesThisMachine: isLive) }
        var files = ScenarioFiles(searchFolders: searchFolders)
        let here = files
        files.isFolder = { [self] path in
            guard here.isFolder(path) else { return false }
            note(bundle: path)
            return true
        }
        files.bytes = { [self] (path, limit) throws(FileError) in
            let bytes = try here.bytes(path, limit)
            note(path, bytes)
            return bytes
        }
        return files
    }

    private func note(_ path: String, _ bytes: [UInt8]) {
        seen.withLock { seen in
            guard !seen.isClosed, seen.paths.insert(path).inserted else { return }
            let isCopied = seen.size + bytes.count <= bound
            if isCopied { seen.size += bytes.count }
            seen.files.append(
                File(path: path, size: bytes.count, digest: Self.digest(bytes), bytes: isCopied ? bytes : nil)
            )
        }
    }

    /// Of a bundle what it says of its app is kept, and not its program.
    private func note(bundle path: String) {
        let isNew = seen.withLock { seen -> Bool in
            guard !seen.isClosed, !seen.bundles.contains(path) else { return false }
            seen.bundles.append(path)
            return true
        }
        let info = path + "/Info.plist"
        if isNew, let bytes = try? InputFile.read(info, limit: Self.infoBound) { note(info, bytes) }
    }

    // MARK: Copying

    /// Copies what was read into the folder of the run, unless it has that already.
    ///
    /// - Throws: ``CommandFailure`` with exit code 12 when a file cannot be written, or a link lies in its place.
    func keep(in folder: RunFolder) throws(CommandFailure) {
        guard copies == nil else { return }
        let all = seen.withLock { seen -> Seen in
            let all = seen
            seen.isClosed = true
            for place in seen.files.indices { seen.files[place].bytes = nil }
            return all
        }
        let place = try folder.makeFolder([RunFolder.playedName])
        let list = place + "/" + PlayedCopies.listName
        // Those of another run are not taken for these.
        unsafe unlink(list)
        for (number, file) in all.files.enumerated() {
            guard let bytes = file.bytes else { continue }
            let path = place + "/" + Self.name(number, file.path)
            do throws(ReportError) { try LogFile(creating: path).write(bytes) } catch {
                throw CommandFailure(.environment, error)
            }
        }
        try PhoneFolder.replace(list, by: text(of: all))
    }

    /// Which file each copy is of.
    private func text(of seen: Seen) -> [UInt8] {
        var writer = JSONWriter()
        writer.openObject()
        writer.key("schema")
        writer.string(PlayedCopies.schema)
        writer.key("scenario")
        writer.string(given)
        writer.key("search")
        writer.strings(searchFolders)
        writer.key("bundles")
        writer.strings(seen.bundles)
        writer.key("files")
        writer.openArray()
        for (number, file) in seen.files.enumerated() {
            writer.openObject()
            writer.key("path")
            writer.string(file.path)
            writer.key("size")
            writer.whole(file.size)
            writer.key("digest")
            writer.string(file.digest)
            if file.bytes != nil {
                writer.key("copy")
                writer.string(Self.name(number, file.path))
            } else {
                writer.key("original")
                writer.string(RunFolder.absolute(file.path))
            }
            writer.closeObject()
        }
        writer.closeArray()
        writer.closeObject()
        return writer.bytes + [0x0a]
    }

    /// `0-night.yaml.copy`: files of one name stay apart, and a search for scenarios finds none here.
    private static func name(_ number: Int, _ path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        // With the rest of it no longer than a name may be.
        return "\(number)-\(String(name.unicodeScalars.suffix(50))).copy"
    }
}

/// What the folder of a run has of the files that it played.
struct PlayedCopies: Sendable {
    /// The path of the scenario, as the run called it.
    let scenario: String
    /// That of the scenario.
    let digest: String
    private let searchFolders: [String]
    private let bundles: Set<String>
    /// By path, as the run called them.
    private let contents: [String: [UInt8]]

    static let schema = "wake.played/1"
    static let listName = "files.json"
    /// More than the list of the largest scenario has.
    private static let listBound = 64 << 20

    /// Reads all of them. Nil where the folder has none, such as that of an older version.
    ///
    /// - Throws: ``CommandFailure`` with exit code 11 when one is missing or another than the run played, or when one that was
    ///   too large to be copied is no longer there as it was.
    init?(of folder: RunFolder) throws(CommandFailure) {
        let list = folder.played + "/" + Self.listName
        guard unsafe access(list, F_OK) == 0 else { return nil }
        let bytes = try Self.read(list, limit: Self.listBound)
        guard let value = JSONValue(parsing: bytes), value["schema"]?.string == Self.schema,
            let scenario = value["scenario"]?.string
        else { throw Self.damaged(list) }
        var (contents, digests): ([String: [UInt8]], [String: String]) = ([:], [:])
        for entry in value["files"]?.array ?? [] {
            guard let path = entry["path"]?.string, let digest = entry["digest"]?.string else {
                throw Self.damaged(list)
            }
            if let name = entry["copy"]?.string {
                // No way out of the folder.
                guard Self.isName(name) else { throw Self.damaged(list) }
                contents[path] = try Self.copy(folder.played + "/" + name, of: path, digest)
            } else {
                contents[path] = try Self.original(entry, of: path, digest, in: folder)
            }
            digests[path] = digest
        }
        guard let digest = digests[scenario] else { throw Self.damaged(list) }
        (self.scenario, self.digest, self.contents) = (scenario, digest, contents)
        searchFolders = (value["search"]?.array ?? []).compactMap(\.string)
        bundles = Set((value["bundles"]?.array ?? []).compactMap(\.string))
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text != "." && text != ".." && !text.utf8.contains(UInt8(ascii: "/")) && !text.utf8.contains(0)
    }

    private static func copy(_ file: String, of path: String, _ digest: String) throws(CommandFailure) -> [UInt8] {
        let bytes = try read(file, limit: YAMLReader.byteLimit)
        guard PlayedFiles.digest(bytes) == digest else {
            throw CommandFailure(.invalidFile, in: file, "not what the run played as \(path)", hint: remedy)
        }
        return bytes
    }

    /// One that was too large to be copied, from where it was.
    private static func original(
        _ entry: JSONValue,
        of path: String,
        _ digest: String,
        in folder: RunFolder
    ) throws(CommandFailure) -> [UInt8] {
        let place = entry["original"]?.string ?? path
        guard let bytes = try? InputFile.read(place), PlayedFiles.digest(bytes) == digest else {
            throw CommandFailure(
                .invalidFile,
                in: path,
                "too large to be copied into \(folder.path), and no longer what the run played",
                hint: "bring its \(entry["size"]?.integer ?? 0) bytes with the digest \(digest) back to \(place)"
            )
        }
        return bytes
    }

    /// The bytes of a file of the folder. A link in its place is not followed.
    private static func read(_ path: String, limit: Int) throws(CommandFailure) -> [UInt8] {
        var status = stat()
        if unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK {
            throw CommandFailure(.invalidFile, in: path, "a symbolic link, which is not followed", hint: remedy)
        }
        do throws(FileError) { return try InputFile.read(path, limit: limit) } catch {
            throw CommandFailure(.invalidFile, in: path, error.found, hint: remedy)
        }
    }

    private static let remedy = "copy the run's folder whole"

    private static func damaged(_ list: String) -> CommandFailure {
        CommandFailure(.invalidFile, in: list, "not what wakebench wrote", hint: remedy)
    }

    /// What the scenario is read by.
    ///
    /// - Parameter besidesThisMachine: whether there is also what this machine has, for what a live run is told later.
    func files(besidesThisMachine: Bool = false) -> ScenarioFiles {
        var files = ScenarioFiles(searchFolders: searchFolders)
        let here = files
        files.isFile = { [contents] path in contents[path] != nil || besidesThisMachine && here.isFile(path) }
        files.isFolder = { [bundles] path in bundles.contains(path) || besidesThisMachine && here.isFolder(path) }
        files.bytes = { [contents] (path, limit) throws(FileError) in
            if let bytes = contents[path] { return bytes }
            return try here.bytes(path, limit)
        }
        return files
    }
}
