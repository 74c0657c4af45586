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
    private(set) var keeper: ChannelKeeper?
    private let notes: StepNotes
    /// What apps have lost of a device.
    private var losses: (String) -> String = { _ in "" }

    var sources: [any SourcePort] { [port] }

    /// - Parameter radio: the end of accessories that are on the air, which shares its adapter with others.
    init(
        _ setup: AreaSetup,
        overRadio radio: ([ScenarioDevice]) throws(SystemError) -> any AccessoryPort
    ) throws(SystemError) {
        let devices = setup.scenario.devices
        notes = setup.notes
        switch setup.backends[Self.source] {
        case "udev":
            port = try UdevAccessories(devices: devices, names: setup.names, loop: setup.loop)
            simulated = nil
        case "rfcomm":
            port = try radio(devices)
            simulated = nil
        default:
            let simulated = SimulatedAccessories(
                devices: devices,
                names: setup.names,
                seed: setup.seed,
                loop: setup.loop,
                isRadioOn: setup.scenario.phone.bluetooth
            )
            (port, self.simulated) = (simulated, simulated)
        }
    }

    func connect(to run: Run) {
        let keeper = keep(.sessions, in: run, take: { [port] in port.takeSession($0) }) { host, app, session in
            host.sessionHoldsBytes(of: app, session: session)
        }
        self.keeper = keeper
        simulated?.written = { [weak keeper] in keeper?.wrote(to: $0) }
        losses = { [unowned run] in run.losses(of: $0, .accessorySession) }
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
                    at: CommandFailure.Place(file: scenario.file, line: step.line, column: step.column),
                    "no accessory can be set up for \(scenario.apps[position].name): "
                        + "neither NSAccessorySetupKitSupports nor NSAccessorySetupSupports of \(bundle.identifier) names Bluetooth",
                    hint: "add Bluetooth to NSAccessorySetupKitSupports in Info.plist"
                )
            }
        }
    }

    func resume(at now: Instant) { port.connect(at: now) }

    /// Said again when the bench came back, and so while its journal is read.
    func closeLinks(_ run: Run, _ origin: NameID, at now: Instant, isReplay: Bool) {
        if isReplay { simulated?.connect(at: now) }
    }

    func code(with coder: inout SnapshotCoder, at now: Instant) throws(EncodingFault) {
        try simulated?.code(with: &coder)
    }

    // MARK: Steps

    func perform(_ verb: Verb, _ origin: NameID, in scenario: Scenario, at now: Instant) throws(SourceFailure) {
        switch verb {
        case .attach(let devices, let attached):
            let step = attached ? "attach" : "detach"
            for device in devices { try plug(scenario.devices[device], attached, step, origin, at: now) }
        case .send(let devices, let protocolName, let value):
            for device in devices {
                let name = scenario.devices[device].name
                let isSent = try accessories("send").simulateSend(
                    device: name,
                    protocolName: protocolName,
                    value: value,
                    at: now
                )
                if isSent { continue }
                notes.add("send \(name) \(value.hexadecimal)", try silence(of: name), at: now)
            }
        default: break
        }
    }

    /// Why what an accessory sends reaches nobody.
    private func silence(of name: String) throws(SourceFailure) -> String {
        let accessories = try accessories("send")
        if try !accessories.isAttached(name) { return "it is not attached" }
        return try accessories.lacksRadio(name) ? "Bluetooth is off" : "no app has a session with it" + losses(name)
    }

    func owns(_ device: ScenarioDevice) -> Bool { device.accessory != nil }

    func disconnect(_ device: ScenarioDevice, _ origin: NameID, at now: Instant) throws(SourceFailure) {
        try plug(device, false, "disconnect", origin, at: now)
    }

    func move(_ device: ScenarioDevice, inRange: Bool, at now: Instant) throws(SourceFailure) {
        try plug(device, inRange, inRange ? "in-range" : "out-of-range", .none, at: now)
    }

    func arm(_ fault: String, of device: ScenarioDevice, at now: Instant) throws(SourceFailure) {
        if try accessories("arm").arm(fault: fault, device: device.name, at: now) { return }
        notes.add("arm \(device.name) \(fault)", "no app has a session with it", at: now)
    }

    private func plug(
        _ device: ScenarioDevice,
        _ attached: Bool,
        _ step: String,
        _ origin: NameID,
        at now: Instant
    ) throws(SourceFailure) {
        let isSo = try accessories(step).isAttached(device.name) == attached
        if isSo {
            notes.add("\(step) \(device.name): it is \(attached ? "attached already" : "not attached")", at: now)
        }
        if attached {
            try accessories("attach").simulateAttach(device: device.name, origin: origin, at: now)
            if !isSo, try accessories("attach").lacksRadio(device.name) {
                notes.add("attach \(device.name)", "Bluetooth is off; it connects when that is on", at: now)
            }
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
    func wroteToSession() { areas.accessory.port.look(at: bench.now) }

    /// The accessories that an app may see now, in order of connection (EA-3).
    func accessories(of app: AppID) -> [Accessory] {
        let visible = bench.router.visibleAccessories(of: app)
        return areas.accessory.port.accessories.filter { visible.contains($0.connection) }
    }
}

extension AccessoryArea {
    /// The lines of `--backend udev` and `--backend rfcomm`.
    static func examine(_ installation: Doctor.Installation) -> [Doctor.Line] {
        let found = AccessoryPresence.examine()
        let udev = Doctor.Line(
            what: "udev",
            good: found.hasUdev,
            finding: found.hasUdev
                ? "udevd runs"
                : "udevd does not run; start systemd-udevd.service, or accessories that are plugged in are not noticed"
        )
        let closed = found.files.filter { !$0.mayOpen }
        let open = found.files.map { "\($0.node) \($0.device)" }
        let rights = Doctor.Line(
            what: "USB accessories",
            good: closed.isEmpty && !open.isEmpty,
            finding: closed.first.map {
                "\($0.node) \($0.device): permission denied; add a udev rule with TAG+=\"uaccess\" for it"
            } ?? (open.isEmpty ? "no USB serial port or HID device is plugged in" : open.joined(separator: "; "))
        )
        let rfcomm = Doctor.Line(
            what: "RFCOMM",
            good: found.rfcommFailure == nil,
            finding: found.rfcommFailure.map { "\($0); load the kernel's module rfcomm" } ?? "in the kernel"
        )
        return [udev, rights, rfcomm]
    }
}
