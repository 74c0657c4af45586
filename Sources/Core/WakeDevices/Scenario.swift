import WakeModel

/// A scenario: the apps, the devices, what happens to them in time, and what must come of it.
///
/// Everything in it has been checked: names are resolved to positions in ``apps`` and ``devices``.
package struct Scenario: Hashable, Sendable {
    /// The path as it was given.
    package var file: String
    package var name: String
    /// Nil when the file names none.
    package var profile: Profile?
    /// Nil when the file names none.
    package var seed: UInt64?
    /// In the order of the file, each source once.
    package var backends: [BackendChoice]
    package var phone: PhoneStart
    /// What it sets of the profile, in the order of the file, each setting once.
    package var settings: [SettingChange] = []
    package var apps: [ScenarioApp]
    package var devices: [ScenarioDevice]
    package var steps: [Step]
    package var expectations: [Expectation]
    /// When the run ends; nil for ``quietTime`` after the last step was carried out.
    package var until: Instant.Span?

    /// How long a run goes on after its last step when the file has no `until`.
    package static let quietTime = Instant.Span.seconds(10)

    /// What records call a line of this file, such as `night.yaml:31`.
    package func origin(line: Int) -> String {
        "\(file.split(separator: "/").last ?? ""):\(line)"
    }
}

/// An app of a scenario.
package struct ScenarioApp: Hashable, Sendable {
    /// `heart`, or `a.3` for the third of an entry with `count`.
    package var name: String
    /// The name in the file, without the number.
    package var group: String
    package var line: Int
    package var form: Form
    /// Whether the user lets it use Bluetooth (BTP-5).
    package var bluetoothAuthorization = BluetoothAuthorization.allowed
    /// The user's word before the app asks (AUD-10).
    package var microphone = MicrophonePermission.undetermined
    /// Whether the user keeps When In Use when asked at the app's first event in the background (LOC-10).
    package var keepsWhenInUse = false

    /// What the app is.
    package enum Form: Hashable, Sendable {
        /// The path of a bundle folder that exists.
        case bundle(String)
        case scripted(ScriptedApp)
    }
}

/// An app that the scenario itself plays: no process, only answers.
package struct ScriptedApp: Hashable, Sendable {
    /// The bundle identifier.
    package var identifier: String
    package var modes: BackgroundModes
    /// Nil for a manager without one.
    package var restoreIdentifier: String?
    package var exitsOnSuspend: Bool
    /// What it was built with (VOIP-1).
    package var sdk = SDKVersion.unknown
    /// Whether its user may set up accessories for it (BTC-8).
    package var accessorySetup = false
    /// What it connects and subscribes to when it is launched, and again what restoration does not bring back.
    package var uses: [Use]
    /// The scan it starts at launch.
    package var scan: Scan?
    package var reactions: [Reaction]
    /// What it asks of Core Location at launch.
    package var location: LocationUse?
    /// What it asks of External Accessory at launch.
    package var accessory: AccessoryUse?
    /// What it does as a peripheral itself; nil when it is none.
    package var peripheral: ScriptedPeripheral?
    /// How it uses sound; nil when it does not.
    package var audio: AudioUse?
    /// What it does for its calls at launch.
    package var voip: VoIPUse?

    /// A peripheral that the app connects to.
    package struct Use: Hashable, Sendable {
        /// A position in ``Scenario/devices``.
        package var device: Int
        /// The canonical UUIDs of the characteristics it subscribes to.
        package var characteristics: [String]
    }

    /// A scan that the app starts.
    package struct Scan: Hashable, Sendable {
        /// Canonical UUIDs.
        package var services: [String]
        package var allowDuplicates: Bool
        /// Connect to each peripheral found.
        package var connects: Bool
    }

    /// What the app does when something happens to it.
    package struct Reaction: Hashable, Sendable {
        package var trigger: Trigger
        /// The time from the trigger to `then`.
        package var work: Instant.Span
        package var then: Ending
        package var task: Task?
    }

    /// What a reaction answers to.
    package enum Trigger: Hashable, Sendable {
        case anyEvent
        case event(EventKind)
        /// didFinishLaunching.
        case launch
        case callback(LifecycleCallback)
    }

    /// How a reaction ends.
    package enum Ending: UInt8, CaseIterable, Sendable {
        /// The app says that the work of this wake is done (LIFE-11).
        case end
        /// The app says nothing.
        case nothing
        /// The process exits with status 0.
        case exit
        /// The process crashes.
        case crash

        package var word: String {
            switch self {
            case .end: "end"
            case .nothing: "nothing"
            case .exit: "exit"
            case .crash: "crash"
            }
        }
    }

    /// A background task begun when the reaction begins (TASK-1).
    package enum Task: Hashable, Sendable {
        case endsAfter(Instant.Span)
        case neverEnds
    }

    /// The reaction to an event; the first in the file that fits. Nil means ``Ending/nothing`` at once.
    package func reaction(to kind: EventKind) -> Reaction? {
        reactions.first { $0.trigger == .anyEvent || $0.trigger == .event(kind) }
    }
}

/// A device of a scenario.
package struct ScenarioDevice: Hashable, Sendable {
    /// `belt`, or `belt.3` for the third of an entry with `count`. A peripheral's or central's name to the
    /// router.
    package var name: String
    /// The name in the file, without the number.
    package var group: String
    package var line: Int
    /// What its file describes.
    package var form: DeviceFile

    package init(name: String, group: String, line: Int, form: DeviceFile) {
        self.name = name
        self.group = group
        self.line = line
        self.form = form
    }

    package init(name: String, group: String, line: Int, peripheral: BluetoothPeripheral) {
        self.init(name: name, group: group, line: line, form: .peripheral(peripheral))
    }

    /// The peripheral that it is; nil for a device of another kind.
    package var peripheral: BluetoothPeripheral? {
        if case .peripheral(let peripheral) = form { peripheral } else { nil }
    }

    /// The beacon that it is; nil for a device of another kind.
    package var beacon: Beacon? {
        if case .beacon(let beacon) = form { beacon } else { nil }
    }

    /// The central that it is; nil for a device of another kind.
    package var central: BluetoothCentral? {
        if case .central(let central) = form { central } else { nil }
    }

    /// The track that it is; nil for a device of another kind.
    package var track: LocationTrack? {
        if case .track(let track) = form { track } else { nil }
    }

    /// The sound device that it is; nil for a device of another kind.
    package var audio: AudioDevice? {
        if case .audio(let device) = form { device } else { nil }
    }

    /// The accessory that it is; nil for a device of another kind.
    package var accessory: ExternalAccessory? {
        if case .accessory(let accessory) = form { accessory } else { nil }
    }
}

/// Something that happens in a run.
package struct Step: Hashable, Sendable {
    package var line: Int
    package var trigger: Trigger
    /// The step happens this often in all, from 1.
    package var times: Int
    /// From one repetition to the next.
    package var every: Instant.Span
    package var verb: Verb

    /// When a step happens first.
    package enum Trigger: Hashable, Sendable {
        /// So long after the start of the run, whatever the other steps do.
        case at(Instant.Span)
        /// So long after the step before it in the file happened first.
        case after(Instant.Span)
        /// When the condition holds, looked for from the moment the step before it happened first. The run fails when
        /// it does not come true within the time.
        case when(Condition, within: Instant.Span)
    }

    /// What a step waits for.
    package enum Condition: Hashable, Sendable {
        /// So many decisions that fit, about each of the apps, since the step before happened.
        case decisions(apps: [Int], DecisionFilter, count: Int)
        /// Each of the apps is in the state.
        case state(apps: [Int], AppState)
    }
}

/// What a step does. Numbers are positions in ``Scenario/apps`` and ``Scenario/devices``.
package enum Verb: Hashable, Sendable {
    case user(apps: [Int], UserAction)
    /// The user sets up the peripherals for the apps with AccessorySetupKit (BTC-8).
    case setUp(apps: [Int], devices: [Int])
    case terminate(apps: [Int], ExitCause, MemoryPressure = .normal)
    case uninstall(apps: [Int])
    case phone(PhoneChange)
    /// The peripheral notifies a value beside its timetable.
    case notify(devices: [Int], characteristic: String, value: [UInt8])
    /// The peripheral drops its link.
    case disconnect(devices: [Int])
    case range(devices: [Int], inRange: Bool)
    case arm(devices: [Int], fault: String)
    /// The phone crosses the boundary of every region of that name, wherever it is.
    case cross(region: String, inwards: Bool)
    /// The phone is at a place and stays there; the accuracy is in metres.
    case position(Coordinate, accuracy: Double)
    /// The phone begins a track.
    case play(device: Int)
    /// A stay at a place begins, or ends.
    case visit(Coordinate, departs: Bool)
    /// The accessory is plugged in or pulled, in range or out of it.
    case attach(devices: [Int], Bool)
    /// The accessory sends bytes beside its script, over the sessions of one protocol or of any.
    case send(devices: [Int], protocolName: String?, value: [UInt8])
    /// The user decides what the apps may know of the position.
    case authorize(apps: [Int], LocationAuthorization)
    /// The user decides whether the apps may hear the microphone.
    case microphone(apps: [Int], granted: Bool)
    /// A sound device is plugged in or out.
    case plug(devices: [Int], plugged: Bool)
    /// What scripted apps do with their sound from now on.
    case sound(apps: [Int], ScriptedApp.SoundAct)
    /// The call servers do something beside their plan, on each connection that they have.
    case call(devices: [Int], CallAct)
    /// A line for the timeline.
    case note(String)
}

/// Which decisions are meant.
package struct DecisionFilter: Hashable, Sendable {
    package var verdict: Verdict?
    package var reason: Reason?
    package var kind: EventKind?
    package var rule: RuleID?

    package init(verdict: Verdict? = nil, reason: Reason? = nil, kind: EventKind? = nil, rule: RuleID? = nil) {
        self.verdict = verdict
        self.reason = reason
        self.kind = kind
        self.rule = rule
    }

    /// Whether a decision fits; what is nil fits anything.
    package func matches(_ decision: Decision) -> Bool {
        (verdict == nil || verdict == decision.verdict) && (reason == nil || reason == decision.reason)
            && (kind == nil || kind == decision.kind) && (rule == nil || rule == decision.rule)
    }
}

/// What must have come of a run.
package struct Expectation: Hashable, Sendable {
    package var line: Int
    /// Each of them must meet it, by itself.
    package var apps: [Int]
    package var subject: Subject

    /// What is looked at.
    package enum Subject: Hashable, Sendable {
        case decisions(DecisionFilter, Count)
        /// The state at the end of the run.
        case state(AppState)
        /// The ends of processes; of one cause when it is given.
        case exits(ExitCause?, Count)
    }

    /// How often.
    package struct Count: Hashable, Sendable {
        package var atLeast: Int
        package var atMost: Int?

        package init(atLeast: Int, atMost: Int?) {
            self.atLeast = atLeast
            self.atMost = atMost
        }

        package func contains(_ number: Int) -> Bool { number >= atLeast && number <= atMost ?? .max }

        /// `3`, `at least 1`, `at most 2`, `1 to 3`.
        package var words: String {
            switch atMost {
            case .none: "at least \(atLeast)"
            case .some(atLeast): "\(atLeast)"
            case .some(let most): atLeast == 0 ? "at most \(most)" : "\(atLeast) to \(most)"
            }
        }
    }
}
