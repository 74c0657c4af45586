import WakeJSON
import WakeModel

/// What an app asks of a central manager.
package enum CentralRequest: Equatable, Sendable {
    /// A manager was made; answered by a reply, then by a `central.state` delivery.
    case create(id: UInt64, restoreIdentifier: String?, showPowerAlert: Bool)
    /// Looks for advertisements; no services means any.
    case scan(services: [String], allowDuplicates: Bool, solicitedServices: [String])
    /// Ends the scan.
    case stopScan
    /// Connects now or when the peripheral is next in range, after so many seconds; nil means at once.
    case connect(peripheral: String, ConnectOptions, startDelay: Double?)
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

/// What happened to a central manager.
package enum WireCentralEvent: Equatable, Sendable {
    /// The radio's state changed, or is told for the first time.
    case state(WireRadioState)
    /// A manager made with a restore identifier gets its past back, before its first state.
    case willRestore(WireRestoration)
    /// An advertisement was seen.
    case discovered(WireDiscovery)
    /// A connection was made.
    case connected(peripheral: String, name: String?)
    /// A connection could not be made.
    case failedToConnect(peripheral: String, failure: WireFailure?)
    /// A connection ended; no failure when the app asked for it. Time in seconds since 1970.
    case disconnected(
        peripheral: String,
        failure: WireFailure?,
        timestamp: Double,
        isReconnecting: Bool
    )
    /// A connection of the phone that the manager asked about came up or went.
    case connectionEvent(peripheral: String, name: String?, isConnected: Bool)
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
    /// What it says of itself; data of services are sorted by UUID.
    package var advertisement: Advertisement
    /// The services in the overflow area.
    package var overflowServices: [String]
    /// The services it solicits.
    package var solicitedServices: [String]

    /// An advertisement as the app sees it.
    package init(
        identifier: String,
        name: String? = nil,
        _ advertisement: Advertisement = Advertisement(),
        overflowServices: [String] = [],
        solicitedServices: [String] = []
    ) {
        self.identifier = identifier
        self.name = name
        self.advertisement = advertisement
        self.overflowServices = overflowServices
        self.solicitedServices = solicitedServices
    }
}

// MARK: Coding

extension CentralRequest: AreaMessage {
    static let area = "central"
    static let blanks: [Self] = [
        .create(id: 0, restoreIdentifier: nil, showPowerAlert: false),
        .scan(services: [], allowDuplicates: false, solicitedServices: []), .stopScan,
        .connect(peripheral: "", [], startDelay: nil), .cancel(peripheral: ""), .retrieve(id: 0, identifiers: []),
        .retrieveConnected(id: 0, services: []), .registerForConnectionEvents(services: nil, peripherals: nil),
        .release,
    ]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .create(let id, let restoreIdentifier, let showPowerAlert):
            self = try .create(
                id: coder.field("id", id, .whole),
                restoreIdentifier: coder.field("restoreIdentifier", restoreIdentifier, .text),
                showPowerAlert: coder.field("showPowerAlert", showPowerAlert, .bool, absent: false)
            )
        case .scan(let services, let allowDuplicates, let solicitedServices):
            self = try .scan(
                services: coder.field("services", services, .uuids),
                allowDuplicates: coder.field("allowDuplicates", allowDuplicates, .bool, absent: false),
                solicitedServices: coder.field("solicitedServices", solicitedServices, .uuids, omitted: [])
            )
        case .connect(let peripheral, var options, let startDelay):
            let peripheral = try coder.field("peripheral", peripheral, .identifier)
            try coder.bit("notifyOnConnection", of: &options, .alertsOnConnection)
            try coder.bit("notifyOnDisconnection", of: &options, .alertsOnDisconnection)
            try coder.bit("notifyOnNotification", of: &options, .alertsOnNotification)
            try coder.bit("autoReconnect", of: &options, .reconnects)
            self = try .connect(
                peripheral: peripheral,
                options,
                startDelay: coder.field("startDelay", startDelay, .seconds)
            )
        case .cancel(let peripheral):
            self = try .cancel(peripheral: coder.field("peripheral", peripheral, .identifier))
        case .retrieve(let id, let identifiers):
            self = try .retrieve(
                id: coder.field("id", id, .whole),
                identifiers: coder.field("identifiers", identifiers, .identifiers)
            )
        case .retrieveConnected(let id, let services):
            self = try .retrieveConnected(
                id: coder.field("id", id, .whole),
                services: coder.field("services", services, .uuids)
            )
        case .registerForConnectionEvents(let services, let peripherals):
            self = try .registerForConnectionEvents(
                services: coder.field("services", services, .uuids),
                peripherals: coder.field("peripherals", peripherals, .identifiers)
            )
        case .stopScan, .release: break
        }
    }
}

extension FieldCoder {
    /// One of the options of a connect.
    fileprivate mutating func bit(
        _ key: StaticString,
        of options: inout ConnectOptions,
        _ option: ConnectOptions
    ) throws(WireError) {
        let isSet = try field(key, options.contains(option), .bool, absent: false)
        options = isSet ? options.union(option) : options.subtracting(option)
    }
}

extension WireCentralEvent: AreaMessage {
    static let area = "central"
    static let blanks: [Self] = [
        .state(.unknown), .willRestore(.blank), .discovered(.blank), .connected(peripheral: "", name: nil),
        .failedToConnect(peripheral: "", failure: nil),
        .disconnected(peripheral: "", failure: nil, timestamp: 0, isReconnecting: false),
        .connectionEvent(peripheral: "", name: nil, isConnected: false),
    ]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .state(let state): self = try .state(coder.field("state", state, .word))
        case .willRestore(let restoration): self = try .willRestore(coder.coded(restoration))
        case .discovered(let discovery): self = try .discovered(coder.coded(discovery))
        case .connected(let peripheral, let name):
            self = try .connected(
                peripheral: coder.field("peripheral", peripheral, .identifier),
                name: coder.field("name", name, .text)
            )
        case .failedToConnect(let peripheral, let failure):
            self = try .failedToConnect(
                peripheral: coder.field("peripheral", peripheral, .identifier),
                failure: coder.failure(failure)
            )
        case .disconnected(let peripheral, let failure, let timestamp, let isReconnecting):
            self = try .disconnected(
                peripheral: coder.field("peripheral", peripheral, .identifier),
                failure: coder.failure(failure),
                timestamp: coder.field("timestamp", timestamp, .seconds, absent: 0),
                isReconnecting: coder.field("isReconnecting", isReconnecting, .bool, absent: false)
            )
        case .connectionEvent(let peripheral, let name, let isConnected):
            self = try .connectionEvent(
                peripheral: coder.field("peripheral", peripheral, .identifier),
                name: coder.field("name", name, .text),
                isConnected: coder.field("connected", isConnected, .bool)
            )
        }
    }
}

extension WireRestoration: Coded {
    static let blank = WireRestoration(peripherals: [])

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("peripherals", of: &peripherals, .list())
        try coder.field("scanServices", of: &scanServices, .uuids)
        try coder.field("scanAllowDuplicates", of: &scanAllowsDuplicates, .bool)
    }
}

extension WireDiscovery: Coded {
    static let blank = WireDiscovery(identifier: "")

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.enterRequired("peripheral")
        try coder.field("identifier", of: &identifier, .identifier)
        try coder.field("name", of: &name, .text)
        coder.leave()
        try coder.field("localName", of: &advertisement.localName, .text)
        try coder.field("services", of: &advertisement.services, .uuids, absent: [])
        try coder.field("overflowServices", of: &overflowServices, .uuids, omitted: [])
        try coder.field("solicitedServices", of: &solicitedServices, .uuids, omitted: [])
        try coder.field("manufacturerData", of: &advertisement.manufacturerData, .bytes)
        try coder.field("serviceData", of: &advertisement.serviceData, .byUUID, omitted: [])
        try coder.field("txPower", of: &advertisement.txPower, .decibels)
        try coder.field("connectable", of: &advertisement.connectable, .bool, absent: true)
        try coder.field("rssi", of: &advertisement.signalStrength, .decibels)
    }
}

extension FieldShape where Value == [Advertisement.ServiceData] {
    /// An object from UUIDs to bytes.
    fileprivate static var byUUID: FieldShape {
        FieldShape { (found) throws(WireError) in
            try found.bytesByName().map { (entry) throws(WireError) in
                Advertisement.ServiceData(service: try found.uuid(entry.name), data: entry.bytes)
            }.sorted { $0.service < $1.service }
        } write: { coder, entries in
            coder.writer.openObject()
            for entry in entries {
                coder.writer.pair(entry.service, entry.data)
            }
            coder.writer.closeObject()
        }
    }
}
