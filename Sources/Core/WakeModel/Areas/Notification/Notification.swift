/// What the user sees and hears of a notification, and what the app reads of it. The router decides by the badge and the sound
/// alone, and carries the rest unopened.
package struct NotificationContent: Hashable, Codable, Sendable {
    package var title = ""
    package var subtitle = ""
    package var body = ""
    /// The number on the app's icon from then on; nil leaves it.
    package var badge: UInt32?
    package var sound = NotificationSound.none
    /// A JSON object, as the app wrote it; empty for none.
    package var userInfo = ""
    /// The app's own word for what can be answered to it; empty for none.
    package var category = ""
    /// The app's own word for what belongs together; empty for none.
    package var thread = ""
    /// A push brought it.
    package var isRemote = false

    package init() {}
}

/// What a notification sounds like (NOTE-5).
package enum NotificationSound: Hashable, Codable, Sendable {
    case none
    case standard
    /// A file of the app's bundle, and what its header says; nil for one that cannot be read.
    case file(String, SoundFile?)
}

/// What the header of a sound file says.
package struct SoundFile: Hashable, Codable, Sendable {
    package var format: SoundFormat
    package var length: Instant.Span

    package init(format: SoundFormat, length: Instant.Span) {
        self.format = format
        self.length = length
    }
}

/// How the samples of a sound file are written.
package enum SoundFormat: UInt8, Worded, Codable, Sendable {
    case linearPCM
    /// IMA 4:1, that is MA4.
    case ima4
    case ulaw
    case alaw
    /// Anything else, such as AAC.
    case other

    package var word: String { self == .linearPCM ? "linear-pcm" : "\(self)" }
}

/// When a notification is due (NOTE-1).
package enum NotificationTrigger: Hashable, Codable, Sendable {
    /// At once.
    case now
    /// So long after it was scheduled, and again each time as long.
    case interval(Instant.Span, repeats: Bool)
    /// At a date, in seconds since 1970, and again in each unit of the calendar after it. With `isWall` the seconds are those of the
    /// clock on the phone's wall, whatever its time zone.
    case date(seconds: Int64, isWall: Bool, repeats: RepeatInterval)
    /// When the phone's clock shows what is given.
    case matching(DateMatch, repeats: Bool)
}

/// The units in which UILocalNotification repeats.
package enum RepeatInterval: UInt8, Worded, Codable, Sendable {
    case never
    case minute
    case hour
    case day
    case week
    case month
    case quarter
    case year
}

/// A notification that an app scheduled.
package struct ScheduledNotification: Hashable, Codable, Sendable {
    /// The app's own word for it, interned.
    package var identifier: NameID
    package var content: NotificationContent
    package var trigger: NotificationTrigger

    package init(identifier: NameID, content: NotificationContent, trigger: NotificationTrigger) {
        self.identifier = identifier
        self.content = content
        self.trigger = trigger
    }
}

/// What an app asks of the notifications of the phone.
package enum NotificationRequest: Hashable, Codable, Sendable {
    /// In place of one with the same identifier. The clock is the phone's at that moment.
    case schedule(ScheduledNotification, clock: PhoneClock)
    /// Notifications that are not due yet go.
    case cancel([NameID])
    case cancelAll
    /// Notifications that the user was shown go.
    case withdraw([NameID])
    case withdrawAll
    /// The answer of an app in the foreground to a notification that it was given: whether the user is shown it as well. The
    /// number is that of the event.
    case present(UInt32, shows: Bool)
    /// The number on the app's icon.
    case setBadge(UInt32)
}

/// A notification as the user is shown it.
package struct ShownNotification: Hashable, Codable, Sendable {
    package var identifier: NameID
    package var content: NotificationContent
    /// What is heard of it.
    package var sound: PlayedSound
    /// When the user was shown it.
    package var at: Instant

    package init(identifier: NameID, content: NotificationContent, sound: PlayedSound, at: Instant) {
        self.identifier = identifier
        self.content = content
        self.sound = sound
        self.at = at
    }
}

/// What the user hears of a notification; with a sound the phone vibrates (NOTE-5).
package enum PlayedSound: UInt8, Worded, Codable, Sendable {
    case none
    case standard
    /// The file that the notification names.
    case own

    package var vibrates: Bool { self != .none }
}

/// What the router asks of the phone's screen.
package enum NotificationCommand: Hashable, Sendable {
    case show(AppID, ShownNotification)
    /// The app, or the user, is done with it.
    case withdraw(AppID, NameID)
}

extension WakeEvent {
    /// The number of a notification that is due, for the app's answer.
    @inlinable
    package var notification: UInt32 { local }
}

/// The kinds of its events, each by its row of Tables/events.tsv.
extension EventKind {
    @inlinable package static var notificationDue: EventKind { EventKind(row: 67) }
    @inlinable package static var notificationTapped: EventKind { EventKind(row: 68) }
}

extension Action {
    package static func notification(_ command: NotificationCommand) -> Action { .command(.notification(command)) }
}
