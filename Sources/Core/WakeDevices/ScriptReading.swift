import WakeModel

/// What the members of a scripted app's entry share.
struct ScriptReading {
    private let shared: ScriptedApp
    private let voip: YAMLNode?
    private let uses: [YAMLNode]
    private let devices: [ScenarioDevice]

    init(_ fields: Fields, devices: [ScenarioDevice]) throws(FileError) {
        self.devices = devices
        let modeNodes = try fields["modes"]?.list(expecting: "background modes", limit: 16) ?? []
        let modes = BackgroundModes(
            try modeNodes.map { (node) throws(FileError) in
                try node.word("background mode", among: BackgroundMode.allCases.map(\.plistValue)) {
                    BackgroundMode(plistValue: $0)
                }
            }
        )
        let restoreIdentifier = try fields["restore-identifier"]?.text(expecting: "a restore identifier")
        let exitsOnSuspend = try fields["exits-on-suspend"]?.bool() ?? false
        let sdk = try fields["sdk"].map { (node) throws(FileError) in try SDKVersion(node) } ?? .unknown
        let accessorySetup = try fields["accessory-setup"]?.bool() ?? false
        let scan = try fields["scan"].map { (node) throws(FileError) in try ScriptedApp.Scan(node) }
        let location = try fields["location"].map { (node) throws(FileError) in
            try ScriptedApp.LocationUse(node, modes: modes)
        }
        let audio = try fields["audio"].map { (node) throws(FileError) in try ScriptedApp.AudioUse(node) }
        let reactionNodes = try fields["on"]?.list(expecting: "reactions", limit: 64) ?? []
        let reactions = try reactionNodes.map { (node) throws(FileError) in try ScriptedApp.Reaction(node) }
        let peripheral = try fields["peripheral"].map { (node) throws(FileError) in try ScriptedPeripheral(node) }
        let accessory = try fields["accessory"].map { (node) throws(FileError) in
            try ScriptedApp.AccessoryUse(node)
        }
        voip = fields["voip"]
        uses = try fields["uses"]?.list(expecting: "uses", limit: ScenarioReading.memberLimit) ?? []
        shared = ScriptedApp(
            identifier: "",
            modes: modes,
            restoreIdentifier: restoreIdentifier,
            exitsOnSuspend: exitsOnSuspend,
            sdk: sdk,
            accessorySetup: accessorySetup,
            uses: [],
            scan: scan,
            reactions: reactions,
            location: location,
            accessory: accessory,
            peripheral: peripheral,
            audio: audio
        )
    }

    /// Member `number` of the entry; the names of what it uses are counted with it.
    func app(
        _ identifier: String,
        member number: Int,
        _ names: inout ScenarioRoster
    ) throws(FileError) -> ScriptedApp {
        var app = shared
        app.identifier = identifier
        app.uses = try uses(forMember: number, &names)
        app.voip = try voip(forMember: number, &names)
        return app
    }

    private func voip(forMember number: Int, _ names: inout ScenarioRoster) throws(FileError) -> ScriptedApp.VoIPUse? {
        guard let voip else { return nil }
        return try ScriptedApp.VoIPUse(voip, devices: devices) { (node) throws(FileError) in
            try names.resolve(node, forMember: number)
        }
    }

    private func uses(forMember number: Int, _ names: inout ScenarioRoster) throws(FileError) -> [ScriptedApp.Use] {
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
                _ = try devices[device].peripheral(for: nameNode)
                for (node, uuid) in uuids { try devices[device].checkNotifies(uuid, node) }
                found.append(ScriptedApp.Use(device: device, characteristics: uuids.map(\.1)))
            }
        }
        return found
    }
}

extension SDKVersion {
    fileprivate init(_ node: YAMLNode) throws(FileError) {
        let expected = "the version of an SDK such as 9.3"
        guard let version = SDKVersion(text: try node.text(expecting: expected)) else {
            throw node.error(expected: expected)
        }
        self = version
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
