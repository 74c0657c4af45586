import Foundation

/// How an action of a notification behaves.
public struct UNNotificationActionOptions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Options from their bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Only on an unlocked phone.
    public static let authenticationRequired = Self(rawValue: 1)
    /// It cannot be undone.
    public static let destructive = Self(rawValue: 2)
    /// The app comes to the front.
    public static let foreground = Self(rawValue: 4)
}

/// Something that the user could choose on a notification; on this phone it is the notification itself.
open class UNNotificationAction: NSObject, @unchecked Sendable {
    /// The app's own word for it.
    public let identifier: String
    /// What the user would read.
    public let title: String
    /// How it behaves.
    public let options: UNNotificationActionOptions

    /// An action.
    public init(identifier: String, title: String, options: UNNotificationActionOptions = []) {
        self.identifier = identifier
        self.title = title
        self.options = options
        super.init()
    }
}

/// How notifications of a category behave.
public struct UNNotificationCategoryOptions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Options from their bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// The app hears of a dismissal.
    public static let customDismissAction = Self(rawValue: 1)
    /// Allowed in a car.
    public static let allowInCarPlay = Self(rawValue: 2)
}

/// The actions of a kind of notification; noted in this process, nothing else.
open class UNNotificationCategory: NSObject, @unchecked Sendable {
    /// The app's own word for it.
    public let identifier: String
    /// What the user could choose.
    public let actions: [UNNotificationAction]
    /// The intents that it belongs to.
    public let intentIdentifiers: [String]
    /// How it behaves.
    public let options: UNNotificationCategoryOptions

    /// A category.
    public init(
        identifier: String,
        actions: [UNNotificationAction],
        intentIdentifiers: [String],
        options: UNNotificationCategoryOptions = []
    ) {
        self.identifier = identifier
        self.actions = actions
        self.intentIdentifiers = intentIdentifiers
        self.options = options
        super.init()
    }
}
