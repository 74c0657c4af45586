import WakeBus

/// The objects that bluetoothd reads and calls.
extension BlueZServer {
    /// One attribute of a service, by its object.
    private enum Attribute {
        case service
        case characteristic(BlueZLocalService.Characteristic)
        case descriptor(BlueZLocalService.Descriptor)
    }

    /// Answers a call to an exported object; false for one that is not known.
    func answer(_ call: IncomingCall) -> Bool {
        // The bus lets others of the same user call in; what they are told is theirs to know anyway, but nothing of what
        // they say is believed.
        guard call.sender == adapter.owner || call.interface == BlueZName.properties else { return false }
        if call.interface == BlueZName.advertisement || call.path.hasPrefix(BlueZServerMachine.root + "/advertisement")
        {
            return answerAdvertisement(call)
        }
        guard let entry = machine.entries.first(where: { within(call.path, $0.path) }) else {
            return false
        }
        switch (call.interface, call.member) {
        case (BlueZName.objectManager, "GetManagedObjects"): call.reply([objects(of: entry)])
        case (BlueZName.properties, "GetAll"):
            guard let all = description(of: call.path, in: entry)?.properties else { return false }
            call.reply([.properties(all)])
        case (BlueZName.properties, "Get"):
            let all = description(of: call.path, in: entry)?.properties ?? []
            guard call.arguments.count == 2, let value = all.first(where: { $0.0 == call.arguments[1].text })?.1
            else { return false }
            call.reply([.variant(value)])
        case (BlueZName.properties, "Set"):
            if call.sender == adapter.owner, call.arguments.count == 3, call.arguments[1].text == "Handle",
                case .service? = attribute(call.path, in: entry), let handle = call.arguments[2].integer
            {
                setHandle(UInt16(clamping: handle), of: entry.service.number)
            }
            call.reply()
        case (BlueZName.characteristic, _), (BlueZName.descriptor, _):
            guard let attribute = attribute(call.path, in: entry) else { return false }
            return answer(call, to: attribute, serving: entry.isServing)
        default: return false
        }
        return true
    }

    private func within(_ path: String, _ root: String) -> Bool { path == root || path.hasPrefix(root + "/") }

    private func answerAdvertisement(_ call: IncomingCall) -> Bool {
        switch (call.interface, call.member) {
        case (BlueZName.properties, "GetAll"):
            guard let all = machine.advertisement(call.path)?.properties else { return false }
            call.reply([.properties(all)])
        case (BlueZName.properties, "Get"):
            guard call.arguments.count == 2,
                let value = machine.advertisement(call.path)?.properties.first(where: {
                    $0.0 == call.arguments[1].text
                })?.1
            else { return false }
            call.reply([.variant(value)])
        case (BlueZName.advertisement, "Release"):
            call.reply()
            advertisementReleased(call.path)
        default: return false
        }
        return true
    }

    // MARK: What they are

    private func objects(of entry: BlueZServerMachine.Entry) -> BusValue {
        var paths = [entry.path]
        for (number, characteristic) in entry.service.characteristics.enumerated() {
            let path = "\(paths[0])/char\(number)"
            paths.append(path)
            for index in characteristic.descriptors.indices { paths.append("\(path)/desc\(index)") }
        }
        let entries = paths.compactMap { path in
            description(of: path, in: entry).map { described in
                let interface = BusEntry(.string(described.interface), .properties(described.properties))
                return BusEntry(.objectPath(path), .dictionary([interface], key: "s", value: "a{sv}"))
            }
        }
        return .dictionary(entries, key: "o", value: "a{sa{sv}}")
    }

    private func description(
        of path: String,
        in entry: BlueZServerMachine.Entry
    ) -> (interface: String, properties: [(String, BusValue)])? {
        switch attribute(path, in: entry) {
        case .service:
            // A handle that was given before is asked for again; 0 leaves the choice to bluetoothd, which then says it.
            let properties: [(String, BusValue)] = [
                ("UUID", .string(entry.service.uuid)), ("Primary", .bool(entry.service.primary)),
                ("Handle", .uint16(entry.handle)),
            ]
            return (BlueZName.service, properties)
        case .characteristic(let characteristic):
            var properties: [(String, BusValue)] = [
                ("UUID", .string(characteristic.uuid)), ("Flags", .strings(characteristic.flags)),
                ("Service", .objectPath(BlueZAttributes.parent(path))),
            ]
            // That the property exists makes bluetoothd call AcquireNotify for each central that subscribes, which says
            // who it is and with what MTU; StartNotify, to which it then falls back, says neither.
            if ["notify", "indicate"].contains(where: characteristic.flags.contains) {
                properties.append(("NotifyAcquired", .bool(false)))
            }
            return (BlueZName.characteristic, properties)
        case .descriptor(let descriptor):
            let properties: [(String, BusValue)] = [
                ("UUID", .string(descriptor.uuid)), ("Flags", .strings(["read"])),
                ("Characteristic", .objectPath(BlueZAttributes.parent(path))),
            ]
            return (BlueZName.descriptor, properties)
        case nil: return nil
        }
    }

    private func attribute(_ path: String, in entry: BlueZServerMachine.Entry) -> Attribute? {
        let parts = path.dropFirst(entry.path.utf8.count).split(separator: "/")
        guard let first = parts.first else { return .service }
        guard first.hasPrefix("char"), let number = Int(first.dropFirst(4)),
            entry.service.characteristics.indices.contains(number)
        else { return nil }
        let characteristic = entry.service.characteristics[number]
        if parts.count == 1 { return .characteristic(characteristic) }
        guard parts.count == 2, parts[1].hasPrefix("desc"), let index = Int(parts[1].dropFirst(4)),
            characteristic.descriptors.indices.contains(index)
        else { return nil }
        return .descriptor(characteristic.descriptors[index])
    }

    /// The object of a characteristic; nil when none such is offered.
    func object(of characteristic: UInt32) -> (path: String, BlueZLocalService.Characteristic)? {
        for entry in machine.entries {
            if let index = entry.service.characteristics.firstIndex(where: { $0.number == characteristic }) {
                let path = "\(entry.path)/char\(index)"
                return (path, entry.service.characteristics[index])
            }
        }
        return nil
    }

    // MARK: What is asked of them

    private func answer(_ call: IncomingCall, to attribute: Attribute, serving: Bool) -> Bool {
        switch (attribute, call.member) {
        case (.characteristic(let characteristic), "ReadValue") where !serving && characteristic.value != nil:
            call.fail(BlueZAttributeError.error(BlueZAttributeError.unlikely))
        case (.descriptor, "ReadValue") where !serving:
            call.fail(BlueZAttributeError.error(BlueZAttributeError.unlikely))
        case (.characteristic(let characteristic), "ReadValue"): read(call, characteristic)
        case (.characteristic(let characteristic), "WriteValue"): write(call, characteristic)
        case (.characteristic(let characteristic), "AcquireNotify"): acquireNotify(call, characteristic)
        case (.characteristic(let characteristic), "StartNotify"): startNotify(call, characteristic)
        case (.characteristic(let characteristic), "StopNotify"): stopNotify(call, characteristic)
        case (.characteristic(let characteristic), "Confirm"):
            call.reply()
            confirmed(characteristic)
        case (.descriptor(let descriptor), "ReadValue"):
            replyPart(of: descriptor.value, to: call)
        default: return false
        }
        return true
    }
}
