import WakeModel

/// What the user lets apps know of the position.
extension Router {
    /// The user is asked, and allows it, when nothing was said before.
    mutating func authorize(_ app: AppID, always: Bool) {
        let before = apps[app].snapshot.locationAuthorization
        switch (before, always || !profile.areas.location.levels) {
        case (.notDetermined, false): authorize(app, .whenInUse)
        case (.notDetermined, true):
            // The word Always comes with the first event in the background (LOC-10).
            let isProvisional = profile.areas.location.levels && profile.areas.location.provisionalAlways
            authorize(app, isProvisional ? .provisionalAlways : .always)
        case (.whenInUse, true) where !areas.location.apps[app].keepsWhenInUse: authorize(app, .always)
        default: break
        }
    }

    private mutating func authorize(_ app: AppID, _ authorization: LocationAuthorization) {
        apps[app].snapshot.locationAuthorization = authorization
        raise(WakeEvent(kind: .authorizationChanged, app: app, authorization: authorization))
    }

    /// Asks the user when an event is the first that reaches the app only because it may always know the position. To
    /// an app that may go on nothing has changed.
    mutating func askForAlways(_ event: WakeEvent, _ interest: Interest) {
        let app = interest.app
        var counting = interest
        var snapshot = apps[app].snapshot
        let question = lookAtLocation(event, for: &counting, showing: &snapshot)
        guard LocationRules.needsAlways(question, of: snapshot, by: constants) else { return }
        act(.alert(app, event.kind, subject: event.subject, event.id))
        act(.did(app, .askedForAlways, event.id))
        guard areas.location.apps[app].keepsWhenInUse else {
            apps[app].snapshot.locationAuthorization = .always
            return
        }
        let held = updatesHold(app)
        authorize(app, .whenInUse)
        if held { beginTaskBudget(of: app) }
    }

    // MARK: Questions

    /// What the user lets an app know of the position.
    package func locationAuthorization(of app: AppID) -> LocationAuthorization {
        isInstalled(app) ? apps[app].snapshot.locationAuthorization : .notDetermined
    }

    /// The regions that the system watches for an app, in order of their slots (REG-6).
    package func monitoredRegions(of app: AppID) -> (circles: [CircularRegion], beacons: [BeaconRegion]) {
        var circles: [CircularRegion] = []
        var beacons: [BeaconRegion] = []
        guard isInstalled(app) else { return (circles, beacons) }
        for case let region? in areas.location.apps[app].regions {
            switch region.shape {
            case .circular(let region): circles.append(region)
            case .beacons(let region): beacons.append(region)
            }
        }
        return (circles, beacons)
    }
}
