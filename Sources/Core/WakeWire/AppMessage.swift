/// A packet from an app to the bench.
package enum AppMessage: Equatable, Sendable {
    /// The first packet: which wire the app speaks, in what language, and whether it takes packets of several messages.
    case hello(version: Int, client: String, pid: Int, batches: Bool = false)
    /// `didFinishLaunching` has returned and the main queue has drained once.
    case launched
    /// The callback or delivery with that number is handled: it returned and its queue drained once.
    ///
    /// With `through`, never below `delivery`, so are all those up to that number.
    case acknowledge(delivery: UInt64, through: UInt64? = nil)
    /// The app's own word that the work of this wake is done (LIFE-11).
    case done
    /// A finite-length task begins; the app mints the token.
    ///
    /// With an id it begins only if it is granted, and a reply with `granted` says whether (TASK-7).
    case beginTask(token: UInt64, name: String?, id: UInt64? = nil)
    /// A finite-length task ends.
    case endTask(token: UInt64)
    /// How long the app may still run in the background; answered by a reply with `seconds`.
    case timeRemaining(id: UInt64)
    /// A mark for the run's trace; never answered.
    case signpost(WireSignpost)
    /// A request to a central manager.
    case central(manager: UInt32, CentralRequest)
    /// A request to a peripheral of a central manager.
    case peripheral(manager: UInt32, peripheral: String, PeripheralRequest)
    /// A request to a peripheral manager.
    case peripheralManager(manager: UInt32, WirePeripheralManagerRequest)
    /// A request to a location manager.
    case location(manager: UInt32, WireLocationRequest)
    /// A request of the audio session or engine.
    case audio(manager: UInt32, WireAudioRequest)
    /// A request to the accessory manager.
    case accessory(manager: UInt32, WireAccessoryRequest)
    /// A request for calls.
    case voip(WireVoIPRequest)
}

/// What an app asks of a central manager.
package enum CentralRequest: Equatable, Sendable {
    /// A manager was made; answered by a reply, then by a `central.state` delivery.
    case create(id: UInt64, restoreIdentifier: String?, showPowerAlert: Bool)
    /// Looks for advertisements; no services means any.
    case scan(services: [String], allowDuplicates: Bool, solicitedServices: [String])
    /// Ends the scan.
    case stopScan
    /// Connects now or when the peripheral is next in range.
    case connect(peripheral: String, WireConnectOptions)
    /// Ends a connection or a pending connect.
    case cancel(peripheral: String)
    /// Known peripherals, in the order asked for; answered by a reply with `peripherals`.
    case retrieve(id: UInt64, identifiers: [String])
    /// Connected peripherals that have one of the services; answered by a reply with `peripherals`.
    case retrieveConnected(id: UInt64, services: [String])
    /// Tells of connections of the phone that have one of the peripherals or services; both nil tells of none any more.
    case registerForConnectionEvents(services: [String]?, peripherals: [String]?)
    /// The manager is gone; its scan and connections end.
    case release
}

/// What an app asks of a peripheral.
package enum PeripheralRequest: Equatable, Sendable {
    /// Finds services; nil means all.
    case discoverServices([String]?)
    /// Finds the services that a service includes; nil means all.
    case discoverIncludedServices([String]?, service: UInt16)
    /// Finds characteristics of a service; nil means all.
    case discoverCharacteristics([String]?, service: UInt16)
    /// Finds the descriptors of a characteristic.
    case discoverDescriptors(characteristic: UInt16)
    /// Reads a characteristic's value.
    case read(attribute: UInt16)
    /// Writes a characteristic's value.
    case write(attribute: UInt16, value: [UInt8], withResponse: Bool)
    /// Turns notifications or indications on or off.
    case setNotify(attribute: UInt16, enabled: Bool)
    /// Reads a descriptor's value.
    case readDescriptor(attribute: UInt16)
    /// Writes a descriptor's value.
    case writeDescriptor(attribute: UInt16, value: [UInt8])
    /// Reads the signal strength of the connection.
    case readRSSI
    /// Opens an L2CAP channel; answered by `peripheral.channelOpened`.
    case openL2CAPChannel(psm: UInt16)
}

/// The options of a connect.
package struct WireConnectOptions: Equatable, Sendable {
    /// Wake the app when the connection is made while it is suspended.
    package var notifyOnConnection: Bool
    /// Wake the app when the connection ends while it is suspended.
    package var notifyOnDisconnection: Bool
    /// Tell of notifications that arrive while the app is suspended.
    package var notifyOnNotification: Bool
    /// Connect again by itself after a link loss.
    package var autoReconnect: Bool
    /// How long to wait before connecting, in seconds.
    package var startDelay: Double?

    /// Options of a connect; without arguments, none.
    package init(
        notifyOnConnection: Bool = false,
        notifyOnDisconnection: Bool = false,
        notifyOnNotification: Bool = false,
        autoReconnect: Bool = false,
        startDelay: Double? = nil
    ) {
        self.notifyOnConnection = notifyOnConnection
        self.notifyOnDisconnection = notifyOnDisconnection
        self.notifyOnNotification = notifyOnNotification
        self.autoReconnect = autoReconnect
        self.startDelay = startDelay
    }
}
