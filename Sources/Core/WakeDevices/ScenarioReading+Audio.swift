import WakeModel

/// What a step does with sound.
extension ScenarioReading {
    static var soundVerbs: [StepVerb] {
        [
            StepVerb("plug", ScenarioReading.plug), StepVerb("unplug", ScenarioReading.plug),
            StepVerb("sound", ScenarioReading.sound, beside: ["do", "for", "interruption"]),
        ]
    }

    private func plug(_ step: StepEntry) throws(FileError) -> Verb {
        .plug(devices: try devices(step, of: AudioDevice.self).map(\.position), plugged: step.word == "plug")
    }

    private func sound(_ step: StepEntry) throws(FileError) -> Verb {
        let apps = try scripts(step, bundlesToo: false, "a scripted app with 'audio'") { $0.audio != nil }
        return .sound(apps: apps, try act(step.fields))
    }

    private func act(_ fields: Fields) throws(FileError) -> ScriptedApp.SoundAct {
        let acts: KeyValuePairs<String, ScriptedApp.SoundAct?> = [
            "play": .play, "stop": .stop, "tone": .tone, "silence": .silence, "stall": nil,
        ]
        let (word, act) = try fields.required("do").word("act", of: Array(acts), \.key)
        if act != .stop { try fields.refuse(["interruption"], beside: word) }
        guard let act else { return .stall(try fields.required("for").interval()) }
        try fields.refuse(["for"], beside: word)
        return try fields.value("interruption", Self.endOfSound) ?? act
    }

    /// What apps hear whose sound was interrupted by that which stops (AUD-6).
    private static func endOfSound(_ node: YAMLNode) throws(FileError) -> ScriptedApp.SoundAct {
        let ends: KeyValuePairs<String, ScriptedApp.SoundAct> = ["resume": .stop, "never": .stopUntold]
        return try node.word("end of an interruption", of: Array(ends), \.key).value
    }

    static func microphone(_ answer: YAMLNode, _ apps: [Int]) throws(FileError) -> Verb {
        let answers: [MicrophonePermission] = [.granted, .denied]
        return .microphone(apps: apps, granted: try answer.word("permission", of: answers, \.word) == .granted)
    }
}

extension ScenarioDevice {
    /// The sound device that it is; nil for a device of another kind.
    package var audio: AudioDevice? { form.device as? AudioDevice }
}
