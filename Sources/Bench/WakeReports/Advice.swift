import WakeModel

/// What to do about a reason, and what it means: prose that is generated and never parsed.
enum Advice {
    /// What would make the app wake; nil when nothing is wrong.
    static func fix(_ reason: Reason, of kind: EventKind) -> String? {
        switch (kind.source, reason) {
        case (.bluetooth, .modeMissing) where kind.isOfPeripheralRole:
            "Add bluetooth-peripheral to UIBackgroundModes in Info.plist"
        case (.bluetooth, .noRegistration) where kind.isOfPeripheralRole:
            "Let an app publish the service before a central asks for it"
        case (.bluetooth, .managerNotCreated) where kind.isOfPeripheralRole:
            "Create the peripheral manager in didFinishLaunching, with the same restore identifier"
        case (.audio, .noRegistration): "Let an app set a category or start its engine before it happens"
        case (.location, .modeMissing): "Add location to UIBackgroundModes in Info.plist"
        case (.location, .noRegistration):
            "Let an app start updates, significant changes or visits, or monitor a region, before it happens"
        case (.accessory, .noRegistration):
            "List the accessory's protocol in UISupportedExternalAccessoryProtocols in Info.plist"
        case (.location, .managerNotCreated): "Create a CLLocationManager in didFinishLaunching, and set its delegate"
        case (.voip, .modeMissing): "Add voip to UIBackgroundModes in Info.plist"
        case (.voip, .noRegistration): "Mark the socket for VoIP while the app runs"
        default: fix(reason)
        }
    }

    private static func fix(_ reason: Reason) -> String? {
        switch reason {
        case .forceQuit:
            "Launch the app once by hand, then end it with `terminate`, cause memory, to test a relaunch"
        case .beforeFirstUnlock: "Unlock the phone once after its restart, or remove the passcode"
        case .noRegistration: "Let an app scan, connect or subscribe before the event happens"
        case .modeMissing: "Add bluetooth-central to UIBackgroundModes in Info.plist"
        case .scanNeedsMode: "Add bluetooth-central to UIBackgroundModes in Info.plist, or scan in the foreground"
        case .scanWithoutServices: "Name the services in scanForPeripherals(withServices:options:)"
        case .duplicateDiscovery: "Stop the scan and start it again to hear of the same peripheral once more"
        case .noRestoreIdentifier:
            "Give the central manager CBCentralManagerOptionRestoreIdentifierKey, and the same on every launch"
        case .notRelaunchedAfterExit: "Launch the app once by hand"
        case .bluetoothOff: "Turn Bluetooth on"
        case .exitsOnSuspend: "Remove UIApplicationExitsOnSuspend from Info.plist"
        case .managerNotCreated: "Create the central manager in didFinishLaunching, with the same restore identifier"
        case .foregroundUpdatesOnly: "Set allowsBackgroundLocationUpdates before startUpdatingLocation"
        case .notRelaunchedByUpdates:
            "Monitor a region or significant changes: standard updates end with the process that started them"
        case .withinDistanceFilter: "Set a smaller distanceFilter"
        case .notAuthorized: "Ask with requestAlwaysAuthorization, and let the user allow it"
        case .updatesPaused:
            "Set pausesLocationUpdatesAutomatically to false, or start the updates again after didPauseLocationUpdates"
        case .sideNotWanted: "Set notifyOnEntry or notifyOnExit of the region"
        case .rangingNeedsRunning: "Monitor the beacon region, and range in the seconds after its entry"
        case .overflow: "Let the app keep up: it was sent more than it took"
        case .notPreserved:
            "Give the peripheral manager CBPeripheralManagerOptionRestoreIdentifierKey, and the same on every launch"
        case .soundModeMissing: "Add audio to UIBackgroundModes in Info.plist"
        case .silentTooLong: "Play something that can be heard, or end the session when nothing is played"
        case .callHasPriority: "Wait for the end of the interruption, then activate the session again"
        case .categoryForbids:
            "Set a category that plays or records there: playback, record, playAndRecord or multiRoute"
        case .cannotInterruptOthers:
            "Start in the foreground, or let the session mix: mixWithOthers, duckOthers or the category ambient"
        case .notRelaunchedBySound: "Nothing brings the app back for its sound; the user must launch it"
        case .ranDry: "Let the render callback keep up: it must not wait, allocate or lock"
        case .bluetoothNotAuthorized: "Let the app use Bluetooth: `authorizations: {bluetooth: allowed}`"
        case .accessoryModeMissing: "Add external-accessory to UIBackgroundModes in Info.plist"
        case .protocolNotListed:
            "List the accessory's protocol in UISupportedExternalAccessoryProtocols in Info.plist"
        case .notificationsNotAsked: "Call registerForLocalNotifications of EAAccessoryManager at launch"
        case .notRelaunchedByAccessory: "Launch the app by hand: no accessory brings a terminated app back"
        case .accessoryBytesLost: "Read the stream faster than the accessory sends"
        case .legacySocketsOff:
            "Build the app with an SDK below 10 (DTSDKName, or `sdk: 9.3`), or set `voip: {legacy: on}`"
        case .voipWakeLimit:
            "Let the server send less often, or lift the limit for a test: `voip: {wakeLimit: off}`"
        case .inForeground, .alreadyRunning, .resumed, .relaunched, .launching, .deliveredLater,
            .registrationEnded, .appEnded, .benchRestarted, .notARequest, .relaunchedAfterForceQuit,
            .relaunchedForAccessory, .answerWaits,
            .nothingCrossed, .crossingBegan, .beaconKnown, .ledToEvents, .accessoryFollowsForeground,
            .updateKept, .newerUpdateKept, .launchedAfterBoot, .launchedAfterExit, .playsOn, .stoppedPlaying,
            .shouldResume, .interrupted:
            nil
        }
    }
}
