import WakeModel
import WakeNotification
import WakePorts
import WakeWire

extension NotificationArea {
    static func told(_ delivery: AppDelivery, to app: AppID, through host: ProcessAppHost) -> ToldEvent? {
        host.translation.notificationEvent(delivery).map { ToldEvent(.notification($0), of: delivery) }
    }

    static func names(in message: AppMessage) -> [String] {
        guard case .notification(let request) = message else { return [] }
        // Only what is scheduled is kept; other identifiers are looked for.
        return if case .schedule(let notification) = request { [notification.identifier] } else { [] }
    }
}

/// The notifications of real apps.
extension ProcessAppHost {
    /// A request about notifications; lists are answered here, without the router.
    func heard(_ request: WireNotificationRequest, from app: AppID) {
        switch request {
        case .schedule(let notification):
            guard let surroundings, let trigger = WireTranslation.trigger(notification.trigger) else {
                fault("schedules \(notification.identifier) for no time", app)
                return
            }
            let scheduled = ScheduledNotification(
                identifier: translation.names.intern(notification.identifier),
                content: content(of: notification, by: app),
                trigger: trigger
            )
            say(app, .request(.notification(.schedule(scheduled, clock: surroundings.view.phoneClock))))
        case .cancel(let identifiers): say(app, .request(.notification(.cancel(known(identifiers)))))
        case .cancelAll: say(app, .request(.notification(.cancelAll)))
        case .withdraw(let identifiers): say(app, .request(.notification(.withdraw(known(identifiers)))))
        case .withdrawAll: say(app, .request(.notification(.withdrawAll)))
        case .present(let number, let shows): say(app, .request(.notification(.present(number, shows: shows))))
        case .setBadge(let badge): say(app, .request(.notification(.setBadge(badge))))
        case .list(let id, let delivered, let from):
            reply(id, list(delivered: delivered, from: from, of: app), to: app)
        case .isAllowed(let id): reply(id, mayNotify(app), to: app)
        }
    }

    /// The answer to an app that asks whether it may show notifications (NOTE-7), or to its extension.
    func mayNotify(_ app: AppID) -> WireReply { WireReply(granted: surroundings?.view.mayNotify(app) != false) }

    private func known(_ identifiers: [String]) -> [NameID] { identifiers.compactMap(translation.names.known) }

    /// The answer to an app that asks for its notifications, or to its extension.
    func list(delivered: Bool, from: UInt32, of app: AppID) -> WireReply {
        guard let view = surroundings?.view else { return WireReply() }
        let all = view.notifications(of: app, delivered: delivered)
        let clock = view.phoneClock
        let part = all.dropFirst(Int(from)).prefix(WireLimits.notificationsListed).map { item in
            var told = translation.wire(item.notification.identifier, item.notification.content)
            told.trigger = WireTranslation.trigger(item.notification.trigger)
            told.date = Double(clock.nanoseconds(at: item.at)) / 1e9
            return told
        }
        let answer = WireNotifications(list: Array(part), count: UInt32(all.count), badge: view.badge(of: app))
        return WireReply(notifications: answer)
    }

    /// What an app, or its extension, says of a notification.
    func content(of notification: WireNotification, by app: AppID) -> NotificationContent {
        var content = NotificationContent()
        content.title = notification.title
        content.subtitle = notification.subtitle
        content.body = notification.body
        content.badge = notification.badge
        content.userInfo = notification.userInfo
        content.category = notification.category
        content.thread = notification.thread
        switch notification.sound {
        case nil: content.sound = .none
        case "": content.sound = .standard
        case let name?: content.sound = .file(name, soundFile(name, of: app))
        }
        return content
    }

    private func soundFile(_ name: String, of app: AppID) -> SoundFile? {
        folder(of: app).flatMap { SoundFiles.sound(name, of: $0) }
    }
}

extension WireTranslation {
    /// When a notification is due; nil for what says no time.
    static func trigger(_ wire: WireNotificationTrigger?) -> NotificationTrigger? {
        guard let wire else { return .now }
        if let interval = wire.interval {
            // Whole milliseconds, and some of them, so that a repetition comes to an end.
            return .interval(.milliseconds(max(1, Int64(interval * 1_000))), repeats: wire.repeats)
        }
        if let date = wire.date {
            return .date(seconds: Int64(date), isWall: wire.isWall, repeats: wire.unit ?? .never)
        }
        return wire.match == DateMatch() ? nil : .matching(wire.match, repeats: wire.repeats)
    }

    /// The same for an app that asks; nil for what is due at once.
    static func trigger(_ trigger: NotificationTrigger) -> WireNotificationTrigger? {
        var wire = WireNotificationTrigger()
        switch trigger {
        case .now: return nil
        case .interval(let span, let repeats): (wire.interval, wire.repeats) = (Double(span.nanoseconds) / 1e9, repeats)
        case .date(let seconds, let isWall, let unit):
            (wire.date, wire.isWall, wire.unit) = (Double(seconds), isWall, unit)
        case .matching(let match, let repeats): (wire.match, wire.repeats) = (match, repeats)
        }
        return wire
    }

    /// A notification in the words of the wire.
    func wire(_ identifier: NameID, _ content: NotificationContent) -> WireNotification {
        var sound: String?
        switch content.sound {
        case .none: sound = nil
        case .standard: sound = ""
        case .file(let name, _): sound = name
        }
        return WireNotification(
            identifier: names.text(identifier),
            title: WireLimits.cut(content.title, to: WireLimits.notificationTitleBytes),
            subtitle: WireLimits.cut(content.subtitle, to: WireLimits.notificationTitleBytes),
            body: WireLimits.cut(content.body, to: WireLimits.notificationBodyBytes),
            badge: content.badge,
            sound: sound.map { WireLimits.cut($0, to: WireLimits.notificationTitleBytes) },
            userInfo: content.userInfo,
            category: WireLimits.cut(content.category, to: WireLimits.notificationTitleBytes),
            thread: WireLimits.cut(content.thread, to: WireLimits.notificationTitleBytes),
            isRemote: content.isRemote
        )
    }

    /// What an app reads of an event of its notifications; nil for one that came without it.
    func notificationEvent(_ delivery: AppDelivery) -> WireNotificationEvent? {
        guard case .notification(let content) = delivery.payload else { return nil }
        let notification = wire(delivery.event.subject, content)
        switch delivery.event.kind {
        case .notificationDue: return .due(number: delivery.event.notification, notification)
        case .notificationTapped: return .tapped(notification)
        default: return nil
        }
    }
}
