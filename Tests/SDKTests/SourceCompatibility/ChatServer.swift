import CoreBluetooth
import Foundation
import OSLog

// Written as for iOS, the whole of Core Bluetooth's peripheral role in use; that it compiles is the test.

final class ChatServer: NSObject, CBPeripheralManagerDelegate {
    private let logger = Logger(subsystem: "com.example.chat", category: "server")
    private lazy var manager = CBPeripheralManager(
        delegate: self,
        queue: .global(qos: .userInitiated),
        options: [
            CBPeripheralManagerOptionRestoreIdentifierKey: "com.example.chat.server",
            CBPeripheralManagerOptionShowPowerAlertKey: true,
        ]
    )
    private var inbox: CBMutableCharacteristic?
    private var outbox: CBMutableCharacteristic?
    private var queue: [Data] = []
    private var members: Set<CBCentral> = []
    private var published: CBL2CAPPSM?

    func start() {
        guard manager.state == .poweredOn, !manager.isAdvertising else { return }
        let inbox = CBMutableCharacteristic(
            type: CBUUID(string: "A001"),
            properties: [.write, .writeWithoutResponse],
            value: nil,
            permissions: [.writeable, .writeEncryptionRequired]
        )
        let outbox = CBMutableCharacteristic(
            type: CBUUID(nsuuid: UUID()),
            properties: [.read, .notifyEncryptionRequired, .indicate],
            value: nil,
            permissions: .readEncryptionRequired
        )
        outbox.descriptors = [
            CBMutableDescriptor(type: CBUUID(string: CBUUIDCharacteristicUserDescriptionString), value: "Outbox"),
            CBMutableDescriptor(
                type: CBUUID(string: CBUUIDCharacteristicFormatString),
                value: Data([0x19, 0, 0, 0, 1, 0, 0])
            ),
        ]
        let service = CBMutableService(type: CBUUID(string: "A000"), primary: true)
        let profile = CBMutableService(type: CBUUID(data: Data([0xA0, 0x10])), primary: false)
        profile.characteristics = [
            CBMutableCharacteristic(
                type: CBUUID(string: "2A00"),
                properties: .read,
                value: "Chat".data(using: .utf8),
                permissions: .readable
            )
        ]
        service.includedServices = [profile]
        service.characteristics = [inbox, outbox]
        manager.add(profile)
        manager.add(service)
        manager.publishL2CAPChannel(withEncryption: true)
        (self.inbox, self.outbox) = (inbox, outbox)
    }

    func stop() {
        manager.stopAdvertising()
        manager.removeAllServices()
        if let psm = published {
            manager.unpublishL2CAPChannel(psm)
        }
    }

    func say(_ text: String, to central: CBCentral? = nil) {
        guard let outbox else { return }
        let data = Data(text.utf8).prefix(central?.maximumUpdateValueLength ?? 20)
        if !manager.updateValue(data, for: outbox, onSubscribedCentrals: central.map { [$0] }) {
            queue.append(data)
        }
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        switch peripheral.state {
        case .poweredOn: start()
        case .unauthorized: logger.error("not allowed: \(CBPeripheralManager.authorizationStatus().rawValue)")
        default: logger.notice("state \(peripheral.state.rawValue, privacy: .public)")
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        let services = dict[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService] ?? []
        let advertisement = dict[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any]
        outbox =
            services.flatMap { $0.characteristics ?? [] }.first { $0.properties.contains(.indicate) }
            as? CBMutableCharacteristic
        members = Set(outbox?.subscribedCentrals ?? [])
        logger.info("restored \(services.count) services, \(advertisement?.count ?? 0, format: .decimal) keys")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: Error?) {
        if let error = error {
            logger.error("\(service.uuid.uuidString, privacy: .private): \(error.localizedDescription)")
            return
        }
        guard service.isPrimary else { return }
        peripheral.startAdvertising([
            CBAdvertisementDataServiceUUIDsKey: [service.uuid],
            CBAdvertisementDataLocalNameKey: "Chat",
        ])
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: Error?) {
        if case CBError.alreadyAdvertising? = error { return }
        logger.debug("advertising \(peripheral.isAdvertising)")
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        members.insert(central)
        peripheral.setDesiredConnectionLatency(.low, for: central)
        say("welcome", to: central)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        members.remove(central)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        guard request.characteristic.uuid == outbox?.uuid, let value = queue.last else {
            peripheral.respond(to: request, withResult: .attributeNotFound)
            return
        }
        guard request.offset <= value.count else {
            peripheral.respond(to: request, withResult: CBATTError.invalidOffset)
            return
        }
        request.value = value.subdata(in: request.offset..<value.count)
        peripheral.respond(to: request, withResult: .success)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        for request in requests where request.characteristic == inbox {
            let text = request.value.flatMap { String(data: $0, encoding: .utf8) } ?? ""
            logger.log(level: .info, "\(request.central.identifier): \(text)")
        }
        peripheral.respond(to: requests[0], withResult: .success)
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
        while let first = queue.first, let outbox = outbox {
            guard peripheral.updateValue(first, for: outbox, onSubscribedCentrals: nil) else { return }
            queue.removeFirst()
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: Error?) {
        published = error == nil ? PSM : nil
        let value = Data([UInt8(PSM & 0xFF), UInt8(PSM >> 8)])
        logger.info("\(CBUUIDL2CAPPSMCharacteristicString): \(value as NSData)")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: Error?) {
        published = nil
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: Error?) {
        guard let channel = channel, channel.peer is CBCentral else { return }
        channel.outputStream.open()
        channel.inputStream.open()
    }
}
