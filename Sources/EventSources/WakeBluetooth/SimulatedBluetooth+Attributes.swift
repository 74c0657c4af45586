import WakeDevices
import WakeModel
import WakePorts

/// Operations on the attribute table, their answers, and notifications.
extension SimulatedBluetooth {
    /// The most operations that wait for one peripheral.
    private static let requestLimit = 4096

    /// What came of an operation.
    struct Answer {
        var subject: NameID?
        var payload: EventPayload
        /// The number of a channel.
        var local: UInt32 = 0

        static func failure(_ subject: NameID? = nil, code: Int32, _ message: String) -> Answer {
            Answer(subject: subject, payload: .failure(BluetoothFailure(domain: .att, code: code, message: message)))
        }

        /// A handle that the phone has not found.
        static let invalidHandle = Answer(subject: nil, payload: .failure(.invalidHandle))
    }

    // MARK: Asking

    func operate(
        _ operation: BluetoothOperation,
        for client: BluetoothClient,
        on name: NameID,
        at now: Instant
    ) {
        guard let index = position(of: name), peripherals[index].isConnected(client) else {
            refuse(operation, for: client, on: name, because: .notConnected, at: now)
            return
        }
        guard peripherals[index].requests.count < Self.requestLimit else {
            let full = BluetoothFailure(domain: .att, code: 17, message: "Resources are insufficient.")
            refuse(operation, for: client, on: name, because: full, at: now)
            return
        }
        if let value = operation.commandValue {
            send(command: operation, value.count, of: client, to: index, at: now)
            return
        }
        if let patience = peripherals[index].faults.noAnswer {
            // It waits for the end of the link, and fails with it.
            ask(operation, for: client, of: index, at: now)
            if !peripherals[index].faults.unanswered {
                peripherals[index].faults.unanswered = true
                planLoss(of: index, at: now.advanced(by: patience))
            }
            return
        }
        var wait = answerTime(of: index)
        for _ in 1..<requests(for: operation, on: index) { wait = wait + answerTime(of: index) }
        if case .setNotify(_, true) = operation { wait = wait + peripherals[index].faults.lateSubscribeAnswer }
        let answered = max(now, peripherals[index].busyUntil).advanced(by: wait)
        peripherals[index].busyUntil = answered
        peripherals[index].connection.answersEnd = answered
        ask(operation, for: client, of: index, at: now)
        plan(.answer, index, peripherals[index].linkGeneration, answered)
    }

    /// An operation waits for its answer; the first of those that wait is under way.
    private func ask(_ operation: BluetoothOperation, for client: BluetoothClient, of index: Int, at now: Instant) {
        peripherals[index].requests.append(.init(client: client, operation: operation))
        if peripherals[index].requests.count == 1 { traceQuestion(to: index, at: now) }
    }

    private func answerTime(of index: Int) -> Instant.Span {
        let latency = peripherals[index].description.connection.answerLatency
        return peripherals[index].random.span(from: latency.low, to: latency.high)
    }

    /// A write command goes out behind what was asked before. It is lost where the client's queue is full, or where the
    /// peripheral answers nothing.
    private func send(
        command: BluetoothOperation,
        _ count: Int,
        of client: BluetoothClient,
        to index: Int,
        at now: Instant
    ) {
        guard peripherals[index].faults.noAnswer == nil, let place = peripherals[index].holder(client),
            peripherals[index].holders[place].writes.take()
        else { return }
        peripherals[index].requests.append(.init(client: client, operation: command))
        let sent = sendingTime(of: count, to: index, at: now)
        peripherals[index].busyUntil = max(peripherals[index].busyUntil, sent)
        plan(.answer, index, peripherals[index].linkGeneration, sent)
    }

    private func sendingTime(of count: Int, to index: Int, at now: Instant) -> Instant {
        let parameters = peripherals[index].description.connection
        return peripherals[index].connection.send(command: count, at: now, by: parameters)
    }

    /// A write command has gone out. Nothing answers it, but who filled the queue hears that there is room again.
    private func commandLeft(_ client: BluetoothClient, _ index: Int) {
        guard let place = peripherals[index].holder(client), peripherals[index].holders[place].writes.leave() else {
            return
        }
        report?(SourceReport(event(.readyToWrite, of: peripherals[index].nameID, client: client)))
    }

    /// What was asked of a peripheral and not answered fails: its link is gone.
    func failRequests(of index: Int, because failure: BluetoothFailure, at now: Instant) {
        let name = peripherals[index].nameID
        for request in peripherals[index].requests {
            guard let client = request.client else { continue }
            let subject = peripherals[index].table.subject(of: request.operation.attribute)
            refuse(request.operation, for: client, on: name, subject: subject, because: failure, at: now)
        }
        peripherals[index].requests.removeAll()
    }

    private func refuse(
        _ operation: BluetoothOperation,
        for client: BluetoothClient,
        on name: NameID,
        subject: NameID? = nil,
        because failure: BluetoothFailure,
        at now: Instant
    ) {
        guard operation.commandValue == nil else { return }
        prepare(.report(answer(to: operation, on: name, .failure(failure), subject: subject, for: client)), at: now)
    }

    /// The packets come again: what was not answered meanwhile is.
    func resumeAnswers(of index: Int, at now: Instant) {
        guard !peripherals[index].faults.unanswered else { return }
        var answered = max(now, peripherals[index].busyUntil)
        for request in peripherals[index].requests {
            if let value = request.operation.commandValue {
                answered = sendingTime(of: value.count, to: index, at: answered)
            } else {
                answered = answered.advanced(by: answerTime(of: index))
                peripherals[index].connection.answersEnd = answered
            }
            plan(.answer, index, peripherals[index].linkGeneration, answered)
        }
        peripherals[index].busyUntil = answered
    }

    // MARK: Answering

    func answer(_ index: Int, generation: UInt32, at now: Instant) {
        guard peripherals[index].linkGeneration == generation, !peripherals[index].requests.isEmpty else { return }
        // A packet that does not arrive is sent again until the link is lost, or in range.
        guard peripherals[index].inRange else { return }
        if pairs(for: index, at: now) || now < peripherals[index].pairingEnds {
            plan(.answer, index, generation, peripherals[index].pairingEnds)
            return
        }
        if peripherals[index].requests[0].hasPaired { traceSecured(index, at: now) }
        let request = peripherals[index].requests.removeFirst()
        guard let client = request.client else {
            traceUnheardAnswer(to: request.operation, on: index, at: now)
            return traceQuestion(to: index, at: now)
        }
        let answer = carryOut(request.operation, for: client, on: index, at: now)
        traceAnswer(to: request.operation, answer.payload, channel: answer.local, on: index, at: now)
        traceQuestion(to: index, at: now)
        if request.operation.commandValue != nil { return commandLeft(client, index) }
        peripherals[index].found.add(answer.payload, of: client)
        let told = self.answer(
            to: request.operation,
            on: peripherals[index].nameID,
            answer.payload,
            local: answer.local,
            subject: answer.subject,
            for: client
        )
        report?(told)
    }

    private func carryOut(
        _ operation: BluetoothOperation,
        for client: BluetoothClient,
        on index: Int,
        at now: Instant
    ) -> Answer {
        if let refusal = refusal(of: operation, on: index) {
            tellUnpaired(operation, refusal, for: client, on: index, at: now)
            let subject = peripherals[index].table.subject(of: operation.attribute)
            return Answer(subject: subject, payload: .failure(refusal))
        }
        switch operation {
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors:
            peripherals[index].keepTable()
            return discover(operation, in: peripherals[index].table)
        case .read(let handle): return read(handle, of: index, at: now)
        case .write(let handle, let value, let withResponse):
            return write(value, to: handle, of: index, withResponse: withResponse, at: now)
        case .setNotify(let handle, let on): return setNotify(on, handle, of: index, for: client, at: now)
        case .readDescriptor(let handle): return readDescriptor(handle, of: index)
        case .writeDescriptor(let handle, let value): return writeDescriptor(value, to: handle, of: index)
        case .openChannel(let psm):
            let (number, payload) = openChannel(psm, for: client, on: index, at: now)
            return Answer(payload: payload, local: number)
        case .readSignalStrength:
            return Answer(payload: .signalStrength(peripherals[index].advertisement.signalStrength))
        }
    }

    /// What the phone finds in the table that it goes by.
    private func discover(_ operation: BluetoothOperation, in table: SimulatedAttributes) -> Answer {
        switch operation {
        case .discoverServices(let wanted): return Answer(payload: .services(table.found(services: wanted)))
        case .discoverIncludedServices(let handle, _):
            guard let service = table.service(at: handle) else { return .invalidHandle }
            return Answer(subject: table.services[service].subject, payload: .services([]))
        case .discoverCharacteristics(let handle, let wanted):
            guard let service = table.service(at: handle) else { return .invalidHandle }
            let found = table.found(characteristics: wanted, of: service)
            return Answer(subject: table.services[service].subject, payload: .characteristics(found))
        case .discoverDescriptors(let handle):
            guard let characteristic = table.characteristic(at: handle) else { return .invalidHandle }
            let found = table.found(descriptorsOf: characteristic)
            return Answer(subject: table.characteristics[characteristic].subject, payload: .descriptors(found))
        default: return .invalidHandle
        }
    }

    // MARK: Notifying

    /// The positions of a peripheral's characteristics among all of the radio's.
    func numbers(of index: Int) -> Range<Int> {
        let first = peripherals[index].firstCharacteristic
        return first..<first + peripherals[index].attributes.characteristics.count
    }

    func unsubscribe(_ client: BluetoothClient, from number: Int, at now: Instant) {
        characteristics[number].subscribers.removeAll { $0 == client }
        if characteristics[number].subscribers.isEmpty { pauseTimetable(number, at: now) }
    }

    /// Whether a notification would arrive.
    func reachable(_ number: Int) -> Bool {
        let index = characteristics[number].peripheral
        return !characteristics[number].subscribers.isEmpty && peripherals[index].link == .up
            && peripherals[index].inRange
    }

    /// A value goes out: as much of it as a packet holds, and as a fault leaves. Nil where the phone has not found its handle, and drops
    /// it; it is taken for what has that handle in the table that the phone goes by.
    func notification(of number: Int, _ value: [UInt8], origin: NameID, at now: Instant) -> SourceReport? {
        let index = characteristics[number].peripheral
        let place = characteristics[number].position
        var sent = value
        let room = peripherals[index].description.mtu - 3
        if sent.count > room { sent = Array(sent.prefix(room)) }
        if let limit = peripherals[index].faults.cutValues, limit < sent.count { sent = Array(sent.prefix(limit)) }
        traceNotification(of: number, sent, at: now)
        let handle = peripherals[index].attributes.characteristics[place].handle
        var subject = peripherals[index].attributes.characteristics[place].subject
        if peripherals[index].isStale {
            let table = peripherals[index].table
            guard let meant = table.characteristic(at: handle) else { return nil }
            subject = table.characteristics[meant].subject
        }
        let notified = event(
            .characteristicNotified,
            of: peripherals[index].nameID,
            attribute: handle,
            subject: subject,
            origin: origin
        )
        return SourceReport(notified, .value(sent))
    }

    /// One more notification went out; an armed fault may end the link with it.
    func countNotification(of index: Int, at now: Instant) {
        guard let left = peripherals[index].faults.disconnectAfter else { return }
        peripherals[index].faults.disconnectAfter = left > 1 ? left - 1 : nil
        if left <= 1 { linkDown(index, because: .peripheralDisconnected, at: now) }
    }

    // MARK: Timetables

    /// Lets the timetable go on from where it stands, if anybody listens.
    func runTimetable(_ number: Int, at now: Instant) {
        guard characteristics[number].due == nil, reachable(number),
            let pause = characteristics[number].left
                ?? characteristics[number].timetable.pause(before: characteristics[number].place)
        else { return }
        planValue(number, at: now.advanced(by: pause))
    }

    func pauseTimetable(_ number: Int, at now: Instant) {
        guard let due = characteristics[number].due else { return }
        characteristics[number].left = max(.zero, due.since(now))
        characteristics[number].due = nil
        characteristics[number].generation &+= 1
    }

    private func planValue(_ number: Int, at due: Instant) {
        characteristics[number].due = due
        characteristics[number].left = nil
        characteristics[number].generation &+= 1
        plan(.notification, number, characteristics[number].generation, due)
    }

    func timetableDue(_ number: Int, generation: UInt32, at now: Instant) {
        guard characteristics[number].generation == generation, characteristics[number].due != nil,
            let value = characteristics[number].timetable.take(&characteristics[number].place)
        else { return }
        characteristics[number].due = nil
        characteristics[number].value = value
        if let pause = characteristics[number].timetable.pause(before: characteristics[number].place) {
            planValue(number, at: now.advanced(by: pause))
        }
        if let notified = notification(of: number, value, origin: characteristics[number].origin, at: now) {
            report?(notified)
        }
        countNotification(of: characteristics[number].peripheral, at: now)
    }

    /// The timetables of a peripheral stand still for a while.
    func hold(_ index: Int, for span: Instant.Span) {
        for number in numbers(of: index) {
            if let due = characteristics[number].due {
                planValue(number, at: due.advanced(by: span))
            } else if let pause = characteristics[number].left
                ?? characteristics[number].timetable.pause(before: characteristics[number].place)
            {
                characteristics[number].left = pause + span
            }
        }
    }
}

extension BluetoothOperation {
    /// The kind of event that answers it.
    var answerKind: EventKind {
        switch self {
        case .discoverServices: .servicesDiscovered
        case .discoverIncludedServices: .includedServicesDiscovered
        case .discoverCharacteristics: .characteristicsDiscovered
        case .discoverDescriptors: .descriptorsDiscovered
        case .read: .valueRead
        case .write(_, _, let withResponse): withResponse ? .valueWritten : .readyToWrite
        case .setNotify: .notificationStateChanged
        case .readDescriptor: .descriptorRead
        case .writeDescriptor: .descriptorWritten
        case .readSignalStrength: .signalStrengthRead
        case .openChannel: .channelOpened
        }
    }

    /// The handle it is about; 0 for the whole peripheral.
    var attribute: AttributeHandle {
        switch self {
        case .discoverServices, .readSignalStrength, .openChannel: 0
        case .discoverIncludedServices(let handle, _), .discoverCharacteristics(let handle, _),
            .discoverDescriptors(let handle), .read(let handle), .write(let handle, _, _),
            .setNotify(let handle, _), .readDescriptor(let handle), .writeDescriptor(let handle, _):
            handle
        }
    }
}
