import WakeModel

/// The notifications that the system shows the user on behalf of apps.
///
/// The slot 0 of an interest stands for the process.
struct NotificationArea: Codable {
    /// By app number.
    var apps: [NotificationRecord] = []
    /// The number of the last notification that was due.
    var lastNumber: UInt32 = 0
    /// The phone is shut down: what is due is shown when it is on again.
    var isOff = false

    /// The most notifications of an app that stay before the user; iOS publishes no limit, so the number is the bench's own.
    static let deliveredLimit = 256
    /// The most notifications that an app in the foreground may owe a word for.
    static let offeredLimit = 256

    var isConsistent: Bool {
        apps.allSatisfy { app in
            // An interval of no length would be due for ever.
            app.delivered.count <= Self.deliveredLimit
                && app.pending.allSatisfy { item in
                    if case .interval(let span, true) = item.notification.trigger { span > .zero } else { true }
                }
        }
    }
}

extension NotificationArea: Area {
    static func perform(_ request: AppRequest, from app: AppID, in router: inout Router) -> Bool {
        guard case .notification(let request) = request else { return false }
        router.notification(request, from: app)
        return true
    }

    static func route(_ event: WakeEvent, in router: inout Router) {
        guard let app = event.app, router.isInstalled(app) else { return }
        if event.kind == .notificationTapped, !router.tapped(event, of: app) { return }
        guard let interest = router.notificationInterest(of: app, in: event) else { return }
        router.decide(event, for: interest)
        router.reschedule(app)
    }

    static func interest(of app: AppID, in event: WakeEvent, held: Interest?, in router: inout Router) -> Interest? {
        // A tap is over with the process that it brought to the front.
        if held == nil, event.kind == .notificationTapped { return nil }
        return router.notificationInterest(of: app, in: event)
    }

    static func registrations(of app: AppID, _ router: Router) -> [KeptRegistration] {
        router.areas.notification.apps[app].pending.map {
            KeptRegistration(via: .notification, subject: $0.notification.identifier, since: $0.since)
        }
    }

    static func window(_ constants: Constants) -> Instant.Span { .zero }

    static func judge(
        _ event: WakeEvent,
        for interest: inout Interest,
        showing snapshot: inout AppSnapshot,
        restarted: Bool,
        isNew: Bool,
        in router: inout Router
    ) -> (CheckResults, NotificationQuestion) {
        observe(interest, in: &snapshot, of: &router)
        let question = NotificationQuestion(kind: event.kind, state: snapshot.state)
        return (NotificationRules.evaluate(question, of: snapshot, by: router.constants), question)
    }

    static func managerNumber(_ slot: Int, of app: AppID, in router: inout Router) -> ManagerNumber? {
        router.apps[app].hasProcess ? 0 : nil
    }

    /// What does not reach the app is for the user to see.
    static func lost(_ event: WakeEvent, forWantOfRoom: Bool, in router: inout Router) {
        guard event.kind == .notificationDue, let app = event.app else { return }
        router.showDue(event.notification, of: app, by: event.id)
    }

    static func hear(_ step: EventStep, of event: WakeEvent, for interest: Interest, in router: inout Router) {
        guard case .carriedOut(let verdict, _) = step, verdict.delivers, event.kind == .notificationDue else { return }
        router.offer(event.notification, to: interest.app)
    }

    static func user(_ action: UserAction, _ app: AppID, id: EventID, in router: inout Router) {
        guard action == .allowNotifications || action == .refuseNotifications else { return }
        let refuses = action == .refuseNotifications
        if router.areas.notification.apps[app].isRefused == refuses { router.act(.did(app, .foundItSo, id)) }
        router.areas.notification.apps[app].isRefused = refuses
    }

    static func hear(_ step: AppStep, of app: AppID, in router: inout Router) {
        switch step {
        case .uninstalled: router.forgetNotifications(of: app)
        case .ended: router.endOffers(to: app)
        case .lapsed: router.notificationsDue(of: app)
        default: break
        }
    }

    static func hear(_ step: PhoneStep, in router: inout Router) {
        switch step {
        case .rebooting: router.areas.notification.isOff = true
        case .restarted:
            router.areas.notification.isOff = false
            for app in router.everyApp { router.reschedule(app) }
        case .clockSet(let clock): router.setClock(ofNotifications: clock)
        default: break
        }
    }

    func due(of app: AppID) -> Instant { isOff ? .distantFuture : apps[app].due }
}
