extension WirePeripheralManagerRequest {
    /// The request of that type; nil when it is none of a peripheral manager.
    init?(type: String, fields: Fields) throws(WireError) {
        switch type {
        case "peripheralManager.create":
            self = .create(
                id: try fields.serial("id"),
                restoreIdentifier: try fields.optionalString("restoreIdentifier"),
                showPowerAlert: try fields.flag("showPowerAlert")
            )
        case "peripheralManager.addService":
            self = .addService(try WireLocalService(fields.object("service")))
        case "peripheralManager.removeService":
            self = .removeService(try fields.localNumber("service"))
        case "peripheralManager.removeAllServices":
            self = .removeAllServices
        case "peripheralManager.startAdvertising":
            self = .startAdvertising(
                localName: try fields.optionalString("localName"),
                services: try fields.optionalUUIDs("services") ?? []
            )
        case "peripheralManager.stopAdvertising":
            self = .stopAdvertising
        case "peripheralManager.updateValue":
            self = .updateValue(
                id: try fields.serial("id"),
                characteristic: try fields.localNumber("characteristic"),
                value: try fields.value("value"),
                centrals: fields.has("centrals") ? try fields.identifiers("centrals") : nil
            )
        default:
            guard let request = try WirePeripheralManagerRequest(answerOrChannel: type, fields: fields) else {
                return nil
            }
            self = request
        }
    }

    private init?(answerOrChannel type: String, fields: Fields) throws(WireError) {
        switch type {
        case "peripheralManager.respond":
            self = .respond(
                request: try fields.localNumber("request"),
                result: UInt8(try fields.integer("result", in: 0...255)),
                value: try fields.optionalValue("value")
            )
        case "peripheralManager.publishChannel":
            self = .publishChannel(encrypted: try fields.flag("encrypted"))
        case "peripheralManager.unpublishChannel":
            self = .unpublishChannel(psm: try fields.handle("psm"))
        case "peripheralManager.release":
            self = .release
        default:
            return nil
        }
    }

    private var type: String {
        switch self {
        case .create: "peripheralManager.create"
        case .addService: "peripheralManager.addService"
        case .removeService: "peripheralManager.removeService"
        case .removeAllServices: "peripheralManager.removeAllServices"
        case .startAdvertising: "peripheralManager.startAdvertising"
        case .stopAdvertising: "peripheralManager.stopAdvertising"
        case .updateValue: "peripheralManager.updateValue"
        case .respond: "peripheralManager.respond"
        case .publishChannel: "peripheralManager.publishChannel"
        case .unpublishChannel: "peripheralManager.unpublishChannel"
        case .release: "peripheralManager.release"
        }
    }

    func write(manager: UInt32, to writer: inout JSONWriter) {
        writer.field("type", type)
        writer.field("manager", manager)
        switch self {
        case .create(let id, let restoreIdentifier, let showPowerAlert):
            writer.field("id", id)
            writer.field("restoreIdentifier", restoreIdentifier)
            writer.field("showPowerAlert", showPowerAlert)
        case .addService(let service):
            writer.key("service")
            writer.localService(service)
        case .removeService(let service):
            writer.field("service", service)
        case .startAdvertising(let localName, let services):
            writer.field("localName", localName)
            writer.field("services", services)
        case .updateValue(let id, let characteristic, let value, let centrals):
            writer.field("id", id)
            writer.field("characteristic", characteristic)
            writer.field("value", value)
            writer.field("centrals", centrals)
        case .respond(let request, let result, let value):
            writer.field("request", request)
            writer.field("result", Int(result))
            writer.field("value", value)
        case .publishChannel(let encrypted):
            writer.field("encrypted", encrypted)
        case .unpublishChannel(let psm):
            writer.field("psm", psm)
        case .removeAllServices, .stopAdvertising, .release:
            break
        }
    }
}

extension Fields {
    /// The number of a local service, characteristic or request.
    func localNumber(_ key: StaticString) throws(WireError) -> UInt32 {
        UInt32(try integer(key, in: 0...Int64(UInt32.max)))
    }

    /// Words that stand for bits, each of a closed list.
    func bits<Bits: OptionSet>(
        _ key: StaticString,
        _ words: [(word: String, bit: Bits)],
        example: String
    ) throws(WireError) -> Bits where Bits.Element == Bits {
        var bits: Bits = []
        for word in try optionalStrings(key) ?? [] {
            guard let entry = words.first(where: { $0.word == word }) else {
                throw .badValue(key: key.description, expected: example)
            }
            bits.insert(entry.bit)
        }
        return bits
    }
}

extension WireLocalService {
    init(_ fields: Fields) throws(WireError) {
        let included = try fields.optionalSerials("includedServices") ?? []
        guard included.allSatisfy({ $0 <= UInt32.max }) else {
            throw .badValue(key: "includedServices", expected: "numbers of services")
        }
        self.init(
            number: try fields.localNumber("number"),
            uuid: try fields.uuid("uuid"),
            isPrimary: try fields.optionalBool("primary") ?? true,
            includedServices: included.map { UInt32($0) },
            characteristics: try fields.optionalList("characteristics") { (fields) throws(WireError) in
                try WireLocalCharacteristic(fields)
            } ?? []
        )
    }
}

extension WireLocalCharacteristic {
    fileprivate init(_ fields: Fields) throws(WireError) {
        self.init(
            number: try fields.localNumber("number"),
            uuid: try fields.uuid("uuid"),
            properties: try fields.bits(
                "properties",
                WireProperties.words.map { ($0.word, $0.property) },
                example: "words such as read, write, notify"
            ),
            permissions: try fields.bits(
                "permissions",
                WirePermissions.words.map { ($0.word, $0.permission) },
                example: "words such as readable, writeable"
            ),
            value: try fields.optionalValue("value"),
            descriptors: try fields.optionalList("descriptors") { (fields) throws(WireError) in
                WireLocalDescriptor(uuid: try fields.uuid("uuid"), value: try fields.optionalValue("value") ?? [])
            } ?? []
        )
    }
}

extension JSONWriter {
    mutating func localService(_ service: WireLocalService) {
        openObject()
        field("number", service.number)
        field("uuid", service.uuid)
        field("primary", service.isPrimary)
        if !service.includedServices.isEmpty {
            list("includedServices", service.includedServices) { $0.unsigned(UInt64($1)) }
        }
        list("characteristics", service.characteristics) { $0.localCharacteristic($1) }
        closeObject()
    }

    private mutating func localCharacteristic(_ characteristic: WireLocalCharacteristic) {
        openObject()
        field("number", characteristic.number)
        field("uuid", characteristic.uuid)
        list("properties", WireProperties.words.filter { characteristic.properties.contains($0.property) }) {
            $0.string($1.word)
        }
        list("permissions", WirePermissions.words.filter { characteristic.permissions.contains($0.permission) }) {
            $0.string($1.word)
        }
        field("value", characteristic.value)
        if !characteristic.descriptors.isEmpty {
            list("descriptors", characteristic.descriptors) { writer, descriptor in
                writer.openObject()
                writer.field("uuid", descriptor.uuid)
                writer.field("value", descriptor.value)
                writer.closeObject()
            }
        }
        closeObject()
    }
}
