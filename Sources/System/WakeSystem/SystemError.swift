import CWakeShims
import Glibc

/// The kernel, or a library that speaks to it, said no.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call that failed: `open`, `sd_event_add_io`.
    package var call: String
    /// The error number as in errno.h, positive.
    package var code: Int32
    /// What the call was about, such as a path; empty when the call says it all.
    package var subject: String

    package init(_ call: String, code: Int32, subject: String = "") {
        self.call = call
        self.code = code
        self.subject = subject
    }

    /// Reads errno: to be made right after the call that failed.
    package init(last call: String, subject: String = "") {
        self.init(call, code: errno, subject: subject)
    }

    /// The code in words: `Permission denied`.
    package var reason: String {
        guard let words = unsafe wake_reason(code) else { return "error \(code)" }
        return unsafe String(cString: words)
    }

    /// One line: the subject, the call and the reason.
    package var description: String {
        subject.isEmpty ? "\(call): \(reason)" : "\(subject): \(call): \(reason)"
    }
}
