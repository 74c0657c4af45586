/// One central or peripheral manager of one app, as the sources know it: stays the same over relaunches.
public struct BluetoothClient: Hashable, Comparable, Codable, Sendable {
    /// The app whose manager it is.
    public var app: AppID
    /// The router's own number of the manager in its app, from 0.
    public var slot: UInt16

    /// A manager of an app.
    @inlinable
    public init(app: AppID, slot: UInt16) {
        self.app = app
        self.slot = slot
    }

    /// Orders by app, then by manager.
    @inlinable
    public static func < (left: BluetoothClient, right: BluetoothClient) -> Bool {
        (left.app, left.slot) < (right.app, right.slot)
    }
}

/// What the router asks of the radio. Each is answered by events, never by a return value.
package enum BluetoothCommand: Hashable, Sendable {
    /// Look for peripherals. Each matching one is reported once after each `scan`, or at every sighting with
    /// `allowDuplicates`. An empty list matches every peripheral. Replaces the client's scan.
    case scan(BluetoothClient, services: [NameID], allowDuplicates: Bool)
    case stopScan(BluetoothClient)
    /// Connect, however long it takes (BTC-5). On a link that is up already the client hears `peripheralConnected`
    /// at once, addressed to it alone.
    case connect(BluetoothClient, peripheral: NameID)
    /// Give up the client's pending or standing connection. The client hears `peripheralDisconnected`, not failed and
    /// addressed to it alone; the link goes when its last client let go.
    case disconnect(BluetoothClient, peripheral: NameID)
    case operate(BluetoothClient, peripheral: NameID, BluetoothOperation)
    /// Say when a link to one of the peripherals, or to one with one of the services, comes up or goes, whoever holds it.
    /// Replaces what the client asked before; two empty lists end it.
    case watchConnections(BluetoothClient, peripherals: [NameID], services: [NameID])
    /// The client is gone: drop all it holds, silently, but its connections to these, with their subscriptions.
    case release(BluetoothClient, keeping: [NameID] = [])
    /// Turn the adapter on or off. It says when it is, as it does when somebody else turns it (BT-2).
    case power(Bool)
}

/// A GATT operation on a connected peripheral, answered by one event addressed to the client.
package enum BluetoothOperation: Hashable, Codable, Sendable {
    /// An empty list means all.
    case discoverServices([NameID])
    case discoverIncludedServices(of: AttributeHandle, [NameID])
    case discoverCharacteristics(of: AttributeHandle, [NameID])
    case discoverDescriptors(of: AttributeHandle)
    case read(AttributeHandle)
    case write(AttributeHandle, [UInt8], withResponse: Bool)
    case setNotify(AttributeHandle, Bool)
    case readDescriptor(AttributeHandle)
    case writeDescriptor(AttributeHandle, [UInt8])
    case readSignalStrength
    /// Opens an L2CAP channel. Answered by `channelOpened` with the channel's number, under which the port keeps the
    /// descriptor until it is taken.
    case openChannel(psm: UInt16)
}

/// How an app wants a connection to be.
package struct ConnectOptions: OptionSet, Hashable, Codable, Sendable {
    package var rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Show the user an alert when the link comes up while the app is suspended (BTC-9).
    package static let alertsOnConnection = ConnectOptions(rawValue: 1)
    /// The same when the link goes.
    package static let alertsOnDisconnection = ConnectOptions(rawValue: 2)
    /// The same when the peripheral notifies.
    package static let alertsOnNotification = ConnectOptions(rawValue: 4)
    /// The system connects again after link loss (BTC-11).
    package static let reconnects = ConnectOptions(rawValue: 8)
}

/// What an app reads of an event. The router never looks at it.
package enum EventPayload: Hashable, Codable, Sendable {
    case none
    case value([UInt8])
    case advertisement(Advertisement)
    case services([GATTService])
    case characteristics([GATTCharacteristic])
    case descriptors([GATTDescriptor])
    case signalStrength(Int16)
    case name(String)
    case notifying(Bool)
    case handles([AttributeHandle])
    case failure(BluetoothFailure)
    /// A read of a published characteristic begins at this byte.
    case readRequest(offset: UInt16)
    /// All writes of one request, in order; one answer is for all.
    case writeRequests([LocalWrite])
    /// How many bytes an update to the central that subscribed may have.
    case central(maximumUpdateLength: UInt16)
    case psm(UInt16)
    /// A link that an app watches came up, or went.
    case connectionEvent(connected: Bool)
    case position(Position)
    /// Several fixes at once, oldest first.
    case positions([Position])
    /// The beacons of one constraint, nearest first; none when none is there (BCN-4).
    case beacons([BeaconSighting])
    case regionState(RegionState)
    /// In the codes of ``LocationFailureCode``.
    case locationFailure(code: Int32, message: String)
    case visit(Visit)
    /// The way of sound from now on, and the way before.
    case audioRoute(AudioRoute, previous: AudioRoute)
    case accessory(Accessory)
    case accessoryFailure(AccessoryFailure)
}

/// What a peripheral says of itself on the air.
package struct Advertisement: Hashable, Codable, Sendable {
    package var localName: String?
    /// Canonical UUIDs: `180D`, or 36 characters in capitals.
    package var services: [String]
    package var manufacturerData: [UInt8]?
    /// Pairs of service UUID and data, in the order of the advertisement.
    package var serviceData: [ServiceData]
    /// In dBm.
    package var txPower: Int16?
    package var connectable: Bool
    /// In dBm; 127 when the radio does not say.
    package var signalStrength: Int16

    package struct ServiceData: Hashable, Codable, Sendable {
        package var service: String
        package var data: [UInt8]

        package init(service: String, data: [UInt8]) {
            self.service = service
            self.data = data
        }
    }

    package init(
        localName: String? = nil,
        services: [String] = [],
        manufacturerData: [UInt8]? = nil,
        serviceData: [ServiceData] = [],
        txPower: Int16? = nil,
        connectable: Bool = true,
        signalStrength: Int16 = 127
    ) {
        self.localName = localName
        self.services = services
        self.manufacturerData = manufacturerData
        self.serviceData = serviceData
        self.txPower = txPower
        self.connectable = connectable
        self.signalStrength = signalStrength
    }
}

/// A service of a peripheral's attribute table.
package struct GATTService: Hashable, Codable, Sendable {
    /// Canonical: four hexadecimal capitals, or 36 characters.
    package var uuid: String
    package var handle: AttributeHandle
    package var primary: Bool

    package init(uuid: String, handle: AttributeHandle, primary: Bool = true) {
        self.uuid = uuid
        self.handle = handle
        self.primary = primary
    }
}

/// A characteristic of a peripheral's attribute table.
package struct GATTCharacteristic: Hashable, Codable, Sendable {
    package var uuid: String
    package var handle: AttributeHandle
    /// The property bits of the Bluetooth specification: broadcast 1, read 2, write without response 4, write 8,
    /// notify 16, indicate 32, authenticated signed writes 64, extended 128.
    package var properties: UInt16
    /// The handle of its service.
    package var service: AttributeHandle

    package init(uuid: String, handle: AttributeHandle, properties: UInt16, service: AttributeHandle) {
        self.uuid = uuid
        self.handle = handle
        self.properties = properties
        self.service = service
    }
}

/// A descriptor of a peripheral's attribute table.
package struct GATTDescriptor: Hashable, Codable, Sendable {
    package var uuid: String
    package var handle: AttributeHandle
    /// The handle of its characteristic.
    package var characteristic: AttributeHandle

    package init(uuid: String, handle: AttributeHandle, characteristic: AttributeHandle) {
        self.uuid = uuid
        self.handle = handle
        self.characteristic = characteristic
    }
}

/// Why an operation failed, in Apple's domains and codes.
package struct BluetoothFailure: Hashable, Codable, Sendable, Error {
    package enum Domain: UInt8, Codable, Sendable {
        /// CBErrorDomain
        case core
        /// CBATTErrorDomain
        case att
    }

    package var domain: Domain
    package var code: Int32
    package var message: String

    package init(domain: Domain, code: Int32, message: String) {
        self.domain = domain
        self.code = code
        self.message = message
    }

    /// CBError.peripheralDisconnected
    package static let peripheralDisconnected = BluetoothFailure(
        domain: .core,
        code: 7,
        message: "The specified device has disconnected from us."
    )
    /// CBError.connectionTimeout
    package static let connectionTimeout = BluetoothFailure(
        domain: .core,
        code: 6,
        message: "The connection has timed out unexpectedly."
    )
    /// CBError.notConnected
    package static let notConnected = BluetoothFailure(
        domain: .core,
        code: 3,
        message: "The specified device is not connected."
    )
    /// CBATTError.insufficientAuthentication
    package static let insufficientAuthentication = BluetoothFailure(
        domain: .att,
        code: 5,
        message: "Authentication is insufficient."
    )
    /// CBATTError.insufficientEncryption
    package static let insufficientEncryption = BluetoothFailure(
        domain: .att,
        code: 15,
        message: "Encryption is insufficient."
    )
    /// CBError.unknown: what Core Bluetooth says of a channel that the peripheral refuses.
    package static let channelRefused = BluetoothFailure(
        domain: .core,
        code: 0,
        message: "The L2CAP channel could not be opened."
    )
    /// CBATTError.invalidHandle
    package static let invalidHandle = BluetoothFailure(domain: .att, code: 1, message: "The handle is invalid.")
}
