import WakeModel

/// The process that carries background transfers for the system (XFER-1): scripted servers, and true ones, stand behind it
/// alike.
///
/// Everything happens on the bench's one thread. A transfer is known by its number, which the router gives it and uses for
/// no other. What is reported has it in `local`, the app's number for the task in `manager`, the session's identifier in
/// `subject`, and the app:
///
/// - ``EventKind/transferEnded``, for each ``TransferCommand/begin(_:_:task:session:_:requestTimeout:resumes:)`` at most once,
///   as ``WakeEvent/transferEnded(_:of:task:_:_:origin:parent:)`` makes it. `finished` with
///   ``TransferReport/finished(_:)``, whatever the server's status is; `failed` with ``TransferReport/failed(_:)`` where
///   trying again does not help. A request that stood still for its time-out, or a connection that broke, is `interrupted`
///   without a payload, and `interruptedResumable` where the server lets it go on where it stopped: the router begins it anew.
/// - ``EventKind/transferChallenged`` with ``TransferReport/challenge(_:)``: `request` is a number that the port uses once. The
///   transfer stands still until ``TransferCommand/answer(_:challenge:_:)``.
/// - ``EventKind/transferProgressed`` with ``TransferReport/progress(sent:received:expected:)``, at most once a second.
/// - ``EventKind/transferWaiting``: there is no way to the server, and the port tries on by itself.
///
/// A ``TransferCommand/cancelKeepingBytes(_:)`` is answered with `failed`, as cancelled; ``TransferFailure/resumes`` of it, and of any
/// other failure, is what the port knows the bytes by, where a download whose order has the same goes on from them.
///
/// A port whose transfers outlive the bench tries again by itself, and reports no `interrupted`: nobody else could while the
/// bench is dead.
///
/// What there is of a transfer is kept until it ends or is cancelled; a port that lost it, with the bench, begins it from nothing
/// where the router says that it resumes. When the file of a response may be taken is the bench's to see to.
///
/// The backends are `simulated` and `curl`.
package protocol TransferPort: SourcePort {
    /// Carries out a command of the router.
    func perform(_ command: TransferCommand, at now: Instant)
}

extension TransferPort {
    package func takes(_ command: SourceCommand) -> Bool {
        if case .transfer = command { true } else { false }
    }
    package func carryOut(_ command: SourceCommand, at now: Instant) {
        if case .transfer(let command) = command { perform(command, at: now) }
    }
}
