/// What became of an event for one app (SYS-4).
public enum Verdict: UInt8, Worded, Sendable {
    case foregroundDeliver
    case backgroundDeliver
    case resume
    case relaunch
    case `defer`
    case coalesce
    case drop
    case deny

    /// Whether the app gets the event now.
    @inlinable
    package var delivers: Bool {
        switch self {
        case .foregroundDeliver, .backgroundDeliver, .resume, .relaunch: true
        case .defer, .coalesce, .drop, .deny: false
        }
    }

    /// Written out, because a name is costly to ask for.
    package var word: String {
        switch self {
        case .foregroundDeliver: "foreground-deliver"
        case .backgroundDeliver: "background-deliver"
        case .resume: "resume"
        case .relaunch: "relaunch"
        case .defer: "defer"
        case .coalesce: "coalesce"
        case .drop: "drop"
        case .deny: "deny"
        }
    }
}

/// Why a verdict was given: a closed list, each owned by one rule. What else there is of it is a row of Tables/reasons.tsv.
public enum Reason: UInt8, CaseIterable, Sendable {
    case inForeground
    case alreadyRunning
    case resumed
    case relaunched
    case launching
    case forceQuit
    case beforeFirstUnlock
    case noRegistration
    case modeMissing
    case scanNeedsMode
    case scanWithoutServices
    case duplicateDiscovery
    case readinessWakesNobody
    case channelWakesNobody
    case noRestoreIdentifier
    case notRelaunchedAfterExit
    case bluetoothOff
    case exitsOnSuspend
    case managerNotCreated
    case deliveredLater
    case overflow
    case registrationEnded
    case appEnded
    case benchRestarted
    case notARequest
    case notPreserved
    case bluetoothNotAuthorized
    case relaunchedAfterForceQuit
    case answerWaits
    case foregroundUpdatesOnly
    case notRelaunchedByUpdates
    case withinDistanceFilter
    case notAuthorized
    case reducedAccuracy
    case updatesPaused
    case sideNotWanted
    case rangingNeedsRunning
    case nothingCrossed
    case crossingBegan
    case beaconKnown
    case ledToEvents
    case playsOn
    case stoppedPlaying
    case soundModeMissing
    case silentTooLong
    case callHasPriority
    case shouldResume
    case categoryForbids
    case cannotInterruptOthers
    case ranDry
    case notRelaunchedBySound
    case interrupted
    case accessoryModeMissing
    case protocolNotListed
    case notificationsNotAsked
    case notRelaunchedByAccessory
    case accessoryBytesLost
    case accessoryFollowsForeground
    case legacySocketsOff
    case launchedAfterBoot
    case launchedAfterExit
    case voipWakeLimit
    /// A suspended app gets the newest of its updates when it runs.
    case updateKept
    /// An update that waited gave way to a newer one.
    case newerUpdateKept
    /// An accessory that the user set up with AccessorySetupKit brings back a force-quit app.
    case relaunchedForAccessory
    case phoneIsOff
    /// The system shows a notification to the user by itself.
    case shownBySystem
    /// The user has the app before him, which gets its notification instead.
    case notificationInFront
    /// The user tapped a notification.
    case tapped
    case newsstandModeMissing
    case newsstandDone
    case progressWakesNobody
    case launchEventsOff
    case sessionNotDone
    /// The app was told of the session, and has not made it again yet.
    case sessionAnnounced
    case sessionDone
    /// What was kept with a session is told to the process that joined it.
    case sessionJoined
    case challengeWakes
    case transferRetried
    /// A push gives its app time.
    case wokenByPush
    /// The phone's system knows no background pushes yet.
    case noBackgroundPushes
    /// A background push is of another type, or asks to be given at once.
    case priorityForbids
    /// The system gives the app no more time for background pushes now, and holds the newest.
    case heldBySystem
    /// A held or stored push gave way to a newer one.
    case newerPushKept
    /// A held push went with the process of its app.
    case heldPushDropped
    /// APNs keeps the push until it reaches the phone.
    case storedByServer
    /// APNs has one push for an app, and a newer one took its place.
    case newerPushStored
    case pushExpired
    case payloadTooLarge
    /// A VoIP push gives its app time, whatever the user did with it.
    case calledByPush
    /// The app did not report too many calls.
    case callsNotReported
    /// A push is for the user alone.
    case pushForUser
    /// The service extension did not answer, and the notification is shown as it came.
    case originalShown
    /// There is a new issue for a Newsstand app.
    case newIssue
    /// The phone's system has no Newsstand any more.
    case newsstandGone
    case lowPowerMode
    /// A good moment for a fetch.
    case fetched
    case refreshTaskRuns
    case processingTaskRuns
    /// A developer's lever has the task run.
    case leverUsed
    case minimumInterval
    case chancesLow
    case useNotExpected
    case fetchPaused
    case noLaunchHandler
    case beforeBeginDate
    case farDateUnused
    case phoneInUse
    case noExternalPower
    case noNetwork
    case notEligible
    case refreshOff
    case refreshNeeded
}

/// One question of a decision, in the order of the rulebook; several may belong to one rule.
///
/// Each can pass and can fail. What only informs, such as the time that a wake has, is part of the snapshot. What else there is
/// of a check is a row of Tables/checks.tsv.
public enum Check: UInt8, CaseIterable, Sendable {
    case notForceQuit
    case unlockedSinceBoot
    case anyoneRegistered
    case asksToBeWoken
    case modePresent
    case updatesInBackground
    case updatesWake
    case updatesReachProcess
    case beyondDistanceFilter
    case authorized
    case notPaused
    case precisionNotNeeded
    case crossesBoundary
    case dwellOver
    case sideWanted
    case beaconIsNew
    case rangesWhileRunning
    case soundModePresent
    case audible
    case noCall
    case categoryAllows
    case interruptsNobody
    case relaunchedBySound
    case socketsWatched
    case voipModePresent
    case voipWakesLeft
    case fetchIntervalOver
    case chancesAllow
    case useExpected
    case fetchNotPaused
    case backgroundPushesKnown
    case priorityAllows
    case pushesLeft
    case notExpired
    case phoneReachable
    case payloadFits
    case callsReported
    case pushForApp
    case extensionAnswered
    case newsstandThere
    case newsstandModePresent
    case transferWakes
    case sendsLaunchEvents
    case allTransfersDone
    case notAnnounced
    case transferIsOver
    case accessoryModePresent
    case protocolListed
    case notificationsAsked
    case accessoryReachesProcess
    case scanHasMode
    case scanNamesServices
    case notDuplicate
    case restoreIdentifier
    case exitAllowsRelaunch
    case bluetoothOn
    case readinessWakes
    case channelWakes
    case requestOfCentral
    case peripheralPreserved
    case bluetoothAuthorized
    case deliveryWanted
    case handlerRegistered
    case beginDateReached
    case usedSinceFarRequest
    case phoneIdle
    case externalPower
    case networkThere
    case askedOrUsedInForeground
    case appInFront
    case runsInBackground
    case lowPowerModeOff
    case backgroundRefreshOn
    case refreshWhereNeeded
    case phoneIsOn
    case roomInQueues
    case lastsUntilDecided
}

/// How one check came out.
public enum CheckResult: UInt8, Worded, Sendable {
    case notEvaluated
    case notApplicable
    case pass
    case fail

    /// Written out, because a name is costly to ask for.
    package var word: String {
        switch self {
        case .notEvaluated: "not-evaluated"
        case .notApplicable: "not-applicable"
        case .pass: "pass"
        case .fail: "fail"
        }
    }
}

/// The results of all checks of one decision: two bits each, in two planes. There is room for 128 checks.
public struct CheckResults: Hashable, Sendable {
    /// The lower bit of each result, lowest first in the order of ``Check``.
    public var lower: UInt128
    /// The upper bit of each result.
    public var upper: UInt128

    /// Nothing evaluated, or the results of before.
    @inlinable
    public init(lower: UInt128 = 0, upper: UInt128 = 0) {
        self.lower = lower
        self.upper = upper
    }

    /// The result of one check.
    @inlinable
    public subscript(check: Check) -> CheckResult {
        @inline(__always)
        get {
            let place = UInt128(check.rawValue)
            let bits = (lower &>> place) & 1 | ((upper &>> place) & 1) &<< 1
            return CheckResult(rawValue: UInt8(truncatingIfNeeded: bits))!
        }
        @inline(__always)
        set {
            let place = UInt128(check.rawValue)
            lower = lower & ~(1 &<< place) | UInt128(newValue.rawValue & 1) &<< place
            upper = upper & ~(1 &<< place) | UInt128(newValue.rawValue &>> 1) &<< place
        }
    }

    /// Whether nothing was asked: so in a record that only says how an earlier one ended (``Decision``).
    @inlinable
    public var isEmpty: Bool { lower | upper == 0 }

    /// The failing checks, a bit each.
    @inlinable
    public var failing: UInt128 { lower & upper }

    /// The first failing check in the order of the rulebook.
    @inlinable
    public var decisive: Check? {
        let failing = failing
        return failing == 0 ? nil : Check(rawValue: UInt8(failing.trailingZeroBitCount))
    }
}
