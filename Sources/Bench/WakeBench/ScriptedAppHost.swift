import WakeDevices
import WakeModel
import WakePorts

/// Apps that the scenario plays: no process, only answers, at the full speed of virtual time.
package final class ScriptedAppHost: AppHost {
    /// Something that an app does later.
    fileprivate enum Errand {
        case endReaction(ScriptedApp.Ending)
        case endTask(UInt64)
        case returned(LifecycleCallback)
        case request(AppRequest)
        case scriptStep(NameID, Int)
        case endCall
    }

    /// What one app does, and where its present process stands.
    final class App {
        let script: ScriptedApp
        /// The devices of the script's `uses`, as the router names them.
        let devices: [NameID]
        /// All of the scenario.
        let allDevices: [NameID]
        var generation: UInt32 = 0
        var running = false
        var frozen = false
        /// What came due while the process was frozen.
        fileprivate var overdue: [Errand] = []
        /// Whether it is to report a call once it is thawed.
        fileprivate var owesReport: Bool {
            overdue.contains { if case .request(.push(.reportCall)) = $0 { true } else { false } }
        }
        var nextToken: UInt64 = 1
        /// Subscriptions that the process has, by peripheral.
        var connected: [NameID: Bool] = [:]
        /// What the process does with peripherals, by peripheral.
        var scripts: [NameID: PeripheralScript] = [:]
        /// What it publishes as a peripheral, whether this process has, and the values as they are now.
        let publication: Publication
        var isPublished = false
        var values: [UInt32: [UInt8]] = [:]
        /// What it notifies once the queue of the radio has room, oldest first.
        var unsent: [Update] = []
        /// What it plays cannot be heard.
        var isSilent = false
        /// The number of its last request about sound.
        var lastRequest: UInt32 = 0
        /// The number of its next session, and what it writes to those that are being opened.
        var nextSession: ManagerNumber = 0
        var writes: [ManagerNumber: [UInt8]] = [:]
        /// The number of the last task of each session, and how many of its following ones were begun, by place.
        var lastTask: [Int: TransferTaskNumber] = [:]
        var followed: [Int: Int] = [:]
        /// How many VoIP pushes it was given.
        var callPushes = 0
        /// The user launched its present process.
        var wasLaunchedByHand = false

        init(script: ScriptedApp, devices all: [NameID]) {
            self.script = script
            devices = script.uses.map { all[$0.device] }
            allDevices = all
            publication = Publication(script.peripheral)
        }
    }

    package var hear: ((AppID, UInt32, AppWord) -> Void)?
    /// What its apps may learn, and whose ends they use; nil where they have none.
    var view: AppView?
    /// Hears what of an app's script came to nothing, a line each; nil where nobody wants it.
    var note: ((_ line: String, _ app: AppID, _ at: Instant) -> Void)?
    let names: NameTable
    let profile: Profile
    var apps: [AppID: App] = [:]
    var updatesAsked = AskedInTurn()
    /// When it was last told of anything.
    var now = Instant.zero
    private var errands = TimedQueue<(app: AppID, generation: UInt32, errand: Errand)>()

    package init(names: NameTable, profile: Profile) {
        self.names = names
        self.profile = profile
    }

    /// Takes an app on. `devices` are the names of all devices of the scenario, by position.
    package func add(_ script: ScriptedApp, as app: AppID, devices: [NameID]) {
        apps[app] = App(script: script, devices: devices)
    }

    /// The present process of an app says something.
    func say(_ app: AppID, _ word: AppWord) { hear?(app, apps[app]!.generation, word) }

    package var nextDeadline: Instant? { errands.next }
    package var isQuiet: Bool { true }
    package func stop() {}

    // MARK: The process

    package func launch(_ app: AppID, generation: UInt32, state: AppState, cause: LaunchCause?, at now: Instant) {
        self.now = max(self.now, now)
        apps[app]!.generation = generation
        apps[app]!.wasLaunchedByHand = state != .background
        apps[app]!.running = true
        apps[app]!.frozen = false
        apps[app]!.nextToken = 1
        apps[app]!.overdue = []
        let reaction = apps[app]!.script.reactions.first { $0.trigger == .launch }
        if reaction?.then == .hang { return }
        for measure in apps[app]!.script.measures { request(.measured(measure), from: app) }
        for area in Areas.rows { area.launched(app, in: self) }
        say(app, .report(.launched))
        if let reaction {
            begin(reaction, of: app, at: now)
        }
    }

    package func thaw(_ app: AppID, at now: Instant) {
        apps[app]!.frozen = false
        for errand in apps[app]!.overdue { add(errand, of: app, at: now) }
        apps[app]!.overdue.removeAll()
    }

    package func freeze(_ app: AppID, at now: Instant) {
        apps[app]!.frozen = true
        say(app, .report(.suspended))
    }

    package func kill(_ app: AppID, at now: Instant) {
        guard apps[app]!.running else { return }
        apps[app]!.running = false
        tellScriptsEnd(of: app, at: now)
    }

    package func callback(_ callback: LifecycleCallback, state: AppState, to app: AppID, at now: Instant) {
        let reaction = apps[app]!.script.reactions.first { $0.trigger == .callback(callback) }
        guard let reaction else {
            say(app, .report(.returned(callback)))
            return
        }
        begin(reaction, of: app, at: now)
        if reaction.then == .hang { return }
        add(.returned(callback), of: app, at: now.advanced(by: reaction.work))
    }

    package func expireTasks(_ tokens: [UInt64], of app: AppID, at now: Instant) {
        for token in tokens where !neverEnds(app) { request(.endTask(token: token), from: app) }
    }

    /// Whether the script holds on to its tasks even when they expire.
    private func neverEnds(_ app: AppID) -> Bool {
        apps[app]!.script.reactions.contains { $0.task == .neverEnds }
    }

    // MARK: Events

    package func deliver(_ delivery: AppDelivery, to app: AppID, at now: Instant) {
        guard apps[app]!.running else { return }
        self.now = max(self.now, now)
        for area in Areas.rows where area.source == delivery.event.kind.source {
            area.delivered(delivery, to: app, in: self)
        }
        if let reaction = apps[app]!.script.reaction(to: delivery.event.kind) { begin(reaction, of: app, at: now) }
    }

    package func tell(_ notice: AppNotice, to app: AppID, at now: Instant) {
        for area in Areas.rows { area.told(notice, to: app, in: self, at: now) }
    }

    func request(_ request: AppRequest, from app: AppID) {
        say(app, .request(request))
    }

    /// The present process of an app asks for something, now or later.
    func request(_ asked: AppRequest, from app: AppID, at instant: Instant) {
        if instant <= now { return request(asked, from: app) }
        add(.request(asked), of: app, at: instant)
    }

    /// A call that the present process of an app reported ends, now or later.
    func endCall(of app: AppID, at instant: Instant) {
        if instant <= now { return request(.push(.callEnded), from: app) }
        add(.endCall, of: app, at: instant)
    }

    /// The time that a step of a peripheral's script has is over at an instant.
    func waitForScript(_ peripheral: NameID, _ turn: Int, of app: AppID, at instant: Instant) {
        add(.scriptStep(peripheral, turn), of: app, at: instant)
    }

    /// Whether the process of an app runs: no other does what a step says.
    func isAwake(_ app: AppID) -> Bool { apps[app].map { $0.running && !$0.frozen } ?? false }

    /// A step has an app say something; one that does not run says nothing.
    func say(_ requests: [AppRequest], from app: AppID) {
        guard let own = apps[app], own.running, !own.frozen else { return }
        for request in requests { self.request(request, from: app) }
    }

    // MARK: Reactions

    private func begin(_ reaction: ScriptedApp.Reaction, of app: AppID, at now: Instant) {
        if let task = reaction.task {
            let token = apps[app]!.nextToken
            apps[app]!.nextToken += 1
            request(.beginTask(token: token), from: app)
            if case .endsAfter(let span) = task { add(.endTask(token), of: app, at: now.advanced(by: span)) }
        }
        if reaction.then != .nothing { add(.endReaction(reaction.then), of: app, at: now.advanced(by: reaction.work)) }
    }

    private func add(_ errand: Errand, of app: AppID, at instant: Instant) {
        errands.add((app, apps[app]!.generation, errand), at: instant)
    }

    package func timeReached(_ now: Instant) {
        while let (_, due) = errands.takeDue(by: now) {
            guard let app = apps[due.app], app.running, app.generation == due.generation else { continue }
            switch due.errand {
            // The phone knows when a call is over, whether its app runs or not, but for one that is yet to be reported.
            case .endCall where !(app.frozen && app.owesReport): carryOut(due.errand, of: due.app, at: now)
            // A frozen process does nothing; it goes on with it once it is thawed.
            case _ where app.frozen: apps[due.app]!.overdue.append(due.errand)
            default: carryOut(due.errand, of: due.app, at: now)
            }
        }
    }

    private func carryOut(_ errand: Errand, of app: AppID, at now: Instant) {
        switch errand {
        case .endTask(let token): request(.endTask(token: token), from: app)
        case .returned(let callback): say(app, .report(.returned(callback)))
        case .request(let request): self.request(request, from: app)
        case .scriptStep(let peripheral, let turn): scriptDue(peripheral, turn, of: app, at: now)
        case .endCall: request(.push(.callEnded), from: app)
        case .endReaction(.end): request(.done, from: app)
        case .endReaction(.nothing), .endReaction(.hang): break
        case .endReaction(.exit):
            kill(app, at: now)
            say(app, .report(.exited(0)))
        case .endReaction(.crash):
            kill(app, at: now)
            say(app, .report(.exited(-11)))
        }
    }
}
