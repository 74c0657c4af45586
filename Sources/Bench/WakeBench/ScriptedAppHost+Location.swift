import WakeDevices
import WakeModel
import WakePorts

extension LocationArea {
    static func launched(_ app: AppID, in host: ScriptedAppHost) {
        if let use = host.apps[app]!.script.location { host.useLocation(use, of: app) }
    }
}

/// What scripted apps ask of Core Location.
extension ScriptedAppHost {
    /// The one location manager that a scripted app makes; unlike that of Bluetooth.
    private static let locationManager: ManagerNumber = 2

    /// Makes the manager and starts all that the script uses.
    fileprivate func useLocation(_ use: ScriptedApp.LocationUse, of app: AppID) {
        ask(.create, from: app)
        if use.allowsBackground { ask(.allowBackground, from: app) }
        switch use.authorization {
        case .always, .provisionalAlways: ask(.requestAuthorization(always: true), from: app)
        case .whenInUse: ask(.requestAuthorization(always: false), from: app)
        case .notDetermined, .restricted, .denied: break
        }
        for region in use.regions { ask(.monitor(circle(region)), from: app) }
        for region in use.beacons {
            let beacons = beaconRegion(region)
            ask(.monitorBeacons(beacons), from: app)
            if region.ranges { ask(.range(beacons), from: app) }
        }
        if use.significant { ask(.startSignificant, from: app) }
        if use.visits { ask(.startVisits, from: app) }
        guard use.updates else { return }
        ask(
            .startUpdating(
                distanceFilterChord: Sphere.chord(metres: use.distanceFilter),
                allowsBackground: use.allowsBackground,
                pausesAutomatically: use.pausesAutomatically
            ),
            from: app
        )
    }

    private func circle(_ region: ScriptedApp.LocationUse.Circle) -> CircularRegion {
        CircularRegion(
            identifier: names.intern(region.identifier),
            center: Geometry.direction(of: region.center),
            metres: region.radius,
            profile: profile,
            notifyOnEntry: region.notifyOnEntry,
            notifyOnExit: region.notifyOnExit
        )
    }

    private func beaconRegion(_ region: ScriptedApp.LocationUse.Beacons) -> BeaconRegion {
        BeaconRegion(
            identifier: names.intern(region.identifier),
            beacons: BeaconIdentity(uuid: names.intern(region.uuid), major: region.major, minor: region.minor),
            notifyOnEntry: region.notifyOnEntry,
            notifyOnExit: region.notifyOnExit,
            notifyEntryStateOnDisplay: region.notifyOnDisplay
        )
    }

    private func ask(_ request: LocationRequest, from app: AppID) {
        say(app, .request(.location(Self.locationManager, request)))
    }
}
