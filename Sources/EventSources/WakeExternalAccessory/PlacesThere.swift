import WakeDevices
import WakeModel
import WakePorts

/// Where an accessory of the scenario is looked for.
protocol AccessoryPlace: AnyObject {
    /// In the scenario.
    var name: String { get }
    var description: ExternalAccessory { get }
    /// The number under which it is known; nil while it is not there.
    var connection: AccessoryConnection? { get set }
}

/// The places whose accessory is there.
struct PlacesThere<Place: AccessoryPlace> {
    /// In order of connection.
    private(set) var places: [Place] = []
    private var lastConnection: AccessoryConnection = 0

    /// What apps may see of them.
    var accessories: [Accessory] {
        places.compactMap { place in place.connection.map { place.description.accessory($0) } }
    }

    subscript(connection: AccessoryConnection) -> Place? {
        places.first { $0.connection == connection }
    }

    /// An accessory came, and has a new number.
    mutating func join(_ place: Place) -> AccessoryConnection {
        lastConnection += 1
        place.connection = lastConnection
        places.append(place)
        return lastConnection
    }

    /// It went.
    mutating func leave(_ place: Place) {
        place.connection = nil
        places.removeAll { $0 === place }
    }

    /// What a session of a connection is about, whether its accessory is there or not.
    func subject(_ connection: AccessoryConnection, _ protocolName: String) -> LinkedSessions.Subject {
        LinkedSessions.Subject(
            connection: connection,
            accessory: self[connection]?.name ?? "",
            protocolName: protocolName
        )
    }
}
