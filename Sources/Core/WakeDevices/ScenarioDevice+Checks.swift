/// What steps and apps need a device to be; each error stands where the device is named.
extension ScenarioDevice {
    /// The peripheral that it is.
    func peripheral(for node: YAMLNode) throws(FileError) -> BluetoothPeripheral {
        guard let peripheral else {
            throw node.error(
                found: "'\(name)', which has no connections",
                expected: "a device of kind bluetooth-peripheral"
            )
        }
        return peripheral
    }

    /// The accessory that it is.
    func accessory(for node: YAMLNode) throws(FileError) -> ExternalAccessory {
        guard let accessory else {
            throw node.error(
                found: "'\(name)', which is no accessory",
                expected: "a device of kind \(ExternalAccessory.kind)"
            )
        }
        return accessory
    }

    func checkTakesCalls(_ node: YAMLNode) throws(FileError) {
        if form.callServer == nil {
            throw node.error(
                found: "'\(name)', which takes no calls",
                expected: "a device of kind \(CallServer.kind)"
            )
        }
    }

    func checkNotifies(_ uuid: String, _ node: YAMLNode) throws(FileError) {
        let peripheral = try peripheral(for: node)
        let all = peripheral.services.flatMap(\.characteristics)
        if all.contains(where: { $0.uuid == uuid && $0.properties.canNotify }) { return }
        let known = all.filter(\.properties.canNotify).map(\.uuid)
        throw node.error(
            found: all.contains { $0.uuid == uuid }
                ? "characteristic \(uuid) of \(name), which does not notify"
                : "unknown characteristic \(uuid) of \(name)",
            expected: known.isEmpty
                ? "one with notify in \(peripheral.file)" : suggestion(for: uuid, among: known)
        )
    }

    func checkFault(_ fault: String, _ node: YAMLNode) throws(FileError) {
        let known = form.faults
        if known.contains(fault) { return }
        throw node.error(
            found: "unknown fault '\(excerpt(fault))' of \(name)",
            expected: known.isEmpty ? "an entry under faults in \(form.file)" : suggestion(for: fault, among: known)
        )
    }
}
