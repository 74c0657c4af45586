import WakeModel

/// How apps treat what they share with others: memory, processor time, locks, sockets and the screen.
///
/// Nothing wakes an app by it, so it has no events.
struct CitizenArea: Codable {
    /// By app number.
    var apps: [CitizenRecord] = []
    /// When the apps in the background were told that memory is short, and one of them must go all the same; nil while none must.
    var warnedAt: Instant?
    /// When the first of them goes.
    var due = Instant.distantFuture

    var isConsistent: Bool { (warnedAt == nil) == (due == .distantFuture) }
}

/// What the phone knows of one app's process.
struct CitizenRecord: Equatable, Codable {
    /// In megabytes.
    var footprint: UInt32 = 0
    var locks: UInt16 = 0
    var privateLocks: UInt16 = 0
    var listeners: UInt16 = 0
    var services: UInt16 = 0
    /// Since when it has been over the limit of processor time, wherever it was.
    var busySince: Instant?
    /// When it is ended for it; the distant future while it is not to be.
    var busyDue = Instant.distantFuture
}

/// The rules of an area without events.
enum NoQuestion: AreaQuestion {
    func refusal(_ decisive: Check, in results: CheckResults) -> (Verdict, Reason) { switch self {} }
    func acceptance(launching: Bool) -> (Verdict, Reason) { switch self {} }
    func keepsRunning(_ modes: BackgroundModes) -> Bool { switch self {} }
}

extension CitizenArea: Area {
    static func perform(_ request: AppRequest, from app: AppID, in router: inout Router) -> Bool {
        switch request {
        case .measured(let measure): router.measure(measure, of: app)
        case .asked(.remaining): router.act(.did(app, .toldTimeRemaining))
        case .asked(.activity):
            let isGranted = router.grantsTask(of: app, at: router.now)
            router.act(.did(app, isGranted ? .grantedActivity : .refusedActivity))
        default: return false
        }
        return true
    }

    static func route(_ event: WakeEvent, in router: inout Router) {
        preconditionFailure("no event is about how apps behave")
    }

    static func interest(of app: AppID, in event: WakeEvent, held: Interest?, in router: inout Router) -> Interest? {
        nil
    }

    static func registrations(of app: AppID, _ router: Router) -> [KeptRegistration] { [] }

    static func window(_ constants: Constants) -> Instant.Span { .zero }

    static func judge(
        _ event: WakeEvent,
        for interest: inout Interest,
        showing snapshot: inout AppSnapshot,
        restarted: Bool,
        isNew: Bool,
        in router: inout Router
    ) -> (CheckResults, NoQuestion) {
        preconditionFailure("no event is about how apps behave")
    }

    static func managerNumber(_ slot: Int, of app: AppID, in router: inout Router) -> ManagerNumber? { nil }

    static func hear(_ step: AppStep, of app: AppID, in router: inout Router) {
        switch step {
        case .moved(_, let state): router.countProcessorTime(of: app, in: state)
        case .suspended:
            router.closeListeners(of: app)
            if router.areas.citizen.apps[app].privateLocks > 0 { router.act(.did(app, .sparedPrivateLocks)) }
        case .ended, .uninstalled: router.areas.citizen.apps[app] = CitizenRecord()
        case .due: router.processorTimeDue(of: app)
        default: break
        }
    }

    static func hear(_ step: PhoneStep, in router: inout Router) {
        switch step {
        case .changed(.memoryWarning, _): router.warnOfMemory()
        case .changed(.memoryShortage, _): router.memoryShortage()
        case .changed(.memoryRelief, _), .rebooting: router.endMemoryShortage()
        case .due: router.memoryDue()
        default: break
        }
    }

    static func lack(of change: PhoneChange, _ router: Router) -> Deed? { router.lack(ofMemory: change) }

    func due(of app: AppID) -> Instant { apps[app].busyDue }
}
