import WakeModel

/// From an event of location to the apps that registered for it.
extension Router {
    mutating func routeLocation(_ event: WakeEvent) {
        switch event.kind {
        case .positionFixed: position(event)
        case .beaconSighted: sighted(event)
        case .authorizationChanged: authorizationChanged(event)
        default:
            guard let app = event.app else {
                for app in everyApp { tell(app, event) }
                return
            }
            tell(app, event)
            // Paused updates hold the app no more, once it was told.
            if event.kind == .locationUpdatesPaused, isInstalled(app) {
                settle(app)
                reschedule(app)
            }
        }
    }

    /// Decides for one app, when it is interested. What a source says of a crossing is so at once.
    private mutating func tell(_ app: AppID, _ event: WakeEvent) {
        if event.app == nil, !isOverflowing { noteDirect(event, app) }
        guard let interest = locationInterest(of: app, in: event) else { return }
        decide(event, for: interest)
        reschedule(app)
    }

    private mutating func noteDirect(_ event: WakeEvent, _ app: AppID) {
        switch event.kind {
        case .regionEntered, .regionExited:
            guard let slot = areas.location.apps[app].region(named: event.region) else { return }
            areas.location.apps[app].regions[slot]!.state = event.kind == .regionEntered ? .inside : .outside
            areas.location.apps[app].regions[slot]!.pending = nil
            areas.location.apps[app].regions[slot]!.lastSeen = nil
        case .significantChange:
            if areas.location.apps[app].significant != nil { areas.location.apps[app].significant!.last = now }
        default: break
        }
    }

    /// The user changed what an app may know, or the app asked.
    private mutating func authorizationChanged(_ event: WakeEvent) {
        guard let app = event.app, let authorization = event.authorization, isInstalled(app) else { return }
        // An app is told of changes alone. A choice in Settings has an origin, and what the app asked for has none.
        if event.origin != .none {
            if !isOverflowing { areas.location.apps[app].answersOnce = false }
            if apps[app].snapshot.locationAuthorization == authorization {
                reached = true
                return
            }
        }
        let held = updatesHold(app)
        if !isOverflowing {
            apps[app].snapshot.locationAuthorization = authorization
            endOnce(of: app)
            // Who was given no change yet has not to wait for the interval.
            if areas.location.apps[app].significant?.reference == nil {
                areas.location.apps[app].significant?.last = nil
            }
            switch apps[app].snapshot.locationAuthorization {
            case .denied, .restricted, .notDetermined: denyKept(of: app)
            case .whenInUse, .always, .provisionalAlways, .allowOnce: break
            }
        }
        tell(app, event)
        followUpdates(of: app, held: held)
        settle(app)
        reschedule(app)
    }

    // MARK: Fixes

    private mutating func position(_ event: WakeEvent) {
        guard let position = event.position else { return }
        if isOverflowing {
            update(event)
            return
        }
        areas.location.lastFix = LastFix(direction: position, event: event.id, subject: event.subject)
        areas.location.regionIndex.move(to: position)
        let changes = areas.location.regionIndex.changes
        var began = false
        for change in changes where placeChanged(change, by: event) { began = true }
        let moved = significantlyMoved(to: position, event)
        update(event)
        guard !reached, areas.location.appsNeedingFixes > 0 else { return }
        var checks = CheckResults()
        checks[.crossesBoundary] = moved || began ? .pass : .fail
        // A dwell begins with the fix that crosses, and only of a region.
        checks[.dwellOver] = moved || areas.location.regionIndex.count == 0 ? .notApplicable : .fail
        unaddressed(event, checks)
    }

    /// Gives apps their significant changes (LOC-1). Says whether there was one.
    private mutating func significantlyMoved(to position: Direction, _ event: WakeEvent) -> Bool {
        var moved = false
        for app in areas.location.significantApps {
            guard let service = areas.location.apps[app].significant else { continue }
            if let last = service.last, now.since(last) < profile.areas.location.significantInterval { continue }
            if let reference = service.reference, position.chordSquared(to: reference) < constants.significantSquare {
                continue
            }
            moved = true
            act(.did(app, .foundSignificantChange, event.id))
            if let reference = service.reference, event.fix?.isUnsure(ofMovingFrom: reference) == true {
                act(.did(app, .movedByPoorFix, event.id))
            }
            raiseSignificant(app, origin: event.origin)
        }
        return moved
    }

    /// A change to where the phone was last seen; the first of a service may be from before it began (LOC-1).
    mutating func raiseSignificant(_ app: AppID, origin: NameID = .none) {
        guard let lastFix = areas.location.lastFix else { return }
        areas.location.apps[app].significant!.last = now
        raise(
            WakeEvent(
                kind: .significantChange,
                subject: lastFix.subject,
                fix: Fix(direction: lastFix.direction),
                app: app,
                origin: origin,
                parent: lastFix.event
            )
        )
    }

    /// The next change is measured from the one that the app was given (LOC-1), which may be of a while ago. What a source
    /// says of a change has no position: it is so where the phone was last seen.
    mutating func noteChange(_ event: WakeEvent, of app: AppID) {
        areas.location.apps[app].significant?.reference =
            event.position ?? areas.location.lastFix?.direction
    }

    /// Gives standard updates to the apps that started them.
    private mutating func update(_ event: WakeEvent) {
        var place = 0
        while place < areas.location.updaters.count {
            let app = areas.location.updaters[place].app
            if let interest = locationInterest(of: app, in: event) {
                decide(event, for: interest)
                if !isOverflowing { rest(app, event) }
                reschedule(app)
            }
            place = areas.location.updaters.firstIndex { $0.app > app } ?? areas.location.updaters.count
        }
    }

    /// Pauses the updates of a phone that stands still (LOC-7).
    private mutating func rest(_ app: AppID, _ event: WakeEvent) {
        guard let position = event.position else { return }
        let held = updatesHold(app)
        for place in areas.location.apps[app].managers.indices {
            let manager = areas.location.apps[app].managers[place]
            guard manager.attached, let updates = manager.updates, updates.pausesAutomatically, !updates.paused else {
                continue
            }
            if let anchor = updates.anchor, position.chordSquared(to: anchor) <= constants.pauseSquare {
                guard now.since(updates.stillSince) >= profile.areas.location.pauseDelay else { continue }
                areas.location.apps[app].managers[place].updates!.paused = true
                raise(.locationUpdatesPaused, for: Asker(app: app, slot: place + 1, number: manager.number))
                settleNeeds(of: app)
            } else {
                areas.location.apps[app].managers[place].updates!.anchor = position
                areas.location.apps[app].managers[place].updates!.stillSince = now
            }
        }
        if held, !updatesHold(app) { beginTaskBudget(of: app) }
    }

    /// What the rules of Core Location look at.
    mutating func lookAtLocation(
        _ event: WakeEvent,
        for interest: inout Interest,
        showing snapshot: inout AppSnapshot
    ) -> LocationQuestion {
        var question = question(of: &interest, event)
        LocationArea.observe(interest, in: &snapshot, of: &self)
        snapshot.beganInForeground = question.beganInForeground
        snapshot.filterChord = question.filterChord
        snapshot.movedSquare = question.movedSquare
        question.liftsForceQuit = LocationRules.liftsForceQuit(question, of: snapshot, by: constants)
        snapshot.forceQuitLifted = question.liftsForceQuit
        question.couldBeGiven = LocationRules.couldBeGiven(question, of: snapshot, by: constants)
        return question
    }

    /// Which managers a fix counts for: those stay in the interest; when there is none, one of them stands for all.
    mutating func question(of interest: inout Interest, _ event: WakeEvent) -> LocationQuestion {
        let app = interest.app
        var question = LocationQuestion(via: interest.via, state: apps[app].state)
        switch interest.via {
        case .standardUpdates: answerUpdates(&question, &interest, event)
        case .region, .beaconRegion:
            if let slot = areas.location.apps[app].region(named: event.region) {
                question.hasDwelt = interest.via == .region && event.app != nil && event.kind != .regionStateDetermined
                question.sideWanted = areas.location.apps[app].regions[slot]!.notifies(of: event.kind)
            }
        case .answer:
            question.endsUpdates =
                profile.areas.location.backgroundFlag
                && (event.kind == .locationUpdatesPaused || event.kind == .authorizationChanged)
        default: break
        }
        question.isReduced = areas.location.apps[app].isReduced
        return question
    }

    private mutating func answerUpdates(
        _ question: inout LocationQuestion,
        _ interest: inout Interest,
        _ event: WakeEvent
    ) {
        let app = interest.app
        var counting = SlotSet()
        var best = -1
        for slot in interest.slots {
            let manager = areas.location.apps[app].managers[slot - 1]
            var next = LocationQuestion(via: .standardUpdates, state: question.state)
            if let updates = manager.updates {
                next.goesOnInBackground = goesOnInBackground(updates)
                next.updatesWake = !profile.areas.location.backgroundFlag
                next.beganInForeground = updates.beganInForeground
                next.paused = updates.paused && manager.wantsFix == nil
                next.filterChord = max(0, updates.filterChord)
                if manager.wantsFix == nil, let last = updates.last, let position = event.position {
                    next.movedSquare = position.chordSquared(to: last)
                }
                next.beyondFilter = next.movedSquare >= next.filterChord * next.filterChord
            }
            let isAuthorized = LocationRules.isAuthorized(next, apps[app].snapshot, constants)
            let runs = next.state != .suspended && next.state != .notRunning || next.goesOnInBackground
            if isAuthorized, !next.paused, next.beyondFilter, runs { counting.insert(UInt16(slot)) }
            // The one with the fewest obstacles speaks for the app.
            let rank =
                (isAuthorized ? 8 : 0) + (next.paused ? 0 : 4) + (next.beyondFilter ? 2 : 0) + (runs ? 1 : 0)
            guard rank > best else { continue }
            best = rank
            question = next
            interest.slot = UInt16(slot)
            interest.since = manager.updates?.since ?? manager.wantsFix ?? manager.createdAt
        }
        if !counting.isEmpty { interest.slots = counting }
    }

    /// An update that the app hears of counts for the managers that it went to.
    mutating func noteUpdate(_ event: WakeEvent, for interest: Interest) {
        let app = interest.app
        for slot in interest.slots where slot > 0 {
            areas.location.apps[app].managers[slot - 1].updates?.last = event.position
            guard areas.location.apps[app].managers[slot - 1].wantsFix != nil else { continue }
            areas.location.apps[app].managers[slot - 1].wantsFix = nil
            if areas.location.apps[app].managers[slot - 1].updates == nil { removeUpdater(interest.app, slot) }
        }
        settleNeeds(of: interest.app)
    }

    // MARK: Beacons

    /// A beacon was heard: the first time it is an entry (BCN-1); apps that range it are told with their next report (BCN-4).
    private mutating func sighted(_ event: WakeEvent) {
        guard let beacon = event.beacon, !isOverflowing else { return }
        var known = false
        var led = false
        for key in areas.location.beaconRegions[beacon.uuid] ?? [] {
            let app = key.app
            let slot = Int(key.slot)
            guard let region = areas.location.apps[app].regions[slot], case .beacons(let beacons) = region.shape,
                beacons.beacons.matches(beacon)
            else { continue }
            known = true
            noteHeard(beacon, app, slot)
            if region.state == .inside { continue }
            led = true
            cross(key.app, slot, to: .inside, parent: event.id, origin: event.origin)
        }
        for app in areas.location.rangingApps where hearsRanged(app, beacon, &known) { led = true }
        guard known else { return }
        var checks = CheckResults()
        checks[.beaconIsNew] = led ? .pass : .fail
        unaddressed(event, checks)
    }

    /// A beacon of a region is there: when its silence counts is reckoned from when it was heard, which may be before the report.
    private mutating func noteHeard(_ beacon: BeaconSighting, _ app: AppID, _ slot: Int) {
        let heard = beacon.heard(reported: now)
        let last = areas.location.apps[app].regions[slot]!.lastSeen
        areas.location.apps[app].regions[slot]!.lastSeen = last.map { max($0, heard) } ?? heard
        let gone = areas.location.apps[app].regions[slot]!.gone(after: profile.areas.location.beaconExitDelay)
        if let gone { expect(gone, of: app) }
    }

    // MARK: Interest

    /// How an app is interested in an event of location; nil when it is not.
    mutating func locationInterest(of app: AppID, in event: WakeEvent) -> Interest? {
        guard isInstalled(app) else { return nil }
        switch event.kind {
        case .positionFixed: return updatesInterest(of: app)
        case .significantChange:
            return areas.location.apps[app].significant.map {
                Interest(app, via: .significantChange, since: $0.since)
            }
        case .visitBegan, .visitEnded:
            return areas.location.apps[app].visits.map { Interest(app, via: .visits, since: $0) }
        case .regionStateDetermined where event.manager != 0: return answerInterest(of: app, in: event)
        case .regionEntered, .regionExited, .regionStateDetermined:
            guard let slot = areas.location.apps[app].region(named: event.region),
                let region = areas.location.apps[app].regions[slot]
            else { return nil }
            return Interest(app, via: region.via, since: region.since)
        case .beaconsRanged:
            let ranged = areas.location.apps[app].ranged.first { $0.region.identifier == event.region }
            return ranged.map { Interest(app, via: .ranging, since: $0.since) }
        default: return event.kind.source == .location ? answerInterest(of: app, in: event) : nil
        }
    }

    private mutating func updatesInterest(of app: AppID) -> Interest? {
        var found: Interest?
        for (place, manager) in areas.location.apps[app].managers.enumerated() {
            guard let since = manager.updates?.since ?? manager.wantsFix else { continue }
            let slot = UInt16(place + 1)
            if found == nil { found = Interest(app, slot: slot, via: .standardUpdates, since: since) }
            found!.slots.insert(slot)
        }
        return found
    }

    /// An answer is for the manager that asked, or for all; a process that is gone is told nothing, and a record says so.
    private mutating func answerInterest(of app: AppID, in event: WakeEvent) -> Interest? {
        // Without an app it is no answer, but for all that have updates running.
        if event.app == nil, updatesInterest(of: app) == nil { return nil }
        var slot = 0
        if apps[app].hasProcess {
            guard areas.location.apps[app].hasManager else { return nil }
            if event.manager != 0 {
                guard let known = areas.location.apps[app].slot(of: event.manager) else { return nil }
                slot = known
            }
        }
        return Interest(
            app,
            slot: UInt16(slot),
            via: .answer,
            since: asked(from: slot, of: app)
        )
    }

    /// Since when an app may be answered: since there is the manager, for all the first; without one since it was installed.
    private func asked(from slot: Int, of app: AppID) -> Instant {
        let managers = areas.location.apps[app].managers
        if slot > 0 { return managers[slot - 1].createdAt }
        return managers.lazy.filter(\.attached).map(\.createdAt).min() ?? apps[app].installedAt
    }

    /// An event that concerns apps, and is for none of them by itself: when nothing fails, events of their own follow.
    private mutating func unaddressed(_ event: WakeEvent, _ checks: CheckResults) {
        reached = true
        var checks = checks
        checks[.anyoneRegistered] = .pass
        let (verdict, reason) = Self.consequence(of: checks)
        var ruling = Ruling(verdict, reason, wouldHave: verdict)
        if let decisive = checks.decisive {
            var passed = checks
            passed[decisive] = .pass
            ruling.wouldHave = Self.consequence(of: passed).0
        }
        recordUnaddressed(event, ruling, checks: checks)
    }

    private static func consequence(of checks: CheckResults) -> (Verdict, Reason) {
        switch checks.decisive {
        case .crossesBoundary: (.drop, .nothingCrossed)
        case .dwellOver: (.drop, .crossingBegan)
        case .beaconIsNew: (.drop, .beaconKnown)
        case nil: (.coalesce, .ledToEvents)
        case let check?: preconditionFailure("\(check) is not asked of what is for no app")
        }
    }
}
