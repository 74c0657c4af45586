import WakeModel

extension Router {
    // MARK: The user

    mutating func user(_ action: UserAction, _ app: AppID, id: EventID) {
        if let deed = lack(of: action, app) { act(.did(app, deed, id)) }
        switch action {
        case .launch: bringForward(app, id: id)
        case .home: sendAway(app)
        case .forceQuit: forceQuit(app, id: id)
        case .interrupt:
            guard apps[app].state == .active else { return }
            resignActive(app)
        case .resumeActive:
            if apps[app].stage == .inactive { activate(app) }
        case .allowAlways, .keepWhenInUse, .allowPrecise, .refusePrecise, .allowOnce, .allowNotifications,
            .refuseNotifications:
            eachArea { $0.user(action, app, id: id, in: &$1) }
        case .allowRefresh, .refuseRefresh:
            apps[app].snapshot.refreshRefused = action == .refuseRefresh
            tell(.changed, of: app)
        case .attachDebugger: debug(app, by: .attached)
        case .attachExemptingDebugger: debug(app, by: .exempting)
        case .detachDebugger: debug(app, by: .none)
        }
    }

    /// What is said of an action of the user that finds an app as it is not meant for; nil where it does what it says.
    private func lack(of action: UserAction, _ app: AppID) -> Deed? {
        let state = apps[app].state
        switch action {
        case .launch: return apps[app].stage == .active ? .foundItSo : nil
        case .forceQuit:
            if apps[app].hasProcess { return nil }
            if isBarred(app) { return .foundItSo }
            return profile.forceQuitBars ? .barredWithoutProcess : .foundNoProcess
        case .home, .interrupt, .resumeActive:
            switch state {
            case .notRunning: return .foundNoProcess
            // The user may have asked for it again while it was ending.
            case .background, .suspended: return apps[app].relaunch == nil ? .foundElsewhere : nil
            case .inactive: return action == .interrupt ? .foundItSo : nil
            case .active: return action == .resumeActive ? .foundItSo : nil
            }
        case .allowRefresh, .refuseRefresh:
            return apps[app].snapshot.refreshRefused == (action == .refuseRefresh) ? .foundItSo : nil
        case .attachDebugger: return apps[app].snapshot.debugger == .attached ? .foundItSo : nil
        case .attachExemptingDebugger: return apps[app].snapshot.debugger == .exempting ? .foundItSo : nil
        case .detachDebugger: return apps[app].snapshot.debugger == .none ? .foundItSo : nil
        // An area knows.
        case .allowAlways, .keepWhenInUse, .allowPrecise, .refusePrecise, .allowOnce, .allowNotifications,
            .refuseNotifications:
            return nil
        }
    }

    mutating func bringForward(_ app: AppID, id: EventID) {
        if let other = foreground, other != app {
            sendAway(other)
            reschedule(other)
        }
        foreground = app
        if apps[app].isEnding {
            apps[app].relaunch = .init(event: id, bound: .foreground)
            return
        }
        // A location event may have brought it back before the user did (LAUNCH-3).
        if apps[app].hasProcess { apps[app].snapshot.forceQuit = false }
        switch apps[app].stage {
        case .active, .ending: return
        case .inactive: activate(app)
        case .notRunning: userLaunch(app, id: id)
        case .launching(_, let deadline, _):
            apps[app].closeWindows()
            enter(.launching(as: .inactive, deadline: deadline, bound: .foreground), app)
        case .suspended, .freezing:
            enter(.inactive, app)
            act(.thaw(app))
            comeForward(app)
        case .background, .leaving:
            enter(.inactive, app)
            comeForward(app)
        }
    }

    /// A new process in the foreground. The bar of a force quit is lifted (LAUNCH-2).
    private mutating func userLaunch(_ app: AppID, id: EventID) {
        apps[app].snapshot.forceQuit = false
        launch(app, as: .inactive, cause: id, decision: .none)
        decideKept(of: app)
    }

    /// The user tapped the icon while the old process was ending, and may have gone elsewhere since.
    mutating func launchAfterEnd(_ app: AppID) {
        guard var relaunch = apps[app].relaunch else { return }
        apps[app].relaunch = nil
        // An event that was held has launched it already, and says where it is bound for.
        if case .launching(_, _, let bound) = apps[app].stage { relaunch.bound = bound }
        if apps[app].hasProcess { apps[app].snapshot.forceQuit = false }
        if relaunch.bound == .foreground {
            bringForward(app, id: relaunch.event)
        } else if !apps[app].hasProcess {
            userLaunch(app, id: relaunch.event)
            bind(app, to: .background)
        }
    }

    /// An app that is being launched is to be elsewhere once it is.
    private mutating func bind(_ app: AppID, to bound: AppLifecycle.Bound) {
        guard case .launching(let state, let deadline, _) = apps[app].stage else { return }
        _ = apps[app].enter(.launching(as: state, deadline: deadline, bound: bound), at: now)
    }

    /// The process runs and its app is to be active.
    private mutating func comeForward(_ app: AppID) {
        apps[app].closeWindows()
        apps[app].taskBudgetEnds = nil
        act(.callback(app, .willEnterForeground, state: .inactive))
        activate(app)
        if apps[app].waiting.contains(where: \.deferred) { act(.did(app, .gaveWhatWaited)) }
        deliverDeferred(to: app)
        decideHeld(of: app)
        tell(.foregrounded, of: app)
    }

    private mutating func activate(_ app: AppID) {
        enter(.active, app)
        foreground = app
        act(.callback(app, .didBecomeActive, state: .active))
    }

    /// The app leaves the foreground (LIFE-2), or ends where it may not stay in the background (OPT-1, LIFE-8).
    private mutating func sendAway(_ app: AppID) {
        if foreground == app { foreground = nil }
        apps[app].relaunch?.bound = .background
        guard apps[app].state == .active || apps[app].state == .inactive else { return }
        if apps[app].state == .active { resignActive(app) }
        switch apps[app].stage {
        case .launching: bind(app, to: .background)
        case .ending: return
        case .inactive:
            if apps[app].snapshot.exitsOnSuspend || !profile.multitasking {
                act(.did(app, apps[app].snapshot.exitsOnSuspend ? .endedOnSuspend : .endedWithoutMultitasking))
                terminate(app, cause: .exit, code: 0, by: .none)
                return
            }
            enter(.leaving(deadline: now.advanced(by: profile.transitionBudget)), app)
            apps[app].taskBudgetEnds = now.advanced(by: profile.taskBudget)
            act(.callback(app, .didEnterBackground, state: .background))
        case .notRunning, .active, .leaving, .background, .freezing, .suspended:
            preconditionFailure("sendAway() while \(apps[app].stage)")
        }
    }

    private mutating func resignActive(_ app: AppID) {
        var stage = AppLifecycle.Stage.inactive
        // It is asked to end, and the user turns away from it meanwhile.
        if case .ending(_, let deadline, let end) = apps[app].stage {
            stage = .ending(as: .inactive, deadline: deadline, end)
        }
        enter(stage, app)
        act(.callback(app, .willResignActive, state: .inactive))
    }

    private mutating func forceQuit(_ app: AppID, id: EventID) {
        apps[app].relaunch = nil
        if foreground == app, apps[app].state != .active, apps[app].state != .inactive { foreground = nil }
        apps[app].snapshot.forceQuit = true
        apps[app].snapshot.forceQuitAt = now
        apps[app].snapshot.forceQuitBy = id
        if !apps[app].hasProcess, isBarred(app) {
            let held = registrations(of: app)
            tell(.barred, of: app)
            tellLost(held, of: app, to: .lostToForceQuit, by: id)
        }
        terminate(app, cause: .userForceQuit, code: 0, by: id)
    }

    // MARK: Launching and ending

    /// Starts a process in the foreground or the background.
    ///
    /// - Parameter interest: How the app is interested in the event that it is launched for; nil where the user launches it.
    mutating func launch(
        _ app: AppID,
        as state: AppState,
        cause: EventID,
        decision: DecisionID,
        for interest: Interest? = nil
    ) {
        tell(.launching, of: app)
        let deadline = now.advanced(by: profile.launchBudget)
        let bound: AppLifecycle.Bound = state == .background ? .background : .foreground
        enter(.launching(as: state, deadline: deadline, bound: bound), app)
        apps[app].snapshot.generation += 1
        apps[app].snapshot.rebootedSince = false
        tell(.launched, of: app)
        let restores = interest.map { restoreIdentifiers(launchedFor: $0) }
        act(
            .launch(
                app,
                generation: apps[app].snapshot.generation,
                state: state,
                cause: cause,
                decision: decision,
                restores: restores ?? RestoreIdentifiers()
            )
        )
    }

    /// Ends the app: a running one is asked first where the cause allows, a suspended one never (LIFE-5, LIFE-6).
    mutating func terminate(
        _ app: AppID,
        cause: ExitCause,
        pressure: MemoryPressure = .normal,
        code: Int64,
        by event: EventID
    ) {
        guard apps[app].hasProcess else { return }
        switch apps[app].stage {
        case .ending:
            // It was asked already; only what cannot wait for its answer ends it now.
            guard LifecycleRules.isUrgent(cause, pressure) else { return }
            end(app, cause: cause, code: code, by: event)
        case .notRunning, .suspended, .launching, .freezing:
            if apps[app].state == .suspended { act(.did(app, .endedUnasked, event)) }
            end(app, cause: cause, code: code, by: event)
        case .inactive, .active, .leaving, .background:
            guard LifecycleRules.endsCleanly(cause, pressure) else {
                end(app, cause: cause, code: code, by: event)
                return
            }
            let end = AppLifecycle.End(cause: cause, code: code, event: event)
            let state = apps[app].state
            enter(.ending(as: state, deadline: now.advanced(by: profile.transitionBudget), end), app)
            act(.callback(app, .willTerminate, state: state))
            if state == .background { act(.did(app, .askedToEnd, event)) }
        }
    }

    // MARK: The process

    mutating func process(_ report: ProcessReport, of app: AppID) {
        guard apps[app].hasProcess else { return }
        switch report {
        case .launched: launched(app)
        case .returned(let callback): returned(callback, from: app)
        case .suspended: suspended(app)
        case .suspensionRefused:
            guard apps[app].stage == .freezing else { return }
            // It runs on until the next attempt; a window of its own keeps the attempts apart.
            enter(.background, app)
            apps[app].openWindow(retryWindow, isAnswered: false, at: now)
            decideHeld(of: app)
        case .exited(let code):
            var why = AppLifecycle.End(cause: code < 0 ? .crash : .exit, code: code, event: .none)
            if case .ending(_, _, let end) = apps[app].stage { (why.cause, why.event) = (end.cause, end.event) }
            end(app, cause: why.cause, code: code, by: why.event, alreadyGone: true)
        case .launchFailed(let errno):
            guard apps[app].isLaunching else { return }
            end(app, cause: .crash, code: Int64(errno), by: .none, alreadyGone: true)
        case .took(let event): tookResult(event, of: app)
        }
    }

    private mutating func launched(_ app: AppID) {
        guard case .launching(let state, _, let bound) = apps[app].stage else { return }
        enter(state == .inactive ? .inactive : .background, app)
        deliverDeferred(to: app)
        switch (state, bound) {
        case (.inactive, .background): sendAway(app)
        case (.inactive, .foreground):
            activate(app)
            tell(.foregrounded, of: app)
        case (.background, _): settle(app)
        case (.notRunning, _), (.active, _), (.suspended, _):
            preconditionFailure("launched() while \(state)")
        }
    }

    private mutating func returned(_ callback: LifecycleCallback, from app: AppID) {
        switch (callback, apps[app].stage) {
        case (.didEnterBackground, .leaving):
            act(.did(app, .tookViewSnapshot))
            enter(.background, app)
            settle(app)
            if apps[app].stage == .background, !apps[app].tasks.isEmpty { act(.did(app, .runsForTasks)) }
        case (.willTerminate, .ending(_, _, let end)):
            self.end(app, cause: end.cause, code: end.code, by: end.event)
        case (.didEnterBackground, _), (.willTerminate, _), (.willResignActive, _), (.willEnterForeground, _),
            (.didBecomeActive, _), (.taskExpiration, _), (.didReceiveMemoryWarning, _):
            break
        }
    }

    private mutating func suspended(_ app: AppID) {
        guard apps[app].stage == .freezing else { return }
        enter(.suspended, app)
        apps[app].taskBudgetEnds = nil
        dropForAbsentManagers(of: app)
        decideHeld(of: app)
        tell(.suspended, of: app)
    }

    /// Suspends an app in the background that nothing holds any more (LIFE-3).
    mutating func settle(_ app: AppID) {
        apps[app].closeWindows(by: now)
        tell(.settling, of: app)
        guard apps[app].stage == .background, apps[app].window(at: now) == nil,
            apps[app].tasks.isEmpty, !runsOn(app), areas.lingers(app) == nil
        else { return }
        if spare(app) || endsForLocks(app) { return }
        enter(.freezing, app)
        act(.freeze(app))
    }

    // MARK: Time

    mutating func deadlineReached(_ app: AppID) {
        tell(.due, of: app)
        tell(.lapsed, of: app)
        phaseDue(of: app)
        // What is to be suspended now is told no more: its report would come after it was frozen (BCN-4).
        tell(.reportDue, of: app)
    }

    private mutating func phaseDue(of app: AppID) {
        switch apps[app].stage {
        case .notRunning, .suspended, .freezing: break
        case .launching(_, let deadline, _), .leaving(let deadline):
            guard deadline <= now, !spare(app) else { return }
            act(.did(app, apps[app].isLaunching ? .endedInLaunch : .endedInLeaving))
            end(app, cause: .watchdog, code: TerminationCode.watchdog, by: .none)
        case .ending(_, let deadline, let end):
            guard deadline <= now else { return }
            self.end(app, cause: end.cause, code: end.code, by: end.event)
        case .inactive, .active, .background:
            expireTasks(of: app)
            settle(app)
        }
    }

    // MARK: What areas ask for

    /// Whether the user force-quit the app, and the system does not launch it until the user does (LAUNCH-2).
    func isBarred(_ app: AppID) -> Bool { profile.forceQuitBars && apps[app].snapshot.forceQuit }

    /// Whether an app in the background runs for as long as it goes on with what it does.
    func runsOn(_ app: AppID) -> Bool {
        var runs = false
        askAreas { if $0.runsOn(app, self) { runs = true } }
        return runs
    }

    /// What an app asked for was on its way when the freeze began: it is decided first.
    mutating func keepFromFreezing(_ app: AppID) {
        guard apps[app].stage == .freezing else { return }
        enter(.background, app)
        act(.thaw(app))
        decideHeld(of: app)
    }

    /// Background tasks have their whole time from where nothing else lets the app run on, a wake included (TASK-8).
    mutating func beginTaskBudget(of app: AppID) {
        if !runsOn(app) { apps[app].beginTaskBudget(at: now, by: constants) }
    }
}
