/// What a scripted app does as a peripheral: it publishes services and answers from their values.
package struct ScriptedPeripheral: Hashable, Sendable {
    /// Nil for a manager without one (BTP-4).
    package var restoreIdentifier: String?
    /// The local name that it advertises; nil for none.
    package var name: String?
    /// In the order in which they are published. A characteristic's value is what a read gives and a write changes; a
    /// central that subscribes is sent it once.
    package var services: [BluetoothPeripheral.Service]
    /// Whether it advertises its services.
    package var advertises: Bool

    init(_ node: YAMLNode) throws(FileError) {
        let keys = ["restore-identifier", "name", "services", "advertise"]
        let fields = try Fields(node, of: "a peripheral that an app is", keys: keys)
        restoreIdentifier = try fields["restore-identifier"]?.text(expecting: "a restore identifier")
        name = try fields.value("name", BluetoothPeripheral.localName)
        let described = try fields.required("services")
        try described.refuseAnswers(in: "a service of an app", else: "none: an app gives its values")
        services = try described.list(expecting: "services", limit: 64).map {
            (node) throws(FileError) in
            let service = try BluetoothPeripheral.Service(node)
            if service.characteristics.contains(where: { !$0.timetable.entries.isEmpty }) {
                throw node.error(
                    found: "notifications in a service of an app",
                    expected: "none: a central is sent the value when it subscribes"
                )
            }
            return service
        }
        advertises = try fields["advertise"]?.bool() ?? true
    }
}
