import WakeCaptures
import WakeDevices
import WakeModel

/// Why a link ends, as an error code of the Core Specification, volume 1, part F.
enum LinkEnd: UInt8 {
    case timeout = 0x08
    case remoteTerminated = 0x13
    case localTerminated = 0x16
}

/// What the phone is to centrals as its stack would have logged it: advertisements, links, and what they ask and get.
extension SimulatedPeripheralRole {
    private func address(_ index: Int) -> [UInt8] { centrals[index].description.address }

    private func exchange(_ index: Int) -> AttributeExchange { AttributeExchange(mtu: centrals[index].description.mtu) }

    func traceAdvertisement(at now: Instant) {
        guard let trace else { return }
        trace.advertise(advertisement.map(Advertisement.init), at: now)
    }

    func traceLink(_ index: Int, at now: Instant) {
        guard let trace else { return }
        let interval = UInt16(clamping: centrals[index].description.interval.nanoseconds / 1_250_000)
        let timeout = UInt16(clamping: Self.supervisionTimeout.nanoseconds / 10_000_000)
        let timing = HCITrace.Parameters(interval: interval, latency: 0, supervisionTimeout: timeout)
        trace.accepted(from: address(index), timing, at: now)
        let mtu = centrals[index].description.mtu
        tracePackets(
            [AttributeExchange.agreeing(client: mtu, server: SimulatedBluetooth.offeredMTU)],
            with: index,
            at: now
        )
    }

    func traceEnd(of index: Int, because reason: LinkEnd, at now: Instant) {
        centrals[index].asked = nil
        trace?.disconnected(address(index), reason: reason.rawValue, at: now)
    }

    /// What the central's step asks goes out; the answer to the last of it comes when the phone gives it.
    func traceQuestion(of index: Int, at now: Instant) {
        guard trace != nil, let action = centrals[index].action else { return }
        handles.update(attributes.published)
        if case .discover = action {
            let rounds = handles.discovering(exchange(index), common: SimulatedBluetooth.common)
            return tracePackets(rounds, with: index, at: now)
        }
        guard let (handle, rounds) = question(action, of: index), let last = rounds.last else { return }
        tracePackets(rounds.dropLast(), with: index, at: now)
        trace?.attribute(last.request, with: address(index), fromPhone: false, at: now)
        if last.response != nil { centrals[index].asked = (last.request, handle) }
    }

    private func question(
        _ action: BluetoothCentral.Action,
        of index: Int
    ) -> (AttributeHandle, [AttributeExchange.Round])? {
        let exchange = exchange(index)
        func place(_ uuid: String) -> (LocalCharacteristic, PhoneHandles.Characteristic)? {
            guard let member = attributes.characteristic(uuid) else { return nil }
            return handles.handles(of: member.client, member.characteristic.number).map { (member.characteristic, $0) }
        }
        func configuring(_ uuid: String, _ value: (CharacteristicProperties) -> UInt8) -> (
            AttributeHandle, [AttributeExchange.Round]
        )? {
            guard let (characteristic, found) = place(uuid), let handle = found.configuration else { return nil }
            return (handle, exchange.writing(handle, value: [value(characteristic.flags), 0]))
        }
        switch action {
        case .read(let uuid):
            guard let handle = place(uuid)?.1.value else { return nil }
            let offset = centrals[index].readSoFar.count
            let head = [offset == 0 ? 0x0A : 0x0C] + AttributeExchange.word(handle)
            let request = offset == 0 ? head : head + AttributeExchange.word(UInt16(clamping: offset))
            return (handle, [.init(request: request, response: [])])
        case .write(let uuid, let value, let kind):
            guard let handle = place(uuid)?.1.value else { return nil }
            switch kind {
            case .request: return (handle, exchange.writing(handle, value: value))
            case .prepared: return (handle, exchange.preparing(handle, value: value))
            case .command: return (handle, [exchange.commanding(handle, value: value)])
            }
        case .subscribe(let uuid, let indications):
            return configuring(uuid) { flags in
                indications && flags.contains(.indicate) || !flags.contains(.notify) ? 2 : 1
            }
        case .unsubscribe(let uuid): return configuring(uuid) { _ in 0 }
        case .wait, .connect, .discover, .awaitValues, .exchange, .disconnect: return nil
        }
    }

    /// The phone's answer to what was asked last.
    func traceAnswer(to index: Int, _ result: UInt8, _ value: [UInt8], at now: Instant) {
        guard let trace, let (request, handle) = centrals[index].asked else { return }
        centrals[index].asked = nil
        let opcode = request[0]
        let response: [UInt8] =
            switch opcode {
            case _ where result != AttributeError.success: [0x01, opcode] + AttributeExchange.word(handle) + [result]
            // Read and Read Blob bring a value.
            case 0x0A, 0x0C: [opcode + 1] + value.prefix(centrals[index].description.mtu - 1)
            default: [opcode + 1]
            }
        trace.attribute(response, with: address(index), fromPhone: true, at: now)
    }

    /// A value that the phone sends of itself has arrived.
    func traceValue(_ sent: SimulatedCentral.Outgoing, to index: Int, isConfirmed: Bool, at now: Instant) {
        guard let trace else { return }
        handles.update(attributes.published)
        let subscription = sent.subscription
        guard let found = handles.handles(of: subscription.client, subscription.characteristic) else { return }
        let round =
            subscription.indications
            ? exchange(index).indicating(found.value, value: sent.value)
            : exchange(index).notifying(found.value, value: sent.value)
        trace.attribute(round.request, with: address(index), fromPhone: true, at: now)
        if let response = round.response, isConfirmed {
            trace.attribute(response, with: address(index), fromPhone: false, at: now)
        }
    }

    /// What a central asks, and the phone answers at once.
    private func tracePackets(_ rounds: some Sequence<AttributeExchange.Round>, with index: Int, at now: Instant) {
        for round in rounds {
            trace?.attribute(round.request, with: address(index), fromPhone: false, at: now)
            if let response = round.response {
                trace?.attribute(response, with: address(index), fromPhone: true, at: now)
            }
        }
    }
}

extension Advertisement {
    /// What a phone says on the air.
    fileprivate init(_ phone: PhoneAdvertisement) {
        let company = [UInt8(truncatingIfNeeded: OverflowArea.company), UInt8(OverflowArea.company >> 8)]
        self.init(
            localName: phone.localName,
            services: phone.services,
            manufacturerData: phone.overflow.isEmpty ? nil : company + [OverflowArea.type] + phone.overflow.bytes
        )
    }
}
