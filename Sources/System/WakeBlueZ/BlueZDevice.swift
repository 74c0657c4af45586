import WakeBus

/// A device as bluetoothd knows it.
///
/// Devices are known by their address and its type and not by their path, which changes with the adapter's number and
/// goes with the object while the device stays.
package struct BlueZDeviceID: Hashable, Sendable {
    /// In capitals, such as `F0:11:22:33:44:55`.
    package var address: String
    package var isRandom: Bool

    package init(address: String, isRandom: Bool) {
        self.address = address.uppercased()
        self.isRandom = isRandom
    }

    /// One of which only the address is known: a static random one has its two highest bits set, and most devices' are such.
    package init(_ address: String, guessingTypeBy bytes: [UInt8]) {
        self.init(address: address, isRandom: (bytes.first ?? 0) >= 0xC0)
    }
}

/// What a device says of itself, as of now.
package struct BlueZAdvertisement: Hashable, Sendable {
    /// The name it advertises; nil when it said none.
    package var name: String?
    /// In BlueZ's spelling: 36 characters in small letters.
    package var services: [String]
    /// The company's number, little-endian, and its data; nil when it said none.
    package var manufacturerData: [UInt8]?
    package var serviceData: [(service: String, data: [UInt8])]
    /// In dBm.
    package var txPower: Int?
    /// In dBm; nil when the radio does not say.
    package var signalStrength: Int?

    init(_ properties: BlueZObjects.Properties) {
        name = properties["Name"]?.text
        services = properties["UUIDs"]?.texts ?? []
        // Of several companies' data Apple's goes first: a beacon's must not hide behind another's.
        let companies = properties["ManufacturerData"]?.entries
        let company = companies?.first { $0.key.integer == 0x004c } ?? companies?.first
        manufacturerData = company.flatMap { entry in
            guard let number = entry.key.integer, let data = entry.value.bytes else { return nil }
            return [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)] + data
        }
        serviceData = (properties["ServiceData"]?.entries ?? []).compactMap { entry in
            guard let service = entry.key.text, let data = entry.value.bytes else { return nil }
            return (service, data)
        }
        txPower = properties["TxPower"]?.integer
        signalStrength = properties["RSSI"]?.integer
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.name == right.name && left.services == right.services
            && left.manufacturerData == right.manufacturerData && left.txPower == right.txPower
            && left.signalStrength == right.signalStrength
            && left.serviceData.elementsEqual(right.serviceData) { $0 == $1 }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(services)
    }
}

/// The attribute table of a device, in order of handle. The handles are those in the objects' paths.
package struct BlueZAttributes: Hashable, Sendable {
    package struct Service: Hashable, Sendable {
        package var handle: UInt16
        package var uuid: String
        package var primary: Bool
    }

    package struct Characteristic: Hashable, Sendable {
        package var handle: UInt16
        package var uuid: String
        /// In BlueZ's words: `read`, `notify`, ...
        package var flags: [String]
        package var service: UInt16
        package var path: String
    }

    package struct Descriptor: Hashable, Sendable {
        package var handle: UInt16
        package var uuid: String
        package var characteristic: UInt16
        package var path: String
    }

    package var services: [Service] = []
    package var characteristics: [Characteristic] = []
    package var descriptors: [Descriptor] = []

    package init() {}

    init(of device: String, in objects: BlueZObjects) {
        for path in objects.paths(with: BlueZName.service, atOrBelow: device) {
            let properties = objects.properties(path, BlueZName.service) ?? [:]
            guard let handle = Self.handle(path), let uuid = properties["UUID"]?.text else { continue }
            services.append(Service(handle: handle, uuid: uuid, primary: properties["Primary"]?.bool ?? true))
        }
        for path in objects.paths(with: BlueZName.characteristic, atOrBelow: device) {
            let properties = objects.properties(path, BlueZName.characteristic) ?? [:]
            guard let handle = Self.handle(path), let service = Self.handle(Self.parent(path)),
                let uuid = properties["UUID"]?.text
            else { continue }
            let flags = properties["Flags"]?.texts ?? []
            characteristics.append(
                Characteristic(handle: handle, uuid: uuid, flags: flags, service: service, path: path)
            )
        }
        for path in objects.paths(with: BlueZName.descriptor, atOrBelow: device) {
            let properties = objects.properties(path, BlueZName.descriptor) ?? [:]
            guard let handle = Self.handle(path), let characteristic = Self.handle(Self.parent(path)),
                let uuid = properties["UUID"]?.text
            else { continue }
            descriptors.append(Descriptor(handle: handle, uuid: uuid, characteristic: characteristic, path: path))
        }
        services.sort { $0.handle < $1.handle }
        characteristics.sort { $0.handle < $1.handle }
        descriptors.sort { $0.handle < $1.handle }
    }

    /// The four hexadecimal digits at the end of a path such as `.../service000a/char000b`.
    static func handle(_ path: String) -> UInt16? { UInt16(path.suffix(4), radix: 16) }

    static func parent(_ path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? path
    }
}

/// The names under which BlueZ is spoken to.
package enum BlueZName {
    package static let daemon = "org.bluez"
    package static let adapter = "org.bluez.Adapter1"
    package static let device = "org.bluez.Device1"
    package static let service = "org.bluez.GattService1"
    package static let characteristic = "org.bluez.GattCharacteristic1"
    package static let descriptor = "org.bluez.GattDescriptor1"
    package static let gattManager = "org.bluez.GattManager1"
    package static let advertisingManager = "org.bluez.LEAdvertisingManager1"
    package static let advertisement = "org.bluez.LEAdvertisement1"
    package static let objectManager = "org.freedesktop.DBus.ObjectManager"
    package static let properties = "org.freedesktop.DBus.Properties"
    /// Of Scripts/radio, in place of the kernel's sockets.
    package static let radio = "org.wakebench.Radio1"
}
