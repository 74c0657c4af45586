import WakeBlueZ
import WakeDevices
import WakeModel

/// Scans and links, counted over clients.
extension BlueZBluetooth {
    // MARK: Scanning

    func scan(_ client: BluetoothClient, services: [NameID], allowDuplicates: Bool) {
        guard poweredOn else { return }
        scans.removeAll { $0.client == client }
        let scan = Scan(client: client, services: services, allowDuplicates: allowDuplicates)
        scans.insert(scan, at: scans.firstIndex { $0.client > client } ?? scans.endIndex)
        let wasDiscovering = adapter.isDiscovering
        scanChanged()
        // bluetoothd tells of a device once while it is looked for: who comes later would not hear of it.
        guard wasDiscovering else { return }
        prepare { [self] in
            for peripheral in inOrder where adapter.wasHeard(peripheral.id) {
                if let advertisement = adapter.advertisement(of: peripheral.id) { sighted(peripheral, advertisement) }
            }
        }
    }

    /// One filter for all: the services of all when everyone names some, else everything.
    func scanChanged() {
        // A beacon has no services to look for, and that it is gone shows only by what is not heard again.
        guard watched.isEmpty else { return adapter.scan(BlueZScan(services: [], duplicates: true)) }
        guard !scans.isEmpty else { return adapter.scan(nil) }
        var services: Set<String> = []
        if !scans.contains(where: \.services.isEmpty) {
            for scan in scans {
                for service in scan.services { services.insert(BluetoothUUID.blueZ(names.text(service))) }
            }
        }
        adapter.scan(BlueZScan(services: Array(services), duplicates: scans.contains(where: \.allowDuplicates)))
    }

    /// Matched once more for each client: bluetoothd tells of all that any program looks for.
    func sighted(_ peripheral: BlueZPeripheral, _ heard: BlueZAdvertisement) {
        let services = heard.services.map(BlueZPeripheral.canonical)
        let named = services.compactMap(air.name)
        if let name = heard.name { peripheral.localName = name }
        let said = Advertisement(
            localName: heard.name,
            services: services,
            manufacturerData: heard.manufacturerData,
            serviceData: heard.serviceData.map { .init(service: BlueZPeripheral.canonical($0.service), data: $0.data) },
            txPower: heard.txPower.flatMap { Int16(exactly: $0) },
            signalStrength: heard.signalStrength.flatMap { Int16(exactly: $0) } ?? 127
        )
        guard let advertisement = said.withoutBeacon else { return }
        for index in scans.indices {
            guard scans[index].allowDuplicates || !scans[index].seen.contains(peripheral.name),
                scans[index].services.isEmpty || scans[index].services.contains(where: named.contains)
            else { continue }
            scans[index].seen.insert(peripheral.name)
            peripheral.wasSeen = true
            let seen = event(
                .peripheralDiscovered,
                of: peripheral.name,
                client: scans[index].client,
                services: named
            )
            say(seen, .advertisement(advertisement))
        }
    }

    // MARK: Links

    func connect(_ client: BluetoothClient, to name: NameID) {
        guard poweredOn, let peripheral = peripherals[name] ?? addressed(name) else { return }
        guard peripheral.holder(client) == nil else { return }
        peripheral.holders.append(.init(client: client, isConnected: false))
        guard peripheral.isUp else {
            prepare { [self] in
                if !peripheral.isUp, !peripheral.holders.isEmpty { adapter.want(peripheral.id) }
            }
            return
        }
        let link = peripheral.link
        prepare { [self] in
            guard peripheral.link == link, peripheral.isUp, let place = peripheral.holder(client) else { return }
            peripheral.holders[place].isConnected = true
            say(event(.peripheralConnected, of: name, client: client))
        }
    }

    /// A peripheral of an earlier run, known by its address alone.
    private func addressed(_ name: NameID) -> BlueZPeripheral? {
        let address = names.text(name)
        let parts = address.split(separator: ":")
        let bytes = parts.compactMap { UInt8($0, radix: 16) }
        guard parts.count == 6, bytes.count == 6 else { return nil }
        let id = BlueZDeviceID(address, guessingTypeBy: bytes)
        let made = BlueZPeripheral(id, name, address)
        namesOfDevices[id] = name
        peripherals[name] = made
        return made
    }

    /// Takes a client off a peripheral, silently; the link goes with the last.
    func letGo(_ client: BluetoothClient, of peripheral: BlueZPeripheral) {
        guard let place = peripheral.holder(client) else { return }
        peripheral.holders.remove(at: place)
        peripheral.waiting.removeAll { $0.client == client }
        peripheral.openings.removeAll { $0.client == client }
        peripheral.found.remove(client)
        if peripheral.holders.isEmpty {
            let services = peripheral.isUp ? offered(by: peripheral) : nil
            peripheral.closeLink()
            adapter.giveUp(peripheral.id)
            if let services { tellWatches(peripheral, connected: false, services: services) }
        } else {
            for subscription in peripheral.subscriptions { unsubscribe(client, from: subscription.handle, peripheral) }
        }
    }

    func linkUp(_ peripheral: BlueZPeripheral) {
        linksMade += 1
        peripheral.isUp = true
        peripheral.connectedAs = linksMade
        let wasSeen = peripheral.wasSeen
        peripheral.wasSeen = true
        for place in peripheral.holders.indices { peripheral.holders[place].isConnected = true }
        say(event(.peripheralConnected, of: peripheral.name))
        tellWatches(peripheral, connected: true, services: offered(by: peripheral))
        // Whoever never saw it was not told another name.
        if wasSeen { renamed(peripheral) } else { peripheral.localName = name(of: peripheral) }
    }

    private func name(of peripheral: BlueZPeripheral) -> String? { adapter.advertisement(of: peripheral.id)?.name }

    /// bluetoothd read the name of a device with a link, or heard one.
    func renamed(_ peripheral: BlueZPeripheral) {
        guard let name = name(of: peripheral), peripheral.localName != name else { return }
        peripheral.localName = name
        say(event(.nameChanged, of: peripheral.name), .name(name))
    }

    /// Tells those who watch the connections of a peripheral, whoever holds them.
    private func tellWatches(_ peripheral: BlueZPeripheral, connected: Bool, services: [String]) {
        for client in watches.clients(watching: peripheral.name, services: services.compactMap(names.known)) {
            let told = event(.connectionEvent, of: peripheral.name, client: client)
            prepare { [self] in say(told, .connectionEvent(connected: connected)) }
        }
    }

    /// The link is gone, and not by our will: what was asked over it fails, and everyone connected hears of it once.
    func linkDown(_ peripheral: BlueZPeripheral, reason: String?) {
        let asked =
            peripheral.waiting
            + peripheral.openings.map { .init(client: $0.client, operation: .openChannel(psm: $0.psm)) }
        let services = offered(by: peripheral)
        let asking = peripheral.subscriptions.map { ($0.handle, $0.asking) }
        peripheral.closeLink()
        for request in asked {
            refuse(request.operation, for: request.client, on: peripheral.name, because: .peripheralDisconnected)
        }
        for (handle, clients) in asking {
            for client in clients {
                let operation = BluetoothOperation.setNotify(handle, true)
                refuse(operation, for: client, on: peripheral.name, because: .peripheralDisconnected)
            }
        }
        peripheral.holders.removeAll { $0.isConnected }
        let isTimeout = reason?.hasSuffix("Timeout") == true
        say(
            event(.peripheralDisconnected, of: peripheral.name, failed: true),
            .failure(isTimeout ? .connectionTimeout : .peripheralDisconnected)
        )
        tellWatches(peripheral, connected: false, services: services)
        if !peripheral.holders.isEmpty { adapter.want(peripheral.id) }
    }
}
