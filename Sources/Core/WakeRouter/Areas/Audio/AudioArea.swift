import WakeModel

/// The sound of apps: their sessions and engines, and who plays when.
///
/// The slot 0 of an interest stands for the session, of which a process has one.
struct AudioArea: Codable {
    /// By app number.
    var apps: [AudioRecord] = []
    /// The apps that use sound, or did until their process ended, ascending.
    var users: [AppID] = []
    /// The user is in a telephone call (AUD-5).
    var inCall = false

    private enum CodingKeys: CodingKey {
        case apps, inCall
    }

    mutating func restore() { users = apps.indices.filter { apps[$0].since != nil }.map { AppID(UInt32($0)) } }
}

extension AudioArea: Area {
    static func perform(_ request: AppRequest, from app: AppID, in router: inout Router) -> Bool {
        guard case .audio(let request) = request else { return false }
        router.audio(request, from: app)
        return true
    }

    static func refuse(_ request: AppRequest, of app: AppID, in router: inout Router) {
        guard case .audio(let request) = request else { return }
        router.refuse(request, of: app)
    }

    static func route(_ event: WakeEvent, in router: inout Router) {
        router.routeSound(event)
    }

    static func interest(of app: AppID, in event: WakeEvent, held: Interest?, in router: inout Router) -> Interest? {
        router.soundInterest(of: app)
    }

    static func registrations(of app: AppID, _ router: Router) -> [KeptRegistration] {
        let record = router.areas.audio.apps[app]
        guard record.attached, let since = record.since else { return [] }
        return [KeptRegistration(via: .audioSession, subject: .none, since: since)]
    }

    static func window(_ constants: Constants) -> Instant.Span { constants.profile.areas.audio.window }

    static func ruleOfWaiting(_ event: WakeEvent, _ interest: Interest, in router: inout Router) -> RuleID {
        event.kind == .audioInterruptionEnded ? .aud6 : .launch6
    }

    static func judge(
        _ event: WakeEvent,
        for interest: inout Interest,
        showing snapshot: inout AppSnapshot,
        restarted: Bool,
        isNew: Bool,
        in router: inout Router
    ) -> (CheckResults, AudioQuestion) {
        observe(interest, in: &snapshot, of: &router)
        let question = router.soundQuestion(of: interest.app, event)
        return (AudioRules.evaluate(question, of: snapshot, by: router.constants), question)
    }

    static func managerNumber(_ slot: Int, of app: AppID, in router: inout Router) -> ManagerNumber? {
        router.areas.audio.apps[app].attached ? 0 : nil
    }

    static func expectsManager(_ slot: Int, of app: AppID, in router: inout Router) -> Bool { slot == 0 }

    static func hear(_ step: AppStep, of app: AppID, in router: inout Router) {
        switch step {
        case .uninstalled, .launching: router.forgetSound(of: app)
        case .moved(let from, let to): router.soundMoved(app, from: from, to: to)
        case .suspended: router.soundSuspended(app)
        case .settling: router.areas.audio.apps[app].lapse(at: router.now)
        case .ended: router.detachSound(of: app)
        default: break
        }
    }

    static func hear(_ step: PhoneStep, in router: inout Router) {
        switch step {
        case .changed(.callBegan, let id): router.callBegan(by: id)
        case .changed(let change, let id) where change.endsCall: router.callEnded(change, by: id)
        case .lockChanged: router.settleSounds()
        case .rebooted: router.areas.audio.inCall = false
        default: break
        }
    }

    static func lack(of change: PhoneChange, _ router: Router) -> Deed? {
        switch change {
        case .callBegan: router.areas.isInCall ? .foundItSo : nil
        case .callEnded, .callEndedWithoutResume, .callEndedUntold: router.areas.isInCall ? nil : .foundItSo
        default: nil
        }
    }

    static func runsOn(_ app: AppID, _ router: Router) -> Bool { router.areas.audio.apps[app].isSounding }

    static func outlivesForeground(_ app: AppID, _ router: Router) -> Bool { runsOn(app, router) }

    func lingers(_ app: AppID) -> Instant { apps[app].lingersUntil ?? .zero }
}
