import WakeDevices
import WakeModel
import WakePorts

/// Other phones of the bench as centrals: what their apps do comes over the air that the phones share, and is answered over it.
///
/// A link is forgotten when this phone is switched off; the router lets go of those who were subscribed then.
extension SimulatedPeripheralRole {
    /// A phone of the bench is a central, too.
    @discardableResult
    func addPhone(_ phone: String, named name: String) -> Int {
        var central = SimulatedCentral(name, .phone, names: names, seed: seed, phone: phone)
        central.activity = .done
        centrals.append(central)
        return centrals.count - 1
    }

    /// The central that a phone is. One that the scenario does not name goes by what the bench calls it.
    private func central(of phone: String) -> Int {
        if let index = centrals.firstIndex(where: { $0.phone == phone }) { return index }
        return addPhone(phone, named: deviceNames.contains(phone) ? "phone \(phone)" : phone)
    }

    private func say(_ message: AirMessage, to index: Int) {
        if let phone = centrals[index].phone { radio?.air?.say(message, to: phone) }
    }

    /// Tells a phone what this one advertises, as far as that reaches it.
    func advertise(to phone: String) {
        let isHeard = centrals.first { $0.phone == phone }?.inRange ?? true
        radio?.air?.say(.advertises(isHeard ? advertisement : nil), to: phone)
    }

    // MARK: Hearing

    func hear(_ message: AirMessage, from phone: String, at now: Instant) {
        switch message {
        case .appeared: advertise(to: phone)
        case .gone(let suddenly):
            guard let index = centrals.firstIndex(where: { $0.phone == phone }) else { return }
            if suddenly, centrals[index].isUp {
                centrals[index].lossDue = now.advanced(by: Self.supervisionTimeout)
            } else {
                linkDown(index, at: now)
            }
        case .connects(let link): connect(link, central(of: phone), at: now)
        case .left(let link, let failure):
            let index = central(of: phone)
            guard centrals[index].link == link else { return }
            centrals[index].link = nil
            linkDown(index, because: failure == .connectionTimeout ? .timeout : .remoteTerminated, at: now)
        case .asks(let link, let request, let said):
            let index = central(of: phone)
            guard centrals[index].link == link, centrals[index].isUp else { return }
            centrals[index].unheard.append(.init(number: request, said: said))
            if centrals[index].inRange { answerPhone(index, at: now) }
        case .advertises, .accepted, .refused, .answered, .notified, .servicesChanged: break
        }
    }

    private func connect(_ link: UInt64, _ index: Int, at now: Instant) {
        guard advertisement != nil, centrals[index].inRange else {
            return say(.refused(link: link, .connectionTimeout), to: index)
        }
        linkDown(index, at: now)
        handles.update(attributes.published)
        centrals[index].isUp = true
        centrals[index].link = link
        say(.accepted(link: link, mtu: centrals[index].description.mtu), to: index)
    }

    /// The link to a phone is gone: it is told, unless it was the one that said so.
    func endPhoneLink(_ index: Int, because reason: LinkEnd) {
        centrals[index].question = nil
        centrals[index].unheard.removeAll()
        guard let link = centrals[index].link else { return }
        centrals[index].link = nil
        say(.refused(link: link, reason == .timeout ? .connectionTimeout : .peripheralDisconnected), to: index)
    }

    // MARK: Answering

    /// Takes up what a phone in reach asked, and sends what waited for it.
    func answerPhone(_ index: Int, at now: Instant) {
        let questions = centrals[index].unheard
        centrals[index].unheard.removeAll()
        for question in questions { ask(question, index, at: now) }
        if centrals[index].arrival == .distantFuture { planArrival(index, after: now) }
    }

    /// A phone asks for something; what no app needs to be asked about is answered at once.
    private func ask(_ question: SimulatedCentral.Question, _ index: Int, at now: Instant) {
        centrals[index].question = question
        centrals[index].readSoFar = []
        handles.update(attributes.published)
        let wanted = question.said.wanted
        switch question.said.operation {
        case .discoverServices: reply(.services(handles.services(wanted)), to: index)
        case .discoverIncludedServices(let handle, _):
            reply(.services(handles.services(includedBy: handle, wanted)), to: index)
        case .discoverCharacteristics(let handle, _):
            guard case .service? = handles.attribute(at: handle) else {
                return fail(AttributeError.invalidHandle, index)
            }
            reply(.characteristics(handles.characteristics(ofService: handle, wanted)), to: index)
        case .discoverDescriptors(let handle):
            reply(.descriptors(handles.descriptors(ofCharacteristic: handle)), to: index)
        case .read(let handle): with(handle, index) { read($0, index, at: now) }
        case .write(let handle, let value, let withResponse):
            with(handle, index) { write(value, to: $0, withResponse: withResponse, index, at: now) }
        case .setNotify(let handle, let on):
            with(handle, index) { on ? subscribe($0, index, at: now) : unsubscribe($0, index, at: now) }
        case .readDescriptor(let handle): readDescriptor(handle, index)
        // What apps publish of descriptors is fixed, and the configuration is written by subscribing.
        case .writeDescriptor: fail(AttributeError.writeNotPermitted, index)
        case .openChannel, .readSignalStrength: fail(0x06, index)
        }
    }

    private func with(_ handle: AttributeHandle, _ index: Int, _ body: (LocalAttributes.Member) -> Void) {
        guard case .characteristic(let member)? = handles.attribute(at: handle) else {
            return fail(AttributeError.invalidHandle, index)
        }
        body(member)
    }

    private func reply(_ payload: EventPayload, to index: Int) {
        guard let link = centrals[index].link, let question = centrals[index].question else { return }
        centrals[index].question = nil
        say(.answered(link: link, request: question.number, payload), to: index)
    }

    private func fail(_ error: UInt8, _ index: Int) {
        let failure = BluetoothFailure(domain: .att, code: Int32(error), message: AttributeErrorName.message(of: error))
        reply(.failure(failure), to: index)
    }

    private func read(_ member: LocalAttributes.Member, _ index: Int, at now: Instant) {
        let characteristic = member.characteristic
        guard characteristic.isReadable else { return fail(AttributeError.readNotPermitted, index) }
        if let value = characteristic.value {
            if clients.notServing.contains(member.client) { return fail(AttributeError.unlikely, index) }
            return reply(.value(value), to: index)
        }
        let number = mintForPhone()
        requests[number] = Request(client: member.client, characteristic: characteristic.number, central: index)
        let asked = event(
            .readRequested,
            member.client,
            characteristic.number,
            characteristic.uuid,
            by: index,
            request: number
        )
        prepare(asked, .readRequest(offset: UInt16(clamping: centrals[index].readSoFar.count)), at: now)
    }

    private func write(
        _ value: [UInt8],
        to member: LocalAttributes.Member,
        withResponse: Bool,
        _ index: Int,
        at now: Instant
    ) {
        let characteristic = member.characteristic
        guard characteristic.isWriteable(withResponse: withResponse) else {
            // Nobody says that a command was not obeyed.
            return withResponse ? fail(AttributeError.writeNotPermitted, index) : ()
        }
        let room = withResponse ? 512 : WriteQueue.longest(mtu: centrals[index].description.mtu)
        guard value.count <= room else { return withResponse ? fail(0x0D, index) : () }
        let number = mintForPhone()
        if withResponse {
            requests[number] = Request(client: member.client, characteristic: characteristic.number, central: index)
        }
        let asked = event(
            .writeRequested,
            member.client,
            characteristic.number,
            characteristic.uuid,
            by: index,
            request: number
        )
        let write = LocalWrite(characteristic: characteristic.number, offset: 0, value: value)
        prepare(asked, .writeRequests([write]), at: now)
    }

    /// The next number of a request of a phone.
    private func mintForPhone() -> UInt32 {
        lastPhoneRequest = lastPhoneRequest == .max ? 1 << 31 : lastPhoneRequest + 1
        return lastPhoneRequest
    }

    /// An app answered a phone's request, or cannot any more.
    func answer(_ request: Request, _ result: UInt8, _ value: [UInt8], at now: Instant) {
        let index = request.central
        guard let question = centrals[index].question else { return }
        guard case .read(let handle) = question.said.operation else {
            return result == AttributeError.success ? reply(.none, to: index) : fail(result, index)
        }
        let piece = centrals[index].description.mtu - 1
        if result == AttributeError.success {
            centrals[index].readSoFar += value.prefix(piece)
            // A piece that fills its packet may not be the last; 512 bytes are the longest value there is.
            if value.count >= piece, centrals[index].readSoFar.count < 512 {
                return with(handle, index) { read($0, index, at: now) }
            }
        } else if centrals[index].readSoFar.isEmpty {
            return fail(result, index)
        }
        reply(.value(centrals[index].readSoFar), to: index)
    }

    private func readDescriptor(_ handle: AttributeHandle, _ index: Int) {
        switch handles.attribute(at: handle) {
        case .configuration(let member)?:
            let subscription = centrals[index].subscriptions.first {
                $0.client == member.client && $0.characteristic == member.characteristic.number
            }
            reply(.value([subscription.map { $0.indications ? 2 : 1 } ?? 0, 0]), to: index)
        case .descriptor(let descriptor, let member)?:
            if clients.notServing.contains(member.client) { return fail(AttributeError.unlikely, index) }
            reply(.value(descriptor.value), to: index)
        case .service?, .characteristic?, nil: fail(AttributeError.invalidHandle, index)
        }
    }

    // MARK: Values

    private func subscribe(_ member: LocalAttributes.Member, _ index: Int, at now: Instant) {
        let (client, characteristic) = (member.client, member.characteristic)
        guard characteristic.flags.canNotify else { return fail(0x06, index) }
        let isNew = !centrals[index].subscriptions.contains {
            $0.client == client && $0.characteristic == characteristic.number
        }
        if isNew {
            let subscription = SimulatedCentral.Subscription(
                client: client,
                characteristic: characteristic.number,
                uuid: characteristic.uuid,
                indications: !characteristic.flags.contains(.notify)
            )
            centrals[index].subscriptions.append(subscription)
            let came = event(.centralSubscribed, client, characteristic.number, characteristic.uuid, by: index)
            let length = UInt16(clamping: centrals[index].longestUpdate)
            prepare(came, .central(maximumUpdateLength: length), at: now)
        }
        reply(.notifying(true), to: index)
    }

    private func unsubscribe(_ member: LocalAttributes.Member, _ index: Int, at now: Instant) {
        for subscription in centrals[index].subscriptions
        where subscription.client == member.client && subscription.characteristic == member.characteristic.number {
            centrals[index].subscriptions.removeAll { $0 == subscription }
            dropOutgoing(index, at: now) { $0.subscription == subscription }
            prepareUnsubscribed(index, subscription, at: now)
        }
        reply(.notifying(false), to: index)
    }

    /// A value leaves for a phone; for one out of reach it waits until that is back, or the link is lost.
    func deliver(_ value: SimulatedCentral.Outgoing, to index: Int, at now: Instant) {
        guard centrals[index].inRange else {
            centrals[index].arrival = .distantFuture
            return
        }
        centrals[index].outgoing.removeFirst()
        let subscription = value.subscription
        if let link = centrals[index].link,
            let handle = handles.handles(of: subscription.client, subscription.characteristic)?.declaration
        {
            say(.notified(link: link, handle, value.value), to: index)
        }
        settle(value.update, at: now)
        planArrival(index, after: now)
    }

    // MARK: Services

    /// What apps publish is another thing than before: phones with a link hear what of it is void.
    func tellPhonesOfServices() {
        guard centrals.contains(where: { $0.phone != nil && $0.isUp }) else { return }
        let before = handles.ranges
        handles.update(attributes.published)
        let gone = before.filter { !handles.ranges.contains($0) }
        let came = handles.ranges.contains { !before.contains($0) }
        for index in centrals.indices {
            guard let link = centrals[index].link else { continue }
            for range in gone { say(.servicesChanged(link: link, range), to: index) }
            if gone.isEmpty, came { say(.servicesChanged(link: link, nil), to: index) }
        }
    }

    // MARK: What was accepted

    package var heardKinds: [EventKind] {
        [.bluetoothPoweredOn, .bluetoothPoweredOff, .readRequested, .writeRequested]
    }

    package func hear(_ event: WakeEvent, _ payload: EventPayload, at now: Instant) {
        switch event.kind {
        case .bluetoothPoweredOn, .bluetoothPoweredOff: setPower(event.kind == .bluetoothPoweredOn, at: now)
        // The numbers of a journal that is read back are not given out again.
        default: if event.request > lastPhoneRequest { lastPhoneRequest = event.request }
        }
    }
}
