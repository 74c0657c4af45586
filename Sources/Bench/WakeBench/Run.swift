import Glibc
import WakeBluetooth
import WakeBundles
import WakeDevices
import WakeJournal
import WakeModel
import WakePorts
import WakeReports
import WakeRouter
import WakeSystem
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
    private let bluetooth: any BluetoothCentralPort
    private let scripted: ScriptedAppHost
    private let journal: RunJournal
    private let recorder: RunRecorder
    /// The host of real apps; nil when the scenario has none.
    private var processes: RealApps?
    private let realTime: Bool
    private var startedAt: Int64 = 0
    private var interrupted = false
    /// How far the steps have come while a journal is read back.
    private var replayedTo = Instant(nanoseconds: -1)
    /// What is worth a line on stderr, such as a missing right: the run goes on.
    package private(set) var notes: [String] = []
    /// Told about twice a second of wall time how far the run is, and how many decisions there were.
    package var progress: ((Instant, Int) -> Void)?
    private var nextProgress: Int64 = 0

    /// How many decisions there were, by the raw value of the verdict.
    package var verdicts: [Int] { recorder.counts }

    /// The router's name for each device of the scenario.
    private let devices: [NameID]

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
        profile = options.profile ?? scenario.profile ?? .ios17
        seed = options.seed ?? scenario.seed ?? 1
        do { loop = try EventLoop() } catch { throw CommandFailure(.internal, error.description) }
        let backend = Run.backend(of: .bluetooth, options, scenario)
        realTime = try Run.clock(options, backends: [backend])
        let names = self.names
        devices = scenario.devices.map { names.intern($0.name) }
        let radio = try Run.bluetooth(backend, scenario, names: names, seed: seed, loop: loop, adapter: options.adapter)
        do { bluetooth = try wrap?(radio, loop) ?? radio } catch {
            throw CommandFailure(.internal, error.description)
        }
        let bundles = try RealApps.read(scenario)
        notes += bundles.flatMap(\.bundle.warnings)
        if !bundles.isEmpty { try RealApps.check(options.freezer) }
        do { try bluetooth.start(at: .zero) } catch { throw CommandFailure(error.exitCode, error.message) }
        folder = try RunFolder(making: options.out)
        journal =
            try options.journal
            ? RunJournal(folder.journal, options: options, profile: profile, seed: seed, backend: backend)
            : RunJournal()
        // Names mean the same as before the bench died.
        for name in journal.recovery?.names ?? [] { _ = names.intern(name) }
        let real =
            try bundles.isEmpty ? nil : RealApps(bundles, options, loop: loop, names: names, run: journal.runName)
        let header = LogHeader(
            version: wakebenchVersion,
            phone: "phone",
            seed: seed,
            profile: profile.name,
            determinism: realTime || real != nil ? "replay" : "router",
            settings: ["bluetooth": backend, "scenario": scenario.name]
        )
        recorder = try Run.recorder(folder, header, names: names, goesOn: journal.recovery != nil)
        bench = Bench(
            router: Router(profile: profile, passcode: scenario.phone.passcode, bluetoothOn: scenario.phone.bluetooth),
            names: names,
            bluetooth: bluetooth,
            journal: journal.journal
        )
        driver = ScenarioDriver(scenario, names: names)
        scripted = ScriptedAppHost(names: names)
        bench.listen(to: scripted)
        bench.add(driver)
        bench.add(recorder)
        processes = real
        if let real {
            try real.open(in: folder)
            bench.listen(to: real.host)
            real.host.surroundings = self
            notes += real.notes
        }
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
        guard backend == "bluez" else { return SimulatedBluetooth(devices: scenario.devices, names: names, seed: seed) }
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
            bluetooth.stop()
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
    private func begin() {
        installApps()
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
            let manifest: AppManifest =
                switch app.form {
                case .scripted(let script):
                    AppManifest(
                        bundle: names.intern(script.identifier),
                        modes: script.modes,
                        exitsOnSuspend: script.exitsOnSuspend
                    )
                case .bundle: processes!.bundle(at: number)!.manifest(names)
                }
            bench.submit(.install(AppID(UInt32(number)), manifest), origin: origin)
        }
    }

    /// Brings the bench back to where a broken run's journal ends, and lets it go on from there: every process is gone,
    /// every connection was closed, and what no process had acknowledged is decided again.
    private func goOn() throws {
        bench.adoptNames((journal.recovery?.names.count ?? 0) + 1)
        guard (journal.recovery?.counts.inputs ?? 0) > 0 else {
            // The bench died before it accepted anything.
            begin()
            return
        }
        let simulated = bluetooth as? SimulatedBluetooth
        var steps = ReplayedSteps()
        if let simulated, !scenario.phone.bluetooth { simulated.setPower(false, at: .zero) }
        recorder.isReplaying = true
        let complete = try journal.inputs { input in
            driveReplay(to: input.at, simulated, &steps)
            steps.accepted(input)
            if case .benchRestarted = input.input, let simulated { closeLinks(of: simulated, input.origin) }
            bench.replay(input, radio: simulated)
            while driver.hasWork, driver.failure == nil { carryOutReplayed(at: input.at, simulated, &steps) }
        }
        if !complete { try restoreSnapshot() }
        recorder.isReplaying = false
        startedAt = MonotonicClock.now() - bench.now.nanoseconds
        notes.append("going on at \(LogTime.text(bench.now)) with the run that broke off in \(folder.path)")
        let origin = names.intern("bench-restart")
        let connected = bench.router.connectedPeripherals
        bench.goOn(
            unacknowledged: journal.recovery?.unacknowledged ?? [],
            events: try journal.undelivered(),
            origin: origin
        )
        for (verb, origin) in steps.lost { try perform(verb, origin, at: bench.now) }
        if let simulated {
            closeLinks(of: simulated, origin)
        } else {
            close(connected, origin)
        }
    }

    /// Carries out, while a journal is read back, the steps up to an instant, each at its own.
    private func driveReplay(to end: Instant, _ radio: SimulatedBluetooth?, _ steps: inout ReplayedSteps) {
        while let next = driver.nextDeadline, next < end, next > replayedTo {
            replayedTo = next
            radio?.timeReached(next)
            carryOutReplayed(at: next, radio, &steps)
        }
        replayedTo = max(replayedTo, end)
        carryOutReplayed(at: end, radio, &steps)
    }

    private func carryOutReplayed(at now: Instant, _ radio: SimulatedBluetooth?, _ steps: inout ReplayedSteps) {
        // A step that failed before the bench died ended the run; one that ends it now says so when the run goes on.
        try? driver.timeReached(now) { (verb, origin) throws(SourceFailure) in
            steps.performed(verb, origin)
            if let radio { try Run.repeatOnRadio(verb, radio, scenario, origin, at: now) }
        }
    }

    /// What the bench held open ends as the peer's close.
    private func closeLinks(of radio: SimulatedBluetooth, _ origin: NameID) {
        for device in scenario.devices {
            // Every device of the scenario is known to the radio.
            try? radio.simulateDisconnect(device: device.name, origin: origin, at: bench.now)
        }
    }

    /// What the bench held open on a real radio ends as the peer's close.
    private func close(_ connected: [NameID], _ origin: NameID) {
        for peripheral in connected {
            let event = WakeEvent(
                kind: .peripheralDisconnected,
                peripheral: peripheral,
                subject: peripheral,
                origin: origin
            )
            bench.submit(SourceReport(event, .failure(.peripheralDisconnected)))
        }
    }

    private func restoreSnapshot() throws {
        guard let recovery = journal.recovery, let snapshot = recovery.snapshot else { return }
        try bench.restore(snapshot, profile: profile)
        for input in recovery.tail { bench.replay(input, radio: nil) }
    }

    /// What a step did to the simulated radio itself is done again; what it made happen comes from the journal.
    private static func repeatOnRadio(
        _ verb: Verb,
        _ radio: SimulatedBluetooth,
        _ scenario: Scenario,
        _ origin: NameID,
        at now: Instant
    ) throws(SourceFailure) {
        switch verb {
        case .bluetooth(let on): radio.setPower(on, at: now)
        case .notify(let devices, let characteristic, let value):
            for device in devices {
                try radio.simulateNotification(
                    device: scenario.devices[device].name,
                    characteristic: characteristic,
                    value: value,
                    origin: origin,
                    at: now
                )
            }
        case .disconnect(let devices):
            for device in devices {
                try radio.simulateDisconnect(
                    device: scenario.devices[device].name,
                    origin: origin,
                    at: now
                )
            }
        case .range(let devices, let inRange):
            for device in devices {
                try radio.simulateRange(device: scenario.devices[device].name, inRange: inRange, at: now)
            }
        case .arm(let devices, let fault):
            for device in devices { try radio.arm(fault: fault, device: scenario.devices[device].name, at: now) }
        case .user, .terminate, .uninstall, .phone, .note: break
        }
    }

    private func runInVirtualTime() throws {
        var now = bench.now
        while !interrupted {
            tellProgress()
            try bench.run(at: now)
            if let failure = recorder.failure { throw failure }
            if driver.hasWork {
                try carryOutSteps(at: now)
                continue
            }
            if driver.failure != nil { return }
            if let processes, !processes.host.isQuiet {
                try waitForApps(processes)
                continue
            }
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
        while !processes.host.isQuiet, !bench.hasWork(at: bench.now), !interrupted {
            let left = limit - MonotonicClock.now()
            guard left > 0 else {
                let names = processes.host.busyApps.joined(separator: ", ")
                recorder.note("no answer within the patience of \(options.patience) s: \(names)")
                processes.host.endPatience()
                return
            }
            try loop.runOnce(timeout: left)
        }
    }

    private func runInRealTime() throws {
        let timer = try loop.timer(on: .monotonic) {}
        while !interrupted {
            tellProgress()
            let now = Instant(nanoseconds: MonotonicClock.now() - startedAt)
            try step(to: now)
            try bench.run(at: now)
            if let failure = recorder.failure { throw failure }
            if driver.failure != nil { return }
            if driver.hasWork || bench.hasWork(at: now) { continue }
            let end = driver.end ?? .distantFuture
            if now >= end { return }
            let next = min(deadline, end)
            if next != .distantFuture { timer.arm(at: startedAt + next.nanoseconds) }
            try bench.commit()
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
        if let other = scripted.nextDeadline { next = min(next, other) }
        if let other = driver.nextDeadline { next = min(next, other) }
        return next
    }

    /// Lets everything do what is due.
    private func step(to now: Instant) throws {
        bluetooth.timeReached(now)
        scripted.timeReached(now)
        try carryOutSteps(at: now)
    }

    private func carryOutSteps(at now: Instant) throws(SourceFailure) {
        try driver.timeReached(now) { (verb, origin) throws(SourceFailure) in try perform(verb, origin, at: now) }
    }

    // MARK: Verbs

    private func perform(_ verb: Verb, _ origin: NameID, at now: Instant) throws(SourceFailure) {
        switch verb {
        case .user(let apps, let action):
            for app in apps { bench.submit(.user(AppID(UInt32(app)), action), origin: origin) }
        case .terminate(let apps, let cause):
            for app in apps { bench.submit(.terminate(AppID(UInt32(app)), cause), origin: origin) }
        case .uninstall(let apps):
            for app in apps { bench.submit(.uninstall(AppID(UInt32(app))), origin: origin) }
        case .phone(let change): bench.submit(.phone(change), origin: origin)
        case .bluetooth(let on): bluetooth.setPower(on, at: now)
        case .notify(let devices, let characteristic, let value):
            for device in devices {
                try simulated("notify").simulateNotification(
                    device: scenario.devices[device].name,
                    characteristic: characteristic,
                    value: value,
                    origin: origin,
                    at: now
                )
            }
        case .disconnect(let devices):
            for device in devices {
                try simulated("disconnect").simulateDisconnect(
                    device: scenario.devices[device].name,
                    origin: origin,
                    at: now
                )
            }
        case .range(let devices, let inRange):
            for device in devices {
                try simulated("range").simulateRange(
                    device: scenario.devices[device].name,
                    inRange: inRange,
                    at: now
                )
            }
        case .arm(let devices, let fault):
            for device in devices {
                try bluetooth.arm(fault: fault, device: scenario.devices[device].name, at: now)
            }
        case .note(let text): recorder.note(text)
        }
    }

    /// The simulated radio, for steps that only it can carry out.
    private func simulated(_ step: String) throws(SourceFailure) -> SimulatedBluetooth {
        guard let simulated = bluetooth as? SimulatedBluetooth else {
            throw SourceFailure(
                .unsupported,
                "the step '\(step)' needs bluetooth=simulated; on \(bluetooth.backend) the device itself decides"
            )
        }
        return simulated
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

    var wallSeconds: Double { Double(WallClock.now()) / 1e9 }

    var radio: any BluetoothCentralPort { bluetooth }

    func note(_ fact: ProcessFact, of app: AppID) {
        recorder.note(fact, of: app)
    }
}

/// The version of the program, as `wakebench --version` and every log say.
package let wakebenchVersion = "0.1.0"

/// The steps that a replay carried out, against the inputs that the journal has of them.
private struct ReplayedSteps {
    /// Steps whose input the journal does not have yet, oldest first.
    private var open: [(verb: Verb, origin: NameID, inputs: Int)] = []

    mutating func performed(_ verb: Verb, _ origin: NameID) {
        switch verb {
        case .user(let apps, _), .terminate(let apps, _), .uninstall(let apps):
            open.append((verb, origin, apps.count))
        case .phone: open.append((verb, origin, 1))
        case .bluetooth, .notify, .disconnect, .range, .arm, .note: break
        }
    }

    mutating func accepted(_ input: JournaledInput) {
        guard let place = open.firstIndex(where: { $0.origin == input.origin }) else { return }
        open[place].inputs -= 1
        if open[place].inputs == 0 { open.remove(at: place) }
    }

    /// Steps that were carried out when the bench died, before their input was accepted.
    var lost: [(Verb, NameID)] { open.map { ($0.verb, $0.origin) } }
}
