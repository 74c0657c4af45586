import WakeModel

/// A source of wakes with its rules: what apps registered for, who hears of an event, and what the rules say to it.
///
/// The phone knows areas by this protocol alone and finds them in ``Areas``. What an area keeps is its value there; what it
/// does, it does to the phone, whose apps it asks to wake, to keep running and to end.
protocol Area {
    /// What its rules look at.
    associatedtype Question: AreaQuestion

    // MARK: Events and registrations

    /// Performs what an app asks; says whether it is one of the area's requests.
    static func perform(_ request: AppRequest, from app: AppID, in router: inout Router) -> Bool
    /// An app without a running process asked: who waits for an answer gets one.
    static func refuse(_ request: AppRequest, of app: AppID, in router: inout Router)
    /// Finds the apps that registered for the event, and decides for each.
    static func route(_ event: WakeEvent, in router: inout Router)
    /// How an app is interested now in an event that was kept back for it, or is to be delivered again.
    ///
    /// - Parameter held: How it was when the event was kept back; nil for one that is to be delivered again.
    static func interest(of app: AppID, in event: WakeEvent, held: Interest?, in router: inout Router) -> Interest?
    /// Whether every number that it read from a snapshot stands for something.
    var isConsistent: Bool { get }
    /// Whether the numbers in an interest of a snapshot stand for something.
    static func isConsistent(_ interest: Interest, _ router: Router) -> Bool
    /// Makes again what a snapshot leaves out, because it follows from the records of the apps.
    mutating func restore()
    /// All that an app is registered for.
    static func registrations(of app: AppID, _ router: Router) -> [KeptRegistration]
    /// What took what an app was registered for, where it went with the app's process.
    ///
    /// - Parameter cause: what ended the process so that more goes with it than with any end; nil for any end.
    static func taker(of via: Registration, ending cause: Deed?, _ router: Router) -> Deed

    // MARK: Deciding

    /// How long an event lets an app run.
    static func window(_ constants: Constants) -> Instant.Span
    /// The rule by which a suspended app gets an event when it runs.
    static func ruleOfWaiting(_ event: WakeEvent, _ interest: Interest, in router: inout Router) -> RuleID
    /// Adds to what is observed of the app all that is observed at the moment of the decision.
    static func observe(_ interest: Interest, in snapshot: inout AppSnapshot, of router: inout Router)
    /// Puts the questions of the area. Leaves in the interest the managers that the event counts for.
    ///
    /// - Parameters:
    ///   - snapshot: What is observed of the app, and then of the event too: in the record that is to have it, as it is too large
    ///     to be handed on.
    ///   - restarted: The event was on its way to the app when the bench died.
    ///   - isNew: The event has not been taken down: it waits for an answer all the same.
    static func judge(
        _ event: WakeEvent,
        for interest: inout Interest,
        showing snapshot: inout AppSnapshot,
        restarted: Bool,
        isNew: Bool,
        in router: inout Router
    ) -> (CheckResults, Question)
    /// A step on the way of an event to an app.
    static func hear(_ step: EventStep, of event: WakeEvent, for interest: Interest, in router: inout Router)
    /// Keeps an event that was deferred, where the area does that itself; false where it waits for the app to run.
    static func keeps(
        _ event: WakeEvent,
        for interest: Interest,
        decision: DecisionID,
        in router: inout Router
    ) -> Bool
    /// Whether an event that was denied before the first unlock is decided anew after it (LAUNCH-5).
    static func waitsForUnlock(_ event: WakeEvent, wouldHave verdict: Verdict?) -> Bool
    /// Whether of two events that wait for the unlock only the newer is kept.
    static func replaces(_ newer: WakeEvent, _ older: WakeEvent) -> Bool

    // MARK: Delivering

    /// The number by which an app's process knows the manager behind a slot; nil when it has not made it.
    static func managerNumber(_ slot: Int, of app: AppID, in router: inout Router) -> ManagerNumber?
    /// Whether an app's process may still make the manager behind a slot.
    static func expectsManager(_ slot: Int, of app: AppID, in router: inout Router) -> Bool
    /// Whether the system connects again by itself what the event ended.
    static func reconnects(
        _ manager: ManagerNumber,
        of app: AppID,
        after event: WakeEvent,
        in router: inout Router
    ) -> Bool
    /// Whether an event that is decided again stays for its app, whatever is decided: nothing is lost by a refusal then.
    static func keeps(_ event: WakeEvent, for app: AppID, _ router: Router) -> Bool
    /// The event will not reach an app: who waits for an answer gets an error.
    static func lost(_ event: WakeEvent, forWantOfRoom: Bool, in router: inout Router)

    // MARK: Apps

    /// The app is installed, or installed over. Says whether the user changed what it may do, which ends it.
    static func installed(_ app: AppID, _ manifest: AppManifest, in router: inout Router) -> Bool
    /// The user's word about an app that is the area's to hear.
    static func user(_ action: UserAction, _ app: AppID, id: EventID, in router: inout Router)
    /// A step in the life of an app.
    static func hear(_ step: AppStep, of app: AppID, in router: inout Router)

    // MARK: Running in the background

    /// Whether an app in the background runs for as long as it goes on with what it does.
    static func runsOn(_ app: AppID, _ router: Router) -> Bool
    /// Whether an app holds what lets it outlive the foreground when memory is short (MEM-1).
    static func outlivesForeground(_ app: AppID, _ router: Router) -> Bool
    /// Until when an app may run in the background beside its windows and tasks; zero when it may not.
    func lingers(_ app: AppID) -> Instant

    // MARK: The phone

    /// A step in the life of the phone.
    static func hear(_ step: PhoneStep, in router: inout Router)
    /// What is said of a change of the phone that is the area's, and changes nothing; nil for any other.
    static func lack(of change: PhoneChange, _ router: Router) -> Deed?
    /// Shows the phone in the observed values.
    func show(in snapshot: inout AppSnapshot)

    // MARK: Time

    /// The next instant at which something about an app is due; the distant future when nothing is.
    func due(of app: AppID) -> Instant
    /// The next instant at which something about no app is due; the distant future when nothing is.
    var due: Instant { get }
}

/// What areas hear of an event for an app.
enum EventStep {
    /// The app is about to get its verdict.
    case deciding
    /// The verdict is recorded, and nothing of it is done yet: the app is in this state.
    case recorded(Verdict, AppState)
    /// The verdict is carried out.
    case carriedOut(Verdict, Reason)
    /// It is about to wait for a suspended app.
    case deferring
    /// It waited for a suspended app, and goes to it now.
    case deferredDelivered
    /// The process has it.
    case delivered
}

/// What areas hear of an app.
enum AppStep {
    case uninstalled
    /// A process is about to start.
    case launching
    /// A process starts.
    case launched
    case moved(from: AppState, to: AppState)
    /// The app runs in the foreground.
    case foregrounded
    case suspended
    /// It is looked whether something still keeps the app running.
    case settling
    /// The process is gone, and what it held for itself goes with it.
    case ended
    /// The end is over with all that came of it.
    case gone(ExitCause, code: Int64)
    /// The app may not be launched again: the system keeps nothing for it (LAUNCH-2).
    case barred
    /// What an area does for an app is to follow the state of the app and of the phone.
    case changed
    /// Something that began may count from now on.
    case due
    /// Something that was waited for may be over.
    case lapsed
    /// Something may be due, after what was due of the process: a report is for an app that still runs.
    case reportDue
}

/// What areas hear of the phone.
enum PhoneStep {
    /// Its switches, its display, its calls.
    case changed(PhoneChange, EventID)
    case lockChanged
    /// Its clock, or its time zone.
    case clockSet(PhoneClock)
    /// Its power, network, switches or display, after all else that a change is for.
    case conditionsChanged(from: PhoneConditions)
    /// Every process is about to end with the phone.
    case rebooting
    case rebooted(by: EventID)
    /// The sources know nothing of before: they are asked again for all that is wanted.
    case takeUp
    /// The sources were asked after a restart of the phone.
    case restarted
    /// Apps can be launched for the first time since the phone started.
    case booted
    /// The phone is unlocked for the first time since it started.
    case unlocked
    /// The bench is back after its death, and processes are about to end.
    case benchRestarted
    /// Something about no app may be due.
    case due
}

/// What the rules of an area look at beside the app and the phone, and what they make of it.
protocol AreaQuestion {
    /// The verdict and reason of the decisive check.
    func refusal(_ decisive: Check, in results: CheckResults) -> (Verdict, Reason)
    /// The verdict when nothing stands in the way, with the rule that gives it.
    func acceptance(launching: Bool) -> (Verdict, Reason)
    /// What the checks would come to had the decisive one passed.
    func results(_ results: CheckResults, passing decisive: Check) -> CheckResults
    /// Whether an event gives a running app time of its own in the background (LIFE-11, MODE-2).
    func keepsRunning(_ modes: BackgroundModes) -> Bool
    /// Whether the app is asked for a completion handler, with which its time for the event ends (LIFE-11).
    var isAnswered: Bool { get }
}

extension AreaQuestion {
    var isAnswered: Bool { false }

    func results(_ results: CheckResults, passing decisive: Check) -> CheckResults {
        var passed = results
        passed[decisive] = .pass
        return passed
    }
}

/// Most of what happens to apps and to the phone concerns few areas.
extension Area {
    static func refuse(_ request: AppRequest, of app: AppID, in router: inout Router) {}
    var isConsistent: Bool { true }
    static func isConsistent(_ interest: Interest, _ router: Router) -> Bool { true }
    mutating func restore() {}
    static func taker(of via: Registration, ending cause: Deed?, _ router: Router) -> Deed {
        cause == .lostToUninstall ? .lostToUninstall : .lostWithProcess
    }
    static func ruleOfWaiting(_ event: WakeEvent, _ interest: Interest, in router: inout Router) -> RuleID { .launch6 }
    @inline(__always)
    static func observe(_ interest: Interest, in snapshot: inout AppSnapshot, of router: inout Router) {
        router.observe(interest, in: &snapshot, window: window(router.constants))
    }
    static func hear(_ step: EventStep, of event: WakeEvent, for interest: Interest, in router: inout Router) {}
    static func keeps(
        _ event: WakeEvent,
        for interest: Interest,
        decision: DecisionID,
        in router: inout Router
    ) -> Bool { false }
    static func waitsForUnlock(_ event: WakeEvent, wouldHave verdict: Verdict?) -> Bool { verdict?.delivers == true }
    static func replaces(_ newer: WakeEvent, _ older: WakeEvent) -> Bool { false }
    static func expectsManager(_ slot: Int, of app: AppID, in router: inout Router) -> Bool { false }
    static func reconnects(
        _ manager: ManagerNumber,
        of app: AppID,
        after event: WakeEvent,
        in router: inout Router
    ) -> Bool { false }
    static func keeps(_ event: WakeEvent, for app: AppID, _ router: Router) -> Bool { false }
    static func lost(_ event: WakeEvent, forWantOfRoom: Bool, in router: inout Router) {}
    static func installed(_ app: AppID, _ manifest: AppManifest, in router: inout Router) -> Bool { false }
    static func user(_ action: UserAction, _ app: AppID, id: EventID, in router: inout Router) {}
    static func runsOn(_ app: AppID, _ router: Router) -> Bool { false }
    static func outlivesForeground(_ app: AppID, _ router: Router) -> Bool { false }
    func lingers(_ app: AppID) -> Instant { .zero }
    static func hear(_ step: PhoneStep, in router: inout Router) {}
    static func lack(of change: PhoneChange, _ router: Router) -> Deed? { nil }
    func show(in snapshot: inout AppSnapshot) {}
    func due(of app: AppID) -> Instant { .distantFuture }
    var due: Instant { .distantFuture }
}
