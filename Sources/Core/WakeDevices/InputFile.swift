import Glibc

/// Reads the files that users give, whole and within a bound, without ever waiting for a writer.
///
/// A scenario named by mistake may be a folder, a pipe that nobody writes to, or a device whose opening does something.
/// All of them are refused in one line.
package enum InputFile {
    /// The bytes of a file.
    ///
    /// - Parameter limit: the most bytes; a larger file is refused.
    /// - Throws: ``FileError`` with line 0 when there is no such file, when it is no ordinary file, or when it is too large.
    package static func read(_ path: String, limit: Int = YAMLReader.byteLimit) throws(FileError) -> [UInt8] {
        let descriptor = try open(path)
        defer { close(descriptor) }
        guard let bytes = readAll(descriptor, limit: limit) else { throw refused(path, reason(errno)) }
        if bytes.count > limit {
            var status = stat()
            let size = unsafe fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
            throw refused(path, "\(max(bytes.count, size)) bytes", expected: "at most \(limit) bytes")
        }
        return bytes
    }

    /// A descriptor of an ordinary file, to be read and closed by the caller.
    ///
    /// - Throws: ``FileError`` with line 0 when there is no such file, or when it is no ordinary file.
    package static func open(_ path: String) throws(FileError) -> Int32 {
        if path.isEmpty || path.utf8.contains(0) { throw refused(path, "no such file") }
        // Before it is opened: opening a device may already do something.
        var status = stat()
        if unsafe stat(path, &status) == 0, let other = otherKind(status) { throw refused(path, other) }
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw refused(path, reason(errno)) }
        guard unsafe fstat(descriptor, &status) == 0 else {
            close(descriptor)
            throw refused(path, reason(errno))
        }
        if let other = otherKind(status) {
            close(descriptor)
            throw refused(path, other)
        }
        return descriptor
    }

    private static func refused(_ path: String, _ found: String, expected: String = "a readable file") -> FileError {
        FileError(file: path, line: 0, found: found, expected: expected)
    }

    /// Everything up to one byte more than the limit; nil when the system refuses.
    private static func readAll(_ descriptor: Int32, limit: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= limit {
            let count = unsafe piece.withUnsafeMutableBytes { room in
                unsafe Glibc.read(descriptor, room.baseAddress, min(room.count, limit + 1 - bytes.count))
            }
            if count < 0, errno == EINTR { continue }
            if count < 0 { return nil }
            if count == 0 { break }
            bytes += piece[..<count]
        }
        return bytes
    }

    /// What lies there in place of a file; nil for a file.
    private static func otherKind(_ status: stat) -> String? {
        switch status.st_mode & S_IFMT {
        case S_IFREG: nil
        case S_IFDIR: "a folder"
        case S_IFIFO: "a pipe"
        case S_IFSOCK: "a socket"
        default: "a device"
        }
    }

    private static func reason(_ code: Int32) -> String {
        switch code {
        case ENOENT, ENOTDIR: "no such file"
        case EACCES, EPERM: "a file that this user may not read"
        default: unsafe "it cannot be read (\(String(cString: strerror(code))))"
        }
    }
}
