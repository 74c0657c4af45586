import CSystemd
import Glibc

/// A loop within another, which waits for all that the inner one has by one descriptor.
extension EventLoop {
    /// Readable when something of the loop is ready, once ``prepare()`` has been called.
    package var descriptor: Int32 { unsafe sd_event_get_fd(handle) }

    /// Handles all that is ready, at most ``longestTurn`` handlers.
    package func runReady() throws(SystemError) {
        try leave()
        for _ in 0..<Self.longestTurn where try !runOnce(timeout: 0) { return }
    }

    /// Gets ready to be waited for by the descriptor. What was ready meanwhile has been handled.
    ///
    /// - Returns: whether something was, so that the owner may have to do something.
    package func prepare() throws(SystemError) -> Bool {
        try leave()
        let code = unsafe sd_event_prepare(handle)
        guard code >= 0 else { throw SystemError("sd_event_prepare", code: -code) }
        if code == 0 { return false }
        try dispatch()
        return true
    }

    /// Waits no more by the descriptor; what is ready is handled.
    private func leave() throws(SystemError) {
        guard unsafe sd_event_get_state(handle) == Int32(SD_EVENT_ARMED) else { return }
        let code = unsafe sd_event_wait(handle, 0)
        guard code >= 0 else { throw SystemError("sd_event_wait", code: -code) }
        if code > 0 { try dispatch() }
    }

    private func dispatch() throws(SystemError) {
        let code = unsafe sd_event_dispatch(handle)
        guard code >= 0 || code == -ESTALE else { throw SystemError("sd_event_dispatch", code: -code) }
    }
}
