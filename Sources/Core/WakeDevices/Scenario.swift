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

extension Scenario {
    /// Whether any of its apps is a bundle, which runs in processes of its own.
    package var hasBundles: Bool {
        apps.contains { app in
            if case .bundle = app.form { true } else { false }
        }
    }
}

/// An app of a scenario, with what the user has said to it.
@dynamicMemberLookup
package struct ScenarioApp: Hashable, Sendable {
    /// `heart`, or `a.3` for the third of an entry with `count`.
    package var name: String
    /// The name in the file, without the number.
    package var group: String
    package var line: Int
    package var column: Int
    package var form: Form
    package var answers: AreaAnswers

    /// What the app is.
    package enum Form: Hashable, Sendable {
        /// The path of a bundle folder that exists.
        case bundle(String)
        case scripted(ScriptedApp)
    }

    package subscript<Value>(dynamicMember answer: KeyPath<AreaAnswers, Value>) -> Value { answers[keyPath: answer] }
}

/// An app that the scenario itself plays: no process, only answers. What it uses of an area is a member of it, too.
@dynamicMemberLookup
package struct ScriptedApp: Hashable, Sendable {
    /// The bundle identifier.
    package var identifier: String
    package var modes: BackgroundModes
    package var exitsOnSuspend: Bool
    /// What it was built with (VOIP-1).
    package var sdk = SDKVersion.unknown
    package var reactions: [Reaction]
    package var areas: AreaUses

    package subscript<Value>(dynamicMember use: KeyPath<AreaUses, Value>) -> Value { areas[keyPath: use] }

    /// A peripheral that the app connects to.
    package struct Use: Hashable, Sendable {
        /// A position in ``Scenario/devices``.
        package var device: Int
        /// The canonical UUIDs of the characteristics it subscribes to.
        package var characteristics: [String]
        /// What it asks for with each connection (BTC-9, BTC-11).
        package var options: ConnectOptions = []
        /// What it does on each connection once it is subscribed: it waits, reads, writes and awaits values.
        package var script: [CentralStep] = []
    }

    /// A scan that the app starts.
    package struct Scan: Hashable, Sendable {
        /// Canonical UUIDs.
        package var services: [String]
        package var allowDuplicates: Bool
        /// Connect to each peripheral found.
        package var connects: Bool
        /// Stop at the first (BT-1).
        package var stops = false
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
        /// It never comes to an end of what it was called for, which its watchdog sees (LIFE-2, LIFE-7).
        case hang
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
    /// Counted from 1; 0 where it is not known.
    package var column: Int
    /// What its file describes.
    package var form: DeviceFile

    /// The word of what its file describes, such as `bluetooth-peripheral`.
    package var kind: String { type(of: form.device).kind }

    package init(name: String, group: String, line: Int, column: Int = 0, form: DeviceFile) {
        self.name = name
        self.group = group
        self.line = line
        self.column = column
        self.form = form
    }
}

/// Something that happens in a run.
package struct Step: Hashable, Sendable {
    package var line: Int
    package var column: Int
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

/// What must have come of a run.
package struct Expectation: Hashable, Sendable {
    package var line: Int
    package var column: Int
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
