import WakeModel
import WakePorts
import WakeWire

extension BackgroundTaskArea {
    static func tell(_ notice: AppNotice, to app: AppID, through host: ProcessAppHost) {
        switch notice {
        case .taskExpiration(_, let identifier):
            let event = WireBackgroundTaskEvent.expired(identifier: host.translation.names.text(identifier))
            host.tell(.backgroundTask(event), to: 0, of: app, named: "expirationHandler")
        case .taskAnswer(let id, let answer): host.reply(id, host.reply(of: answer), to: app)
        default: break
        }
    }

    static func told(_ delivery: AppDelivery, to app: AppID, through host: ProcessAppHost) -> ToldEvent? {
        host.translation.taskEvent(delivery.event).map { ToldEvent(.backgroundTask($0), of: delivery) }
    }

    static func names(in message: AppMessage) -> [String] {
        switch message {
        case .backgroundTask(.register(_, let identifier)): [identifier]
        case .backgroundTask(.submit(_, let submission)): [submission.identifier]
        default: []
        }
    }

    static func refuse(_ message: AppMessage, because text: String, to app: AppID, by host: ProcessAppHost) {
        switch message {
        case .backgroundTask(.register(let id, _)): host.reply(id, WireReply(granted: false), to: app)
        case .backgroundTask(.submit(let id, _)):
            host.reply(id, WireReply(failure: WireTranslation.taskFailure(.taskNotPermitted, text)), to: app)
        default: break
        }
    }
}

/// The background tasks of real apps.
extension ProcessAppHost {
    /// A request about background tasks; whether Background App Refresh is on is answered here, without the router.
    func heard(_ request: WireBackgroundTaskRequest, from app: AppID) {
        guard let view = surroundings?.view else { return }
        let asked: BackgroundTaskRequest
        switch request {
        case .register(let id, let identifier): asked = .register(translation.names.intern(identifier), answer: id)
        case .submit(let id, let submission):
            let submission = BackgroundTaskSubmission(
                identifier: translation.names.intern(submission.identifier),
                isProcessing: submission.kind == .processing,
                begins: submission.earliestBegin.map(view.instant(of:)),
                needsPower: submission.requiresExternalPower,
                needsNetwork: submission.requiresNetworkConnectivity
            )
            asked = .submit(submission, clock: view.phoneClock, answer: id)
        case .cancel(let identifier):
            guard let identifier = translation.names.known(identifier) else { return }
            asked = .cancel(identifier)
        case .cancelAll: asked = .cancelAll
        case .list(let id): asked = .list(answer: id)
        case .completed(let number, let success): asked = .complete(number, success: success)
        case .refreshStatus(let id): return reply(id, WireReply(granted: view.refreshesInBackground(app)), to: app)
        case .setFetchInterval(let interval):
            let span = interval.map { Instant.Span(nanoseconds: Int64($0 * 1e9)) }
            asked = .setFetchInterval(span, clock: view.phoneClock)
        // Nobody looks at what an app loads.
        case .fetched(let number, let result): asked = .fetched(number, result, downloaded: nil)
        }
        say(app, .request(.backgroundTask(asked)))
    }

    fileprivate func reply(of answer: TaskAnswer) -> WireReply {
        switch answer {
        case .decided(let fault?):
            return WireReply(failure: WireTranslation.taskFailure(fault), granted: false)
        case .decided(nil): return WireReply(granted: true)
        case .pending(let submissions):
            let clock = surroundings?.view.phoneClock ?? PhoneClock(epoch: 0, zone: 0)
            let tasks = submissions.prefix(WireLimits.tasksListed).map { translation.task($0, by: clock) }
            return WireReply(tasks: Array(tasks))
        }
    }
}

extension WireTranslation {
    /// What an app reads of an event of the scheduler's.
    func taskEvent(_ event: WakeEvent) -> WireBackgroundTaskEvent? {
        switch event.kind {
        case .fetchDue: .fetch(number: event.task)
        case .refreshTaskDue:
            .launched(number: event.task, identifier: names.text(event.subject), kind: .refresh)
        case .processingTaskDue:
            .launched(number: event.task, identifier: names.text(event.subject), kind: .processing)
        case .taskExpirationSimulated: .expired(identifier: names.text(event.subject))
        default: nil
        }
    }

    /// A request that is pending.
    fileprivate func task(_ submission: BackgroundTaskSubmission, by clock: PhoneClock) -> WireTaskSubmission {
        WireTaskSubmission(
            identifier: names.text(submission.identifier),
            kind: submission.isProcessing ? .processing : .refresh,
            earliestBegin: submission.begins.map { Double(clock.nanoseconds(at: $0)) / 1e9 },
            requiresExternalPower: submission.needsPower,
            requiresNetworkConnectivity: submission.needsNetwork
        )
    }

    /// BGTaskScheduler's error for a fault (BGT-1, BGT-2).
    static func taskFailure(_ fault: RequestFault, _ text: String? = nil) -> WireFailure {
        let (code, message) =
            switch fault {
            case .tooManyTaskRequests: (2, "As many requests are pending as may be.")
            case .taskNotPermitted:
                (3, "Info.plist does not permit the identifier, or lacks the background mode that its task needs.")
            default: (1, "Background App Refresh is off, or the phone has no task scheduler.")
            }
        return WireFailure(domain: "BGTaskSchedulerErrorDomain", code: code, message: text ?? message)
    }
}

extension AppView {
    /// Whether Background App Refresh is on for an app.
    func refreshesInBackground(_ app: AppID) -> Bool { bench.router.refreshes(app) }
}
