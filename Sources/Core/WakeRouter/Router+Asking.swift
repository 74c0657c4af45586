import WakeModel

/// Questions that change nothing.
extension Router {
    /// Whether a manager's connection to a peripheral is up; nil when it neither has nor waits for one.
    package func connection(of app: AppID, manager: ManagerNumber, to peripheral: NameID) -> Bool? {
        guard isInstalled(app), let slot = apps[Int(app.number)].slot(of: manager) else { return nil }
        return link(of: BluetoothClient(app: app, slot: UInt16(slot)), to: peripheral)?.connected
    }

    /// What the user lets an app know of the position.
    package func locationAuthorization(of app: AppID) -> LocationAuthorization {
        isInstalled(app) ? apps[Int(app.number)].face.locationAuthorization : .notDetermined
    }

    /// The regions that the system watches for an app, in order of their slots (REG-6).
    package func monitoredRegions(of app: AppID) -> (circles: [CircularRegion], beacons: [BeaconRegion]) {
        var circles: [CircularRegion] = []
        var beacons: [BeaconRegion] = []
        guard isInstalled(app) else { return (circles, beacons) }
        for case let region? in apps[Int(app.number)].location.regions {
            switch region.shape {
            case .circular(let region): circles.append(region)
            case .beacons(let region): beacons.append(region)
            }
        }
        return (circles, beacons)
    }

    /// The peripherals that some app is connected to, ascending.
    package var connectedPeripherals: [NameID] {
        peripherals.indices.filter { row in peripherals[row].links.contains { $0.connected } }.map {
            NameID(UInt32($0))
        }
    }
}
