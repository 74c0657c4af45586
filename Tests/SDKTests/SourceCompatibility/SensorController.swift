import CoreBluetooth
import Foundation
import os

// Written as for iOS, the whole of Core Bluetooth's central role in use; that it compiles is the test.

private let log = OSLog(subsystem: "com.example.sensor", category: "controller")

/// What a sensor can be in, as such apps have it.
enum SensorState: Equatable {
    case idle
    case searching
    case pairing(UUID)
    case ready(battery: Int)
    case failed(CBError.Code)
}

protocol SensorControllerDelegate: AnyObject {
    func sensorController(_ controller: SensorController, didChange state: SensorState)
    func sensorController(_ controller: SensorController, didReceive measurement: Data)
}

extension CBUUID {
    static let sensor = CBUUID(string: "6E400001-B5A3-F393-E0A9-E50E24DCCA9E")
    static let command = CBUUID(string: "6E400002-B5A3-F393-E0A9-E50E24DCCA9E")
    static let stream = CBUUID(string: "6E400003-B5A3-F393-E0A9-E50E24DCCA9E")
    static let battery = CBUUID(string: "180F")
    static let batteryLevel = CBUUID(string: "2A19")
}

final class SensorController: NSObject {
    weak var delegate: SensorControllerDelegate?

    private let queue = DispatchQueue(label: "com.example.sensor", qos: .utility)
    private var central: CBCentralManager!
    private var sensors: [UUID: CBPeripheral] = [:]
    private var pendingWrites: [(Data, CBCharacteristic)] = []
    private var streams: [CBL2CAPChannel] = []
    private var completions: [CBUUID: (Result<Data, Error>) -> Void] = [:]

    private(set) var state: SensorState = .idle {
        didSet {
            if oldValue != state { delegate?.sensorController(self, didChange: state) }
        }
    }

    override init() {
        super.init()
        central = CBCentralManager(
            delegate: self,
            queue: queue,
            options: [
                CBCentralManagerOptionRestoreIdentifierKey: "com.example.sensor.central",
                CBCentralManagerOptionShowPowerAlertKey: NSNumber(value: false),
            ]
        )
    }

    var isAvailable: Bool {
        guard CBCentralManager.authorization == .allowedAlways || CBManager.authorization == .notDetermined else {
            return false
        }
        switch central.state {
        case .poweredOn: return true
        case .poweredOff, .resetting, .unauthorized, .unsupported, .unknown: return false
        @unknown default: return false
        }
    }

    func search() {
        guard central.state == .poweredOn, !central.isScanning else { return }
        state = .searching
        let connected = central.retrieveConnectedPeripherals(withServices: [.sensor])
        if let known = connected.first ?? central.retrievePeripherals(withIdentifiers: Array(sensors.keys)).first {
            pair(known)
            return
        }
        central.scanForPeripherals(
            withServices: [.sensor],
            options: [
                CBCentralManagerScanOptionAllowDuplicatesKey: false,
                CBCentralManagerScanOptionSolicitedServiceUUIDsKey: [CBUUID.battery],
            ]
        )
        if CBCentralManager.supports(.extendedScanAndConnect) {
            central.registerForConnectionEvents(options: [.serviceUUIDs: [CBUUID.sensor]])
        }
    }

    private func pair(_ peripheral: CBPeripheral) {
        sensors[peripheral.identifier] = peripheral
        peripheral.delegate = self
        state = .pairing(peripheral.identifier)
        central.connect(
            peripheral,
            options: [
                CBConnectPeripheralOptionNotifyOnConnectionKey: true,
                CBConnectPeripheralOptionNotifyOnDisconnectionKey: true,
                CBConnectPeripheralOptionNotifyOnNotificationKey: true,
                CBConnectPeripheralOptionEnableAutoReconnect: true,
                CBConnectPeripheralOptionStartDelayKey: 1,
            ]
        )
    }

    func send(_ command: Data, to peripheral: CBPeripheral, completion: @escaping (Result<Data, Error>) -> Void) {
        guard peripheral.state == .connected,
            let service = peripheral.services?.first(where: { $0.uuid == .sensor }),
            let characteristic = service.characteristics?.first(where: { $0.uuid == .command })
        else {
            completion(.failure(CBError(.notConnected)))
            return
        }
        completions[characteristic.uuid] = completion
        if characteristic.properties.contains(.writeWithoutResponse), peripheral.canSendWriteWithoutResponse,
            command.count <= peripheral.maximumWriteValueLength(for: .withoutResponse)
        {
            peripheral.writeValue(command, for: characteristic, type: .withoutResponse)
        } else if characteristic.properties.isSuperset(of: [.write]) {
            peripheral.writeValue(command, for: characteristic, type: .withResponse)
        } else {
            pendingWrites.append((command, characteristic))
        }
    }

    func disconnectAll() {
        central.stopScan()
        for (_, sensor) in sensors where sensor.state != .disconnected {
            central.cancelPeripheralConnection(sensor)
        }
    }
}

// MARK: - CBCentralManagerDelegate

extension SensorController: CBCentralManagerDelegate {
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        if let peripherals = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] {
            for peripheral in peripherals {
                sensors[peripheral.identifier] = peripheral
                peripheral.delegate = self
            }
        }
        let services = dict[CBCentralManagerRestoredStateScanServicesKey] as? [CBUUID] ?? []
        let options = dict[CBCentralManagerRestoredStateScanOptionsKey] as? [String: Any]
        os_log("restored %d peripherals, %{public}@ %@", log: log, type: .info, sensors.count, services, options ?? [:])
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        os_log("state: %{public}@", log: log, type: .default, String(describing: central.state))
        if #available(iOS 13.1, *) {
            guard central.authorization != .denied else { return }
        }
        central.state == .poweredOn ? search() : (state = .idle)
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard RSSI.intValue > -90, RSSI != 127 else { return }
        let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String ?? peripheral.name ?? "unnamed"
        let isConnectable = (advertisementData[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue ?? false
        let manufacturer = advertisementData[CBAdvertisementDataManufacturerDataKey] as? Data
        let serviceData = advertisementData[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data]
        let overflow = advertisementData[CBAdvertisementDataOverflowServiceUUIDsKey] as? [CBUUID]
        let solicited = advertisementData[CBAdvertisementDataSolicitedServiceUUIDsKey] as? [CBUUID]
        let power = advertisementData[CBAdvertisementDataTxPowerLevelKey] as? NSNumber
        os_log(
            .debug,
            log: log,
            "%@ %@ %@ %@ %@ %@",
            name,
            manufacturer ?? Data(),
            serviceData ?? [:],
            overflow ?? [],
            solicited ?? [],
            power ?? 0
        )
        guard isConnectable else { return }
        central.stopScan()
        pair(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices([.sensor, .battery])
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?) {
        if let error = error as? CBError {
            state = .failed(error.code)
        }
    }

    func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {
        switch error {
        case CBError.connectionTimeout?, CBError.peripheralDisconnected?:
            central.connect(peripheral, options: nil)
        case let error as NSError where error.domain == CBErrorDomain && error.code == CBError.Code.unknown.rawValue:
            search()
        default:
            sensors[peripheral.identifier] = nil
        }
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        timestamp: CFAbsoluteTime,
        isReconnecting: Bool,
        error: Error?
    ) {
        guard !isReconnecting else {
            state = .pairing(peripheral.identifier)
            return
        }
        let elapsed = CFAbsoluteTimeGetCurrent() - timestamp
        os_log("gone for %.1f s", elapsed)
        centralManager(central, didDisconnectPeripheral: peripheral, error: error)
    }

    func centralManager(
        _ central: CBCentralManager,
        connectionEventDidOccur event: CBConnectionEvent,
        for peripheral: CBPeripheral
    ) {
        switch event {
        case .peerConnected: pair(peripheral)
        case .peerDisconnected: break
        @unknown default: break
        }
    }

    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {
        os_log("ANCS %d", peripheral.ancsAuthorized ? 1 : 0)
    }
}

// MARK: - CBPeripheralDelegate

extension SensorController: CBPeripheralDelegate {
    func peripheralDidUpdateName(_ peripheral: CBPeripheral) {
        os_log("name %@", log: log, peripheral.name ?? "none")
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
        for service in peripheral.services ?? [] where service.isPrimary {
            peripheral.discoverIncludedServices(nil, for: service)
            peripheral.discoverCharacteristics(service.uuid == .battery ? [.batteryLevel] : nil, for: service)
        }
        peripheral.openL2CAPChannel(CBL2CAPPSM(0x0080))
        peripheral.readRSSI()
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: Error?) {
        service.includedServices?.forEach { peripheral.discoverCharacteristics(nil, for: $0) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
        guard error == nil, let characteristics = service.characteristics else { return }
        for characteristic in characteristics {
            if !characteristic.properties.isDisjoint(with: [.notify, .indicate]), !characteristic.isNotifying {
                peripheral.setNotifyValue(true, for: characteristic)
            } else if characteristic.properties.contains(.read) {
                peripheral.readValue(for: characteristic)
            }
            peripheral.discoverDescriptors(for: characteristic)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverDescriptorsFor characteristic: CBCharacteristic,
        error: Error?
    ) {
        for descriptor in characteristic.descriptors ?? []
        where descriptor.uuid.uuidString == CBUUIDCharacteristicUserDescriptionString {
            peripheral.readValue(for: descriptor)
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: Error?) {
        switch descriptor.value {
        case let text as String: os_log("%@ is %@", log: log, descriptor.characteristic?.uuid ?? .sensor, text)
        case let number as NSNumber: os_log("%d", log: log, number.intValue)
        case let data as Data: peripheral.writeValue(data, for: descriptor)
        default: break
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: Error?) {}

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
        if let error = error as? CBATTError, error.code == .insufficientEncryption {
            completions[characteristic.uuid]?(.failure(error))
            return
        }
        guard let value = characteristic.value else { return }
        switch characteristic.uuid {
        case .batteryLevel: state = .ready(battery: Int(value.first ?? 0))
        case .stream: delegate?.sensorController(self, didReceive: value)
        case let other where characteristic.service?.uuid == .sensor:
            completions.removeValue(forKey: other)?(.success(value))
        default: break
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: Error?) {
        if let error {
            completions.removeValue(forKey: characteristic.uuid)?(.failure(error))
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: Error?
    ) {
        guard (error as NSError?)?.code != CBATTError.Code.insufficientAuthentication.rawValue else { return }
        os_log("notifying: %@", log: log, type: .info, characteristic.isNotifying as NSNumber)
    }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        let gone = Set(invalidatedServices.map(\.uuid))
        if gone.contains(.sensor) { peripheral.discoverServices([.sensor]) }
    }

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: Error?) {}

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {
        while let (data, characteristic) = pendingWrites.first, peripheral.canSendWriteWithoutResponse {
            peripheral.writeValue(data, for: characteristic, type: .withoutResponse)
            pendingWrites.removeFirst()
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: Error?) {
        guard let channel = channel, let input = channel.inputStream, let output = channel.outputStream else { return }
        streams.append(channel)
        for stream in [input, output] as [Stream] {
            stream.delegate = self
            stream.schedule(in: RunLoop.main, forMode: .common)
            stream.open()
        }
        os_log("channel %d to %@", log: log, Int(channel.psm), channel.peer.identifier.uuidString)
    }
}

extension SensorController: StreamDelegate {
    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        switch eventCode {
        case .openCompleted, .hasBytesAvailable, .hasSpaceAvailable: break
        case .endEncountered, .errorOccurred:
            aStream.close()
            aStream.remove(from: .main, forMode: .common)
        default: break
        }
    }
}
