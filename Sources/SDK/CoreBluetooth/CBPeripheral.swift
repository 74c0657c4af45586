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

    /// Whether a write without response can be sent now.
    open var canSendWriteWithoutResponse: Bool {
        state == .connected
    }

    /// Whether the app may use the notification centre of the phone through the peripheral; never, on this one.
    open var ancsAuthorized: Bool {
        false
    }

    /// The name, identifier and state, for people.
    open override var description: String {
        "<CBPeripheral: identifier = \(identifier.uuidString), name = \(name ?? "(null)"), state = \(state)>"
    }

    /// The longest value that one write takes, in bytes: 512 with response, 182 without while connected.
    open func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int {
        guard type == .withoutResponse else {
            return WireLimits.valueBytes
        }
        return state == .connected ? 182 : 20
    }

    // MARK: Requests

    /// Finds services; nil means all.
    open func discoverServices(_ serviceUUIDs: [CBUUID]?) {
        send(.discoverServices(serviceUUIDs?.map(\.uuidString)), as: .discoverServices)
    }

    /// Finds the services that a service includes; nil means all.
    open func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]?, for service: CBService) {
        send(
            .discoverIncludedServices(includedServiceUUIDs?.map(\.uuidString), service: service.handle),
            as: .discoverIncludedServices(service.handle)
        )
    }

    /// Finds characteristics of a service; nil means all.
    open func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]?, for service: CBService) {
        send(
            .discoverCharacteristics(characteristicUUIDs?.map(\.uuidString), service: service.handle),
            as: .discoverCharacteristics(service.handle)
        )
    }

    /// Finds the descriptors of a characteristic.
    open func discoverDescriptors(for characteristic: CBCharacteristic) {
        send(
            .discoverDescriptors(characteristic: characteristic.handle),
            as: .discoverDescriptors(characteristic.handle)
        )
    }

    /// Reads a characteristic's value.
    open func readValue(for characteristic: CBCharacteristic) {
        send(.read(attribute: characteristic.handle), as: .read(characteristic.handle))
    }

    /// Reads a descriptor's value.
    open func readValue(for descriptor: CBDescriptor) {
        send(.readDescriptor(attribute: descriptor.handle), as: .readDescriptor(descriptor.handle))
    }

    /// Writes a characteristic's value; only a write with response is answered.
    open func writeValue(
        _ data: Data,
        for characteristic: CBCharacteristic,
        type: CBCharacteristicWriteType
    ) {
        guard data.count <= WireLimits.valueBytes else {
            return refuse(data.count)
        }
        let withResponse = type == .withResponse
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
        send(
            .writeDescriptor(attribute: descriptor.handle, value: Array(data)),
            as: .writeDescriptor(descriptor.handle)
        )
    }

    /// Turns notifications or indications on or off.
    open func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {
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

    private func send(_ request: PeripheralRequest, as operation: Operation?) {
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
