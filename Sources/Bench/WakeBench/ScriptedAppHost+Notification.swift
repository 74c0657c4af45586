import WakeDevices
import WakeModel
import WakePorts

extension NotificationArea {
    /// Schedules what the script has the user notified of.
    static func launched(_ app: AppID, in host: ScriptedAppHost) {
        for notice in host.apps[app]?.script.notifications?.scheduled ?? [] { host.schedule(notice, of: app) }
    }

    /// An app in the foreground says whether the user is to see what it was given.
    static func delivered(_ delivery: AppDelivery, to app: AppID, in host: ScriptedAppHost) {
        guard delivery.event.kind == .notificationDue else { return }
        let shows = host.apps[app]?.script.notifications?.presents ?? false
        host.request(.notification(.present(delivery.event.notification, shows: shows)), from: app)
    }
}

/// The notifications of scripted apps.
extension ScriptedAppHost {
    fileprivate func schedule(_ notice: ScriptedApp.Notice, of app: AppID) {
        guard let clock = view?.phoneClock else { return }
        let notification = ScheduledNotification(
            identifier: names.intern(notice.identifier),
            content: notice.content,
            trigger: notice.trigger
        )
        request(.notification(.schedule(notification, clock: clock)), from: app)
    }

    /// A step says what apps do with their notifications; one that does not run does nothing.
    func perform(_ act: ScriptedApp.NotificationAct, of app: AppID, at now: Instant) {
        guard let own = apps[app], own.running, !own.frozen else { return }
        switch act {
        case .schedule(let notice): schedule(notice, of: app)
        case .cancel(nil):
            request(.notification(.cancelAll), from: app)
            request(.notification(.withdrawAll), from: app)
        case .cancel(let identifier?):
            let name = names.intern(identifier)
            request(.notification(.cancel([name])), from: app)
            request(.notification(.withdraw([name])), from: app)
        }
    }
}
