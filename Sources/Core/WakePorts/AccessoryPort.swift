import WakeModel

/// Where external accessories are: the simulated ones, udev's ttys and hidraws, and RFCOMM stand behind it alike.
///
/// Everything happens on the bench's one thread. What it reports is for nobody in particular: the router knows which app may
/// see it.
///
/// - ``EventKind/accessoryConnected`` and ``EventKind/accessoryDisconnected``: `local` is the connection, `peripheral` and
///   `subject` the interned name of the device in the scenario, `services` the interned protocols; the payload of both is
///   ``EventPayload/accessory(_:)``.
/// - ``EventKind/accessorySessionOpened``, the one answer to ``AccessoryCommand/open(_:accessory:protocolName:)``: `local` is
///   the session, `peripheral` the name, `subject` name and protocol as in `dock/com.example.log`, `services` the one
///   protocol; `failed` with ``EventPayload/accessoryFailure(_:)`` when there is none.
/// - ``EventKind/accessorySessionEnded``, at most once: `failed` with the failure when bytes were lost, such as the overflow of
///   a link that cannot wait; not failed when the accessory closed its end. Of a failed one the port closes its end of the
///   socket only after ``AccessoryCommand/close(_:)``, so that the app knows before that the end is none. A session of an accessory that goes ends by
///   its disconnection, without an event of its own.
///
/// The app's end of a session is a stream socket, its other end is the port's: what arrives is written to it, what the app
/// writes is read from it and goes to the link. Between the two the port keeps at most ``sessionBuffer`` bytes a direction.
/// When they are full it stops reading what can wait, so that the kernel holds the sender; of what cannot wait more is an overflow,
/// which ends the session (EA-5). When the accessory goes, the port closes its end after what arrived has been written, as far as
/// it goes in.
///
/// The backends are `simulated`, `udev` and `rfcomm`. ``SourcePort/start(at:)`` reports nothing yet.
package protocol AccessoryPort: SourcePort {
    /// Says of each accessory that is there that it connected, as one that came just now: when the run begins, and again when
    /// the bench is back after it died. Sessions of before are over, silently, and connections have new numbers.
    func connect(at now: Instant)

    /// Carries out a command of the router.
    func perform(_ command: AccessoryCommand, at now: Instant)

    /// The accessories that are connected, in order of connection.
    var accessories: [Accessory] { get }

    /// Gives away the app's end of a session that was opened, a non-blocking stream; the caller closes it. Nil when there is none
    /// of the number, or it was taken.
    func takeSession(_ number: AccessorySession) -> Int32?
}

extension AccessoryPort {
    /// The most bytes that a port keeps of a session in each direction, beside what the kernel holds (EA-5).
    package static var sessionBuffer: Int { 65_536 }

    package func takes(_ command: SourceCommand) -> Bool {
        if case .accessory = command { true } else { false }
    }
    package func carryOut(_ command: SourceCommand, at now: Instant) {
        if case .accessory(let command) = command { perform(command, at: now) }
    }
}
