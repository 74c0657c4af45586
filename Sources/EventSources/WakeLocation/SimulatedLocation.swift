import WakeDevices
import WakeModel
import WakePorts

/// A receiver in memory that plays tracks in the time of the run.
///
/// The first track begins with ``start(at:)``, and the phone moves on it whether or not anybody looks. Fixes are reported
/// only while somebody wants them (``LocationCommand/positioning(_:)``), beginning with the first that comes after the
/// wish. When a track is over, or after ``simulatePosition(_:accuracy:origin:at:)``, the phone stays where it is and says
/// so at once to whoever wants to know, and then once in ``restingInterval``. While somebody wants to hear of visits
/// (``LocationCommand/watchVisits(_:)``), stays at places are reported when they begin and end, by where the phone truly is.
///
/// Given the same tracks, seed and calls it reports the same, to the last digit.
package final class SimulatedLocation: LocationPort {
    /// From one fix to the next of a phone that does not move.
    package static let restingInterval = Instant.Span.seconds(60)
    /// 1 January 2025, 0:00 UTC: when a run begins for tracks that say no time.
    package static let usualTimestamp = 1_735_689_600.0
    /// How sure the place of a visit is, in metres; assumed, since Apple publishes none.
    package static let visitAccuracy = 50.0

    package let backend = "simulated"
    package var report: ((SourceReport) -> Void)?
    /// Whether somebody wants fixes.
    package private(set) var isPositioning = false
    /// Whether somebody wants to hear of visits.
    package private(set) var watchesVisits = false

    private let tracks: [(name: String, track: LocationTrack)]
    private let seed: UInt64
    /// What the time of day was at an instant: that of the last fix, or the start of the run.
    private var clock: (timestamp: Double, at: Instant)
    private let reports: LocationReports
    private let names: NameTable
    private var faults = TrackFaults()
    private var isLost = false
    private var stays = StayWatch()
    /// Reports that go out when time is next given, oldest first, each with its instant.
    private var prepared: [Prepared] = []
    private var state = State.nowhere

    /// What a step of the scenario had the phone hear, and when.
    private struct Prepared: Codable {
        var at: Instant
        var report: SourceReport
    }

    private enum State {
        /// No track has begun and no position was said.
        case nowhere
        /// `next` is the number of the next fix wanted; nil when none is wanted.
        case playing(TrackPlay, next: Int?)
        /// `due` is when it is said next; nil when nobody wants it.
        case resting(TrackPoint, accuracy: Double, due: Instant?)
    }

    /// A receiver for tracks, each with the name that the scenario gives it.
    ///
    /// - Parameter timestamp: seconds since 1970 at the start of the run, for tracks that say no time.
    package init(
        tracks: [(name: String, track: LocationTrack)],
        names: NameTable,
        seed: UInt64,
        timestamp: Double = SimulatedLocation.usualTimestamp
    ) {
        self.tracks = tracks
        self.names = names
        self.seed = seed
        clock = (timestamp, .zero)
        reports = LocationReports(names: names, origin: "simulated")
    }

    // MARK: The port

    package func start(at now: Instant) throws(SourceFailure) {
        if let first = tracks.first { play(first, at: now) }
    }

    package func stop() {
        report = nil
        prepared.removeAll()
        state = .nowhere
    }

    package func perform(_ command: LocationCommand, at now: Instant) {
        switch command {
        case .positioning(let isWanted):
            guard isWanted != isPositioning else { return }
            isPositioning = isWanted
            isLost = false
            schedule(at: now)
        case .watchVisits(let isWanted):
            // What began before is not told.
            look(until: now)
            watchesVisits = isWanted
        case .watchBeacons: break
        }
    }

    package var nextDeadline: Instant? {
        var next = min(prepared.first?.at ?? .distantFuture, nextFix ?? .distantFuture)
        if watchesVisits, let look = nextLook { next = min(next, look) }
        return next == .distantFuture ? nil : next
    }

    private var nextFix: Instant? {
        switch state {
        case .nowhere: nil
        case .playing(let play, let next): next.flatMap(play.time(of:))
        case .resting(_, _, let due): due
        }
    }

    package func timeReached(_ now: Instant) {
        while let next = nextDeadline, next <= now {
            if let first = prepared.first, first.at == next {
                prepared.removeFirst()
                report?(first.report)
            } else if nextFix == next {
                fixDue(at: next)
            } else {
                look(until: next)
            }
        }
    }

    // MARK: Moving

    private func play(_ track: (name: String, track: LocationTrack), at now: Instant) {
        look(until: now)
        let start = timestamp(at: now)
        let play = TrackPlay(name: track.name, track: track.track, at: now, seed: seed, timestamp: start)
        state = .playing(play, next: nil)
        observe(at: now)
        schedule(at: now)
    }

    /// Says from now on what somebody wants to hear, and nothing else.
    private func schedule(at now: Instant) {
        switch state {
        case .nowhere: break
        case .playing(let play, _):
            if let next = play.firstFix(from: now) {
                state = .playing(play, next: isPositioning ? next : nil)
            } else {
                look(until: now)
                rest(after: play, from: now)
            }
        case .resting(let point, let accuracy, _):
            state = .resting(point, accuracy: accuracy, due: isPositioning ? now : nil)
        }
    }

    private func rest(after play: TrackPlay, from now: Instant) {
        guard let end = play.end else { return state = .nowhere }
        if let last = play.count.flatMap({ play.time(of: $0 - 1) }), let timestamp = end.timestamp {
            clock = (timestamp, last)
        }
        state = .resting(end, accuracy: play.track.accuracy, due: isPositioning ? now : nil)
    }

    private func fixDue(at instant: Instant) {
        switch state {
        case .nowhere: break
        case .playing(let play, let next):
            guard let number = next else { return }
            if play.time(of: number + 1) != nil {
                state = .playing(play, next: number + 1)
            } else {
                look(until: instant)
                rest(after: play, from: instant.advanced(by: Self.restingInterval))
            }
            say(play.point(of: number), accuracy: play.track.accuracy, at: instant)
        case .resting(var point, let accuracy, _):
            state = .resting(point, accuracy: accuracy, due: instant.advanced(by: Self.restingInterval))
            point.timestamp = timestamp(at: instant)
            say(point, accuracy: accuracy, at: instant)
        }
    }

    private func say(_ point: TrackPoint?, accuracy: Double, at instant: Instant) {
        guard let point = point.flatMap({ faults.apply(to: $0, at: instant) }) else {
            if !isLost { report?(reports.lost("the receiver does not know where it is")) }
            return isLost = true
        }
        isLost = false
        if let said = point.timestamp { clock = (said, instant) }
        report?(reports.fixed(point, accuracy: accuracy, now: timestamp(at: instant)))
    }

    private func timestamp(at instant: Instant) -> Double {
        clock.timestamp + Double(instant.since(clock.at).nanoseconds) / 1e9
    }

    // MARK: Visits

    /// When it is to be looked next where the phone is; nil where nothing would come of it.
    private var nextLook: Instant? {
        switch state {
        case .nowhere: return nil
        case .resting: return stays.due
        case .playing(let play, _):
            let isOver = play.firstFix(from: stays.lookedAt.advanced(by: Instant.Span(nanoseconds: 1))) == nil
            return isOver ? stays.due : stays.lookedAt.advanced(by: StayWatch.interval)
        }
    }

    /// Looks as often as was due until an instant.
    private func look(until now: Instant) {
        while let next = nextLook, next <= now { observe(at: next) }
    }

    private func observe(at now: Instant) {
        let point: TrackPoint? =
            switch state {
            case .nowhere: nil
            case .playing(let play, _): play.truth(at: now)
            case .resting(let point, _, _): point
            }
        var time = timestamp(at: now)
        if case .playing = state, let said = point?.timestamp { time = said }
        let visit = stays.look(at: point?.place, timestamp: time, accuracy: Self.visitAccuracy, now)
        if let visit, watchesVisits { simulateVisit(visit, at: now) }
    }

    // MARK: What a scenario does

    /// Arms a fault of a track's file.
    ///
    /// - Throws: ``SourceFailure`` of kind unknown when there is no such track or fault.
    package func arm(fault: String, device: String, at now: Instant) throws(SourceFailure) {
        let (_, track) = try known(device)
        guard let armed = track.faults.first(where: { $0.name == fault }) else {
            throw .noFault(fault, of: "device \(device)", among: track.faults.map(\.name))
        }
        faults.arm(armed.effect, at: now, position: position(at: now))
    }

    /// The phone leaves where it is and begins a track from its start.
    ///
    /// - Throws: ``SourceFailure`` of kind unknown when there is no such track.
    package func simulateTrack(device: String, at now: Instant) throws(SourceFailure) {
        play(try known(device), at: now)
    }

    /// The phone is at a place and stays there; whoever wants to know hears of it at once.
    ///
    /// - Parameter accuracy: in metres, of a point that says none of its own.
    package func simulatePosition(_ point: TrackPoint, accuracy: Double = 5, at now: Instant) {
        look(until: now)
        state = .resting(point, accuracy: accuracy, due: nil)
        observe(at: now)
        schedule(at: now)
    }

    /// A stay at a place begins, or ends.
    package func simulateVisit(_ visit: Visit, origin: NameID = .none, at now: Instant) {
        let kind: EventKind = visit.departure == nil ? .visitBegan : .visitEnded
        let event = WakeEvent(
            kind: kind,
            subject: names.intern("visit"),
            origin: origin == .none ? reports.origin : origin
        )
        prepared.append(Prepared(at: now, report: SourceReport(event, .visit(visit))))
    }

    /// The phone crosses the boundary of every region of a name, wherever it is.
    ///
    /// - Parameter kind: Which way: `regionEntered` or `regionExited`.
    package func simulateCrossing(_ kind: EventKind, region: String, origin: NameID = .none, at now: Instant) {
        let name = names.intern(region)
        let event = WakeEvent(
            kind: kind,
            subject: name,
            region: name,
            origin: origin == .none ? reports.origin : origin
        )
        prepared.append(Prepared(at: now, report: SourceReport(event)))
    }

    private func position(at now: Instant) -> TrackPoint? {
        switch state {
        case .nowhere: return nil
        case .playing(let play, _):
            // The last fix before now, or the first of all.
            let next = play.firstFix(from: now) ?? play.count ?? 1
            return play.point(of: max(0, next - 1))
        case .resting(let point, _, _): return point
        }
    }

    private func known(_ device: String) throws(SourceFailure) -> (name: String, track: LocationTrack) {
        guard let found = tracks.first(where: { $0.name == device }) else {
            throw .noDevice("track '\(device)'", among: tracks.map(\.name))
        }
        return found
    }
}

/// What a snapshot holds of the simulated location.
extension SimulatedLocation {
    package func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&isPositioning)
        try coder.code(&watchesVisits)
        try coder.code(&stays)
        try coder.code(&clock.timestamp)
        try coder.code(&clock.at)
        try coder.code(&faults)
        try coder.code(&isLost)
        try coder.code(&prepared)
        var kept =
            switch state {
            case .nowhere: Kept.nowhere
            case .playing(let play, let next):
                Kept.playing(play.name, began: play.began, timestamp: play.timestamp, next: next)
            case .resting(let point, let accuracy, let due): Kept.resting(point, accuracy: accuracy, due: due)
            }
        try coder.code(&kept)
        switch kept {
        case .nowhere: state = .nowhere
        case .playing(let name, let began, let timestamp, let next):
            guard let found = tracks.first(where: { $0.name == name }) else { throw coder.fault }
            let play = TrackPlay(name: name, track: found.track, at: began, seed: seed, timestamp: timestamp)
            state = .playing(play, next: next)
        case .resting(let point, let accuracy, let due): state = .resting(point, accuracy: accuracy, due: due)
        }
    }

    /// The state, without the track that is played.
    private enum Kept: Codable {
        case nowhere
        case playing(String, began: Instant, timestamp: Double, next: Int?)
        case resting(TrackPoint, accuracy: Double, due: Instant?)
    }
}
