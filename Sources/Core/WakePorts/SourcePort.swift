import WakeModel

/// What every source of events has, whatever it is of.
///
/// Everything happens on the bench's one thread.
package protocol SourcePort: AnyObject {
    /// The backend's word, such as `simulated`.
    var backend: String { get }

    /// Where reports go. Set before ``start(at:)``.
    var report: ((SourceReport) -> Void)? { get set }

    /// Begins. A device, service or permission that is missing says so by throwing.
    func start(at now: Instant) throws(SourceFailure)

    /// The next instant at which the source has something to do of its own; nil when only the outside can tell.
    var nextDeadline: Instant? { get }

    /// Time has come to `now`. Harmless when nothing is due.
    func timeReached(_ now: Instant)

    /// Whether a command of the router is for it.
    func takes(_ command: SourceCommand) -> Bool

    /// Carries out a command of the router that it takes; any other is ignored.
    func carryOut(_ command: SourceCommand, at now: Instant)

    /// The events, of whatever source, that it hears of once they are accepted.
    var heardKinds: [EventKind] { get }

    /// An event of ``heardKinds`` was accepted.
    func hear(_ event: WakeEvent, _ payload: EventPayload, at now: Instant)

    /// Looks at the sockets that it shares with apps; to be called in each turn. Harmless when there are none.
    func look(at now: Instant)

    /// What an app owes it, so that virtual time waits; nil when nothing is owed.
    var owed: String? { get }

    /// Virtual time waited as long as it may: what is owed counts as late.
    func giveUpWaiting(at now: Instant)

    /// Whether it is where it was once it has heard again what a journal holds.
    var isReplayed: Bool { get }

    /// Ends: what was open is let go, and nothing is reported any more.
    func stop()
}

extension SourcePort {
    /// Whether nothing of it is outside the bench.
    package var isSimulated: Bool { backend == "simulated" }

    package var nextDeadline: Instant? { nil }
    package func timeReached(_ now: Instant) {}
    package var heardKinds: [EventKind] { [] }
    package func hear(_ event: WakeEvent, _ payload: EventPayload, at now: Instant) {}
    package func look(at now: Instant) {}
    package var owed: String? { nil }
    package func giveUpWaiting(at now: Instant) {}
    package var isReplayed: Bool { isSimulated }
}

/// An event as a source hands it in: the fact, and what the app is to read.
package struct SourceReport: Hashable, Codable, Sendable {
    package var event: WakeEvent
    package var payload: EventPayload

    package init(_ event: WakeEvent, _ payload: EventPayload = .none) {
        self.event = event
        self.payload = payload
    }
}

/// A source cannot work or cannot do what was asked.
package struct SourceFailure: Error, Hashable, Sendable {
    package enum Kind: UInt8, Sendable {
        /// A service, device or permission is missing: exit code 12.
        case environment
        /// The scenario names something that is not there: exit code 11.
        case unknown
        /// The backend cannot do that: exit code 2.
        case unsupported
        /// A device is not in a state for it: exit code 4.
        case wrongState
    }

    package var kind: Kind
    /// One line that names the thing and the remedy.
    package var message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// A step arms a fault that the file of a device does not have.
    ///
    /// - Parameter device: with its kind, as in `device strap`.
    package static func noFault(_ fault: String, of device: String, among known: [String]) -> SourceFailure {
        let faults = known.isEmpty ? "none" : known.joined(separator: ", ")
        return SourceFailure(.unknown, "\(device) has no fault '\(fault)'; its file has \(faults)")
    }

    /// A step names a device that the scenario does not have.
    ///
    /// - Parameter device: with its kind, as in `device 'strap'`.
    package static func noDevice(_ device: String, among known: [String]) -> SourceFailure {
        let devices = known.isEmpty ? "none" : known.prefix(8).joined(separator: ", ")
        return SourceFailure(.unknown, "there is no \(device); the scenario has \(devices)")
    }
}
