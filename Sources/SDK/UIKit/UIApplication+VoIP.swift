import Foundation
import WakeClient

extension UIApplication {
    /// The shortest time between two calls of a keep-alive handler, in seconds.
    nonisolated public static let minimumKeepAliveTimeout: TimeInterval = 600

    /// Has the handler called in the background once in each period, for 10 seconds at most.
    ///
    /// It is for apps with the background mode `voip`, and lasts as long as the process.
    ///
    /// - Parameter timeout: The period in seconds, at least ``minimumKeepAliveTimeout``.
    /// - Returns: whether the handler will be called.
    @discardableResult
    nonisolated public func setKeepAliveTimeout(
        _ timeout: TimeInterval,
        handler keepAliveHandler: (@MainActor @Sendable () -> Void)? = nil
    ) -> Bool {
        VoIPHandlers.setKeepAlive(timeout, handler: keepAliveHandler)
    }

    /// The handler is called no more.
    nonisolated public func clearKeepAliveTimeout() {
        VoIPHandlers.clearKeepAlive()
    }
}

/// The shortest time between two calls of a keep-alive handler, in seconds.
public let UIMinimumKeepAliveTimeout: TimeInterval = UIApplication.minimumKeepAliveTimeout
