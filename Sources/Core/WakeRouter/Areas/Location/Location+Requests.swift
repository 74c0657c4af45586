import WakeModel

/// What an app asks of Core Location, and what becomes of its managers.
extension Router {
    /// The most location managers of an app: a set of slots has 64, and one stands for all of them.
    static let locationManagersLimit = 63
    /// The most beacon regions that a process ranges.
    static let rangedLimit = 64

    mutating func location(_ request: LocationRequest, manager number: ManagerNumber, from app: AppID) {
        if request == .create {
            createLocationManager(number, for: app)
            return
        }
        let held = updatesHold(app)
        defer { followUpdates(of: app, held: held) }
        if request == .beginSession { return beginSession(number, of: app) }
        if request == .endSession { return endSession(number, of: app) }
        guard let slot = areas.location.apps[app].slot(of: number) else {
            act(.refused(app, .unknownManager))
            return
        }
        let asker = Asker(app: app, slot: slot, number: number)
        if !profile.areas.location.levels, request.needsPosition { authorize(app, always: true) }
        switch request {
        case .create, .beginSession, .endSession: break
        case .release: releaseLocationManager(asker)
        case .startUpdating(let filter, let allowsBackground, let pauses):
            startUpdates(asker, filter, allowsBackground: allowsBackground, pauses: pauses)
        case .stopUpdating: stopUpdates(asker)
        case .allowBackground: _ = endsWithoutMode(app)
        case .startSignificant: startSignificant(app)
        case .stopSignificant: stopSignificant(app)
        case .startVisits: startVisits(app)
        case .stopVisits: watchVisits(app, since: nil)
        case .monitor(let region): monitor(.circular(region), asker)
        case .monitorBeacons(let region): monitor(.beacons(region), asker)
        case .stopMonitoring(let identifier): stopMonitoring(identifier, app)
        case .requestState(let identifier): tellState(of: identifier, asker)
        case .requestLocation: requestFix(asker)
        case .requestAuthorization(let always): authorize(app, always: always)
        case .range(let region): range(region, app)
        case .stopRanging(let identifier): stopRanging(identifier, app)
        }
    }

    /// One manager of one app, and its name on both sides.
    struct Asker {
        var app: AppID
        var slot: Int
        var number: ManagerNumber
    }

    // MARK: Managers

    private mutating func createLocationManager(_ number: ManagerNumber, for app: AppID) {
        guard number != 0, areas.location.apps[app].slot(of: number) == nil else {
            act(.refused(app, number == 0 ? .unknownManager : .duplicateManager))
            return
        }
        let free = areas.location.apps[app].managers.firstIndex { !$0.inUse }
        guard free != nil || areas.location.apps[app].managers.count < Self.locationManagersLimit else {
            act(.refused(app, .tooMany))
            return
        }
        let manager = LocationRecord.Manager(inUse: true, attached: true, number: number, createdAt: now)
        areas.location.apps[app].managers.put(manager, at: free ?? areas.location.apps[app].managers.count)
        act(.tell(app, .locationAuthorization(number, apps[app].snapshot.locationAuthorization)))
        deliverWaiting(to: app)
    }

    private mutating func releaseLocationManager(_ asker: Asker) {
        let app = asker.app
        areas.location.apps[app].managers[asker.slot - 1] = .init()
        removeUpdater(asker.app, asker.slot)
        dropWaiting(of: asker.app, slot: asker.slot, source: .location)
        settleNeeds(of: asker.app)
    }

    /// The process is gone: its managers go, but for what explains why nothing comes any more (LOC-3).
    mutating func detachLocation(of app: AppID) {
        endSessions(of: app)
        defer { if areas.location.apps[app].regions.contains(where: { $0 != nil }) { act(.did(app, .keptRegions)) } }
        guard !areas.location.apps[app].managers.isEmpty else { return }
        for place in areas.location.apps[app].managers.indices {
            if areas.location.apps[app].managers[place].updates == nil {
                areas.location.apps[app].managers[place] = .init()
                removeUpdater(app, place + 1)
            } else {
                areas.location.apps[app].managers[place].attached = false
                areas.location.apps[app].managers[place].wantsFix = nil
            }
        }
        stopAllRanging(of: app)
        settleNeeds(of: app)
    }

    /// A new process starts without managers.
    mutating func forgetDetachedLocation(of app: AppID) {
        guard !areas.location.apps[app].managers.isEmpty else { return }
        areas.location.apps[app].managers.removeAll()
        areas.location.updaters.removeAll { $0.app == app }
    }

    /// The app is removed from the phone, with all that the system kept for it.
    mutating func forgetLocation(of app: AppID) {
        for slot in areas.location.apps[app].regions.indices { removeRegion(app, slot) }
        stopAllRanging(of: app)
        stopSignificant(app)
        forgetDetachedLocation(of: app)
        watchVisits(app, since: nil)
        settleNeeds(of: app)
        areas.location.apps[app] = LocationRecord()
    }

    // MARK: Positions

    private mutating func startUpdates(_ asker: Asker, _ filter: Double, allowsBackground: Bool, pauses: Bool) {
        let app = asker.app
        if allowsBackground, endsWithoutMode(asker.app) { return }
        if isRefused(asker) { return }
        let foreground = apps[app].state == .active || apps[app].state == .inactive
        let place = asker.slot - 1
        var updates = LocationRecord.Updates(
            filterChord: filter,
            allowsBackground: allowsBackground,
            pausesAutomatically: pauses,
            beganInForeground: foreground,
            since: now
        )
        if let old = areas.location.apps[app].managers[place].updates, !old.paused {
            updates.beganInForeground = old.beganInForeground || foreground
            updates.since = old.since
            updates.last = old.last
            updates.anchor = old.anchor
            updates.stillSince = old.stillSince
        }
        areas.location.apps[app].managers[place].updates = updates
        addUpdater(asker.app, asker.slot)
        settleNeeds(of: asker.app)
    }

    /// Whether an app may set allowsBackgroundLocationUpdates and live (LOC-6).
    package func allowsBackgroundUpdates(of app: AppID) -> Bool {
        guard isInstalled(app) else { return false }
        return !profile.areas.location.backgroundFlag || apps[app].snapshot.modes.contains(.location)
    }

    /// Core Location raises an exception, and nothing catches it (LOC-6). Says whether it did.
    private mutating func endsWithoutMode(_ app: AppID) -> Bool {
        if allowsBackgroundUpdates(of: app) { return false }
        act(.refused(app, .locationModeMissing))
        act(.did(app, .endedAtSetter))
        end(app, cause: .crash, code: ExitRecord.abort, by: .none)
        return true
    }

    private mutating func stopUpdates(_ asker: Asker) {
        let app = asker.app
        areas.location.apps[app].managers[asker.slot - 1].updates = nil
        if areas.location.apps[app].managers[asker.slot - 1].wantsFix == nil { removeUpdater(asker.app, asker.slot) }
        settleNeeds(of: asker.app)
    }

    private mutating func requestFix(_ asker: Asker) {
        if isRefused(asker) { return }
        areas.location.apps[asker.app].managers[asker.slot - 1].wantsFix = now
        addUpdater(asker.app, asker.slot)
        settleNeeds(of: asker.app)
    }

    /// Tells an app that the user refused that it gets no position.
    private mutating func isRefused(_ asker: Asker) -> Bool {
        switch apps[asker.app].snapshot.locationAuthorization {
        case .notDetermined, .whenInUse, .always, .provisionalAlways, .allowOnce: return false
        case .denied, .restricted:
            raise(
                .locationFailed,
                for: asker,
                payload: .locationFailure(
                    code: LocationFailureCode.denied,
                    message: "The user does not allow the app to know the position."
                )
            )
            return true
        }
    }

    private mutating func startSignificant(_ app: AppID) {
        guard areas.location.apps[app].significant == nil else { return }
        areas.location.apps[app].significant = .init(since: now)
        areas.location.significantApps.insertInOrder(app)
        settleNeeds(of: app)
        raiseSignificant(app)
    }

    private mutating func stopSignificant(_ app: AppID) {
        areas.location.apps[app].significant = nil
        areas.location.significantApps.removeAll { $0 == app }
        settleNeeds(of: app)
    }

    private mutating func startVisits(_ app: AppID) {
        guard profile.areas.location.visits else {
            act(.refused(app, .unavailable))
            return
        }
        watchVisits(app, since: areas.location.apps[app].visits ?? now)
    }

    private mutating func watchVisits(_ app: AppID, since: Instant?) {
        let watched = areas.location.apps[app].visits != nil
        areas.location.apps[app].visits = since
        let watches = since != nil
        guard watches != watched else { return }
        areas.location.appsWatchingVisits += watches ? 1 : -1
        if areas.location.appsWatchingVisits == (watches ? 1 : 0) { act(.location(.watchVisits(watches))) }
    }

    // MARK: Needs

    /// Keeps what is asked of the sources in step with what apps want.
    mutating func settleNeeds(of app: AppID) {
        let needs = needsFixes(app)
        if needs != areas.location.apps[app].needsFixes {
            areas.location.apps[app].needsFixes = needs
            areas.location.appsNeedingFixes += needs ? 1 : -1
            if areas.location.appsNeedingFixes == (needs ? 1 : 0) {
                act(.location(.positioning(needs)))
            }
        }
        accountReceiver(of: app)
    }

    private func needsFixes(_ app: AppID) -> Bool {
        areas.location.apps[app].significant != nil
            || areas.location.apps[app].managers.contains { manager in
                manager.attached && (manager.wantsFix != nil || manager.updates.map { !$0.paused } == true)
            }
            || areas.location.apps[app].regions.contains { region in
                if case .circular? = region?.shape { true } else { false }
            }
    }

    /// The time for which an app keeps the receiver on is its own (LOC-9).
    mutating func accountReceiver(of app: AppID) {
        let asleep = apps[app].state == .suspended || apps[app].state == .notRunning
        let keepsOn = areas.location.apps[app].managers.contains { manager in
            guard manager.attached, let updates = manager.updates, !updates.paused else { return false }
            return !asleep || goesOnInBackground(updates) && apps[app].snapshot.modes.contains(.location)
        }
        if let since = areas.location.apps[app].receiverSince {
            if keepsOn { return }
            areas.location.apps[app].receiverTime = areas.location.apps[app].receiverTime + now.since(since)
            areas.location.apps[app].receiverSince = nil
        } else if keepsOn {
            areas.location.apps[app].receiverSince = now
        }
    }

    func goesOnInBackground(_ updates: LocationRecord.Updates) -> Bool {
        updates.allowsBackground || !profile.areas.location.backgroundFlag
    }

    /// How long an app has kept the receiver on (LOC-9).
    package func receiverTime(of app: AppID, at instant: Instant) -> Instant.Span {
        guard Int(app.number) < apps.count else { return .zero }
        let record = areas.location.apps[app]
        return record.receiverTime + (record.receiverSince.map { instant.since($0) } ?? .zero)
    }

    /// Asks the sources again for all that is wanted: they know nothing of before.
    mutating func takeUpLocation() {
        if areas.location.appsNeedingFixes > 0 { act(.location(.positioning(true))) }
        if areas.location.appsWatchingVisits > 0 { act(.location(.watchVisits(true))) }
        if !areas.location.watchedBeacons.isEmpty {
            act(.location(.watchBeacons(areas.location.watchedBeacons.keys.sorted())))
        }
    }

    // MARK: Lists

    private mutating func addUpdater(_ app: AppID, _ slot: Int) {
        let updater = AppSlot(app: app, slot: UInt16(slot))
        areas.location.updaters.insertInOrder(updater)
    }

    mutating func removeUpdater(_ app: AppID, _ slot: Int) {
        let updater = AppSlot(app: app, slot: UInt16(slot))
        areas.location.updaters.removeAll { $0 == updater }
    }

    /// An answer to one manager.
    mutating func raise(_ kind: EventKind, for asker: Asker, region: NameID = .none, payload: EventPayload = .none) {
        raise(WakeEvent(kind: kind, subject: region, region: region, app: asker.app, manager: asker.number), payload)
    }
}

extension LocationRequest {
    /// Whether the first such request of an app asks the user, before iOS 8.
    fileprivate var needsPosition: Bool {
        switch self {
        case .startUpdating, .startSignificant, .startVisits, .monitor, .monitorBeacons, .requestLocation, .range: true
        case .create, .release, .stopUpdating, .allowBackground, .stopSignificant, .stopVisits, .stopMonitoring,
            .requestState, .requestAuthorization, .stopRanging, .beginSession, .endSession:
            false
        }
    }
}
