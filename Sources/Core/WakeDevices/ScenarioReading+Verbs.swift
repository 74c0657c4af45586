import WakeModel

/// Something that a step can do.
struct StepVerb {
    /// The key that says it.
    let word: String
    /// The keys beside it.
    let extras: [String]
    let read: (ScenarioReading) -> (StepEntry) throws(FileError) -> Verb

    init(
        _ word: String,
        _ read: @escaping (ScenarioReading) -> (StepEntry) throws(FileError) -> Verb,
        beside extras: [String] = []
    ) {
        (self.word, self.extras, self.read) = (word, extras, read)
    }
}

/// What a step says: its verb, the verb's value, and the keys beside.
struct StepEntry {
    let word: String
    let value: YAMLNode
    let fields: Fields
}

/// What a step of a scenario does, whatever the area.
extension ScenarioReading {
    private static let userActions: KeyValuePairs<String, UserAction> = [
        "launch": .launch, "foreground": .launch, "home": .home, "force-quit": .forceQuit, "interrupt": .interrupt,
        "resume-active": .resumeActive,
    ]

    /// What a step can do.
    static var verbs: [StepVerb] {
        userActions.map { StepVerb($0.key, ScenarioReading.user) } + [
            StepVerb("terminate", ScenarioReading.terminate, beside: ["cause", "pressure"]),
            StepVerb("uninstall", ScenarioReading.uninstall),
            StepVerb("install", ScenarioReading.install, beside: ["bundle"]),
            StepVerb("debug", ScenarioReading.debug, beside: ["debugger"]),
            StepVerb("phone", ScenarioReading.phoneChange),
            StepVerb("call", ScenarioReading.phoneCall, beside: ["interruption"]),
            StepVerb("time-zone", ScenarioReading.timeZone), StepVerb("date", ScenarioReading.date),
            StepVerb("note", ScenarioReading.note),
            StepVerb("out-of-range", ScenarioReading.range), StepVerb("in-range", ScenarioReading.range),
            StepVerb("arm", ScenarioReading.arm, beside: ["fault"]),
            StepVerb("authorize", ScenarioReading.authorize, beside: answers.map(\.key)),
        ] + areaVerbs
    }

    func verb(_ fields: Fields) throws(FileError) -> Verb {
        let (word, value) = try fields.one(of: verbs.map(\.word), called: "something to do")
        let own = verbs.first { $0.word == word }!
        try fields.refuse(verbs.flatMap(\.extras).filter { !own.extras.contains($0) }, beside: word)
        return try own.read(self)(StepEntry(word: word, value: value, fields: fields))
    }

    private func user(_ step: StepEntry) throws(FileError) -> Verb {
        let action = Self.userActions.first { $0.key == step.word }!.value
        return .user(apps: try appNames.resolve(step.value), action)
    }

    private func terminate(_ step: StepEntry) throws(FileError) -> Verb {
        let causes: [ExitCause] = [.memory, .cpu, .watchdog, .policy, .system, .update, .crash]
        let cause = try step.fields["cause"]?.word("cause", of: causes, \.word) ?? .memory
        var pressure = MemoryPressure.normal
        if let node = step.fields["pressure"] {
            guard cause == .memory else {
                throw node.error(
                    found: "'pressure' beside the cause \(cause.word)",
                    expected: "it with cause: memory alone"
                )
            }
            pressure = try node.word("pressure")
        }
        return .terminate(apps: try appNames.resolve(step.value), cause, pressure)
    }

    private func uninstall(_ step: StepEntry) throws(FileError) -> Verb {
        .uninstall(apps: try appNames.resolve(step.value))
    }

    private func install(_ step: StepEntry) throws(FileError) -> Verb {
        let apps = try appNames.resolve(step.value)
        guard apps.count == 1 else { throw step.value.error(expected: "the name of one app") }
        let bundle = try files.find(step.fields.required("bundle"), "app bundle", isThere: files.isFolder)
        return .install(app: apps[0], bundle: bundle)
    }

    private func debug(_ step: StepEntry) throws(FileError) -> Verb {
        let debugger: Debugger = try step.fields.required("debugger").word("state", of: Debugger.allCases) {
            $0 == .none ? "detached" : $0.word
        }
        let action: UserAction =
            switch debugger {
            case .none: .detachDebugger
            case .attached: .attachDebugger
            case .exempting: .attachExemptingDebugger
            }
        return .user(apps: try appNames.resolve(step.value), action)
    }

    private func phoneChange(_ step: StepEntry) throws(FileError) -> Verb {
        .phone(try step.value.word("change of the phone"))
    }

    private func phoneCall(_ step: StepEntry) throws(FileError) -> Verb {
        let changes: [PhoneChange] = [.callBegan, .callEnded]
        let change = try step.value.word("change of a call", of: changes) { $0 == .callBegan ? "begin" : "end" }
        if change == .callBegan { try step.fields.refuse(["interruption"], beside: "call: begin") }
        return .phone(try step.fields.value("interruption", Self.endOfCall) ?? change)
    }

    /// What apps that a call interrupted hear of its end (AUD-6).
    private static func endOfCall(_ node: YAMLNode) throws(FileError) -> PhoneChange {
        let ends: KeyValuePairs<String, PhoneChange> = [
            "resume": .callEnded, "without-resume": .callEndedWithoutResume, "never": .callEndedUntold,
        ]
        return try node.word("end of an interruption", of: Array(ends), \.key).value
    }

    private func timeZone(_ step: StepEntry) throws(FileError) -> Verb {
        .clock(.timeZone(try ZoneSetting(step.value)))
    }

    private func date(_ step: StepEntry) throws(FileError) -> Verb {
        .clock(.date(try RunDate(step.value)))
    }

    private func note(_ step: StepEntry) throws(FileError) -> Verb {
        .note(try step.value.text(expecting: "a line of text"))
    }

    private func range(_ step: StepEntry) throws(FileError) -> Verb {
        .range(devices: try deviceNames.resolve(step.value), inRange: step.word == "in-range")
    }

    private func arm(_ step: StepEntry) throws(FileError) -> Verb {
        let devices = try deviceNames.resolve(step.value)
        let node = try step.fields.required("fault")
        let fault = try node.text(expecting: "the name of a fault")
        for device in devices { try self.devices[device].checkFault(fault, node) }
        return .arm(devices: devices, fault: fault)
    }

    private func authorize(_ step: StepEntry) throws(FileError) -> Verb {
        let (key, answer) = try step.fields.one(of: Self.answers.map(\.key), called: "an answer")
        let read = Self.answers.first { $0.key == key }!.value
        return try read(answer, try appNames.resolve(step.value))
    }

    static func backgroundRefresh(_ answer: YAMLNode, _ apps: [Int]) throws(FileError) -> Verb {
        .user(apps: apps, try UserAction(backgroundRefresh: answer))
    }

    /// The devices of one kind that a step names.
    func devices<Kind: Device>(
        _ step: StepEntry,
        of kind: Kind.Type
    ) throws(FileError) -> [(position: Int, device: Kind)] {
        try deviceNames.resolve(step.value).map { (position) throws(FileError) in
            (position, try devices[position].need(kind, for: step.value))
        }
    }

    /// Apps that the scenario plays itself, as a step needs them to be; a bundle may be refused later.
    func scripts(
        _ step: StepEntry,
        bundlesToo: Bool,
        _ expected: String,
        where fits: (ScriptedApp) -> Bool
    ) throws(FileError) -> [Int] {
        let positions = try appNames.resolve(step.value)
        for position in positions {
            if case .scripted(let script) = apps[position].form, fits(script) { continue }
            if case .bundle = apps[position].form, bundlesToo { continue }
            throw step.value.error(found: "'\(apps[position].name)'", expected: expected)
        }
        return positions
    }
}

extension UserAction {
    /// Reads whether the user lets an app work in the background (PWR-3).
    init(backgroundRefresh node: YAMLNode) throws(FileError) {
        let answers: [UserAction] = [.allowRefresh, .refuseRefresh]
        self = try node.word("answer", of: answers) { $0 == .allowRefresh ? "allowed" : "denied" }
    }
}
