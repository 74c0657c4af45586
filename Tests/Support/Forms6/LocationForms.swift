import CoreLocation.CLCircularRegion
import CoreLocation.CLLocation
import CoreLocation.CLLocationManager
import CoreLocation.CLLocationManagerDelegate

final class Positions: NSObject, CLLocationManagerDelegate {
    var last: CLLocation?

    func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
        last = locations.last
    }
}
