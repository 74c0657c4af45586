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
    /// Forget what was found of every peripheral's attributes (BTC-14).
    case forgetAttributes
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

    private static func core(_ code: Int32, _ message: String) -> BluetoothFailure {
        BluetoothFailure(domain: .core, code: code, message: message)
    }

    private static func att(_ code: Int32, _ message: String) -> BluetoothFailure {
        BluetoothFailure(domain: .att, code: code, message: message)
    }

    /// CBError.peripheralDisconnected
    package static let peripheralDisconnected = core(7, "The specified device has disconnected from us.")
    /// CBError.connectionTimeout
    package static let connectionTimeout = core(6, "The connection has timed out unexpectedly.")
    /// CBError.notConnected
    package static let notConnected = core(3, "The specified device is not connected.")
    /// CBATTError.insufficientAuthentication
    package static let insufficientAuthentication = att(5, "Authentication is insufficient.")
    /// CBATTError.insufficientEncryption
    package static let insufficientEncryption = att(15, "Encryption is insufficient.")
    /// CBError.unknown: what Core Bluetooth says of a channel that the peripheral refuses.
    package static let channelRefused = core(0, "The L2CAP channel could not be opened.")
    /// CBATTError.invalidHandle
    package static let invalidHandle = att(1, "The handle is invalid.")
}

extension EventKind {
    /// The radio has gone on, or off.
    package static var ofRadioPower: [EventKind] { [.bluetoothPoweredOn, .bluetoothPoweredOff] }
}

extension WakeEvent {
    /// Whether the phone's radio has gone on, or off; nil where it is about something else.
    package var turnsRadio: Bool? {
        switch kind {
        case .bluetoothPoweredOn: true
        case .bluetoothPoweredOff: false
        default: nil
        }
    }
}

/// The kinds of its events, each by its row of Tables/events.tsv.
extension EventKind {
    @inlinable package static var bluetoothPoweredOn: EventKind { EventKind(row: 0) }
    @inlinable package static var bluetoothPoweredOff: EventKind { EventKind(row: 1) }
    @inlinable package static var peripheralDiscovered: EventKind { EventKind(row: 2) }
    @inlinable package static var peripheralConnected: EventKind { EventKind(row: 3) }
    @inlinable package static var peripheralConnectionFailed: EventKind { EventKind(row: 4) }
    @inlinable package static var peripheralDisconnected: EventKind { EventKind(row: 5) }
    @inlinable package static var characteristicNotified: EventKind { EventKind(row: 6) }
    @inlinable package static var servicesDiscovered: EventKind { EventKind(row: 7) }
    @inlinable package static var includedServicesDiscovered: EventKind { EventKind(row: 8) }
    @inlinable package static var characteristicsDiscovered: EventKind { EventKind(row: 9) }
    @inlinable package static var descriptorsDiscovered: EventKind { EventKind(row: 10) }
    @inlinable package static var valueRead: EventKind { EventKind(row: 11) }
    @inlinable package static var valueWritten: EventKind { EventKind(row: 12) }
    @inlinable package static var notificationStateChanged: EventKind { EventKind(row: 13) }
    @inlinable package static var descriptorRead: EventKind { EventKind(row: 14) }
    @inlinable package static var descriptorWritten: EventKind { EventKind(row: 15) }
    @inlinable package static var signalStrengthRead: EventKind { EventKind(row: 16) }
    @inlinable package static var nameChanged: EventKind { EventKind(row: 17) }
    @inlinable package static var servicesModified: EventKind { EventKind(row: 18) }
    @inlinable package static var readyToWrite: EventKind { EventKind(row: 19) }
    @inlinable package static var serviceAdded: EventKind { EventKind(row: 20) }
    @inlinable package static var advertisingStarted: EventKind { EventKind(row: 21) }
    @inlinable package static var centralSubscribed: EventKind { EventKind(row: 22) }
    @inlinable package static var centralUnsubscribed: EventKind { EventKind(row: 23) }
    @inlinable package static var readRequested: EventKind { EventKind(row: 24) }
    @inlinable package static var writeRequested: EventKind { EventKind(row: 25) }
    @inlinable package static var readyToUpdate: EventKind { EventKind(row: 26) }
    @inlinable package static var channelPublished: EventKind { EventKind(row: 27) }
    @inlinable package static var channelUnpublished: EventKind { EventKind(row: 28) }
    @inlinable package static var channelOpened: EventKind { EventKind(row: 29) }
    @inlinable package static var channelDataAvailable: EventKind { EventKind(row: 30) }
    @inlinable package static var connectionEvent: EventKind { EventKind(row: 31) }
}

/// The restore identifiers of the managers that wait to be made again, in order of creation.
package struct RestoreIdentifiers: Hashable, Sendable {
    /// Of central managers (BTC-6).
    package var central: [NameID]
    /// Of peripheral managers (BTP-4).
    package var peripheral: [NameID]

    package init(central: [NameID] = [], peripheral: [NameID] = []) {
        self.central = central
        self.peripheral = peripheral
    }
}

/// What a manager gets back in willRestoreState.
package struct RestoredState: Hashable, Sendable {
    package var peripherals: [Peripheral]
    /// Nil when the manager was not scanning.
    package var scanServices: [NameID]?
    package var scanAllowsDuplicates: Bool

    package struct Peripheral: Hashable, Sendable {
        package var name: NameID
        package var connected: Bool
        /// The characteristics it is subscribed to, in ascending order.
        package var subscriptions: [AttributeHandle]

        package init(name: NameID, connected: Bool, subscriptions: [AttributeHandle]) {
            self.name = name
            self.connected = connected
            self.subscriptions = subscriptions
        }
    }

    package init(peripherals: [Peripheral], scanServices: [NameID]?, scanAllowsDuplicates: Bool) {
        self.peripherals = peripherals
        self.scanServices = scanServices
        self.scanAllowsDuplicates = scanAllowsDuplicates
    }
}

extension WakeEvent {
    /// The handles that are void after a `servicesModified`; nil when services only came.
    package var voidHandles: ClosedRange<AttributeHandle>? {
        attribute == 0 ? nil : attribute...max(attribute, AttributeHandle(clamping: local))
    }

    /// Whether it is a change of attributes that nothing told the phone of: no app hears of it, and all go by the old table (BTC-14).
    package var isUntoldChange: Bool { kind == .servicesModified && failed }
}

extension Action {
    package static func bluetooth(_ command: BluetoothCommand) -> Action { .command(.bluetooth(command)) }
    package static func peripheralRole(_ command: PeripheralRoleCommand) -> Action {
        .command(.peripheralRole(command))
    }
}
