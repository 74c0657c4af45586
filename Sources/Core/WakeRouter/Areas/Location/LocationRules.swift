import WakeModel

/// What the rules of Core Location look at beside the app and the phone: the event and one registration.
struct LocationQuestion {
    var via: Registration
    var state: AppState
    /// Of standard updates: the app set allowsBackgroundLocationUpdates, or the profile knows no such setting.
    var goesOnInBackground = false
    /// Of standard updates: each wakes a suspended app.
    var updatesWake = false
    /// Of an answer: it may be the last thing that updates kept the app running for.
    var endsUpdates = false
    /// Of standard updates: they began in the foreground.
    var beganInForeground = false
    /// Of standard updates: the phone moved as far as the distance filter asks for.
    var beyondFilter = true
    /// Of standard updates: what ``beyondFilter`` was found from, as ``AppSnapshot`` has it.
    var filterChord = 0.0
    var movedSquare = Double.infinity
    /// Of standard updates: they are paused.
    var paused = false
    /// Of a region: the app wants to hear of this side.
    var sideWanted = true
    /// Of a region: the phone was past its boundary for the dwell (REG-2), rather than a source having said so.
    var hasDwelt = false
    /// The app may know the position to some kilometres only (LOC-11).
    var isReduced = false
    /// Of standard updates: they would be given, were the app awake.
    var couldBeGiven = true
    /// The app was force-quit, and is relaunched for it all the same (LAUNCH-3).
    var liftsForceQuit = false

    /// Whether it is a standard update that waits for the app to run, where nothing else stands in its way (LOC-2).
    var isKept: Bool { via == .standardUpdates && state == .suspended && !updatesWake }
}

extension LocationQuestion: AreaQuestion {
    func refusal(_ decisive: Check, in results: CheckResults) -> (Verdict, Reason) {
        switch decisive {
        case .asksToBeWoken: (state == .suspended ? .defer : .drop, .answerWaits)
        case .modePresent: (.deny, .modeMissing)
        case .updatesInBackground: (.deny, .foregroundUpdatesOnly)
        case .updatesWake: (.defer, .updateKept)
        case .updatesReachProcess: (.deny, .notRelaunchedByUpdates)
        case .beyondDistanceFilter: (.coalesce, .withinDistanceFilter)
        case .authorized: (.deny, .notAuthorized)
        case .refreshWhereNeeded: (.deny, .refreshNeeded)
        case .notPaused: (.drop, .updatesPaused)
        case .precisionNotNeeded: (.deny, .reducedAccuracy)
        case .sideWanted: (.drop, .sideNotWanted)
        case .rangesWhileRunning: (.deny, .rangingNeedsRunning)
        default: preconditionFailure("\(decisive) never fails for one app's location")
        }
    }

    func acceptance(launching: Bool) -> (Verdict, Reason) {
        if liftsForceQuit { return (.relaunch, .relaunchedAfterForceQuit) }
        if isKept, !couldBeGiven { return (.defer, .updateKept) }
        return Acceptance.usual(in: state, launching: launching)
    }

    func keepsRunning(_ modes: BackgroundModes) -> Bool {
        LocationRules.belongsToSystem(via)
            || modes.contains(.location) && (updatesWake && goesOnInBackground || endsUpdates)
    }
}

/// The checks of location events, in the order of the rulebook.
enum LocationRules {
    /// Evaluates every check; none is left out because an earlier one failed.
    ///
    /// What holds passes. What does not hold fails where it stands in the way of the app in its state, and is not
    /// applicable elsewhere.
    static func evaluate(_ question: LocationQuestion, of app: AppSnapshot, by constants: Constants)
        -> CheckResults
    {
        let dead = question.state == .notRunning
        let asleep = dead || question.state == .suspended
        let standard = question.via == .standardUpdates
        let crossing = question.via == .region || question.via == .beaconRegion
        var results = CheckResults(ofLaunching: app, by: constants)
        results[.asksToBeWoken] = passes(question.via != .answer, where: asleep)
        results[.modePresent] = !standard ? .notApplicable : passes(app.modes.contains(.location), where: asleep)
        results[.updatesInBackground] =
            !standard ? .notApplicable : passes(question.goesOnInBackground, where: asleep)
        results[.updatesWake] =
            !standard || question.state != .suspended
            ? .notApplicable : !question.isKept ? .pass : question.couldBeGiven ? .fail : .notApplicable
        results[.updatesReachProcess] = !standard ? .notApplicable : passes(!dead, where: true)
        results[.beyondDistanceFilter] = !standard ? .notApplicable : passes(question.beyondFilter, where: true)
        results[.authorized] =
            question.via == .answer ? .notApplicable : passes(isAuthorized(question, app, constants), where: true)
        results[.notPaused] = !standard ? .notApplicable : passes(!question.paused, where: true)
        if question.isReduced { results[.precisionNotNeeded] = passes(!needsPrecision(question.via), where: true) }
        results[.dwellOver] = question.hasDwelt ? .pass : .notApplicable
        results[.sideWanted] = !crossing ? .notApplicable : passes(question.sideWanted, where: true)
        if constants.profile.areas.location.needsRefresh, needsRefresh(question) {
            results[.refreshWhereNeeded] = passes(app.refreshes, where: true)
        }
        results[.rangesWhileRunning] = question.via != .ranging ? .notApplicable : passes(!asleep, where: true)
        return results
    }

    /// Whether a standard update would be given, were the app awake (LOC-2).
    static func couldBeGiven(
        _ question: LocationQuestion,
        of app: AppSnapshot,
        by constants: Constants
    ) -> Bool {
        question.beyondFilter && !question.paused && isAuthorized(question, app, constants)
    }

    /// Whether the bar of a force quit stands and is lifted for this event (LAUNCH-3).
    static func liftsForceQuit(
        _ question: LocationQuestion,
        of app: AppSnapshot,
        by constants: Constants
    ) -> Bool {
        question.state == .notRunning && app.forceQuit && constants.profile.forceQuitBars
            && constants.profile.areas.location.liftsForceQuit
            && belongsToSystem(question.via)
    }

    /// Whether it is what the archive guide says Background App Refresh is for: the system's own services in each state of
    /// the app, and updates that reach it in the background (PWR-4).
    private static func needsRefresh(_ question: LocationQuestion) -> Bool {
        if belongsToSystem(question.via) { return true }
        guard question.via == .standardUpdates else { return false }
        return question.state == .background || question.state == .suspended && question.updatesWake
    }

    /// Whether the system goes on with it when the process is gone (REG-6, LOC-1).
    fileprivate static func belongsToSystem(_ via: Registration) -> Bool {
        switch via {
        case .region, .beaconRegion, .significantChange, .visits: true
        default: false
        }
    }

    /// Whether nothing comes of it where the app may know the position to some kilometres only (LOC-11).
    static func needsPrecision(_ via: Registration) -> Bool {
        switch via {
        case .region, .beaconRegion, .ranging: true
        default: false
        }
    }

    /// Whether the user lets the app know the position in its state (LOC-5, SESS-3).
    static func isAuthorized(
        _ question: LocationQuestion,
        _ app: AppSnapshot,
        _ constants: Constants
    ) -> Bool {
        switch app.locationAuthorization {
        case .notDetermined, .restricted, .denied: return false
        case .always, .provisionalAlways: return true
        case .whenInUse, .allowOnce:
            if !constants.profile.areas.location.levels { return true }
            switch question.state {
            case .active, .inactive: return true
            case .background, .suspended:
                if app.keptInUse { return true }
                return question.via == .standardUpdates && question.beganInForeground && question.goesOnInBackground
                    && app.modes.contains(.location)
            case .notRunning: return false
            }
        }
    }

    /// Whether an event would not reach an app with When In Use, for that reason alone (LOC-10).
    static func needsAlways(_ question: LocationQuestion, of app: AppSnapshot, by constants: Constants)
        -> Bool
    {
        if question.via == .answer || evaluate(question, of: app, by: constants).decisive != nil { return false }
        var inUse = app
        inUse.locationAuthorization = .whenInUse
        return !isAuthorized(question, inUse, constants)
    }
}
