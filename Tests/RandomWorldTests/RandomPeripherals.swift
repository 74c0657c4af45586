import WakeModel

/// What apps of the random world publish, and what its centrals do with it.
extension RandomWorld {
    /// The peripheral managers of an app; central managers have lower numbers.
    static let peripheralManagers: [ManagerNumber] = [11, 12]

    /// An app publishes a service and advertises it.
    mutating func publish(_ index: Int) {
        let app = AppID(UInt32(index))
        let number = chance.pick(Self.peripheralManagers)
        hear(.request(app, .peripheralManager(number, .addService(service(1)))))
        hear(.request(app, .peripheralManager(number, .startAdvertising(localName: "x", services: [NameID(400)]))))
    }

    /// A service whose one characteristic has the number of the service and ten.
    private func service(_ number: UInt32) -> LocalService {
        LocalService(
            number: number,
            uuid: "180F",
            characteristics: [
                LocalCharacteristic(number: number + 10, uuid: "2A19", properties: 0x1a, permissions: 3)
            ]
        )
    }

    mutating func anyPeripheralRequest(_ index: Int) -> AppRequest {
        let number = chance.pick(Self.peripheralManagers)
        if chance.once(in: 20) { return .peripheralManager(1, .stopAdvertising) }
        return .peripheralManager(number, anyManagerRequest(number, of: index))
    }

    private mutating func anyManagerRequest(_ number: ManagerNumber, of index: Int) -> PeripheralManagerRequest {
        let service = UInt32(1 + chance.below(3))
        switch chance.below(16) {
        case 0..<3: return .addService(self.service(service))
        case 3: return .removeService(service)
        case 4: return chance.once(in: 3) ? .removeAllServices : .addService(self.service(service))
        case 5, 6: return .startAdvertising(localName: "x", services: [NameID(400)])
        case 7: return .stopAdvertising
        case 8: return .updateValue(characteristic: service + 10, value: [1], centrals: [])
        case 9..<12: return respond(index)
        case 12: return chance.once(in: 2) ? .publishChannel(encrypted: false) : .unpublishChannel(psm: 192)
        case 13: return chance.once(in: 3) ? .release : .create(restoreIdentifier: .none)
        default: return .create(restoreIdentifier: restoreIdentifier(number, of: index))
        }
    }

    private mutating func respond(_ index: Int) -> PeripheralManagerRequest {
        let known = asked.last { Int($0.app.number) == index }
        let isStale = chance.once(in: 8)
        return .respond(request: isStale ? 1 : known?.request ?? lastRequest, result: 0, value: [1])
    }

    /// A central asks for something, or the end answers an app.
    mutating func air() {
        guard !airCommands.isEmpty else { return }
        switch chance.pick(airCommands) {
        case .publish(let client, let service, let again):
            if again || !chance.once(in: 6) { return ask(client, service.number + 10) }
            tell(.serviceAdded, client, local: service.number, failed: chance.once(in: 3))
        case .advertise(let client, _, _, _, _): tell(.advertisingStarted, client, failed: chance.once(in: 3))
        case .update(let client, _, _, _): tell(.readyToUpdate, client)
        case .publishChannel(let client, _):
            tell(
                chance.pick([.channelPublished, .channelPublished, .channelOpened, .channelDataAvailable]),
                client,
                local: 192
            )
        case .unpublishChannel(let client, let psm): tell(.channelUnpublished, client, local: UInt32(psm))
        case .unpublish, .setServing, .stopAdvertising, .respond, .release: break
        }
    }

    /// A central asks for something of what an app published lately.
    mutating func askSomething(of app: AppID) {
        for case .publish(let client, let service, _) in airCommands.reversed() where client.app == app {
            return ask(client, service.number + 10)
        }
    }

    private mutating func ask(_ client: BluetoothClient, _ characteristic: UInt32) {
        let kinds: [EventKind] = [.readRequested, .writeRequested, .centralSubscribed, .centralUnsubscribed]
        let kind = chance.pick(kinds)
        let flood = chance.once(in: 2_000) ? 80 : 1
        for _ in 0..<flood { tell(kind, client, local: characteristic) }
    }

    private mutating func tell(
        _ kind: EventKind,
        _ client: BluetoothClient,
        local: UInt32 = 0,
        failed: Bool = false
    ) {
        let wantsAnswer = kind == .readRequested || kind == .writeRequested
        if wantsAnswer { lastRequest += 1 }
        hear(
            .event(
                WakeEvent(
                    kind: kind,
                    peripheral: NameID(UInt32(500 + chance.below(2))),
                    local: local,
                    request: wantsAnswer ? lastRequest : 0,
                    client: client,
                    failed: failed
                )
            ),
            isEvent: true
        )
    }
}
