/// What the owner of the router does next, in the order given.
package enum Action: Hashable, Sendable {
    /// Start a process of the app, and tell it the state it starts in and what it starts for.
    case launch(AppID, generation: UInt32, state: AppState, cause: EventID, decision: DecisionID)
    /// Let the frozen process run.
    case thaw(AppID)
    /// Freeze the process, then report `suspended` or `suspensionRefused`; a `thaw` in between takes it back.
    case freeze(AppID)
    /// Kill the process and all its children. From here on nothing more is heard of this process.
    case kill(AppID)
    case callback(AppID, LifecycleCallback, state: AppState)
    /// Call the expiration handlers of these tasks (TASK-3).
    case expireTasks(AppID, tokens: [UInt64])
    /// Hand an event to the app. The payload is the bench's, by event.
    case deliver(AppID, manager: ManagerNumber, EventID, DecisionID)
    /// The event waits for the app: its payload is needed later. Followed by exactly one `discard`, some time.
    case keep(AppID, EventID)
    /// The event does not wait for the app any more, delivered or not.
    case discard(AppID, EventID)
    /// Tell a central or peripheral manager whether it may use Bluetooth.
    case managerState(AppID, ManagerNumber, BluetoothState)
    /// Call willRestoreState with what was preserved (BTC-6).
    case restore(AppID, ManagerNumber, RestoredState)
    /// Call a peripheral manager's willRestoreState with what was preserved (BTP-4).
    case restorePeripheral(AppID, ManagerNumber, RestoredPeripheral)
    case bluetooth(BluetoothCommand)
    /// The system shows the user an alert on behalf of an app that he does not see, about a peripheral (BTC-9) or about
    /// where the phone is (LOC-10); recorded.
    case alert(AppID, EventKind, subject: NameID, EventID)
    case peripheralRole(PeripheralRoleCommand)
    /// Tell a location manager what the app may know.
    case locationAuthorization(AppID, ManagerNumber, LocationAuthorization)
    case location(LocationCommand)
    case audio(AudioCommand)
    /// Answer a numbered request of the app's about sound; of a start, with the ends of its stream.
    case audioAnswer(AppID, request: UInt32, AudioAnswer)
    case accessory(AccessoryCommand)
    case voip(VoIPCommand)
    /// The router found something: take it as the next input, in the same transaction, with the payload given, or with
    /// that of the input at hand when none is given and it is the event's parent; a significant change has that of the
    /// last fix. A replay has it in its inputs already.
    case raise(WakeEvent, EventPayload)
    /// A request that changed nothing; recorded (TASK-6).
    case refused(AppID, RequestFault)
    /// A process ended (LIFE-10).
    case exited(ExitRecord)
    /// The app moved from one state to another (LIFE-1).
    case moved(AppID, from: AppState, to: AppState)
}

/// What a manager gets back in willRestoreState.
package struct RestoredState: Hashable, Sendable {
    package var peripherals: [Peripheral]
    /// Nil when the manager was not scanning.
    package var scanServices: [NameID]?
    package var scanAllowsDuplicates: Bool

    package struct Peripheral: Hashable, Sendable {
        package var name: NameID
        package var connected: Bool
        /// The characteristics it is subscribed to, in ascending order.
        package var subscriptions: [AttributeHandle]

        package init(name: NameID, connected: Bool, subscriptions: [AttributeHandle]) {
            self.name = name
            self.connected = connected
            self.subscriptions = subscriptions
        }
    }

    package init(peripherals: [Peripheral], scanServices: [NameID]?, scanAllowsDuplicates: Bool) {
        self.peripherals = peripherals
        self.scanServices = scanServices
        self.scanAllowsDuplicates = scanAllowsDuplicates
    }
}

/// Why a request of an app changed nothing.
package enum RequestFault: UInt8, CaseIterable, Sendable {
    case unknownTask
    case duplicateTask
    case unknownManager
    case duplicateManager
    case notConnected
    case bluetoothOff
    case notRunning
    case tooMany
    /// The user does not let the app use Bluetooth (BTP-5).
    case notAuthorized
    case unknownService
    case unknownCharacteristic
    /// An answer to a request that nobody waits for.
    case unknownRequest
    /// A central's request was not answered in time: the central got an error (BTP-1).
    case requestNotAnswered
    case unknownRegion
    case locationModeMissing
    case unavailable
    /// UISupportedExternalAccessoryProtocols does not list the protocol (EA-3).
    case protocolNotListed
    /// The accessory's protocol has a session (EA-5).
    case sessionTaken
    case unknownSession
    /// An unknown number of a VoIP socket, or one that stands for another socket.
    case unknownSocket
    case duplicateSocket
    /// A keep-alive period under the minimum (VOIP-3).
    case keepAliveTooShort
    case voipModeMissing

    /// The word used in records.
    package var word: String {
        switch self {
        case .unknownTask: "unknown-task"
        case .duplicateTask: "duplicate-task"
        case .unknownManager: "unknown-manager"
        case .duplicateManager: "duplicate-manager"
        case .notConnected: "not-connected"
        case .bluetoothOff: "bluetooth-off"
        case .notRunning: "not-running"
        case .tooMany: "too-many"
        case .notAuthorized: "not-authorized"
        case .unknownService: "unknown-service"
        case .unknownCharacteristic: "unknown-characteristic"
        case .unknownRequest: "unknown-request"
        case .requestNotAnswered: "request-not-answered"
        case .unknownRegion: "unknown-region"
        case .locationModeMissing: "location-mode-missing"
        case .unavailable: "unavailable"
        case .protocolNotListed: "protocol-not-listed"
        case .sessionTaken: "session-taken"
        case .unknownSession: "unknown-session"
        case .unknownSocket: "unknown-socket"
        case .duplicateSocket: "duplicate-socket"
        case .keepAliveTooShort: "keep-alive-too-short"
        case .voipModeMissing: "voip-mode-missing"
        }
    }
}
