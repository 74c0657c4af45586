import WakeModel

extension SeededGenerator {
    mutating func real() -> Double {
        switch below(4) {
        case 0: 0
        case 1: -1
        case 2: .greatestFiniteMagnitude
        default: Double.random(in: -1e6...1e6, using: &self)
        }
    }

    mutating func direction() -> Direction { Direction(x: real(), y: real(), z: real()) }

    mutating func fix() -> Fix { Fix(direction: direction(), accuracyChord: real(), speed: Float(below(100))) }

    mutating func beacons() -> BeaconIdentity {
        BeaconIdentity(uuid: name(), major: optional { $0.number() }, minor: optional { $0.number() })
    }

    mutating func circularRegion() -> CircularRegion {
        CircularRegion(
            identifier: name(),
            center: direction(),
            radiusChord: real(),
            outwardChord: real(),
            inwardChord: real(),
            notifyOnEntry: flag(),
            notifyOnExit: flag()
        )
    }

    mutating func beaconRegion() -> BeaconRegion {
        BeaconRegion(
            identifier: name(),
            beacons: beacons(),
            notifyOnEntry: flag(),
            notifyOnExit: flag(),
            notifyEntryStateOnDisplay: flag()
        )
    }

    mutating func locationRequest() -> LocationRequest {
        switch below(19) {
        case 0: .create
        case 1: .release
        case 2: .startUpdating(distanceFilterChord: real(), allowsBackground: flag(), pausesAutomatically: flag())
        case 3: .stopUpdating
        case 4: .startSignificant
        case 5: .stopSignificant
        case 6: .startVisits
        case 7: .stopVisits
        case 8: .monitor(circularRegion())
        case 9: .monitorBeacons(beaconRegion())
        case 10: .stopMonitoring(identifier: name())
        case 11: .requestState(identifier: name())
        case 12: .requestLocation
        case 13: .requestAuthorization(always: flag())
        case 14: .range(beaconRegion())
        case 15: .allowBackground
        case 16: .beginSession
        case 17: .endSession
        default: .stopRanging(identifier: name())
        }
    }

    mutating func position() -> Position {
        Position(
            latitude: real(),
            longitude: real(),
            altitude: real(),
            horizontalAccuracy: real(),
            verticalAccuracy: real(),
            course: real(),
            speed: real(),
            timestamp: real()
        )
    }

    mutating func visit() -> Visit {
        Visit(
            latitude: real(),
            longitude: real(),
            horizontalAccuracy: real(),
            arrival: optional { $0.real() },
            departure: optional { $0.real() }
        )
    }

    mutating func sighting() -> BeaconSighting {
        BeaconSighting(
            uuid: name(),
            major: number(),
            minor: number(),
            distance: Float(real()),
            signalStrength: signed(),
            age: Instant.Span(nanoseconds: signed())
        )
    }
}
