import CWakeShims
import Glibc

/// Owns a file descriptor and closes it exactly once.
package struct Descriptor: ~Copyable {
    /// The number, valid while this value lives.
    package let number: Int32

    /// Takes over an open descriptor; nobody else may close it.
    package init(owning number: Int32) {
        precondition(number >= 0, "Descriptor(owning: \(number))")
        self.number = number
    }

    deinit {
        // Linux frees the number even when close is interrupted, so it is never repeated.
        _ = Glibc.close(number)
    }

    /// Gives the number away; the caller closes it.
    package consuming func release() -> Int32 {
        let number = number
        discard self
        return number
    }

    /// Opens a file, close-on-exec.
    ///
    /// - Parameter mode: the rights of a file that is created.
    package static func open(_ path: String, _ flags: Int32, mode: UInt32 = 0o644) throws(SystemError) -> Descriptor {
        let number = repeatingInterrupted { unsafe wake_open(path, flags | O_CLOEXEC, mode) }
        guard number >= 0 else { throw SystemError(last: "open", subject: path) }
        return Descriptor(owning: number)
    }

    /// Opens an ordinary file, close-on-exec, and waits for nobody: what has taken its place is refused, and a link there is not
    /// followed.
    ///
    /// - Parameter mode: the rights of a file that is created.
    /// - Throws: ``SystemError`` with the code EISDIR for a folder, ELOOP for a link, and ENXIO for a pipe, a socket or a device.
    package static func openFile(
        _ path: String,
        _ flags: Int32,
        mode: UInt32 = 0o600
    ) throws(SystemError) -> Descriptor {
        let file = try Self.open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode: mode)
        var status = stat()
        guard unsafe fstat(file.number, &status) == 0 else { throw SystemError(last: "fstat", subject: path) }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFREG else { throw SystemError("open", code: kind == S_IFDIR ? EISDIR : ENXIO, subject: path) }
        return file
    }

    /// A second descriptor of the same open file, close-on-exec.
    package func duplicate() throws(SystemError) -> Descriptor {
        let copy = wake_duplicate(number)
        guard copy >= 0 else { throw SystemError(last: "fcntl(F_DUPFD_CLOEXEC)") }
        return Descriptor(owning: copy)
    }

    /// Writes what is left of a file to another. Where the file system can, they share what is on the disk, and each keeps it when
    /// the other is written to.
    package func copyRest(to other: borrowing Descriptor) throws(SystemError) {
        guard wake_copy_file(number, other.number) == 0 else { throw SystemError(last: "copy_file_range") }
    }

    /// Makes reads and writes return `EAGAIN` instead of waiting.
    package func makeNonBlocking() throws(SystemError) {
        guard wake_nonblocking(number) == 0 else { throw SystemError(last: "fcntl(O_NONBLOCK)") }
    }

    /// Reads what is there, at most the buffer's size.
    ///
    /// - Returns: the number of bytes, 0 at the end, nil when nothing is there yet on a non-blocking descriptor.
    package func read(into buffer: inout [UInt8]) throws(SystemError) -> Int? {
        let number = number
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            repeatingInterrupted { unsafe Glibc.read(number, bytes.baseAddress, bytes.count) }
        }
        if count >= 0 { return count }
        if errno == EAGAIN { return nil }
        throw SystemError(last: "read")
    }

    /// Writes as much as goes in.
    ///
    /// - Returns: the number of bytes, nil when nothing fits now on a non-blocking descriptor.
    package func write(_ bytes: [UInt8]) throws(SystemError) -> Int? {
        let number = number
        let count = unsafe bytes.withUnsafeBytes { bytes in
            repeatingInterrupted { unsafe Glibc.write(number, bytes.baseAddress, bytes.count) }
        }
        if count >= 0 { return count }
        if errno == EAGAIN { return nil }
        throw SystemError(last: "write")
    }
}

/// Which file it is, whatever its name: another one that takes the name is told from it.
package struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    private init(_ status: stat) {
        (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }

    /// The same in digits, lower-case letters and one dash: at most 27 of them.
    package var text: String { "\(String(device, radix: 36))-\(String(inode, radix: 36))" }

    /// What stands at a path, or a link there leads to; nil when nothing does.
    ///
    /// - Parameter followsLinks: false for a link that is meant itself.
    package init?(at path: String, followsLinks: Bool = false) {
        var status = stat()
        let code = unsafe followsLinks ? stat(path, &status) : lstat(path, &status)
        guard code == 0 else { return nil }
        self.init(status)
    }

    /// Whether what stands at a path is a socket.
    package static func isSocket(at path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    /// An open file.
    package init?(of descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }
}

/// Ends a connection whose socket another process has, too, so that closing alone would not: after what was written.
package func hangUp(_ descriptor: Int32) {
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
}

/// Closes a descriptor of something that others made on another thread: the kernel may let the close of it wait.
///
/// - Returns: how many descriptors wait to be closed.
@discardableResult
package func closeLater(_ number: Int32) -> Int { Int(wake_close_later(number)) }

/// Lets this process have as many descriptors as it may; those that it spawns have as many as it had before.
///
/// - Returns: how many that is.
@discardableResult
package func raiseDescriptorLimit() throws(SystemError) -> Int {
    let limit = wake_raise_descriptors()
    guard limit >= 0 else { throw SystemError(last: "setrlimit", subject: "RLIMIT_NOFILE") }
    return limit
}

/// Two connected stream sockets, close-on-exec and non-blocking; the caller closes both.
package func streamPair() throws(SystemError) -> (Int32, Int32) {
    var ends: [Int32] = [-1, -1]
    guard unsafe wake_stream_pair(&ends) == 0 else { throw SystemError(last: "socketpair") }
    return (ends[0], ends[1])
}

/// What waits to be read on a socket, and is left there.
package enum UnreadBytes {
    /// So many are looked at, the first of them: as many as the longest value of a characteristic has.
    package static let limit = 512

    /// The first bytes that wait on a socket; none where nothing does.
    package static func peek(at descriptor: Int32) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: limit)
        let flags = Int32(truncatingIfNeeded: MSG_PEEK) | Int32(truncatingIfNeeded: MSG_DONTWAIT)
        let count = repeatingInterrupted { unsafe recv(descriptor, &buffer, limit, flags) }
        return Array(buffer.prefix(max(0, count)))
    }
}

/// Calls again while a signal interrupts.
package func repeatingInterrupted<Number: SignedInteger>(_ call: () -> Number) -> Number {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}

/// Reads a small file, such as one of the kernel, whole, at most `limit` bytes. A pipe in its place is not waited for.
package func readSmallFile(_ path: String, limit: Int = 65_536) throws(SystemError) -> String {
    let file = try Descriptor.open(path, O_RDONLY | O_NONBLOCK)
    var buffer = [UInt8](repeating: 0, count: 4_096)
    var text: [UInt8] = []
    while text.count < limit, let count = try file.read(into: &buffer), count > 0 {
        text.append(contentsOf: buffer[..<count])
    }
    return String(decoding: text.prefix(limit), as: UTF8.self)
}
