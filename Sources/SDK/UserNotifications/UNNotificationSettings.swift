import Foundation

/// What an app asks its user for.
public struct UNAuthorizationOptions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Options from their bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// A number on the icon.
    public static let badge = Self(rawValue: 1)
    /// Sounds.
    public static let sound = Self(rawValue: 2)
    /// Alerts.
    public static let alert = Self(rawValue: 4)
    /// Alerts in a car.
    public static let carPlay = Self(rawValue: 8)
    /// Sounds where sound is off.
    public static let criticalAlert = Self(rawValue: 16)
    /// A button for the app's own settings.
    public static let providesAppNotificationSettings = Self(rawValue: 32)
    /// Without asking, and quietly.
    public static let provisional = Self(rawValue: 64)
}

/// What the user is to see and hear of a notification that comes while the app is in the foreground.
public struct UNNotificationPresentationOptions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Options from their bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// The number on the icon.
    public static let badge = Self(rawValue: 1)
    /// The sound.
    public static let sound = Self(rawValue: 2)
    /// An alert; the older word for a banner.
    public static let alert = Self(rawValue: 4)
    /// A line in the list.
    public static let list = Self(rawValue: 8)
    /// A banner.
    public static let banner = Self(rawValue: 16)
}

/// What the user has said to notifications of the app.
public enum UNAuthorizationStatus: Int, Sendable {
    /// Not asked yet.
    case notDetermined = 0
    /// No.
    case denied = 1
    /// Yes.
    case authorized = 2
    /// Quietly, without having been asked.
    case provisional = 3
    /// For some time.
    case ephemeral = 4
}

/// Whether something of notifications is switched on.
public enum UNNotificationSetting: Int, Sendable {
    /// The app cannot have it.
    case notSupported = 0
    /// Off.
    case disabled = 1
    /// On.
    case enabled = 2
}

/// What the user lets notifications of the app do: on this phone, all or nothing.
open class UNNotificationSettings: NSObject, NSCopying, @unchecked Sendable {
    /// The user's word.
    public let authorizationStatus: UNAuthorizationStatus

    init(_ status: UNAuthorizationStatus) {
        authorizationStatus = status
        super.init()
    }

    private var setting: UNNotificationSetting { authorizationStatus == .authorized ? .enabled : .disabled }

    /// Sounds.
    open var soundSetting: UNNotificationSetting { setting }
    /// The number on the icon.
    open var badgeSetting: UNNotificationSetting { setting }
    /// Alerts.
    open var alertSetting: UNNotificationSetting { setting }
    /// The list of notifications.
    open var notificationCenterSetting: UNNotificationSetting { setting }
    /// The locked screen.
    open var lockScreenSetting: UNNotificationSetting { setting }
    /// A car: there is none.
    open var carPlaySetting: UNNotificationSetting { .notSupported }

    /// The same settings.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    open override func copy() -> Any { self }
}
