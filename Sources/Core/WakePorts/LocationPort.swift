import WakeModel

/// Where positions come from: tracks, gpsd and NMEA receivers stand behind it alike.
///
/// Everything happens on the bench's one thread. A fix is reported as ``EventKind/positionFixed`` with
/// ``EventPayload/position(_:)``; what a scenario says directly, such as a crossing or a visit, as an event of its own.
package protocol LocationPort: AnyObject {
    /// The backend's word: `simulated`, `gpsd`, `nmea`.
    var backend: String { get }

    /// Where reports go. Set before ``start(at:)``.
    var report: ((SourceReport) -> Void)? { get set }

    /// Begins. A receiver that is missing says so by throwing.
    func start(at now: Instant) throws(SourceFailure)

    /// Carries out a command of the router.
    func perform(_ command: LocationCommand, at now: Instant)

    /// The next instant at which the source has something to do of its own; nil when only the outside can tell.
    var nextDeadline: Instant? { get }

    /// Time has come to `now`. Harmless when nothing is due.
    func timeReached(_ now: Instant)

    /// Ends: nothing is reported any more.
    func stop()
}
