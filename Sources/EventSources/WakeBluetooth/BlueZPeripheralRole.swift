import Glibc
import WakeBlueZ
import WakeBus
import WakeDevices
import WakeModel
import WakePorts
import WakeSystem

/// What apps offer as peripherals, on the machine's own Bluetooth through BlueZ: one attribute table and one
/// advertisement for all apps, on the adapter that the central role uses too.
///
/// A central of the scenario goes by its name there, any other by its address. When bluetoothd or the adapter goes, every
/// subscription ends; what is offered is offered again when it is back.
///
/// bluetoothd sends a value to all that are subscribed to a characteristic, so an update that is meant for some of them
/// reaches the others too. It also counts subscribers: that one of several has unsubscribed is only heard of the last.
package final class BlueZPeripheralRole: BluetoothPeripheralPort {
    /// What a client advertises.
    private struct Advertiser {
        var client: BluetoothClient
        var wish: PhoneAdvertisement.Wish
        /// It wants to hear what becomes of it.
        var isAsking: Bool
    }

    /// An update that waits for room.
    private struct Update {
        var client: BluetoothClient
        /// The server's number.
        var characteristic: UInt32
        var value: [UInt8]
    }

    /// A service in bluetoothd's table, and how its numbers there are called in its app.
    private struct Service {
        var client: BluetoothClient
        var service: LocalService
        /// The server's number.
        var number: UInt32
        /// The server's numbers of its characteristics, in order.
        var characteristics: [UInt32]
        var isAsking: Bool
    }

    package let backend = "bluez"
    package var report: ((SourceReport) -> Void)?

    private let names: NameTable
    private let air: AirNames
    private let origin: NameID
    private let adapter: BlueZAdapter
    private let server: BlueZServer
    private let bus: BusAddress
    private let later: Timer
    private var prepared: [SourceReport] = []
    private var namesOfDevices: [BlueZDeviceID: NameID] = [:]
    private var services: [Service] = []
    private var lastNumber: UInt32 = 0
    private var advertisers: [Advertiser] = []
    /// Clients whose fixed values are not given out.
    private var notServing: Set<BluetoothClient> = []
    /// Oldest first.
    private var updates: [Update] = []
    /// Clients whose queue was full.
    private var waitingForRoom: Set<BluetoothClient> = []
    /// The clients of requests that wait for an answer.
    private var askers: [UInt32: BluetoothClient] = [:]
    private let loop: EventLoop
    private let table: ChannelTable
    /// The channels that apps offer.
    private var listeners: [(client: BluetoothClient, listener: ChannelListener)] = []
    /// The ATT MTU of each central, as it was said last.
    private var mtus: [NameID: Int] = [:]

    /// The peripheral role beside the central one; the addresses of the centrals among `devices` get their names.
    ///
    /// - Throws: ``SystemError`` when the loop takes no more timers.
    package init(
        devices: [ScenarioDevice],
        names: NameTable,
        loop: EventLoop,
        beside central: BlueZBluetooth
    ) throws(SystemError) {
        self.names = names
        self.loop = loop
        table = central.table
        air = central.air
        origin = names.intern("bluez")
        adapter = central.adapter
        bus = central.bus
        server = BlueZServer(on: central.adapter)
        var ring: () -> Void = {}
        later = try loop.timer(on: .monotonic) { ring() }
        ring = { [weak self] in self?.carryOut() }
        for device in devices {
            guard let central = device.central else { continue }
            // A static random address has its two highest bits set; the lab's and most devices' are such.
            let isRandom = (central.address.first ?? 0) >= 0xC0
            let id = BlueZDeviceID(address: central.addressText, isRandom: isRandom)
            namesOfDevices[id] = names.intern(device.name)
        }
        server.heard = { [weak self] event in self?.hear(event) }
    }

    // MARK: The port

    package func start(at now: Instant) throws(SourceFailure) {
        do throws(BusError) {
            try BlueZServer.probe(adapter.choice, bus: bus)
        } catch {
            throw SourceFailure(.environment, "bluetooth=bluez: \(error.message)")
        }
    }

    package func stop() {
        report = nil
        later.disarm()
        prepared.removeAll()
        updates.removeAll()
        listeners.removeAll()
        server.stop()
    }

    package var nextDeadline: Instant? { nil }

    package func timeReached(_ now: Instant) {}

    package func perform(_ command: PeripheralRoleCommand, at now: Instant) {
        switch command {
        case .publish(let client, let service, let again): publish(service, for: client, again: again)
        case .unpublish(let client, let number):
            withdraw(silently: false) { $0.client == client && $0.service.number == number }
        case .setServing(let client, let serves):
            if serves { notServing.remove(client) } else { notServing.insert(client) }
            for entry in services where entry.client == client { server.serve(serves, entry.number) }
        case .advertise(let client, let localName, let services, let overflow, let again):
            if !again, advertisers.contains(where: { $0.client == client }) {
                let subject = names.intern("advertisement")
                let refused = event(.advertisingStarted, client, subject: subject, failed: true)
                prepare(refused, .failure(.alreadyAdvertising))
                return
            }
            let wish = PhoneAdvertisement.Wish(
                localName: localName,
                services: services.map(names.text),
                overflow: overflow.map(names.text)
            )
            advertisers.removeAll { $0.client == client }
            advertisers.append(Advertiser(client: client, wish: wish, isAsking: !again))
            advertise()
        case .stopAdvertising(let client):
            advertisers.removeAll { $0.client == client }
            advertise()
        case .update(let client, let characteristic, let value, let centrals):
            update(characteristic, of: client, value, to: centrals)
        case .respond(let client, let request, let result, let value):
            guard askers[request] == client else { return }
            askers[request] = nil
            if result == AttributeError.success {
                server.answer(request, value: value)
            } else {
                server.refuse(request, code: result)
            }
        case .publishChannel(let client, let encrypted): publishChannel(client, encrypted: encrypted)
        case .unpublishChannel(let client, let psm): unpublishChannel(psm, of: client)
        case .release(let client):
            advertisers.removeAll { $0.client == client }
            withdraw(silently: true) { $0.client == client }
            waitingForRoom.remove(client)
            notServing.remove(client)
            listeners.removeAll { $0.client == client }
            advertise()
        }
    }

    package func updateRoom(of client: BluetoothClient) -> Int {
        max(0, PeripheralRole.updateQueueLength - updates.count { $0.client == client })
    }

    /// The adapter belongs to the central role, which switches it; what follows from that is heard from it. Apps publish
    /// their channels anew when it is on again.
    package func setPower(_ on: Bool, at now: Instant) {
        if !on { listeners.removeAll() }
    }

    package func maximumUpdateLength(of central: NameID) -> UInt16 {
        UInt16(clamping: (mtus[central] ?? BlueZServer.smallestMTU) - 3)
    }

    // MARK: Services

    private func publish(_ service: LocalService, for client: BluetoothClient, again: Bool) {
        if PeripheralRole.reserved.contains(service.uuid) {
            let refused = event(
                .serviceAdded,
                client,
                local: service.number,
                subject: names.intern(service.uuid),
                failed: true
            )
            prepare(refused, .failure(.uuidNotAllowed))
            return
        }
        if let present = services.first(where: { $0.client == client && $0.service == service }) {
            if !again { prepare(added(present)) }
            return
        }
        withdraw(silently: false) { $0.client == client && $0.service.number == service.number }
        var entry = Service(client: client, service: service, number: mint(), characteristics: [], isAsking: !again)
        entry.characteristics = service.characteristics.map { _ in mint() }
        services.append(entry)
        server.publish(Self.offered(entry.service, entry.number, entry.characteristics))
        if notServing.contains(client) { server.serve(false, entry.number) }
    }

    private func mint() -> UInt32 {
        lastNumber &+= 1
        return lastNumber
    }

    private func added(_ entry: Service, failed: Bool = false) -> WakeEvent {
        let subject = names.intern(entry.service.uuid)
        return event(.serviceAdded, entry.client, local: entry.service.number, subject: subject, failed: failed)
    }

    /// A service in BlueZ's words.
    private static func offered(_ service: LocalService, _ number: UInt32, _ numbers: [UInt32]) -> BlueZLocalService {
        let characteristics = zip(service.characteristics, numbers).map { characteristic, number in
            BlueZLocalService.Characteristic(
                number: number,
                uuid: blueZ(characteristic.uuid),
                flags: flags(characteristic),
                value: characteristic.isReadable ? characteristic.value : nil,
                descriptors: characteristic.descriptors.filter { $0.uuid != "2902" && $0.uuid != "2900" }
                    .map { BlueZLocalService.Descriptor(uuid: blueZ($0.uuid), value: $0.value) }
            )
        }
        return BlueZLocalService(
            number: number,
            uuid: blueZ(service.uuid),
            primary: service.primary,
            characteristics: characteristics
        )
    }

    private static func blueZ(_ uuid: String) -> String { BluetoothUUID.long(uuid).lowercased() }

    private static func flags(_ characteristic: LocalCharacteristic) -> [String] {
        var flags = CharacteristicProperties.words.filter { characteristic.flags.contains($0.property) }.map(\.word)
        if flags.contains("read"), characteristic.permissions & 4 != 0 { flags.append("encrypt-read") }
        if characteristic.permissions & 8 != 0, flags.contains(where: { $0.hasPrefix("write") }) {
            flags.append("encrypt-write")
        }
        return flags
    }

    private func withdraw(silently: Bool, where gone: (Service) -> Bool) {
        for entry in services.filter(gone) {
            for (number, characteristic) in zip(entry.characteristics, entry.service.characteristics) {
                updates.removeAll { $0.characteristic == number }
                guard !silently else { continue }
                for device in server.subscribers(of: number) {
                    if let central = name(of: device) { prepare(unsubscribed(entry, characteristic, central)) }
                }
            }
            server.unpublish(entry.number)
        }
        services.removeAll(where: gone)
        tellRoom()
    }

    /// The service and the characteristic that a number of the server means.
    private func member(_ number: UInt32) -> (Service, LocalCharacteristic)? {
        for entry in services {
            if let index = entry.characteristics.firstIndex(of: number) {
                return (entry, entry.service.characteristics[index])
            }
        }
        return nil
    }

    // MARK: Advertising

    private func advertise() {
        let advertisement = PhoneAdvertisement(advertisers.map(\.wish)).map { phone in
            BlueZLocalAdvertisement(
                localName: phone.localName,
                services: phone.services.map(Self.blueZ),
                manufacturerData: phone.overflow.isEmpty
                    ? nil : .init(company: OverflowArea.company, data: [OverflowArea.type] + phone.overflow.bytes)
            )
        }
        server.advertise(advertisement)
    }

    // MARK: Updates

    private func update(_ characteristic: UInt32, of client: BluetoothClient, _ value: [UInt8], to wanted: [NameID]) {
        let waiting = updates.count { $0.client == client }
        guard waiting < PeripheralRole.updateQueueLength else {
            waitingForRoom.insert(client)
            return
        }
        for entry in services where entry.client == client {
            guard let index = entry.service.characteristics.firstIndex(where: { $0.number == characteristic }) else {
                continue
            }
            let number = entry.characteristics[index]
            let subscribers = server.subscribers(of: number).compactMap(name)
            guard subscribers.contains(where: { wanted.isEmpty || wanted.contains($0) }) else { return }
            updates.append(Update(client: client, characteristic: number, value: value))
            if waiting + 1 == PeripheralRole.updateQueueLength { waitingForRoom.insert(client) }
            send()
            return
        }
    }

    private func send() {
        while let first = updates.first, server.update(first.characteristic, first.value) { updates.removeFirst() }
        tellRoom()
    }

    private func tellRoom() {
        for client in waitingForRoom.sorted()
        where updates.count(where: { $0.client == client }) <= PeripheralRole.updateQueueRefill {
            waitingForRoom.remove(client)
            prepare(event(.readyToUpdate, client))
        }
    }

    // MARK: Channels

    private func publishChannel(_ client: BluetoothClient, encrypted: Bool) {
        do throws(SystemError) {
            var psm: UInt16 = 0
            let listener = try ChannelListener(loop: loop, adapter: adapter.ownAddress ?? "", encrypted: encrypted) {
                [weak self] descriptor, device in
                guard let self, let central = name(of: device) else {
                    close(descriptor)
                    return
                }
                let opened = event(
                    .channelOpened,
                    client,
                    local: table.add(descriptor),
                    central: central,
                    subject: central
                )
                say(opened, .psm(psm))
            }
            psm = listener.psm
            listeners.append((client, listener))
            prepare(event(.channelPublished, client, local: UInt32(psm)))
        } catch {
            let failure = BluetoothFailure(domain: .core, code: 0, message: error.description)
            prepare(event(.channelPublished, client, failed: true), .failure(failure))
        }
    }

    private func unpublishChannel(_ psm: UInt16, of client: BluetoothClient) {
        let isOffered = listeners.contains { $0.client == client && $0.listener.psm == psm }
        listeners.removeAll { $0.client == client && $0.listener.psm == psm }
        let gone = event(.channelUnpublished, client, local: UInt32(psm), failed: !isOffered)
        prepare(gone, isOffered ? .none : .failure(.operationNotSupported))
    }

    // MARK: Hearing

    private func hear(_ heard: BlueZServerEvent) {
        switch heard {
        case .published(let number, let refusal): published(number, refusal)
        case .advertising(let refusal): advertisingAnswered(refusal)
        case .requested(let request): requested(request)
        case .subscribed(let number, let device, let mtu):
            guard let (entry, characteristic) = member(number), let central = name(of: device) else { return }
            mtus[central] = mtu
            let came = event(
                .centralSubscribed,
                entry.client,
                local: characteristic.number,
                central: central,
                subject: subject(central, characteristic)
            )
            say(came, .central(maximumUpdateLength: maximumUpdateLength(of: central)))
        case .unsubscribed(let number, let device):
            guard let (entry, characteristic) = member(number) else { return }
            if server.subscribers(of: number).isEmpty { updates.removeAll { $0.characteristic == number } }
            if let central = name(of: device) { say(unsubscribed(entry, characteristic, central)) }
            tellRoom()
        case .room: send()
        }
    }

    private func published(_ number: UInt32, _ refusal: BusError?) {
        guard let index = services.firstIndex(where: { $0.number == number }) else { return }
        let entry = services[index]
        services[index].isAsking = false
        if let refusal {
            services.remove(at: index)
            server.unpublish(number)
            let failure = BluetoothFailure(domain: .core, code: 0, message: "bluetoothd: \(refusal.message)")
            say(added(entry, failed: true), .failure(failure))
        } else if entry.isAsking {
            say(added(entry))
        }
    }

    private func advertisingAnswered(_ refusal: BusError?) {
        for index in advertisers.indices where advertisers[index].isAsking || refusal != nil {
            advertisers[index].isAsking = false
            let subject = names.intern("advertisement")
            let started = event(
                .advertisingStarted,
                advertisers[index].client,
                subject: subject,
                failed: refusal != nil
            )
            let failure = refusal.map { refusal in
                EventPayload.failure(
                    BluetoothFailure(domain: .core, code: 0, message: "bluetoothd: \(refusal.message)")
                )
            }
            say(started, failure ?? .none)
        }
    }

    private func requested(_ request: BlueZRequest) {
        guard let (entry, characteristic) = member(request.characteristic) else {
            server.refuse(request.number, code: AttributeError.unlikely)
            return
        }
        guard let central = request.device.map(name) ?? .some(.none) else {
            server.refuse(request.number, code: AttributeError.insufficientResources)
            return
        }
        mtus[central] = request.mtu
        var asked = event(
            .readRequested,
            entry.client,
            local: characteristic.number,
            request: request.number,
            central: central,
            subject: subject(central, characteristic)
        )
        switch request.kind {
        case .read(let offset):
            guard characteristic.isReadable else {
                server.refuse(request.number, code: AttributeError.readNotPermitted)
                return
            }
            askers[request.number] = entry.client
            say(asked, .readRequest(offset: offset))
        case .write(let value, let offset):
            // bluetoothd keeps to the properties; the permissions are ours.
            guard characteristic.permissions & 0b1010 != 0 else {
                server.refuse(request.number, code: AttributeError.writeNotPermitted)
                return
            }
            asked.kind = .writeRequested
            askers[request.number] = entry.client
            let write = LocalWrite(characteristic: characteristic.number, offset: offset, value: value)
            say(asked, .writeRequests([write]))
        }
    }

    // MARK: Saying

    /// What a central is called; nil when there is no name for it, and apps hear nothing of it.
    private func name(of device: BlueZDeviceID) -> NameID? {
        namesOfDevices[device] ?? air.name(device.address)
    }

    private func subject(_ central: NameID, _ characteristic: LocalCharacteristic) -> NameID {
        air.name(names.text(central), characteristic.uuid, orElse: central)
    }

    private func unsubscribed(_ entry: Service, _ characteristic: LocalCharacteristic, _ central: NameID) -> WakeEvent {
        event(
            .centralUnsubscribed,
            entry.client,
            local: characteristic.number,
            central: central,
            subject: subject(central, characteristic)
        )
    }

    private func event(
        _ kind: EventKind,
        _ client: BluetoothClient,
        local: UInt32 = 0,
        request: UInt32 = 0,
        central: NameID = .none,
        subject: NameID = .none,
        failed: Bool = false
    ) -> WakeEvent {
        WakeEvent(
            kind: kind,
            peripheral: central,
            local: local,
            request: request,
            subject: subject,
            client: client,
            failed: failed,
            origin: origin
        )
    }

    /// Reports, after what was prepared before.
    private func say(_ event: WakeEvent, _ payload: EventPayload = .none) {
        carryOut()
        report?(SourceReport(event, payload))
    }

    /// Reports as soon as the caller has returned.
    private func prepare(_ event: WakeEvent, _ payload: EventPayload = .none) {
        prepared.append(SourceReport(event, payload))
        later.arm(at: 1)
    }

    private func carryOut() {
        let reports = prepared
        prepared.removeAll()
        for each in reports { report?(each) }
    }
}
