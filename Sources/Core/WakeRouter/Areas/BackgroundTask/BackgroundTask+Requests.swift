import WakeModel

/// What apps ask of the scheduler.
extension Router {
    mutating func backgroundTask(_ request: BackgroundTaskRequest, from app: AppID) {
        switch request {
        case .register(let identifier, let answer): say(registerHandler(identifier, of: app), answer, to: app)
        case .submit(let submission, let clock, let answer):
            areas.backgroundTask.clock = clock
            say(submit(submission, of: app), answer, to: app)
        case .cancel(let identifier): cancelTasks(of: app) { $0.identifier == identifier && $0.kind != .fetch }
        case .cancelAll: cancelTasks(of: app) { $0.kind != .fetch }
        case .list(let answer): act(.tell(app, .taskAnswer(answer, .pending(pendingTasks(of: app)))))
        case .complete(let number, _): completed(number, of: app)
        case .setFetchInterval(let interval, let clock):
            areas.backgroundTask.clock = clock
            setFetchInterval(interval, of: app)
        case .fetched(let number, let result, let downloaded):
            fetched(number, result, downloaded: downloaded, of: app)
        }
    }

    /// Tells an app that waits for it what became of what it asked.
    private mutating func say(_ fault: RequestFault?, _ answer: UInt64?, to app: AppID) {
        if let fault { act(.refused(app, fault)) }
        // Who is ended for what he asked hears no more.
        if let answer, apps[app].hasProcess { act(.tell(app, .taskAnswer(answer, .decided(fault)))) }
    }

    private func pendingTasks(of app: AppID) -> [BackgroundTaskSubmission] {
        areas.backgroundTask.apps[app].pending.filter { $0.kind != .fetch }.map { item in
            BackgroundTaskSubmission(
                identifier: item.identifier,
                isProcessing: item.kind == .processing,
                begins: item.begins == .zero ? nil : item.begins,
                needsPower: item.needsPower,
                needsNetwork: item.needsNetwork
            )
        }
    }

    // MARK: Launch handlers

    /// A handler is registered while the app launches, and once in a process (BGT-3).
    ///
    /// - Returns: why it is not registered.
    private mutating func registerHandler(_ identifier: NameID, of app: AppID) -> RequestFault? {
        guard profile.areas.backgroundTask.hasTasks else { return .tasksUnavailable }
        guard permits(identifier, of: app) else { return .taskNotPermitted }
        if !apps[app].isLaunching {
            endForHandler(.endedForLateHandler, app)
        } else if areas.backgroundTask.apps[app].handlers.contains(identifier) {
            endForHandler(.endedForSecondHandler, app)
        } else {
            areas.backgroundTask.apps[app].handlers.insertInOrder(identifier)
        }
        return nil
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

    /// - Returns: why it is not pending.
    private mutating func submit(_ submission: BackgroundTaskSubmission, of app: AppID) -> RequestFault? {
        let identifier = submission.identifier
        if let fault = fault(of: submission, by: app) {
            switch fault {
            case .taskNotPermitted: act(.did(app, .refusedTaskRequest, subject: identifier))
            case .tooManyTaskRequests: act(.did(app, .refusedTooManyTaskRequests, subject: identifier))
            case .tasksUnavailable where profile.areas.backgroundTask.hasTasks:
                act(.did(app, .refusedWithoutRefresh, subject: identifier))
            default: break
            }
            return fault
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
        return nil
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
    func ignoresFetch(of app: AppID) -> Bool {
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
