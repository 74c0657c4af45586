import WakeModel

/// A debugger that holds an app for as long as a developer likes (SYS-5).
extension Router {
    /// Whether limits of time pass by an app.
    func isExempt(_ app: AppID) -> Bool { apps[app].snapshot.debugger == .exempting }

    mutating func debug(_ app: AppID, by debugger: Debugger) {
        let wasExempt = isExempt(app)
        apps[app].snapshot.debugger = debugger
        guard wasExempt, !isExempt(app), apps[app].stage == .background else { return }
        // From here on the limits are those of any other app, from their beginning.
        apps[app].closeWindows()
        if !apps[app].tasks.isEmpty {
            apps[app].taskBudgetEnds = nil
            beginTaskBudget(of: app)
        }
        settle(app)
    }

    /// An exempt app has no time left for where it stands: it stays there. Says whether it is one.
    mutating func spare(_ app: AppID) -> Bool {
        guard isExempt(app) else { return false }
        act(.did(app, .sparedDebugged))
        switch apps[app].stage {
        case .launching(let state, _, let bound):
            enter(.launching(as: state, deadline: .distantFuture, bound: bound), app)
        case .leaving: enter(.leaving(deadline: .distantFuture), app)
        case .background where !apps[app].tasks.isEmpty: apps[app].taskBudgetEnds = nil
        case .background: apps[app].window = .init(began: now, ends: .distantFuture)
        case .notRunning, .inactive, .active, .freezing, .suspended, .ending: break
        }
        return true
    }
}
