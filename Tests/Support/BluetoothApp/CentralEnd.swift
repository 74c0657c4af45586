import CoreBluetooth

/// A delegate without willRestoreState.
final class PlainCentralDelegate: NSObject, CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        say("state \(central.state)")
    }
}

/// Hands all but restorations over to the central end.
protocol CentralDelegate: CBCentralManagerDelegate {
    var end: CentralEnd? { get }
}

/// A delegate of a manager that may be restored.
final class RestoredCentralDelegate: NSObject, CentralDelegate {
    weak var end: CentralEnd?

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        end?.restored(dict)
    }
}

/// A delegate of a manager that is not restored.
final class UnrestoredCentralDelegate: NSObject, CentralDelegate {
    weak var end: CentralEnd?
}

/// A delegate with both forms of a disconnect.
final class BothFormsCentralDelegate: NSObject, CentralDelegate {
    weak var end: CentralEnd?

    func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {
        end?.happened("didDisconnect", "in short \(text(error)) \(peripheral.state)")
    }
}

/// The delegate of a second manager.
final class SecondCentralDelegate: NSObject, CBCentralManagerDelegate {
    weak var end: CentralEnd?

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        end?.happened("other", "")
    }

}

/// A delegate that hears of nothing.
final class UnheardPeripheralDelegate: NSObject, CBPeripheralDelegate {}

/// A central manager and the peripherals it meets.
final class CentralEnd: NSObject, CBPeripheralDelegate {
    private let script: [String: [String]]
    private let plain = PlainCentralDelegate()
    private let restored = RestoredCentralDelegate()
    private let unrestored = UnrestoredCentralDelegate()
    private let bothForms = BothFormsCentralDelegate()
    private let second = SecondCentralDelegate()
    private let unheard = UnheardPeripheralDelegate()
    private var manager: CBCentralManager!
    private var other: CBCentralManager?
    fileprivate var peripheral: CBPeripheral?
    private var kept: CBCharacteristic?
    private var channel: CBL2CAPChannel?

    init(script: [String: [String]], restoreIdentifier: String?) {
        self.script = script
        super.init()
        var options: [String: Any] = [CBCentralManagerOptionShowPowerAlertKey: true]
        options[CBCentralManagerOptionRestoreIdentifierKey] = restoreIdentifier
        (restored.end, unrestored.end, bothForms.end, second.end) = (self, self, self, self)
        var delegate: any CBCentralManagerDelegate = restoreIdentifier == nil ? unrestored : restored
        if script["plain"] != nil { delegate = plain }
        if script["restoring"] != nil { delegate = restored }
        if script["both-forms"] != nil { delegate = bothForms }
        let queue: DispatchQueue? = script["global"] == nil ? nil : .global()
        manager = CBCentralManager(delegate: delegate, queue: queue, options: options)
        happened("made", "")
    }

    fileprivate func happened(_ name: String, _ detail: String) {
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
        case "rssi-later":
            nonisolated(unsafe) let end = self
            DispatchQueue.main.async { unsafe end.perform("rssi") }
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
        case "other": other = CBCentralManager(delegate: second, queue: nil)
        case "unheard": peripheral?.delegate = unheard
        case "connect-other": other?.connect(peripheral!)
        case "cancel-other": other?.cancelPeripheralConnection(peripheral!)
        case "release": manager = nil
        default: performOnPeripheral(command)
        }
    }

    func restored(_ state: [String: Any]) {
        let restored = state[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
        peripheral = restored.first
        peripheral?.delegate = self
        happened("willRestoreState", "\(restored.map { $0.name ?? "?" })")
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
        case "command": peripheral.writeValue(Data([1]), for: characteristics[0], type: .withoutResponse)
        case "can-write": say("canSend \(peripheral.canSendWriteWithoutResponse)")
        case "longest": say("longest \(peripheral.maximumWriteValueLength(for: .withoutResponse))")
        case "keep": kept = characteristics.first
        case "read-kept": peripheral.readValue(for: kept!)
        case "name": say("name \(peripheral.name ?? "nil")")
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

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {
        happened("isReady", "")
    }

    func peripheralDidUpdateName(_ peripheral: CBPeripheral) {
        happened("didUpdateName", peripheral.name ?? "nil")
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

// MARK: The manager's delegate

extension CentralDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        end?.happened("\(central.state)", "")
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        end?.peripheral = peripheral
        peripheral.delegate = end
        let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String ?? "?"
        let power = advertisementData[CBAdvertisementDataTxPowerLevelKey] as? Int
        let services = advertisementData[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []
        let isConnectable = advertisementData[CBAdvertisementDataIsConnectable] as? Bool
        end?.happened(
            "didDiscover",
            "\(name) \(services) power=\(power ?? 0) connectable=\(isConnectable ?? false) rssi=\(RSSI.intValue)"
        )
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        end?.happened("didConnect", "")
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?) {
        end?.happened("didFailToConnect", text(error))
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        timestamp: CFAbsoluteTime,
        isReconnecting: Bool,
        error: Error?
    ) {
        end?.happened("didDisconnect", "reconnecting=\(isReconnecting) \(text(error)) \(peripheral.state)")
    }

    func centralManager(
        _ central: CBCentralManager,
        connectionEventDidOccur event: CBConnectionEvent,
        for peripheral: CBPeripheral
    ) {
        end?.happened("connectionEvent", "\(event) \(peripheral.name ?? "?")")
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
