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
            move(app, to: .inactive, into: &output)
            output.actions.append(.callback(app, .willResignActive, state: .inactive))
        case .resumeActive:
            guard apps[Int(app.number)].state == .inactive, apps[Int(app.number)].phase == .running else { return }
            activate(app, into: &output)
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
        if case .ending = apps[index].phase {
            apps[index].userLaunchAfterEnd = id
            apps[index].launchTarget = .active
            return
        }
        if apps[index].hasProcess {
            // A location event may have brought it back before the user did (LAUNCH-3).
            apps[index].face.forceQuit = false
        }
        switch apps[index].state {
        case .active: return
        case .inactive:
            if case .launching = apps[index].phase {
                apps[index].launchTarget = .active
            } else {
                activate(app, into: &output)
            }
        case .notRunning:
            userLaunch(app, id: id, into: &output)
        case .suspended:
            move(app, to: .inactive, into: &output)
            output.actions.append(.thaw(app))
            comeForward(app, into: &output)
        case .background:
            move(app, to: .inactive, into: &output)
            switch apps[index].phase {
            case .launching:
                apps[index].window = nil
                apps[index].launchTarget = .active
            case .freezing:
                output.actions.append(.thaw(app))
                comeForward(app, into: &output)
            case .running, .leaving, .resting, .ending: comeForward(app, into: &output)
            }
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
        guard let id = apps[index].userLaunchAfterEnd else { return }
        let target = apps[index].launchTarget
        apps[index].userLaunchAfterEnd = nil
        if apps[index].hasProcess { apps[index].face.forceQuit = false }
        if target == .active {
            bringForward(app, id: id, into: &output)
        } else if !apps[index].hasProcess {
            userLaunch(app, id: id, into: &output)
            apps[index].launchTarget = .background
        }
    }

    /// The process runs and its app is to be active.
    private mutating func comeForward(_ app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        apps[index].phase = .running
        apps[index].window = nil
        apps[index].taskBudgetEnds = nil
        output.actions.append(.callback(app, .willEnterForeground, state: .inactive))
        activate(app, into: &output)
        deliverDeferred(to: app, into: &output)
        decideHeld(of: app, into: &output)
        tell(.foregrounded, of: app, into: &output)
    }

    private mutating func activate(_ app: AppID, into output: inout RouterOutput) {
        move(app, to: .active, into: &output)
        foreground = app
        output.actions.append(.callback(app, .didBecomeActive, state: .active))
    }

    /// The app leaves the foreground (LIFE-2), or ends where it may not stay in the background (OPT-1, LIFE-8).
    private mutating func sendAway(_ app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        if foreground == app { foreground = nil }
        if apps[index].userLaunchAfterEnd != nil { apps[index].launchTarget = .background }
        guard apps[index].state == .active || apps[index].state == .inactive else { return }
        if apps[index].state == .active {
            move(app, to: .inactive, into: &output)
            output.actions.append(.callback(app, .willResignActive, state: .inactive))
        }
        switch apps[index].phase {
        case .launching:
            apps[index].launchTarget = .background
            return
        case .ending: return
        case .resting, .running, .leaving, .freezing: break
        }
        if apps[index].face.exitsOnSuspend || !profile.multitasking {
            terminate(app, cause: .exit, code: 0, by: .none, into: &output)
            return
        }
        move(app, to: .background, into: &output)
        apps[index].phase = .leaving(deadline: now.advanced(by: profile.transitionBudget))
        apps[index].taskBudgetEnds = now.advanced(by: profile.taskBudget)
        output.actions.append(.callback(app, .didEnterBackground, state: .background))
    }

    private mutating func forceQuit(_ app: AppID, id: EventID, into output: inout RouterOutput) {
        let index = Int(app.number)
        apps[index].userLaunchAfterEnd = nil
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
        move(app, to: state, into: &output)
        apps[index].face.generation += 1
        apps[index].phase = .launching(deadline: now.advanced(by: profile.launchBudget))
        apps[index].launchTarget = state == .background ? .background : .active
        apps[index].face.rebootedSince = false
        tell(.launched, of: app, into: &output)
        output.actions.append(
            .launch(app, generation: apps[index].face.generation, state: state, cause: cause, decision: decision)
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
        switch apps[index].phase {
        case .ending:
            // It was asked already; only what cannot wait for its answer ends it now.
            guard LifecycleRules.isUrgent(cause, pressure) else { return }
            end(app, cause: cause, code: code, by: event, into: &output)
        case .resting, .launching, .freezing:
            end(app, cause: cause, code: code, by: event, into: &output)
        case .running, .leaving:
            guard LifecycleRules.endsCleanly(cause, pressure) else {
                end(app, cause: cause, code: code, by: event, into: &output)
                return
            }
            apps[index].phase = .ending(
                deadline: now.advanced(by: profile.transitionBudget),
                cause: cause,
                code: code,
                by: event
            )
            output.actions.append(.callback(app, .willTerminate, state: apps[index].state))
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
            guard apps[index].phase == .freezing else { return }
            // It runs on until the next attempt; a window of its own keeps the attempts apart.
            apps[index].phase = .running
            apps[index].window = .init(began: now, ends: now.advanced(by: profile.bluetoothWindow))
            decideHeld(of: app, into: &output)
        case .exited(let code):
            if case .ending(_, let cause, _, let event) = apps[index].phase {
                end(app, cause: cause, code: code, by: event, alreadyGone: true, into: &output)
            } else {
                end(
                    app,
                    cause: code < 0 ? .crash : .exit,
                    code: code,
                    by: .none,
                    alreadyGone: true,
                    into: &output
                )
            }
        case .launchFailed(let errno):
            guard case .launching = apps[index].phase else { return }
            end(app, cause: .crash, code: Int64(errno), by: .none, alreadyGone: true, into: &output)
        }
    }

    private mutating func launched(_ app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard case .launching = apps[index].phase else { return }
        apps[index].phase = .running
        deliverDeferred(to: app, into: &output)
        switch (apps[index].state, apps[index].launchTarget) {
        case (.inactive, .background): sendAway(app, into: &output)
        case (.inactive, _):
            activate(app, into: &output)
            tell(.foregrounded, of: app, into: &output)
        case (.background, _): settle(app, into: &output)
        case (.notRunning, _), (.active, _), (.suspended, _):
            preconditionFailure("launched() while \(apps[index].state)")
        }
    }

    private mutating func returned(
        _ callback: LifecycleCallback,
        from app: AppID,
        into output: inout RouterOutput
    ) {
        let index = Int(app.number)
        switch (callback, apps[index].phase) {
        case (.didEnterBackground, .leaving):
            apps[index].phase = .running
            settle(app, into: &output)
        case (.willTerminate, .ending(_, let cause, let code, let event)):
            end(app, cause: cause, code: code, by: event, into: &output)
        case (.didEnterBackground, _), (.willTerminate, _), (.willResignActive, _), (.willEnterForeground, _),
            (.didBecomeActive, _), (.taskExpiration, _):
            break
        }
    }

    private mutating func suspended(_ app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard apps[index].phase == .freezing else { return }
        move(app, to: .suspended, into: &output)
        apps[index].phase = .resting
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
        guard apps[index].state == .background, apps[index].phase == .running, apps[index].window == nil,
            apps[index].tasks.isEmpty, !runsOn(index), areas.lingers(index) == nil
        else { return }
        apps[index].phase = .freezing
        output.actions.append(.freeze(app))
    }

    // MARK: Time

    mutating func deadlineReached(_ app: AppID, into output: inout RouterOutput) {
        tell(.due, of: app, into: &output)
        phaseDue(of: app, into: &output)
        // What is to be suspended now is told no more: its report would come after it was frozen (BCN-4).
        tell(.reportDue, of: app, into: &output)
    }

    private mutating func phaseDue(of app: AppID, into output: inout RouterOutput) {
        switch apps[Int(app.number)].phase {
        case .resting, .freezing: break
        case .launching(let deadline), .leaving(let deadline):
            guard deadline <= now else { return }
            end(app, cause: .watchdog, code: TerminationCode.watchdog, by: .none, into: &output)
        case .ending(let deadline, let cause, let code, let event):
            guard deadline <= now else { return }
            end(app, cause: cause, code: code, by: event, into: &output)
        case .running:
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
        guard apps[Int(app.number)].phase == .freezing else { return }
        apps[Int(app.number)].phase = .running
        output.actions.append(.thaw(app))
        decideHeld(of: app, into: &output)
    }

    /// Background tasks have their whole time from where nothing else lets the app run on, a wake included (TASK-8).
    mutating func beginTaskBudget(of app: AppID) {
        let index = Int(app.number)
        guard !runsOn(index) else { return }
        apps[index].taskBudgetEnds = (apps[index].window(at: now)?.ends ?? now).advanced(by: profile.taskBudget)
    }
}
