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
    /// What the clock shows.
    public let dateComponents: DateComponents

    /// A trigger for a date of the phone's own clock, by the Gregorian calendar, whose weeks begin on Sunday.
    ///
    /// It comes when `Calendar.nextDate(after:matching:matchingPolicy:)` says with `.nextTime`, and never where a component is out of
    /// its range. All units from the year to the second count, weeks, ordinals and quarters among them; eras, nanoseconds and leap
    /// months do not.
    public init(dateMatching dateComponents: DateComponents, repeats: Bool) {
        self.dateComponents = dateComponents
        super.init(repeats: repeats)
        if let zone = dateComponents.timeZone, zone.secondsFromGMT() != TimeZone.current.secondsFromGMT() {
            notDecided("UNCalendarNotificationTrigger: the phone's time zone counts, and not that of dateComponents")
        }
        if let calendar = dateComponents.calendar, calendar.identifier != .gregorian {
            notDecided("UNCalendarNotificationTrigger: dateComponents are taken for those of the Gregorian calendar")
        }
        if dateComponents.era != nil || dateComponents.nanosecond != nil || dateComponents.isLeapMonth == true {
            notDecided("UNCalendarNotificationTrigger: era, nanosecond and isLeapMonth of dateComponents do not count")
        }
    }

    init(dateMatching dateComponents: DateComponents, repeats: Bool, due: Date?) {
        self.dateComponents = dateComponents
        super.init(repeats: repeats, due: due)
    }

    /// When it would be due next; nil when it never is.
    open func nextTriggerDate() -> Date? { due ?? date(after: Date(), in: .current) }

    /// When it would be due after a date, by a clock in a zone.
    func date(after date: Date, in zone: TimeZone) -> Date? {
        let second = Int64(date.timeIntervalSince1970.rounded(.down))
        let table = PhoneZone(name: zone.identifier, around: second) { at in
            zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(at)))
        }
        return DateMatch(dateComponents)?.next(after: second, in: table).map { Date(timeIntervalSince1970: Double($0)) }
    }

    override var wire: WireNotificationTrigger? {
        var wire = WireNotificationTrigger()
        wire.match = DateMatch(dateComponents) ?? DateMatch()
        wire.repeats = repeats
        return wire
    }
}

extension DateMatch {
    /// What components give; nil where one of them is out of its range.
    init?(_ components: DateComponents) {
        self.init()
        let given: [(CalendarUnit, Int?)] = [
            (.year, components.year), (.dayOfYear, components.dayOfYear), (.quarter, components.quarter),
            (.month, components.month), (.day, components.day), (.hour, components.hour),
            (.minute, components.minute), (.second, components.second), (.weekday, components.weekday),
            (.weekdayOrdinal, components.weekdayOrdinal), (.weekOfMonth, components.weekOfMonth),
            (.weekOfYear, components.weekOfYear), (.yearForWeekOfYear, components.yearForWeekOfYear),
        ]
        for case (let unit, let value?) in given {
            guard unit.range.contains(Int64(value)) else { return nil }
            self[unit] = Int64(value)
        }
    }

    /// The same in Foundation's words.
    var components: DateComponents {
        func number(_ unit: CalendarUnit) -> Int? { self[unit].map { Int($0) } }
        var components = DateComponents()
        components.year = number(.year)
        components.dayOfYear = number(.dayOfYear)
        components.quarter = number(.quarter)
        components.month = number(.month)
        components.day = number(.day)
        components.hour = number(.hour)
        components.minute = number(.minute)
        components.second = number(.second)
        components.weekday = number(.weekday)
        components.weekdayOrdinal = number(.weekdayOrdinal)
        components.weekOfMonth = number(.weekOfMonth)
        components.weekOfYear = number(.weekOfYear)
        components.yearForWeekOfYear = number(.yearForWeekOfYear)
        return components
    }
}

extension WireNotificationTrigger {
    /// The trigger that an app gave it with.
    func trigger(due: Date?) -> UNNotificationTrigger {
        if let interval {
            return UNTimeIntervalNotificationTrigger(timeInterval: interval, repeats: repeats, due: due)
        }
        if date != nil { return UNLegacyNotificationTrigger(repeats: unit ?? .never != .never, due: due) }
        return UNCalendarNotificationTrigger(dateMatching: match.components, repeats: repeats, due: due)
    }
}
