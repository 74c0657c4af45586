import WakeModel

/// What apps ask: of the phone their background tasks, of areas the rest.
extension Router {
    mutating func request(_ request: AppRequest, from app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard apps[index].hasProcess, apps[index].state != .suspended else {
            output.actions.append(.refused(app, .notRunning))
            if apps[index].hasProcess { askAreas { $0.refuse(request, of: app, into: &output) } }
            return
        }
        switch request {
        case .beginTask(let token): beginTask(token, from: app, into: &output)
        case .endTask(let token): endTask(token, from: app, into: &output)
        case .done: wakeDone(app, into: &output)
        default:
            var isPerformed = false
            eachArea { area, router in
                isPerformed = isPerformed || area.perform(request, from: app, in: &router, into: &output)
            }
            precondition(isPerformed, "no area knows the request \(request)")
        }
    }

    mutating func beginTask(_ token: UInt64, from app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard !apps[index].tasks.contains(where: { $0.token == token }) else {
            output.actions.append(.refused(app, .duplicateTask))
            return
        }
        guard apps[index].tasks.count < Self.tasksLimit else {
            output.actions.append(.refused(app, .tooMany))
            return
        }
        if apps[index].isTaskBudgetSpent(runsOn: runsOn(index), at: now, by: constants.profile) {
            // It cannot be granted: the app hears so at once, and the task holds nothing.
            output.actions.append(.expireTasks(app, tokens: [token]))
            return
        }
        apps[index].begin(token, at: now)
        guard apps[index].state == .background else { return }
        keepFromFreezing(app, into: &output)
        if apps[index].taskBudgetEnds == nil, !runsOn(index) {
            apps[index].taskBudgetEnds = (apps[index].window?.ends ?? now).advanced(by: profile.taskBudget)
        }
    }

    /// Whether a task that an app begins now would have time: what performExpiringActivity asks first (TASK-7).
    package func grantsTask(of app: AppID, at now: Instant) -> Bool {
        guard isInstalled(app) else { return false }
        let index = Int(app.number)
        guard apps[index].tasks.count < Self.tasksLimit else { return false }
        let now = max(self.now, now)
        return apps[index].hasProcess && !apps[index].isEnding
            && !apps[index].isTaskBudgetSpent(runsOn: runsOn(index), at: now, by: constants.profile)
    }

    mutating func endTask(_ token: UInt64, from app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard let position = apps[index].tasks.firstIndex(where: { $0.token == token }) else {
            output.actions.append(.refused(app, .unknownTask))
            return
        }
        apps[index].tasks.remove(at: position)
        settle(app, into: &output)
    }

    /// The app's own word that its wake is over (LIFE-11).
    mutating func wakeDone(_ app: AppID, into output: inout RouterOutput) {
        if apps[Int(app.number)].finishWake(at: now, by: constants.profile) { settle(app, into: &output) }
    }

    /// Calls the expiration handlers when the budget is nearly spent (TASK-3), and kills at its end (TASK-4).
    mutating func expireTasks(of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard let ends = apps[index].taskBudgetEnds, !apps[index].tasks.isEmpty, !runsOn(index) else {
            return
        }
        if ends <= now {
            end(app, cause: .watchdog, code: profile.taskTerminationCode, by: .none, into: &output)
        } else if ends.since(now) <= profile.taskExpirationMargin {
            let told = apps[index].takeExpiring()
            if told.isEmpty { return }
            output.actions.append(.expireTasks(app, tokens: told))
        }
    }
}
