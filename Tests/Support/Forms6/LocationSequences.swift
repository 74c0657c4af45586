import CoreLocation
import CoreLocation.CLMonitor

actor Traveller {
    private var background: CLBackgroundActivitySession?
    private(set) var last: CLLocation?

    func travel() async throws {
        background = CLBackgroundActivitySession()
        defer { background?.invalidate() }
        for try await update in CLLocationUpdate.liveUpdates(.automotiveNavigation) {
            if update.authorizationDenied || update.isStationary { break }
            if let location = update.location { last = location }
        }
    }

    func watch(_ center: CLLocationCoordinate2D, _ beacons: UUID) async throws {
        let monitor = await CLMonitor("traveller")
        let home = CLMonitor.CircularGeographicCondition(center: center, radius: 100)
        await monitor.add(home, identifier: "home")
        await monitor.add(
            CLMonitor.BeaconIdentityCondition(uuid: beacons, major: 1),
            identifier: "desk",
            assuming: .unsatisfied
        )
        for try await event in await monitor.events {
            switch event.state {
            case .satisfied: print(event.identifier, event.date)
            case .unsatisfied: await monitor.remove(event.identifier)
            case .unknown, .unmonitored: break
            @unknown default: break
            }
            if let record = await monitor.record(for: event.identifier) { print(record.lastEvent.state) }
        }
    }
}
