import WakeModel

/// A packet from an app to the bench.
package enum AppMessage: Equatable, Sendable {
    /// The first packet: which wire the app speaks, in what language, and whether it takes packets of several messages.
    case hello(version: Int, client: String, pid: Int, batches: Bool = false)
    /// `didFinishLaunching` has returned and the main queue has drained once.
    case launched
    /// The callback or delivery with that number is handled: it returned and its queue drained once.
    ///
    /// With `through`, never below `delivery`, so are all those up to that number.
    case acknowledge(delivery: UInt64, through: UInt64? = nil)
    /// The app's own word that the work of this wake is done (LIFE-11).
    case done
    /// A finite-length task begins; the app mints the token.
    ///
    /// With an id it begins only if it is granted, and a reply with `granted` says whether (TASK-7).
    case beginTask(token: UInt64, name: String?, id: UInt64? = nil)
    /// A finite-length task ends.
    case endTask(token: UInt64)
    /// How long the app may still run in the background; answered by a reply with `seconds`.
    case timeRemaining(id: UInt64)
    /// It has drawn with OpenGL ES, which nobody may in the background (RESP-1); never answered.
    case drew
    /// A mark for the run's trace; never answered.
    case signpost(WireSignpost)
    /// A request to a central manager.
    case central(manager: UInt32, CentralRequest)
    /// A request to a peripheral of a central manager.
    case peripheral(manager: UInt32, peripheral: String, PeripheralRequest)
    /// A request to a peripheral manager.
    case peripheralManager(manager: UInt32, WirePeripheralManagerRequest)
    /// A request to a location manager.
    case location(manager: UInt32, WireLocationRequest)
    /// A request of the audio session or engine.
    case audio(manager: UInt32, WireAudioRequest)
    /// A request to the accessory manager.
    case accessory(manager: UInt32, WireAccessoryRequest)
    /// A request for calls.
    case voip(WireVoIPRequest)
    /// A request about the notifications of the app.
    case notification(WireNotificationRequest)
    /// A request to a session of background transfers.
    case transfer(manager: UInt32, WireTransferRequest)
    /// A request about pushes.
    case push(WirePushRequest)
    /// A request about background tasks and fetch.
    case backgroundTask(WireBackgroundTaskRequest)
}

extension AppMessage {
    /// The requests to areas, with fields that are still to be read.
    static var areas: [Self] {
        CentralRequest.blanks.map { .central(manager: 0, $0) }
            + PeripheralRequest.blanks.map { .peripheral(manager: 0, peripheral: "", $0) }
            + WirePeripheralManagerRequest.blanks.map { .peripheralManager(manager: 0, $0) }
            + WireLocationRequest.blanks.map { .location(manager: 0, $0) }
            + WireAudioRequest.blanks.map { .audio(manager: 0, $0) }
            + WireAccessoryRequest.blanks.map { .accessory(manager: 0, $0) }
            + WireVoIPRequest.blanks.map { .voip($0) }
            + WireNotificationRequest.blanks.map { .notification($0) }
            + WireTransferRequest.blanks.map { .transfer(manager: 0, $0) }
            + WirePushRequest.blanks.map { .push($0) }
            + WireBackgroundTaskRequest.blanks.map { .backgroundTask($0) }
    }

    /// The word of a request to an area; empty for what is none.
    var areaWord: String {
        switch self {
        case .central(_, let request): request.word
        case .peripheral(_, _, let request): request.word
        case .peripheralManager(_, let request): request.word
        case .location(_, let request): request.word
        case .audio(_, let request): request.word
        case .accessory(_, let request): request.word
        case .voip(let request): request.word
        case .notification(let request): request.word
        case .transfer(_, let request): request.word
        case .push(let request): request.word
        case .backgroundTask(let request): request.word
        case .hello, .launched, .acknowledge, .done, .beginTask, .endTask, .timeRemaining, .drew, .signpost: ""
        }
    }

    /// The fields of a request to an area: whom it is for, then its own.
    mutating func codeRequest(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .central(let manager, let request):
            self = try .central(manager: coder.field("manager", manager, .whole), coder.coded(request))
        case .peripheral(let manager, let peripheral, let request):
            self = try .peripheral(
                manager: coder.field("manager", manager, .whole),
                peripheral: coder.field("peripheral", peripheral, .identifier),
                coder.coded(request)
            )
        case .peripheralManager(let manager, let request):
            self = try .peripheralManager(manager: coder.field("manager", manager, .whole), coder.coded(request))
        case .location(let manager, let request):
            self = try .location(manager: coder.field("manager", manager, .whole), coder.coded(request))
        case .audio(let manager, let request):
            self = try .audio(manager: coder.field("manager", manager, .whole), coder.coded(request))
        case .accessory(let manager, let request):
            self = try .accessory(manager: coder.field("manager", manager, .whole), coder.coded(request))
        case .voip(let request): self = try .voip(coder.coded(request))
        case .notification(let request): self = try .notification(coder.coded(request))
        case .transfer(let manager, let request):
            self = try .transfer(manager: coder.field("manager", manager, .whole), coder.coded(request))
        case .push(let request): self = try .push(coder.coded(request))
        case .backgroundTask(let request): self = try .backgroundTask(coder.coded(request))
        case .hello, .launched, .acknowledge, .done, .beginTask, .endTask, .timeRemaining, .drew, .signpost: break
        }
    }
}

/// What the areas have to say of a launch.
package struct LaunchOptions: Equatable, Sendable {
    /// Restore identifiers of the central managers that wait to be made again, where an event for one started the process.
    package var bluetoothCentrals: [String]
    /// Restore identifiers of the peripheral managers that wait to be made again, where an event for one started the process.
    package var bluetoothPeripherals: [String]
    /// Whether an event of a location service started the process.
    package var isForLocation: Bool
    /// The payload of the remote notification that started the process, a JSON object; empty for none.
    package var remoteNotification: String

    /// What the areas have to say of a launch; without arguments, nothing.
    package init(
        bluetoothCentrals: [String] = [],
        bluetoothPeripherals: [String] = [],
        isForLocation: Bool = false,
        remoteNotification: String = ""
    ) {
        self.bluetoothCentrals = bluetoothCentrals
        self.bluetoothPeripherals = bluetoothPeripherals
        self.isForLocation = isForLocation
        self.remoteNotification = remoteNotification
    }
}

extension LaunchOptions: Coded {
    static let blank = LaunchOptions()

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        try coder.field("bluetoothCentrals", of: &bluetoothCentrals, .texts, omitted: [])
        try coder.field("bluetoothPeripherals", of: &bluetoothPeripherals, .texts, omitted: [])
        try coder.field("location", of: &isForLocation, .bool, omitted: false)
        try coder.field(
            "remoteNotification",
            of: &remoteNotification,
            .text(atMost: WireLimits.pushPayloadBytes),
            omitted: ""
        )
    }
}

/// The answer to a request; what does not apply is nil.
package struct WireReply: Equatable, Sendable {
    /// Why the request failed.
    package var failure: WireFailure?
    /// Time remaining, in seconds; nil means without limit.
    package var seconds: Double?
    /// The peripherals asked for.
    package var peripherals: [WirePeripheral]?
    /// The state of the radio.
    package var state: WireRadioState?
    /// Whether the phone's queue took an update of a peripheral manager.
    package var taken: Bool?
    /// How many writes without response the phone's queue to a peripheral takes.
    package var room: UInt16?
    /// The longest value of a write without response, in bytes.
    package var longest: UInt16?
    /// What a fresh location manager is told.
    package var location: WireLocationStatus?
    /// How sound stands.
    package var audio: WireAudioStatus?
    /// The accessories that the app may see, at most ``WireLimits/accessories``.
    package var accessories: [Accessory]?
    /// Whether a VoIP socket is watched, a keep-alive handler will be called, the app has a device token, a launch handler is
    /// registered, or Background App Refresh is on.
    package var granted: Bool?
    /// Notifications of the app, as many as a packet holds.
    package var notifications: WireNotifications?
    /// The tasks of a session that was made again, at most ``WireLimits/transfersListed``.
    package var transfers: [WireTransferTask]?
    /// The requests of background tasks that are pending, at most ``WireLimits/tasksListed``.
    package var tasks: [WireTaskSubmission]?

    /// An answer; without arguments it only says that the request was heard.
    package init(
        failure: WireFailure? = nil,
        seconds: Double? = nil,
        peripherals: [WirePeripheral]? = nil,
        state: WireRadioState? = nil,
        taken: Bool? = nil,
        room: UInt16? = nil,
        longest: UInt16? = nil,
        location: WireLocationStatus? = nil,
        accessories: [Accessory]? = nil,
        granted: Bool? = nil,
        audio: WireAudioStatus? = nil,
        notifications: WireNotifications? = nil,
        transfers: [WireTransferTask]? = nil,
        tasks: [WireTaskSubmission]? = nil
    ) {
        self.failure = failure
        self.seconds = seconds
        self.peripherals = peripherals
        self.state = state
        self.taken = taken
        self.room = room
        self.longest = longest
        self.location = location
        self.audio = audio
        self.accessories = accessories
        self.granted = granted
        self.notifications = notifications
        self.transfers = transfers
        self.tasks = tasks
    }
}

extension WireReply: Coded {
    static let blank = WireReply()

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        failure = try coder.failure(failure)
        try coder.field("seconds", of: &seconds, .seconds)
        try coder.field("peripherals", of: &peripherals, .list())
        try coder.field("state", of: &state, .word)
        try coder.field("taken", of: &taken, .bool)
        try coder.field("room", of: &room, .whole)
        try coder.field("longest", of: &longest, .whole(in: 20...512))
        try coder.field("granted", of: &granted, .bool)
        try coder.field("location", of: &location, .object)
        try coder.field("audio", of: &audio, .object)
        try coder.field("accessories", of: &accessories, .list())
        try coder.field("notifications", of: &notifications, .object)
        try coder.field("transfers", of: &transfers, .list())
        try coder.field("tasks", of: &tasks, .list(atMost: WireLimits.tasksListed))
    }
}

/// What happened to a manager or one of its peripherals.
package enum WireDeliveryBody: Equatable, Sendable {
    /// Something happened to a central manager.
    case central(WireCentralEvent)
    /// Something happened to a peripheral.
    case peripheral(String, WirePeripheralEvent)
    /// Something happened to a peripheral manager.
    case peripheralManager(WirePeripheralManagerEvent)
    /// Something happened to a location manager.
    case location(WireLocationEvent)
    /// Something happened to the app's sound.
    case audio(WireAudioEvent)
    /// Something happened to an accessory, or to a session with one.
    case accessory(WireAccessoryEvent)
    /// Something happened to an app's calls.
    case voip(WireVoIPEvent)
    /// A notification is due, or was tapped.
    case notification(WireNotificationEvent)
    /// Something happened to a background transfer, or its session.
    case transfer(WireTransferEvent)
    /// A push came, or the app's device token.
    case push(WirePushEvent)
    /// A background task or a fetch is to run, or its time is nearly over.
    case backgroundTask(WireBackgroundTaskEvent)
    /// A channel of the manager has something to read, or its end; the app finds it on the channel's own socket.
    case channelData
}

extension WireDeliveryBody: CodedByWord {
    static let byWord = {
        var blanks = WireCentralEvent.blanks.map { Self.central($0) } + [.channelData]
        blanks += WirePeripheralEvent.blanks.map { .peripheral("", $0) }
        blanks += WirePeripheralManagerEvent.blanks.map { .peripheralManager($0) }
        blanks += WireLocationEvent.blanks.map { .location($0) }
        blanks += WireAudioEvent.blanks.map { .audio($0) }
        blanks += WireAccessoryEvent.blanks.map { .accessory($0) }
        blanks += WireVoIPEvent.blanks.map { .voip($0) }
        blanks += WireNotificationEvent.blanks.map { .notification($0) }
        blanks += WireTransferEvent.blanks.map { .transfer($0) }
        blanks += WirePushEvent.blanks.map { .push($0) }
        blanks += WireBackgroundTaskEvent.blanks.map { .backgroundTask($0) }
        return table(blanks)
    }()

    var word: String {
        switch self {
        case .central(let event): event.word
        case .peripheral(_, let event): event.word
        case .peripheralManager(let event): event.word
        case .location(let event): event.word
        case .audio(let event): event.word
        case .accessory(let event): event.word
        case .voip(let event): event.word
        case .notification(let event): event.word
        case .transfer(let event): event.word
        case .push(let event): event.word
        case .backgroundTask(let event): event.word
        case .channelData: "channel.data"
        }
    }

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .central(let event): self = try .central(coder.coded(event))
        case .peripheral(let peripheral, let event):
            self = try .peripheral(coder.field("peripheral", peripheral, .identifier), coder.coded(event))
        case .peripheralManager(let event): self = try .peripheralManager(coder.coded(event))
        case .location(let event): self = try .location(coder.coded(event))
        case .audio(let event): self = try .audio(coder.coded(event))
        case .accessory(let event): self = try .accessory(coder.coded(event))
        case .voip(let event): self = try .voip(coder.coded(event))
        case .notification(let event): self = try .notification(coder.coded(event))
        case .transfer(let event): self = try .transfer(coder.coded(event))
        case .push(let event): self = try .push(coder.coded(event))
        case .backgroundTask(let event): self = try .backgroundTask(coder.coded(event))
        case .channelData: break
        }
    }
}

extension WireDeliveryBody {
    /// The source that such deliveries come from.
    package var source: String {
        let source: Source =
            switch self {
            case .location: .location
            case .voip: .voip
            case .notification: .notification
            case .transfer: .transfer
            case .push: .push
            case .backgroundTask: .task
            case .accessory: .accessory
            default: .bluetooth
            }
        return source.word
    }
}
