import CoreBluetooth

/// A delegate with what is required and nothing more.
final class PlainPeripheralDelegate: NSObject, CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        say("state \(peripheral.state)")
    }
}

/// A peripheral manager with one service: a value that never changes, and one that is read, written and notified.
class PeripheralEnd: NSObject {
    private let script: [String: [String]]
    private let plain = PlainPeripheralDelegate()
    private var manager: CBPeripheralManager!
    private var service = CBMutableService(type: CBUUID(string: "180F"), primary: true)
    private var level = CBMutableCharacteristic(
        type: CBUUID(string: "2A19"),
        properties: [.read, .write, .notify],
        value: nil,
        permissions: [.readable, .writeable]
    )
    private var requests: [CBATTRequest] = []
    private var sent = 0

    required init(script: [String: [String]], restoreIdentifier: String?) {
        self.script = script
        super.init()
        let name = CBMutableCharacteristic(
            type: CBUUID(string: "2A00"),
            properties: .read,
            value: Data([111, 107]),
            permissions: .readable
        )
        level.descriptors = [CBMutableDescriptor(type: CBUUID(string: "2901"), value: "Level")]
        service.characteristics = [level, name]
        var options: [String: Any] = [:]
        options[CBPeripheralManagerOptionRestoreIdentifierKey] = restoreIdentifier
        let own = self as? any CBPeripheralManagerDelegate
        let delegate: (any CBPeripheralManagerDelegate)? = script["plain"] == nil ? own : plain
        manager = CBPeripheralManager(delegate: delegate, queue: nil, options: options)
        happened("made", "")
    }

    private func happened(_ name: String, _ detail: String) {
        if name != "made" {
            say(detail.isEmpty ? name : "\(name) \(detail)")
        }
        for command in script[name] ?? [] {
            perform(command)
        }
    }

    private func perform(_ command: String) {
        switch command {
        case "add": manager.add(service)
        case "remove": manager.remove(service)
        case "remove-all": manager.removeAllServices()
        case "add-bad":
            let bad = CBMutableService(type: CBUUID(string: "1809"), primary: true)
            bad.characteristics = [
                CBMutableCharacteristic(
                    type: CBUUID(string: "2A1C"),
                    properties: [.read, .notify],
                    value: Data([1]),
                    permissions: .readable
                )
            ]
            manager.add(bad)
        case "advertise":
            manager.startAdvertising([
                CBAdvertisementDataLocalNameKey: "cell", CBAdvertisementDataServiceUUIDsKey: [service.uuid],
            ])
        case "advertise-more":
            manager.startAdvertising([CBAdvertisementDataManufacturerDataKey: Data([1])])
        case "stop": manager.stopAdvertising()
        case "advertising": say("isAdvertising \(manager.isAdvertising)")
        case "publish": manager.publishL2CAPChannel(withEncryption: true)
        case "unpublish": manager.unpublishL2CAPChannel(192)
        default: performOnValue(command)
        }
    }

    private func performOnValue(_ command: String) {
        switch command {
        case "update":
            // Until the queue is full, as such code does.
            while sent < 3, manager.updateValue(Data([UInt8(sent)]), for: level, onSubscribedCentrals: nil) {
                sent += 1
            }
            say("sent \(sent)")
        case "update-one":
            let centrals = level.subscribedCentrals
            say("updated \(manager.updateValue(Data([7]), for: level, onSubscribedCentrals: centrals))")
        case "answer":
            for request in requests where request.value == nil {
                request.value = Data([50, 51, 52]).dropFirst(request.offset)
            }
            requests.first.map { manager.respond(to: $0, withResult: .success) }
        case "refuse": requests.first.map { manager.respond(to: $0, withResult: .insufficientAuthorization) }
        case "subscribed":
            say("subscribed \(level.subscribedCentrals?.map(\.maximumUpdateValueLength) ?? [])")
        default: say("unknown command \(command)")
        }
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        happened("\(peripheral.state)", "")
    }

    fileprivate func restore(_ dict: [String: Any]) {
        let services = dict[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService] ?? []
        let advertised = dict[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any] ?? [:]
        service = services.first ?? service
        level = service.characteristics?.first as? CBMutableCharacteristic ?? level
        happened(
            "willRestoreState",
            "\(services.map(\.uuid)) name=\(advertised[CBAdvertisementDataLocalNameKey] as? String ?? "?")"
        )
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: Error?) {
        happened("didAdd", "\(service.uuid) \(text(error))")
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: Error?) {
        happened("didStartAdvertising", text(error))
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        happened("didSubscribe", "\(characteristic.uuid) \(central.maximumUpdateValueLength)")
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        happened("didUnsubscribe", "\(characteristic.uuid)")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        requests = [request]
        happened("didReceiveRead", "\(request.characteristic.uuid) offset=\(request.offset)")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        self.requests = requests
        happened("didReceiveWrite", "\(requests.map { "\($0.offset):\(hexadecimal($0.value))" })")
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
        happened("isReady", "")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: Error?) {
        happened("didPublish", "\(PSM) \(text(error))")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: Error?) {
        happened("didUnpublish", "\(PSM) \(text(error))")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: Error?) {
        happened("didOpen", channel.map { "psm=\($0.psm) central=\($0.peer is CBCentral)" } ?? text(error))
    }
}

/// One that is not to be restored.
final class UnrestoredPeripheralEnd: PeripheralEnd, CBPeripheralManagerDelegate {}

/// One that takes up what it did before.
final class RestoredPeripheralEnd: PeripheralEnd, CBPeripheralManagerDelegate {
    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        restore(dict)
    }
}
