import WakeModel

/// Questions that change nothing.
extension Router {
    /// Whether a manager's connection to a peripheral is up; nil when it neither has nor waits for one.
    package func connection(of app: AppID, manager: ManagerNumber, to peripheral: NameID) -> Bool? {
        guard isInstalled(app), let slot = apps[Int(app.number)].slot(of: manager) else { return nil }
        return link(of: BluetoothClient(app: app, slot: UInt16(slot)), to: peripheral)?.connected
    }

    /// The peripherals that some app is connected to, ascending.
    package var connectedPeripherals: [NameID] {
        peripherals.indices.filter { row in peripherals[row].links.contains { $0.connected } }.map {
            NameID(UInt32($0))
        }
    }

    /// What an app may know of positions.
    package func locationAuthorization(of app: AppID) -> LocationAuthorization {
        isInstalled(app) ? apps[Int(app.number)].face.locationAuthorization : .notDetermined
    }

    /// The circles that an app has monitored, through whichever of its processes it began (REG-6).
    package func monitoredCircles(of app: AppID) -> [CircularRegion] {
        monitoredShapes(of: app).compactMap { if case .circular(let region) = $0 { region } else { nil } }
    }

    /// The beacon regions that an app has monitored, through whichever of its processes it began (REG-6).
    package func monitoredBeacons(of app: AppID) -> [BeaconRegion] {
        monitoredShapes(of: app).compactMap { if case .beacons(let region) = $0 { region } else { nil } }
    }

    private func monitoredShapes(of app: AppID) -> [LocationRecord.Region.Shape] {
        isInstalled(app) ? apps[Int(app.number)].location.regions.compactMap { $0?.shape } : []
    }
}
