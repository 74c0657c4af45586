import Foundation
import WakeClient
import WakeModel
import WakeWire

/// The name of the phone's own sound for notifications.
public let UILocalNotificationDefaultSoundName = "UILocalNotificationDefaultSoundName"

/// A notification that the app schedules, in the form from before UserNotifications.
open class UILocalNotification: NSObject, NSCopying, @unchecked Sendable {
    /// When it is due; nil for at once.
    open var fireDate: Date?
    /// With a time zone the date is that of the clock on the phone's wall, wherever that is; without, it is the instant.
    open var timeZone: TimeZone?
    /// The unit of the calendar in which it comes again; nil for once. What counts are minute, hour, day, weekday (a week), month,
    /// quarter and year.
    open var repeatInterval: Calendar.Component?
    /// The text; without one the user sees nothing.
    open var alertBody: String?
    /// The line above the text.
    open var alertTitle: String?
    /// The word on the button; noted, nothing else.
    open var alertAction: String?
    /// The name of a sound file of the bundle, or ``UILocalNotificationDefaultSoundName`` (NOTE-5).
    open var soundName: String?
    /// The number on the app's icon; 0 leaves it.
    open var applicationIconBadgeNumber = 0
    /// The app's own values, in forms that JSON has.
    open var userInfo: [AnyHashable: Any]?
    /// The category whose actions the user would be offered.
    open var category: String?
    /// What the phone knows it by.
    private var identifier = UILocalNotification.prefix + UUID().uuidString

    private static let prefix = "UILocalNotification-"

    /// A notification without anything in it.
    public override init() { super.init() }

    /// Another notification that says the same and is the same to the phone.
    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = UILocalNotification()
        copy.fireDate = fireDate
        copy.timeZone = timeZone
        copy.repeatInterval = repeatInterval
        copy.alertBody = alertBody
        copy.alertTitle = alertTitle
        copy.alertAction = alertAction
        copy.soundName = soundName
        copy.applicationIconBadgeNumber = applicationIconBadgeNumber
        copy.userInfo = userInfo
        copy.category = category
        copy.identifier = identifier
        return copy
    }

    open override func copy() -> Any { copy(with: nil) }

    open override func isEqual(_ object: Any?) -> Bool {
        (object as? UILocalNotification)?.identifier == identifier
    }

    open override var hash: Int { identifier.hashValue }

    // MARK: On the wire

    /// The identifier for the phone.
    var wireIdentifier: String { identifier }

    /// What the phone is told; texts that are longer than it takes are cut.
    ///
    /// - Parameter now: Whether it is due at once, whatever its date.
    func wire(now: Bool) -> WireNotification {
        WireNotification(
            identifier: identifier,
            title: Self.cut(alertTitle ?? "", to: WireLimits.notificationTitleBytes),
            body: Self.cut(alertBody ?? "", to: WireLimits.notificationBodyBytes),
            badge: applicationIconBadgeNumber > 0
                ? UInt32(clamping: min(applicationIconBadgeNumber, Int(Int32.max))) : nil,
            sound: soundName.map { $0 == UILocalNotificationDefaultSoundName ? "" : $0 },
            userInfo: UserInfo.json(userInfo ?? [:]) ?? "",
            category: Self.cut(category ?? "", to: WireLimits.notificationTitleBytes),
            trigger: now ? nil : trigger
        )
    }

    private var trigger: WireNotificationTrigger? {
        guard let fireDate else { return nil }
        var trigger = WireNotificationTrigger()
        let ahead = timeZone.map { Double($0.secondsFromGMT(for: fireDate)) } ?? 0
        trigger.date = min(max(0, fireDate.timeIntervalSince1970 + ahead), WireLimits.latestDate)
        trigger.isWall = timeZone != nil
        trigger.unit = repeatInterval.flatMap(Self.unit)
        return trigger
    }

    /// The date at which a clock on the wall shows a time, in seconds since 1970; in Greenwich without a time zone.
    static func date(_ wall: Double, on zone: TimeZone?) -> Date {
        let date = Date(timeIntervalSince1970: wall)
        guard let zone else { return date }
        // Near a change of the clock the first guess may have the other side's offset.
        let guess = date.addingTimeInterval(-Double(zone.secondsFromGMT(for: date)))
        return date.addingTimeInterval(-Double(zone.secondsFromGMT(for: guess)))
    }

    private static func cut(_ text: String, to bytes: Int) -> String {
        text.utf8.count <= bytes ? text : String(decoding: Array(text.utf8.prefix(bytes - 3)), as: UTF8.self)
    }

    private static func unit(_ component: Calendar.Component) -> RepeatInterval? {
        switch component {
        case .minute: .minute
        case .hour: .hour
        case .day: .day
        case .weekday, .weekOfYear, .weekOfMonth: .week
        case .month: .month
        case .quarter: .quarter
        case .year: .year
        default: nil
        }
    }

    private static func component(_ unit: RepeatInterval) -> Calendar.Component? {
        switch unit {
        case .never: nil
        case .minute: .minute
        case .hour: .hour
        case .day: .day
        case .week: .weekOfYear
        case .month: .month
        case .quarter: .quarter
        case .year: .year
        }
    }

    /// What the phone tells of one; nil when it was not scheduled in this form.
    convenience init?(_ wire: WireNotification) {
        guard wire.identifier.hasPrefix(Self.prefix) else { return nil }
        self.init()
        identifier = wire.identifier
        alertTitle = wire.title.isEmpty ? nil : wire.title
        alertBody = wire.body.isEmpty ? nil : wire.body
        soundName = wire.sound.map { $0.isEmpty ? UILocalNotificationDefaultSoundName : $0 }
        applicationIconBadgeNumber = Int(wire.badge ?? 0)
        category = wire.category.isEmpty ? nil : wire.category
        userInfo = UserInfo.values(wire.userInfo)
        if let trigger = wire.trigger, let date = trigger.date {
            timeZone = trigger.isWall ? TimeZone.current : nil
            fireDate = Self.date(date, on: timeZone)
            repeatInterval = trigger.unit.flatMap(Self.component)
        }
    }
}
