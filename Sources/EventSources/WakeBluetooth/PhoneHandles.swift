import WakeCaptures
import WakeModel

/// Where the phone's server has what apps publish: in the order of publication, behind the services that every server has.
struct PhoneHandles: Codable {
    /// A service, and its first and last handle.
    private struct Place: Codable {
        var published: LocalAttributes.Published
        var first: AttributeHandle
        var last: AttributeHandle

        var handles: ClosedRange<AttributeHandle> { first...last }
    }

    /// A characteristic's handles.
    struct Characteristic {
        var declaration: AttributeHandle
        /// The client configuration; nil where there is nothing to be subscribed to.
        var configuration: AttributeHandle?
        var descriptors: [AttributeExchange.Entry]

        var value: AttributeHandle { declaration + 1 }
        var last: AttributeHandle { descriptors.last?.handle ?? value }
    }

    private var places: [Place] = []

    /// Whether each service ends where its attributes do; what was read from a snapshot may not.
    var isConsistent: Bool {
        places.allSatisfy { Int($0.last) == Self.end(of: $0.published.service, at: Int($0.first)) }
    }

    /// What is published is there, at the place where it was before; what has no room is nowhere.
    mutating func update(_ published: [LocalAttributes.Published]) {
        places.removeAll { place in !published.contains { Self.isSame($0, place.published) } }
        for entry in published where !places.contains(where: { Self.isSame($0.published, entry) }) {
            let first = places.map { Int($0.handles.upperBound) + 1 }.max() ?? Int(SimulatedAttributes.firstHandle)
            let end = Self.end(of: entry.service, at: first)
            guard end < Int(AttributeHandle.max) else { continue }
            places.append(Place(published: entry, first: AttributeHandle(first), last: AttributeHandle(end)))
        }
    }

    private static func end(of service: LocalService, at first: Int) -> Int {
        first + service.characteristics.map { 2 + descriptors(of: $0).count }.reduce(0, +)
    }

    private static func isSame(_ left: LocalAttributes.Published, _ right: LocalAttributes.Published) -> Bool {
        left.client == right.client && left.service == right.service
    }

    private static func descriptors(of characteristic: LocalCharacteristic) -> [String] {
        (characteristic.flags.canNotify ? ["2902"] : []) + characteristic.descriptors.map(\.uuid)
    }

    private func characteristics(of place: Place) -> [(LocalCharacteristic, Characteristic)] {
        var next = place.handles.lowerBound + 1
        return place.published.service.characteristics.map { characteristic in
            let declaration = next
            next += 2
            let descriptors = Self.descriptors(of: characteristic).map { uuid in
                defer { next += 1 }
                return AttributeExchange.Entry(handle: next, uuid: uuid)
            }
            let configuration = characteristic.flags.canNotify ? descriptors.first?.handle : nil
            return (
                characteristic,
                Characteristic(declaration: declaration, configuration: configuration, descriptors: descriptors)
            )
        }
    }

    /// The handles of a client's characteristic; nil for one that is not published.
    func handles(of client: BluetoothClient, _ number: UInt32) -> Characteristic? {
        for place in places where place.published.client == client {
            if let (_, handles) = characteristics(of: place).first(where: { $0.0.number == number }) { return handles }
        }
        return nil
    }

    /// What a central exchanges to read the whole table.
    func discovering(_ exchange: AttributeExchange, common: [AttributeExchange.Entry]) -> [AttributeExchange.Round] {
        let services = places.filter(\.published.service.primary).map { place in
            AttributeExchange.Entry(
                handle: place.handles.lowerBound,
                end: place.handles.upperBound,
                uuid: place.published.service.uuid
            )
        }
        var rounds = exchange.discovering(services: common + services)
        for place in places {
            let (first, last) = (place.handles.lowerBound, place.handles.upperBound)
            let found = characteristics(of: place)
            let entries = found.map { characteristic, handles in
                AttributeExchange.Entry(
                    handle: handles.declaration,
                    properties: UInt8(truncatingIfNeeded: characteristic.properties),
                    uuid: characteristic.uuid
                )
            }
            rounds += exchange.discovering(characteristics: entries, from: first, to: last)
            for (_, handles) in found where !handles.descriptors.isEmpty {
                rounds += exchange.discovering(
                    descriptors: handles.descriptors,
                    from: handles.value + 1,
                    to: handles.last
                )
            }
        }
        return rounds
    }

    // MARK: By handle

    /// What the attribute of a handle is; the handle of a characteristic is that of its declaration.
    enum Attribute {
        case service(LocalAttributes.Published)
        case characteristic(LocalAttributes.Member)
        /// The client configuration of a characteristic.
        case configuration(LocalAttributes.Member)
        case descriptor(LocalDescriptor, of: LocalAttributes.Member)
    }

    /// Where each service is.
    var ranges: [ClosedRange<AttributeHandle>] { places.map(\.handles) }

    func attribute(at handle: AttributeHandle) -> Attribute? {
        guard let place = places.first(where: { $0.handles.contains(handle) }) else { return nil }
        if place.handles.lowerBound == handle { return .service(place.published) }
        for (characteristic, handles) in characteristics(of: place) where handles.last >= handle {
            let member = LocalAttributes.Member(client: place.published.client, characteristic: characteristic)
            if handles.declaration == handle { return .characteristic(member) }
            if handles.configuration == handle { return .configuration(member) }
            let own = handles.descriptors.dropFirst(handles.configuration == nil ? 0 : 1)
            guard let found = own.firstIndex(where: { $0.handle == handle }) else { return nil }
            return .descriptor(characteristic.descriptors[found - own.startIndex], of: member)
        }
        return nil
    }

    /// The primary services of these UUIDs; all for an empty list.
    func services(_ wanted: [String]) -> [GATTService] {
        places.filter { $0.published.service.primary && (wanted.isEmpty || wanted.contains($0.published.service.uuid)) }
            .map(Self.describe)
    }

    /// The services of these UUIDs that a service includes; all for an empty list.
    func services(includedBy handle: AttributeHandle, _ wanted: [String]) -> [GATTService] {
        guard let place = places.first(where: { $0.handles.lowerBound == handle }) else { return [] }
        let included = place.published.service.includes
        return places.filter { other in
            other.published.client == place.published.client && included.contains(other.published.service.number)
                && (wanted.isEmpty || wanted.contains(other.published.service.uuid))
        }.map(Self.describe)
    }

    private static func describe(_ place: Place) -> GATTService {
        let service = place.published.service
        return GATTService(uuid: service.uuid, handle: place.handles.lowerBound, primary: service.primary)
    }

    /// The characteristics of these UUIDs in a service; all for an empty list.
    func characteristics(ofService handle: AttributeHandle, _ wanted: [String]) -> [GATTCharacteristic] {
        guard let place = places.first(where: { $0.handles.lowerBound == handle }) else { return [] }
        return characteristics(of: place).filter { wanted.isEmpty || wanted.contains($0.0.uuid) }.map {
            found,
            handles in
            GATTCharacteristic(
                uuid: found.uuid,
                handle: handles.declaration,
                properties: found.flags.rawValue,
                service: handle
            )
        }
    }

    func descriptors(ofCharacteristic handle: AttributeHandle) -> [GATTDescriptor] {
        for place in places where place.handles.contains(handle) {
            for (_, handles) in characteristics(of: place) where handles.declaration == handle {
                return handles.descriptors.map {
                    GATTDescriptor(uuid: $0.uuid, handle: $0.handle, characteristic: handle)
                }
            }
        }
        return []
    }
}
