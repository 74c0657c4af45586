import Foundation
import WakeClient

/// Loads extensions that block and name callers: none is emulated, which is said once on stderr, and none is found.
///
/// Handlers are called on a queue of the system's.
open class CXCallDirectoryManager: NSObject, @unchecked Sendable {
    /// Whether an extension is loaded.
    public enum EnabledStatus: Int, Sendable {
        /// Not known, as of each that is asked for here.
        case unknown = 0
        /// The user does not let it.
        case disabled = 1
        /// The user lets it.
        case enabled = 2
    }

    private static let instance = CXCallDirectoryManager()

    /// The one of the app.
    open class var sharedInstance: CXCallDirectoryManager { instance }

    private func refusal(_ code: CXErrorCodeCallDirectoryManagerError.Code) -> CXErrorCodeCallDirectoryManagerError {
        notDecided("CXCallDirectoryManager: call directory extensions are not emulated, and none is found")
        return CXErrorCodeCallDirectoryManagerError(code)
    }

    /// Loads an extension again: there is none.
    @preconcurrency
    open func reloadExtension(
        withIdentifier identifier: String,
        completionHandler completion: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        let error = refusal(.noExtensionFound)
        DispatchQueue.global().async { completion?(error) }
    }

    /// Loads an extension again.
    ///
    /// - Throws: ``CXErrorCodeCallDirectoryManagerError``, since there is none.
    open func reloadExtension(withIdentifier identifier: String) async throws { throw refusal(.noExtensionFound) }

    /// Tells whether an extension is loaded: there is none.
    @preconcurrency
    open func getEnabledStatusForExtension(
        withIdentifier identifier: String,
        completionHandler completion: @escaping @Sendable (EnabledStatus, (any Error)?) -> Void
    ) {
        let error = refusal(.noExtensionFound)
        DispatchQueue.global().async { completion(.unknown, error) }
    }

    /// Whether an extension is loaded.
    ///
    /// - Throws: ``CXErrorCodeCallDirectoryManagerError``, since there is none.
    open func enabledStatusForExtension(withIdentifier identifier: String) async throws -> EnabledStatus {
        throw refusal(.noExtensionFound)
    }

    /// Shows where the user lets extensions: nowhere here.
    @preconcurrency
    open func openSettings(completionHandler completion: (@Sendable ((any Error)?) -> Void)? = nil) {
        let error = refusal(.unknown)
        DispatchQueue.global().async { completion?(error) }
    }

    /// Shows where the user lets extensions.
    ///
    /// - Throws: ``CXErrorCodeCallDirectoryManagerError``, since that is nowhere here.
    open func openSettings() async throws { throw refusal(.unknown) }
}
