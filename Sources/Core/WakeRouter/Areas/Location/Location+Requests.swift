import WakeModel

/// What an app asks of Core Location, and what becomes of its managers.
extension Router {
    /// The most location managers of an app: a set of slots has 64, and one stands for all of them.
    static let locationManagersLimit = 63
    /// The most beacon regions that a process ranges.
    static let rangedLimit = 64

    mutating func location(
        _ request: LocationRequest,
        manager number: ManagerNumber,
        from app: AppID,
        into output: inout RouterOutput
    ) {
        if request == .create {
            createLocationManager(number, for: app, into: &output)
            return
        }
        guard let slot = areas.location.apps[Int(app.number)].slot(of: number) else {
            output.actions.append(.refused(app, .unknownManager))
            return
        }
        let asker = Asker(app: app, slot: slot, number: number)
        if !profile.areas.location.levels, request.needsPosition { authorize(app, always: true, into: &output) }
        let held = updatesHold(Int(app.number))
        defer { followUpdates(of: app, held: held, into: &output) }
        switch request {
        case .create: break
        case .release: releaseLocationManager(asker, into: &output)
        case .startUpdating(let filter, let allowsBackground, let pauses):
            startUpdates(asker, filter, allowsBackground: allowsBackground, pauses: pauses, into: &output)
        case .stopUpdating: stopUpdates(asker, into: &output)
        case .allowBackground: _ = endsWithoutMode(app, into: &output)
        case .startSignificant: startSignificant(app, into: &output)
        case .stopSignificant: stopSignificant(app, into: &output)
        case .startVisits: startVisits(app, into: &output)
        case .stopVisits:
            areas.location.apps[Int(app.number)].visits = nil
        case .monitor(let region): monitor(.circular(region), asker, into: &output)
        case .monitorBeacons(let region): monitor(.beacons(region), asker, into: &output)
        case .stopMonitoring(let identifier): stopMonitoring(identifier, app, into: &output)
        case .requestState(let identifier): tellState(of: identifier, asker, into: &output)
        case .requestLocation: requestFix(asker, into: &output)
        case .requestAuthorization(let always): authorize(app, always: always, into: &output)
        case .range(let region): range(region, app, into: &output)
        case .stopRanging(let identifier): stopRanging(identifier, app, into: &output)
        }
    }

    /// One manager of one app, and its name on both sides.
    struct Asker {
        var app: AppID
        var slot: Int
        var number: ManagerNumber
    }

    // MARK: Managers

    private mutating func createLocationManager(
        _ number: ManagerNumber,
        for app: AppID,
        into output: inout RouterOutput
    ) {
        let index = Int(app.number)
        guard number != 0, areas.location.apps[index].slot(of: number) == nil else {
            output.actions.append(.refused(app, number == 0 ? .unknownManager : .duplicateManager))
            return
        }
        let free = areas.location.apps[index].managers.firstIndex { !$0.inUse }
        guard free != nil || areas.location.apps[index].managers.count < Self.locationManagersLimit else {
            output.actions.append(.refused(app, .tooMany))
            return
        }
        let manager = LocationRecord.Manager(inUse: true, attached: true, number: number, createdAt: now)
        if let free {
            areas.location.apps[index].managers[free] = manager
        } else {
            areas.location.apps[index].managers.append(manager)
        }
        output.actions.append(.locationAuthorization(app, number, apps[index].face.locationAuthorization))
        deliverWaiting(to: app, into: &output)
    }

    private mutating func releaseLocationManager(_ asker: Asker, into output: inout RouterOutput) {
        let index = Int(asker.app.number)
        areas.location.apps[index].managers[asker.slot - 1] = .init()
        removeUpdater(asker.app, asker.slot)
        dropWaiting(of: asker.app, slot: asker.slot, source: .location, into: &output)
        settleNeeds(of: asker.app, into: &output)
    }

    /// The process is gone: its managers go, but for what explains why nothing comes any more (LOC-3).
    mutating func detachLocation(of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard !areas.location.apps[index].managers.isEmpty else { return }
        for place in areas.location.apps[index].managers.indices {
            if areas.location.apps[index].managers[place].updates == nil {
                areas.location.apps[index].managers[place] = .init()
                removeUpdater(app, place + 1)
            } else {
                areas.location.apps[index].managers[place].attached = false
                areas.location.apps[index].managers[place].wantsFix = nil
            }
        }
        stopAllRanging(of: app, into: &output)
        settleNeeds(of: app, into: &output)
    }

    /// A new process starts without managers.
    mutating func forgetDetachedLocation(of app: AppID) {
        let index = Int(app.number)
        guard !areas.location.apps[index].managers.isEmpty else { return }
        areas.location.apps[index].managers.removeAll()
        areas.location.updaters.removeAll { $0.app == app }
    }

    /// The app is removed from the phone, with all that the system kept for it.
    mutating func forgetLocation(of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        for slot in areas.location.apps[index].regions.indices { removeRegion(app, slot, into: &output) }
        stopAllRanging(of: app, into: &output)
        stopSignificant(app, into: &output)
        forgetDetachedLocation(of: app)
        areas.location.apps[index].visits = nil
        settleNeeds(of: app, into: &output)
        areas.location.apps[index] = LocationRecord()
    }

    // MARK: Positions

    private mutating func startUpdates(
        _ asker: Asker,
        _ filter: Double,
        allowsBackground: Bool,
        pauses: Bool,
        into output: inout RouterOutput
    ) {
        let index = Int(asker.app.number)
        if allowsBackground, endsWithoutMode(asker.app, into: &output) { return }
        if isRefused(asker, into: &output) { return }
        let foreground = apps[index].state == .active || apps[index].state == .inactive
        let place = asker.slot - 1
        var updates = LocationRecord.Updates(
            filterChord: filter,
            allowsBackground: allowsBackground,
            pausesAutomatically: pauses,
            beganInForeground: foreground,
            since: now
        )
        if let old = areas.location.apps[index].managers[place].updates, !old.paused {
            updates.beganInForeground = old.beganInForeground || foreground
            updates.since = old.since
            updates.last = old.last
            updates.anchor = old.anchor
            updates.stillSince = old.stillSince
        }
        areas.location.apps[index].managers[place].updates = updates
        addUpdater(asker.app, asker.slot)
        settleNeeds(of: asker.app, into: &output)
    }

    /// Whether an app may set allowsBackgroundLocationUpdates and live (LOC-6).
    package func allowsBackgroundUpdates(of app: AppID) -> Bool {
        guard isInstalled(app) else { return false }
        return !profile.areas.location.backgroundFlag || apps[Int(app.number)].face.modes.contains(.location)
    }

    /// Core Location raises an exception, and nothing catches it (LOC-6). Says whether it did.
    private mutating func endsWithoutMode(_ app: AppID, into output: inout RouterOutput) -> Bool {
        if allowsBackgroundUpdates(of: app) { return false }
        output.actions.append(.refused(app, .locationModeMissing))
        end(app, cause: .crash, code: ExitRecord.abort, by: .none, into: &output)
        return true
    }

    private mutating func stopUpdates(_ asker: Asker, into output: inout RouterOutput) {
        let index = Int(asker.app.number)
        areas.location.apps[index].managers[asker.slot - 1].updates = nil
        if areas.location.apps[index].managers[asker.slot - 1].wantsFix == nil { removeUpdater(asker.app, asker.slot) }
        settleNeeds(of: asker.app, into: &output)
    }

    private mutating func requestFix(_ asker: Asker, into output: inout RouterOutput) {
        if isRefused(asker, into: &output) { return }
        areas.location.apps[Int(asker.app.number)].managers[asker.slot - 1].wantsFix = now
        addUpdater(asker.app, asker.slot)
        settleNeeds(of: asker.app, into: &output)
    }

    /// Tells an app that the user refused that it gets no position.
    private mutating func isRefused(_ asker: Asker, into output: inout RouterOutput) -> Bool {
        switch apps[Int(asker.app.number)].face.locationAuthorization {
        case .notDetermined, .whenInUse, .always, .provisionalAlways: return false
        case .denied, .restricted:
            raise(
                .locationFailed,
                for: asker,
                payload: .locationFailure(
                    code: LocationFailureCode.denied,
                    message: "The user does not allow the app to know the position."
                ),
                into: &output
            )
            return true
        }
    }

    private mutating func startSignificant(_ app: AppID, into output: inout RouterOutput) {
        guard areas.location.apps[Int(app.number)].significant == nil else { return }
        areas.location.apps[Int(app.number)].significant = .init(since: now)
        Self.insert(app, into: &areas.location.significantApps)
        settleNeeds(of: app, into: &output)
        raiseSignificant(app, into: &output)
    }

    private mutating func stopSignificant(_ app: AppID, into output: inout RouterOutput) {
        areas.location.apps[Int(app.number)].significant = nil
        areas.location.significantApps.removeAll { $0 == app }
        settleNeeds(of: app, into: &output)
    }

    private mutating func startVisits(_ app: AppID, into output: inout RouterOutput) {
        guard profile.areas.location.visits else {
            output.actions.append(.refused(app, .unavailable))
            return
        }
        if areas.location.apps[Int(app.number)].visits == nil { areas.location.apps[Int(app.number)].visits = now }
    }

    // MARK: Needs

    /// Keeps what is asked of the sources in step with what apps want.
    mutating func settleNeeds(of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        let needs = needsFixes(index)
        if needs != areas.location.apps[index].needsFixes {
            areas.location.apps[index].needsFixes = needs
            areas.location.appsNeedingFixes += needs ? 1 : -1
            if areas.location.appsNeedingFixes == (needs ? 1 : 0) {
                output.actions.append(.location(.positioning(needs)))
            }
        }
        accountReceiver(of: app)
    }

    private func needsFixes(_ index: Int) -> Bool {
        areas.location.apps[index].significant != nil
            || areas.location.apps[index].managers.contains { manager in
                manager.attached && (manager.wantsFix != nil || manager.updates.map { !$0.paused } == true)
            }
            || areas.location.apps[index].regions.contains { region in
                if case .circular? = region?.shape { true } else { false }
            }
    }

    /// The time for which an app keeps the receiver on is its own (LOC-9).
    mutating func accountReceiver(of app: AppID) {
        let index = Int(app.number)
        let asleep = apps[index].state == .suspended || apps[index].state == .notRunning
        let keepsOn = areas.location.apps[index].managers.contains { manager in
            guard manager.attached, let updates = manager.updates, !updates.paused else { return false }
            return !asleep || goesOnInBackground(updates) && apps[index].face.modes.contains(.location)
        }
        if let since = areas.location.apps[index].receiverSince {
            if keepsOn { return }
            areas.location.apps[index].receiverTime = areas.location.apps[index].receiverTime + now.since(since)
            areas.location.apps[index].receiverSince = nil
        } else if keepsOn {
            areas.location.apps[index].receiverSince = now
        }
    }

    func goesOnInBackground(_ updates: LocationRecord.Updates) -> Bool {
        updates.allowsBackground || !profile.areas.location.backgroundFlag
    }

    /// How long an app has kept the receiver on (LOC-9).
    package func receiverTime(of app: AppID, at instant: Instant) -> Instant.Span {
        guard Int(app.number) < apps.count else { return .zero }
        let record = areas.location.apps[Int(app.number)]
        return record.receiverTime + (record.receiverSince.map { instant.since($0) } ?? .zero)
    }

    /// Asks the sources again for all that is wanted: they know nothing of before.
    mutating func takeUpLocation(into output: inout RouterOutput) {
        if areas.location.appsNeedingFixes > 0 { output.actions.append(.location(.positioning(true))) }
        if !areas.location.watchedBeacons.isEmpty {
            output.actions.append(.location(.watchBeacons(areas.location.watchedBeacons.keys.sorted())))
        }
    }

    // MARK: Lists

    private mutating func addUpdater(_ app: AppID, _ slot: Int) {
        let updater = AppSlot(app: app, slot: UInt16(slot))
        let place = areas.location.updaters.firstIndex { $0 >= updater } ?? areas.location.updaters.count
        if place < areas.location.updaters.count, areas.location.updaters[place] == updater { return }
        areas.location.updaters.insert(updater, at: place)
    }

    mutating func removeUpdater(_ app: AppID, _ slot: Int) {
        let updater = AppSlot(app: app, slot: UInt16(slot))
        areas.location.updaters.removeAll { $0 == updater }
    }

    static func insert(_ app: AppID, into list: inout [AppID]) {
        let place = list.firstIndex { $0 >= app } ?? list.count
        if place < list.count, list[place] == app { return }
        list.insert(app, at: place)
    }

    /// An answer to one manager.
    mutating func raise(
        _ kind: EventKind,
        for asker: Asker,
        region: NameID = .none,
        payload: EventPayload = .none,
        into output: inout RouterOutput
    ) {
        output.actions.append(
            .raise(
                WakeEvent(kind: kind, subject: region, region: region, app: asker.app, manager: asker.number),
                payload
            )
        )
    }
}

extension LocationRequest {
    /// Whether the first such request of an app asks the user, before iOS 8.
    fileprivate var needsPosition: Bool {
        switch self {
        case .startUpdating, .startSignificant, .startVisits, .monitor, .monitorBeacons, .requestLocation, .range: true
        case .create, .release, .stopUpdating, .allowBackground, .stopSignificant, .stopVisits, .stopMonitoring,
            .requestState,
            .requestAuthorization, .stopRanging:
            false
        }
    }
}
