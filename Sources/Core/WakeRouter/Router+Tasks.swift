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
        if isTaskBudgetSpent(index, at: now) {
            // It cannot be granted: the app hears so at once, and the task holds nothing.
            output.actions.append(.expireTasks(app, tokens: [token]))
            return
        }
        if apps[index].tasks.isEmpty, apps[index].window(at: now) != nil { apps[index].taskBudgetEnds = nil }
        apps[index].tasks.append(.init(token: token))
        guard apps[index].state == .background else { return }
        if apps[index].phase == .freezing {
            // The request was on its way when the freeze began: it forbids suspension.
            apps[index].phase = .running
            output.actions.append(.thaw(app))
            decideHeld(of: app, into: &output)
        }
        if apps[index].taskBudgetEnds == nil, !runsOn(index) {
            apps[index].taskBudgetEnds = (apps[index].window?.ends ?? now).advanced(by: profile.taskBudget)
        }
    }

    /// Whether a task that an app begins now would have time: what performExpiringActivity asks first (TASK-7).
    package func grantsTask(of app: AppID, at now: Instant) -> Bool {
        guard isInstalled(app) else { return false }
        let index = Int(app.number)
        guard apps[index].tasks.count < Self.tasksLimit else { return false }
        switch apps[index].phase {
        case .ending: return false
        case .resting, .launching, .running, .leaving, .freezing: break
        }
        return apps[index].hasProcess && !isTaskBudgetSpent(index, at: max(self.now, now))
    }

    private func isTaskBudgetSpent(_ index: Int, at now: Instant) -> Bool {
        guard apps[index].state == .background, !runsOn(index), let ends = apps[index].taskBudgetEnds
        else { return false }
        // The first task inside a wake has a budget of its own (TASK-8).
        if apps[index].tasks.isEmpty, apps[index].window(at: now) != nil { return false }
        return ends.since(now) <= profile.taskExpirationMargin
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
        let index = Int(app.number)
        guard apps[index].state == .background, apps[index].window != nil else { return }
        apps[index].window = nil
        if let ends = apps[index].taskBudgetEnds {
            // A budget that counts from the end of the wake counts from here (TASK-8); none grows.
            apps[index].taskBudgetEnds = min(ends, now.advanced(by: profile.taskBudget))
        }
        settle(app, into: &output)
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
            let told = apps[index].tasks.filter { !$0.expired }.map(\.token)
            guard !told.isEmpty else { return }
            for position in apps[index].tasks.indices { apps[index].tasks[position].expired = true }
            output.actions.append(.expireTasks(app, tokens: told))
        }
    }
}
