import WakeModel

/// Compares a peripheral with what makers of accessories are advised to do.
package struct PeripheralCheck {
    private let peripheral: BluetoothPeripheral
    private let root: YAMLNode
    private var findings: [(guideline: PeripheralGuideline, line: Int, found: String)] = []

    /// The findings about a device file, in the order of its lines and then of the guidelines.
    ///
    /// - Throws: ``FileError`` when it is no good file of a Bluetooth peripheral.
    package static func findings(in file: String) throws(FileError) -> [PeripheralFinding] {
        try findings(in: try InputFile.read(file), file: file)
    }

    /// The findings about the text of a device file; `file` is for errors.
    package static func findings(in bytes: [UInt8], file: String) throws(FileError) -> [PeripheralFinding] {
        let root = try YAMLReader.read(bytes, file: file)
        guard root["device"]?.scalar == BluetoothPeripheral.kind else {
            // What is wrong with any other file comes first.
            _ = try DeviceFile.parse(bytes, file: file)
            throw root.error(
                found: "a device that is no Bluetooth peripheral",
                expected: "device: \(BluetoothPeripheral.kind)"
            )
        }
        var check = PeripheralCheck(peripheral: try BluetoothPeripheral(judged: root), root: root)
        check.checkAdvertising()
        check.checkConnection()
        check.checkDeviceInformation()
        check.checkServiceOrder()
        check.checkServiceChanged()
        return check.findings.enumerated().sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }
            .map { PeripheralFinding($0.element.guideline, at: .line($0.element.line), $0.element.found) }
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
        findings.append((guideline, line, found))
    }

    // MARK: Advertising

    private mutating func checkAdvertising() {
        let advertising = peripheral.advertising
        if advertising.connectable {
            let missing = PeripheralRules.missing(
                txPower: advertising.txPower != nil,
                name: peripheral.name != nil,
                services: !advertising.services.isEmpty
            )
            for found in missing { find(.advertisingData, found, at: "advertising") }
        }
        if let found = peripheral.name.flatMap(PeripheralRules.badName) { find(.localName, found, at: "name") }
        if !PeripheralRules.advertisingIntervals.contains(advertising.interval) {
            let interval = DurationText.text(advertising.interval)
            find(.advertisingInterval, "an advertising interval of \(interval)", at: "advertising", "interval")
        }
        if advertising.services.contains(PeripheralRules.deviceInformation) {
            find(.deviceInformationAdvertised, "180A is advertised", at: "advertising", "services")
        }
    }

    // MARK: Connection

    /// Of what the file asks for.
    private mutating func checkConnection() {
        guard peripheral.advertising.connectable, hasKey("connection") else { return }
        let connection = peripheral.connection
        let timing = PeripheralRules.Timing(
            interval: connection.interval,
            latency: connection.latency,
            // Without a word it has what links of an iPhone begin with, which is not the device's wish.
            timeout: root["connection"]?["supervision-timeout"] == nil ? nil : connection.supervisionTimeout
        )
        let keys: [PeripheralGuideline: String] = [
            .connectionInterval: "interval", .supervisionTimeout: "supervision-timeout",
            .timeoutRatio: "supervision-timeout",
        ]
        for (guideline, found) in timing.against {
            find(guideline, found, at: "connection", keys[guideline] ?? "latency")
        }
        if connection.dataLength <= PeripheralRules.shortPacket {
            find(.dataLength, "packets of \(connection.dataLength) bytes", at: "connection", "data-length")
        }
    }

    // MARK: Services

    private mutating func checkDeviceInformation() {
        guard peripheral.advertising.connectable else { return }
        let wanted = PeripheralRules.deviceInformation
        guard let index = peripheral.services.firstIndex(where: { $0.primary && $0.uuid == wanted })
        else { return find(.deviceInformation, PeripheralRules.noDeviceInformation, at: "gatt") }
        let characteristics = peripheral.services[index].characteristics
        for informing in PeripheralRules.informing {
            guard let characteristic = characteristics.first(where: { $0.uuid == informing.uuid }) else {
                find(.deviceInformationCharacteristics, informing.missing, line: line(ofService: index))
                continue
            }
            if let found = informing.tooLong(characteristic.value) {
                find(.deviceInformationLength, found, line: characteristic.line)
            }
        }
    }

    private mutating func checkServiceOrder() {
        // Those of the system have their handles before all others, wherever they stand in the file.
        let system = [PeripheralRules.genericAccess, PeripheralRules.genericAttribute]
        let own = peripheral.services.indices.filter { !system.contains(peripheral.services[$0].uuid) }
        for index in PeripheralRules.apart(own.map { peripheral.services[$0].uuid }).map({ own[$0] }) {
            let found = PeripheralRules.standsApart(peripheral.services[index].uuid)
            find(.serviceOrder, found, line: line(ofService: index))
        }
    }

    /// Service Changed must be there before anything changes: a phone subscribes to it when it connects.
    private mutating func checkServiceChanged() {
        let characteristics = peripheral.services.filter { $0.uuid == PeripheralRules.genericAttribute }
            .flatMap(\.characteristics)
        if let changed = characteristics.first(where: { $0.uuid == PeripheralRules.serviceChanged }) {
            let properties = UInt8(truncatingIfNeeded: changed.properties.rawValue)
            if let found = PeripheralRules.badServiceChanged(properties: properties) {
                find(.serviceChangedProperties, found, line: changed.line)
            }
            return
        }
        let lines = root["faults"]?.members.map(\.line) ?? []
        for (fault, line) in zip(peripheral.faults, lines) {
            let what: String
            switch fault.effect {
            case .changeServices: what = "changes services"
            case .staleHandles: what = "moves handles"
            default: continue
            }
            find(.serviceChanged, "'\(fault.name)' \(what), and there is no Service Changed (2A05)", line: line)
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
