import WakeModel

// The areas of scenarios and of device files: a row in each of these tables. What a row means stands in the files that are named
// for its area.

/// What a device is, by its kind.
package enum DeviceFile: Hashable, Sendable {
    case peripheral(BluetoothPeripheral)
    case central(BluetoothCentral)
    case beacon(Beacon)
    case track(LocationTrack)
    case callServer(CallServer)
    case accessory(ExternalAccessory)
    case audio(AudioDevice)
    case transferServer(TransferServer)
    case phone(BluetoothPhone)

    /// Those that files describe.
    static let kinds: [any Device.Type] = [
        BluetoothPeripheral.self, BluetoothCentral.self, Beacon.self, LocationTrack.self, CallServer.self,
        ExternalAccessory.self, AudioDevice.self, TransferServer.self,
    ]

    var device: any Device {
        switch self {
        case .peripheral(let device): device
        case .central(let device): device
        case .beacon(let device): device
        case .track(let device): device
        case .callServer(let device): device
        case .accessory(let device): device
        case .audio(let device): device
        case .transferServer(let device): device
        case .phone(let device): device
        }
    }
}

extension BackendChoice {
    /// The backends that each source can have, the simulated one first.
    static let table: KeyValuePairs<Source, [String]> = [
        .bluetooth: ["simulated", "bluez", "hci"],
        .location: ["simulated", "gpsd", "nmea"],
        .accessory: ["simulated", "udev", "rfcomm"],
        .audio: ["simulated", "alsa"],
        .voip: ["simulated", "socket"],
        .push: ["simulated", "apns"],
        .transfer: ["simulated", "curl"],
    ]
}

/// What a scripted app asks of the areas each time it is launched.
package struct AreaUses: Hashable, Sendable {
    /// Nil for a manager without one.
    package var restoreIdentifier: String?
    /// What it connects and subscribes to, and again what restoration does not bring back.
    package var uses: [ScriptedApp.Use] = []
    package var scan: ScriptedApp.Scan?
    /// What it does as a peripheral itself; nil when it is none.
    package var peripheral: ScriptedPeripheral?
    /// Whether its user may set up accessories for it (BTC-8).
    package var accessorySetup: Bool
    package var accessory: ScriptedApp.AccessoryUse?
    package var location: ScriptedApp.LocationUse?
    /// How it uses sound; nil when it does not.
    package var audio: ScriptedApp.AudioUse?
    /// What it does for its calls.
    package var voip: ScriptedApp.VoIPUse?
    /// What it has the user notified of.
    package var notifications: ScriptedApp.NotificationUse?
    /// What it has transferred for it.
    package var transfers: ScriptedApp.TransferUse?
    /// What it does about pushes; nil when it wants none.
    package var push: ScriptedApp.PushUse?
    /// What it asks of the system's scheduler.
    package var tasks: ScriptedApp.TaskUse?
    /// What is measured of its process.
    package var measures: [ProcessMeasure] = []

    static let keys = [
        "restore-identifier", "uses", "scan", "peripheral", "accessory-setup", "accessory", "location", "audio", "voip",
        "notifications", "transfers", "process", "push", "tasks",
    ]

    /// What the members of an app's entry share.
    init(_ fields: Fields, modes: BackgroundModes) throws(FileError) {
        restoreIdentifier = try fields["restore-identifier"]?.text(expecting: "a restore identifier")
        scan = try fields.value("scan", ScriptedApp.Scan.init)
        peripheral = try fields.value("peripheral", ScriptedPeripheral.init)
        accessorySetup = try fields["accessory-setup"]?.bool() ?? false
        accessory = try fields.value("accessory", ScriptedApp.AccessoryUse.init)
        location = try fields.value("location") { (node) throws(FileError) in
            try ScriptedApp.LocationUse(node, modes: modes)
        }
        audio = try fields.value("audio", ScriptedApp.AudioUse.init)
        notifications = try fields.value("notifications", ScriptedApp.NotificationUse.init)
        transfers = try fields.value("transfers", ScriptedApp.TransferUse.init)
        push = try fields.value("push", ScriptedApp.PushUse.init)
        tasks = try fields.value("tasks", ScriptedApp.TaskUse.init)
        measures = try fields.value("process", ScriptedApp.process) ?? []
    }

    /// What names devices, which are counted with the member.
    mutating func resolve(_ fields: Fields, _ devices: MemberDevices) throws(FileError) {
        uses = try ScriptedApp.Use.list(fields["uses"], devices)
        voip = try fields.value("voip") { (node) throws(FileError) in try ScriptedApp.VoIPUse(node, devices) }
    }
}

/// What the user has said to an app before it asks.
package struct AreaAnswers: Hashable, Sendable {
    /// Whether the user lets it use Bluetooth (BTP-5).
    package var bluetoothAuthorization = BluetoothAuthorization.allowed
    /// The user's word before the app asks (AUD-10).
    package var microphone = MicrophonePermission.undetermined
    /// Whether the user keeps When In Use when asked at the app's first event in the background (LOC-10).
    package var keepsWhenInUse = false
    /// Whether Background App Refresh is off for it (PWR-3).
    package var refusesRefresh = false
    /// Whether the user keeps the precise position from it (LOC-11).
    package var refusesPrecise = false
    /// Whether it may show no notifications (NOTE-7).
    package var refusesNotifications = false

    init(_ node: YAMLNode?) throws(FileError) {
        guard let node else { return }
        let keys = [
            "bluetooth", "microphone", "background-location", "background-refresh", "precise-location", "notifications",
        ]
        let fields = try Fields(node, of: "authorizations", keys: keys)
        bluetoothAuthorization = try fields["bluetooth"]?.word("authorization") ?? bluetoothAuthorization
        microphone = try fields["microphone"]?.word("permission") ?? microphone
        keepsWhenInUse = try fields.value("background-location", UserAction.init(backgroundLocation:)) == .keepWhenInUse
        refusesRefresh = try fields.value("background-refresh", UserAction.init(backgroundRefresh:)) == .refuseRefresh
        refusesPrecise = try fields.value("precise-location", UserAction.init(preciseLocation:)) == .refusePrecise
        let notifications = try fields.value("notifications", UserAction.init(notifications:))
        refusesNotifications = notifications == .refuseNotifications
    }
}

/// What of the phone is switched on when the run begins.
package struct AreaSwitches: Hashable, Sendable {
    package var bluetooth = true
    package var timeZone = ZoneSetting.offset(0)

    static let keys = ["bluetooth", "time-zone"]

    init() {}

    init(_ fields: Fields) throws(FileError) {
        bluetooth = try fields["bluetooth"]?.bool() ?? bluetooth
        timeZone = try fields.value("time-zone", ZoneSetting.init) ?? timeZone
    }
}

/// What a step does. Numbers are positions in ``Scenario/apps`` and ``Scenario/devices``.
package enum Verb: Hashable, Sendable {
    case user(apps: [Int], UserAction)
    /// The user sets up the peripherals for the apps with AccessorySetupKit (BTC-8).
    case setUp(apps: [Int], devices: [Int])
    case terminate(apps: [Int], ExitCause, MemoryPressure = .normal)
    case uninstall(apps: [Int])
    /// The user installs a bundle over an app.
    case install(app: Int, bundle: String)
    case phone(PhoneChange)
    case clock(ClockSetting)
    /// The peripheral notifies a value beside its timetable.
    case notify(devices: [Int], characteristic: String, value: [UInt8])
    /// Scripted apps that are peripherals themselves notify a value.
    case update(apps: [Int], characteristic: String, value: [UInt8])
    /// Scripted centrals do something at once, beside their scripts.
    case order([CentralOrder])
    /// The device drops its link.
    case disconnect(devices: [Int])
    case range(devices: [Int], inRange: Bool)
    case arm(devices: [Int], fault: String)
    /// The phone forgets what it has found of the peripherals' attributes (BTC-14).
    case forgetAttributes(devices: [Int])
    /// The phone crosses the boundary of every region of that name, wherever it is.
    case cross(region: String, inwards: Bool)
    /// The phone is at a place and stays there; the accuracy is in metres.
    case position(Coordinate, accuracy: Double)
    /// The phone begins a track.
    case play(device: Int)
    /// A stay at a place begins, or ends.
    case visit(Coordinate, departs: Bool)
    /// The accessory is plugged in or pulled, in range or out of it.
    case attach(devices: [Int], Bool)
    /// The accessory sends bytes beside its script, over the sessions of one protocol or of any.
    case send(devices: [Int], protocolName: String?, value: [UInt8])
    /// The user decides what the apps may know of the position.
    case authorize(apps: [Int], LocationAuthorization)
    /// The user decides whether the apps may hear the microphone.
    case microphone(apps: [Int], granted: Bool)
    /// A sound device is plugged in or out.
    case plug(devices: [Int], plugged: Bool)
    /// What scripted apps do with their sound from now on.
    case sound(apps: [Int], ScriptedApp.SoundAct)
    /// The call servers do something beside their plan, on each connection that they have.
    case call(devices: [Int], CallServer.Step)
    /// The user taps a notification of an app.
    case tap(apps: [Int], notification: String)
    /// Apps ask something of their notifications.
    case notifications(apps: [Int], ScriptedApp.NotificationAct)
    /// A provider sends a push.
    case push(ScriptedApp.SentPush)
    /// A developer has a task run, of no identifier a fetch (BGT-12).
    case simulateTask(apps: [Int], identifier: String?, TaskLever)
    /// A developer has a task that runs expire (BGT-12).
    case expireTask(apps: [Int], identifier: String)
    /// Scripted apps submit a request for a task, or register a launch handler.
    case submitTask(apps: [Int], ScriptedApp.TaskRequest)
    case registerTask(apps: [Int], identifier: String)
    /// What scripted apps do with what they share with others, and what they ask about it.
    case process(apps: [Int], [AppRequest])
    /// Apps ask something of a session.
    case transfer(apps: [Int], session: String, ScriptedApp.TransferAct)
    /// A line for the timeline.
    case note(String)
}

extension ScenarioReading {
    /// What a step of any area can do.
    static var areaVerbs: [StepVerb] {
        bluetoothVerbs + locationVerbs + accessoryVerbs + soundVerbs + callVerbs + notificationVerbs + processVerbs
            + transferVerbs + pushVerbs + taskVerbs
    }

    /// What `authorize` may decide, by its key.
    static var answers: KeyValuePairs<String, (YAMLNode, [Int]) throws(FileError) -> Verb> {
        [
            "location": Self.location, "background-location": Self.backgroundLocation, "microphone": Self.microphone,
            "background-refresh": Self.backgroundRefresh, "precise-location": Self.preciseLocation,
            "notifications": Self.notifications,
        ]
    }

    /// Keys of a scenario that are settings of the profile whose names begin so.
    static let settingPrefixes = [
        "voip", "notification", "memory", "processor", "transfer", "push", "task", "fetch",
    ]
}
