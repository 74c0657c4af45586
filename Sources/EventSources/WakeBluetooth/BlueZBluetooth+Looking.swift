/// What people who look at the radio are told.
extension BlueZBluetooth {
    /// What the radio measured last of a device of the scenario, in dBm; nil where it does not know.
    package func signalStrength(of device: String) -> Int? {
        guard let known = peripherals.values.first(where: { $0.word == device }) else { return nil }
        return adapter.advertisement(of: known.id)?.signalStrength
    }
}
