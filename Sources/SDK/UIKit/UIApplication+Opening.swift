import Foundation
import WakeClient

/// What the app has fetched.
public enum UIBackgroundFetchResult: UInt, Sendable {
    /// There was something new.
    case newData = 0
    /// There was nothing new.
    case noData = 1
    /// It could not be fetched.
    case failed = 2
}

/// What gives an activity's state back to objects of the app.
@preconcurrency
@MainActor
public protocol UIUserActivityRestoring: NSObjectProtocol {
    /// Gives an object its part of an activity.
    func restoreUserActivityState(_ activity: NSUserActivity)
}

extension UIApplication {
    /// A key of the options of a URL that the app is to open.
    public struct OpenURLOptionsKey: RawRepresentable, Hashable, Sendable {
        /// The text behind the key.
        public let rawValue: String

        /// A key from its text.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The app that asked.
        public static let sourceApplication = Self(rawValue: "UIApplicationOpenURLOptionsSourceApplicationKey")
        /// What it gave along.
        public static let annotation = Self(rawValue: "UIApplicationOpenURLOptionsAnnotationKey")
        /// Whether the document is to be used where it is.
        public static let openInPlace = Self(rawValue: "UIApplicationOpenURLOptionsOpenInPlaceKey")
    }

    /// A key of the options of a URL that another app is to open.
    public struct OpenExternalURLOptionsKey: RawRepresentable, Hashable, Sendable {
        /// The text behind the key.
        public let rawValue: String

        /// A key from its text.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Only an app that the user installed for such links may open it.
        public static let universalLinksOnly = Self(rawValue: "UIApplicationOpenURLOptionUniversalLinksOnly")
    }

    /// The URL of the app's page in Settings, which nothing opens here.
    nonisolated public static let openSettingsURLString = "app-settings:"

    /// Opens nothing: there is no other app to open a URL with, which is said once on stderr.
    ///
    /// The handler is called on the main queue with false.
    @preconcurrency
    public func open(
        _ url: URL,
        options: [UIApplication.OpenExternalURLOptionsKey: Any] = [:],
        completionHandler completion: (@MainActor @Sendable (Bool) -> Void)? = nil
    ) {
        notDecided("UIApplication.open: the phone has no other app, nothing is opened")
        DispatchQueue.main.async { completion?(false) }
    }

    /// Opens nothing, and says so once on stderr: false.
    public func open(_ url: URL, options: [UIApplication.OpenExternalURLOptionsKey: Any] = [:]) async -> Bool {
        notDecided("UIApplication.open: the phone has no other app, nothing is opened")
        return false
    }

    /// Whether another app can open the URL: there is none.
    public func canOpenURL(_ url: URL) -> Bool { false }
}
