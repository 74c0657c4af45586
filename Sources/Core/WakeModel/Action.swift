/// What the owner of the router does next, in the order given. What is large and rare stands behind a pointer.
package enum Action: Hashable, Sendable {
    /// Start a process of the app, and tell it the state it starts in, what it starts for, and, where that is an event of
    /// Bluetooth, which managers of its role wait to be made again.
    case launch(
        AppID,
        generation: UInt32,
        state: AppState,
        cause: EventID,
        decision: DecisionID,
        restores: RestoreIdentifiers = RestoreIdentifiers()
    )
    /// Let the frozen process run.
    case thaw(AppID)
    /// Freeze the process, then report `suspended` or `suspensionRefused`; a `thaw` in between takes it back.
    case freeze(AppID)
    /// Kill the process and all its children. From here on nothing more is heard of this process.
    case kill(AppID)
    case callback(AppID, LifecycleCallback, state: AppState)
    /// Call the expiration handlers of these tasks (TASK-3).
    case expireTasks(AppID, tokens: [UInt64])
    /// Hand an event to the app. The payload is the bench's, by event. `reconnects`: of a disconnection, that the system
    /// connects again by itself (BTC-11).
    case deliver(AppID, manager: ManagerNumber, EventID, DecisionID, reconnects: Bool = false)
    /// The event waits for the app: its payload is needed later. Followed by exactly one `discard`, some time.
    case keep(AppID, EventID)
    /// The event does not wait for the app any more, delivered or not.
    case discard(AppID, EventID)
    /// End the listening of what the suspended process waits for connections on (RESP-2).
    case closeListeners(AppID)
    /// Tell the app something that is no event.
    indirect case tell(AppID, AppNotice)
    /// A source is to do something.
    indirect case command(SourceCommand)
    /// The system shows the user an alert on behalf of an app that he does not see, about a peripheral (BTC-9) or about
    /// where the phone is (LOC-10); recorded.
    case alert(AppID, EventKind, subject: NameID, EventID)
    /// The router found something: take it as the next input, in the same transaction, with the payload given, or with
    /// that of the input at hand when none is given and it is the event's parent, with that of the parent where it is one
    /// of the same kind that is kept, or with what stands of its kind. A replay has it in its inputs already.
    indirect case raise(WakeEvent, EventPayload)
    /// The router did something by a rule that is no verdict; recorded. The event is the one that led to it, if any.
    case did(AppID, Deed, subject: NameID = .none, EventID = .none)
    /// An app is not registered any more for what it was, and by what; recorded. The event is the one that led to it, if any.
    case lost(AppID, Registration, subject: NameID, Deed, EventID)
    /// A request that changed nothing; recorded (TASK-6).
    case refused(AppID, RequestFault)
    /// A process ended (LIFE-10).
    indirect case exited(ExitRecord)
    /// The app moved from one state to another (LIFE-1).
    case moved(AppID, from: AppState, to: AppState)
}
