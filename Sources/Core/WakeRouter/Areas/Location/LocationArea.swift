import WakeModel

/// Core Location: positions, significant changes, visits and regions, those of beacons too.
///
/// The slot 0 of an interest stands for every manager of the app, and slot 1 for its first.
struct LocationArea: Codable {
    /// By app number.
    var apps: [LocationRecord] = []
    /// The managers with standard updates, ascending.
    var updaters: [AppSlot] = []
    /// The apps with the significant-change service, and those that range beacons, ascending.
    var significantApps: [AppID] = []
    var rangingApps: [AppID] = []
    var regionIndex = RegionIndex()
    /// The beacon regions that name a UUID, ascending.
    var beaconRegions: [NameID: [RegionKey]] = [:]
    /// What is looked for, and how many regions ask for it.
    var watchedBeacons: [BeaconIdentity: Int] = [:]
    var appsNeedingFixes = 0
    /// Nil before the first fix.
    var lastFix: LastFix?

    enum CodingKeys: CodingKey {
        case apps, lastFix
    }
}

extension LocationArea: Area {
    static func perform(
        _ request: AppRequest,
        from app: AppID,
        in router: inout Router,
        into output: inout RouterOutput
    ) -> Bool {
        guard case .location(let number, let request) = request else { return false }
        router.location(request, manager: number, from: app, into: &output)
        return true
    }

    static func route(_ event: WakeEvent, in router: inout Router, into output: inout RouterOutput) {
        router.routeLocation(event, into: &output)
    }

    static func interest(of app: AppID, in event: WakeEvent, held: Interest?, in router: inout Router) -> Interest? {
        router.locationInterest(of: app, in: event)
    }

    static func registrations(of app: AppID, _ router: Router) -> [KeptRegistration] {
        let record = router.areas.location.apps[Int(app.number)]
        var kept: [KeptRegistration] = []
        for manager in record.managers where manager.attached {
            if let updates = manager.updates {
                kept.append(KeptRegistration(via: .standardUpdates, subject: .none, since: updates.since))
            }
        }
        if let significant = record.significant {
            kept.append(KeptRegistration(via: .significantChange, subject: .none, since: significant.since))
        }
        if let since = record.visits {
            kept.append(KeptRegistration(via: .visits, subject: .none, since: since))
        }
        for case let region? in record.regions {
            kept.append(KeptRegistration(via: region.via, subject: region.identifier, since: region.since))
        }
        return kept
    }

    static func window(_ profile: borrowing Profile) -> Instant.Span { profile.areas.location.window }

    static func ruleOfWaiting(_ event: WakeEvent, _ interest: Interest, in router: inout Router) -> RuleID {
        interest.via == .standardUpdates ? .loc2 : .launch6
    }

    static func judge(
        _ event: WakeEvent,
        for interest: inout Interest,
        restarted: Bool,
        isNew: Bool,
        in router: inout Router
    ) -> (AppSnapshot, CheckResults, LocationQuestion) {
        let (face, question) = router.lookAtLocation(event, for: &interest)
        return (face, LocationRules.evaluate(question, of: face, by: router.constants.profile), question)
    }

    static func deciding(
        _ event: WakeEvent,
        for interest: Interest,
        in router: inout Router,
        into output: inout RouterOutput
    ) {
        guard router.apps[Int(interest.app.number)].face.locationAuthorization == .provisionalAlways else { return }
        router.askForAlways(event, interest, into: &output)
    }

    static func carriedOut(
        _ event: WakeEvent,
        for interest: Interest,
        _ verdict: Verdict,
        _ reason: Reason,
        in router: inout Router,
        into output: inout RouterOutput
    ) {
        guard verdict.delivers else { return }
        if event.kind == .positionFixed { router.noteUpdate(event, for: interest, into: &output) }
        if event.kind == .significantChange { router.noteChange(event, of: interest.app) }
    }

    /// The app is told where the phone is: of significant changes the newest is kept.
    static func replaces(_ newer: WakeEvent, _ older: WakeEvent) -> Bool {
        newer.kind == .significantChange && older.kind == .significantChange
    }

    static func managerNumber(_ slot: Int, of index: Int, in router: inout Router) -> ManagerNumber? {
        if slot == 0 { return router.areas.location.apps[index].hasManager ? 0 : nil }
        guard slot <= router.areas.location.apps[index].managers.count,
            router.areas.location.apps[index].managers[slot - 1].attached
        else { return nil }
        return router.areas.location.apps[index].managers[slot - 1].number
    }

    static func expectsManager(_ slot: Int, of index: Int, in router: inout Router) -> Bool { slot == 0 }

    static func deferring(
        _ event: WakeEvent,
        for interest: Interest,
        in router: inout Router,
        into output: inout RouterOutput
    ) {
        guard event.kind == .positionFixed else { return }
        router.replaceKept(of: interest.app, by: interest.slots, into: &output)
    }

    static func deferredDelivered(
        _ event: WakeEvent,
        for interest: Interest,
        in router: inout Router,
        into output: inout RouterOutput
    ) {
        if event.kind == .positionFixed { router.noteUpdate(event, for: interest, into: &output) }
    }

    static func user(_ action: UserAction, _ app: AppID, in router: inout Router) {
        switch action {
        case .allowAlways: router.areas.location.apps[Int(app.number)].keepsWhenInUse = false
        case .keepWhenInUse: router.areas.location.apps[Int(app.number)].keepsWhenInUse = true
        default: break
        }
    }

    static func hear(_ step: AppStep, of app: AppID, in router: inout Router, into output: inout RouterOutput) {
        let index = Int(app.number)
        switch step {
        case .uninstalled: router.forgetLocation(of: app, into: &output)
        case .launching: router.forgetDetachedLocation(of: app)
        case .moved:
            if !router.areas.location.apps[index].managers.isEmpty { router.accountReceiver(of: app) }
            if !router.areas.location.apps[index].ranged.isEmpty { router.followRanging(of: app) }
        case .ended: router.detachLocation(of: app, into: &output)
        case .due:
            if router.areas.location.apps[index].due <= router.now { router.regionsDue(of: app, into: &output) }
        case .reportDue:
            if router.areas.location.apps[index].rangingDue <= router.now {
                router.reportRanged(to: app, into: &output)
            }
        default: break
        }
    }

    static func hear(_ step: PhoneStep, in router: inout Router, into output: inout RouterOutput) {
        switch step {
        case .changed(.displayOn, let id): router.displayOn(by: id, into: &output)
        case .takeUp: router.takeUpLocation(into: &output)
        default: break
        }
    }

    static func runsOn(_ index: Int, _ router: Router) -> Bool { router.updatesHold(index) }

    func due(of index: Int) -> Instant {
        min(apps[index].due, apps[index].rangingDue)
    }
}

extension LocationQuestion: AreaQuestion {
    func refusal(_ decisive: Check, in results: CheckResults) -> (Verdict, Reason) {
        LocationRules.refusal(decisive, in: results, state: state)
    }

    func acceptance(launching: Bool) -> (Verdict, Reason) { LocationRules.acceptance(of: self, launching: launching) }

    func keepsRunning(_ modes: BackgroundModes) -> Bool {
        LocationRules.keepsRunning(self, modes: modes)
    }
}
