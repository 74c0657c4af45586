import WakeModel

/// What follows from checks, written down a second time from the rulebook and from nowhere else.
enum Rulebook {
    /// The verdict of a record in which these checks fail, in their order, and all others hold.
    static func verdict(_ failing: [Check], _ decision: Decision) -> Verdict {
        guard let decisive = failing.first else { return acceptance(decision) }
        let isLost = failing.contains { [.roomInQueues, .lastsUntilDecided, .deliveryWanted].contains($0) }
        let waits = decision.snapshot.state == .suspended && !isLost
        switch decisive {
        // BTC-2: it waits when nothing but the mode is missing. BTP-1: a central does not wait for an answer.
        case .modePresent where decision.snapshot.via.source == .bluetooth:
            return waits && onlyWaiting(failing, decision) ? .defer : .deny
        case .requestOfCentral: return waits && onlyWaiting(failing, decision) ? .defer : .deny
        // BTC-12, BTC-13: it waits for the app to run.
        case .readinessWakes, .channelWakes:
            return waits && failing.allSatisfy { $0 == decisive } ? .defer : .drop
        // LAUNCH-6: an answer waits for the app that asked, and there is nothing to wait for when it is gone.
        case .asksToBeWoken: return waits ? .defer : .drop
        // LOC-2: the newest update is kept.
        case .updatesWake: return waits ? .defer : .drop
        // AUD-6: the end of an interruption is told to a suspended app when it runs.
        case .soundModePresent: return waits ? .defer : .deny
        // BTC-4, LOC-4: it merges with what was told before.
        case .notDuplicate, .beyondDistanceFilter: return .coalesce
        case .bluetoothOn, .deliveryWanted, .notPaused, .sideWanted, .notificationsAsked: return .drop
        case .roomInQueues, .lastsUntilDecided: return .drop
        // XFER-2: progress is for who watches it.
        case .transferWakes: return .drop
        // XFER-2, XFER-7: the result is kept with the session, or there is none yet.
        case .allTransfersDone, .notAnnounced, .transferIsOver: return .coalesce
        // PWR-2: a task is tried again.
        case .lowPowerModeOff where decision.snapshot.via.source == .task: return .deny
        // PUSH-3, PUSH-4, PWR-2: kept by the phone, or by APNs.
        case .pushesLeft, .phoneReachable, .lowPowerModeOff: return isLost ? .drop : .defer
        case .notExpired, .extensionAnswered: return .drop
        case .anyoneRegistered, .crossesBoundary, .dwellOver, .beaconIsNew: return .drop
        default: return .deny
        }
    }

    private static func onlyWaiting(_ failing: [Check], _ decision: Decision) -> Bool {
        if decision.kind == .readRequested || decision.kind == .writeRequested { return false }
        return failing.allSatisfy {
            [.modePresent, .requestOfCentral, .readinessWakes, .channelWakes].contains($0)
        }
    }

    /// LIFE-11, LIFE-4, LAUNCH-1; what is for no app becomes the events that follow from it.
    private static func acceptance(_ decision: Decision) -> Verdict {
        if decision.app == .none { return .coalesce }
        // LOC-2: what could not be given did not ask whether it wakes.
        let isKept = decision.snapshot.via == .standardUpdates && decision.checks[.updatesWake] == .notApplicable
        return switch decision.snapshot.state {
        case .active, .inactive: .foregroundDeliver
        case .background: .backgroundDeliver
        case .suspended: isKept ? .defer : .resume
        case .notRunning: .relaunch
        }
    }

    /// Whether the checks tell what would have been without this one: not when nobody knows whom the event would have
    /// reached, or as what.
    static func tells(_ decision: Decision, _ decisive: Check) -> Bool {
        switch decisive {
        case .anyoneRegistered: false
        case .roomInQueues: decision.app != .none
        case .deliveryWanted: decision.snapshot.via != .none
        default: true
        }
    }

    /// Whether a check's statement is so by what its record shows; nil when the record shows no more than that.
    static func holds(_ check: Check, _ decision: Decision, _ profile: Profile) -> Bool? {
        let shown = decision.snapshot
        let isRunning = shown.state != .notRunning && shown.state != .suspended
        switch check {
        case .notForceQuit: return !shown.forceQuit
        case .unlockedSinceBoot: return shown.unlockedSinceBoot || !shown.passcode
        case .modePresent:
            if shown.via.source == .task {
                return shown.modes.contains(shown.via == .processingTask ? .processing : .fetch)
            }
            if shown.via.source == .location { return shown.modes.contains(.location) }
            if shown.via.source == .push { return shown.modes.contains(decision.kind.mode) }
            let roles = [BackgroundMode.bluetoothCentral, .bluetoothPeripheral].map { shown.modes.contains($0) }
            // The state of the adapter, and channels, concern both roles.
            return roles[0] == roles[1] ? roles[0] : nil
        case .voipModePresent: return shown.modes.contains(.voip)
        case .soundModePresent: return shown.modes.contains(.audio)
        case .accessoryModePresent: return shown.modes.contains(.externalAccessory)
        case .updatesReachProcess, .accessoryReachesProcess: return shown.state != .notRunning
        case .rangesWhileRunning: return isRunning
        case .precisionNotNeeded: return ![.region, .beaconRegion, .ranging].contains(shown.via)
        case .beyondDistanceFilter: return shown.movedSquare >= shown.filterChord * shown.filterChord
        case .authorized:
            switch shown.locationAuthorization {
            case .always, .provisionalAlways: return true
            case .whenInUse, .allowOnce: return nil
            case .notDetermined, .restricted, .denied: return false
            }
        case .socketsWatched:
            return profile.areas.voip.legacy == .on
                || profile.areas.voip.legacy == .bySDK && (1..<10).contains(shown.sdk.major)
        case .pushesLeft: return profile.areas.push.limit.map { shown.pushWakes < $0 }
        case .callsReported: return profile.areas.push.unreportedLimit.map { shown.unreportedCalls < $0 }
        case .phoneReachable: return !shown.conditions.contains(.shutDown) && shown.conditions.hasNetwork
        case .lowPowerModeOff: return !shown.conditions.contains(.lowPowerMode)
        case .backgroundPushesKnown: return profile.areas.push.background
        case .newsstandThere: return profile.areas.push.newsstand
        case .voipWakesLeft: return profile.areas.voip.wakeLimit.map { shown.voipWakes < $0 }
        case .newsstandModePresent: return shown.modes.contains(.newsstandContent)
        case .sendsLaunchEvents: return shown.sendsLaunchEvents
        case .allTransfersDone: return shown.transfersLeft == 0
        case .transferWakes:
            return decision.kind == .transferEnded || decision.kind == .transferChallenged ? true : nil
        case .appInFront: return shown.state == .active || shown.state == .inactive
        case .readinessWakes: return isRunning
        case .channelWakes: return isRunning || profile.areas.bluetooth.channelDataWakes
        case .scanHasMode: return shown.modes.contains(.bluetoothCentral)
        case .scanNamesServices: return shown.scanServices > 0
        case .restoreIdentifier, .peripheralPreserved:
            return profile.areas.bluetooth.restoration && shown.restoreIdentifier != .none
        case .exitAllowsRelaunch:
            return (!shown.rebootedSince || profile.areas.bluetooth.relaunchesAfterReboot)
                && (!shown.bluetoothOffSince || shown.bluetoothOffLifted)
                && !shown.endedByReboot
        case .bluetoothOn:
            switch decision.kind {
            case .bluetoothPoweredOff, .centralUnsubscribed: return nil
            default: return shown.bluetoothOn
            }
        case .bluetoothAuthorized: return shown.bluetoothAllowed
        case .requestOfCentral:
            switch decision.kind {
            case .readRequested, .writeRequested, .centralSubscribed, .centralUnsubscribed, .channelOpened,
                .channelDataAvailable:
                return true
            default: return false
            }
        case .runsInBackground: return !shown.exitsOnSuspend
        case .useExpected:
            return shown.task.expectedUse == .distantFuture
                || shown.task.expectedUse.since(decision.at) <= profile.areas.backgroundTask.lead
        case .fetchNotPaused:
            let isPaused = profile.areas.backgroundTask.heedsLowPower && shown.conditions.contains(.lowPowerMode)
            return !isPaused && !shown.conditions.contains(.refreshOff) && !shown.refreshRefused
        case .backgroundRefreshOn, .refreshWhereNeeded:
            return !shown.conditions.contains(.refreshOff) && !shown.refreshRefused
        case .phoneIdle: return shown.conditions.contains(.displayOn) ? false : nil
        case .externalPower: return shown.conditions.contains(.externalPower) ? true : nil
        case .networkThere: return shown.conditions.hasNetwork ? true : nil
        default: return nil
        }
    }
}
