import Foundation
import Glibc

/// What an app's processes have set in UserDefaults, each value written down before the set returns.
///
/// A file of lines that are only appended: the format's number, which the oldest files do not have, and one for each set: the sum
/// of a binary property list in hexadecimal, a space, and the list in base64. It has `key`, `value` unless that was removed, and
/// `suite` unless it is the app's own. A line feed stands before and after each, so that one that its process did not finish is
/// known, and passed over. Several processes may use the file at once. It outlives them, not the machine.
struct DefaultsLog {
    /// What a value stands under.
    struct Name: Hashable {
        /// Nil for the app's own.
        var suite: String?
        var key: String
    }

    /// A log that cannot be used: its path, and why.
    struct Failure: Error {
        var message: String
    }

    let path: String
    /// The lines that were written whole, and cannot be read any more.
    private(set) var damaged = 0
    /// Why nothing is written to a file of another format.
    private var refusal: Failure?
    /// The latest line of each name.
    private var latest: [Name: [UInt8]] = [:]
    /// The bytes of those.
    private var live = 0
    /// The bytes of the file, as far as this process knows.
    private var length = 0
    /// Which file it is that has so many; 0 for none.
    private var inode: UInt = 0
    /// The size from which on the file is worth writing anew.
    private var worthwhile = DefaultsLog.smallest

    private static let format = "wake.defaults/1"
    /// What formats begin with.
    private static let formats = "wake.defaults/"

    /// The least size of a file that is worth writing anew.
    private static let smallest = 65_536
    /// From how many bytes on a list may be nested deeper than is read back, which about 500 levels are.
    private static let deep = 1_024
    /// How many times larger than its latest lines a file may grow.
    private static let growth = 4

    /// - Parameter path: where the file is, or is made with the first value.
    init(path: String) { self.path = path }

    // MARK: Reading

    /// What the file holds: the latest value of each name, nil where it was removed.
    ///
    /// - Throws: ``Failure`` when there is a file that cannot be read.
    mutating func read() throws(Failure) -> [(name: Name, value: Any?)] {
        guard unsafe access(path, F_OK) == 0 else { return [] }
        let file = try open(O_RDONLY, lock: LOCK_SH)
        defer { close(file) }
        return Array(try read(file).values)
    }

    /// What the file holds, where other processes have written to it since this one read it; nothing elsewhere.
    ///
    /// - Throws: ``Failure`` when there is a file that cannot be read.
    mutating func readChanged() throws(Failure) -> [(name: Name, value: Any?)] {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return [] }
        return status.st_ino == inode && Int(status.st_size) == length ? [] : try read()
    }

    /// - Returns: what it holds.
    @discardableResult
    private mutating func read(_ file: Int32) throws(Failure) -> [Name: (name: Name, value: Any?)] {
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: false)
        let bytes: Data
        do { bytes = try handle.readToEnd() ?? Data() } catch { throw Failure(message: "\(path): \(error)") }
        let lines = [UInt8](bytes).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        try checkFormat(lines[0])
        var status = stat()
        inode = unsafe fstat(file, &status) == 0 ? status.st_ino : 0
        (latest, live, length, damaged) = ([:], 0, bytes.count, 0)
        var values: [Name: (name: Name, value: Any?)] = [:]
        for (number, line) in lines.enumerated() where !line.isEmpty && !line.elementsEqual(Self.format.utf8) {
            let line = [UInt8](line)
            if let found = Self.parsed(line) {
                note(line, as: found.name)
                values[found.name] = found
            } else if number + 1 < lines.count, lines[number + 1].isEmpty {
                damaged += 1
            }
        }
        return values
    }

    private mutating func checkFormat(_ line: ArraySlice<UInt8>) throws(Failure) {
        guard line.starts(with: Self.formats.utf8), !line.elementsEqual(Self.format.utf8) else { return }
        let found = String(decoding: line.prefix(32), as: UTF8.self)
        let refusal = Failure(
            message: "\(path): it is \(found), and this version reads \(Self.format) (remove it to begin anew)"
        )
        self.refusal = refusal
        throw refusal
    }

    private mutating func note(_ line: [UInt8], as name: Name) {
        live += line.count + 2 - (latest.updateValue(line, forKey: name).map { $0.count + 2 } ?? 0)
    }

    private static func parsed(_ line: [UInt8]) -> (name: Name, value: Any?)? {
        let parts = line.split(separator: UInt8(ascii: " "))
        guard parts.count == 2, let bytes = Data(base64Encoded: Data(parts[1])),
            parts[0].elementsEqual(sum(bytes).utf8),
            let found = try? unsafe PropertyListSerialization.propertyList(from: bytes, format: nil),
            let list = found as? [String: Any], let key = list["key"] as? String
        else { return nil }
        return (Name(suite: list["suite"] as? String, key: key), list["value"])
    }

    // MARK: Writing

    /// Writes a value down, or that there is none any more.
    ///
    /// - Throws: ``Failure`` when it cannot be written, or could not be read back; the value ends with the process then.
    mutating func append(_ value: Any?, as name: Name) throws(Failure) {
        var list: [String: Any] = ["key": name.key]
        list["suite"] = name.suite
        list["value"] = value
        let bytes: Data
        do { bytes = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0) } catch {
            throw Failure(message: "\(name.key): no property list")
        }
        let line = Self.sum(bytes).utf8 + [UInt8(ascii: " ")] + bytes.base64EncodedData()
        guard bytes.count < Self.deep || Self.parsed(line) != nil else {
            throw Failure(message: "\(name.key): nested too deeply to be read back")
        }
        length += try append(line)
        note(line, as: name)
        guard isToBeWrittenAnew else { return }
        // The value is written down in any case.
        do throws(Failure) { try writeAnew() } catch { worthwhile = 2 * length }
    }

    private var isToBeWrittenAnew: Bool { length > worthwhile && length > Self.growth * live }

    /// - Returns: how many bytes were written.
    private func append(_ line: [UInt8]) throws(Failure) -> Int {
        if let refusal { throw refusal }
        let file = try open(O_WRONLY | O_APPEND | O_CREAT, lock: LOCK_SH)
        defer { close(file) }
        // Two processes that begin the file at once both write its format: it is none of the values.
        let begins = lseek(file, 0, SEEK_END) == 0 ? Self.head : []
        let bytes = begins + Self.framed(line)
        try write(bytes, to: file)
        return bytes.count
    }

    private static let head = Array("\(format)\n".utf8)
    /// A line that another process did not finish must not become part of this one.
    private static func framed(_ line: [UInt8]) -> [UInt8] { [UInt8(ascii: "\n")] + line + [UInt8(ascii: "\n")] }

    /// Puts a file of the latest lines alone in the place of the present one.
    private mutating func writeAnew() throws(Failure) {
        let old = try open(O_RDONLY, lock: LOCK_EX)
        defer { close(old) }
        // Other processes may have set values, too, or have written it anew meanwhile.
        try read(old)
        guard isToBeWrittenAnew else { return }
        let new = path + ".new"
        // Of a process that ended meanwhile, or a pipe, which would let the opening wait.
        unsafe unlink(new)
        let file = unsafe Glibc.open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure(new) }
        defer { close(file) }
        do throws(Failure) {
            try write(latest.values.reduce(into: Self.head) { $0 += Self.framed($1) }, to: file)
            guard unsafe rename(new, path) == 0 else { throw failure(new) }
        } catch {
            unsafe unlink(new)
            throw error
        }
        length = Self.head.count + live
    }

    /// Opens and locks the file that the path leads to, also where another process puts a new one in its place meanwhile. What is
    /// no file is refused, and a pipe is not waited for.
    private func open(_ flags: Int32, lock: Int32) throws(Failure) -> Int32 {
        while true {
            if let found = Self.obstacle(at: path) {
                throw Failure(message: "\(path): it is \(found), and no file (remove it to begin anew)")
            }
            let file = unsafe Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            guard file >= 0 else { throw failure(path) }
            while flock(file, lock) != 0 {
                guard errno == EINTR else {
                    defer { close(file) }
                    throw failure(path)
                }
            }
            var status = stat()
            if unsafe fstat(file, &status) != 0 || status.st_nlink > 0 { return file }
            close(file)
        }
    }

    /// What stands at a path and is no file.
    static func obstacle(at path: String) -> String? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        return switch status.st_mode & S_IFMT {
        case S_IFREG: nil
        case S_IFDIR: "a folder"
        case S_IFLNK: "a link"
        case S_IFIFO: "a pipe"
        case S_IFSOCK: "a socket"
        default: "a device"
        }
    }

    private func write(_ bytes: [UInt8], to file: Int32) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
            if written < 0, errno != EINTR { throw failure(path) }
            rest = rest.dropFirst(max(0, written))
        }
    }

    private func failure(_ path: String) -> Failure {
        Failure(message: "\(path): \(unsafe String(cString: strerror(errno)))")
    }

    /// FNV-1a, of 64 bits: enough to tell a line that is not whole.
    private static func sum(_ bytes: Data) -> String {
        String(bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }, radix: 16)
    }
}
