import WakeModel

/// Where the phone was last seen.
struct LastFix: Equatable, Codable {
    var direction: Direction
    /// The event that said so.
    var event: EventID
    var subject: NameID
}

/// What Core Location keeps for one app.
///
/// Managers belong to a process; regions, significant changes and visits belong to the system and outlive it (REG-6).
/// The slot 0 of an interest stands for every manager of the app, and slot 1 for the first of ``managers``.
struct LocationRecord: Equatable, Codable {
    /// A location manager.
    struct Manager: Equatable, Codable {
        var inUse = false
        /// False when its process is gone: what it asked for is kept until the next, to say why nothing came (LOC-3).
        var attached = false
        var number: ManagerNumber = 0
        var createdAt: Instant = .zero
        var updates: Updates?
        /// Since when one fix is asked for.
        var wantsFix: Instant?
    }

    /// Standard updates of one manager.
    struct Updates: Equatable, Codable {
        var filterChord: Double
        var allowsBackground: Bool
        var pausesAutomatically: Bool
        /// They began, or began again, in the foreground (LOC-5).
        var beganInForeground: Bool
        var since: Instant
        /// Where the last update was given (LOC-4).
        var last: Direction?
        /// Where the phone has been since ``stillSince`` (LOC-7).
        var anchor: Direction?
        var stillSince: Instant = .zero
        var paused = false
    }

    /// A background activity session of the process (SESS-3).
    struct Session: Equatable, Codable {
        var number: ManagerNumber
        var beganInForeground: Bool
    }

    /// The significant-change service (LOC-1).
    struct Significant: Equatable, Codable {
        var since: Instant
        /// Where the last change was given; nil before the first.
        var reference: Direction?
        /// When a change was last found.
        var last: Instant?
    }

    /// A monitored region.
    struct Region: Equatable, Codable {
        var shape: Shape
        var since: Instant
        var state: RegionState
        var pending: Crossing?
        /// When a matching beacon was last heard; nil when none counts (BCN-2).
        var lastSeen: Instant?

        enum Shape: Equatable, Codable {
            case circular(CircularRegion)
            case beacons(BeaconRegion)

            /// Whether both have the same boundary, or the same beacons.
            func isSamePlace(as other: Shape) -> Bool {
                switch (self, other) {
                case (.circular(let left), .circular(let right)):
                    left.center == right.center && left.radiusChord == right.radiusChord
                        && left.inwardChord == right.inwardChord && left.outwardChord == right.outwardChord
                case (.beacons(let left), .beacons(let right)): left.beacons == right.beacons
                case (.circular, .beacons), (.beacons, .circular): false
                }
            }
        }

        var identifier: NameID {
            switch shape {
            case .circular(let region): region.identifier
            case .beacons(let region): region.identifier
            }
        }

        var via: Registration {
            switch shape {
            case .circular: .region
            case .beacons: .beaconRegion
            }
        }

        /// When its beacons are gone; nil when none counts. One that is heard at the very end of the delay is in time (BCN-2).
        func gone(after exitDelay: Instant.Span) -> Instant? {
            lastSeen?.advanced(by: exitDelay).advanced(by: Instant.Span(nanoseconds: 1))
        }

        /// Whether the app wants to hear of a side (REG-4).
        func notifies(of kind: EventKind) -> Bool {
            switch (shape, kind) {
            case (.circular(let region), .regionEntered): region.notifyOnEntry
            case (.circular(let region), .regionExited): region.notifyOnExit
            case (.beacons(let region), .regionEntered): region.notifyOnEntry
            case (.beacons(let region), .regionExited): region.notifyOnExit
            default: true
            }
        }
    }

    /// A crossing whose dwell runs (REG-2).
    struct Crossing: Equatable, Codable {
        var to: RegionState
        var due: Instant
        /// The fix that began it.
        var event: EventID
        var origin: NameID
        /// That fix may as well lie on the other side of the boundary.
        var isUnsure: Bool
    }

    /// In order of creation; a slot is used again.
    var managers: [Manager] = []
    /// In order of beginning.
    var sessions: [Session] = []
    /// A slot of a removed region is nil and used again.
    var regions: [Region?] = []
    /// What the process ranges, in order of beginning (BCN-4).
    var ranged: [Ranged] = []
    /// When it is told next what is there; the distant future while it does not run.
    var rangingDue = Instant.distantFuture
    var significant: Significant?
    /// Since when visits are watched.
    var visits: Instant?
    /// What the user says when he is asked whether the app may always know the position (LOC-10).
    var keepsWhenInUse = false
    /// The user allows the position once, each time when asked (LOC-12).
    var answersOnce = false
    /// The app may know the position to some kilometres only (LOC-11).
    var isReduced = false
    /// Since when the app keeps the receiver on; nil while it does not (LOC-9).
    var receiverSince: Instant?
    /// How long it did before.
    var receiverTime = Instant.Span.zero
    /// Whether the app needs fixes.
    var needsFixes = false
    /// Never later than the next thing that is due; the distant future when nothing is.
    var due = Instant.distantFuture

    /// The slot of a live manager.
    func slot(of number: ManagerNumber) -> Int? {
        managers.firstIndex { $0.attached && $0.number == number }.map { $0 + 1 }
    }

    var hasManager: Bool { managers.contains(where: \.attached) }

    /// The slot of a monitored region.
    func region(named identifier: NameID) -> Int? {
        regions.firstIndex { $0?.identifier == identifier }
    }

    /// The earliest instant at which a crossing counts or a beacon is gone.
    func earliestDue(_ exitDelay: Instant.Span) -> Instant {
        var earliest = Instant.distantFuture
        for case let region? in regions {
            if let crossing = region.pending { earliest = min(earliest, crossing.due) }
            if let gone = region.gone(after: exitDelay) { earliest = min(earliest, gone) }
        }
        return earliest
    }
}
