import WakeModel

/// The phone's screen as far as notifications are on it, and the user before it.
///
/// Everything happens on the bench's one thread. A tap of the user is reported as ``EventKind/notificationTapped``.
///
/// The backend is `simulated`.
package protocol NotificationPort: SourcePort {
    /// Carries out a command of the router.
    func perform(_ command: NotificationCommand, at now: Instant)
}

extension NotificationPort {
    package func takes(_ command: SourceCommand) -> Bool {
        if case .notification = command { true } else { false }
    }
    package func carryOut(_ command: SourceCommand, at now: Instant) {
        if case .notification(let command) = command { perform(command, at: now) }
    }
}
