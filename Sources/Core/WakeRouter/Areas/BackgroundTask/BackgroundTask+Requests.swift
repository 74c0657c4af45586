import WakeModel

/// What apps ask of the scheduler.
extension Router {
    mutating func backgroundTask(_ request: BackgroundTaskRequest, from app: AppID) {
        switch request {
        case .register(let identifier): registerHandler(identifier, of: app)
        case .submit(let submission, let clock):
            areas.backgroundTask.clock = clock
            submit(submission, of: app)
        case .cancel(let identifier): cancelTasks(of: app) { $0.identifier == identifier && $0.kind != .fetch }
        case .cancelAll: cancelTasks(of: app) { $0.kind != .fetch }
        case .complete(let number, _): completed(number, of: app)
        case .setFetchInterval(let interval, let clock):
            areas.backgroundTask.clock = clock
            setFetchInterval(interval, of: app)
        case .fetched(let number, let result, let downloaded):
            fetched(number, result, downloaded: downloaded, of: app)
        }
    }

    // MARK: Launch handlers

    /// A handler is registered while the app launches, and once in a process (BGT-3).
    private mutating func registerHandler(_ identifier: NameID, of app: AppID) {
        guard profile.areas.backgroundTask.hasTasks else { return act(.refused(app, .tasksUnavailable)) }
        guard permits(identifier, of: app) else { return act(.refused(app, .taskNotPermitted)) }
        guard apps[app].isLaunching else { return endForHandler(.endedForLateHandler, app) }
        guard !areas.backgroundTask.apps[app].handlers.contains(identifier) else {
            return endForHandler(.endedForSecondHandler, app)
        }
        areas.backgroundTask.apps[app].handlers.insertInOrder(identifier)
    }

    /// The framework raises an exception.
    private mutating func endForHandler(_ deed: Deed, _ app: AppID) {
        act(.did(app, deed))
        end(app, cause: .crash, code: ExitRecord.abort, by: .none)
    }

    private func permits(_ identifier: NameID, of app: AppID) -> Bool {
        areas.backgroundTask.apps[app].permitted?.contains(identifier) == true
    }

    // MARK: Requests

    private mutating func submit(_ submission: BackgroundTaskSubmission, of app: AppID) {
        let identifier = submission.identifier
        if let fault = fault(of: submission, by: app) {
            switch fault {
            case .taskNotPermitted: act(.did(app, .refusedTaskRequest, subject: identifier))
            case .tooManyTaskRequests: act(.did(app, .refusedTooManyTaskRequests, subject: identifier))
            case .tasksUnavailable where profile.areas.backgroundTask.hasTasks:
                act(.did(app, .refusedWithoutRefresh, subject: identifier))
            default: break
            }
            return act(.refused(app, fault))
        }
        let state = apps[app].state
        let item = BackgroundTaskRecord.Item(
            kind: submission.isProcessing ? .processing : .refresh,
            identifier: identifier,
            since: now,
            begins: submission.begins ?? .zero,
            needsPower: submission.needsPower,
            needsNetwork: submission.needsNetwork,
            isOfForeground: state == .active || state == .inactive
        )
        let replaced = areas.backgroundTask.apps[app].pending.contains {
            $0.identifier == identifier && $0.kind != .fetch
        }
        if replaced { act(.did(app, .replacedTaskRequest, subject: identifier)) }
        if submission.isOfExtension { act(.did(app, .submittedByExtension, subject: identifier)) }
        areas.backgroundTask.apps[app].pending.removeAll { $0.identifier == identifier && $0.kind != .fetch }
        areas.backgroundTask.apps[app].known.removeAll { $0.identifier == identifier }
        areas.backgroundTask.apps[app].pending.append(item)
        areas.backgroundTask.apps[app].known.append(item)
        planTasks(of: app)
    }

    /// Why a request is refused, as BGTaskScheduler's error has it (PWR-3, BGT-1, BGT-2); nil when it is not.
    package func fault(of submission: BackgroundTaskSubmission, by app: AppID) -> RequestFault? {
        let figures = profile.areas.backgroundTask
        guard figures.hasTasks, refreshes(app) else { return .tasksUnavailable }
        let mode = BackgroundMode.self
        guard permits(submission.identifier, of: app),
            apps[app].snapshot.modes.contains(submission.isProcessing ? mode.processing : mode.fetch)
        else { return .taskNotPermitted }
        let kind: BackgroundTaskKind = submission.isProcessing ? .processing : .refresh
        let others = areas.backgroundTask.apps[app].pending.count {
            $0.kind == kind && $0.identifier != submission.identifier
        }
        let limit = submission.isProcessing ? figures.processingRequests : figures.refreshRequests
        return others < Int(limit) ? nil : .tooManyTaskRequests
    }

    private mutating func cancelTasks(of app: AppID, where matches: (BackgroundTaskRecord.Item) -> Bool) {
        areas.backgroundTask.apps[app].pending.removeAll(where: matches)
        planTasks(of: app)
    }

    // MARK: Fetch

    private mutating func setFetchInterval(_ interval: Instant.Span?, of app: AppID) {
        guard profile.areas.backgroundTask.hasFetch else { return act(.refused(app, .tasksUnavailable)) }
        if ignoresFetch(of: app) { return act(.did(app, .ignoredFetchInterval)) }
        areas.backgroundTask.apps[app].pending.removeAll { $0.kind == .fetch }
        if let interval {
            areas.backgroundTask.apps[app].pending.append(
                .init(kind: .fetch, identifier: .none, since: now, interval: max(.zero, interval), isOfForeground: true)
            )
        }
        planTasks(of: app)
    }

    /// Whether the key of the scheduler disables the legacy calls (FETCH-6).
    private func ignoresFetch(of app: AppID) -> Bool {
        profile.areas.backgroundTask.hasTasks && areas.backgroundTask.apps[app].permitted != nil
    }

    /// The app is installed, or installed over: what its Info.plist permits no more is forgotten.
    mutating func permitTasks(_ identifiers: [NameID]?, of app: AppID) {
        areas.backgroundTask.apps[app].permitted = identifiers
        let ignoresFetch = ignoresFetch(of: app)
        areas.backgroundTask.apps[app].pending.removeAll { item in
            item.kind == .fetch ? ignoresFetch : identifiers?.contains(item.identifier) != true
        }
        areas.backgroundTask.apps[app].known.removeAll { identifiers?.contains($0.identifier) != true }
        planTasks(of: app)
    }
}
