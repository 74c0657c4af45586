/// Anything the router can hear.
package enum Input: Hashable, Codable, Sendable {
    /// A deadline may have passed.
    case timeReached
    case phone(PhoneChange)
    case install(AppID, AppManifest)
    case uninstall(AppID)
    case user(AppID, UserAction)
    /// The user sets up a peripheral for an app in AccessorySetupKit's picker; nothing, where the app does not declare that
    /// (BTC-8).
    case setUp(AppID, peripheral: NameID)
    /// The system ends the app, for a cause that is not the user's.
    case terminate(AppID, ExitCause, MemoryPressure = .normal)
    case request(AppID, AppRequest)
    case process(AppID, ProcessReport)
    case event(WakeEvent)
    /// An event that the inbox had no room for: nobody hears of it.
    case overflowed(WakeEvent)
    /// A delivery that the app had not acknowledged when the bench died is decided again against the dead app.
    case redeliver(AppID, WakeEvent, supersedes: DecisionID)
    /// The bench came back after it died: every process is gone. Connections that were up end by events of their own.
    case benchRestarted
}

/// How badly the system wants memory when it ends an app for it (LIFE-6).
package enum MemoryPressure: UInt8, CaseIterable, Codable, Sendable {
    case normal
    /// At once: there is no time to ask the app.
    case critical

    /// The word used in scenarios.
    package var word: String {
        switch self {
        case .normal: "normal"
        case .critical: "critical"
        }
    }

    package init?(word: String) {
        guard let pressure = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = pressure
    }
}

/// What happens to the phone itself (SYS-1).
package enum PhoneChange: UInt8, CaseIterable, Codable, Sendable {
    case lock
    case unlock
    /// Off and on again: every process ends, and the first unlock is owed.
    case reboot
    case setPasscode
    case removePasscode
    /// The display is turned on, without being unlocked (BCN-3).
    case displayOn
    /// The user is in a telephone call, and no app sounds (AUD-5).
    case callBegan
    case callEnded
    /// Bluetooth is turned on again, wherever it was turned off (BT-2).
    case bluetoothOn
    /// Off in Settings: what waits for a peripheral is gone.
    case bluetoothOff
    /// Off in Control Centre: links drop, and come back when it is on again.
    case bluetoothOffInControlCentre
    /// Bluetooth goes off with it.
    case airplaneModeOn
    /// The user has chosen before that Bluetooth stays on.
    case airplaneModeOnKeepingBluetooth
    case airplaneModeOff
}

/// What the user does with an app.
package enum UserAction: UInt8, CaseIterable, Codable, Sendable {
    /// Taps the icon: launches the app, or brings it forward.
    case launch
    /// Presses the home button.
    case home
    /// Swipes it away in the app switcher.
    case forceQuit
    /// Something covers the app for a while, such as a call banner: it becomes inactive.
    case interrupt
    /// The cover goes: it is active again.
    case resumeActive
    /// From now on lets the app know the position always, when asked at its first event in the background (LOC-10).
    case allowAlways
    /// From now on keeps When In Use, when asked then.
    case keepWhenInUse
}

/// What an app asks of the system.
package enum AppRequest: Hashable, Codable, Sendable {
    /// A token minted by the SDK, unique in its process (TASK-1).
    case beginTask(token: UInt64)
    case endTask(token: UInt64)
    /// The app's own word that the work of this wake is done (LIFE-11).
    case done
    /// `restoreIdentifier` is ``NameID/none`` for a manager without one (BTC-7).
    case createManager(ManagerNumber, restoreIdentifier: NameID)
    case releaseManager(ManagerNumber)
    case scan(ManagerNumber, services: [NameID], allowDuplicates: Bool)
    case stopScan(ManagerNumber)
    case connect(ManagerNumber, peripheral: NameID, options: ConnectOptions = [])
    case cancelConnection(ManagerNumber, peripheral: NameID)
    case operate(ManagerNumber, peripheral: NameID, BluetoothOperation)
    /// Hear of links of the peripherals, or to services, whoever holds them; two empty lists end it.
    case watchConnections(ManagerNumber, peripherals: [NameID], services: [NameID])
    /// A manager of the peripheral role; its number is from the same counter as those of central managers.
    case peripheralManager(ManagerNumber, PeripheralManagerRequest)
    /// The number of the location manager that asks, unique in its process and not 0.
    case location(ManagerNumber, LocationRequest)
    case audio(AudioRequest)
    /// The number of the accessory manager that asks, from the same counter as those of other managers, and not 0.
    case accessory(ManagerNumber, AccessoryRequest)
    case voip(VoIPRequest)
}

/// What the process host says of an app's process.
package enum ProcessReport: Hashable, Codable, Sendable {
    /// didFinishLaunching has returned.
    case launched
    /// A lifecycle callback has returned.
    case returned(LifecycleCallback)
    /// The process is frozen, and nothing it said forbids it.
    case suspended
    /// The process cannot be frozen, or spoke while it was: it runs on.
    case suspensionRefused
    /// The process ended by itself or by a signal that the bench did not send; a code, or a negated signal number.
    case exited(Int64)
    /// The executable could not be started; the errno.
    case launchFailed(Int32)
}

/// The lifecycle callbacks of an app delegate.
package enum LifecycleCallback: UInt8, CaseIterable, Codable, Sendable {
    case willResignActive
    case didEnterBackground
    case willEnterForeground
    case didBecomeActive
    case willTerminate
    /// Background tasks are about to expire (TASK-3).
    case taskExpiration

    /// The name on the wire.
    package var word: String {
        switch self {
        case .willResignActive: "willResignActive"
        case .didEnterBackground: "didEnterBackground"
        case .willEnterForeground: "willEnterForeground"
        case .didBecomeActive: "didBecomeActive"
        case .willTerminate: "willTerminate"
        case .taskExpiration: "taskExpiration"
        }
    }

    package init?(word: String) {
        guard let callback = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = callback
    }
}
