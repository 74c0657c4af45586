extension BenchMessage {
    /// The packet.
    package func encode() -> [UInt8] {
        var buffer: [UInt8] = []
        buffer.reserveCapacity(256)
        append(to: &buffer)
        return buffer
    }

    /// Appends the message to a buffer that the caller reuses.
    ///
    /// Alone it is a packet; messages with commas between, in brackets, are one too, for an app that understands it.
    package func append(to buffer: inout [UInt8]) {
        if case .deliver(let delivery) = self,
            case .peripheral(let peripheral, .value(let attribute, .some(let value), nil)) = delivery.body,
            ValueWriter.append(
                to: &buffer,
                delivery: delivery.delivery,
                event: delivery.event,
                decision: delivery.decision,
                cause: delivery.cause,
                manager: delivery.manager,
                peripheral: peripheral,
                attribute: attribute,
                value: value
            )
        {
            return
        }
        appendInParts(to: &buffer)
    }

    /// Appends the message key by key.
    func appendInParts(to buffer: inout [UInt8]) {
        var writer = JSONWriter(reusing: buffer)
        buffer = []
        writer.openObject()
        write(to: &writer)
        writer.closeObject()
        buffer = writer.bytes
    }

    /// Appends the message of a notified value, the commonest of all, without building a message.
    ///
    /// The bytes are those of ``append(to:)`` for the same delivery.
    package static func appendValue(
        to buffer: inout [UInt8],
        delivery: UInt64,
        event: String?,
        decision: String?,
        cause: String?,
        manager: UInt32,
        peripheral: String,
        attribute: UInt16,
        value: [UInt8]
    ) {
        let isWritten = ValueWriter.append(
            to: &buffer,
            delivery: delivery,
            event: event,
            decision: decision,
            cause: cause,
            manager: manager,
            peripheral: peripheral,
            attribute: attribute,
            value: value
        )
        guard !isWritten else {
            return
        }
        let message = WireDelivery(
            delivery: delivery,
            event: event,
            decision: decision,
            cause: cause,
            manager: manager,
            body: .peripheral(peripheral, .value(attribute: attribute, value: value, failure: nil))
        )
        BenchMessage.deliver(message).appendInParts(to: &buffer)
    }

    private func write(to writer: inout JSONWriter) {
        switch self {
        case .welcome(let welcome):
            welcome.write(to: &writer)
        case .callback(let delivery, let callback, let state):
            writer.field("type", "callback")
            writer.field("delivery", delivery)
            writer.field("name", callback.name)
            if case .taskExpiration(let tokens) = callback {
                writer.list("tokens", tokens) { $0.unsigned($1) }
            }
            writer.field("state", state.rawValue)
        case .reply(let id, let reply):
            writer.field("type", "reply")
            writer.field("id", id)
            reply.write(to: &writer)
        case .deliver(let delivery):
            delivery.write(to: &writer)
        }
    }
}

extension Welcome {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.field("type", "welcome")
        writer.field("version", version)
        writer.field("state", state.rawValue)
        if let cause {
            writer.key("cause")
            writer.openObject()
            writer.field("source", cause.source)
            writer.field("kind", cause.kind)
            writer.field("subject", cause.subject)
            writer.field("event", cause.event)
            writer.field("decision", cause.decision)
            writer.closeObject()
        }
        writer.key("launchOptions")
        writer.openObject()
        if !bluetoothCentrals.isEmpty {
            writer.field("bluetoothCentrals", bluetoothCentrals)
        }
        if !bluetoothPeripherals.isEmpty {
            writer.field("bluetoothPeripherals", bluetoothPeripherals)
        }
        if isForLocation {
            writer.field("location", true)
        }
        writer.closeObject()
    }
}

extension WireCallback {
    var name: String {
        switch self {
        case .willResignActive: "willResignActive"
        case .didEnterBackground: "didEnterBackground"
        case .willEnterForeground: "willEnterForeground"
        case .didBecomeActive: "didBecomeActive"
        case .willTerminate: "willTerminate"
        case .didReceiveMemoryWarning: "didReceiveMemoryWarning"
        case .taskExpiration: "taskExpiration"
        }
    }
}

extension JSONWriter {
    mutating func failure(_ failure: WireFailure?) {
        guard let failure else {
            return
        }
        key("error")
        openObject()
        field("domain", failure.domain)
        field("code", failure.code)
        field("message", failure.message)
        closeObject()
    }

    fileprivate mutating func peripheral(_ peripheral: WirePeripheral) {
        openObject()
        field("identifier", peripheral.identifier)
        field("name", peripheral.name)
        field("state", peripheral.state.rawValue)
        if !peripheral.services.isEmpty {
            list("services", peripheral.services) { $0.service($1) }
        }
        closeObject()
    }

    fileprivate mutating func service(_ service: WireService) {
        openObject()
        field("uuid", service.uuid)
        field("handle", service.handle)
        field("primary", service.isPrimary)
        if !service.characteristics.isEmpty {
            list("characteristics", service.characteristics) { $0.characteristic($1) }
        }
        closeObject()
    }

    fileprivate mutating func characteristic(_ characteristic: WireCharacteristic) {
        openObject()
        field("uuid", characteristic.uuid)
        field("handle", characteristic.handle)
        key("properties")
        openArray()
        for entry in WireProperties.words where characteristic.properties.contains(entry.property) {
            string(entry.word)
        }
        closeArray()
        if characteristic.isNotifying {
            field("notifying", true)
        }
        closeObject()
    }

    fileprivate mutating func descriptor(_ descriptor: WireDescriptor) {
        openObject()
        field("uuid", descriptor.uuid)
        field("handle", descriptor.handle)
        closeObject()
    }
}

extension WireReply {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.failure(failure)
        writer.field("seconds", seconds)
        if let peripherals {
            writer.list("peripherals", peripherals) { $0.peripheral($1) }
        }
        writer.field("state", state?.rawValue)
        writer.field("taken", taken)
        writer.field("granted", granted)
        if let location {
            writer.key("location")
            writer.locationStatus(location)
        }
        if let audio {
            writer.key("audio")
            audio.write(to: &writer)
        }
    }
}

extension WireDelivery {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.field("type", "deliver")
        writer.field("delivery", delivery)
        writer.field("event", event)
        writer.field("decision", decision)
        writer.field("cause", cause)
        writer.field("manager", manager)
        writer.field("kind", body.kind)
        body.write(to: &writer)
    }
}

extension WireDeliveryBody {
    fileprivate var kind: String {
        switch self {
        case .centralState: "central.state"
        case .centralWillRestore: "central.willRestore"
        case .centralDiscovered: "central.discovered"
        case .centralConnected: "central.connected"
        case .centralFailedToConnect: "central.failedToConnect"
        case .centralDisconnected: "central.disconnected"
        case .centralConnectionEvent: "central.connectionEvent"
        case .peripheral(_, let event): event.kind
        case .peripheralManager(let event): event.kind
        case .location(let event): event.kind
        case .audio(let event): event.kind
        case .voip(let event): event.kind
        case .channelData: "channel.data"
        }
    }

    fileprivate func write(to writer: inout JSONWriter) {
        switch self {
        case .centralState(let state):
            writer.field("state", state.rawValue)
        case .centralWillRestore(let restoration):
            writer.list("peripherals", restoration.peripherals) { $0.peripheral($1) }
            writer.field("scanServices", restoration.scanServices)
            writer.field("scanAllowDuplicates", restoration.scanAllowsDuplicates)
        case .centralDiscovered(let discovery):
            discovery.write(to: &writer)
        case .centralConnected(let peripheral, let name):
            writer.field("peripheral", peripheral)
            writer.field("name", name)
        case .centralFailedToConnect(let peripheral, let failure):
            writer.field("peripheral", peripheral)
            writer.failure(failure)
        case .centralDisconnected(let peripheral, let failure, let timestamp, let isReconnecting):
            writer.field("peripheral", peripheral)
            writer.failure(failure)
            writer.field("timestamp", timestamp)
            writer.field("isReconnecting", isReconnecting)
        case .peripheral(let peripheral, let event):
            writer.field("peripheral", peripheral)
            event.write(to: &writer)
        case .location(let event):
            event.write(to: &writer)
        case .audio(let event):
            event.write(to: &writer)
        case .centralConnectionEvent(let peripheral, let name, let isConnected):
            writer.field("peripheral", peripheral)
            writer.field("name", name)
            writer.field("connected", isConnected)
        case .peripheralManager(let event):
            event.write(to: &writer)
        case .voip(let event):
            event.write(to: &writer)
        case .channelData:
            break
        }
    }
}

extension WireDiscovery {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.key("peripheral")
        writer.openObject()
        writer.field("identifier", identifier)
        writer.field("name", name)
        writer.closeObject()
        writer.field("localName", localName)
        writer.field("services", services)
        if !overflowServices.isEmpty {
            writer.field("overflowServices", overflowServices)
        }
        if !solicitedServices.isEmpty {
            writer.field("solicitedServices", solicitedServices)
        }
        writer.field("manufacturerData", manufacturerData)
        if !serviceData.isEmpty {
            writer.key("serviceData")
            writer.openObject()
            for entry in serviceData {
                writer.pair(entry.uuid, entry.data)
            }
            writer.closeObject()
        }
        writer.field("txPower", txPower)
        writer.field("connectable", isConnectable)
        writer.field("rssi", rssi)
    }
}

extension WirePeripheralEvent {
    fileprivate var kind: String {
        switch self {
        case .services: "peripheral.services"
        case .includedServices: "peripheral.includedServices"
        case .characteristics: "peripheral.characteristics"
        case .descriptors: "peripheral.descriptors"
        case .value: "peripheral.value"
        case .descriptorValue: "peripheral.descriptorValue"
        case .written: "peripheral.written"
        case .descriptorWritten: "peripheral.descriptorWritten"
        case .notifyState: "peripheral.notifyState"
        case .rssi: "peripheral.rssi"
        case .nameChanged: "peripheral.nameChanged"
        case .modifiedServices: "peripheral.modifiedServices"
        case .readyToWrite: "peripheral.readyToWrite"
        case .channelOpened: "peripheral.channelOpened"
        }
    }

    fileprivate func write(to writer: inout JSONWriter) {
        switch self {
        case .services(let services, let failure):
            writer.list("services", services) { $0.service($1) }
            writer.failure(failure)
        case .includedServices(let services, let service, let failure):
            writer.field("service", service)
            writer.list("services", services) { $0.service($1) }
            writer.failure(failure)
        case .characteristics(let characteristics, let service, let failure):
            writer.field("service", service)
            writer.list("characteristics", characteristics) { $0.characteristic($1) }
            writer.failure(failure)
        case .descriptors(let descriptors, let characteristic, let failure):
            writer.field("characteristic", characteristic)
            writer.list("descriptors", descriptors) { $0.descriptor($1) }
            writer.failure(failure)
        case .value(let attribute, let value, let failure), .descriptorValue(let attribute, let value, let failure):
            writer.field("attribute", attribute)
            writer.field("value", value)
            writer.failure(failure)
        case .written(let attribute, let failure), .descriptorWritten(let attribute, let failure):
            writer.field("attribute", attribute)
            writer.failure(failure)
        case .notifyState(let attribute, let notifying, let failure):
            writer.field("attribute", attribute)
            writer.field("notifying", notifying)
            writer.failure(failure)
        case .rssi(let rssi, let failure):
            writer.field("rssi", rssi)
            writer.failure(failure)
        case .nameChanged(let name):
            writer.field("name", name)
        case .modifiedServices(let handles):
            writer.list("services", handles) { $0.unsigned(UInt64($1)) }
        case .channelOpened(let psm, let failure):
            writer.field("psm", psm)
            writer.failure(failure)
        case .readyToWrite:
            break
        }
    }
}
