import WakeDevices
import WakeModel
import WakePorts

/// Scans, links and what the radio says of them.
extension SimulatedBluetooth {
    // MARK: Saying

    /// Reports as soon as the radio is given time, after what is due before it.
    func prepare(_ event: WakeEvent, _ payload: EventPayload = .none, at now: Instant) {
        prepare(.report(SourceReport(event, payload)), at: now)
    }

    /// Does something as soon as the radio is given time, after what is due before it.
    func prepare(_ what: Prepared, at now: Instant) {
        prepared.append(what)
        plan(.prepared, 0, 0, now)
    }

    func carryOutPrepared() {
        guard preparedDone < prepared.count else { return }
        let what = prepared[preparedDone]
        preparedDone += 1
        if preparedDone == prepared.count {
            prepared.removeAll(keepingCapacity: true)
            preparedDone = 0
        }
        switch what {
        case .report(let made): report?(made)
        case .joined(let index, let client):
            guard let place = peripherals[index].holder(client), peripherals[index].link == .up else { return }
            peripherals[index].holders[place].state = .connected
            report?(SourceReport(event(.peripheralConnected, of: peripherals[index].nameID, client: client)))
            if peripherals[index].isStale { report?(SourceReport(untoldChange(of: index, to: client))) }
        }
    }

    func plan(_ kind: SimulatedTask.Kind, _ index: Int, _ generation: UInt32, _ at: Instant) {
        schedule.add(SimulatedTask(kind: kind, index: Int32(index), generation: generation), at: at)
    }

    // MARK: Scanning

    func scan(_ client: BluetoothClient, services: [NameID], allowDuplicates: Bool, at now: Instant) {
        scans.removeAll { $0.client == client }
        let scan = Scan(
            client: client,
            services: services,
            allowDuplicates: allowDuplicates,
            seen: Array(repeating: false, count: peripherals.count)
        )
        scans.insert(scan, at: scans.firstIndex { $0.client > client } ?? scans.endIndex)
        for index in peripherals.indices { planSighting(of: index, after: .zero, at: now) }
    }

    private func wants(_ scan: Scan, _ index: Int) -> Bool {
        guard scan.allowDuplicates || !scan.seen[index] else { return false }
        return scan.services.isEmpty
            || scan.services.contains { peripherals[index].advertisedServices.contains($0) }
    }

    private func planSighting(of index: Int, after pause: Instant.Span, at now: Instant) {
        guard poweredOn, peripherals[index].advertises, !peripherals[index].sightingPlanned,
            scans.contains(where: { wants($0, index) })
        else { return }
        peripherals[index].sightingPlanned = true
        let interval = peripherals[index].description.advertising.interval
        let wait = peripherals[index].random.span(
            from: pause,
            to: pause == .zero ? interval : pause + .milliseconds(10)
        )
        plan(.sighting, index, 0, now.advanced(by: wait))
    }

    func sighting(of index: Int, at now: Instant) {
        peripherals[index].sightingPlanned = false
        guard poweredOn, peripherals[index].advertises else { return }
        let clients = scans.filter { wants($0, index) }.map(\.client)
        for place in scans.indices where wants(scans[place], index) { scans[place].seen[index] = true }
        planSighting(of: index, after: peripherals[index].description.advertising.interval, at: now)
        if !clients.isEmpty { peripherals[index].wasDiscovered = true }
        let services = peripherals[index].advertisedServices
        if !clients.isEmpty { traceSighting(of: index, at: now) }
        guard let advertisement = peripherals[index].heard().withoutBeacon else { return }
        for client in clients {
            let seen = event(.peripheralDiscovered, of: peripherals[index].nameID, client: client, services: services)
            report?(SourceReport(seen, .advertisement(advertisement)))
        }
    }

    /// The peripheral can be seen and connected to again.
    func appeared(_ index: Int, at now: Instant) {
        considerConnecting(index, at: now)
        planSighting(of: index, after: .zero, at: now)
    }

    // MARK: Connecting

    func connect(_ client: BluetoothClient, to index: Int, at now: Instant) {
        let isUp = peripherals[index].link == .up
        if peripherals[index].holder(client) == nil {
            peripherals[index].holders.append(.init(client: client, state: isUp ? .joining : .pending))
        }
        if isUp {
            prepare(.joined(peripheral: index, client), at: now)
        } else {
            considerConnecting(index, at: now)
        }
    }

    /// Starts an attempt when somebody waits for the link and the peripheral can be reached (BTC-5).
    private func considerConnecting(_ index: Int, at now: Instant) {
        let peripheral = peripherals[index]
        guard poweredOn, peripheral.inRange, peripheral.link == .down, peripheral.description.advertising.connectable,
            !peripheral.holders.isEmpty
        else { return }
        peripherals[index].link = .connecting
        peripherals[index].linkGeneration &+= 1
        let sighting = peripherals[index].random.span(from: .zero, to: peripheral.description.advertising.interval)
        let latency = peripherals[index].random.span(from: Self.connectLatency.low, to: Self.connectLatency.high)
        plan(.connection, index, peripherals[index].linkGeneration, now.advanced(by: sighting + latency))
        traceAttempt(at: index, isOn: true, at: now)
    }

    func cancelAttempt(at index: Int, at now: Instant) {
        traceAttempt(at: index, isOn: false, at: now)
        peripherals[index].link = .down
        peripherals[index].linkGeneration &+= 1
    }

    func linkUp(_ index: Int, generation: UInt32, at now: Instant) {
        guard peripherals[index].linkGeneration == generation, peripherals[index].link == .connecting else { return }
        links += 1
        peripherals[index].link = .up
        peripherals[index].connectedAs = links
        peripherals[index].wasConnected = true
        peripherals[index].busyUntil = now
        peripherals[index].connection.begin(at: now)
        for place in peripherals[index].holders.indices { peripherals[index].holders[place].state = .connected }
        traceLink(index, at: now)
        report?(SourceReport(event(.peripheralConnected, of: peripherals[index].nameID)))
        tellWatches(index, connected: true, at: now)
        readName(of: index, at: now)
        if peripherals[index].isStale { compareAttributes(of: index, at: now) }
    }

    /// Tells those who watch the connections of a peripheral, whoever holds them.
    private func tellWatches(_ index: Int, connected: Bool, at now: Instant) {
        let services = peripherals[index].table.offered.map(\.name) + peripherals[index].advertisedServices
        for client in watches.clients(watching: peripherals[index].nameID, services: services) {
            let told = event(.connectionEvent, of: peripherals[index].nameID, client: client)
            prepare(told, .connectionEvent(connected: connected), at: now)
        }
    }

    // MARK: Disconnecting

    func disconnect(_ client: BluetoothClient, from name: NameID, at now: Instant) {
        if let index = position(of: name) { letGo(client, of: index, at: now) }
        prepare(event(.peripheralDisconnected, of: name, client: client), at: now)
    }

    /// Takes a client off a peripheral, silently; the link goes with the last.
    func letGo(_ client: BluetoothClient, of index: Int, at now: Instant) {
        guard let place = peripherals[index].holder(client) else { return }
        peripherals[index].holders.remove(at: place)
        peripherals[index].found.remove(client)
        for request in peripherals[index].requests.indices
        where peripherals[index].requests[request].client == client {
            peripherals[index].requests[request].client = nil
        }
        for number in numbers(of: index) { unsubscribe(client, from: number, at: now) }
        closeChannels(at: now) { $0.peripheral == index && $0.client == client }
        guard peripherals[index].holders.isEmpty else { return }
        switch peripherals[index].link {
        case .down: break
        case .connecting: cancelAttempt(at: index, at: now)
        case .up:
            traceEnd(of: index, because: nil, at: now)
            closeLink(index, at: now)
            tellWatches(index, connected: false, at: now)
        }
    }

    /// The link is gone, and not by the phone's own will: what was asked over it fails, and then everyone connected hears
    /// of it once.
    func linkDown(_ index: Int, because failure: BluetoothFailure, origin: NameID = .none, at now: Instant) {
        guard peripherals[index].link == .up else { return }
        failRequests(of: index, because: .peripheralDisconnected, at: now)
        traceEnd(of: index, because: failure, at: now)
        closeLink(index, at: now)
        let gone = event(
            .peripheralDisconnected,
            of: peripherals[index].nameID,
            failed: true,
            origin: origin == .none ? self.origin : origin
        )
        prepare(gone, .failure(failure), at: now)
        tellWatches(index, connected: false, at: now)
    }

    /// Clears what belongs to the link; those who still wait for one get another attempt.
    func closeLink(_ index: Int, at now: Instant) {
        let wasUp = peripherals[index].link == .up
        for number in numbers(of: index) {
            pauseTimetable(number, at: now)
            characteristics[number].subscribers.removeAll()
        }
        closeChannels(at: now) { $0.peripheral == index }
        peripherals[index].machine.linkGone()
        peripherals[index].link = .down
        peripherals[index].linkGeneration &+= 1
        peripherals[index].lossGeneration &+= 1
        peripherals[index].requests.removeAll()
        peripherals[index].holders.removeAll { $0.state == .connected }
        for place in peripherals[index].holders.indices { peripherals[index].holders[place].state = .pending }
        if wasUp {
            if peripherals[index].faults.unanswered {
                peripherals[index].faults.noAnswer = nil
                peripherals[index].faults.unanswered = false
            }
            peripherals[index].attributes.move(by: AttributeHandle(peripherals[index].faults.staleHandles))
            peripherals[index].faults.staleHandles = 0
            peripherals[index].endLink(keeps: keepsAttributes)
        }
        appeared(index, at: now)
    }

    func planLoss(of index: Int, at time: Instant) {
        peripherals[index].lossGeneration &+= 1
        plan(.linkLoss, index, peripherals[index].lossGeneration, time)
    }
}
