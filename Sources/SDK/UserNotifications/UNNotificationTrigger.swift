import Foundation
import WakeClient
import WakeModel
import WakeWire

/// What brings a notification.
open class UNNotificationTrigger: NSObject, NSCopying, @unchecked Sendable {
    /// Whether it brings the notification again and again.
    public let repeats: Bool
    /// When it is due next, as the phone has it; nil for one that is not scheduled.
    let due: Date?

    init(repeats: Bool, due: Date? = nil) {
        self.repeats = repeats
        self.due = due
        super.init()
    }

    /// The same trigger.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    open override func copy() -> Any { self }

    /// What the phone is told of it.
    var wire: WireNotificationTrigger? { nil }
}

/// A push brought the notification.
open class UNPushNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {}

/// A notification that UILocalNotification scheduled.
open class UNLegacyNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {}

/// Brings a notification after some time.
open class UNTimeIntervalNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {
    /// In seconds, from the scheduling on.
    public let timeInterval: TimeInterval

    /// A trigger; as on a phone, an interval of no length, or a repeated one under 60 s, ends the app.
    public init(timeInterval: TimeInterval, repeats: Bool) {
        precondition(timeInterval > 0, "time interval must be greater than 0")
        precondition(!repeats || timeInterval >= 60, "time interval must be at least 60 if repeating")
        self.timeInterval = timeInterval
        super.init(repeats: repeats)
    }

    init(timeInterval: TimeInterval, repeats: Bool, due: Date?) {
        self.timeInterval = timeInterval
        super.init(repeats: repeats, due: due)
    }

    /// When it would be due next.
    open func nextTriggerDate() -> Date? { due ?? Date(timeIntervalSinceNow: timeInterval) }

    override var wire: WireNotificationTrigger? {
        var wire = WireNotificationTrigger()
        (wire.interval, wire.repeats) = (min(timeInterval, WireLimits.largestDistance), repeats)
        return wire
    }
}

/// Brings a notification when the phone's clock shows a date.
open class UNCalendarNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {
    /// What the clock shows; what is left out and finer than all that is given is 0.
    public let dateComponents: DateComponents

    /// A trigger for a date of the phone's own clock. What counts are year, month, day, weekday, hour, minute and second.
    public init(dateMatching dateComponents: DateComponents, repeats: Bool) {
        self.dateComponents = dateComponents
        super.init(repeats: repeats)
        if let zone = dateComponents.timeZone, zone.secondsFromGMT() != TimeZone.current.secondsFromGMT() {
            notDecided("UNCalendarNotificationTrigger: the phone's time zone counts, and not that of dateComponents")
        }
    }

    init(dateMatching dateComponents: DateComponents, repeats: Bool, due: Date?) {
        self.dateComponents = dateComponents
        super.init(repeats: repeats, due: due)
    }

    /// When it would be due next.
    open func nextTriggerDate() -> Date? {
        due ?? Calendar.current.nextDate(after: Date(), matching: dateComponents, matchingPolicy: .nextTime)
    }

    override var wire: WireNotificationTrigger? {
        var wire = WireNotificationTrigger()
        let shown = dateComponents
        wire.year = shown.year.flatMap { (1...9_999).contains($0) ? Int32($0) : nil }
        wire.month = Self.number(shown.month, in: 1...12)
        wire.day = Self.number(shown.day, in: 1...31)
        wire.weekday = Self.number(shown.weekday, in: 1...7)
        wire.hour = Self.number(shown.hour, in: 0...23)
        wire.minute = Self.number(shown.minute, in: 0...59)
        wire.second = Self.number(shown.second, in: 0...59)
        wire.repeats = repeats
        return wire
    }

    private static func number(_ value: Int?, in range: ClosedRange<Int>) -> UInt8? {
        value.flatMap { range.contains($0) ? UInt8($0) : nil }
    }
}

extension WireNotificationTrigger {
    /// The trigger that an app gave it with.
    func trigger(due: Date?) -> UNNotificationTrigger {
        if let interval {
            return UNTimeIntervalNotificationTrigger(timeInterval: interval, repeats: repeats, due: due)
        }
        if date != nil { return UNLegacyNotificationTrigger(repeats: unit ?? .never != .never, due: due) }
        var shown = DateComponents()
        shown.year = year.map(Int.init)
        shown.month = month.map(Int.init)
        shown.day = day.map(Int.init)
        shown.weekday = weekday.map(Int.init)
        shown.hour = hour.map(Int.init)
        shown.minute = minute.map(Int.init)
        shown.second = second.map(Int.init)
        return UNCalendarNotificationTrigger(dateMatching: shown, repeats: repeats, due: due)
    }
}
