import Foundation
import Synchronization
import WakeClient

/// A position of a live sequence, or why there is none.
public struct CLLocationUpdate: Sendable {
    /// The position; nil in an update that says why there is none.
    public internal(set) var location: CLLocation?
    /// Whether the user refused the app's knowing positions.
    public internal(set) var authorizationDenied = false
    /// Whether a policy forbids the app's knowing positions.
    public internal(set) var authorizationRestricted = false
    /// Whether the user has yet to decide.
    public internal(set) var authorizationRequestInProgress = false
    /// Whether the app may know positions to some kilometres only.
    public internal(set) var accuracyLimited = false
    /// Whether the position cannot be found.
    public internal(set) var locationUnavailable = false

    /// Whether location services are off: never here, which is said once on stderr.
    public var authorizationDeniedGlobally: Bool { never("authorizationDeniedGlobally: location services are not off") }
    /// Whether the app is too little in use: never told here, which is said once on stderr.
    public var insufficientlyInUse: Bool { never("insufficientlyInUse: it is not told") }
    /// Whether a service session is needed: never here, which is said once on stderr.
    public var serviceSessionRequired: Bool { never("serviceSessionRequired: there are no service sessions") }
    /// Whether the phone rests: never told here, since live updates do not pause on this phone, which is said once on stderr.
    public var stationary: Bool { never("stationary: live updates do not pause") }
    /// Whether the phone rests, by its name of iOS 17.
    public var isStationary: Bool { stationary }

    /// Says once what an app asks for in vain.
    private func never(_ line: String) -> Bool {
        notDecided("CLLocationUpdate.\(line) on this phone, it is never true")
        return false
    }

    /// What the user does while the app follows the position; noted, nothing else.
    public enum LiveConfiguration: Int, Sendable {
        /// None of these.
        case `default` = 0
        /// Drives a car.
        case automotiveNavigation = 1
        /// Moves by another vehicle.
        case otherNavigation = 2
        /// Walks, runs or cycles.
        case fitness = 3
        /// Flies.
        case airborne = 4
    }

    /// Positions as they come, from each iteration's begin to its end.
    ///
    /// They come as standard updates of the best accuracy that never pause. In the background they go on while a
    /// ``CLBackgroundActivitySession`` is held.
    public static func liveUpdates(_ configuration: LiveConfiguration = .default) -> Updates {
        Updates(configuration: configuration)
    }

    /// A sequence of updates.
    public struct Updates: AsyncSequence, Sendable {
        /// An update.
        public typealias Element = CLLocationUpdate

        let configuration: LiveConfiguration

        /// Begins the updates.
        public func makeAsyncIterator() -> Iterator { Iterator(configuration) }

        /// Takes one update after the other.
        public struct Iterator: AsyncIteratorProtocol {
            private var stream: AsyncStream<CLLocationUpdate>.Iterator

            init(_ configuration: LiveConfiguration) {
                let (stream, continuation) = AsyncStream.makeStream(of: CLLocationUpdate.self)
                let source = LiveSource(configuration, continuation)
                continuation.onTermination = { _ in source.end() }
                self.stream = stream.makeAsyncIterator()
            }

            /// The next update, which this waits for; nil once the task is cancelled.
            public mutating func next() async throws -> CLLocationUpdate? { await stream.next() }
        }
    }
}

/// Feeds one iteration over live updates from a manager of its own.
private final class LiveSource: NSObject, CLLocationManagerDelegate, BackgroundActivity, @unchecked Sendable {
    private let manager = CLLocationManager()
    private let continuation: AsyncStream<CLLocationUpdate>.Continuation

    init(
        _ configuration: CLLocationUpdate.LiveConfiguration,
        _ continuation: AsyncStream<CLLocationUpdate>.Continuation
    ) {
        self.continuation = continuation
        super.init()
        manager.activityType = CLActivityType(configuration)
        manager.pausesLocationUpdatesAutomatically = false
        manager.delegate = self
        BackgroundActivities.add(self)
        manager.startUpdatingLocation()
    }

    func end() {
        BackgroundActivities.remove(self)
        manager.stopUpdatingLocation()
    }

    func goOnInBackground(_ wanted: Bool) { manager.allowsBackgroundLocationUpdates = wanted }

    private func update(_ change: (inout CLLocationUpdate) -> Void) {
        var update = CLLocationUpdate()
        update.accuracyLimited = manager.accuracyAuthorization == .reducedAccuracy
        change(&update)
        continuation.yield(update)
    }

    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        switch manager.authorizationStatus {
        case .denied: update { $0.authorizationDenied = true }
        case .restricted: update { $0.authorizationRestricted = true }
        case .notDetermined: update { $0.authorizationRequestInProgress = true }
        case .authorizedAlways, .authorizedWhenInUse: break
        }
    }

    func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
        for location in locations { update { $0.location = location } }
    }

    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
        if (error as? CLError)?.code == .locationUnknown { update { $0.locationUnavailable = true } }
    }
}

extension CLActivityType {
    fileprivate init(_ configuration: CLLocationUpdate.LiveConfiguration) {
        switch configuration {
        case .default: self = .other
        case .automotiveNavigation: self = .automotiveNavigation
        case .otherNavigation: self = .otherNavigation
        case .fitness: self = .fitness
        case .airborne: self = .airborne
        }
    }
}
