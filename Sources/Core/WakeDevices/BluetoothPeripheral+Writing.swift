import WakeModel

extension BluetoothPeripheral {
    /// The device file that says this: reading it gives the same again, but for ``file`` and the numbers of lines.
    ///
    /// Times are written to the microsecond. Of ``answers`` those are written that imports make.
    /// - Parameter comments: lines for people, at the beginning.
    package func text(comments: [String] = []) -> String {
        var file = YAMLText()
        for comment in comments { file.comment(comment) }
        file.line(0, "device: \(Self.kind)")
        if let name { file.line(0, "name: \(YAMLText.quoted(name))") }
        file.line(0, "address: \(YAMLText.quoted(addressText))")
        file.add(advertising)
        if connection != Connection() { file.line(0, "connection: \(connection.text)") }
        if mtu != Self.usualMTU { file.line(0, "mtu: \(mtu)") }
        if !services.isEmpty {
            file.line(0, "gatt:")
            let uuids = services.flatMap { $0.characteristics.map(\.uuid) }
            var first = 0
            for service in services {
                file.add(service, 1) { answers.lines(of: first + $0, uuids) }
                first += service.characteristics.count
            }
        }
        if !channels.isEmpty {
            file.line(0, "l2cap:")
            for channel in channels { file.add(channel) }
        }
        if pairing != .justWorks { file.line(0, "pairing: \(pairing.text)") }
        if !faults.isEmpty {
            file.line(0, "faults:")
            for fault in faults { file.add(fault) }
        }
        return file.text
    }
}

extension BluetoothPeripheral.Pairing {
    fileprivate var text: String {
        switch self {
        case .justWorks: return "just-works"
        case .numeric: return "numeric"
        case .passkey(let number):
            let digits = String(number)
            return "passkey \(String(repeating: "0", count: max(0, 6 - digits.utf8.count)))\(digits)"
        case .reject: return "reject"
        }
    }
}

extension BluetoothPeripheral.Connection {
    /// The mapping between braces.
    fileprivate var text: String {
        "{interval: \(DurationText.text(interval)), latency: \(latency), supervision-timeout: \(DurationText.text(supervisionTimeout)), "
            + "phy: \(phy.rawValue), data-length: \(dataLength)}"
    }
}

extension BluetoothPeripheral.Effect {
    /// What an effect in one line says; nil for one that takes several.
    fileprivate var text: String? {
        switch self {
        case .lateSubscribeAnswer(let span): "late-subscribe-answer: \(DurationText.text(span))"
        case .disconnectAfter(let count): "disconnect-after: \(count)"
        case .staleHandles(let count): "stale-handles: \(count)"
        case .noAnswer(let span): "no-answer: \(DurationText.text(span))"
        case .holdNotifications(let span): "hold-notifications: \(DurationText.text(span))"
        case .closeChannelAfter(let count): "close-channel-after: \(count)"
        case .refuseChannels: "refuse-channels: true"
        case .cutValues(let count): "cut-values: \(count)"
        case .changeName(let name): "change-name: \(YAMLText.quoted(name))"
        case .changeServices: nil
        }
    }
}

extension YAMLText {
    fileprivate mutating func add(_ advertising: BluetoothPeripheral.Advertising) {
        line(0, "advertising:")
        line(1, "interval: \(DurationText.text(advertising.interval))")
        if !advertising.services.isEmpty { line(1, "services: \(Self.list(advertising.services))") }
        if let data = advertising.manufacturerData { line(1, "manufacturer-data: \(Self.quoted(data))") }
        if !advertising.serviceData.isEmpty {
            line(1, "service-data:")
            for data in advertising.serviceData {
                line(2, "- {service: \(Self.quoted(data.service)), data: \(Self.quoted(data.data))}")
            }
        }
        if !advertising.connectable { line(1, "connectable: false") }
        if advertising.whileConnected { line(1, "while-connected: true") }
        if let power = advertising.txPower { line(1, "tx-power: \(power)") }
        line(1, "rssi: \(advertising.signalStrength)")
    }

    fileprivate mutating func add(_ fault: DeviceFault<BluetoothPeripheral.Effect>) {
        let name = "name: \(Self.quoted(fault.name))"
        if let text = fault.effect.text { line(1, "- {\(name), \(text)}") }
        guard case .changeServices(let change) = fault.effect else { return }
        line(1, "- \(name)")
        line(2, "change-services:")
        line(3, "remove: \(Self.list(change.removed))")
        if change.added.isEmpty { return }
        line(3, "add:")
        for service in change.added { add(service, 4) { _ in [] } }
    }

    private static func list(_ uuids: [String]) -> String { "[\(uuids.map(quoted).joined(separator: ", "))]" }

    /// A service, with the lines of what a characteristic answers, by its place in the service.
    fileprivate mutating func add(
        _ service: BluetoothPeripheral.Service,
        _ level: Int,
        _ answers: (Int) -> [(level: Int, text: String)]
    ) {
        line(level, "- service: \(Self.quoted(service.uuid))")
        if !service.primary { line(level + 1, "primary: false") }
        if service.characteristics.isEmpty { return }
        line(level + 1, "characteristics:")
        for (place, characteristic) in service.characteristics.enumerated() {
            add(characteristic, level + 2)
            for line in answers(place) { self.line(level + 3 + line.level, line.text) }
        }
    }

    private mutating func add(_ characteristic: BluetoothPeripheral.Characteristic, _ level: Int) {
        let properties = CharacteristicProperties.words.filter { characteristic.properties.contains($0.property) }
        line(level, "- uuid: \(Self.quoted(characteristic.uuid))")
        let level = level + 1
        line(level, "properties: [\(properties.map(\.word).joined(separator: ", "))]")
        if characteristic.stream { line(level, "stream: true") }
        if characteristic.security != .none { line(level, "security: \(characteristic.security)") }
        if !characteristic.value.isEmpty { line(level, "value: \(Self.quoted(characteristic.value))") }
        add(characteristic.timetable, "notifications", level)
        if characteristic.descriptors.isEmpty { return }
        line(level, "descriptors:")
        for descriptor in characteristic.descriptors {
            line(level + 1, "- {uuid: \(Self.quoted(descriptor.uuid)), value: \(Self.quoted(descriptor.value))}")
        }
    }

    fileprivate mutating func add(_ channel: BluetoothPeripheral.Channel) {
        line(1, "- psm: \(channel.psm)")
        if channel.echo { line(2, "echo: true") }
        if channel.security != .none { line(2, "security: \(channel.security)") }
        add(channel.timetable, "send", 2)
    }

    /// A timetable under a key; nothing for an empty one.
    ///
    /// - Parameter isText: whether values that are text are written as text, where the file may have that.
    mutating func add(_ timetable: Timetable, _ key: String, _ level: Int, isText: Bool = false) {
        guard !timetable.entries.isEmpty else { return }
        line(level, "\(key):")
        var entries = timetable.entries[...]
        while let entry = entries.first {
            if isText, let text = entry.textLine {
                line(level + 1, "- {\(text)}")
                entries = entries.dropFirst()
                continue
            }
            let run = entries.prefix { $0.recordedLine != nil && !(isText && $0.textLine != nil) }
            if run.count > 1 {
                line(level + 1, "- recorded: |")
                for each in run { line(level + 3, each.recordedLine!) }
                entries = entries.dropFirst(run.count)
            } else {
                line(level + 1, "- {\(entry.text)}")
                entries = entries.dropFirst()
            }
        }
        if timetable.repeats { line(level, "repeat: true") }
    }
}

extension Timetable.Entry {
    /// The entry between braces.
    fileprivate var text: String {
        switch values {
        case .list(let values): return "\(pause)values: [\(values.map(YAMLText.quoted).joined(separator: ", "))]\(rest)"
        case .counter(let counter): return "\(pause)counter: {\(counter.text)\(rest)}"
        case .pattern(let pattern): return "\(pause)pattern: {bytes: \(pattern.bytes), block: \(pattern.block)}\(rest)"
        }
    }

    /// The same with its values as text; nil where one of them is none.
    fileprivate var textLine: String? {
        guard case .list(let values) = values else { return nil }
        let texts = values.compactMap(YAMLText.text)
        guard texts.count == values.count else { return nil }
        return "\(pause)text: [\(texts.map(YAMLText.quoted).joined(separator: ", "))]\(rest)"
    }

    private var pause: String { after == .zero ? "" : "after: \(DurationText.text(after)), " }

    private var rest: String { every == .zero ? "" : ", every: \(DurationText.text(every))" }
}

extension Timetable.Counter {
    fileprivate var text: String {
        "from: \(from), count: \(count), width: \(width), prefix: \(YAMLText.quoted(prefix))"
    }
}
