import WakeModel

/// From an event of location to the apps that registered for it.
extension Router {
    mutating func routeLocation(_ event: WakeEvent, into output: inout RouterOutput) {
        switch event.kind {
        case .positionFixed: position(event, into: &output)
        case .beaconSighted: sighted(event, into: &output)
        case .authorizationChanged: authorizationChanged(event, into: &output)
        default:
            guard let app = event.app else {
                for index in apps.indices { tell(AppID(UInt32(index)), event, into: &output) }
                return
            }
            tell(app, event, into: &output)
            // Paused updates hold the app no more, once it was told.
            if event.kind == .locationUpdatesPaused, isInstalled(app) {
                settle(app, into: &output)
                reschedule(app)
            }
        }
    }

    /// Decides for one app, when it is interested. What a source says of a crossing is so at once.
    private mutating func tell(_ app: AppID, _ event: WakeEvent, into output: inout RouterOutput) {
        if event.app == nil, !isOverflowing { noteDirect(event, app) }
        guard let interest = locationInterest(of: app, in: event) else { return }
        decide(event, for: interest, into: &output)
        reschedule(app)
    }

    private mutating func noteDirect(_ event: WakeEvent, _ app: AppID) {
        let index = Int(app.number)
        switch event.kind {
        case .regionEntered, .regionExited:
            guard let slot = apps[index].location.region(named: event.region) else { return }
            apps[index].location.regions[slot]!.state = event.kind == .regionEntered ? .inside : .outside
            apps[index].location.regions[slot]!.pending = nil
            apps[index].location.regions[slot]!.lastSeen = nil
        case .significantChange:
            if apps[index].location.significant != nil { apps[index].location.significant!.last = now }
        default: break
        }
    }

    /// The user changed what an app may know, or the app asked.
    private mutating func authorizationChanged(_ event: WakeEvent, into output: inout RouterOutput) {
        guard let app = event.app, let authorization = event.authorization, isInstalled(app) else { return }
        let held = updatesHold(Int(app.number))
        if !isOverflowing {
            apps[Int(app.number)].face.locationAuthorization = authorization
            // Who was given no change yet has not to wait for the interval.
            if apps[Int(app.number)].location.significant?.reference == nil {
                apps[Int(app.number)].location.significant?.last = nil
            }
            if authorization == .denied || authorization == .restricted || authorization == .notDetermined {
                denyKept(of: app, into: &output)
            }
        }
        tell(app, event, into: &output)
        followUpdates(of: app, held: held, into: &output)
        settle(app, into: &output)
        reschedule(app)
    }

    // MARK: Fixes

    private mutating func position(_ event: WakeEvent, into output: inout RouterOutput) {
        guard let position = event.position else { return }
        if isOverflowing {
            update(event, into: &output)
            return
        }
        lastFix = LastFix(direction: position, event: event.id, subject: event.subject)
        regionIndex.move(to: position)
        let changes = regionIndex.changes
        var began = false
        for change in changes where placeChanged(change, by: event) { began = true }
        let moved = significantlyMoved(to: position, event, into: &output)
        update(event, into: &output)
        guard !reached, appsNeedingFixes > 0 else { return }
        var checks = CheckResults()
        checks[.crossesBoundary] = moved || began ? .pass : .fail
        // A dwell begins with the fix that crosses, and only of a region.
        checks[.dwellOver] = moved || regionIndex.count == 0 ? .notApplicable : .fail
        unaddressed(event, checks, into: &output)
    }

    /// Gives apps their significant changes (LOC-1). Says whether there was one.
    private mutating func significantlyMoved(
        to position: Direction,
        _ event: WakeEvent,
        into output: inout RouterOutput
    ) -> Bool {
        var moved = false
        for app in significantApps {
            let index = Int(app.number)
            guard let service = apps[index].location.significant else { continue }
            if let last = service.last, now.since(last) < profile.significantInterval { continue }
            if let reference = service.reference, position.chordSquared(to: reference) < constants.significantSquare {
                continue
            }
            moved = true
            raiseSignificant(app, origin: event.origin, into: &output)
        }
        return moved
    }

    /// A change to where the phone was last seen; the first of a service may be from before it began (LOC-1).
    mutating func raiseSignificant(_ app: AppID, origin: NameID = .none, into output: inout RouterOutput) {
        guard let lastFix else { return }
        apps[Int(app.number)].location.significant!.last = now
        output.actions.append(
            .raise(
                WakeEvent(
                    kind: .significantChange,
                    subject: lastFix.subject,
                    fix: Fix(direction: lastFix.direction),
                    app: app,
                    origin: origin,
                    parent: lastFix.event
                ),
                .none
            )
        )
    }

    /// The next change is measured from the one that the app was given (LOC-1), which may be of a while ago. What a source
    /// says of a change has no position: it is so where the phone was last seen.
    mutating func noteChange(_ event: WakeEvent, of app: AppID) {
        apps[Int(app.number)].location.significant?.reference = event.position ?? lastFix?.direction
    }

    /// Gives standard updates to the apps that started them.
    private mutating func update(_ event: WakeEvent, into output: inout RouterOutput) {
        var place = 0
        while place < updaters.count {
            let app = updaters[place].app
            if let interest = locationInterest(of: app, in: event) {
                decide(event, for: interest, into: &output)
                if !isOverflowing { rest(app, event, into: &output) }
                reschedule(app)
            }
            place = updaters.firstIndex { $0.app > app } ?? updaters.count
        }
    }

    /// Pauses the updates of a phone that stands still (LOC-7).
    private mutating func rest(_ app: AppID, _ event: WakeEvent, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard let position = event.position else { return }
        let held = updatesHold(index)
        for place in apps[index].location.managers.indices {
            let manager = apps[index].location.managers[place]
            guard manager.attached, let updates = manager.updates, updates.pausesAutomatically, !updates.paused else {
                continue
            }
            if let anchor = updates.anchor, position.chordSquared(to: anchor) <= constants.pauseSquare {
                guard now.since(updates.stillSince) >= profile.pauseDelay else { continue }
                apps[index].location.managers[place].updates!.paused = true
                raise(
                    .locationUpdatesPaused,
                    for: Asker(app: app, slot: place + 1, number: manager.number),
                    into: &output
                )
                settleNeeds(of: app, into: &output)
            } else {
                apps[index].location.managers[place].updates!.anchor = position
                apps[index].location.managers[place].updates!.stillSince = now
            }
        }
        if held, !updatesHold(index) { beginTaskBudget(of: app) }
    }

    /// Which managers a fix counts for: those stay in the interest; when there is none, one of them stands for all.
    func question(of interest: inout Interest, _ event: WakeEvent) -> LocationQuestion {
        let index = Int(interest.client.app.number)
        var question = LocationQuestion(via: interest.via, state: apps[index].state)
        switch interest.via {
        case .standardUpdates: answerUpdates(&question, &interest, event)
        case .region, .beaconRegion:
            if let slot = apps[index].location.region(named: event.region) {
                question.hasDwelt = interest.via == .region && event.app != nil && event.kind != .regionStateDetermined
                question.sideWanted = apps[index].location.regions[slot]!.notifies(of: event.kind)
            }
        case .answer:
            question.endsUpdates =
                profile.locationBackgroundFlag
                && (event.kind == .locationUpdatesPaused || event.kind == .authorizationChanged)
        default: break
        }
        return question
    }

    private func answerUpdates(_ question: inout LocationQuestion, _ interest: inout Interest, _ event: WakeEvent) {
        let index = Int(interest.client.app.number)
        var counting = SlotSet()
        var best = -1
        for slot in interest.slots {
            let manager = apps[index].location.managers[slot - 1]
            var next = LocationQuestion(via: .standardUpdates, state: question.state)
            if let updates = manager.updates {
                next.goesOnInBackground = goesOnInBackground(updates)
                next.updatesWake = !profile.locationBackgroundFlag
                next.beganInForeground = updates.beganInForeground
                next.paused = updates.paused && manager.wantsFix == nil
                next.filterChord = max(0, updates.filterChord)
                if manager.wantsFix == nil, let last = updates.last, let position = event.position {
                    next.movedSquare = position.chordSquared(to: last)
                }
                next.beyondFilter = next.movedSquare >= next.filterChord * next.filterChord
            }
            let isAuthorized = LocationRules.isAuthorized(next, apps[index].face, profile)
            let runs = next.state != .suspended && next.state != .notRunning || next.goesOnInBackground
            if isAuthorized, !next.paused, next.beyondFilter, runs { counting.insert(UInt16(slot)) }
            // The one with the fewest obstacles speaks for the app.
            let rank =
                (isAuthorized ? 8 : 0) + (next.paused ? 0 : 4) + (next.beyondFilter ? 2 : 0) + (runs ? 1 : 0)
            guard rank > best else { continue }
            best = rank
            question = next
            interest.client.slot = UInt16(slot)
            interest.since = manager.updates?.since ?? manager.wantsFix ?? manager.createdAt
        }
        if !counting.isEmpty { interest.slots = counting }
    }

    /// An update that the app hears of counts for the managers that it went to.
    mutating func noteUpdate(_ event: WakeEvent, for interest: Interest, into output: inout RouterOutput) {
        let index = Int(interest.client.app.number)
        for slot in interest.slots where slot > 0 {
            apps[index].location.managers[slot - 1].updates?.last = event.position
            guard apps[index].location.managers[slot - 1].wantsFix != nil else { continue }
            apps[index].location.managers[slot - 1].wantsFix = nil
            if apps[index].location.managers[slot - 1].updates == nil { removeUpdater(interest.client.app, slot) }
        }
        settleNeeds(of: interest.client.app, into: &output)
    }

    // MARK: Beacons

    /// A beacon was heard: the first time it is an entry (BCN-1); apps that range it are told with their next report (BCN-4).
    private mutating func sighted(_ event: WakeEvent, into output: inout RouterOutput) {
        guard let beacon = event.beacon, !isOverflowing else { return }
        var known = false
        var led = false
        for key in beaconRegions[beacon.uuid] ?? [] {
            let index = Int(key.app.number)
            let slot = Int(key.slot)
            guard let region = apps[index].location.regions[slot], case .beacons(let beacons) = region.shape,
                beacons.beacons.matches(beacon)
            else { continue }
            known = true
            apps[index].location.regions[slot]!.lastSeen = now
            expect(now.advanced(by: profile.beaconExitDelay), of: key.app)
            if region.state == .inside { continue }
            led = true
            cross(key.app, slot, to: .inside, parent: event.id, origin: event.origin, into: &output)
        }
        for app in rangingApps where hearsRanged(app, beacon, &known) { led = true }
        guard known else { return }
        var checks = CheckResults()
        checks[.beaconIsNew] = led ? .pass : .fail
        unaddressed(event, checks, into: &output)
    }

    // MARK: Interest

    /// How an app is interested in an event of location; nil when it is not.
    func locationInterest(of app: AppID, in event: WakeEvent) -> Interest? {
        guard isInstalled(app) else { return nil }
        let index = Int(app.number)
        let everyone = BluetoothClient(app: app, slot: 0)
        switch event.kind {
        case .positionFixed: return updatesInterest(of: app)
        case .significantChange:
            return apps[index].location.significant.map { Interest(everyone, via: .significantChange, since: $0.since) }
        case .visitBegan, .visitEnded:
            return apps[index].location.visits.map { Interest(everyone, via: .visits, since: $0) }
        case .regionStateDetermined where event.manager != 0: return answerInterest(of: app, in: event)
        case .regionEntered, .regionExited, .regionStateDetermined:
            guard let slot = apps[index].location.region(named: event.region),
                let region = apps[index].location.regions[slot]
            else { return nil }
            return Interest(everyone, via: region.via, since: region.since)
        case .beaconsRanged:
            let ranged = apps[index].location.ranged.first { $0.region.identifier == event.region }
            return ranged.map { Interest(everyone, via: .ranging, since: $0.since) }
        default: return event.kind.source == .location ? answerInterest(of: app, in: event) : nil
        }
    }

    private func updatesInterest(of app: AppID) -> Interest? {
        var found: Interest?
        for (place, manager) in apps[Int(app.number)].location.managers.enumerated() {
            guard let since = manager.updates?.since ?? manager.wantsFix else { continue }
            let client = BluetoothClient(app: app, slot: UInt16(place + 1))
            if found == nil { found = Interest(client, via: .standardUpdates, since: since) }
            found!.slots.insert(client.slot)
        }
        return found
    }

    /// An answer is for the manager that asked, or for all; a process that is gone is told nothing, and a record says so.
    private func answerInterest(of app: AppID, in event: WakeEvent) -> Interest? {
        let index = Int(app.number)
        // Without an app it is no answer, but for all that have updates running.
        if event.app == nil, updatesInterest(of: app) == nil { return nil }
        var slot = 0
        if apps[index].hasProcess {
            guard apps[index].location.hasManager else { return nil }
            if event.manager != 0 {
                guard let known = apps[index].location.slot(of: event.manager) else { return nil }
                slot = known
            }
        }
        return Interest(
            BluetoothClient(app: app, slot: UInt16(slot)),
            via: .answer,
            since: asked(from: slot, of: index)
        )
    }

    /// Since when an app may be answered: since there is the manager, for all the first; without one since it was installed.
    private func asked(from slot: Int, of index: Int) -> Instant {
        let managers = apps[index].location.managers
        if slot > 0 { return managers[slot - 1].createdAt }
        return managers.lazy.filter(\.attached).map(\.createdAt).min() ?? apps[index].installedAt
    }

    /// An event that concerns apps, and is for none of them by itself: when nothing fails, events of their own follow.
    private mutating func unaddressed(_ event: WakeEvent, _ checks: CheckResults, into output: inout RouterOutput) {
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
        recordUnaddressed(event, ruling, checks: checks, into: &output)
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
