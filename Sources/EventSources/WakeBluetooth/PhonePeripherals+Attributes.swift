import WakeModel
import WakePorts

/// What is asked of other phones, and what comes of them.
extension PhonePeripherals {
    /// The most operations that wait for one phone.
    private static let requestLimit = 4_096

    // MARK: Asking

    func operate(_ operation: BluetoothOperation, for client: BluetoothClient, on index: Int, at now: Instant) {
        guard phones[index].isConnected(client), let place = phones[index].holder(client) else {
            return refuse(operation, for: client, on: index, because: .notConnected, at: now)
        }
        if operation.commandValue != nil {
            // One for which the queue has no room is lost.
            if phones[index].holders[place].writes.take() { enqueue(operation, for: client, on: index, at: now) }
            return
        }
        guard phones[index].requests.count < Self.requestLimit else {
            let full = BluetoothFailure(domain: .att, code: 17, message: "Resources are insufficient.")
            return refuse(operation, for: client, on: index, because: full, at: now)
        }
        switch operation {
        case .readSignalStrength:
            prepareAnswer(to: operation, .signalStrength(Self.signalStrength), for: client, on: index, at: now)
        case .openChannel: refuse(operation, for: client, on: index, because: .channelRefused, at: now)
        case .setNotify(let handle, false) where takeOff(client, from: handle, of: index):
            prepareAnswer(to: operation, .notifying(false), for: client, on: index, at: now)
        default: enqueue(operation, for: client, on: index, at: now)
        }
    }

    private func enqueue(_ operation: BluetoothOperation, for client: BluetoothClient?, on index: Int, at now: Instant)
    {
        phones[index].requests.append(.init(number: mint(), client: client, operation: operation))
        if phones[index].requests.count == 1 { planToAsk(index, at: now) }
    }

    private func planToAsk(_ index: Int, at now: Instant) {
        guard let first = phones[index].requests.first else { return }
        let wait = first.operation.commandValue == nil ? Self.interval : Self.commandInterval
        schedule.add(.ask(index, link: phones[index].number), at: now.advanced(by: wait))
    }

    /// The first of the requests leaves. One to a phone out of reach waits until it is back.
    func ask(_ index: Int, over link: UInt64, at now: Instant) {
        guard phones[index].link == .up, phones[index].number == link, phones[index].inRange,
            let first = phones[index].requests.first, !first.isAsked
        else { return }
        phones[index].requests[0].isAsked = true
        let question = AirQuestion(first.operation, names)
        air?.say(.asks(link: link, request: first.number, question), to: phones[index].phone)
        guard first.operation.commandValue != nil else {
            let end = now.advanced(by: SimulatedCentral.transactionTimeout)
            return schedule.add(.unanswered(index, link: link, request: first.number), at: end)
        }
        phones[index].requests.removeFirst()
        planToAsk(index, at: now)
        guard let client = first.client, let place = phones[index].holder(client),
            phones[index].holders[place].writes.leave()
        else { return }
        report?(SourceReport(event(.readyToWrite, of: phones[index].name, client: client)))
    }

    private func refuse(
        _ operation: BluetoothOperation,
        for client: BluetoothClient,
        on index: Int,
        because failure: BluetoothFailure,
        at now: Instant
    ) {
        guard operation.commandValue == nil else { return }
        prepareAnswer(to: operation, .failure(failure), for: client, on: index, at: now)
    }

    /// What was asked of a phone and not answered fails: its link is gone.
    func failRequests(of index: Int, at now: Instant) {
        for request in phones[index].requests {
            guard let client = request.client else { continue }
            refuse(request.operation, for: client, on: index, because: .peripheralDisconnected, at: now)
        }
        phones[index].requests.removeAll()
    }

    private func prepareAnswer(
        to operation: BluetoothOperation,
        _ payload: EventPayload,
        for client: BluetoothClient,
        on index: Int,
        at now: Instant
    ) {
        schedule.add(.report(answer(to: operation, payload, for: client, on: index)), at: now)
    }

    private func answer(
        to operation: BluetoothOperation,
        _ payload: EventPayload,
        for client: BluetoothClient,
        on index: Int
    ) -> SourceReport {
        let subject = subject(of: operation.attribute, on: index)
        return answer(to: operation, on: phones[index].name, payload, subject: subject, for: client)
    }

    /// What records call the attribute of a handle; nil where it was not found yet.
    private func subject(of handle: AttributeHandle, on index: Int) -> NameID? {
        let uuid = phones[index].uuids[handle] ?? phones[index].known.uuid(at: handle)
        return uuid.map { names.intern("\(phones[index].device)/\($0)") }
    }

    // MARK: Subscribing

    /// Takes a client off a characteristic. True when others hear its values still: the phone goes on sending them.
    private func takeOff(_ client: BluetoothClient, from handle: AttributeHandle, of index: Int) -> Bool {
        phones[index].subscribers[handle]?.removeAll { $0 == client }
        return phones[index].isHeard(handle)
    }

    /// A client is gone, and wants no values any more.
    func unsubscribe(_ client: BluetoothClient, from index: Int, at now: Instant) {
        for (handle, clients) in phones[index].subscribers.sorted(by: { $0.key < $1.key })
        where clients.contains(client) && !takeOff(client, from: handle, of: index) {
            enqueue(.setNotify(handle, false), for: nil, on: index, at: now)
        }
    }

    // MARK: Hearing

    /// Something came from a phone. What it says over a link waits while it is out of reach.
    func hear(_ message: AirMessage, from phone: String, at now: Instant) {
        for index in phones.indices where phones[index].phone == phone {
            switch message {
            case .gone(let suddenly): gone(index, suddenly: suddenly, at: now)
            case .advertises(let advertisement):
                phones[index].advertisement = advertisement
                if advertisement != nil {
                    appeared(index, at: now)
                } else if phones[index].link == .connecting {
                    cancelAttempt(at: index)
                }
            case .accepted, .refused, .answered, .notified, .servicesChanged:
                if phones[index].inRange {
                    take(message, of: index, at: now)
                } else {
                    phones[index].unheard.append(message)
                }
            case .appeared, .connects, .asks, .left: break
            }
        }
    }

    private func gone(_ index: Int, suddenly: Bool, at now: Instant) {
        phones[index].advertisement = nil
        switch phones[index].link {
        case .down: break
        case .connecting: cancelAttempt(at: index)
        case .up where suddenly: planLoss(of: index, at: now)
        case .up: linkDown(index, because: .peripheralDisconnected, at: now)
        }
    }

    /// Takes what a phone says over a link; what it says over another than the present one means nothing.
    private func take(_ message: AirMessage, of index: Int, at now: Instant) {
        let (number, isUp) = (phones[index].number, phones[index].link == .up)
        switch message {
        case .accepted(number, let mtu) where phones[index].link == .connecting: linkUp(index, mtu: mtu, at: now)
        case .refused(number, let failure) where isUp: linkDown(index, because: failure, at: now)
        case .refused(number, _) where phones[index].link == .connecting: cancelAttempt(at: index)
        case .answered(number, let request, let payload) where isUp: answered(request, payload, on: index, at: now)
        case .notified(number, let handle, let value) where isUp && phones[index].isHeard(handle):
            let notified = event(
                .characteristicNotified,
                of: phones[index].name,
                attribute: handle,
                subject: subject(of: handle, on: index)
            )
            report?(SourceReport(notified, .value(value)))
        case .servicesChanged(number, let range) where isUp: servicesChanged(range, of: index)
        default: break
        }
    }

    private func answered(_ number: UInt64, _ payload: EventPayload, on index: Int, at now: Instant) {
        guard let request = phones[index].requests.first, request.number == number else { return }
        phones[index].requests.removeFirst()
        note(payload, on: index)
        switch (request.operation, payload) {
        case (.setNotify(let handle, true), .notifying):
            if let client = request.client {
                phones[index].subscribers[handle, default: []].removeAll { $0 == client }
                phones[index].subscribers[handle, default: []].append(client)
            } else if !phones[index].isHeard(handle) {
                enqueue(.setNotify(handle, false), for: nil, on: index, at: now)
            }
        default: break
        }
        if let client = request.client {
            phones[index].found.add(payload, of: client)
            report?(answer(to: request.operation, payload, for: client, on: index))
        }
        planToAsk(index, at: now)
    }

    /// Keeps what attributes are called.
    private func note(_ payload: EventPayload, on index: Int) {
        switch payload {
        case .services(let services): for each in services { phones[index].uuids[each.handle] = each.uuid }
        case .characteristics(let found): for each in found { phones[index].uuids[each.handle] = each.uuid }
        case .descriptors(let found): for each in found { phones[index].uuids[each.handle] = each.uuid }
        default: break
        }
    }

    private func servicesChanged(_ range: ClosedRange<AttributeHandle>?, of index: Int) {
        guard let range else {
            report?(SourceReport(event(.servicesModified, of: phones[index].name), .handles([])))
            return
        }
        phones[index].subscribers = phones[index].subscribers.filter { !range.contains($0.key) }
        phones[index].found.remove(range)
        let changed = event(
            .servicesModified,
            of: phones[index].name,
            attribute: range.lowerBound,
            local: UInt32(range.upperBound)
        )
        report?(SourceReport(changed, .handles([range.lowerBound])))
    }

    // MARK: Range

    /// A phone leaves this one's reach, or comes back. A link is lost when the supervision timeout has passed.
    func simulateRange(_ index: Int, inRange: Bool, at now: Instant) {
        guard phones[index].inRange != inRange else { return }
        phones[index].inRange = inRange
        switch (inRange, phones[index].link) {
        case (false, .down): break
        case (false, .connecting):
            air?.say(.left(link: phones[index].number, .connectionTimeout), to: phones[index].phone)
            cancelAttempt(at: index)
        case (false, .up): planLoss(of: index, at: now)
        case (true, .up):
            // The packets come again before the timeout: the link lives on.
            phones[index].lossPlan = 0
            let unheard = phones[index].unheard
            phones[index].unheard.removeAll()
            for message in unheard { take(message, of: index, at: now) }
            planToAsk(index, at: now)
        case (true, .down), (true, .connecting): appeared(index, at: now)
        }
    }

    // MARK: What is known

    static let heardKinds: [EventKind] = [
        .peripheralDiscovered, .peripheralConnected, .servicesDiscovered, .characteristicsDiscovered, .servicesModified,
    ]

    /// Something of a phone was accepted: what its apps have been told is known from now on, a journal read back included.
    func note(accepted event: WakeEvent, _ payload: EventPayload) {
        guard let index = position(of: event.peripheral) else { return }
        switch (event.kind, payload) {
        case (.peripheralDiscovered, .advertisement(let advertisement)):
            phones[index].wasDiscovered = true
            if let name = advertisement.localName { phones[index].known.name = name }
        case (.peripheralConnected, _): phones[index].wasConnected = true
        case (.servicesDiscovered, .services(let services)): phones[index].known.add(services)
        case (.characteristicsDiscovered, .characteristics(let found)): phones[index].known.add(found)
        case (.servicesModified, _):
            if let void = event.voidHandles { phones[index].known.remove(void) }
        default: break
        }
    }
}

extension KnownPeripheral {
    fileprivate func uuid(at handle: AttributeHandle) -> String? {
        services.first { $0.handle == handle }?.uuid ?? characteristics.first { $0.handle == handle }?.uuid
    }
}

extension OtherPhone: SnapshotPart {
    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&inRange)
        try coder.code(&wasDiscovered)
        try coder.code(&wasConnected)
        try coder.code(&known.name)
        try coder.code(&known.services)
        try coder.code(&known.characteristics)
    }
}
