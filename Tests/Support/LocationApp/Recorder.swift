import CoreLocation

/// A delegate with the methods of today.
final class Recorder: NSObject, CLLocationManagerDelegate {
    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        say("authorization \(manager.authorizationStatus.rawValue) \(manager.accuracyAuthorization.rawValue)")
        MainActor.assumeIsolated {
            if isLate { Task { try await watch(again: true) } }
        }
    }

    func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
        let last = manager.location.map { "\($0.coordinate.latitude)" } ?? "none"
        say("updated \(locations.map { text($0) }) last=\(last)")
    }

    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
        if case CLError.denied = error { say("failed denied") } else { say("failed \(error)") }
    }

    func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager) {
        say("paused")
        // An app that changes a wish has not begun again by that.
        manager.distanceFilter = 10
    }

    func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager) { say("resumed") }

    func locationManager(_ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?) {
        say("deferred finished \((error as? CLError).map { "\($0.code)" } ?? "without error")")
    }

    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
        say("entered \(text(region))")
    }

    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
        say("exited \(text(region))")
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        say("state \(state.rawValue) \(text(region))")
    }

    func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
        say("monitoring \(text(region)) monitored=\(names(manager.monitoredRegions))")
    }

    func locationManager(
        _ manager: CLLocationManager,
        monitoringDidFailFor region: CLRegion?,
        withError error: any Error
    ) {
        let code = (error as? CLError)?.code
        say("monitoring failed \(region.map { text($0) } ?? "none") \(code.map { "\($0)" } ?? "\(error)")")
    }

    func locationManager(
        _ manager: CLLocationManager,
        didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        say("ranged \(beacons.map { text($0) }) major=\(beaconConstraint.major.map { "\($0)" } ?? "any")")
    }

    func locationManager(
        _ manager: CLLocationManager,
        didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
        error: any Error
    ) {
        say("ranging failed \((error as? CLError)?.errorCode ?? -1)")
    }

    func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {
        let began = visit.arrivalDate == .distantPast ? "unknown" : "\(visit.arrivalDate.timeIntervalSince1970)"
        let ended = visit.departureDate == .distantFuture ? "not" : "\(visit.departureDate.timeIntervalSince1970)"
        say("visit \(visit.coordinate.latitude) began=\(began) ended=\(ended)")
    }
}

/// A delegate with the methods that were there before iOS 6, 13 and 14.
final class OldRecorder: NSObject, CLLocationManagerDelegate {
    func locationManager(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus) {
        say("old authorization \(status.rawValue)")
    }

    func locationManager(
        _ manager: CLLocationManager,
        didUpdateTo newLocation: CLLocation,
        from oldLocation: CLLocation?
    ) {
        say("old updated \(text(newLocation)) from \(oldLocation.map { text($0) } ?? "none")")
    }

    func locationManager(
        _ manager: CLLocationManager,
        didRangeBeacons beacons: [CLBeacon],
        in region: CLBeaconRegion
    ) {
        say("old ranged \(beacons.map { text($0) }) in \(text(region))")
    }

    func locationManager(
        _ manager: CLLocationManager,
        rangingBeaconsDidFailFor region: CLBeaconRegion,
        withError error: any Error
    ) {
        say("old ranging failed \(text(region)) \((error as? CLError)?.errorCode ?? -1)")
    }
}

func text(_ location: CLLocation) -> String { "\(location.coordinate.latitude),\(location.coordinate.longitude)" }

func text(_ beacon: CLBeacon) -> String { "\(beacon.major).\(beacon.minor) \(beacon.proximity) \(beacon.rssi)" }

func text(_ region: CLRegion) -> String {
    switch region {
    case let circle as CLCircularRegion: "\(circle.identifier) \(circle.radius)"
    case let beacons as CLBeaconRegion: "\(beacons.identifier) \(beacons.major ?? 0).\(beacons.minor ?? 0)"
    default: region.identifier
    }
}
