import Glibc
import WakeBlueZ
import WakeBus
import WakeDevices
import WakeModel
import WakePorts
import WakeSystem

/// The machine's own Bluetooth through BlueZ, shared by all apps.
///
/// It counts who scans, who holds a link and who is subscribed: the first client starts each, the last one ends it. A
/// device of the scenario goes by its name there, any other by its address.
///
/// When bluetoothd or the adapter goes, everyone connected hears of one disconnection a peripheral; scans and
/// connections that are waited for are asked for again when it is back. Only an adapter that stays away is reported as
/// Bluetooth being off.
package final class BlueZBluetooth: BluetoothCentralPort, CentralRoleReporter {
    /// How long the adapter may be away before Bluetooth counts as off, in milliseconds.
    package static let usualGrace: Int64 = 60_000
    /// How long after an adapter is switched off it may turn out to have been unplugged, in milliseconds.
    static let unplugging: Int64 = 2_000
    /// The most operations that wait for one peripheral.
    static let requestLimit = 4_096

    struct Scan {
        var client: BluetoothClient
        var services: [NameID]
        var allowDuplicates: Bool
        var seen: Set<NameID> = []
    }

    package var backend: String { adapter.program.rawValue }
    package var report: ((SourceReport) -> Void)?
    package private(set) var poweredOn = false
    /// Where lines for people go: when the adapter goes and comes back, and once when the air brings more names than are kept.
    package var note: ((String) -> Void)? {
        get { air.note }
        set { air.note = newValue }
    }
    /// How often something from the air had to be left unheard, or without a name of its own, since then.
    package var unnamed: UInt64 { air.refused }

    let names: NameTable
    let air: AirNames
    let origin: NameID
    /// The adapter, which other sources may use, too.
    package let adapter: BlueZAdapter
    private let grace: Int64
    private let connector: any ChannelConnecting
    let table: ChannelTable
    private let later: Afterwards
    private let absence: Timer
    private var isAbsent = false
    /// A power step waits for the adapter to say so.
    private var switchingOff = false

    /// In order of client.
    var scans: [Scan] = []
    /// The peripherals heard of, by name and by device.
    var peripherals: [NameID: BlueZPeripheral] = [:]
    var namesOfDevices: [BlueZDeviceID: NameID] = [:]
    var linksMade: UInt64 = 0
    /// The beacons of the scenario.
    var beacons: [(name: String, beacon: Beacon)] = []
    /// The beacons that somebody looks for.
    var watched: [BeaconIdentity] = []
    var heardBeacons: [BeaconSignal: HeardBeacon] = [:]
    /// Goes off when a beacon may be reported again that was heard since.
    let beaconDue: Timer
    var isBeaconDue = false
    var watches = ConnectionWatches()

    /// The machine's Bluetooth; `devices` are those of the scenario, whose addresses get their names.
    ///
    /// - Parameter choice: which adapter.
    /// - Parameter bus: where org.bluez is.
    /// - Parameter program: which program it is.
    /// - Parameter grace: how long the adapter may be away before Bluetooth counts as off, in milliseconds.
    /// - Parameter connector: opens L2CAP channels; the adapter's when left out.
    /// - Parameter table: where the descriptors of channels wait to be taken.
    /// - Parameter mostNames: how many names devices that are not the scenario's may bring, for both roles.
    /// - Throws: ``SystemError`` when the loop takes no more timers.
    package init(
        devices: [ScenarioDevice],
        names: NameTable,
        loop: EventLoop,
        choice: BlueZAdapterChoice = .any,
        bus: BusAddress = .system,
        of program: BlueZProgram = .bluetoothd,
        grace: Int64 = BlueZBluetooth.usualGrace,
        connector: (any ChannelConnecting)? = nil,
        table: ChannelTable = ChannelTable(),
        mostNames: Int = NameBound.ofAir
    ) throws(SystemError) {
        self.names = names
        air = AirNames(names, most: mostNames)
        self.table = table
        self.grace = grace
        origin = names.intern(program.rawValue)
        adapter = BlueZAdapter(choice, bus: bus, of: program, on: loop)
        self.connector = connector ?? AdapterChannels(of: adapter, on: loop)
        later = try Afterwards(loop)
        absence = try loop.timer(on: .monotonic)
        beaconDue = try loop.timer(on: .monotonic)
        absence.handler = { [unowned self] in if !adapter.isReady { switchedOff() } }
        beaconDue.handler = { [unowned self] in tellBeacons() }
        adapter.heard = { [weak self] event in self?.hear(event) }
        for device in devices {
            if let description = device.peripheral { add(description, named: device.name) }
            if let beacon = device.beacon { beacons.append((device.name, beacon)) }
        }
    }

    private func add(_ description: BluetoothPeripheral, named word: String) {
        let id = BlueZDeviceID(description.addressText, guessingTypeBy: description.address)
        let name = names.intern(word)
        namesOfDevices[id] = name
        adapter.own(id)
        let peripheral = BlueZPeripheral(id, name, word)
        for characteristic in description.services.flatMap(\.characteristics) where characteristic.stream {
            peripheral.streams.insert(characteristic.uuid)
        }
        peripherals[name] = peripheral
        // However much the air brings, what the scenario describes has its names.
        for service in description.services {
            for uuid in [service.uuid] + service.characteristics.map(\.uuid) {
                _ = (names.intern(uuid), names.intern("\(word)/\(uuid)"))
            }
        }
        guard description.wantsPairing else { return }
        for characteristic in description.services.flatMap(\.characteristics) {
            peripheral.security[characteristic.uuid] = characteristic.security
        }
        adapter.pairings[id] =
            switch description.pairing {
            case .justWorks: .justWorks
            case .numeric: .numeric
            case .passkey(let number): .passkey(number)
            case .reject: .reject
            }
    }

    // MARK: The port

    package func start(at now: Instant) throws(SourceFailure) {
        do throws(BusError) {
            try adapter.probe()
            try follow()
        } catch {
            throw SourceFailure(.environment, "bluetooth=\(backend): \(error.message)")
        }
    }

    /// Its adapter may be that of other phones of the bench, too.
    package func share(_ air: SharedAir) { adapter.holders = air.links }

    /// Goes on from an adapter that is known to be there and on.
    func follow() throws(BusError) {
        try adapter.start()
        poweredOn = true
    }

    package func stop() {
        report = nil
        later.stop()
        absence.disarm()
        forgetBeacons()
        scans.removeAll()
        adapter.stop()
    }

    package func perform(_ command: BluetoothCommand, at now: Instant) {
        switch command {
        case .scan(let client, let services, let allowDuplicates):
            scan(client, services: services, allowDuplicates: allowDuplicates)
        case .stopScan(let client):
            scans.removeAll { $0.client == client }
            scanChanged()
        case .connect(let client, let name): connect(client, to: name)
        case .disconnect(let client, let name):
            if let peripheral = peripherals[name] { letGo(client, of: peripheral) }
            prepare { [self] in say(event(.peripheralDisconnected, of: name, client: client)) }
        case .operate(let client, let name, let operation): operate(operation, for: client, on: name)
        case .watchConnections(let client, let peripherals, let services):
            if poweredOn { watches.set(client, peripherals: peripherals, services: services) }
        case .release(let client, let kept):
            scans.removeAll { $0.client == client }
            watches.remove(client)
            scanChanged()
            for peripheral in inOrder where !kept.contains(peripheral.name) { letGo(client, of: peripheral) }
        case .power(let on): setPower(on, at: now)
        // What it finds bluetoothd keeps, by rules of its own.
        case .forgetAttributes: break
        }
    }

    package func setPower(_ on: Bool, at now: Instant) {
        guard on != poweredOn || switchingOff == on else { return }
        switchingOff = !on
        if !on { forgetClients() }
        prepare { [self] in
            adapter.setPower(on)
            // An adapter that is not there cannot say that it is off.
            if !on, !adapter.isReady { switchedOff() }
        }
    }

    package func knownPeripheral(_ name: NameID) -> KnownPeripheral? {
        guard let peripheral = peripherals[name], peripheral.wasSeen else { return nil }
        return KnownPeripheral(
            name: peripheral.localName,
            services: peripheral.services,
            characteristics: peripheral.characteristics
        )
    }

    package func knownPeripheral(_ name: NameID, of client: BluetoothClient) -> KnownPeripheral? {
        guard let peripheral = peripherals[name], peripheral.wasSeen else { return nil }
        return peripheral.found.known(named: peripheral.localName, by: client)
    }

    package func connectedPeripherals(services: [NameID]) -> [NameID] {
        inOrder
            .filter { peripheral in
                peripheral.isUp && offered(by: peripheral).compactMap(names.known).contains(where: services.contains)
            }
            .sorted { $0.connectedAs < $1.connectedAs }
            .map(\.name)
    }

    /// The services a connected peripheral is known to have: before its table is complete, those it advertised.
    func offered(by peripheral: BlueZPeripheral) -> [String] {
        if peripheral.isResolved { return peripheral.services.map(\.uuid) }
        return (adapter.advertisement(of: peripheral.id)?.services ?? []).map(BlueZPeripheral.canonical)
    }

    package func writeRoom(of client: BluetoothClient, to name: NameID) -> Int {
        guard let peripheral = peripherals[name], peripheral.isConnected(client),
            let place = peripheral.holder(client)
        else { return 0 }
        return peripheral.holders[place].writes.room
    }

    package func longestWriteCommand(to name: NameID) -> Int {
        guard let peripheral = peripherals[name], peripheral.isUp, let mtu = adapter.mtu(of: peripheral.id) else {
            return WriteQueue.shortestLongest
        }
        return WriteQueue.longest(mtu: mtu)
    }

    package func takeChannel(_ number: UInt32) -> Int32? { table.take(number) }

    /// Opens a channel over the link that is up; the ticket is the peripheral's until it is answered.
    func openChannel(_ psm: UInt16, for client: BluetoothClient, on peripheral: BlueZPeripheral) {
        let operation = BluetoothOperation.openChannel(psm: psm)
        let link = peripheral.link
        let ticket = BlueZPeripheral.Opening(client: client, psm: psm)
        peripheral.openings.append(ticket)
        let address = adapter.ownAddress ?? ""
        ticket.attempt = connector.open(psm: psm, to: peripheral.id, adapter: address) {
            [weak self, weak ticket] result in
            guard let self, let ticket, peripheral.link == link else {
                if case .success(let descriptor) = result { close(descriptor) }
                return
            }
            peripheral.openings.removeAll { $0 === ticket }
            switch result {
            case .success(let descriptor):
                answer(operation, client, peripheral, .psm(psm), local: table.add(descriptor))
            case .failure(let error): answer(operation, client, peripheral, .failure(Self.failure(ofChannel: error)))
            }
        }
    }

    /// Why a channel could not be opened: pairing has codes of its own, all else is the peripheral's refusal.
    private static func failure(ofChannel error: SystemError) -> BluetoothFailure {
        switch error.code {
        case EACCES, EPERM, EBADE: BluetoothFailure(domain: .att, code: 15, message: error.description)
        default: .channelRefused
        }
    }

    /// How a characteristic's notifications come at present: `StartNotify` or `AcquireNotify`; nil when they do not.
    package func notificationPath(of name: NameID, _ handle: AttributeHandle) -> BlueZNotificationPath? {
        peripherals[name].flatMap { adapter.notificationPath($0.id, handle) }
    }

    /// All peripherals in order of their names' numbers: a dictionary's own order changes from run to run.
    var inOrder: [BlueZPeripheral] { peripherals.values.sorted { $0.name < $1.name } }

    // MARK: Saying

    /// Reports, after what was prepared before.
    func say(_ event: WakeEvent, _ payload: EventPayload = .none) {
        later.carryOut()
        report?(SourceReport(event, payload))
    }

    /// Does something as soon as the caller has returned.
    func prepare(_ body: @escaping () -> Void) { later.add(body) }

    // MARK: Hearing

    private func hear(_ heard: BlueZEvent) {
        switch heard {
        case .ready: becameReady()
        case .off where switchingOff: switchedOff()
        // The kernel calls an adapter that is unplugged switched off, right before it is gone.
        case .off: absence.arm(after: min(grace, Self.unplugging))
        case .gone: wentAway()
        case .sighted(let device, let advertisement):
            guard !heardBeacon(device, advertisement), let peripheral = peripheral(of: device) else { return }
            sighted(peripheral, advertisement)
        case .connected(let device):
            if let peripheral = peripheral(of: device) { linkUp(peripheral) }
        case .resolved(let device):
            if let peripheral = peripheral(of: device) { attributesKnown(peripheral) }
        case .renamed(let device):
            if let peripheral = peripheral(of: device) { renamed(peripheral) }
        case .disconnected(let device, let reason):
            if let peripheral = peripheral(of: device) { linkDown(peripheral, reason: reason) }
        case .notified(let device, let handle, let value, let path):
            if let peripheral = peripheral(of: device) { notified(peripheral, handle, value, path) }
        }
    }

    private func wentAway() {
        absence.arm(after: grace)
        guard !isAbsent else { return }
        isAbsent = true
        let time = grace % 1_000 == 0 ? "\(grace / 1_000) s" : "\(grace) ms"
        note?("bluetooth=\(backend): the adapter is gone; apps are told of it unless it is back within \(time)")
    }

    private func becameReady() {
        absence.disarm()
        if isAbsent { note?("bluetooth=\(backend): the adapter is there again") }
        isAbsent = false
        guard !poweredOn else { return }
        poweredOn = true
        say(event(.bluetoothPoweredOn))
    }

    private func switchedOff() {
        switchingOff = false
        guard poweredOn else { return }
        poweredOn = false
        forgetBeacons()
        forgetClients()
        say(event(.bluetoothPoweredOff))
    }

    /// Bluetooth off ends every scan, link and request of every app.
    private func forgetClients() {
        scans.removeAll()
        watches.removeAll()
        scanChanged()
        for peripheral in inOrder {
            peripheral.forgetClients()
            adapter.giveUp(peripheral.id)
        }
    }

    /// The peripheral of a device, made when it is first heard of; nil when there is no name for it.
    private func peripheral(of device: BlueZDeviceID) -> BlueZPeripheral? {
        if let name = namesOfDevices[device], let known = peripherals[name] { return known }
        guard let name = air.name(device.address) else { return nil }
        namesOfDevices[device] = name
        if let addressed = peripherals[name], !addressed.isUp {
            // An address alone does not say its type: who waits for the one that was guessed waits for this one.
            adapter.giveUp(addressed.id)
            addressed.id = device
            if !addressed.holders.isEmpty { adapter.want(device) }
            return addressed
        }
        let made = BlueZPeripheral(device, name, device.address)
        peripherals[name] = made
        return made
    }
}
