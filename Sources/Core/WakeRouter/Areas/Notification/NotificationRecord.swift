import WakeModel

/// What the system keeps of an app's notifications: with no process, over a restart and over a force quit (NOTE-1).
struct NotificationRecord: Equatable, Codable {
    /// One that is not due yet.
    struct Pending: Equatable, Codable {
        var notification: ScheduledNotification
        var clock: PhoneClock
        var since: Instant
        var due: Instant
    }

    /// One that is due, and on its way to the app or to the user.
    struct Due: Equatable, Codable {
        /// The number of its event.
        var number: UInt32
        var notification: ScheduledNotification
        /// The app in the foreground has it, and may say whether the user is to see it as well.
        var isOffered = false
    }

    /// In order of their scheduling.
    var pending: [Pending] = [] {
        didSet { due = pending.reduce(.distantFuture) { min($0, $1.due) } }
    }
    /// The earliest instant at which something is due.
    private(set) var due = Instant.distantFuture
    /// Those that no verdict was given on, and those that an app in the foreground has and has not answered for.
    var arriving: [Due] = []
    /// What the user was shown and has neither tapped nor lost, oldest first.
    var delivered: [ShownNotification] = []
    /// The number on the app's icon.
    var badge: UInt32 = 0
    /// The user lets the app show no notifications (NOTE-7).
    var isRefused = false

    /// Takes out what is due with a number.
    mutating func take(_ number: UInt32) -> ScheduledNotification? {
        guard let place = arriving.firstIndex(where: { $0.number == number }) else { return nil }
        return arriving.remove(at: place).notification
    }
}
