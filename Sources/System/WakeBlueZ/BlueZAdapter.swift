import WakeBus
import WakeSystem

/// Which of the machine's adapters to use.
package enum BlueZAdapterChoice: Hashable, Sendable {
    /// The first there is.
    case any
    /// The one with this address: the number in `hci0` changes when a dongle is plugged in again, its address does not.
    case address(String)

    /// By the adapter's address; any for nil.
    package init(address: String?) { self = address.map { .address($0) } ?? .any }

    func first(of adapters: [BlueZAdapterFacts]) -> BlueZAdapterFacts? {
        adapters.first { adapter in
            switch self {
            case .any: true
            case .address(let address): adapter.address?.uppercased() == address.uppercased()
            }
        }
    }
}

/// What an adapter tells of itself and its devices.
package enum BlueZEvent: Equatable, Sendable {
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
    /// A device with a link has another name.
    case renamed(BlueZDeviceID)
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
/// There is one for all apps. ``BlueZAdapterMachine`` decides; here is done what it returns, and it is told what comes of it.
package final class BlueZAdapter {
    package let choice: BlueZAdapterChoice
    let address: BusAddress
    package let program: BlueZProgram
    let loop: EventLoop
    let delays: Delays
    private(set) var bus: Bus?
    private var subscriptions: [BusSubscription] = []
    private var machine: BlueZAdapterMachine
    /// The object of the adapter that ``probe()`` found; nil before.
    package private(set) var probedPath: String?

    /// Who else of this program may hold a link to the same device; nil for nobody.
    package var holders: BlueZLinkHolders? { didSet { holders?.join(self) } }
    private var heldLinks: [BlueZDeviceID] = []

    /// Where events go.
    package var heard: ((BlueZEvent) -> Void)?

    /// bluetoothd's unique name; nil while there is none.
    private(set) var owner: String?
    package private(set) var objects = BlueZObjects()
    /// How to pair with a device; nil where no pairing is to be answered here.
    package var pairings: [BlueZDeviceID: BlueZPairing] = [:]
    private var agent: BlueZAgent?
    var lanes: [String: Lane] = [:]
    var notifying: [String: Notifying] = [:]
    /// Where a value of a notification socket is read to; the longest has 512 bytes.
    var valueBuffer = [UInt8](repeating: 0, count: 1_024)
    /// What this machine offers as a peripheral, for as long as somebody holds it.
    weak var server: BlueZServer?
    /// The profiles over RFCOMM, for as long as somebody holds them.
    weak var profiles: BlueZProfiles?
    /// What follows a controller that is not the kernel's, for as long as it is held elsewhere.
    weak var monitor: RadioMonitor?

    package init(
        _ choice: BlueZAdapterChoice = .any,
        bus address: BusAddress = .system,
        of program: BlueZProgram = .bluetoothd,
        on loop: EventLoop
    ) {
        self.choice = choice
        (self.address, self.program) = (address, program)
        self.loop = loop
        delays = Delays(loop)
        machine = BlueZAdapterMachine(choice)
    }

    // MARK: The bus

    /// Begins to follow bluetoothd. It need not be there.
    ///
    /// - Throws: ``BusError`` when there is no bus.
    package func start() throws(BusError) {
        let bus = try Bus(address, on: loop)
        self.bus = bus
        bus.disconnected = { [weak self] in self?.busEnded() }
        // Subscribed before anything is asked, so that nothing can happen between the answer and the first signal.
        for rule in [
            BusSignal.Rule(sender: BlueZName.daemon, path: "/", interface: BlueZName.objectManager),
            BusSignal.Rule(
                sender: BlueZName.daemon,
                pathNamespace: "/org/bluez",
                interface: BlueZName.properties,
                member: "PropertiesChanged"
            ),
            BusSignal.Rule(sender: BlueZName.daemon, interface: BlueZName.device, member: "Disconnected"),
        ] {
            subscriptions.append(try bus.subscribe(to: rule) { [weak self] signal in self?.hear(signal) })
        }
        subscriptions.append(
            try bus.watchOwner(of: BlueZName.daemon) { [weak self] owner in self?.ownerChanged(owner) }
        )
        server?.busOpened(bus)
        profiles?.busOpened(bus)
    }

    /// Ends: links that were made here are closed, and nothing is told any more.
    package func stop() {
        heard = nil
        perform(machine.stop())
        tellHolders()
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
        delays.after(milliseconds, .bus) { [weak self] in
            guard let self else { return }
            do throws(BusError) {
                try start()
            } catch {
                subscriptions.removeAll()
                bus?.close()
                bus = nil
                reopen(after: min(BlueZAdapterMachine.longestPause, milliseconds * 2))
            }
        }
    }

    private func ownerChanged(_ new: String?) {
        guard new != owner else { return }
        if owner != nil {
            act(machine.daemonLeft())
            objects = BlueZObjects()
        }
        owner = new
        if new != nil { act(machine.daemonAppeared()) }
    }

    private func hear(_ signal: BusSignal) {
        // The name org.bluez may have moved on; the unique name says which bluetoothd speaks.
        guard machine.isSynchronised, signal.sender == owner, let meaning = objects.take(signal) else { return }
        switch meaning {
        case .value(let path, let value): valueChanged(path, value)
        case .vanished(let gone):
            for path in gone {
                lanes.removeValue(forKey: path)?.failAll()
                notifying[path] = nil
            }
            act(machine.hear(meaning))
            for device in server?.subscribedDevices ?? [] where path(of: device) == nil { server?.linkEnded(device) }
        case .adapterAppeared, .adapterChanged, .deviceAppeared, .deviceChanged, .attributeAppeared, .reason:
            act(machine.hear(meaning))
        }
    }

    /// Asks bluetoothd. The answer is dropped when it comes too late to mean anything.
    func ask(_ call: BusCall, timeout: Duration = Bus.usualTimeout, _ completion: @escaping (Bus.Answer) -> Void) {
        let asked = machine.epoch
        bus?.call(call, timeout: timeout) { [weak self] answer in
            guard let self, machine.epoch == asked else { return }
            completion(answer)
        }
    }

    /// The same of an object.
    func ask(
        _ path: String,
        _ interface: String,
        _ member: String,
        _ arguments: [BusValue] = [],
        _ completion: @escaping (Bus.Answer) -> Void
    ) {
        ask(BusCall(BlueZName.daemon, path, interface, member, arguments), completion)
    }

    /// Asks something of bluetoothd whose answer changes nothing here.
    func tell(_ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = []) {
        bus?.call(BusCall(BlueZName.daemon, path, interface, member, arguments)) { _ in }
    }

    // MARK: Doing what the machine returns

    private func act(_ commands: [BlueZAdapterMachine.Command]) {
        perform(commands)
        settle()
        tellHolders()
    }

    /// Tells the others of this program which links are held here, where that has changed.
    private func tellHolders() {
        guard let holders, heldLinks != machine.links else { return }
        heldLinks = machine.links
        holders.set(Set(machine.links.compactMap(path(of:))), of: self)
    }

    /// Others of this program hold these.
    func setHeldByOthers(_ paths: Set<String>) { machine.heldByOthers = paths }

    /// Asks for what is to be asked of bluetoothd now.
    func settle() {
        let (isSeeking, isConnecting) = (profiles?.isSeeking == true, profiles?.isConnecting == true)
        perform(machine.settle(isSeeking: isSeeking, isConnecting: isConnecting))
    }

    private func perform(_ commands: [BlueZAdapterMachine.Command]) {
        for command in commands {
            switch command {
            case .call(let call): make(call)
            case .wait(let delay, let milliseconds):
                delays.after(milliseconds, delay) { [weak self] in
                    guard let self else { return }
                    act(machine.elapsed(delay))
                }
            case .cancel(let delay): delays.cancel(delay)
            case .cancelDelays: delays.cancelAll()
            case .endOperations(let path): endLanes(below: path)
            case .letGo(let path):
                stopNotifying(below: path)
                endLanes(below: path)
            case .say(let event): say(event)
            case .sayHeard(let device, let path):
                if let properties = objects.properties(path, BlueZName.device) {
                    heard?(.sighted(device, BlueZAdvertisement(properties)))
                }
            case .linkEnded(let device): server?.linkEnded(device)
            case .discoverySettled:
                settle()
                profiles?.proceed()
            }
        }
    }

    private func make(_ call: BlueZAdapterMachine.Call) {
        let asked = BusCall(call)
        switch call {
        case .removeDevice, .abandon: tell(asked.path, asked.interface, asked.member, asked.arguments)
        case .listObjects, .setPower, .setFilter, .startDiscovery, .stopDiscovery, .connect, .askWhetherConnected,
            .disconnect:
            ask(asked, timeout: call.patience) { [weak self] answer in self?.answered(call, answer) }
        }
    }

    private func answered(_ call: BlueZAdapterMachine.Call, _ answer: Bus.Answer) {
        switch (call, answer) {
        case (.listObjects, .success(let values)):
            objects.replace(with: values.first)
            act(machine.objectsListed(objects.adapters, objects.devices))
        case (.listObjects, .failure): act(machine.listingFailed())
        case (.askWhetherConnected(let device, let path), _):
            if let value = (try? answer.get())?.first {
                objects.change(path, BlueZName.device, .properties([("Connected", value)]), without: [])
            }
            act(machine.looked(device, path, objects.device(at: path)))
        case (_, .success): act(machine.answered(call, .done))
        case (_, .failure(let error)):
            act(machine.answered(call, error.isTimeout ? .timedOut : .failed(String(error.kind))))
        }
    }

    private func say(_ event: BlueZEvent) {
        switch event {
        case .ready:
            // First, so that it misses nothing of what follows.
            monitor?.adapterReady()
            registerAgent()
            heard?(event)
            server?.adapterReady()
            profiles?.adapterReady()
        case .off:
            server?.adapterOff()
            profiles?.adapterLeft()
            heard?(event)
        case .gone:
            server?.adapterLeft()
            profiles?.adapterLeft()
            heard?(event)
        // Whoever heard of the link may have given it up at once.
        case .resolved(let device): if machine.links.contains(device) { heard?(event) }
        case .connected, .disconnected, .renamed, .sighted, .notified: heard?(event)
        }
    }

    /// Tells bluetoothd who answers its questions while it pairs, when there is anybody to pair with.
    private func registerAgent() {
        guard let bus, !pairings.isEmpty else { return }
        let agent = agent ?? BlueZAgent { [weak self] path in self?.device(at: path).flatMap { self?.pairings[$0] } }
        self.agent = agent
        register(agent, on: bus)
    }
}

/// What is wanted of the adapter, and what there is of it.
extension BlueZAdapter {
    /// Counts bluetoothds.
    package var generation: Int { machine.generation }
    /// The adapter's object; nil while it is not there.
    package var path: String? { machine.path }
    /// The adapter's own address; nil while it is not there.
    package var ownAddress: String? { machine.address }
    /// The adapter is there and on, and that was told.
    package var isReady: Bool { machine.isReady }
    /// Whether bluetoothd looks for devices on our behalf.
    package var isDiscovering: Bool { machine.discovery.running != nil }
    /// Whether that stands still and nothing is looked for.
    var isDiscoveryAtRest: Bool { !isDiscovering && !machine.discovery.isChanging }

    /// How attempts to connect share the radio with somebody who must hear everything.
    var sharing: BlueZAdapterMachine.Sharing {
        get { machine.sharing }
        set { machine.sharing = newValue }
    }

    /// A device that this program knows, and whose links are closed when nobody wants them.
    package func own(_ device: BlueZDeviceID) { machine.ownDevices[device.address] = device }

    /// Switches the adapter on or off.
    package func setPower(_ on: Bool) { act(machine.setPower(on)) }

    /// Looks for devices from now on; nil ends it. One discovery serves all apps, so the scan is what all want together.
    package func scan(_ scan: BlueZScan?) {
        machine.wantedScan = scan
        settle()
    }

    /// Wants a link. ``BlueZEvent/connected(_:)`` tells when it is up.
    package func want(_ device: BlueZDeviceID) { act(machine.want(device)) }

    /// Wants no link any more; one that is up is closed, and nothing more is told of it.
    package func giveUp(_ device: BlueZDeviceID) { act(machine.giveUp(device)) }

    /// Whether a link is up and was told.
    func hasLink(_ device: BlueZDeviceID) -> Bool { machine.links.contains(device) }

    /// Whether a device was heard in the discovery that is going on.
    package func wasHeard(_ device: BlueZDeviceID) -> Bool { machine.heard.contains(device) }

    /// The device of an object of this adapter.
    func device(at path: String) -> BlueZDeviceID? { machine.device(at: path) }

    /// The object of a device; nil while bluetoothd has none.
    func path(of device: BlueZDeviceID) -> String? { machine.facts(of: device)?.path }

    /// The devices with a link, whoever made it, in order of their objects.
    var connectedDevices: [BlueZDeviceID] {
        machine.ownObjects.filter(\.isConnected).map(machine.identity)
    }

    /// What a device said of itself last; nil while bluetoothd has no object of it. It is known until everybody was told
    /// that bluetoothd went.
    package func advertisement(of device: BlueZDeviceID) -> BlueZAdvertisement? {
        let path = path(of: device) ?? objects.devices.first { machine.identity(of: $0) == device }?.path
        return path.flatMap { objects.properties($0, BlueZName.device) }.map(BlueZAdvertisement.init)
    }

    /// The ATT MTU agreed with a device, in bytes; nil without a link, before its table is known, and from a BlueZ before 5.62.
    package func mtu(of device: BlueZDeviceID) -> Int? {
        guard hasLink(device), let path = path(of: device) else { return nil }
        return objects.paths(with: BlueZName.characteristic, atOrBelow: path).lazy
            .compactMap { self.objects.properties($0, BlueZName.characteristic)?["MTU"]?.integer }.first
    }

    /// The attribute table of a device, as far as it is known.
    package func attributes(of device: BlueZDeviceID) -> BlueZAttributes {
        path(of: device).map { BlueZAttributes(of: $0, in: objects) } ?? BlueZAttributes()
    }
}

extension BlueZAdapterMachine.Call {
    /// How long bluetoothd may take. It may list its objects and switch power slowly.
    var patience: Duration {
        switch self {
        case .listObjects, .setPower: .seconds(10)
        case .connect(_, _, let patience): patience
        case .setFilter, .startDiscovery, .stopDiscovery, .removeDevice, .askWhetherConnected, .disconnect, .abandon:
            Bus.usualTimeout
        }
    }
}

extension BusCall {
    /// A call of the machine's as bluetoothd knows it.
    init(_ call: BlueZAdapterMachine.Call) {
        func on(_ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = []) -> BusCall {
            BusCall(BlueZName.daemon, path, interface, member, arguments)
        }
        self =
            switch call {
            case .listObjects: on("/", BlueZName.objectManager, "GetManagedObjects")
            case .setPower(let adapter, let isOn):
                on(
                    adapter,
                    BlueZName.properties,
                    "Set",
                    [.string(BlueZName.adapter), .string("Powered"), .variant(.bool(isOn))]
                )
            case .setFilter(let adapter, let scan):
                on(adapter, BlueZName.adapter, "SetDiscoveryFilter", [.properties(scan.filter)])
            case .startDiscovery(let adapter): on(adapter, BlueZName.adapter, "StartDiscovery")
            case .stopDiscovery(let adapter): on(adapter, BlueZName.adapter, "StopDiscovery")
            case .removeDevice(let adapter, let path):
                on(adapter, BlueZName.adapter, "RemoveDevice", [.objectPath(path)])
            case .connect(_, let path, _): on(path, BlueZName.device, "Connect")
            case .askWhetherConnected(_, let path):
                on(path, BlueZName.properties, "Get", [.string(BlueZName.device), .string("Connected")])
            case .disconnect(_, let path), .abandon(let path): on(path, BlueZName.device, "Disconnect")
            }
    }
}

extension BlueZScan {
    /// Without a filter of one's own some versions find no LE devices at all, and a filter with a Pattern or an RSSI is
    /// merged with other programs' in ways that help nobody.
    fileprivate var filter: [(String, BusValue)] {
        let usual: [(String, BusValue)] = [
            ("Transport", .string(radio.rawValue)), ("DuplicateData", .bool(duplicates)),
        ]
        return services.isEmpty ? usual : usual + [("UUIDs", .strings(services))]
    }
}

extension BlueZAdapter {
    /// How long bluetoothd may take for each answer of ``probe()``.
    private static let probePatience = Duration.seconds(10)

    /// Looks once, before a loop runs, whether there is an adapter to use, and switches it on.
    ///
    /// - Returns: the adapter's object, and all that there are.
    /// - Throws: ``BusError`` whose message names what is missing and the remedy.
    @discardableResult
    package func probe() throws(BusError) -> (path: String, objects: BlueZObjects) {
        let objects: BlueZObjects
        do throws(BusError) {
            objects = try BlueZObjects(asking: address, timeout: Self.probePatience)
        } catch {
            let remedy = program.remedy(isBusMissing: error.name == "org.freedesktop.DBus.Error.Failed")
            throw BusError(name: error.name, message: "cannot reach \(program.name): \(error.message); \(remedy)")
        }
        guard let adapter = choice.first(of: objects.adapters) else {
            let missing =
                switch choice {
                case .any: "\(program.name) has no adapter; \(program.remedy(without: nil))"
                case .address(let wanted):
                    "\(program.name) has no adapter \(wanted); \(program.remedy(without: wanted))"
                }
            throw BusError(name: "org.bluez.Error.DoesNotExist", message: missing)
        }
        probedPath = adapter.path
        if adapter.isOn { return (adapter.path, objects) }
        do throws(BusError) {
            _ = try Bus.ask(address, BusCall(.setPower(adapter: adapter.path, true)), timeout: Self.probePatience)
        } catch {
            let what = "cannot switch on \(adapter.path): \(error.message); \(program.remedyOfPower)"
            throw BusError(name: error.name, message: what)
        }
        return (adapter.path, try BlueZObjects(asking: address, timeout: Self.probePatience))
    }
}
