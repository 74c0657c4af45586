import WakeModel

/// The phone itself: its lock, its display, its power and network, and its restarts (SYS-1).
extension Router {
    // MARK: Questions

    /// Whether nobody uses the phone: its display is dark, and no call goes on.
    var isIdle: Bool { !conditions.contains(.displayOn) && !areas.isInCall }

    /// Whether Background App Refresh is on for an app: for all, and for this one (PWR-3).
    package func refreshes(_ app: AppID) -> Bool {
        isInstalled(app) && !conditions.contains(.refreshOff) && !apps[app].snapshot.refreshRefused
    }

    // MARK: Changes

    mutating func phone(_ change: PhoneChange, id: EventID) {
        let before = conditions
        // What is shut down can only be started.
        guard !before.contains(.shutDown) || change == .boot else {
            act(.did(.none, .foundPhoneOff, id))
            return
        }
        guard before.contains(.shutDown) || change != .boot else {
            act(.did(.none, .foundItSo, id))
            return
        }
        let lack = lack(of: change)
        if let lack { act(.did(.none, lack, id)) }
        conditions = before.after(change)
        switch change {
        case .lock: setLocked(true)
        case .unlock:
            setLocked(false)
            if !unlockedSinceBoot { firstUnlock() }
        case .setPasscode: passcode = true
        case .removePasscode:
            // Only an unlocked phone lets its passcode be removed.
            passcode = false
            if !unlockedSinceBoot { firstUnlock() }
            setLocked(false)
        case .reboot:
            shutDown(by: id)
            boot()
        case .shutDown: shutDown(by: id)
        case .boot:
            conditions.remove(.shutDown)
            boot()
        case .displayOn:
            // Who asked to hear of it hears of it each time (BCN-3).
            let told = output.actions.count
            tell(.changed(change, id))
            if conditions == before, output.actions.count == told { act(.did(.none, .foundItSo, id)) }
        default:
            // What else happens to the phone is for areas to hear.
            if lack == nil { tell(.changed(change, id)) }
        }
        if change == .shutDown { conditions.insert(.shutDown) }
        if conditions != before { tell(.conditionsChanged(from: before)) }
    }

    /// What is said of a change that finds the phone as it would have it, or nobody to hear of it; nil for any other.
    private func lack(of change: PhoneChange) -> Deed? {
        if isSo(change) { return .foundItSo }
        var lack: Deed?
        askAreas { lack = lack ?? $0.lack(of: change, self) }
        return lack
    }

    private mutating func setLocked(_ locked: Bool) {
        isLocked = locked
        tell(.lockChanged)
    }

    private mutating func firstUnlock() {
        unlockedAt = now
        unlockedSinceBoot = true
        if profile.firstUnlockGates { tell(.booted) }
        tell(.unlocked)
        for app in everyApp { decideKept(of: app) }
    }

    /// Every process ends, links go and pending connections stay; the force-quit bar is lifted (LAUNCH-4).
    private mutating func shutDown(by id: EventID) {
        unlockedSinceBoot = !passcode
        if unlockedSinceBoot { unlockedAt = now }
        tell(.rebooting)
        for app in everyApp where apps[app].installed {
            endForGood(app, by: id, taking: .lostToReboot)
            apps[app].snapshot.rebootedSince = true
            if profile.rebootLiftsForceQuit, apps[app].snapshot.forceQuit {
                apps[app].snapshot.forceQuit = false
                act(.did(app, .liftedForceQuit, id))
            }
            reschedule(app)
        }
        setLocked(!unlockedSinceBoot)
        tell(.rebooted(by: id))
    }

    private mutating func boot() {
        if unlockedSinceBoot { unlockedAt = now }
        takeUp()
        tell(.restarted)
        if unlockedSinceBoot || !profile.firstUnlockGates { tell(.booted) }
    }

    /// Ends an app with all that it waits for, so that nothing brings it back at once.
    mutating func endForGood(_ app: AppID, by id: EventID, taking taker: Deed) {
        dropHeld(of: app)
        dropKept(of: app)
        apps[app].relaunch = nil
        if apps[app].hasProcess { end(app, cause: .system, code: 0, by: id, taking: taker) }
    }

    /// Every process died with the bench. What was waited for is asked of the radio again (SYS-2); connections that were
    /// up end by events of their own.
    mutating func benchRestarted(id: EventID) {
        tell(.benchRestarted)
        for app in everyApp where apps[app].installed && apps[app].hasProcess {
            let waiting = apps[app].waiting
            apps[app].waiting.removeAll()
            end(app, cause: .bench, code: 0, by: id)
            decideWaitingAgain(waiting, of: app)
            reschedule(app)
        }
        takeUp()
    }

    /// Asks the sources again for all that the system keeps for apps (SYS-2).
    private mutating func takeUp() {
        tell(.takeUp)
        act(.did(.none, .tookUpWhatIsKept))
    }
}
