import WakeModel

/// Compares a peripheral with what makers of accessories are advised to do.
package struct PeripheralCheck {
    private let peripheral: BluetoothPeripheral
    private let root: YAMLNode
    private var findings: [PeripheralFinding] = []

    /// The findings about a device file, in the order of its lines and then of the guidelines.
    ///
    /// - Throws: ``FileError`` when it is no good file of a Bluetooth peripheral.
    package static func findings(in file: String) throws(FileError) -> [PeripheralFinding] {
        try findings(in: try InputFile.read(file), file: file)
    }

    /// The findings about the text of a device file; `file` is for errors.
    package static func findings(in bytes: [UInt8], file: String) throws(FileError) -> [PeripheralFinding] {
        let device = try DeviceFile.parse(bytes, file: file)
        let root = try YAMLReader.read(bytes, file: file)
        guard case .peripheral(let peripheral) = device else {
            throw root.error(
                found: "a device that is no Bluetooth peripheral",
                expected: "device: \(BluetoothPeripheral.kind)"
            )
        }
        var check = PeripheralCheck(peripheral: peripheral, root: root)
        check.checkAdvertising()
        check.checkConnection()
        check.checkDeviceInformation()
        check.checkServiceOrder()
        return check.findings.enumerated().sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }
            .map(\.element)
    }

    private init(peripheral: BluetoothPeripheral, root: YAMLNode) {
        (self.peripheral, self.root) = (peripheral, root)
    }

    private func hasKey(_ key: String) -> Bool { root[key] != nil }

    /// Adds a finding about what stands at the end of a path of keys, or at the last of them that there is.
    private mutating func find(_ guideline: PeripheralGuideline, _ found: String, at path: String...) {
        var node = root
        for key in path {
            guard case .mapping(let entries) = node.content, let entry = entries.first(where: { $0.key == key })
            else { break }
            node = entry.value
        }
        find(guideline, found, line: node.line)
    }

    private mutating func find(_ guideline: PeripheralGuideline, _ found: String, line: Int) {
        findings.append(PeripheralFinding(guideline: guideline, line: line, found: found))
    }

    // MARK: Advertising

    /// ADG-3, in microseconds.
    private static let advertisingIntervals = [
        20_000, 152_500, 211_250, 318_750, 417_500, 546_250, 760_000, 852_500, 1_022_500, 1_285_000,
    ].map { Instant.Span(nanoseconds: $0 * 1_000) }

    private mutating func checkAdvertising() {
        let advertising = peripheral.advertising
        if advertising.connectable {
            let missing = [
                (advertising.txPower == nil, "TX power level"), (peripheral.name == nil, "local name"),
                (advertising.services.isEmpty, "service"),
            ]
            for (isMissing, what) in missing where isMissing {
                find(.advertisingData, "no \(what) is advertised", at: "advertising")
            }
        }
        if let name = peripheral.name, let mark = name.first(where: { $0 == ":" || $0 == ";" }) {
            find(.localName, "the local name has a '\(mark)'", at: "name")
        }
        if !Self.advertisingIntervals.contains(advertising.interval) {
            let interval = DurationText.text(advertising.interval)
            find(.advertisingInterval, "an advertising interval of \(interval)", at: "advertising", "interval")
        }
        if advertising.services.contains(Self.deviceInformation) {
            find(.deviceInformationAdvertised, "180A is advertised", at: "advertising", "services")
        }
    }

    // MARK: Connection

    private static let intervalUnit = Instant.Span.milliseconds(15)
    private static let longestTimeout = Instant.Span.seconds(6)
    private static let longestSilence = Instant.Span.seconds(2)
    /// What a packet holds without the extension, in bytes.
    private static let shortPacket = 27

    /// Of what the file asks for; the reader refuses already what no phone grants.
    private mutating func checkConnection() {
        guard peripheral.advertising.connectable, hasKey("connection") else { return }
        let connection = peripheral.connection
        let (interval, timeout) = (connection.interval, connection.supervisionTimeout)
        if interval.nanoseconds % Self.intervalUnit.nanoseconds != 0 {
            find(.connectionInterval, "an interval of \(DurationText.text(interval))", at: "connection", "interval")
        }
        if timeout > Self.longestTimeout {
            let found = "a supervision timeout of \(DurationText.text(timeout))"
            find(.supervisionTimeout, found, at: "connection", "supervision-timeout")
        }
        let silence = interval + connection.sleep
        if silence > Self.longestSilence {
            find(.effectiveInterval, "a silence of up to \(DurationText.text(silence))", at: "connection", "latency")
        }
        if connection.dataLength <= Self.shortPacket {
            find(.dataLength, "packets of \(connection.dataLength) bytes", at: "connection", "data-length")
        }
    }

    // MARK: Services

    /// Device Information and its characteristics, by the assigned numbers of the Bluetooth SIG.
    private static let deviceInformation = "180A"
    private static let informing = [
        (uuid: "2A29", what: "manufacturer's name"), ("2A24", "model's number"), ("2A26", "firmware revision"),
        ("2A28", "software revision"),
    ]
    /// ADG-11, of the first two.
    private static let longestName = 26

    private mutating func checkDeviceInformation() {
        guard peripheral.advertising.connectable else { return }
        guard let index = peripheral.services.firstIndex(where: { $0.primary && $0.uuid == Self.deviceInformation })
        else { return find(.deviceInformation, "no Device Information service", at: "gatt") }
        let characteristics = peripheral.services[index].characteristics
        for (position, (uuid, what)) in Self.informing.enumerated() {
            guard let characteristic = characteristics.first(where: { $0.uuid == uuid }) else {
                find(.deviceInformationCharacteristics, "no \(what) (\(uuid))", line: line(ofService: index))
                continue
            }
            let length = String(decoding: characteristic.value, as: UTF8.self).count
            if position < 2, length > Self.longestName {
                find(.deviceInformationLength, "a \(what) of \(length) characters", line: characteristic.line)
            }
        }
    }

    private mutating func checkServiceOrder() {
        var kinds: [Bool] = []
        for (index, service) in peripheral.services.enumerated() {
            let isShort = service.uuid.utf8.count == 4
            if isShort == kinds.last { continue }
            if kinds.contains(isShort) {
                find(.serviceOrder, "\(service.uuid) stands apart from its like", line: line(ofService: index))
            }
            kinds.append(isShort)
        }
    }

    private func line(ofService index: Int) -> Int {
        guard case .mapping(let entries) = root.content,
            case .sequence(let services)? = entries.first(where: { $0.key == "gatt" })?.value.content,
            services.indices.contains(index)
        else { return root.line }
        return services[index].line
    }
}
