import WakeBus

/// What a device does about a read or a write.
package struct StandInAnswer {
    /// A code of ATT with which the request fails.
    package var error: UInt8?
    /// What a read gives from now on; nil for what it gave.
    package var value: [UInt8]?
    /// What it notifies of its characteristics so many milliseconds later.
    package var notifications: [(handle: UInt16, value: [UInt8], after: Int64)] = []

    package init() {}
}

/// A device that the stand-in bluetoothd can hear and connect to.
package struct StandInDevice {
    package struct Service {
        package var handle: UInt16
        /// Short or long.
        package var uuid: String
        package var characteristics: [Characteristic]

        package init(handle: UInt16, uuid: String, characteristics: [Characteristic]) {
            self.handle = handle
            self.uuid = uuid
            self.characteristics = characteristics
        }
    }

    package struct Characteristic {
        package var handle: UInt16
        package var uuid: String
        /// In BlueZ's words.
        package var flags: [String]
        package var value: [UInt8]
        package var descriptors: [(handle: UInt16, uuid: String)]
        /// Reading and writing need a pairing.
        package var isSecured = false
        /// What it notifies of itself so many milliseconds after each subscription; nil for nothing.
        package var notifies: (after: Int64, value: [UInt8])?

        package init(
            handle: UInt16,
            uuid: String,
            flags: [String],
            value: [UInt8] = [1],
            descriptors: [(handle: UInt16, uuid: String)] = [],
            notifies: (after: Int64, value: [UInt8])? = nil
        ) {
            self.handle = handle
            self.uuid = uuid
            self.flags = flags
            self.value = value
            self.descriptors = descriptors
            self.notifies = notifies
        }
    }

    package var name: String?
    /// The services it advertises.
    package var advertised: [String]
    /// A company's number and its data.
    package var manufacturerData: (company: UInt16, data: [UInt8])?
    /// In dBm.
    package var signalStrength: Int16 = -60
    package var advertisesWhileConnected = false
    /// It has no LE, and is only found by an inquiry.
    package var isClassic = false
    /// The UUIDs of its profiles over RFCOMM, in BlueZ's spelling.
    package var profiles: [String] = []
    /// What bluetoothd asks the agent to pair with it; nil when pairing fails without a question.
    package var question: (member: String, arguments: [BusValue])?
    /// What the agent must answer.
    package var expectedAnswer: [BusValue] = []
    package var services: [Service]
    /// The ATT MTU that it agrees on.
    package var mtu: UInt16 = 185

    package init(name: String?, advertised: [String], services: [Service] = []) {
        self.name = name
        self.advertised = advertised
        self.services = services
    }

    /// A belt with two characteristics.
    package static let belt = StandInDevice(
        name: "HR Belt",
        advertised: ["180d"],
        services: [
            Service(
                handle: 0x0a,
                uuid: "180d",
                characteristics: [
                    Characteristic(handle: 0x0b, uuid: "2a37", flags: ["notify"], descriptors: [(0x0d, "2902")]),
                    Characteristic(handle: 0x0e, uuid: "2a38", flags: ["read", "notify", "write"]),
                ]
            )
        ]
    )

    var advertisement: StandInBlueZ.Properties {
        var properties: StandInBlueZ.Properties = [
            ("UUIDs", .strings(advertised.map(Self.long))), ("RSSI", .int16(signalStrength)),
        ]
        if let name { properties.append(("Name", .string(name))) }
        if let (company, data) = manufacturerData {
            let entry = BusEntry(.uint16(company), .variant(.bytes(data)))
            properties.append(("ManufacturerData", .dictionary([entry], key: "q", value: "v")))
        }
        return properties
    }

    /// A UUID in BlueZ's spelling.
    static func long(_ uuid: String) -> String {
        (uuid.count == 4 ? "0000\(uuid)-0000-1000-8000-00805f9b34fb" : uuid).lowercased()
    }

    /// A handle as in BlueZ's paths.
    static func hex(_ handle: UInt16) -> String {
        let digits = String(handle, radix: 16)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}
