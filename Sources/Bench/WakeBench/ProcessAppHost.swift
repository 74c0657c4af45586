import Glibc
import WakeModel
import WakePorts
import WakeProcesses
import WakeReports
import WakeSystem
import WakeWire

/// What the host of real apps must know of the rest of the bench.
protocol ProcessAppSurroundings: AnyObject {
    /// Seconds left in the background; nil in the foreground (TASK-5).
    func backgroundSecondsRemaining(of app: AppID) -> Double?
    /// Whether the app's manager holds a link that is up, a pending one, or none.
    func linkState(of app: AppID, manager: ManagerNumber, to peripheral: NameID) -> WireLinkState
    /// Whether the router waits for the app to be frozen.
    func isFreezing(_ app: AppID) -> Bool
    /// What a fresh location manager of the app is told.
    func locationFacts(of app: AppID) -> LocationFacts
    /// How sound stands for an app.
    func audioFacts(of app: AppID) -> AudioFacts
    /// The accessories that the app may see now.
    func accessories(of app: AppID) -> [Accessory]
    /// The wall clock for packets that carry a time, in seconds since 1970.
    var wallSeconds: Double { get }
    var radio: any BluetoothCentralPort { get }
    /// The watch over VoIP sockets.
    var voip: any VoIPPort { get }
    /// Whether a keep-alive handler with this period will be called (VOIP-3).
    func grantsKeepAlive(of app: AppID, period: Instant.Span) -> Bool
    /// How many bytes an update to a central may have.
    func maximumUpdateLength(of central: NameID) -> UInt16
    /// How many updates the peripheral end takes of a manager, and in which turn of the bench that is asked.
    func updateRoom(of app: AppID, manager: ManagerNumber) -> (room: Int, turn: UInt64)
    /// What happened to a real app, for the outcomes.
    func note(_ fact: ProcessFact, of app: AppID)
}

/// What happened to a real app, in the world rather than on the desk.
enum ProcessFact {
    case started(pid: Int32)
    /// The first word of a fresh process, after that much wall time.
    case greeted(spawn: Instant.Span)
    case sent(callback: String, value: [UInt8]?, DecisionID)
    case answered(DecisionID)
    case fault(String)
}

/// Apps that are real processes, spoken to over the wire.
final class ProcessAppHost: AppHost {
    /// How a bundle is started.
    struct Bundle {
        var identifier: String
        var executable: String
        /// The app's own folder for its data.
        var home: String
        /// Where its standard output and error go.
        var log: String
    }

    /// What a delivery waits for.
    enum Owed {
        case nothing(DecisionID)
        case event(EventID, DecisionID)
        case callback(LifecycleCallback)
    }

    /// A packet that waits for room, and the descriptors that travel with it.
    private final class Outbound {
        let bytes: [UInt8]
        let descriptors: [Int32]

        init(bytes: [UInt8], descriptors: [Int32]) {
            self.bytes = bytes
            self.descriptors = descriptors
        }

        deinit { for descriptor in descriptors { close(descriptor) } }
    }

    /// One process of an app.
    private final class Process {
        let generation: UInt32
        /// What the process host calls it: a number of its own, since an app's next process may start while the last
        /// one is still dying.
        let key: UInt32
        var pid: Int32 = 0
        var welcome: Welcome
        var startedAt: Int64
        var greeted = false
        var launched = false
        var frozen = false
        var freezing = false
        /// The patience with it has run out until it answers again.
        var overrun = false
        var connected = true
        /// It is on its way out, and its exit will be heard.
        var ending = false
        var nextDelivery: UInt64 = 1
        var owed: [(number: UInt64, what: Owed)] = []
        /// What is for its location managers and its calls, until it has launched.
        var held: [BenchMessage] = []
        /// It understands packets of several messages.
        var takesBatches = false
        var batch = PacketBatch()
        /// Packets that the socket has no room for.
        var outbound: [Outbound] = []
        var faults = 0
        /// Those of its managers that are of the peripheral role.
        var peripheralManagers: Set<ManagerNumber> = []

        init(generation: UInt32, key: UInt32, welcome: Welcome, startedAt: Int64) {
            self.generation = generation
            self.key = key
            self.welcome = welcome
            self.startedAt = startedAt
        }

        /// Whether virtual time must wait for it.
        var isBusy: Bool {
            if freezing { return true }
            if frozen || overrun || !connected { return false }
            return ending || !launched || !owed.isEmpty
        }
    }

    var hear: ((AppID, AppWord) -> Void)?
    weak var surroundings: (any ProcessAppSurroundings)?
    private let host: ProcessHost
    let translation: WireTranslation
    private let environment: [String]
    private var bundles: [AppID: Bundle] = [:]
    private var processes: [AppID: Process] = [:]
    private var owners: [UInt32: AppID] = [:]
    private var lastKey: UInt32 = 0
    private var order: [AppID] = []
    private var isGathering = false
    /// The apps with a packet in the making.
    private var gathered: [AppID] = []
    var updatesAsked = UpdatesAsked()
    /// The sound of each app's present process.
    var sounds: [AppID: AppSound] = [:]

    /// The most packets that wait for one app's socket; beyond it the app counts as gone deaf and is cut off.
    static let outboundLimit = 4_096
    /// The most malformed packets of one process that are written to its log.
    static let loggedFaults = 20

    init(host: ProcessHost, translation: WireTranslation, environment: [String]) {
        self.host = host
        self.translation = translation
        self.environment = environment
        host.onPacket = { [unowned self] key, packet, descriptors in
            if let app = owners[key] { received(packet, with: &descriptors, from: app) }
        }
        host.onWritable = { [unowned self] key in
            if let app = owners[key] { writable(app) }
        }
        host.onFault = { [unowned self] key, what in
            if let app = owners[key] { socketFault(what, app) }
        }
        host.onExit = { [unowned self] key, exit in
            if let app = owners.removeValue(forKey: key) { exited(app, exit) }
        }
    }

    func add(_ bundle: Bundle, as app: AppID) {
        bundles[app] = bundle
        order.append(app)
    }

    var nextDeadline: Instant? { nil }
    func timeReached(_ now: Instant) {}

    var isQuiet: Bool { !order.contains { processes[$0]?.isBusy == true } }

    /// The apps that owe an answer, by bundle identifier.
    var busyApps: [String] { order.filter { processes[$0]?.isBusy == true }.map { bundles[$0]!.identifier } }

    /// Stops waiting for the apps that owe an answer: they count as overrun until they give it.
    func endPatience() {
        for app in order where processes[app]?.isBusy == true { processes[app]?.overrun = true }
    }

    // MARK: The process

    func launch(_ app: AppID, generation: UInt32, state: AppState, cause: LaunchCause?, at now: Instant) {
        guard let bundle = bundles[app] else { preconditionFailure("app \(app.number) is no bundle") }
        lastKey += 1
        let process = Process(
            generation: generation,
            key: lastKey,
            welcome: welcome(state, cause),
            startedAt: MonotonicClock.now()
        )
        processes[app] = process
        sounds[app] = nil
        owners[process.key] = app
        do {
            let log = try Descriptor.open(bundle.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, mode: 0o600)
            process.pid = try host.spawn(
                process.key,
                program(bundle, cause),
                output: log.number,
                error: log.number
            )
            surroundings?.note(.started(pid: process.pid), of: app)
        } catch {
            processes[app] = nil
            owners[process.key] = nil
            surroundings?.note(.fault("\(error)"), of: app)
            hear?(app, .report(.launchFailed(Self.code(of: error))))
        }
    }

    /// The errno behind a failed launch.
    private static func code(of error: any Error) -> Int32 {
        if let error = error as? SystemError { return error.code }
        switch (error as? ProcessError)?.kind {
        case .cannotExecute(let code), .cannotEnterDirectory(let code), .cannotSpawn(_, let code): return code
        case .malformed, .running, .freezerUnavailable, .none: return EINVAL
        }
    }

    private func welcome(_ state: AppState, _ cause: LaunchCause?) -> Welcome {
        Welcome(
            state: Self.wireState(state),
            cause: cause.map {
                WireCause(
                    source: $0.event.kind.source.word,
                    kind: $0.event.kind.word,
                    subject: translation.names.text($0.event.subject),
                    event: LogTime.text($0.event.id),
                    decision: LogTime.text($0.decision)
                )
            },
            bluetoothCentrals: cause?.restoreIdentifiers.map(translation.names.text) ?? [],
            bluetoothPeripherals: cause?.peripheralRestoreIdentifiers.map(translation.names.text) ?? [],
            isForLocation: cause?.event.kind.source == .location
        )
    }

    private func program(_ bundle: Bundle, _ cause: LaunchCause?) -> AppProgram {
        var variables = environment
        if let cause {
            variables.append("WAKEBENCH_CAUSE=\(cause.event.kind.source.word)")
            variables.append("WAKEBENCH_EVENT_ID=\(LogTime.text(cause.event.id))")
            variables.append("WAKEBENCH_DECISION_ID=\(LogTime.text(cause.decision))")
        }
        variables.append("HOME=\(bundle.home)")
        return AppProgram(
            path: bundle.executable,
            arguments: [bundle.executable],
            environment: variables,
            directory: bundle.home
        )
    }

    func thaw(_ app: AppID, at now: Instant) {
        guard let process = processes[app] else { return }
        sendBatch(to: process, of: app)
        process.freezing = false
        process.frozen = false
        host.thaw(process.key)
    }

    func freeze(_ app: AppID, at now: Instant) {
        guard let process = processes[app] else { return }
        sendBatch(to: process, of: app)
        process.freezing = true
        host.freeze(process.key) { [unowned self] outcome in
            guard processes[app] === process, process.freezing else { return }
            let frozen = outcome == .frozen
            process.freezing = false
            process.frozen = frozen
            // What the app said before it froze comes first: it may forbid the suspension. One that runs on may never
            // stop talking; the loop reads it as always.
            while frozen, !host.receive(from: process.key) {}
            hear?(app, .report(frozen ? .suspended : .suspensionRefused))
        }
    }

    func kill(_ app: AppID, at now: Instant) {
        guard let process = processes.removeValue(forKey: app) else { return }
        sendBatch(to: process, of: app)
        owners[process.key] = nil
        host.kill(process.key)
    }

    func stop() {
        processes.removeAll()
        owners.removeAll()
        host.close()
    }

    // MARK: To the app

    func callback(_ callback: LifecycleCallback, state: AppState, to app: AppID, at now: Instant) {
        send(to: app, owing: .callback(callback), named: callback.word, decision: .none) { number in
            .callback(delivery: number, Self.wireCallback(callback, []), state: Self.wireState(state))
        }
    }

    func expireTasks(_ tokens: [UInt64], of app: AppID, at now: Instant) {
        send(to: app, owing: .callback(.taskExpiration), named: "expirationHandler", decision: .none) { number in
            .callback(delivery: number, .taskExpiration(tokens: tokens), state: .background)
        }
    }

    func managerState(_ manager: ManagerNumber, _ state: BluetoothState, to app: AppID, at now: Instant) {
        let word = WireTranslation.radioState(state)
        let isPeripheral = isPeripheralManager(manager, of: app)
        let body: WireDeliveryBody = isPeripheral ? .peripheralManager(.state(word)) : .centralState(word)
        let name = isPeripheral ? "peripheralManagerDidUpdateState" : "centralManagerDidUpdateState"
        send(to: app, owing: .nothing(.none), named: name, decision: .none) { number in
            .deliver(WireDelivery(delivery: number, manager: manager, body: body))
        }
    }

    /// A manager of the peripheral role was made.
    func noteManager(_ manager: ManagerNumber, of app: AppID) {
        processes[app]?.peripheralManagers.insert(manager)
    }

    private func isPeripheralManager(_ manager: ManagerNumber, of app: AppID) -> Bool {
        processes[app]?.peripheralManagers.contains(manager) == true
    }

    func restore(_ manager: ManagerNumber, _ state: RestoredState, to app: AppID, at now: Instant) {
        let restoration = translation.restoration(state) { surroundings?.radio.knownPeripheral($0) }
        send(to: app, owing: .nothing(.none), named: "willRestoreState", decision: .none) { number in
            .deliver(WireDelivery(delivery: number, manager: manager, body: .centralWillRestore(restoration)))
        }
    }

    func deliver(_ delivery: AppDelivery, to app: AppID, at now: Instant) {
        let isPeripheral = delivery.event.kind.source == .bluetooth && isPeripheralManager(delivery.manager, of: app)
        let body =
            isPeripheral && delivery.event.kind != .channelDataAvailable
            ? translation.peripheralManagerEvent(delivery, length: updateLength).map { .peripheralManager($0) }
            : translation.body(delivery, wallSeconds: surroundings?.wallSeconds ?? 0)
        guard let body else { return }
        var value: [UInt8]?
        if case .value(let bytes) = delivery.payload { value = bytes }
        send(
            to: app,
            owing: .event(delivery.event.id, delivery.decision),
            named: WireTranslation.delegateMethod(delivery.event.kind, peripheralRole: isPeripheral),
            value: value,
            decision: delivery.decision,
            channel: delivery.channel
        ) { number in
            .deliver(
                WireDelivery(
                    delivery: number,
                    event: LogTime.text(delivery.event.id),
                    decision: LogTime.text(delivery.decision),
                    cause: delivery.event.kind.source.word,
                    manager: delivery.event.kind.source == .audio ? sounds[app]?.manager ?? 0 : delivery.manager,
                    body: body
                )
            )
        }
    }

    func send(
        to app: AppID,
        owing owed: Owed,
        named name: String,
        value: [UInt8]? = nil,
        decision: DecisionID,
        channel: Int32? = nil,
        _ message: (UInt64) -> BenchMessage
    ) {
        guard let process = processes[app] else { return }
        let number = process.nextDelivery
        process.nextDelivery += 1
        process.owed.append((number, owed))
        surroundings?.note(.sent(callback: name, value: value, decision), of: app)
        let packet = message(number)
        // Otherwise what the app does at the first word would come before or after its launch, by chance.
        if case .deliver(let delivery) = packet, delivery.body.waitsForLaunch, !process.launched {
            process.held.append(packet)
            return
        }
        send(packet, with: channel.map { [$0] } ?? [], to: process, of: app)
    }

    /// Bytes came over a channel of an app that runs, which nothing was to be decided about. The app answers when it has
    /// read them, so that virtual time can wait for it.
    func channelHoldsBytes(of app: AppID, manager: ManagerNumber) {
        guard let process = processes[app] else { return }
        let number = process.nextDelivery
        process.nextDelivery += 1
        process.owed.append((number, .nothing(.none)))
        send(.deliver(WireDelivery(delivery: number, manager: manager, body: .channelData)), to: process, of: app)
    }

    func gather() { isGathering = true }

    func release() {
        isGathering = false
        for app in gathered {
            if let process = processes[app] { sendBatch(to: process, of: app) }
        }
        gathered.removeAll(keepingCapacity: true)
    }

    private func send(
        _ message: BenchMessage,
        with descriptors: [Int32] = [],
        to process: Process,
        of app: AppID
    ) {
        guard isGathering, process.takesBatches, descriptors.isEmpty else {
            sendBatch(to: process, of: app)
            send(message.encode(), with: descriptors, to: process, of: app)
            return
        }
        if process.batch.isEmpty { gathered.append(app) }
        if process.batch.add(message) { return }
        sendBatch(to: process, of: app)
        if !process.batch.add(message) { send(message.encode(), with: [], to: process, of: app) }
    }

    /// Sends the packet that was in the making.
    private func sendBatch(to process: Process, of app: AppID) {
        process.batch.take { send($0, with: [], to: process, of: app) }
    }

    private func send(_ bytes: [UInt8], with descriptors: [Int32], to process: Process, of app: AppID) {
        guard process.outbound.isEmpty else {
            enqueue(bytes, with: descriptors, to: process, of: app)
            return
        }
        switch host.send(bytes, descriptors: descriptors, to: process.key) {
        case .sent: break
        case .full: enqueue(bytes, with: descriptors, to: process, of: app)
        // What it said before is still to be read, and then the end of the socket, which tells whether it runs on.
        case .closed: break
        case .refused(let code): fault("a packet of \(bytes.count) bytes cannot be sent: error \(code)", app)
        }
    }

    /// The socket is full: the packet waits in order until the app reads, as far as the bound allows.
    private func enqueue(_ bytes: [UInt8], with descriptors: [Int32], to process: Process, of app: AppID) {
        guard process.outbound.count < Self.outboundLimit else {
            if process.connected {
                fault("reads nothing; \(Self.outboundLimit) packets wait, further ones are lost", app)
            }
            process.connected = false
            return
        }
        // Its own duplicates: the owner's may be closed before there is room.
        process.outbound.append(Outbound(bytes: bytes, descriptors: descriptors.map { dup($0) }.filter { $0 >= 0 }))
        host.notifyWhenWritable(process.key)
    }

    /// The socket has room again.
    func writable(_ app: AppID) {
        guard let process = processes[app] else { return }
        var sent = 0
        for packet in process.outbound {
            guard case .sent = host.send(packet.bytes, descriptors: packet.descriptors, to: process.key) else { break }
            sent += 1
        }
        process.outbound.removeFirst(sent)
        if !process.outbound.isEmpty { host.notifyWhenWritable(process.key) }
    }

    // MARK: From the app

    /// A packet of the app's present process.
    func received(_ packet: [UInt8], with descriptors: inout ReceivedDescriptors, from app: AppID) {
        guard let process = processes[app] else { return }
        let message: AppMessage
        do { message = try AppMessage(decoding: packet) } catch {
            fault(error.description, app)
            return
        }
        switch message {
        case .hello(let version, _, _, let batches):
            process.takesBatches = batches
            greet(process, version: version, app)
        case .launched:
            process.launched = true
            process.overrun = false
            for packet in process.held { send(packet, to: process, of: app) }
            process.held.removeAll()
            hear?(app, .report(.launched))
        case .acknowledge(let first, let last): acknowledge(first, through: last ?? first, process, app)
        case .timeRemaining(let id):
            reply(id, WireReply(seconds: surroundings?.backgroundSecondsRemaining(of: app)), process, app)
        case .central(let manager, .retrieve(let id, let identifiers)):
            let isOn = surroundings?.radio.poweredOn == true
            let found = isOn ? identifiers.compactMap { translation.identifiers.name(of: $0) } : []
            reply(id, WireReply(peripherals: found.map { known($0, app, manager) }), process, app)
        case .central(let manager, .retrieveConnected(let id, let services)):
            let found =
                surroundings?.radio.connectedPeripherals(services: services.map(translation.names.intern)) ?? []
            reply(id, WireReply(peripherals: found.map { known($0, app, manager) }), process, app)
        case .central(_, .create(let id, _, _)):
            reply(id, WireReply(), process, app)
            ask(message, app)
        case .location(let manager, let request): heard(request, manager: manager, from: app)
        case .accessory(let manager, let request): heard(request, manager: manager, from: app)
        case .voip(let request): heard(request, with: &descriptors, from: app)
        case .peripheralManager(let manager, let request): heard(request, manager: manager, from: app)
        case .audio(let manager, let request): heard(request, manager: manager, from: app)
        case .central, .peripheral, .done, .beginTask, .endTask: ask(message, app)
        }
    }

    private func greet(_ process: Process, version: Int, _ app: AppID) {
        guard version == WireLimits.version else {
            fault("speaks version \(version) of the wire; this bench speaks \(WireLimits.version)", app)
            return
        }
        guard !process.greeted else { return }
        process.greeted = true
        surroundings?.note(
            .greeted(spawn: .init(nanoseconds: MonotonicClock.now() - process.startedAt)),
            of: app
        )
        send(.welcome(process.welcome), to: process, of: app)
    }

    private func acknowledge(_ first: UInt64, through last: UInt64, _ process: Process, _ app: AppID) {
        let taken = process.owed.filter { $0.number >= first && $0.number <= last }
        guard last >= first, !taken.isEmpty, UInt64(taken.count) - 1 == last - first else {
            let what = first == last ? "delivery \(first)" : "deliveries \(first) to \(last)"
            fault("acknowledges \(what), which it does not owe", app)
            return
        }
        process.overrun = false
        process.owed.removeAll { $0.number >= first && $0.number <= last }
        for (_, what) in taken {
            switch what {
            case .nothing: break
            case .callback(let callback): hear?(app, .report(.returned(callback)))
            case .event(let event, let decision):
                surroundings?.note(.answered(decision), of: app)
                // It went to each of the app's managers that wanted it, and is taken when the last has taken it.
                let isOwed = process.owed.contains { other in
                    if case .event(event, _) = other.what { true } else { false }
                }
                if !isOwed { hear?(app, .acknowledged(event)) }
            }
        }
    }

    private func ask(_ message: AppMessage, _ app: AppID) {
        guard let request = translation.request(message) else {
            fault("names a peripheral that was never seen", app)
            return
        }
        hear?(app, .request(request))
    }

    func reply(_ id: UInt64, _ answer: WireReply, with descriptors: [Int32] = [], to app: AppID) {
        if let process = processes[app] { send(.reply(id: id, answer), with: descriptors, to: process, of: app) }
    }

    private func reply(_ id: UInt64, _ reply: WireReply, _ process: Process, _ app: AppID) {
        send(.reply(id: id, reply), to: process, of: app)
    }

    private func known(_ name: NameID, _ app: AppID, _ manager: ManagerNumber) -> WirePeripheral {
        WirePeripheral(
            identifier: translation.identifiers.identifier(of: name),
            name: surroundings?.radio.knownPeripheral(name)?.name,
            state: surroundings?.linkState(of: app, manager: manager, to: name) ?? .disconnected
        )
    }

    /// The process is gone by itself.
    private func exited(_ app: AppID, _ exit: ProcessExit) {
        processes[app] = nil
        switch exit.cause {
        case .exited(let status): hear?(app, .report(.exited(Int64(status))))
        case .signalled(let signal, _): hear?(app, .report(.exited(-Int64(signal))))
        case .unknown: hear?(app, .report(.exited(-Int64(SIGKILL))))
        }
    }

    private func socketFault(_ what: SocketFault, _ app: AppID) {
        switch what {
        case .truncated: fault("sent a packet of more than \(WireLimits.packetBytes) bytes", app)
        case .ending: processes[app]?.ending = true
        case .closed:
            // It runs on, deaf; only its exit ends it.
            processes[app]?.connected = false
            fault("closed its socket", app)
        }
    }

    func fault(_ what: String, _ app: AppID) {
        guard let process = processes[app] else { return }
        process.faults += 1
        if process.faults <= Self.loggedFaults { surroundings?.note(.fault(what), of: app) }
    }

    // MARK: Words

    private static func wireState(_ state: AppState) -> WireAppState {
        switch state {
        case .active: .active
        case .inactive: .inactive
        case .background, .suspended, .notRunning: .background
        }
    }

    private static func wireCallback(_ callback: LifecycleCallback, _ tokens: [UInt64]) -> WireCallback {
        switch callback {
        case .willResignActive: .willResignActive
        case .didEnterBackground: .didEnterBackground
        case .willEnterForeground: .willEnterForeground
        case .didBecomeActive: .didBecomeActive
        case .willTerminate: .willTerminate
        case .taskExpiration: .taskExpiration(tokens: tokens)
        }
    }
}
