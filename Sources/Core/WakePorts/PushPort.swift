import WakeModel

/// Where pushes come from: the simulated end and the one that speaks APNs' HTTP/2 stand behind it alike.
///
/// Everything happens on the bench's one thread. What it reports is for the app that the device token is of; `local` is the number
/// of the push, minted by the port and not used twice by it, `subject` the interned bundle identifier, and the payload
/// ``EventPayload/push(_:)``.
///
/// - ``EventKind/pushReceived``, ``EventKind/callPushReceived`` for a topic of VoIP pushes, and
///   ``EventKind/newsstandPushReceived`` where the app has no other mode for a push with content-available.
/// - ``EventKind/serviceExtensionEnded``, the answer to ``PushCommand/runExtension(_:_:_:)``: `local` is the number of the push, the
///   push of the event has the changed notification and the memory that was taken; `failed` without an answer.
///
/// The backend is `simulated` or `apns`; beside either, `processes` runs the service extensions of real apps, and takes no command
/// that is not about one of these.
package protocol PushPort: SourcePort {
    /// Carries out a command of the router.
    func perform(_ command: PushCommand, at now: Instant)
}

extension PushPort {
    package func takes(_ command: SourceCommand) -> Bool {
        if case .push = command { true } else { false }
    }
    package func carryOut(_ command: SourceCommand, at now: Instant) {
        if case .push(let command) = command { perform(command, at: now) }
    }
}
