import WakeDevices
import WakeModel
import WakePorts

extension BackgroundTaskArea {
    /// Registers its handlers, and asks for what the script says.
    static func launched(_ app: AppID, in host: ScriptedAppHost) {
        guard let use = host.apps[app]?.script.tasks, let view = host.view else { return }
        for identifier in use.permitted ?? [] {
            host.request(.backgroundTask(.register(host.names.intern(identifier))), from: app)
        }
        if let interval = use.fetchInterval {
            host.request(.backgroundTask(.setFetchInterval(interval, clock: view.phoneClock)), from: app)
        }
        for request in use.submits { host.submit(request, of: app) }
    }

    /// What runs, runs for as long as the script says; the next one is asked for at once (BGT-4).
    static func delivered(_ delivery: AppDelivery, to app: AppID, in host: ScriptedAppHost) {
        let event = delivery.event
        guard let use = host.apps[app]?.script.tasks, let view = host.view else { return }
        if event.kind == .taskExpirationSimulated {
            guard let number = view.bench.router.taskNumber(event.subject, of: app) else { return }
            expired(number, of: app, use, in: host)
            return
        }
        for request in use.submits where host.names.known(request.identifier) == event.subject {
            host.submit(request, of: app)
        }
        guard let span = use.answersAfter else { return }
        let answer: BackgroundTaskRequest =
            event.kind == .fetchDue
            ? .fetched(event.task, use.result, downloaded: use.downloads) : .complete(event.task, success: true)
        host.request(.backgroundTask(answer), from: app, at: view.bench.now.advanced(by: span))
    }

    /// Who answers at all answers when its time is over.
    static func told(_ notice: AppNotice, to app: AppID, in host: ScriptedAppHost, at now: Instant) {
        guard case .taskExpiration(let number, _) = notice, let use = host.apps[app]?.script.tasks else { return }
        expired(number, of: app, use, in: host)
    }

    private static func expired(
        _ number: UInt32,
        of app: AppID,
        _ use: ScriptedApp.TaskUse,
        in host: ScriptedAppHost
    ) {
        guard use.answersAfter != nil else { return }
        host.request(.backgroundTask(.complete(number, success: false)), from: app)
    }
}

/// The background tasks of scripted apps.
extension ScriptedAppHost {
    /// An app that runs submits a request.
    func submit(_ request: ScriptedApp.TaskRequest, of app: AppID) {
        guard let view else { return }
        say([.backgroundTask(.submit(submission(request, view), clock: view.phoneClock))], from: app)
    }

    /// Why a request that an app submits now is refused; nil when it is not.
    func refusal(of request: ScriptedApp.TaskRequest, by app: AppID) -> String? {
        guard let view, let fault = view.bench.router.fault(of: submission(request, view), by: app) else { return nil }
        return switch fault {
        case .tooManyTaskRequests: "as many are pending as may be (BGT-2)"
        case .tasksUnavailable: "there is no scheduler, or Background App Refresh is off (PWR-3)"
        default: "its identifier is not permitted, or the mode is missing (BGT-1)"
        }
    }

    private func submission(_ request: ScriptedApp.TaskRequest, _ view: AppView) -> BackgroundTaskSubmission {
        BackgroundTaskSubmission(
            identifier: names.intern(request.identifier),
            isProcessing: request.isProcessing,
            begins: request.after.map { view.bench.now.advanced(by: $0) },
            needsPower: request.needsPower,
            needsNetwork: request.needsNetwork,
            isOfExtension: request.isOfExtension
        )
    }
}
