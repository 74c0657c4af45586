import Glibc

/// The kernel, or a library that speaks for it, refused a call.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call's name.
    package var call: String
    /// The error number as errno has it.
    package var errno: Int32

    package init(call: String, errno: Int32) {
        self.call = call
        self.errno = errno
    }

    /// One line, such as `open: No such file or directory`.
    package var description: String {
        "\(call): \(unsafe String(cString: strerror(errno)))"
    }

    /// Turns systemd's negative errno into an error, and gives back what is not one.
    @discardableResult
    package static func check(_ result: Int32, _ call: String) throws(SystemError) -> Int32 {
        if result < 0 { throw SystemError(call: call, errno: -result) }
        return result
    }
}

/// Repeats a call that a signal interrupted; -1 becomes an error with the call's name.
@discardableResult
package func retrying<Result: SignedInteger>(
    _ call: String,
    _ body: () -> Result
) throws(SystemError) -> Result {
    while true {
        let result = body()
        if result != -1 { return result }
        let code = errno
        if code != EINTR { throw SystemError(call: call, errno: code) }
    }
}
