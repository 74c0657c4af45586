import WakeModel

/// What a scenario says of the bench and the phone.
extension ScenarioReading {
    func backends(_ node: YAMLNode?) throws(FileError) -> [BackendChoice] {
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

    func phone(_ node: YAMLNode?) throws(FileError) -> PhoneStart {
        var phone = PhoneStart()
        guard let node else { return phone }
        let fields = try Fields(node, of: "a phone", keys: ["passcode", "unlocked", "bluetooth"])
        phone.passcode = try fields["passcode"]?.bool() ?? phone.passcode
        phone.unlocked = try fields["unlocked"]?.bool() ?? phone.unlocked
        phone.bluetooth = try fields["bluetooth"]?.bool() ?? phone.bluetooth
        return phone
    }
}

extension AudioSettings {
    /// Reads the key `audio` of a scenario.
    init(_ node: YAMLNode?) throws(FileError) {
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

extension VoIPSettings {
    /// Reads the key `voip` of a scenario.
    init(_ node: YAMLNode?) throws(FileError) {
        self.init()
        guard let node else { return }
        let fields = try Fields(node, of: "settings of VoIP", keys: ["legacySockets", "wakeLimit", "connectionsLast"])
        legacySockets = try fields["legacySockets"]?.bool()
        wakeLimit = try fields["wakeLimit"]?.bool()
        connectionsLast = try fields["connectionsLast"]?.interval()
    }
}
