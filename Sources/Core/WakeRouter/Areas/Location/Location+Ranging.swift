import WakeModel

/// The beacons that apps range: reports a second apart, one for each constraint (BCN-4).
extension Router {
    /// From one report to the next (BCN-4).
    static let rangingInterval = Instant.Span.seconds(1)
    /// For how long after a sighting a beacon's strength is taken as what it is now; radios report about once a second.
    static let sightingLasts = Instant.Span.seconds(2)
    /// For how long a beacon that is heard no more is listed, at an unknown distance; assumed.
    static let beaconLingers = Instant.Span.seconds(10)
    /// The most beacons of one report.
    static let rangedBeaconsLimit = 256

    mutating func range(_ region: BeaconRegion, _ app: AppID) {
        guard profile.areas.location.beaconRegions else {
            act(.refused(app, .unavailable))
            return
        }
        let ranged = LocationRecord.Ranged(region: region, since: now)
        if let old = place(of: region.identifier, app) {
            stopWatching(for: areas.location.apps[app].ranged[old].region.beacons)
            areas.location.apps[app].ranged[old] = ranged
        } else {
            guard areas.location.apps[app].ranged.count < Self.rangedLimit else {
                act(.refused(app, .tooMany))
                return
            }
            areas.location.apps[app].ranged.append(ranged)
            areas.location.rangingApps.insertInOrder(app)
        }
        watch(for: region.beacons)
        followRanging(of: app)
    }

    mutating func stopRanging(_ identifier: NameID, _ app: AppID) {
        guard let place = place(of: identifier, app) else {
            act(.refused(app, .unknownRegion))
            return
        }
        let ranged = areas.location.apps[app].ranged.remove(at: place)
        if areas.location.apps[app].ranged.isEmpty { areas.location.rangingApps.removeAll { $0 == app } }
        followRanging(of: app)
        stopWatching(for: ranged.region.beacons)
    }

    mutating func stopAllRanging(of app: AppID) {
        let all = areas.location.apps[app].ranged
        guard !all.isEmpty else { return }
        areas.location.apps[app].ranged.removeAll()
        areas.location.rangingApps.removeAll { $0 == app }
        followRanging(of: app)
        for ranged in all { stopWatching(for: ranged.region.beacons) }
    }

    private func place(of identifier: NameID, _ app: AppID) -> Int? {
        areas.location.apps[app].ranged.firstIndex { $0.region.identifier == identifier }
    }

    /// Reports come while the app runs: the first an interval after it began, or runs again, and knows nothing of before.
    mutating func followRanging(of app: AppID) {
        let runs = apps[app].state != .suspended && apps[app].state != .notRunning
        if !runs || areas.location.apps[app].ranged.isEmpty {
            areas.location.apps[app].rangingDue = .distantFuture
            for place in areas.location.apps[app].ranged.indices {
                areas.location.apps[app].ranged[place].heard.removeAll()
            }
        } else if areas.location.apps[app].rangingDue == .distantFuture {
            areas.location.apps[app].rangingDue = now.advanced(by: Self.rangingInterval)
            act(.did(app, .beganRanging))
        }
    }

    /// Notes a beacon for the next reports of an app that ranges it. Says whether the app runs to get one.
    mutating func hearsRanged(_ app: AppID, _ beacon: BeaconSighting, _ known: inout Bool) -> Bool {
        var counts = false
        for place in areas.location.apps[app].ranged.indices
        where areas.location.apps[app].ranged[place].region.beacons.matches(beacon) {
            known = true
            if apps[app].state == .suspended { continue }
            counts = true
            areas.location.apps[app].ranged[place].hear(beacon, at: now)
        }
        return counts
    }

    /// Tells an app of the beacons of each of its constraints.
    mutating func reportRanged(to app: AppID) {
        let next = areas.location.apps[app].rangingDue.advanced(by: Self.rangingInterval)
        areas.location.apps[app].rangingDue = next > now ? next : now.advanced(by: Self.rangingInterval)
        switch apps[app].stage {
        case .notRunning, .suspended, .freezing, .ending: return
        case .launching, .inactive, .active, .leaving, .background: break
        }
        for place in areas.location.apps[app].ranged.indices {
            let identifier = areas.location.apps[app].ranged[place].region.identifier
            let beacons = areas.location.apps[app].ranged[place].report(at: now)
            raise(
                WakeEvent(kind: .beaconsRanged, subject: identifier, region: identifier, app: app),
                .beacons(beacons)
            )
        }
    }
}

extension LocationRecord {
    /// A constraint that a process ranges.
    struct Ranged: Equatable, Codable {
        var region: BeaconRegion
        var since: Instant
        /// The beacons of it that were heard lately, in order of the first time.
        var heard: [Heard] = []

        struct Heard: Equatable, Codable {
            var beacon: BeaconSighting
            var at: Instant
        }

        mutating func hear(_ beacon: BeaconSighting, at now: Instant) {
            var sighting = Heard(beacon: beacon, at: beacon.heard(reported: now))
            sighting.beacon.age = .zero
            if let known = heard.firstIndex(where: { $0.beacon.isSameBeacon(as: beacon) }) {
                heard[known] = sighting
            } else if heard.count < Router.rangedBeaconsLimit {
                heard.append(sighting)
            }
        }

        /// The beacons that are there, nearest first, then those at an unknown distance.
        mutating func report(at now: Instant) -> [BeaconSighting] {
            heard.removeAll { now.since($0.at) >= Router.beaconLingers }
            let beacons = heard.map { heard in
                var beacon = heard.beacon
                if now.since(heard.at) >= Router.sightingLasts { (beacon.distance, beacon.signalStrength) = (-1, 0) }
                return beacon
            }
            return beacons.sorted { $0.rank < $1.rank }
        }
    }
}

extension BeaconSighting {
    fileprivate var rank: (Float, UInt16, UInt16) { (distance < 0 ? .infinity : distance, major, minor) }
}
