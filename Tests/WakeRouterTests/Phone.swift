import WakeModel

@testable import WakeRouter

/// A phone for one test: a router, a clock, and verbs for what happens to it. Whatever comes out is kept.
struct Phone {
    static let belt = NameID(10)
    static let heartRate: AttributeHandle = 0x10
    static let service = NameID(20)
    static let identifier = NameID(30)

    var router: Router
    private(set) var now = Instant.zero
    /// Everything that came out since the start or the last ``forget()``.
    private(set) var actions: [Action] = []
    private(set) var decisions: [Decision] = []
    private var lastEvent: UInt64 = 0
    private var lastApp: UInt32 = 0

    init(_ profile: Profile = .ios17, passcode: Bool = true) {
        router = Router(profile: profile, passcode: passcode)
    }

    var last: Decision? { decisions.last }
    var verdicts: [Verdict] { decisions.map(\.verdict) }
    var reasons: [Reason] { decisions.map(\.reason) }

    var exits: [ExitRecord] {
        actions.compactMap { if case .exited(let record) = $0 { record } else { nil } }
    }

    var callbacks: [LifecycleCallback] {
        actions.compactMap { if case .callback(_, let callback, _) = $0 { callback } else { nil } }
    }

    var moves: [AppState] {
        actions.compactMap { if case .moved(_, _, let to) = $0 { to } else { nil } }
    }

    /// The events delivered, in order.
    var delivered: [EventID] {
        actions.compactMap { if case .deliver(_, _, let event, _, _) = $0 { event } else { nil } }
    }

    var faults: [RequestFault] {
        actions.compactMap { if case .refused(_, let fault) = $0 { fault } else { nil } }
    }

    var commands: [BluetoothCommand] {
        actions.compactMap { if case .command(.bluetooth(let command)) = $0 { command } else { nil } }
    }

    mutating func forget() {
        actions = []
        decisions = []
    }

    // MARK: Inputs

    @discardableResult
    mutating func hear(_ input: Input) -> EventID {
        lastEvent += 1
        let id = EventID(lastEvent)
        var input = input
        if case .event(var event) = input {
            event.id = id
            input = .event(event)
        }
        var output = RouterOutput()
        router.handle(input, id: id, at: now, into: &output)
        actions += output.actions
        decisions += output.decisions
        // What the router found is its next input, as the bench has it.
        for case .raise(let event, _) in output.actions { hear(.event(event)) }
        return id
    }

    mutating func install(
        _ modes: [BackgroundMode] = [.bluetoothCentral],
        exitsOnSuspend: Bool = false,
        bluetooth: BluetoothAuthorization = .allowed,
        sdk: SDKVersion = SDKVersion(9, 3),
        accessorySetup: Bool = false,
        taskIdentifiers: [NameID]? = nil
    ) -> AppID {
        let app = AppID(lastApp)
        lastApp += 1
        hear(
            .install(
                app,
                AppManifest(
                    bundle: NameID(100 + app.number),
                    modes: BackgroundModes(modes),
                    exitsOnSuspend: exitsOnSuspend,
                    bluetoothAuthorization: bluetooth,
                    sdk: sdk,
                    accessorySetup: accessorySetup,
                    taskIdentifiers: taskIdentifiers
                )
            )
        )
        return app
    }

    @discardableResult
    mutating func user(_ action: UserAction, _ app: AppID) -> EventID { hear(.user(app, action)) }

    mutating func request(_ app: AppID, _ request: AppRequest) { hear(.request(app, request)) }

    mutating func report(_ app: AppID, _ report: ProcessReport) { hear(.process(app, report)) }

    @discardableResult
    mutating func happen(
        _ kind: EventKind,
        attribute: AttributeHandle = 0,
        to client: BluetoothClient? = nil,
        failed: Bool = false,
        services: [NameID] = []
    ) -> EventID {
        let adapter = kind == .bluetoothPoweredOn || kind == .bluetoothPoweredOff
        return hear(
            .event(
                WakeEvent(
                    kind: kind,
                    peripheral: adapter ? .none : Phone.belt,
                    attribute: attribute,
                    client: client,
                    failed: failed,
                    services: services
                )
            )
        )
    }

    @discardableResult
    mutating func notify() -> EventID { happen(.characteristicNotified, attribute: Phone.heartRate) }

    @discardableResult
    mutating func sight() -> EventID { happen(.peripheralDiscovered, services: [Phone.service]) }

    /// Time passes; each deadline is handled when it comes.
    mutating func wait(_ span: Instant.Span) {
        let target = now.advanced(by: span)
        while let next = router.nextDeadline, next <= target {
            now = max(now, next)
            hear(.timeReached)
        }
        now = target
    }

    /// Time passes, and nobody tells the router.
    mutating func waitUnnoticed(_ span: Instant.Span) { now = now.advanced(by: span) }

    // MARK: Stretches

    /// The user opens the app; it makes manager 1 and is active.
    mutating func open(_ app: AppID, restoreIdentifier: NameID = Phone.identifier) {
        user(.launch, app)
        request(app, .createManager(1, restoreIdentifier: restoreIdentifier))
        report(app, .launched)
    }

    /// The active app connects to the belt and subscribes.
    mutating func subscribe(_ app: AppID, manager: ManagerNumber = 1, slot: UInt16 = 0) {
        request(app, .connect(manager, peripheral: Phone.belt))
        happen(.peripheralConnected, to: BluetoothClient(app: app, slot: slot))
        request(app, .operate(manager, peripheral: Phone.belt, .setNotify(Phone.heartRate, true)))
    }

    /// The user goes home, and the app is suspended as soon as it may be.
    mutating func leave(_ app: AppID) {
        user(.home, app)
        report(app, .returned(.didEnterBackground))
        report(app, .suspended)
    }

    /// An app that has subscribed to the belt and is suspended; nothing before counts.
    mutating func suspendedSubscriber(
        _ modes: [BackgroundMode] = [.bluetoothCentral],
        restoreIdentifier: NameID = Phone.identifier
    ) -> AppID {
        let app = install(modes)
        open(app, restoreIdentifier: restoreIdentifier)
        subscribe(app)
        leave(app)
        forget()
        return app
    }

    /// An app that has subscribed to the belt, was force-quit in the foreground and has a moment to end; nothing before
    /// counts.
    mutating func endingSubscriber(
        _ modes: [BackgroundMode] = [.bluetoothCentral],
        restoreIdentifier: NameID = Phone.identifier
    ) -> AppID {
        let app = install(modes)
        open(app, restoreIdentifier: restoreIdentifier)
        subscribe(app)
        user(.forceQuit, app)
        forget()
        return app
    }

    /// An app that has subscribed to the belt and whose process is gone.
    mutating func terminatedSubscriber(
        _ modes: [BackgroundMode] = [.bluetoothCentral],
        restoreIdentifier: NameID = Phone.identifier,
        cause: ExitCause = .memory
    ) -> AppID {
        let app = suspendedSubscriber(modes, restoreIdentifier: restoreIdentifier)
        if cause == .userForceQuit { user(.forceQuit, app) } else { hear(.terminate(app, cause)) }
        forget()
        return app
    }
}
