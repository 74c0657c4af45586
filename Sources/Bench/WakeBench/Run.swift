import Glibc
import WakeAudio
import WakeBluetooth
import WakeBundles
import WakeDevices
import WakeExternalAccessory
import WakeJournal
import WakeLocation
import WakeModel
import WakePorts
import WakeReports
import WakeRouter
import WakeSystem
import WakeVoIP
import WakeWire

/// One run of a scenario, from its file to its judgements.
package final class Run {
    package let scenario: Scenario
    package let options: RunOptions
    package let names = NameTable()
    package let bench: Bench
    package let driver: ScenarioDriver
    package let loop: EventLoop
    package let profile: Profile
    package let seed: UInt64
    package let folder: RunFolder
    let bluetooth: any BluetoothCentralPort
    let peripheralRole: any BluetoothPeripheralPort
    let location: any LocationPort
    let audio: any AudioPort
    let accessory: any AccessoryPort
    let voip: any VoIPPort
    let scripted: ScriptedAppHost
    let journal: RunJournal
    let recorder: RunRecorder
    /// The host of real apps; nil when the scenario has none.
    var processes: RealApps?
    let realTime: Bool
    var startedAt: Int64 = 0
    var interrupted = false
    /// How far the steps have come while a journal is read back.
    var replayedTo = Instant(nanoseconds: -1)
    /// What is worth a line on stderr, such as a missing right: the run goes on.
    package internal(set) var notes: [String] = []
    /// Told about twice a second of wall time how far the run is, and how many decisions there were.
    package var progress: ((Instant, Int) -> Void)?
    private var nextProgress: Int64 = 0

    /// How many decisions there were, by the raw value of the verdict.
    package var verdicts: [Int] { recorder.counts }

    /// The router's name for each device of the scenario.
    let devices: [NameID]

    /// Reads the scenario, prepares all that the run needs, and makes the run folder last: what is refused leaves
    /// nothing behind.
    ///
    /// - Parameter wrap: puts another radio before the run's own; a benchmark reads its values from a descriptor so.
    package init(
        _ options: RunOptions,
        wrap: ((any BluetoothCentralPort, EventLoop) throws(SystemError) -> any BluetoothCentralPort)? = nil
    ) throws(CommandFailure) {
        self.options = options
        do {
            scenario = try Scenario.load(file: options.scenario, searchFolders: options.appFolders)
        } catch {
            throw CommandFailure(.invalidFile, error.description)
        }
        let base = Run.profile(options.profile ?? scenario.profile ?? .ios17, scenario.voip)
        profile = scenario.audio.applied(to: base)
        seed = options.seed ?? scenario.seed ?? 1
        do {
            // Each watched socket of an app is a descriptor of the bench.
            try raiseDescriptorLimit()
            loop = try EventLoop()
        } catch { throw CommandFailure(.internal, error.description) }
        let backend = Run.backend(of: .bluetooth, options, scenario)
        let positions = Run.backend(of: .location, options, scenario)
        let sound = Run.backend(of: .audio, options, scenario)
        let accessories = Run.backend(of: .accessory, options, scenario)
        let calls = Run.backend(of: .voip, options, scenario)
        realTime = try Run.clock(options, backends: [backend, positions, accessories, sound, calls])
        let names = self.names
        devices = scenario.devices.map { names.intern($0.name) }
        let radio = try Run.bluetooth(backend, scenario, names: names, seed: seed, loop: loop, adapter: options.adapter)
        do { bluetooth = try wrap?(radio, loop) ?? radio } catch {
            throw CommandFailure(.internal, error.description)
        }
        peripheralRole = try Run.peripheralRole(beside: radio, scenario, names: names, seed: seed, loop: loop)
        location = try Run.location(positions, scenario, options, names: names, seed: seed, loop: loop)
        audio = try Run.audio(sound, scenario, options, names: names, loop: loop)
        accessory = try Run.accessory(
            accessories,
            scenario,
            names: names,
            seed: seed,
            loop: loop,
            beside: radio,
            adapter: options.adapter
        )
        let bundles = try RealApps.read(scenario)
        voip = Run.voip(calls, scenario, names: names, seed: seed, loop: loop, hasProcesses: !bundles.isEmpty)
        notes += bundles.flatMap(\.bundle.warnings)
        if !bundles.isEmpty { try RealApps.check(options.freezer) }
        do throws(SourceFailure) {
            try bluetooth.start(at: .zero)
            try peripheralRole.start(at: .zero)
            try location.start(at: .zero)
            try audio.start(at: .zero)
            try accessory.start(at: .zero)
            try voip.start(at: .zero)
        } catch {
            throw CommandFailure(error.exitCode, error.message)
        }
        folder = try RunFolder(making: options.out)
        journal =
            try options.journal
            ? RunJournal(folder.journal, options: options, profile: profile, seed: seed, backend: backend)
            : RunJournal()
        // Names mean the same as before the bench died.
        for name in journal.recovery?.names ?? [] { _ = names.intern(name) }
        let real =
            try bundles.isEmpty
            ? nil
            : RealApps(
                bundles,
                options,
                profile: profile,
                loop: loop,
                names: names,
                run: journal.runName,
                servers: (voip as? SimulatedVoIP)?.environment ?? []
            )
        let header = LogHeader(
            version: wakebenchVersion,
            phone: "phone",
            seed: seed,
            profile: profile.name,
            determinism: realTime || real != nil ? "replay" : "router",
            settings: Run.settings(backend, positions, accessories, sound, calls, scenario)
        )
        recorder = try Run.recorder(folder, header, names: names, goesOn: journal.recovery != nil)
        bench = Bench(
            router: Router(profile: profile, passcode: scenario.phone.passcode, bluetoothOn: scenario.phone.bluetooth),
            names: names,
            bluetooth: bluetooth,
            journal: journal.journal
        )
        bench.keeper = ChannelKeeper(
            loop: loop,
            names: names,
            take: { [bluetooth] in bluetooth.takeChannel($0) },
            report: { [unowned bench] in bench.submit($0) }
        )
        bench.peripheralRole = peripheralRole
        bench.location = location
        bench.audio = audio
        bench.voip = voip
        driver = ScenarioDriver(scenario, names: names)
        scripted = ScriptedAppHost(names: names, profile: profile)
        scripted.pretend = { [audio] in audio.pretend($0, of: $1, at: $2) }
        audio.note = { [recorder] app, text in recorder.note(.fault(text), of: app) }
        bench.listen(to: scripted)
        bench.add(driver)
        bench.add(recorder)
        processes = real
        if let real {
            try real.open(in: folder)
            bench.listen(to: real.host)
            real.host.surroundings = self
            if !realTime {
                bench.keeper?.tellRunning = { [unowned real] app, manager in
                    real.host.channelHoldsBytes(of: app, manager: manager)
                }
                (bluetooth as? SimulatedBluetooth)?.table.written = { [weak bench] in bench?.keeper?.wrote(to: $0) }
                (voip as? SimulatedVoIP)?.tellRunning = { [unowned real] app, socket in
                    real.host.socketHoldsBytes(of: app, socket: socket)
                }
            }
            notes += real.notes
        }
        connectAccessories()
    }

    /// The settings that the log begins with; those of sources that the scenario does not use are left away.
    private static func settings(
        _ bluetooth: String,
        _ location: String,
        _ accessory: String,
        _ sound: String,
        _ calls: String,
        _ scenario: Scenario
    ) -> [String: String] {
        var settings = [
            "bluetooth": bluetooth, "location": location, "scenario": scenario.name, "voip": calls,
        ]
        let usesAccessories = scenario.devices.contains { $0.accessory != nil }
        let usesSound = scenario.devices.contains { $0.audio != nil }
        if usesSound || sound != "simulated" { settings["audio"] = sound }
        if usesAccessories || accessory != "simulated" { settings["accessory"] = accessory }
        return settings
    }

    private static func recorder(
        _ folder: RunFolder,
        _ header: LogHeader,
        names: NameTable,
        goesOn: Bool
    ) throws(CommandFailure) -> RunRecorder {
        do throws(ReportError) {
            guard goesOn else {
                return RunRecorder(
                    decisions: try DecisionLog(creating: folder.decisions, header: header, names: names.text),
                    outcomes: try OutcomeLog(creating: folder.outcomes),
                    names: names
                )
            }
            let (log, last) = try DecisionLog.continuing(folder.decisions, header: header, names: names.text)
            return RunRecorder(
                decisions: log,
                outcomes: try OutcomeLog(continuing: folder.outcomes),
                names: names,
                resumeAfter: last
            )
        } catch {
            throw CommandFailure(.environment, error.description)
        }
    }

    private static func backend(of source: Source, _ options: RunOptions, _ scenario: Scenario) -> String {
        let choices = options.backends.isEmpty ? scenario.backends : options.backends
        return choices.last { $0.source == source }?.word ?? "simulated"
    }

    private static func bluetooth(
        _ backend: String,
        _ scenario: Scenario,
        names: NameTable,
        seed: UInt64,
        loop: EventLoop,
        adapter: String?
    ) throws(CommandFailure) -> any BluetoothCentralPort {
        guard backend == "bluez" else {
            return SimulatedBluetooth(devices: scenario.devices, names: names, seed: seed, loop: loop)
        }
        do {
            return try BlueZBluetooth(
                devices: scenario.devices,
                names: names,
                loop: loop,
                adapterAddress: adapter
            )
        } catch {
            throw CommandFailure(.internal, error.description)
        }
    }

    private static func peripheralRole(
        beside radio: any BluetoothCentralPort,
        _ scenario: Scenario,
        names: NameTable,
        seed: UInt64,
        loop: EventLoop
    ) throws(CommandFailure) -> any BluetoothPeripheralPort {
        guard let radio = radio as? BlueZBluetooth else {
            let beside = radio as? SimulatedBluetooth
            return SimulatedPeripheralRole(devices: scenario.devices, names: names, seed: seed, beside: beside)
        }
        do {
            return try BlueZPeripheralRole(devices: scenario.devices, names: names, loop: loop, beside: radio)
        } catch {
            throw CommandFailure(.internal, error.description)
        }
    }

    private static func location(
        _ backend: String,
        _ scenario: Scenario,
        _ options: RunOptions,
        names: NameTable,
        seed: UInt64,
        loop: EventLoop
    ) throws(CommandFailure) -> any LocationPort {
        do throws(SystemError) {
            switch backend {
            case "gpsd": return try GPSDLocation(names: names, loop: loop, port: options.gpsdPort)
            case "nmea":
                let receiver = options.receiver.map { NMEAReceiver.path($0) } ?? .any
                return try NMEALocation(receiver, names: names, loop: loop)
            default:
                let tracks = scenario.devices.compactMap { device in device.track.map { (device.name, $0) } }
                return SimulatedLocation(tracks: tracks, names: names, seed: seed)
            }
        } catch {
            throw CommandFailure(.internal, error.description)
        }
    }

    private static func audio(
        _ backend: String,
        _ scenario: Scenario,
        _ options: RunOptions,
        names: NameTable,
        loop: EventLoop
    ) throws(CommandFailure) -> any AudioPort {
        guard backend == "alsa" else { return SimulatedAudio(devices: scenario.devices, names: names, loop: loop) }
        do {
            return try ALSAAudio(
                card: options.soundCard,
                microphone: options.microphone,
                devices: scenario.devices,
                names: names,
                loop: loop
            )
        } catch {
            throw CommandFailure(.internal, error.description)
        }
    }

    /// The simulated ends among the run's.
    var simulated: SimulatedEnds {
        SimulatedEnds(
            scenario: scenario,
            radio: bluetooth as? SimulatedBluetooth,
            phones: peripheralRole as? SimulatedPeripheralRole,
            positions: location as? SimulatedLocation,
            sound: audio as? SimulatedAudio,
            accessories: accessory as? SimulatedAccessories,
            calls: voip as? SimulatedVoIP
        )
    }

    private static func clock(_ options: RunOptions, backends: [String]) throws(CommandFailure) -> Bool {
        let real = backends.first { $0 != "simulated" }
        if let real, options.clock == .virtual {
            throw CommandFailure(
                .usage,
                "--clock virtual cannot be had with the real backend \(real); leave --clock away"
            )
        }
        return options.clock == .real || real != nil
    }

    // MARK: Running

    /// Plays the scenario to its end, and writes the logs.
    ///
    /// - Throws: ``CommandFailure``; what was accepted before is in the run folder.
    package func execute() throws(CommandFailure) {
        defer {
            audio.stop()
            accessory.stop()
            location.stop()
            voip.stop()
            peripheralRole.stop()
            bluetooth.stop()
            bench.keeper?.stop()
            bench.sessionKeeper?.stop()
            scripted.stop()
            processes?.host.stop()
        }
        do {
            let signals = try [SIGINT, SIGTERM].map { try loop.signal($0) { [unowned self] in interrupt() } }
            startedAt = MonotonicClock.now()
            assignApps()
            if journal.recovery == nil {
                begin()
            } else {
                try goOn()
            }
            if realTime { try runInRealTime() } else { try runInVirtualTime() }
            try bench.commit()
            // The logs first: a run whose journal is finished is not gone on with.
            try recorder.finish()
            try journal.journal.finish()
            for signal in signals { signal.cancel() }
        } catch let error as SourceFailure {
            throw CommandFailure(error.exitCode, error.message)
        } catch let error as JournalError {
            throw CommandFailure(.environment, error.description)
        } catch let error as ReportError {
            throw CommandFailure(.environment, error.description)
        } catch let error as SystemError {
            throw CommandFailure(.internal, error.description)
        } catch let error as CommandFailure {
            throw error
        } catch {
            throw CommandFailure(.internal, "\(error)")
        }
        if interrupted { throw CommandFailure(.interrupted, "interrupted at \(LogTime.text(bench.now))") }
    }

    /// How everything is at the start.
    func begin() {
        installApps()
        accessory.connect(at: .zero)
        if !scenario.phone.bluetooth { bluetooth.setPower(false, at: .zero) }
        if !scenario.phone.unlocked { bench.submit(.phone(.reboot), origin: names.intern("start")) }
    }

    private func interrupt() {
        interrupted = true
    }

    /// Ties each app to its host.
    private func assignApps() {
        for (number, app) in scenario.apps.enumerated() {
            let id = AppID(UInt32(number))
            switch app.form {
            case .scripted(let script):
                scripted.add(script, as: id, devices: devices)
                bench.assign(id, to: scripted, leavesTheBench: false)
                recorder.add(bundle: script.identifier, real: false)
            case .bundle:
                guard let processes, let bundle = processes.bundle(at: number) else {
                    preconditionFailure("app \(app.name) has no bundle")
                }
                bench.assign(id, to: processes.host, leavesTheBench: true)
                recorder.add(bundle: bundle.identifier, real: true)
            }
        }
    }

    private func installApps() {
        let origin = names.intern("install")
        for (number, app) in scenario.apps.enumerated() {
            var manifest: AppManifest =
                switch app.form {
                case .scripted(let script):
                    AppManifest(
                        bundle: names.intern(script.identifier),
                        modes: script.modes,
                        exitsOnSuspend: script.exitsOnSuspend,
                        accessoryProtocols: (script.accessory?.protocols ?? []).map(names.intern)
                    )
                case .bundle: processes!.bundle(at: number)!.manifest(names)
                }
            manifest.bluetoothAuthorization = app.bluetoothAuthorization
            bench.submit(.install(AppID(UInt32(number)), manifest), origin: origin)
            if app.microphone != .undetermined {
                answerMicrophone(app.microphone == .granted, of: AppID(UInt32(number)), origin)
            }
            if case .scripted(let script) = app.form, let use = script.location {
                refuseLocation(use.authorization, AppID(UInt32(number)), origin)
            }
        }
    }

    /// What the user refuses an app before it runs; what he allows, the app asks for.
    private func refuseLocation(_ authorization: LocationAuthorization, _ app: AppID, _ origin: NameID) {
        switch authorization {
        case .notDetermined, .whenInUse, .always: return
        case .restricted, .denied: break
        }
        let event = WakeEvent(
            kind: .authorizationChanged,
            app: app,
            authorization: authorization,
            origin: origin
        )
        bench.submit(SourceReport(event))
    }

    private func runInVirtualTime() throws {
        var now = bench.now
        while !interrupted {
            tellProgress()
            lookAtChannels(at: now)
            let didSomething = try bench.run(at: now)
            if let failure = recorder.failure { throw failure }
            if driver.hasWork {
                try carryOutSteps(at: now)
                continue
            }
            if driver.failure != nil { return }
            if let processes, !processes.host.isQuiet || !audio.isQuiet {
                try waitForApps(processes)
                continue
            }
            // An app that went to sleep may have read something before that lets bytes come on: they come first.
            if didSomething { continue }
            let end = driver.end ?? .distantFuture
            let next = min(deadline, end)
            if next == .distantFuture { return }
            now = max(now, next)
            if now >= end {
                try bench.run(at: end)
                return
            }
            try step(to: now)
        }
    }

    /// Virtual time stands still while an app owes an answer, as long as the patience lasts.
    private func waitForApps(_ processes: RealApps) throws {
        try bench.commit()
        let given = Int64(options.patience * 1_000_000_000)
        let limit = MonotonicClock.now() + given
        while !processes.host.isQuiet || !audio.isQuiet, !bench.hasWork(at: bench.now), !interrupted {
            let left = limit - MonotonicClock.now()
            guard left > 0 else {
                let busy = processes.host.busyApps
                let names = busy.isEmpty ? "a buffer of sound" : busy.joined(separator: ", ")
                recorder.note("no answer within the patience of \(options.patience) s: \(names)")
                processes.host.endPatience()
                audio.giveUpWaiting(at: bench.now)
                return
            }
            try loop.runOnce(timeout: left)
        }
    }

    private func runInRealTime() throws {
        var armed = Instant.distantFuture
        let timer = try loop.timer(on: .monotonic) { armed = .distantFuture }
        while !interrupted {
            tellProgress()
            let now = Instant(nanoseconds: MonotonicClock.now() - startedAt)
            try step(to: now)
            lookAtChannels(at: now)
            try bench.run(at: now)
            if let failure = recorder.failure { throw failure }
            if driver.failure != nil { return }
            if driver.hasWork || bench.hasWork(at: now) { continue }
            let end = driver.end ?? .distantFuture
            if now >= end { return }
            try bench.settle(at: now)
            let next = min(deadline, end, bench.commitDue ?? .distantFuture)
            if next != armed {
                armed = next
                if next == .distantFuture { timer.disarm() } else { timer.arm(at: startedAt + next.nanoseconds) }
            }
            try loop.runOnce(timeout: nil)
        }
    }

    private func tellProgress() {
        guard let progress else { return }
        let now = MonotonicClock.now()
        guard now >= nextProgress else { return }
        // A run that is over at once says nothing.
        if nextProgress != 0 { progress(bench.now, verdicts.reduce(0, +)) }
        nextProgress = now + (nextProgress == 0 ? 1_000_000_000 : 500_000_000)
    }

    /// The earliest instant at which anything has something to do of its own.
    private var deadline: Instant {
        var next = bench.routerDeadline
        if let other = bluetooth.nextDeadline { next = min(next, other) }
        if let other = peripheralRole.nextDeadline { next = min(next, other) }
        if let other = location.nextDeadline { next = min(next, other) }
        if let other = audio.nextDeadline { next = min(next, other) }
        if let other = accessory.nextDeadline { next = min(next, other) }
        if let other = voip.nextDeadline { next = min(next, other) }
        if let other = scripted.nextDeadline { next = min(next, other) }
        if let other = driver.nextDeadline { next = min(next, other) }
        return next
    }

    /// Lets everything do what is due.
    private func step(to now: Instant) throws {
        bluetooth.timeReached(now)
        peripheralRole.timeReached(now)
        location.timeReached(now)
        audio.timeReached(now)
        accessory.timeReached(now)
        voip.timeReached(now)
        scripted.timeReached(now)
        try carryOutSteps(at: now)
    }

    private func lookAtChannels(at now: Instant) {
        bluetooth.lookAtChannels(at: now)
        peripheralRole.lookAtChannels(at: now)
        bench.keeper?.look()
        accessory.lookAtSessions(at: now)
        bench.sessionKeeper?.look()
        (voip as? SimulatedVoIP)?.look(at: now)
    }

    func carryOutSteps(at now: Instant) throws(SourceFailure) {
        try driver.timeReached(now) { (verb, origin) throws(SourceFailure) in try perform(verb, origin, at: now) }
    }

}

extension SourceFailure {
    /// The exit code of a command that ends with it.
    var exitCode: ExitCode {
        switch kind {
        case .environment: .environment
        case .unknown: .invalidFile
        case .unsupported: .usage
        }
    }
}

extension Run: ProcessAppSurroundings {
    func backgroundSecondsRemaining(of app: AppID) -> Double? {
        bench.router.backgroundTimeRemaining(of: app, at: bench.now).map { Double($0.nanoseconds) / 1e9 }
    }

    func linkState(of app: AppID, manager: ManagerNumber, to peripheral: NameID) -> WireLinkState {
        switch bench.router.connection(of: app, manager: manager, to: peripheral) {
        case .some(true): .connected
        case .some(false): .connecting
        case .none: .disconnected
        }
    }

    func isFreezing(_ app: AppID) -> Bool { bench.router.isFreezing(app) }

    func locationFacts(of app: AppID) -> LocationFacts {
        let regions = bench.router.monitoredRegions(of: app)
        return LocationFacts(
            authorization: bench.router.locationAuthorization(of: app),
            circles: regions.circles,
            beacons: regions.beacons
        )
    }

    func audioFacts(of app: AppID) -> AudioFacts {
        let others = bench.router.otherAudio(beside: app)
        return AudioFacts(
            permission: bench.router.microphonePermission(of: app),
            otherPlaying: others.playing,
            silenceSecondary: others.silenceSecondary,
            route: audio.route
        )
    }

    func grantsKeepAlive(of app: AppID, period: Instant.Span) -> Bool {
        bench.router.grantsKeepAlive(of: app, period: period)
    }

    var wallSeconds: Double { Double(WallClock.now()) / 1e9 }

    var radio: any BluetoothCentralPort { bluetooth }

    func note(_ fact: ProcessFact, of app: AppID) {
        recorder.note(fact, of: app)
    }
}

/// The version of the program, as `wakebench --version` and every log say.
package let wakebenchVersion = "0.1.0"
