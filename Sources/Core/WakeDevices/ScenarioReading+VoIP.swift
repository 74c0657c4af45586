/// What a step does with calls.
extension ScenarioReading {
    static var callVerbs: [StepVerb] { [StepVerb("voip", ScenarioReading.call, beside: CallServer.Step.acts)] }

    private func call(_ step: StepEntry) throws(FileError) -> Verb {
        .call(devices: try devices(step, of: CallServer.self).map(\.position), try CallServer.Step(step.fields))
    }
}

extension DeviceFile {
    /// The call server that it is; nil for a device of another kind.
    package var callServer: CallServer? { device as? CallServer }
}
