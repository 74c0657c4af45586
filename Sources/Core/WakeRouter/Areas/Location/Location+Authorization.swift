import WakeModel

/// What the user lets apps know of the position.
extension Router {
    /// The user is asked, and allows it, when nothing was said before.
    mutating func authorize(_ app: AppID, always: Bool, into output: inout RouterOutput) {
        let index = Int(app.number)
        let before = apps[index].face.locationAuthorization
        switch (before, always || !profile.areas.location.levels) {
        case (.notDetermined, false): authorize(app, .whenInUse, into: &output)
        case (.notDetermined, true):
            // The word Always comes with the first event in the background (LOC-10).
            let isProvisional = profile.areas.location.levels && profile.areas.location.provisionalAlways
            authorize(app, isProvisional ? .provisionalAlways : .always, into: &output)
        case (.whenInUse, true) where !areas.location.apps[index].keepsWhenInUse: authorize(app, .always, into: &output)
        default: break
        }
    }

    private mutating func authorize(
        _ app: AppID,
        _ authorization: LocationAuthorization,
        into output: inout RouterOutput
    ) {
        apps[Int(app.number)].face.locationAuthorization = authorization
        output.actions.append(
            .raise(WakeEvent(kind: .authorizationChanged, app: app, authorization: authorization), .none)
        )
    }

    /// Asks the user when an event is the first that reaches the app only because it may always know the position. To
    /// an app that may go on nothing has changed.
    mutating func askForAlways(_ event: WakeEvent, _ interest: Interest, into output: inout RouterOutput) {
        let app = interest.app
        let index = Int(app.number)
        var counting = interest
        let (face, question) = lookAtLocation(event, for: &counting)
        guard LocationRules.needsAlways(question, of: face, by: constants.profile) else { return }
        output.actions.append(.alert(app, event.kind, subject: event.subject, event.id))
        guard areas.location.apps[index].keepsWhenInUse else {
            apps[index].face.locationAuthorization = .always
            return
        }
        let held = updatesHold(index)
        authorize(app, .whenInUse, into: &output)
        if held { beginTaskBudget(of: app) }
    }

    // MARK: Questions

    /// What the user lets an app know of the position.
    package func locationAuthorization(of app: AppID) -> LocationAuthorization {
        isInstalled(app) ? apps[Int(app.number)].face.locationAuthorization : .notDetermined
    }

    /// The regions that the system watches for an app, in order of their slots (REG-6).
    package func monitoredRegions(of app: AppID) -> (circles: [CircularRegion], beacons: [BeaconRegion]) {
        var circles: [CircularRegion] = []
        var beacons: [BeaconRegion] = []
        guard isInstalled(app) else { return (circles, beacons) }
        for case let region? in areas.location.apps[Int(app.number)].regions {
            switch region.shape {
            case .circular(let region): circles.append(region)
            case .beacons(let region): beacons.append(region)
            }
        }
        return (circles, beacons)
    }
}
