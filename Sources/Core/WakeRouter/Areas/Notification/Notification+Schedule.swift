import WakeModel

/// What apps ask of their notifications, and when these are due.
extension Router {
    mutating func notification(_ request: NotificationRequest, from app: AppID) {
        switch request {
        case .schedule(let notification, let clock): schedule(notification, clock, of: app)
        case .cancel(let identifiers): cancel(of: app) { identifiers.contains($0) }
        case .cancelAll: cancel(of: app) { _ in true }
        case .withdraw(let identifiers): withdraw(of: app) { identifiers.contains($0) }
        case .withdrawAll: withdraw(of: app) { _ in true }
        case .present(let number, let shows):
            guard let notification = areas.notification.apps[app].take(number) else { return }
            if shows { show(notification, of: app, by: .none) }
        case .setBadge(let badge): areas.notification.apps[app].badge = badge
        }
    }

    /// The notifications of an app that are not due yet, in order of their scheduling, and when each is due (NOTE-4).
    package func pendingNotifications(of app: AppID) -> [(notification: ScheduledNotification, due: Instant)] {
        guard isInstalled(app) else { return [] }
        return areas.notification.apps[app].pending.map { ($0.notification, $0.due) }
    }

    /// What the user was shown of an app and still sees, oldest first (NOTE-4).
    package func deliveredNotifications(of app: AppID) -> [ShownNotification] {
        isInstalled(app) ? areas.notification.apps[app].delivered : []
    }

    /// The number on an app's icon.
    package func badge(of app: AppID) -> UInt32 { isInstalled(app) ? areas.notification.apps[app].badge : 0 }

    private mutating func schedule(_ notification: ScheduledNotification, _ clock: PhoneClock, of app: AppID) {
        areas.notification.apps[app].pending.removeAll { $0.notification.identifier == notification.identifier }
        if case .interval(let span, true) = notification.trigger, span <= .zero {
            act(.refused(app, .unavailable))
            return
        }
        guard let due = notification.trigger.first(from: now, by: clock) else {
            act(.refused(app, .unavailable))
            return
        }
        areas.notification.apps[app].pending.append(
            .init(notification: notification, clock: clock, since: now, due: due)
        )
        while areas.notification.apps[app].pending.count > Int(profile.areas.notification.limit) { dropLast(of: app) }
        notificationsDue(of: app)
    }

    /// The soonest are kept (NOTE-2). Of two that are due together the older stays.
    private mutating func dropLast(of app: AppID) {
        let pending = areas.notification.apps[app].pending
        var last = 0
        for place in pending.indices where pending[place].due >= pending[last].due { last = place }
        act(.did(app, .notificationDropped, subject: pending[last].notification.identifier))
        areas.notification.apps[app].pending.remove(at: last)
    }

    private mutating func cancel(of app: AppID, where matches: (NameID) -> Bool) {
        for item in areas.notification.apps[app].pending where matches(item.notification.identifier) {
            act(.did(app, .notificationCancelled, subject: item.notification.identifier))
        }
        areas.notification.apps[app].pending.removeAll { matches($0.notification.identifier) }
    }

    private mutating func withdraw(of app: AppID, where matches: (NameID) -> Bool) {
        for item in areas.notification.apps[app].delivered where matches(item.identifier) {
            act(.did(app, .notificationCancelled, subject: item.identifier))
            act(.notification(.withdraw(app, item.identifier)))
        }
        areas.notification.apps[app].delivered.removeAll { matches($0.identifier) }
    }

    /// The app is gone from the phone with all that it had scheduled.
    mutating func forgetNotifications(of app: AppID) {
        for item in areas.notification.apps[app].delivered { act(.notification(.withdraw(app, item.identifier))) }
        areas.notification.apps[app] = NotificationRecord()
    }

    // MARK: Time

    /// What is due at a date or at a time on the phone's wall is due by the clock as it stands now; so long after it was scheduled
    /// stays what it is (NOTE-1).
    mutating func setClock(ofNotifications clock: PhoneClock) {
        for app in everyApp where !areas.notification.apps[app].pending.isEmpty {
            for place in areas.notification.apps[app].pending.indices {
                let item = areas.notification.apps[app].pending[place]
                let trigger = item.notification.trigger
                let due = trigger.due(by: clock, from: now, before: (item.due, item.clock))
                areas.notification.apps[app].pending[place].clock = clock
                areas.notification.apps[app].pending[place].due = due
            }
            reschedule(app)
        }
    }

    /// Whatever the app does, and whether it has a process or not, what it scheduled is due (NOTE-1).
    mutating func notificationsDue(of app: AppID) {
        guard !areas.notification.isOff else { return }
        var place = 0
        while place < areas.notification.apps[app].pending.count {
            let item = areas.notification.apps[app].pending[place]
            guard item.due <= now else {
                place += 1
                continue
            }
            if let next = item.notification.trigger.next(after: item.due, now: now, by: item.clock) {
                areas.notification.apps[app].pending[place].due = next
                place += 1
            } else {
                areas.notification.apps[app].pending.remove(at: place)
            }
            notify(item.notification, of: app, by: .none)
        }
    }
}
