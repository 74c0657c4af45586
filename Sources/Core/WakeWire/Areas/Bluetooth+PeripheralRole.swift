import WakeModel

/// What an app asks of a peripheral manager.
package enum WirePeripheralManagerRequest: Equatable, Sendable {
    /// A manager was made; answered by a reply, then by a `peripheralManager.state` delivery.
    case create(id: UInt64, restoreIdentifier: String?, showPowerAlert: Bool)
    /// Publishes a service; answered by `peripheralManager.serviceAdded`.
    case addService(LocalService)
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

/// What happened to a peripheral manager.
package enum WirePeripheralManagerEvent: Equatable, Sendable {
    /// The radio's state changed, or is told for the first time.
    case state(WireRadioState)
    /// A manager made with a restore identifier gets its past back, before its first state.
    case willRestore(WirePeripheralRestoration)
    /// A service is published, or could not be.
    case serviceAdded(service: UInt32, failure: WireFailure?)
    /// The advertising began, or could not.
    case advertisingStarted(failure: WireFailure?)
    /// A central wants the values of a characteristic.
    case subscribed(WireCentral, characteristic: UInt32)
    /// A central wants them no more, or is gone.
    case unsubscribed(WireCentral, characteristic: UInt32)
    /// A central reads; it waits for the answer to the request.
    case readRequest(WireCentral, request: UInt32, characteristic: UInt32, offset: UInt16)
    /// A central writes, several values at once perhaps; it waits for the one answer to the request.
    case writeRequests(WireCentral, request: UInt32, [LocalWrite])
    /// The queue to a central was full and has room again.
    case readyToUpdate
    /// The PSM that centrals can open channels to, or 0 with a failure.
    case channelPublished(psm: UInt16, failure: WireFailure?)
    /// Nobody listens on the PSM any more.
    case channelUnpublished(psm: UInt16, failure: WireFailure?)
    /// A central opened a channel; a connected socket comes with the packet unless there is a failure.
    case channelOpened(WireCentral, psm: UInt16, failure: WireFailure?)
}

/// A central that speaks to the app's services.
package struct WireCentral: Equatable, Sendable {
    /// The identifier, a UUID of 36 characters in capitals.
    package var identifier: String
    /// The longest value that one notification or indication to it carries, in bytes.
    package var maximumUpdateLength: UInt16

    /// A central; without a length, the least that the specification allows.
    package init(identifier: String, maximumUpdateLength: UInt16 = 20) {
        self.identifier = identifier
        self.maximumUpdateLength = maximumUpdateLength
    }
}

/// What a restored peripheral manager gets back.
package struct WirePeripheralRestoration: Equatable, Sendable {
    /// The services it had published, in the order in which they were added, with their numbers of then.
    package var services: [LocalService]
    /// Who was subscribed to what.
    package var subscriptions: [Subscription]
    /// What it advertised; nil when it did not.
    package var advertisement: Advertisement?

    /// A central that is subscribed to a characteristic.
    package struct Subscription: Equatable, Sendable {
        /// The number of the characteristic.
        package var characteristic: UInt32
        /// The central.
        package var central: WireCentral

        /// A central that is subscribed to a characteristic.
        package init(characteristic: UInt32, central: WireCentral) {
            self.characteristic = characteristic
            self.central = central
        }
    }

    /// What an app asked to advertise.
    package struct Advertisement: Equatable, Sendable {
        /// The name.
        package var localName: String?
        /// The services' UUIDs.
        package var services: [String]

        /// What an app asked to advertise.
        package init(localName: String?, services: [String]) {
            self.localName = localName
            self.services = services
        }
    }

    /// What a restored peripheral manager gets back.
    package init(
        services: [LocalService],
        subscriptions: [Subscription] = [],
        advertisement: Advertisement? = nil
    ) {
        self.services = services
        self.subscriptions = subscriptions
        self.advertisement = advertisement
    }
}

// MARK: Coding

extension WirePeripheralManagerRequest: AreaMessage {
    static let area = "peripheralManager"
    static let blanks: [Self] = [
        .create(id: 0, restoreIdentifier: nil, showPowerAlert: false), .addService(.blank), .removeService(0),
        .removeAllServices, .startAdvertising(localName: nil, services: []), .stopAdvertising,
        .updateValue(id: 0, characteristic: 0, value: [], centrals: nil), .respond(request: 0, result: 0, value: nil),
        .publishChannel(encrypted: false), .unpublishChannel(psm: 0), .release,
    ]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .create(let id, let restoreIdentifier, let showPowerAlert):
            self = try .create(
                id: coder.field("id", id, .whole),
                restoreIdentifier: coder.field("restoreIdentifier", restoreIdentifier, .text),
                showPowerAlert: coder.field("showPowerAlert", showPowerAlert, .bool, absent: false)
            )
        case .addService(let service): self = try .addService(coder.field("service", service, .object))
        case .removeService(let service): self = try .removeService(coder.field("service", service, .whole))
        case .startAdvertising(let localName, let services):
            self = try .startAdvertising(
                localName: coder.field("localName", localName, .text),
                services: coder.field("services", services, .uuids, absent: [])
            )
        case .updateValue(let id, let characteristic, let value, let centrals):
            self = try .updateValue(
                id: coder.field("id", id, .whole),
                characteristic: coder.field("characteristic", characteristic, .whole),
                value: coder.field("value", value, .value),
                centrals: coder.field("centrals", centrals, .identifiers)
            )
        case .respond(let request, let result, let value):
            self = try .respond(
                request: coder.field("request", request, .whole),
                result: coder.field("result", result, .whole),
                value: coder.field("value", value, .value)
            )
        case .publishChannel(let encrypted):
            self = try .publishChannel(encrypted: coder.field("encrypted", encrypted, .bool, absent: false))
        case .unpublishChannel(let psm): self = try .unpublishChannel(psm: coder.field("psm", psm, .whole))
        case .removeAllServices, .stopAdvertising, .release: break
        }
    }
}

extension LocalService: Coded {
    static let blank = LocalService(number: 0, uuid: "")

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("number", of: &number, .whole)
        try coder.field("uuid", of: &uuid, .uuid)
        try coder.field("primary", of: &primary, .bool, absent: true)
        try coder.field("includedServices", of: &includes, .wholes("numbers of services"), omitted: [])
        try coder.field("characteristics", of: &characteristics, .list(), absent: [])
    }
}

extension LocalCharacteristic: Coded {
    static let blank = LocalCharacteristic(number: 0, uuid: "", properties: 0, permissions: 0)

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        let words = WireWords.permissions
        try coder.field("number", of: &number, .whole)
        try coder.field("uuid", of: &uuid, .uuid)
        try coder.field("properties", of: &properties, .properties, absent: 0)
        try coder.field("permissions", of: &permissions, .bits(words, example: "readable, writeable"), absent: 0)
        try coder.field("value", of: &value, .value)
        try coder.field("descriptors", of: &descriptors, .list(), omitted: [])
    }
}

extension LocalDescriptor: Coded {
    static let blank = LocalDescriptor(uuid: "", value: [])

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("uuid", of: &uuid, .uuid)
        try coder.field("value", of: &value, .value, absent: [])
    }
}

extension WirePeripheralManagerEvent: AreaMessage {
    static let area = "peripheralManager"
    static let blanks: [Self] = [
        .state(.unknown), .willRestore(.blank), .serviceAdded(service: 0, failure: nil),
        .advertisingStarted(failure: nil), .subscribed(.blank, characteristic: 0),
        .unsubscribed(.blank, characteristic: 0),
        .readRequest(.blank, request: 0, characteristic: 0, offset: 0), .writeRequests(.blank, request: 0, []),
        .readyToUpdate, .channelPublished(psm: 0, failure: nil), .channelUnpublished(psm: 0, failure: nil),
        .channelOpened(.blank, psm: 0, failure: nil),
    ]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .state(let state): self = try .state(coder.field("state", state, .word))
        case .willRestore(let restoration): self = try .willRestore(coder.coded(restoration))
        case .serviceAdded(let service, let failure):
            self = try .serviceAdded(
                service: coder.field("service", service, .whole),
                failure: coder.failure(failure)
            )
        case .advertisingStarted(let failure): self = try .advertisingStarted(failure: coder.failure(failure))
        case .subscribed(let central, let characteristic):
            self = try .subscribed(
                coder.field("central", central, .object),
                characteristic: coder.field("characteristic", characteristic, .whole)
            )
        case .unsubscribed(let central, let characteristic):
            self = try .unsubscribed(
                coder.field("central", central, .object),
                characteristic: coder.field("characteristic", characteristic, .whole)
            )
        case .readRequest(let central, let request, let characteristic, let offset):
            self = try .readRequest(
                coder.field("central", central, .object),
                request: coder.field("request", request, .whole),
                characteristic: coder.field("characteristic", characteristic, .whole),
                offset: coder.field("offset", offset, .whole)
            )
        case .writeRequests(let central, let request, let writes):
            self = try .writeRequests(
                coder.field("central", central, .object),
                request: coder.field("request", request, .whole),
                coder.field("writes", writes, .list())
            )
        case .channelPublished(let psm, let failure):
            self = try .channelPublished(psm: coder.field("psm", psm, .whole), failure: coder.failure(failure))
        case .channelUnpublished(let psm, let failure):
            self = try .channelUnpublished(psm: coder.field("psm", psm, .whole), failure: coder.failure(failure))
        case .channelOpened(let central, let psm, let failure):
            self = try .channelOpened(
                coder.field("central", central, .object),
                psm: coder.field("psm", psm, .whole),
                failure: coder.failure(failure)
            )
        case .readyToUpdate: break
        }
    }
}

extension WireCentral: Coded {
    static let blank = WireCentral(identifier: "")

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("identifier", of: &identifier, .identifier)
        try coder.field("maximumUpdateLength", of: &maximumUpdateLength, .whole(in: 20...512))
    }
}

extension LocalWrite: Coded {
    static let blank = LocalWrite(characteristic: 0, offset: 0, value: [])

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("characteristic", of: &characteristic, .whole)
        try coder.field("offset", of: &offset, .whole)
        try coder.field("value", of: &value, .value)
    }
}

extension WirePeripheralRestoration: Coded {
    static let blank = WirePeripheralRestoration(services: [])

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("services", of: &services, .list())
        try coder.field("subscriptions", of: &subscriptions, .list(), omitted: [])
        try coder.field("advertisement", of: &advertisement, .object)
    }
}

extension WirePeripheralRestoration.Subscription: Coded {
    static let blank = Self(characteristic: 0, central: .blank)

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("characteristic", of: &characteristic, .whole)
        try coder.field("central", of: &central, .object)
    }
}

extension WirePeripheralRestoration.Advertisement: Coded {
    static let blank = Self(localName: nil, services: [])

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("localName", of: &localName, .text)
        try coder.field("services", of: &services, .uuids, absent: [])
    }
}
