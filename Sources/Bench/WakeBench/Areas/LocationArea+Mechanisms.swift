import WakeModel

extension LocationArea {
    static let mechanisms = [
        moved("region (Always)", always: true) { phone in
            phone.locate(.monitor(phone.circle))
        },
        WakeMechanism(
            name: "beacon region (Always)",
            modes: [],
            prepare: { phone in
                phone.openLocation(always: true)
                phone.locate(.monitorBeacons(BeaconRegion(identifier: NameID(6), beacons: TriedPhone.desk)))
            },
            happen: { phone in
                let beacon = BeaconSighting(
                    uuid: TriedPhone.desk.uuid,
                    major: 1,
                    minor: 1,
                    distance: 1,
                    signalStrength: -60
                )
                phone.hear(.event(WakeEvent(kind: .beaconSighted, beacon: beacon)))
            }
        ),
        moved("significant change (Always)", always: true) { $0.locate(.startSignificant) },
        WakeMechanism(
            name: "visits (Always)",
            modes: [],
            prepare: { phone in
                phone.openLocation(always: true)
                phone.locate(.startVisits)
            },
            happen: { $0.hear(.event(WakeEvent(kind: .visitBegan))) }
        ),
        moved("standard location updates", always: true, modes: [.location]) { phone in
            phone.locate(
                .startUpdating(distanceFilterChord: 0, allowsBackground: true, pausesAutomatically: false)
            )
        },
        moved("region (When In Use)", always: false) { phone in
            phone.locate(.monitor(phone.circle))
        },
    ]

    /// The phone comes from 50 km away into a circle.
    private static func moved(
        _ name: String,
        always: Bool,
        modes: [BackgroundMode] = [],
        ask: @escaping @Sendable (inout TriedPhone) -> Void
    ) -> WakeMechanism {
        WakeMechanism(
            name: name,
            modes: BackgroundModes(modes),
            prepare: { phone in
                phone.openLocation(always: always)
                phone.fix(metres: 50_000)
                ask(&phone)
                phone.fix(metres: 50_000)
            },
            happen: { phone in
                phone.wait(phone.profile.areas.location.significantInterval)
                phone.fix(metres: 0)
                phone.wait(phone.profile.areas.location.regionDwell)
                phone.fix(metres: 0)
            }
        )
    }
}

extension TriedPhone {
    fileprivate static let desk = BeaconIdentity(uuid: NameID(5), major: nil, minor: nil)

    /// A kilometre around a point of the equator.
    fileprivate var circle: CircularRegion {
        CircularRegion(identifier: NameID(4), center: Direction(x: 1, y: 0, z: 0), metres: 1_000, profile: profile)
    }

    fileprivate mutating func locate(_ request: LocationRequest) { ask(.location(2, request)) }

    fileprivate mutating func openLocation(always: Bool) {
        locate(.create)
        locate(.requestAuthorization(always: always))
    }

    /// East of the point, along the equator.
    fileprivate mutating func fix(metres: Double) {
        let east = metres / Sphere.radius
        let direction = Direction(x: (1 - east * east).squareRoot(), y: east, z: 0)
        hear(.event(WakeEvent(kind: .positionFixed, fix: Fix(direction: direction))))
    }
}
