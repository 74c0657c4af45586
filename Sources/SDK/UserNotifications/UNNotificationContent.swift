import Foundation

/// What the user sees and hears of a notification.
open class UNNotificationContent: NSObject, NSCopying, NSMutableCopying, @unchecked Sendable {
    fileprivate var held: Held

    struct Held {
        var title = ""
        var subtitle = ""
        var body = ""
        var badge: NSNumber?
        var sound: UNNotificationSound?
        var userInfo: [AnyHashable: Any] = [:]
        var categoryIdentifier = ""
        var threadIdentifier = ""
        var targetContentIdentifier: String?
        var interruptionLevel = UNNotificationInterruptionLevel.active
        var relevanceScore = 0.0
    }

    /// Content without anything in it.
    public override init() {
        held = Held()
        super.init()
    }

    init(_ held: Held) {
        self.held = held
        super.init()
    }

    /// The first line.
    open var title: String { held.title }
    /// The second line.
    open var subtitle: String { held.subtitle }
    /// The text.
    open var body: String { held.body }
    /// The number on the app's icon from then on; nil leaves it, 0 takes it away.
    open var badge: NSNumber? { held.badge }
    /// What is heard; nil for nothing.
    open var sound: UNNotificationSound? { held.sound }
    /// The app's own values. What JSON has no form for does not reach a process that the notification launches.
    open var userInfo: [AnyHashable: Any] { held.userInfo }
    /// The category whose actions the user would be offered.
    open var categoryIdentifier: String { held.categoryIdentifier }
    /// What notifications of one thing have in common.
    open var threadIdentifier: String { held.threadIdentifier }
    /// The scene that is to come forward; noted in this process, nothing else.
    open var targetContentIdentifier: String? { held.targetContentIdentifier }
    /// How much it disturbs; noted in this process, nothing else.
    open var interruptionLevel: UNNotificationInterruptionLevel { held.interruptionLevel }
    /// How much it matters among others, 0 to 1; noted in this process, nothing else.
    open var relevanceScore: Double { held.relevanceScore }

    /// The same content; what can be changed is copied.
    public func copy(with zone: NSZone? = nil) -> Any { UNNotificationContent(held) }

    /// The same content, to be changed.
    public func mutableCopy(with zone: NSZone? = nil) -> Any { UNMutableNotificationContent(held) }

    open override func copy() -> Any { copy(with: nil) }

    open override func mutableCopy() -> Any { mutableCopy(with: nil) }
}

/// What the user is to see and hear of a notification.
open class UNMutableNotificationContent: UNNotificationContent, @unchecked Sendable {
    /// The first line.
    open override var title: String {
        get { held.title }
        set { held.title = newValue }
    }

    /// The second line.
    open override var subtitle: String {
        get { held.subtitle }
        set { held.subtitle = newValue }
    }

    /// The text.
    open override var body: String {
        get { held.body }
        set { held.body = newValue }
    }

    /// The number on the app's icon from then on; nil leaves it, 0 takes it away.
    open override var badge: NSNumber? {
        get { held.badge }
        set { held.badge = newValue }
    }

    /// What is heard; nil for nothing.
    open override var sound: UNNotificationSound? {
        get { held.sound }
        set { held.sound = newValue }
    }

    /// The app's own values. What JSON has no form for does not reach a process that the notification launches.
    open override var userInfo: [AnyHashable: Any] {
        get { held.userInfo }
        set { held.userInfo = newValue }
    }

    /// The category whose actions the user would be offered.
    open override var categoryIdentifier: String {
        get { held.categoryIdentifier }
        set { held.categoryIdentifier = newValue }
    }

    /// What notifications of one thing have in common.
    open override var threadIdentifier: String {
        get { held.threadIdentifier }
        set { held.threadIdentifier = newValue }
    }

    /// The scene that is to come forward; noted in this process, nothing else.
    open override var targetContentIdentifier: String? {
        get { held.targetContentIdentifier }
        set { held.targetContentIdentifier = newValue }
    }

    /// How much it disturbs; noted in this process, nothing else.
    open override var interruptionLevel: UNNotificationInterruptionLevel {
        get { held.interruptionLevel }
        set { held.interruptionLevel = newValue }
    }

    /// How much it matters among others, 0 to 1; noted in this process, nothing else.
    open override var relevanceScore: Double {
        get { held.relevanceScore }
        set { held.relevanceScore = newValue }
    }
}

/// How much a notification disturbs the user.
public enum UNNotificationInterruptionLevel: UInt, Sendable {
    /// Without light or sound.
    case passive = 0
    /// At once.
    case active = 1
    /// At once, even where the user does not want to be disturbed.
    case timeSensitive = 2
    /// At once, even where sound is off.
    case critical = 3
}

/// The name of a sound file of the bundle.
public struct UNNotificationSoundName: RawRepresentable, Hashable, Sendable {
    /// The file's name.
    public let rawValue: String

    /// The name of a file.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The name of a file.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }
}

/// What is heard of a notification (NOTE-5).
open class UNNotificationSound: NSObject, NSCopying, @unchecked Sendable {
    /// Nil for the default sound.
    let name: UNNotificationSoundName?

    init(name: UNNotificationSoundName?) {
        self.name = name
        super.init()
    }

    /// A file of the bundle, in linear PCM, MA4, u-law or a-law and at most 30 s long; another gives way to the default sound.
    public convenience init(named name: UNNotificationSoundName) {
        self.init(name: name)
    }

    /// The phone's own sound.
    open class var `default`: UNNotificationSound { UNNotificationSound(name: nil) }

    /// The phone's own sound, here as any other.
    open class var defaultCritical: UNNotificationSound { UNNotificationSound(name: nil) }

    /// The same sound.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    open override func copy() -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool { (object as? UNNotificationSound)?.name == name }

    open override var hash: Int { name.hashValue }
}

extension NSString {
    /// The text behind a key in the app's own language; here the key itself, with the arguments in the places of `%@`.
    public static func localizedUserNotificationString(forKey key: String, arguments: [Any]?) -> String {
        (arguments ?? []).reduce(NSLocalizedString(key, comment: "")) { text, argument in
            guard let place = text.range(of: "%@") else { return text }
            return text.replacingCharacters(in: place, with: "\(argument)")
        }
    }
}
