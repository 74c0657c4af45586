import WakeModel

/// What a step does with accessories.
extension ScenarioReading {
    static var accessoryVerbs: [StepVerb] {
        [
            StepVerb("set-up", ScenarioReading.setUp, beside: ["device"]), StepVerb("attach", ScenarioReading.attach),
            StepVerb("detach", ScenarioReading.attach),
            StepVerb("send", ScenarioReading.send, beside: ["protocol", "text", "hex"]),
        ]
    }

    /// Of an app with a bundle, Info.plist says whether it may be: that is read when the run begins.
    private func setUp(_ step: StepEntry) throws(FileError) -> Verb {
        let expected = "an app with 'accessory-setup: true'"
        let apps = try scripts(step, bundlesToo: true, expected, where: \.accessorySetup)
        let name = try step.fields.required("device")
        let positions = try deviceNames.resolve(name)
        for position in positions { _ = try devices[position].need(BluetoothPeripheral.self, for: name) }
        return .setUp(apps: apps, devices: positions)
    }

    private func attach(_ step: StepEntry) throws(FileError) -> Verb {
        .attach(devices: try devices(step, of: ExternalAccessory.self).map(\.position), step.word == "attach")
    }

    private func send(_ step: StepEntry) throws(FileError) -> Verb {
        let found = try devices(step, of: ExternalAccessory.self)
        let name = try step.fields["protocol"]?.accessoryProtocol()
        if let name, let node = step.fields["protocol"] {
            for (position, accessory) in found where !accessory.protocols.contains(where: { $0.name == name }) {
                throw node.error(
                    found: "unknown protocol '\(name)' of \(devices[position].name)",
                    expected: suggestion(for: name, among: accessory.protocols.map(\.name))
                )
            }
        }
        guard let bytes = try step.fields.bytes() else {
            throw step.fields.node.error(found: "a step without 'text' or 'hex'", expected: "one of the two")
        }
        return .send(devices: found.map(\.position), protocolName: name, value: bytes)
    }
}

extension ScenarioDevice {
    /// The accessory that it is; nil for a device of another kind.
    package var accessory: ExternalAccessory? { form.device as? ExternalAccessory }
}
