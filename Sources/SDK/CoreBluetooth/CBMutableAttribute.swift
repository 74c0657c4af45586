import Foundation
import Synchronization
import WakeModel
import WakeWire

/// What a central may do with the value of a characteristic that the app publishes.
public struct CBAttributePermissions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// A set from its bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Anyone may read it.
    public static let readable = CBAttributePermissions(rawValue: 0x01)
    /// Anyone may write it.
    public static let writeable = CBAttributePermissions(rawValue: 0x02)
    /// A trusted central may read it.
    public static let readEncryptionRequired = CBAttributePermissions(rawValue: 0x04)
    /// A trusted central may write it.
    public static let writeEncryptionRequired = CBAttributePermissions(rawValue: 0x08)
}

/// The numbers that this process gives to what it publishes; none twice, and none that a restoration brought.
enum LocalNumbers {
    private static let last = Mutex<UInt32>(0)

    static func next() -> UInt32 {
        last.withLock { last in
            last += 1
            return last
        }
    }

    static func skip(_ number: UInt32) {
        last.withLock { $0 = max($0, number) }
    }
}

/// A service that the app publishes.
open class CBMutableService: CBService {
    /// A service without characteristics, to be published with ``CBPeripheralManager/add(_:)``.
    public init(type UUID: CBUUID, primary isPrimary: Bool) {
        super.init(own: UUID, primary: isPrimary)
    }

    /// The services that it includes; each must be published before this one.
    open override var includedServices: [CBService]? {
        get { super.includedServices }
        set { super.includedServices = newValue }
    }

    /// Its characteristics, of class ``CBMutableCharacteristic``; to be set before it is published.
    open override var characteristics: [CBCharacteristic]? {
        get { super.characteristics }
        set {
            super.characteristics = newValue
            for characteristic in newValue ?? [] {
                characteristic.service = self
            }
        }
    }

    var ownCharacteristics: [CBMutableCharacteristic] {
        (characteristics ?? []).compactMap { $0 as? CBMutableCharacteristic }
    }
}

/// A characteristic that the app publishes.
open class CBMutableCharacteristic: CBCharacteristic {
    private var storedPermissions: CBAttributePermissions
    private var storedCentrals: [CBCentral]?

    /// A characteristic with a value that never changes, or, with nil, one whose reads the app answers.
    public init(
        type UUID: CBUUID,
        properties: CBCharacteristicProperties,
        value: Data?,
        permissions: CBAttributePermissions
    ) {
        storedPermissions = permissions
        super.init(own: UUID, properties: properties, value: value)
    }

    /// What a central may do with the value.
    open var permissions: CBAttributePermissions {
        get { lock.withLock { storedPermissions } }
        set { lock.withLock { storedPermissions = newValue } }
    }

    /// The centrals that are subscribed now, in the order in which they came; nil before the first.
    open var subscribedCentrals: [CBCentral]? {
        lock.withLock { storedCentrals }
    }

    /// What it can do.
    open override var properties: CBCharacteristicProperties {
        get { super.properties }
        set { super.properties = newValue }
    }

    /// The value; one set before publishing is read without asking the app.
    open override var value: Data? {
        get { super.value }
        set { super.value = newValue }
    }

    /// Its descriptors, of class ``CBMutableDescriptor``.
    open override var descriptors: [CBDescriptor]? {
        get { super.descriptors }
        set {
            super.descriptors = newValue
            for descriptor in newValue ?? [] {
                descriptor.characteristic = self
            }
        }
    }

    func subscribe(_ central: CBCentral) {
        lock.withLock { storedCentrals = (storedCentrals ?? []).filter { $0 != central } + [central] }
    }

    func unsubscribe(_ central: CBCentral) {
        lock.withLock { storedCentrals?.removeAll { $0 == central } }
    }

    func forgetCentrals() {
        lock.withLock { storedCentrals = nil }
    }
}

/// A descriptor that the app publishes: a user description or a presentation format.
open class CBMutableDescriptor: CBDescriptor {
    /// A descriptor with its value: a string for a user description, `Data` for a presentation format.
    public init(type UUID: CBUUID, value: Any?) {
        super.init(own: UUID, value: value)
    }

    /// The bytes that a central reads; nil for a kind or value that an app cannot publish.
    var bytes: [UInt8]? {
        switch uuid.uuidString {
        case CBUUIDCharacteristicUserDescriptionString: (value as? String).map { Array($0.utf8) }
        case CBUUIDCharacteristicFormatString: (value as? Data).map { Array($0) }
        default: nil
        }
    }
}

// MARK: On the wire

extension CBMutableService {
    /// Why it cannot be published; nil when it can.
    var fault: String? {
        let included = (includedServices ?? []).map { ($0 as? CBMutableService)?.number ?? 0 }
        if number != 0 {
            return "Services cannot be added more than once"
        }
        if included.contains(0) {
            return "Included services must be published before the service that includes them"
        }
        if ownCharacteristics.count != characteristics?.count ?? 0 {
            return "Characteristics must be of class CBMutableCharacteristic"
        }
        return ownCharacteristics.lazy.compactMap(\.fault).first
    }

    /// The service as the bench reads it, once each part has its number.
    func wire() -> LocalService {
        number = LocalNumbers.next()
        return LocalService(
            number: number,
            uuid: uuid.uuidString,
            primary: isPrimary,
            characteristics: ownCharacteristics.map { $0.wire() },
            includes: (includedServices ?? []).compactMap { ($0 as? CBMutableService)?.number }
        )
    }

    /// A service that was published before this process.
    convenience init(_ service: LocalService, among published: [UInt32: CBMutableService]) {
        self.init(type: CBUUID(string: service.uuid), primary: service.primary)
        number = service.number
        LocalNumbers.skip(service.number)
        characteristics = service.characteristics.map { CBMutableCharacteristic($0) }
        if !service.includes.isEmpty {
            includedServices = service.includes.compactMap { published[$0] }
        }
    }
}

extension CBMutableCharacteristic {
    fileprivate var fault: String? {
        if let value {
            if !properties.isSubset(of: .read)
                || !permissions.isSubset(of: [.readable, .readEncryptionRequired])
            {
                return "Characteristics with cached values must be read-only"
            }
            if value.count > WireLimits.valueBytes {
                return "A value of \(value.count) bytes is longer than \(WireLimits.valueBytes)"
            }
        }
        let isPublishable = (descriptors ?? []).allSatisfy {
            ($0 as? CBMutableDescriptor)?.bytes.map { $0.count <= WireLimits.valueBytes } ?? false
        }
        return isPublishable
            ? nil
            : "Only the Characteristic User Description and Presentation Format descriptors are supported"
    }

    fileprivate func wire() -> LocalCharacteristic {
        number = LocalNumbers.next()
        return LocalCharacteristic(
            number: number,
            uuid: uuid.uuidString,
            properties: UInt16(truncatingIfNeeded: properties.rawValue),
            permissions: UInt8(truncatingIfNeeded: permissions.rawValue),
            value: value.map { Array($0) },
            descriptors: (descriptors ?? []).compactMap { descriptor in
                (descriptor as? CBMutableDescriptor)?.bytes.map {
                    LocalDescriptor(uuid: descriptor.uuid.uuidString, value: $0)
                }
            }
        )
    }

    fileprivate convenience init(_ characteristic: LocalCharacteristic) {
        self.init(
            type: CBUUID(string: characteristic.uuid),
            properties: CBCharacteristicProperties(rawValue: UInt(characteristic.properties)),
            value: characteristic.value.map { Data($0) },
            permissions: CBAttributePermissions(rawValue: UInt(characteristic.permissions))
        )
        number = characteristic.number
        LocalNumbers.skip(characteristic.number)
        if !characteristic.descriptors.isEmpty {
            descriptors = characteristic.descriptors.map { descriptor in
                let own = CBMutableDescriptor(type: CBUUID(string: descriptor.uuid), value: nil)
                own.setValue(descriptor.value)
                return own
            }
        }
    }
}
