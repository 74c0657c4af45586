import WakeBus
import WakeSystem

/// Which of the machine's adapters to use.
package enum BlueZAdapterChoice: Hashable, Sendable {
    /// The first there is.
    case any
    /// The one with this address: the number in `hci0` changes when a dongle is plugged in again, its address does not.
    case address(String)
}

/// What an adapter tells of itself and its devices.
package enum BlueZEvent {
    /// The adapter is there and on.
    case ready
    /// The adapter is there and was switched off, by whomever.
    case off
    /// bluetoothd or the adapter went, and all links with it. It is looked for until it is back.
    case gone
    /// A device was heard while looking for devices. The same may be heard often.
    case sighted(BlueZDeviceID, BlueZAdvertisement)
    /// A link that is wanted is up.
    case connected(BlueZDeviceID)
    /// The attribute table of a connected device is complete; it may be so more than once on one link.
    case resolved(BlueZDeviceID)
    /// A link that was up is down, and is not wanted any more. The reason is BlueZ's word, where it gives one.
    case disconnected(BlueZDeviceID, reason: String?)
    /// A characteristic notified a value.
    case notified(BlueZDeviceID, UInt16, [UInt8], BlueZNotificationPath)
}

/// The way on which notifications come.
package enum BlueZNotificationPath: String, Sendable {
    /// As signals: shared with others, and the first one is not lost.
    case startNotify = "StartNotify"
    /// Through a socket of our own.
    case acquireNotify = "AcquireNotify"
}

/// One Bluetooth adapter of this machine, through bluetoothd: kept switched on, followed over restarts of bluetoothd and
/// when it is unplugged and plugged in again.
///
/// There is one for all apps. It knows which links and which discovery are wanted, and goes on until it has them.
package final class BlueZAdapter {
    /// How long bluetoothd may take to list its objects and to switch power.
    static let patience = Duration.seconds(10)

    /// For how long after a restart of bluetoothd a link may be one that the dead one left behind, in milliseconds: the
    /// kernel closes it two seconds after its last socket.
    static let leftOver: Int64 = 4_000

    package let choice: BlueZAdapterChoice
    private let address: BusAddress
    let loop: EventLoop
    let delays: Delays
    private(set) var bus: Bus?
    private var subscriptions: [BusSubscription] = []

    /// Where events go.
    package var heard: ((BlueZEvent) -> Void)?

    /// bluetoothd's unique name; nil while there is none.
    private(set) var owner: String?
    /// Counts bluetoothds. What was asked of an earlier one is not listened to.
    package private(set) var generation = 0
    /// Counts what ends everything that was asked of the adapter: a new bluetoothd, and an adapter gone or off.
    private var epoch = 0
    private var synchronised = false
    package internal(set) var objects = BlueZObjects()

    /// The adapter's object; nil while it is not there.
    package private(set) var path: String?
    private var wantsPower = true
    private var powerAttempts = 0
    /// The adapter is there and on, and that was told.
    package private(set) var isReady = false

    var discovery = Discovery()
    var wishes: [Wish] = []
    /// The links that are up and were told, in order.
    package internal(set) var links: [BlueZDeviceID] = []
    /// Links that are being closed: until that is done, Connected still says otherwise.
    var closing: Set<BlueZDeviceID> = []
    var disconnectReasons: [String: String] = [:]
    /// Devices whose links nobody wants are disconnected when they are among these, and left alone when not: another
    /// program's mouse is none of our business.
    package var ownDevices: Set<BlueZDeviceID> = []
    /// Whether looking for devices rests while a link is being made: some dongles cannot do both.
    package var restsDiscoveryToConnect = true
    var sharing = Sharing()
    /// How to pair with a device; nil where no pairing is to be answered here.
    package var pairings: [BlueZDeviceID: BlueZPairing] = [:]
    private(set) var agent: BlueZAgent?
    var lanes: [String: Lane] = [:]
    var notifying: [String: Notifying] = [:]
    /// Where a value of a notification socket is read to; the longest has 512 bytes.
    var valueBuffer = [UInt8](repeating: 0, count: 1_024)
    /// What this machine offers as a peripheral, for as long as somebody holds it.
    weak var server: BlueZServer?
    /// The profiles over RFCOMM, for as long as somebody holds them.
    weak var profiles: BlueZProfiles?

    package init(_ choice: BlueZAdapterChoice = .any, bus address: BusAddress = .system, on loop: EventLoop) {
        self.choice = choice
        self.address = address
        self.loop = loop
        delays = Delays(loop)
    }

    /// Begins to follow bluetoothd. It need not be there.
    ///
    /// - Throws: ``BusError`` when there is no bus.
    package func start() throws(BusError) {
        let bus = try Bus(address, on: loop)
        self.bus = bus
        bus.disconnected = { [weak self] in self?.busEnded() }
        // Subscribed before anything is asked, so that nothing can happen between the answer and the first signal.
        try subscribe(bus, BusSignal.Rule(sender: BlueZName.daemon, path: "/", interface: BlueZName.objectManager)) {
            $0.objectsChanged($1)
        }
        let properties = BusSignal.Rule(
            sender: BlueZName.daemon,
            pathNamespace: "/org/bluez",
            interface: BlueZName.properties,
            member: "PropertiesChanged"
        )
        try subscribe(bus, properties) { $0.propertiesChanged($1) }
        let ends = BusSignal.Rule(sender: BlueZName.daemon, interface: BlueZName.device, member: "Disconnected")
        try subscribe(bus, ends) { $0.noteReason($1) }
        subscriptions.append(
            try bus.watchOwner(of: BlueZName.daemon) { [weak self] owner in self?.ownerChanged(owner) }
        )
        server?.busOpened(bus)
        profiles?.busOpened(bus)
    }

    private func subscribe(
        _ bus: Bus,
        _ rule: BusSignal.Rule,
        _ hear: @escaping (BlueZAdapter, BusSignal) -> Void
    ) throws(BusError) {
        subscriptions.append(
            try bus.subscribe(to: rule) { [weak self] signal in
                // The name org.bluez may have moved on; the unique name says which bluetoothd speaks.
                guard let self, synchronised, signal.sender == owner else { return }
                hear(self, signal)
            }
        )
    }

    /// Ends: links that were made here are closed, and nothing is told any more.
    package func stop() {
        heard = nil
        for device in links + wishes.filter(\.isConnecting).map(\.device) {
            if let path = path(of: device) { tell(path, BlueZName.device, "Disconnect") }
        }
        wishes.removeAll()
        links.removeAll()
        closing.removeAll()
        notifying.removeAll()
        lanes.removeAll()
        delays.cancelAll()
        agent?.withdraw()
        subscriptions.removeAll()
        bus?.close()
        bus = nil
    }

    private func busEnded() {
        ownerChanged(nil)
        server?.busEnded()
        profiles?.busEnded()
        subscriptions.removeAll()
        bus = nil
        reopen(after: 500)
    }

    private func reopen(after milliseconds: Int64) {
        delays.after(milliseconds, "bus") { [weak self] in
            guard let self else { return }
            do throws(BusError) {
                try start()
            } catch {
                subscriptions.removeAll()
                bus?.close()
                bus = nil
                reopen(after: min(8_000, milliseconds * 2))
            }
        }
    }

    // MARK: bluetoothd

    private func ownerChanged(_ new: String?) {
        guard new != owner else { return }
        if owner != nil { forgetEverything() }
        owner = new
        guard new != nil else { return }
        if generation > 0 { delays.after(Self.leftOver, "left-over links") {} }
        synchronise(after: 100)
    }

    /// A new bluetoothd knows nothing of what the old one was asked, and the old one's late answers mean nothing.
    private func forgetEverything() {
        generation += 1
        synchronised = false
        delays.cancelAll()
        adapterLeft()
        objects = BlueZObjects()
        disconnectReasons.removeAll()
    }

    private func synchronise(after milliseconds: Int64) {
        let call = BusCall(BlueZName.daemon, "/", BlueZName.objectManager, "GetManagedObjects")
        ask(call, timeout: Self.patience) { [weak self] answer in
            guard let self else { return }
            switch answer {
            case .success(let values):
                objects.replace(with: values.first)
                synchronised = true
                chooseAdapter()
            case .failure:
                delays.after(milliseconds, "objects") { [weak self] in
                    self?.synchronise(after: min(8_000, milliseconds * 2))
                }
            }
        }
    }

    /// Asks bluetoothd. The answer is dropped when it comes too late to mean anything.
    func ask(_ call: BusCall, timeout: Duration = Bus.usualTimeout, _ completion: @escaping (Bus.Answer) -> Void) {
        let asked = (generation, epoch)
        bus?.call(call, timeout: timeout) { [weak self] answer in
            guard let self, (generation, epoch) == asked else { return }
            completion(answer)
        }
    }

    /// Asks something of bluetoothd whose answer changes nothing here.
    func tell(_ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = []) {
        bus?.call(BusCall(BlueZName.daemon, path, interface, member, arguments)) { _ in }
    }

    // MARK: Signals

    private func objectsChanged(_ signal: BusSignal) {
        guard signal.arguments.count == 2, let path = signal.arguments[0].text else { return }
        switch signal.member {
        case "InterfacesAdded":
            objects.add(path, signal.arguments[1])
            if self.path == nil { chooseAdapter() }
            if signal.arguments[1][BlueZName.device] != nil { deviceAppeared(path) }
        case "InterfacesRemoved":
            let gone = objects.remove(path, signal.arguments[1].texts ?? [])
            if let own = self.path, gone.contains(own) {
                adapterLeft()
                chooseAdapter()
            } else {
                for path in gone { deviceVanished(path) }
            }
        default: break
        }
    }

    private func propertiesChanged(_ signal: BusSignal) {
        guard signal.arguments.count == 3, let interface = signal.arguments[0].text else { return }
        let (path, changed) = (signal.path, signal.arguments[1])
        let before = objects.properties(path, interface)
        objects.change(path, interface, changed, without: signal.arguments[2].texts ?? [])
        switch interface {
        case BlueZName.adapter where path == self.path: powerChanged()
        case BlueZName.device: deviceChanged(path, changed, before: before ?? [:])
        case BlueZName.characteristic:
            if let value = changed["Value"]?.bytes { valueChanged(path, value) }
        default: break
        }
    }

    private func noteReason(_ signal: BusSignal) {
        // Since BlueZ 5.83, such as org.bluez.Reason.Timeout; it comes before Connected changes.
        guard let reason = signal.arguments.first?.text, objects.properties(signal.path, BlueZName.device) != nil
        else { return }
        disconnectReasons[signal.path] = reason
    }

    // MARK: The adapter

    private func chooseAdapter() {
        guard path == nil else { return }
        path = Self.find(choice, in: objects)
        guard path != nil else { return }
        powerAttempts = 0
        if isOn != wantsPower { switchPower() } else if isOn { becomeReady() }
    }

    static func find(_ choice: BlueZAdapterChoice, in objects: BlueZObjects) -> String? {
        objects.paths(with: BlueZName.adapter).first { path in
            switch choice {
            case .any: true
            case .address(let address):
                objects.properties(path, BlueZName.adapter)?["Address"]?.text?.uppercased() == address.uppercased()
            }
        }
    }

    /// The adapter's own address; nil while it is not there.
    package var ownAddress: String? { path.flatMap { objects.properties($0, BlueZName.adapter)?["Address"]?.text } }

    var isOn: Bool {
        path.flatMap { objects.properties($0, BlueZName.adapter)?["Powered"]?.bool } ?? false
    }

    private func powerChanged() {
        if isOn, wantsPower, !isReady {
            becomeReady()
        } else if !isOn, isReady {
            // Whoever switched it off meant it, so it is not switched on again here.
            isReady = false
            leaveLinks()
            server?.adapterOff()
            profiles?.adapterLeft()
            heard?(.off)
        }
    }

    private func becomeReady() {
        delays.cancel("power")
        isReady = true
        if !pairings.isEmpty {
            if agent == nil {
                agent = BlueZAgent { [weak self] path in
                    guard let self, let device = device(at: path) else { return nil }
                    return pairings[device]
                }
            }
            registerAgent()
        }
        heard?(.ready)
        server?.adapterReady()
        profiles?.adapterReady()
        adoptLinks()
        adjustDiscovery()
        pursueLinks()
    }

    /// The adapter's object went: with it every device, link and registration.
    private func adapterLeft() {
        guard path != nil else { return }
        isReady = false
        leaveLinks()
        path = nil
        server?.adapterLeft()
        profiles?.adapterLeft()
        heard?(.gone)
    }

    private func leaveLinks() {
        epoch += 1
        delays.cancelAll()
        endLanes(below: "")
        for device in links { linkEnded(device, reason: nil) }
        for index in wishes.indices { wishes[index].rest() }
        closing.removeAll()
        discovery.reset()
    }

    /// Switches the adapter on or off.
    package func setPower(_ on: Bool) {
        wantsPower = on
        powerAttempts = 0
        guard path != nil else { return }
        if isOn == on {
            if on, !isReady { becomeReady() }
        } else {
            switchPower()
        }
    }

    /// A dongle comes back switched off, and may refuse to be switched on while it is being set up: asked for
    /// explicitly, again and again.
    private func switchPower() {
        guard let path, isOn != wantsPower else { return }
        let arguments: [BusValue] = [.string(BlueZName.adapter), .string("Powered"), .variant(.bool(wantsPower))]
        let call = BusCall(BlueZName.daemon, path, BlueZName.properties, "Set", arguments)
        ask(call, timeout: Self.patience) { [weak self] answer in
            guard let self, case .failure = answer, isOn != wantsPower else { return }
            powerAttempts += 1
            delays.after(min(8_000, 250 << Int64(min(powerAttempts, 5))), "power") { [weak self] in
                self?.switchPower()
            }
        }
    }
}

extension BlueZAdapter {
    /// Looks once, before a loop runs, whether there is an adapter to use, and switches it on.
    ///
    /// - Returns: the adapter's object and address.
    /// - Throws: ``BusError`` whose message names what is missing and the remedy.
    package static func probe(
        _ choice: BlueZAdapterChoice,
        bus address: BusAddress = .system,
        timeout: Duration = .seconds(10)
    ) throws(BusError) -> (path: String, address: String) {
        let call = BusCall(BlueZName.daemon, "/", BlueZName.objectManager, "GetManagedObjects")
        var objects = BlueZObjects()
        do throws(BusError) {
            objects.replace(with: try Bus.ask(address, call, timeout: timeout).first)
        } catch {
            let remedy =
                error.name == "org.freedesktop.DBus.Error.Failed"
                ? "is D-Bus running?" : "is bluetoothd installed and running (systemctl start bluetooth)?"
            throw BusError(name: error.name, message: "cannot reach bluetoothd: \(error.message); \(remedy)")
        }
        guard let path = find(choice, in: objects), let properties = objects.properties(path, BlueZName.adapter) else {
            let missing: String
            switch choice {
            case .any: missing = "bluetoothd has no adapter; plug one in, and see bluetoothctl list"
            case .address(let wanted):
                missing = "bluetoothd has no adapter \(wanted); see bluetoothctl list, or use any"
            }
            throw BusError(name: "org.bluez.Error.DoesNotExist", message: missing)
        }
        if properties["Powered"]?.bool != true {
            let arguments: [BusValue] = [.string(BlueZName.adapter), .string("Powered"), .variant(.bool(true))]
            let set = BusCall(BlueZName.daemon, path, BlueZName.properties, "Set", arguments)
            do throws(BusError) {
                _ = try Bus.ask(address, set, timeout: timeout)
            } catch {
                let remedy = "see rfkill list and bluetoothctl power on"
                throw BusError(name: error.name, message: "cannot switch on \(path): \(error.message); \(remedy)")
            }
        }
        return (path, properties["Address"]?.text ?? "")
    }
}
