import WakeModel

/// What becomes of a notification that is due: the app that the user has before him gets it, and of any other the user sees it.
extension Router {
    /// A notification of an app is there, whoever it comes from: it is the app's in the foreground (NOTE-3), and else the user's
    /// (NOTE-1).
    ///
    /// - Parameter parent: The event that brought it, such as a push with an alert.
    mutating func notify(_ notification: ScheduledNotification, of app: AppID, by parent: EventID) {
        if withholds(notification.identifier, of: app, by: parent) { return }
        areas.notification.lastNumber &+= 1
        let number = areas.notification.lastNumber
        areas.notification.apps[app].arriving.append(.init(number: number, notification: notification))
        raise(
            WakeEvent(
                kind: .notificationDue,
                local: number,
                subject: notification.identifier,
                app: app,
                parent: parent
            ),
            .notification(notification.content)
        )
    }

    /// Whether the user lets an app show no notifications: nothing is seen or heard of one (NOTE-7).
    mutating func withholds(_ identifier: NameID, of app: AppID, by event: EventID) -> Bool {
        guard areas.notification.apps[app].isRefused else { return false }
        act(.did(app, .notificationWithheld, subject: identifier, event))
        return true
    }

    /// Whether the user lets an app show notifications (NOTE-7).
    package func mayNotify(_ app: AppID) -> Bool { !isInstalled(app) || !areas.notification.apps[app].isRefused }

    /// How an app is interested in an event now; nil when it is not.
    func notificationInterest(of app: AppID, in event: WakeEvent) -> Interest? {
        guard isInstalled(app) else { return nil }
        switch event.kind {
        case .notificationDue:
            let arrives = areas.notification.apps[app].arriving.contains { $0.number == event.notification }
            return arrives ? Interest(app, via: .notification, since: apps[app].installedAt) : nil
        case .notificationTapped: return Interest(app, via: .notification, since: apps[app].installedAt)
        default: return nil
        }
    }

    // MARK: Shown

    /// It does not reach the app: the user sees it.
    mutating func showDue(_ number: UInt32, of app: AppID, by event: EventID) {
        guard isInstalled(app), let notification = areas.notification.apps[app].take(number) else { return }
        show(notification, of: app, by: event)
    }

    /// The app in the foreground has it; of those that it says no word for, the newest are kept.
    mutating func offer(_ number: UInt32, to app: AppID) {
        guard let place = areas.notification.apps[app].arriving.firstIndex(where: { $0.number == number }) else {
            return
        }
        areas.notification.apps[app].arriving[place].isOffered = true
        let offered = areas.notification.apps[app].arriving.filter(\.isOffered)
        guard offered.count > NotificationArea.offeredLimit else { return }
        _ = areas.notification.apps[app].take(offered[0].number)
    }

    /// The process is gone, and says no word any more. What died with the bench the user sees after all.
    mutating func endOffers(to app: AppID) {
        let offered = areas.notification.apps[app].arriving.filter(\.isOffered)
        areas.notification.apps[app].arriving.removeAll(where: \.isOffered)
        guard apps[app].snapshot.lastExitCause == .bench else { return }
        for item in offered { show(item.notification, of: app, by: .none) }
    }

    /// The user sees and hears it (NOTE-1, NOTE-5); one with the same identifier gives way.
    mutating func show(_ notification: ScheduledNotification, of app: AppID, by event: EventID) {
        let identifier = notification.identifier
        if withholds(identifier, of: app, by: event) { return }
        let sound = NotificationRules.played(notification.content.sound, by: constants)
        let shown = ShownNotification(identifier: identifier, content: notification.content, sound: sound, at: now)
        if let badge = notification.content.badge { areas.notification.apps[app].badge = badge }
        areas.notification.apps[app].delivered.removeAll { $0.identifier == identifier }
        if areas.notification.apps[app].delivered.count >= NotificationArea.deliveredLimit {
            let oldest = areas.notification.apps[app].delivered.removeFirst()
            act(.notification(.withdraw(app, oldest.identifier)))
        }
        areas.notification.apps[app].delivered.append(shown)
        act(.did(app, .notificationShown, subject: identifier, event))
        switch (sound, notification.content.sound) {
        case (.own, _): act(.did(app, .soundPlayed, subject: identifier, event))
        case (.standard, .file): act(.did(app, .soundReplaced, subject: identifier, event))
        case (.standard, _), (.none, _): break
        }
        act(.notification(.show(app, shown)))
    }

    // MARK: Tapped

    /// The user taps a notification: its app is launched, or comes to the front (NOTE-6).
    ///
    /// - Returns: whether he sees such a one.
    mutating func tapped(_ event: WakeEvent, of app: AppID) -> Bool {
        guard !areas.notification.isOff,
            let place = areas.notification.apps[app].delivered.firstIndex(where: { $0.identifier == event.subject })
        else { return false }
        areas.notification.apps[app].delivered.remove(at: place)
        act(.notification(.withdraw(app, event.subject)))
        bringForward(app, id: event.id)
        return true
    }
}
