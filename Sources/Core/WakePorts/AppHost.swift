import WakeModel

/// The door to the apps: real processes and scripted apps stand behind it alike.
///
/// Everything happens on the bench's one thread. What an app does comes back through ``hear``, possibly from inside a
/// call.
package protocol AppHost: AnyObject {
    /// Where an app's words and its process's fate go, with the generation of the process that they are of. Set before the
    /// first launch.
    var hear: ((AppID, UInt32, AppWord) -> Void)? { get set }

    /// Starts a process. It is told the state it starts in, and what it was started for.
    func launch(_ app: AppID, generation: UInt32, state: AppState, cause: LaunchCause?, at now: Instant)
    func thaw(_ app: AppID, at now: Instant)
    /// Freezes the process, then says `suspended` or `suspensionRefused`, unless a ``thaw(_:at:)`` or ``kill(_:at:)``
    /// comes first.
    func freeze(_ app: AppID, at now: Instant)
    /// Kills the process and its children. Nothing more is heard of it.
    func kill(_ app: AppID, at now: Instant)
    /// Ends the listening of the sockets that the app's process waits for connections on, while it is suspended.
    func closeListeners(of app: AppID, at now: Instant)
    func callback(_ callback: LifecycleCallback, state: AppState, to app: AppID, at now: Instant)
    func expireTasks(_ tokens: [UInt64], of app: AppID, at now: Instant)
    func deliver(_ delivery: AppDelivery, to app: AppID, at now: Instant)
    /// Tells the app, or one of its managers, something that is no event.
    func tell(_ notice: AppNotice, to app: AppID, at now: Instant)

    /// From now on what is sent to an app may wait until ``release()``, and then leave together.
    func gather()
    /// What waited since ``gather()`` leaves.
    func release()

    /// The next instant at which an app has something to do of its own; nil when only a process can tell.
    var nextDeadline: Instant? { get }
    /// Time has come to `now`. Harmless when nothing is due.
    func timeReached(_ now: Instant)
    /// Whether no process owes an answer, so that virtual time may move on.
    var isQuiet: Bool { get }
    /// Ends every process.
    func stop()
}

extension AppHost {
    /// What has no process has no sockets.
    package func closeListeners(of app: AppID, at now: Instant) {}
    /// A host without packets has nothing to gather.
    package func gather() {}
    package func release() {}
}

/// What an app, or its process, says.
package enum AppWord: Hashable, Sendable {
    case report(ProcessReport)
    case request(AppRequest)
    /// It has handled the event.
    case acknowledged(EventID)
}

/// What a process was started for.
package struct LaunchCause: Hashable, Sendable {
    package var event: WakeEvent
    package var decision: DecisionID
    /// The managers that wait to be made again, of the role of the event; none where it is not Bluetooth's.
    package var restores: RestoreIdentifiers

    package init(event: WakeEvent, decision: DecisionID, restores: RestoreIdentifiers) {
        self.event = event
        self.decision = decision
        self.restores = restores
    }
}

/// An event on its way to an app.
package struct AppDelivery: Hashable, Sendable {
    package var event: WakeEvent
    package var payload: EventPayload
    package var decision: DecisionID
    package var manager: ManagerNumber
    /// Of a disconnection: the system connects again by itself (BTC-11).
    package var reconnects: Bool
    /// Of an opened channel: its socket, which the host duplicates for the app.
    package var channel: Int32?

    package init(
        event: WakeEvent,
        payload: EventPayload,
        decision: DecisionID,
        manager: ManagerNumber,
        reconnects: Bool = false,
        channel: Int32? = nil
    ) {
        self.event = event
        self.payload = payload
        self.decision = decision
        self.manager = manager
        self.reconnects = reconnects
        self.channel = channel
    }
}
