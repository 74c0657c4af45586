import CWakeShims
import Glibc
import WakeSystem

/// The folder in which one process keeps its transfers: a record and a body for each, what uploads send, its lock and its
/// socket. It is its owner's alone.
///
/// A record is replaced as a whole, so that whoever is killed at any moment leaves the one before or the one after.
package final class TransferSpool {
    package let path: String
    private let folder: Descriptor
    private var lock: Descriptor?

    /// The files of a transfer.
    package enum Part: String, Sendable {
        case record = "json"
        /// What was received.
        case body
        /// What is sent.
        case upload
    }

    /// Whether a text is the name of a file here: digits and a part's word, which leads nowhere else.
    package static func isName(_ text: String) -> Bool { numbered(text) != nil }

    private static func numbered(_ name: String) -> (number: UInt64, part: Part)? {
        let pieces = name.split(separator: ".", omittingEmptySubsequences: false)
        guard pieces.count == 2, let number = UInt64(pieces[0]), "\(number)" == pieces[0],
            let part = Part(rawValue: String(pieces[1]))
        else { return nil }
        return (number, part)
    }

    package static func name(_ number: UInt64, _ part: Part) -> String { "\(number).\(part.rawValue)" }

    /// Opens the folder, and makes it when it is missing.
    ///
    /// - Throws: ``TransferError`` of the kind `folder`.
    package init(_ path: String) throws(TransferError) {
        self.path = path
        let made = unsafe mkdir(path, 0o700)
        guard made == 0 || errno == EEXIST else {
            throw TransferError(.folder, SystemError(last: "mkdir", subject: path).description)
        }
        do throws(SystemError) {
            folder = try Descriptor.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        } catch { throw TransferError(.folder, error.description) }
        var status = stat()
        guard unsafe fstat(folder.number, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw TransferError(.folder, "\(path) is not this user's alone: others may use it; chmod 700 it")
        }
    }

    /// Keeps other processes away until this one ends, however it does.
    ///
    /// - Throws: ``TransferError`` of the kind `taken` when another one has the folder, else of the kind `folder`.
    package func claim() throws(TransferError) {
        do throws(SystemError) {
            let opened = try Descriptor.openFile(place("lock"), O_RDWR | O_CREAT)
            guard flock(opened.number, LOCK_EX | LOCK_NB) == 0 else {
                throw SystemError(last: "flock", subject: "\(path)/lock")
            }
            _ = ftruncate(opened.number, 0)
            _ = try opened.write(Array("\(getpid())\n".utf8))
            lock = consume opened
        } catch {
            if error.call == "flock", error.code == EWOULDBLOCK {
                throw TransferError(.taken, "another process has \(path)")
            }
            let isNoFile = [EISDIR, ELOOP, ENXIO].contains(error.code)
            let reason = isNoFile ? "it is no file; remove it" : "\(error.call): \(error.reason)"
            throw TransferError(.folder, "\(path)/lock: \(reason)")
        }
    }

    /// Whether the folder was removed: what is kept in it now is lost.
    package var isGone: Bool {
        var status = stat()
        return unsafe fstat(folder.number, &status) == 0 && status.st_nlink == 0
    }

    /// A path of a file here that is short, however long the folder's is: an address of a socket has 108 bytes.
    package func place(_ name: String) -> String { "/proc/self/fd/\(folder.number)/\(name)" }

    package func place(_ number: UInt64, _ part: Part) -> String { place(Self.name(number, part)) }
}

// Records.
extension TransferSpool {
    /// - Throws: ``SystemError``: ENOSPC, EDQUOT or EFBIG when there is no room.
    package func save(_ record: TransferRecord) throws(SystemError) {
        let name = Self.name(record.request.number, .record)
        try write(record.file, name)
    }

    private func write(_ bytes: [UInt8], _ name: String) throws(SystemError) {
        let new = place(name + ".new")
        let file = try Descriptor.openFile(new, O_WRONLY | O_CREAT | O_TRUNC)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try file.write(Array(rest)) ?? 0
            guard count > 0 else { throw SystemError("write", code: ENOSPC, subject: name) }
            rest = rest.dropFirst(count)
        }
        guard unsafe rename(new, place(name)) == 0 else { throw SystemError(last: "rename", subject: name) }
    }

    /// The highest number of a transfer that ever was here.
    package func highest() -> UInt64 {
        let text = try? readSmallFile(place("highest"), limit: 32)
        return text.flatMap { UInt64($0.prefix { $0.isNumber }) } ?? 0
    }

    package func setHighest(_ number: UInt64) throws(SystemError) { try write(Array("\(number)\n".utf8), "highest") }

    /// All records, in order of their numbers. One that is damaged is left where it is, and not told.
    package func records() throws(SystemError) -> [TransferRecord] {
        var records: [TransferRecord] = []
        for name in try names() {
            guard let (number, part) = Self.numbered(name), part == .record,
                let text = try? readSmallFile(place(name), limit: TransferBounds.longestRecord),
                let record = TransferRecord(file: Array(text.utf8)), record.request.number == number
            else { continue }
            records.append(record)
        }
        return records.sorted { $0.request.number < $1.request.number }
    }

    /// Removes uploads without a record: of submissions that were not carried out to their end.
    package func sweep(keeping records: [TransferRecord]) throws(SystemError) {
        let known = Set(records.map(\.request.number))
        for name in try names() {
            guard let (number, part) = Self.numbered(name), part == .upload, !known.contains(number) else { continue }
            remove(number, .upload)
        }
    }

    /// The transfers whose bodies are here; none of a folder that cannot be read.
    package func bodies() -> [UInt64] {
        ((try? names()) ?? []).compactMap { name in
            guard let (number, part) = Self.numbered(name), part == .body else { return nil }
            return number
        }
    }

    private func names() throws(SystemError) -> [String] {
        guard let list = unsafe opendir(place(".")) else { throw SystemError(last: "opendir", subject: path) }
        defer { unsafe closedir(list) }
        var names: [String] = []
        while let entry = unsafe readdir(list) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            names.append(name)
        }
        return names
    }

    package func remove(_ number: UInt64, _ part: Part) { unsafe unlink(place(number, part)) }
}

// Bodies.
extension TransferSpool {
    /// The size of a file; 0 when there is none.
    package func size(_ number: UInt64, _ part: Part) -> Int64 {
        var status = stat()
        return unsafe lstat(place(number, part), &status) == 0 ? Int64(status.st_size) : 0
    }

    /// A body, to write at its end.
    package func openBody(_ number: UInt64) throws(SystemError) -> Descriptor {
        try Descriptor.openFile(place(number, .body), O_WRONLY | O_CREAT)
    }

    package func openUpload(_ number: UInt64) throws(SystemError) -> Descriptor {
        try Descriptor.openFile(place(number, .upload), O_RDONLY)
    }

    package func makeUpload(_ number: UInt64) throws(SystemError) -> Descriptor {
        try Descriptor.openFile(place(number, .upload), O_WRONLY | O_CREAT | O_TRUNC)
    }

    /// Gives the body of a transfer to its successor, too.
    package func share(body number: UInt64, with successor: UInt64) throws(SystemError) {
        remove(successor, .body)
        guard unsafe link(place(number, .body), place(successor, .body)) == 0 else {
            throw SystemError(last: "link", subject: Self.name(number, .body))
        }
    }
}
