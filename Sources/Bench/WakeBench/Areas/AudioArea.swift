import WakeAudio
import WakeDevices
import WakeModel
import WakePorts
import WakeReports
import WakeSystem
import WakeWire

/// Sound: its end, and the streams of apps.
final class AudioArea: Area {
    static let source = Source.audio

    static let options = [
        AreaOption(
            name: "--sound-card",
            value: "NAME",
            help: "the PCM that plays for audio=alsa, as aplay -L lists them; default default",
            take: { options, text in
                options.soundCard = text
                return true
            }
        ),
        AreaOption(
            name: "--microphone",
            value: "NAME",
            help: "the PCM that hears for audio=alsa; default the sound card",
            take: { options, text in
                options.microphone = text
                return true
            }
        ),
    ]

    static func isUsed(by scenario: Scenario) -> Bool { scenario.devices.contains { $0.audio != nil } }

    let port: any AudioPort
    let simulated: SimulatedAudio?
    private let notes: StepNotes

    var sources: [any SourcePort] { [port] }

    init(_ setup: AreaSetup) throws(SystemError) {
        notes = setup.notes
        if setup.backends[Self.source] == "alsa" {
            port = try ALSAAudio(
                card: setup.options.soundCard,
                microphone: setup.options.microphone,
                devices: setup.scenario.devices,
                names: setup.names,
                loop: setup.loop
            )
            simulated = nil
        } else {
            let simulated = SimulatedAudio(
                devices: setup.scenario.devices,
                names: setup.names,
                loop: setup.loop,
                inRealTime: setup.realTime
            )
            (port, self.simulated) = (simulated, simulated)
        }
    }

    func connect(to run: Run) {
        port.note = { [recorder = run.recorder] app, text in recorder.note(.fault(text), of: app) }
    }

    func code(with coder: inout SnapshotCoder, at now: Instant) throws(EncodingFault) {
        try simulated?.code(with: &coder)
    }

    // MARK: Apps

    func install(_ app: ScenarioApp, as id: AppID, _ origin: NameID, in run: Run) {
        if app.microphone != .undetermined { answerMicrophone(app.microphone == .granted, of: id, origin, in: run) }
    }

    func act(_ verb: Verb, _ origin: NameID, in run: Run, at now: Instant) {
        switch verb {
        case .sound(let apps, let act):
            for app in apps {
                noteSoundless(act, of: AppID(UInt32(app)), in: run, at: now)
                run.scripted.perform(act, of: AppID(UInt32(app)), at: now)
            }
        case .microphone(let apps, let granted):
            for app in apps.map({ AppID(UInt32($0)) }) {
                let answer: MicrophonePermission = granted ? .granted : .denied
                let isTaken = notes.takesAnswer(
                    for: app,
                    in: run,
                    at: now,
                    already: run.bench.router.microphonePermission(of: app) == answer
                        ? "its microphone is \(answer.word) already" : nil
                )
                if isTaken { answerMicrophone(granted, of: app, origin, in: run) }
            }
        default: break
        }
    }

    /// An app has no sound to stop, to change or to keep waiting, or it sounds as it is to already.
    private func noteSoundless(_ act: ScriptedApp.SoundAct, of app: AppID, in run: Run, at now: Instant) {
        guard run.scripted.isAwake(app), act != .play else { return }
        let why: String
        if !run.bench.router.hasActiveSession(app) {
            why = "its audio session is not active"
        } else if act == .silence, run.scripted.apps[app]?.isSilent == true {
            why = "nothing changed, as what it plays is silent already"
        } else if act == .tone, run.scripted.apps[app]?.isSilent == false {
            why = "nothing changed, as what it plays can be heard already"
        } else {
            return
        }
        notes.add("sound \(run.name(of: app))", why, of: app, at: now, isReplayed: false)
    }

    /// The user says whether an app may hear the microphone (AUD-10).
    private func answerMicrophone(_ granted: Bool, of app: AppID, _ origin: NameID, in run: Run) {
        let event = WakeEvent(
            kind: .microphoneAnswered,
            subject: run.names.intern("microphone"),
            failed: !granted,
            app: app,
            origin: origin
        )
        run.bench.submit(SourceReport(event))
    }

    // MARK: Steps

    func perform(_ verb: Verb, _ origin: NameID, in scenario: Scenario, at now: Instant) throws(SourceFailure) {
        guard case .plug(let devices, let plugged) = verb else { return }
        for device in devices {
            let (name, route) = (scenario.devices[device].name, port.route)
            let wasSo = simulated?.isPlugged(name) == plugged
            try port.plug(name, plugged, at: now)
            guard wasSo, port.route == route else { continue }
            let step = plugged ? "plug \(name): it is plugged in already" : "unplug \(name): it is not plugged in"
            notes.add(step, at: now)
        }
    }

    func owns(_ device: ScenarioDevice) -> Bool { device.audio != nil }

    func arm(_ fault: String, of device: ScenarioDevice, at now: Instant) throws(SourceFailure) {
        if let why = try simulated?.lack(of: fault, device.name) {
            // Streams end with their processes.
            notes.add("arm \(device.name) \(fault)", why, at: now, isReplayed: false)
        }
        try port.arm(fault: fault, device: device.name, at: now)
    }
}

/// What a caller may want to know of a run's sound.
extension Run {
    /// Tells of each buffer that the simulated sound card plays, with its frames.
    package func soundHeard(_ heard: @escaping (Int) -> Void) {
        areas.audio.simulated?.heard = { _, frames in heard(frames) }
    }

    /// The apps that silence alone kept running in the background, and how long, in the order of the scenario (AUD-4).
    package var silentApps: [(app: AppID, time: Instant.Span)] {
        scenario.apps.indices.compactMap { number in
            let app = AppID(UInt32(number))
            let time = bench.router.silence(of: app, at: bench.now)
            return time > .zero ? (app, time) : nil
        }
    }

    /// Leaves a note for each of them in the logs, so that every report of the run has it.
    func noteSilence() {
        for (app, time) in silentApps {
            recorder.note("silence alone kept it running for \(LogTime.text(time)) (AUD-4)", of: app)
        }
    }

    /// The apps whose buffers came late, and how many, in the order of the scenario (AUD-11).
    package var lateBuffers: [(app: String, count: UInt64)] {
        scenario.apps.enumerated().compactMap { number, app in
            let count = bench.router.underruns(of: AppID(UInt32(number)))
            return count == 0 ? nil : (app.name, count)
        }
    }
}

extension AppView {
    /// How sound stands for an app.
    func audioStatus(of app: AppID, frames: UInt32, capacity: UInt32) -> WireAudioStatus {
        let others = bench.router.otherAudio(beside: app)
        return WireAudioStatus(
            microphone: bench.router.microphonePermission(of: app),
            rate: AudioFormat.rate,
            frames: frames,
            capacity: capacity,
            otherPlaying: others.playing,
            silenceSecondary: others.silenceSecondary,
            route: areas.audio.port.route
        )
    }

    /// The ends of an app's stream; nil when it has none.
    func stream(of app: AppID) -> SharedAudio? { try? areas.audio.port.share(with: app) }
}

extension AudioArea {
    /// The lines of `--backend audio=alsa`.
    static func examine(_ installation: Doctor.Installation) -> [Doctor.Line] {
        let found = ALSAPresence.examine()
        let cards = found.cards.isEmpty ? "none in the kernel" : found.cards.joined(separator: "; ")
        let other = found.cards.isEmpty ? "" : ", or one of the cards \(cards), with --sound-card"
        let failure = found.failure.map { "\($0)\(other); simulated sound works without" }
        return [
            Doctor.Line(what: "sound card", good: failure == nil, finding: failure ?? cards),
            Doctor.Line(what: "alsa-lib", good: true, finding: found.library),
        ]
    }
}
