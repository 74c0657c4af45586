import WakeBundles
import WakeDevices
import WakeJSON
import WakeModel
import WakePorts
import WakeSystem
import WakeWire

/// How one area is wired into a run: its ends, what the steps of a scenario do to them, and what apps have of them.
///
/// ``Areas`` has a row for each; nothing else in this room names one.
protocol Area: AnyObject {
    /// The word of its backend, as `--backend` and the log have it.
    static var source: Source { get }

    /// Whether the log names its backend even when that is simulated.
    static func isUsed(by scenario: Scenario) -> Bool

    /// The rule by which the system shows alerts for apps about its events; nil when it shows none.
    static var alertRule: RuleID? { get }

    /// The ways by which its events bring back apps, or do not, as the table of relaunches tries them.
    static var mechanisms: [WakeMechanism] { get }

    /// What `wakebench run` can be asked about its ends.
    static var options: [AreaOption] { get }

    /// What this machine has for its real backends.
    static func examine(_ installation: Doctor.Installation) -> [Doctor.Line]

    /// In the order in which they start.
    var sources: [any SourcePort] { get }

    /// What gives apps the sockets of what it opens for them; nil where it opens nothing.
    var keeper: ChannelKeeper? { get }

    /// What real apps find in their environment.
    var environment: [String] { get }

    /// Ties its ends to the bench and to the apps of a run, whose folder is there.
    func connect(to run: Run) throws(CommandFailure)

    /// An app has joined the scenario, and is about to be installed.
    func join(_ app: ScenarioApp, as id: AppID, in run: Run)

    /// How everything of it is at the start; while a journal is read back, only of the ends that it brings back.
    func begin(_ scenario: Scenario, isReplay: Bool)

    /// The bench is back after it died, and has read its journal: what it held open ends as the peer's close, at the instant from
    /// which time goes on.
    func closeLinks(_ run: Run, _ origin: NameID, at now: Instant, isReplay: Bool)

    /// Its simulated ends' part of a snapshot; they are at `now` when it is read.
    func code(with coder: inout SnapshotCoder, at now: Instant) throws(EncodingFault)

    /// Whether a snapshot would hold all of its ends that must come back.
    var canBeKept: Bool { get }

    /// Reports the current state again, after the bench was started anew.
    func resume(at now: Instant)

    /// Looks after the sockets that apps have of it; to be called in each turn.
    func look(at now: Instant)

    /// Lets go of the sockets that apps have of it.
    func stop()

    /// Says what the user has allowed or refused an app before it runs.
    func install(_ app: ScenarioApp, as id: AppID, _ origin: NameID, in run: Run)

    /// Tells a real app what is no event; notices of other areas are ignored.
    static func tell(_ notice: AppNotice, to app: AppID, through host: ProcessAppHost)

    /// What a real app reads of one of its events; nil when that came without it.
    static func told(_ delivery: AppDelivery, to app: AppID, through host: ProcessAppHost) -> ToldEvent?

    /// The names that a request brings, each of which the router gets a number for.
    static func names(in message: AppMessage) -> [String]

    /// Tells a real app that it may not bring the names of a request, where its framework has a word for that.
    static func refuse(_ message: AppMessage, because text: String, to app: AppID, by host: ProcessAppHost)

    /// Adds to what a fresh process is told of why it was started.
    static func explain(_ cause: LaunchCause, in options: inout LaunchOptions, _ names: NameTable)

    /// Refuses what its ends cannot do as they would be made.
    static func check(_ setup: AreaSetup) throws(CommandFailure)

    /// Refuses steps that a bundle does not allow.
    static func check(
        _ scenario: Scenario,
        _ bundles: [(position: Int, bundle: AppBundle)]
    ) throws(CommandFailure)

    /// What an app's manifest declares of it, beside what its bundle says.
    static func declare(_ app: ScenarioApp, in manifest: inout AppManifest, _ names: NameTable)

    /// A process of a scripted app was launched: what the app asks for at once.
    static func launched(_ app: AppID, in host: ScriptedAppHost)

    /// What a scripted app does once it is told something.
    static func told(_ notice: AppNotice, to app: AppID, in host: ScriptedAppHost, at now: Instant)

    /// What any scripted app does with an event of the area, beside what its script says.
    static func delivered(_ delivery: AppDelivery, to app: AppID, in host: ScriptedAppHost)

    /// Carries out a step about apps that is the area's own; any other is ignored. A journal has what comes of it.
    func act(_ verb: Verb, _ origin: NameID, in run: Run, at now: Instant)

    /// Carries out a step about devices and places that is the area's own; any other is ignored. It is carried out
    /// again while a journal is read back.
    ///
    /// - Throws: ``SourceFailure`` of kind unsupported when the end that the step needs is real.
    func perform(_ verb: Verb, _ origin: NameID, in scenario: Scenario, at now: Instant) throws(SourceFailure)

    /// Whether what a step told a device to do is under way, and ends by itself.
    var isCarryingOut: Bool { get }

    /// Whether its devices have links to the phone, which they drop or take out of reach.
    static var hasLinks: Bool { get }

    /// Whether a device is one of its.
    func owns(_ device: ScenarioDevice) -> Bool

    /// Whether one of its devices has a link that no app made, and that the router has no word of.
    func hasOwnLink(_ device: ScenarioDevice) -> Bool

    /// Adds to what clients are told of one of its devices.
    func describe(_ device: ScenarioDevice, into writer: inout JSONWriter)

    /// A device drops its link.
    func disconnect(_ device: ScenarioDevice, _ origin: NameID, at now: Instant) throws(SourceFailure)

    /// A device leaves the phone's reach, or comes back.
    func move(_ device: ScenarioDevice, inRange: Bool, at now: Instant) throws(SourceFailure)

    /// Arms a fault of a device file.
    func arm(_ fault: String, of device: ScenarioDevice, at now: Instant) throws(SourceFailure)
}

extension Area {
    static func isUsed(by scenario: Scenario) -> Bool { true }
    static var alertRule: RuleID? { nil }
    static var mechanisms: [WakeMechanism] { [] }
    static var options: [AreaOption] { [] }
    static func examine(_ installation: Doctor.Installation) -> [Doctor.Line] { [] }
    var keeper: ChannelKeeper? { nil }
    var environment: [String] { [] }
    func connect(to run: Run) throws(CommandFailure) {}
    func join(_ app: ScenarioApp, as id: AppID, in run: Run) {}
    func begin(_ scenario: Scenario, isReplay: Bool) {}
    func closeLinks(_ run: Run, _ origin: NameID, at now: Instant, isReplay: Bool) {}
    func code(with coder: inout SnapshotCoder, at now: Instant) throws(EncodingFault) {}
    var canBeKept: Bool { true }
    func resume(at now: Instant) {}
    func look(at now: Instant) {
        for source in sources { source.look(at: now) }
        keeper?.look()
    }
    func stop() { keeper?.stop() }
    func install(_ app: ScenarioApp, as id: AppID, _ origin: NameID, in run: Run) {}
    static func tell(_ notice: AppNotice, to app: AppID, through host: ProcessAppHost) {}
    static func names(in message: AppMessage) -> [String] { [] }
    static func refuse(_ message: AppMessage, because text: String, to app: AppID, by host: ProcessAppHost) {}
    static func explain(_ cause: LaunchCause, in options: inout LaunchOptions, _ names: NameTable) {}
    static func check(_ setup: AreaSetup) throws(CommandFailure) {}
    static func check(_ scenario: Scenario, _ bundles: [(position: Int, bundle: AppBundle)]) throws(CommandFailure) {}
    static func declare(_ app: ScenarioApp, in manifest: inout AppManifest, _ names: NameTable) {}
    static func launched(_ app: AppID, in host: ScriptedAppHost) {}
    static func told(_ notice: AppNotice, to app: AppID, in host: ScriptedAppHost, at now: Instant) {}
    static func delivered(_ delivery: AppDelivery, to app: AppID, in host: ScriptedAppHost) {}
    func act(_ verb: Verb, _ origin: NameID, in run: Run, at now: Instant) {}
    func perform(_ verb: Verb, _ origin: NameID, in scenario: Scenario, at now: Instant) throws(SourceFailure) {}

    var isCarryingOut: Bool { false }
    static var hasLinks: Bool { false }
    func hasOwnLink(_ device: ScenarioDevice) -> Bool { false }
    func describe(_ device: ScenarioDevice, into writer: inout JSONWriter) {}
    func disconnect(_ device: ScenarioDevice, _ origin: NameID, at now: Instant) throws(SourceFailure) {}
    func move(_ device: ScenarioDevice, inRange: Bool, at now: Instant) throws(SourceFailure) {}

    /// A keeper of the sockets that it opens for the apps of a run.
    ///
    /// - Parameters:
    ///   - take: takes a socket from the end that opened it.
    ///   - tell: tells a real app in virtual time that one of its sockets has something for it, so that it is waited for.
    func keep(
        _ kinds: ChannelKeeper.Kinds,
        in run: Run,
        take: @escaping (UInt32) -> Int32?,
        tell: @escaping (ProcessAppHost, AppID, ManagerNumber) -> Void
    ) -> ChannelKeeper {
        let keeper = ChannelKeeper(
            kinds,
            loop: run.loop,
            names: run.names,
            take: take,
            report: { [unowned bench = run.bench] in bench.submit($0) }
        )
        run.bench.add(keeper)
        if let processes = run.processes, !run.realTime {
            keeper.tellRunning = { [unowned processes] in tell(processes.host, $0, $1) }
        }
        return keeper
    }

    /// The simulated end that a step needs.
    ///
    /// - Throws: ``SourceFailure`` of kind unsupported when the end is real; `who` decides then.
    func need<End>(_ end: End?, for step: String, _ who: String) throws(SourceFailure) -> End {
        guard let end else {
            throw SourceFailure(
                .unsupported,
                "the step '\(step)' needs \(Self.source.word)=simulated; on a real one \(who) itself decides"
            )
        }
        return end
    }
}

/// What a real app is told of an event.
struct ToldEvent {
    var body: WireDeliveryBody
    /// The delegate method that it calls, as outcomes name it.
    var callback: String
    /// The number that the app gave what it is told to.
    var manager: ManagerNumber

    init(_ body: WireDeliveryBody, of delivery: AppDelivery) {
        self.body = body
        callback = delivery.event.kind.callback
        manager = delivery.manager
    }
}

/// Where areas say that what a step did to one of their devices reached nobody, or changed nothing, and why.
final class StepNotes {
    /// Where the lines go. Set once the run has its logs.
    weak var recorder: RunRecorder?

    /// Adds a line, as ``RunRecorder/miss(_:_:of:at:isReplayed:)`` has it.
    func add(
        _ what: String,
        _ why: String? = nil,
        of app: AppID? = nil,
        at now: Instant,
        isReplayed: Bool = true
    ) {
        recorder?.miss(what, why, of: app, at: now, isReplayed: isReplayed)
    }

    /// Whether the user can answer for an app now, which nobody can on a phone that is off (SYS-1). An answer that changes nothing
    /// is said to: also one for an app that is not installed, or that is so already, as `already` says then.
    func takesAnswer(for app: AppID, in run: Run, at now: Instant, already: @autoclosure () -> String?) -> Bool {
        let isOff = run.bench.router.conditions.contains(.shutDown)
        let isThere = run.bench.router.isInstalled(app)
        let why = !isThere ? "it is not installed" : isOff ? "the phone is off (SYS-1)" : already()
        if let why { add("authorize \(run.name(of: app)): nothing changed, as \(why)", at: now, isReplayed: false) }
        return !isOff
    }
}

extension Run {
    /// What apps lost last of a device, and do not have again, in brackets; empty where nobody has lost anything of it.
    func losses(of device: String, _ via: Registration) -> String {
        guard let name = names.known(device) else { return "" }
        let lines = scenario.apps.indices.compactMap { number -> String? in
            let kept = bench.router.registrations(of: AppID(UInt32(number)))
            if kept.contains(where: { $0.via == via && $0.subject == name }) { return nil }
            return recorder.loss(of: number, [via], name).map { "\(scenario.apps[number].name) \($0)" }
        }
        return Self.brackets(lines)
    }

    /// What is said of several apps, in brackets; empty for nothing.
    static func brackets(_ lines: [String]) -> String {
        let more = lines.count - mostTold
        let told = lines.prefix(mostTold) + (more > 0 ? ["\(more) more"] : [])
        return told.isEmpty ? "" : " (\(told.joined(separator: "; ")))"
    }

    private static let mostTold = 3
}

/// What the ends of a run are made with.
struct AreaSetup {
    let notes = StepNotes()
    let backends: RunBackends
    let scenario: Scenario
    let options: RunOptions
    let names: NameTable
    let profile: Profile
    let seed: UInt64
    let realTime: Bool
    /// Whether it goes on beside others, in a daemon.
    let isLive: Bool
    let loop: EventLoop
    /// Those that the runs of a daemon share.
    let bridges: RadioBridges

    /// Whether it has apps that are processes, or may come to have some.
    var mayHaveBundles: Bool { scenario.hasBundles || isLive }
}

/// An option of `wakebench run` that is an area's own.
package struct AreaOption: Sendable {
    /// With its dashes.
    package let name: String
    /// What stands for its value in the help.
    package let value: String
    /// One line of help.
    package let help: String
    /// What a value must be.
    package var expected = ""
    /// Takes a value; false for one that it is not. One that is given several times is taken each time.
    package let take: @Sendable (inout RunOptions, String) -> Bool
}

extension RunOptions {
    /// The options of all areas, in the order of the help.
    package static var ofAreas: [AreaOption] { Areas.rows.flatMap { $0.options } }
}
