import WakeDevices
import WakeModel
import WakePorts
import WakeVoIP

/// Calls: the watch over apps' sockets, and the servers that they call.
final class VoIPArea: Area {
    static let source = Source.voip

    let port: any VoIPPort
    private let simulated: SimulatedVoIP?
    private let real: SocketVoIP?
    private let notes: StepNotes
    /// What apps have lost of a server.
    private var losses: (String) -> String = { _ in "" }
    /// The names of apps, in brackets.
    private var brackets: ([AppID]) -> String = { _ in "" }

    var sources: [any SourcePort] { [port] }

    init(_ setup: AreaSetup) {
        let scenario = setup.scenario
        notes = setup.notes
        let servers = scenario.devices.compactMap { device in device.form.callServer.map { (device.name, $0) } }
        let hasNetwork = scenario.phone.conditions.hasNetwork
        if setup.backends[Self.source] == "socket" {
            let real = SocketVoIP(servers: servers, names: setup.names, loop: setup.loop, hasNetwork: hasNetwork)
            (port, simulated, self.real) = (real, nil, real)
        } else {
            let simulated = SimulatedVoIP(
                servers: servers,
                names: setup.names,
                seed: setup.seed,
                loop: setup.loop,
                listens: scenario.hasBundles,
                hasNetwork: hasNetwork
            )
            (port, self.simulated, real) = (simulated, simulated, nil)
        }
    }

    /// Where the simulated servers listen, as apps find it in their environment.
    var environment: [String] { simulated?.environment ?? [] }

    func connect(to run: Run) {
        simulated?.note = { [unowned run] in run.recorder.note($0, at: run.present) }
        real?.note = { [unowned run] in run.recorder.note($0, at: run.present) }
        losses = { [unowned run] in run.losses(of: $0, .voipSocket) }
        brackets = { [unowned run] apps in Run.brackets(apps.map { run.name(of: $0) }) }
        guard let processes = run.processes, !run.realTime else { return }
        simulated?.tellRunning = { [unowned processes] app, socket in
            processes.host.socketHoldsBytes(of: app, socket: socket)
        }
    }

    func code(with coder: inout SnapshotCoder, at now: Instant) throws(EncodingFault) {
        try simulated?.code(with: &coder)
    }

    // MARK: Steps

    func perform(_ verb: Verb, _ origin: NameID, in scenario: Scenario, at now: Instant) throws(SourceFailure) {
        guard case .call(let devices, let act) = verb else { return }
        let calls = try calls("voip")
        for device in devices {
            let name = scenario.devices[device].name
            let untold = try calls.simulate(act, device: name, at: now)
            note("voip \(name)", act, untold, losses(name), at: now)
        }
    }

    /// Says that what a server did has reached nobody, or where no event tells of it.
    private func note(
        _ what: String,
        _ step: CallServer.Step?,
        _ untold: [AppID]?,
        _ losses: String,
        at now: Instant
    ) {
        let why: String
        if untold != nil, simulated?.hasNetwork == false {
            guard step?.reachesPhone == true else { return }
            why = "the phone has no network, and it waits for one"
        } else if let untold {
            if untold.isEmpty { return }
            why = "no event tells of it where the app is suspended and has not read what came before\(brackets(untold))"
        } else {
            why = "nobody is connected to it\(losses)"
        }
        // The sockets of real apps do not come back with a journal.
        notes.add(what, why, at: now, isReplayed: false)
    }

    func owns(_ device: ScenarioDevice) -> Bool { device.form.callServer != nil }

    func arm(_ fault: String, of device: ScenarioDevice, at now: Instant) throws(SourceFailure) {
        let untold = try calls("arm").arm(fault: fault, device: device.name, at: now)
        let step = device.form.callServer?.faults.first { $0.name == fault }?.effect
        note("arm \(device.name) \(fault)", step, untold, losses(device.name), at: now)
    }

    private func calls(_ step: String) throws(SourceFailure) -> SimulatedVoIP {
        try need(simulated, for: step, "the peer")
    }
}

extension AppView {
    /// The watch over VoIP sockets.
    var voip: any VoIPPort { areas.voip.port }

    /// Whether a keep-alive handler with this period will be called (VOIP-3).
    func grantsKeepAlive(of app: AppID, period: Instant.Span) -> Bool {
        bench.router.grantsKeepAlive(of: app, period: period)
    }
}
