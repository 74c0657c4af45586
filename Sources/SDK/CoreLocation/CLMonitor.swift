import Foundation

/// What a monitor can watch: ``CLMonitor/CircularGeographicCondition`` or ``CLMonitor/BeaconIdentityCondition``.
public protocol CLCondition: Sendable {}

/// Watches conditions, and tells when they begin and cease to hold; that also starts an app that was ended.
///
/// An app that is started so makes a monitor of the same name again, soon or late, and finds its conditions and then the event in
/// it. What was handled last is kept in the app's folder, for the processes after this one (MON-3). Each condition is a region to the
/// bench, `CLMonitor NAME/IDENTIFIER`, which counts among the regions that an app may monitor.
public actor CLMonitor {
    /// The app's name for it.
    public let name: String

    private let watcher: MonitorWatcher

    /// A monitor with the conditions that the app gave it before, in this process or an earlier one.
    public init(_ name: String) async {
        self.name = name
        watcher = MonitorWatcher(name)
    }

    /// Watches a condition that is taken to be in a state until it is known to be in another; one of that identifier is
    /// replaced.
    public func add(_ condition: any CLCondition, identifier: String, assuming state: CLMonitor.Event.State = .unknown)
    {
        watcher.add(condition, identifier, state)
    }

    /// Watches a condition no more.
    public func remove(_ identifier: String) { watcher.remove(identifier) }

    /// The conditions' identifiers, sorted.
    public var identifiers: [String] { watcher.identifiers }

    /// A condition, and the last of its events that was handled: while one is handled, the event before it (MON-3).
    public func record(for identifier: String) -> CLMonitor.Record? { watcher.record(identifier) }

    /// Changes of the conditions' states, from now on; the first to ask gets those that nobody heard, too, and those that an earlier
    /// process did not handle.
    ///
    /// An event is handled once its iterator is asked for the next, or is gone.
    public var events: CLMonitor.Events { Events(watcher: watcher) }

    /// A circle on Earth.
    public struct CircularGeographicCondition: CLCondition, Hashable {
        /// The middle.
        public let center: CLLocationCoordinate2D
        /// Metres.
        public let radius: CLLocationDistance

        /// A circle on Earth.
        public init(center: CLLocationCoordinate2D, radius: CLLocationDistance) {
            self.center = center
            self.radius = radius
        }

        /// Whether both are the same circle.
        public static func == (lhs: Self, rhs: Self) -> Bool {
            lhs.center.latitude == rhs.center.latitude && lhs.center.longitude == rhs.center.longitude
                && lhs.radius == rhs.radius
        }

        /// The same for equal circles.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(center.latitude)
            hasher.combine(center.longitude)
            hasher.combine(radius)
        }
    }

    /// The reach of beacons.
    public struct BeaconIdentityCondition: CLCondition, Hashable {
        /// Whose beacons.
        public let uuid: UUID
        /// Their group; nil for any.
        public let major: CLBeaconMajorValue?
        /// Their number in it; nil for any.
        public let minor: CLBeaconMinorValue?

        /// The reach of all beacons of a UUID.
        public init(uuid: UUID) {
            (self.uuid, major, minor) = (uuid, nil, nil)
        }

        /// The reach of the beacons of a group.
        public init(uuid: UUID, major: CLBeaconMajorValue) {
            (self.uuid, self.major, minor) = (uuid, major, nil)
        }

        /// The reach of one beacon.
        public init(uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue) {
            (self.uuid, self.major, self.minor) = (uuid, major, minor)
        }
    }

    /// A condition, and the last of its events that was handled.
    public struct Record: Sendable {
        /// The condition.
        public let condition: any CLCondition
        /// What was handled last; before the first event, the state that the condition was taken to be in.
        public let lastEvent: CLMonitor.Event
    }

    /// A change of a condition's state.
    public struct Event: Sendable {
        /// How a condition stands.
        public enum State: UInt, Sendable {
            /// Not known yet.
            case unknown = 0
            /// It holds.
            case satisfied = 1
            /// It does not hold.
            case unsatisfied = 2
            /// It is not watched, such as one too many.
            case unmonitored = 3
        }

        /// The condition's identifier.
        public let identifier: String
        /// A narrower condition that holds: none is known here.
        public var refinement: (any CLCondition)? { nil }
        /// How it stands now.
        public let state: State
        /// When that was told.
        public let date: Date
        /// Counts the events of the monitor in this process.
        let number: UInt64
    }

    /// A sequence of changes.
    public struct Events: AsyncSequence, Sendable {
        /// A change.
        public typealias Element = CLMonitor.Event

        let watcher: MonitorWatcher

        /// Begins to listen.
        public func makeAsyncIterator() -> Iterator {
            Iterator(stream: watcher.listen().makeAsyncIterator(), atHand: EventAtHand(watcher))
        }

        /// Takes one change after the other.
        public struct Iterator: AsyncIteratorProtocol {
            var stream: AsyncStream<CLMonitor.Event>.Iterator
            let atHand: EventAtHand

            /// The next change, which this waits for; nil once the task is cancelled. The one before counts as handled.
            public mutating func next() async throws -> CLMonitor.Event? {
                atHand.replace(by: nil)
                let event = await stream.next()
                atHand.replace(by: event)
                return event
            }
        }
    }
}
