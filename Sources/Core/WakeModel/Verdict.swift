/// What became of an event for one app (SYS-4).
public enum Verdict: UInt8, CaseIterable, Sendable {
    case foregroundDeliver
    case backgroundDeliver
    case resume
    case relaunch
    case `defer`
    case coalesce
    case drop
    case deny

    /// The word used in records and scenarios.
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

    package init?(word: String) {
        guard let verdict = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = verdict
    }

    /// Whether the app gets the event now.
    @inlinable
    package var delivers: Bool {
        switch self {
        case .foregroundDeliver, .backgroundDeliver, .resume, .relaunch: true
        case .defer, .coalesce, .drop, .deny: false
        }
    }
}

/// Why a verdict was given: a closed list, each owned by one rule.
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

    /// The word used in records, scenarios and `wakebench rules --reasons`.
    package var word: String {
        switch self {
        case .inForeground: "InForeground"
        case .alreadyRunning: "AlreadyRunning"
        case .resumed: "Resumed"
        case .relaunched: "Relaunched"
        case .launching: "Launching"
        case .forceQuit: "ForceQuit"
        case .beforeFirstUnlock: "BeforeFirstUnlock"
        case .noRegistration: "NoRegistration"
        case .modeMissing: "ModeMissing"
        case .scanNeedsMode: "ScanNeedsMode"
        case .scanWithoutServices: "ScanWithoutServices"
        case .duplicateDiscovery: "DuplicateDiscovery"
        case .noRestoreIdentifier: "NoRestoreIdentifier"
        case .notRelaunchedAfterExit: "NotRelaunchedAfterExit"
        case .bluetoothOff: "BluetoothOff"
        case .exitsOnSuspend: "ExitsOnSuspend"
        case .managerNotCreated: "ManagerNotCreated"
        case .deliveredLater: "DeliveredLater"
        case .overflow: "Overflow"
        case .registrationEnded: "RegistrationEnded"
        case .appEnded: "AppEnded"
        case .benchRestarted: "BenchRestart"
        case .notARequest: "NotARequest"
        case .notPreserved: "NotPreserved"
        case .bluetoothNotAuthorized: "BluetoothNotAuthorized"
        case .relaunchedAfterForceQuit: "RelaunchedAfterForceQuit"
        case .answerWaits: "AnswerWaits"
        case .foregroundUpdatesOnly: "ForegroundUpdatesOnly"
        case .notRelaunchedByUpdates: "NotRelaunchedByUpdates"
        case .withinDistanceFilter: "WithinDistanceFilter"
        case .notAuthorized: "NotAuthorized"
        case .updatesPaused: "UpdatesPaused"
        case .sideNotWanted: "SideNotWanted"
        case .rangingNeedsRunning: "RangingNeedsRunning"
        case .nothingCrossed: "NothingCrossed"
        case .crossingBegan: "CrossingBegan"
        case .beaconKnown: "BeaconKnown"
        case .ledToEvents: "LedToEvents"
        case .playsOn: "PlaysOn"
        case .stoppedPlaying: "StoppedPlaying"
        case .soundModeMissing: "AudioModeMissing"
        case .silentTooLong: "SilentTooLong"
        case .callHasPriority: "CallHasPriority"
        case .shouldResume: "ShouldResume"
        case .categoryForbids: "CategoryForbids"
        case .cannotInterruptOthers: "CannotInterruptOthers"
        case .ranDry: "RanDry"
        case .notRelaunchedBySound: "NotRelaunchedByAudio"
        case .interrupted: "Interrupted"
        case .accessoryModeMissing: "AccessoryModeMissing"
        case .protocolNotListed: "ProtocolNotListed"
        case .notificationsNotAsked: "NotificationsNotAsked"
        case .notRelaunchedByAccessory: "NotRelaunchedByAccessory"
        case .accessoryBytesLost: "AccessoryBytesLost"
        case .accessoryFollowsForeground: "AccessoryFollowsForeground"
        case .legacySocketsOff: "LegacySocketsOff"
        case .launchedAfterBoot: "LaunchedAfterBoot"
        case .launchedAfterExit: "LaunchedAfterExit"
        case .voipWakeLimit: "VoIPWakeLimit"
        case .updateKept: "UpdateKept"
        case .newerUpdateKept: "NewerUpdateKept"
        case .relaunchedForAccessory: "RelaunchedForAccessory"
        }
    }

    package init?(word: String) {
        guard let reason = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = reason
    }

    /// The rule that gives the reason.
    package var rule: RuleID {
        switch self {
        case .inForeground: .life9
        case .alreadyRunning, .launching: .life11
        case .resumed: .life4
        case .relaunched: .launch1
        case .forceQuit: .launch2
        case .beforeFirstUnlock: .launch5
        case .noRegistration: .launch6
        case .modeMissing: .mode2
        case .scanNeedsMode, .scanWithoutServices: .btc3
        case .duplicateDiscovery: .btc4
        case .noRestoreIdentifier: .btc6
        case .notRelaunchedAfterExit, .relaunchedForAccessory: .btc8
        case .bluetoothOff: .btc10
        case .exitsOnSuspend: .opt2
        case .managerNotCreated: .btc6
        case .deliveredLater: .launch8
        case .registrationEnded: .bt1
        case .overflow, .appEnded: .sys4
        case .benchRestarted: .sys2
        case .notARequest: .btp1
        case .notPreserved: .btp4
        case .bluetoothNotAuthorized: .btp5
        case .relaunchedAfterForceQuit: .launch3
        case .answerWaits: .launch6
        case .foregroundUpdatesOnly, .updateKept, .newerUpdateKept: .loc2
        case .notRelaunchedByUpdates: .loc3
        case .withinDistanceFilter: .loc4
        case .notAuthorized: .loc5
        case .updatesPaused: .loc7
        case .sideNotWanted: .reg4
        case .rangingNeedsRunning: .bcn4
        case .nothingCrossed: .reg1
        case .crossingBegan: .reg2
        case .beaconKnown: .bcn1
        case .ledToEvents: .sys4
        case .playsOn: .aud1
        case .stoppedPlaying: .aud2
        case .soundModeMissing: .aud3
        case .silentTooLong: .aud4
        case .callHasPriority: .aud5
        case .shouldResume: .aud6
        case .categoryForbids: .aud7
        case .cannotInterruptOthers: .aud8
        case .ranDry: .aud11
        case .notRelaunchedBySound: .aud12
        case .interrupted: .aud5
        case .accessoryModeMissing, .accessoryFollowsForeground: .ea1
        case .protocolNotListed: .ea3
        case .notificationsNotAsked: .ea4
        case .accessoryBytesLost: .ea5
        case .notRelaunchedByAccessory: .ea6
        case .legacySocketsOff: .voip1
        case .launchedAfterBoot: .voip4
        case .launchedAfterExit: .voip5
        case .voipWakeLimit: .voip6
        }
    }
}

/// One question of a decision, in the order of the rulebook; several may belong to one rule.
///
/// Each can pass and can fail. What only informs, such as the time that a wake has, is part of the snapshot.
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
    case requestOfCentral
    case peripheralPreserved
    case bluetoothAuthorized
    case deliveryWanted
    case runsInBackground
    case roomInQueues
    case lastsUntilDecided

    /// The rule the question comes from.
    package var rule: RuleID {
        switch self {
        case .notForceQuit: .launch2
        case .unlockedSinceBoot: .launch5
        case .anyoneRegistered: .launch6
        case .asksToBeWoken: .launch6
        case .modePresent: .mode2
        case .updatesInBackground, .updatesWake: .loc2
        case .updatesReachProcess: .loc3
        case .beyondDistanceFilter: .loc4
        case .authorized: .loc5
        case .notPaused: .loc7
        case .crossesBoundary: .reg1
        case .dwellOver: .reg2
        case .sideWanted: .reg4
        case .beaconIsNew: .bcn1
        case .rangesWhileRunning: .bcn4
        case .soundModePresent: .aud3
        case .audible: .aud4
        case .noCall: .aud5
        case .categoryAllows: .aud7
        case .interruptsNobody: .aud8
        case .relaunchedBySound: .aud12
        case .accessoryModePresent: .ea1
        case .protocolListed: .ea3
        case .notificationsAsked: .ea4
        case .accessoryReachesProcess: .ea6
        case .socketsWatched: .voip1
        case .voipModePresent: .voip2
        case .voipWakesLeft: .voip6
        case .scanHasMode, .scanNamesServices: .btc3
        case .notDuplicate: .btc4
        case .restoreIdentifier: .btc6
        case .exitAllowsRelaunch: .btc8
        case .bluetoothOn: .btc10
        case .requestOfCentral: .btp1
        case .peripheralPreserved: .btp4
        case .bluetoothAuthorized: .btp5
        case .deliveryWanted: .bt1
        case .runsInBackground: .opt2
        case .roomInQueues, .lastsUntilDecided: .sys4
        }
    }

    /// The question as a statement that holds when the check passes.
    package var statement: String {
        switch self {
        case .notForceQuit: "app not force-quit by the user"
        case .unlockedSinceBoot: "device unlocked once since boot, or no passcode set"
        case .anyoneRegistered: "an app registered for this event"
        case .asksToBeWoken: "the app asked to be woken for it"
        case .modePresent: "UIBackgroundModes has the source's mode"
        case .updatesInBackground: "the updates go on in the background: allowsBackgroundLocationUpdates is set"
        case .updatesWake: "an update wakes a suspended app: to iOS 8"
        case .updatesReachProcess: "the process that started the updates runs or is suspended"
        case .beyondDistanceFilter: "moved at least distanceFilter since the last update"
        case .authorized: "the user allows the app to know the position now"
        case .notPaused: "updates are not paused"
        case .crossesBoundary:
            "the position is past a boundary that it was not past before, or far enough from the last significant change"
        case .dwellOver: "the position has stayed past the boundary for the dwell"
        case .sideWanted: "notifyOnEntry or notifyOnExit is set for this side"
        case .beaconIsNew: "no region had seen the beacon inside"
        case .rangesWhileRunning: "ranging app runs"
        case .soundModePresent: "in the background, UIBackgroundModes has audio"
        case .audible: "what plays in the background is not silent for longer than the limit"
        case .noCall: "no call is going on"
        case .categoryAllows: "the session's category lets it play or record here"
        case .interruptsNobody: "a non-mixable session from the background interrupts nobody who plays"
        case .relaunchedBySound: "sound relaunches a terminated app"
        case .accessoryModePresent: "in the background, UIBackgroundModes has external-accessory"
        case .protocolListed: "UISupportedExternalAccessoryProtocols has a protocol of the accessory"
        case .notificationsAsked: "the app called registerForLocalNotifications, or holds a session with the accessory"
        case .accessoryReachesProcess: "the app runs or is suspended: accessories relaunch no terminated app"
        case .socketsWatched: "the phone watches VoIP sockets"
        case .voipModePresent: "UIBackgroundModes has voip"
        case .voipWakesLeft: "fewer VoIP wakes than the limit within its window"
        case .scanHasMode: "outside the foreground, UIBackgroundModes has bluetooth-central for a scan"
        case .scanNamesServices: "background scan names services"
        case .notDuplicate: "first sighting of this peripheral in this scan"
        case .restoreIdentifier: "restore identifier present"
        case .exitAllowsRelaunch:
            "neither a restart that ends it nor Bluetooth turned off for good came since the app ended"
        case .bluetoothOn: "Bluetooth is on"
        case .requestOfCentral: "a central reads, writes, subscribes or opens a channel"
        case .peripheralPreserved: "the peripheral manager has a restore identifier"
        case .bluetoothAuthorized: "the user lets the app use Bluetooth"
        case .deliveryWanted: "delivery was not stopped by the app"
        case .runsInBackground: "UIApplicationExitsOnSuspend is not set"
        case .roomInQueues: "there was room for the event where it waited"
        case .lastsUntilDecided: "the app lasted until the event could be decided"
        }
    }
}

/// How one check came out.
public enum CheckResult: UInt8, CaseIterable, Sendable {
    case notEvaluated
    case notApplicable
    case pass
    case fail

    /// The word used in records.
    package var word: String {
        switch self {
        case .notEvaluated: "not-evaluated"
        case .notApplicable: "not-applicable"
        case .pass: "pass"
        case .fail: "fail"
        }
    }
}

/// The results of all checks of one decision, two bits each.
public struct CheckResults: Hashable, Sendable {
    /// Two bits a check, lowest first in the order of ``Check``.
    public var bits: UInt128

    /// Nothing evaluated, or the results of before.
    @inlinable
    public init(bits: UInt128 = 0) { self.bits = bits }

    /// The result of one check.
    @inlinable
    public subscript(check: Check) -> CheckResult {
        get { CheckResult(rawValue: UInt8(truncatingIfNeeded: bits >> (UInt128(check.rawValue) &* 2)) & 3)! }
        set {
            let shift = UInt128(check.rawValue) &* 2
            bits = bits & ~(3 << shift) | UInt128(newValue.rawValue) << shift
        }
    }

    /// Whether nothing was asked: so in a record that only says how an earlier one ended (``Decision``).
    @inlinable
    public var isEmpty: Bool { bits == 0 }

    /// The failing checks as a mask of two bits each: both bits set where a check failed.
    @inlinable
    public var failingMask: UInt128 { bits & (bits >> 1) & 0x5555_5555_5555_5555_5555_5555_5555_5555 }

    /// The first failing check in the order of the rulebook.
    @inlinable
    public var decisive: Check? {
        let failing = failingMask
        return failing == 0 ? nil : Check(rawValue: UInt8(failing.trailingZeroBitCount / 2))
    }
}
