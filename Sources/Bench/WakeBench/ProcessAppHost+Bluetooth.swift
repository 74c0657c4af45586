import WakeModel
import WakePorts
import WakeWire

extension BluetoothArea {
    static func tell(_ notice: AppNotice, to app: AppID, through host: ProcessAppHost) {
        switch notice {
        case .managerState(let manager, let state):
            let word = WireTranslation.radioState(state)
            if host.isPeripheralManager(manager, of: app) {
                let event = WirePeripheralManagerEvent.state(host.isPeripheralMissing ? .unsupported : word)
                host.tell(.peripheralManager(event), to: manager, of: app, named: "peripheralManagerDidUpdateState")
            } else {
                host.tell(.central(.state(word)), to: manager, of: app, named: "centralManagerDidUpdateState")
            }
        case .restore(let manager, let state):
            let restoration = host.translation.restoration(state) {
                host.surroundings?.view.found($0, by: app, manager: manager)
            }
            host.tell(.central(.willRestore(restoration)), to: manager, of: app, named: "willRestoreState")
        case .restorePeripheral(let manager, let state):
            let restoration = host.translation.restoration(state, length: host.updateLength)
            host.tell(.peripheralManager(.willRestore(restoration)), to: manager, of: app, named: "willRestoreState")
        default: break
        }
    }

    static func told(_ delivery: AppDelivery, to app: AppID, through host: ProcessAppHost) -> ToldEvent? {
        let isPeripheral = host.isPeripheralManager(delivery.manager, of: app)
        guard isPeripheral, delivery.event.kind != .channelDataAvailable else {
            return host.translation.centralEvent(delivery, wallSeconds: host.surroundings?.wallSeconds ?? 0).map {
                ToldEvent($0, of: delivery)
            }
        }
        return host.translation.peripheralManagerEvent(delivery, length: host.updateLength).map { event in
            guard case .state = event else { return ToldEvent(.peripheralManager(event), of: delivery) }
            let state = host.isPeripheralMissing ? WirePeripheralManagerEvent.state(.unsupported) : event
            var told = ToldEvent(.peripheralManager(state), of: delivery)
            told.callback = "peripheralManagerDidUpdateState"
            return told
        }
    }

    static func names(in message: AppMessage) -> [String] {
        switch message {
        case .central(_, .create(_, let identifier, _)): [identifier ?? ""]
        case .central(_, .scan(let services, _, _)): services
        case .central(_, .registerForConnectionEvents(let services, _)): services ?? []
        case .central(_, .retrieveConnected(_, let services)): services
        case .peripheral(_, _, .discoverServices(let services)): services ?? []
        case .peripheral(_, _, .discoverIncludedServices(let services, _)): services ?? []
        case .peripheral(_, _, .discoverCharacteristics(let characteristics, _)): characteristics ?? []
        case .peripheralManager(_, .create(_, let identifier, _)): [identifier ?? ""]
        case .peripheralManager(_, .addService(let service)): [service.uuid] + service.characteristics.map(\.uuid)
        case .peripheralManager(_, .startAdvertising(_, let services)): services
        default: []
        }
    }

    static func refuse(_ message: AppMessage, because text: String, to app: AppID, by host: ProcessAppHost) {
        switch message {
        case .central(let manager, .create(let id, _, _)):
            host.reply(id, WireReply(), to: app)
            host.tell(.central(.state(.unsupported)), to: manager, of: app, named: "centralManagerDidUpdateState")
        case .central(_, .retrieveConnected(let id, _)): host.reply(id, WireReply(peripherals: []), to: app)
        case .peripheralManager(let manager, .create(let id, _, _)):
            host.noteManager(manager, of: app)
            host.reply(id, WireReply(), to: app)
            let state = WirePeripheralManagerEvent.state(.unsupported)
            host.tell(.peripheralManager(state), to: manager, of: app, named: "peripheralManagerDidUpdateState")
        case .peripheralManager(let manager, .addService(let service)):
            let failure = WireFailure(domain: "CBErrorDomain", code: 1, message: text)
            let event = WirePeripheralManagerEvent.serviceAdded(service: service.number, failure: failure)
            host.tell(.peripheralManager(event), to: manager, of: app, named: "didAddService")
        default: break
        }
    }

    static func explain(_ cause: LaunchCause, in options: inout LaunchOptions, _ names: NameTable) {
        options.bluetoothCentrals = cause.restores.central.map(names.text)
        options.bluetoothPeripherals = cause.restores.peripheral.map(names.text)
    }
}

/// The managers of real apps that are centrals.
extension ProcessAppHost {
    /// A request of a central manager; what is known is answered here, without the router.
    func heard(_ request: CentralRequest, manager: ManagerNumber, from app: AppID) {
        switch request {
        case .retrieve(let id, let identifiers):
            let isOn = surroundings?.view.radio.poweredOn == true
            let found = isOn ? identifiers.compactMap { translation.identifiers.name(of: $0) } : []
            reply(id, WireReply(peripherals: found.map { known($0, app, manager) }), to: app)
            return
        case .retrieveConnected(let id, let services):
            let found =
                surroundings?.view.radio.connectedPeripherals(services: services.map(translation.names.intern)) ?? []
            reply(id, WireReply(peripherals: found.map { known($0, app, manager) }), to: app)
            return
        case .create(let id, _, _): reply(id, WireReply(), to: app)
        default: break
        }
        ask(translation.central(manager, request), app)
    }

    /// A request to a peripheral of a central manager.
    func heard(_ request: PeripheralRequest, manager: ManagerNumber, peripheral: String, from app: AppID) {
        guard let name = translation.identifiers.name(of: peripheral) else { return ask(nil, app) }
        if case .writeRoom(let id) = request {
            let (room, turn) = writeRoom(of: app, manager, to: name)
            let left = commandsAsked.room(app, manager, name, of: room, turn)
            let longest = surroundings?.view.radio.longestWriteCommand(to: name)
            reply(id, WireReply(room: UInt16(clamping: left), longest: longest.map { UInt16(clamping: $0) }), to: app)
        }
        guard let operation = translation.operation(request) else { return }
        if case .write(_, _, withResponse: false) = operation {
            let (room, turn) = writeRoom(of: app, manager, to: name)
            _ = commandsAsked.take(app, manager, name, of: room, turn)
        }
        ask(.operate(manager, peripheral: name, operation), app)
    }

    private func writeRoom(of app: AppID, _ manager: ManagerNumber, to name: NameID) -> (room: Int, turn: UInt64) {
        surroundings?.view.writeRoom(of: app, manager: manager, to: name) ?? (0, 0)
    }

    private func ask(_ request: AppRequest?, _ app: AppID) {
        guard let request else { return fault("names a peripheral that was never seen", app) }
        say(app, .request(request))
    }

    private func known(_ name: NameID, _ app: AppID, _ manager: ManagerNumber) -> WirePeripheral {
        WirePeripheral(
            identifier: translation.identifiers.identifier(of: name),
            name: surroundings?.view.radio.knownPeripheral(name)?.name,
            state: surroundings?.view.linkState(of: app, manager: manager, to: name) ?? .disconnected
        )
    }
}
