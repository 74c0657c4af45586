import WakeDevices
import WakeModel
import WakePorts

/// Other phones of the bench as peripherals: they are seen, connected to and used over the air that the phones share.
///
/// What comes over the air is reported as it comes, and is an input like any other from then on. Nothing here outlives the
/// phone's being switched off but what was known of the others: links end with it, and the router asks anew for what it keeps.
final class PhonePeripherals: CentralRoleReporter {
    /// From a request to its leaving, and from one write command to the next: a connection interval, and a quarter of it.
    static let interval = BluetoothCentral.phone.interval
    static let commandInterval = Instant.Span(nanoseconds: interval.nanoseconds / 4)
    /// What a phone that is beside this one is measured with, in dBm.
    static let signalStrength: Int16 = -55
    /// From one advertisement to the next.
    private static let advertisingInterval = Instant.Span.milliseconds(100)

    /// Something to do later.
    enum Task {
        case sighting(Int)
        case attempt(Int, link: UInt64)
        case ask(Int, link: UInt64)
        /// The time for an answer is over.
        case unanswered(Int, link: UInt64, request: UInt64)
        /// Nothing has come for as long as a link lives without.
        case loss(Int, plan: UInt64)
        case joined(Int, BluetoothClient)
        case report(SourceReport)
    }

    private struct Scan {
        var client: BluetoothClient
        var services: [String]
        var allowDuplicates: Bool
        /// Positions in `phones`.
        var seen: Set<Int> = []

        func wants(_ index: Int, saying advertisement: PhoneAdvertisement) -> Bool {
            guard allowDuplicates || !seen.contains(index) else { return false }
            return services.isEmpty || services.contains { advertisement.offers($0, readsOverflow: true) }
        }
    }

    let names: NameTable
    let origin: NameID
    var report: ((SourceReport) -> Void)?
    /// Nil while the phone is alone: before it is there, and while its journal is read back.
    var air: AirEnd?
    var isOn = true
    var phones: [OtherPhone]
    private var scans: [Scan] = []
    private var watches = ConnectionWatches()
    var schedule = TimedQueue<Task>()
    private var random: SimulatedRandom
    /// The last number that was given to a link, a request or a plan.
    private var lastNumber: UInt64 = 0

    /// Nil where the scenario names no phone.
    init?(devices: [ScenarioDevice], names: NameTable, seed: UInt64) {
        phones = devices.compactMap { device in
            device.phone.map { OtherPhone(device: device.name, name: names.intern(device.name), phone: $0.phone) }
        }
        guard !phones.isEmpty else { return nil }
        self.names = names
        origin = names.intern("simulated")
        random = SimulatedRandom(seed: seed, name: "phones")
    }

    func position(of name: NameID) -> Int? { phones.firstIndex { $0.name == name } }

    func mint() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    // MARK: The port's

    func stop() {
        report = nil
        air = nil
        scans.removeAll()
        schedule.removeAll()
    }

    func timeReached(_ now: Instant) {
        while let (at, task) = schedule.takeDue(by: now) {
            switch task {
            case .sighting(let index): sighting(of: index, at: at)
            case .attempt(let index, let link):
                if phones[index].link == .connecting, phones[index].number == link {
                    air?.say(.connects(link: link), to: phones[index].phone)
                }
            case .ask(let index, let link): ask(index, over: link, at: at)
            case .unanswered(let index, let link, let request):
                if phones[index].link == .up, phones[index].number == link,
                    phones[index].requests.first?.number == request
                {
                    lose(index, because: .connectionTimeout, at: at)
                }
            case .loss(let index, let plan):
                if phones[index].link == .up, phones[index].lossPlan == plan {
                    lose(index, because: .connectionTimeout, at: at)
                }
            case .joined(let index, let client):
                guard let place = phones[index].holder(client), phones[index].link == .up else { continue }
                phones[index].holders[place].state = .connected
                report?(SourceReport(event(.peripheralConnected, of: phones[index].name, client: client)))
            case .report(let made): report?(made)
            }
        }
    }

    /// Carries out what is about other phones, or about peripherals of any kind.
    ///
    /// - Returns: whether it is about nothing else.
    func perform(_ command: BluetoothCommand, at now: Instant) -> Bool {
        // While nobody else is there nothing comes of it; the router asks again for what it keeps.
        let isAlone = air == nil
        switch command {
        case .scan(let client, let services, let allowDuplicates):
            stopScan(client)
            if isAlone || !isOn { return false }
            scans.append(Scan(client: client, services: services.map(names.text), allowDuplicates: allowDuplicates))
            for index in phones.indices { planSighting(of: index, after: .zero, at: now) }
        case .stopScan(let client): stopScan(client)
        case .connect(let client, let name):
            guard let index = position(of: name) else { return false }
            if !isAlone, isOn { connect(client, to: index, at: now) }
            return true
        case .disconnect(let client, let name):
            guard let index = position(of: name) else { return false }
            if isAlone { return true }
            letGo(client, of: index, at: now)
            prepare(event(.peripheralDisconnected, of: name, client: client), at: now)
            return true
        case .operate(let client, let name, let operation):
            guard let index = position(of: name) else { return false }
            if !isAlone { operate(operation, for: client, on: index, at: now) }
            return true
        case .watchConnections(let client, let peripherals, let services):
            if isOn { watches.set(client, peripherals: peripherals, services: services) }
        case .release(let client, let kept):
            stopScan(client)
            watches.remove(client)
            for index in phones.indices where !kept.contains(phones[index].name) { letGo(client, of: index, at: now) }
        // Another phone tells of its changes.
        case .power, .forgetAttributes: break
        }
        return false
    }

    private func stopScan(_ client: BluetoothClient) { scans.removeAll { $0.client == client } }

    /// The phone's own adapter goes off or on: off, every link goes without a word to its apps.
    func setPower(_ on: Bool, at now: Instant) {
        isOn = on
        guard !on else { return }
        scans.removeAll()
        watches.removeAll()
        for index in phones.indices {
            phones[index].holders.removeAll()
            hangUp(index, because: .peripheralDisconnected, at: now)
        }
    }

    // MARK: Saying

    func prepare(_ event: WakeEvent, _ payload: EventPayload = .none, at now: Instant) {
        schedule.add(.report(SourceReport(event, payload)), at: now)
    }

    /// Tells those who watch the connections of a phone, whoever holds them.
    private func tellWatches(_ index: Int, connected: Bool, at now: Instant) {
        let services = phones[index].known.services.map { names.intern($0.uuid) }
        for client in watches.clients(watching: phones[index].name, services: services) {
            let told = event(.connectionEvent, of: phones[index].name, client: client)
            prepare(told, .connectionEvent(connected: connected), at: now)
        }
    }

    // MARK: Seeing

    private func planSighting(of index: Int, after pause: Instant.Span, at now: Instant) {
        guard isOn, !phones[index].sightingPlanned, let said = phones[index].heard,
            scans.contains(where: { $0.wants(index, saying: said) })
        else { return }
        phones[index].sightingPlanned = true
        let low = pause == .zero ? pause : Self.advertisingInterval
        let wait = random.span(from: low, to: low + (pause == .zero ? Self.advertisingInterval : .milliseconds(10)))
        schedule.add(.sighting(index), at: now.advanced(by: wait))
    }

    private func sighting(of index: Int, at now: Instant) {
        phones[index].sightingPlanned = false
        guard isOn, let said = phones[index].heard else { return }
        let advertisement = Advertisement(
            localName: said.localName,
            services: said.services,
            signalStrength: Self.signalStrength
        )
        for place in scans.indices where scans[place].wants(index, saying: said) {
            scans[place].seen.insert(index)
            // A service of the overflow area is seen by whoever looks for it.
            let found = scans[place].services.filter { said.offers($0, readsOverflow: true) }
            let services = (said.services + found.filter { !said.services.contains($0) }).map(names.intern)
            let seen = event(
                .peripheralDiscovered,
                of: phones[index].name,
                client: scans[place].client,
                services: services
            )
            report?(SourceReport(seen, .advertisement(advertisement)))
        }
        planSighting(of: index, after: Self.advertisingInterval, at: now)
    }

    /// A phone can be seen and connected to, as far as it advertises.
    func appeared(_ index: Int, at now: Instant) {
        considerConnecting(index, at: now)
        planSighting(of: index, after: .zero, at: now)
    }

    // MARK: Links

    private func connect(_ client: BluetoothClient, to index: Int, at now: Instant) {
        let isUp = phones[index].link == .up
        if phones[index].holder(client) == nil {
            phones[index].holders.append(.init(client: client, state: isUp ? .joining : .pending))
        }
        if isUp {
            schedule.add(.joined(index, client), at: now)
        } else {
            considerConnecting(index, at: now)
        }
    }

    /// Starts an attempt when somebody waits for the link and the phone advertises (BTC-5).
    private func considerConnecting(_ index: Int, at now: Instant) {
        guard isOn, air != nil, phones[index].link == .down, phones[index].heard != nil, !phones[index].holders.isEmpty
        else { return }
        phones[index].link = .connecting
        phones[index].number = mint()
        let (low, high) = SimulatedBluetooth.connectLatency
        let wait = random.span(from: low, to: Self.advertisingInterval + high)
        schedule.add(.attempt(index, link: phones[index].number), at: now.advanced(by: wait))
    }

    func linkUp(_ index: Int, mtu: Int, at now: Instant) {
        phones[index].link = .up
        phones[index].connectedAs = mint()
        phones[index].mtu = mtu
        phones[index].wasConnected = true
        for place in phones[index].holders.indices { phones[index].holders[place].state = .connected }
        report?(SourceReport(event(.peripheralConnected, of: phones[index].name)))
        tellWatches(index, connected: true, at: now)
    }

    /// Takes a client off a phone, silently; the link goes with the last.
    private func letGo(_ client: BluetoothClient, of index: Int, at now: Instant) {
        guard let place = phones[index].holder(client) else { return }
        phones[index].holders.remove(at: place)
        phones[index].found.remove(client)
        for request in phones[index].requests.indices where phones[index].requests[request].client == client {
            phones[index].requests[request].client = nil
        }
        guard phones[index].holders.isEmpty else { return unsubscribe(client, from: index, at: now) }
        let wasUp = phones[index].link == .up
        hangUp(index, because: .peripheralDisconnected, at: now)
        if wasUp { tellWatches(index, connected: false, at: now) }
    }

    /// Ends a link, or an attempt at one, and tells the other phone.
    private func hangUp(_ index: Int, because failure: BluetoothFailure, at now: Instant) {
        if phones[index].link != .down {
            air?.say(.left(link: phones[index].number, failure), to: phones[index].phone)
        }
        closeLink(index, at: now)
    }

    /// A link that this end gives up: its apps hear of it, and the other phone.
    func lose(_ index: Int, because failure: BluetoothFailure, at now: Instant) {
        guard phones[index].link == .up else { return }
        air?.say(.left(link: phones[index].number, failure), to: phones[index].phone)
        linkDown(index, because: failure, at: now)
    }

    /// The link is gone, and not by the phone's own will: what was asked over it fails, and then everyone connected hears
    /// of it once.
    func linkDown(_ index: Int, because failure: BluetoothFailure, origin: NameID? = nil, at now: Instant) {
        guard phones[index].link == .up else { return }
        failRequests(of: index, at: now)
        closeLink(index, at: now)
        let gone = event(.peripheralDisconnected, of: phones[index].name, failed: true, origin: origin)
        prepare(gone, .failure(failure), at: now)
        tellWatches(index, connected: false, at: now)
    }

    /// An attempt comes to nothing; whoever waits gets another when the phone advertises again.
    func cancelAttempt(at index: Int) {
        phones[index].link = .down
        phones[index].number = 0
    }

    /// Clears what belongs to the link; those who still wait for one get another attempt.
    private func closeLink(_ index: Int, at now: Instant) {
        phones[index].link = .down
        phones[index].number = 0
        phones[index].lossPlan = 0
        phones[index].requests.removeAll()
        phones[index].subscribers.removeAll()
        phones[index].unheard.removeAll()
        phones[index].uuids.removeAll()
        phones[index].found.removeAll()
        phones[index].holders.removeAll { $0.state == .connected }
        for place in phones[index].holders.indices { phones[index].holders[place].state = .pending }
        appeared(index, at: now)
    }

    func planLoss(of index: Int, at now: Instant) {
        phones[index].lossPlan = mint()
        let due = now.advanced(by: SimulatedPeripheralRole.supervisionTimeout)
        schedule.add(.loss(index, plan: phones[index].lossPlan), at: due)
    }
}

/// What a phone knows of another as a peripheral.
struct OtherPhone {
    /// A GATT operation that waits for its turn, or for its answer.
    struct Request {
        let number: UInt64
        /// Nil when the client let go meanwhile: nobody hears the answer.
        var client: BluetoothClient?
        let operation: BluetoothOperation
        /// It has left, and the next waits for its answer.
        var isAsked = false
    }

    /// What the scenario calls it.
    let device: String
    let name: NameID
    /// What the bench calls it.
    let phone: String
    /// Whether it is in reach, as far as the scenario's steps say.
    var inRange = true
    /// What it says of itself; nil while it is not there, or says nothing.
    var advertisement: PhoneAdvertisement?
    var link = SimulatedPeripheral.Link.down
    /// Which link, or attempt at one, this is; 0 for none.
    var number: UInt64 = 0
    /// Counts links in order of connection.
    var connectedAs: UInt64 = 0
    /// The plan to lose the link; 0 for none.
    var lossPlan: UInt64 = 0
    var mtu = BluetoothPeripheral.usualMTU
    var sightingPlanned = false
    /// In the order in which they came.
    var holders: [SimulatedPeripheral.Holder] = []
    /// Oldest first; one is asked at a time.
    var requests: [Request] = []
    /// In the order in which they came, by characteristic.
    var subscribers: [AttributeHandle: [BluetoothClient]] = [:]
    /// The UUIDs of attributes that were found over this link.
    var uuids: [AttributeHandle: String] = [:]
    var found = FoundAttributes()
    /// What it said over the link while it was out of reach, oldest first.
    var unheard: [AirMessage] = []

    var wasDiscovered = false
    var wasConnected = false
    /// What apps were told of it.
    var known = KnownPeripheral()

    /// What of its advertising comes here.
    var heard: PhoneAdvertisement? { inRange ? advertisement : nil }

    /// Whether anybody is subscribed to a characteristic.
    func isHeard(_ handle: AttributeHandle) -> Bool { subscribers[handle]?.isEmpty == false }

    func holder(_ client: BluetoothClient) -> Int? { holders.firstIndex { $0.client == client } }

    func isConnected(_ client: BluetoothClient) -> Bool {
        link == .up && holder(client).map { holders[$0].state == .connected } ?? false
    }
}
