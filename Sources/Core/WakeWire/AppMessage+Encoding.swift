extension AppMessage {
    /// The packet.
    package func encode() -> [UInt8] {
        var buffer: [UInt8] = []
        buffer.reserveCapacity(256)
        append(to: &buffer)
        return buffer
    }

    /// Appends the packet to a buffer that the caller reuses.
    package func append(to buffer: inout [UInt8]) {
        var writer = JSONWriter(reusing: buffer)
        buffer = []
        writer.openObject()
        write(to: &writer)
        writer.closeObject()
        buffer = writer.bytes
    }

    private func write(to writer: inout JSONWriter) {
        switch self {
        case .hello(let version, let client, let pid, let batches):
            writer.field("type", "hello")
            writer.field("version", version)
            writer.field("client", client)
            writer.field("pid", pid)
            if batches {
                writer.field("batches", true)
            }
        case .launched:
            writer.field("type", "launched")
        case .acknowledge(let delivery, let through):
            writer.field("type", "ack")
            writer.field("delivery", delivery)
            if let through {
                writer.field("through", through)
            }
        case .done:
            writer.field("type", "done")
        case .beginTask(let token, let name, let id):
            writer.field("type", "task.begin")
            if let id {
                writer.field("id", id)
            }
            writer.field("token", token)
            writer.field("name", name)
        case .endTask(let token):
            writer.field("type", "task.end")
            writer.field("token", token)
        case .timeRemaining(let id):
            writer.field("type", "time.remaining")
            writer.field("id", id)
        case .signpost(let signpost):
            signpost.write(to: &writer)
        case .central(let manager, let request):
            request.write(manager: manager, to: &writer)
        case .peripheral(let manager, let peripheral, let request):
            writer.field("type", request.type)
            writer.field("manager", manager)
            writer.field("peripheral", peripheral)
            request.writeBody(to: &writer)
        case .location(let manager, let request):
            request.write(manager: manager, to: &writer)
        case .audio(let manager, let request):
            request.write(manager: manager, to: &writer)
        case .accessory(let manager, let request):
            request.write(manager: manager, to: &writer)
        case .peripheralManager(let manager, let request):
            request.write(manager: manager, to: &writer)
        case .voip(let request):
            request.write(to: &writer)
        }
    }
}

extension CentralRequest {
    fileprivate func write(manager: UInt32, to writer: inout JSONWriter) {
        writer.field("type", type)
        writer.field("manager", manager)
        switch self {
        case .create(let id, let restoreIdentifier, let showPowerAlert):
            writer.field("id", id)
            writer.field("restoreIdentifier", restoreIdentifier)
            writer.field("showPowerAlert", showPowerAlert)
        case .scan(let services, let allowDuplicates, let solicitedServices):
            writer.field("services", services)
            writer.field("allowDuplicates", allowDuplicates)
            if !solicitedServices.isEmpty {
                writer.field("solicitedServices", solicitedServices)
            }
        case .connect(let peripheral, let options):
            writer.field("peripheral", peripheral)
            writer.field("notifyOnConnection", options.notifyOnConnection)
            writer.field("notifyOnDisconnection", options.notifyOnDisconnection)
            writer.field("notifyOnNotification", options.notifyOnNotification)
            writer.field("autoReconnect", options.autoReconnect)
            writer.field("startDelay", options.startDelay)
        case .cancel(let peripheral):
            writer.field("peripheral", peripheral)
        case .retrieve(let id, let identifiers):
            writer.field("id", id)
            writer.field("identifiers", identifiers)
        case .retrieveConnected(let id, let services):
            writer.field("id", id)
            writer.field("services", services)
        case .registerForConnectionEvents(let services, let peripherals):
            writer.field("services", services)
            writer.field("peripherals", peripherals)
        case .stopScan, .release:
            break
        }
    }

    private var type: String {
        switch self {
        case .create: "central.create"
        case .scan: "central.scan"
        case .stopScan: "central.stopScan"
        case .connect: "central.connect"
        case .cancel: "central.cancel"
        case .retrieve: "central.retrieve"
        case .retrieveConnected: "central.retrieveConnected"
        case .registerForConnectionEvents: "central.registerForConnectionEvents"
        case .release: "central.release"
        }
    }
}

extension PeripheralRequest {
    fileprivate var type: String {
        switch self {
        case .discoverServices: "peripheral.discoverServices"
        case .discoverIncludedServices: "peripheral.discoverIncludedServices"
        case .discoverCharacteristics: "peripheral.discoverCharacteristics"
        case .discoverDescriptors: "peripheral.discoverDescriptors"
        case .read: "peripheral.read"
        case .write: "peripheral.write"
        case .setNotify: "peripheral.setNotify"
        case .readDescriptor: "peripheral.readDescriptor"
        case .writeDescriptor: "peripheral.writeDescriptor"
        case .readRSSI: "peripheral.readRSSI"
        case .openL2CAPChannel: "peripheral.openL2CAPChannel"
        }
    }

    fileprivate func writeBody(to writer: inout JSONWriter) {
        switch self {
        case .discoverServices(let services):
            writer.field("services", services)
        case .discoverIncludedServices(let services, let service):
            writer.field("service", service)
            writer.field("services", services)
        case .discoverCharacteristics(let characteristics, let service):
            writer.field("service", service)
            writer.field("characteristics", characteristics)
        case .discoverDescriptors(let characteristic):
            writer.field("characteristic", characteristic)
        case .read(let attribute), .readDescriptor(let attribute):
            writer.field("attribute", attribute)
        case .write(let attribute, let value, let withResponse):
            writer.field("attribute", attribute)
            writer.field("value", value)
            writer.field("withResponse", withResponse)
        case .setNotify(let attribute, let enabled):
            writer.field("attribute", attribute)
            writer.field("enabled", enabled)
        case .writeDescriptor(let attribute, let value):
            writer.field("attribute", attribute)
            writer.field("value", value)
        case .openL2CAPChannel(let psm):
            writer.field("psm", psm)
        case .readRSSI:
            break
        }
    }
}
