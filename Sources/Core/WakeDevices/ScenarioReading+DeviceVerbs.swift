import WakeModel

/// What a step of a scenario does to devices.
extension ScenarioReading {
    mutating func deviceVerb(_ key: String, _ value: YAMLNode, _ fields: Fields) throws(FileError) -> Verb {
        let devices = try deviceNames.resolve(value)
        switch key {
        case "disconnect":
            for device in devices { _ = try self.devices[device].peripheral(for: value) }
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
        case "attach", "detach":
            for device in devices { _ = try self.devices[device].accessory(for: value) }
            return .attach(devices: devices, key == "attach")
        case "send": return try send(devices, value, fields)
        case "voip":
            for device in devices { try self.devices[device].checkTakesCalls(value) }
            return .call(devices: devices, try CallAct(fields))
        case "out-of-range": return .range(devices: devices, inRange: false)
        case "in-range": return .range(devices: devices, inRange: true)
        case "arm":
            let node = try fields.required("fault")
            let fault = try node.text(expecting: "the name of a fault")
            for device in devices { try self.devices[device].checkFault(fault, node) }
            return .arm(devices: devices, fault: fault)
        default:
            let node = try fields.required("characteristic")
            let uuid = try node.uuid()
            for device in devices { try self.devices[device].checkNotifies(uuid, node) }
            return .notify(devices: devices, characteristic: uuid, value: try fields.required("value").hex())
        }
    }

    private func send(_ devices: [Int], _ node: YAMLNode, _ fields: Fields) throws(FileError) -> Verb {
        let name = try fields["protocol"]?.accessoryProtocol()
        for device in devices {
            let accessory = try self.devices[device].accessory(for: node)
            if let name, let node = fields["protocol"], !accessory.protocols.contains(where: { $0.name == name }) {
                let known = accessory.protocols.map(\.name)
                throw node.error(
                    found: "unknown protocol '\(name)' of \(self.devices[device].name)",
                    expected: suggestion(for: name, among: known)
                )
            }
        }
        guard let bytes = try fields.bytes() else {
            throw fields.node.error(found: "a step without 'text' or 'hex'", expected: "one of the two")
        }
        return .send(devices: devices, protocolName: name, value: bytes)
    }
}
