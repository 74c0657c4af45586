import WakeModel

/// External accessories: which are connected, who may see them, and the sessions of apps with them.
///
/// The slot 0 of an interest stands for the app's accessory manager, and slot 1 for its first session.
struct AccessoryArea: Codable {
    /// By app number.
    var apps: [AccessoryRecord] = []
    /// In order of connection.
    var connected: [ConnectedAccessory] = []
    var lastSession: AccessorySession = 0

    var isConsistent: Bool { apps.allSatisfy { $0.sessions.count <= Router.sessionsLimit } }
}

extension AccessoryArea: Area {
    static func perform(_ request: AppRequest, from app: AppID, in router: inout Router) -> Bool {
        guard case .accessory(let number, let request) = request else { return false }
        router.accessory(request, manager: number, from: app)
        return true
    }

    static func route(_ event: WakeEvent, in router: inout Router) {
        router.routeAccessory(event)
    }

    static func interest(of app: AppID, in event: WakeEvent, held: Interest?, in router: inout Router) -> Interest? {
        router.accessoryInterest(of: app, in: event)
    }

    static func registrations(of app: AppID, _ router: Router) -> [KeptRegistration] {
        let record = router.areas.accessory.apps[app]
        let notifications = record.registeredAt.map {
            [KeptRegistration(via: .accessoryNotifications, subject: .none, since: $0)]
        }
        let used = record.sessions.compactMap { $0 }.filter(\.isUsed)
        return (notifications ?? [])
            + used.map { KeptRegistration(via: .accessorySession, subject: $0.name, since: $0.since) }
    }

    static func outlivesForeground(_ app: AppID, _ router: Router) -> Bool {
        router.areas.accessory.apps[app].sessions.contains { $0?.isUsed == true }
    }

    static func window(_ constants: Constants) -> Instant.Span { constants.profile.areas.accessory.window }

    static func judge(
        _ event: WakeEvent,
        for interest: inout Interest,
        showing snapshot: inout AppSnapshot,
        restarted: Bool,
        isNew: Bool,
        in router: inout Router
    ) -> (CheckResults, AccessoryQuestion) {
        let question = router.accessoryQuestion(of: interest, event)
        observe(interest, in: &snapshot, of: &router)
        return (AccessoryRules.evaluate(question, of: snapshot, by: router.constants), question)
    }

    static func managerNumber(_ slot: Int, of app: AppID, in router: inout Router) -> ManagerNumber? {
        let manager = router.areas.accessory.apps[app].manager
        if slot == 0 { return manager == 0 ? nil : manager }
        guard slot <= router.areas.accessory.apps[app].sessions.count else { return nil }
        return router.areas.accessory.apps[app].sessions[slot - 1]?.manager
    }

    static func hear(_ step: EventStep, of event: WakeEvent, for interest: Interest, in router: inout Router) {
        if case .delivered = step { router.noteSessionDelivery(of: event, to: interest.app) }
    }

    static func installed(_ app: AppID, _ manifest: AppManifest, in router: inout Router) -> Bool {
        router.areas.accessory.apps[app].protocols = manifest.accessoryProtocols
        return false
    }

    static func hear(_ step: AppStep, of app: AppID, in router: inout Router) {
        switch step {
        case .moved(let from, let to): router.followState(of: app, from: from, to: to)
        case .ended: router.detachAccessories(of: app)
        default: break
        }
    }

    static func hear(_ step: PhoneStep, in router: inout Router) {
        if case .benchRestarted = step { router.forgetAccessories() }
    }
}
