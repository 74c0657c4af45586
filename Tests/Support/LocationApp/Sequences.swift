import CoreLocation

/// Prints live updates; at latitude 1 the session ends, at latitude 2 the loop.
@MainActor func follow() async throws {
    for try await update in CLLocationUpdate.liveUpdates(.fitness) {
        let place = update.location.map { "\($0.coordinate.latitude)" } ?? "none"
        say("live \(place) denied=\(update.authorizationDenied) limited=\(update.accuracyLimited)")
        if update.location?.coordinate.latitude == 1 { session?.invalidate() }
        if update.location?.coordinate.latitude == 2 { break }
    }
    say("live ended")
}

/// Watches the reach of a beacon.
@MainActor func watchBeacon() async throws {
    let monitor = await CLMonitor("places")
    await monitor.add(CLMonitor.BeaconIdentityCondition(uuid: beacons, major: 1, minor: 7), identifier: "shelf")
    for try await event in await monitor.events {
        let condition = await monitor.record(for: event.identifier)?.condition
        let minor = (condition as? CLMonitor.BeaconIdentityCondition)?.minor
        say("condition \(event.identifier) \(event.state) minor=\(minor.map { "\($0)" } ?? "none")")
    }
}

/// Watches a circle, or, again, what an earlier process watched; one that ceases to hold is let go.
@MainActor func watch(again: Bool) async throws {
    let monitor = await CLMonitor("places")
    if !again {
        let circle = CLMonitor.CircularGeographicCondition(center: office.center, radius: office.radius)
        await monitor.add(circle, identifier: "office", assuming: .unsatisfied)
    }
    say("conditions \(await monitor.identifiers)")
    for try await event in await monitor.events {
        let last = await monitor.record(for: event.identifier)?.lastEvent.state
        say("condition \(event.identifier) \(event.state) last=\(last.map { "\($0)" } ?? "none")")
        if event.state == .unsatisfied { await monitor.remove(event.identifier) }
    }
}

/// Asks whether the app may know positions precisely for a while, in both forms.
@MainActor func askForPrecision(_ manager: CLLocationManager) async {
    do {
        try await manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "route")
        say("precise")
    } catch {
        say("declined \((error as? CLError)?.code == .promptDeclined)")
    }
    manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "route") { say("handler declined \($0 != nil)") }
    say("asked")
}
