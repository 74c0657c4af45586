import WakeDevices
import WakeModel

/// Makes a device file's peripheral of a device of a capture.
package struct PeripheralLift {
    /// Services that a phone keeps to itself, and no app sees.
    private static let hidden: Set<AttributeType> = [.short(0x1800), .short(0x1801)]
    /// Notified values are written within so many bytes of text, well below the largest device file.
    private static let textLimit = YAMLReader.byteLimit - (1 << 20)

    package private(set) var peripheral: BluetoothPeripheral
    /// For people: what stands at the beginning of the file.
    package private(set) var comments: [String] = []
    /// What of the device could not be put into the file, a line each.
    package private(set) var notes: [String] = []
    /// Notified values that are in the file.
    package private(set) var values = 0

    private let device: CapturedDevice
    private let pace: Pace
    /// Nanoseconds since 1970.
    private let start: Int64
    /// The last moment whose values are taken.
    private var end: Int64
    /// What it sends when something is written.
    private var answers = CapturedAnswers()

    /// - Parameters:
    ///   - start: when the capture began, in nanoseconds since 1970.
    ///   - known: a device file of the same device, for what the capture does not show: its name, its address.
    package init(_ device: CapturedDevice, start: Int64, pace: Pace = Pace(), known: BluetoothPeripheral? = nil) {
        (self.device, self.pace, self.start) = (device, pace, start)
        end = pace.to.map { start &+ $0.nanoseconds } ?? .max
        peripheral = BluetoothPeripheral(
            name: device.name.flatMap { name in (1...248).contains(name.utf8.count) ? name : nil } ?? known?.name,
            address: device.address.map(CapturedDevice.bytes) ?? known?.address ?? [0xf0, 0, 0, 0, 0, 1]
        )
        if device.address == nil {
            notes.append("the capture does not show its address; the file says \(peripheral.addressText)")
        }
        liftAdvertising()
        let services = shownServices()
        liftAnswers(services)
        cutStreams()
        lift(services)
        liftServiceChanged()
        liftMTU()
        liftConnections()
    }

    // MARK: Advertising

    private mutating func liftAdvertising() {
        let seen = device.advertising
        var advertising = peripheral.advertising
        if let interval = seen.interval ?? seen.measuredInterval {
            advertising.interval = interval
        } else {
            notes.append("too few advertisements to tell their interval; the file says 100ms")
        }
        advertising.services = seen.services.map(\.text)
        advertising.manufacturerData = seen.manufacturerData
        advertising.serviceData = seen.serviceData.map {
            Advertisement.ServiceData(service: $0.service.text, data: $0.data)
        }
        // A link says as much as an advertisement.
        advertising.connectable = seen.isConnectable || device.connectionCount > 0 || device.operations > 0
        advertising.txPower = seen.txPower.flatMap { (-127...20).contains($0) ? Int16($0) : nil }
        if let strength = seen.signalStrength { advertising.signalStrength = Int16(strength) }
        peripheral.advertising = advertising
    }

    // MARK: Attributes

    /// A service that the capture shows, and its characteristics with the descriptors of each.
    private struct ShownService {
        typealias Descriptors = [(key: UInt16, value: AttributeType)]

        var service: AttributeTable.Service
        var characteristics: [(shown: AttributeTable.Characteristic, descriptors: Descriptors)] = []
    }

    /// What the file has room for, in the order of handles.
    private mutating func shownServices() -> [ShownService] {
        let table = device.table
        let declarations = table.characteristics.sorted { $0.key < $1.key }
        let types = table.types.sorted { $0.key < $1.key }
        var shown: [ShownService] = []
        var attributes = 0
        for (first, service) in table.services.sorted(by: { $0.key < $1.key }) where !Self.hidden.contains(service.uuid)
        {
            // One more is left for Service Changed.
            guard shown.count < 255, attributes < 50_000 else {
                notes.append("services beyond the first \(shown.count)")
                break
            }
            let own = declarations.filter { (first...max(first, service.end)).contains($0.key) }.prefix(256)
            var made = ShownService(service: service)
            for (place, entry) in own.enumerated() {
                let next = place + 1 < own.count ? own[own.startIndex + place + 1].key : max(first, service.end) &+ 1
                let descriptors = types.filter { $0.key > entry.value.value && ($0.key < next || next == 0) }
                made.characteristics.append((entry.value, Array(descriptors.prefix(64))))
                attributes += 3 + min(descriptors.count, 64)
            }
            shown.append(made)
        }
        return shown
    }

    private mutating func lift(_ services: [ShownService]) {
        for shown in services {
            var made = BluetoothPeripheral.Service(shown.service.uuid.text, primary: shown.service.isPrimary)
            for (characteristic, descriptors) in shown.characteristics {
                made.characteristics.append(self.characteristic(characteristic, descriptors))
            }
            peripheral.services.append(made)
        }
        noteUnknown(Set(services.flatMap { $0.characteristics.map(\.shown.value) }))
    }

    private mutating func characteristic(
        _ characteristic: AttributeTable.Characteristic,
        _ types: [(key: UInt16, value: AttributeType)]
    ) -> BluetoothPeripheral.Characteristic {
        let table = device.table
        let descriptors = types.filter { !Self.structure.contains($0.value) }.map { handle, type in
            BluetoothPeripheral.Descriptor(type.text, table.values[handle] ?? [])
        }
        var properties = CharacteristicProperties(rawValue: UInt16(characteristic.properties))
        let answers = answers.senders.contains(characteristic.value)
        let timetable = answers ? Timetable() : timetable(device.streams[characteristic.value])
        if (answers || !timetable.entries.isEmpty) && !properties.canNotify {
            properties.insert(.notify)
            notes.append("\(characteristic.uuid.text) notified without the property; the file has it")
        }
        var made = BluetoothPeripheral.Characteristic(characteristic.uuid.text, properties)
        made.value = table.values[characteristic.value] ?? []
        made.security = device.protected.contains(characteristic.value) ? .encrypted : .none
        made.timetable = timetable
        made.descriptors = descriptors
        return made
    }

    /// Of the services that no app sees, what decides whether a phone keeps the table (BTC-14).
    private mutating func liftServiceChanged() {
        let table = device.table
        let own = table.services.filter { $0.value.uuid == .short(0x1801) }
        // An older table may have left one elsewhere: the last in the order of handles is taken, whichever the dictionary has first.
        let changed = table.characteristics.values.filter { characteristic in
            characteristic.uuid == .short(0x2a05)
                && own.contains { ($0.key...max($0.key, $0.value.end)).contains(characteristic.value) }
        }.max { $0.value < $1.value }
        guard let changed else { return }
        let properties = CharacteristicProperties(rawValue: UInt16(changed.properties))
        let characteristic = BluetoothPeripheral.Characteristic(PeripheralRules.serviceChanged, properties)
        var service = BluetoothPeripheral.Service(PeripheralRules.genericAttribute, primary: true)
        service.characteristics = [characteristic]
        peripheral.services.append(service)
        if let told = device.streams[changed.value]?.count, told > 0 {
            let changes = told == 1 ? "a change" : "\(told) changes"
            notes.append("Service Changed (2A05) told of \(changes) of services; the file has none")
        }
    }

    /// What gives a table its form, and the client configuration, which comes of itself.
    private static let structure: Set<AttributeType> = [
        .primaryService, .secondaryService, .include, .characteristic, .clientConfiguration,
    ]

    /// Names what was notified by handles that the capture gives no UUID.
    private mutating func noteUnknown(_ lifted: Set<UInt16>) {
        let hidden = device.table.services.filter { Self.hidden.contains($0.value.uuid) }
        let unknown = device.streams.filter { handle, stream in
            stream.count > 0 && !lifted.contains(handle)
                && !hidden.contains { ($0.key...max($0.key, $0.value.end)).contains(handle) }
        }
        for (handle, stream) in unknown.sorted(by: { $0.key < $1.key }).prefix(16) {
            notes.append(
                "handle 0x\(handle.hexadecimal) notified \(stream.count) values, and nothing says which characteristic it is; "
                    + "give a table (--table), or a capture of the discovery before this one"
            )
        }
    }

    // MARK: Answers

    /// Tells what was sent in answer to writes from what the device sends of itself.
    private mutating func liftAnswers(_ services: [ShownService]) {
        let targets = services.enumerated().flatMap { position, service in
            service.characteristics.map { shown, _ in
                CapturedAnswers.Target(
                    service: position,
                    uuid: shown.uuid,
                    properties: CharacteristicProperties(rawValue: UInt16(shown.properties)),
                    handle: shown.value
                )
            }
        }
        let from = start &+ pace.from.nanoseconds
        answers = CapturedAnswers(device, targets, in: from...max(from, end), pace)
        peripheral.answers.rules = answers.rules.allSatisfy(\.isEmpty) ? [] : answers.rules
        for (position, target) in targets.enumerated() {
            let rules = answers.rules.isEmpty ? 0 : answers.rules[position].count
            if rules > 0 {
                let text = "\(target.uuid.text) answers \(rules == 1 ? "a written value" : "\(rules) written values")"
                comments.append("\(text) as captured")
                notes.append("\(text) as captured, and nothing else that is written")
            }
            guard let count = answers.doubtful[target.handle], let stream = device.streams[target.handle] else {
                continue
            }
            notes.append(
                "\(target.uuid.text): \(count) of \(stream.count) values came within 2s of a write, and come without one here; "
                    + "where they answer it, write answers by hand"
            )
        }
        if answers.others > 0 {
            notes.append("\(answers.others) answers beside the first to the same, or beyond what a file holds")
        }
    }

    // MARK: Streams

    /// Finds the moment up to which all streams together fit into a device file.
    private mutating func cutStreams() {
        var sizes: [(time: Int64, size: Int)] = []
        for (handle, stream) in device.streams where !answers.senders.contains(handle) {
            for index in 0..<stream.kept { sizes.append((stream.times[index], 40 + 2 * stream.length(index))) }
        }
        sizes.sort { $0.time < $1.time }
        var text = 0
        for (index, entry) in sizes.enumerated() where entry.time >= start &+ pace.from.nanoseconds && entry.time <= end
        {
            text += entry.size
            if text <= Self.textLimit - answers.size { continue }
            end = entry.time - 1
            let left = sizes.count - index
            notes.append("the last \(left) notified values, for which a device file has no room; see --from and --to")
            return
        }
    }

    private mutating func timetable(_ stream: CapturedStream?) -> Timetable {
        var timetable = Timetable()
        guard let stream else { return timetable }
        let from = start &+ pace.from.nanoseconds
        var before: Int64 = 0
        var pauses = PacedPauses(pace)
        for index in 0..<stream.kept {
            let (time, clock) = (stream.times[index], stream.clocks[index])
            if time < from {
                before = clock
                continue
            }
            if time > end { break }
            // The first pause does not reach back behind the part that is taken.
            let pause = timetable.entries.isEmpty ? min(clock - before, max(0, time - from)) : clock - before
            before = clock
            let after = pauses.next(pause)
            let value = Array(stream.value(index).prefix(512))
            timetable.entries.append(Timetable.Entry(after: after, every: .zero, values: .list([value])))
        }
        values += timetable.entries.count
        timetable.repeats = pace.loops && timetable.takesTime
        return timetable
    }

    // MARK: Links

    /// What was agreed on where the capture shows it, and in any case what the longest value needed.
    private mutating func liftMTU() {
        let agreed = device.connections.map(\.mtu).max() ?? 0
        let longest = device.streams.values.map { stream in (0..<stream.kept).map(stream.length).max() ?? 0 }.max() ?? 0
        let mtu = max(
            agreed > BluetoothPeripheral.mtuRange.lowerBound ? agreed : BluetoothPeripheral.usualMTU,
            longest + 3
        )
        peripheral.mtu = min(mtu, BluetoothPeripheral.mtuRange.upperBound)
    }

    private mutating func liftConnections() {
        for (place, link) in device.connections.prefix(200).enumerated() {
            comments.append("link \(place + 1): \(link.text(since: start))")
        }
        if device.connectionCount > 200 { comments.append("and \(device.connectionCount - 200) links more") }
        // What the device's own end or the air did can be armed; what the other end did is the app's.
        for (place, link) in device.connections.enumerated() where peripheral.faults.count < 32 {
            guard let reason = link.reason, !link.isEndedByOther, (1...1_000_000).contains(link.notifications) else {
                continue
            }
            let name = "link-\(place + 1)-\(LinkReason.word(reason))"
            peripheral.faults.append(DeviceFault(name, .disconnectAfter(link.notifications)))
        }
    }
}

extension CapturedDevice.Connection {
    /// One line for people.
    ///
    /// - Parameter start: when the capture began, in nanoseconds since 1970.
    package func text(since start: Int64) -> String {
        func moment(_ time: Int64) -> String {
            DurationText.text(.milliseconds(max(0, time - start + 500_000) / 1_000_000))
        }
        let begin = opened.map { "from \(moment($0))" } ?? "from before the capture"
        let parameters = interval > 0 ? ", interval \(Double(interval) * 1.25)ms" : ""
        let traffic = ", MTU \(mtu)\(isEncrypted ? ", encrypted" : ""), \(notifications) notifications"
        guard let closed else { return "\(begin) beyond the capture\(parameters)\(traffic)" }
        let by = reason.map { reason in
            "\(isEndedHere ? "ended here" : "ended"): \(LinkReason.text(reason)) (0x\(reason.hexadecimal))"
        }
        return
            "\(begin) to \(moment(closed))\(parameters)\(traffic); \(by ?? "ended with its controller or by another link")"
    }
}

/// Why links end: the error codes of Bluetooth Core, volume 1, part F.
package enum LinkReason {
    private static let table: [UInt8: (word: String, text: String)] = [
        0x05: ("authentication", "authentication failure"),
        0x06: ("key-missing", "PIN or key missing"),
        0x08: ("timeout", "connection timeout"),
        0x13: ("remote", "remote user terminated the connection"),
        0x14: ("resources", "remote device is low on resources"),
        0x15: ("power-off", "remote device powers off"),
        0x16: ("host", "terminated by the local host"),
        0x1a: ("feature", "unsupported remote feature"),
        0x1f: ("unspecified", "unspecified error"),
        0x22: ("no-response", "link layer response timeout"),
        0x28: ("instant", "instant passed"),
        0x2a: ("collision", "different transaction collision"),
        0x3b: ("parameters", "unacceptable connection parameters"),
        0x3d: ("integrity", "message integrity check failure"),
        0x3e: ("not-established", "connection failed to be established"),
    ]

    static func word(_ code: UInt8) -> String { table[code]?.word ?? "0x\(code.hexadecimal)" }

    /// In words.
    package static func text(_ code: UInt8) -> String { table[code]?.text ?? "another reason" }
}
