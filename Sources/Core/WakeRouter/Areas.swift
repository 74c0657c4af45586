import WakeModel

/// The table of areas: what each keeps, in the order in which they hear of apps and of the phone. No other file lists them.
struct Areas: Codable {
    var bluetooth = BluetoothArea()
    var location = LocationArea()
    var audio = AudioArea()
    var accessory = AccessoryArea()
    var voip = VoIPArea()

    /// A place for one app more.
    mutating func addApp() {
        bluetooth.apps.append(.init())
        location.apps.append(.init())
        audio.apps.append(.init())
        accessory.apps.append(.init())
        voip.apps.append(.init())
    }

    /// An app is installed anew: nothing of before counts.
    mutating func resetApp(_ index: Int) {
        bluetooth.apps[index] = .init()
        location.apps[index] = .init()
        audio.apps[index] = .init()
        accessory.apps[index] = .init()
        voip.apps[index] = .init()
    }

    /// The next instant at which something about no app is due; the distant future when nothing is.
    var due: Instant { min(bluetooth.due, location.due, audio.due, accessory.due, voip.due) }

    /// The next instant at which something about an app is due; the distant future when nothing is.
    @inline(__always)
    func due(of index: Int) -> Instant {
        min(
            min(bluetooth.due(of: index), location.due(of: index), audio.due(of: index)),
            min(accessory.due(of: index), voip.due(of: index))
        )
    }

    /// Until when an area lets an app run in the background beside its windows and tasks; nil when none does.
    @inline(__always)
    func lingers(_ index: Int) -> Instant? {
        let until = max(
            max(bluetooth.lingers(index), location.lingers(index), audio.lingers(index)),
            max(accessory.lingers(index), voip.lingers(index))
        )
        return until == .zero ? nil : until
    }

    /// Shows the phone in the observed values.
    @inline(__always)
    func show(in face: inout AppSnapshot) {
        bluetooth.show(in: &face)
        location.show(in: &face)
        audio.show(in: &face)
        accessory.show(in: &face)
        voip.show(in: &face)
    }

    /// Whether each area has a place for each app, and what is there makes sense.
    func isConsistent(apps count: Int) -> Bool {
        [bluetooth.apps.count, location.apps.count, audio.apps.count, accessory.apps.count, voip.apps.count]
            .allSatisfy { $0 == count } && bluetooth.isConsistent && location.isConsistent && audio.isConsistent
            && accessory.isConsistent && voip.isConsistent
    }

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
    /// The area of a source.
    func area(of source: Source) -> any Area.Type {
        switch source {
        case .bluetooth: BluetoothArea.self
        case .location: LocationArea.self
        case .audio: AudioArea.self
        case .accessory: AccessoryArea.self
        case .voip: VoIPArea.self
        case .push, .transfer, .task, .system: preconditionFailure("no area reports events of \(source)")
        }
    }

    /// Tells every area, in order. The calls are direct ones once this is inlined.
    @inline(__always)
    mutating func eachArea(_ tell: (any Area.Type, inout Router) -> Void) {
        tell(BluetoothArea.self, &self)
        tell(LocationArea.self, &self)
        tell(AudioArea.self, &self)
        tell(AccessoryArea.self, &self)
        tell(VoIPArea.self, &self)
    }

    /// Asks every area, in order.
    @inline(__always)
    func askAreas(_ ask: (any Area.Type) -> Void) {
        ask(BluetoothArea.self)
        ask(LocationArea.self)
        ask(AudioArea.self)
        ask(AccessoryArea.self)
        ask(VoIPArea.self)
    }

    /// Tells every area of a step in the life of an app.
    @inline(__always)
    mutating func tell(_ step: AppStep, of app: AppID, into output: inout RouterOutput) {
        eachArea { $0.hear(step, of: app, in: &$1, into: &output) }
    }

    /// Tells every area of a step in the life of the phone.
    mutating func tell(_ step: PhoneStep, into output: inout RouterOutput) {
        eachArea { $0.hear(step, in: &$1, into: &output) }
    }

    /// Lets the area of an event find who is interested.
    mutating func routeToArea(_ event: WakeEvent, into output: inout RouterOutput) {
        switch event.kind.source {
        case .bluetooth: BluetoothArea.route(event, in: &self, into: &output)
        case .location: LocationArea.route(event, in: &self, into: &output)
        case .audio: AudioArea.route(event, in: &self, into: &output)
        case .accessory: AccessoryArea.route(event, in: &self, into: &output)
        case .voip: VoIPArea.route(event, in: &self, into: &output)
        case .push, .transfer, .task, .system: preconditionFailure("no area hears of \(event.kind)")
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
        restarted: Bool = false,
        into output: inout RouterOutput
    ) {
        // Each call is one of a function of its own, made for the area: nothing is looked up while deciding.
        switch interest.via.source {
        case .bluetooth: decide(event, for: interest, by: BluetoothArea.self, supersedes, restarted, into: &output)
        case .location: decide(event, for: interest, by: LocationArea.self, supersedes, restarted, into: &output)
        case .audio: decide(event, for: interest, by: AudioArea.self, supersedes, restarted, into: &output)
        case .accessory: decide(event, for: interest, by: AccessoryArea.self, supersedes, restarted, into: &output)
        case .voip: decide(event, for: interest, by: VoIPArea.self, supersedes, restarted, into: &output)
        case .push, .transfer, .task, .system: preconditionFailure("no area decides on \(interest.via)")
        }
    }
}
