import WakeBlueZ
import WakeBus

/// Where org.bluez is, for modules that do not import WakeBlueZ.
package typealias BlueZBus = WakeBus.BusAddress

/// What this machine has of BlueZ, found by looking: nothing is switched on and nothing is started.
package struct BlueZPresence: Sendable {
    /// An adapter that bluetoothd knows.
    package struct Adapter: Hashable, Sendable {
        /// Such as `hci0`.
        package var name: String
        package var address: String
        package var powered: Bool
    }

    /// Why the bus cannot be reached; nil when it can.
    package var busFailure: String?
    /// Why bluetoothd does not answer; nil when it does.
    package var daemonFailure: String?
    /// In the order of their names.
    package var adapters: [Adapter] = []

    /// Asks the system bus, and bluetoothd when it runs.
    ///
    /// - Parameter timeout: the longest wait for each of the two answers.
    package static func examine(bus: BusAddress = .system, timeout: Duration = .seconds(3)) -> BlueZPresence {
        let owned: Bool
        do throws(BusError) {
            let name = "org.freedesktop.DBus"
            let call = BusCall(name, "/org/freedesktop/DBus", name, "NameHasOwner", [.string(BlueZName.daemon)])
            owned = try Bus.ask(bus, call, timeout: timeout).first?.bool ?? false
        } catch {
            return BlueZPresence(busFailure: error.message, daemonFailure: "there is no bus to reach it on")
        }
        guard owned else { return BlueZPresence(daemonFailure: "it does not run") }
        do throws(BusError) {
            return BlueZPresence(adapters: adapters(in: try BlueZObjects(asking: bus, timeout: timeout)))
        } catch {
            return BlueZPresence(daemonFailure: error.message)
        }
    }

    private static func adapters(in objects: BlueZObjects) -> [Adapter] {
        objects.paths(with: BlueZName.adapter).sorted().map { path in
            let properties = objects.properties(path, BlueZName.adapter)
            return Adapter(
                name: String(path.split(separator: "/").last ?? ""),
                address: properties?["Address"]?.text ?? "",
                powered: properties?["Powered"]?.bool ?? false
            )
        }
    }
}
