import CoreLocation

/// Watches a circle, and says what its record has at first and while each event is handled. It never gets over the second time that
/// the condition holds; with `once` it listens for one event.
@MainActor func watchTrail(once: Bool) async throws {
    let monitor = await CLMonitor("trail")
    if await monitor.identifiers.isEmpty {
        let circle = CLMonitor.CircularGeographicCondition(center: office.center, radius: office.radius)
        await monitor.add(circle, identifier: "office", assuming: .unsatisfied)
    }
    say("trail record \(await state(in: monitor))")
    var times = 0
    for try await event in await monitor.events {
        let before = await state(in: monitor)
        say("trail \(event.state) before=\(before)")
        if once { break }
        guard event.state == .satisfied else { continue }
        times += 1
        guard times == 2 else { continue }
        say("trail satisfied before=\(before) and stays")
        let (endless, held) = AsyncStream.makeStream(of: Int.self)
        for await _ in endless {}
        held.finish()
    }
    say("trail ended record=\(await state(in: monitor))")
}

@MainActor private func state(in monitor: CLMonitor) async -> String {
    await monitor.record(for: "office").map { "\($0.lastEvent.state)" } ?? "none"
}
