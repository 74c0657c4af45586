import WakeDevices
import WakeModel
import WakePorts
import WakePush
import WakeRouter
import WakeSystem
import WakeWire

/// Pushes: what a provider sends, and what apps do about it.
final class PushArea: Area {
    static let source = Source.push

    static func isUsed(by scenario: Scenario) -> Bool { false }

    static let options = [
        AreaOption(
            name: "--apns-port",
            value: "N",
            help: "where push=apns takes pushes, on this machine alone; 0 for any; default 2197",
            expected: "a port from 0 to 65535",
            take: { options, text in
                guard let port = UInt16(text) else { return false }
                options.apnsPort = port
                return true
            }
        ),
        AreaOption(
            name: "--apns-identity",
            value: "DIR",
            help: "where the certificates of push=apns are, or are made; default ./wakebench-apns",
            take: { options, text in
                options.apnsIdentity = text
                return true
            }
        ),
    ]

    /// What takes pushes and plays extensions, whoever brings the pushes.
    private let simulated: SimulatedPush
    private let real: APNsPush?
    private let names: NameTable
    /// Nanoseconds since 1970 at which the run begins.
    private let epoch: Int64

    private let extensions: ServiceExtensions
    private let mayHaveExtensions: Bool

    var sources: [any SourcePort] {
        let end: any SourcePort = real ?? simulated
        return mayHaveExtensions ? [end, extensions] : [end]
    }

    init(_ setup: AreaSetup) {
        let scenario = setup.scenario
        names = setup.names
        let date = setup.options.date ?? scenario.phone.date ?? .usual
        epoch = setup.realTime ? WallClock.now() : date.nanoseconds
        let settings = scenario.settings + setup.options.settings
        let profile = (setup.options.profile ?? scenario.profile ?? .ios17).with(settings)
        mayHaveExtensions = setup.mayHaveBundles
        extensions = ServiceExtensions(
            memory: profile.areas.push.extensionMemory,
            names: setup.names,
            realTime: setup.realTime
        )
        let desk = PushDesk(names: setup.names, figures: profile.areas.push, epoch: epoch)
        let simulated = SimulatedPush(desk: desk, names: setup.names)
        self.simulated = simulated
        real =
            setup.backends[Self.source] == "apns"
            ? APNsPush(
                playing: simulated,
                names: setup.names,
                loop: setup.loop,
                port: setup.options.apnsPort,
                folder: setup.options.apnsIdentity
            ) : nil
    }

    func connect(to run: Run) {
        for (number, app) in run.scenario.apps.enumerated() { join(app, as: AppID(UInt32(number)), in: run) }
        if let real {
            run.bench.add(PushAcknowledger(real))
            real.note = { [unowned run] in run.recorder.note($0, at: run.present) }
        }
        if let address = real?.address { run.notes.append(address) }
    }

    func join(_ app: ScenarioApp, as id: AppID, in run: Run) {
        let known: PushDesk.App
        switch app.form {
        case .scripted(let script):
            known = .init(bundle: script.identifier, modes: script.modes)
            simulated.play(script.push?.serviceExtension.map { PlayedExtension($0) }, of: id)
        case .bundle:
            guard let manifest = run.processes?.bundle(at: Int(id.number))?.manifest(names) else { return }
            known = .init(bundle: names.text(manifest.bundle), modes: manifest.modes)
            simulated.leaveExtension(of: id)
            extensions.take(id)
            extensions.host = run.processes?.host
            run.processes?.host.extensionEnded = { [extensions] in extensions.ended($0) }
        }
        simulated.desk.add(known, as: id)
        guard real != nil else { return }
        for forCalls in [false, true] {
            let token = DeviceToken.text(DeviceToken.bytes(of: known.bundle, forCalls: forCalls))
            run.notes.append("\(PushType.topic(of: known.bundle, forCalls: forCalls)): device token \(token)")
        }
    }

    /// The bundle identifier of an app.
    func bundle(of app: AppID) -> String? { simulated.desk.bundle(of: app) }

    func code(with coder: inout SnapshotCoder, at now: Instant) throws(EncodingFault) {
        try simulated.code(with: &coder)
    }

    static func declare(_ app: ScenarioApp, in manifest: inout AppManifest, _ names: NameTable) {
        guard case .scripted(let script) = app.form else { return }
        manifest.serviceExtension = script.push?.serviceExtension != nil
    }

    static func explain(_ cause: LaunchCause, in options: inout LaunchOptions, _ names: NameTable) {
        switch cause.event.kind {
        case .pushReceived, .newsstandPushReceived: options.remoteNotification = cause.event.push.content.userInfo
        default: break
        }
    }

    // MARK: Steps

    func perform(_ verb: Verb, _ origin: NameID, in scenario: Scenario, at now: Instant) throws(SourceFailure) {
        guard case .push(let sent) = verb else { return }
        for app in try apps(of: sent) {
            let forCalls = sent.type == .call
            let bundle = simulated.desk.bundle(of: app)
            let message = PushMessage(
                token: simulated.desk.token(of: app, forCalls: forCalls),
                topic: bundle.map { PushType.topic(of: $0, forCalls: forCalls) },
                type: sent.type.word,
                priority: sent.priority.number,
                expiration: expiration(of: sent, at: now),
                collapseID: sent.collapseID,
                payload: sent.file.payload
            )
            try simulated.send(message, origin, at: now)
        }
    }

    private func apps(of sent: ScriptedApp.SentPush) throws(SourceFailure) -> [AppID] {
        if let apps = sent.apps { return apps.map { AppID(UInt32($0)) } }
        let bundle = sent.file.bundle ?? ""
        guard let app = simulated.desk.app(of: bundle) else {
            throw SourceFailure(
                .unknown,
                "the push is for '\(excerpt(bundle))', and the scenario has no app of that bundle"
            )
        }
        return [app]
    }

    /// In whole seconds, as the header has it.
    private func expiration(of sent: ScriptedApp.SentPush, at now: Instant) -> Int64? {
        switch sent.expires {
        case .never: nil
        case .once: 0
        case .after(let span): wholeSeconds(at: now.advanced(by: span))
        }
    }

    /// Since 1970, rounded up.
    private func wholeSeconds(at instant: Instant) -> Int64 {
        let (seconds, rest) = PhoneClock(epoch: epoch, zone: 0).nanoseconds(at: instant)
            .quotientAndRemainder(dividingBy: 1_000_000_000)
        return rest > 0 ? seconds + 1 : seconds
    }

    func owns(_ device: ScenarioDevice) -> Bool { false }

    func arm(_ fault: String, of device: ScenarioDevice, at now: Instant) throws(SourceFailure) {}
}

extension PushArea {
    /// The line of `--backend push=apns`.
    static func examine(_ installation: Doctor.Installation) -> [Doctor.Line] {
        let port = RunOptions.usualAPNsPort
        return [line(.examine(port: port), port: port)]
    }

    static func line(_ found: APNsPresence, port: UInt16) -> Doctor.Line {
        let end = found.failure.map { "\($0); give a port that is free with --apns-port" } ?? "port \(port) is free"
        let libraries = found.libraries.joined(separator: ", ")
        return Doctor.Line(what: "APNs", good: found.failure == nil, finding: "\(libraries); \(end)")
    }
}

/// Tells APNs' end which pushes survive the bench, once they do.
final class PushAcknowledger: BenchObserver {
    private let pushes: APNsPush

    init(_ pushes: APNsPush) { self.pushes = pushes }

    func observe(_ item: InboxItem, _ output: RouterOutput, at now: Instant) {
        switch item.input {
        case .event(let event): pushes.heard(event, isLost: false)
        case .overflowed(let event): pushes.heard(event, isLost: true)
        default: break
        }
    }

    func committed() { pushes.committed() }
}

extension PlayedExtension {
    init(_ script: ScriptedApp.PushUse.Extension) {
        self.init()
        (after, memory, title, body) = (script.after, script.memory, script.title, script.body)
        ending =
            switch script.ending {
            case .answer: .answer
            case .crash: .crash
            case .hang: .hang
            }
    }
}
