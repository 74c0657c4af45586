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
///
/// On an adapter that cannot be a peripheral the central role works all the same, and what apps publish or advertise is refused.
package final class BlueZPeripheralRole: BluetoothPeripheralPort, PeripheralRoleReporter {
    package let backend = "bluez"
    package var report: ((SourceReport) -> Void)?

    private let names: NameTable
    private let air: AirNames
    let origin: NameID
    private let adapter: BlueZAdapter
    private let server: BlueZServer
    private let later: Afterwards
    private var namesOfDevices: [BlueZDeviceID: NameID] = [:]
    private var offers = BlueZOffers()
    /// The clients of requests that wait for an answer.
    private var askers: [UInt32: BluetoothClient] = [:]
    private let table: ChannelTable
    private let offering: any ChannelOffering
    /// The channels that apps offer.
    private var channels: [OfferedChannel] = []
    /// The ATT MTU of each central, as it was said last.
    private var mtus: [NameID: Int] = [:]
    /// Why the adapter cannot be a peripheral; nil where it can.
    private var inability: BusError?
    private let isNeeded: Bool
    private var isRefusalNoted = false

    /// The peripheral role beside the central one; the addresses of the centrals among `devices` get their names.
    ///
    /// - Parameter offering: listens for L2CAP channels; the adapter's when left out.
    /// - Parameter isNeeded: whether an app is known to be a peripheral, so that it starts on no adapter that cannot be one.
    /// - Throws: ``SystemError`` when the loop takes no more timers.
    package init(
        devices: [ScenarioDevice],
        names: NameTable,
        loop: EventLoop,
        beside central: BlueZBluetooth,
        offering: (any ChannelOffering)? = nil,
        isNeeded: Bool = false
    ) throws(SystemError) {
        self.names = names
        self.isNeeded = isNeeded
        self.offering = offering ?? AdapterChannels(of: central.adapter, on: loop)
        table = central.table
        air = central.air
        origin = names.intern("bluez")
        adapter = central.adapter
        server = BlueZServer(on: central.adapter)
        later = try Afterwards(loop)
        for device in devices {
            guard let central = device.central else { continue }
            let id = BlueZDeviceID(central.addressText, guessingTypeBy: central.address)
            namesOfDevices[id] = names.intern(device.name)
        }
        server.heard = { [weak self] event in self?.hear(event) }
    }

    // MARK: The port

    package func start(at now: Instant) throws(SourceFailure) {
        do throws(BusError) { try server.probe() } catch { try begin(after: error) }
    }

    /// The adapter was looked at, and something is wrong with it.
    func begin(after error: BusError) throws(SourceFailure) {
        guard error.name == BlueZServer.cannotBePeripheral, !isNeeded else {
            throw SourceFailure(.environment, "bluetooth=bluez: \(error.message)")
        }
        inability = error
    }

    package func stop() {
        report = nil
        later.stop()
        offers = BlueZOffers()
        channels.removeAll()
        server.stop()
    }

    package func perform(_ command: PeripheralRoleCommand, at now: Instant) {
        switch command {
        case .publish(let client, let service, let again): publish(service, for: client, again: again)
        case .unpublish(let client, let number):
            withdraw(silently: false) { $0.client == client && $0.service.number == number }
        case .setServing(let client, let serves):
            offers.clients.setServing(client, serves)
            for entry in offers.services where entry.client == client { server.serve(serves, entry.number) }
        case .advertise(let client, _, _, _, let again) where inability != nil:
            let subject = names.intern("advertisement")
            refuse(event(.advertisingStarted, client, subject: subject, failed: true), again: again)
        case .advertise(let client, let localName, let services, let overflow, let again):
            let (services, overflow) = (services.map(names.text), overflow.map(names.text))
            if offers.clients.advertise(client, localName, services: services, overflow: overflow, again: again) {
                advertise()
            } else {
                let subject = names.intern("advertisement")
                let refused = event(.advertisingStarted, client, subject: subject, failed: true)
                prepare(refused, .failure(.alreadyAdvertising))
            }
        case .stopAdvertising(let client):
            offers.clients.stopAdvertising(client)
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
            withdraw(silently: true) { $0.client == client }
            offers.clients.release(client)
            channels.removeAll { $0.client == client }
            advertise()
        }
    }

    package func updateRoom(of client: BluetoothClient) -> Int {
        max(0, PeripheralRole.updateQueueLength - offers.waiting(of: client))
    }

    /// The adapter belongs to the central role, which switches it; what follows from that is heard from it. Apps publish
    /// their channels anew when it is on again.
    package func setPower(_ on: Bool, at now: Instant) {
        guard !on else { return }
        for channel in channels where channel.psm == nil {
            prepare(event(.channelPublished, channel.client, failed: true), .failure(.operationNotSupported))
        }
        channels.removeAll()
    }

    package func maximumUpdateLength(of central: NameID) -> UInt16 {
        UInt16(clamping: (mtus[central] ?? BlueZServer.smallestMTU) - 3)
    }

    // MARK: Services

    private func publish(_ service: LocalService, for client: BluetoothClient, again: Bool) {
        if PeripheralRole.reserved.contains(service.uuid) {
            return prepare(added(service, client, failed: true), .failure(.uuidNotAllowed))
        }
        if inability != nil { return refuse(added(service, client, failed: true), again: again) }
        if offers.services.contains(where: { $0.client == client && $0.service == service }) {
            if !again { prepare(added(service, client)) }
            return
        }
        withdraw(silently: false) { $0.client == client && $0.service.number == service.number }
        let entry = offers.publish(service, for: client, isAsking: !again)
        server.publish(BlueZLocalService(entry))
        if offers.clients.notServing.contains(client) { server.serve(false, entry.number) }
    }

    /// Answers that the adapter cannot be a peripheral; what is offered again has no answer.
    private func refuse(_ refused: WakeEvent, again: Bool) {
        guard let inability else { return }
        if !isRefusalNoted { air.note?("bluetooth=bluez: \(inability.message)") }
        isRefusalNoted = true
        if !again { prepare(refused, Self.failure(inability)) }
    }

    private func added(_ service: LocalService, _ client: BluetoothClient, failed: Bool = false) -> WakeEvent {
        event(.serviceAdded, client, local: service.number, subject: names.intern(service.uuid), failed: failed)
    }

    private func withdraw(silently: Bool, where gone: (BlueZOffers.Service) -> Bool) {
        for entry in offers.withdraw(where: gone) {
            for (number, characteristic) in zip(entry.characteristics, entry.service.characteristics) where !silently {
                for device in server.subscribers(of: number) {
                    guard let central = name(of: device) else { continue }
                    prepare(event(.centralUnsubscribed, entry, characteristic, by: central))
                }
            }
            server.unpublish(entry.number)
        }
        tellRoom()
    }

    private func advertise() { server.advertise(offers.clients.advertisement.map(BlueZLocalAdvertisement.init)) }

    // MARK: Updates

    private func update(_ characteristic: UInt32, of client: BluetoothClient, _ value: [UInt8], to wanted: [NameID]) {
        guard offers.clients.hasRoom(client, beside: offers.waiting(of: client)),
            let number = offers.number(of: characteristic, client),
            server.subscribers(of: number).compactMap(name).contains(where: { wanted.isEmpty || wanted.contains($0) })
        else { return }
        offers.update(number, of: client, value)
        send()
    }

    private func send() {
        while let first = offers.updates.first, server.update(first.characteristic, first.value) { offers.sentFirst() }
        tellRoom()
    }

    private func tellRoom() {
        for client in offers.takeReady() { prepare(event(.readyToUpdate, client)) }
    }

    // MARK: Channels

    /// A channel that an app offers.
    private final class OfferedChannel {
        let client: BluetoothClient
        /// What centrals ask for; nil until it is known.
        var psm: UInt16?
        /// It is offered for as long as this is held.
        var ticket: AnyObject?

        init(client: BluetoothClient) { self.client = client }
    }

    private func publishChannel(_ client: BluetoothClient, encrypted: Bool) {
        let channel = OfferedChannel(client: client)
        channels.append(channel)
        channel.ticket = offering.offer(encrypted: encrypted) { [weak self, weak channel] descriptor, device in
            guard let self, let psm = channel?.psm, let central = name(of: device) else {
                close(descriptor)
                return
            }
            let number = table.add(descriptor)
            say(event(.channelOpened, client, local: number, central: central, subject: central), .psm(psm))
        } completion: { [weak self, weak channel] result in
            guard let self, let channel else { return }
            switch result {
            case .success(let psm):
                channel.psm = psm
                say(event(.channelPublished, client, local: UInt32(psm)))
            case .failure(let error):
                channels.removeAll { $0 === channel }
                let failure = BluetoothFailure(domain: .core, code: 0, message: error.description)
                say(event(.channelPublished, client, failed: true), .failure(failure))
            }
        }
    }

    private func unpublishChannel(_ psm: UInt16, of client: BluetoothClient) {
        let isOffered = channels.contains { $0.client == client && $0.psm == psm }
        channels.removeAll { $0.client == client && $0.psm == psm }
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
            guard let (entry, characteristic) = offers.member(number), let central = name(of: device) else { return }
            mtus[central] = mtu
            let came = event(.centralSubscribed, entry, characteristic, by: central)
            say(came, .central(maximumUpdateLength: maximumUpdateLength(of: central)))
        case .unsubscribed(let number, let device):
            guard let (entry, characteristic) = offers.member(number) else { return }
            if server.subscribers(of: number).isEmpty { offers.dropUpdates(of: number) }
            if let central = name(of: device) { say(event(.centralUnsubscribed, entry, characteristic, by: central)) }
            tellRoom()
        case .room: send()
        }
    }

    private func published(_ number: UInt32, _ refusal: BusError?) {
        guard let entry = offers.answered(number, refused: refusal != nil) else { return }
        if let refusal {
            server.unpublish(number)
            say(added(entry.service, entry.client, failed: true), Self.failure(refusal))
        } else if entry.isAsking {
            say(added(entry.service, entry.client))
        }
    }

    private func advertisingAnswered(_ refusal: BusError?) {
        let subject = names.intern("advertisement")
        for client in offers.clients.takeAsking(failed: refusal != nil) {
            let started = event(.advertisingStarted, client, subject: subject, failed: refusal != nil)
            say(started, refusal.map(Self.failure) ?? .none)
        }
    }

    private static func failure(_ refusal: BusError) -> EventPayload {
        .failure(BluetoothFailure(domain: .core, code: 0, message: "bluetoothd: \(refusal.message)"))
    }

    private func requested(_ request: BlueZRequest) {
        guard let (entry, characteristic) = offers.member(request.characteristic) else {
            server.refuse(request.number, code: AttributeError.unlikely)
            return
        }
        guard let central = request.device.map(name) ?? .some(.none) else {
            server.refuse(request.number, code: AttributeError.insufficientResources)
            return
        }
        mtus[central] = request.mtu
        var asked = event(.readRequested, entry, characteristic, by: central, request: request.number)
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

    /// What a central does with a characteristic of an app's.
    private func event(
        _ kind: EventKind,
        _ entry: BlueZOffers.Service,
        _ characteristic: LocalCharacteristic,
        by central: NameID,
        request: UInt32 = 0
    ) -> WakeEvent {
        let (client, number) = (entry.client, characteristic.number)
        let subject = air.name(names.text(central), characteristic.uuid, orElse: central)
        return event(kind, client, local: number, request: request, central: central, subject: subject)
    }

    /// Reports, after what was prepared before.
    private func say(_ event: WakeEvent, _ payload: EventPayload = .none) {
        later.carryOut()
        report?(SourceReport(event, payload))
    }

    /// Reports as soon as the caller has returned.
    private func prepare(_ event: WakeEvent, _ payload: EventPayload = .none) {
        later.add { [weak self] in self?.report?(SourceReport(event, payload)) }
    }
}
