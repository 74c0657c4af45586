extension WirePeripheralManagerEvent {
    /// The event of that kind; nil when it is none of a peripheral manager.
    init?(kind: String, fields: Fields) throws(WireError) {
        switch kind {
        case "peripheralManager.state":
            self = .state(try fields.word("state", as: WireRadioState.self))
        case "peripheralManager.willRestore":
            self = .willRestore(try WirePeripheralRestoration(fields))
        case "peripheralManager.serviceAdded":
            self = .serviceAdded(service: try fields.localNumber("service"), failure: try fields.failure())
        case "peripheralManager.advertisingStarted":
            self = .advertisingStarted(failure: try fields.failure())
        case "peripheralManager.readyToUpdate":
            self = .readyToUpdate
        case "peripheralManager.channelPublished":
            self = .channelPublished(psm: try fields.handle("psm"), failure: try fields.failure())
        case "peripheralManager.channelUnpublished":
            self = .channelUnpublished(psm: try fields.handle("psm"), failure: try fields.failure())
        default:
            guard let event = try WirePeripheralManagerEvent(ofCentral: kind, fields: fields) else {
                return nil
            }
            self = event
        }
    }

    private init?(ofCentral kind: String, fields: Fields) throws(WireError) {
        switch kind {
        case "peripheralManager.subscribed":
            self = .subscribed(try fields.central(), characteristic: try fields.localNumber("characteristic"))
        case "peripheralManager.unsubscribed":
            self = .unsubscribed(try fields.central(), characteristic: try fields.localNumber("characteristic"))
        case "peripheralManager.readRequest":
            self = .readRequest(
                try fields.central(),
                request: try fields.localNumber("request"),
                characteristic: try fields.localNumber("characteristic"),
                offset: try fields.handle("offset")
            )
        case "peripheralManager.writeRequests":
            self = .writeRequests(
                try fields.central(),
                request: try fields.localNumber("request"),
                try fields.list("writes") { (fields) throws(WireError) in
                    WireLocalWrite(
                        characteristic: try fields.localNumber("characteristic"),
                        offset: try fields.handle("offset"),
                        value: try fields.value("value")
                    )
                }
            )
        case "peripheralManager.channelOpened":
            self = .channelOpened(
                try fields.central(),
                psm: try fields.handle("psm"),
                failure: try fields.failure()
            )
        default:
            return nil
        }
    }

    var kind: String {
        switch self {
        case .state: "peripheralManager.state"
        case .willRestore: "peripheralManager.willRestore"
        case .serviceAdded: "peripheralManager.serviceAdded"
        case .advertisingStarted: "peripheralManager.advertisingStarted"
        case .subscribed: "peripheralManager.subscribed"
        case .unsubscribed: "peripheralManager.unsubscribed"
        case .readRequest: "peripheralManager.readRequest"
        case .writeRequests: "peripheralManager.writeRequests"
        case .readyToUpdate: "peripheralManager.readyToUpdate"
        case .channelPublished: "peripheralManager.channelPublished"
        case .channelUnpublished: "peripheralManager.channelUnpublished"
        case .channelOpened: "peripheralManager.channelOpened"
        }
    }

    func write(to writer: inout JSONWriter) {
        switch self {
        case .state(let state):
            writer.field("state", state.rawValue)
        case .willRestore(let restoration):
            restoration.write(to: &writer)
        case .serviceAdded(let service, let failure):
            writer.field("service", service)
            writer.failure(failure)
        case .advertisingStarted(let failure):
            writer.failure(failure)
        case .subscribed(let central, let characteristic), .unsubscribed(let central, let characteristic):
            writer.central(central)
            writer.field("characteristic", characteristic)
        case .readRequest(let central, let request, let characteristic, let offset):
            writer.central(central)
            writer.field("request", request)
            writer.field("characteristic", characteristic)
            writer.field("offset", offset)
        case .writeRequests(let central, let request, let writes):
            writer.central(central)
            writer.field("request", request)
            writer.list("writes", writes) { $0.localWrite($1) }
        case .channelPublished(let psm, let failure), .channelUnpublished(let psm, let failure):
            writer.field("psm", psm)
            writer.failure(failure)
        case .channelOpened(let central, let psm, let failure):
            writer.central(central)
            writer.field("psm", psm)
            writer.failure(failure)
        case .readyToUpdate:
            break
        }
    }
}

extension WirePeripheralRestoration {
    fileprivate init(_ fields: Fields) throws(WireError) {
        self.init(
            services: try fields.list("services") { (fields) throws(WireError) in try WireLocalService(fields) },
            subscriptions: try fields.optionalList("subscriptions") { (fields) throws(WireError) in
                Subscription(
                    characteristic: try fields.localNumber("characteristic"),
                    central: try fields.central()
                )
            } ?? [],
            advertisement: try fields.optionalObject("advertisement").map { (fields) throws(WireError) in
                Advertisement(
                    localName: try fields.optionalString("localName"),
                    services: try fields.optionalUUIDs("services") ?? []
                )
            }
        )
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.list("services", services) { $0.localService($1) }
        if !subscriptions.isEmpty {
            writer.list("subscriptions", subscriptions) { writer, subscription in
                writer.openObject()
                writer.field("characteristic", subscription.characteristic)
                writer.central(subscription.central)
                writer.closeObject()
            }
        }
        if let advertisement {
            writer.key("advertisement")
            writer.openObject()
            writer.field("localName", advertisement.localName)
            writer.field("services", advertisement.services)
            writer.closeObject()
        }
    }
}

extension Fields {
    fileprivate func central() throws(WireError) -> WireCentral {
        let central = try object("central")
        return WireCentral(
            identifier: try central.identifier("identifier"),
            maximumUpdateLength: UInt16(try central.integer("maximumUpdateLength", in: 20...512))
        )
    }
}

extension JSONWriter {
    fileprivate mutating func central(_ central: WireCentral) {
        key("central")
        openObject()
        field("identifier", central.identifier)
        field("maximumUpdateLength", central.maximumUpdateLength)
        closeObject()
    }

    fileprivate mutating func localWrite(_ write: WireLocalWrite) {
        openObject()
        field("characteristic", write.characteristic)
        field("offset", write.offset)
        field("value", write.value)
        closeObject()
    }
}
