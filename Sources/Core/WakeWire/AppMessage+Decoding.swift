extension AppMessage {
    /// Reads a packet.
    ///
    /// - Throws: ``WireError`` for anything that is not a message of an app.
    package init(decoding packet: [UInt8]) throws(WireError) {
        if let acknowledgement = AppMessage.plainAcknowledgement(packet.span) {
            self = acknowledgement
            return
        }
        let fields = try Packet(packet, count: packet.count).object()
        let type = try fields.string("type")
        switch type {
        case "hello":
            self = .hello(
                version: Int(try fields.integer("version", in: 1...1_000_000)),
                client: try fields.string("client"),
                pid: Int(try fields.integer("pid", in: 1...Int64(Int32.max))),
                batches: try fields.flag("batches")
            )
        case "launched":
            self = .launched
        case "ack":
            self = try AppMessage.acknowledgement(fields)
        case "done":
            self = .done
        case "task.begin":
            self = .beginTask(
                token: try fields.serial("token"),
                name: try fields.optionalString("name"),
                id: try fields.optionalSerial("id")
            )
        case "task.end":
            self = .endTask(token: try fields.serial("token"))
        case "time.remaining":
            self = .timeRemaining(id: try fields.serial("id"))
        case "signpost":
            self = .signpost(try WireSignpost(fields))
        default:
            self = try AppMessage.request(type, fields)
        }
    }

    private static func acknowledgement(_ fields: Fields) throws(WireError) -> AppMessage {
        let delivery = try fields.serial("delivery")
        let through = try fields.optionalSerial("through")
        if let through, through < delivery {
            throw .badValue(key: "through", expected: "at least 'delivery'")
        }
        return .acknowledge(delivery: delivery, through: through)
    }

    private static func request(_ type: String, _ fields: Fields) throws(WireError) -> AppMessage {
        if let request = try CentralRequest(type: type, fields: fields) {
            return .central(manager: try fields.manager(), request)
        }
        if let request = try PeripheralRequest(type: type, fields: fields) {
            return .peripheral(
                manager: try fields.manager(),
                peripheral: try fields.identifier("peripheral"),
                request
            )
        }
        if let request = try WireLocationRequest(type: type, fields: fields) {
            return .location(manager: try fields.manager(), request)
        }
        if let request = try WireAudioRequest(type: type, fields: fields) {
            return .audio(manager: try fields.manager(), request)
        }
        if let request = try WireAccessoryRequest(type: type, fields: fields) {
            return .accessory(manager: try fields.manager(), request)
        }
        if let request = try WirePeripheralManagerRequest(type: type, fields: fields) {
            return .peripheralManager(manager: try fields.manager(), request)
        }
        if let request = try WireVoIPRequest(type: type, fields: fields) {
            return .voip(request)
        }
        throw .unknownType(type)
    }
}

extension CentralRequest {
    fileprivate init?(type: String, fields: Fields) throws(WireError) {
        switch type {
        case "central.create":
            self = .create(
                id: try fields.serial("id"),
                restoreIdentifier: try fields.optionalString("restoreIdentifier"),
                showPowerAlert: try fields.flag("showPowerAlert")
            )
        case "central.scan":
            self = .scan(
                services: try fields.uuids("services"),
                allowDuplicates: try fields.flag("allowDuplicates"),
                solicitedServices: try fields.optionalUUIDs("solicitedServices") ?? []
            )
        case "central.stopScan":
            self = .stopScan
        case "central.connect":
            self = .connect(
                peripheral: try fields.identifier("peripheral"),
                WireConnectOptions(
                    notifyOnConnection: try fields.flag("notifyOnConnection"),
                    notifyOnDisconnection: try fields.flag("notifyOnDisconnection"),
                    notifyOnNotification: try fields.flag("notifyOnNotification"),
                    autoReconnect: try fields.flag("autoReconnect"),
                    startDelay: try fields.optionalSeconds("startDelay")
                )
            )
        case "central.cancel":
            self = .cancel(peripheral: try fields.identifier("peripheral"))
        case "central.retrieve":
            self = .retrieve(id: try fields.serial("id"), identifiers: try fields.identifiers("identifiers"))
        case "central.retrieveConnected":
            self = .retrieveConnected(id: try fields.serial("id"), services: try fields.uuids("services"))
        case "central.registerForConnectionEvents":
            self = .registerForConnectionEvents(
                services: try fields.optionalUUIDs("services"),
                peripherals: fields.has("peripherals") ? try fields.identifiers("peripherals") : nil
            )
        case "central.release":
            self = .release
        default:
            return nil
        }
    }
}

extension PeripheralRequest {
    fileprivate init?(type: String, fields: Fields) throws(WireError) {
        switch type {
        case "peripheral.discoverServices":
            self = .discoverServices(try fields.optionalUUIDs("services"))
        case "peripheral.discoverIncludedServices":
            self = .discoverIncludedServices(
                try fields.optionalUUIDs("services"),
                service: try fields.handle("service")
            )
        case "peripheral.discoverCharacteristics":
            self = .discoverCharacteristics(
                try fields.optionalUUIDs("characteristics"),
                service: try fields.handle("service")
            )
        case "peripheral.discoverDescriptors":
            self = .discoverDescriptors(characteristic: try fields.handle("characteristic"))
        case "peripheral.read":
            self = .read(attribute: try fields.handle("attribute"))
        case "peripheral.write":
            self = .write(
                attribute: try fields.handle("attribute"),
                value: try fields.value("value"),
                withResponse: try fields.bool("withResponse")
            )
        case "peripheral.setNotify":
            self = .setNotify(attribute: try fields.handle("attribute"), enabled: try fields.bool("enabled"))
        case "peripheral.readDescriptor":
            self = .readDescriptor(attribute: try fields.handle("attribute"))
        case "peripheral.writeDescriptor":
            self = .writeDescriptor(attribute: try fields.handle("attribute"), value: try fields.value("value"))
        case "peripheral.readRSSI":
            self = .readRSSI
        case "peripheral.openL2CAPChannel":
            self = .openL2CAPChannel(psm: try fields.handle("psm"))
        default:
            return nil
        }
    }
}
