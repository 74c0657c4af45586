import WakeModel

/// What the random world's apps have the user notified of, and what he taps.
extension RandomWorld {
    private static let clock = PhoneClock(epoch: 1_767_225_600_000_000_000, zone: 3_600)

    private mutating func anyName() -> NameID { NameID(UInt32(800 + chance.below(4))) }

    mutating func anyNotificationRequest() -> AppRequest {
        switch chance.below(10) {
        case 0: .notification(.cancel([anyName()]))
        case 1: .notification(chance.once(in: 4) ? .cancelAll : .withdrawAll)
        case 2: .notification(.withdraw([anyName()]))
        case 3: .notification(.present(UInt32(chance.below(2_000)), shows: chance.once(in: 2)))
        case 4: .notification(.setBadge(UInt32(chance.below(3))))
        default:
            .notification(
                .schedule(anyNotification(), clock: Self.clock)
            )
        }
    }

    private mutating func anyNotification() -> ScheduledNotification {
        var content = NotificationContent()
        if chance.once(in: 3) { content.badge = UInt32(chance.below(5)) }
        if chance.once(in: 2) { content.sound = .standard }
        return ScheduledNotification(identifier: anyName(), content: content, trigger: anyTrigger())
    }

    private mutating func anyTrigger() -> NotificationTrigger {
        switch chance.below(8) {
        case 0: return .now
        case 1: return .interval(.seconds(3_600), repeats: true)
        case 2:
            let date = 1_767_225_600 + Int64(chance.below(100_000))
            return .date(seconds: date, isWall: chance.once(in: 2), repeats: chance.pick(RepeatInterval.allCases))
        case 3:
            var match = DateMatch()
            match.hour = UInt8(chance.below(24))
            if chance.once(in: 8) { match.year = 2_025 }
            return .matching(match, repeats: chance.once(in: 2))
        default: return .interval(.milliseconds(Int64(chance.below(5_000))), repeats: false)
        }
    }

    /// The user sees a notification, or sees it no more.
    mutating func see(_ command: NotificationCommand) {
        switch command {
        case .show(let app, let shown):
            notices.removeAll { $0 == (app, shown.identifier) }
            notices.append((app, shown.identifier))
        case .withdraw(let app, let identifier): notices.removeAll { $0 == (app, identifier) }
        }
    }

    /// The user taps what he sees; or an app that he sees, or that is elsewhere, has something for him at once.
    mutating func glance() {
        if chance.once(in: 2), !notices.isEmpty {
            let tapped = chance.pick(notices)
            return hear(
                .event(WakeEvent(kind: .notificationTapped, subject: tapped.identifier, app: tapped.app)),
                isEvent: true
            )
        }
        let app = app(in: .active) ?? app(in: .background) ?? AppID(UInt32(chance.below(Self.appCount)))
        hear(.request(app, .notification(.schedule(anyNotification(), clock: Self.clock))))
    }
}
