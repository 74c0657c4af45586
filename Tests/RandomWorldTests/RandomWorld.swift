import WakeModel
import WakeRouter

/// A host, a radio, a phone, its user and its apps, all of them unreliable, around one router.
///
/// Everything is drawn from the seed. The host answers at once, late, wrongly or never; processes crash; reports and
/// requests come stale; peripherals appear, answer and go; time creeps and jumps.
struct RandomWorld {
    let seed: UInt64
    private(set) var router: Router
    private(set) var observer: Observer
    private(set) var redecision = Redecision()
    /// The latest inputs, oldest first, to show when something is wrong.
    private var recent: [(at: Instant, input: Input)] = []

    var chance: Chance
    private var output = RouterOutput()
    private(set) var now = Instant.zero
    private var lastEvent: UInt64 = 0
    private var processes: [Process]
    private var installed: [Bool]
    /// What apps asked of the radio, newest last.
    private var commands: [BluetoothCommand] = []
    /// Deliveries that no app has acknowledged.
    private var unacknowledged: [Delivery] = []
    /// Deliveries that died with the bench and are to be handed in again.
    private var lost: [Delivery] = []
    private var recentEvents: [WakeEvent] = []
    /// What apps asked of the air in the peripheral role, newest last.
    private(set) var airCommands: [PeripheralRoleCommand] = []
    /// Requests of centrals that apps have, newest last.
    private(set) var asked: [(app: AppID, request: UInt32)] = []
    var lastRequest: UInt32 = 0
    /// The sessions that apps asked for, newest last.
    private(set) var accessorySessions: [(app: AppID, number: AccessorySession)] = []
    /// Who asked for something last.
    private var asker = AppID.none
    var lastConnection: AccessoryConnection = 0
    /// The notifications that the user sees.
    var notices: [(app: AppID, identifier: NameID)] = []
    /// The tasks that apps have, newest last.
    var tasks: [(app: AppID, number: UInt32, identifier: NameID, isFetch: Bool)] = []
    var lastSessionManager: ManagerNumber = 1_000
    /// Results of transfers that processes were given and have not taken, newest last.
    var given: [(app: AppID, event: EventID)] = []
    /// What the source was asked to transfer and has not ended, newest last.
    var transfers: [BegunTransfer] = []
    /// Challenges that apps have not answered, newest last.
    var lastChallenge: UInt32 = 0
    var lastPush: UInt32 = 0
    /// Pushes that apps may owe an answer for, newest last.
    var pushed: [(app: AppID, number: UInt32)] = []
    /// Service extensions that run.
    var extending: [(app: AppID, number: UInt32)] = []

    private struct Delivery {
        var app: AppID
        var event: WakeEvent
        var decision: DecisionID
    }

    /// What the host knows of an app's process.
    private struct Process {
        var launching = false
        var freezing = false
        var callbacks: [LifecycleCallback] = []
        var lastToken: UInt64 = 0

        /// Whether the router waits for the host.
        var owesAnswer: Bool { launching || freezing || !callbacks.isEmpty }
    }

    static let appCount = 8
    private static let peripherals = 6
    private static let attributes = 3
    private static let services = 3

    init(seed: UInt64) {
        self.seed = seed
        chance = Chance(seed: seed)
        var profile = Profile.all[Int(seed % UInt64(Profile.all.count))]
        if seed % 7 == 6 { profile.multitasking = false }
        if seed % 5 == 4 { profile.areas.audio.relaunches = true }
        if seed % 5 == 4 { profile.areas.voip.legacy = .off }
        if seed % 5 == 2 { profile.areas.location.needsRefresh = true }
        if seed % 4 == 1 { profile.wakeWindow = .first }
        if seed % 4 == 2 { profile.areas.bluetooth.accessorySetupRelaunches = true }
        if seed % 4 == 0 { profile.areas.bluetooth.channelDataWakes = false }
        if seed % 2 == 0 { profile.areas.audio.silenceLimit = .seconds(10) }
        if seed % 7 == 3 { profile.areas.voip.wakeLimit = nil }
        if seed % 4 == 3 { profile.areas.push.limitWindow = .seconds(60) }
        if seed % 2 == 0, profile.areas.push.unreportedLimit != nil { profile.areas.push.unreportedLimit = 1 }
        if seed % 3 == 1 { profile.areas.voip.connectionsLast = .seconds(60) }
        if seed % 3 == 0 { profile.areas.transfer.backgroundIsDiscretionary = false }
        if seed % 4 == 3 { profile.areas.transfer.newsstand = true }
        Self.hasten(&profile.areas.backgroundTask, seed)
        router = Router(profile: profile, passcode: true)
        observer = Observer(profile: profile)
        processes = Array(repeating: Process(), count: Self.appCount)
        installed = Array(repeating: false, count: Self.appCount)
        for app in 0..<Self.appCount { install(app) }
    }

    /// The state of everything that came out until now, as one number.
    var digest: Int { observer.hasher.finalize() }

    /// The first violation with the seed and the inputs that led to it.
    var failure: String? {
        (observer.violation ?? redecision.violation).map {
            "seed \(seed), step \(observer.tally.steps): \($0)"
                + recent.map { "\n  \($0.at.nanoseconds) \($0.input)" }.joined()
        }
    }

    /// Takes a number of steps, fewer when something is wrong.
    mutating func run(steps: Int) {
        let end = observer.tally.steps + steps
        while observer.tally.steps < end, failure == nil { step() }
    }

    /// Answers all that is asked, lets all time run out, and looks whether anything was left undecided.
    mutating func finish() {
        for _ in 0..<64 where observer.violation == nil {
            for app in 0..<Self.appCount {
                for _ in 0..<8 { answer(app) }
            }
            if let next = router.nextDeadline { pass(until: next) }
        }
        // An app that ranges hears of it each second, for ever: the last time may have met one that was being frozen.
        for app in 0..<Self.appCount where observer.violation == nil {
            for _ in 0..<8 { answer(app) }
        }
        reportLate()
        observer.checkAtEnd()
    }

    /// The router's whole state as bytes.
    var snapshot: [UInt8] { router.snapshot }

    /// Puts a router in place that was made from the bytes.
    mutating func replaceRouter(with snapshot: [UInt8]) throws {
        router = try Router(snapshot: snapshot, profile: observer.profile)
    }

    // MARK: Steps

    /// An app in a state that is met seldom.
    func app(in state: AppState) -> AppID? {
        (0..<Self.appCount).lazy.map { AppID(UInt32($0)) }.first { router.state(of: $0) == state }
    }

    /// An app in a state that does not last meets an event of any kind.
    private mutating func meet(_ app: AppID) {
        if let place = lost.firstIndex(where: { $0.app == app }), chance.once(in: 2) {
            lost.swapAt(0, place)
            return redeliver()
        }
        switch chance.below(12) {
        case 10, 11: pullLever(for: app)
        case 0:
            let isPushed = chance.once(in: 2)
            for _ in 0..<3 { isPushed ? push(to: app) : anyCall(app) }
        case 1, 2: anyLocationEvent(for: app)
        case 3, 4: askSomething(of: app)
        case 5, 6: transfer(for: app)
        case 7: failConnection(of: app)
        default: anyEvent(for: app)
        }
    }

    private mutating func step() {
        if chance.once(in: 6_000) { return flood() }
        if chance.once(in: 3), let app = app(in: .inactive) { return chance.once(in: 4) ? plug(for: app) : meet(app) }
        if chance.once(in: 30), let app = app(in: chance.once(in: 3) ? .suspended : .active) { return meet(app) }
        let number = chance.below(1_000)
        if happen(number) { return }
        switch number {
        case ..<350: answerSomething()
        case ..<780: request(chance.below(Self.appCount))
        case ..<850: user()
        case ..<930: pass()
        case ..<950: phone()
        case ..<956:
            hear(
                .terminate(anyApp(), chance.pick(ExitCause.allCases), chance.pick(MemoryPressure.allCases)),
                isEvent: true
            )
        case ..<980: hear(.process(anyApp(), anyReport()))
        case ..<984: exchangeApp()
        case ..<990: acknowledge()
        case ..<991: restart()
        case ..<992: redeliver()
        case ..<994: overflow()
        default: hear(.timeReached)
        }
    }

    mutating func hear(_ input: Input, isEvent: Bool = false) {
        while let next = router.nextDeadline, next <= now, input != .timeReached { hear(.timeReached) }
        var id = EventID.none
        var input = input
        if isEvent {
            lastEvent += 1
            id = EventID(lastEvent)
        }
        if case .request(let app, _) = input { asker = app }
        if case .event(var event) = input {
            event.id = id
            input = .event(event)
            recentEvents.append(event)
            if recentEvents.count > 64 { recentEvents.removeFirst(32) }
        }
        if recent.count >= 60 { recent.removeFirst(30) }
        recent.append((now, input))
        if case .overflowed(var event) = input {
            event.id = id
            input = .overflowed(event)
        }
        observer.willHear(input, id: id, at: now)
        let before = isDecidedAgain(input) ? router : nil
        output.removeAll()
        router.handle(input, id: id, at: now, into: &output)
        observer.observe(input, id: id, output)
        if let before { redecision.check(input, id: id, at: now, from: before, output.decisions) }
        let actions = output.actions
        for action in actions { perform(action) }
        // What the router found is its next input, as the bench has it.
        for case .raise(let event, _) in actions { hear(.event(event), isEvent: true) }
    }

    /// Whether an event is decided a second time. Copies of the router are dear: of most kinds every twelfth event is enough.
    private func isDecidedAgain(_ input: Input) -> Bool {
        guard case .event(let event) = input else { return false }
        switch event.kind {
        case .positionFixed, .peripheralConnected, .peripheralDiscovered, .readRequested, .writeRequested,
            .callPushReceived:
            return event.id.number % 2 == 0
        default: return event.id.number % 12 == 0
        }
    }

    private mutating func anyApp() -> AppID { AppID(UInt32(chance.below(Self.appCount))) }

    // MARK: Time

    private mutating func pass() {
        switch chance.below(32) {
        case 0..<22: pass(until: now.advanced(by: .milliseconds(Int64(chance.below(3_000)))))
        case 22..<30: pass(until: router.nextDeadline ?? now)
        case 30: pass(until: now.advanced(by: .seconds(Int64(chance.below(60)))))
        default:
            stopRanging()
            pass(until: now.advanced(by: .seconds(Int64(chance.below(3_600)))))
        }
    }

    /// Time comes to an instant; each deadline before it is handled at its own time, or all of them late.
    private mutating func pass(until target: Instant) {
        let late = chance.once(in: 4)
        if late { now = max(now, target) }
        while let next = router.nextDeadline, next <= max(now, target) {
            now = max(now, next)
            hear(.timeReached)
            if observer.violation != nil { return }
        }
        now = max(now, target)
    }

    // MARK: The host

    private mutating func perform(_ action: Action) {
        switch action {
        case .launch(let app, _, _, _, _, _):
            processes[Int(app.number)] = Process()
            processes[Int(app.number)].launching = true
        case .freeze(let app): processes[Int(app.number)].freezing = true
        case .thaw(let app): processes[Int(app.number)].freezing = false
        case .closeListeners: break
        case .callback(let app, let callback, _): processes[Int(app.number)].callbacks.append(callback)
        case .exited(let record): processes[Int(record.app.number)] = Process()
        case .deliver(let app, _, let event, let decision, _):
            if let known = recentEvents.last(where: { $0.id == event }) {
                if known.kind.source == .push { owe(known, app) }
                noteTask(known, of: app)
            }
            if let request = recentEvents.last(where: { $0.id == event })?.request, request != 0 {
                asked.append((app, request))
                if asked.count > 32 { asked.removeFirst(16) }
            }
            if let known = recentEvents.last(where: { $0.id == event }),
                !unacknowledged.contains(where: { $0.decision == decision })
            {
                unacknowledged.append(Delivery(app: app, event: known, decision: decision))
                if unacknowledged.count > 8 { unacknowledged.removeFirst() }
                if known.kind == .transferEnded {
                    given.append((app, event))
                    if given.count > 32 { given.removeFirst() }
                }
            }
        case .command(.bluetooth(let command)):
            commands.append(command)
            if commands.count > 48 { commands.removeFirst(16) }
        case .command(.peripheralRole(let command)):
            airCommands.append(command)
            if airCommands.count > 48 { airCommands.removeFirst(16) }
        case .command(.accessory(let command)):
            guard case .open(let session, _, _) = command else { return }
            accessorySessions.append((asker, session))
            if accessorySessions.count > 32 { accessorySessions.removeFirst(16) }
        case .kill, .expireTasks, .keep, .discard, .tell, .alert, .did, .lost, .refused, .moved, .raise,
            .command(.location), .command(.audio), .command(.voip):
            break
        case .command(.notification(let command)): see(command)
        case .command(.transfer(let command)): hand(command)
        case .command(.push(let command)): work(command)
        }
    }

    private mutating func answerSomething() {
        let first = chance.below(Self.appCount)
        for offset in 0..<Self.appCount where processes[(first + offset) % Self.appCount].owesAnswer {
            return answer((first + offset) % Self.appCount)
        }
    }

    /// The host does the next thing that the router waits for.
    private mutating func answer(_ index: Int) {
        let app = AppID(UInt32(index))
        if processes[index].launching {
            guard !chance.once(in: 40) else { return hear(.process(app, .launchFailed(2))) }
            makeManagers(index)
            if chance.once(in: 2) { subscribe(index) }
            if chance.once(in: 3) { publish(index) }
            if !chance.once(in: 3) { locate(index) }
            if !chance.once(in: 3) { play(index) }
            if !chance.once(in: 3) { useAccessories(index) }
            if chance.once(in: 2) { call(index) }
            if !chance.once(in: 3) { registerForPushes(index) }
            registerHandlers(index)
            guard processes[index].launching else { return }
            processes[index].launching = false
            hear(.process(app, .launched))
        } else if !processes[index].callbacks.isEmpty {
            hear(.process(app, .returned(processes[index].callbacks.removeFirst())))
        } else if processes[index].freezing {
            processes[index].freezing = false
            hear(.process(app, chance.once(in: 8) ? .suspensionRefused : .suspended))
        }
    }

    private mutating func anyReport() -> ProcessReport {
        switch chance.below(22) {
        case 0..<5: .launched
        case 5..<10: .returned(chance.pick(LifecycleCallback.allCases))
        case 10..<14: .suspended
        case 14..<18: .suspensionRefused
        case 18: .exited(chance.once(in: 2) ? 0 : -11)
        case 19: .launchFailed(13)
        default: .took(given.last?.event ?? EventID(lastEvent))
        }
    }

    // MARK: Apps

    private mutating func install(_ index: Int) {
        let bluetooth: BluetoothAuthorization = chance.once(in: 12) ? .denied : .allowed
        // An update may take the mode away.
        var modes = Self.modes(of: index)
        if chance.once(in: 2) { modes.remove(BackgroundModes([.newsstandContent])) }
        let wasInstalled = installed[index]
        installed[index] = true
        let app = AppID(UInt32(index))
        let manifest = AppManifest(
            bundle: NameID(UInt32(index + 1)),
            modes: modes,
            exitsOnSuspend: index == 6,
            bluetoothAuthorization: bluetooth,
            accessoryProtocols: Self.protocols(of: index),
            sdk: chance.once(in: 6) ? SDKVersion(UInt16(10 + index % 4)) : SDKVersion(9, 3),
            accessorySetup: index % 3 != 2,
            serviceExtension: index % 2 == 0,
            taskIdentifiers: Self.taskIdentifiers(of: index)
        )
        if wasInstalled, bluetooth == .allowed, chance.once(in: 3) {
            hear(chance.once(in: 3) ? .refuseUpdate(app, key: NameID(1)) : .update(app, manifest), isEvent: true)
        } else {
            hear(.install(app, manifest), isEvent: true)
        }
    }

    private mutating func exchangeApp() {
        let index = chance.below(Self.appCount)
        if installed[index], chance.once(in: 4) {
            hear(.uninstall(AppID(UInt32(index))), isEvent: true)
            // A phone that is off keeps it (SYS-1).
            installed[index] = router.isInstalled(AppID(UInt32(index)))
        } else {
            install(index)
        }
    }

    /// Manager 1 has a restore identifier in most apps, manager 2 in few.
    func restoreIdentifier(_ number: ManagerNumber, of index: Int) -> NameID {
        switch number {
        case 1: index % 4 == 2 ? .none : NameID(UInt32(100 + index))
        case 2: index % 3 == 0 ? NameID(UInt32(200 + index)) : .none
        case 11: index % 4 == 1 ? .none : NameID(UInt32(100 + index))
        default: .none
        }
    }

    private mutating func makeManagers(_ index: Int) {
        let app = AppID(UInt32(index))
        for number in [ManagerNumber(1), 2] where !chance.once(in: 4) {
            hear(.request(app, .createManager(number, restoreIdentifier: restoreIdentifier(number, of: index))))
        }
        for number in Self.peripheralManagers where !chance.once(in: 3) {
            let identifier = restoreIdentifier(number, of: index)
            hear(.request(app, .peripheralManager(number, .create(restoreIdentifier: identifier))))
        }
    }

    /// An app does what most do: it connects, and subscribes.
    private mutating func subscribe(_ index: Int) {
        let app = AppID(UInt32(index))
        let peripheral = anyPeripheral()
        let handle = AttributeHandle(1 + chance.below(Self.attributes))
        hear(.request(app, .connect(1, peripheral: peripheral)))
        hear(.event(WakeEvent(kind: .peripheralConnected, peripheral: peripheral)), isEvent: true)
        hear(.request(app, .operate(1, peripheral: peripheral, .setNotify(handle, true))))
    }

    private mutating func request(_ index: Int) {
        let request = anyRequest(index)
        hear(.request(AppID(UInt32(index)), request))
        if case .beginTask = request, chance.once(in: 4) { hear(.request(AppID(UInt32(index)), request)) }
        if chance.once(in: 6_000) {
            // More than any app may have.
            for _ in 0..<1_030 {
                processes[index].lastToken += 1
                hear(.request(AppID(UInt32(index)), .beginTask(token: processes[index].lastToken)))
            }
        }
    }

    private mutating func anyRequest(_ index: Int) -> AppRequest {
        let number = ManagerNumber(1 + chance.below(chance.once(in: 20) ? 3 : 2))
        let peripheral = anyPeripheral()
        if chance.once(in: 4) { return anyPeripheralRequest(index) }
        if chance.once(in: 4) { return anyLocationRequest(index) }
        if chance.once(in: 5) { return .audio(anySoundRequest()) }
        if chance.once(in: 5) { return anyAccessoryRequest() }
        if chance.once(in: 5) { return anyVoIPRequest() }
        if chance.once(in: 6) { return anyNotificationRequest() }
        if chance.once(in: 14) { return anyPushRequest(AppID(UInt32(index))) }
        if chance.once(in: 14) { return anyMeasure() }
        if chance.once(in: 8) { return anyTransferRequest(index) }
        if chance.once(in: 12) { return anyTaskRequest(of: AppID(UInt32(index))) }
        switch chance.below(20) {
        case 0:
            processes[index].lastToken += chance.once(in: 4) ? 0 : 1
            return .beginTask(token: processes[index].lastToken)
        case 1, 2:
            return .endTask(
                token: processes[index].lastToken - UInt64(chance.below(2)) * processes[index].lastToken / 2
            )
        case 3: return .done
        case 4, 5: return .createManager(number, restoreIdentifier: restoreIdentifier(number, of: index))
        case 6:
            return chance.once(in: 3)
                ? .releaseManager(number) : .createManager(number, restoreIdentifier: .none)
        case 7, 8:
            return .scan(number, services: someServices(), allowDuplicates: chance.once(in: 2))
        case 9: return .stopScan(number)
        case 10, 11:
            return .connect(
                number,
                peripheral: peripheral,
                options: ConnectOptions(rawValue: UInt8(chance.below(16)))
            )
        case 16...18:
            let stops = chance.once(in: 4)
            return .watchConnections(number, peripherals: stops ? [] : [peripheral], services: [])
        case 12: return .cancelConnection(number, peripheral: peripheral)
        default: return .operate(number, peripheral: peripheral, anyOperation())
        }
    }

    private mutating func anyOperation() -> BluetoothOperation {
        let handle = AttributeHandle(1 + chance.below(Self.attributes))
        switch chance.below(9) {
        case 7: return .openChannel(psm: 0x80)
        case 0..<5: return .setNotify(handle, !chance.once(in: 5))
        case 5: return .read(handle)
        case 6: return .write(handle, [1], withResponse: true)
        default: return .discoverServices([])
        }
    }

    private mutating func acknowledge() {
        if !unacknowledged.isEmpty { unacknowledged.removeFirst() }
    }

    /// The bench dies and comes back; what was not acknowledged is handed in again, and some of it late.
    private mutating func restart() {
        for index in processes.indices { processes[index] = Process() }
        lost += unacknowledged
        unacknowledged.removeAll()
        hear(.benchRestarted, isEvent: true)
        while lost.count > 3 || !lost.isEmpty && !chance.once(in: 6) { redeliver() }
    }

    /// Hands in one delivery again that died with the bench.
    private mutating func redeliver() {
        guard !lost.isEmpty else { return }
        let item = lost.removeFirst()
        hear(.redeliver(item.app, item.event, supersedes: item.decision))
    }

    // MARK: The user and the phone

    private mutating func user() {
        if chance.once(in: 12) { return hear(.setUp(anyApp(), peripheral: anyPeripheral()), isEvent: true) }
        let action = chance.once(in: 3) ? .launch : chance.pick(UserAction.allCases)
        hear(.user(anyApp(), action), isEvent: true)
    }

    /// What turns the phone's power, network, switches and display.
    private static let conditions: [PhoneChange] = [
        .chargerConnected, .chargerDisconnected, .wifiJoined, .wifiLeft, .cellularOn, .cellularOff, .lowPowerModeOn,
        .lowPowerModeOff, .backgroundRefreshOn, .backgroundRefreshOff, .displayOff, .boot, .memoryWarning,
        .memoryShortage,
        .memoryRelief,
    ]

    private mutating func phone() {
        if router.conditions.contains(.shutDown), chance.once(in: 2) { return hear(.phone(.boot), isEvent: true) }
        if chance.once(in: 40) {
            let clock = PhoneClock(epoch: 1_767_225_600_000_000_000, zone: Int32(chance.below(25) - 12) * 3_600)
            return hear(.clock(clock), isEvent: true)
        }
        let change: PhoneChange =
            switch chance.below(34) {
            case 0: .reboot
            case 1...10: .unlock
            case 11...14: .setPasscode
            case 15: .removePasscode
            case 16, 17: .displayOn
            case 18: chance.once(in: 2) ? .callBegan : .callEnded
            case 19: chance.pick([.callEnded, .callEnded, .callEndedWithoutResume, .callEndedUntold])
            case 20: chance.pick([.bluetoothOff, .bluetoothOffInControlCentre])
            case 21: chance.pick([.airplaneModeOn, .airplaneModeOnKeepingBluetooth])
            case 22: .airplaneModeOff
            case 23...26: .bluetoothOn
            case 27: .shutDown
            case 28...32: chance.pick(Self.conditions)
            default: .lock
            }
        hear(.phone(change), isEvent: true)
    }

    // MARK: The radio

    private mutating func anyPeripheral() -> NameID { NameID(UInt32(300 + chance.below(Self.peripherals))) }

    private mutating func someServices() -> [NameID] {
        chance.once(in: 4) ? [] : [NameID(UInt32(400 + chance.below(Self.services)))]
    }

    mutating func radio() {
        if chance.once(in: 4) { return air() }
        switch chance.below(20) {
        case 0: hear(.event(WakeEvent(kind: .bluetoothPoweredOn)), isEvent: true)
        case 1:
            if chance.once(in: 8) { hear(.event(WakeEvent(kind: .bluetoothPoweredOff)), isEvent: true) }
            if chance.once(in: 8) { return }
            hear(.event(WakeEvent(kind: .bluetoothPoweredOn)), isEvent: true)
        case 2..<5:
            hear(
                .event(
                    WakeEvent(
                        kind: .peripheralDiscovered,
                        peripheral: anyPeripheral(),
                        services: someServices()
                    )
                ),
                isEvent: true
            )
        case 5..<10: notify(anyPeripheral(), AttributeHandle(1 + chance.below(Self.attributes)))
        case 10..<16: answerCommand()
        default: anyEvent()
        }
    }

    private mutating func notify(_ peripheral: NameID, _ attribute: AttributeHandle) {
        hear(
            .event(WakeEvent(kind: .characteristicNotified, peripheral: peripheral, attribute: attribute)),
            isEvent: true
        )
    }

    private mutating func answerCommand() {
        guard !commands.isEmpty else { return }
        switch chance.pick(commands) {
        case .connect(let client, let peripheral):
            let kind: EventKind =
                switch chance.below(8) {
                case 0: .peripheralConnectionFailed
                case 1: .peripheralDisconnected
                default: .peripheralConnected
                }
            hear(
                .event(
                    WakeEvent(kind: kind, peripheral: peripheral, client: chance.once(in: 2) ? client : nil)
                ),
                isEvent: true
            )
        case .disconnect(let client, let peripheral):
            hear(
                .event(WakeEvent(kind: .peripheralDisconnected, peripheral: peripheral, client: client)),
                isEvent: true
            )
        case .operate(let client, let peripheral, let operation):
            var kind = answer(to: operation)
            if case .setNotify(let handle, true) = operation, !chance.once(in: 8) {
                guard chance.once(in: 16) else { return notify(peripheral, handle) }
                kind = .channelDataAvailable
            }
            if kind == .channelOpened, chance.once(in: 2) { kind = .channelDataAvailable }
            hear(
                .event(
                    WakeEvent(
                        kind: kind,
                        peripheral: peripheral,
                        attribute: 1,
                        client: client,
                        failed: chance.once(in: 10)
                    )
                ),
                isEvent: true
            )
        case .power(let on):
            hear(.event(WakeEvent(kind: on ? .bluetoothPoweredOn : .bluetoothPoweredOff)), isEvent: true)
        case .scan(_, let services, _):
            hear(
                .event(WakeEvent(kind: .peripheralDiscovered, peripheral: anyPeripheral(), services: services)),
                isEvent: true
            )
        case .watchConnections(let client, _, _):
            hear(
                .event(WakeEvent(kind: .connectionEvent, peripheral: anyPeripheral(), client: client)),
                isEvent: true
            )
        case .stopScan, .release, .forgetAttributes: break
        }
    }

    /// What an app waits for fails.
    private mutating func failConnection(of app: AppID) {
        let waits = commands.last {
            if case .connect(let client, _) = $0 { client.app == app } else { false }
        }
        guard case .connect(let client, let peripheral)? = waits else { return }
        let kind = chance.once(in: 3) ? EventKind.peripheralDisconnected : .peripheralConnectionFailed
        hear(.event(WakeEvent(kind: kind, peripheral: peripheral, client: client)), isEvent: true)
    }

    private func answer(to operation: BluetoothOperation) -> EventKind {
        switch operation {
        case .discoverServices: .servicesDiscovered
        case .discoverIncludedServices: .includedServicesDiscovered
        case .discoverCharacteristics: .characteristicsDiscovered
        case .discoverDescriptors: .descriptorsDiscovered
        case .read: .valueRead
        case .write: .valueWritten
        case .setNotify: .notificationStateChanged
        case .readDescriptor: .descriptorRead
        case .writeDescriptor: .descriptorWritten
        case .readSignalStrength: .signalStrengthRead
        case .openChannel: .channelOpened
        }
    }

    /// An event of any kind, to everyone or to anyone, likely or not.
    ///
    /// - Parameter app: the only one that hears of it; nil for anyone.
    private mutating func anyEvent(for app: AppID? = nil) {
        var kinds = EventKind.allCases.filter {
            $0.source == .bluetooth && $0 != .bluetoothPoweredOff && $0 != .bluetoothPoweredOn
        }
        // Most are such as a central manager may hear of.
        if app == nil, !chance.once(in: 5) { kinds.removeAll { $0.rawValue > EventKind.readyToWrite.rawValue } }
        // What few apps watch for is met too seldom where the app's state does not last.
        let kind = app != nil && chance.once(in: 4) ? .connectionEvent : chance.pick(kinds)
        var client: BluetoothClient?
        if app != nil || chance.once(in: 3) {
            client = BluetoothClient(app: app ?? anyApp(), slot: UInt16(chance.below(3)))
        }
        hear(
            .event(
                WakeEvent(
                    kind: kind,
                    peripheral: anyPeripheral(),
                    attribute: AttributeHandle(chance.below(Self.attributes + 1)),
                    client: client,
                    failed: chance.once(in: 10)
                )
            ),
            isEvent: true
        )
    }

    /// An event of a source that cannot wait finds no room in the inbox.
    private mutating func overflow() {
        let event =
            switch chance.below(4) {
            case 0: WakeEvent(kind: .peripheralDiscovered, peripheral: anyPeripheral(), services: [NameID(400)])
            case 1: WakeEvent(kind: .peripheralDisconnected, peripheral: anyPeripheral())
            case 2: WakeEvent(kind: .positionFixed, fix: Fix(direction: Direction(x: 1, y: 0, z: 0)))
            default: WakeEvent(kind: .visitBegan)
            }
        hear(.overflowed(event), isEvent: true)
    }

    /// One characteristic notifies more often than any queue is long.
    private mutating func flood() {
        var subscribed: (NameID, AttributeHandle)?
        for command in commands {
            if case .operate(_, let peripheral, .setNotify(let handle, true)) = command {
                subscribed = (peripheral, handle)
            }
        }
        guard let (peripheral, attribute) = subscribed else { return }
        for _ in 0..<1_100 where observer.violation == nil { notify(peripheral, attribute) }
    }
}
