import WakeBluetooth
import WakeBundles
import WakeDevices
import WakeJournal
import WakeModel
import WakePorts
import WakeRouter
import WakeSystem

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
    private let bluetooth: any BluetoothCentralPort
    private let scripted: ScriptedAppHost
    private let journal: any Journal
    private var realTime: Bool
    private var interrupted = false

    /// The router's name for each device of the scenario.
    private let devices: [NameID]

    package init(_ options: RunOptions) throws(CommandFailure) {
        self.options = options
        do {
            scenario = try Scenario.load(file: options.scenario, searchFolders: options.appFolders)
        } catch {
            throw CommandFailure(.invalidFile, error.description)
        }
        profile = options.profile ?? scenario.profile ?? .ios17
        seed = options.seed ?? scenario.seed ?? 1
        do { loop = try EventLoop() } catch { throw CommandFailure(.internal, error.description) }
        let backend = try Run.backend(of: .bluetooth, options, scenario)
        let names = self.names
        devices = scenario.devices.map { names.intern($0.name) }
        bluetooth = try Run.bluetooth(backend, scenario, names: names, seed: seed)
        realTime = try Run.clock(options, backends: [backend])
        journal = NoJournal()
        bench = Bench(
            router: Router(
                profile: profile,
                passcode: scenario.phone.passcode,
                bluetoothOn: scenario.phone.bluetooth
            ),
            names: names,
            bluetooth: bluetooth,
            journal: journal
        )
        driver = ScenarioDriver(scenario, names: names)
        scripted = ScriptedAppHost(names: names)
        bench.listen(to: scripted)
        bench.add(driver)
    }

    private static func backend(of source: Source, _ options: RunOptions, _ scenario: Scenario)
        throws(CommandFailure) -> String
    {
        let choices = options.backends.isEmpty ? scenario.backends : options.backends
        return choices.last { $0.source == source }?.word ?? "simulated"
    }

    private static func bluetooth(_ backend: String, _ scenario: Scenario, names: NameTable, seed: UInt64)
        throws(CommandFailure) -> any BluetoothCentralPort
    {
        SimulatedBluetooth(devices: scenario.devices, names: names, seed: seed)
    }

    private static func clock(_ options: RunOptions, backends: [String]) throws(CommandFailure) -> Bool {
        let real = backends.first { $0 != "simulated" }
        if let real, options.clock == .virtual {
            throw CommandFailure(.usage, "--clock virtual cannot be had with the real backend \(real); leave --clock away")
        }
        return options.clock == .real || real != nil
    }

    // MARK: Running

    /// Plays the scenario to its end.
    package func execute() throws(CommandFailure) {
        do {
            try install()
            try bluetooth.start(at: .zero)
            if !scenario.phone.bluetooth { bluetooth.setPower(false, at: .zero) }
            if !scenario.phone.unlocked {
                bench.submit(.phone(.reboot), origin: names.intern("start"))
            }
            if realTime { try runInRealTime() } else { try runInVirtualTime() }
            try bench.commit()
        } catch let error as SourceFailure {
            throw CommandFailure(error.exitCode, error.message)
        } catch let error as JournalError {
            throw CommandFailure(.environment, error.description)
        } catch let error as SystemError {
            throw CommandFailure(.internal, error.description)
        } catch let error as CommandFailure {
            throw error
        } catch {
            throw CommandFailure(.internal, "\(error)")
        }
        bluetooth.stop()
        scripted.stop()
    }

    private func install() throws(CommandFailure) {
        let origin = names.intern("install")
        for (number, app) in scenario.apps.enumerated() {
            let id = AppID(UInt32(number))
            switch app.form {
            case .scripted(let script):
                scripted.add(script, as: id, devices: devices)
                bench.assign(id, to: scripted, leavesTheBench: false)
                let manifest = AppManifest(
                    bundle: names.intern(script.identifier),
                    modes: script.modes,
                    exitsOnSuspend: script.exitsOnSuspend
                )
                bench.submit(.install(id, manifest), origin: origin)
            case .bundle(let path):
                throw CommandFailure(.internal, "\(path): real apps are not wired yet")
            }
        }
    }

    private func runInVirtualTime() throws {
        var now = Instant.zero
        while !interrupted {
            try bench.run(at: now)
            if driver.hasWork {
                try driver.timeReached(now, perform: perform)
                continue
            }
            if driver.failure != nil { return }
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

    private func runInRealTime() throws {
        throw CommandFailure(.internal, "real time is not wired yet")
    }

    /// The earliest instant at which anything has something to do of its own.
    private var deadline: Instant {
        var next = bench.router.nextDeadline ?? .distantFuture
        if let other = bluetooth.nextDeadline { next = min(next, other) }
        if let other = scripted.nextDeadline { next = min(next, other) }
        if let other = driver.nextDeadline { next = min(next, other) }
        return next
    }

    /// Lets everything do what is due.
    private func step(to now: Instant) throws {
        bluetooth.timeReached(now)
        scripted.timeReached(now)
        try driver.timeReached(now, perform: perform)
    }

    // MARK: Verbs

    private func perform(_ verb: Verb, _ origin: NameID) throws(SourceFailure) {
        let now = bench.now
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
        case .note: break
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
