/// Something that the router did by a rule and that is no verdict on an event: what it is, stands in its row of Tables/deeds.tsv.
public enum Deed: UInt8, CaseIterable, Sendable {
    /// A process is killed for an answer that its API demands and that did not come (CPU-2).
    case endedForAnswer
    /// The app was ended, as it did not return from didEnterBackground in time (LIFE-2).
    case endedInLeaving
    /// The suspended app was ended without a word to it (LIFE-5).
    case endedUnasked
    /// The app was asked to end, with a few seconds for it (LIFE-6).
    case askedToEnd
    /// The app was ended, as it did not finish its launch in time (LIFE-7).
    case endedInLaunch
    /// The app ends, as nothing stays in the background without multitasking (LIFE-8).
    case endedWithoutMultitasking
    /// The restart lifted the bar of the force quit (LAUNCH-4).
    case liftedForceQuit
    /// The app came to the foreground and got what had waited for it (LAUNCH-8).
    case gaveWhatWaited
    /// The app ended one of its background tasks (TASK-1).
    case endedTask
    /// The app goes on in the background for its open tasks (TASK-2).
    case runsForTasks
    /// The expiration handlers of the app's tasks were called (TASK-3).
    case expiredTasks
    /// The app was ended, as its tasks outlived their time (TASK-4).
    case endedForTasks
    /// The app ended a task that it has not, and nothing came of it (TASK-6).
    case passedOverUnknownTask
    /// The app's task has its time from the end of the wake (TASK-8).
    case grantedBudgetAfterWake
    /// The app was installed with the background modes of its Info.plist (MODE-1).
    case tookModes
    /// The phone has moved far enough for a significant change (LOC-1).
    case foundSignificantChange
    /// The app was ended, as it set allowsBackgroundLocationUpdates without the location mode (LOC-6).
    case endedAtSetter
    /// The user was asked whether the app may always know the position (LOC-10).
    case askedForAlways
    /// The user allowed the position once (LOC-12).
    case allowedOnce
    /// What the user allowed once is over, as the app is no longer in use (LOC-12).
    case endedOnce
    /// The region was refused, as the app monitors as many as it may (REG-3).
    case refusedRegion
    /// The app asked for the state of a region and was told (REG-5).
    case toldRegionState
    /// The system keeps the app's regions after its process (REG-6).
    case keptRegions
    /// The region was refused, as its radius is larger than it may be (REG-7).
    case refusedRadius
    /// No beacon of the region was heard for the exit delay (BCN-2).
    case missedBeacons
    /// The display went on, and the app is told of the beacons around (BCN-3).
    case toldOnDisplay
    /// The app is told of the beacons that it ranges from now on, once a second (BCN-4).
    case beganRanging
    /// The app plays with buffers of another size (AUD-9).
    case grantedBuffer
    /// What interrupted the session is over, and the app does not hear so (AUD-6).
    case leftInterrupted
    /// The app asked for the microphone, and the user does not allow it (AUD-10).
    case deniedMicrophone
    /// The app asked for the microphone, and the user allows it (AUD-10).
    case allowedMicrophone
    /// The period of the app's keep-alive handler is over (VOIP-3).
    case calledKeepAlive
    /// The end of its socket woke the app (VOIP-7).
    case wokeForEndOfSocket
    /// The session was refused, as there is one with the accessory and protocol (EA-5).
    case refusedSecondSession
    /// The app's request for a connection goes on (BTC-5).
    case keptConnectionRequest
    /// An alert was shown on behalf of the suspended app (BTC-9).
    case alertedOfDevice
    /// Bluetooth went off, and with it all connections (BTC-10).
    case forgotConnections
    /// The link was lost, and the system connects again (BTC-11).
    case connectsAgain
    /// A peripheral's attributes changed, and the phone, which was not told, keeps its old table (BTC-14).
    case keptAttributes
    /// The app advertises without its name, and its services in the overflow area (BTP-2).
    case hidAdvertisement
    /// The app's services went off, and what it advertised (BTP-3).
    case stoppedServing
    /// The app got back what it had published (BTP-4).
    case restoredPeripheral
    /// The app asked for Bluetooth, which the user does not let it use (BTP-5).
    case refusedRadio
    /// The app stopped its scan, and nothing of it comes any more (BT-1).
    case stoppedDelivery
    /// The user turned Bluetooth off in Settings (BT-2).
    case turnedRadioOff
    /// The user turned Bluetooth off in Control Centre, until tomorrow (BT-2).
    case turnedRadioOffUntilTomorrow
    /// Airplane mode turned Bluetooth off (BT-2).
    case turnedRadioOffForAirplaneMode
    /// The app ends, as it may not stay in the background (OPT-1).
    case endedOnSuspend
    /// The position woke the app though Background App Refresh is off (PWR-4).
    case wokeWithoutRefresh
    /// All that the system keeps for apps was taken up again (SYS-2).
    case tookUpWhatIsKept
    /// The user sees a notification (NOTE-1).
    case notificationShown
    /// The user does not see a notification, as the app may show none (NOTE-7).
    case notificationWithheld
    /// One notification too many is forgotten (NOTE-2).
    case notificationDropped
    /// A notification goes as its app, or the user, wants (NOTE-4).
    case notificationCancelled
    /// A notification's own sound is heard (NOTE-5).
    case soundPlayed
    /// The default sound is heard instead of a notification's own (NOTE-5).
    case soundReplaced
    /// A limit of time passed by an app that a debugger exempts (SYS-5).
    case sparedDebugged
    /// A fresh router made the same decisions of the same inputs (SYS-3).
    case repeatedItself
    /// The app asked how much time it has left (TASK-5).
    case toldTimeRemaining
    /// An expiring activity may begin (TASK-7).
    case grantedActivity
    /// An expiring activity may not begin, as there is no time left (TASK-7).
    case refusedActivity
    /// The app drew in the background (RESP-1).
    case endedForDrawing
    /// What the suspended app listened on was closed (RESP-2).
    case closedListeners
    /// The suspended app's connections are gone (RESP-3).
    case toreDownConnections
    /// The app held a shared lock when it was to be suspended (RESP-4).
    case endedForLocks
    /// The app was suspended with a lock on a file of its own (RESP-4).
    case sparedPrivateLocks
    /// The app's view was kept as it was left (RESP-5).
    case tookViewSnapshot
    /// The app was told that memory is short (RESP-6).
    case warnedOfMemory
    /// The app was ended for the memory that others need (MEM-1).
    case purgedForMemory
    /// Of the apps of its band it was the largest, or the least recently used of them (MEM-2).
    case purgedLargest
    /// The app had more memory than it may (MEM-3).
    case endedForFootprint
    /// The app took too much processor time in the background (CPU-1).
    case endedForProcessorTime
    /// A bundle was refused, and nothing of it stays (MODE-3).
    case refusedBundle
    /// The system goes on with the app's transfers (XFER-1).
    case carriedOnTransfers
    /// A session that was made again was joined to its tasks (XFER-3).
    case joinedSession
    /// The force quit cancelled the app's transfers (XFER-5).
    case cancelledTransfers
    /// A discretionary transfer waits for charger, Wi-Fi and rest (XFER-6).
    case heldForGoodMoment
    /// What the app created in the background is discretionary (XFER-6).
    case treatedAsDiscretionary
    /// A transfer waits for its earliestBeginDate (XFER-7).
    case heldForBeginDate
    /// A transfer took longer than timeoutIntervalForResource (XFER-7).
    case timedOutTransfer
    /// A request is tried again (XFER-7).
    case retriedTransfer
    /// A transfer of the background waits for the resume rate limiter (XFER-8).
    case heldForResumes
    /// The next transfer of the background waits longer (XFER-8).
    case lengthenedResumeDelay
    /// The URL is neither HTTP nor HTTPS (XFER-9).
    case refusedScheme
    /// What is no download and no upload of a file does not outlive its process (XFER-9).
    case refusedTransfer
    /// A broken transfer goes on where it stopped (XFER-9).
    case resumedTransfer
    /// The completion handler of a session was never called (XFER-10).
    case endedForTransferHandler
    /// Low Power Mode pauses a discretionary transfer (PWR-2).
    case pausedForLowPower
    /// The app called the completion handler of a push (PUSH-1).
    case fetchedForPush
    /// A push takes the place of what is displayed (PUSH-4).
    case collapsedNotification
    /// The app told CallKit of an incoming call (PUSH-7).
    case reportedCall
    /// A call that a push told of need not be reported, as the app has one already (PUSH-10).
    case sparedReportOnCall
    /// A call that a push told of need not be reported, as the app is in the foreground (PUSH-10).
    case sparedReportInFront
    /// The app was ended, as it reported no call for a VoIP push (PUSH-7).
    case endedForCall
    /// The service extension may change a notification (PUSH-9).
    case beganExtension
    /// The legacy fetch calls do nothing beside permitted identifiers (FETCH-6).
    case ignoredFetchInterval
    /// A late answer to a fetch ended the app (FETCH-2).
    case endedForFetch
    /// A quick, truthful answer raised the app's chances (FETCH-3).
    case raisedChances
    /// A slow or untruthful answer lowered them (FETCH-3).
    case loweredChances
    /// A task ran over its time, which lowered the app's chances (CPU-2).
    case loweredForOverrun
    /// A request was refused: the identifier or the mode is missing (BGT-1).
    case refusedTaskRequest
    /// A request was refused, as too many are pending (BGT-2).
    case refusedTooManyTaskRequests
    /// A request took the place of one with the same identifier (BGT-2).
    case replacedTaskRequest
    /// The app registered a launch handler too late, or twice (BGT-3).
    case endedForLateHandler
    case endedForSecondHandler
    /// A request is used up by the launch for it (BGT-4).
    case consumedTaskRequest
    /// A processing task ends for the user, or for what it requires (BGT-7).
    case interruptedProcessing
    /// The expiration handler of a task runs (BGT-8).
    case expiredTaskRequest
    /// The app completed a task (BGT-8).
    case completedTaskRequest
    /// A task that was not completed ended the app (BGT-8).
    case endedForTaskRequest
    /// An extension of the app submitted a request (BGT-9).
    case submittedByExtension
    /// A request was refused, as Background App Refresh is off (PWR-3).
    case refusedWithoutRefresh
    /// Something that the app was registered for went with its process, as its manager has no restore identifier (BTC-6).
    case lostWithoutRestoreIdentifier
    /// What the app published went with its process, as its peripheral manager has no restore identifier (BTP-4).
    case lostUnpreserved
    /// Something that the app was registered for went with a force quit (LAUNCH-2).
    case lostToForceQuit
    /// It went when the phone was shut down, or restarted (BTC-8).
    case lostToReboot
    /// It went when Bluetooth went off (BTC-10).
    case lostToRadio
    /// It went with the app, which was uninstalled (SYS-2).
    case lostToUninstall
    /// It went with the app's process (LIFE-10).
    case lostWithProcess
    /// It went with the link to the peripheral (BTC-11).
    case lostWithLink
    /// A subscription went with its service, which the peripheral took back (BT-1).
    case lostWithService
    /// A session ended with its accessory, or by the accessory's wish (EA-2).
    case lostWithDetachment
    /// A session ended as an app without the mode left the foreground (EA-1).
    case lostInBackground
    /// The app gave it up itself (BT-1).
    case unregistered
    /// What was done to the app changed nothing, as it does not run (LIFE-1).
    case foundNoProcess
    /// What was done to the app changed nothing, as it is not installed (SYS-2).
    case foundNotInstalled
    /// What was done to the app changed nothing, as it is not in the foreground (LIFE-1).
    case foundElsewhere
    /// What was done changed nothing, as the phone is off (SYS-1).
    case foundPhoneOff
    /// What was done changed nothing, as it was so already (SYS-1).
    case foundItSo
    /// The user's answer changed nothing, as the phone's system does not ask for it (SYS-1).
    case foundNoSuchChoice
    /// The user force-quit an app that did not run: it is barred all the same (LAUNCH-2).
    case barredWithoutProcess
    /// Word about memory changed nothing, as no app runs (MEM-1).
    case foundNoAppRunning
    /// What the system kept of an app without a process went when Bluetooth went off (BTC-8).
    case lostToRadioAfterEnd
    /// What the system kept of an app without a process went when airplane mode went on with Bluetooth on (BTC-8).
    case lostToAirplaneMode
    /// The other end closed a socket that the app marked, or its connection failed (VOIP-7).
    case lostToPeer
    /// The system tore down the connection of a socket that the suspended app marked (RESP-3).
    case lostToTearDown
    /// A region was crossed by a fix that may as well lie on the other side of its boundary (REG-2).
    case crossedByPoorFix
    /// A significant change was found by a fix that may as well lie where the last one was (LOC-1).
    case movedByPoorFix

    /// Whether it says what became of something that the user, the phone or the system did: its event is that act.
    package var tellsOfAct: Bool {
        switch self {
        case .foundNoProcess, .foundNotInstalled, .foundElsewhere, .foundPhoneOff, .foundItSo, .foundNoSuchChoice,
            .barredWithoutProcess, .foundNoAppRunning:
            true
        default: false
        }
    }

    /// Whether an act that it tells of changed nothing.
    package var tellsOfNoChange: Bool { tellsOfAct && self != .barredWithoutProcess }
}
