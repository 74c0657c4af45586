import CoreLocation

// Does what its arguments say, one after the other, and prints a line for everything that a delegate is told. With
// `old-forms` first, the delegate has only the methods of old iOS versions.

func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

let beacons = UUID(uuidString: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")!
let office = CLCircularRegion(
    center: CLLocationCoordinate2D(latitude: 52.3731, longitude: 4.8922),
    radius: 150,
    identifier: "office"
)
let nowhere = CLCircularRegion(
    center: CLLocationCoordinate2D(latitude: 91, longitude: 0),
    radius: 150,
    identifier: "nowhere"
)
let shelf = CLBeaconRegion(uuid: beacons, major: 1, minor: 7, identifier: "shelf")
let constraint = CLBeaconIdentityConstraint(uuid: beacons, major: 1)

var arguments = CommandLine.arguments.dropFirst()
let recorder: any CLLocationManagerDelegate
if arguments.first == "old-forms" {
    arguments.removeFirst()
    recorder = OldRecorder()
} else {
    recorder = Recorder()
}
var session: CLBackgroundActivitySession?
/// The monitor is made once the manager's authorization is told.
var isLate = false
var managers = [CLLocationManager()]
managers[0].delegate = recorder
for argument in arguments { perform(argument, managers[managers.count - 1]) }
while true { _ = RunLoop.main.run(mode: .default, before: .distantFuture) }

@MainActor func perform(_ command: String, _ manager: CLLocationManager) {
    switch command {
    case "another":
        managers.append(CLLocationManager())
        managers[managers.count - 1].delegate = recorder
    case "drop": managers.removeLast()
    case "status": say("status \(manager.authorizationStatus.rawValue) \(manager.accuracyAuthorization.rawValue)")
    case "class-status": say("class status \(CLLocationManager.authorizationStatus().rawValue)")
    case "largest": say("largest \(manager.maximumRegionMonitoringDistance)")
    case "monitored": say("monitored \(names(manager.monitoredRegions))")
    case "when-in-use": manager.requestWhenInUseAuthorization()
    case "precise": Task { await askForPrecision(manager) }
    case "always": manager.requestAlwaysAuthorization()
    case "filter": manager.distanceFilter = 50
    case "coarse": manager.desiredAccuracy = kCLLocationAccuracyKilometer
    case "background": manager.allowsBackgroundLocationUpdates = true
    case "foreground": manager.allowsBackgroundLocationUpdates = false
    case "no-pause": manager.pausesLocationUpdatesAutomatically = false
    case "start": manager.startUpdatingLocation()
    case "stop": manager.stopUpdatingLocation()
    case "once": manager.requestLocation()
    case "significant": manager.startMonitoringSignificantLocationChanges()
    case "no-significant": manager.stopMonitoringSignificantLocationChanges()
    case "visits": manager.startMonitoringVisits()
    case "no-visits": manager.stopMonitoringVisits()
    case "defer": manager.allowDeferredLocationUpdates(untilTraveled: 1_000, timeout: CLTimeIntervalMax)
    case "no-defer": manager.disallowDeferredLocationUpdates()
    case "monitor": manager.startMonitoring(for: office)
    case "monitor-shelf": manager.startMonitoring(for: shelf)
    case "monitor-nowhere": manager.startMonitoring(for: nowhere)
    case "monitor-endless":
        let place = CLLocationCoordinate2D(latitude: 1, longitude: 2)
        let name = String(repeating: "x", count: 1_025)
        manager.startMonitoring(for: CLCircularRegion(center: place, radius: 7, identifier: name))
    case "unmonitor": manager.stopMonitoring(for: office)
    case "state": manager.requestState(for: office)
    case "range": manager.startRangingBeacons(satisfying: constraint)
    case "unrange": manager.stopRangingBeacons(satisfying: constraint)
    case "range-region": manager.startRangingBeacons(in: shelf)
    case "live": Task { try await follow() }
    case "session": session = CLBackgroundActivitySession()
    case "condition": Task { try await watch(again: false) }
    case "condition-again": Task { try await watch(again: true) }
    case "condition-late": isLate = true
    case "trail": Task { try await watchTrail(once: false) }
    case "trail-once": Task { try await watchTrail(once: true) }
    case "beacon-condition": Task { try await watchBeacon() }
    case "unrange-region": manager.stopRangingBeacons(in: shelf)
    default: say("unknown command \(command)")
    }
}

func names(_ regions: Set<CLRegion>) -> [String] { regions.map(\.identifier).sorted() }
