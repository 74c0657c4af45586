import WakeModel

/// How sure a rule is.
package enum Confidence: UInt8, CaseIterable, Sendable {
    /// A public page, header, note or session says so.
    case documented
    /// Crash logs or measurements show it.
    case observed
    /// A reading: no source says it in one sentence.
    case inferred
    /// Often repeated and never measured.
    case folklore
    /// Chosen, because no source says anything.
    case assumed
    /// Sources differ, and a setting chooses.
    case disputed
    /// A rule of the bench, and not of the phone.
    case design

    /// The word used in records.
    package var word: String {
        switch self {
        case .documented: "documented"
        case .observed: "observed"
        case .inferred: "inferred"
        case .folklore: "folklore"
        case .assumed: "assumed"
        case .disputed: "disputed"
        case .design: "design"
        }
    }
}

/// A document that anyone can look up, by its title.
package struct PublicSource: Hashable, Sendable {
    package var title: String

    init(_ title: String) { self.title = title }
}

/// One rule of the rulebook: what it says, how sure it is, and where it can be read.
package struct RuleEntry: Hashable, Sendable {
    package var id: RuleID
    package var sentence: String
    /// The number in the rule, with its unit; nil when it has none.
    package var figure: String?
    /// The profiles it holds in, in words.
    package var profiles: String
    package var confidence: Confidence
    /// What qualifies the confidence, such as an assumed figure.
    package var note: String?
    /// What of the rule, mostly a figure, is chosen because no source says anything; nil when nothing is.
    package var assumed: String?
    package var sources: [PublicSource]
    /// The rule with which it shares code and test.
    package var aliasOf: RuleID?

    init(
        _ id: RuleID,
        _ sentence: String,
        figure: String? = nil,
        profiles: String = "all",
        _ confidence: Confidence,
        note: String? = nil,
        assumed: String? = nil,
        from sources: [PublicSource] = [],
        aliasOf: RuleID? = nil
    ) {
        self.id = id
        self.sentence = sentence
        self.figure = figure
        self.profiles = profiles
        self.confidence = confidence
        self.note = note
        self.assumed = assumed
        self.sources = sources
        self.aliasOf = aliasOf
    }
}

extension PublicSource {
    static let guide2014 = PublicSource("App Programming Guide for iOS, Background Execution, 2014")
    static let guide2013 = PublicSource("iOS App Programming Guide, Background Execution and Multitasking, 2013")
    static let wwdc707 = PublicSource("WWDC 2019, session 707")
    static let sigkill = PublicSource("Xcode documentation, EXC_CRASH (SIGKILL)")
    static let watchdog = PublicSource("Xcode documentation, Addressing watchdog terminations")
    static let jetsam = PublicSource("Xcode documentation, Identifying high-memory use with jetsam event reports")
    static let kernel = PublicSource("XNU source, kern_memorystatus.h and task_policy.c")
    static let wwdc10078 = PublicSource("WWDC 2020, session 10078")
    static let coreBluetoothGuide = PublicSource("Core Bluetooth Programming Guide, Background Processing for iOS Apps")
    static let coreBluetooth = PublicSource("Core Bluetooth documentation, CBCentralManager")
    static let centralReports = PublicSource(
        "public issue reports: react-native-ble-manager 740, react-native-ble-plx 760"
    )
    static let qa1962 = PublicSource("Apple Technical Q&A 1962, 2017")
    static let tn3115 = PublicSource("Apple Technote 3115, 2025")
    static let locationGuide = PublicSource("Location and Maps Programming Guide, 2014")
    static let coreLocation = PublicSource("Core Location documentation")
    static let beaconMeasurements = PublicSource("Radius Networks, measurements of beacon regions, 2013 to 2018")
    static let backgroundTasks = PublicSource("BackgroundTasks documentation")
    static let download = PublicSource("Foundation documentation, Downloading files in the background")
    static let resumeLimiter = PublicSource("Apple Developer Forums, threads 14854 and 128813")
    static let backgroundPush = PublicSource("User Notifications documentation, Pushing background updates to your app")
    static let apns = PublicSource("User Notifications documentation, Sending notification requests to APNs")
    static let uikit = PublicSource("UIKit documentation, UIApplicationDelegate")
    static let timeRemaining = PublicSource("UIKit documentation, backgroundTimeRemaining")
    static let sharedReports = PublicSource("public crash logs and measurements")
    static let accessory = PublicSource("External Accessory documentation")
    static let audioGuide = PublicSource("Audio Session Programming Guide")
    static let audio = PublicSource("AVFAudio documentation, AVAudioSession")
    static let voipQA = PublicSource("Apple Technical Q&A 1938, VoIP sockets")
    static let bufferQA = PublicSource("Apple Technical Q&A 1606")
    static let voipTips = PublicSource("iOS App Programming Guide, Tips for Developing a VoIP App")
    static let keepAlive = PublicSource("UIKit documentation, setKeepAliveTimeout(_:handler:)")
    static let voipLogs = PublicSource("public issue reports: pjsip 1482, XMPPFramework 261")
    static let pushKit = PublicSource("PushKit documentation, Responding to VoIP notifications from PushKit")
    static let pushForum = PublicSource("Apple Developer Forums, threads 124517 and 781211")
    static let pushReports = PublicSource("public issue reports: react-native-voip-push-notification 102")
    static let session = PublicSource("Foundation documentation, URLSessionConfiguration")
    static let localNotification = PublicSource("UIKit documentation, UILocalNotification")
    static let userNotifications = PublicSource("User Notifications documentation")
    static let lowPower = PublicSource("Foundation documentation, isLowPowerModeEnabled")
    static let refreshStatus = PublicSource("UIKit documentation, backgroundRefreshStatus")
    static let cpuLogs = PublicSource("public crash logs: react-native-background-fetch 323, firebase-ios-sdk 8239")
    static let refreshReports = PublicSource(
        "Location and Maps Programming Guide, 2014, against developers' measurements"
    )
}

/// All rules, in the order in which checks are made.
package enum RuleCatalogue {
    /// The rule of an id.
    package static func entry(_ id: RuleID) -> RuleEntry { entries[Int(id.rawValue)] }

    /// The rules in the order of ``RuleID``.
    package static let entries: [RuleEntry] = [
        RuleEntry(
            .life1,
            """
            An app is in exactly one state: notRunning, inactive, active, background, suspended. Legal moves \
            only: notRunning>inactive (user launch) or >background (system launch); inactive<>active; \
            inactive>background; background>inactive (user brings it forward); background>suspended; \
            suspended>background (wake) or >inactive (user); any>notRunning. Anything else is a bug of the \
            emulator and stops the run.
            """,
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .life2,
            """
            On leaving the foreground the app gets willResignActive, then didEnterBackground, and has a \
            short time to return from it; overrunning terminates it with 0x8badf00d.
            """,
            figure: "5 s",
            .documented,
            from: [.uikit]
        ),
        RuleEntry(
            .life3,
            """
            With nothing holding it (no background task, no active mode, no unfinished wake) an app in the \
            background is suspended; a suspended app runs no code at all.
            """,
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .life4,
            """
            Resuming a suspended app keeps its memory and pid; a relaunch is a new process with launch \
            options naming the cause.
            """,
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .life5,
            "A suspended app is terminated without any notice or callback.",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .life6,
            """
            An app that is running in the background when the system must terminate it first gets \
            willTerminate and a few seconds, except where memory is wanted at once (cause memory with \
            pressure critical, MEM-1): that is a bare kill.
            """,
            figure: "5 s",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .life7,
            "A launch that does not finish in time is killed by the launch watchdog, 0x8badf00d.",
            figure: "20 s",
            .documented,
            from: [.watchdog]
        ),
        RuleEntry(
            .life8,
            """
            Where multitasking is not available (multitaskingSupported false) leaving the foreground \
            terminates the app instead of suspending it.
            """,
            profiles: "ios3 switch",
            .documented,
            from: [.guide2013]
        ),
        RuleEntry(
            .life9,
            """
            The foreground app always has precedence: at most one app is active, and making one active moves \
            the other towards the background.
            """,
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .life10,
            """
            Every end of a process leaves an exit record: cause (exit, crash, watchdog, memory, cpu, policy, \
            user force quit, system, update), code, state at the time, who caused it, and when.
            """,
            .design
        ),
        RuleEntry(
            .life11,
            """
            A wake without a completion handler (Bluetooth, accessory, location, VoIP) gives a window that \
            begins with its event; each further event that the app is given opens a window of its own, and \
            the app runs until the last one ends or it says that it is done. Events inside a window are \
            backgroundDeliver, the next one after suspension is a resume. With the setting wakeWindow: \
            first, only the first event's window counts. A wake with a completion handler ends at the \
            handler.
            """,
            figure: "per source",
            .inferred,
            note: "assertions are taken per event; no source says it in one sentence",
            from: [.coreBluetoothGuide]
        ),
        RuleEntry(
            .launch1,
            """
            An app terminated for any reason other than force quit is launched into the background when an \
            event it is eligible for happens.
            """,
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .launch2,
            """
            An app force-quit by the user is not launched or woken by the system until the user launches it, \
            and what it held through Core Bluetooth goes with it: links drop unless another app holds them, \
            pending connections, scans, subscriptions and its advertising end, nothing of it is restored \
            later. Exceptions: LAUNCH-3, PUSH-6, and BTC-8 on ios26 for accessories set up with \
            AccessorySetupKit.
            """,
            profiles: "ios7+ (ios6: switch, off)",
            .documented,
            note: "the release of links observed",
            from: [.guide2014, .centralReports]
        ),
        RuleEntry(
            .launch3,
            """
            Exception to LAUNCH-2: location events (regions, beacons, significant change, visits) relaunch a \
            force-quit app.
            """,
            profiles: "ios8+ (ios26: off by switch, disputed)",
            .documented,
            from: [.guide2014, .coreLocation]
        ),
        RuleEntry(
            .launch4,
            "A reboot of the phone clears the force-quit bar.",
            .documented,
            note: "disputed: switch, on",
            from: [.guide2014]
        ),
        RuleEntry(
            .launch5,
            """
            With a passcode set, no app is launched into the background between boot and the first unlock. What \
            came meanwhile is not lost: at the first unlock each pending connection that came up, each \
            crossing, significant change and each missed sighting is decided anew.
            """,
            profiles: "ios7+",
            .documented,
            from: [.guide2014, .qa1962, .tn3115]
        ),
        RuleEntry(
            .launch6,
            """
            A background launch happens only for an event the app was registered for; an event nobody \
            registered for is recorded with reason NoRegistration.
            """,
            .documented,
            from: [.guide2014, .qa1962, .tn3115]
        ),
        RuleEntry(
            .launch7,
            """
            The cause of a wake or launch is handed to the app (launch options key, and the event and \
            decision id).
            """,
            .documented,
            from: [.coreBluetoothGuide, .coreLocation]
        ),
        RuleEntry(
            .launch8,
            """
            A user launch delivers at once what was held back for the app (held push, queued BLE and \
            location events).
            """,
            .documented,
            from: [.backgroundPush]
        ),
        RuleEntry(
            .task1,
            """
            beginBackgroundTask returns a unique token; endBackgroundTask with it ends that task; a task \
            begun in the foreground protects the same way.
            """,
            profiles: "ios4+",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .task2,
            "Open tasks delay suspension, within one time budget for the whole app, not one per task.",
            figure: "600 s ios4-6; 180 s ios7-12; 30 s ios13+",
            profiles: "per profile",
            .observed,
            from: [.wwdc10078, .sharedReports]
        ),
        RuleEntry(
            .task3,
            "When the budget is nearly spent every open task's expiration handler is called once.",
            figure: "about 5 s before the end",
            .observed,
            from: [.wwdc10078, .sharedReports]
        ),
        RuleEntry(
            .task4,
            "A task still open when the budget ends terminates the app.",
            figure: "0x8badf00d to ios12; 0x2182bad2 from ios13",
            profiles: "per profile",
            .documented,
            from: [.guide2014, .sigkill]
        ),
        RuleEntry(
            .task5,
            "backgroundTimeRemaining is unlimited in the foreground and counts down in the background.",
            profiles: "ios4+",
            .documented,
            from: [.timeRemaining]
        ),
        RuleEntry(
            .task6,
            "Ending an unknown or already ended token is harmless and is recorded.",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .task7,
            """
            performExpiringActivity gives the same protection to an extension; its block learns that time \
            ended.
            """,
            profiles: "ios8+",
            .documented,
            from: [.wwdc707]
        ),
        RuleEntry(
            .task8,
            """
            Once the app is suspended the budget is fresh only after it has been in the foreground again; a \
            task begun inside a wake gets TASK-2's budget from the wake's end.
            """,
            .inferred,
            from: [.sharedReports]
        ),
        RuleEntry(
            .mode1,
            """
            UIBackgroundModes in Info.plist is an array of: audio, location, voip, newsstand-content, \
            external-accessory, bluetooth-central, bluetooth-peripheral, fetch, remote-notification, \
            processing; an unknown value is reported by verify and has no effect.
            """,
            .documented,
            from: [.guide2014, .wwdc707]
        ),
        RuleEntry(
            .mode2,
            """
            Modes are required source by source: bluetooth-central, bluetooth-peripheral, \
            external-accessory, audio, voip, fetch, processing, remote-notification and newsstand-content \
            each for its own; location only for standard updates. Regions, beacons, significant change, \
            visits, background transfers and local notifications need no mode. A source whose mode is \
            missing neither wakes the app nor keeps it running.
            """,
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .mode3,
            """
            Info.plist may be XML or binary; a missing or malformed one, a missing CFBundleIdentifier or \
            executable, refuses the install with the key named and leaves nothing behind.
            """,
            .design
        ),
        RuleEntry(
            .loc1,
            """
            Significant-change service: an update when the position moved far enough since the last one given, \
            and not more often than the interval; the first fix after starting may come from the cache; wakes a \
            suspended app, relaunches a terminated one.
            """,
            figure: "500 m; 5 min",
            profiles: "ios4+",
            .documented,
            from: [.guide2014, .coreLocation]
        ),
        RuleEntry(
            .loc2,
            """
            Foreground-only standard updates stop while the app is suspended; those of a background client \
            that is suspended all the same are kept, the newest, and delivered when it runs.
            """,
            .documented,
            from: [.guide2014, .coreLocation]
        ),
        RuleEntry(
            .loc3,
            """
            Standard updates with the location mode: to ios8 they wake the app for each update in the \
            background; from ios9, with allowsBackgroundLocationUpdates, the app is not suspended while its \
            updates are active and not paused. They do not relaunch it after termination.
            """,
            profiles: "per profile",
            .documented,
            from: [.coreLocation]
        ),
        RuleEntry(
            .loc4,
            """
            distanceFilter decides which standard updates are delivered; desiredAccuracy is a request and \
            filters nothing; significant change ignores both.
            """,
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .loc5,
            """
            Only Always authorisation wakes or relaunches; When In Use delivers in use, and in the \
            background only where updates began in the foreground with the mode.
            """,
            profiles: "ios8+",
            .documented,
            from: [.coreLocation]
        ),
        RuleEntry(
            .loc6,
            """
            allowsBackgroundLocationUpdates set to true without the location mode is a programming error that \
            ends the app, at the setter.
            """,
            profiles: "ios9+",
            .observed,
            from: [.sharedReports]
        ),
        RuleEntry(
            .loc7,
            """
            pausesLocationUpdatesAutomatically pauses a stationary app's updates; it gets didPause and must \
            restart them itself.
            """,
            profiles: "ios6+",
            .documented,
            assumed: "how far, and for how long, is standing still",
            from: [.coreLocation]
        ),
        RuleEntry(
            .loc8,
            "A location wake gives the app a short time.",
            figure: "10 s",
            .documented,
            from: [.locationGuide]
        ),
        RuleEntry(
            .loc9,
            "Radio-on time is accounted per app, so that continuous use shows as cost.",
            .design,
            aliasOf: .pwr1
        ),
        RuleEntry(
            .loc10,
            """
            Asking for Always gives provisional Always first: the app acts as if it had Always; the user is \
            asked at the first event in the background, and may keep When In Use.
            """,
            profiles: "ios13+",
            .documented,
            from: [.coreLocation]
        ),
        RuleEntry(
            .reg1,
            """
            Circular region: crossing the boundary inwards or outwards is one enter or exit event, and \
            didDetermineState beside it; being inside at registration gives no enter or exit.
            """,
            profiles: "ios4+",
            .documented,
            from: [.locationGuide]
        ),
        RuleEntry(
            .reg2,
            """
            A crossing counts only once the position is past the boundary by a margin and has stayed there \
            for the dwell, by the bench's clock and not by the fixes' own times.
            """,
            figure: """
                outwards 200 m; inwards the smaller of 200 m and half the radius (inward part assumed); \
                20 s; settings
                """,
            profiles: "ios4+",
            .documented,
            assumed: "the inward margin",
            from: [.locationGuide]
        ),
        RuleEntry(
            .reg3,
            """
            Regions per app, circular and beacon together; one more fails with regionMonitoringFailure and \
            changes nothing; the same identifier replaces.
            """,
            figure: "20",
            profiles: "ios4+",
            .documented,
            from: [.locationGuide, .coreLocation]
        ),
        RuleEntry(
            .reg4,
            "notifyOnEntry or notifyOnExit false suppresses that event and its launch.",
            profiles: "ios7+",
            .documented,
            from: [.coreLocation]
        ),
        RuleEntry(
            .reg5,
            "requestState answers inside, outside or unknown for a monitored region.",
            profiles: "ios7+",
            .documented,
            from: [.coreLocation]
        ),
        RuleEntry(
            .reg6,
            """
            Regions belong to the system: they survive suspension, termination and reboot, and a crossing \
            wakes or relaunches the app with the location launch key.
            """,
            profiles: "ios4+",
            .documented,
            from: [.guide2014, .coreLocation]
        ),
        RuleEntry(
            .reg7,
            "A radius larger than the maximum fails; the maximum is readable.",
            .documented,
            assumed: "the maximum",
            from: [.coreLocation]
        ),
        RuleEntry(
            .bcn1,
            """
            Beacon region: UUID, UUID+major or UUID+major+minor; the first matching sighting after the state \
            was outside or unknown is an entry.
            """,
            profiles: "ios7+",
            .documented,
            from: [.guide2014, .coreLocation]
        ),
        RuleEntry(
            .bcn2,
            "Exit after no matching sighting for the exit delay.",
            figure: "30 s",
            profiles: "ios7+",
            .observed,
            from: [.beaconMeasurements]
        ),
        RuleEntry(
            .bcn3,
            "notifyEntryStateOnDisplay: turning the display on delivers the state when inside.",
            profiles: "ios7+",
            .documented,
            from: [.coreLocation, .beaconMeasurements]
        ),
        RuleEntry(
            .bcn4,
            """
            Ranging reports once a second, in one call a constraint, all beacons of it with distance classes \
            (immediate, near, far, unknown) from RSSI, an empty list when none is there, and in the background \
            only inside a wake's time.
            """,
            figure: "1 s",
            profiles: "ios7+",
            .observed,
            assumed: "how long a beacon that is heard no more is listed",
            from: [.beaconMeasurements]
        ),
        RuleEntry(
            .aud1,
            """
            An app with the audio mode that is playing or recording is not suspended; its buffer callbacks \
            go on.
            """,
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .aud2,
            "When playing or recording stops in the background the app is suspended.",
            .documented,
            assumed: "the seconds that an app has to end its session after its sound",
            from: [.guide2014]
        ),
        RuleEntry(
            .aud3,
            "Without the mode, playing and recording stop when the app enters the background.",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .aud4,
            """
            A background player must produce audible content. Without the setting silenceLimit nothing is \
            enforced at run time, and the report names apps that kept themselves alive with silence; with \
            it, a run of silent buffers longer than the limit ends the protection.
            """,
            figure: "setting, off",
            .documented,
            assumed: "enforcement at run time, and its limit",
            from: [.guide2014]
        ),
        RuleEntry(
            .aud5,
            """
            The system decides who may play: the foreground app first; a non-mixable session interrupts the \
            others; mixable ones play together; ducking lowers the others.
            """,
            .documented,
            from: [.guide2014, .audioGuide]
        ),
        RuleEntry(
            .aud6,
            """
            Interruptions: began (session already inactive), ended with or without shouldResume; ended is \
            not guaranteed.
            """,
            profiles: "ios6+",
            .documented,
            assumed: "the window of a wake by the end of an interruption",
            from: [.audio]
        ),
        RuleEntry(
            .aud7,
            """
            Category decides background: playback, record, playAndRecord and multiRoute go on; ambient and \
            soloAmbient do not.
            """,
            .documented,
            from: [.audioGuide]
        ),
        RuleEntry(
            .aud8,
            """
            A non-mixable session started from the background while another plays fails with \
            cannotInterruptOthers (560557684).
            """,
            profiles: "ios7+",
            .observed,
            from: [.sharedReports]
        ),
        RuleEntry(
            .aud9,
            """
            Buffer size is asked for and granted within the limits; with the screen locked and output only, \
            the default grows.
            """,
            figure: "23 ms; 5-93 ms; 1024>4096 frames",
            .documented,
            from: [.audio, .bufferQA]
        ),
        RuleEntry(
            .aud10,
            "Recording needs the microphone permission: undetermined asks, denied gives no data.",
            profiles: "ios7+",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .aud11,
            """
            A late buffer (callback not answered before its deadline) is an underrun, counted per app and \
            shown.
            """,
            .design
        ),
        RuleEntry(
            .aud12,
            "Audio does not relaunch a terminated app.",
            profiles: "all (switch: the 2014 text lists audio as a cause of relaunch)",
            .observed,
            from: [.guide2014, .sharedReports]
        ),
        RuleEntry(
            .voip1,
            """
            A socket marked for VoIP is watched by the system while the app is suspended; incoming traffic \
            wakes the app and gives it the socket back with no byte lost. From ios10 only for apps whose \
            bundle was built with an older SDK (DTSDKName or DTPlatformVersion below 10).
            """,
            profiles: "to ios9 all; later by the bundle's SDK; setting legacy on|off|by-sdk",
            .documented,
            from: [.guide2014, .voipQA]
        ),
        RuleEntry(
            .voip2,
            "Needs the voip mode; without it the socket is as any other (RESP-3).",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .voip3,
            """
            setKeepAliveTimeout(handler): refused under the minimum or without the mode; the handler runs on \
            time in the background, with a budget, then the app is suspended again.
            """,
            figure: "min 600 s; 10 s",
            profiles: "legacy VoIP switch, on in every shipped profile; figures of iOS 9",
            .documented,
            from: [.keepAlive]
        ),
        RuleEntry(
            .voip4,
            """
            An app with the voip mode is launched into the background right after boot; with a passcode set, \
            at the first unlock.
            """,
            profiles: "legacy VoIP switch",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .voip5,
            "It is launched again when it exits with a non-zero code.",
            profiles: "legacy VoIP switch",
            .documented,
            from: [.voipTips]
        ),
        RuleEntry(
            .voip6,
            "The wake after the limit within the window kills the app with 0xbad22222.",
            figure: "the 16th within 300 s",
            profiles: "legacy VoIP switch",
            .observed,
            from: [.voipLogs, .sigkill]
        ),
        RuleEntry(
            .voip7,
            "Peer close and socket errors wake the app too, as readable end or error.",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .voip8,
            """
            With audio mode as well, a call's audio runs in the background; without it the audio stops \
            (AUD-3).
            """,
            .documented,
            from: [.guide2014],
            aliasOf: .aud3
        ),
        RuleEntry(
            .fetch1,
            """
            With the fetch mode the system wakes or launches the app at good moments, never more often than \
            the app's minimum interval, and with no promise.
            """,
            profiles: "ios7+",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .fetch2,
            "The app answers newData, noData or failed in time; a late answer terminates it.",
            figure: "30 s; 0x2182bad4 from ios13, 0x8badf00d before (assumed)",
            profiles: "ios7+",
            .documented,
            assumed: "the code before ios13",
            from: [.uikit, .sigkill]
        ),
        RuleEntry(
            .fetch3,
            """
            Quick, truthful answers raise an app's chances; slow ones and newData without any download lower \
            them.
            """,
            profiles: "ios7+",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .fetch4,
            """
            The times of day at which the user opens the app are learnt, and refreshes come shortly before \
            them; an app that is rarely used is rarely refreshed.
            """,
            profiles: "ios7+",
            .documented,
            from: [.wwdc707]
        ),
        RuleEntry(
            .fetch5,
            "Background App Refresh off or Low Power Mode: no fetch.",
            profiles: "ios7+; Low Power Mode ios9+",
            .documented,
            from: [.lowPower, .refreshStatus]
        ),
        RuleEntry(
            .fetch6,
            "With BGTaskSchedulerPermittedIdentifiers in Info.plist the legacy fetch calls do nothing.",
            profiles: "ios13+",
            .documented,
            from: [.backgroundTasks]
        ),
        RuleEntry(
            .push1,
            """
            content-available = 1 with the remote-notification mode wakes or launches the app and calls its \
            handler.
            """,
            figure: "30 s",
            profiles: "ios7+",
            .documented,
            from: [.guide2014, .backgroundPush]
        ),
        RuleEntry(
            .push2,
            """
            A background push needs priority 5 (and push type background); priority 10 without alert, sound \
            or badge does not launch the app.
            """,
            profiles: "ios13+",
            .documented,
            from: [.wwdc707]
        ),
        RuleEntry(
            .push3,
            """
            Background pushes are rationed per app; beyond it they are held, only the newest is kept, and a \
            kill or force quit drops it.
            """,
            figure: "3 per hour (setting)",
            profiles: "ios13+",
            .documented,
            from: [.backgroundPush]
        ),
        RuleEntry(
            .push4,
            """
            apns-expiration: 0 is tried once and dropped if it cannot be delivered at once; otherwise kept \
            until then; one stored per app, the newest; a collapse id replaces what is displayed.
            """,
            .documented,
            from: [.wwdc707, .apns]
        ),
        RuleEntry(
            .push5,
            "Payload limits: refused with PayloadTooLarge.",
            figure: "4096 B; voip 5120 B",
            .documented,
            from: [.apns]
        ),
        RuleEntry(
            .push6,
            "A VoIP push (PushKit) launches or wakes the app at once, even after force quit.",
            profiles: "ios8+",
            .observed,
            from: [.pushForum]
        ),
        RuleEntry(
            .push7,
            "The app must report an incoming call before the push callback returns, else it is terminated.",
            figure: "exception, or 0xbaadca11",
            profiles: "ios13+",
            .documented,
            from: [.wwdc707, .pushKit, .pushForum]
        ),
        RuleEntry(
            .push8,
            "Repeated failures stop VoIP launches until reinstall.",
            figure: "3 strikes (setting)",
            profiles: "ios13+",
            .observed,
            from: [.pushReports]
        ),
        RuleEntry(
            .push9,
            "A visible push shows a notification; the service extension may change it first.",
            figure: "30 s",
            profiles: "ios10+",
            .documented,
            from: [.userNotifications]
        ),
        RuleEntry(
            .news1,
            "newsstand-content: a push about a new issue launches the app so that it can start the download.",
            profiles: "ios5-12",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .news2,
            """
            The system carries the download on while the app is suspended or gone, hands the file to the app \
            and wakes or launches it at the end, and on errors too.
            """,
            profiles: "ios5-12",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .xfer1,
            """
            A background session's transfers run in a separate process of the system and go on while the app \
            is suspended or terminated.
            """,
            profiles: "ios7+",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .xfer2,
            """
            All tasks of the session done or failed: a suspended app is woken, a terminated one relaunched, \
            with handleEventsForBackgroundURLSession(identifier) and a completion handler; only if \
            sessionSendsLaunchEvents.
            """,
            profiles: "ios7+",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .xfer3,
            """
            A session made again with the same identifier is joined to its tasks and gets their results, \
            once each.
            """,
            profiles: "ios7+",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .xfer4,
            "An authentication challenge relaunches the app too.",
            profiles: "ios7+",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .xfer5,
            """
            Force quit cancels all pending transfers; the next launch sees them as cancelled \
            (userForceQuitApplication).
            """,
            profiles: "ios7+",
            .documented,
            from: [.guide2014, .session]
        ),
        RuleEntry(
            .xfer6,
            """
            discretionary transfers wait for a good moment: charging, Wi-Fi, idle; those created in the \
            background are treated as discretionary.
            """,
            profiles: "ios7+",
            .documented,
            from: [.guide2014, .download]
        ),
        RuleEntry(
            .xfer7,
            """
            earliestBeginDate is a lower bound; timeoutIntervalForResource bounds the whole; request \
            time-outs are retried; byte-count hints are kept.
            """,
            figure: "7 days; 60 s",
            profiles: "ios11+",
            .documented,
            from: [.wwdc707, .download, .session]
        ),
        RuleEntry(
            .xfer8,
            """
            Each resume or relaunch lengthens the wait for tasks created in the background, from none; the \
            foreground resets it, and so does the wait passing without a resume; it is not raised when the \
            app was running at completion.
            """,
            figure: "0, 60 s, 120 s, ...",
            profiles: "ios7+",
            .documented,
            from: [.resumeLimiter]
        ),
        RuleEntry(
            .xfer9,
            """
            HTTP and HTTPS only, uploads from a file only, downloads resume after a broken connection when \
            the server allows it.
            """,
            profiles: "ios7+",
            .documented,
            from: [.download]
        ),
        RuleEntry(
            .xfer10,
            "A completion handler that is never called ends the app.",
            figure: "0x2182bad3",
            profiles: "ios13+",
            .documented,
            from: [.sigkill]
        ),
        RuleEntry(
            .ea1,
            """
            With external-accessory, open sessions survive suspension; without it they are closed and the \
            app sees disconnect on background, connect on return.
            """,
            profiles: "ios5+",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .ea2,
            "Data from the accessory, connection and disconnection wake a suspended app, with a budget.",
            figure: "10 s",
            profiles: "ios5+",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .ea3,
            """
            An accessory is visible only to apps that list one of its protocols in \
            UISupportedExternalAccessoryProtocols; a session for an unlisted protocol is nil.
            """,
            .documented,
            from: [.accessory]
        ),
        RuleEntry(
            .ea4,
            "Notifications only after registerForLocalNotifications.",
            .documented,
            from: [.accessory]
        ),
        RuleEntry(
            .ea5,
            """
            One session per accessory and protocol; input and output streams; bytes are neither lost nor \
            reordered while the app is suspended, up to a bounded buffer whose overflow is an error on the \
            stream and in the record.
            """,
            .documented,
            note: "buffer by design",
            from: [.accessory]
        ),
        RuleEntry(
            .ea6,
            "Events do not relaunch a terminated app.",
            .inferred,
            from: [.accessory]
        ),
        RuleEntry(
            .btc1,
            """
            With bluetooth-central, connections stay open while suspended; notifications, connects, \
            disconnects, discoveries and state changes wake the app, with a budget.
            """,
            figure: "10 s",
            profiles: "ios5+",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .btc2,
            "Without the mode the events wait and are delivered when the app runs next.",
            profiles: "ios5+",
            .documented,
            from: [.coreBluetoothGuide]
        ),
        RuleEntry(
            .btc3,
            """
            Scanning in the background must name services: a scan without finds nothing. An app without the \
            bluetooth-central mode finds nothing at all while it is not in the foreground.
            """,
            profiles: "ios5+",
            .documented,
            from: [.coreBluetooth, .coreBluetoothGuide]
        ),
        RuleEntry(
            .btc4,
            """
            In the background duplicates are merged into one discovery per peripheral, whatever \
            AllowDuplicates says.
            """,
            profiles: "ios5+",
            .documented,
            from: [.coreBluetoothGuide]
        ),
        RuleEntry(
            .btc5,
            "A connection request never times out; it is kept until cancelled or Bluetooth goes off.",
            profiles: "ios5+",
            .documented,
            from: [.coreBluetoothGuide, .coreBluetooth]
        ),
        RuleEntry(
            .btc6,
            """
            State preservation and restoration: a manager with a restore identifier, waiting for a specific \
            event, is relaunched when it happens; launch options name the identifiers; willRestoreState \
            comes first with the peripherals, scan services and scan options.
            """,
            profiles: "ios7+",
            .documented,
            from: [.coreBluetoothGuide]
        ),
        RuleEntry(
            .btc7,
            "Without a restore identifier a terminated app is not relaunched.",
            .documented,
            from: [.coreBluetoothGuide],
            aliasOf: .btc8
        ),
        RuleEntry(
            .btc8,
            """
            Relaunch matrix by how the app ended (purged, crashed, force quit, Bluetooth off in Settings, off in \
            Control Centre, airplane mode, reboot before and after first unlock, AccessorySetupKit on ios26).
            """,
            figure: "table",
            profiles: "per profile",
            .documented,
            from: [.qa1962, .tn3115]
        ),
        RuleEntry(
            .btc9,
            """
            Alert options (NotifyOnConnection, OnDisconnection, OnNotification) show a system alert for a \
            suspended app.
            """,
            profiles: "ios5/6+",
            .documented,
            from: [.coreBluetoothGuide]
        ),
        RuleEntry(
            .btc10,
            "Bluetooth off disconnects everything, invalidates peripherals and delivers the new state.",
            .documented,
            from: [.coreBluetooth]
        ),
        RuleEntry(
            .btc11,
            "EnableAutoReconnect: the system reconnects after link loss and says so.",
            profiles: "ios17+",
            .documented,
            from: [.coreBluetooth]
        ),
        RuleEntry(
            .btp1,
            """
            With bluetooth-peripheral, read, write and subscribe requests from a connected central wake the \
            app, with a budget; the answer reaches the central.
            """,
            figure: "10 s",
            profiles: "ios6+",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .btp2,
            """
            In the background advertising loses the local name, and the service UUIDs move to the overflow \
            area (16 bytes, one bit a UUID; the mapping is unpublished, so ours is our own, confidence \
            assumed).
            """,
            profiles: "ios6+",
            .documented,
            assumed: "which bit stands for which UUID",
            from: [.coreBluetoothGuide]
        ),
        RuleEntry(
            .btp3,
            """
            Without the mode, advertising and services stop when the app leaves the foreground and requests are \
            refused.
            """,
            profiles: "ios6+",
            .inferred,
            from: [.coreBluetoothGuide]
        ),
        RuleEntry(
            .btp4,
            "Peripheral state is restored: published services, advertised data, subscribed centrals.",
            profiles: "ios7+",
            .documented,
            from: [.coreBluetoothGuide]
        ),
        RuleEntry(
            .btp5,
            "Bluetooth use needs the user's authorisation.",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .bt1,
            """
            Stopped delivery wakes nobody: an app that unsubscribed, stopped scanning or closed its session \
            gets no wake from it.
            """,
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .bt2,
            """
            Bluetooth off has three kinds: Settings (the radio is off and pending connections go), Control \
            Centre (links drop, accessories come back the next day or on turning it on) and airplane mode; \
            each is a step and a verb, and BTC-8 tells them apart.
            """,
            profiles: "Control Centre ios11+",
            .documented,
            assumed: "the next day as 24 h",
            from: [.qa1962, .tn3115]
        ),
        RuleEntry(
            .bgt1,
            """
            A request is submitted for an identifier in BGTaskSchedulerPermittedIdentifiers and with the \
            mode (fetch or processing), else error 3 notPermitted.
            """,
            profiles: "ios13+",
            .documented,
            from: [.wwdc707, .backgroundTasks]
        ),
        RuleEntry(
            .bgt2,
            "Pending requests: one refresh, ten processing; more is error 2; the same identifier replaces.",
            figure: "1 + 10",
            profiles: "ios13+",
            .documented,
            from: [.backgroundTasks]
        ),
        RuleEntry(
            .bgt3,
            """
            Launch handlers are registered before launching finishes; later is a programming error that ends \
            the app; so is registering one twice.
            """,
            profiles: "ios13+",
            .documented,
            from: [.wwdc707, .backgroundTasks]
        ),
        RuleEntry(
            .bgt4,
            "One request is one launch; to go on the app submits again.",
            profiles: "ios13+",
            .documented,
            from: [.wwdc707]
        ),
        RuleEntry(
            .bgt5,
            """
            earliestBeginDate is a lower bound; far in the future and the app unused since, the request may \
            never run.
            """,
            figure: "1 week",
            profiles: "ios13+",
            .documented,
            from: [.wwdc707]
        ),
        RuleEntry(
            .bgt6,
            "Refresh gives its time per launch, whatever the number of tasks handed over at once.",
            figure: "30 s per launch",
            profiles: "ios13+",
            .documented,
            from: [.wwdc707]
        ),
        RuleEntry(
            .bgt7,
            """
            Processing gives minutes, when idle; requiresExternalPower and requiresNetworkConnectivity hold; \
            with external power the CPU monitor is off; the user picking up the phone ends it.
            """,
            figure: "several minutes (setting, 5 min)",
            profiles: "ios13+",
            .documented,
            assumed: "the minutes",
            from: [.wwdc707, .backgroundTasks]
        ),
        RuleEntry(
            .bgt8,
            """
            Before time ends the expiration handler runs; setTaskCompleted is owed even then; without it the \
            app is killed and later chances fall.
            """,
            profiles: "ios13+",
            .documented,
            from: [.wwdc707, .backgroundTasks]
        ),
        RuleEntry(
            .bgt9,
            "An extension may submit; the containing app is launched.",
            profiles: "ios13+",
            .documented,
            from: [.wwdc707]
        ),
        RuleEntry(
            .bgt10,
            "Not before the first unlock after boot.",
            profiles: "ios13+",
            .documented,
            from: [.wwdc707],
            aliasOf: .launch5
        ),
        RuleEntry(
            .bgt11,
            "Eligible only if asked for in the foreground or the app was recently used.",
            profiles: "ios13+",
            .documented,
            from: [.wwdc707]
        ),
        RuleEntry(
            .bgt12,
            "Test levers: simulate launch and simulate expiration for an identifier.",
            profiles: "ios13+",
            .documented,
            from: [.wwdc707]
        ),
        RuleEntry(
            .note1,
            """
            Local notifications are scheduled with fire date, time zone, repeat interval, alert, badge, \
            sound; delivered by the system with no process running.
            """,
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .note2,
            "Pending limit per app.",
            figure: "64 (the 2014 text says 128: setting)",
            .documented,
            from: [.localNotification]
        ),
        RuleEntry(
            .note3,
            "An app in the foreground gets didReceiveLocalNotification instead of an alert.",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .note4,
            "They can be listed and cancelled, one or all.",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .note5,
            """
            Sounds in linear PCM, MA4, u-law or a-law, at most 30 s, else the default sound; vibration goes \
            with a sound.
            """,
            figure: "30 s",
            .documented,
            from: [.guide2014, .userNotifications]
        ),
        RuleEntry(
            .note6,
            "A delivered notification that the user taps launches or fronts the app.",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .resp1,
            "Drawing with OpenGL ES in the background kills the app at once.",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .resp2,
            "Bonjour services and listening sockets still open at suspension are closed by the system.",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .resp3,
            """
            Connections of a suspended app are torn down after a setting (default never); on resume the app \
            sees an ordinary error.
            """,
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .resp4,
            """
            Holding a shared system resource (file lock, database lock, address book, calendar) at \
            suspension kills the app.
            """,
            figure: "0xdead10cc",
            .documented,
            from: [.guide2014, .sigkill]
        ),
        RuleEntry(
            .resp5,
            "A snapshot of the app's view is taken after didEnterBackground returns.",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .resp6,
            "An app in the background gets the usual memory warnings.",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .mem1,
            """
            Under memory pressure suspended apps go first, without notice; then background ones after a \
            warning; the foreground app last among apps without audio or accessory, whose band is higher.
            """,
            figure: "bands: idle 0, background 3, foreground 10, audio and accessory 12",
            .documented,
            from: [.guide2014, .jetsam, .kernel]
        ),
        RuleEntry(
            .mem2,
            "Within a band: largest and least recently used first.",
            .folklore,
            from: [.sharedReports]
        ),
        RuleEntry(
            .mem3,
            "An app over its own limit is killed whatever its state.",
            figure: "setting",
            .documented,
            from: [.jetsam, .kernel]
        ),
        RuleEntry(
            .cpu1,
            "Background CPU over the limit kills the app; requiresExternalPower processing is exempt.",
            figure: "80 % over 60 s",
            profiles: "ios13+",
            .observed,
            from: [.wwdc707, .cpuLogs]
        ),
        RuleEntry(
            .cpu2,
            """
            A wake that overruns its time budget ends in suspension if the app merely went on running, and \
            in a kill where the API demands an answer; repeated overruns lower later chances.
            """,
            figure: "per source",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .opt1,
            """
            UIApplicationExitsOnSuspend: the app never enters background or suspended; leaving it calls \
            willTerminate and ends it.
            """,
            figure: "5 s",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .opt2,
            "Such an app gets no background launches.",
            .documented,
            from: [.guide2014]
        ),
        RuleEntry(
            .pwr1,
            """
            Each wake, radio use, CPU second and transfer is charged to the app's energy account; the day \
            shows where it went.
            """,
            .documented,
            note: "own model",
            from: [.wwdc707]
        ),
        RuleEntry(
            .pwr2,
            """
            Low Power Mode pauses fetch, background pushes, refresh, processing and discretionary transfers; \
            hardware sources go on.
            """,
            profiles: "ios9+",
            .documented,
            note: "background pushes observed",
            from: [.lowPower]
        ),
        RuleEntry(
            .pwr3,
            "Background App Refresh off refuses BGTask submissions (error 1) and stops fetch.",
            profiles: "fetch ios7+, BGTask ios13+",
            .documented,
            from: [.backgroundTasks, .refreshStatus]
        ),
        RuleEntry(
            .pwr4,
            "Background App Refresh off and location events: they arrive.",
            profiles: "ios7+ (switch: the archive guide says none)",
            .disputed,
            from: [.refreshReports]
        ),
        RuleEntry(
            .sys1,
            """
            Boot, shutdown, lock, unlock, display on and off, charger, network and Bluetooth power are \
            events of their own, replayable like any other.
            """,
            .design
        ),
        RuleEntry(
            .sys2,
            """
            All that the system owns for apps (installed apps, regions, scans, pending connections, \
            subscriptions, transfers, requests, notifications, force-quit bars, budgets) survives a crash or \
            restart of the emulator, and a reboot of the phone where the rules say so.
            """,
            .design
        ),
        RuleEntry(
            .sys3,
            """
            The same scenario, seed and profile with scripted apps under the virtual clock give the same \
            decision log, byte for byte; with real apps or backends, the journal's inputs through a fresh \
            router give the same bytes.
            """,
            .design
        ),
        RuleEntry(
            .sys4,
            """
            Every event ends in a recorded verdict for every interested app: foregroundDeliver, \
            backgroundDeliver, resume, relaunch, defer, coalesce, drop, deny; all checks evaluated, one \
            decisive.
            """,
            .design
        ),
        RuleEntry(
            .sys5,
            """
            A debugger attached to an app does not change what happens to it unless it is exempted, and then \
            every record says so.
            """,
            .design
        ),
    ]
}
