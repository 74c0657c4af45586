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
    var beaconRegions: [NameID: [AppSlot]] = [:]
    /// What is looked for, and how many regions ask for it.
    var watchedBeacons: [BeaconIdentity: Int] = [:]
    var appsNeedingFixes = 0
    var appsWatchingVisits = 0
    /// Nil before the first fix.
    var lastFix: LastFix?

    enum CodingKeys: CodingKey {
        case apps, lastFix
    }
}

extension LocationArea: Area {
    static func perform(_ request: AppRequest, from app: AppID, in router: inout Router) -> Bool {
        guard case .location(let number, let request) = request else { return false }
        router.location(request, manager: number, from: app)
        return true
    }

    static func route(_ event: WakeEvent, in router: inout Router) {
        router.routeLocation(event)
    }

    static func interest(of app: AppID, in event: WakeEvent, held: Interest?, in router: inout Router) -> Interest? {
        router.locationInterest(of: app, in: event)
    }

    static func registrations(of app: AppID, _ router: Router) -> [KeptRegistration] {
        let record = router.areas.location.apps[app]
        let authorization = router.apps[app].snapshot.locationAuthorization
        let isInUseLess = router.constants.profile.areas.location.levels && !router.apps[app].snapshot.keptInUse
        func lack(of via: Registration) -> Reason? {
            let refusal: Reason? =
                switch authorization {
                case .notDetermined, .restricted, .denied: .notAuthorized
                case .whenInUse, .allowOnce: isInUseLess && via != .standardUpdates ? .notAuthorized : nil
                case .always, .provisionalAlways: nil
                }
            return refusal ?? (record.isReduced && LocationRules.needsPrecision(via) ? .reducedAccuracy : nil)
        }
        var kept: [KeptRegistration] = []
        func keep(_ via: Registration, _ subject: NameID, since: Instant) {
            kept.append(KeptRegistration(via: via, subject: subject, since: since, lacks: lack(of: via)))
        }
        for manager in record.managers where manager.attached {
            if let updates = manager.updates {
                keep(.standardUpdates, .none, since: updates.since)
            }
        }
        if let significant = record.significant {
            keep(.significantChange, .none, since: significant.since)
        }
        if let since = record.visits {
            keep(.visits, .none, since: since)
        }
        for case let region? in record.regions {
            keep(region.via, region.identifier, since: region.since)
        }
        return kept
    }

    static func window(_ constants: Constants) -> Instant.Span { constants.profile.areas.location.window }

    static func ruleOfWaiting(_ event: WakeEvent, _ interest: Interest, in router: inout Router) -> RuleID {
        interest.via == .standardUpdates ? .loc2 : .launch6
    }

    static func judge(
        _ event: WakeEvent,
        for interest: inout Interest,
        showing snapshot: inout AppSnapshot,
        restarted: Bool,
        isNew: Bool,
        in router: inout Router
    ) -> (CheckResults, LocationQuestion) {
        let question = router.lookAtLocation(event, for: &interest, showing: &snapshot)
        return (LocationRules.evaluate(question, of: snapshot, by: router.constants), question)
    }

    static func hear(_ step: EventStep, of event: WakeEvent, for interest: Interest, in router: inout Router) {
        switch step {
        case .deciding:
            guard router.apps[interest.app].snapshot.locationAuthorization == .provisionalAlways else { return }
            router.askForAlways(event, interest)
        case .carriedOut(let verdict, _):
            guard verdict.delivers else { return }
            if event.kind == .positionFixed { router.noteUpdate(event, for: interest) }
            if event.kind == .significantChange { router.noteChange(event, of: interest.app) }
            // Without the setting its rule asks nothing of the switches, and the record has no check for them.
            if verdict == .resume || verdict == .relaunch, !router.refreshes(interest.app) {
                router.act(.did(interest.app, .wokeWithoutRefresh, event.id))
            }
        case .deferring:
            guard event.kind == .positionFixed else { return }
            router.replaceKept(of: interest.app, by: interest.slots)
        case .deferredDelivered:
            guard event.kind == .positionFixed else { return }
            router.noteUpdate(event, for: interest)
        case .recorded, .delivered: break
        }
    }

    /// The app is told where the phone is: of significant changes the newest is kept.
    static func replaces(_ newer: WakeEvent, _ older: WakeEvent) -> Bool {
        newer.kind == .significantChange && older.kind == .significantChange
    }

    static func managerNumber(_ slot: Int, of app: AppID, in router: inout Router) -> ManagerNumber? {
        if slot == 0 { return router.areas.location.apps[app].hasManager ? 0 : nil }
        guard slot <= router.areas.location.apps[app].managers.count,
            router.areas.location.apps[app].managers[slot - 1].attached
        else { return nil }
        return router.areas.location.apps[app].managers[slot - 1].number
    }

    static func expectsManager(_ slot: Int, of app: AppID, in router: inout Router) -> Bool { slot == 0 }

    static func user(_ action: UserAction, _ app: AppID, id: EventID, in router: inout Router) {
        switch action {
        case .allowAlways, .keepWhenInUse:
            let keeps = action == .keepWhenInUse
            if router.areas.location.apps[app].keepsWhenInUse == keeps { router.act(.did(app, .foundItSo, id)) }
            router.areas.location.apps[app].keepsWhenInUse = keeps
        case .allowPrecise, .refusePrecise: router.setReduced(action == .refusePrecise, app, by: id)
        case .allowOnce: router.answerOnce(app, by: id)
        default: break
        }
    }

    static func hear(_ step: AppStep, of app: AppID, in router: inout Router) {
        switch step {
        case .uninstalled: router.forgetLocation(of: app)
        case .launching: router.forgetDetachedLocation(of: app)
        case .moved:
            if !router.areas.location.apps[app].managers.isEmpty { router.accountReceiver(of: app) }
            if !router.areas.location.apps[app].ranged.isEmpty { router.followRanging(of: app) }
            router.endOnce(of: app)
        case .settling: router.endOnce(of: app)
        case .ended: router.detachLocation(of: app)
        case .due:
            if router.areas.location.apps[app].due <= router.now { router.regionsDue(of: app) }
        case .reportDue:
            if router.areas.location.apps[app].rangingDue <= router.now {
                router.reportRanged(to: app)
            }
        default: break
        }
    }

    static func hear(_ step: PhoneStep, in router: inout Router) {
        switch step {
        case .changed(.displayOn, let id): router.displayOn(by: id)
        case .takeUp: router.takeUpLocation()
        default: break
        }
    }

    static func runsOn(_ app: AppID, _ router: Router) -> Bool { router.updatesHold(app) }

    func due(of app: AppID) -> Instant {
        min(apps[app].due, apps[app].rangingDue)
    }
}
