/// A packet from the bench to an app.
package enum BenchMessage: Equatable, Sendable {
    /// The answer to `hello`; the app now runs `didFinishLaunching`.
    case welcome(Welcome)
    /// A change of the app's own state, to be acknowledged.
    case callback(delivery: UInt64, WireCallback, state: WireAppState)
    /// The answer to the request with that id.
    case reply(id: UInt64, WireReply)
    /// An event of a source, to be acknowledged.
    case deliver(WireDelivery)
}

/// What a fresh process is told.
package struct Welcome: Equatable, Sendable {
    /// The version the bench speaks.
    package var version: Int
    /// The app's state at launch.
    package var state: WireAppState
    /// Why the process was started; nil for a launch by the user.
    package var cause: WireCause?
    /// Restore identifiers of the central managers that wait to be made again.
    package var bluetoothCentrals: [String]
    /// Restore identifiers of the peripheral managers that wait to be made again.
    package var bluetoothPeripherals: [String]
    /// Whether an event of a location service started the process.
    package var isForLocation: Bool

    /// What a fresh process is told.
    package init(
        version: Int = WireLimits.version,
        state: WireAppState,
        cause: WireCause? = nil,
        bluetoothCentrals: [String] = [],
        bluetoothPeripherals: [String] = [],
        isForLocation: Bool = false
    ) {
        self.version = version
        self.state = state
        self.cause = cause
        self.bluetoothCentrals = bluetoothCentrals
        self.bluetoothPeripherals = bluetoothPeripherals
        self.isForLocation = isForLocation
    }
}

/// Why an app was started.
package struct WireCause: Equatable, Sendable {
    /// The source, such as `bluetooth`.
    package var source: String
    /// The kind of the event.
    package var kind: String
    /// What the event is about, such as a peripheral.
    package var subject: String
    /// The event's id, such as `e-000398`.
    package var event: String
    /// The decision's id, such as `d-000412`.
    package var decision: String

    /// Why an app was started.
    package init(source: String, kind: String, subject: String, event: String, decision: String) {
        self.source = source
        self.kind = kind
        self.subject = subject
        self.event = event
        self.decision = decision
    }
}

/// The state of an application as `UIApplication.State` has it.
package enum WireAppState: String, CaseIterable, Sendable {
    /// In the foreground without events.
    case inactive
    /// In the background.
    case background
    /// In the foreground.
    case active
}

/// The callbacks of an app delegate, and the expiry of tasks.
package enum WireCallback: Equatable, Sendable {
    /// `applicationWillResignActive(_:)`.
    case willResignActive
    /// `applicationDidEnterBackground(_:)`.
    case didEnterBackground
    /// `applicationWillEnterForeground(_:)`.
    case willEnterForeground
    /// `applicationDidBecomeActive(_:)`.
    case didBecomeActive
    /// `applicationWillTerminate(_:)`.
    case willTerminate
    /// `applicationDidReceiveMemoryWarning(_:)`.
    case didReceiveMemoryWarning
    /// The expiration handlers of these background tasks.
    case taskExpiration(tokens: [UInt64])
}

/// The answer to a request; what does not apply is nil.
package struct WireReply: Equatable, Sendable {
    /// Why the request failed.
    package var failure: WireFailure?
    /// Time remaining, in seconds; nil means without limit.
    package var seconds: Double?
    /// The peripherals asked for.
    package var peripherals: [WirePeripheral]?
    /// The state of the radio.
    package var state: WireRadioState?
    /// Whether the phone's queue took an update of a peripheral manager.
    package var taken: Bool?
    /// What a fresh location manager is told.
    package var location: WireLocationStatus?
    /// How sound stands.
    package var audio: WireAudioStatus?
    /// Whether a VoIP socket is watched, or a keep-alive handler will be called.
    package var granted: Bool?

    /// An answer; without arguments it only says that the request was heard.
    package init(
        failure: WireFailure? = nil,
        seconds: Double? = nil,
        peripherals: [WirePeripheral]? = nil,
        state: WireRadioState? = nil,
        taken: Bool? = nil,
        location: WireLocationStatus? = nil,
        granted: Bool? = nil,
        audio: WireAudioStatus? = nil
    ) {
        self.failure = failure
        self.seconds = seconds
        self.peripherals = peripherals
        self.state = state
        self.taken = taken
        self.location = location
        self.audio = audio
        self.granted = granted
    }
}

/// An error as the app sees it.
package struct WireFailure: Error, Equatable, Sendable {
    /// The domain, such as `CBErrorDomain`.
    package var domain: String
    /// The code in that domain.
    package var code: Int
    /// One line for people.
    package var message: String

    /// An error as the app sees it.
    package init(domain: String, code: Int, message: String) {
        self.domain = domain
        self.code = code
        self.message = message
    }
}

/// An event for a manager or one of its peripherals.
package struct WireDelivery: Equatable, Sendable {
    /// The number to acknowledge.
    package var delivery: UInt64
    /// The event's id; nil for answers to the app's own requests.
    package var event: String?
    /// The id of the decision that delivered it.
    package var decision: String?
    /// The source that woke the app, such as `bluetooth`; nil when nothing had to be woken.
    package var cause: String?
    /// The manager that the app made.
    package var manager: UInt32
    /// What happened.
    package var body: WireDeliveryBody

    /// An event for a manager or one of its peripherals.
    package init(
        delivery: UInt64,
        event: String? = nil,
        decision: String? = nil,
        cause: String? = nil,
        manager: UInt32,
        body: WireDeliveryBody
    ) {
        self.delivery = delivery
        self.event = event
        self.decision = decision
        self.cause = cause
        self.manager = manager
        self.body = body
    }
}

/// What happened to a manager or one of its peripherals.
package enum WireDeliveryBody: Equatable, Sendable {
    /// The radio's state changed, or is told for the first time.
    case centralState(WireRadioState)
    /// A manager made with a restore identifier gets its past back, before its first state.
    case centralWillRestore(WireRestoration)
    /// An advertisement was seen.
    case centralDiscovered(WireDiscovery)
    /// A connection was made.
    case centralConnected(peripheral: String, name: String?)
    /// A connection could not be made.
    case centralFailedToConnect(peripheral: String, failure: WireFailure?)
    /// A connection ended; no failure when the app asked for it. Time in seconds since 1970.
    case centralDisconnected(
        peripheral: String,
        failure: WireFailure?,
        timestamp: Double,
        isReconnecting: Bool
    )
    /// A connection of the phone that the manager asked about came up or went.
    case centralConnectionEvent(peripheral: String, name: String?, isConnected: Bool)
    /// Something happened to a peripheral.
    case peripheral(String, WirePeripheralEvent)
    /// Something happened to a peripheral manager.
    case peripheralManager(WirePeripheralManagerEvent)
    /// Something happened to a location manager.
    case location(WireLocationEvent)
    /// Something happened to the app's sound.
    case audio(WireAudioEvent)
    /// Something happened to an app's calls.
    case voip(WireVoIPEvent)
    /// A channel of the manager has something to read, or its end; the app finds it on the channel's own socket.
    case channelData
}

/// What happened to a peripheral.
package enum WirePeripheralEvent: Equatable, Sendable {
    /// Services were found.
    case services([WireService], failure: WireFailure?)
    /// Included services were found.
    case includedServices([WireService], service: UInt16, failure: WireFailure?)
    /// Characteristics were found.
    case characteristics([WireCharacteristic], service: UInt16, failure: WireFailure?)
    /// Descriptors were found.
    case descriptors([WireDescriptor], characteristic: UInt16, failure: WireFailure?)
    /// A read or notified value.
    case value(attribute: UInt16, value: [UInt8]?, failure: WireFailure?)
    /// The value of a descriptor.
    case descriptorValue(attribute: UInt16, value: [UInt8]?, failure: WireFailure?)
    /// A write with response was answered.
    case written(attribute: UInt16, failure: WireFailure?)
    /// A descriptor's write was answered.
    case descriptorWritten(attribute: UInt16, failure: WireFailure?)
    /// Notifications are on or off.
    case notifyState(attribute: UInt16, notifying: Bool, failure: WireFailure?)
    /// The signal strength, in dBm.
    case rssi(Int, failure: WireFailure?)
    /// The name changed; nil when there is none any more.
    case nameChanged(String?)
    /// These services are no longer valid.
    case modifiedServices([UInt16])
    /// Writes without response can go on.
    case readyToWrite
    /// A channel is open; a connected socket comes with the packet unless there is a failure.
    case channelOpened(psm: UInt16, failure: WireFailure?)
}

/// The state of the radio as `CBManagerState` has it.
package enum WireRadioState: String, CaseIterable, Sendable {
    /// Not known yet.
    case unknown
    /// The connection to the system was lost for a moment.
    case resetting
    /// This phone has no Bluetooth Low Energy.
    case unsupported
    /// The app may not use Bluetooth.
    case unauthorized
    /// Bluetooth is off.
    case poweredOff
    /// Bluetooth is on.
    case poweredOn
}

/// The state of a connection as `CBPeripheralState` has it.
package enum WireLinkState: String, CaseIterable, Sendable {
    /// No connection.
    case disconnected
    /// A connect is pending.
    case connecting
    /// Connected.
    case connected
    /// The connection is being ended.
    case disconnecting
}

/// A peripheral and what is known of it.
package struct WirePeripheral: Equatable, Sendable {
    /// The identifier, a UUID of 36 characters in capitals.
    package var identifier: String
    /// The name, where known.
    package var name: String?
    /// The state of the connection.
    package var state: WireLinkState
    /// The services found so far; only in a restoration.
    package var services: [WireService]

    /// A peripheral and what is known of it.
    package init(
        identifier: String,
        name: String? = nil,
        state: WireLinkState = .disconnected,
        services: [WireService] = []
    ) {
        self.identifier = identifier
        self.name = name
        self.state = state
        self.services = services
    }
}

/// A service of a peripheral.
package struct WireService: Equatable, Sendable {
    /// The UUID, of 4, 8 or 36 characters in capitals.
    package var uuid: String
    /// The handle of its declaration.
    package var handle: UInt16
    /// Whether it is a primary service.
    package var isPrimary: Bool
    /// The characteristics found so far; only in a restoration.
    package var characteristics: [WireCharacteristic]

    /// A service of a peripheral.
    package init(uuid: String, handle: UInt16, isPrimary: Bool = true, characteristics: [WireCharacteristic] = []) {
        self.uuid = uuid
        self.handle = handle
        self.isPrimary = isPrimary
        self.characteristics = characteristics
    }
}

/// A characteristic of a service.
package struct WireCharacteristic: Equatable, Sendable {
    /// The UUID, of 4, 8 or 36 characters in capitals.
    package var uuid: String
    /// The handle that requests name it by.
    package var handle: UInt16
    /// What it can do.
    package var properties: WireProperties
    /// Whether notifications are on; only in a restoration.
    package var isNotifying: Bool

    /// A characteristic of a service.
    package init(uuid: String, handle: UInt16, properties: WireProperties, isNotifying: Bool = false) {
        self.uuid = uuid
        self.handle = handle
        self.properties = properties
        self.isNotifying = isNotifying
    }
}

/// A descriptor of a characteristic.
package struct WireDescriptor: Equatable, Sendable {
    /// The UUID, of 4, 8 or 36 characters in capitals.
    package var uuid: String
    /// The handle that requests name it by.
    package var handle: UInt16

    /// A descriptor of a characteristic.
    package init(uuid: String, handle: UInt16) {
        self.uuid = uuid
        self.handle = handle
    }
}

/// What a characteristic can do, with the bits of `CBCharacteristicProperties`.
package struct WireProperties: OptionSet, Sendable {
    /// The bits.
    package let rawValue: UInt16

    /// A set from its bits.
    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The words of the wire, each with its bit, in the order they are written.
    package static let words: [(word: String, property: WireProperties)] = [
        ("broadcast", WireProperties(rawValue: 0x01)),
        ("read", .read),
        ("writeWithoutResponse", .writeWithoutResponse),
        ("write", .write),
        ("notify", .notify),
        ("indicate", .indicate),
        ("authenticatedSignedWrites", WireProperties(rawValue: 0x40)),
        ("extendedProperties", WireProperties(rawValue: 0x80)),
        ("notifyEncryptionRequired", WireProperties(rawValue: 0x100)),
        ("indicateEncryptionRequired", WireProperties(rawValue: 0x200)),
    ]

    /// Can be read.
    package static let read = WireProperties(rawValue: 0x02)
    /// Can be written without response.
    package static let writeWithoutResponse = WireProperties(rawValue: 0x04)
    /// Can be written with response.
    package static let write = WireProperties(rawValue: 0x08)
    /// Can notify.
    package static let notify = WireProperties(rawValue: 0x10)
    /// Can indicate.
    package static let indicate = WireProperties(rawValue: 0x20)
}

/// What a restored central manager gets back.
package struct WireRestoration: Equatable, Sendable {
    /// The peripherals it was connected or connecting to.
    package var peripherals: [WirePeripheral]
    /// The services it was scanning for; nil when it was not scanning.
    package var scanServices: [String]?
    /// Whether its scan asked for duplicates.
    package var scanAllowsDuplicates: Bool?

    /// What a restored central manager gets back.
    package init(
        peripherals: [WirePeripheral],
        scanServices: [String]? = nil,
        scanAllowsDuplicates: Bool? = nil
    ) {
        self.peripherals = peripherals
        self.scanServices = scanServices
        self.scanAllowsDuplicates = scanAllowsDuplicates
    }
}

/// An advertisement as the app sees it.
package struct WireDiscovery: Equatable, Sendable {
    /// The peripheral's identifier.
    package var identifier: String
    /// The peripheral's name, where known.
    package var name: String?
    /// The name in the advertisement.
    package var localName: String?
    /// The services in the advertisement.
    package var services: [String]
    /// The services in the overflow area.
    package var overflowServices: [String]
    /// The services it solicits.
    package var solicitedServices: [String]
    /// The manufacturer's data, company identifier first.
    package var manufacturerData: [UInt8]?
    /// Data of services, sorted by UUID.
    package var serviceData: [WireServiceData]
    /// The transmit power, in dBm.
    package var txPower: Int?
    /// Whether it takes connections.
    package var isConnectable: Bool
    /// The signal strength, in dBm; 127 when unknown.
    package var rssi: Int

    /// An advertisement as the app sees it.
    package init(
        identifier: String,
        name: String? = nil,
        localName: String? = nil,
        services: [String] = [],
        overflowServices: [String] = [],
        solicitedServices: [String] = [],
        manufacturerData: [UInt8]? = nil,
        serviceData: [WireServiceData] = [],
        txPower: Int? = nil,
        isConnectable: Bool = true,
        rssi: Int
    ) {
        self.identifier = identifier
        self.name = name
        self.localName = localName
        self.services = services
        self.overflowServices = overflowServices
        self.solicitedServices = solicitedServices
        self.manufacturerData = manufacturerData
        self.serviceData = serviceData
        self.txPower = txPower
        self.isConnectable = isConnectable
        self.rssi = rssi
    }
}

/// Data that an advertisement holds for a service.
package struct WireServiceData: Equatable, Sendable {
    /// The service's UUID.
    package var uuid: String
    /// The data.
    package var data: [UInt8]

    /// Data that an advertisement holds for a service.
    package init(uuid: String, data: [UInt8]) {
        self.uuid = uuid
        self.data = data
    }
}
