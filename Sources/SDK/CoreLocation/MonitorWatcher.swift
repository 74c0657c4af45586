import Foundation
import Synchronization

/// A monitor's regions, and who listens to them.
final class MonitorWatcher: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
    /// What stands before the identifiers of all monitors' regions.
    static let prefix = "CLMonitor "

    private struct State {
        var conditions: [String: Watched] = [:]
        var listeners: [UUID: AsyncStream<CLMonitor.Event>.Continuation] = [:]
        var lastNumber: UInt64 = 0

        mutating func event(_ identifier: String, _ state: CLMonitor.Event.State, _ date: Date) -> CLMonitor.Event {
            lastNumber += 1
            return CLMonitor.Event(identifier: identifier, state: state, date: date, number: lastNumber)
        }
    }

    /// A condition, and what came of it.
    private struct Watched {
        let condition: any CLCondition
        /// What was handled last.
        var handled: CLMonitor.Event
        /// The newest event, while it is not handled.
        var coming: CLMonitor.Event?
        /// A listener has been given it.
        var isTold = false

        var newest: CLMonitor.Event.State { (coming ?? handled).state }
    }

    private let prefix: String
    private let state = Mutex(State())
    private let manager: CLLocationManager

    init(_ name: String) {
        prefix = "\(Self.prefix)\(name)/"
        manager = CLLocationManager(forMonitor: ())
        super.init()
        state.withLock { state in
            for region in manager.monitoredRegions {
                guard let identifier = identifier(of: region), let condition = region.condition else { continue }
                let kept = KeptConditions.entry(region.identifier)
                let handled = kept?.handled ?? KeptConditions.Moment(.unknown, Date())
                var watched = Watched(
                    condition: condition,
                    handled: state.event(identifier, handled.state, handled.date)
                )
                watched.coming = kept?.coming.map { state.event(identifier, $0.state, $0.date) }
                state.conditions[identifier] = watched
            }
        }
        manager.delegate = self
        for (region, state) in register() { hear(region, state) }
    }

    deinit { Self.registry.withLock { _ = $0.watchers.removeValue(forKey: ObjectIdentifier(self)) } }

    private func identifier(of region: CLRegion) -> String? {
        region.identifier.hasPrefix(prefix) ? String(region.identifier.dropFirst(prefix.count)) : nil
    }

    // MARK: Conditions

    var identifiers: [String] { state.withLock { $0.conditions.keys.sorted() } }

    func record(_ identifier: String) -> CLMonitor.Record? {
        state.withLock { state in
            state.conditions[identifier].map { CLMonitor.Record(condition: $0.condition, lastEvent: $0.handled) }
        }
    }

    func add(_ condition: any CLCondition, _ identifier: String, _ assumed: CLMonitor.Event.State) {
        state.withLock { state in
            let event = state.event(identifier, assumed, Date())
            keep(Watched(condition: condition, handled: event), identifier, &state)
        }
        if let region = condition.region(prefix + identifier) {
            manager.startMonitoring(for: region)
        } else {
            change(identifier, to: .unmonitored)
        }
    }

    func remove(_ identifier: String) {
        let watched = state.withLock { state in
            KeptConditions.set(nil, of: prefix + identifier)
            return state.conditions.removeValue(forKey: identifier)
        }
        if let region = watched?.condition.region(prefix + identifier) { manager.stopMonitoring(for: region) }
    }

    // MARK: Listeners

    func listen() -> AsyncStream<CLMonitor.Event> {
        let (stream, continuation) = AsyncStream.makeStream(of: CLMonitor.Event.self)
        let number = UUID()
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        state.withLock { state in
            let unheard = state.conditions.values.compactMap { $0.isTold ? nil : $0.coming }
            for event in unheard.sorted(by: { $0.number < $1.number }) {
                continuation.yield(event)
                state.conditions[event.identifier]?.isTold = true
            }
            state.listeners[number] = continuation
        }
        return stream
    }

    private func change(_ identifier: String, to new: CLMonitor.Event.State) {
        state.withLock { state in
            guard var watched = state.conditions[identifier], watched.newest != new else { return }
            let event = state.event(identifier, new, Date())
            watched.coming = event
            watched.isTold = !state.listeners.isEmpty
            keep(watched, identifier, &state)
            for listener in state.listeners.values { listener.yield(event) }
        }
    }

    /// A listener has handled an event.
    func finish(_ event: CLMonitor.Event) {
        state.withLock { state in
            guard var watched = state.conditions[event.identifier], watched.handled.number < event.number else {
                return
            }
            watched.handled = event
            if watched.coming?.number == event.number { watched.coming = nil }
            keep(watched, event.identifier, &state)
        }
    }

    /// Here and for the processes after this one.
    private func keep(_ watched: Watched, _ identifier: String, _ state: inout State) {
        state.conditions[identifier] = watched
        let entry = KeptConditions.Entry(handled: watched.handled, coming: watched.coming)
        KeptConditions.set(entry, of: prefix + identifier)
    }

    // MARK: Monitors that are still to be made

    /// The watchers of the process, and how conditions stand that none of them watches.
    private struct Registry {
        struct Entry {
            let prefix: String
            let hear: @Sendable (String, CLMonitor.Event.State) -> Void
        }

        var watchers: [ObjectIdentifier: Entry] = [:]
        /// By the identifier of the region.
        var waiting: [String: CLMonitor.Event.State] = [:]
    }

    private static let registry = Mutex(Registry())

    /// Makes itself known. Gives what came before for its conditions, in the order of their regions.
    private func register() -> [(region: String, state: CLMonitor.Event.State)] {
        let entry = Registry.Entry(prefix: prefix) { [weak self] in self?.hear($0, $1) }
        return Self.registry.withLock { registry in
            registry.watchers[ObjectIdentifier(self)] = entry
            let mine = registry.waiting.filter { $0.key.hasPrefix(prefix) }
            for region in mine.keys { registry.waiting[region] = nil }
            return mine.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
        }
    }

    private func hear(_ region: String, _ state: CLMonitor.Event.State) {
        change(String(region.dropFirst(prefix.count)), to: state)
    }

    /// Tells the monitor of a region that it was crossed; where the app has still to make it, it will find the last of that.
    static func hear(_ region: String, _ state: CLMonitor.Event.State) {
        let watchers = registry.withLock { registry in
            let found = registry.watchers.values.filter { region.hasPrefix($0.prefix) }
            if found.isEmpty { registry.waiting[region] = state }
            return found
        }
        for watcher in watchers { watcher.hear(region, state) }
    }

    // MARK: What the manager tells

    func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
        if identifier(of: region) != nil { manager.requestState(for: region) }
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        guard let identifier = identifier(of: region) else { return }
        switch state {
        case .inside: change(identifier, to: .satisfied)
        case .outside: change(identifier, to: .unsatisfied)
        case .unknown: break
        }
    }

    func locationManager(
        _ manager: CLLocationManager,
        monitoringDidFailFor region: CLRegion?,
        withError error: any Error
    ) {
        if let identifier = region.flatMap({ self.identifier(of: $0) }) { change(identifier, to: .unmonitored) }
    }
}

extension CLCondition {
    /// The region that stands for it; nil for a condition of the app's own making.
    fileprivate func region(_ identifier: String) -> CLRegion? {
        switch self {
        case let circle as CLMonitor.CircularGeographicCondition:
            CLCircularRegion(center: circle.center, radius: circle.radius, identifier: identifier)
        case let beacons as CLMonitor.BeaconIdentityCondition:
            CLBeaconRegion(
                beaconIdentityConstraint: CLBeaconIdentityConstraint(
                    beacons.uuid,
                    major: beacons.major,
                    minor: beacons.minor
                ),
                identifier: identifier
            )
        default: nil
        }
    }
}

extension CLRegion {
    /// The condition that it stands for.
    fileprivate var condition: (any CLCondition)? {
        switch self {
        case let circle as CLCircularRegion:
            CLMonitor.CircularGeographicCondition(center: circle.center, radius: circle.radius)
        case let beacons as CLBeaconRegion:
            CLMonitor.BeaconIdentityCondition(beacons.beaconIdentityConstraint)
        default: nil
        }
    }
}

extension CLMonitor.BeaconIdentityCondition {
    fileprivate init(_ constraint: CLBeaconIdentityConstraint) {
        (uuid, major, minor) = (constraint.uuid, constraint.major, constraint.minor)
    }
}
