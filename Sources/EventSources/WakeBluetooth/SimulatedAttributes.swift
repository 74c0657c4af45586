import WakeCaptures
import WakeDevices
import WakeModel

/// The attribute table of a simulated peripheral: handles in the order of the device file, as a server gives them.
struct SimulatedAttributes {
    /// The first handle after those of the GAP and GATT services, which every server has and no central shows.
    static let firstHandle: AttributeHandle = 10
    /// GAP and GATT: what a file has of them takes no handles but those below ``firstHandle``, and no app sees it.
    private static let ofSystem = [PeripheralRules.genericAccess, PeripheralRules.genericAttribute]

    struct Service {
        /// 0 for a service of the system.
        var handle: AttributeHandle
        var uuid: String
        var name: NameID
        var subject: NameID
        var primary: Bool
        /// The last handle of what belongs to it.
        var last: AttributeHandle
        /// Whether the server has it now; a fault takes it away or brings it.
        var isOffered: Bool
        /// Positions in `characteristics`.
        var characteristics: Range<Int>

        /// Whether apps can find it.
        var isShown: Bool { isOffered && handle != 0 }
    }

    struct Characteristic {
        /// The handle of the declaration.
        var handle: AttributeHandle
        var uuid: String
        var name: NameID
        var subject: NameID
        var properties: CharacteristicProperties
        var security: BluetoothPeripheral.Security
        /// A position in `services`.
        var service: Int
        /// Positions in `descriptors`.
        var descriptors: Range<Int>
    }

    struct Descriptor {
        var handle: AttributeHandle
        var uuid: String
        var subject: NameID
        /// A position in `characteristics`.
        var characteristic: Int
        var value: [UInt8]
        /// Whether it is the client configuration, which only subscribing changes.
        var isConfiguration: Bool
    }

    private(set) var services: [Service] = []
    private(set) var characteristics: [Characteristic] = []
    var descriptors: [Descriptor] = []

    init(_ peripheral: BluetoothPeripheral, device: String, names: NameTable) {
        var handle = Self.firstHandle
        var isOfSystem = false
        func take(_ count: AttributeHandle) -> AttributeHandle {
            if isOfSystem { return 0 }
            defer { handle += count }
            return handle
        }
        let toCome = peripheral.servicesToCome
        for (position, service) in (peripheral.services + toCome).enumerated() {
            isOfSystem = Self.ofSystem.contains(service.uuid)
            let serviceHandle = take(1)
            let first = characteristics.count
            for characteristic in service.characteristics {
                let characteristicHandle = take(2)
                let firstDescriptor = descriptors.count
                var uuids = characteristic.descriptors.map { ($0.uuid, $0.value) }
                if characteristic.properties.canNotify { uuids.insert(("2902", [0, 0]), at: 0) }
                for (uuid, value) in uuids {
                    descriptors.append(
                        Descriptor(
                            handle: take(1),
                            uuid: uuid,
                            subject: names.intern("\(device)/\(uuid)"),
                            characteristic: characteristics.count,
                            value: value,
                            isConfiguration: uuid == "2902"
                        )
                    )
                }
                characteristics.append(
                    Characteristic(
                        handle: characteristicHandle,
                        uuid: characteristic.uuid,
                        name: names.intern(characteristic.uuid),
                        subject: names.intern("\(device)/\(characteristic.uuid)"),
                        properties: characteristic.properties,
                        security: characteristic.security,
                        service: services.count,
                        descriptors: firstDescriptor..<descriptors.count
                    )
                )
            }
            services.append(
                Service(
                    handle: serviceHandle,
                    uuid: service.uuid,
                    name: names.intern(service.uuid),
                    subject: names.intern("\(device)/\(service.uuid)"),
                    primary: service.primary,
                    last: isOfSystem ? 0 : handle - 1,
                    isOffered: position < peripheral.services.count,
                    characteristics: first..<characteristics.count
                )
            )
        }
    }

    /// Moves every attribute up, as a server does that was given another table.
    mutating func move(by count: AttributeHandle) {
        let last = (services.map(\.handle) + characteristics.map(\.handle) + descriptors.map(\.handle)).max() ?? 0
        guard Int(last) + 1 + Int(count) <= Int(AttributeHandle.max) else { return }
        for index in services.indices where services[index].handle != 0 {
            services[index].handle += count
            services[index].last += count
        }
        for index in characteristics.indices where characteristics[index].handle != 0 {
            characteristics[index].handle += count
        }
        for index in descriptors.indices where descriptors[index].handle != 0 { descriptors[index].handle += count }
    }

    /// The services that the server has now, but for those of the system.
    var offered: [Service] { services.filter(\.isShown) }

    /// Whether the server tells who has subscribed of changes: by Service Changed, which it indicates.
    var indicatesChanges: Bool {
        characteristics.contains { characteristic in
            let service = services[characteristic.service]
            return service.isOffered && service.uuid == PeripheralRules.genericAttribute
                && characteristic.uuid == PeripheralRules.serviceChanged
                && characteristic.properties.contains(.indicate)
        }
    }

    /// Whether the server has a characteristic of a service that no app sees.
    func isOfSystem(_ uuid: String) -> Bool {
        characteristics.contains { $0.uuid == uuid && $0.handle == 0 && services[$0.service].isOffered }
    }

    /// Whether apps find the same in it as in another state of the same table.
    func shows(theSameAs other: SimulatedAttributes) -> Bool {
        services.elementsEqual(other.services) { $0.handle == $1.handle && $0.isShown == $1.isShown }
    }

    /// Takes services away, or brings them; gives those that were there and are not any more.
    ///
    /// - Parameter added: Positions in `services`: another of the same UUID stays as it is.
    mutating func change(removing removed: [String], adding added: Range<Int>) -> [Int] {
        let gone = services.indices.filter { index in
            services[index].isOffered && removed.contains(services[index].uuid) && !added.contains(index)
        }
        for index in gone { services[index].isOffered = false }
        for index in added { services[index].isOffered = true }
        return gone
    }

    private func isShown(_ characteristic: Characteristic) -> Bool { services[characteristic.service].isShown }

    func service(at handle: AttributeHandle) -> Int? {
        services.firstIndex { $0.handle == handle && $0.isShown }
    }

    func characteristic(at handle: AttributeHandle) -> Int? {
        characteristics.firstIndex { $0.handle == handle && isShown($0) }
    }

    /// The first characteristic of a UUID.
    func characteristic(named uuid: String) -> Int? {
        characteristics.firstIndex { $0.uuid == uuid && isShown($0) }
    }

    func descriptor(at handle: AttributeHandle) -> Int? {
        descriptors.firstIndex { $0.handle == handle && isShown(characteristics[$0.characteristic]) }
    }

    /// The handle of the client configuration of a characteristic; nil for one without.
    func configuration(of characteristic: Int) -> AttributeHandle? {
        descriptors[characteristics[characteristic].descriptors].first(where: \.isConfiguration)?.handle
    }

    // MARK: By handle, as on the air

    /// What stands at a handle: positions in `services`, `characteristics` and `descriptors`.
    enum Attribute {
        case service(Int)
        case declaration(Int)
        case value(Int)
        case descriptor(Int)
    }

    /// What the server has at a handle; nil for nothing. The value of a characteristic is behind its declaration.
    func attribute(at handle: AttributeHandle) -> Attribute? {
        guard let place = services.firstIndex(where: { $0.isShown && $0.handle <= handle && handle <= $0.last }) else {
            return nil
        }
        if services[place].handle == handle { return .service(place) }
        for number in services[place].characteristics {
            let characteristic = characteristics[number]
            if characteristic.handle == handle { return .declaration(number) }
            if characteristic.handle + 1 == handle { return .value(number) }
            if let found = characteristic.descriptors.first(where: { descriptors[$0].handle == handle }) {
                return .descriptor(found)
            }
        }
        return nil
    }

    /// What a read of a declaration gives (Bluetooth Core Specification, volume 3, part G, 3.1 and 3.3.1); empty for any other
    /// attribute.
    func declared(_ attribute: Attribute) -> [UInt8] {
        switch attribute {
        case .service(let place): return AttributeExchange.bytes(ofUUID: services[place].uuid)
        case .declaration(let number):
            let characteristic = characteristics[number]
            return [UInt8(truncatingIfNeeded: characteristic.properties.rawValue)]
                + AttributeExchange.word(characteristic.handle + 1)
                + AttributeExchange.bytes(ofUUID: characteristic.uuid)
        case .value, .descriptor: return []
        }
    }

    /// What records call the attribute of a handle; nil when there is none.
    func subject(of handle: AttributeHandle) -> NameID? {
        service(at: handle).map { services[$0].subject }
            ?? characteristic(at: handle).map { characteristics[$0].subject }
            ?? descriptor(at: handle).map { descriptors[$0].subject }
    }

    /// The services of these names; all for an empty list.
    func found(services wanted: [NameID]) -> [GATTService] {
        offered.filter { $0.primary && (wanted.isEmpty || wanted.contains($0.name)) }
            .map { GATTService(uuid: $0.uuid, handle: $0.handle, primary: $0.primary) }
    }

    /// The characteristics of these names in a service; all for an empty list.
    func found(characteristics wanted: [NameID], of service: Int) -> [GATTCharacteristic] {
        characteristics[services[service].characteristics]
            .filter { wanted.isEmpty || wanted.contains($0.name) }
            .map(describe)
    }

    func found(descriptorsOf characteristic: Int) -> [GATTDescriptor] {
        let handle = characteristics[characteristic].handle
        return descriptors[characteristics[characteristic].descriptors]
            .map { GATTDescriptor(uuid: $0.uuid, handle: $0.handle, characteristic: handle) }
    }

    var allServices: [GATTService] {
        offered.map { GATTService(uuid: $0.uuid, handle: $0.handle, primary: $0.primary) }
    }

    var allCharacteristics: [GATTCharacteristic] { characteristics.filter(isShown).map(describe) }

    private func describe(_ characteristic: Characteristic) -> GATTCharacteristic {
        GATTCharacteristic(
            uuid: characteristic.uuid,
            handle: characteristic.handle,
            properties: characteristic.properties.rawValue,
            service: services[characteristic.service].handle
        )
    }
}

extension SimulatedAttributes: SnapshotPart {
    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        for index in services.indices {
            try coder.code(&services[index].handle)
            try coder.code(&services[index].last)
            try coder.code(&services[index].isOffered)
        }
        for index in characteristics.indices { try coder.code(&characteristics[index].handle) }
        for index in descriptors.indices {
            try coder.code(&descriptors[index].handle)
            try coder.code(&descriptors[index].value)
        }
    }
}
