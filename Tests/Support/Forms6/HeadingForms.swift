import CoreLocation

/// What is asked of a phone that has no compass, and of fixes without a floor.
func turn(_ manager: CLLocationManager) -> (CLHeading?, CLFloor?) {
    if CLLocationManager.headingAvailable() { manager.startUpdatingHeading() }
    manager.dismissHeadingCalibrationDisplay()
    manager.stopUpdatingHeading()
    manager.showsBackgroundLocationIndicator = true
    for constraint in manager.rangedBeaconConstraints { manager.stopRangingBeacons(satisfying: constraint) }
    return (manager.heading, manager.location?.floor)
}
