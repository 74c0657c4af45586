import Glibc

/// The last lines of what an app printed.
enum LogTail {
    private static let most = 4_096

    /// At most so many lines, each at most 200 characters; none when the file cannot be read.
    static func lines(_ path: String, atMost count: Int) -> [String] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return [] }
        let start = max(0, Int(status.st_size) - most)
        var bytes = [UInt8](repeating: 0, count: most)
        let read = unsafe pread(descriptor, &bytes, most, start)
        guard read > 0 else { return [] }
        var lines = String(decoding: bytes.prefix(read), as: UTF8.self).split(whereSeparator: \.isNewline)
        // The first may have been cut.
        if start > 0, lines.count > 1 { lines.removeFirst() }
        return lines.suffix(count).map { String($0.prefix(200)) }
    }
}
