extension BenchMessage {
    /// Reads a packet of one message.
    ///
    /// - Throws: ``WireError`` for anything that is not a message of the bench.
    package init(decoding packet: [UInt8]) throws(WireError) {
        try self.init(Packet(packet, count: packet.count).object())
    }

    init(_ fields: Fields) throws(WireError) {
        if fields.says("type", "deliver") {
            self = .deliver(try WireDelivery(fields))
            return
        }
        let type = try fields.string("type")
        switch type {
        case "welcome":
            self = .welcome(try Welcome(fields))
        case "callback":
            self = .callback(
                delivery: try fields.serial("delivery"),
                try WireCallback(fields),
                state: try fields.word("state", as: WireAppState.self)
            )
        case "reply":
            self = .reply(id: try fields.serial("id"), try WireReply(fields))
        default:
            throw .unknownType(type)
        }
    }
}

extension Welcome {
    fileprivate init(_ fields: Fields) throws(WireError) {
        let options = try fields.optionalObject("launchOptions")
        self.init(
            version: Int(try fields.integer("version", in: 1...1_000_000)),
            state: try fields.word("state", as: WireAppState.self),
            cause: try fields.optionalObject("cause").map { (cause) throws(WireError) in try WireCause(cause) },
            bluetoothCentrals: try options?.optionalStrings("bluetoothCentrals") ?? [],
            bluetoothPeripherals: try options?.optionalStrings("bluetoothPeripherals") ?? [],
            isForLocation: try options?.flag("location") ?? false
        )
    }
}

extension WireCause {
    fileprivate init(_ fields: Fields) throws(WireError) {
        self.init(
            source: try fields.string("source"),
            kind: try fields.string("kind"),
            subject: try fields.string("subject"),
            event: try fields.string("event"),
            decision: try fields.string("decision")
        )
    }
}

extension WireCallback {
    fileprivate init(_ fields: Fields) throws(WireError) {
        let name = try fields.string("name")
        let plain: [WireCallback] = [
            .willResignActive, .didEnterBackground, .willEnterForeground, .didBecomeActive, .willTerminate,
            .didReceiveMemoryWarning,
        ]
        if name == "taskExpiration" {
            guard let tokens = try fields.optionalSerials("tokens") else {
                throw .missing(key: "tokens")
            }
            self = .taskExpiration(tokens: tokens)
        } else if let callback = plain.first(where: { $0.name == name }) {
            self = callback
        } else {
            throw .badValue(key: "name", expected: "the name of a callback")
        }
    }
}

extension Fields {
    func failure() throws(WireError) -> WireFailure? {
        guard let error = try optionalObject("error") else {
            return nil
        }
        return WireFailure(
            domain: try error.string("domain"),
            code: Int(try error.integer("code", in: Int64(Int32.min)...Int64(Int32.max))),
            message: try error.optionalString("message") ?? ""
        )
    }

    fileprivate func decibels(_ key: StaticString) throws(WireError) -> Int {
        Int(try integer(key, in: -128...127))
    }

    fileprivate func services(_ key: StaticString) throws(WireError) -> [WireService] {
        try optionalList(key) { (fields) throws(WireError) in try WireService(fields) } ?? []
    }

    fileprivate func characteristics(_ key: StaticString) throws(WireError) -> [WireCharacteristic] {
        try optionalList(key) { (fields) throws(WireError) in try WireCharacteristic(fields) } ?? []
    }
}

extension WirePeripheral {
    fileprivate init(_ fields: Fields) throws(WireError) {
        self.init(
            identifier: try fields.identifier("identifier"),
            name: try fields.optionalString("name"),
            state: try fields.optionalWord("state", as: WireLinkState.self) ?? .disconnected,
            services: try fields.services("services")
        )
    }
}

extension WireService {
    fileprivate init(_ fields: Fields) throws(WireError) {
        self.init(
            uuid: try fields.uuid("uuid"),
            handle: try fields.handle("handle"),
            isPrimary: try fields.optionalBool("primary") ?? true,
            characteristics: try fields.characteristics("characteristics")
        )
    }
}

extension WireCharacteristic {
    fileprivate init(_ fields: Fields) throws(WireError) {
        var properties: WireProperties = []
        for word in try fields.optionalStrings("properties") ?? [] {
            guard let entry = WireProperties.words.first(where: { $0.word == word }) else {
                throw .badValue(key: "properties", expected: "words such as read, write, notify")
            }
            properties.insert(entry.property)
        }
        self.init(
            uuid: try fields.uuid("uuid"),
            handle: try fields.handle("handle"),
            properties: properties,
            isNotifying: try fields.flag("notifying")
        )
    }
}

extension WireDescriptor {
    fileprivate init(_ fields: Fields) throws(WireError) {
        self.init(uuid: try fields.uuid("uuid"), handle: try fields.handle("handle"))
    }
}

extension WireReply {
    fileprivate init(_ fields: Fields) throws(WireError) {
        self.init(
            failure: try fields.failure(),
            seconds: try fields.optionalSeconds("seconds"),
            peripherals: try fields.optionalList("peripherals") { (fields) throws(WireError) in
                try WirePeripheral(fields)
            },
            state: try fields.optionalWord("state", as: WireRadioState.self),
            taken: try fields.optionalBool("taken"),
            location: try fields.optionalObject("location").map { (fields) throws(WireError) in
                try WireLocationStatus(fields)
            },
            granted: try fields.optionalBool("granted"),
            audio: try fields.optionalObject("audio").map { (fields) throws(WireError) in try WireAudioStatus(fields) }
        )
    }
}

extension WireDelivery {
    fileprivate init(_ fields: Fields) throws(WireError) {
        self.init(
            delivery: try fields.serial("delivery"),
            event: try fields.optionalString("event"),
            decision: try fields.optionalString("decision"),
            cause: try fields.optionalString("cause"),
            manager: try fields.manager(),
            body: try WireDeliveryBody(fields)
        )
    }
}

extension WireDeliveryBody {
    fileprivate init(_ fields: Fields) throws(WireError) {
        if fields.says("kind", "peripheral.value") {
            self = .peripheral(try fields.identifier("peripheral"), try WirePeripheralEvent.value(fields))
            return
        }
        let kind = try fields.string("kind")
        switch kind {
        case "central.state":
            self = .centralState(try fields.word("state", as: WireRadioState.self))
        case "central.willRestore":
            self = .centralWillRestore(try WireRestoration(fields))
        case "central.discovered":
            self = .centralDiscovered(try WireDiscovery(fields))
        case "central.connected":
            self = .centralConnected(
                peripheral: try fields.identifier("peripheral"),
                name: try fields.optionalString("name")
            )
        case "central.failedToConnect":
            self = .centralFailedToConnect(
                peripheral: try fields.identifier("peripheral"),
                failure: try fields.failure()
            )
        case "central.disconnected":
            self = .centralDisconnected(
                peripheral: try fields.identifier("peripheral"),
                failure: try fields.failure(),
                timestamp: try fields.optionalSeconds("timestamp") ?? 0,
                isReconnecting: try fields.flag("isReconnecting")
            )
        case "central.connectionEvent":
            self = .centralConnectionEvent(
                peripheral: try fields.identifier("peripheral"),
                name: try fields.optionalString("name"),
                isConnected: try fields.bool("connected")
            )
        case "channel.data":
            self = .channelData
        default:
            if let event = try WireLocationEvent(kind: kind, fields: fields) {
                self = .location(event)
                return
            }
            if let event = try WireAudioEvent(kind: kind, fields: fields) {
                self = .audio(event)
                return
            }
            if let event = try WireVoIPEvent(kind: kind, fields: fields) {
                self = .voip(event)
                return
            }
            if let event = try WirePeripheralManagerEvent(kind: kind, fields: fields) {
                self = .peripheralManager(event)
                return
            }
            guard let event = try WirePeripheralEvent(kind: kind, fields: fields) else {
                throw .unknownKind(kind)
            }
            self = .peripheral(try fields.identifier("peripheral"), event)
        }
    }
}

extension WireRestoration {
    fileprivate init(_ fields: Fields) throws(WireError) {
        self.init(
            peripherals: try fields.list("peripherals") { (fields) throws(WireError) in try WirePeripheral(fields) },
            scanServices: try fields.optionalUUIDs("scanServices"),
            scanAllowsDuplicates: try fields.optionalBool("scanAllowDuplicates")
        )
    }
}

extension WireDiscovery {
    fileprivate init(_ fields: Fields) throws(WireError) {
        let peripheral = try fields.object("peripheral")
        self.init(
            identifier: try peripheral.identifier("identifier"),
            name: try peripheral.optionalString("name"),
            localName: try fields.optionalString("localName"),
            services: try fields.optionalUUIDs("services") ?? [],
            overflowServices: try fields.optionalUUIDs("overflowServices") ?? [],
            solicitedServices: try fields.optionalUUIDs("solicitedServices") ?? [],
            manufacturerData: try fields.optionalBytes("manufacturerData"),
            serviceData: try fields.optionalBytesByUUID("serviceData") ?? [],
            txPower: try fields.optionalInteger("txPower", in: -128...127).map { Int($0) },
            isConnectable: try fields.optionalBool("connectable") ?? true,
            rssi: try fields.decibels("rssi")
        )
    }
}

extension WirePeripheralEvent {
    fileprivate init?(kind: String, fields: Fields) throws(WireError) {
        switch kind {
        case "peripheral.services":
            self = .services(try fields.services("services"), failure: try fields.failure())
        case "peripheral.includedServices":
            self = .includedServices(
                try fields.services("services"),
                service: try fields.handle("service"),
                failure: try fields.failure()
            )
        case "peripheral.characteristics":
            self = .characteristics(
                try fields.characteristics("characteristics"),
                service: try fields.handle("service"),
                failure: try fields.failure()
            )
        case "peripheral.descriptors":
            self = .descriptors(
                try fields.optionalList("descriptors") { (fields) throws(WireError) in
                    try WireDescriptor(fields)
                } ?? [],
                characteristic: try fields.handle("characteristic"),
                failure: try fields.failure()
            )
        default:
            guard let event = try WirePeripheralEvent(answer: kind, fields: fields) else {
                return nil
            }
            self = event
        }
    }

    /// A read's answer or a notification, the commonest of all events.
    fileprivate static func value(_ fields: Fields) throws(WireError) -> WirePeripheralEvent {
        .value(
            attribute: try fields.handle("attribute"),
            value: try fields.optionalValue("value"),
            failure: try fields.failure()
        )
    }

    private init?(answer kind: String, fields: Fields) throws(WireError) {
        switch kind {
        case "peripheral.descriptorValue":
            self = .descriptorValue(
                attribute: try fields.handle("attribute"),
                value: try fields.optionalValue("value"),
                failure: try fields.failure()
            )
        case "peripheral.written":
            self = .written(attribute: try fields.handle("attribute"), failure: try fields.failure())
        case "peripheral.descriptorWritten":
            self = .descriptorWritten(attribute: try fields.handle("attribute"), failure: try fields.failure())
        case "peripheral.notifyState":
            self = .notifyState(
                attribute: try fields.handle("attribute"),
                notifying: try fields.bool("notifying"),
                failure: try fields.failure()
            )
        case "peripheral.rssi":
            self = .rssi(try fields.decibels("rssi"), failure: try fields.failure())
        case "peripheral.nameChanged":
            self = .nameChanged(try fields.optionalString("name"))
        case "peripheral.modifiedServices":
            self = .modifiedServices(try fields.handles("services"))
        case "peripheral.readyToWrite":
            self = .readyToWrite
        case "peripheral.channelOpened":
            self = .channelOpened(psm: try fields.handle("psm"), failure: try fields.failure())
        default:
            return nil
        }
    }
}
