/// A service that an app publishes as a peripheral.
package struct LocalService: Hashable, Codable, Sendable {
    /// Minted by the SDK, unique in its process.
    package var number: UInt32
    /// Canonical: four hexadecimal capitals, or 36 characters.
    package var uuid: String
    package var primary: Bool
    package var characteristics: [LocalCharacteristic]
    /// The numbers of the services it includes, published before it.
    package var includes: [UInt32]

    package init(
        number: UInt32,
        uuid: String,
        primary: Bool = true,
        characteristics: [LocalCharacteristic] = [],
        includes: [UInt32] = []
    ) {
        self.number = number
        self.uuid = uuid
        self.primary = primary
        self.characteristics = characteristics
        self.includes = includes
    }
}

/// A characteristic of a published service.
package struct LocalCharacteristic: Hashable, Codable, Sendable {
    /// Minted by the SDK from the same counter as services.
    package var number: UInt32
    package var uuid: String
    /// The property bits of the Bluetooth specification, as in ``GATTCharacteristic/properties``; from 256 on Apple's:
    /// notify encryption required 256, indicate encryption required 512.
    package var properties: UInt16
    /// Apple's CBAttributePermissions: readable 1, writeable 2, read encryption required 4, write encryption required 8.
    package var permissions: UInt8
    /// A value that is given out without asking the app; nil when each read is a request to the app.
    package var value: [UInt8]?
    package var descriptors: [LocalDescriptor]

    package init(
        number: UInt32,
        uuid: String,
        properties: UInt16,
        permissions: UInt8,
        value: [UInt8]? = nil,
        descriptors: [LocalDescriptor] = []
    ) {
        self.number = number
        self.uuid = uuid
        self.properties = properties
        self.permissions = permissions
        self.value = value
        self.descriptors = descriptors
    }
}

/// A descriptor of a published characteristic; its value is fixed.
package struct LocalDescriptor: Hashable, Codable, Sendable {
    package var uuid: String
    package var value: [UInt8]

    package init(uuid: String, value: [UInt8]) {
        self.uuid = uuid
        self.value = value
    }
}

/// What an app asks of one of its peripheral managers.
package enum PeripheralManagerRequest: Hashable, Codable, Sendable {
    /// `restoreIdentifier` is ``NameID/none`` for a manager without one.
    case create(restoreIdentifier: NameID)
    case release
    /// Answered by `serviceAdded`.
    case addService(LocalService)
    case removeService(UInt32)
    case removeAllServices
    /// Answered by `advertisingStarted`.
    case startAdvertising(localName: String?, services: [NameID])
    case stopAdvertising
    /// Notifies or indicates the subscribed centrals; an empty list means all of them.
    case updateValue(characteristic: UInt32, value: [UInt8], centrals: [NameID])
    /// Answers a read or a write with an ATT error code; 0 is success.
    case respond(request: UInt32, result: UInt8, value: [UInt8]?)
    /// Answered by `channelPublished`.
    case publishChannel(encrypted: Bool)
    /// Answered by `channelUnpublished`.
    case unpublishChannel(psm: UInt16)
}

/// What the router asks of the radio for apps that act as peripherals. Answers are events, never return values.
///
/// What the radio was told of serving and advertising outlives its being off; to be told the same again changes nothing.
package enum PeripheralRoleCommand: Hashable, Sendable {
    /// Put a service in the attribute table, in place of one of the same number. Answered by `serviceAdded`, addressed to
    /// the client; with `again` the app has heard of it before, and only a failure is answered.
    case publish(BluetoothClient, LocalService, again: Bool)
    /// Take a service out. Each subscription to its characteristics ends with a `centralUnsubscribed`; its requests need
    /// no answer any more.
    case unpublish(BluetoothClient, service: UInt32)
    /// Whether the contents of the client's services may be read; they are from the first `publish` on. With `false` the
    /// services stay in the table, and a read of a fixed value or of a descriptor fails without asking; any other read or
    /// write is reported as always, and the router answers it with an error (BTP-3).
    case setServing(BluetoothClient, Bool)
    /// Advertise. `services` go into the advertisement as far as there is
    /// room, the others and `overflow` into the overflow area (BTP-2). Answered by `advertisingStarted`,
    /// which is a failure when the client advertises already (CBError 9). With `again` it takes the place of what the
    /// client advertised before, and only a failure is answered.
    case advertise(BluetoothClient, localName: String?, services: [NameID], overflow: [NameID], again: Bool)
    case stopAdvertising(BluetoothClient)
    /// Notify or indicate subscribed centrals; an empty list means all of them. When the queue to a central was full, the
    /// client hears `readyToUpdate` once it has room again.
    case update(BluetoothClient, characteristic: UInt32, value: [UInt8], centrals: [NameID])
    /// Answer a request. The central may be gone, and the request unknown: then nothing happens.
    case respond(BluetoothClient, request: UInt32, result: UInt8, value: [UInt8]?)
    case publishChannel(BluetoothClient, encrypted: Bool)
    case unpublishChannel(BluetoothClient, psm: UInt16)
    /// The client is gone for good: drop all it holds, silently.
    case release(BluetoothClient)
}

/// One write of a request, which may hold several.
package struct LocalWrite: Hashable, Codable, Sendable {
    package var characteristic: UInt32
    /// Where in the value it begins, in bytes.
    package var offset: UInt16
    package var value: [UInt8]

    package init(characteristic: UInt32, offset: UInt16, value: [UInt8]) {
        self.characteristic = characteristic
        self.offset = offset
        self.value = value
    }
}

/// What a peripheral manager gets back in willRestoreState (BTP-4).
package struct RestoredPeripheral: Hashable, Sendable {
    /// In the order in which they were added.
    package var services: [LocalService]
    /// Ascending by characteristic, then by central.
    package var subscribed: [Subscriber]
    /// Nil when the manager was not advertising.
    package var advertised: LocalAdvertisement?

    /// A central that is subscribed to a characteristic.
    package struct Subscriber: Hashable, Codable, Sendable {
        package var characteristic: UInt32
        package var central: NameID

        package init(characteristic: UInt32, central: NameID) {
            self.characteristic = characteristic
            self.central = central
        }
    }

    package init(services: [LocalService], subscribed: [Subscriber], advertised: LocalAdvertisement?) {
        self.services = services
        self.subscribed = subscribed
        self.advertised = advertised
    }
}

/// What an app asked to advertise.
package struct LocalAdvertisement: Hashable, Codable, Sendable {
    package var localName: String?
    /// Interned canonical UUIDs.
    package var services: [NameID]

    package init(localName: String?, services: [NameID]) {
        self.localName = localName
        self.services = services
    }
}

/// What a manager is told of Bluetooth.
package enum BluetoothState: UInt8, CaseIterable, Sendable {
    case poweredOff
    case poweredOn
    /// The user does not let the app use Bluetooth (BTP-5).
    case unauthorized
}

/// Whether the user lets an app use Bluetooth (BTP-5).
package enum BluetoothAuthorization: UInt8, Worded, Codable, Sendable {
    case allowed
    case denied
    case restricted
}

/// The ATT error codes that the bench itself answers with (Bluetooth Core Specification, Vol 3 Part F, 3.4.1.1).
package enum AttributeError {
    package static let success: UInt8 = 0x00
    /// The attribute is not there.
    package static let invalidHandle: UInt8 = 0x01
    /// A read or write begins beyond the end of the value.
    package static let invalidOffset: UInt8 = 0x07
    /// The app did not answer, or answered nothing sensible.
    package static let unlikely: UInt8 = 0x0e
    /// Too much waits already.
    package static let insufficientResources: UInt8 = 0x11
}

/// What the number of an event stands for.
extension WakeEvent {
    /// The service of `serviceAdded`.
    @inlinable
    package var service: UInt32 { local }

    /// The characteristic of a subscription, or the first one of a read or a write.
    @inlinable
    package var characteristic: UInt32 { local }

    /// The PSM of `channelPublished` and `channelUnpublished`; nil when it is no PSM.
    @inlinable
    package var psm: UInt16? { UInt16(exactly: local) }
}
