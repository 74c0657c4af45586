import WakeModel

// Devices that are made by the program, and not read.

extension BluetoothPeripheral {
    /// A peripheral without attributes.
    package init(name: String?, address: [UInt8]) {
        self.init(
            file: "",
            name: name,
            address: address,
            advertising: Advertising(),
            connection: Connection(),
            services: [],
            mtu: Self.usualMTU,
            answers: BluetoothAnswers(),
            channels: [],
            pairing: .justWorks,
            faults: []
        )
    }
}

extension BluetoothPeripheral.Service {
    /// A service without characteristics.
    package init(_ uuid: String, primary: Bool) {
        self.init(uuid: uuid, primary: primary, characteristics: [])
    }
}

extension BluetoothPeripheral.Characteristic {
    /// A characteristic that does nothing of itself.
    package init(_ uuid: String, _ properties: CharacteristicProperties) {
        self.init(
            uuid: uuid,
            properties: properties,
            stream: false,
            value: [],
            security: .none,
            timetable: Timetable(),
            descriptors: [],
            line: 0
        )
    }
}

extension BluetoothPeripheral.Descriptor {
    package init(_ uuid: String, _ value: [UInt8]) { self.init(uuid: uuid, value: value) }
}

extension DeviceFault {
    package init(_ name: String, _ effect: Effect) { self.init(name: name, effect: effect) }
}
