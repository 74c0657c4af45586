import WakeModel

/// What a step does to the radio and to what is on it.
extension ScenarioReading {
    static var bluetoothVerbs: [StepVerb] {
        [
            StepVerb("bluetooth", ScenarioReading.power), StepVerb("airplane-mode", ScenarioReading.airplaneMode),
            StepVerb("notify", ScenarioReading.notify, beside: ["characteristic", "value"]),
            StepVerb("connect", ScenarioReading.connect, beside: ["service"]),
            StepVerb("read", ScenarioReading.read, beside: ["characteristic"]),
            StepVerb("write", ScenarioReading.write, beside: ["characteristic", "value", "how"]),
            StepVerb("subscribe", ScenarioReading.subscribe, beside: ["characteristic", "indications"]),
            StepVerb("disconnect", ScenarioReading.disconnect),
            StepVerb("forget-attributes", ScenarioReading.forgetAttributes),
        ]
    }

    private func power(_ step: StepEntry) throws(FileError) -> Verb {
        let changes: [PhoneChange] = [.bluetoothOn, .bluetoothOff, .bluetoothOffInControlCentre]
        return .phone(try change(step, "change of Bluetooth", changes))
    }

    private func airplaneMode(_ step: StepEntry) throws(FileError) -> Verb {
        let changes: [PhoneChange] = [.airplaneModeOn, .airplaneModeOff, .airplaneModeOnKeepingBluetooth]
        return .phone(try change(step, "airplane mode", changes))
    }

    /// The change whose word begins with the verb's; `true` and `yes` are `on`, and `false` and `no` are `off`, as in YAML.
    private func change(
        _ step: StepEntry,
        _ what: String,
        _ changes: [PhoneChange]
    ) throws(FileError) -> PhoneChange {
        let words = changes.map { String($0.word.dropFirst(step.word.count + 1)) }
        return try step.value.word(what, among: words) { said in
            let word = SettingText.spellings[said] ?? said
            return zip(words, changes).first { $0.0 == word }?.1
        }
    }

    private func notify(_ step: StepEntry) throws(FileError) -> Verb {
        if appNames.knows(step.value), !deviceNames.knows(step.value) { return try update(step) }
        let positions = try deviceNames.resolve(step.value, orApps: peripherals)
        let node = try step.fields.required("characteristic")
        let uuid = try node.uuid()
        for position in positions {
            if let phone = devices[position].phone?.phone {
                throw step.value.error(
                    found: "'\(step.word)' of '\(devices[position].name)', which is a phone",
                    expected: "an app of '\(phone)', told on that phone: a phone notifies by its own apps"
                )
            }
            let peripheral = try devices[position].need(BluetoothPeripheral.self, for: node)
            try peripheral.checkNotifies(uuid, as: devices[position].name, node)
        }
        return .notify(devices: positions, characteristic: uuid, value: try step.fields.required("value").hex())
    }

    /// The names of the scripted apps that are peripherals themselves.
    private var peripherals: [String] {
        var names: [String] = []
        for app in apps where names.last != app.group {
            if case .scripted(let script) = app.form, script.peripheral != nil { names.append(app.group) }
        }
        return names
    }

    /// What apps that are peripherals themselves notify.
    private func update(_ step: StepEntry) throws(FileError) -> Verb {
        let positions = try scripts(
            step,
            bundlesToo: false,
            "a scripted app with 'peripheral': what a real one notifies is up to its code"
        ) { $0.peripheral != nil }
        let node = try step.fields.required("characteristic")
        let uuid = try node.uuid()
        for position in positions {
            guard case .scripted(let script) = apps[position].form else { continue }
            try script.peripheral?.services.checkNotifies(uuid, as: apps[position].name, in: "its services", node)
        }
        return .update(apps: positions, characteristic: uuid, value: try step.fields.required("value").hex())
    }

    private func connect(_ step: StepEntry) throws(FileError) -> Verb {
        let named = try step.fields["service"]?.uuid()
        let orders = try centrals(step).map { (position, central) throws(FileError) in
            guard let service = named ?? central.firstService else {
                throw step.value.error(
                    found: "'\(devices[position].name)', whose script has no 'connect'",
                    expected: "'service' beside 'connect', which it looks for"
                )
            }
            return CentralOrder(device: position, word: step.word, action: .connect(service: service, within: nil))
        }
        return .order(orders)
    }

    private func read(_ step: StepEntry) throws(FileError) -> Verb {
        try order(step, .read(try step.fields.required("characteristic").uuid()))
    }

    private func write(_ step: StepEntry) throws(FileError) -> Verb {
        let uuid = try step.fields.required("characteristic").uuid()
        let how = try step.fields["how"].map(BluetoothCentral.WriteKind.init) ?? .request
        return try order(step, .write(uuid, try step.fields.required("value").hex(), how))
    }

    private func subscribe(_ step: StepEntry) throws(FileError) -> Verb {
        let uuid = try step.fields.required("characteristic").uuid()
        return try order(step, .subscribe(uuid, indications: try step.fields["indications"]?.bool() ?? false))
    }

    private func order(_ step: StepEntry, _ action: BluetoothCentral.Action) throws(FileError) -> Verb {
        .order(try centrals(step).map { CentralOrder(device: $0.position, word: step.word, action: action) })
    }

    /// The centrals that a step names; what a device of another kind does instead is the remedy.
    private func centrals(_ step: StepEntry) throws(FileError) -> [(position: Int, central: BluetoothCentral)] {
        try deviceNames.resolve(step.value).map { (position) throws(FileError) in
            let device = devices[position]
            if device.phone != nil {
                throw step.value.error(
                    found: "'\(step.word)' of '\(device.name)', which is a phone",
                    expected: "a central; drive a phone through its own apps"
                )
            }
            if device.peripheral != nil {
                throw step.value.error(
                    found: "'\(step.word)' of '\(device.name)', which is a peripheral, and waits to be connected to",
                    expected: step.word == "connect"
                        ? "a central, or 'in-range', which lets what waits for the peripheral connect"
                        : "a central: apps read from a peripheral and write to it themselves"
                )
            }
            return (position, try device.need(BluetoothCentral.self, for: step.value))
        }
    }

    private func forgetAttributes(_ step: StepEntry) throws(FileError) -> Verb {
        .forgetAttributes(devices: try devices(step, of: BluetoothPeripheral.self).map(\.position))
    }

    private func disconnect(_ step: StepEntry) throws(FileError) -> Verb {
        let positions = try deviceNames.resolve(step.value)
        for position in positions where devices[position].phone == nil && devices[position].central == nil {
            _ = try devices[position].need(BluetoothPeripheral.self, for: step.value)
        }
        return .disconnect(devices: positions)
    }
}

/// Devices that no file describes.
extension ScenarioReading {
    /// Another phone of the bench, `{phone: evening, name: thermometer}`.
    func addPhone(_ fields: Fields) throws(FileError) {
        try fields.refuse(["file", "count"], beside: "phone")
        let phone = try BluetoothPhone(fields)
        if let other = devices.first(where: { $0.phone?.phone == phone.phone }) {
            throw fields.node.error(
                found: "a second device that is the phone '\(phone.phone)'",
                expected: "'\(other.name)' alone"
            )
        }
        let names = try deviceNames.add(fields["name"], default: phone.phone, count: nil, entry: fields.node)
        try checkTotal(devices.count + names.count, of: "devices", fields.node)
        for name in names {
            devices.append(
                ScenarioDevice(
                    name: name,
                    group: name,
                    line: fields.node.line,
                    column: fields.node.column,
                    form: phone.form
                )
            )
        }
    }
}

extension Scenario {
    /// Whether the phone is known to be a peripheral: for a scripted app that is one, or for a central of the scenario.
    package var needsPeripheralRole: Bool {
        devices.contains { $0.central != nil }
            || apps.contains { if case .scripted(let script) = $0.form { script.peripheral != nil } else { false } }
    }
}

extension ScenarioDevice {
    /// The peripheral that it is; nil for a device of another kind.
    package var peripheral: BluetoothPeripheral? { form.device as? BluetoothPeripheral }

    /// The beacon that it is; nil for a device of another kind.
    package var beacon: Beacon? { form.device as? Beacon }

    /// The central that it is; nil for a device of another kind.
    package var central: BluetoothCentral? { form.device as? BluetoothCentral }

    /// The other phone of the bench that it is; nil for a device of another kind.
    package var phone: BluetoothPhone? { form.device as? BluetoothPhone }
}
