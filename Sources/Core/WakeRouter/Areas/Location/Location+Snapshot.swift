import WakeModel

/// What a snapshot leaves out: the lists and the index.
extension LocationArea {
    var isConsistent: Bool {
        apps.allSatisfy { app in
            app.managers.count <= Router.locationManagersLimit && app.regions.count <= Int(UInt16.max)
                && app.sessions.count <= Router.activitySessionsLimit
        }
    }

    mutating func restore() {
        if let lastFix { regionIndex.move(to: lastFix.direction) }
        for (index, record) in apps.enumerated() {
            let app = AppID(UInt32(index))
            for (place, manager) in record.managers.enumerated()
            where manager.updates != nil || manager.wantsFix != nil {
                updaters.append(AppSlot(app: app, slot: UInt16(place + 1)))
            }
            if record.significant != nil { significantApps.append(app) }
            if !record.ranged.isEmpty { rangingApps.append(app) }
            if record.needsFixes { appsNeedingFixes += 1 }
            if record.visits != nil { appsWatchingVisits += 1 }
            for ranged in record.ranged { watchedBeacons[ranged.region.beacons, default: 0] += 1 }
            for case (let slot, let region?) in record.regions.enumerated() {
                gather(region.shape, AppSlot(app: app, slot: UInt16(slot)))
            }
        }
    }

    /// Takes a region into the index, or its beacons into the lists; says where the last fix is to a circle.
    @discardableResult
    mutating func gather(_ shape: LocationRecord.Region.Shape, _ key: AppSlot) -> RegionPlace {
        switch shape {
        case .circular(let circle):
            return regionIndex.insert(
                key,
                center: circle.center,
                innerChord: circle.inwardChord,
                outerChord: circle.outwardChord
            )
        case .beacons(let beacons):
            watchedBeacons[beacons.beacons, default: 0] += 1
            beaconRegions[beacons.beacons.uuid, default: []].insertInOrder(key)
            return .unknown
        }
    }
}
