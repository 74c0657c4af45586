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

    /// What of the phone's conditions a scenario says at its start, with what turns it on and off.
    private static let conditions: KeyValuePairs<String, (on: PhoneChange, off: PhoneChange)> = [
        "charger": (.chargerConnected, .chargerDisconnected), "wifi": (.wifiJoined, .wifiLeft),
        "cellular": (.cellularOn, .cellularOff), "low-power-mode": (.lowPowerModeOn, .lowPowerModeOff),
        "background-refresh": (.backgroundRefreshOn, .backgroundRefreshOff), "display": (.displayOn, .displayOff),
    ]

    func phone(_ node: YAMLNode?) throws(FileError) -> PhoneStart {
        var phone = PhoneStart()
        guard let node else { return phone }
        let keys = ["passcode", "unlocked", "date"] + Self.conditions.map(\.key) + AreaSwitches.keys
        let fields = try Fields(node, of: "a phone", keys: keys)
        phone.passcode = try fields["passcode"]?.bool() ?? phone.passcode
        phone.unlocked = try fields["unlocked"]?.bool() ?? phone.unlocked
        phone.switches = try AreaSwitches(fields)
        for (key, (on, off)) in Self.conditions {
            if let node = fields[key] { phone.conditions = phone.conditions.after(try node.bool() ? on : off) }
        }
        phone.date = try fields.value("date", RunDate.init(_:))
        return phone
    }

    /// What the scenario sets of the profile: the key `settings`, and a key for those whose names begin so. A name with a dot
    /// may also be written as a mapping in a mapping.
    func settings(_ fields: Fields) throws(FileError) -> [SettingChange] {
        var changes: [SettingChange] = []
        if let node = fields["settings"] { try readSettings(node, prefix: "", into: &changes) }
        for prefix in Self.settingPrefixes {
            if let node = fields[prefix] { try readSettings(node, prefix: prefix + ".", into: &changes) }
        }
        return changes
    }

    private func readSettings(
        _ node: YAMLNode,
        prefix: String,
        into changes: inout [SettingChange]
    ) throws(FileError) {
        guard case .mapping(let entries) = node.content else {
            throw node.error(expected: "a mapping, settings such as wakeWindow: first")
        }
        for entry in entries {
            let name = prefix + entry.key
            if case .mapping = entry.value.content, ProfileSetting.named(name) == nil {
                try readSettings(entry.value, prefix: name + ".", into: &changes)
                continue
            }
            guard let setting = ProfileSetting.named(name) else {
                throw entry.error(
                    found: "unknown setting '\(excerpt(name))'",
                    expected: nearest(to: name, among: ProfileSetting.all.map(\.name))
                        ?? "one that 'wakebench rules --settings' lists"
                )
            }
            let expected = SettingText.expected(of: setting)
            guard let change = SettingText.change(setting, to: try entry.value.text(expecting: expected)) else {
                throw entry.value.error(expected: expected)
            }
            if changes.contains(where: { $0.name == name }) {
                throw entry.value.error(found: "'\(name)' again", expected: "each setting once")
            }
            changes.append(change)
        }
    }
}
