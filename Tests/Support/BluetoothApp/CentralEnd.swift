import CoreBluetooth

/// A delegate without willRestoreState.
final class PlainCentralDelegate: NSObject, CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        say("state \(central.state)")
    }
}

/// A central manager and the peripherals it meets.
final class CentralEnd: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    private let script: [String: [String]]
    private let plain = PlainCentralDelegate()
    private var manager: CBCentralManager!
    private var peripheral: CBPeripheral?
    private var channel: CBL2CAPChannel?

    init(script: [String: [String]], restoreIdentifier: String?) {
        self.script = script
        super.init()
        var options: [String: Any] = [CBCentralManagerOptionShowPowerAlertKey: true]
        options[CBCentralManagerOptionRestoreIdentifierKey] = restoreIdentifier
        let delegate: any CBCentralManagerDelegate = script["plain"] == nil ? self : plain
        let queue: DispatchQueue? = script["global"] == nil ? nil : .global()
        manager = CBCentralManager(delegate: delegate, queue: queue, options: options)
        happened("made", "")
    }

    private func happened(_ name: String, _ detail: String) {
        if name != "made" {
            say(detail.isEmpty ? name : "\(name) \(detail)")
        }
        for command in script[name] ?? script["\(name) \(detail)"] ?? [] {
            perform(command)
        }
    }

    private var service: CBService? { peripheral?.services?.first }
    private var characteristics: [CBCharacteristic] { service?.characteristics ?? [] }

    private func perform(_ command: String) {
        switch command {
        case "scan": manager.scanForPeripherals(withServices: [])
        case "scan-all":
            manager.scanForPeripherals(withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        case "later":
            nonisolated(unsafe) let end = self
            DispatchQueue.main.async { unsafe end.perform("scan") }
        case "stop": manager.stopScan()
        case "scanning": say("isScanning \(manager.isScanning)")
        case "retrieve": retrieve()
        case "connect": manager.connect(peripheral!)
        case "reconnecting":
            manager.connect(peripheral!, options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
        case "cancel": manager.cancelPeripheralConnection(peripheral!)
        case "events":
            manager.registerForConnectionEvents(options: [.serviceUUIDs: [CBUUID(string: "180D")]])
        case "no-events": manager.registerForConnectionEvents()
        case "drop": peripheral = nil
        default: performOnPeripheral(command)
        }
    }

    private func retrieve() {
        let wanted = ["0B7C1C1E-5A67-4C0C-9A1D-6B2F8C6A7D10", "5A1B4E6C-0D3F-4F7A-9C52-1E8A7B9D2C31"]
        let found = manager.retrievePeripherals(withIdentifiers: wanted.compactMap { UUID(uuidString: $0) })
        say("retrieved \(found.map { $0.name ?? "?" })")
        peripheral = found.last ?? peripheral
        peripheral?.delegate = self
    }

    private func performOnPeripheral(_ command: String) {
        guard let peripheral else { return say("no peripheral for \(command)") }
        switch command {
        case "discover": peripheral.discoverServices(nil)
        case "characteristics": peripheral.discoverCharacteristics(nil, for: service!)
        case "descriptors": peripheral.discoverDescriptors(for: characteristics[0])
        case "included": peripheral.discoverIncludedServices(nil, for: service!)
        case "read": peripheral.readValue(for: characteristics[0])
        case "write": peripheral.writeValue(Data([1]), for: characteristics[0], type: .withResponse)
        case "notify": peripheral.setNotifyValue(true, for: characteristics[0])
        case "rssi": peripheral.readRSSI()
        case "open": peripheral.openL2CAPChannel(192)
        case "services": say("services \(peripheral.services.map { "\($0.map(\.uuid))" } ?? "nil") \(peripheral.state)")
        case "close":
            channel?.inputStream.close()
            channel?.outputStream.close()
            channel = nil
        default: say("unknown command \(command)")
        }
    }

    // MARK: The manager's delegate

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        happened("\(central.state)", "")
    }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        let restored = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
        peripheral = restored.first
        peripheral?.delegate = self
        happened("willRestoreState", "\(restored.map { $0.name ?? "?" })")
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        self.peripheral = peripheral
        peripheral.delegate = self
        let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String ?? "?"
        let power = advertisementData[CBAdvertisementDataTxPowerLevelKey] as? Int
        let services = advertisementData[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []
        let isConnectable = advertisementData[CBAdvertisementDataIsConnectable] as? Bool
        happened(
            "didDiscover",
            "\(name) \(services) power=\(power ?? 0) connectable=\(isConnectable ?? false) rssi=\(RSSI.intValue)"
        )
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        happened("didConnect", "")
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?) {
        happened("didFailToConnect", text(error))
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        timestamp: CFAbsoluteTime,
        isReconnecting: Bool,
        error: Error?
    ) {
        happened("didDisconnect", "reconnecting=\(isReconnecting) \(text(error)) \(peripheral.state)")
    }

    func centralManager(
        _ central: CBCentralManager,
        connectionEventDidOccur event: CBConnectionEvent,
        for peripheral: CBPeripheral
    ) {
        happened("connectionEvent", "\(event) \(peripheral.name ?? "?")")
    }

    // MARK: The peripheral's delegate

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
        happened("didDiscoverServices", "\((peripheral.services ?? []).map(\.uuid)) \(text(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        happened(
            "didModifyServices",
            "\(invalidatedServices.map(\.uuid)) left=\((peripheral.services ?? []).map(\.uuid))"
        )
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
        happened("didDiscoverCharacteristics", "\((service.characteristics ?? []).map(\.uuid)) \(text(error))")
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverDescriptorsFor characteristic: CBCharacteristic,
        error: Error?
    ) {
        happened("didDiscoverDescriptors", "\((characteristic.descriptors ?? []).map(\.uuid)) \(text(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: Error?) {
        happened("didDiscoverIncludedServices", text(error))
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
        happened("didUpdateValue", "\(hexadecimal(characteristic.value)) \(text(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: Error?) {
        happened("didWriteValue", text(error))
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: Error?
    ) {
        happened("didUpdateNotificationState", "\(characteristic.isNotifying) \(text(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: Error?) {
        happened("didReadRSSI", "\(RSSI) \(text(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: Error?) {
        self.channel = channel
        happened("didOpen", channel.map { "psm=\($0.psm) peer=\($0.peer === peripheral)" } ?? text(error))
        if let channel {
            follow(channel)
        }
    }
}

// MARK: The channel

extension CentralEnd: StreamDelegate {
    private func follow(_ channel: CBL2CAPChannel) {
        for stream in [channel.inputStream as Stream, channel.outputStream as Stream] {
            stream.delegate = self
            stream.schedule(in: .current, forMode: .default)
            stream.open()
        }
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        let direction = aStream is InputStream ? "input" : "output"
        switch eventCode {
        case .openCompleted: say("\(direction) open")
        case .hasBytesAvailable:
            var buffer = [UInt8](repeating: 0, count: 4)
            let count = unsafe (aStream as! InputStream).read(&buffer, maxLength: buffer.count)
            say("read \(hexadecimal(Data(buffer[..<max(0, count)])))")
        case .hasSpaceAvailable:
            say("output has space")
            let bytes: [UInt8] = [9, 8, 7]
            _ = unsafe (aStream as! OutputStream).write(bytes, maxLength: bytes.count)
            aStream.delegate = nil
        case .endEncountered: say("\(direction) end \(aStream.streamStatus == .atEnd)")
        case .errorOccurred: say("\(direction) error")
        default: say("\(direction) \(eventCode)")
        }
    }
}
