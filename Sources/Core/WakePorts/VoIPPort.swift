import WakeModel

/// The watch over the sockets that apps marked for VoIP: a scripted peer and true sockets stand behind it alike.
///
/// Everything happens on the bench's one thread. The first byte, the end or the error of a suspended app's socket is
/// reported as ``EventKind/voipData`` or ``EventKind/voipClosed``, once until the app has run. No byte is ever read: what
/// arrives is the app's.
///
/// The backends are `simulated` and `socket`.
package protocol VoIPPort: SourcePort {
    /// What records call the other end of a socket.
    func peer(of descriptor: Int32) -> String

    /// Takes over a duplicate of a real app's socket, before the router hears of it.
    ///
    /// - Parameter peer: what records call its other end.
    /// - Returns: whether it watches it: not when it is no stream socket, has a number that is taken, or is one too many.
    ///   The descriptor is closed then.
    func adopt(_ descriptor: Int32, _ socket: SocketNumber, of app: AppID, peer: NameID) -> Bool

    /// Carries out a command of the router.
    func perform(_ command: VoIPCommand, at now: Instant)
}

extension VoIPPort {
    package func takes(_ command: SourceCommand) -> Bool {
        if case .voip = command { true } else { false }
    }
    package func carryOut(_ command: SourceCommand, at now: Instant) {
        if case .voip(let command) = command { perform(command, at: now) }
    }
}
