import WakeModel

/// The table of areas: what each keeps, in the order in which they hear of apps and of the phone. No other file lists them.
struct Areas: Codable {
    var bluetooth = BluetoothArea()
    var location = LocationArea()
    var audio = AudioArea()
    var accessory = AccessoryArea()
    var voip = VoIPArea()
    var notification = NotificationArea()
    var citizen = CitizenArea()
    var transfer = TransferArea()
    var push = PushArea()
    var backgroundTask = BackgroundTaskArea()

    init(bluetoothOn: Bool) {
        bluetooth.isOn = bluetoothOn
        bluetooth.powerSwitch = bluetoothOn ? .on : .offInSettings
    }

    /// A place for an app that is installed, or installed anew: nothing of before counts.
    mutating func resetApp(_ app: AppID) {
        let place = Int(app.number)
        bluetooth.apps.put(.init(), at: place)
        location.apps.put(.init(), at: place)
        audio.apps.put(.init(), at: place)
        accessory.apps.put(.init(), at: place)
        voip.apps.put(.init(), at: place)
        notification.apps.put(.init(), at: place)
        citizen.apps.put(.init(), at: place)
        transfer.apps.put(.init(), at: place)
        push.apps.put(.init(), at: place)
        backgroundTask.apps.put(.init(), at: place)
    }

    /// The next instant at which something about no app is due; the distant future when nothing is.
    var due: Instant { min(bluetooth.due, location.due, audio.due, accessory.due, min(voip.due, citizen.due)) }

    /// The next instant at which something about an app is due; the distant future when nothing is.
    @inline(__always)
    func due(of app: AppID) -> Instant {
        min(
            min(bluetooth.due(of: app), location.due(of: app), audio.due(of: app)),
            min(accessory.due(of: app), voip.due(of: app), notification.due(of: app)),
            min(citizen.due(of: app), transfer.due(of: app), min(push.due(of: app), backgroundTask.due(of: app)))
        )
    }

    /// Until when an area lets an app run in the background beside its windows and tasks; nil when none does.
    @inline(__always)
    func lingers(_ app: AppID) -> Instant? {
        let until = max(
            max(bluetooth.lingers(app), location.lingers(app), audio.lingers(app)),
            max(accessory.lingers(app), voip.lingers(app), transfer.lingers(app)),
            max(push.lingers(app), backgroundTask.lingers(app))
        )
        return until == .zero ? nil : until
    }

    /// Shows the phone in the observed values.
    @inline(__always)
    func show(in snapshot: inout AppSnapshot) {
        bluetooth.show(in: &snapshot)
        location.show(in: &snapshot)
        audio.show(in: &snapshot)
        accessory.show(in: &snapshot)
        voip.show(in: &snapshot)
    }

    /// Whether each area has a place for each app, and what is there makes sense.
    func isConsistent(apps count: Int) -> Bool {
        [
            bluetooth.apps.count, location.apps.count, audio.apps.count, accessory.apps.count, voip.apps.count,
            notification.apps.count, citizen.apps.count, transfer.apps.count, push.apps.count,
            backgroundTask.apps.count,
        ]
        .allSatisfy { $0 == count } && bluetooth.isConsistent && location.isConsistent && audio.isConsistent
            && accessory.isConsistent && voip.isConsistent && notification.isConsistent && citizen.isConsistent
            && transfer.isConsistent && push.isConsistent && backgroundTask.isConsistent
    }

    /// Whether the user is in a telephone call.
    var isInCall: Bool { audio.inCall }

    /// Makes again what a snapshot leaves out.
    mutating func restore() {
        bluetooth.restore()
        location.restore()
        audio.restore()
        accessory.restore()
        voip.restore()
    }
}

extension Router {
    /// A phone that is on and unlocked, without apps.
    package init(
        profile: Profile,
        passcode: Bool = true,
        bluetoothOn: Bool = true,
        conditions: PhoneConditions = .usual
    ) {
        self.init(profile: profile, passcode: passcode, conditions: conditions, areas: Areas(bluetoothOn: bluetoothOn))
    }

    /// How long an app that could not be frozen runs until the next attempt.
    var retryWindow: Instant.Span { profile.areas.bluetooth.window }

    /// The area of a source.
    func area(of source: Source) -> any Area.Type {
        switch source {
        case .bluetooth: BluetoothArea.self
        case .location: LocationArea.self
        case .audio: AudioArea.self
        case .accessory: AccessoryArea.self
        case .voip: VoIPArea.self
        case .notification: NotificationArea.self
        case .transfer: TransferArea.self
        case .push: PushArea.self
        case .task: BackgroundTaskArea.self
        case .system: preconditionFailure("no area reports events of \(source)")
        }
    }

    /// The event by which what is told only once would come next, whatever the time, after an earlier one of it: for who asks what
    /// would become of it. Nil for any other event, and where nothing of it is to come.
    package mutating func nextTry(after event: WakeEvent) -> WakeEvent? {
        nextTask(after: event) ?? nextTransfer(after: event)
    }

    /// Tells every area, in order. The calls are direct ones once this is inlined.
    @inline(__always)
    mutating func eachArea(_ tell: (any Area.Type, inout Router) -> Void) {
        tell(BluetoothArea.self, &self)
        tell(LocationArea.self, &self)
        tell(AudioArea.self, &self)
        tell(AccessoryArea.self, &self)
        tell(VoIPArea.self, &self)
        tell(NotificationArea.self, &self)
        tell(CitizenArea.self, &self)
        tell(TransferArea.self, &self)
        tell(PushArea.self, &self)
        tell(BackgroundTaskArea.self, &self)
    }

    /// Asks every area, in order.
    @inline(__always)
    func askAreas(_ ask: (any Area.Type) -> Void) {
        ask(BluetoothArea.self)
        ask(LocationArea.self)
        ask(AudioArea.self)
        ask(AccessoryArea.self)
        ask(VoIPArea.self)
        ask(NotificationArea.self)
        ask(CitizenArea.self)
        ask(TransferArea.self)
        ask(PushArea.self)
        ask(BackgroundTaskArea.self)
    }

    /// Tells every area of a step in the life of an app.
    @inline(__always)
    mutating func tell(_ step: AppStep, of app: AppID) {
        eachArea { $0.hear(step, of: app, in: &$1) }
    }

    /// Tells every area of a step in the life of the phone.
    mutating func tell(_ step: PhoneStep) {
        eachArea { $0.hear(step, in: &$1) }
    }

    /// Whether the phone itself is already as a change would have it; of what is an area's, the area knows.
    func isSo(_ change: PhoneChange) -> Bool {
        guard conditions.after(change) == conditions else { return false }
        return switch change {
        case .lock: isLocked
        case .unlock: !isLocked && unlockedSinceBoot
        case .setPasscode: passcode
        case .removePasscode: !passcode && !isLocked && unlockedSinceBoot
        case .chargerConnected, .chargerDisconnected, .wifiJoined, .wifiLeft, .cellularOn, .cellularOff,
            .lowPowerModeOn, .lowPowerModeOff, .backgroundRefreshOn, .backgroundRefreshOff, .displayOff:
            true
        case .reboot, .shutDown, .boot: false
        // What comes of it tells.
        case .displayOn: false
        // An area's.
        case .callBegan, .callEnded, .bluetoothOn, .bluetoothOff, .bluetoothOffInControlCentre, .airplaneModeOn,
            .airplaneModeOnKeepingBluetooth, .airplaneModeOff, .memoryWarning, .memoryShortage, .memoryRelief,
            .callEndedWithoutResume, .callEndedUntold:
            false
        }
    }

    /// Gives one app its verdict on an event and starts what follows from it.
    ///
    /// - Parameters:
    ///   - supersedes: An earlier record of the same event for the same app.
    ///   - restarted: The event was on its way to the app when the bench died: what is not delivered now is lost.
    mutating func decide(
        _ event: WakeEvent,
        for interest: Interest,
        supersedes: DecisionID = .none,
        restarted: Bool = false
    ) {
        // Each call is one of a function of its own, made for the area: nothing is looked up while deciding.
        switch interest.via.source {
        case .bluetooth: decide(event, for: interest, by: BluetoothArea.self, supersedes, restarted)
        case .location: decide(event, for: interest, by: LocationArea.self, supersedes, restarted)
        case .audio: decide(event, for: interest, by: AudioArea.self, supersedes, restarted)
        case .accessory: decide(event, for: interest, by: AccessoryArea.self, supersedes, restarted)
        case .voip: decide(event, for: interest, by: VoIPArea.self, supersedes, restarted)
        case .notification: decide(event, for: interest, by: NotificationArea.self, supersedes, restarted)
        case .transfer: decide(event, for: interest, by: TransferArea.self, supersedes, restarted)
        case .push: decide(event, for: interest, by: PushArea.self, supersedes, restarted)
        case .task: decide(event, for: interest, by: BackgroundTaskArea.self, supersedes, restarted)
        case .system: preconditionFailure("no area decides on \(interest.via)")
        }
    }
}
