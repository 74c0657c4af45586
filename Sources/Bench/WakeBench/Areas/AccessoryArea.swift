import WakeBluetooth
import WakeBundles
import WakeDevices
import WakeExternalAccessory
import WakeModel
import WakePorts
import WakeSystem

/// External accessories, and the sessions of apps with them.
final class AccessoryArea: Area {
    static let source = Source.accessory
    static let hasLinks = true

    static func isUsed(by scenario: Scenario) -> Bool { scenario.devices.contains { $0.accessory != nil } }

    /// An app that comes to see an accessory is told what the accessory said when it connected.
    static let standing = StandingPayloads.Row(
        told: .accessoryConnected,
        ended: .accessoryDisconnected,
        found: .accessoryConnected
    )

    let port: any AccessoryPort
    private let simulated: SimulatedAccessories?
    private var keeper: ChannelKeeper?

    var sources: [any SourcePort] { [port] }

    /// - Parameter radio: whose adapter an accessory over Bluetooth shares.
    init(_ setup: AreaSetup, beside radio: BlueZBluetooth?) throws(SystemError) {
        let devices = setup.scenario.devices
        switch setup.backends[Self.source] {
        case "udev":
            port = try UdevAccessories(devices: devices, names: setup.names, loop: setup.loop)
            simulated = nil
        case "rfcomm":
            port = try RFCOMMAccessories(
                devices: devices,
                names: setup.names,
                loop: setup.loop,
                adapterAddress: setup.options.adapter,
                beside: radio?.adapter
            )
            simulated = nil
        default:
            let simulated = SimulatedAccessories(
                devices: devices,
                names: setup.names,
                seed: setup.seed,
                loop: setup.loop
            )
            (port, self.simulated) = (simulated, simulated)
        }
    }

    func connect(to run: Run) {
        let bench = run.bench
        let keeper = ChannelKeeper(
            .sessions,
            loop: run.loop,
            names: run.names,
            take: { [port] in port.takeSession($0) },
            report: { [unowned bench] in bench.submit($0) }
        )
        self.keeper = keeper
        bench.add(keeper)
        guard let processes = run.processes, !run.realTime else { return }
        keeper.tellRunning = { [unowned processes] app, manager in
            processes.host.sessionHoldsBytes(of: app, session: manager)
        }
        simulated?.written = { [weak keeper] in keeper?.wrote(to: $0) }
    }

    func begin(_ scenario: Scenario, isReplay: Bool) {
        if !isReplay || port.isReplayed { port.connect(at: .zero) }
    }

    static func declare(_ app: ScenarioApp, in manifest: inout AppManifest, _ names: NameTable) {
        guard case .scripted(let script) = app.form else { return }
        manifest.accessoryProtocols = (script.accessory?.protocols ?? []).map(names.intern)
        manifest.accessorySetup = script.accessorySetup
    }

    /// Refuses a step that sets up an accessory for an app whose bundle does not declare that (BTC-8).
    static func check(_ scenario: Scenario, _ bundles: [(position: Int, bundle: AppBundle)]) throws(CommandFailure) {
        for step in scenario.steps {
            guard case .setUp(let apps, _) = step.verb else { continue }
            for (position, bundle) in bundles where apps.contains(position) && !bundle.accessorySetup {
                throw CommandFailure(
                    .invalidFile,
                    "\(scenario.file):\(step.line): no accessory can be set up for \(scenario.apps[position].name): "
                        + "NSAccessorySetupKitSupports of \(bundle.identifier) does not name Bluetooth",
                    hint: "add Bluetooth to NSAccessorySetupKitSupports in Info.plist"
                )
            }
        }
    }

    func resume(at now: Instant) { port.connect(at: now) }

    func look(at now: Instant) {
        port.look(at: now)
        keeper?.look()
    }

    func stop() { keeper?.stop() }

    func canBeKept(_ scenario: Scenario) -> Bool {
        simulated == nil || !scenario.devices.contains { owns($0.form) }
    }

    // MARK: Steps

    func perform(_ verb: Verb, _ origin: NameID, in scenario: Scenario, at now: Instant) throws(SourceFailure) {
        switch verb {
        case .attach(let devices, let attached):
            for device in devices { try plug(scenario.devices[device], attached, origin, at: now) }
        case .send(let devices, let protocolName, let value):
            for device in devices {
                try accessories("send").simulateSend(
                    device: scenario.devices[device].name,
                    protocolName: protocolName,
                    value: value,
                    at: now
                )
            }
        default: break
        }
    }

    func owns(_ form: DeviceFile) -> Bool {
        if case .accessory = form { true } else { false }
    }

    func disconnect(_ device: ScenarioDevice, _ origin: NameID, at now: Instant) throws(SourceFailure) {
        try plug(device, false, origin, at: now)
    }

    func move(_ device: ScenarioDevice, inRange: Bool, at now: Instant) throws(SourceFailure) {
        try plug(device, inRange, .none, at: now)
    }

    func arm(_ fault: String, of device: ScenarioDevice, at now: Instant) throws(SourceFailure) {
        try accessories("arm").arm(fault: fault, device: device.name, at: now)
    }

    private func plug(
        _ device: ScenarioDevice,
        _ attached: Bool,
        _ origin: NameID,
        at now: Instant
    ) throws(SourceFailure) {
        if attached {
            try accessories("attach").simulateAttach(device: device.name, origin: origin, at: now)
        } else {
            try accessories("detach").simulateDetach(device: device.name, origin: origin, at: now)
        }
    }

    private func accessories(_ step: String) throws(SourceFailure) -> SimulatedAccessories {
        try need(simulated, for: step, "the accessory")
    }
}

extension ChannelKeeper.Kinds {
    /// Sessions: of their end their source speaks itself (EA-2).
    fileprivate static let sessions = ChannelKeeper.Kinds(
        origin: "session",
        opening: .accessorySessionOpened,
        holdsData: .accessoryDataAvailable,
        ended: .accessorySessionEnded,
        closed: { if case .accessory(.close(let session)) = $0 { session } else { nil } }
    )
}

extension AppView {
    /// A scripted app has written to an accessory.
    func wroteToSession() { areas.accessory.port.lookAtSessions(at: bench.now) }

    /// The accessories that an app may see now, in order of connection (EA-3).
    func accessories(of app: AppID) -> [Accessory] {
        let visible = bench.router.visibleAccessories(of: app)
        return areas.accessory.port.accessories.filter { visible.contains($0.connection) }
    }
}
