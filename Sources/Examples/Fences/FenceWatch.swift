import CoreLocation
import Foundation

/// Has a circle around an office and the reach of a beacon monitored, and counts what it hears in memory.
@MainActor
final class FenceWatch: NSObject, @preconcurrency CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let office = CLCircularRegion(
        center: CLLocationCoordinate2D(latitude: 52.3731, longitude: 4.8922),
        radius: 150,
        identifier: "office"
    )
    private let desk = CLBeaconRegion(
        uuid: UUID(uuidString: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")!,
        major: 1,
        identifier: "desk"
    )
    private var count = 0

    override init() {
        super.init()
        manager.delegate = self
    }

    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        switch manager.authorizationStatus {
        case .notDetermined:
            log("didChangeAuthorization notDetermined")
            manager.requestAlwaysAuthorization()
        case .authorizedAlways:
            let known = manager.monitoredRegions.map(\.identifier).sorted()
            log("didChangeAuthorization authorizedAlways monitored=\(known)")
            for region in [office, desk] where !known.contains(region.identifier) {
                manager.startMonitoring(for: region)
            }
        case .restricted, .denied, .authorizedWhenInUse:
            log("didChangeAuthorization \(manager.authorizationStatus)")
        }
    }

    func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
        log("didStartMonitoring \(region.identifier)")
        manager.requestState(for: region)
    }

    func locationManager(
        _ manager: CLLocationManager,
        monitoringDidFailFor region: CLRegion?,
        withError error: Error
    ) {
        log("monitoringDidFail \(region?.identifier ?? "?") \(error.localizedDescription)")
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        let word =
            switch state {
            case .inside: "inside"
            case .outside: "outside"
            case .unknown: "unknown"
            }
        log("didDetermineState \(region.identifier) \(word)")
    }

    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
        note("didEnterRegion", region)
    }

    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
        note("didExitRegion", region)
    }

    private func note(_ what: String, _ region: CLRegion) {
        count += 1
        log("\(what) \(region.identifier) pid=\(ProcessInfo.processInfo.processIdentifier) count=\(count)")
    }
}
