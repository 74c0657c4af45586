import WakeCaptures
import WakeDevices
import WakeModel
import WakePorts
import WakeSystem

/// A radio in memory over device files: it advertises, connects, answers and notifies in the time of the run.
///
/// Given the same devices, seed and calls it reports the same, to the nanosecond. What a scenario does to a device has a
/// verb that begins with `simulate`.
package final class SimulatedBluetooth: BluetoothCentralPort, BluetoothTracePort, CentralRoleReporter {
    /// From the sighting of a peripheral to the link.
    static let connectLatency = (low: Instant.Span.milliseconds(30), high: Instant.Span.milliseconds(60))

    struct Scan: Codable {
        var client: BluetoothClient
        var services: [NameID]
        var allowDuplicates: Bool
        /// The peripherals reported, by position.
        var seen: [Bool]
    }

    /// Something that happens at once, when the radio is next given time.
    enum Prepared: Codable {
        case report(SourceReport)
        case joined(peripheral: Int, BluetoothClient)
    }

    package let backend = "simulated"
    package var report: ((SourceReport) -> Void)? { didSet { phones?.report = report } }
    package internal(set) var poweredOn = true

    let names: NameTable
    let origin: NameID
    /// Whether what the phone found of a peripheral's attributes outlives the link (BTC-14).
    let keepsAttributes: Bool
    var peripherals: [SimulatedPeripheral] = []
    var characteristics: [SimulatedCharacteristic] = []
    /// Positions in `peripherals` by number of name; -1 for none.
    private var positions: [Int32] = []
    /// In order of client.
    var scans: [Scan] = []
    /// What it has to do later.
    var schedule = TimedQueue<SimulatedTask>()
    /// Oldest first.
    var prepared: [Prepared] = []
    var preparedDone = 0
    var links: UInt64 = 0
    var channels: [SimulatedChannel] = []
    var beacons: [SimulatedBeacon] = []
    /// The beacons that somebody looks for.
    var watched: [BeaconIdentity] = []
    var phone = SimulatedPhone()
    /// The other phones of the bench that the scenario names; nil where it names none.
    let phones: PhonePeripherals?
    /// The air that the phones share; nil while this one is alone.
    var air: AirEnd? { didSet { phones?.air = air } }
    /// Hears what other phones say to this one as a peripheral.
    var visited: ((AirMessage, _ phone: String, _ at: Instant) -> Void)?
    var watches = ConnectionWatches()
    /// Hears, a line each, what a device says to nobody, and what a link is not secure enough for; nil when nobody wants it.
    package var missed: ((_ line: String, _ client: BluetoothClient?, _ at: Instant) -> Void)?
    /// Logs what happens as HCI; nil when nobody wants it.
    var trace: HCITrace?
    package let table: ChannelTable
    let loop: EventLoop?

    /// A radio that reaches these devices; their names are the peripherals' names.
    ///
    /// - Parameter keepsAttributes: whether what the phone found of a peripheral's attributes outlives the link (BTC-14).
    /// - Parameter loop: is woken when an app writes to a channel; nil where somebody looks at the channels anyway.
    /// - Parameter table: where the descriptors of channels wait to be taken.
    package init(
        devices: [ScenarioDevice],
        names: NameTable,
        seed: UInt64,
        keepsAttributes: Bool = true,
        loop: EventLoop? = nil,
        table: ChannelTable = ChannelTable()
    ) {
        self.names = names
        self.keepsAttributes = keepsAttributes
        self.loop = loop
        self.table = table
        origin = names.intern("simulated")
        phones = PhonePeripherals(devices: devices, names: names, seed: seed)
        for device in devices {
            if let description = device.peripheral { add(description, named: device.name, seed: seed) }
            if let description = device.beacon {
                beacons.append(SimulatedBeacon(description, named: device.name, names: names, seed: seed))
            }
        }
    }

    private func add(_ description: BluetoothPeripheral, named name: String, seed: UInt64) {
        let peripheral = SimulatedPeripheral(
            description,
            named: name,
            firstCharacteristic: characteristics.count,
            names: names,
            seed: seed
        )
        let number = Int(peripheral.nameID.number)
        while positions.count <= number { positions.append(-1) }
        precondition(positions[number] < 0, "two devices are named \(name)")
        positions[number] = Int32(peripherals.count)
        let file = description.file.split(separator: "/").last ?? ""
        let services = description.services + description.servicesToCome
        for (position, characteristic) in services.flatMap(\.characteristics).enumerated() {
            characteristics.append(
                SimulatedCharacteristic(
                    peripheral: peripherals.count,
                    position: position,
                    timetable: characteristic.timetable,
                    origin: names.intern("\(file):\(characteristic.line)"),
                    value: characteristic.value
                )
            )
        }
        peripherals.append(peripheral)
    }

    func position(of name: NameID) -> Int? {
        guard Int(name.number) < positions.count, positions[Int(name.number)] >= 0 else { return nil }
        return Int(positions[Int(name.number)])
    }

    // MARK: The port

    package func start(at now: Instant) throws(SourceFailure) {}

    package func stop() {
        report = nil
        missed = nil
        phones?.stop()
        scans.removeAll()
        prepared.removeAll()
        preparedDone = 0
        for index in peripherals.indices {
            peripherals[index].holders.removeAll()
            closeLink(index, at: .zero)
        }
        watched.removeAll()
        watches.removeAll()
        schedule.removeAll()
    }

    package var nextDeadline: Instant? {
        // What other phones said is heard at once.
        if air?.hasNews == true { return .zero }
        guard let phones, let next = phones.schedule.next else { return schedule.next }
        return min(next, schedule.next ?? next)
    }

    package func timeReached(_ now: Instant) {
        hearPhones(at: now)
        while let (at, task) = schedule.takeDue(by: now) {
            let index = Int(task.index)
            switch task.kind {
            case .sighting: sighting(of: index, at: at)
            case .connection: linkUp(index, generation: task.generation, at: at)
            case .answer: answer(index, generation: task.generation, at: at)
            case .notification: timetableDue(index, generation: task.generation, at: at)
            case .linkLoss:
                if peripherals[index].lossGeneration == task.generation {
                    linkDown(index, because: .connectionTimeout, at: at)
                }
            case .prepared: carryOutPrepared()
            case .channelValue: channelDue(index, at: at)
            case .channelRoom: channelHasRoom(index, at: at)
            case .beacon: beaconDue(index, generation: task.generation, at: at)
            case .reaction: answersDue(index, generation: task.generation, at: at)
            }
        }
    }

    package func perform(_ command: BluetoothCommand, at now: Instant) {
        if phones?.perform(command, at: now) == true { return }
        switch command {
        case .scan(let client, let services, let allowDuplicates):
            if poweredOn { scan(client, services: services, allowDuplicates: allowDuplicates, at: now) }
        case .stopScan(let client): scans.removeAll { $0.client == client }
        case .connect(let client, let peripheral):
            if poweredOn, let index = position(of: peripheral) { connect(client, to: index, at: now) }
        case .disconnect(let client, let peripheral): disconnect(client, from: peripheral, at: now)
        case .operate(let client, let peripheral, let operation):
            operate(operation, for: client, on: peripheral, at: now)
        case .watchConnections(let client, let peripherals, let services):
            if poweredOn { watches.set(client, peripherals: peripherals, services: services) }
        case .release(let client, let kept):
            scans.removeAll { $0.client == client }
            watches.remove(client)
            for index in peripherals.indices where !kept.contains(peripherals[index].nameID) {
                letGo(client, of: index, at: now)
            }
        case .power(let on): setPower(on, at: now)
        case .forgetAttributes:
            for index in peripherals.indices { peripherals[index].forgetTable() }
        }
        traceScan(at: now)
    }

    package func setPower(_ on: Bool, at now: Instant) {
        if on == poweredOn { return }
        poweredOn = on
        phones?.setPower(on, at: now)
        if !on {
            scans.removeAll()
            watches.removeAll()
            for index in peripherals.indices {
                peripherals[index].holders.removeAll()
                if peripherals[index].link == .connecting { traceAttempt(at: index, isOn: false, at: now) }
                traceEnd(of: index, because: nil, at: now)
                closeLink(index, at: now)
            }
        }
        for index in beacons.indices {
            stopListening(to: index)
            planListening(to: index, at: now)
        }
        traceScan(at: now)
        prepare(event(on ? .bluetoothPoweredOn : .bluetoothPoweredOff), at: now)
    }

    package func knownPeripheral(_ name: NameID) -> KnownPeripheral? {
        guard let index = position(of: name) else { return phones?.known(name) }
        let peripheral = peripherals[index]
        guard peripheral.wasDiscovered || peripheral.wasConnected else { return nil }
        guard peripheral.wasConnected else { return KnownPeripheral(name: peripheral.knownName) }
        return KnownPeripheral(
            name: peripheral.knownName,
            services: peripheral.table.allServices,
            characteristics: peripheral.table.allCharacteristics
        )
    }

    package func knownPeripheral(_ name: NameID, of client: BluetoothClient) -> KnownPeripheral? {
        guard let known = knownPeripheral(name) else { return nil }
        let found = position(of: name).map { peripherals[$0].found } ?? phones?.found(on: name)
        return found?.known(named: known.name, by: client)
    }

    package func connectedPeripherals(services: [NameID]) -> [NameID] {
        peripherals
            .filter { peripheral in
                peripheral.link == .up && peripheral.table.offered.contains { services.contains($0.name) }
            }
            .sorted { $0.connectedAs < $1.connectedAs }
            .map(\.nameID) + (phones?.connected(services: services) ?? [])
    }

    package func writeRoom(of client: BluetoothClient, to name: NameID) -> Int {
        guard let index = position(of: name), peripherals[index].isConnected(client),
            let place = peripherals[index].holder(client)
        else { return phones?.writeRoom(of: client, to: name) ?? 0 }
        return peripherals[index].holders[place].writes.room
    }

    package func longestWriteCommand(to name: NameID) -> Int {
        guard let index = position(of: name), peripherals[index].link == .up else {
            return phones?.longestWriteCommand(to: name) ?? WriteQueue.shortestLongest
        }
        return WriteQueue.longest(mtu: peripherals[index].description.mtu)
    }

    // MARK: What a scenario does to a device

    package func arm(fault: String, device: String, at now: Instant) throws(SourceFailure) {
        if let index = beacon(device), let armed = beacons[index].description.faults.first(where: { $0.name == fault })
        {
            return arm(armed.effect, of: index, at: now)
        }
        let index = try known(device)
        guard let armed = peripherals[index].description.faults.first(where: { $0.name == fault }) else {
            throw .noFault(fault, of: "device \(device)", among: peripherals[index].description.faults.map(\.name))
        }
        switch armed.effect {
        case .lateSubscribeAnswer(let span): peripherals[index].faults.lateSubscribeAnswer = span
        case .disconnectAfter(let count): peripherals[index].faults.disconnectAfter = count
        case .staleHandles(let count): peripherals[index].faults.staleHandles += count
        case .noAnswer(let span): peripherals[index].faults.noAnswer = span
        case .cutValues(let count): peripherals[index].faults.cutValues = count
        case .holdNotifications(let span): hold(index, for: span)
        case .closeChannelAfter(let count): peripherals[index].faults.closeChannelAfter = count
        case .refuseChannels: peripherals[index].faults.refusesChannels = true
        case .changeServices(let change): changeServices(of: index, change, at: now)
        case .changeName(let name): changeName(of: index, to: name, at: now)
        }
    }

    /// The peripheral notifies a value beside its timetable, if anybody is subscribed; a read gives it from now on.
    ///
    /// - Returns: whether it went out.
    /// - Throws: ``SourceFailure`` of kind unknown when there is no such device or characteristic.
    @discardableResult
    package func simulateNotification(
        device: String,
        characteristic: String,
        value: [UInt8],
        origin: NameID = .none,
        at now: Instant
    ) throws(SourceFailure) -> Bool {
        let index = try known(device)
        let attributes = peripherals[index].attributes
        guard let place = attributes.characteristic(named: characteristic) else {
            if attributes.isOfSystem(characteristic) {
                return characteristic == PeripheralRules.serviceChanged && say(value, ofChangesOn: index, at: now)
            }
            // Its service has gone, or has not come yet.
            if attributes.characteristics.contains(where: { $0.uuid == characteristic }) { return false }
            throw SourceFailure(
                .unknown,
                "device \(device) has no characteristic \(characteristic); its file names them"
            )
        }
        let number = peripherals[index].firstCharacteristic + place
        characteristics[number].value = value
        guard reachable(number),
            let notified = notification(of: number, value, origin: origin == .none ? self.origin : origin, at: now)
        else { return false }
        prepare(.report(notified), at: now)
        countNotification(of: index, at: now)
        return true
    }

    /// The peripheral drops its link; nothing happens when there is none.
    package func simulateDisconnect(device: String, origin: NameID = .none, at now: Instant) throws(SourceFailure) {
        let index = try known(device)
        guard peripherals[index].link == .up else { return }
        linkDown(index, because: .peripheralDisconnected, origin: origin, at: now)
    }

    /// The peripheral leaves the radio's reach, or comes back. A link is lost when the supervision timeout has passed.
    package func simulateRange(device: String, inRange: Bool, at now: Instant) throws(SourceFailure) {
        if let index = beacon(device) {
            if beacons[index].inRange != inRange { setRange(index, inRange: inRange, at: now) }
            return
        }
        let index = try known(device)
        guard peripherals[index].inRange != inRange else { return }
        peripherals[index].inRange = inRange
        switch (inRange, peripherals[index].link) {
        case (false, .down): break
        case (false, .connecting): cancelAttempt(at: index, at: now)
        case (false, .up):
            for number in numbers(of: index) { pauseTimetable(number, at: now) }
            planLoss(of: index, at: now.advanced(by: peripherals[index].description.connection.supervisionTimeout))
        case (true, .up):
            // The packets come again before the timeout: the link lives on.
            if !peripherals[index].faults.unanswered { peripherals[index].lossGeneration &+= 1 }
            for number in numbers(of: index) { runTimetable(number, at: now) }
            resumeAnswers(of: index, at: now)
            planAnswers(of: index)
        case (true, .down), (true, .connecting): appeared(index, at: now)
        }
    }

    func known(_ device: String) throws(SourceFailure) -> Int {
        guard let index = names.known(device).flatMap(position(of:)) else {
            throw .noDevice("device '\(device)'", among: peripherals.map(\.name))
        }
        return index
    }
}
