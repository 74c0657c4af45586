import Foundation
import WakeModel

@testable import WakeRouter

/// Verbs for where the phone is: along the equator, in metres east of a point.
extension Phone {
    static let home = NameID(40)
    static let shop = NameID(41)
    static let beacon = NameID(42)

    static func east(_ metres: Double) -> Direction {
        let angle = metres / Sphere.radius
        return Direction(x: cos(angle), y: sin(angle), z: 0)
    }

    /// What the router says to the source of positions.
    var locationCommands: [LocationCommand] {
        actions.compactMap { if case .command(.location(let command)) = $0 { command } else { nil } }
    }

    /// What the router found, with what apps read of it.
    var raised: [(event: WakeEvent, payload: EventPayload)] {
        actions.compactMap { if case .raise(let event, let payload) = $0 { (event, payload) } else { nil } }
    }

    var kinds: [EventKind] { decisions.map(\.kind) }

    /// The decisions about events of one kind.
    func decisions(about kind: EventKind) -> [Decision] { decisions.filter { $0.kind == kind } }

    /// - Parameter accuracy: The radius of uncertainty, in metres.
    @discardableResult
    mutating func fix(_ metres: Double, accuracy: Double = 0) -> EventID {
        let fix = Fix(direction: Phone.east(metres), accuracyChord: Sphere.chord(metres: accuracy))
        return hear(.event(WakeEvent(kind: .positionFixed, fix: fix)))
    }

    /// - Parameter age: How long ago the beacon was last heard.
    @discardableResult
    mutating func sightBeacon(
        major: UInt16 = 1,
        minor: UInt16 = 1,
        distance: Float = 1,
        age: Instant.Span = .zero
    ) -> EventID {
        hear(
            .event(
                WakeEvent(
                    kind: .beaconSighted,
                    beacon: BeaconSighting(
                        uuid: Phone.beacon,
                        major: major,
                        minor: minor,
                        distance: distance,
                        signalStrength: -60,
                        age: age
                    )
                )
            )
        )
    }

    mutating func locate(_ app: AppID, _ request: LocationRequest, manager: ManagerNumber = 1) {
        self.request(app, .location(manager, request))
    }

    mutating func startUpdating(
        _ app: AppID,
        filter: Double = 0,
        background: Bool = true,
        pauses: Bool = false
    ) {
        locate(
            app,
            .startUpdating(
                distanceFilterChord: Sphere.chord(metres: filter),
                allowsBackground: background,
                pausesAutomatically: pauses
            )
        )
    }

    func circle(
        _ identifier: NameID = Phone.home,
        at center: Double = 0,
        radius: Double = 1_000,
        notifyOnEntry: Bool = true,
        notifyOnExit: Bool = true
    ) -> CircularRegion {
        CircularRegion(
            identifier: identifier,
            center: Phone.east(center),
            metres: radius,
            profile: router.profile,
            notifyOnEntry: notifyOnEntry,
            notifyOnExit: notifyOnExit
        )
    }

    func beacons(
        _ identifier: NameID = Phone.shop,
        major: UInt16? = nil,
        minor: UInt16? = nil,
        onDisplay: Bool = false
    ) -> BeaconRegion {
        BeaconRegion(
            identifier: identifier,
            beacons: BeaconIdentity(uuid: Phone.beacon, major: major, minor: minor),
            notifyEntryStateOnDisplay: onDisplay
        )
    }

    /// An active app with location manager 1 and the user's word.
    mutating func locating(_ modes: [BackgroundMode] = [.location], always: Bool = true) -> AppID {
        let app = install(modes)
        openLocating(app)
        locate(app, .requestAuthorization(always: always))
        return app
    }

    /// The user opens the app; it makes location manager 1 and is active.
    mutating func openLocating(_ app: AppID) {
        user(.launch, app)
        locate(app, .create)
        report(app, .launched)
    }

    /// An app that watches a circle of 1000 m from 5 km away, and is suspended; nothing before counts.
    mutating func suspendedMonitor(_ modes: [BackgroundMode] = [], always: Bool = true) -> AppID {
        let app = locating(modes, always: always)
        fix(5_000)
        locate(app, .monitor(circle()))
        leave(app)
        forget()
        return app
    }

    /// The phone comes into the circle, and stays there for the dwell.
    mutating func enter() {
        fix(100)
        wait(router.profile.areas.location.regionDwell)
    }
}
