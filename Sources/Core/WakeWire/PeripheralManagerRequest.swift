/// What an app asks of a peripheral manager.
package enum WirePeripheralManagerRequest: Equatable, Sendable {
    /// A manager was made; answered by a reply, then by a `peripheralManager.state` delivery.
    case create(id: UInt64, restoreIdentifier: String?, showPowerAlert: Bool)
    /// Publishes a service; answered by `peripheralManager.serviceAdded`.
    case addService(WireLocalService)
    /// Takes back the service with that number.
    case removeService(UInt32)
    /// Takes back every service of the manager.
    case removeAllServices
    /// Advertises; answered by `peripheralManager.advertisingStarted`.
    case startAdvertising(localName: String?, services: [String])
    /// Ends the advertising.
    case stopAdvertising
    /// Notifies or indicates a value; answered at once by a reply with `taken`.
    ///
    /// Without centrals it is for each that is subscribed. An update that was not taken is not sent: the queue is full,
    /// and a `peripheralManager.readyToUpdate` follows when it has room again.
    case updateValue(id: UInt64, characteristic: UInt32, value: [UInt8], centrals: [String]?)
    /// Answers a read or a batch of writes with an ATT error code, 0 for success, and for a read with the value.
    case respond(request: UInt32, result: UInt8, value: [UInt8]?)
    /// Asks for a PSM and listens on it; answered by `peripheralManager.channelPublished`.
    case publishChannel(encrypted: Bool)
    /// Ends the listening; answered by `peripheralManager.channelUnpublished`.
    case unpublishChannel(psm: UInt16)
    /// The manager is gone; its services, its advertising and its channels' PSMs go with it.
    case release
}

/// A service that an app publishes.
package struct WireLocalService: Equatable, Sendable {
    /// The app's own number, used once in its process.
    package var number: UInt32
    /// The UUID, of 4, 8 or 36 characters in capitals.
    package var uuid: String
    /// Whether it is a primary service.
    package var isPrimary: Bool
    /// The numbers of services that it includes; they were added before.
    package var includedServices: [UInt32]
    /// Its characteristics.
    package var characteristics: [WireLocalCharacteristic]

    /// A service that an app publishes.
    package init(
        number: UInt32,
        uuid: String,
        isPrimary: Bool = true,
        includedServices: [UInt32] = [],
        characteristics: [WireLocalCharacteristic] = []
    ) {
        self.number = number
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.includedServices = includedServices
        self.characteristics = characteristics
    }
}

/// A characteristic of a service that an app publishes.
package struct WireLocalCharacteristic: Equatable, Sendable {
    /// The app's own number, from the same counter as the services'.
    package var number: UInt32
    /// The UUID, of 4, 8 or 36 characters in capitals.
    package var uuid: String
    /// What it can do.
    package var properties: WireProperties
    /// What a central may do with its value.
    package var permissions: WirePermissions
    /// A value that never changes; nil when each read is asked of the app.
    package var value: [UInt8]?
    /// Its descriptors.
    package var descriptors: [WireLocalDescriptor]

    /// A characteristic of a service that an app publishes.
    package init(
        number: UInt32,
        uuid: String,
        properties: WireProperties,
        permissions: WirePermissions,
        value: [UInt8]? = nil,
        descriptors: [WireLocalDescriptor] = []
    ) {
        self.number = number
        self.uuid = uuid
        self.properties = properties
        self.permissions = permissions
        self.value = value
        self.descriptors = descriptors
    }
}

/// A descriptor of a characteristic that an app publishes; its value never changes.
package struct WireLocalDescriptor: Equatable, Sendable {
    /// The UUID, of 4, 8 or 36 characters in capitals.
    package var uuid: String
    /// The value.
    package var value: [UInt8]

    /// A descriptor of a characteristic that an app publishes.
    package init(uuid: String, value: [UInt8]) {
        self.uuid = uuid
        self.value = value
    }
}

/// What a central may do with a published value, with the bits of `CBAttributePermissions`.
package struct WirePermissions: OptionSet, Sendable {
    /// The bits.
    package let rawValue: UInt8

    /// A set from its bits.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The words of the wire, each with its bit, in the order they are written.
    package static let words: [(word: String, permission: WirePermissions)] = [
        ("readable", .readable),
        ("writeable", .writeable),
        ("readEncryptionRequired", .readEncryptionRequired),
        ("writeEncryptionRequired", .writeEncryptionRequired),
    ]

    /// Anyone may read it.
    package static let readable = WirePermissions(rawValue: 0x01)
    /// Anyone may write it.
    package static let writeable = WirePermissions(rawValue: 0x02)
    /// A trusted central may read it.
    package static let readEncryptionRequired = WirePermissions(rawValue: 0x04)
    /// A trusted central may write it.
    package static let writeEncryptionRequired = WirePermissions(rawValue: 0x08)
}
