import Foundation
import WakeModel
import WakeWire

/// A device at the other end of the air.
open class CBPeer: NSObject {
    /// The name that this phone gives the device.
    open private(set) var identifier: UUID

    init(identifier: UUID) {
        self.identifier = identifier
        super.init()
    }
}

/// A service, characteristic or descriptor.
open class CBAttribute: NSObject {
    let handle: UInt16
    let lock: NSLock
    /// The kind of attribute.
    open private(set) var uuid: CBUUID
    private var storedNumber: UInt32 = 0

    init(uuid: CBUUID, handle: UInt16, lock: NSLock) {
        self.uuid = uuid
        self.handle = handle
        self.lock = lock
        super.init()
    }

    /// The number that the bench knows one of the app's own by; 0 before it is published.
    var number: UInt32 {
        get { lock.withLock { storedNumber } }
        set { lock.withLock { storedNumber = newValue } }
    }
}

/// A service of a peripheral.
open class CBService: CBAttribute {
    private weak var storedPeripheral: CBPeripheral?
    /// Whether the service is primary.
    open private(set) var isPrimary: Bool
    private var storedIncludedServices: [CBService]?
    private var storedCharacteristics: [CBCharacteristic]?

    init(_ service: WireService, of peripheral: CBPeripheral, lock: NSLock) {
        storedPeripheral = peripheral
        isPrimary = service.isPrimary
        super.init(uuid: CBUUID(string: service.uuid), handle: service.handle, lock: lock)
    }

    /// The peripheral that the service belongs to; nil once it is there no more, or the link is gone.
    open var peripheral: CBPeripheral? {
        lock.withLock { storedPeripheral }
    }

    /// The peripheral has it no more.
    func invalidate() {
        lock.withLock { storedPeripheral = nil }
    }

    /// What it is, for people.
    open override var description: String {
        "<CBService: isPrimary = \(isPrimary ? "YES" : "NO"), UUID = \(uuid)>"
    }

    /// A service of this app's own.
    init(own uuid: CBUUID, primary: Bool) {
        isPrimary = primary
        super.init(uuid: uuid, handle: 0, lock: NSLock())
    }

    /// The included services found so far; nil before a discovery.
    open internal(set) var includedServices: [CBService]? {
        get { lock.withLock { storedIncludedServices } }
        set { lock.withLock { storedIncludedServices = newValue } }
    }

    /// The characteristics found so far; nil before a discovery.
    open internal(set) var characteristics: [CBCharacteristic]? {
        get { lock.withLock { storedCharacteristics } }
        set { lock.withLock { storedCharacteristics = newValue } }
    }
}

/// What a characteristic can do.
public struct CBCharacteristicProperties: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// A set from its bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Its value can be broadcast.
    public static let broadcast = CBCharacteristicProperties(rawValue: 0x01)
    /// It can be read.
    public static let read = CBCharacteristicProperties(rawValue: 0x02)
    /// It can be written without response.
    public static let writeWithoutResponse = CBCharacteristicProperties(rawValue: 0x04)
    /// It can be written with response.
    public static let write = CBCharacteristicProperties(rawValue: 0x08)
    /// It can notify.
    public static let notify = CBCharacteristicProperties(rawValue: 0x10)
    /// It can indicate.
    public static let indicate = CBCharacteristicProperties(rawValue: 0x20)
    /// It takes signed writes.
    public static let authenticatedSignedWrites = CBCharacteristicProperties(rawValue: 0x40)
    /// It has more properties in a descriptor.
    public static let extendedProperties = CBCharacteristicProperties(rawValue: 0x80)
    /// Only trusted devices get notifications.
    public static let notifyEncryptionRequired = CBCharacteristicProperties(rawValue: 0x100)
    /// Only trusted devices get indications.
    public static let indicateEncryptionRequired = CBCharacteristicProperties(rawValue: 0x200)
}

/// Whether a write is answered.
public enum CBCharacteristicWriteType: Int, Sendable {
    /// The peripheral answers.
    case withResponse = 0
    /// The peripheral does not answer.
    case withoutResponse = 1
}

/// A characteristic of a service.
open class CBCharacteristic: CBAttribute {
    private weak var storedService: CBService?
    private var storedProperties: CBCharacteristicProperties
    private var storedValue: Data?
    private var storedDescriptors: [CBDescriptor]?
    private var storedIsNotifying: Bool

    init(_ characteristic: WireCharacteristic, of service: CBService) {
        storedService = service
        storedProperties = CBCharacteristicProperties(rawValue: UInt(characteristic.properties))
        storedIsNotifying = characteristic.isNotifying
        super.init(
            uuid: CBUUID(string: characteristic.uuid),
            handle: characteristic.handle,
            lock: service.lock
        )
    }

    /// A characteristic of this app's own.
    init(own uuid: CBUUID, properties: CBCharacteristicProperties, value: Data?) {
        storedProperties = properties
        storedValue = value
        storedIsNotifying = false
        super.init(uuid: uuid, handle: 0, lock: NSLock())
    }

    /// The service that the characteristic belongs to.
    open internal(set) var service: CBService? {
        get { lock.withLock { storedService } }
        set { lock.withLock { storedService = newValue } }
    }

    /// What it can do.
    open internal(set) var properties: CBCharacteristicProperties {
        get { lock.withLock { storedProperties } }
        set { lock.withLock { storedProperties = newValue } }
    }

    /// The latest value read or notified.
    open internal(set) var value: Data? {
        get { lock.withLock { storedValue } }
        set { lock.withLock { storedValue = newValue } }
    }

    /// The descriptors found so far; nil before a discovery.
    open internal(set) var descriptors: [CBDescriptor]? {
        get { lock.withLock { storedDescriptors } }
        set { lock.withLock { storedDescriptors = newValue } }
    }

    /// Whether notifications or indications are on.
    open internal(set) var isNotifying: Bool {
        get { lock.withLock { storedIsNotifying } }
        set { lock.withLock { storedIsNotifying = newValue } }
    }

    /// What it is, for people.
    open override var description: String {
        let bits = String(properties.rawValue, radix: 16, uppercase: true)
        return "<CBCharacteristic: UUID = \(uuid), properties = 0x\(bits), notifying = \(isNotifying ? "YES" : "NO")>"
    }

    /// Sets the value of a characteristic whose lock, its peripheral's, is held.
    func setValueLocked(_ value: Data) {
        storedValue = value
    }
}

/// A descriptor of a characteristic.
open class CBDescriptor: CBAttribute {
    private weak var storedCharacteristic: CBCharacteristic?
    private var storedValue: Any?

    init(_ descriptor: GATTDescriptor, of characteristic: CBCharacteristic) {
        storedCharacteristic = characteristic
        super.init(
            uuid: CBUUID(string: descriptor.uuid),
            handle: descriptor.handle,
            lock: characteristic.lock
        )
    }

    /// A descriptor of this app's own.
    init(own uuid: CBUUID, value: Any?) {
        storedValue = value
        super.init(uuid: uuid, handle: 0, lock: NSLock())
    }

    /// The characteristic that the descriptor belongs to.
    open internal(set) var characteristic: CBCharacteristic? {
        get { lock.withLock { storedCharacteristic } }
        set { lock.withLock { storedCharacteristic = newValue } }
    }

    /// What it is, for people.
    open override var description: String {
        "<CBDescriptor: UUID = \(uuid)>"
    }

    /// The latest value: a string for a user description, an `NSNumber` for a configuration or extended properties,
    /// `Data` for the rest.
    open var value: Any? {
        lock.withLock { storedValue }
    }

    func setValue(_ bytes: [UInt8]) {
        let value: Any
        switch uuid.uuidString {
        case CBUUIDCharacteristicUserDescriptionString:
            value = String(decoding: bytes, as: UTF8.self)
        case CBUUIDCharacteristicExtendedPropertiesString,
            CBUUIDClientCharacteristicConfigurationString,
            CBUUIDServerCharacteristicConfigurationString:
            value = NSNumber(value: bytes.prefix(2).reversed().reduce(0) { $0 << 8 | Int($1) })
        default:
            value = Data(bytes)
        }
        lock.withLock { storedValue = value }
    }
}
