import CSystemd
import Glibc

/// What systemd, or another that speaks its protocol, is told of this process and gives it (sd_notify(3), sd_listen_fds(3)).
/// Without one nothing happens.
package enum ServiceManager {
    /// Tells that the service is ready, and what it does in one line.
    package static func isReady(_ status: String) { notify("READY=1\nSTATUS=\(status)") }

    package static func says(_ status: String) { notify("STATUS=\(status)") }

    package static func isStopping() { notify("STOPPING=1") }

    private static func notify(_ text: String) { _ = unsafe sd_notify(0, text) }

    /// The listening Unix socket that was handed over; nil when none was. To be asked once: children do not see it.
    ///
    /// - Throws: ``SystemError`` when what was handed over is something else.
    package static func activatedSocket() throws(SystemError) -> Descriptor? {
        let count = sd_listen_fds(1)
        guard count >= 0 else { throw SystemError("sd_listen_fds", code: -count) }
        guard count > 0 else { return nil }
        let number = Int32(SD_LISTEN_FDS_START)
        guard count == 1, sd_is_socket_unix(number, Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0 else {
            throw SystemError("sd_listen_fds", code: EINVAL, subject: "one listening Unix stream socket is expected")
        }
        let socket = Descriptor(owning: number)
        try socket.makeNonBlocking()
        return socket
    }
}

extension EventLoop {
    /// Tells the service manager again and again that the loop still turns, where it wants to know (WatchdogSec=).
    ///
    /// - Returns: whether it wants to.
    @discardableResult
    package func feedWatchdog() throws(SystemError) -> Bool {
        let code = unsafe sd_event_set_watchdog(handle, 1)
        guard code >= 0 else { throw SystemError("sd_event_set_watchdog", code: -code) }
        return code > 0
    }
}
