import Foundation

/// Names one background task.
public struct UIBackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
    /// The number behind the name.
    public let rawValue: Int

    /// A name from its number.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// No task.
    public static let invalid = UIBackgroundTaskIdentifier(rawValue: 0)
}

/// Whether the app may refresh itself in the background.
public enum UIBackgroundRefreshStatus: Int, Sendable {
    /// Not on this device or by policy.
    case restricted = 0
    /// Switched off by the user.
    case denied = 1
    /// Allowed.
    case available = 2
}

extension UIApplication {
    /// Where an app stands while it runs.
    public enum State: Int, Sendable {
        /// In the foreground and receiving events.
        case active = 0
        /// In the foreground without events.
        case inactive = 1
        /// In the background.
        case background = 2
    }

    /// A key of the launch options, which are nil in an app with a scene manifest (SCN-1).
    ///
    /// Those of Bluetooth and location are deprecated with iOS 26.
    public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
        /// The text behind the key.
        public let rawValue: String

        /// A key from its text.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Restore identifiers of central managers, an array of strings.
        public static let bluetoothCentrals = Self(rawValue: "UIApplicationLaunchOptionsBluetoothCentralsKey")
        /// Restore identifiers of peripheral managers, an array of strings.
        public static let bluetoothPeripherals = Self(rawValue: "UIApplicationLaunchOptionsBluetoothPeripheralsKey")
        /// Launched for a location event.
        public static let location = Self(rawValue: "UIApplicationLaunchOptionsLocationKey")
        /// Launched for a remote notification: its payload.
        public static let remoteNotification = Self(rawValue: "UIApplicationLaunchOptionsRemoteNotificationKey")
        /// Launched to open a URL.
        public static let url = Self(rawValue: "UIApplicationLaunchOptionsURLKey")
        /// The app that asked for the launch.
        public static let sourceApplication = Self(rawValue: "UIApplicationLaunchOptionsSourceApplicationKey")
    }

    /// The app entered the background.
    nonisolated public static let didEnterBackgroundNotification = Notification.Name(
        "UIApplicationDidEnterBackgroundNotification"
    )
    /// The app is about to enter the foreground.
    nonisolated public static let willEnterForegroundNotification = Notification.Name(
        "UIApplicationWillEnterForegroundNotification"
    )
    /// The launch is finished.
    nonisolated public static let didFinishLaunchingNotification = Notification.Name(
        "UIApplicationDidFinishLaunchingNotification"
    )
    /// The app became active.
    nonisolated public static let didBecomeActiveNotification = Notification.Name(
        "UIApplicationDidBecomeActiveNotification"
    )
    /// The app is about to stop being active.
    nonisolated public static let willResignActiveNotification = Notification.Name(
        "UIApplicationWillResignActiveNotification"
    )
    /// Memory is short.
    nonisolated public static let didReceiveMemoryWarningNotification = Notification.Name(
        "UIApplicationDidReceiveMemoryWarningNotification"
    )
    /// The app is about to end.
    nonisolated public static let willTerminateNotification = Notification.Name(
        "UIApplicationWillTerminateNotification"
    )
    /// The background refresh status changed.
    nonisolated public static let backgroundRefreshStatusDidChangeNotification = Notification.Name(
        "UIApplicationBackgroundRefreshStatusDidChangeNotification"
    )
    /// Files under data protection can be read again; never posted here, where a lock does not keep from reading them.
    nonisolated public static let protectedDataDidBecomeAvailableNotification = Notification.Name(
        "UIApplicationProtectedDataDidBecomeAvailable"
    )
    /// Files under data protection cannot be read soon; never posted here.
    nonisolated public static let protectedDataWillBecomeUnavailableNotification = Notification.Name(
        "UIApplicationProtectedDataWillBecomeUnavailable"
    )
    /// The shortest fetch interval, in seconds.
    nonisolated public static let backgroundFetchIntervalMinimum: TimeInterval = 0
    /// Never fetch.
    nonisolated public static let backgroundFetchIntervalNever: TimeInterval = .greatestFiniteMagnitude
}
