import WakeDevices
import WakeModel
import WakePorts

extension LocationArea {
    /// Makes the manager and starts all that the script uses.
    static func launched(_ app: AppID, in host: ScriptedAppHost) {
        guard let use = host.apps[app]!.script.location else { return }
        host.ask(.create, from: app)
        if use.holdsSession { host.ask(.beginSession, from: app) }
        if use.allowsBackground { host.ask(.allowBackground, from: app) }
        switch use.authorization {
        case .always, .provisionalAlways: host.ask(.requestAuthorization(always: true), from: app)
        case .whenInUse, .allowOnce: host.ask(.requestAuthorization(always: false), from: app)
        case .notDetermined, .restricted, .denied: break
        }
        for region in use.regions {
            let circle = host.circle(region)
            host.ask(.monitor(circle), from: app)
            if region.requestsState { host.ask(.requestState(identifier: circle.identifier), from: app) }
        }
        for region in use.beacons {
            let beacons = host.beaconRegion(region)
            host.ask(.monitorBeacons(beacons), from: app)
            if region.ranges { host.ask(.range(beacons), from: app) }
        }
        if use.significant { host.ask(.startSignificant, from: app) }
        if use.visits { host.ask(.startVisits, from: app) }
        guard use.updates else { return }
        host.ask(
            .startUpdating(
                distanceFilterChord: Sphere.chord(metres: use.distanceFilter),
                allowsBackground: use.allowsBackground,
                pausesAutomatically: use.pausesAutomatically
            ),
            from: app
        )
    }
}

/// What scripted apps ask of Core Location.
extension ScriptedAppHost {
    /// The one location manager that a scripted app makes; unlike that of Bluetooth.
    private static let locationManager: ManagerNumber = 2

    fileprivate func circle(_ region: ScriptedApp.LocationUse.Circle) -> CircularRegion {
        CircularRegion(
            identifier: names.intern(region.identifier),
            center: Geometry.direction(of: region.center),
            metres: region.radius,
            profile: profile,
            notifyOnEntry: region.notifyOnEntry,
            notifyOnExit: region.notifyOnExit
        )
    }

    fileprivate func beaconRegion(_ region: ScriptedApp.LocationUse.Beacons) -> BeaconRegion {
        BeaconRegion(
            identifier: names.intern(region.identifier),
            beacons: BeaconIdentity(uuid: names.intern(region.uuid), major: region.major, minor: region.minor),
            notifyOnEntry: region.notifyOnEntry,
            notifyOnExit: region.notifyOnExit,
            notifyEntryStateOnDisplay: region.notifyOnDisplay
        )
    }

    fileprivate func ask(_ request: LocationRequest, from app: AppID) {
        say(app, .request(.location(Self.locationManager, request)))
    }
}
