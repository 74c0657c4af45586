import WakeModel

/// The regions and beacons that apps watch for.
extension Router {
    // MARK: Requests

    mutating func monitor(
        _ shape: LocationRecord.Region.Shape,
        _ asker: Asker,
        into output: inout RouterOutput
    ) {
        let index = Int(asker.app.number)
        var region = LocationRecord.Region(shape: shape, since: now, state: .unknown)
        let replaced = areas.location.apps[index].region(named: region.identifier)
        if let fault = refusal(of: shape, replaced: replaced != nil, index) {
            fail(region.identifier, fault.code, fault.message, asker, into: &output)
            return
        }
        if let replaced, areas.location.apps[index].regions[replaced]!.shape.isSamePlace(as: shape) {
            // Asked for again, as after a launch: where the phone is to it stays known.
            areas.location.apps[index].regions[replaced]!.shape = shape
            raise(.monitoringStarted, for: asker, region: region.identifier, into: &output)
            return
        }
        if let replaced { removeRegion(asker.app, replaced, into: &output) }
        let free = replaced ?? areas.location.apps[index].regions.firstIndex { $0 == nil }
        let slot = free ?? areas.location.apps[index].regions.count
        if free == nil { areas.location.apps[index].regions.append(nil) }
        region.state = watch(shape, RegionKey(app: asker.app, slot: UInt16(slot)), into: &output)
        areas.location.apps[index].regions[slot] = region
        settleNeeds(of: asker.app, into: &output)
        raise(.monitoringStarted, for: asker, region: region.identifier, into: &output)
    }

    /// Why a region cannot be monitored; nil when it can.
    private func refusal(
        of shape: LocationRecord.Region.Shape,
        replaced: Bool,
        _ index: Int
    ) -> (code: Int32, message: String)? {
        switch apps[index].face.locationAuthorization {
        case .denied, .restricted:
            return (
                LocationFailureCode.regionMonitoringDenied, "The user does not allow the app to monitor regions."
            )
        case .notDetermined, .whenInUse, .always, .provisionalAlways: break
        }
        switch shape {
        case .circular(let region):
            guard region.radiusChord >= 0, region.radiusChord <= constants.regionRadiusLimitChord else {
                return (
                    LocationFailureCode.regionMonitoringFailure,
                    "The radius is larger than \(profile.areas.location.regionRadiusLimit) m, or no number."
                )
            }
        case .beacons:
            guard profile.areas.location.beaconRegions else {
                return (LocationFailureCode.regionMonitoringFailure, "There are no beacon regions before iOS 7.")
            }
        }
        let count = areas.location.apps[index].regions.count { $0 != nil }
        guard replaced || count < profile.areas.location.regionLimit else {
            return (
                LocationFailureCode.regionMonitoringFailure,
                "The app monitors \(profile.areas.location.regionLimit) regions already."
            )
        }
        return nil
    }

    private mutating func fail(
        _ identifier: NameID,
        _ code: Int32,
        _ message: String,
        _ asker: Asker,
        into output: inout RouterOutput
    ) {
        raise(
            .monitoringFailed,
            for: asker,
            region: identifier,
            payload: .locationFailure(code: code, message: message),
            into: &output
        )
    }

    mutating func stopMonitoring(_ identifier: NameID, _ app: AppID, into output: inout RouterOutput) {
        guard let slot = areas.location.apps[Int(app.number)].region(named: identifier) else {
            output.actions.append(.refused(app, .unknownRegion))
            return
        }
        removeRegion(app, slot, into: &output)
        settleNeeds(of: app, into: &output)
    }

    /// Answers for a monitored region, and fails for another (REG-5).
    mutating func tellState(of identifier: NameID, _ asker: Asker, into output: inout RouterOutput) {
        let index = Int(asker.app.number)
        guard let slot = areas.location.apps[index].region(named: identifier) else {
            fail(
                identifier,
                LocationFailureCode.regionMonitoringFailure,
                "The app does not monitor this region.",
                asker,
                into: &output
            )
            return
        }
        raise(
            .regionStateDetermined,
            for: asker,
            region: identifier,
            payload: .regionState(areas.location.apps[index].regions[slot]!.state),
            into: &output
        )
    }

    // MARK: Watching

    /// Takes a region up and says where the phone is to it, as far as that is known (REG-1).
    private mutating func watch(
        _ shape: LocationRecord.Region.Shape,
        _ key: RegionKey,
        into output: inout RouterOutput
    ) -> RegionState {
        switch shape {
        case .circular(let region):
            let place = areas.location.regionIndex.insert(
                key,
                center: region.center,
                innerChord: region.inwardChord,
                outerChord: region.outwardChord
            )
            return Self.firstState(of: region, place, at: areas.location.regionIndex.position)
        case .beacons(let region):
            watch(for: region.beacons, into: &output)
            areas.location.beaconRegions[region.beacons.uuid, default: []].append(key)
            areas.location.beaconRegions[region.beacons.uuid]!.sort()
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

    mutating func removeRegion(_ app: AppID, _ slot: Int, into output: inout RouterOutput) {
        guard let region = areas.location.apps[Int(app.number)].regions[slot] else { return }
        let key = RegionKey(app: app, slot: UInt16(slot))
        areas.location.apps[Int(app.number)].regions[slot] = nil
        switch region.shape {
        case .circular: areas.location.regionIndex.remove(key)
        case .beacons(let beacons):
            areas.location.beaconRegions[beacons.beacons.uuid]?.removeAll { $0 == key }
            if areas.location.beaconRegions[beacons.beacons.uuid]?.isEmpty == true {
                areas.location.beaconRegions[beacons.beacons.uuid] = nil
            }
            stopWatching(for: beacons.beacons, into: &output)
        }
    }

    mutating func watch(for beacons: BeaconIdentity, into output: inout RouterOutput) {
        areas.location.watchedBeacons[beacons, default: 0] += 1
        if areas.location.watchedBeacons[beacons] == 1 { tellWatched(into: &output) }
    }

    mutating func stopWatching(for beacons: BeaconIdentity, into output: inout RouterOutput) {
        areas.location.watchedBeacons[beacons]! -= 1
        guard areas.location.watchedBeacons[beacons] == 0 else { return }
        areas.location.watchedBeacons[beacons] = nil
        tellWatched(into: &output)
    }

    private func tellWatched(into output: inout RouterOutput) {
        output.actions.append(.location(.watchBeacons(areas.location.watchedBeacons.keys.sorted())))
    }

    // MARK: Crossings

    /// A region's place is another than at the fix before. Says whether a dwell began (REG-2).
    mutating func placeChanged(_ change: RegionChange, by event: WakeEvent) -> Bool {
        let index = Int(change.key.app.number)
        let slot = Int(change.key.slot)
        guard let region = areas.location.apps[index].regions[slot], case .circular(let circle) = region.shape else {
            return false
        }
        var crossing: LocationRecord.Crossing?
        switch (region.state, change.place) {
        case (.unknown, _):
            areas.location.apps[index].regions[slot]!.state = Self.firstState(
                of: circle,
                change.place,
                at: event.position
            )
        case (.outside, .within): crossing = self.crossing(to: .inside, event)
        case (.inside, .beyond): crossing = self.crossing(to: .outside, event)
        case (.outside, _), (.inside, _): break
        }
        areas.location.apps[index].regions[slot]!.pending = crossing
        if let crossing { expect(crossing.due, of: change.key.app) }
        return crossing != nil
    }

    private func crossing(to state: RegionState, _ event: WakeEvent) -> LocationRecord.Crossing {
        .init(
            to: state,
            due: now.advanced(by: profile.areas.location.regionDwell),
            event: event.id,
            origin: event.origin
        )
    }

    /// Something of an app's regions is due at an instant.
    mutating func expect(_ due: Instant, of app: AppID) {
        guard due < areas.location.apps[Int(app.number)].due else { return }
        areas.location.apps[Int(app.number)].due = due
        reschedule(app)
    }

    /// Dwells end, and beacons are gone (REG-2, BCN-2).
    mutating func regionsDue(of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        for slot in areas.location.apps[index].regions.indices {
            guard let region = areas.location.apps[index].regions[slot] else { continue }
            if let crossing = region.pending, crossing.due <= now {
                areas.location.apps[index].regions[slot]!.pending = nil
                cross(app, slot, to: crossing.to, parent: crossing.event, origin: crossing.origin, into: &output)
            }
            if let seen = region.lastSeen, now.since(seen) >= profile.areas.location.beaconExitDelay {
                areas.location.apps[index].regions[slot]!.lastSeen = nil
                cross(app, slot, to: .outside, into: &output)
            }
        }
        areas.location.apps[index].due = areas.location.apps[index].earliestDue(profile.areas.location.beaconExitDelay)
    }

    /// The crossing counts: it becomes an event.
    mutating func cross(
        _ app: AppID,
        _ slot: Int,
        to state: RegionState,
        parent: EventID = .none,
        origin: NameID = .none,
        into output: inout RouterOutput
    ) {
        let index = Int(app.number)
        guard let region = areas.location.apps[index].regions[slot], region.state != state else { return }
        areas.location.apps[index].regions[slot]!.state = state
        output.actions.append(
            .raise(
                WakeEvent(
                    kind: state == .inside ? .regionEntered : .regionExited,
                    subject: region.identifier,
                    region: region.identifier,
                    app: app,
                    origin: origin,
                    parent: parent
                ),
                .none
            )
        )
    }

    /// The display was turned on: who wants to know is told of the beacons around (BCN-3).
    mutating func displayOn(by id: EventID, into output: inout RouterOutput) {
        for index in apps.indices where apps[index].installed {
            for case let region? in areas.location.apps[index].regions {
                guard case .beacons(let beacons) = region.shape, beacons.notifyEntryStateOnDisplay,
                    region.state == .inside
                else { continue }
                output.actions.append(
                    .raise(
                        WakeEvent(
                            kind: .regionStateDetermined,
                            subject: region.identifier,
                            region: region.identifier,
                            app: AppID(UInt32(index)),
                            parent: id
                        ),
                        .regionState(.inside)
                    )
                )
            }
        }
    }
}

extension WakeEvent {
    var position: Direction? { fix?.direction }
}
