import COpenSSL

/// OpenSSL said no.
package struct TLSError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call that failed: `SSL_CTX_use_PrivateKey`.
    package var call: String
    /// OpenSSL's words.
    package var reason: String
    /// What the call was about, such as a path; empty when the call says it all.
    package var subject: String

    package init(_ call: String, reason: String, subject: String = "") {
        self.call = call
        self.reason = reason
        self.subject = subject
    }

    /// Takes OpenSSL's errors of this thread; the first says why.
    init(last call: String, subject: String = "") {
        let code = ERR_get_error()
        let words = unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) }
        ERR_clear_error()
        self.init(call, reason: words ?? "error \(code)", subject: subject)
    }

    /// One line: the subject, the call and the reason.
    package var description: String {
        subject.isEmpty ? "\(call): \(reason)" : "\(subject): \(call): \(reason)"
    }
}
