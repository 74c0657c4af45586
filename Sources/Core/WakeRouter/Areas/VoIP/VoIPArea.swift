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
    static func perform(
        _ request: AppRequest,
        from app: AppID,
        in router: inout Router,
        into output: inout RouterOutput
    ) -> Bool {
        guard case .voip(let request) = request else { return false }
        router.voip(request, from: app, into: &output)
        return true
    }

    static func route(_ event: WakeEvent, in router: inout Router, into output: inout RouterOutput) {
        guard let app = event.app, let interest = router.voipInterest(of: app, in: event) else { return }
        router.decide(event, for: interest, into: &output)
        router.reschedule(app)
    }

    static func interest(of app: AppID, in event: WakeEvent, held: Interest?, in router: inout Router) -> Interest? {
        router.voipInterest(of: app, in: event)
    }

    static func registrations(of app: AppID, _ router: Router) -> [KeptRegistration] {
        let record = router.areas.voip.apps[Int(app.number)]
        return record.sockets.map { KeptRegistration(via: .voipSocket, subject: $0.peer, since: $0.since) }
            + (record.keepAlive.map { [KeptRegistration(via: .keepAlive, subject: .none, since: $0.since)] } ?? [])
    }

    static func window(_ profile: borrowing Profile) -> Instant.Span { profile.areas.voip.window }

    static func judge(
        _ event: WakeEvent,
        for interest: inout Interest,
        restarted: Bool,
        isNew: Bool,
        in router: inout Router
    ) -> (AppSnapshot, CheckResults, VoIPQuestion) {
        let record = router.areas.voip.apps[Int(interest.app.number)]
        var face = observe(interest, in: &router)
        let question = VoIPQuestion(
            kind: event.kind,
            state: face.state,
            watchesSockets: VoIPRules.watchesSockets(of: face.sdk, by: router.profile),
            wakes: record.wakes(before: router.now, within: router.constants.profile.areas.voip.wakeWindow)
        )
        face.voipWakes = question.wakes
        face.voipWakeLimitLifted = router.constants.profile.areas.voip.wakeLimit == nil
        return (face, VoIPRules.evaluate(question, of: face, by: router.constants.profile), question)
    }

    static func carriedOut(
        _ event: WakeEvent,
        for interest: Interest,
        _ verdict: Verdict,
        _ reason: Reason,
        in router: inout Router,
        into output: inout RouterOutput
    ) {
        router.noteCall(event, verdict, reason, of: interest.app, into: &output)
    }

    static func managerNumber(_ slot: Int, of index: Int, in router: inout Router) -> ManagerNumber? {
        router.apps[index].hasProcess ? 0 : nil
    }

    static func hear(_ step: AppStep, of app: AppID, in router: inout Router, into output: inout RouterOutput) {
        switch step {
        case .moved(let from, _):
            guard !router.areas.voip.apps[Int(app.number)].sockets.isEmpty else { return }
            router.watchSockets(of: app, from: from, into: &output)
        case .ended: router.closeSockets(of: app, into: &output)
        case .gone(let cause, let code): router.launchVoIPAfterExit(app, cause, code, into: &output)
        case .lapsed:
            router.keepAliveDue(of: app, into: &output)
            router.tearDownDue(of: app, into: &output)
        default: break
        }
    }

    static func hear(_ step: PhoneStep, in router: inout Router, into output: inout RouterOutput) {
        if case .booted = step { router.launchVoIPAfterBoot(into: &output) }
    }

    func due(of index: Int) -> Instant { apps[index].due }
}

extension VoIPQuestion: AreaQuestion {
    func refusal(_ decisive: Check, in results: CheckResults) -> (Verdict, Reason) { VoIPRules.refusal(decisive) }

    func acceptance(launching: Bool) -> (Verdict, Reason) {
        VoIPRules.acceptance(of: self, in: state, launching: launching)
    }

    func keepsRunning(_ modes: BackgroundModes) -> Bool {
        watchesSockets && modes.contains(.voip)
    }
}
