import WakeModel

extension ScriptedApp.Use {
    /// What a central in a device file does, an app does too.
    package typealias CentralStep = BluetoothCentral.Step

    /// Reads the key `uses` of a scripted app.
    static func list(_ node: YAMLNode?, _ member: MemberDevices) throws(FileError) -> [ScriptedApp.Use] {
        var found: [ScriptedApp.Use] = []
        for node in try node?.list(expecting: "uses", limit: ScenarioReading.memberLimit) ?? [] {
            let fields = try Fields(
                node,
                of: "a use",
                keys: ["device", "characteristic", "alerts", "reconnect", "script"]
            )
            let options = try ConnectOptions(fields)
            var nodes = fields["characteristic"].map { [$0] } ?? []
            if case .sequence(let several)? = nodes.first?.content { nodes = several }
            let uuids = try nodes.map { (node) throws(FileError) in try node.uuid() }
            let name = try fields.required("device")
            for device in try member.resolve(name) {
                // What another phone has is known when it has it.
                let peripheral: BluetoothPeripheral? =
                    if member.devices[device].phone != nil {
                        nil
                    } else {
                        try member.devices[device].need(BluetoothPeripheral.self, for: name)
                    }
                for (node, uuid) in zip(nodes, uuids) {
                    try peripheral?.checkNotifies(uuid, as: member.devices[device].name, node)
                }
                let script = try steps(
                    fields["script"],
                    on: peripheral,
                    subscribed: uuids,
                    as: member.devices[device].name
                )
                found.append(ScriptedApp.Use(device: device, characteristics: uuids, options: options, script: script))
            }
        }
        return found
    }

    /// What an app does with a peripheral: the steps of a central that need no other link or subscription.
    ///
    /// - Parameter peripheral: nil for one of which nothing is known.
    private static func steps(
        _ node: YAMLNode?,
        on peripheral: BluetoothPeripheral?,
        subscribed: [String],
        as name: String
    ) throws(FileError) -> [BluetoothCentral.Step] {
        try node?.list(expecting: "steps", limit: 10_000).map { (node) throws(FileError) in
            let step = try BluetoothCentral.Step(node)
            switch step.action {
            case .wait: break
            case .read(let uuid): try peripheral?.check(uuid, for: .read, "be read", as: name, node)
            case .write(let uuid, _, .request): try peripheral?.check(uuid, for: .write, "be written", as: name, node)
            case .write(let uuid, _, .command):
                try peripheral?.check(uuid, for: .writeWithoutResponse, "be written without response", as: name, node)
            case .write(_, _, .prepared):
                throw node.error(found: "'prepared' of an app", expected: "request: a long value is prepared by itself")
            case .awaitValues(let uuid, _, _):
                guard subscribed.contains(uuid) else {
                    throw node.error(
                        found: "'await' of \(uuid), which is not subscribed to",
                        expected: "it in 'characteristic'"
                    )
                }
            case .connect, .discover, .subscribe, .unsubscribe, .exchange, .disconnect:
                throw node.error(found: "'\(step.word)' in a use", expected: "one of wait, read, write, await")
            }
            return step
        } ?? []
    }
}

extension ConnectOptions {
    private static let alerts: [(word: String, option: ConnectOptions)] = [
        ("connection", .alertsOnConnection), ("disconnection", .alertsOnDisconnection),
        ("notification", .alertsOnNotification),
    ]

    /// Reads the keys `alerts` and `reconnect` of a use.
    fileprivate init(_ fields: Fields) throws(FileError) {
        self = try fields["reconnect"]?.bool() == true ? .reconnects : []
        for node in try fields["alerts"]?.list(expecting: "alerts", limit: 3) ?? [] {
            insert(try node.word("alert", of: Self.alerts, \.word).option)
        }
    }
}

extension ScriptedApp.Scan {
    init(_ node: YAMLNode) throws(FileError) {
        let fields = try Fields(node, of: "a scan", keys: ["services", "duplicates", "connect", "stop"])
        services = try fields["services"]?.uuids() ?? []
        allowDuplicates = try fields["duplicates"]?.bool() ?? false
        connects = try fields["connect"]?.bool() ?? false
        stops = try fields["stop"]?.bool() ?? false
    }
}

extension BluetoothPeripheral {
    /// Refuses a characteristic that is not there or does not have a property.
    fileprivate func check(
        _ uuid: String,
        for property: CharacteristicProperties,
        _ what: String,
        as name: String,
        _ node: YAMLNode
    ) throws(FileError) {
        let all = services.flatMap(\.characteristics)
        if all.contains(where: { $0.uuid == uuid && $0.properties.contains(property) }) { return }
        let known = all.filter { $0.properties.contains(property) }.map(\.uuid)
        throw node.error(
            found: all.contains { $0.uuid == uuid }
                ? "characteristic \(uuid) of \(name), which cannot \(what)"
                : "unknown characteristic \(uuid) of \(name)",
            expected: known.isEmpty ? "one that can in \(file)" : suggestion(for: uuid, among: known)
        )
    }

    /// Refuses a characteristic that is not there or does not notify.
    func checkNotifies(_ uuid: String, as name: String, _ node: YAMLNode) throws(FileError) {
        try services.checkNotifies(uuid, as: name, in: file, node)
    }
}

extension [BluetoothPeripheral.Service] {
    /// The same of services that stand in a place.
    func checkNotifies(_ uuid: String, as name: String, in place: String, _ node: YAMLNode) throws(FileError) {
        let all = flatMap(\.characteristics)
        if all.contains(where: { $0.uuid == uuid && $0.properties.canNotify }) { return }
        let known = all.filter(\.properties.canNotify).map(\.uuid)
        throw node.error(
            found: all.contains { $0.uuid == uuid }
                ? "characteristic \(uuid) of \(name), which does not notify"
                : "unknown characteristic \(uuid) of \(name)",
            expected: known.isEmpty ? "one with notify in \(place)" : suggestion(for: uuid, among: known)
        )
    }
}
