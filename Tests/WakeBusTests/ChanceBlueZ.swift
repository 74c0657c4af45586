@testable import WakeBlueZ

/// Reproducible chance: SplitMix64 by Steele, Lea and Flood (2014).
struct Chance: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(truncatingIfNeeded: (next() >> 33) % UInt64(bound)) }
}

/// An adapter's machine, a bluetoothd that does what chance says, and everybody who wants links: what must never happen is
/// looked for from outside.
struct ChanceBlueZ {
    typealias Machine = BlueZAdapterMachine

    static let adapter = "/org/bluez/hci0"
    static let ids = (0..<4).map { BlueZDeviceID(address: "F0:00:00:00:00:0\($0)", isRandom: true) }
    static let scans: [BlueZScan?] = [
        nil, BlueZScan(services: [], duplicates: true), BlueZScan(services: ["180d"], duplicates: false),
    ]

    var machine = Machine(.any)
    var chance: Chance
    /// Asked and not answered.
    var asked: [Machine.Call] = []
    /// Asked by nobody who waits.
    var thrown: [Machine.Call] = []
    var delays: [BlueZDelay] = []
    var isThere = false
    var isPlugged = true
    var isOn = false
    /// bluetoothd's objects, in order of path.
    var devices: [BlueZDeviceFacts] = []
    /// What is wanted, in order, and what of it was told to be up.
    var wanted: [BlueZDeviceID] = []
    var told: [BlueZDeviceID] = []
    var isReady = false
    /// Everything returned, to be compared.
    var said: [Machine.Command] = []
    var faults: [String] = []

    init(seed: UInt64) {
        chance = Chance(seed: seed)
        // The last device is another program's.
        for id in Self.ids.dropLast() { machine.ownDevices[id.address] = id }
    }

    static func path(_ id: BlueZDeviceID) -> String { "\(adapter)/dev_\(id.address.suffix(1))" }

    var adapters: [BlueZAdapterFacts] {
        isPlugged ? [BlueZAdapterFacts(path: Self.adapter, address: "00:01", isOn: isOn)] : []
    }

    // MARK: The machine's owner

    mutating func act(_ commands: [Machine.Command]) {
        perform(commands)
        perform(machine.settle(isSeeking: false, isConnecting: false))
    }

    private mutating func perform(_ commands: [Machine.Command]) {
        for command in commands {
            said.append(command)
            switch command {
            case .call(let call): make(call)
            case .wait(let delay, let milliseconds):
                if milliseconds <= 0 || milliseconds > 8_000 { faults.append("a pause of \(milliseconds) ms") }
                delays.removeAll { $0 == delay }
                delays.append(delay)
            case .cancel(let delay): delays.removeAll { $0 == delay }
            case .cancelDelays:
                delays.removeAll()
                // Its epoch is over: the owner drops the answers.
                asked.removeAll()
            case .say(let event): hear(event)
            case .discoverySettled: perform(machine.settle(isSeeking: false, isConnecting: false))
            case .endOperations, .letGo, .sayHeard, .linkEnded: break
            }
        }
    }

    private mutating func make(_ call: Machine.Call) {
        switch call {
        case .removeDevice, .abandon:
            thrown.append(call)
            return
        case .connect(let device, _, _):
            if !wanted.contains(device) { faults.append("connects to \(device), which nobody wants") }
            if machine.discovery != .idle, machine.discovery != .pausing(running: nil) {
                faults.append("connects while discovery is \(machine.discovery)")
            }
        case .setFilter, .startDiscovery, .stopDiscovery:
            if asked.contains(where: Self.isDiscovery) { faults.append("asks for \(call) beside \(asked)") }
        case .listObjects, .setPower, .askWhetherConnected, .disconnect: break
        }
        asked.append(call)
        let attempts = machine.wishes.count { $0.stage == .connecting }
        if attempts > 1 { faults.append("\(attempts) attempts at a time") }
    }

    private static func isDiscovery(_ call: Machine.Call) -> Bool {
        switch call {
        case .setFilter, .startDiscovery, .stopDiscovery: true
        case .listObjects, .setPower, .removeDevice, .connect, .askWhetherConnected, .disconnect, .abandon: false
        }
    }

    private mutating func hear(_ event: BlueZEvent) {
        switch event {
        case .ready:
            if isReady { faults.append("ready twice") }
            isReady = true
        case .off, .gone:
            if case .off = event, !isReady { faults.append("off twice") }
            if !told.isEmpty { faults.append("\(event) with links \(told)") }
            isReady = false
        case .connected(let device):
            if told.contains(device) || !wanted.contains(device) || !isReady { faults.append("\(event) amiss") }
            told.append(device)
        case .resolved(let device), .renamed(let device): if !told.contains(device) { faults.append("\(event) amiss") }
        case .disconnected(let device, _):
            if !told.contains(device) { faults.append("\(event) amiss") }
            told.removeAll { $0 == device }
            wanted.removeAll { $0 == device }
            // Somebody else waited for a link of his own.
            if chance.below(3) == 0 { want(device) }
        case .sighted, .notified: faults.append("\(event) is not the machine's to say")
        }
    }

    mutating func want(_ device: BlueZDeviceID) {
        if !wanted.contains(device) { wanted.append(device) }
        act(machine.want(device))
    }

    private mutating func giveUp(_ device: BlueZDeviceID) {
        wanted.removeAll { $0 == device }
        told.removeAll { $0 == device }
        act(machine.giveUp(device))
    }

    // MARK: bluetoothd

    mutating func appear() {
        isThere = true
        act(machine.daemonAppeared())
    }

    private mutating func vanish() {
        isThere = false
        thrown.removeAll()
        act(machine.daemonLeft())
    }

    private mutating func hear(_ signal: BlueZSignal) {
        if isThere, machine.isSynchronised { act(machine.hear(signal)) }
    }

    mutating func plug(_ plugs: Bool) {
        guard plugs != isPlugged else { return }
        isPlugged = plugs
        isOn = false
        let gone = [Self.adapter] + devices.map(\.path)
        if !plugs { devices.removeAll() }
        hear(plugs ? .adapterAppeared(adapters[0]) : .vanished(gone))
    }

    private mutating func switchPower(_ on: Bool) {
        guard isPlugged, on != isOn else { return }
        isOn = on
        for device in devices where !on { connect(device.id, false) }
        hear(.adapterChanged(adapters[0]))
    }

    mutating func find(_ id: BlueZDeviceID) {
        guard isPlugged, !devices.contains(where: { $0.id == id }) else { return }
        devices.append(BlueZDeviceFacts(path: Self.path(id), id: id))
        devices.sort { $0.path < $1.path }
        hear(.deviceAppeared(BlueZDeviceFacts(path: Self.path(id), id: id)))
    }

    private mutating func lose(_ id: BlueZDeviceID) {
        guard devices.contains(where: { $0.id == id }) else { return }
        devices.removeAll { $0.id == id }
        hear(.vanished([Self.path(id)]))
    }

    private mutating func connect(_ id: BlueZDeviceID, _ connects: Bool, isSaid: Bool = true) {
        guard let index = devices.firstIndex(where: { $0.id == id }), devices[index].isConnected != connects else {
            return
        }
        devices[index].isConnected = connects
        devices[index].isResolved = false
        if isSaid { hear(.deviceChanged(devices[index], connects ? .connected : .disconnected)) }
    }

    private mutating func resolve(_ id: BlueZDeviceID) {
        guard let index = devices.firstIndex(where: { $0.id == id }), devices[index].isConnected else { return }
        devices[index].isResolved = true
        hear(.deviceChanged(devices[index], .resolved))
    }

    private func isUp(_ id: BlueZDeviceID) -> Bool { devices.contains { $0.id == id && $0.isConnected } }

    /// Does what a call asks for, or refuses it, and answers.
    private mutating func answer(_ call: Machine.Call, refuses: Bool) {
        let epoch = machine.epoch
        var outcome = refuses ? Machine.Outcome.failed("Failed") : .done
        switch call {
        case .listObjects: return act(refuses ? machine.listingFailed() : machine.objectsListed(adapters, devices))
        case .askWhetherConnected(let device, let path):
            return act(machine.looked(device, path, refuses ? nil : devices.first { $0.path == path }))
        case .setPower(_, let on): if !refuses { switchPower(on) }
        case .connect(let device, _, _): outcome = attempt(device, refuses: refuses)
        case .disconnect(let device, _):
            if isUp(device) { connect(device, false) } else { outcome = .failed("NotConnected") }
        case .setFilter, .startDiscovery, .stopDiscovery: break
        case .removeDevice(_, let path), .abandon(let path):
            guard let device = devices.first(where: { $0.path == path })?.id else { return }
            if case .abandon = call { connect(device, false) } else { lose(device) }
        }
        if machine.epoch == epoch { act(machine.answered(call, outcome)) }
    }

    private mutating func attempt(_ device: BlueZDeviceID, refuses: Bool) -> Machine.Outcome {
        guard devices.contains(where: { $0.id == device }) else { return .failed("UnknownObject") }
        if refuses {
            if isUp(device) { return .failed(chance.below(2) == 0 ? "AlreadyConnected" : "InProgress") }
            if chance.below(2) == 0 { return .timedOut }
            connect(device, true)
            connect(device, false)
            return .failed("Failed")
        }
        connect(device, true, isSaid: chance.below(4) != 0)
        return .done
    }

    // MARK: Chance

    mutating func step() {
        let id = Self.ids[chance.below(Self.ids.count)]
        switch chance.below(24) {
        case 0...5 where !asked.isEmpty:
            answer(asked.remove(at: chance.below(asked.count)), refuses: chance.below(3) == 0)
        case 6,
            7 where !thrown.isEmpty:
            if !thrown.isEmpty { answer(thrown.removeFirst(), refuses: false) }
        case 8...10 where !delays.isEmpty: elapse(chance.below(delays.count))
        case 11, 12: find(id)
        case 13: lose(id)
        // Another program's own affair.
        case 14: connect(Self.ids[Self.ids.count - 1], true)
        case 15: connect(id, false)
        case 16: resolve(id)
        case 17, 18: want(id)
        case 19: giveUp(id)
        case 20:
            machine.wantedScan = Self.scans[chance.below(Self.scans.count)]
            act([])
        case 21 where chance.below(4) == 0: plug(!isPlugged)
        case 22 where chance.below(4) == 0: if isThere { vanish() } else { appear() }
        case 23 where chance.below(4) == 0: switchPower(!isOn)
        case 23 where chance.below(8) == 0: act(machine.setPower(chance.below(2) == 0))
        default: break
        }
    }

    private mutating func elapse(_ index: Int) {
        let delay = delays.remove(at: index)
        act(machine.elapsed(delay))
    }

    /// Everybody does what is asked, and time goes by, until nothing is to be done any more.
    mutating func comeToRest() {
        if !isThere { appear() }
        plug(true)
        settleDown()
        act(machine.setPower(true))
        settleDown()
    }

    private mutating func settleDown() {
        for _ in 0..<2_000 {
            for id in Self.ids { find(id) }
            if let call = thrown.first {
                thrown.removeFirst()
                answer(call, refuses: false)
            } else if let call = asked.first {
                asked.removeFirst()
                answer(call, refuses: false)
            } else if !delays.isEmpty {
                elapse(0)
            } else {
                return
            }
        }
        faults.append("no rest")
    }
}
