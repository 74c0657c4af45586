import WakeModel

/// Pushes: what APNs brings for apps, and what the phone makes of it.
///
/// The slot 0 of an interest stands for the process.
struct PushArea: Codable {
    /// By app number.
    var apps: [PushRecord] = []

    /// The most answers that a process may owe for pushes, and the most service extensions of an app that run at once.
    static let owedLimit = 256
    /// How many of its latest pushes an app's record knows as shown.
    static let presentedLimit = 32

    var isConsistent: Bool {
        apps.allSatisfy { app in
            app.isConsistent && app.stored.count <= 2
                && (app.stored + (app.held.map { [$0] } ?? [])).allSatisfy { Self.isPush($0.event) }
        }
    }

    private static func isPush(_ event: WakeEvent) -> Bool {
        event.kind.source == .push && event.kind != .serviceExtensionEnded
    }
}

extension PushArea: Area {
    static func perform(_ request: AppRequest, from app: AppID, in router: inout Router) -> Bool {
        guard case .push(let request) = request else { return false }
        router.push(request, from: app)
        return true
    }

    static func route(_ event: WakeEvent, in router: inout Router) {
        guard let app = event.app, router.isInstalled(app) else { return }
        if event.kind == .serviceExtensionEnded {
            router.extensionEnded(event, of: app)
        } else if let interest = router.pushInterest(of: app, in: event) {
            router.decide(event, for: interest)
        }
        router.reschedule(app)
    }

    static func interest(of app: AppID, in event: WakeEvent, held: Interest?, in router: inout Router) -> Interest? {
        router.pushInterest(of: app, in: event)
    }

    static func registrations(of app: AppID, _ router: Router) -> [KeptRegistration] {
        let record = router.areas.push.apps[app]
        let times: [(Registration, Instant?)] = [
            (.remoteNotifications, record.registeredAt), (.pushKit, record.callsRegisteredAt),
        ]
        return times.compactMap { via, since in
            since.map { KeptRegistration(via: via, subject: router.apps[app].snapshot.bundle, since: $0) }
        }
    }

    static func window(_ constants: Constants) -> Instant.Span { constants.profile.areas.push.window }

    static func judge(
        _ event: WakeEvent,
        for interest: inout Interest,
        showing snapshot: inout AppSnapshot,
        restarted: Bool,
        isNew: Bool,
        in router: inout Router
    ) -> (CheckResults, PushQuestion) {
        let record = router.areas.push.apps[interest.app]
        let figures = router.profile.areas.push
        observe(interest, in: &snapshot, of: &router)
        let push = event.push
        var question = PushQuestion(
            kind: event.kind,
            state: snapshot.state,
            push: push,
            isReachable: router.isReachable,
            isExpired: PushRules.isExpired(push, at: router.now, reachable: router.isReachable),
            fits: PushRules.fits(push.size, isCall: event.kind == .callPushReceived, by: figures),
            wakes: record.wakes(before: router.now, within: figures.limitWindow),
            unreported: record.unreported,
            isAnswered: event.kind == .callPushReceived ? router.mustReportCalls(interest.app) : figures.background
        )
        snapshot.pushWakes = question.wakes
        snapshot.unreportedCalls = question.unreported
        snapshot.forceQuitLifted = event.kind == .callPushReceived
        snapshot.firstUnlockLifted = event.kind == .callPushReceived && figures.beforeFirstUnlock
        let results = PushRules.evaluate(question, of: snapshot, by: router.constants)
        if results[.pushForApp] == .fail {
            var other = question
            other.push.isContentAvailable = true
            question.failingForApp = PushRules.evaluate(other, of: snapshot, by: router.constants).failing
        }
        return (results, question)
    }

    static func hear(_ step: EventStep, of event: WakeEvent, for interest: Interest, in router: inout Router) {
        switch step {
        case .recorded(let verdict, _): router.notePush(event, verdict, of: interest.app)
        case .carriedOut(_, let reason): router.presentPush(event, of: interest.app, reason)
        case .delivered: router.oweForPush(event, by: interest.app)
        case .deciding, .deferring, .deferredDelivered: break
        }
    }

    static func keeps(
        _ event: WakeEvent,
        for interest: Interest,
        decision: DecisionID,
        in router: inout Router
    ) -> Bool {
        router.keepPush(event, of: interest.app, decision)
        return true
    }

    /// What a phone that is out of reach would store is stored after the first unlock, too.
    static func waitsForUnlock(_ event: WakeEvent, wouldHave verdict: Verdict?) -> Bool {
        verdict?.delivers == true || verdict == .defer
    }

    static func replaces(_ newer: WakeEvent, _ older: WakeEvent) -> Bool { newer.kind == older.kind }

    static func managerNumber(_ slot: Int, of app: AppID, in router: inout Router) -> ManagerNumber? {
        router.apps[app].hasProcess ? 0 : nil
    }

    static func installed(_ app: AppID, _ manifest: AppManifest, in router: inout Router) -> Bool {
        router.areas.push.apps[app].hasExtension = manifest.serviceExtension
        return false
    }

    static func hear(_ step: AppStep, of app: AppID, in router: inout Router) {
        switch step {
        case .uninstalled: router.forgetPushes(of: app)
        case .foregrounded: router.releaseHeldPush(of: app, byUser: true)
        case .ended: router.endPushes(of: app)
        case .barred: router.dropHeldPush(of: app)
        case .lapsed: router.pushesDue(of: app)
        default: break
        }
    }

    static func hear(_ step: PhoneStep, in router: inout Router) {
        switch step {
        case .conditionsChanged(let before): router.releasePushes(after: before)
        case .rebooting: router.dropHeldPushes()
        case .takeUp: router.registerForPushesAgain()
        default: break
        }
    }

    func lingers(_ app: AppID) -> Instant { apps[app].times.lingers }

    func due(of app: AppID) -> Instant { apps[app].times.due }
}
