import WakeBlueZ
import WakeBus
import WakeModel

/// Operations on attributes, and notifications counted over clients.
extension BlueZBluetooth {
    // MARK: Asking

    func operate(_ operation: BluetoothOperation, for client: BluetoothClient, on name: NameID) {
        guard let peripheral = peripherals[name], peripheral.isConnected(client) else {
            prepare { [self] in refuse(operation, for: client, on: name, because: .notConnected) }
            return
        }
        guard peripheral.waiting.count < Self.requestLimit else {
            let full = BluetoothFailure(domain: .att, code: 17, message: "Resources are insufficient.")
            prepare { [self] in refuse(operation, for: client, on: name, because: full) }
            return
        }
        if operation.commandValue != nil, !takesCommand(of: client, peripheral) { return }
        // A link is up before its attributes are known; what is asked earlier would find some of them, or none.
        peripheral.waiting.append(.init(client: client, operation: operation))
        guard peripheral.isResolved else { return }
        let link = peripheral.link
        prepare { [self] in
            if peripheral.link == link { carryOutWaiting(peripheral) }
        }
    }

    /// A write command that finds the client's queue full is lost.
    private func takesCommand(of client: BluetoothClient, _ peripheral: BlueZPeripheral) -> Bool {
        peripheral.holder(client).map { peripheral.holders[$0].writes.take() } ?? false
    }

    /// bluetoothd took a write command, or will not: nothing says so but that there is room again.
    private func commandLeft(_ client: BluetoothClient, _ peripheral: BlueZPeripheral, link: Int) {
        guard peripheral.link == link, let place = peripheral.holder(client),
            peripheral.holders[place].writes.leave()
        else { return }
        say(event(.readyToWrite, of: peripheral.name, client: client))
    }

    func refuse(
        _ operation: BluetoothOperation,
        for client: BluetoothClient,
        on name: NameID,
        because failure: BluetoothFailure
    ) {
        guard operation.commandValue == nil else { return }
        let refused = answer(to: operation, on: name, .failure(failure), for: client)
        say(refused.event, refused.payload)
    }

    /// The attribute table is complete, for the first time on this link or anew.
    func attributesKnown(_ peripheral: BlueZPeripheral) {
        guard peripheral.isUp else { return }
        let (gone, came) = peripheral.take(adapter.attributes(of: peripheral.id))
        if peripheral.isResolved { tellChange(of: peripheral, gone: gone, came: came) }
        peripheral.isResolved = true
        carryOutWaiting(peripheral)
    }

    private func tellChange(of peripheral: BlueZPeripheral, gone: [ClosedRange<AttributeHandle>], came: Bool) {
        for range in gone {
            peripheral.subscriptions.removeAll { range.contains($0.handle) }
            peripheral.found.remove(range)
            let changed = event(
                .servicesModified,
                of: peripheral.name,
                attribute: range.lowerBound,
                local: UInt32(range.upperBound)
            )
            say(changed, .handles([range.lowerBound]))
        }
        if gone.isEmpty, came { say(event(.servicesModified, of: peripheral.name), .handles([])) }
    }

    private func carryOutWaiting(_ peripheral: BlueZPeripheral) {
        while peripheral.isResolved, !peripheral.waiting.isEmpty {
            let request = peripheral.waiting.removeFirst()
            carryOut(request.operation, for: request.client, on: peripheral)
        }
    }

    // MARK: Carrying out

    private func carryOut(
        _ operation: BluetoothOperation,
        for client: BluetoothClient,
        on peripheral: BlueZPeripheral
    ) {
        let wants = { [names] (wanted: [NameID], uuid: String) in
            wanted.isEmpty || names.known(uuid).map(wanted.contains) == true
        }
        switch operation {
        case .discoverServices(let wanted):
            let found = peripheral.services.filter { $0.primary && wants(wanted, $0.uuid) }
            answer(operation, client, peripheral, .services(found))
        case .discoverIncludedServices: answer(operation, client, peripheral, .services([]))
        case .discoverCharacteristics(let service, let wanted):
            let found = peripheral.characteristics.filter { $0.service == service && wants(wanted, $0.uuid) }
            answer(operation, client, peripheral, .characteristics(found))
        case .discoverDescriptors(let characteristic):
            let found = peripheral.descriptors.filter { $0.characteristic == characteristic }
            answer(operation, client, peripheral, .descriptors(found))
        case .read(let handle):
            let answered = answering(operation, client, peripheral) { .value($0) }
            securely(handle, peripheral, then: answered) { [adapter] in
                adapter.read(peripheral.id, handle, completion: $0)
            }
        case .write(let handle, let value, let withResponse):
            let link = peripheral.link
            let answered =
                withResponse
                ? answering(operation, client, peripheral) { _ in .none }
                : { [weak self] _ in self?.commandLeft(client, peripheral, link: link) }
            securely(handle, peripheral, then: answered) { [adapter] in
                adapter.write(peripheral.id, handle, value, withResponse: withResponse, completion: $0)
            }
        case .setNotify(let handle, true): subscribe(client, to: handle, peripheral)
        case .setNotify(let handle, false):
            unsubscribe(client, from: handle, peripheral)
            answer(operation, client, peripheral, .notifying(false))
        case .readDescriptor(let handle):
            let answered = answering(operation, client, peripheral) { .value($0) }
            adapter.readDescriptor(peripheral.id, handle, completion: answered)
        case .writeDescriptor(let handle, let value):
            let answered = answering(operation, client, peripheral) { _ in .none }
            adapter.writeDescriptor(peripheral.id, handle, value, completion: answered)
        case .openChannel(let psm): openChannel(psm, for: client, on: peripheral)
        case .readSignalStrength:
            let strength = adapter.advertisement(of: peripheral.id)?.signalStrength.flatMap { Int16(exactly: $0) }
            answer(operation, client, peripheral, .signalStrength(strength ?? 127))
        }
    }

    /// Handles of attributes that are not there are refused, each other answer names its subject.
    func answer(
        _ operation: BluetoothOperation,
        _ client: BluetoothClient,
        _ peripheral: BlueZPeripheral,
        _ payload: EventPayload,
        local: UInt32 = 0
    ) {
        let uuid = operation.attribute == 0 ? nil : peripheral.uuid(of: operation.attribute)
        let payload = operation.attribute != 0 && uuid == nil ? .failure(.invalidHandle) : payload
        let subject = uuid.map { air.name(peripheral.word, $0, orElse: peripheral.name) }
        peripheral.found.add(payload, of: client)
        let answered = answer(to: operation, on: peripheral.name, payload, local: local, subject: subject, for: client)
        say(answered.event, answered.payload)
    }

    private func answering(
        _ operation: BluetoothOperation,
        _ client: BluetoothClient,
        _ peripheral: BlueZPeripheral,
        _ payload: @escaping ([UInt8]) -> EventPayload
    ) -> (BlueZAdapter.Outcome) -> Void {
        { [weak self] outcome in
            // A client that let go meanwhile waits for nothing.
            guard let self, peripheral.holder(client) != nil else { return }
            switch outcome {
            case .success(let value): answer(operation, client, peripheral, payload(value))
            case .failure(let error): answer(operation, client, peripheral, .failure(Self.failure(error)))
            }
        }
    }

    /// Carries out an operation, and once more when the device wants to be paired with first, as iOS does.
    private func securely(
        _ handle: AttributeHandle,
        _ peripheral: BlueZPeripheral,
        then finish: @escaping (BlueZAdapter.Outcome) -> Void,
        _ attempt: @escaping (@escaping (BlueZAdapter.Outcome) -> Void) -> Void
    ) {
        let link = peripheral.link
        attempt { [weak self] outcome in
            guard let self, Self.wantsPairing(outcome), peripheral.link == link else { return finish(outcome) }
            adapter.pair(peripheral.id) { [weak self] refused in
                guard let self, peripheral.link == link else { return finish(.failure(BlueZAdapter.linkGone)) }
                let refusal = BlueZAdapter.Outcome.failure(insecure(handle, peripheral))
                guard refused == nil else { return finish(refusal) }
                attempt { finish(Self.wantsPairing($0) ? refusal : $0) }
            }
        }
    }

    /// bluetoothd says "Not paired" where authentication is missing, and where encryption is.
    private static func wantsPairing(_ outcome: BlueZAdapter.Outcome) -> Bool {
        guard case .failure(let error) = outcome else { return false }
        return error.kind == "NotPermitted" && error.message == "Not paired"
    }

    /// What the device would say: its file knows which of the two it was.
    private func insecure(_ handle: AttributeHandle, _ peripheral: BlueZPeripheral) -> BusError {
        let needed = peripheral.uuid(of: handle).flatMap { peripheral.security[$0] }
        return BusError(
            name: "org.bluez.Error.Failed",
            message: "Operation failed with ATT error: \(needed == .authenticated ? "0x05" : "0x0f")"
        )
    }

    /// BlueZ's errors in Apple's domains. What the device itself answered comes as `ATT error: 0xNN` in the message.
    static func failure(_ error: BusError) -> BluetoothFailure {
        switch error.kind {
        case "NotConnected", "Disconnected": return .peripheralDisconnected
        case "DoesNotExist", "UnknownObject", "UnknownMethod", "UnknownInterface": return .invalidHandle
        case "NotPermitted":
            let isRead = error.message.hasPrefix("Read")
            return BluetoothFailure(domain: .att, code: isRead ? 2 : 3, message: error.message)
        case "NotAuthorized": return BluetoothFailure(domain: .att, code: 8, message: error.message)
        case "InvalidValueLength": return BluetoothFailure(domain: .att, code: 13, message: error.message)
        case "InvalidOffset": return BluetoothFailure(domain: .att, code: 7, message: error.message)
        case "NotSupported": return BluetoothFailure(domain: .att, code: 6, message: error.message)
        default:
            let parts = error.message.split(separator: " ")
            let code = parts.last.flatMap { $0.hasPrefix("0x") ? Int32($0.dropFirst(2), radix: 16) : nil }
            return BluetoothFailure(domain: .att, code: code ?? 14, message: error.message)
        }
    }

    // MARK: Notifications

    private func subscribe(_ client: BluetoothClient, to handle: AttributeHandle, _ peripheral: BlueZPeripheral) {
        let operation = BluetoothOperation.setNotify(handle, true)
        guard let characteristic = peripheral.characteristics.first(where: { $0.handle == handle }) else {
            return answer(operation, client, peripheral, .failure(.invalidHandle))
        }
        guard characteristic.properties & 0x30 != 0 else {
            let refused = BluetoothFailure(domain: .att, code: 6, message: "The request is not supported.")
            return answer(operation, client, peripheral, .failure(refused))
        }
        if let place = peripheral.subscriptions.firstIndex(where: { $0.handle == handle }) {
            if !peripheral.subscriptions[place].clients.contains(client) {
                peripheral.subscriptions[place].clients.append(client)
            }
            switch peripheral.subscriptions[place].state {
            case .on: answer(operation, client, peripheral, .notifying(true))
            case .starting, .stopping: peripheral.subscriptions[place].asking.append(client)
            }
            return
        }
        peripheral.subscriptions.append(.init(handle: handle, clients: [client], asking: [client], state: .starting))
        startNotifying(handle, peripheral, stream: peripheral.streams.contains(characteristic.uuid))
    }

    private func startNotifying(_ handle: AttributeHandle, _ peripheral: BlueZPeripheral, stream: Bool) {
        let link = peripheral.link
        adapter.startNotifying(peripheral.id, handle, stream: stream) { [weak self] outcome in
            guard let self, peripheral.link == link,
                let place = peripheral.subscriptions.firstIndex(where: { $0.handle == handle })
            else { return }
            let asking = peripheral.subscriptions[place].asking
            peripheral.subscriptions[place].asking.removeAll()
            peripheral.subscriptions[place].state = .on
            var payload = EventPayload.notifying(true)
            if case .failure(let error) = outcome {
                payload = .failure(Self.failure(error))
                peripheral.subscriptions.remove(at: place)
            }
            for client in asking where peripheral.holder(client) != nil {
                answer(.setNotify(handle, true), client, peripheral, payload)
            }
            if case .success = outcome { stopWhenUnused(handle, peripheral) }
        }
    }

    func unsubscribe(_ client: BluetoothClient, from handle: AttributeHandle, _ peripheral: BlueZPeripheral) {
        guard let place = peripheral.subscriptions.firstIndex(where: { $0.handle == handle }) else { return }
        peripheral.subscriptions[place].clients.removeAll { $0 == client }
        peripheral.subscriptions[place].asking.removeAll { $0 == client }
        stopWhenUnused(handle, peripheral)
    }

    private func stopWhenUnused(_ handle: AttributeHandle, _ peripheral: BlueZPeripheral) {
        guard let place = peripheral.subscriptions.firstIndex(where: { $0.handle == handle }),
            peripheral.subscriptions[place].state == .on, peripheral.subscriptions[place].clients.isEmpty
        else { return }
        peripheral.subscriptions[place].state = .stopping
        let link = peripheral.link
        adapter.stopNotifying(peripheral.id, handle) { [weak self] in
            guard let self, peripheral.link == link,
                let place = peripheral.subscriptions.firstIndex(where: { $0.handle == handle })
            else { return }
            guard !peripheral.subscriptions[place].clients.isEmpty else {
                peripheral.subscriptions.remove(at: place)
                return
            }
            // Somebody subscribed while it was being ended.
            peripheral.subscriptions[place].state = .starting
            let uuid = peripheral.uuid(of: handle) ?? ""
            startNotifying(handle, peripheral, stream: peripheral.streams.contains(uuid))
        }
    }

    func notified(
        _ peripheral: BlueZPeripheral,
        _ handle: AttributeHandle,
        _ value: [UInt8],
        _ path: BlueZNotificationPath
    ) {
        guard let uuid = peripheral.uuid(of: handle) else { return }
        let notification = event(
            .characteristicNotified,
            of: peripheral.name,
            attribute: handle,
            subject: air.name(peripheral.word, uuid, orElse: peripheral.name),
            origin: names.intern("\(backend):\(path.rawValue)")
        )
        say(notification, .value(value))
    }
}
