/// What the owner of the router does next, in the order given.
package enum Action: Hashable, Sendable {
    /// Start a process of the app, and tell it the state it starts in, what it starts for, and which of its managers wait
    /// to be made again.
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
    /// Tell the app something that is no event.
    case tell(AppID, AppNotice)
    /// A source is to do something.
    case command(SourceCommand)
    /// The system shows the user an alert on behalf of an app that he does not see, about a peripheral (BTC-9) or about
    /// where the phone is (LOC-10); recorded.
    case alert(AppID, EventKind, subject: NameID, EventID)
    /// The router found something: take it as the next input, in the same transaction, with the payload given, or with
    /// that of the input at hand when none is given and it is the event's parent, or with what stands of its kind. A replay
    /// has it in its inputs already.
    case raise(WakeEvent, EventPayload)
    /// A request that changed nothing; recorded (TASK-6).
    case refused(AppID, RequestFault)
    /// A process ended (LIFE-10).
    case exited(ExitRecord)
    /// The app moved from one state to another (LIFE-1).
    case moved(AppID, from: AppState, to: AppState)
}

/// What a source is to do, whatever it is of.
package enum SourceCommand: Hashable, Sendable {
    case bluetooth(BluetoothCommand)
    case peripheralRole(PeripheralRoleCommand)
    case location(LocationCommand)
    case audio(AudioCommand)
    case accessory(AccessoryCommand)
    case voip(VoIPCommand)
}

/// What an app, or one of its managers, is told that is no event.
package enum AppNotice: Hashable, Sendable {
    /// Whether a central or peripheral manager may use Bluetooth.
    case managerState(ManagerNumber, BluetoothState)
    /// A central manager's willRestoreState, with what was preserved (BTC-6).
    case restore(ManagerNumber, RestoredState)
    /// A peripheral manager's willRestoreState, with what was preserved (BTP-4).
    case restorePeripheral(ManagerNumber, RestoredPeripheral)
    /// What a location manager's app may know.
    case locationAuthorization(ManagerNumber, LocationAuthorization)
    /// The answer to a numbered request about sound; of a start, with the ends of the app's stream.
    case audioAnswer(request: UInt32, AudioAnswer)
}

extension Action {
    package static func bluetooth(_ command: BluetoothCommand) -> Action { .command(.bluetooth(command)) }
    package static func peripheralRole(_ command: PeripheralRoleCommand) -> Action {
        .command(.peripheralRole(command))
    }
    package static func location(_ command: LocationCommand) -> Action { .command(.location(command)) }
    package static func audio(_ command: AudioCommand) -> Action { .command(.audio(command)) }
    package static func accessory(_ command: AccessoryCommand) -> Action { .command(.accessory(command)) }
    package static func voip(_ command: VoIPCommand) -> Action { .command(.voip(command)) }

    package static func managerState(_ app: AppID, _ manager: ManagerNumber, _ state: BluetoothState) -> Action {
        .tell(app, .managerState(manager, state))
    }
    package static func restore(_ app: AppID, _ manager: ManagerNumber, _ state: RestoredState) -> Action {
        .tell(app, .restore(manager, state))
    }
    package static func restorePeripheral(
        _ app: AppID,
        _ manager: ManagerNumber,
        _ state: RestoredPeripheral
    ) -> Action {
        .tell(app, .restorePeripheral(manager, state))
    }
    package static func locationAuthorization(
        _ app: AppID,
        _ manager: ManagerNumber,
        _ authorization: LocationAuthorization
    ) -> Action {
        .tell(app, .locationAuthorization(manager, authorization))
    }
    package static func audioAnswer(_ app: AppID, request: UInt32, _ answer: AudioAnswer) -> Action {
        .tell(app, .audioAnswer(request: request, answer))
    }
}

/// The restore identifiers of the managers that wait to be made again, in order of creation.
package struct RestoreIdentifiers: Hashable, Sendable {
    /// Of central managers (BTC-6).
    package var central: [NameID]
    /// Of peripheral managers (BTP-4).
    package var peripheral: [NameID]

    package init(central: [NameID] = [], peripheral: [NameID] = []) {
        self.central = central
        self.peripheral = peripheral
    }
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
