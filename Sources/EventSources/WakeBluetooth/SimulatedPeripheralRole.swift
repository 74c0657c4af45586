import WakeCaptures
import WakeDevices
import WakeModel
import WakePorts
import WakeSystem

/// Scripted centrals around the phone: they find what apps advertise, connect, and use what apps publish, in the time of
/// the run.
///
/// Given the same devices, seed and calls it reports the same, to the nanosecond. What a scenario does to a central has a
/// verb that begins with `simulate`.
package final class SimulatedPeripheralRole: BluetoothPeripheralPort, PeripheralRoleReporter {
    /// From the begin of an advertisement to the link.
    static let connectLatency = (low: Instant.Span.milliseconds(30), high: Instant.Span.milliseconds(60))
    /// From the last packet of a central out of range to the loss of the link.
    static let supervisionTimeout = Instant.Span.milliseconds(720)

    /// A request that an app is to answer, and the central that waits for it.
    struct Request: Codable {
        var client: BluetoothClient
        var characteristic: UInt32
        var central: Int
    }

    /// An update, until every central has it.
    struct Update {
        var client: BluetoothClient
        var remaining: Int
    }

    package let backend = "simulated"
    package var report: ((SourceReport) -> Void)?
    /// What centrals do and get, a line each, as the lab's central prints it.
    package var transcript: ((_ central: String, _ line: String, _ at: Instant) -> Void)?
    /// Hears, a line each, what centrals do in vain; nil when nobody wants it.
    package var missed: ((_ line: String, _ at: Instant) -> Void)?
    /// Hears, a line each, what centrals have done that they were told to do; nil when nobody wants it.
    package var carriedOut: ((_ line: String, _ at: Instant) -> Void)?

    let names: NameTable
    let origin: NameID
    var centrals: [SimulatedCentral] = []
    var attributes = LocalAttributes()
    var clients = PeripheralClients()
    var advertisement: PhoneAdvertisement?
    var poweredOn = true

    var requests: [UInt32: Request] = [:]
    var lastRequest: UInt32 = 0
    var updates: [UInt64: Update] = [:]
    var lastUpdate: UInt64 = 0
    let loop: EventLoop?
    let table: ChannelTable
    let radio: SimulatedBluetooth?
    /// Random numbers of centrals that come later are from it, too.
    let seed: UInt64
    /// What the scenario calls its devices: a central that comes later has another name.
    let deviceNames: Set<String>
    /// The last number of a request of another phone: they are counted apart, since those of scripts come again when a
    /// journal is read back.
    var lastPhoneRequest: UInt32 = 1 << 31
    /// Logs what happens as HCI; nil when nobody wants it.
    var trace: HCITrace? { radio?.trace }
    /// Where the phone's server has what apps publish; kept while somebody logs, or another phone is linked.
    var handles = PhoneHandles()
    /// The channels that apps offer.
    var offered: [(client: BluetoothClient, psm: UInt16)] = []

    /// Happens at once, when the radio is next given time; oldest first.
    var prepared: [SourceReport] = []
    var preparedAt = Instant.distantFuture

    /// The centrals among these devices; their names are the centrals' names to the router.
    ///
    /// - Parameter radio: the central role, which keeps the descriptors of channels for both until they are taken.
    package init(
        devices: [ScenarioDevice],
        names: NameTable,
        seed: UInt64,
        beside radio: SimulatedBluetooth? = nil
    ) {
        self.names = names
        self.radio = radio
        self.seed = seed
        deviceNames = Set(devices.map(\.name))
        loop = radio?.loop
        table = radio?.table ?? ChannelTable()
        origin = names.intern("simulated")
        for device in devices {
            if let central = device.central {
                centrals.append(SimulatedCentral(device.name, central, names: names, seed: seed))
            } else if let phone = device.phone {
                addPhone(phone.phone, named: device.name)
            }
        }
        radio?.visited = { [unowned self] in hear($0, from: $1, at: $2) }
    }

    // MARK: The port

    package func start(at now: Instant) throws(SourceFailure) {
        for index in centrals.indices where centrals[index].phone == nil {
            centrals[index].activity = .pausing(until: now)
        }
    }

    package func stop() {
        report = nil
        transcript = nil
        (missed, carriedOut) = (nil, nil)
        centrals.removeAll()
        prepared.removeAll()
        preparedAt = .distantFuture
        requests.removeAll()
        updates.removeAll()
        clients = PeripheralClients()
        advertisement = nil
    }

    package var nextDeadline: Instant? {
        var next = preparedAt
        for central in centrals { next = min(next, central.nextTime) }
        return next == .distantFuture ? nil : next
    }

    package func timeReached(_ now: Instant) {
        while let next = nextDeadline, next <= now {
            if preparedAt == next {
                let reports = prepared
                prepared.removeAll()
                preparedAt = .distantFuture
                for each in reports { report?(each) }
            } else if let index = centrals.firstIndex(where: { $0.nextTime == next }) {
                goOn(index, at: next)
            }
        }
    }

    package func perform(_ command: PeripheralRoleCommand, at now: Instant) {
        switch command {
        case .publish(let client, let service, let again): publish(service, for: client, again: again, at: now)
        case .unpublish(let client, let number):
            withdraw(attributes.remove { $0.client == client && $0.service.number == number }, silently: false, at: now)
            tellPhonesOfServices()
        case .setServing(let client, let serves): clients.setServing(client, serves)
        case .advertise(let client, let localName, let services, let overflow, let again):
            let (services, overflow) = (services.map(names.text), overflow.map(names.text))
            var started = event(.advertisingStarted, client, subject: names.intern("advertisement"))
            guard clients.advertise(client, localName, services: services, overflow: overflow, again: again) else {
                started.failed = true
                return prepare(started, .failure(.alreadyAdvertising), at: now)
            }
            if !again { prepare(started, at: now) }
            advertisementChanged(at: now)
        case .stopAdvertising(let client):
            clients.stopAdvertising(client)
            advertisementChanged(at: now)
        case .update(let client, let characteristic, let value, let centrals):
            update(characteristic, of: client, value, to: centrals, at: now)
        case .respond(let client, let request, let result, let value):
            guard requests[request]?.client == client else { return }
            answer(request, result: result, value: value ?? [], at: now)
        case .publishChannel(let client, _): publishChannel(client, at: now)
        case .unpublishChannel(let client, let psm): unpublishChannel(psm, of: client, at: now)
        case .release(let client): release(client, at: now)
        }
    }

    package func maximumUpdateLength(of central: NameID) -> UInt16 {
        centrals.first { $0.nameID == central }.map { UInt16(clamping: $0.longestUpdate) } ?? 20
    }

    package func updateRoom(of client: BluetoothClient) -> Int {
        max(0, PeripheralRole.updateQueueLength - waiting(of: client))
    }

    /// How many updates of a client have not reached everybody.
    func waiting(of client: BluetoothClient) -> Int { updates.values.count { $0.client == client } }

    /// The phone's adapter goes off or on: off, every link goes.
    package func setPower(_ on: Bool, at now: Instant) {
        guard on != poweredOn else { return }
        poweredOn = on
        if !on {
            for index in centrals.indices { linkDown(index, because: .localTerminated, at: now) }
            offered.removeAll()
        }
        advertisementChanged(at: now)
    }

    /// The phone is shut down, or restarts: every link goes, and nobody is told of a subscription, as no process is left.
    package func endLinks(at now: Instant) {
        for index in centrals.indices {
            centrals[index].subscriptions.removeAll()
            linkDown(index, because: .localTerminated, at: now)
        }
    }

    private func release(_ client: BluetoothClient, at now: Instant) {
        withdraw(attributes.remove { $0.client == client }, silently: true, at: now)
        tellPhonesOfServices()
        clients.release(client)
        offered.removeAll { $0.client == client }
        advertisementChanged(at: now)
    }

    // MARK: What apps offer

    private func publish(_ service: LocalService, for client: BluetoothClient, again: Bool, at now: Instant) {
        var added = event(.serviceAdded, client, local: service.number, subject: names.intern(service.uuid))
        if PeripheralRole.reserved.contains(service.uuid) {
            added.failed = true
            return prepare(added, .failure(.uuidNotAllowed), at: now)
        }
        withdraw(attributes.publish(service, for: client), silently: false, at: now)
        tellPhonesOfServices()
        if !again { prepare(added, at: now) }
    }

    /// Characteristics went: nobody is subscribed to them, and nobody waits for them.
    private func withdraw(_ members: [LocalAttributes.Member], silently: Bool, at now: Instant) {
        for member in members {
            let number = member.characteristic.number
            for index in centrals.indices {
                for subscription in centrals[index].subscriptions
                where subscription.client == member.client && subscription.characteristic == number {
                    centrals[index].subscriptions.removeAll { $0 == subscription }
                    dropOutgoing(index, at: now) { $0.subscription == subscription }
                    if !silently { prepareUnsubscribed(index, subscription, at: now) }
                }
            }
            let waiting = requests.filter { $0.value.client == member.client && $0.value.characteristic == number }
            for request in waiting.keys.sorted() {
                answer(request, result: AttributeError.unlikely, value: [], at: now)
            }
        }
    }

    private func advertisementChanged(at now: Instant) {
        advertisement = poweredOn ? clients.advertisement : nil
        traceAdvertisement(at: now)
        for index in centrals.indices { look(index, at: now) }
        for phone in radio?.air?.watchers ?? [] { advertise(to: phone) }
    }

    // MARK: Saying

    /// Reports as soon as the caller has returned.
    func prepare(_ event: WakeEvent, _ payload: EventPayload = .none, at now: Instant) {
        prepared.append(SourceReport(event, payload))
        preparedAt = min(preparedAt, now)
    }

    func prepareUnsubscribed(_ index: Int, _ subscription: SimulatedCentral.Subscription, at now: Instant) {
        say(index, "unsubscribed \(subscription.uuid)", at: now)
        let (client, characteristic) = (subscription.client, subscription.characteristic)
        prepare(event(.centralUnsubscribed, client, characteristic, subscription.uuid, by: index), at: now)
    }

    /// What a central does with a characteristic of a client's.
    func event(
        _ kind: EventKind,
        _ client: BluetoothClient,
        _ characteristic: UInt32,
        _ uuid: String,
        by index: Int,
        request: UInt32 = 0
    ) -> WakeEvent {
        let central = centrals[index].nameID
        let subject = names.intern("\(centrals[index].name)/\(uuid)")
        return event(kind, client, local: characteristic, request: request, central: central, subject: subject)
    }

    func say(_ index: Int, _ line: String, at now: Instant) { transcript?(centrals[index].name, line, now) }

    /// The next number of a request.
    func mint() -> UInt32 {
        lastRequest &+= 1
        return lastRequest
    }

    // MARK: What a scenario does to a central

    package func arm(fault: String, device: String, at now: Instant) throws(SourceFailure) {
        let index = try known(device)
        guard let armed = centrals[index].description.faults.first(where: { $0.name == fault }) else {
            throw .noFault(fault, of: "central \(device)", among: centrals[index].description.faults.map(\.name))
        }
        switch armed.effect {
        case .disconnectAfter(let count): centrals[index].faults.disconnectAfter = count
        case .neverConfirm: centrals[index].faults.neverConfirms = true
        case .slowReader(let span): centrals[index].faults.slowness = span
        }
    }

    /// The central drops its link, and what it was ordered before is void; nothing happens when there is neither.
    package func simulateDisconnect(device: String, at now: Instant) throws(SourceFailure) {
        let index = try known(device)
        dropOrders(index, at: now)
        if centrals[index].isUp { linkDown(index, at: now) }
    }

    /// Whether a central has a link to the phone.
    package func isConnected(_ device: String) -> Bool { centrals.contains { $0.name == device && $0.isUp } }

    /// Whether a central is in the phone's reach; nil for what is none of its centrals.
    package func isInRange(_ device: String) -> Bool? { centrals.first { $0.name == device }?.inRange }

    /// The bench restarts: the central's link is gone, and what it was told to connect to stays.
    package func endLink(of device: String, at now: Instant) throws(SourceFailure) {
        let index = try known(device)
        if centrals[index].isUp { linkDown(index, at: now) }
    }

    /// The central leaves the radio's reach, or comes back. A link is lost when the supervision timeout has passed.
    package func simulateRange(device: String, inRange: Bool, at now: Instant) throws(SourceFailure) {
        let index = try known(device)
        centrals[index].inRange = inRange
        if let phone = centrals[index].phone { advertise(to: phone) }
        if inRange {
            centrals[index].lossDue = .distantFuture
            if centrals[index].phone != nil { answerPhone(index, at: now) }
            look(index, at: now)
        } else {
            if centrals[index].isUp { centrals[index].lossDue = now.advanced(by: Self.supervisionTimeout) }
            // An attempt comes to nothing.
            look(index, at: now)
        }
    }

    func known(_ device: String) throws(SourceFailure) -> Int {
        guard let index = centrals.firstIndex(where: { $0.name == device }) else {
            throw .noDevice("central '\(device)'", among: centrals.map(\.name))
        }
        return index
    }
}
