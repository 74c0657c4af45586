import Foundation

/// What a location manager tells.
public protocol CLLocationManagerDelegate: NSObjectProtocol {
    /// What the app may know is told for the first time, or changed.
    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager)
    /// What the app may know is told for the first time, or changed; the form before iOS 14.
    func locationManager(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus)
    /// The phone is, or was, at these positions, oldest first.
    func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation])
    /// The phone went from one position to another; the form before iOS 6.
    func locationManager(
        _ manager: CLLocationManager,
        didUpdateTo newLocation: CLLocation,
        from oldLocation: CLLocation?
    )
    /// A position, or leave to know one, could not be had.
    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error)
    /// Standard updates paused by themselves.
    func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager)
    /// Standard updates go on.
    func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager)
    /// Updates are held back no more; no error when distance or time had come.
    func locationManager(_ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?)

    /// The phone entered a region.
    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion)
    /// The phone left a region.
    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion)
    /// Whether the phone is inside of a region was asked, or a beacon region's state told on its own.
    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion)
    /// A region is monitored now.
    func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion)
    /// A region cannot be monitored.
    func locationManager(
        _ manager: CLLocationManager,
        monitoringDidFailFor region: CLRegion?,
        withError error: any Error
    )

    /// The beacons in sight of those that are ranged, nearest first.
    func locationManager(
        _ manager: CLLocationManager,
        didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    )
    /// Beacons cannot be ranged.
    func locationManager(
        _ manager: CLLocationManager,
        didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
        error: any Error
    )
    /// The beacons in sight of a region that is ranged, nearest first; the form before iOS 13.
    func locationManager(
        _ manager: CLLocationManager,
        didRangeBeacons beacons: [CLBeacon],
        in region: CLBeaconRegion
    )
    /// The beacons of a region cannot be ranged; the form before iOS 13.
    func locationManager(
        _ manager: CLLocationManager,
        rangingBeaconsDidFailFor region: CLBeaconRegion,
        withError error: any Error
    )

    /// A visit began or ended.
    func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit)
    /// The phone turned; never told, since the emulated phone has no compass.
    func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading)
    /// Whether the phone may ask the user to calibrate the compass; never asked.
    func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool
}

/// What a delegate that does not implement a method does.
///
/// The framework calls the newer of two forms; where only the older is implemented, these pass it on.
extension CLLocationManagerDelegate {
    /// Calls the older form.
    public func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        locationManager(manager, didChangeAuthorization: manager.authorizationStatus)
    }

    /// Does nothing.
    public func locationManager(
        _ manager: CLLocationManager,
        didChangeAuthorization status: CLAuthorizationStatus
    ) {}

    /// Calls the older form for each position.
    public func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
        var old = manager.locationBeforeUpdate
        for location in locations {
            locationManager(manager, didUpdateTo: location, from: old)
            old = location
        }
    }

    /// Does nothing.
    public func locationManager(
        _ manager: CLLocationManager,
        didUpdateTo newLocation: CLLocation,
        from oldLocation: CLLocation?
    ) {}
    /// Does nothing.
    public func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {}
    /// Does nothing.
    public func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager) {}
    /// Does nothing.
    public func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager) {}
    /// Does nothing.
    public func locationManager(
        _ manager: CLLocationManager,
        didFinishDeferredUpdatesWithError error: (any Error)?
    ) {}

    /// Does nothing.
    public func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {}
    /// Does nothing.
    public func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {}
    /// Does nothing.
    public func locationManager(
        _ manager: CLLocationManager,
        didDetermineState state: CLRegionState,
        for region: CLRegion
    ) {}
    /// Does nothing.
    public func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {}
    /// Does nothing.
    public func locationManager(
        _ manager: CLLocationManager,
        monitoringDidFailFor region: CLRegion?,
        withError error: any Error
    ) {}

    /// Does nothing.
    public func locationManager(
        _ manager: CLLocationManager,
        didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {}
    /// Does nothing.
    public func locationManager(
        _ manager: CLLocationManager,
        didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
        error: any Error
    ) {}
    /// Does nothing.
    public func locationManager(
        _ manager: CLLocationManager,
        didRangeBeacons beacons: [CLBeacon],
        in region: CLBeaconRegion
    ) {}
    /// Does nothing.
    public func locationManager(
        _ manager: CLLocationManager,
        rangingBeaconsDidFailFor region: CLBeaconRegion,
        withError error: any Error
    ) {}

    /// Does nothing.
    public func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {}
    /// Does nothing.
    public func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {}
    /// False.
    public func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool { false }
}
