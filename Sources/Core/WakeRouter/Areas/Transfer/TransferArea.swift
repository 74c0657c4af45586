import WakeModel

/// What the system transfers on behalf of apps, in a process of its own.
///
/// The slot 0 of an interest stands for the process, and each higher one for the session in the place before it.
struct TransferArea: Codable {
    /// By app number.
    var apps: [TransferRecord] = []
    /// The number of the last transfer.
    var lastTransfer: TransferNumber = 0
    /// The phone is shut down, and nothing is transferred.
    var isOff = false

    var isConsistent: Bool {
        apps.allSatisfy { app in
            app.owed.isConsistent && app.sessions.count <= TransferRequest.sessionsLimit
                && app.sessions.allSatisfy { session in session.tasks.allSatisfy { $0.transfer <= lastTransfer } }
        }
    }
}

extension TransferArea: Area {
    static func perform(_ request: AppRequest, from app: AppID, in router: inout Router) -> Bool {
        guard case .transfer(let manager, let request) = request else { return false }
        router.transfer(request, by: manager, of: app)
        return true
    }

    static func route(_ event: WakeEvent, in router: inout Router) {
        guard let app = event.app, router.isInstalled(app), router.hears(event, of: app),
            let interest = router.transferInterest(of: app, in: event)
        else { return }
        router.decide(event, for: interest)
        router.reschedule(app)
    }

    static func interest(of app: AppID, in event: WakeEvent, held: Interest?, in router: inout Router) -> Interest? {
        router.transferInterest(of: app, in: event)
    }

    static func isConsistent(_ interest: Interest, _ router: Router) -> Bool {
        Int(interest.slot) <= TransferRequest.sessionsLimit
    }

    /// The sessions of which something is under way: of the others nothing comes.
    static func registrations(of app: AppID, _ router: Router) -> [KeptRegistration] {
        router.areas.transfer.apps[app].sessions.filter { $0.tasks.contains(where: \.stage.isUnderWay) }.map {
            let via: Registration = $0.configuration.kind == .newsstand ? .newsstandDownload : .transferSession
            return KeptRegistration(via: via, subject: $0.identifier, since: $0.since)
        }
    }

    static func taker(of via: Registration, ending cause: Deed?, _ router: Router) -> Deed {
        // After any other end transfers go on (XFER-1).
        if let cause, cause == .lostToForceQuit || cause == .lostToUninstall { return cause }
        return .lostWithProcess
    }

    static func window(_ constants: Constants) -> Instant.Span { constants.profile.areas.transfer.window }

    static func judge(
        _ event: WakeEvent,
        for interest: inout Interest,
        showing snapshot: inout AppSnapshot,
        restarted: Bool,
        isNew: Bool,
        in router: inout Router
    ) -> (CheckResults, TransferQuestion) {
        observe(interest, in: &snapshot, of: &router)
        let question = router.transferQuestion(on: event, for: interest)
        snapshot.transfersLeft = UInt16(clamping: question.left)
        snapshot.sendsLaunchEvents = question.sendsLaunchEvents
        return (TransferRules.evaluate(question, of: snapshot, by: router.constants), question)
    }

    static func managerNumber(_ slot: Int, of app: AppID, in router: inout Router) -> ManagerNumber? {
        guard router.apps[app].hasProcess else { return nil }
        guard slot > 0 else { return 0 }
        let sessions = router.areas.transfer.apps[app].sessions
        return slot <= sessions.count ? sessions[slot - 1].manager : nil
    }

    static func keeps(_ event: WakeEvent, for app: AppID, _ router: Router) -> Bool {
        let record = router.areas.transfer.apps[app]
        guard event.kind == .transferEnded, let place = record.place(of: event.transfer) else { return false }
        return if case .kept = record[place].stage { true } else { false }
    }

    static func lost(_ event: WakeEvent, forWantOfRoom: Bool, in router: inout Router) {
        guard let app = event.app, router.isInstalled(app) else { return }
        router.keepResult(of: event, of: app)
    }

    static func hear(_ step: EventStep, of event: WakeEvent, for interest: Interest, in router: inout Router) {
        guard case .carriedOut(let verdict, _) = step, verdict.delivers else { return }
        router.carriedOut(event, verdict, for: interest)
    }

    static func hear(_ step: AppStep, of app: AppID, in router: inout Router) {
        switch step {
        case .uninstalled: router.forgetTransfers(of: app)
        case .moved(.suspended, let state) where state != .notRunning: router.tellAllKept(of: app)
        case .suspended: router.carryTransfersOn(of: app)
        case .ended: router.processWithTransfersEnded(app)
        case .barred: router.cancelTransfers(of: app)
        case .foregrounded: router.liftResumeDelay(of: app)
        case .lapsed: router.transfersDue(of: app)
        default: break
        }
    }

    static func hear(_ step: PhoneStep, in router: inout Router) {
        switch step {
        case .rebooting:
            router.areas.transfer.isOff = true
            router.considerAllTransfers()
        case .restarted:
            router.areas.transfer.isOff = false
            router.considerAllTransfers()
        case .takeUp: router.takeUpTransfers()
        case .conditionsChanged, .changed(.callBegan, _): router.considerAllTransfers()
        case .changed(let change, _) where change.endsCall: router.considerAllTransfers()
        default: break
        }
    }

    func lingers(_ app: AppID) -> Instant { apps[app].owed.until }

    func due(of app: AppID) -> Instant { min(apps[app].owed.due, isOff ? .distantFuture : apps[app].tasksDue) }
}
