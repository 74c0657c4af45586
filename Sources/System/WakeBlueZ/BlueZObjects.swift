import WakeBus

/// A copy of bluetoothd's objects, kept up to date by its signals.
package struct BlueZObjects {
    /// The properties of an interface, by name, without their variants.
    package typealias Properties = [String: BusValue]

    /// More objects than these are not kept: a crowded hall has some hundreds of devices.
    package static let limit = 16_384

    private var objects: [String: [String: Properties]] = [:]

    package init() {}

    /// Asks bluetoothd for all that it has, and waits for the answer.
    package init(asking address: BusAddress, timeout: Duration) throws(BusError) {
        replace(with: try Bus.ask(address, BusCall(.listObjects), timeout: timeout).first)
    }

    /// The answer of GetManagedObjects replaces everything.
    package mutating func replace(with answer: BusValue?) {
        objects.removeAll()
        for entry in answer?.entries ?? [] {
            if let path = entry.key.text { add(path, entry.value) }
        }
    }

    /// InterfacesAdded: an object is new, or has interfaces more.
    package mutating func add(_ path: String, _ interfaces: BusValue) {
        guard objects.count < Self.limit || objects[path] != nil else { return }
        for entry in interfaces.entries ?? [] {
            guard let interface = entry.key.text else { continue }
            objects[path, default: [:]][interface] = Self.properties(entry.value)
        }
    }

    /// InterfacesRemoved. An object without interfaces goes, and takes with it all below it: an adapter may go without
    /// its children being named.
    ///
    /// - Returns: the paths that went, sorted.
    package mutating func remove(_ path: String, _ interfaces: [String]) -> [String] {
        guard objects[path] != nil else { return [] }
        for interface in interfaces { objects[path]?[interface] = nil }
        guard objects[path]?.keys.allSatisfy({ $0.hasPrefix("org.freedesktop.DBus.") }) ?? true else { return [] }
        let gone = paths(atOrBelow: path)
        for path in gone { objects[path] = nil }
        return gone
    }

    /// PropertiesChanged.
    package mutating func change(_ path: String, _ interface: String, _ changed: BusValue, without names: [String]) {
        guard objects[path]?[interface] != nil else { return }
        for (name, value) in Self.properties(changed) { objects[path]?[interface]?[name] = value }
        for name in names { objects[path]?[interface]?[name] = nil }
    }

    /// The properties of an interface of an object; nil when it has none such.
    package func properties(_ path: String, _ interface: String) -> Properties? {
        objects[path]?[interface]
    }

    /// The objects that have an interface, at a path or below it, sorted by path.
    package func paths(with interface: String, atOrBelow root: String = "/") -> [String] {
        paths(atOrBelow: root).filter { objects[$0]?[interface] != nil }
    }

    private func paths(atOrBelow root: String) -> [String] {
        let prefix = root == "/" ? "/" : root + "/"
        return objects.keys.filter { $0 == root || $0.hasPrefix(prefix) }.sorted()
    }

    static func properties(_ dictionary: BusValue) -> Properties {
        var properties: Properties = [:]
        for entry in dictionary.entries ?? [] {
            if let name = entry.key.text { properties[name] = entry.value.plain }
        }
        return properties
    }
}
