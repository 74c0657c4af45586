import WakeModel

/// The watch over the sockets that apps marked for VoIP: a scripted peer and true sockets stand behind it alike.
///
/// Everything happens on the bench's one thread. The first byte, the end or the error of a suspended app's socket is
/// reported as ``EventKind/voipData`` or ``EventKind/voipClosed``, once until the app has run. No byte is ever read: what
/// arrives is the app's.
package protocol VoIPPort: AnyObject {
    /// The backend's word: `simulated`, `socket`.
    var backend: String { get }

    /// Where reports go. Set before ``start(at:)``.
    var report: ((SourceReport) -> Void)? { get set }

    /// Begins.
    func start(at now: Instant) throws(SourceFailure)

    /// Takes over a duplicate of a real app's socket, before the router hears of it.
    ///
    /// - Returns: what records call its other end; nil when it is no stream socket, has a number that is taken, or is one
    ///   too many. The descriptor is closed then.
    func adopt(_ descriptor: Int32, _ socket: SocketNumber, of app: AppID) -> NameID?

    /// Carries out a command of the router.
    func perform(_ command: VoIPCommand, at now: Instant)

    /// The next instant at which the source has something to do of its own; nil when only the outside can tell.
    var nextDeadline: Instant? { get }

    /// Time has come to `now`. Harmless when nothing is due.
    func timeReached(_ now: Instant)

    /// Ends: nothing is reported any more, and every socket is let go.
    func stop()
}
