import WakeModel

/// Background fetch and the task scheduler: what apps ask to be run for, and when the phone has a good moment for it.
///
/// The slot 0 of an interest stands for the process.
struct BackgroundTaskArea: Codable {
    /// By app number.
    var apps: [BackgroundTaskRecord] = []
    /// The number of the last event that was raised.
    var lastNumber: UInt32 = 0
    /// The phone is shut down.
    var isOff = false
    /// How the phone's clock stands, by the last request that said it.
    var clock: PhoneClock?
    /// When the display last went dark, or a call ended.
    var usedUntil = Instant.zero

    var isConsistent: Bool { apps.allSatisfy(\.isConsistent) }
}

extension BackgroundTaskArea: Area {
    static func perform(_ request: AppRequest, from app: AppID, in router: inout Router) -> Bool {
        guard case .backgroundTask(let request) = request else { return false }
        router.backgroundTask(request, from: app)
        return true
    }

    static func route(_ event: WakeEvent, in router: inout Router) {
        if event.kind == .taskLaunchSimulated {
            router.simulateLaunch(event)
        } else if let app = event.app, let interest = interest(of: app, in: event, held: nil, in: &router) {
            router.decide(event, for: interest)
        }
        if let app = event.app, router.isInstalled(app) { router.reschedule(app) }
    }

    static func interest(of app: AppID, in event: WakeEvent, held: Interest?, in router: inout Router) -> Interest? {
        guard let run = run(event, of: app, router) else { return nil }
        return Interest(app, via: run.item.kind.registration, since: run.item.since)
    }

    /// What an event is about; nil when there is no such thing any more.
    private static func run(_ event: WakeEvent, of app: AppID, _ router: Router) -> BackgroundTaskRecord.Run? {
        guard router.isInstalled(app) else { return nil }
        if event.kind == .taskExpirationSimulated { return router.expires(event.subject, of: app) }
        let record = router.areas.backgroundTask.apps[app]
        return (record.arriving + record.running).first { $0.number == event.task }
    }

    static func registrations(of app: AppID, _ router: Router) -> [KeptRegistration] {
        router.areas.backgroundTask.apps[app].pending.map {
            KeptRegistration(via: $0.kind.registration, subject: $0.identifier, since: $0.since)
        }
    }

    static func window(_ constants: Constants) -> Instant.Span { constants.profile.areas.backgroundTask.refreshLimit }

    static func observe(_ interest: Interest, in snapshot: inout AppSnapshot, of router: inout Router) {
        let figures = router.profile.areas.backgroundTask
        let limit = interest.via == .processingTask ? figures.processingLimit : figures.refreshLimit
        router.observe(interest, in: &snapshot, window: limit)
    }

    static func judge(
        _ event: WakeEvent,
        for interest: inout Interest,
        showing snapshot: inout AppSnapshot,
        restarted: Bool,
        isNew: Bool,
        in router: inout Router
    ) -> (CheckResults, BackgroundTaskQuestion) {
        observe(interest, in: &snapshot, of: &router)
        guard let run = run(event, of: interest.app, router) else {
            preconditionFailure("\(event.kind) \(event.task) is about no task of app \(interest.app.number)")
        }
        var question = router.taskQuestion(run.item, run.lever, interest.app, showing: &snapshot)
        if !run.isHandedOver, !router.areas.backgroundTask.apps[interest.app].arriving.contains(run) {
            // It had its chance before the bench died.
            (question.isSpaced, question.isIntervalOver) = (true, true)
            snapshot.task.opens = run.item.begins
        }
        question.isExpiration = event.kind == .taskExpirationSimulated
        return (BackgroundTaskRules.evaluate(question, of: snapshot, by: router.constants), question)
    }

    static func managerNumber(_ slot: Int, of app: AppID, in router: inout Router) -> ManagerNumber? {
        router.apps[app].hasProcess ? 0 : nil
    }

    /// What is denied before the first unlock is tried anew after it, by the scheduler itself (BGT-10).
    static func waitsForUnlock(_ event: WakeEvent, wouldHave verdict: Verdict?) -> Bool { false }

    static func lost(_ event: WakeEvent, forWantOfRoom: Bool, in router: inout Router) {
        guard event.kind != .taskExpirationSimulated, event.kind != .taskLaunchSimulated, let app = event.app else {
            return
        }
        router.lostTask(event.task, of: app)
    }

    static func hear(_ step: EventStep, of event: WakeEvent, for interest: Interest, in router: inout Router) {
        guard case .carriedOut(let verdict, _) = step, verdict.delivers else { return }
        if event.kind == .taskExpirationSimulated {
            router.simulatedExpiration(event, of: interest.app)
        } else {
            router.handOver(event.task, to: interest.app, by: event.id)
        }
    }

    // MARK: Apps

    static func installed(_ app: AppID, _ manifest: AppManifest, in router: inout Router) -> Bool {
        router.permitTasks(manifest.taskIdentifiers, of: app)
        return false
    }

    static func hear(_ step: AppStep, of app: AppID, in router: inout Router) {
        switch step {
        case .uninstalled: router.areas.backgroundTask.apps[app] = BackgroundTaskRecord()
        case .foregrounded: router.noteUse(of: app)
        case .moved(let from, _) where from == .active || from == .inactive:
            router.areas.backgroundTask.apps[app].lastUse = router.now
        case .ended:
            let isOfBench = router.apps[app].snapshot.lastExitCause == .bench
            router.areas.backgroundTask.apps[app].endProcess(keepsRuns: isOfBench)
            router.planTasks(of: app)
        case .changed: router.planTasks(of: app)
        case .due: router.taskTimeDue(of: app)
        // Last of all: what else was due may have let the app be tried.
        case .reportDue: router.tasksDue(of: app)
        default: break
        }
    }

    func lingers(_ app: AppID) -> Instant { apps[app].owed.until }

    // MARK: The phone

    static func hear(_ step: PhoneStep, in router: inout Router) {
        switch step {
        case .rebooting: router.areas.backgroundTask.isOff = true
        case .restarted:
            router.areas.backgroundTask.isOff = false
            router.planAllTasks()
            for app in router.everyApp { router.reschedule(app) }
        case .unlocked: router.planAllTasks()
        case .clockSet(let clock): router.setClock(ofTasks: clock)
        case .changed(let change, _) where change.endsCall:
            router.areas.backgroundTask.usedUntil = router.now
            router.planAllTasks()
        case .changed(.callBegan, _): router.phoneTaken()
        case .conditionsChanged(let before):
            if before.contains(.displayOn), !router.conditions.contains(.displayOn) {
                router.areas.backgroundTask.usedUntil = router.now
            }
            router.phoneTaken()
        default: break
        }
    }

    func due(of app: AppID) -> Instant { isOff ? min(apps[app].owed.due, apps[app].expires) : apps[app].due }
}

extension Router {
    /// The user opens the app: the scheduler learns when he does (FETCH-4).
    fileprivate mutating func noteUse(of app: AppID) {
        areas.backgroundTask.apps[app].lastOpened = now
        areas.backgroundTask.apps[app].lastUse = now
        let memory = profile.areas.backgroundTask.memory
        let now = self.now
        areas.backgroundTask.apps[app].uses.removeAll { now.since($0) > memory }
        if areas.backgroundTask.apps[app].uses.count >= BackgroundTaskRecord.usesLimit {
            areas.backgroundTask.apps[app].uses.removeFirst()
        }
        areas.backgroundTask.apps[app].uses.append(now)
    }

    /// earliestBeginDate is a date, and a habit a time of day (BGT-5, FETCH-4).
    fileprivate mutating func setClock(ofTasks clock: PhoneClock) {
        if let before = areas.backgroundTask.clock {
            let span = Instant.Span(nanoseconds: before.epoch &- clock.epoch)
            for app in everyApp {
                for place in areas.backgroundTask.apps[app].pending.indices {
                    let begins = areas.backgroundTask.apps[app].pending[place].begins
                    guard begins > .zero else { continue }
                    areas.backgroundTask.apps[app].pending[place].begins = max(.zero, begins.advanced(by: span))
                }
            }
        }
        areas.backgroundTask.clock = clock
        planAllTasks()
    }

    /// The phone is used, or its power, network or switches are others: what runs may have to end, and what waits may run.
    fileprivate mutating func phoneTaken() {
        for app in everyApp where !areas.backgroundTask.apps[app].running.isEmpty {
            interruptProcessing(of: app)
            countProcessorTime(of: app, in: apps[app].state)
            reschedule(app)
        }
        planAllTasks()
    }
}
