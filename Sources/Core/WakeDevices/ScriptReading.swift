import WakeModel

/// The devices that one member of an app's entry may name.
struct MemberDevices {
    /// All of the scenario.
    let devices: [ScenarioDevice]
    /// The positions that a name means for the member.
    let resolve: (YAMLNode) throws(FileError) -> [Int]
}

extension ScriptedApp {
    /// Reads what the members of a scripted app's entry share.
    init(_ fields: Fields) throws(FileError) {
        let modes = try fields.list("modes", of: "background modes", limit: 16) { (node) throws(FileError) in
            try node.word("background mode", of: BackgroundMode.allCases, \.plistValue)
        }
        self.init(
            identifier: "",
            modes: BackgroundModes(modes),
            exitsOnSuspend: try fields["exits-on-suspend"]?.bool() ?? false,
            sdk: try fields.value("sdk", SDKVersion.init) ?? .unknown,
            reactions: try fields.list("on", of: "reactions", limit: 64, Reaction.init),
            areas: try AreaUses(fields, modes: BackgroundModes(modes))
        )
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
        then = try fields["then"]?.word("ending", of: ScriptedApp.Ending.allCases) { "\($0)" } ?? .nothing
        task = try fields.value("task") { (node) throws(FileError) in
            if try node.text(expecting: "a time or 'never'") == "never" { return .neverEnds }
            return .endsAfter(try node.duration())
        }
    }
}
