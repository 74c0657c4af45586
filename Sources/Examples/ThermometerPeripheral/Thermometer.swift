import CoreBluetooth
import os

/// Serves the Health Thermometer service: temperatures by indication and notification, a long text to read, an interval
/// to write, and an L2CAP channel that sends back what it gets.
@MainActor
final class Thermometer: NSObject, @preconcurrency CBPeripheralManagerDelegate {
    private static let service = CBUUID(string: "1809")
    /// Temperature Measurement, by indication.
    private static let measurement = CBUUID(string: "2A1C")
    /// Intermediate Temperature, by notification.
    private static let intermediate = CBUUID(string: "2A1E")
    /// Temperature Type, which never changes: body.
    private static let type = CBUUID(string: "2A1D")
    /// Measurement Interval in seconds, to read and write.
    private static let interval = CBUUID(string: "2A21")
    /// A text of 300 bytes: longer than one packet, so that it is read in parts.
    private static let manual = CBUUID(string: "6E1F0001-5C2D-4A0B-9B4C-2F7A8D1E3C50")

    private let logger = Logger(subsystem: "com.example.thermometer", category: "peripheral")
    private let text = Data((0..<300).map { UInt8(97 + $0 % 26) })
    private var manager: CBPeripheralManager!
    private var characteristics: [CBUUID: CBMutableCharacteristic] = [:]
    private var isPublished = false
    private var interval: UInt16 = 60
    private var waiting: [(CBUUID, Data)] = []
    private var echoes: [Echo] = []
    private var reads = 0
    private var writes = 0
    private var updates = 0

    override init() {
        super.init()
        manager = CBPeripheralManager(
            delegate: self,
            queue: nil,
            options: [CBPeripheralManagerOptionRestoreIdentifierKey: "thermometer"]
        )
    }

    // MARK: The life of the manager

    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        let services = dict[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService] ?? []
        let advertised = dict[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any]
        log("willRestoreState services=\(services.count) advertising=\(advertised != nil)")
        for service in services where service.uuid == Self.service {
            adopt(service)
        }
        isPublished = !characteristics.isEmpty
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        log("didUpdateState \(peripheral.state)")
        guard peripheral.state == .poweredOn else { return }
        if isPublished {
            offer()
        } else {
            publish()
        }
    }

    private func offer() {
        // A channel ends with its process: one that is restored has none.
        manager.publishL2CAPChannel(withEncryption: false)
        advertise()
    }

    private func publish() {
        let service = CBMutableService(type: Self.service, primary: true)
        let manual = CBMutableCharacteristic(
            type: Self.manual,
            properties: .read,
            value: nil,
            permissions: .readable
        )
        manual.descriptors = [
            CBMutableDescriptor(type: CBUUID(string: CBUUIDCharacteristicUserDescriptionString), value: "Manual")
        ]
        service.characteristics = [
            CBMutableCharacteristic(type: Self.measurement, properties: .indicate, value: nil, permissions: []),
            CBMutableCharacteristic(type: Self.intermediate, properties: .notify, value: nil, permissions: []),
            CBMutableCharacteristic(type: Self.type, properties: .read, value: Data([2]), permissions: .readable),
            CBMutableCharacteristic(
                type: Self.interval,
                properties: [.read, .write],
                value: nil,
                permissions: [.readable, .writeable]
            ),
            manual,
        ]
        adopt(service)
        manager.add(service)
    }

    private func adopt(_ service: CBMutableService) {
        for case let characteristic as CBMutableCharacteristic in service.characteristics ?? [] {
            characteristics[characteristic.uuid] = characteristic
        }
    }

    private func advertise() {
        guard !manager.isAdvertising else { return }
        manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Oven",
            CBAdvertisementDataServiceUUIDsKey: [Self.service],
        ])
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: Error?) {
        log("didAdd \(service.uuid) error=\(describe(error))")
        isPublished = error == nil
        if isPublished { offer() }
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: Error?) {
        log("didStartAdvertising error=\(describe(error))")
    }

    // MARK: Centrals

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        log("didSubscribe \(characteristic.uuid) limit=\(central.maximumUpdateValueLength)")
        send(temperature(), for: characteristic.uuid)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        let left = characteristics[characteristic.uuid]?.subscribedCentrals?.count ?? 0
        log("didUnsubscribe \(characteristic.uuid) left=\(left)")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        reads += 1
        log("didReceiveRead \(request.characteristic.uuid) offset=\(request.offset) pid=\(pid) count=\(reads)")
        let value: Data
        switch request.characteristic.uuid {
        case Self.manual: value = text
        case Self.interval: value = Data([UInt8(interval & 0xFF), UInt8(interval >> 8)])
        default: return peripheral.respond(to: request, withResult: .readNotPermitted)
        }
        guard request.offset <= value.count else {
            return peripheral.respond(to: request, withResult: .invalidOffset)
        }
        request.value = value.dropFirst(request.offset)
        peripheral.respond(to: request, withResult: .success)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        guard let first = requests.first else { return }
        writes += 1
        let values = requests.map { ($0.value ?? Data()).map { String(format: "%02x", $0) }.joined() }
        log("didReceiveWrite \(first.characteristic.uuid) \(values) pid=\(pid) count=\(writes)")
        guard requests.allSatisfy({ $0.characteristic.uuid == Self.interval }) else {
            return peripheral.respond(to: first, withResult: .writeNotPermitted)
        }
        guard let value = first.value, value.count == 2, requests.count == 1, first.offset == 0 else {
            return peripheral.respond(to: first, withResult: .invalidAttributeValueLength)
        }
        interval = UInt16(value[value.startIndex]) | UInt16(value[value.startIndex + 1]) << 8
        peripheral.respond(to: first, withResult: .success)
        // The new interval is told to everyone who listens, with a measurement by either way.
        send(temperature(), for: Self.measurement)
        send(temperature(), for: Self.intermediate)
    }

    // MARK: Values

    /// 36.6 °C and a few tenths more each time, as IEEE-11073 has it: flags, mantissa in tenths, exponent -1.
    private func temperature() -> Data {
        updates += 1
        let tenths = 366 + updates % 10
        return Data([0, UInt8(tenths & 0xFF), UInt8(tenths >> 8), 0, 0xFF])
    }

    private func send(_ value: Data, for uuid: CBUUID) {
        waiting.append((uuid, value))
        flush()
    }

    private func flush() {
        while let (uuid, value) = waiting.first {
            guard let characteristic = characteristics[uuid] else {
                waiting.removeFirst()
                continue
            }
            guard manager.updateValue(value, for: characteristic, onSubscribedCentrals: nil) else {
                logger.info("the queue is full, \(self.waiting.count, privacy: .public) values wait")
                return log("updateValue full waiting=\(waiting.count)")
            }
            waiting.removeFirst()
            log("updateValue \(uuid) count=\(updates)")
        }
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
        log("isReadyToUpdateSubscribers waiting=\(waiting.count)")
        flush()
    }

    // MARK: Channels

    func peripheralManager(_ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: Error?) {
        log("didPublishL2CAPChannel psm=\(PSM) error=\(describe(error))")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: Error?) {
        log("didOpenChannel error=\(describe(error))")
        guard let channel else { return }
        echoes.append(
            Echo(channel) { [weak self] echo in
                self?.echoes.removeAll { $0 === echo }
            }
        )
    }

    private var pid: Int32 { ProcessInfo.processInfo.processIdentifier }

    private func describe(_ error: Error?) -> String {
        switch error {
        case nil: "none"
        case let error as CBError: "\(error.code)"
        case let error?: "\(error)"
        }
    }
}
