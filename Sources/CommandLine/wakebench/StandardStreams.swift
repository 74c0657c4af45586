import Glibc

/// The three descriptors that a program is given, in whatever state they are.
enum StandardStreams {
    /// Puts something in the place of those that are closed, so that no file of a run takes their number. A closed stdout
    /// stays one that cannot be written.
    static func secure() {
        for (number, way) in [(Int32(0), O_RDONLY), (1, O_RDONLY), (2, O_WRONLY)] where fcntl(number, F_GETFD) < 0 {
            // The lowest number that is free is taken: this one.
            _ = unsafe open("/dev/null", way)
        }
    }

    /// Text on stderr, or what stands for it, as far as that takes it; a failure to write is no error.
    static func complain(_ text: String, on descriptor: Int32 = STDERR_FILENO) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Writes out what stdout holds back.
    ///
    /// - Returns: why it is not taken; nil when it was.
    static func outputFailure() -> String? {
        guard fflush(nil) != 0 else { return nil }
        return unsafe String(cString: strerror(errno))
    }
}
