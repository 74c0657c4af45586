import Glibc
import WakeDevices
import WakeJournal
import WakeModel
import WakePorts
import WakeReports
import WakeRouter
import WakeSystem
import WakeVirtualTime

/// One run of a scenario, from its file to its judgements.
package final class Run {
    package internal(set) var scenario: Scenario
    /// What the scenario of a live run grows by; nil for a run that plays a file to its end.
    let live: LiveScenario?
    package let options: RunOptions
    package let names = NameTable()
    package let bench: Bench
    package let driver: ScenarioDriver
    package let loop: EventLoop
    package let profile: Profile
    package let seed: UInt64
    package let folder: RunFolder
    /// The file of ``RunOptions/junit``, open from before the run: a path that cannot be written costs no run.
    package let junit: LogFile?
    /// The router's name for each device of the scenario.
    let devices: [NameID]
    /// What the ends were made with.
    let setup: AreaSetup
    let areas: Areas
    let scripted: ScriptedAppHost
    let journal: RunJournal
    /// Keeps how far the clock has come; nil for a run that plays a file in virtual time, whose time is that of its inputs, and
    /// for one without a journal.
    let clock: KeptClock?
    let recorder: RunRecorder
    /// Where the radio is written down; nil unless that was asked for.
    let capture: RunCapture?
    /// The host of real apps; nil when the scenario has none.
    var processes: RealApps?
    /// Tells when this machine is short of memory; nil unless that was asked for.
    let memoryStalls: MemoryStalls?
    /// The number of the last command of a live run; 0 before the first.
    var lastCommand: UInt64 = 0
    /// What of the phone follows this machine; nil unless that was asked for.
    let machine: PhoneOfMachine?
    /// What measures them while they run; nil in virtual time.
    var meter: UseMeter?
    /// Whether the run follows the machine's clock.
    package let realTime: Bool
    var startedAt: Int64 = 0
    /// The instant of the first turn after a recovery: what ended with the bench before ends there, now and in every replay.
    var goesOnAt: Instant?
    var interrupted = false
    /// When this process began it, in nanoseconds since 1970.
    private let beganWall = WallClock.now()
    /// The same on the monotonic clock.
    private let beganMonotonic = MonotonicClock.now()
    /// How the run came to its end, be it before the bench died; nil before.
    package internal(set) var ending: RunEnding?
    /// When the run began, in nanoseconds since 1970.
    package var began: Int64 { ending?.began ?? beganWall }
    /// How long it took, or has taken so far. The wall clock may jump meanwhile, so that no time is taken from it.
    package var took: Instant.Span { ending?.took ?? .init(nanoseconds: MonotonicClock.now() - beganMonotonic) }
    /// Whether the run went on by itself, and not only as far as its journal.
    package internal(set) var hasPlayed = false
    /// Whether the run was asked to end when it already had: whoever plays several has been asked, too.
    package private(set) var cameLate = false
    /// The signals that end the run with its reports; blocked while it runs.
    private let endings = SignalSet([SIGINT, SIGTERM, SIGHUP])
    /// When the next look for one is due, on the monotonic clock in nanoseconds.
    private var nextLook: Int64 = 0
    /// The instant at which a step waited last, and how often.
    private var held = (at: Instant.zero, rounds: 0)
    /// How far the run's clock has come.
    package internal(set) var reached = Instant.zero
    /// Since when virtual time waits for what a source is owed, on the monotonic clock in nanoseconds; nil when it does not.
    var sourceOwedSince: Int64?
    /// Since when virtual time stands still, on the monotonic clock in nanoseconds.
    var stoodSince: Int64 = 0
    /// What is worth a line on stderr, such as a missing right: the run goes on.
    package internal(set) var notes: [String] = []
    /// Told of each decision, act, end and note, once it has happened for good; nil when nobody follows.
    package var follow: ((Timeline.Row) -> Void)? {
        get { recorder.follow }
        set { recorder.follow = newValue }
    }
    /// Told about twice a second of wall time how far the run is, and how many decisions there were.
    package var progress: ((Instant, Int) -> Void)?
    var nextProgress: Int64 = 0

    /// The first line of the run's log.
    package let header: LogHeader

    /// The files to which the radio was written down.
    package var captures: [String] { capture?.paths ?? [] }
    /// What they lack, a line each; known when the run is over.
    package internal(set) var captureLosses: [String] = []

    /// What the scenario calls an app.
    package func name(of app: AppID) -> String { scenario.apps[Int(app.number)].name }

    /// The bundle identifier of an app, by its place in the scenario.
    package func bundle(ofApp number: Int) -> String { recorder.bundle(number) }

    /// How many decisions there were, by the raw value of the verdict.
    package var verdicts: [Int] { recorder.counts }

    /// Reads the scenario, prepares all that the run needs, and makes the run folder last: what is refused leaves
    /// nothing behind.
    ///
    /// - Parameter wrap: puts another radio before the run's own; a benchmark reads its values from a descriptor so.
    package convenience init(_ options: RunOptions, wrap: RadioWrap? = nil) throws(CommandFailure) {
        try self.init(options, playing: PlayedFiles(options), live: nil, wrap: wrap)
    }

    /// The same.
    ///
    /// - Parameters:
    ///   - played: the files that the scenario is read from, or that a live one was.
    ///   - live: the scenario of a run that has no end of its own, and that others command; nil reads that of the options.
    init(
        _ options: RunOptions,
        playing played: PlayedFiles,
        live: LiveScenario?,
        bridges: RadioBridges? = nil,
        wrap: RadioWrap? = nil
    ) throws(CommandFailure) {
        (self.options, self.live) = (options, live)
        try Run.follow(options.parent)
        scenario = if let live { live.scenario } else { try Run.scenario(played) }
        let changes = scenario.settings + options.settings
        let identity = RunIdentity(options, scenario)
        (profile, seed) = (identity.profile, identity.seed)
        let (date, backends) = (identity.date, identity.backends)
        loop = try Run.loop()
        realTime = try backends.needRealTime(options.clock)
        memoryStalls = try Run.memoryStalls(options, realTime: realTime, loop)
        machine = try PhoneOfMachine(options, realTime: realTime, loop)
        notes += machine?.notes ?? []
        devices = scenario.devices.map { [names] in names.intern($0.name) }
        setup = AreaSetup(
            backends: backends,
            scenario: scenario,
            options: options,
            names: names,
            profile: profile,
            seed: seed,
            realTime: realTime,
            isLive: live != nil,
            loop: loop,
            bridges: bridges ?? .init(keys: "\(options.out)/\(RunFolder.radioName)", loop: loop)
        )
        areas = try Areas(setup, wrap: wrap)
        let bundles = try RealApps.read(scenario)
        notes += bundles.flatMap(\.bundle.warnings)
        if !bundles.isEmpty { try RealApps.check(options.freezer) }
        try areas.openTrace(for: options)
        try areas.start()
        junit = try Run.junit(options)
        folder = try RunFolder.ofRun(options)
        journal = try RunJournal.of(options, in: folder, playing: played, as: identity)
        clock = try Run.clock(of: journal, in: folder, isNeeded: realTime || live != nil)
        try played.keep(in: folder)
        try Run.adoptNames(of: journal, into: names)
        if !bundles.isEmpty {
            processes = try Run.realApps(bundles, setup, profile, journal.runName, date, areas, &notes)
        }
        var settings = backends.settings(of: scenario).merging(Run.texts(of: changes)) { $1 }
        if processes?.host.time != nil { settings["date"] = "\(date)" }
        let isExact = !realTime && processes == nil && live == nil
        header = Run.header(profile, seed, exact: isExact, settings, phone: options.phoneName)
        recorder = try Run.recorder(folder, header, profile, names: names, after: journal)
        recorder.isRolled = live != nil
        let zero = realTime ? WallClock.now() - (clock?.instant ?? .zero).nanoseconds : date.nanoseconds
        capture = try RunCapture.of(options, in: folder, start: zero)
        bench = Bench(router: Areas.router(of: scenario, profile), names: names, journal: journal.journal)
        driver = ScenarioDriver(scenario, names: names, isOpenEnded: live != nil)
        scripted = ScriptedAppHost(names: names, profile: profile)
        try connect()
    }

    /// A signal that comes before the run plays ends the program at once.
    static func follow(_ parent: Int32?) throws(CommandFailure) {
        guard let parent else { return }
        do throws(SystemError) { try endWithParent(parent) } catch {
            throw CommandFailure(
                .wrongState,
                "--parent \(parent): it did not start this program, or has ended",
                hint: "give the process that starts it"
            )
        }
    }

    private static func scenario(_ played: PlayedFiles) throws(CommandFailure) -> Scenario {
        do {
            return try Scenario.load(file: played.scenario, files: played.files)
        } catch {
            throw CommandFailure(.invalidFile, error)
        }
    }

    /// What a run's header says of settings that are not the profile's own; the last of a name counts.
    private static func texts(of changes: [SettingChange]) -> [String: String] {
        Dictionary(changes.map { ($0.name, SettingText.text($0.value)) }) { $1 }
    }

    /// Names mean the same as before the bench died.
    private static func adoptNames(of journal: RunJournal, into names: NameTable) throws(CommandFailure) {
        for (place, name) in (journal.recovery?.names ?? []).enumerated()
        where names.intern(name) != NameID(UInt32(place + 1)) {
            throw CommandFailure(journal.damaged("name \(place + 1)"))
        }
    }

    /// To be made right after the journal: a run that has a journal and no clock has lost it.
    private static func clock(
        of journal: RunJournal,
        in folder: RunFolder,
        isNeeded: Bool
    ) throws(CommandFailure) -> KeptClock? {
        guard isNeeded, journal.isKept else { return nil }
        return try KeptClock(folder.clock, isNew: journal.recovery == nil)
    }

    private static func junit(_ options: RunOptions) throws(CommandFailure) -> LogFile? {
        guard let path = options.junit else { return nil }
        // It may lie there.
        let isNew = try RunFolder.make(options.out)
        do { return try LogFile(creating: path, isShared: true) } catch {
            if isNew { unsafe rmdir(options.out) }
            throw CommandFailure(.environment, error)
        }
    }

    private static func loop() throws(CommandFailure) -> EventLoop {
        do {
            // Each watched socket of an app is a descriptor of the bench.
            try raiseDescriptorLimit()
            return try EventLoop()
        } catch { throw CommandFailure(.internal, error.description) }
    }

    /// The head of the log; `exact` when two runs decide the same at the same instants.
    private static func header(
        _ profile: Profile,
        _ seed: UInt64,
        exact: Bool,
        _ settings: [String: String],
        phone: String
    ) -> LogHeader {
        var header = LogHeader.blank
        header.version = wakebenchVersion
        header.phone = phone
        header.seed = seed
        header.profile = profile.name
        header.determinism = exact ? "router" : "replay"
        header.settings = settings
        return header
    }

    private static func recorder(
        _ folder: RunFolder,
        _ header: LogHeader,
        _ profile: Profile,
        names: NameTable,
        after journal: RunJournal
    ) throws(CommandFailure) -> RunRecorder {
        var places: LogPlaces
        do throws(JournalError) { places = try journal.logPlaces() } catch { throw CommandFailure(error) }
        let path = folder.decisions
        do throws(ReportError) {
            if journal.recovery != nil, try folder.hasEnded(places.part) { places = LogPlaces(part: places.part + 1) }
            guard journal.recovery != nil else {
                let log = try DecisionLog(creating: path, header: header, profile: profile, names: names.text)
                return RunRecorder(decisions: log, outcomes: try OutcomeLog(creating: folder.outcomes), names: names)
            }
            let (log, last) = try DecisionLog.continuing(
                path,
                header: header,
                profile: profile,
                names: names.text,
                from: places.decisions
            )
            let outcomes = try OutcomeLog(continuing: folder.outcomes, from: places.outcomes)
            return RunRecorder(
                decisions: log,
                outcomes: outcomes,
                names: names,
                part: places.part,
                resumeAfter: last
            )
        } catch {
            throw CommandFailure(.environment, error)
        }
    }

    // MARK: Running

    /// Plays the scenario to its end, and writes the logs. The run is over with ``finish()``: when the bench dies before, it
    /// can be resumed, and only what is left is done.
    ///
    /// - Throws: ``CommandFailure``; what was accepted before is in the run folder. An interrupted run has reports to be
    ///   written when ``hasPlayed``.
    package func execute() throws(CommandFailure) {
        defer {
            areas.stop()
            scripted.stop()
            processes?.host.stop()
        }
        do {
            // From here on a signal ends the run with a word.
            try endings.block()
            defer { cameLate = endings.restore() }
            startedAt = MonotonicClock.now()
            assignApps()
            if let end = journal.recovery?.end {
                try readBack(to: end)
            } else {
                try play()
            }
        } catch {
            throw CommandFailure(error)
        }
        if interrupted { throw CommandFailure(.interrupted, "interrupted at \(LogTime.text(reached))") }
    }

    private func play() throws {
        if journal.recovery == nil {
            begin()
        } else {
            try recover()
        }
        hasPlayed = true
        let watches = try endings.asked.map { try loop.signal($0) { [unowned self] in interrupted = true } }
        defer { for watch in watches { watch.cancel() } }
        // Who reads the logs meanwhile sees each turn as soon as it is committed.
        recorder.reading = follow != nil ? .atOnce : realTime ? .soon : .atEnd
        if realTime {
            hearMachine()
            try runInRealTime()
        } else {
            try runInVirtualTime()
        }
        try bench.commit()
        noteSilence()
        noteUnnamed()
        noteUnfinished()
        noteLeftOut()
        processes?.host.noteStrays()
        try endTrace()
        // The logs first: a run that has ended is not played on.
        for each in receiverTimes { try recorder.note(receiver: each.time, of: each.app) }
        recorder.disturbAll()
        recorder.register(at: reached, isLast: true) { bench.router.registrations(of: $0) }
        try recorder.finish(at: reached)
        let ending = RunEnding(
            at: reached,
            isInterrupted: interrupted,
            began: began,
            took: took
        )
        try journal.journal.end(ending)
        self.ending = ending
    }

    /// Says that the reports of the run are there too, so that nothing of it is left to do.
    package func finish() throws(CommandFailure) {
        do throws(JournalError) { try journal.journal.finish() } catch { throw CommandFailure(error) }
        if clock != nil { unsafe unlink(folder.clock) }
    }

    /// Whether the run was asked to end. In virtual time the loop may never run, so it is looked for now and then.
    func isInterrupted() -> Bool {
        guard !interrupted else { return true }
        let now = MonotonicClock.now()
        guard now >= nextLook else { return false }
        nextLook = now + 50_000_000
        interrupted = endings.isPending
        return interrupted
    }

    /// Carries out the steps that are due.
    ///
    /// - Parameter waiting: whether a step waits until what came before it at the same instant is done: by the sources, the bench
    ///   and apps, as far as no time passes.
    func carryOutSteps(at now: Instant, waiting: Bool = true) {
        if driver.isHeld {
            areas.timeReached(now)
            scripted.timeReached(now)
        }
        driver.timeReached(now) { _ in
            waiting && isBusy(at: now)
        } perform: { (verb, origin) throws(SourceFailure) in
            held.rounds = 0
            bench.submitStep(origin)
            try performParts(of: verb, at: now) { (verb) throws(SourceFailure) in
                try perform(verb, origin, at: now)
            }
        }
    }

    /// Whether something is to be done before the next step of an instant. A source that is always busy holds no step for ever.
    private func isBusy(at now: Instant) -> Bool {
        // Bytes that lie in a socket are told of by a look at it.
        look(at: now)
        let isDue = areas.nextDeadline <= now || scripted.nextDeadline.map { $0 <= now } == true
        guard bench.hasWork(at: now) || isDue else { return false }
        if held.at != now { held = (now, 0) }
        held.rounds += 1
        return held.rounds <= Self.mostRounds
    }

    /// How often a step waits at one instant.
    static let mostRounds = 1_000
}

/// The version of the program, as `wakebench --version` and every log say.
package let wakebenchVersion = "0.1.0"
