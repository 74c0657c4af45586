extension Wakebench {
    /// What happened, in the words of scenarios and records.
    public enum EventKind: String, CaseIterable, Sendable {
        case bluetoothPoweredOn = "bluetooth-powered-on"
        case bluetoothPoweredOff = "bluetooth-powered-off"
        case peripheralDiscovered = "peripheral-discovered"
        case peripheralConnected = "peripheral-connected"
        case peripheralConnectionFailed = "peripheral-connection-failed"
        case peripheralDisconnected = "peripheral-disconnected"
        case characteristicNotified = "characteristic-notified"
        case servicesDiscovered = "services-discovered"
        case includedServicesDiscovered = "included-services-discovered"
        case characteristicsDiscovered = "characteristics-discovered"
        case descriptorsDiscovered = "descriptors-discovered"
        case valueRead = "value-read"
        case valueWritten = "value-written"
        case notificationStateChanged = "notification-state-changed"
        case descriptorRead = "descriptor-read"
        case descriptorWritten = "descriptor-written"
        case signalStrengthRead = "rssi-read"
        case nameChanged = "name-changed"
        case servicesModified = "services-modified"
        case readyToWrite = "ready-to-write"
        case serviceAdded = "service-added"
        case advertisingStarted = "advertising-started"
        case centralSubscribed = "central-subscribed"
        case centralUnsubscribed = "central-unsubscribed"
        case readRequested = "read-requested"
        case writeRequested = "write-requested"
        case readyToUpdate = "ready-to-update-subscribers"
        case channelPublished = "l2cap-published"
        case channelUnpublished = "l2cap-unpublished"
        case channelOpened = "l2cap-opened"
        case channelDataAvailable = "l2cap-data"
        case connectionEvent = "connection-event"
        case positionFixed = "position-fixed"
        case significantChange = "significant-change"
        case visitBegan = "visit-began"
        case visitEnded = "visit-ended"
        case regionEntered = "region-entered"
        case regionExited = "region-exited"
        case regionStateDetermined = "region-state-determined"
        case monitoringStarted = "monitoring-started"
        case monitoringFailed = "monitoring-failed"
        case locationUpdatesPaused = "location-updates-paused"
        case authorizationChanged = "location-authorization-changed"
        case locationFailed = "location-failed"
        case beaconSighted = "beacon-sighted"
        case beaconsRanged = "beacons-ranged"
        case audioActivated = "audio-activated"
        case audioStarted = "audio-started"
        case audioInBackground = "audio-in-background"
        case audioStopped = "audio-stopped"
        case audioInterrupted = "audio-interrupted"
        case audioInterruptionEnded = "audio-interruption-ended"
        case audioRouteChanged = "audio-route-changed"
        case audioRanDry = "audio-ran-dry"
        case audioSilent = "audio-silent"
        case audioAudible = "audio-audible"
        case microphoneAnswered = "microphone-answered"
        case accessoryConnected = "accessory-connected"
        case accessoryDisconnected = "accessory-disconnected"
        case accessorySessionOpened = "accessory-session-opened"
        case accessoryDataAvailable = "accessory-data"
        case accessorySessionEnded = "accessory-session-ended"
        case voipData = "voip-data"
        case voipClosed = "voip-closed"
        case voipKeepAlive = "voip-keep-alive"
        case voipAfterBoot = "voip-after-boot"
        case voipAfterExit = "voip-after-exit"
        case notificationDue = "notification-due"
        case notificationTapped = "notification-tapped"
        case transferEnded = "transfer-ended"
        case transferChallenged = "transfer-challenged"
        case transferProgressed = "transfer-progressed"
        case transferWaiting = "transfer-waiting"
        case transferEventsFinished = "transfer-events-finished"
    }

    /// What an app was given of an event.
    public enum Verdict: String, CaseIterable, Sendable {
        case foregroundDeliver = "foreground-deliver"
        case backgroundDeliver = "background-deliver"
        case resume
        case relaunch
        /// Kept for later, such as the first unlock.
        case `defer`
        /// One with an event that waits already.
        case coalesce
        /// Lost: it came too late, or there was no room.
        case drop
        /// Refused by a rule.
        case deny
    }

    /// Why, as one word: `wakebench rules --reasons` explains each.
    public enum Reason: String, CaseIterable, Sendable {
        case inForeground = "InForeground"
        case alreadyRunning = "AlreadyRunning"
        case resumed = "Resumed"
        case relaunched = "Relaunched"
        case launching = "Launching"
        case forceQuit = "ForceQuit"
        case beforeFirstUnlock = "BeforeFirstUnlock"
        case noRegistration = "NoRegistration"
        case modeMissing = "ModeMissing"
        case scanNeedsMode = "ScanNeedsMode"
        case scanWithoutServices = "ScanWithoutServices"
        case duplicateDiscovery = "DuplicateDiscovery"
        case noRestoreIdentifier = "NoRestoreIdentifier"
        case notRelaunchedAfterExit = "NotRelaunchedAfterExit"
        case bluetoothOff = "BluetoothOff"
        case exitsOnSuspend = "ExitsOnSuspend"
        case managerNotCreated = "ManagerNotCreated"
        case deliveredLater = "DeliveredLater"
        case overflow = "Overflow"
        case registrationEnded = "RegistrationEnded"
        case appEnded = "AppEnded"
        case benchRestarted = "BenchRestart"
        case notARequest = "NotARequest"
        case notPreserved = "NotPreserved"
        case bluetoothNotAuthorized = "BluetoothNotAuthorized"
        case relaunchedAfterForceQuit = "RelaunchedAfterForceQuit"
        case answerWaits = "AnswerWaits"
        case foregroundUpdatesOnly = "ForegroundUpdatesOnly"
        case notRelaunchedByUpdates = "NotRelaunchedByUpdates"
        case withinDistanceFilter = "WithinDistanceFilter"
        case notAuthorized = "NotAuthorized"
        case updatesPaused = "UpdatesPaused"
        case sideNotWanted = "SideNotWanted"
        case rangingNeedsRunning = "RangingNeedsRunning"
        case nothingCrossed = "NothingCrossed"
        case crossingBegan = "CrossingBegan"
        case beaconKnown = "BeaconKnown"
        case ledToEvents = "LedToEvents"
        case playsOn = "PlaysOn"
        case stoppedPlaying = "StoppedPlaying"
        case soundModeMissing = "AudioModeMissing"
        case silentTooLong = "SilentTooLong"
        case callHasPriority = "CallHasPriority"
        case shouldResume = "ShouldResume"
        case categoryForbids = "CategoryForbids"
        case cannotInterruptOthers = "CannotInterruptOthers"
        case ranDry = "RanDry"
        case notRelaunchedBySound = "NotRelaunchedByAudio"
        case interrupted = "Interrupted"
        case accessoryModeMissing = "AccessoryModeMissing"
        case protocolNotListed = "ProtocolNotListed"
        case notificationsNotAsked = "NotificationsNotAsked"
        case notRelaunchedByAccessory = "NotRelaunchedByAccessory"
        case accessoryBytesLost = "AccessoryBytesLost"
        case accessoryFollowsForeground = "AccessoryFollowsForeground"
        case legacySocketsOff = "LegacySocketsOff"
        case launchedAfterBoot = "LaunchedAfterBoot"
        case launchedAfterExit = "LaunchedAfterExit"
        case voipWakeLimit = "VoIPWakeLimit"
        case updateKept = "UpdateKept"
        case newerUpdateKept = "NewerUpdateKept"
        case relaunchedForAccessory = "RelaunchedForAccessory"
        case phoneIsOff = "PhoneIsOff"
        case shownBySystem = "ShownBySystem"
        case notificationInFront = "NotificationInFront"
        case tapped = "Tapped"
        case newsstandModeMissing = "NewsstandModeMissing"
        case newsstandDone = "NewsstandDone"
        case progressWakesNobody = "ProgressWakesNobody"
        case launchEventsOff = "LaunchEventsOff"
        case sessionNotDone = "SessionNotDone"
        case sessionDone = "SessionDone"
        case sessionJoined = "SessionJoined"
        case challengeWakes = "ChallengeWakes"
        case transferRetried = "TransferRetried"
    }

    /// How a process came to its end.
    public enum ExitCause: String, CaseIterable, Sendable {
        /// It ended by itself.
        case exit
        case crash
        case watchdog
        case memory
        case cpu
        case policy
        case userForceQuit = "user-force-quit"
        case system
        case update
        /// With the run.
        case bench
    }
}
