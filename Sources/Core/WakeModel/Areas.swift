// The tables of areas: what has something of each names them here, and no other file of this room does.

/// The words for where events come from.
public enum Source: UInt8, Worded, Sendable {
    case location, bluetooth, accessory, audio, voip, push, transfer, task, system, notification

    /// Written out, because a name is costly to ask for.
    package var word: String {
        switch self {
        case .location: "location"
        case .bluetooth: "bluetooth"
        case .accessory: "accessory"
        case .audio: "audio"
        case .voip: "voip"
        case .push: "push"
        case .transfer: "transfer"
        case .task: "task"
        case .system: "system"
        case .notification: "notification"
        }
    }
}

extension Source {
    /// Whether what apps are registered for with it goes with a force quit, so that its events find nobody after it (LAUNCH-2); of
    /// transfers, what is under way (XFER-5).
    package var endsWithForceQuit: Bool {
        switch self {
        case .bluetooth, .accessory, .audio, .voip, .transfer: true
        case .location, .push, .task, .notification, .system: false
        }
    }
}

/// What made an app interested in an event.
public enum Registration: UInt8, Worded, Codable, Sendable {
    case none
    case manager
    case scan
    case pendingConnect
    case connection
    case subscription
    case operation
    /// A service published in the peripheral role.
    case publishedService
    /// A link that the app watches, whoever holds it.
    case watchedConnection
    case standardUpdates
    case significantChange
    case visits
    case region
    case beaconRegion
    case ranging
    case answer
    case audioSession
    case accessoryNotifications
    case accessorySession
    case voipSocket
    case keepAlive
    /// The voip mode alone (VOIP-4, VOIP-5).
    case voipMode
    case notification
    /// A session that the app's process has joined.
    case transferSession
    /// A session that no process of the app has joined, or whose app sleeps (XFER-2).
    case transferEvents
    case newsstandDownload
    case remoteNotifications
    /// A push registry that wants VoIP pushes.
    case pushKit
    /// The newsstand-content mode alone (NEWS-1).
    case newsstandMode
    /// The fetch mode and a minimum interval (FETCH-1).
    case fetch
    /// A request for a refresh task, or for a processing task (BGT-1).
    case refreshTask
    case processingTask

    /// The source whose events it makes an app hear of; of none, Bluetooth.
    @inlinable
    package var source: Source {
        switch self {
        case .none, .manager, .scan, .pendingConnect, .connection, .subscription, .operation, .publishedService,
            .watchedConnection:
            .bluetooth
        case .standardUpdates, .significantChange, .visits, .region, .beaconRegion, .ranging, .answer: .location
        case .audioSession: .audio
        case .accessoryNotifications, .accessorySession: .accessory
        case .voipSocket, .keepAlive, .voipMode: .voip
        case .notification: .notification
        case .transferSession, .transferEvents, .newsstandDownload: .transfer
        case .remoteNotifications, .pushKit, .newsstandMode: .push
        case .fetch, .refreshTask, .processingTask: .task
        }
    }

    /// Whether the phone launches the app for its events: of a notification the user sees without the app.
    package var needsApp: Bool { self != .notification }

    /// The reason with which its events wake the app though the user force-quit it, and the switch of the profile that they need for
    /// it, nil for none (LAUNCH-3, PUSH-6, BTC-8); nil where they do not.
    package var liftingForceQuit: (reason: Reason, setting: String?)? {
        switch self {
        case .significantChange, .visits, .region, .beaconRegion: (.relaunchedAfterForceQuit, "locationLiftsForceQuit")
        case .pushKit: (.calledByPush, nil)
        // A force quit leaves only those of accessories that were set up.
        case .pendingConnect, .connection: (.relaunchedForAccessory, "accessorySetupRelaunches")
        default: nil
        }
    }

    /// The events that say that what brings its own is switched off, and on again, and the reason why none comes meanwhile (BTC-10);
    /// nil where nothing switches it.
    package var switchedOff: (by: EventKind, until: EventKind, reason: Reason)? {
        self != .none && source == .bluetooth ? (.bluetoothPoweredOff, .bluetoothPoweredOn, .bluetoothOff) : nil
    }

    /// The rule that gives a wake by it its time; nil where no app is woken by it.
    package var windowRule: RuleID? {
        switch self {
        case .none, .notification, .transferSession: nil
        case .manager, .scan, .pendingConnect, .connection, .subscription, .operation, .watchedConnection: .btc1
        case .publishedService: .btp1
        case .standardUpdates, .significantChange, .visits, .region, .beaconRegion, .ranging, .answer: .loc8
        case .audioSession: .aud6
        case .accessoryNotifications, .accessorySession: .ea2
        case .keepAlive: .voip3
        case .voipSocket, .voipMode: .voip1
        case .transferEvents: .xfer10
        case .newsstandDownload: .news2
        case .remoteNotifications: .push1
        case .pushKit: .push6
        case .newsstandMode: .news1
        case .fetch: .fetch2
        case .refreshTask: .bgt6
        case .processingTask: .bgt7
        }
    }
}

extension Registration {
    /// The rule by which a switch lets an event launch its app before the first unlock.
    package var ruleBeforeFirstUnlock: RuleID { self == .pushKit ? .push12 : .voip4 }
}

/// A background mode of Info.plist's UIBackgroundModes (MODE-1).
package enum BackgroundMode: UInt8, Worded, Sendable {
    case audio
    case location
    case voip
    case newsstandContent
    case externalAccessory
    case bluetoothCentral
    case bluetoothPeripheral
    case fetch
    case remoteNotification
    case processing
    case pushToTalk
    case nearbyInteraction
    case networkAuthentication

    /// The word used in Info.plist.
    package var plistValue: String { word }

    /// The mode for a word of Info.plist; nil for an unknown word, which has no effect (MODE-1).
    package init?(plistValue: String) { self.init(word: plistValue) }

    /// Written out, because a name is costly to ask for.
    package var word: String {
        switch self {
        case .audio: "audio"
        case .location: "location"
        case .voip: "voip"
        case .newsstandContent: "newsstand-content"
        case .externalAccessory: "external-accessory"
        case .bluetoothCentral: "bluetooth-central"
        case .bluetoothPeripheral: "bluetooth-peripheral"
        case .fetch: "fetch"
        case .remoteNotification: "remote-notification"
        case .processing: "processing"
        case .pushToTalk: "push-to-talk"
        case .nearbyInteraction: "nearby-interaction"
        case .networkAuthentication: "network-authentication"
        }
    }
}

/// What the router must know of an app's bundle.
package struct AppManifest: Hashable, Codable, Sendable {
    /// The interned CFBundleIdentifier.
    package var bundle: NameID
    /// The known values of UIBackgroundModes.
    package var modes: BackgroundModes
    /// UIApplicationExitsOnSuspend (OPT-1).
    package var exitsOnSuspend: Bool
    /// Whether the user lets the app use Bluetooth (BTP-5).
    package var bluetoothAuthorization: BluetoothAuthorization
    /// The interned members of UISupportedExternalAccessoryProtocols (EA-3).
    package var accessoryProtocols: [NameID]
    /// What the app was built with (VOIP-1).
    package var sdk: SDKVersion
    /// Whether NSAccessorySetupKitSupports or NSAccessorySetupSupports names Bluetooth: its user may set up accessories for it (BTC-8).
    package var accessorySetup: Bool
    /// Whether the bundle has a notification service extension (PUSH-9).
    package var serviceExtension: Bool
    /// The interned members of BGTaskSchedulerPermittedIdentifiers; nil when Info.plist has no such key (BGT-1, FETCH-6).
    package var taskIdentifiers: [NameID]?

    package init(
        bundle: NameID,
        modes: BackgroundModes,
        exitsOnSuspend: Bool = false,
        bluetoothAuthorization: BluetoothAuthorization = .allowed,
        accessoryProtocols: [NameID] = [],
        sdk: SDKVersion = .unknown,
        accessorySetup: Bool = false,
        serviceExtension: Bool = false,
        taskIdentifiers: [NameID]? = nil
    ) {
        self.bundle = bundle
        self.modes = modes
        self.exitsOnSuspend = exitsOnSuspend
        self.bluetoothAuthorization = bluetoothAuthorization
        self.accessoryProtocols = accessoryProtocols
        self.sdk = sdk
        self.accessorySetup = accessorySetup
        self.serviceExtension = serviceExtension
        self.taskIdentifiers = taskIdentifiers
    }
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
    case notification(NotificationRequest)
    /// The number of the session that asks, from the same counter as those of managers; 0 where none does.
    case transfer(ManagerNumber, TransferRequest)
    case push(PushRequest)
    case backgroundTask(BackgroundTaskRequest)
    /// What is measured of its process (MEM-3, CPU-1, RESP-1 to RESP-4).
    case measured(ProcessMeasure)
    case asked(TimeQuestion)
}

extension AppRequest {
    /// Whether an app may be registered for less by it.
    package var mayLetGo: Bool {
        switch self {
        case .releaseManager, .stopScan, .watchConnections: true
        case .peripheralManager(_, .release), .peripheralManager(_, .removeService),
            .peripheralManager(_, .removeAllServices):
            true
        case .location(_, .release), .location(_, .stopUpdating), .location(_, .stopSignificant),
            .location(_, .stopVisits), .location(_, .stopMonitoring):
            true
        case .audio(.deactivate), .audio(.stop): true
        case .accessory(_, .unregister), .accessory(_, .close): true
        case .voip(.unwatch), .voip(.clearKeepAlive): true
        case .notification(.cancel), .notification(.cancelAll): true
        case .transfer(_, .invalidate), .transfer(_, .suspend), .transfer(_, .cancel),
            .transfer(_, .cancelKeepingBytes):
            true
        case .push(.unregister), .push(.unregisterCalls): true
        case .backgroundTask(.cancel), .backgroundTask(.cancelAll), .backgroundTask(.setFetchInterval): true
        default: false
        }
    }
}

/// What happens to the phone itself (SYS-1).
package enum PhoneChange: UInt8, Worded, Codable, Sendable {
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
    case chargerConnected
    case chargerDisconnected
    case wifiJoined
    case wifiLeft
    case cellularOn
    case cellularOff
    case lowPowerModeOn
    case lowPowerModeOff
    /// The switch for every app.
    case backgroundRefreshOn
    case backgroundRefreshOff
    /// The display goes dark, without being locked.
    case displayOff
    /// Every process ends, and nothing happens until `boot`.
    case shutDown
    /// On again after `shutDown`: the first unlock is owed.
    case boot
    /// Memory is short: who runs is told (RESP-6).
    case memoryWarning
    /// One more process must go (MEM-1).
    case memoryShortage
    /// There is memory enough again.
    case memoryRelief
    /// The call ends, and apps that it interrupted hear so without shouldResume (AUD-6).
    case callEndedWithoutResume
    /// The call ends, and apps that it interrupted do not hear so (AUD-6).
    case callEndedUntold

    /// Whether a telephone call ends, whatever apps hear of it.
    package var endsCall: Bool { self == .callEnded || self == .callEndedWithoutResume || self == .callEndedUntold }
}

extension PhoneConditions {
    /// What is so after a change of the phone; what is none of them leaves all as it is.
    package func after(_ change: PhoneChange) -> Self {
        var after = self
        switch change {
        case .chargerConnected: after.insert(.externalPower)
        case .chargerDisconnected: after.remove(.externalPower)
        case .wifiJoined: after.insert(.wifi)
        case .wifiLeft: after.remove(.wifi)
        case .cellularOn: after.insert(.cellular)
        case .cellularOff: after.remove(.cellular)
        case .lowPowerModeOn: after.insert(.lowPowerMode)
        case .lowPowerModeOff: after.remove(.lowPowerMode)
        case .backgroundRefreshOn: after.remove(.refreshOff)
        case .backgroundRefreshOff: after.insert(.refreshOff)
        case .displayOn, .unlock: after.insert(.displayOn)
        case .displayOff, .lock, .reboot, .boot: after.remove(.displayOn)
        case .airplaneModeOn, .airplaneModeOnKeepingBluetooth: after.insert(.airplaneMode)
        case .airplaneModeOff: after.remove(.airplaneMode)
        default: break
        }
        return after
    }
}

/// What a source is to do, whatever it is of.
package enum SourceCommand: Hashable, Sendable {
    case bluetooth(BluetoothCommand)
    case peripheralRole(PeripheralRoleCommand)
    case location(LocationCommand)
    case audio(AudioCommand)
    case accessory(AccessoryCommand)
    case voip(VoIPCommand)
    case notification(NotificationCommand)
    case transfer(TransferCommand)
    case push(PushCommand)
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
    /// The app has its device token, for VoIP pushes or for all others.
    case deviceToken(forCalls: Bool)
    /// The time of a task is nearly over: its expiration handler is to run (BGT-8). The number of the task, and its identifier.
    case taskExpiration(UInt32, NameID)
    /// What the scheduler says to an app that waits for it, under the app's own number.
    case taskAnswer(UInt64, TaskAnswer)
}

/// What an app reads of an event. The router never looks at it.
package enum EventPayload: Hashable, Codable, Sendable {
    case none
    case value([UInt8])
    case advertisement(Advertisement)
    case services([GATTService])
    case characteristics([GATTCharacteristic])
    case descriptors([GATTDescriptor])
    case signalStrength(Int16)
    case name(String)
    case notifying(Bool)
    case handles([AttributeHandle])
    case failure(BluetoothFailure)
    /// A read of a published characteristic begins at this byte.
    case readRequest(offset: UInt16)
    /// All writes of one request, in order; one answer is for all.
    case writeRequests([LocalWrite])
    /// How many bytes an update to the central that subscribed may have.
    case central(maximumUpdateLength: UInt16)
    case psm(UInt16)
    /// A link that an app watches came up, or went.
    case connectionEvent(connected: Bool)
    case position(Position)
    /// Several fixes at once, oldest first.
    case positions([Position])
    /// The beacons of one constraint, nearest first; none when none is there (BCN-4).
    case beacons([BeaconSighting])
    case regionState(RegionState)
    /// In the codes of ``LocationFailureCode``.
    case locationFailure(code: Int32, message: String)
    case visit(Visit)
    /// The way of sound from now on, and the way before.
    case audioRoute(AudioRoute, previous: AudioRoute)
    case accessory(Accessory)
    case accessoryFailure(AccessoryFailure)
    case notification(NotificationContent)
    case transfer(TransferReport)
    /// The payload of a push: a JSON object.
    case push([UInt8])
}

/// Why a request of an app changed nothing.
package enum RequestFault: UInt8, Worded, Sendable {
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
    /// The process has a session with that identifier already (XFER-3).
    case duplicateSession
    /// Of an unknown number, or one that another task of the session has.
    case unknownTransfer
    case duplicateTransfer
    /// A task that does not outlive the process that asks for it (XFER-9).
    case notFromFile
    /// Newsstand's downloads without the mode (NEWS-2).
    case newsstandModeMissing
    /// BGTaskScheduler's errors: background refresh is off, or there is no scheduler (PWR-3); as many requests are pending as may
    /// be (BGT-2); the identifier or the mode is missing (BGT-1).
    case tasksUnavailable
    case tooManyTaskRequests
    case taskNotPermitted
}

/// What each area has of its own in a profile.
package struct AreaFigures: Hashable, Codable, Sendable {
    package var bluetooth: BluetoothFigures
    package var location: LocationFigures
    package var audio = AudioFigures()
    package var accessory = AccessoryFigures()
    package var voip: VoIPFigures
    package var notification = NotificationFigures()
    package var transfer: TransferFigures
    package var citizen = CitizenFigures()
    package var push: PushFigures
    package var backgroundTask: BackgroundTaskFigures

    init(ios version: Int) {
        bluetooth = BluetoothFigures(ios: version)
        location = LocationFigures(ios: version)
        voip = VoIPFigures(ios: version)
        transfer = TransferFigures(ios: version)
        push = PushFigures(ios: version)
        backgroundTask = BackgroundTaskFigures(ios: version)
    }
}

extension ProfileSetting {
    /// Every switch and figure of a profile, by subject. A profile is encoded in this order.
    package static let all: [ProfileSetting] =
        life + LocationFigures.launches + boot + tasks + LocationFigures.settings + AudioFigures.settings
        + VoIPFigures.settings + AccessoryFigures.settings + BluetoothFigures.settings + NotificationFigures.settings
        + CitizenFigures.settings + TransferFigures.settings + PushFigures.settings + BackgroundTaskFigures.settings
}

extension EventKind {
    /// Whether what its app is registered for, or what that is allowed, may have changed by it: links, subscriptions, sockets and
    /// transfers come and go, and the user answers.
    package var changesRegistrations: Bool {
        self == .peripheralConnected || self == .peripheralDisconnected || self == .peripheralConnectionFailed
            || self == .notificationStateChanged || self == .transferEnded || self == .voipClosed
            || self == .authorizationChanged
    }
}
