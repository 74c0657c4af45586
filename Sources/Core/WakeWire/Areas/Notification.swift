import WakeModel

/// What an app asks of its notifications.
package enum WireNotificationRequest: Equatable, Sendable {
    /// Have the user notified; in place of one with the same identifier.
    case schedule(WireNotification)
    /// Those that are not due yet go.
    case cancel(identifiers: [String])
    case cancelAll
    /// Those that the user was shown go.
    case withdraw(identifiers: [String])
    case withdrawAll
    /// Whether the user is to see as well what the app was given in the foreground.
    case present(number: UInt32, shows: Bool)
    /// The number on the app's icon.
    case setBadge(UInt32)
    /// Those that are not due yet, or those that the user sees, from a place of the list on; answered by a reply with
    /// `notifications`.
    case list(id: UInt64, delivered: Bool, from: UInt32)
    /// Whether the user lets the app show notifications; answered by a reply with `granted` (NOTE-7).
    case isAllowed(id: UInt64)
}

/// What an app is told of its notifications.
package enum WireNotificationEvent: Equatable, Sendable {
    /// One is due while the app is in the foreground: it says whether the user is to see it, by its number.
    case due(number: UInt32, WireNotification)
    /// The user tapped one.
    case tapped(WireNotification)
}

/// A notification.
package struct WireNotification: Equatable, Sendable {
    /// The app's own word for it.
    package var identifier: String
    package var title: String
    package var subtitle: String
    package var body: String
    /// The number on the app's icon from then on.
    package var badge: UInt32?
    /// The name of a file of the bundle; empty for the default sound; nil for none.
    package var sound: String?
    /// A JSON object; empty for none.
    package var userInfo: String
    /// The app's own word for what can be answered to it; empty for none.
    package var category: String
    /// The app's own word for what belongs together; empty for none.
    package var thread: String
    /// A push brought it; what an app schedules is never that.
    package var isRemote: Bool
    /// Nil for one that is due at once.
    package var trigger: WireNotificationTrigger?
    /// In a list: when it is due next, or when the user was shown it, in seconds since 1970.
    package var date: Double?

    package init(
        identifier: String,
        title: String = "",
        subtitle: String = "",
        body: String = "",
        badge: UInt32? = nil,
        sound: String? = nil,
        userInfo: String = "",
        category: String = "",
        thread: String = "",
        isRemote: Bool = false,
        trigger: WireNotificationTrigger? = nil,
        date: Double? = nil
    ) {
        self.identifier = identifier
        self.title = title
        self.subtitle = subtitle
        self.body = body
        self.badge = badge
        self.sound = sound
        self.userInfo = userInfo
        self.category = category
        self.thread = thread
        self.isRemote = isRemote
        self.trigger = trigger
        self.date = date
    }
}

/// When a notification is due: by the one of its fields that is there, or else by what a clock shows.
@dynamicMemberLookup
package struct WireNotificationTrigger: Equatable, Sendable {
    /// Seconds after it was scheduled.
    package var interval: Double?
    /// Seconds since 1970.
    package var date: Double?
    /// Of a date: the seconds are those of a clock on the phone's wall.
    package var isWall = false
    /// Of a date: the unit in which it comes again.
    package var unit: RepeatInterval?
    /// Of an interval, and of what a clock shows.
    package var repeats = false
    /// What a clock shows.
    package var match = DateMatch()

    package init() {}

    package subscript<Value>(dynamicMember path: WritableKeyPath<DateMatch, Value>) -> Value {
        get { match[keyPath: path] }
        set { match[keyPath: path] = newValue }
    }
}

/// A part of a list of notifications.
package struct WireNotifications: Equatable, Sendable {
    package var list: [WireNotification]
    /// How many the whole list has.
    package var count: UInt32
    /// The number on the app's icon.
    package var badge: UInt32

    package init(list: [WireNotification] = [], count: UInt32 = 0, badge: UInt32 = 0) {
        self.list = list
        self.count = count
        self.badge = badge
    }
}

extension WireLimits {
    /// The longest identifier of a notification, in bytes.
    package static let notificationIdentifierBytes = 155
    /// The longest title or subtitle, and the longest name of a sound, a category or a thread, in bytes.
    package static let notificationTitleBytes = 256
    /// The longest text, in bytes.
    package static let notificationBodyBytes = 2_048
    /// The longest JSON object of an app's own, in bytes.
    package static let userInfoBytes = 4_096
    /// How many identifiers a request may name.
    package static let notificationsNamed = 256
    /// How many notifications a reply lists at most: as many as fit into a packet however their texts are written.
    package static let notificationsListed = 1
}

// MARK: Coding

extension WireNotificationRequest: AreaMessage {
    static let area = "notification"
    static let blanks: [Self] = [
        .schedule(.blank), .cancel(identifiers: []), .cancelAll, .withdraw(identifiers: []), .withdrawAll,
        .present(number: 0, shows: false), .setBadge(0), .list(id: 0, delivered: false, from: 0), .isAllowed(id: 0),
    ]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .schedule(let notification): self = try .schedule(coder.field("notification", notification, .object))
        case .cancel(let names): self = try .cancel(identifiers: coder.field("identifiers", names, .notificationNames))
        case .withdraw(let names):
            self = try .withdraw(identifiers: coder.field("identifiers", names, .notificationNames))
        case .present(let number, let shows):
            self = try .present(
                number: coder.field("number", number, .whole),
                shows: coder.field("shows", shows, .bool)
            )
        case .setBadge(let badge): self = try .setBadge(coder.field("badge", badge, .badge))
        case .list(let id, let delivered, let from):
            self = try .list(
                id: coder.field("id", id, .whole),
                delivered: coder.field("delivered", delivered, .bool),
                from: coder.field("from", from, .whole, absent: 0)
            )
        case .isAllowed(let id): self = try .isAllowed(id: coder.field("id", id, .whole))
        case .cancelAll, .withdrawAll: break
        }
    }
}

extension WireNotificationEvent: AreaMessage {
    static let area = "notification"
    static let blanks: [Self] = [.due(number: 0, .blank), .tapped(.blank)]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .due(let number, let notification):
            self = try .due(
                number: coder.field("number", number, .whole),
                coder.field("notification", notification, .object)
            )
        case .tapped(let notification): self = try .tapped(coder.field("notification", notification, .object))
        }
    }
}

extension WireNotification: Coded {
    static let blank = WireNotification(identifier: "")

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("identifier", of: &identifier, .notificationName)
        try coder.field("title", of: &title, .text(atMost: WireLimits.notificationTitleBytes), omitted: "")
        try coder.field("subtitle", of: &subtitle, .text(atMost: WireLimits.notificationTitleBytes), omitted: "")
        try coder.field("body", of: &body, .text(atMost: WireLimits.notificationBodyBytes), omitted: "")
        try coder.field("badge", of: &badge, .badge)
        try coder.field("sound", of: &sound, .text(atMost: WireLimits.notificationTitleBytes))
        try coder.field("userInfo", of: &userInfo, .text(atMost: WireLimits.userInfoBytes), omitted: "")
        try coder.field("category", of: &category, .text(atMost: WireLimits.notificationTitleBytes), omitted: "")
        try coder.field("thread", of: &thread, .text(atMost: WireLimits.notificationTitleBytes), omitted: "")
        try coder.field("remote", of: &isRemote, .bool, omitted: false)
        try coder.field("trigger", of: &trigger, .object)
        try coder.field("date", of: &date, .seconds)
    }
}

extension WireNotificationTrigger: Coded {
    static let blank = WireNotificationTrigger()

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("interval", of: &interval, .measure(in: 0...WireLimits.largestDistance))
        try coder.field("date", of: &date, .measure(in: 0...WireLimits.latestDate))
        try coder.field("wall", of: &isWall, .bool, omitted: false)
        try coder.field("unit", of: &unit, .word)
        try coder.field("repeats", of: &repeats, .bool, omitted: false)
        try match.code(&coder)
    }
}

extension DateMatch {
    fileprivate mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("year", of: &year, .whole(in: CalendarUnit.year.range))
        try coder.field("month", of: &month, .whole(in: CalendarUnit.month.range))
        try coder.field("day", of: &day, .whole(in: CalendarUnit.day.range))
        try coder.field("weekday", of: &weekday, .whole(in: CalendarUnit.weekday.range))
        try coder.field("hour", of: &hour, .whole(in: CalendarUnit.hour.range))
        try coder.field("minute", of: &minute, .whole(in: CalendarUnit.minute.range))
        try coder.field("second", of: &second, .whole(in: CalendarUnit.second.range))
        try coder.field("weekdayOrdinal", of: &weekdayOrdinal, .whole(in: CalendarUnit.weekdayOrdinal.range))
        try coder.field("weekOfMonth", of: &weekOfMonth, .whole(in: CalendarUnit.weekOfMonth.range))
        try coder.field("weekOfYear", of: &weekOfYear, .whole(in: CalendarUnit.weekOfYear.range))
        try coder.field("yearForWeekOfYear", of: &yearForWeekOfYear, .whole(in: CalendarUnit.year.range))
        try coder.field("quarter", of: &quarter, .whole(in: CalendarUnit.quarter.range))
        try coder.field("dayOfYear", of: &dayOfYear, .whole(in: CalendarUnit.dayOfYear.range))
    }
}

extension WireNotifications: Coded {
    static let blank = WireNotifications()

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("list", of: &list, .list(atMost: WireLimits.notificationsListed))
        try coder.field("count", of: &count, .whole)
        try coder.field("badge", of: &badge, .badge)
    }
}

extension RepeatInterval: WireWord {}

extension WireLimits {
    /// The latest date, the end of the year 2200, in seconds since 1970.
    package static let latestDate = 7_289_654_400.0
}

extension FieldShape where Value == UInt32 {
    fileprivate static var badge: FieldShape { .whole(in: 0...Int64(Int32.max)) }
}

extension FieldShape where Value == String {
    fileprivate static var notificationName: FieldShape {
        .string { (found) throws(WireError) in
            let text = try found.text()
            guard (1...WireLimits.notificationIdentifierBytes).contains(text.utf8.count) else {
                throw found.bad("1 to \(WireLimits.notificationIdentifierBytes) bytes of text")
            }
            return text
        }
    }
}

extension FieldShape where Value == [String] {
    fileprivate static var notificationNames: FieldShape {
        .strings { (found) throws(WireError) in
            let texts = try found.texts()
            guard texts.count <= WireLimits.notificationsNamed else {
                throw found.bad("at most \(WireLimits.notificationsNamed) identifiers")
            }
            return texts
        }
    }
}
