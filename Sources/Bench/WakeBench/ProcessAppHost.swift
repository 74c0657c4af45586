import Glibc
import WakeDevices
import WakeModel
import WakePorts
import WakeProcesses
import WakeReports
import WakeSystem
import WakeVirtualTime
import WakeWire

/// Apps that are real processes, spoken to over the wire.
final class ProcessAppHost: AppHost {
    /// How a bundle is started.
    struct Bundle {
        var identifier: String
        var executable: String
        /// The app's own folder for its data.
        var home: String
        /// Where the folders of app groups are, which all apps share.
        var groups: String
        /// Where its standard output and error go.
        var log: String
        /// The most bytes of them that are kept.
        var logLimit = AppLog.usualLimit
    }

    typealias Owed = AppProcess.Owed

    var hear: ((AppID, UInt32, AppWord) -> Void)?
    weak var surroundings: (any ProcessAppSurroundings)?
    let host: ProcessHost
    let translation: WireTranslation
    private let environment: [String]
    private(set) var bundles: [AppID: Bundle] = [:]
    /// How the service extensions of apps are started.
    private(set) var extensionBundles: [AppID: Bundle] = [:]
    /// The processes of service extensions, oldest first.
    var extensions: [RunningExtension] = []
    /// Hears what came of a service extension.
    var extensionEnded: ((EndedExtension) -> Void)?
    /// The present process of each app.
    private(set) var processes: [AppID: AppProcess] = [:]
    private var owners: [UInt32: AppID] = [:]
    /// Which process of each app is the present one, or was the last.
    private var generations: [AppID: UInt32] = [:]
    private var lastKey: UInt32 = 0
    private(set) var order: [AppID] = []
    /// With it apps live in virtual time; nil leaves them on wall time.
    let time: TimeSettings?
    /// How far each process had run when all rested last.
    var lastRest: [RestMark] = []
    /// What is worth a note of processes that have ended.
    var notesOfEnded: [String] = []
    /// By their paths.
    private var logs: [String: AppLog] = [:]
    var isGathering = false
    /// The apps with a packet in the making.
    var gathered: [AppID] = []
    /// The apps that go on once their packets are sent: each then wakes up once, for all that it is told.
    var thawing: [AppID] = []
    var updatesAsked = AskedInTurn()
    var commandsAsked = AskedInTurn()
    /// What each app may still bring into the table of names.
    var gate = NameGate()
    /// The sound of each app's present process.
    var sounds: [AppID: AppSound] = [:]
    /// Whether what processes use is told to the router as well: where the machine's time is the run's.
    var tellsUse = false

    /// The most malformed packets of one process that are written to its log.
    static let loggedFaults = 20

    init(host: ProcessHost, translation: WireTranslation, environment: [String], time: TimeSettings? = nil) {
        self.host = host
        self.time = time
        self.translation = translation
        self.environment = environment
        host.onPacket = { [unowned self] key, packet, descriptors in
            if let app = owners[key] {
                received(packet, with: &descriptors, from: app)
            } else {
                extensionSaid(packet, key)
            }
        }
        host.onWritable = { [unowned self] key in
            if let app = owners[key] { processes[app]?.writable() } else { runningExtension(key)?.process.writable() }
        }
        host.onFault = { [unowned self] key, what in
            if let app = owners[key] { socketFault(what, app) } else { extensionFault(what, key) }
        }
        host.onExit = { [unowned self] key, exit in
            if let app = owners.removeValue(forKey: key) { exited(app, exit) } else { extensionExited(key, exit) }
        }
    }

    func add(_ bundle: Bundle, extension other: Bundle?, as app: AppID) {
        bundles[app] = bundle
        extensionBundles[app] = other
        order.append(app)
    }

    /// The next process of an app is another program's, and that of its service extension.
    func replaceProgram(of app: AppID, by executable: String, extension other: Bundle?) {
        bundles[app]?.executable = executable
        extensionBundles[app] = other
    }

    var nextDeadline: Instant? { nil }
    func timeReached(_ now: Instant) {}

    var isQuiet: Bool {
        !order.contains { processes[$0]?.isBusy == true } && !extensions.contains { $0.process.isBusy }
    }

    /// All that runs, in an order that is the same each time.
    var hosted: [AppProcess] { order.compactMap { processes[$0] } + extensions.map(\.process) }

    /// Since when the app that has owed something longest has owed it, on the monotonic clock in nanoseconds; nil when none
    /// is waited for.
    var waitedForSince: Int64? { hosted.compactMap(\.waitedForSince).min() }

    /// Stops waiting for the apps that have owed something since `instant` or longer: they count as overrun until they owe
    /// nothing any more.
    ///
    /// - Returns: those, by bundle identifier.
    func endPatience(with instant: Int64) -> [String] {
        let late = hosted.filter { $0.waitedForSince.map { $0 <= instant } ?? false }
        for process in late { process.hasOverrun() }
        return late.map(\.name)
    }

    func identifier(of app: AppID) -> String { bundles[app]?.identifier ?? "app \(app.number)" }

    /// Whether an app is one of this host's.
    func hasBundle(_ app: AppID) -> Bool { bundles[app] != nil }

    /// The folder of an app's bundle; nil for what is none.
    func folder(of app: AppID) -> String? {
        bundles[app].map {
            String($0.executable.prefix(upTo: $0.executable.lastIndex(of: "/") ?? $0.executable.startIndex))
        }
    }

    /// The present process of an app says something, or something is said of it.
    func say(_ app: AppID, _ word: AppWord) { hear?(app, generations[app] ?? 0, word) }

    // MARK: The process

    func launch(_ app: AppID, generation: UInt32, state: AppState, cause: LaunchCause?, at now: Instant) {
        guard let bundle = bundles[app] else { preconditionFailure("app \(app.number) is no bundle") }
        generations[app] = generation
        let process = makeProcess(bundle, translation.welcome(state, cause))
        process.onFault = { [unowned self] in fault($0, app) }
        processes[app] = process
        sounds[app] = nil
        owners[process.key] = app
        do {
            surroundings?.note(.started(pid: try start(process, bundle, cause, at: now)), of: app)
        } catch {
            processes[app] = nil
            owners[process.key] = nil
            surroundings?.note(.fault("\(error)"), of: app)
            say(app, .report(.launchFailed(Self.code(of: error))))
        }
    }

    /// What stands for a process that is about to be started.
    func makeProcess(_ bundle: Bundle, _ welcome: Welcome) -> AppProcess {
        lastKey += 1
        return AppProcess(
            key: lastKey,
            name: bundle.identifier,
            welcome: welcome,
            startedAt: MonotonicClock.now(),
            host: host
        )
    }

    /// Starts it, with its clock and its log.
    ///
    /// - Returns: its number.
    func start(_ process: AppProcess, _ bundle: Bundle, _ cause: LaunchCause?, at now: Instant) throws -> Int32 {
        let log = try logs[bundle.log] ?? AppLog(bundle.log, limit: bundle.logLimit)
        logs[bundle.log] = log
        let output = try log.input()
        let clock = try makeClock(at: now)
        process.clock = clock
        let pid = try host.spawn(
            process.key,
            program(bundle, cause, clock),
            output: output.number,
            error: output.number
        )
        switch host.threads(of: process.key) {
        case .list(let descriptor): clock?.watch(list: descriptor, process: pid, output: output.number)
        case .below(let root): clock?.watch(list: nil, process: root, output: output.number)
        case nil: break
        }
        return pid
    }

    /// The errno behind a failed launch.
    private static func code(of error: any Error) -> Int32 {
        if let error = error as? SystemError { return error.code }
        switch (error as? ProcessError)?.kind {
        case .cannotExecute(let code), .cannotEnterDirectory(let code), .cannotSpawn(_, let code): return code
        case .malformed, .running, .freezerUnavailable, .none: return EINVAL
        }
    }

    private func program(_ bundle: Bundle, _ cause: LaunchCause?, _ clock: AppClock?) -> AppProgram {
        var variables = environment
        if !variables.contains(where: { $0.hasPrefix("TZ=") }), let zone = surroundings?.view.phoneClock.zone {
            variables += ZoneSetting(zone).variables
        }
        if let clock, let time { variables += clock.environment(library: time.library) }
        if let cause {
            variables.append("WAKEBENCH_CAUSE=\(cause.event.kind.source.word)")
            variables.append("WAKEBENCH_EVENT_ID=\(LogTime.text(cause.event.id))")
            variables.append("WAKEBENCH_DECISION_ID=\(LogTime.text(cause.decision))")
        }
        // Foundation takes the folder of the user's account for the app's own where it is not told so by this name.
        for name in ["HOME", "CFFIXED_USER_HOME"] { variables.append("\(name)=\(bundle.home)") }
        variables.append("WAKEBENCH_GROUPS=\(bundle.groups)")
        if !variables.contains(where: { $0.hasPrefix("TMPDIR=") }) { variables.append("TMPDIR=\(bundle.home)/tmp") }
        return AppProgram(
            path: bundle.executable,
            arguments: [bundle.executable],
            environment: variables,
            directory: bundle.home,
            processor: time?.processor
        )
    }

    func thaw(_ app: AppID, at now: Instant) {
        guard let process = processes[app] else { return }
        process.sendBatch()
        if process.freezesAtRest {
            process.freezesAtRest = false
            return
        }
        process.freezing = false
        process.frozen = false
        forgetLocks(of: process, app)
        guard isGathering else {
            host.thaw(process.key)
            return
        }
        process.isToBeThawed = true
        thawing.append(app)
    }

    /// Thaws an app, if it is to be.
    func thaw(_ process: AppProcess) {
        guard process.isToBeThawed else { return }
        process.isToBeThawed = false
        host.thaw(process.key)
    }

    func freeze(_ app: AppID, at now: Instant) {
        guard let process = processes[app] else { return }
        process.sendBatch()
        thaw(process)
        // What it was given at this instant takes no virtual time: it is done before, however long the machine takes for it.
        if process.clock != nil, !process.neverRests {
            process.freezesAtRest = true
        } else {
            freeze(process, of: app)
        }
    }

    /// Freezes the first of the apps that were to come to rest before: one by one, so that they are suspended in the same
    /// order each time.
    ///
    /// - Returns: whether there was one.
    func freezeRested() -> Bool {
        guard let app = order.first(where: { processes[$0]?.freezesAtRest == true }), let process = processes[app]
        else {
            return false
        }
        process.freezesAtRest = false
        freeze(process, of: app)
        return true
    }

    private func freeze(_ process: AppProcess, of app: AppID) {
        process.freezing = true
        host.freeze(process.key) { [unowned self] outcome in
            guard processes[app] === process, process.freezing else { return }
            let frozen = outcome == .frozen
            process.freezing = false
            process.frozen = frozen
            // What the app said before it froze comes first: it may forbid the suspension. One that runs on may never
            // stop talking; the loop reads it as always.
            while frozen, !host.receive(from: process.key) {}
            if frozen { measureSuspended(process, app) }
            say(app, .report(frozen ? .suspended : .suspensionRefused))
        }
    }

    func kill(_ app: AppID, at now: Instant) {
        guard let process = processes.removeValue(forKey: app) else { return }
        process.sendBatch()
        owners[process.key] = nil
        noteUse(of: process, app)
        noteStrays(of: process, app)
        keepNotesOfTime(of: process)
        host.kill(process.key)
    }

    /// The run is over: says what of its apps has left their control groups.
    func noteStrays() {
        for app in order { if let process = processes[app] { noteStrays(of: process, app) } }
    }

    func stop() {
        processes.removeAll()
        owners.removeAll()
        extensions.removeAll()
        host.close()
        for log in logs.values { log.finish() }
        logs.removeAll()
    }

    /// The process is gone by itself.
    private func exited(_ app: AppID, _ exit: ProcessExit) {
        if let process = processes.removeValue(forKey: app) {
            noteUse(exit.processorTime, nil, of: process, exit.pid, app)
            keepNotesOfTime(of: process)
        }
        switch exit.cause {
        case .exited(let status): say(app, .report(.exited(Int64(status))))
        case .signalled(let signal, _): say(app, .report(.exited(-Int64(signal))))
        case .unknown: say(app, .report(.exited(-Int64(SIGKILL))))
        }
    }

    private func socketFault(_ what: SocketFault, _ app: AppID) {
        switch what {
        case .truncated:
            fault(
                "sent a packet of more than \(WireLimits.packetBytes) bytes or \(ProcessHost.mostDescriptors) descriptors",
                app
            )
        case .ending: processes[app]?.hasDisconnected()
        case .flooded:
            processes[app]?.hasDisconnected()
            fault("sends descriptors faster than they can be closed, and is heard no more", app)
        case .closed:
            // It runs on, deaf, or is only about to end; its exit tells.
            processes[app]?.hasDisconnected()
            fault("closed its socket", app)
        }
    }

    func fault(_ what: String, _ app: AppID) {
        guard let process = processes[app] else { return }
        process.faults += 1
        if process.faults <= Self.loggedFaults { surroundings?.note(.fault(what), of: app) }
    }
}
