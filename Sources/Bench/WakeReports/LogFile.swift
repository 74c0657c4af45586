import Glibc

/// A report cannot be written or read.
package struct ReportError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        case missing
        /// The folder of a file that is to be made.
        case noFolder
        /// A file that is to be written is a link.
        case link
        case full
        /// The system refused: the call and its errno.
        case system(String, Int32)
        /// The file is something else.
        case foreign(String)
    }

    package var kind: Kind
    package var path: String

    package init(_ kind: Kind, path: String) {
        self.kind = kind
        self.path = path
    }

    /// What is wrong with the file.
    package var complaint: String {
        switch kind {
        case .missing: "not there"
        case .noFolder: "its folder is not there"
        case .link: "a symbolic link, which is not followed"
        case .full: "no space left"
        case .system(let call, let number): "\(call): \(unsafe String(cString: strerror(number)))"
        case .foreign(let what): what
        }
    }

    /// What to do about it.
    package var remedy: String {
        switch kind {
        case .missing: "give the folder of a run"
        case .noFolder: "make the folder, or give another"
        case .link: "remove the link, or give another place"
        case .full: "free some space there, or give another place"
        case .system: "check the folder and its permissions"
        case .foreign: "give a file that wakebench wrote"
        }
    }

    /// One line that names the file and the remedy.
    package var description: String { "\(path): \(complaint); \(remedy)" }

    static func last(_ call: String, path: String) -> ReportError {
        let number = errno
        switch number {
        case ENOENT: return ReportError(.missing, path: path)
        case ENOSPC, EDQUOT, EFBIG: return ReportError(.full, path: path)
        // Every file of a run is opened without following one.
        case ELOOP: return ReportError(.foreign("a symbolic link"), path: path)
        default: return ReportError(.system(call, number), path: path)
        }
    }

    /// A file that is to be made cannot be.
    static func making(path: String) -> ReportError {
        switch errno {
        case ENOENT: ReportError(.noFolder, path: path)
        case ELOOP: ReportError(.link, path: path)
        default: .last("open", path: path)
        }
    }
}

/// A file of lines, written in large pieces. Without a path the lines stay in memory.
@safe
package final class LogFile {
    let path: String
    private let descriptor: Int32
    var line = LineBuffer()
    private let pieceSize = 128 << 10
    /// Whether only settled lines may be written.
    private var isHeld = false
    /// Bytes of `line` that are settled.
    private var settled = 0
    /// What the file is called until it is whole; nil for one that is written where it stays, or is whole.
    private var unfinished: String?

    /// Makes the file, or empties it; a link in its place is not followed.
    ///
    /// - Parameter isShared: whether others of the machine may read one that is made, as far as the umask lets them. What apps
    ///   got is their user's alone.
    package init(creating path: String, isShared: Bool = false) throws(ReportError) {
        self.path = path
        descriptor = Self.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, isShared ? 0o644 : 0o600)
        guard descriptor >= 0 else { throw ReportError.making(path: path) }
    }

    /// Makes the file whole or not at all: one that is there stays until ``finish()``. What is no regular file, one in a folder that
    /// takes no other, and one that something is mounted on are written in place; a link is not followed.
    ///
    /// - Parameter isShared: as for a file that is made; one that others may not read stays so.
    package init(replacing path: String, isShared: Bool = false) throws(ReportError) {
        self.path = path
        var found = stat()
        let isThere = unsafe lstat(path, &found) == 0
        let mode: mode_t = isShared ? 0o644 & (isThere ? found.st_mode : 0o644) : 0o600
        var number: Int32 = -1
        if !isThere || found.st_mode & S_IFMT == S_IFREG {
            let beside = path + Self.unfinishedSuffix
            number = Self.open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
            if number >= 0 { unfinished = beside }
        }
        if number < 0 { number = Self.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode) }
        descriptor = number
        guard descriptor >= 0 else { throw ReportError.making(path: path) }
    }

    /// Behind the name of a file that is not whole.
    package static let unfinishedSuffix = ".new"

    /// Everything is written: what was made beside takes its place.
    package func finish() throws(ReportError) {
        try flush()
        guard let beside = unfinished else { return }
        if unsafe rename(beside, path) == 0 {
            unfinished = nil
        } else if errno == EBUSY {
            // Something is mounted on the file. What is beside goes with this object.
            try copy(beside)
        } else {
            throw ReportError.last("rename", path: path)
        }
    }

    private func copy(_ beside: String) throws(ReportError) {
        let from = Self.open(beside, O_RDONLY | O_CLOEXEC)
        guard from >= 0 else { throw ReportError.last("open", path: beside) }
        defer { close(from) }
        let target = try LogFile(creating: path)
        var piece = [UInt8](repeating: 0, count: pieceSize)
        while true {
            let count = unsafe piece.withUnsafeMutableBytes { unsafe read(from, $0.baseAddress, $0.count) }
            if count == 0 { return }
            if count > 0 { try target.write(Array(piece[..<count])) }
            guard count > 0 || errno == EINTR else { throw ReportError.last("read", path: beside) }
        }
    }

    /// Opens the file to go on after its first `length` bytes.
    init(continuing path: String, after length: Int) throws(ReportError) {
        self.path = path
        descriptor = Self.open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ReportError.last("open", path: path) }
        guard ftruncate(descriptor, length) == 0, lseek(descriptor, 0, SEEK_END) >= 0 else {
            throw ReportError.last("truncate", path: path)
        }
    }

    /// How many bytes have been written.
    var length: Int { descriptor >= 0 ? lseek(descriptor, 0, SEEK_CUR) : 0 }

    /// Keeps everything in `line`.
    init() {
        path = ""
        descriptor = -1
    }

    deinit {
        // What a failed write left behind is lost with the file, and its error was thrown.
        if let unfinished { unsafe unlink(unfinished) } else { try? flush() }
        if descriptor >= 0 { close(descriptor) }
    }

    private static func open(_ path: String, _ flags: Int32, _ mode: mode_t = 0) -> Int32 {
        unsafe Glibc.open(path, flags | O_NOFOLLOW | O_NONBLOCK, mode)
    }

    /// Writes bytes at the end of the file.
    package func write(_ bytes: [UInt8]) throws(ReportError) {
        line.append(bytes)
        try flush()
    }

    /// Appends bytes of a file that has no lines; they are written in large pieces.
    package func append(_ bytes: [UInt8]) throws(ReportError) {
        line.append(bytes)
        if line.count >= pieceSize { try flush() }
    }

    /// Writes a text at the end of the file.
    package func write(_ text: String) throws(ReportError) { try write(Array(text.utf8)) }

    /// Waits until what was written is on the disk.
    package func sync() throws(ReportError) {
        guard fsync(descriptor) == 0 else { throw ReportError.last("fsync", path: path) }
    }

    /// Asks whether what is written here would be found: the kernel lets a file be written that has no name any more.
    ///
    /// - Throws: ``ReportError`` where the file was removed or renamed, or another has its name.
    func requireInPlace() throws(ReportError) {
        var (own, found) = (stat(), stat())
        guard descriptor >= 0, unsafe fstat(descriptor, &own) == 0 else { return }
        guard unsafe lstat(path, &found) == 0, found.st_dev == own.st_dev, found.st_ino == own.st_ino else {
            throw ReportError(.foreign("removed or replaced while the run went on"), path: path)
        }
    }

    /// A line is complete: writes when a large piece has come together.
    func endLine() throws(ReportError) {
        line.append(byte: 0x0a)
        if descriptor >= 0, !isHeld, line.count >= pieceSize { try flush() }
    }

    /// From now on only lines before the latest ``settle()`` are written: the others may never have happened.
    func hold() {
        isHeld = true
    }

    /// Whether what has come together is written with the next ``settle()``.
    var isLong: Bool { descriptor >= 0 && line.count >= pieceSize }

    /// What has come together has happened for good.
    func settle() throws(ReportError) {
        settled = line.count
        if descriptor >= 0, settled >= pieceSize { try flush() }
    }

    /// Writes what has come together, as far as it may be. What could not be written stays, for the next time.
    package func flush() throws(ReportError) {
        guard descriptor >= 0 else { return }
        let end = isHeld ? settled : line.count
        var written = 0
        defer { settled = max(0, settled - written) }
        while written < end {
            let count = unsafe line.bytes.withUnsafeBytes { bytes in
                unsafe Glibc.write(descriptor, bytes.baseAddress! + written, end - written)
            }
            if count < 0 {
                if errno == EINTR { continue }
                let error = ReportError.last("write", path: path)
                line.removeFirst(written)
                throw error
            }
            written += count
        }
        if written == line.count { line.removeAll() } else { line.removeFirst(written) }
    }
}
