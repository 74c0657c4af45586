import WakeDevices
import WakeModel
import WakePorts
import WakeSystem

/// What real receivers have in common: whether somebody wants their fixes, and when one counts as lost.
package class ReceiverLocation: LocationPort {
    /// A receiver that nothing was heard of for so long is lost, in milliseconds.
    package static let usualSilence: Int64 = 10_000

    package let backend: String
    package var report: ((SourceReport) -> Void)?
    /// Takes what is to be said of it beside its reports, in one line.
    package var note: ((String) -> Void)?
    /// Whether somebody wants fixes.
    package private(set) var isPositioning = false
    /// How often it went away.
    package internal(set) var interruptions = 0

    let loop: EventLoop
    /// Goes off when it has said nothing for too long.
    let absence: Timer
    /// Goes off when it is looked for again.
    let retry: Timer
    /// How often it was looked for in vain.
    var attempts = 0
    var isLost = false
    private let reports: LocationReports
    private let silence: Int64

    init(_ backend: String, names: NameTable, loop: EventLoop, silence: Int64) throws(SystemError) {
        self.backend = backend
        self.loop = loop
        self.silence = silence
        reports = LocationReports(names: names, origin: backend)
        absence = try loop.timer(on: .monotonic)
        retry = try loop.timer(on: .monotonic)
    }

    package func start(at now: Instant) throws(SourceFailure) {}

    package func stop() {
        report = nil
        retry.disarm()
    }

    package func perform(_ command: LocationCommand, at now: Instant) {
        guard case .positioning(let isWanted) = command, isWanted != isPositioning else { return }
        isPositioning = isWanted
        isLost = false
        positioningChanged()
    }

    /// Somebody wants fixes from now on, or nobody any more.
    func positioningChanged() { expectWord() }

    /// It is expected to say something before long, as far as somebody wants to hear it.
    func expectWord() {
        if isPositioning { absence.arm(after: silence) } else { absence.disarm() }
    }

    /// Looks for it again after a pause; the last one is kept to.
    func tryLater(_ pauses: [Int64]) {
        retry.arm(after: pauses[min(attempts, pauses.count - 1)])
        attempts += 1
    }

    func say(_ point: TrackPoint) {
        isLost = false
        let now = Double(WallClock.now()) / 1e9
        report?(reports.fixed(point, accuracy: LocationReports.usualAccuracy, now: now))
    }

    /// Says once to whoever wants fixes that there are none.
    func lost(_ message: String) {
        guard isPositioning, !isLost else { return }
        isLost = true
        report?(reports.lost(message))
    }
}
