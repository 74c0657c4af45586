import Foundation
import WakeModel

/// Where the random world's phone is, what beacons it hears, and what apps ask of that.
extension RandomWorld {
    /// The location managers of an app; Bluetooth's have lower numbers.
    static let locationManagers: [ManagerNumber] = [21, 22]
    /// The names of circles, and of beacon regions.
    private static let circles: [NameID] = (600..<604).map { NameID($0) }
    private static let beaconRegions: [NameID] = (610..<613).map { NameID($0) }
    private static let beacons: [NameID] = [NameID(620), NameID(621)]

    /// A place on the equator, in metres east of the first.
    private static func east(_ metres: Double) -> Direction {
        let angle = metres / Sphere.radius
        return Direction(x: cos(angle), y: sin(angle), z: 0)
    }

    /// An app does what most do: it asks the user, and watches something.
    mutating func locate(_ index: Int) {
        let app = AppID(UInt32(index))
        for number in Self.locationManagers where !chance.once(in: 3) {
            hear(.request(app, .location(number, .create)))
        }
        let number = chance.pick(Self.locationManagers)
        hear(.request(app, .location(number, .requestAuthorization(always: !chance.once(in: 4)))))
        for _ in 0..<3 { hear(.request(app, .location(number, anyWish(index)))) }
    }

    mutating func anyLocationRequest(_ index: Int) -> AppRequest {
        let number = chance.once(in: 30) ? 23 : chance.pick(Self.locationManagers)
        switch chance.below(12) {
        case 0..<2: return .location(number, .create)
        case 2: return .location(number, chance.once(in: 3) ? .release : .create)
        case 3: return .location(number, .requestAuthorization(always: !chance.once(in: 3)))
        case 4: return .location(number, anyEnd())
        case 5 where index % 2 == 0: return .location(number, .allowBackground)
        case 5: return .location(number, .requestState(identifier: anyRegionName()))
        default: return .location(number, anyWish(index))
        }
    }

    private mutating func anyRegionName() -> NameID { chance.pick(Self.circles + Self.beaconRegions) }

    private mutating func anyWish(_ index: Int) -> LocationRequest {
        switch chance.below(10) {
        case 0..<3:
            // Without the mode it is a mistake that ends the app (LOC-6).
            let hasMode = index % 2 == 0
            return .startUpdating(
                distanceFilterChord: chance.once(in: 2) ? 0 : Sphere.chord(metres: 500),
                allowsBackground: chance.once(in: hasMode ? 2 : 40),
                pausesAutomatically: chance.once(in: 2)
            )
        case 3: return .startSignificant
        case 4: return .startVisits
        case 5, 6: return .monitor(circle(chance.pick(Self.circles)))
        case 7: return .monitorBeacons(beaconRegion())
        case 8: return .requestLocation
        default: return .range(beaconRegion())
        }
    }

    private mutating func anyEnd() -> LocationRequest {
        switch chance.below(5) {
        case 0: .stopUpdating
        case 1: .stopSignificant
        case 2: .stopVisits
        case 3: .stopMonitoring(identifier: anyRegionName())
        default: .stopRanging(identifier: chance.pick(Self.beaconRegions))
        }
    }

    /// No app ranges for hours: a report a second would be most of what happens.
    mutating func stopRanging() {
        for index in 0..<Self.appCount {
            for region in Self.beaconRegions {
                let stop = LocationRequest.stopRanging(identifier: region)
                hear(.request(AppID(UInt32(index)), .location(Self.locationManagers[0], stop)))
            }
        }
    }

    private mutating func circle(_ name: NameID) -> CircularRegion {
        CircularRegion(
            identifier: name,
            center: Self.east(Double(name.number - 600) * 1_500),
            metres: chance.once(in: 20) ? 2_000_000 : 600,
            profile: observer.profile,
            notifyOnEntry: !chance.once(in: 4),
            notifyOnExit: !chance.once(in: 4)
        )
    }

    private mutating func beaconRegion() -> BeaconRegion {
        let name = chance.pick(Self.beaconRegions)
        return BeaconRegion(
            identifier: name,
            beacons: BeaconIdentity(
                uuid: Self.beacons[Int(name.number) % 2],
                major: name.number == 612 ? 1 : nil
            ),
            notifyOnEntry: !chance.once(in: 4),
            notifyEntryStateOnDisplay: chance.once(in: 2)
        )
    }

    /// The phone moves, hears a beacon, or somebody says something of it.
    mutating func whereabouts() {
        switch chance.below(18) {
        case 0..<6: fix(at: Double(chance.below(12)) * 500)
        case 6..<11:
            tell(
                WakeEvent(
                    kind: .beaconSighted,
                    beacon: BeaconSighting(
                        uuid: chance.pick(Self.beacons),
                        major: UInt16(chance.below(2)),
                        minor: 1
                    )
                )
            )
        case 11:
            tell(
                WakeEvent(
                    kind: .authorizationChanged,
                    app: AppID(UInt32(chance.below(Self.appCount))),
                    authorization: chance.once(in: 3) ? chance.pick(LocationAuthorization.allCases) : .always
                )
            )
        case 12: startInBackground(AppID(UInt32(chance.below(Self.appCount / 2) * 2)))
        case 13, 14:
            let away = chance.once(in: 2) ? app(in: .suspended) : nil
            allowWhileAway(away ?? AppID(UInt32(chance.below(Self.appCount / 2) * 2)))
        default: anyLocationEvent()
        }
    }

    /// Reports of beacons come in only now that many of those who range are suspended.
    mutating func reportLate() {
        for app in 0..<Self.appCount where observer.violation == nil {
            for region in Self.beaconRegions {
                let app = AppID(UInt32(app))
                tell(WakeEvent(kind: .beaconsRanged, subject: region, region: region, app: app))
            }
        }
    }

    /// The user allows less, and the app begins updates that hold it only if it is in the foreground.
    private mutating func startInBackground(_ app: AppID) {
        tell(WakeEvent(kind: .authorizationChanged, app: app, authorization: .whenInUse))
        let start = LocationRequest.startUpdating(
            distanceFilterChord: 0,
            allowsBackground: true,
            pausesAutomatically: false
        )
        hear(.request(app, .location(Self.locationManagers[0], .stopUpdating)))
        hear(.request(app, .location(Self.locationManagers[0], start)))
    }

    /// The user allows all, perhaps while the app is suspended, and the phone moves.
    private mutating func allowWhileAway(_ app: AppID) {
        tell(WakeEvent(kind: .authorizationChanged, app: app, authorization: .always))
        for _ in 0..<4 { fix(at: Double(chance.below(12)) * 500) }
    }

    private mutating func fix(at metres: Double) {
        tell(WakeEvent(kind: .positionFixed, fix: Fix(direction: Self.east(metres))))
    }

    /// An event of any kind, to everyone or to one app.
    mutating func anyLocationEvent(for one: AppID? = nil) {
        let kinds = EventKind.allCases.filter { $0.source == .location && $0 != .positionFixed && $0 != .beaconSighted }
        tell(
            WakeEvent(
                kind: chance.pick(kinds),
                region: anyRegionName(),
                app: one ?? (chance.once(in: 3) ? nil : AppID(UInt32(chance.below(Self.appCount)))),
                manager: chance.once(in: 3) ? chance.pick(Self.locationManagers) : 0,
                authorization: .always
            )
        )
    }

    private mutating func tell(_ event: WakeEvent) { hear(.event(event), isEvent: true) }
}
