/// What became of one event for one app, and why: codes and numbers only. Readers render it.
///
/// A record is one of three:
///
/// - About an app. Its checks are those that were evaluated for the event and the app. When none failed, the verdict
///   delivers. When some did, the first of them in the order of the rulebook is decisive: it gives the verdict, the reason
///   and the rule. ``wouldHave`` is the verdict of the same checks with the decisive one passing and all others as they
///   are: one that delivers when nothing else failed, else that of the next failing check. So the decisive check alone
///   stands between ``verdict`` and ``wouldHave``, however many fail. Only of a push that is for the user alone (PUSH-9) is
///   it the verdict of all that would be asked of one for its app.
/// - About no app. Its checks are those of the event's own area: whether anybody registered, whether a fix crossed a
///   boundary, whether a beacon is new, whether there was room. ``wouldHave`` is nil where the decisive check says nothing
///   about what an app would have got. A record whose checks all pass merged the event into those that follow from it.
/// - The end of an earlier record of the same event and app, which it ``supersedes``: what was deferred or on its way
///   arrived, or will not. Nothing is asked again, its checks are empty, and the reason says what ended the waiting.
package struct Decision: Hashable, Sendable {
    // The largest first, as in what is seen of the app.
    package var checks: CheckResults
    package var snapshot: AppSnapshot
    package var id: DecisionID
    package var at: Instant
    package var event: EventID
    package var parent: EventID
    /// The earlier, deferred decision that this one replaces.
    package var supersedes: DecisionID
    package var subject: NameID
    package var origin: NameID
    package var app: AppID
    package var kind: EventKind
    package var verdict: Verdict
    package var reason: Reason
    /// The rule that decided.
    package var rule: RuleID
    /// The verdict had the decisive check passed; equal to `verdict` when none failed; nil when there is no telling.
    package var wouldHave: Verdict?

    @inlinable
    package init(
        id: DecisionID,
        at: Instant,
        event: EventID,
        kind: EventKind,
        subject: NameID,
        origin: NameID,
        parent: EventID,
        app: AppID,
        verdict: Verdict,
        reason: Reason,
        rule: RuleID,
        checks: CheckResults,
        wouldHave: Verdict?,
        supersedes: DecisionID,
        snapshot: AppSnapshot
    ) {
        self.id = id
        self.at = at
        self.event = event
        self.kind = kind
        self.subject = subject
        self.origin = origin
        self.parent = parent
        self.app = app
        self.verdict = verdict
        self.reason = reason
        self.rule = rule
        self.checks = checks
        self.wouldHave = wouldHave
        self.supersedes = supersedes
        self.snapshot = snapshot
    }
}

/// What the router saw of the app and the phone when it decided: the observed values of the checks.
package struct AppSnapshot: Hashable, Codable, Sendable {
    // The largest first: a record is copied on its way, and gaps in it would be copied too.
    package var stateSince: Instant = .zero
    /// 0 before the first end of a process.
    package var lastExit: UInt64 = 0
    package var lastExitAt: Instant = .zero
    package var forceQuitAt: Instant = .zero
    /// The user's action that set it.
    package var forceQuitBy: EventID = .none
    package var unlockedAt: Instant = .zero
    /// Of standard updates: the chord of the distance filter (LOC-4).
    package var filterChord: Double = 0
    /// Of standard updates: the square of the chord from where the last update was given; infinite when none was, or the next
    /// fix is asked for wherever it is.
    package var movedSquare: Double = .infinity
    package var registeredAt: Instant = .zero
    /// The window of the wake that is running, or that would begin.
    package var budgetLimit: Instant.Span = .zero
    package var budgetUsed: Instant.Span = .zero
    package var bundle: NameID = .none
    package var generation: UInt32 = 0
    package var restoreIdentifier: NameID = .none
    /// Of VoIP: how often the app was woken within the window of VOIP-6.
    package var voipWakes: UInt32 = 0
    /// Of background pushes: how often the app was woken by them within the window of PUSH-3.
    package var pushWakes: UInt32 = 0
    /// How many calls the app has not reported since it was installed (PUSH-8).
    package var unreportedCalls: UInt32 = 0
    package var modes: BackgroundModes = []
    /// Of a discovery: how many services the scan names; 0 for all (BTC-3).
    package var scanServices: UInt16 = 0
    /// What the app was built with (VOIP-1).
    package var sdk: SDKVersion = .unknown
    /// Of a task: what the scheduler knew of it.
    package var task = TaskView()
    /// Of the phone.
    package var conditions = PhoneConditions.usual
    package var state: AppState = .notRunning
    package var lastExitCause: ExitCause = .exit
    /// The app was force-quit and no user launch or reboot has cleared it.
    package var forceQuit: Bool = false
    /// The event is one that relaunches the app all the same (LAUNCH-3; PUSH-6; BTC-8 where ``accessorySetUp``).
    package var forceQuitLifted: Bool = false
    /// The event is one that a switch lets launch the app before the first unlock (PUSH-12, VOIP-4).
    package var firstUnlockLifted: Bool = false
    /// The phone was restarted since a process of the app last ran (BTC-8).
    package var rebootedSince: Bool = false
    /// Bluetooth was turned off since a process of the app last ran, and what the app waited for went with it (BTC-8).
    package var bluetoothOffSince: Bool = false
    /// What waits for the event's accessory has outlived Bluetooth being off, as it was set up for the app (BTC-8).
    package var bluetoothOffLifted: Bool = false
    /// The event is the end of a link that the restart itself ended (BTC-8).
    package var endedByReboot: Bool = false
    /// The event is of an accessory that the user set up for the app, which the profile lets outlive a force quit and Control
    /// Centre (BTC-8).
    package var accessorySetUp: Bool = false
    package var unlockedSinceBoot: Bool = true
    package var passcode: Bool = false
    package var bluetoothOn: Bool = true
    package var exitsOnSuspend: Bool = false
    /// The user lets the app use Bluetooth (BTP-5).
    package var bluetoothAllowed: Bool = true
    package var locationAuthorization: LocationAuthorization = .notDetermined
    /// A background activity session that began in the foreground keeps the app in use (SESS-3).
    package var keptInUse: Bool = false
    /// Of standard updates: they began in the foreground (LOC-5).
    package var beganInForeground: Bool = false
    /// How the app is interested.
    package var via: Registration = .none
    /// Of VoIP: the setting `voip.wakeLimit: off` lifts the limit of VOIP-6.
    package var voipWakeLimitLifted: Bool = false
    /// The user has turned off Background App Refresh for this app (PWR-3).
    package var refreshRefused: Bool = false
    /// Background App Refresh is on, for all apps and for this one (PWR-3).
    package var refreshes: Bool { !conditions.contains(.refreshOff) && !refreshRefused }
    /// Of a transfer: how many others of its session are under way (XFER-2).
    package var transfersLeft: UInt16 = 0
    /// Of a transfer: the session's sessionSendsLaunchEvents (XFER-2).
    package var sendsLaunchEvents: Bool = false
    /// Whether a debugger is attached, and exempts it from limits of time (SYS-5).
    package var debugger: Debugger = .none

    @inlinable
    package init() {}
}
