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
    /// How many more writes without response the phone takes now, and how long; answered by a reply with `room` and `longest`.
    case writeRoom(id: UInt64)
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

/// What happened to a peripheral.
package enum WirePeripheralEvent: Equatable, Sendable {
    /// Services were found.
    case services([WireService], failure: WireFailure?)
    /// Included services were found.
    case includedServices([WireService], service: UInt16, failure: WireFailure?)
    /// Characteristics were found.
    case characteristics([WireCharacteristic], service: UInt16, failure: WireFailure?)
    /// Descriptors were found.
    case descriptors([GATTDescriptor], characteristic: UInt16, failure: WireFailure?)
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
package enum WireRadioState: String, CaseIterable, Sendable, WireWord {
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
package enum WireLinkState: String, CaseIterable, Sendable, WireWord {
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
    /// What it can do, in the bits of `CBCharacteristicProperties`.
    package var properties: UInt16
    /// Whether notifications are on; only in a restoration.
    package var isNotifying: Bool

    /// A characteristic of a service.
    package init(uuid: String, handle: UInt16, properties: UInt16, isNotifying: Bool = false) {
        self.uuid = uuid
        self.handle = handle
        self.properties = properties
        self.isNotifying = isNotifying
    }
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

/// The words of attributes' bits, in the order in which they are written.
package enum WireWords {
    /// What a characteristic can do, with the bits of `CBCharacteristicProperties`.
    package static let properties: [(word: String, bit: UInt16)] = [
        ("broadcast", 0x01), ("read", 0x02), ("writeWithoutResponse", 0x04), ("write", 0x08), ("notify", 0x10),
        ("indicate", 0x20), ("authenticatedSignedWrites", 0x40), ("extendedProperties", 0x80),
        ("notifyEncryptionRequired", 0x100), ("indicateEncryptionRequired", 0x200),
    ]
    /// What a central may do with a published value, with the bits of `CBAttributePermissions`.
    package static let permissions: [(word: String, bit: UInt8)] = [
        ("readable", 0x01), ("writeable", 0x02), ("readEncryptionRequired", 0x04), ("writeEncryptionRequired", 0x08),
    ]
}

// MARK: Coding

extension FieldShape where Value: FixedWidthInteger {
    /// A signal strength or a transmit power.
    static var decibels: FieldShape {
        .whole(in: -128...127)
    }
}

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

extension PeripheralRequest: AreaMessage {
    static let area = "peripheral"
    static let blanks: [Self] = [
        .discoverServices(nil), .discoverIncludedServices(nil, service: 0), .discoverCharacteristics(nil, service: 0),
        .discoverDescriptors(characteristic: 0), .read(attribute: 0),
        .write(attribute: 0, value: [], withResponse: false), .setNotify(attribute: 0, enabled: false),
        .readDescriptor(attribute: 0), .writeDescriptor(attribute: 0, value: []), .readRSSI, .openL2CAPChannel(psm: 0),
        .writeRoom(id: 0),
    ]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .discoverServices(let services):
            self = try .discoverServices(coder.field("services", services, .uuids))
        case .discoverIncludedServices(let services, let service):
            let service = try coder.field("service", service, .whole)
            self = try .discoverIncludedServices(coder.field("services", services, .uuids), service: service)
        case .discoverCharacteristics(let uuids, let service):
            let service = try coder.field("service", service, .whole)
            self = try .discoverCharacteristics(coder.field("characteristics", uuids, .uuids), service: service)
        case .discoverDescriptors(let characteristic):
            self = try .discoverDescriptors(characteristic: coder.field("characteristic", characteristic, .whole))
        case .read(let attribute): self = try .read(attribute: coder.field("attribute", attribute, .whole))
        case .write(let attribute, let value, let withResponse):
            self = try .write(
                attribute: coder.field("attribute", attribute, .whole),
                value: coder.field("value", value, .value),
                withResponse: coder.field("withResponse", withResponse, .bool)
            )
        case .setNotify(let attribute, let enabled):
            self = try .setNotify(
                attribute: coder.field("attribute", attribute, .whole),
                enabled: coder.field("enabled", enabled, .bool)
            )
        case .readDescriptor(let attribute):
            self = try .readDescriptor(attribute: coder.field("attribute", attribute, .whole))
        case .writeDescriptor(let attribute, let value):
            self = try .writeDescriptor(
                attribute: coder.field("attribute", attribute, .whole),
                value: coder.field("value", value, .value)
            )
        case .openL2CAPChannel(let psm): self = try .openL2CAPChannel(psm: coder.field("psm", psm, .whole))
        case .writeRoom(let id): self = try .writeRoom(id: coder.field("id", id, .whole))
        case .readRSSI: break
        }
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

extension WirePeripheralEvent: AreaMessage {
    static let area = "peripheral"
    static let blanks: [Self] = [
        .services([], failure: nil), .includedServices([], service: 0, failure: nil),
        .characteristics([], service: 0, failure: nil), .descriptors([], characteristic: 0, failure: nil),
        .value(attribute: 0, value: nil, failure: nil), .descriptorValue(attribute: 0, value: nil, failure: nil),
        .written(attribute: 0, failure: nil), .descriptorWritten(attribute: 0, failure: nil),
        .notifyState(attribute: 0, notifying: false, failure: nil), .rssi(0, failure: nil), .nameChanged(nil),
        .modifiedServices([]), .readyToWrite, .channelOpened(psm: 0, failure: nil),
    ]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .services(let services, let failure):
            self = try .services(
                coder.field("services", services, .list(), absent: []),
                failure: coder.failure(failure)
            )
        case .includedServices(let services, let service, let failure):
            let service = try coder.field("service", service, .whole)
            self = try .includedServices(
                coder.field("services", services, .list(), absent: []),
                service: service,
                failure: coder.failure(failure)
            )
        case .characteristics(let characteristics, let service, let failure):
            let service = try coder.field("service", service, .whole)
            self = try .characteristics(
                coder.field("characteristics", characteristics, .list(), absent: []),
                service: service,
                failure: coder.failure(failure)
            )
        case .descriptors(let descriptors, let characteristic, let failure):
            let characteristic = try coder.field("characteristic", characteristic, .whole)
            self = try .descriptors(
                coder.field("descriptors", descriptors, .list(), absent: []),
                characteristic: characteristic,
                failure: coder.failure(failure)
            )
        case .value, .descriptorValue, .written, .descriptorWritten, .notifyState: try codeAttribute(&coder)
        case .rssi(let rssi, let failure):
            self = try .rssi(coder.field("rssi", rssi, .decibels), failure: coder.failure(failure))
        case .nameChanged(let name): self = try .nameChanged(coder.field("name", name, .text))
        case .modifiedServices(let handles):
            self = try .modifiedServices(
                coder.field("services", handles, .wholes("an array of attribute handles"))
            )
        case .channelOpened(let psm, let failure):
            self = try .channelOpened(psm: coder.field("psm", psm, .whole), failure: coder.failure(failure))
        case .readyToWrite: break
        }
    }

    /// The fields of what happened to an attribute.
    private mutating func codeAttribute(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .value(let attribute, let value, let failure):
            self = try .value(
                attribute: coder.field("attribute", attribute, .whole),
                value: coder.field("value", value, .value),
                failure: coder.failure(failure)
            )
        case .descriptorValue(let attribute, let value, let failure):
            self = try .descriptorValue(
                attribute: coder.field("attribute", attribute, .whole),
                value: coder.field("value", value, .value),
                failure: coder.failure(failure)
            )
        case .written(let attribute, let failure):
            self = try .written(
                attribute: coder.field("attribute", attribute, .whole),
                failure: coder.failure(failure)
            )
        case .descriptorWritten(let attribute, let failure):
            self = try .descriptorWritten(
                attribute: coder.field("attribute", attribute, .whole),
                failure: coder.failure(failure)
            )
        case .notifyState(let attribute, let notifying, let failure):
            self = try .notifyState(
                attribute: coder.field("attribute", attribute, .whole),
                notifying: coder.field("notifying", notifying, .bool),
                failure: coder.failure(failure)
            )
        case .services, .includedServices, .characteristics, .descriptors, .rssi, .nameChanged, .modifiedServices,
            .readyToWrite, .channelOpened:
            preconditionFailure("\(word) is about no attribute")
        }
    }
}

extension WirePeripheral: Coded {
    static let blank = WirePeripheral(identifier: "")

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("identifier", of: &identifier, .identifier)
        try coder.field("name", of: &name, .text)
        try coder.field("state", of: &state, .word, absent: .disconnected)
        try coder.field("services", of: &services, .list(), omitted: [])
    }
}

extension WireService: Coded {
    static let blank = WireService(uuid: "", handle: 0)

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("uuid", of: &uuid, .uuid)
        try coder.field("handle", of: &handle, .whole)
        try coder.field("primary", of: &isPrimary, .bool, absent: true)
        try coder.field("characteristics", of: &characteristics, .list(), omitted: [])
    }
}

extension FieldShape where Value == UInt16 {
    /// What a characteristic can do, in words.
    static var properties: FieldShape {
        .bits(WireWords.properties, example: "read, write, notify")
    }
}

extension WireCharacteristic: Coded {
    static let blank = WireCharacteristic(uuid: "", handle: 0, properties: 0)

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("uuid", of: &uuid, .uuid)
        try coder.field("handle", of: &handle, .whole)
        try coder.field("properties", of: &properties, .properties, absent: 0)
        try coder.field("notifying", of: &isNotifying, .bool, omitted: false)
    }
}

extension GATTDescriptor: Coded {
    static let blank = GATTDescriptor(uuid: "", handle: 0, characteristic: 0)

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("uuid", of: &uuid, .uuid)
        try coder.field("handle", of: &handle, .whole)
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
