import WakeModel

/// What a step of a scenario does to apps, to the phone and to where it is.
extension ScenarioReading {
    /// What a step may begin with.
    static let subjects = [
        "launch", "foreground", "home", "force-quit", "interrupt", "resume-active", "set-up", "terminate", "uninstall",
        "phone", "bluetooth", "airplane-mode", "notify", "disconnect", "out-of-range", "in-range", "arm", "enter",
        "exit",
        "position", "play",
        "arrive", "depart", "authorize", "note", "attach", "detach", "send", "voip", "call", "plug", "unplug", "sound",
    ]

    /// What some of the subjects need beside.
    static let extras = [
        (verb: "set-up", value: ["device"]),
        (verb: "terminate", value: ["cause", "pressure"]), (verb: "notify", value: ["characteristic", "value"]),
        (verb: "arm", value: ["fault"]), (verb: "authorize", value: ["location", "microphone", "background-location"]),
        (verb: "send", value: ["protocol", "text", "hex"]),
        (verb: "voip", value: CallAct.keys), (verb: "sound", value: ["do", "for"]),
    ]

    mutating func verb(_ fields: Fields) throws(FileError) -> Verb {
        let (key, value) = try fields.one(of: Self.subjects, called: "something to do")
        for (verb, extras) in Self.extras where verb != key { try fields.refuse(extras, beside: key) }
        if let action = userAction(key) { return .user(apps: try appNames.resolve(value), action) }
        switch key {
        case "set-up": return try setUp(value, fields)
        case "terminate":
            let cause = try exitCause(fields) ?? .memory
            return .terminate(apps: try appNames.resolve(value), cause, try pressure(fields, cause))
        case "uninstall": return .uninstall(apps: try appNames.resolve(value))
        case "sound": return .sound(apps: try scriptedApps(value), try soundAct(fields))
        case "authorize": return try authorize(value, fields)
        case "phone", "call": return .phone(try phoneChange(key, value))
        case "bluetooth": return .phone(try bluetoothChange(value))
        case "airplane-mode": return .phone(try airplaneMode(value))
        case "note": return .note(try value.text(expecting: "a line of text"))
        case "enter", "exit":
            return .cross(region: try value.text(expecting: "the identifier of a region"), inwards: key == "enter")
        case "position":
            let fields = try Fields(value, of: "a position", keys: ["latitude", "longitude", "accuracy"])
            return .position(try place(fields), accuracy: try fields["accuracy"]?.metres(in: 0...100_000) ?? 5)
        case "arrive", "depart":
            let fields = try Fields(value, of: "a place", keys: ["latitude", "longitude"])
            return .visit(try place(fields), departs: key == "depart")
        default: return try deviceVerb(key, value, fields)
        }
    }

    private func userAction(_ key: String) -> UserAction? {
        switch key {
        case "launch", "foreground": .launch
        case "home": .home
        case "force-quit": .forceQuit
        case "interrupt": .interrupt
        case "resume-active": .resumeActive
        default: nil
        }
    }

    /// Of an app with a bundle, Info.plist says whether it may be: that is read when the run begins.
    private mutating func setUp(_ node: YAMLNode, _ fields: Fields) throws(FileError) -> Verb {
        let positions = try appNames.resolve(node)
        for position in positions {
            guard case .scripted(let script) = apps[position].form, !script.accessorySetup else { continue }
            throw node.error(found: "'\(apps[position].name)'", expected: "an app with 'accessory-setup: true'")
        }
        let name = try fields.required("device")
        let devices = try deviceNames.resolve(name)
        for device in devices { _ = try self.devices[device].peripheral(for: name) }
        return .setUp(apps: positions, devices: devices)
    }

    private func exitCause(_ fields: Fields) throws(FileError) -> ExitCause? {
        let causes: [ExitCause] = [.memory, .cpu, .watchdog, .policy, .system, .update, .crash]
        return try fields["cause"].map { (node) throws(FileError) -> ExitCause in try cause(node, among: causes) }
    }

    private func pressure(_ fields: Fields, _ cause: ExitCause) throws(FileError) -> MemoryPressure {
        guard let node = fields["pressure"] else { return .normal }
        guard cause == .memory else {
            throw node.error(
                found: "'pressure' beside the cause \(cause.word)",
                expected: "it with cause: memory alone"
            )
        }
        return try node.word("pressure", among: MemoryPressure.allCases.map(\.word)) { MemoryPressure(word: $0) }
    }

    private mutating func authorize(_ node: YAMLNode, _ fields: Fields) throws(FileError) -> Verb {
        if let microphone = fields["microphone"] {
            try fields.refuse(["location", "background-location"], beside: "microphone")
            let words = [MicrophonePermission.granted, .denied].map(\.word)
            let answer = try microphone.word("permission", among: words) { MicrophonePermission(word: $0) }
            return .microphone(apps: try appNames.resolve(node), granted: answer == .granted)
        }
        if let answer = fields["background-location"] {
            try fields.refuse(["location"], beside: "background-location")
            return .user(apps: try appNames.resolve(node), try Self.backgroundLocation(answer))
        }
        let words = LocationAuthorization.sayable.map(\.word)
        let answer = try fields.required("location").word("authorization", among: words) {
            said in LocationAuthorization.sayable.first { $0.word == said }
        }
        return .authorize(apps: try appNames.resolve(node), answer)
    }

    private func phoneChange(_ key: String, _ node: YAMLNode) throws(FileError) -> PhoneChange {
        if key == "call" {
            return try node.word("change of a call", among: ["begin", "end"]) { word -> PhoneChange? in
                word == "begin" ? .callBegan : word == "end" ? .callEnded : nil
            }
        }
        return try node.word("change of the phone", among: PhoneChange.allCases.map(\.fileWord)) { word in
            PhoneChange.allCases.first { $0.fileWord == word }
        }
    }

    private func bluetoothChange(_ node: YAMLNode) throws(FileError) -> PhoneChange {
        try node.position(
            "change of Bluetooth",
            ["on": .bluetoothOn, "off": .bluetoothOff, "off-in-control-centre": .bluetoothOffInControlCentre]
        )
    }

    private func airplaneMode(_ node: YAMLNode) throws(FileError) -> PhoneChange {
        try node.position(
            "airplane mode",
            ["on": .airplaneModeOn, "off": .airplaneModeOff, "on-keeping-bluetooth": .airplaneModeOnKeepingBluetooth]
        )
    }

    /// Apps that the scenario itself plays, and that use sound.
    private mutating func scriptedApps(_ node: YAMLNode) throws(FileError) -> [Int] {
        let positions = try appNames.resolve(node)
        for position in positions {
            if case .scripted(let script) = apps[position].form, script.audio != nil { continue }
            throw node.error(found: "'\(apps[position].name)'", expected: "a scripted app with 'audio'")
        }
        return positions
    }

    private func soundAct(_ fields: Fields) throws(FileError) -> ScriptedApp.SoundAct {
        let word = try fields.required("do").word("act", among: ["play", "stop", "tone", "silence", "stall"]) { $0 }
        if word == "stall" { return .stall(try fields.required("for").interval()) }
        try fields.refuse(["for"], beside: word)
        switch word {
        case "play": return .play
        case "stop": return .stop
        case "tone": return .tone
        case "silence": return .silence
        default: throw fields.node.error(found: "the act '\(excerpt(word))'", expected: "play, stop or stall")
        }
    }

    private func place(_ fields: Fields) throws(FileError) -> Coordinate {
        Coordinate(
            latitude: try fields.required("latitude").number(in: -90...90, "degrees"),
            longitude: try fields.required("longitude").number(in: -180...180, "degrees")
        )
    }
}

extension YAMLNode {
    /// What a position of a switch means; `true` and `yes` are `on`, and `false` and `no` are `off`, as in YAML.
    fileprivate func position<Value>(
        _ what: String,
        _ positions: KeyValuePairs<String, Value>
    ) throws(FileError) -> Value {
        try word(what, among: positions.map(\.key)) { said in
            let word =
                switch said {
                case "true", "yes": "on"
                case "false", "no": "off"
                default: said
                }
            return positions.first { $0.key == word }?.value
        }
    }
}
