import WakeModel

/// Another phone of the same bench: what its apps advertise and publish is there for the apps of this one.
///
/// No file describes it. It is what its own scenario and its apps make of it.
package struct BluetoothPhone: Hashable, Sendable {
    /// The path of the scenario that names it.
    package var file: String
    /// What the bench calls it.
    package var phone: String
    package let faults: [DeviceFault<Effect>] = []

    /// What an armed fault does: there is none.
    package enum Effect: Hashable, Sendable {}
}

extension BluetoothPhone: Device {
    package static let kind = "phone"
    package static let article = "a phone"
    package static let lack = "is no phone of the bench"
    package static let keys = ["phone", "name"]

    package var form: DeviceFile { .phone(self) }

    package init(_ fields: Fields) throws(FileError) {
        file = fields.node.file
        phone = try fields.required("phone").identifier("the name of a phone", marks: ".-_", length: 1...64)
    }
}

extension BluetoothPhone.Effect: FaultEffect {
    package static let effects: [String] = []

    package init(_ effect: String, _ value: YAMLNode, _ fields: Fields) throws(FileError) {
        throw value.error(found: "a fault of a phone", expected: "none")
    }
}

extension BluetoothCentral {
    /// What a phone is to the apps of another: it does what its own apps say, and nothing by itself.
    package static let phone = BluetoothCentral(
        file: "",
        name: nil,
        address: [UInt8](repeating: 0, count: 6),
        mtu: BluetoothPeripheral.usualMTU,
        interval: .milliseconds(30),
        readsOverflow: true,
        script: [],
        repeats: false,
        faults: []
    )
}
