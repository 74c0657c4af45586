import WakeModel

/// What apps ask: of the phone their background tasks, of areas the rest.
extension Router {
    mutating func request(_ request: AppRequest, from app: AppID) {
        // When a call is over the phone knows, whether its app runs or not.
        let isOfPhone = if case .push(.callEnded) = request { true } else { false }
        guard apps[app].hasProcess, isOfPhone || apps[app].state != .suspended else {
            act(.refused(app, .notRunning))
            if apps[app].hasProcess { eachArea { $0.refuse(request, of: app, in: &$1) } }
            return
        }
        switch request {
        case .beginTask(let token): beginTask(token, from: app)
        case .endTask(let token): endTask(token, from: app)
        case .done:
            if apps[app].finishWake(at: now, by: constants) { settle(app) }
        default:
            let held = request.mayLetGo ? registrations(of: app) : []
            var isPerformed = false
            eachArea { area, router in
                isPerformed = isPerformed || area.perform(request, from: app, in: &router)
            }
            precondition(isPerformed, "no area knows the request \(request)")
            tellLost(held, of: app, to: .unregistered)
        }
    }

    mutating func beginTask(_ token: UInt64, from app: AppID) {
        guard !apps[app].tasks.contains(where: { $0.token == token }) else {
            act(.refused(app, .duplicateTask))
            return
        }
        guard apps[app].tasks.count < Self.tasksLimit else {
            act(.refused(app, .tooMany))
            return
        }
        if apps[app].isTaskBudgetSpent(runsOn: runsOn(app), at: now, by: constants) {
            // It cannot be granted: the app hears so at once, and the task holds nothing.
            act(.expireTasks(app, tokens: [token]))
            return
        }
        apps[app].tasks.append(.init(token: token))
        guard apps[app].state == .background else { return }
        keepFromFreezing(app)
        if !runsOn(app), apps[app].lengthenTaskBudget(at: now, by: constants) {
            act(.did(app, .grantedBudgetAfterWake))
        }
    }

    /// Whether a task that an app begins now would have time: what performExpiringActivity asks first (TASK-7).
    package func grantsTask(of app: AppID, at now: Instant) -> Bool {
        guard isInstalled(app) else { return false }
        guard apps[app].tasks.count < Self.tasksLimit else { return false }
        let now = max(self.now, now)
        return apps[app].hasProcess && !apps[app].isEnding
            && !apps[app].isTaskBudgetSpent(runsOn: runsOn(app), at: now, by: constants)
    }

    mutating func endTask(_ token: UInt64, from app: AppID) {
        guard let position = apps[app].tasks.firstIndex(where: { $0.token == token }) else {
            act(.refused(app, .unknownTask))
            act(.did(app, .passedOverUnknownTask))
            return
        }
        apps[app].tasks.remove(at: position)
        act(.did(app, .endedTask))
        settle(app)
    }

    /// Calls the expiration handlers when the budget is nearly spent (TASK-3), and kills at its end (TASK-4).
    mutating func expireTasks(of app: AppID) {
        guard let ends = apps[app].taskBudgetEnds, !apps[app].tasks.isEmpty, !runsOn(app) else {
            return
        }
        if isExempt(app) {
            if ends.since(now) <= profile.taskExpirationMargin { _ = spare(app) }
        } else if ends <= now {
            act(.did(app, .endedForTasks))
            end(app, cause: .watchdog, code: profile.taskTerminationCode, by: .none)
        } else if ends.since(now) <= profile.taskExpirationMargin {
            let told = apps[app].takeExpiring()
            if told.isEmpty { return }
            act(.expireTasks(app, tokens: told))
            act(.did(app, .expiredTasks))
        }
    }
}
