/// Decides how an adapter is used: when it is switched on, what is looked for, and which link is asked for next.
///
/// It performs nothing. Each input returns what its owner does next, in the order given; when that is done, the owner asks
/// ``settle(isSeeking:isConnecting:)`` what is to be asked of bluetoothd now.
struct BlueZAdapterMachine: Equatable, Sendable {
    /// How far the adapter is.
    enum State: Equatable, Sendable {
        /// There is no bluetoothd. Valid transitions to: `listing`.
        case noDaemon
        /// bluetoothd is asked for its objects, or will be after a pause in milliseconds. Valid transitions to:
        /// `noAdapter`, `off`, `ready`, `noDaemon`.
        case listing(pause: Int64)
        /// Valid transitions to: `off`, `ready`, `noDaemon`.
        case noAdapter
        /// The adapter is there and off, or wanted off. Valid transitions to: `ready`, `noAdapter`, `noDaemon`.
        case off(path: String)
        /// The adapter is there and on, and that was told. Valid transitions to: `off`, `noAdapter`, `noDaemon`.
        case ready(path: String, Discovery)
    }

    /// What the owner does next.
    enum Command: Equatable, Sendable {
        /// Ask bluetoothd, and come back with the answer where one is waited for.
        case call(Call)
        /// Come back after a time, in milliseconds.
        case wait(BlueZDelay, Int64)
        case cancel(BlueZDelay)
        /// No delay of anybody has a meaning any more.
        case cancelDelays
        /// Fail what was asked of the attributes below a path; everything when it is empty.
        case endOperations(below: String)
        /// The same of a device whose link stays up for others; what it notifies to us it notifies no more.
        case letGo(below: String)
        case say(BlueZEvent)
        /// Tell that the device of an object was heard.
        case sayHeard(BlueZDeviceID, path: String)
        /// Tell the server that a device's link ended, whoever made it.
        case linkEnded(BlueZDeviceID)
        /// Tell the profiles that looking for devices changed, or that a device came.
        case discoverySettled
    }

    /// What bluetoothd is asked for.
    enum Call: Equatable, Sendable {
        case listObjects
        case setPower(adapter: String, Bool)
        case setFilter(adapter: String, BlueZScan)
        case startDiscovery(adapter: String)
        case stopDiscovery(adapter: String)
        /// Nobody waits for the answer.
        case removeDevice(adapter: String, path: String)
        case connect(BlueZDeviceID, path: String, patience: Duration)
        case askWhetherConnected(BlueZDeviceID, path: String)
        case disconnect(BlueZDeviceID, path: String)
        /// Disconnect, and nobody waits for the answer.
        case abandon(path: String)
    }

    /// How a call was answered.
    enum Outcome: Equatable, Sendable {
        case done
        /// The last part of the error's name.
        case failed(String)
        case timedOut
    }

    /// For how long after a restart of bluetoothd a link may be one that the dead one left behind, in milliseconds: the
    /// kernel closes it two seconds after its last socket.
    static let leftOver: Int64 = 4_000
    /// For how long after an attribute came or went others may, in milliseconds: each has a signal of its own.
    static let attributesTogether: Int64 = 100
    /// The longest pause before anything is asked for again, in milliseconds.
    static let longestPause: Int64 = 8_000

    let choice: BlueZAdapterChoice
    private(set) var state = State.noDaemon
    /// Counts bluetoothds. What was asked of an earlier one is not listened to.
    private(set) var generation = 0
    /// Counts what ends everything that was asked of the adapter: a new bluetoothd, and an adapter gone or off.
    private(set) var epoch = 0
    private var wantsPower = true
    private var powerAttempts = 0

    /// Sorted by path.
    private var adapters: [BlueZAdapterFacts] = []
    /// Sorted by path.
    private var devices: [BlueZDeviceFacts] = []
    /// The devices that this program knows better than bluetoothd, by address: their types, and that links to them which
    /// nobody wants are closed. Another program's mouse is none of our business.
    var ownDevices: [String: BlueZDeviceID] = [:]

    /// What is to be looked for.
    var wantedScan: BlueZScan?
    var discoveryFailures = 0
    /// The devices heard since looking began.
    var heard: Set<BlueZDeviceID> = []

    /// In order of request.
    var wishes: [Wish] = []
    /// The links that are up and were told, in order.
    var links: [BlueZDeviceID] = []
    /// Links that are being closed: until that is done, Connected still says otherwise.
    var closing: [BlueZDeviceID] = []
    /// The paths of devices whose links others of this program hold: these are not closed.
    var heldByOthers: Set<String> = []
    /// By the device's path.
    var reasons: [String: String] = [:]
    var sharing = Sharing()
    /// No link is asked for, so that somebody hears advertisements.
    var isListening = false
    /// bluetoothd was restarted a moment ago.
    var mayBeLeftOver = false

    init(_ choice: BlueZAdapterChoice) { self.choice = choice }

    // MARK: What there is

    /// The adapter's object; nil while it is not there.
    var path: String? {
        switch state {
        case .noDaemon, .listing, .noAdapter: nil
        case .off(let path), .ready(let path, _): path
        }
    }

    var isReady: Bool {
        switch state {
        case .ready: true
        case .noDaemon, .listing, .noAdapter, .off: false
        }
    }

    /// Whether bluetoothd listed its objects, so that its signals have a meaning.
    var isSynchronised: Bool {
        switch state {
        case .noDaemon, .listing: false
        case .noAdapter, .off, .ready: true
        }
    }

    /// How far looking for devices is; idle while the adapter is not ready.
    var discovery: Discovery {
        get {
            switch state {
            case .ready(_, let discovery): discovery
            case .noDaemon, .listing, .noAdapter, .off: .idle
            }
        }
        set {
            guard case .ready(let path, _) = state else {
                preconditionFailure("discovery is \(newValue) while \(state)")
            }
            state = .ready(path: path, newValue)
        }
    }

    private var own: BlueZAdapterFacts? { adapters.first { $0.path == path } }
    private var isOn: Bool { own?.isOn == true }

    /// The adapter's own address; nil while it is not there.
    var address: String? { own?.address }

    /// The devices of this adapter, in order of their objects.
    var ownObjects: [BlueZDeviceFacts] {
        guard let path else { return [] }
        return devices.filter { $0.path.hasPrefix(path + "/") }
    }

    func facts(of device: BlueZDeviceID) -> BlueZDeviceFacts? {
        guard let path else { return nil }
        return devices.first { identity(of: $0) == device && $0.path.hasPrefix(path + "/") }
    }

    func facts(at path: String) -> BlueZDeviceFacts? { devices.first { $0.path == path } }

    /// The device of an object of this adapter.
    func device(at object: String) -> BlueZDeviceID? {
        guard let path, object.hasPrefix(path + "/") else { return nil }
        return facts(at: object).map(identity)
    }

    /// A device file says an address and not its type.
    func identity(of facts: BlueZDeviceFacts) -> BlueZDeviceID { ownDevices[facts.id.address] ?? facts.id }

    mutating func note(_ facts: BlueZDeviceFacts) {
        let index = devices.firstIndex { $0.path >= facts.path } ?? devices.endIndex
        let isKnown = index < devices.endIndex && devices[index].path == facts.path
        devices.replaceSubrange(index..<(isKnown ? index + 1 : index), with: [facts])
    }

    // MARK: bluetoothd

    mutating func daemonAppeared() -> [Command] {
        state = .listing(pause: 100)
        mayBeLeftOver = generation > 0
        return (mayBeLeftOver ? [.wait(.leftOverLinks, Self.leftOver)] : []) + [.call(.listObjects)]
    }

    /// A new bluetoothd knows nothing of what the old one was asked, and the old one's late answers mean nothing.
    mutating func daemonLeft() -> [Command] {
        generation += 1
        devices.removeAll()
        reasons.removeAll()
        let commands = path == nil ? forgetAsked() : adapterLeft()
        adapters.removeAll()
        state = .noDaemon
        return commands
    }

    mutating func objectsListed(_ adapters: [BlueZAdapterFacts], _ devices: [BlueZDeviceFacts]) -> [Command] {
        (self.adapters, self.devices) = (adapters, devices)
        state = .noAdapter
        return chooseAdapter()
    }

    mutating func listingFailed() -> [Command] {
        guard case .listing(let pause) = state else { return [] }
        state = .listing(pause: min(Self.longestPause, pause * 2))
        return [.wait(.objects, pause)]
    }

    /// A signal of the bluetoothd that listed its objects.
    mutating func hear(_ signal: BlueZSignal) -> [Command] {
        switch signal {
        case .adapterAppeared(let facts), .adapterChanged(let facts):
            adapters.removeAll { $0.path == facts.path }
            adapters.insert(facts, at: adapters.firstIndex { $0.path > facts.path } ?? adapters.endIndex)
            return facts.path == path ? powerChanged() : chooseAdapter()
        case .deviceAppeared(let facts):
            note(facts)
            return deviceAppeared(facts)
        case .deviceChanged(let facts, let change):
            note(facts)
            return deviceChanged(facts, change)
        case .vanished(let gone):
            adapters.removeAll { gone.contains($0.path) }
            devices.removeAll { gone.contains($0.path) }
            for path in gone { reasons[path] = nil }
            guard let path, gone.contains(path) else { return devicesVanished() + servicesVanished(gone) }
            return adapterLeft() + chooseAdapter()
        case .reason(let path, let reason):
            reasons[path] = reason
            return []
        case .attributeAppeared(let path): return attributesChanged(at: path)
        case .value: return []
        }
    }

    mutating func elapsed(_ delay: BlueZDelay) -> [Command] {
        switch delay {
        case .objects: return [.call(.listObjects)]
        case .leftOverLinks: mayBeLeftOver = false
        case .power: return switchPower()
        case .listening: isListening = false
        case .discovery: discoveryPauseEnded()
        case .retry(let device): pauseEnded(device)
        case .attributes(let device): return attributesSettled(device)
        case .bus, .resubscribe, .server, .profiles, .profile: preconditionFailure("\(delay) is somebody else's")
        }
        return []
    }

    mutating func answered(_ call: Call, _ outcome: Outcome) -> [Command] {
        switch call {
        case .setPower: return outcome == .done ? [] : powerRefused()
        case .setFilter, .startDiscovery, .stopDiscovery: return discoveryAnswered(outcome)
        case .connect(let device, let path, _): return connectAnswered(device, path, outcome)
        case .disconnect(let device, _):
            // There is no link then, or it stays; neither is waited for.
            if outcome != .done { closing.removeAll { $0 == device } }
            return []
        case .removeDevice, .abandon: return []
        case .listObjects, .askWhetherConnected: preconditionFailure("\(call) is answered with more than \(outcome)")
        }
    }

    // MARK: The adapter

    private mutating func chooseAdapter() -> [Command] {
        guard state == .noAdapter, let found = choice.first(of: adapters) else { return [] }
        state = .off(path: found.path)
        powerAttempts = 0
        if found.isOn, wantsPower { return becomeReady(found.path) }
        return switchPower()
    }

    private mutating func powerChanged() -> [Command] {
        switch state {
        case .off(let path): return isOn && wantsPower ? becomeReady(path) : []
        case .ready(let path, _):
            guard !isOn else { return [] }
            // Whoever switched it off meant it, so it is not switched on again here.
            state = .off(path: path)
            return leaveLinks() + [.say(.off)]
        case .noDaemon, .listing, .noAdapter: return []
        }
    }

    private mutating func becomeReady(_ path: String) -> [Command] {
        state = .ready(path: path, .idle)
        return [.cancel(.power), .say(.ready)] + adoptLinks()
    }

    /// The adapter's object went: with it every device, link and registration.
    private mutating func adapterLeft() -> [Command] {
        state = .noAdapter
        return leaveLinks() + [.say(.gone)]
    }

    private mutating func leaveLinks() -> [Command] {
        let ended = links.map { Command.say(.disconnected($0, reason: nil)) }
        links.removeAll()
        return forgetAsked() + [.endOperations(below: "")] + ended
    }

    /// Nothing that was asked will be answered, and no delay has a meaning any more.
    private mutating func forgetAsked() -> [Command] {
        epoch += 1
        for index in wishes.indices { wishes[index] = Wish(device: wishes[index].device) }
        closing.removeAll()
        heard.removeAll()
        discoveryFailures = 0
        isListening = false
        mayBeLeftOver = false
        return [.cancelDelays]
    }

    /// Switches the adapter on or off.
    mutating func setPower(_ on: Bool) -> [Command] {
        wantsPower = on
        powerAttempts = 0
        if case .off(let path) = state, isOn, on { return becomeReady(path) }
        return switchPower()
    }

    /// A dongle comes back switched off, and may refuse to be switched on while it is being set up: asked for
    /// explicitly, again and again.
    private func switchPower() -> [Command] {
        guard let path, isOn != wantsPower else { return [] }
        return [.call(.setPower(adapter: path, wantsPower))]
    }

    private mutating func powerRefused() -> [Command] {
        guard isOn != wantsPower else { return [] }
        powerAttempts += 1
        return [.wait(.power, min(Self.longestPause, 250 << Int64(min(powerAttempts, 5))))]
    }

    // MARK: Its owner

    /// What is to be asked of bluetoothd now, once all that was returned before is done.
    ///
    /// - Parameter isSeeking: a profile wants a device that must be looked for.
    /// - Parameter isConnecting: a profile is being connected, or about to be.
    mutating func settle(isSeeking: Bool, isConnecting: Bool) -> [Command] {
        guard case .ready(let path, _) = state else { return [] }
        return adjustDiscovery(path, isSeeking: isSeeking, isConnecting: isConnecting) + pursueLinks()
    }

    /// Ends: the links that were made here are closed.
    mutating func stop() -> [Command] {
        let made = links + wishes.filter { $0.stage == .connecting }.map(\.device)
        wishes.removeAll()
        links.removeAll()
        closing.removeAll()
        return made.compactMap(facts(of:)).map { abandon($0.path) }
    }
}
