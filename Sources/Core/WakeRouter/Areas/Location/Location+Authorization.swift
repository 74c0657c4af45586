import WakeModel

/// What the user lets apps know of the position.
extension Router {
    /// The user is asked, and allows it, when nothing was said before.
    mutating func authorize(_ app: AppID, always: Bool) {
        let before = apps[app].snapshot.locationAuthorization
        switch (before, always || !profile.areas.location.levels) {
        case (.notDetermined, _) where areas.location.apps[app].answersOnce: allowOnce(app)
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

    // MARK: Once

    /// From now on the user allows the position once, each time when asked; until then nothing is decided (LOC-12).
    mutating func answerOnce(_ app: AppID, by id: EventID) {
        guard profile.areas.location.allowsOnce else { return act(.did(app, .foundNoSuchChoice, id)) }
        guard !areas.location.apps[app].answersOnce else { return act(.did(app, .foundItSo, id)) }
        areas.location.apps[app].answersOnce = true
        let before = apps[app].snapshot.locationAuthorization
        guard before != .notDetermined, before != .allowOnce else { return }
        let held = updatesHold(app)
        authorize(app, .notDetermined)
        // The app is suspended once it was told.
        if held { beginTaskBudget(of: app) }
    }

    /// Nobody sees a question of an app that is not in use.
    private mutating func allowOnce(_ app: AppID) {
        guard isInUse(app) else { return }
        act(.did(app, .allowedOnce))
        authorize(app, .allowOnce)
    }

    /// What the user allowed once is over as soon as the app is no longer in use (LOC-12).
    mutating func endOnce(of app: AppID) {
        guard apps[app].snapshot.locationAuthorization == .allowOnce, !isInUse(app) else { return }
        act(.did(app, .endedOnce))
        authorize(app, .notDetermined)
    }

    /// Whether an app runs in the foreground, or for updates that it began there (LOC-5).
    private func isInUse(_ app: AppID) -> Bool {
        switch apps[app].state {
        case .active, .inactive: true
        case .background: updatesHold(app)
        case .suspended, .notRunning: false
        }
    }

    // MARK: Reduced accuracy

    /// The user lets an app know the precise position, or keeps it from the app, which is told (LOC-11).
    mutating func setReduced(_ isReduced: Bool, _ app: AppID, by id: EventID) {
        guard profile.areas.location.preciseSwitch else { return act(.did(app, .foundNoSuchChoice, id)) }
        guard areas.location.apps[app].isReduced != isReduced else { return act(.did(app, .foundItSo, id)) }
        areas.location.apps[app].isReduced = isReduced
        if areas.location.apps[app].hasManager { authorize(app, apps[app].snapshot.locationAuthorization) }
    }

    // MARK: Questions

    /// Whether an app may know the precise position (LOC-11).
    package func knowsPrecisely(_ app: AppID) -> Bool { !isInstalled(app) || !areas.location.apps[app].isReduced }

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
