import Foundation
import WakeClient
import WakeWire

/// The state of a connection.
public enum CBPeripheralState: Int, Sendable {
    /// No connection.
    case disconnected = 0
    /// A connect is pending.
    case connecting = 1
    /// Connected.
    case connected = 2
    /// The connection is being ended.
    case disconnecting = 3
}

/// A device that was discovered, and what was found on it.
///
/// A central manager gives the same object for the same identifier as long as the app keeps it. An object that the app
/// drops while it is connected or connecting takes its connection with it.
open class CBPeripheral: CBPeer {
    /// What the app asked for and was not answered yet.
    enum Operation: Equatable {
        case discoverServices
        case discoverIncludedServices(UInt16)
        case discoverCharacteristics(UInt16)
        case discoverDescriptors(UInt16)
        case read(UInt16)
        case write(UInt16)
        case setNotify(UInt16)
        case readDescriptor(UInt16)
        case writeDescriptor(UInt16)
        case readRSSI
        case openChannel(UInt16)
    }

    /// Who is told what happens to the peripheral.
    open weak var delegate: (any CBPeripheralDelegate)?

    let lock = NSLock()
    private weak var manager: CBCentralManager?
    private let number: UInt32
    var storedName: String?
    var storedState = CBPeripheralState.disconnected
    var storedServices: [CBService]?
    var servicesByHandle: [UInt16: CBService] = [:]
    var characteristics: [UInt16: CBCharacteristic] = [:]
    var descriptors: [UInt16: CBDescriptor] = [:]
    var pending: [Operation] = []
    /// How many writes without response the phone is known to take.
    var writeRoom = 0
    /// It was said that a write was lost, and there was no room since.
    private var saidLost = false

    init(identifier: UUID, name: String?, manager: CBCentralManager, number: UInt32) {
        storedName = name
        self.manager = manager
        self.number = number
        super.init(identifier: identifier)
    }

    deinit {
        guard let manager else {
            return
        }
        manager.forget(identifier)
        if storedState == .connecting || storedState == .connected {
            reportMisuse(
                "Cancelling connection for unused peripheral \(identifier.uuidString), "
                    + "Did you forget to keep a reference to it?"
            )
            let cancel = CentralRequest.cancel(peripheral: identifier.uuidString)
            BenchClient.shared.send(.central(manager: number, cancel))
        }
    }

    /// Whether a manager has given this object to the app.
    func isOf(_ manager: CBCentralManager) -> Bool { self.manager === manager }

    /// The name, where known.
    open var name: String? {
        lock.withLock { storedName }
    }

    /// The state of the connection.
    open internal(set) var state: CBPeripheralState {
        get { lock.withLock { storedState } }
        set { lock.withLock { storedState = newValue } }
    }

    /// The services found so far; nil before a discovery and after a disconnect.
    open var services: [CBService]? {
        lock.withLock { storedServices }
    }

    /// Whether the phone takes a write without response now.
    ///
    /// It keeps about 20 on their way to a peripheral, and sends several in each connection interval. What is written while the
    /// queue is full is lost; ``CBPeripheralDelegate/peripheralIsReady(toSendWriteWithoutResponse:)`` comes once when it
    /// takes more.
    open var canSendWriteWithoutResponse: Bool {
        guard state == .connected else {
            return false
        }
        return lock.withLock { writeRoom } > 0 || askForRoom() > 0
    }

    /// Asks what the phone takes of writes without response.
    private func ask() -> WireReply {
        BenchClient.shared.request {
            .peripheral(manager: number, peripheral: identifier.uuidString, .writeRoom(id: $0))
        }
    }

    /// Asks how many more writes without response the phone takes.
    private func askForRoom() -> Int {
        let room = Int(ask().room ?? 0)
        lock.withLock { writeRoom = room }
        return room
    }

    /// Takes a place in the queue of writes without response; false when it is full.
    private func takesCommand() -> Bool {
        if lock.withLock({ writeRoom == 0 }), askForRoom() == 0 {
            let isFirst = lock.withLock { !exchange(&saidLost, with: true) }
            if isFirst {
                reportWarning(
                    "\(self) takes no more writes without response now, what is written until it is ready is lost"
                )
            }
            return false
        }
        lock.withLock {
            writeRoom = max(0, writeRoom - 1)
            saidLost = false
        }
        return true
    }

    /// Whether the app may use the notification centre of the phone through the peripheral; never, on this one.
    open var ancsAuthorized: Bool {
        false
    }

    /// The name, identifier and state, for people.
    open override var description: String {
        "<CBPeripheral: identifier = \(identifier.uuidString), name = \(name ?? "(null)"), state = \(state)>"
    }

    /// The longest value that one write takes, in bytes: 512 with response; without, what the ATT MTU agreed with the peripheral
    /// leaves, such as 182, and 20 while there is no connection.
    open func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int {
        guard type == .withoutResponse else {
            return WireLimits.valueBytes
        }
        guard state == .connected else {
            return 20
        }
        return Int(ask().longest ?? 20)
    }

    // MARK: Requests

    /// Finds services; nil means all.
    open func discoverServices(_ serviceUUIDs: [CBUUID]?) {
        send(.discoverServices(serviceUUIDs?.map(\.uuidString)), as: .discoverServices)
    }

    /// Finds the services that a service includes; nil means all.
    open func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]?, for service: CBService) {
        guard owns(service) else {
            return
        }
        send(
            .discoverIncludedServices(includedServiceUUIDs?.map(\.uuidString), service: service.handle),
            as: .discoverIncludedServices(service.handle)
        )
    }

    /// Finds characteristics of a service; nil means all.
    open func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]?, for service: CBService) {
        guard owns(service) else {
            return
        }
        send(
            .discoverCharacteristics(characteristicUUIDs?.map(\.uuidString), service: service.handle),
            as: .discoverCharacteristics(service.handle)
        )
    }

    /// Finds the descriptors of a characteristic.
    open func discoverDescriptors(for characteristic: CBCharacteristic) {
        guard owns(characteristic) else {
            return
        }
        send(
            .discoverDescriptors(characteristic: characteristic.handle),
            as: .discoverDescriptors(characteristic.handle)
        )
    }

    /// Reads a characteristic's value.
    open func readValue(for characteristic: CBCharacteristic) {
        if owns(characteristic) {
            send(.read(attribute: characteristic.handle), as: .read(characteristic.handle))
        }
    }

    /// Reads a descriptor's value.
    open func readValue(for descriptor: CBDescriptor) {
        if owns(descriptor) {
            send(.readDescriptor(attribute: descriptor.handle), as: .readDescriptor(descriptor.handle))
        }
    }

    /// Writes a characteristic's value; only a write with response is answered. One without is lost while
    /// ``canSendWriteWithoutResponse`` is false.
    open func writeValue(
        _ data: Data,
        for characteristic: CBCharacteristic,
        type: CBCharacteristicWriteType
    ) {
        guard data.count <= WireLimits.valueBytes else {
            return refuse(data.count)
        }
        guard owns(characteristic) else {
            return
        }
        let withResponse = type == .withResponse
        if !withResponse {
            if !characteristic.properties.contains(.writeWithoutResponse) {
                reportWarning(
                    "Characteristic \(characteristic) does not specify the \"Write Without Response\" property - "
                        + "ignoring response-less write"
                )
            }
            guard state != .connected || takesCommand() else {
                return
            }
        }
        send(
            .write(attribute: characteristic.handle, value: Array(data), withResponse: withResponse),
            as: withResponse ? .write(characteristic.handle) : nil
        )
    }

    /// Writes a descriptor's value.
    open func writeValue(_ data: Data, for descriptor: CBDescriptor) {
        guard data.count <= WireLimits.valueBytes else {
            return refuse(data.count)
        }
        guard owns(descriptor) else {
            return
        }
        send(
            .writeDescriptor(attribute: descriptor.handle, value: Array(data)),
            as: .writeDescriptor(descriptor.handle)
        )
    }

    /// Turns notifications or indications on or off.
    open func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {
        guard owns(characteristic) else {
            return
        }
        send(
            .setNotify(attribute: characteristic.handle, enabled: enabled),
            as: .setNotify(characteristic.handle)
        )
    }

    /// Reads the signal strength of the connection.
    open func readRSSI() {
        send(.readRSSI, as: .readRSSI)
    }

    /// Opens an L2CAP channel to a PSM that the peripheral published.
    open func openL2CAPChannel(_ PSM: CBL2CAPPSM) {
        send(.openL2CAPChannel(psm: PSM), as: .openChannel(PSM))
    }

    /// Whether a service was found on this peripheral, by this manager, and is still there.
    private func owns(_ service: CBService) -> Bool {
        owns(service, as: "service", of: service)
    }

    private func owns(_ characteristic: CBCharacteristic) -> Bool {
        owns(characteristic, as: "characteristic", of: characteristic.service)
    }

    private func owns(_ descriptor: CBDescriptor) -> Bool {
        owns(descriptor, as: "descriptor", of: descriptor.characteristic?.service)
    }

    private func owns(_ attribute: CBAttribute, as word: String, of service: CBService?) -> Bool {
        guard service?.peripheral === self else {
            reportWarning("\(attribute) is not a valid \(word) for peripheral \(self)")
            return false
        }
        return true
    }

    private func send(_ request: PeripheralRequest, as operation: Operation?) {
        guard manager != nil else {
            return reportWarning("\(self) is not a valid peripheral")
        }
        let isConnected = lock.withLock {
            guard storedState == .connected else {
                return false
            }
            if let operation {
                pending.append(operation)
            }
            return true
        }
        guard isConnected else {
            return reportMisuse("\(self) can only accept commands while in the connected state")
        }
        BenchClient.shared.send(
            .peripheral(manager: number, peripheral: identifier.uuidString, request)
        )
    }

    private func refuse(_ count: Int) {
        reportMisuse(
            "\(self) a value of \(count) bytes is longer than \(WireLimits.valueBytes), not written"
        )
    }
}

extension CBPeripheralState {
    init(_ state: WireLinkState) {
        switch state {
        case .disconnected: self = .disconnected
        case .connecting: self = .connecting
        case .connected: self = .connected
        case .disconnecting: self = .disconnecting
        }
    }
}
