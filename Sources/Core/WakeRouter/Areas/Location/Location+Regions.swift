import WakeModel

/// The regions and beacons that apps watch for.
extension Router {
    // MARK: Requests

    mutating func monitor(_ shape: LocationRecord.Region.Shape, _ asker: Asker) {
        let app = asker.app
        var region = LocationRecord.Region(shape: shape, since: now, state: .unknown)
        let replaced = areas.location.apps[app].region(named: region.identifier)
        if let fault = refusal(of: shape, replaced: replaced != nil, app) {
            fail(region.identifier, fault.code, fault.message, asker)
            if let deed = fault.deed { act(.did(app, deed, subject: region.identifier)) }
            return
        }
        if let replaced, areas.location.apps[app].regions[replaced]!.shape.isSamePlace(as: shape) {
            // Asked for again, as after a launch: where the phone is to it stays known.
            areas.location.apps[app].regions[replaced]!.shape = shape
            raise(.monitoringStarted, for: asker, region: region.identifier)
            return
        }
        if let replaced { removeRegion(asker.app, replaced) }
        let free = replaced ?? areas.location.apps[app].regions.firstIndex { $0 == nil }
        let slot = free ?? areas.location.apps[app].regions.count
        region.state = watch(shape, AppSlot(app: asker.app, slot: UInt16(slot)))
        areas.location.apps[app].regions.put(region, at: slot)
        settleNeeds(of: asker.app)
        raise(.monitoringStarted, for: asker, region: region.identifier)
    }

    /// Why a region cannot be monitored; nil when it can.
    private func refusal(
        of shape: LocationRecord.Region.Shape,
        replaced: Bool,
        _ app: AppID
    ) -> (code: Int32, message: String, deed: Deed?)? {
        switch apps[app].snapshot.locationAuthorization {
        case .denied, .restricted:
            return (
                LocationFailureCode.regionMonitoringDenied, "The user does not allow the app to monitor regions.", nil
            )
        case .notDetermined, .whenInUse, .always, .provisionalAlways, .allowOnce: break
        }
        switch shape {
        case .circular(let region):
            guard region.radiusChord >= 0, region.radiusChord <= constants.regionRadiusLimitChord else {
                return (
                    LocationFailureCode.regionMonitoringFailure,
                    "The radius is larger than \(profile.areas.location.regionRadiusLimit) m, or no number.",
                    .refusedRadius
                )
            }
        case .beacons:
            guard profile.areas.location.beaconRegions else {
                return (LocationFailureCode.regionMonitoringFailure, "There are no beacon regions before iOS 7.", nil)
            }
        }
        let count = areas.location.apps[app].regions.count { $0 != nil }
        guard replaced || count < profile.areas.location.regionLimit else {
            return (
                LocationFailureCode.regionMonitoringFailure,
                "The app monitors \(profile.areas.location.regionLimit) regions already.",
                .refusedRegion
            )
        }
        return nil
    }

    private mutating func fail(_ identifier: NameID, _ code: Int32, _ message: String, _ asker: Asker) {
        raise(
            .monitoringFailed,
            for: asker,
            region: identifier,
            payload: .locationFailure(code: code, message: message)
        )
    }

    mutating func stopMonitoring(_ identifier: NameID, _ app: AppID) {
        guard let slot = areas.location.apps[app].region(named: identifier) else {
            act(.refused(app, .unknownRegion))
            return
        }
        removeRegion(app, slot)
        settleNeeds(of: app)
    }

    /// Answers for a monitored region, and fails for another (REG-5).
    mutating func tellState(of identifier: NameID, _ asker: Asker) {
        let app = asker.app
        guard let slot = areas.location.apps[app].region(named: identifier) else {
            fail(
                identifier,
                LocationFailureCode.regionMonitoringFailure,
                "The app does not monitor this region.",
                asker
            )
            return
        }
        raise(
            .regionStateDetermined,
            for: asker,
            region: identifier,
            payload: .regionState(
                areas.location.apps[app].isReduced ? .unknown : areas.location.apps[app].regions[slot]!.state
            )
        )
        act(.did(app, .toldRegionState, subject: identifier))
    }

    // MARK: Watching

    /// Takes a region up and says where the phone is to it, as far as that is known (REG-1).
    private mutating func watch(_ shape: LocationRecord.Region.Shape, _ key: AppSlot) -> RegionState {
        let place = areas.location.gather(shape, key)
        switch shape {
        case .circular(let region):
            return Self.firstState(of: region, place, at: areas.location.regionIndex.position)
        case .beacons(let region):
            if areas.location.watchedBeacons[region.beacons] == 1 { tellWatched() }
            return .unknown
        }
    }

    /// Where a phone is to a region when nothing is known of before: the boundary itself decides.
    private static func firstState(
        of region: CircularRegion,
        _ place: RegionPlace,
        at position: Direction?
    ) -> RegionState {
        switch place {
        case .unknown: return .unknown
        case .within: return .inside
        case .beyond: return .outside
        case .between:
            guard let position else { return .unknown }
            let isInside = position.chordSquared(to: region.center) <= region.radiusChord * region.radiusChord
            return isInside ? .inside : .outside
        }
    }

    mutating func removeRegion(_ app: AppID, _ slot: Int) {
        guard let region = areas.location.apps[app].regions[slot] else { return }
        let key = AppSlot(app: app, slot: UInt16(slot))
        areas.location.apps[app].regions[slot] = nil
        switch region.shape {
        case .circular: areas.location.regionIndex.remove(key)
        case .beacons(let beacons):
            areas.location.beaconRegions[beacons.beacons.uuid]?.removeAll { $0 == key }
            if areas.location.beaconRegions[beacons.beacons.uuid]?.isEmpty == true {
                areas.location.beaconRegions[beacons.beacons.uuid] = nil
            }
            stopWatching(for: beacons.beacons)
        }
    }

    mutating func watch(for beacons: BeaconIdentity) {
        areas.location.watchedBeacons[beacons, default: 0] += 1
        if areas.location.watchedBeacons[beacons] == 1 { tellWatched() }
    }

    mutating func stopWatching(for beacons: BeaconIdentity) {
        areas.location.watchedBeacons[beacons]! -= 1
        guard areas.location.watchedBeacons[beacons] == 0 else { return }
        areas.location.watchedBeacons[beacons] = nil
        tellWatched()
    }

    private mutating func tellWatched() {
        act(.location(.watchBeacons(areas.location.watchedBeacons.keys.sorted())))
    }

    // MARK: Crossings

    /// A region's place is another than at the fix before. Says whether a dwell began (REG-2).
    mutating func placeChanged(_ change: RegionChange, by event: WakeEvent) -> Bool {
        let app = change.key.app
        let slot = Int(change.key.slot)
        guard let region = areas.location.apps[app].regions[slot], case .circular(let circle) = region.shape else {
            return false
        }
        var crossing: LocationRecord.Crossing?
        switch (region.state, change.place) {
        case (.unknown, _):
            areas.location.apps[app].regions[slot]!.state = Self.firstState(
                of: circle,
                change.place,
                at: event.position
            )
        case (.outside, .within): crossing = self.crossing(of: circle, to: .inside, event)
        case (.inside, .beyond): crossing = self.crossing(of: circle, to: .outside, event)
        case (.outside, _), (.inside, _): break
        }
        areas.location.apps[app].regions[slot]!.pending = crossing
        if let crossing { expect(crossing.due, of: change.key.app) }
        return crossing != nil
    }

    private func crossing(
        of circle: CircularRegion,
        to state: RegionState,
        _ event: WakeEvent
    ) -> LocationRecord.Crossing {
        .init(
            to: state,
            due: now.advanced(by: profile.areas.location.regionDwell),
            event: event.id,
            origin: event.origin,
            isUnsure: event.fix?.isUnsure(of: circle) ?? false
        )
    }

    /// Something of an app's regions is due at an instant.
    mutating func expect(_ due: Instant, of app: AppID) {
        guard due < areas.location.apps[app].due else { return }
        areas.location.apps[app].due = due
        reschedule(app)
    }

    /// Dwells end, and beacons are gone (REG-2, BCN-2).
    mutating func regionsDue(of app: AppID) {
        for slot in areas.location.apps[app].regions.indices {
            guard let region = areas.location.apps[app].regions[slot] else { continue }
            if let crossing = region.pending, crossing.due <= now {
                areas.location.apps[app].regions[slot]!.pending = nil
                if crossing.isUnsure {
                    act(.did(app, .crossedByPoorFix, subject: region.identifier, crossing.event))
                }
                cross(app, slot, to: crossing.to, parent: crossing.event, origin: crossing.origin)
            }
            if let gone = region.gone(after: profile.areas.location.beaconExitDelay), gone <= now {
                areas.location.apps[app].regions[slot]!.lastSeen = nil
                act(.did(app, .missedBeacons, subject: region.identifier))
                cross(app, slot, to: .outside)
            }
        }
        areas.location.apps[app].due = areas.location.apps[app].earliestDue(profile.areas.location.beaconExitDelay)
    }

    /// The crossing counts: it becomes an event.
    mutating func cross(
        _ app: AppID,
        _ slot: Int,
        to state: RegionState,
        parent: EventID = .none,
        origin: NameID = .none
    ) {
        guard let region = areas.location.apps[app].regions[slot], region.state != state else { return }
        areas.location.apps[app].regions[slot]!.state = state
        raise(
            WakeEvent(
                kind: state == .inside ? .regionEntered : .regionExited,
                subject: region.identifier,
                region: region.identifier,
                app: app,
                origin: origin,
                parent: parent
            )
        )
    }

    /// The display was turned on: who wants to know is told of the beacons around (BCN-3).
    mutating func displayOn(by id: EventID) {
        for app in everyApp where apps[app].installed {
            for case let region? in areas.location.apps[app].regions {
                guard case .beacons(let beacons) = region.shape, beacons.notifyEntryStateOnDisplay,
                    region.state == .inside
                else { continue }
                act(.did(app, .toldOnDisplay, subject: region.identifier, id))
                raise(
                    WakeEvent(
                        kind: .regionStateDetermined,
                        subject: region.identifier,
                        region: region.identifier,
                        app: app,
                        parent: id
                    ),
                    .regionState(.inside)
                )
            }
        }
    }
}

extension WakeEvent {
    var position: Direction? { fix?.direction }
}

extension Fix {
    /// Whether it is less sure than it is far from the boundary of a circle (REG-2).
    fileprivate func isUnsure(of circle: CircularRegion) -> Bool {
        let distance = Sphere.metres(chord: direction.chordSquared(to: circle.center).squareRoot())
        return Sphere.metres(chord: accuracyChord) > abs(distance - Sphere.metres(chord: circle.radiusChord))
    }

    /// Whether it is less sure than it is far from a place (LOC-1).
    func isUnsure(ofMovingFrom place: Direction) -> Bool {
        accuracyChord > direction.chordSquared(to: place).squareRoot()
    }
}
