import WakeModel

extension Router {
    // MARK: The user

    mutating func user(_ action: UserAction, _ app: AppID, id: EventID, into output: inout RouterOutput) {
        switch action {
        case .launch: bringForward(app, id: id, into: &output)
        case .home: sendAway(app, into: &output)
        case .forceQuit: forceQuit(app, id: id, into: &output)
        case .interrupt:
            guard apps[Int(app.number)].state == .active else { return }
            resignActive(app, into: &output)
        case .resumeActive:
            if apps[Int(app.number)].stage == .inactive { activate(app, into: &output) }
        case .allowAlways, .keepWhenInUse: eachArea { $0.user(action, app, in: &$1) }
        }
    }

    mutating func bringForward(_ app: AppID, id: EventID, into output: inout RouterOutput) {
        let index = Int(app.number)
        if let other = foreground, other != app {
            sendAway(other, into: &output)
            reschedule(other)
        }
        foreground = app
        if apps[index].isEnding {
            apps[index].relaunch = .init(event: id, bound: .foreground)
            return
        }
        // A location event may have brought it back before the user did (LAUNCH-3).
        if apps[index].hasProcess { apps[index].face.forceQuit = false }
        switch apps[index].stage {
        case .active, .ending: return
        case .inactive: activate(app, into: &output)
        case .notRunning: userLaunch(app, id: id, into: &output)
        case .launching(_, let deadline, _):
            apps[index].window = nil
            enter(.launching(as: .inactive, deadline: deadline, bound: .foreground), app, into: &output)
        case .suspended, .freezing:
            enter(.inactive, app, into: &output)
            output.actions.append(.thaw(app))
            comeForward(app, into: &output)
        case .background, .leaving:
            enter(.inactive, app, into: &output)
            comeForward(app, into: &output)
        }
    }

    /// A new process in the foreground. The bar of a force quit is lifted (LAUNCH-2).
    private mutating func userLaunch(_ app: AppID, id: EventID, into output: inout RouterOutput) {
        apps[Int(app.number)].face.forceQuit = false
        launch(app, as: .inactive, cause: id, decision: .none, into: &output)
        decideKept(of: app, into: &output)
    }

    /// The user tapped the icon while the old process was ending, and may have gone elsewhere since.
    mutating func launchAfterEnd(_ app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard var relaunch = apps[index].relaunch else { return }
        apps[index].relaunch = nil
        // An event that was held has launched it already, and says where it is bound for.
        if case .launching(_, _, let bound) = apps[index].stage { relaunch.bound = bound }
        if apps[index].hasProcess { apps[index].face.forceQuit = false }
        if relaunch.bound == .foreground {
            bringForward(app, id: relaunch.event, into: &output)
        } else if !apps[index].hasProcess {
            userLaunch(app, id: relaunch.event, into: &output)
            bind(app, to: .background)
        }
    }

    /// An app that is being launched is to be elsewhere once it is.
    private mutating func bind(_ app: AppID, to bound: AppLifecycle.Bound) {
        guard case .launching(let state, let deadline, _) = apps[Int(app.number)].stage else { return }
        _ = apps[Int(app.number)].enter(.launching(as: state, deadline: deadline, bound: bound), at: now)
    }

    /// The process runs and its app is to be active.
    private mutating func comeForward(_ app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        apps[index].window = nil
        apps[index].taskBudgetEnds = nil
        output.actions.append(.callback(app, .willEnterForeground, state: .inactive))
        activate(app, into: &output)
        deliverDeferred(to: app, into: &output)
        decideHeld(of: app, into: &output)
        tell(.foregrounded, of: app, into: &output)
    }

    private mutating func activate(_ app: AppID, into output: inout RouterOutput) {
        enter(.active, app, into: &output)
        foreground = app
        output.actions.append(.callback(app, .didBecomeActive, state: .active))
    }

    /// The app leaves the foreground (LIFE-2), or ends where it may not stay in the background (OPT-1, LIFE-8).
    private mutating func sendAway(_ app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        if foreground == app { foreground = nil }
        apps[index].relaunch?.bound = .background
        guard apps[index].state == .active || apps[index].state == .inactive else { return }
        if apps[index].state == .active { resignActive(app, into: &output) }
        switch apps[index].stage {
        case .launching: bind(app, to: .background)
        case .ending: return
        case .inactive:
            if apps[index].face.exitsOnSuspend || !profile.multitasking {
                terminate(app, cause: .exit, code: 0, by: .none, into: &output)
                return
            }
            enter(.leaving(deadline: now.advanced(by: profile.transitionBudget)), app, into: &output)
            apps[index].taskBudgetEnds = now.advanced(by: profile.taskBudget)
            output.actions.append(.callback(app, .didEnterBackground, state: .background))
        case .notRunning, .active, .leaving, .background, .freezing, .suspended:
            preconditionFailure("sendAway() while \(apps[index].stage)")
        }
    }

    private mutating func resignActive(_ app: AppID, into output: inout RouterOutput) {
        var stage = AppLifecycle.Stage.inactive
        // It is asked to end, and the user turns away from it meanwhile.
        if case .ending(_, let deadline, let end) = apps[Int(app.number)].stage {
            stage = .ending(as: .inactive, deadline: deadline, end)
        }
        enter(stage, app, into: &output)
        output.actions.append(.callback(app, .willResignActive, state: .inactive))
    }

    private mutating func forceQuit(_ app: AppID, id: EventID, into output: inout RouterOutput) {
        let index = Int(app.number)
        apps[index].relaunch = nil
        if foreground == app, apps[index].state != .active, apps[index].state != .inactive { foreground = nil }
        apps[index].face.forceQuit = true
        apps[index].face.forceQuitAt = now
        apps[index].face.forceQuitBy = id
        if !apps[index].hasProcess, isBarred(app) { tell(.barred, of: app, into: &output) }
        terminate(app, cause: .userForceQuit, code: 0, by: id, into: &output)
    }

    // MARK: Launching and ending

    /// Starts a process in the foreground or the background.
    mutating func launch(
        _ app: AppID,
        as state: AppState,
        cause: EventID,
        decision: DecisionID,
        into output: inout RouterOutput
    ) {
        let index = Int(app.number)
        tell(.launching, of: app, into: &output)
        let deadline = now.advanced(by: profile.launchBudget)
        let bound: AppLifecycle.Bound = state == .background ? .background : .foreground
        enter(.launching(as: state, deadline: deadline, bound: bound), app, into: &output)
        apps[index].face.generation += 1
        apps[index].face.rebootedSince = false
        tell(.launched, of: app, into: &output)
        output.actions.append(
            .launch(
                app,
                generation: apps[index].face.generation,
                state: state,
                cause: cause,
                decision: decision,
                restores: preservedRestoreIdentifiers(of: app)
            )
        )
    }

    /// Ends the app: a running one is asked first where the cause allows, a suspended one never (LIFE-5, LIFE-6).
    mutating func terminate(
        _ app: AppID,
        cause: ExitCause,
        pressure: MemoryPressure = .normal,
        code: Int64,
        by event: EventID,
        into output: inout RouterOutput
    ) {
        let index = Int(app.number)
        guard apps[index].hasProcess else { return }
        switch apps[index].stage {
        case .ending:
            // It was asked already; only what cannot wait for its answer ends it now.
            guard LifecycleRules.isUrgent(cause, pressure) else { return }
            end(app, cause: cause, code: code, by: event, into: &output)
        case .notRunning, .suspended, .launching, .freezing:
            end(app, cause: cause, code: code, by: event, into: &output)
        case .inactive, .active, .leaving, .background:
            guard LifecycleRules.endsCleanly(cause, pressure) else {
                end(app, cause: cause, code: code, by: event, into: &output)
                return
            }
            let end = AppLifecycle.End(cause: cause, code: code, event: event)
            let state = apps[index].state
            enter(.ending(as: state, deadline: now.advanced(by: profile.transitionBudget), end), app, into: &output)
            output.actions.append(.callback(app, .willTerminate, state: state))
        }
    }

    // MARK: The process

    mutating func process(_ report: ProcessReport, of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard apps[index].hasProcess else { return }
        switch report {
        case .launched: launched(app, into: &output)
        case .returned(let callback): returned(callback, from: app, into: &output)
        case .suspended: suspended(app, into: &output)
        case .suspensionRefused:
            guard apps[index].stage == .freezing else { return }
            // It runs on until the next attempt; a window of its own keeps the attempts apart.
            enter(.background, app, into: &output)
            apps[index].openWindow(profile.areas.bluetooth.window, at: now)
            decideHeld(of: app, into: &output)
        case .exited(let code):
            var why = AppLifecycle.End(cause: code < 0 ? .crash : .exit, code: code, event: .none)
            if case .ending(_, _, let end) = apps[index].stage { (why.cause, why.event) = (end.cause, end.event) }
            end(app, cause: why.cause, code: code, by: why.event, alreadyGone: true, into: &output)
        case .launchFailed(let errno):
            guard apps[index].isLaunching else { return }
            end(app, cause: .crash, code: Int64(errno), by: .none, alreadyGone: true, into: &output)
        }
    }

    private mutating func launched(_ app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard case .launching(let state, _, let bound) = apps[index].stage else { return }
        enter(state == .inactive ? .inactive : .background, app, into: &output)
        deliverDeferred(to: app, into: &output)
        switch (state, bound) {
        case (.inactive, .background): sendAway(app, into: &output)
        case (.inactive, .foreground):
            activate(app, into: &output)
            tell(.foregrounded, of: app, into: &output)
        case (.background, _): settle(app, into: &output)
        case (.notRunning, _), (.active, _), (.suspended, _):
            preconditionFailure("launched() while \(state)")
        }
    }

    private mutating func returned(
        _ callback: LifecycleCallback,
        from app: AppID,
        into output: inout RouterOutput
    ) {
        let index = Int(app.number)
        switch (callback, apps[index].stage) {
        case (.didEnterBackground, .leaving):
            enter(.background, app, into: &output)
            settle(app, into: &output)
        case (.willTerminate, .ending(_, _, let end)):
            self.end(app, cause: end.cause, code: end.code, by: end.event, into: &output)
        case (.didEnterBackground, _), (.willTerminate, _), (.willResignActive, _), (.willEnterForeground, _),
            (.didBecomeActive, _), (.taskExpiration, _):
            break
        }
    }

    private mutating func suspended(_ app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard apps[index].stage == .freezing else { return }
        enter(.suspended, app, into: &output)
        apps[index].taskBudgetEnds = nil
        dropForAbsentManagers(of: app, into: &output)
        decideHeld(of: app, into: &output)
        tell(.suspended, of: app, into: &output)
    }

    /// Suspends an app in the background that nothing holds any more (LIFE-3).
    mutating func settle(_ app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        apps[index].window = apps[index].window(at: now)
        tell(.settling, of: app, into: &output)
        guard apps[index].stage == .background, apps[index].window == nil,
            apps[index].tasks.isEmpty, !runsOn(index), areas.lingers(index) == nil
        else { return }
        enter(.freezing, app, into: &output)
        output.actions.append(.freeze(app))
    }

    // MARK: Time

    mutating func deadlineReached(_ app: AppID, into output: inout RouterOutput) {
        tell(.due, of: app, into: &output)
        tell(.lapsed, of: app, into: &output)
        phaseDue(of: app, into: &output)
        // What is to be suspended now is told no more: its report would come after it was frozen (BCN-4).
        tell(.reportDue, of: app, into: &output)
    }

    private mutating func phaseDue(of app: AppID, into output: inout RouterOutput) {
        switch apps[Int(app.number)].stage {
        case .notRunning, .suspended, .freezing: break
        case .launching(_, let deadline, _), .leaving(let deadline):
            guard deadline <= now else { return }
            end(app, cause: .watchdog, code: TerminationCode.watchdog, by: .none, into: &output)
        case .ending(_, let deadline, let end):
            guard deadline <= now else { return }
            self.end(app, cause: end.cause, code: end.code, by: end.event, into: &output)
        case .inactive, .active, .background:
            expireTasks(of: app, into: &output)
            settle(app, into: &output)
        }
    }

    // MARK: What areas ask for

    /// Whether the user force-quit the app, and the system does not launch it until the user does (LAUNCH-2).
    func isBarred(_ app: AppID) -> Bool { profile.forceQuitBars && apps[Int(app.number)].face.forceQuit }

    /// Whether an app in the background runs for as long as it goes on with what it does.
    func runsOn(_ index: Int) -> Bool {
        var runs = false
        askAreas { if $0.runsOn(index, self) { runs = true } }
        return runs
    }

    /// What an app asked for was on its way when the freeze began: it is decided first.
    mutating func keepFromFreezing(_ app: AppID, into output: inout RouterOutput) {
        guard apps[Int(app.number)].stage == .freezing else { return }
        enter(.background, app, into: &output)
        output.actions.append(.thaw(app))
        decideHeld(of: app, into: &output)
    }

    /// Background tasks have their whole time from where nothing else lets the app run on, a wake included (TASK-8).
    mutating func beginTaskBudget(of app: AppID) {
        let index = Int(app.number)
        if !runsOn(index) { apps[index].beginTaskBudget(at: now, by: constants.profile) }
    }
}
