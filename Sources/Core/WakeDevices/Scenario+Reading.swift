import Foundation
import WakeModel

/// Where a scenario's files are looked for.
package struct ScenarioFiles: Sendable {
    /// Whether there is a folder at a path.
    package var isFolder: @Sendable (String) -> Bool
    /// Whether there is a file at a path.
    package var isFile: @Sendable (String) -> Bool
    /// Folders to look in after the scenario's own.
    package var searchFolders: [String]

    /// The files of this machine.
    package init(searchFolders: [String] = []) {
        self.searchFolders = searchFolders
        isFolder = { path in
            var isFolder: ObjCBool = false
            return unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
        }
        isFile = { path in
            var isFolder: ObjCBool = false
            return unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
        }
    }

    /// The first place where the path names what is wanted: as it is when absolute, else beside the scenario, then in
    /// the search folders.
    fileprivate func find(
        _ node: YAMLNode,
        _ what: String,
        isThere: (String) -> Bool
    ) throws(FileError) -> String {
        let path = try node.text(expecting: "the path of a \(what)")
        if path.utf8.contains(0) { throw node.error(expected: "the path of a \(what)") }
        if path.hasPrefix("/") {
            if isThere(path) { return path }
            throw node.error(found: "no \(what) '\(excerpt(path))'", expected: "it there")
        }
        let folders = [folder(of: node.file)] + searchFolders
        for folder in folders {
            let candidate = folder == "." ? path : folder.hasSuffix("/") ? folder + path : folder + "/" + path
            if isThere(candidate) { return candidate }
        }
        throw node.error(
            found: "no \(what) '\(excerpt(path))'",
            expected: "it in \(folders.joined(separator: " or "))"
        )
    }

    private func folder(of file: String) -> String {
        guard let slash = file.lastIndex(of: "/") else { return "." }
        return slash == file.startIndex ? "/" : String(file[..<slash])
    }
}

extension Scenario {
    /// Reads a scenario and the device files that it names.
    ///
    /// - Throws: ``FileError`` with the line and what was expected.
    package static func load(file: String, searchFolders: [String] = []) throws(FileError) -> Scenario {
        try parse(try readFile(file), file: file, files: ScenarioFiles(searchFolders: searchFolders))
    }

    /// Reads the text of a scenario; `file` is for errors and for finding what lies beside it.
    package static func parse(
        _ bytes: [UInt8],
        file: String,
        files: ScenarioFiles = ScenarioFiles()
    ) throws(FileError) -> Scenario {
        var reading = ScenarioReading(files: files)
        return try reading.scenario(try YAMLReader.read(bytes, file: file))
    }
}

/// The most apps, and the most devices, of a scenario.
private let memberLimit = 10_000

/// How often the steps of a scenario may happen in all.
private let happeningLimit = 2_000_000

/// Reads a scenario top down: devices, then the apps that use them, then the steps and expectations that name both.
private struct ScenarioReading {
    let files: ScenarioFiles
    var appNames = ScenarioRoster(of: "app")
    var deviceNames = ScenarioRoster(of: "device")
    var apps: [ScenarioApp] = []
    var devices: [ScenarioDevice] = []

    init(files: ScenarioFiles) { self.files = files }

    mutating func scenario(_ root: YAMLNode) throws(FileError) -> Scenario {
        let fields = try Fields(
            root,
            of: "a scenario",
            keys: [
                "scenario", "profile", "seed", "backends", "phone", "voip", "audio", "apps", "devices", "steps", "expect",
                "until",
            ]
        )
        let name = try fields.required("scenario").text(expecting: "a name")
        for node in try fields["devices"]?.list(expecting: "devices") ?? [] { try addDevices(node) }
        for node in try fields.required("apps").list(expecting: "apps") { try addApps(node) }
        return Scenario(
            file: root.file,
            name: name,
            profile: try fields["profile"].map { (node) throws(FileError) in
                try node.word("profile", among: Profile.all.map(\.name)) { Profile.named($0) }
            },
            seed: try fields["seed"].map { (node) throws(FileError) in UInt64(try node.integer(in: 0...Int.max)) },
            backends: try backends(fields["backends"]),
            phone: try phone(fields["phone"]),
            voip: try VoIPSettings(fields["voip"]),
            apps: apps,
            devices: devices,
            steps: try steps(fields["steps"]),
            expectations: try expectations(fields["expect"]),
            until: try fields["until"]?.interval(),
            audio: try AudioSettings(fields["audio"])
        )
    }

    private func backends(_ node: YAMLNode?) throws(FileError) -> [BackendChoice] {
        guard let node else { return [] }
        let fields = try Fields(node, of: "backends", keys: Source.allCases.map(\.word))
        var choices: [BackendChoice] = []
        for key in fields.present {
            guard let source = Source(word: key), let value = fields[key] else { continue }
            let words = BackendChoice.words(for: source)
            let word = try value.word("\(key) backend", among: words) { word in
                word == "fake" ? "simulated" : words.contains(word) ? word : nil
            }
            choices.append(BackendChoice(source: source, word: word, line: value.line))
        }
        return choices
    }

    private func phone(_ node: YAMLNode?) throws(FileError) -> PhoneStart {
        var phone = PhoneStart()
        guard let node else { return phone }
        let fields = try Fields(node, of: "a phone", keys: ["passcode", "unlocked", "bluetooth"])
        phone.passcode = try fields["passcode"]?.bool() ?? phone.passcode
        phone.unlocked = try fields["unlocked"]?.bool() ?? phone.unlocked
        phone.bluetooth = try fields["bluetooth"]?.bool() ?? phone.bluetooth
        return phone
    }

    // MARK: Devices

    private mutating func addDevices(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "a device of a scenario", keys: ["file", "name", "count"])
        let fileNode = try fields.required("file")
        let path = try files.find(fileNode, "device file", isThere: files.isFile)
        let form = try DeviceFile.load(file: path)
        let count = try count(fields)
        let names = try deviceNames.add(fields["name"], default: stem(path), count: count, entry: fileNode)
        try checkTotal(devices.count + names.count, of: "devices", node)
        for (index, name) in names.enumerated() {
            devices.append(
                ScenarioDevice(
                    name: name,
                    group: count == nil ? name : String(name.prefix { $0 != "." }),
                    line: node.line,
                    form: form.copy(index + 1)
                )
            )
        }
    }

    private func count(_ fields: Fields) throws(FileError) -> Int? {
        try fields["count"]?.integer(in: 1...memberLimit)
    }

    private func checkTotal(_ total: Int, of what: String, _ node: YAMLNode) throws(FileError) {
        if total > memberLimit { throw node.error(found: "\(total) \(what)", expected: "at most \(memberLimit)") }
    }

    private func stem(_ path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        return String(name.prefix { $0 != "." })
    }

    // MARK: Apps

    private mutating func addApps(_ node: YAMLNode) throws(FileError) {
        let keys = [
            "bundle", "scripted", "name", "authorizations", "count", "peripheral", "modes", "restore-identifier",
            "exits-on-suspend", "uses", "scan", "location", "voip", "audio", "on",
        ]
        let fields = try Fields(node, of: "an app", keys: keys)
        let (form, value) = try fields.one(of: ["bundle", "scripted"], called: "a kind")
        let bluetooth = try BluetoothAuthorization(fields["authorizations"])
        let microphone = try MicrophonePermission(fields["authorizations"])
        let names: [String]
        if form == "bundle" {
            try fields.refuse(Array(keys.dropFirst(4)), beside: "bundle")
            let path = try files.find(value, "app bundle", isThere: files.isFolder)
            names = try appNames.add(fields["name"], default: stem(path), count: nil, entry: value)
            let app = ScenarioApp(
                name: names[0],
                group: names[0],
                line: node.line,
                form: .bundle(path),
                bluetoothAuthorization: bluetooth,
                microphone: microphone
            )
            apps.append(app)
        } else {
            let identifier = try bundleIdentifier(value)
            let count = try count(fields)
            let last = String(identifier.split(separator: ".").last ?? "")
            names = try appNames.add(fields["name"], default: last, count: count, entry: value)
            try checkTotal(apps.count + names.count, of: "apps", node)
            let script = try ScriptReading(fields, devices: devices)
            for (index, name) in names.enumerated() {
                let app = ScriptedApp(
                    identifier: count == nil ? identifier : "\(identifier).\(index + 1)",
                    modes: script.modes,
                    restoreIdentifier: script.restoreIdentifier,
                    exitsOnSuspend: script.exitsOnSuspend,
                    uses: try script.uses(forMember: index + 1, &deviceNames),
                    scan: script.scan,
                    reactions: script.reactions,
                    location: script.location,
                    peripheral: script.acting,
                    audio: script.audio,
                    voip: try script.voip(forMember: index + 1, &deviceNames)
                )
                let group = count == nil ? name : String(name.prefix { $0 != "." })
                apps.append(
                    ScenarioApp(
                        name: name,
                        group: group,
                        line: node.line,
                        form: .scripted(app),
                        bluetoothAuthorization: bluetooth,
                        microphone: microphone
                    )
                )
            }
        }
    }

    private func bundleIdentifier(_ node: YAMLNode) throws(FileError) -> String {
        let expected = "a bundle identifier such as com.example.heart"
        let text = try node.text(expecting: expected)
        let plain = text.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII
                && (Character(scalar).isLetter || Character(scalar).isNumber || scalar == "." || scalar == "-")
        }
        guard plain, (1...155).contains(text.utf8.count) else { throw node.error(expected: expected) }
        return text
    }

    // MARK: Steps

    private mutating func steps(_ node: YAMLNode?) throws(FileError) -> [Step] {
        guard let node else { return [] }
        var steps: [Step] = []
        var happenings = 0
        for node in try node.list(expecting: "steps") {
            let step = try step(node)
            happenings += step.times
            if happenings > happeningLimit {
                throw node.error(
                    found: "steps that happen \(happenings) times in all",
                    expected: "at most \(happeningLimit)"
                )
            }
            steps.append(step)
        }
        return steps
    }

    private static let subjects = [
        "launch", "foreground", "home", "force-quit", "interrupt", "resume-active", "terminate", "uninstall", "phone",
        "bluetooth", "notify", "disconnect", "out-of-range", "in-range", "arm", "enter", "exit", "position", "play",
        "arrive", "depart", "authorize", "voip", "note", "call", "plug", "unplug", "sound",
    ]

    /// What some of them need beside.
    private static let extras = [
        (verb: "terminate", value: ["cause"]), (verb: "notify", value: ["characteristic", "value"]),
        (verb: "arm", value: ["fault"]), (verb: "authorize", value: ["location", "microphone"]),
        (verb: "voip", value: CallAct.keys), (verb: "sound", value: ["do", "for"]),
    ]

    private mutating func step(_ node: YAMLNode) throws(FileError) -> Step {
        let triggers = ["at", "after", "when"]
        let rest = ["within", "every", "times"] + Self.extras.flatMap(\.value)
        let fields = try Fields(node, of: "a step", keys: triggers + Self.subjects + rest)
        let (key, value) = try fields.one(of: triggers, called: "a time")
        let trigger: Step.Trigger
        switch key {
        case "at": trigger = .at(try value.duration())
        case "after": trigger = .after(try value.duration())
        default: trigger = .when(try condition(value), within: try fields["within"]?.interval() ?? .seconds(60))
        }
        if key != "when" { try fields.refuse(["within"], beside: key) }
        let (times, every) = try repetition(fields)
        return Step(line: node.line, trigger: trigger, times: times, every: every, verb: try verb(fields))
    }

    private func repetition(_ fields: Fields) throws(FileError) -> (times: Int, every: Instant.Span) {
        guard let node = fields["every"] else {
            if let node = fields["times"] {
                throw node.error(found: "'times' without 'every'", expected: "the time between them")
            }
            return (1, .zero)
        }
        let every = try node.interval()
        return (try fields.required("times").integer(in: 1...happeningLimit), every)
    }

    private mutating func condition(_ node: YAMLNode) throws(FileError) -> Step.Condition {
        let fields = try Fields(
            node,
            of: "a condition",
            keys: ["app", "verdict", "reason", "kind", "rule", "count", "state"]
        )
        let apps = try appNames.resolve(try fields.required("app"))
        if let state = fields["state"] {
            try fields.refuse(["verdict", "reason", "kind", "rule", "count"], beside: "state")
            return .state(apps: apps, try appState(state))
        }
        let count = try fields["count"]?.integer(in: 1...10_000_000) ?? 1
        return .decisions(apps: apps, try filter(fields, of: "a condition"), count: count)
    }

    private func filter(_ fields: Fields, of what: String) throws(FileError) -> DecisionFilter {
        let filter = DecisionFilter(
            verdict: try fields["verdict"].map { (node) throws(FileError) in
                try node.word("verdict", among: Verdict.allCases.map(\.word)) { Verdict(word: $0) }
            },
            reason: try fields["reason"].map { (node) throws(FileError) in
                try node.word("reason", among: Reason.allCases.map(\.word)) { Reason(word: $0) }
            },
            kind: try fields["kind"].map { (node) throws(FileError) in
                try node.word("kind of event", among: EventKind.allCases.map(\.word)) { EventKind(word: $0) }
            },
            rule: try fields["rule"].map { (node) throws(FileError) in
                try node.word("rule", among: RuleID.allCases.map(\.text)) { RuleID(text: $0) }
            }
        )
        if filter == DecisionFilter() {
            throw fields.node.error(found: "\(what) about nothing", expected: "a verdict, reason, kind, rule or state")
        }
        return filter
    }

    private func appState(_ node: YAMLNode) throws(FileError) -> AppState {
        try node.word("state", among: AppState.allCases.map(\.fileWord)) { word in
            AppState.allCases.first { $0.fileWord == word }
        }
    }

    private func cause(_ node: YAMLNode, among causes: [ExitCause]) throws(FileError) -> ExitCause {
        try node.word("cause", among: causes.map(\.word)) { word in causes.first { $0.word == word } }
    }

    private mutating func verb(_ fields: Fields) throws(FileError) -> Verb {
        let (key, value) = try fields.one(of: Self.subjects, called: "something to do")
        for (verb, extras) in Self.extras where verb != key { try fields.refuse(extras, beside: key) }
        if let action = userAction(key) { return .user(apps: try appNames.resolve(value), action) }
        switch key {
        case "terminate":
            let causes: [ExitCause] = [.memory, .cpu, .watchdog, .policy, .system, .update, .crash]
            let cause = try fields["cause"].map { (node) throws(FileError) -> ExitCause in
                try self.cause(node, among: causes)
            }
            return .terminate(apps: try appNames.resolve(value), cause ?? .memory)
        case "uninstall": return .uninstall(apps: try appNames.resolve(value))
        case "phone":
            return .phone(
                try value.word("change of the phone", among: PhoneChange.allCases.map(\.fileWord)) { word in
                    PhoneChange.allCases.first { $0.fileWord == word }
                }
            )
        case "bluetooth": return .bluetooth(on: try value.bool())
        case "note": return .note(try value.text(expecting: "a line of text"))
        case "enter", "exit":
            return .cross(region: try value.text(expecting: "the identifier of a region"), inwards: key == "enter")
        case "position":
            let fields = try Fields(value, of: "a position", keys: ["latitude", "longitude", "accuracy"])
            return .position(try place(fields), accuracy: try fields["accuracy"]?.metres(in: 0...100_000) ?? 5)
        case "arrive", "depart":
            let fields = try Fields(value, of: "a place", keys: ["latitude", "longitude"])
            return .visit(try place(fields), departs: key == "depart")
        case "call":
            return .phone(
                try value.word("change of a call", among: ["begin", "end"]) { word -> PhoneChange? in
                    word == "begin" ? .callBegan : word == "end" ? .callEnded : nil
                }
            )
        case "sound": return .sound(apps: try scriptedApps(value), try soundAct(fields))
        case "authorize":
            if let microphone = fields["microphone"] {
                try fields.refuse(["location"], beside: "microphone")
                let words = [MicrophonePermission.granted, .denied].map(\.word)
                let answer = try microphone.word("permission", among: words) { MicrophonePermission(word: $0) }
                return .microphone(apps: try appNames.resolve(value), granted: answer == .granted)
            }
            let words = LocationAuthorization.allCases.map(\.word)
            let answer = try fields.required("location").word("authorization", among: words) {
                LocationAuthorization(word: $0)
            }
            return .authorize(apps: try appNames.resolve(value), answer)
        default: return try deviceVerb(key, value, fields)
        }
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

    private mutating func deviceVerb(_ key: String, _ value: YAMLNode, _ fields: Fields) throws(FileError) -> Verb {
        let devices = try deviceNames.resolve(value)
        switch key {
        case "disconnect":
            for device in devices { _ = try peripheral(self.devices[device], value) }
            return .disconnect(devices: devices)
        case "play":
            guard devices.count == 1, self.devices[devices[0]].track != nil else {
                throw value.error(expected: "the name of one device of kind \(LocationTrack.kind)")
            }
            return .play(device: devices[0])
        case "plug", "unplug":
            for device in devices where self.devices[device].audio == nil {
                throw value.error(
                    found: "'\(self.devices[device].name)'",
                    expected: "a device of kind \(AudioDevice.kind)"
                )
            }
            return .plug(devices: devices, plugged: key == "plug")
        case "voip":
            for device in devices where self.devices[device].form.callServer == nil {
                throw value.error(
                    found: "'\(self.devices[device].name)', which takes no calls",
                    expected: "a device of kind \(CallServer.kind)"
                )
            }
            return .call(devices: devices, try CallAct(fields))
        case "out-of-range": return .range(devices: devices, inRange: false)
        case "in-range": return .range(devices: devices, inRange: true)
        case "arm":
            let node = try fields.required("fault")
            let fault = try node.text(expecting: "the name of a fault")
            for device in devices { try check(fault, of: self.devices[device], node) }
            return .arm(devices: devices, fault: fault)
        default:
            let node = try fields.required("characteristic")
            let uuid = try node.uuid()
            for device in devices { try checkNotifying(uuid, of: self.devices[device], node) }
            return .notify(devices: devices, characteristic: uuid, value: try fields.required("value").hex())
        }
    }

    private func check(_ fault: String, of device: ScenarioDevice, _ node: YAMLNode) throws(FileError) {
        let known = device.form.faults
        if known.contains(fault) { return }
        throw node.error(
            found: "unknown fault '\(excerpt(fault))' of \(device.name)",
            expected: known.isEmpty
                ? "an entry under faults in \(device.form.file)" : suggestion(for: fault, among: known)
        )
    }

    // MARK: Expectations

    private mutating func expectations(_ node: YAMLNode?) throws(FileError) -> [Expectation] {
        guard let node else { return [] }
        var expectations: [Expectation] = []
        for node in try node.list(expecting: "expectations") { expectations.append(try expectation(node)) }
        return expectations
    }

    private mutating func expectation(_ node: YAMLNode) throws(FileError) -> Expectation {
        let counts = ["count", "at-least", "at-most"]
        let filters = ["verdict", "reason", "kind", "rule"]
        let fields = try Fields(
            node,
            of: "an expectation",
            keys: ["app", "state", "exits", "cause"] + filters + counts
        )
        let apps = try appNames.resolve(try fields.required("app"))
        let subject: Expectation.Subject
        if let state = fields["state"] {
            try fields.refuse(filters + counts + ["exits", "cause"], beside: "state")
            subject = .state(try appState(state))
        } else if let exits = fields["exits"] {
            try fields.refuse(filters + counts, beside: "exits")
            let number = try exits.integer(in: 0...10_000_000)
            let cause = try fields["cause"].map { (node) throws(FileError) -> ExitCause in
                try self.cause(node, among: ExitCause.allCases)
            }
            subject = .exits(cause, Expectation.Count(atLeast: number, atMost: number))
        } else {
            try fields.refuse(["cause"], beside: "a decision")
            subject = .decisions(try filter(fields, of: "an expectation"), try count(of: fields))
        }
        return Expectation(line: node.line, apps: apps, subject: subject)
    }

    private func count(of fields: Fields) throws(FileError) -> Expectation.Count {
        let range = 0...1_000_000_000
        if let node = fields["count"] {
            try fields.refuse(["at-least", "at-most"], beside: "count")
            let number = try node.integer(in: range)
            return Expectation.Count(atLeast: number, atMost: number)
        }
        let most = try fields["at-most"]?.integer(in: range)
        let least = try fields["at-least"]?.integer(in: range) ?? (most == nil ? 1 : 0)
        if let most, let node = fields["at-most"], most < least {
            throw node.error(found: "at-most \(most) below at-least \(least)", expected: "at least \(least)")
        }
        return Expectation.Count(atLeast: least, atMost: most)
    }
}

/// What the members of a scripted app's entry share.
private struct ScriptReading {
    let modes: BackgroundModes
    let restoreIdentifier: String?
    let exitsOnSuspend: Bool
    let scan: ScriptedApp.Scan?
    let reactions: [ScriptedApp.Reaction]
    let location: ScriptedApp.LocationUse?
    let acting: ScriptedPeripheral?
    let audio: ScriptedApp.AudioUse?
    private let voip: YAMLNode?
    private let uses: [YAMLNode]
    private let devices: [ScenarioDevice]

    init(_ fields: Fields, devices: [ScenarioDevice]) throws(FileError) {
        self.devices = devices
        let modeNodes = try fields["modes"]?.list(expecting: "background modes", limit: 16) ?? []
        modes = BackgroundModes(
            try modeNodes.map { (node) throws(FileError) in
                try node.word("background mode", among: BackgroundMode.allCases.map(\.plistValue)) {
                    BackgroundMode(plistValue: $0)
                }
            }
        )
        restoreIdentifier = try fields["restore-identifier"]?.text(expecting: "a restore identifier")
        exitsOnSuspend = try fields["exits-on-suspend"]?.bool() ?? false
        scan = try fields["scan"].map { (node) throws(FileError) in try ScriptedApp.Scan(node) }
        let modes = modes
        location = try fields["location"].map { (node) throws(FileError) in
            try ScriptedApp.LocationUse(node, modes: modes)
        }
        audio = try fields["audio"].map { (node) throws(FileError) in try ScriptedApp.AudioUse(node) }
        let reactionNodes = try fields["on"]?.list(expecting: "reactions", limit: 64) ?? []
        reactions = try reactionNodes.map { (node) throws(FileError) in try ScriptedApp.Reaction(node) }
        acting = try fields["peripheral"].map { (node) throws(FileError) in try ScriptedPeripheral(node) }
        voip = fields["voip"]
        uses = try fields["uses"]?.list(expecting: "uses", limit: memberLimit) ?? []
    }

    func voip(forMember number: Int, _ names: inout ScenarioRoster) throws(FileError) -> ScriptedApp.VoIPUse? {
        guard let voip else { return nil }
        return try ScriptedApp.VoIPUse(voip, devices: devices) { (node) throws(FileError) in
            try names.resolve(node, forMember: number)
        }
    }

    func uses(forMember number: Int, _ names: inout ScenarioRoster) throws(FileError) -> [ScriptedApp.Use] {
        var found: [ScriptedApp.Use] = []
        for node in uses {
            let fields = try Fields(node, of: "a use", keys: ["device", "characteristic"])
            let characteristics: [YAMLNode]
            switch fields["characteristic"] {
            case .none: characteristics = []
            case .some(let node):
                if case .sequence(let nodes) = node.content {
                    characteristics = nodes
                } else {
                    characteristics = [node]
                }
            }
            let uuids = try characteristics.map { (node) throws(FileError) -> (YAMLNode, String) in
                (node, try node.uuid())
            }
            let nameNode = try fields.required("device")
            for device in try names.resolve(nameNode, forMember: number) {
                _ = try peripheral(devices[device], nameNode)
                for (node, uuid) in uuids { try checkNotifying(uuid, of: devices[device], node) }
                found.append(ScriptedApp.Use(device: device, characteristics: uuids.map(\.1)))
            }
        }
        return found
    }
}

extension BluetoothAuthorization {
    /// Reads the `authorizations` of an app; what they leave out is allowed.
    fileprivate init(_ node: YAMLNode?) throws(FileError) {
        self = .allowed
        guard let node else { return }
        let fields = try Fields(node, of: "authorizations", keys: authorizations)
        guard let answer = fields["bluetooth"] else { return }
        let words = BluetoothAuthorization.allCases.map(\.word)
        self = try answer.word("authorization", among: words) { BluetoothAuthorization(word: $0) }
    }
}

/// What `authorizations` may name.
private let authorizations = ["bluetooth", "microphone"]

extension MicrophonePermission {
    /// Reads the `authorizations` of an app; what they leave out is not decided yet.
    fileprivate init(_ node: YAMLNode?) throws(FileError) {
        self = .undetermined
        guard let node else { return }
        let fields = try Fields(node, of: "authorizations", keys: authorizations)
        guard let answer = fields["microphone"] else { return }
        self = try answer.word("permission", among: Self.allCases.map(\.word)) { MicrophonePermission(word: $0) }
    }
}

extension AudioSettings {
    /// Reads the key `audio` of a scenario.
    fileprivate init(_ node: YAMLNode?) throws(FileError) {
        self.init()
        guard let node else { return }
        let fields = try Fields(node, of: "settings of sound", keys: ["silence-limit", "relaunches"])
        if let limit = fields["silence-limit"] {
            if case .scalar("off", _) = limit.content {
                silenceLimit = .some(nil)
            } else {
                silenceLimit = .some(try limit.interval())
            }
        }
        relaunches = try fields["relaunches"]?.bool()
    }
}

extension ScriptedApp.Scan {
    fileprivate init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "a scan", keys: ["services", "duplicates", "connect"])
        services = try fields["services"]?.uuids() ?? []
        allowDuplicates = try fields["duplicates"]?.bool() ?? false
        connects = try fields["connect"]?.bool() ?? false
    }
}

extension ScriptedApp.Reaction {
    fileprivate init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "a reaction", keys: ["event", "work", "then", "task"])
        let words = ["any", "launch"] + EventKind.allCases.map(\.word) + LifecycleCallback.allCases.map(\.word)
        trigger = try fields.required("event").word("event", among: words) { word in
            switch word {
            case "any": .anyEvent
            case "launch": .launch
            default:
                EventKind(word: word).map { .event($0) } ?? LifecycleCallback(word: word).map { .callback($0) }
            }
        }
        work = try fields["work"]?.duration() ?? .zero
        let endings = ScriptedApp.Ending.allCases
        then =
            try fields["then"].map { (node) throws(FileError) in
                try node.word("ending", among: endings.map(\.word)) { word in endings.first { $0.word == word } }
            } ?? .nothing
        task = try fields["task"].map { (node) throws(FileError) in
            if try node.text(expecting: "a time or 'never'") == "never" { return .neverEnds }
            return .endsAfter(try node.duration())
        }
    }
}

/// The peripheral that a device is.
private func peripheral(_ device: ScenarioDevice, _ node: YAMLNode) throws(FileError) -> BluetoothPeripheral {
    guard let peripheral = device.peripheral else {
        throw node.error(
            found: "'\(device.name)', which has no connections",
            expected: "a device of kind bluetooth-peripheral"
        )
    }
    return peripheral
}

private func checkNotifying(_ uuid: String, of device: ScenarioDevice, _ node: YAMLNode) throws(FileError) {
    let peripheral = try peripheral(device, node)
    let all = peripheral.services.flatMap(\.characteristics)
    if all.contains(where: { $0.uuid == uuid && $0.properties.canNotify }) { return }
    let known = all.filter(\.properties.canNotify).map(\.uuid)
    throw node.error(
        found: all.contains { $0.uuid == uuid }
            ? "characteristic \(uuid) of \(device.name), which does not notify"
            : "unknown characteristic \(uuid) of \(device.name)",
        expected: known.isEmpty
            ? "one with notify in \(peripheral.file)" : suggestion(for: uuid, among: known)
    )
}

extension AppState {
    /// The word used in scenarios.
    package var fileWord: String {
        switch self {
        case .notRunning: "not-running"
        case .inactive: "inactive"
        case .active: "active"
        case .background: "background"
        case .suspended: "suspended"
        }
    }
}

extension PhoneChange {
    /// The word used in scenarios.
    package var fileWord: String {
        switch self {
        case .lock: "lock"
        case .unlock: "unlock"
        case .reboot: "reboot"
        case .setPasscode: "set-passcode"
        case .removePasscode: "remove-passcode"
        case .displayOn: "display-on"
        case .callBegan: "call-began"
        case .callEnded: "call-ended"
        }
    }
}
