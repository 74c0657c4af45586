import Glibc

/// Reads a file line by line, in large pieces. A last line without an end is left out: it was cut.
@safe
struct LineReader: ~Copyable {
    private let path: String
    private let descriptor: Int32
    /// Bytes of the file from `offset` on; the first `position` of them have been given out.
    private var piece: [UInt8] = []
    private var position = 0
    /// Where the next line starts in the file.
    private(set) var offset = 0
    private static let pieceSize = 256 << 10
    /// A line longer than this is nothing that we wrote.
    private static let longest = 8 << 20

    /// - Parameter start: where the first line starts.
    init(_ path: String, from start: Int = 0) throws(ReportError) {
        self.path = path
        // A pipe in place of a log must not make its reader wait for a writer.
        let opened = unsafe open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard opened >= 0 else {
            // A file stands where its folder was looked for.
            throw errno == ENOTDIR ? ReportError(.missing, path: path) : ReportError.last("open", path: path)
        }
        var status = stat()
        guard unsafe fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            let isPipe = status.st_mode & S_IFMT == S_IFIFO
            close(opened)
            throw ReportError(.foreign(isPipe ? "a pipe" : "no ordinary file"), path: path)
        }
        guard status.st_size >= start, lseek(opened, start, SEEK_SET) == start else {
            close(opened)
            throw ReportError(.foreign("shorter than the journal says"), path: path)
        }
        descriptor = opened
        offset = start
    }

    deinit {
        close(descriptor)
    }

    /// How many bytes the file has.
    var size: Int {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }

    /// The next line without its end; nil after the last.
    mutating func next() throws(ReportError) -> [UInt8]? {
        var searched = position
        while true {
            if let end = newline(from: searched) {
                defer {
                    offset += end + 1 - position
                    position = end + 1
                }
                return Array(piece[position..<end])
            }
            searched = piece.count - position
            guard searched < Self.longest else {
                throw ReportError(.foreign("a line of more than 8 MiB"), path: path)
            }
            guard try fill() else { return nil }
        }
    }

    private func newline(from start: Int) -> Int? {
        unsafe piece.withUnsafeBytes { bytes in
            guard start < bytes.count, let base = bytes.baseAddress,
                let found = unsafe memchr(base + start, 0x0a, bytes.count - start)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }

    /// Drops what was given out and reads on; false at the end of the file.
    private mutating func fill() throws(ReportError) -> Bool {
        let kept = piece.count - position
        let size = max(Self.pieceSize, kept)
        var failure: ReportError?
        var read = 0
        let next = unsafe [UInt8](unsafeUninitializedCapacity: kept + size) { bytes, count in
            let base = UnsafeMutableRawPointer(bytes.baseAddress!)
            unsafe piece.withUnsafeBytes { old in
                if kept > 0 { unsafe base.copyMemory(from: old.baseAddress! + position, byteCount: kept) }
            }
            repeat { read = unsafe Glibc.read(descriptor, base + kept, size) } while read < 0 && errno == EINTR
            if read < 0 { failure = ReportError.last("read", path: path) }
            count = kept + max(0, read)
        }
        if let failure { throw failure }
        piece = next
        position = 0
        return read > 0
    }
}

extension [UInt8] {
    /// Whether the other bytes occur in these, one after the other.
    func contains(_ other: [UInt8]) -> Bool { firstPlace(of: other) != nil }

    /// Where the other bytes occur first in these, one after the other; nil where they do not.
    func firstPlace(of other: [UInt8]) -> Int? {
        guard let first = other.first, count >= other.count else { return other.isEmpty ? 0 : nil }
        return unsafe withUnsafeBytes { (all) -> Int? in
            unsafe other.withUnsafeBytes { (part) -> Int? in
                guard let base = all.baseAddress, let wanted = part.baseAddress else { return nil }
                let last = all.count - part.count
                var start = 0
                while start <= last, let found = unsafe memchr(base + start, Int32(first), last - start + 1) {
                    let place = unsafe UnsafeRawPointer(found) - base
                    if unsafe memcmp(found, wanted, part.count) == 0 { return place }
                    start = place + 1
                }
                return nil
            }
        }
    }
}
