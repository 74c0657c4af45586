import WakeModel

/// The calls of apps: sockets that the phone looks after for them, keep-alive handlers, and launches without being asked.
///
/// The slot 0 of an interest stands for the process.
struct VoIPArea: Codable {
    /// By app number.
    var apps: [VoIPRecord] = []

    var isConsistent: Bool {
        apps.allSatisfy { app in
            // A period of no length would be due for ever.
            app.sockets.count <= VoIPRequest.socketsLimit && app.keepAlive.map { $0.period > .zero } ?? true
        }
    }
}

extension VoIPArea: Area {
    static func perform(_ request: AppRequest, from app: AppID, in router: inout Router) -> Bool {
        guard case .voip(let request) = request else { return false }
        router.voip(request, from: app)
        return true
    }

    static func route(_ event: WakeEvent, in router: inout Router) {
        guard let app = event.app, let interest = router.voipInterest(of: app, in: event) else { return }
        router.decide(event, for: interest)
        router.reschedule(app)
    }

    static func interest(of app: AppID, in event: WakeEvent, held: Interest?, in router: inout Router) -> Interest? {
        router.voipInterest(of: app, in: event)
    }

    static func registrations(of app: AppID, _ router: Router) -> [KeptRegistration] {
        let record = router.areas.voip.apps[app]
        let sockets = record.sockets.filter { !$0.isEnded }
        return sockets.map { KeptRegistration(via: .voipSocket, subject: $0.peer, since: $0.since) }
            + (record.keepAlive.map { [KeptRegistration(via: .keepAlive, subject: .none, since: $0.since)] } ?? [])
    }

    static func window(_ constants: Constants) -> Instant.Span { constants.profile.areas.voip.window }

    static func judge(
        _ event: WakeEvent,
        for interest: inout Interest,
        showing snapshot: inout AppSnapshot,
        restarted: Bool,
        isNew: Bool,
        in router: inout Router
    ) -> (CheckResults, VoIPQuestion) {
        let record = router.areas.voip.apps[interest.app]
        observe(interest, in: &snapshot, of: &router)
        let question = VoIPQuestion(
            kind: event.kind,
            state: snapshot.state,
            watchesSockets: VoIPRules.watchesSockets(of: snapshot.sdk, by: router.constants),
            wakes: record.wakes(before: router.now, within: router.constants.profile.areas.voip.wakeWindow)
        )
        snapshot.voipWakes = question.wakes
        snapshot.firstUnlockLifted = router.constants.profile.areas.voip.beforeFirstUnlock
        snapshot.voipWakeLimitLifted = router.constants.profile.areas.voip.wakeLimit == nil
        return (VoIPRules.evaluate(question, of: snapshot, by: router.constants), question)
    }

    static func hear(_ step: EventStep, of event: WakeEvent, for interest: Interest, in router: inout Router) {
        guard case .carriedOut(let verdict, let reason) = step else { return }
        router.noteCall(event, verdict, reason, of: interest.app)
    }

    static func managerNumber(_ slot: Int, of app: AppID, in router: inout Router) -> ManagerNumber? {
        router.apps[app].hasProcess ? 0 : nil
    }

    static func hear(_ step: AppStep, of app: AppID, in router: inout Router) {
        switch step {
        case .moved(let from, _):
            guard !router.areas.voip.apps[app].sockets.isEmpty else { return }
            router.watchSockets(of: app, from: from)
        case .ended: router.closeSockets(of: app)
        case .gone(let cause, let code): router.launchVoIPAfterExit(app, cause, code)
        case .lapsed:
            router.keepAliveDue(of: app)
            router.tearDownDue(of: app)
        default: break
        }
    }

    static func hear(_ step: PhoneStep, in router: inout Router) {
        switch step {
        case .restarted where router.profile.areas.voip.beforeFirstUnlock: router.launchVoIPAfterBoot()
        case .booted where !router.profile.areas.voip.beforeFirstUnlock: router.launchVoIPAfterBoot()
        case .conditionsChanged(let before): router.followNetwork(after: before)
        default: break
        }
    }

    func due(of app: AppID) -> Instant { apps[app].due }
}
