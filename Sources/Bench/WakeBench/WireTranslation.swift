import WakeModel
import WakePorts
import WakeWire

/// From the bench's words to the wire's and back: pure, so that a table can test it.
struct WireTranslation {
    let names: NameTable
    let identifiers: PeripheralIdentifiers
    /// Whose margins and limits regions have.
    let profile: Profile

    // MARK: From the app

    /// What the app asks for; nil when the message is no request to the router, or names a peripheral nobody knows.
    func request(_ message: AppMessage) -> AppRequest? {
        switch message {
        case .done: .done
        case .beginTask(let token, _, _): .beginTask(token: token)
        case .endTask(let token): .endTask(token: token)
        case .central(let manager, let request): central(manager, request)
        case .peripheral(let manager, let peripheral, let request):
            identifiers.name(of: peripheral).flatMap { name in
                operation(request).map { .operate(manager, peripheral: name, $0) }
            }
        case .peripheralManager(let manager, let request):
            peripheralManager(request).map { .peripheralManager(manager, $0) }
        case .location(let manager, let request): location(request).map { .location(manager, $0) }
        case .voip(let request): Self.voip(request).map { .voip($0) }
        case .hello, .launched, .acknowledge, .timeRemaining, .signpost, .accessory, .audio: nil
        }
    }

    private func central(_ manager: ManagerNumber, _ request: CentralRequest) -> AppRequest? {
        switch request {
        case .create(_, let identifier, _):
            .createManager(manager, restoreIdentifier: names.intern(identifier ?? ""))
        case .scan(let services, let allowDuplicates, _):
            .scan(manager, services: intern(services), allowDuplicates: allowDuplicates)
        case .stopScan: .stopScan(manager)
        case .connect(let peripheral, let options):
            identifiers.name(of: peripheral).map {
                .connect(manager, peripheral: $0, options: Self.connectOptions(options))
            }
        case .cancel(let peripheral):
            identifiers.name(of: peripheral).map { .cancelConnection(manager, peripheral: $0) }
        case .release: .releaseManager(manager)
        case .registerForConnectionEvents(let services, let peripherals):
            .watchConnections(
                manager,
                peripherals: (peripherals ?? []).compactMap { identifiers.name(of: $0) },
                services: intern(services ?? [])
            )
        case .retrieve, .retrieveConnected: nil
        }
    }

    private static func connectOptions(_ options: WireConnectOptions) -> ConnectOptions {
        var known: ConnectOptions = []
        if options.notifyOnConnection { known.insert(.alertsOnConnection) }
        if options.notifyOnDisconnection { known.insert(.alertsOnDisconnection) }
        if options.notifyOnNotification { known.insert(.alertsOnNotification) }
        if options.autoReconnect { known.insert(.reconnects) }
        return known
    }

    private func operation(_ request: PeripheralRequest) -> BluetoothOperation? {
        switch request {
        case .discoverServices(let services): .discoverServices(intern(services ?? []))
        case .discoverIncludedServices(let services, let service):
            .discoverIncludedServices(of: service, intern(services ?? []))
        case .discoverCharacteristics(let characteristics, let service):
            .discoverCharacteristics(of: service, intern(characteristics ?? []))
        case .discoverDescriptors(let characteristic): .discoverDescriptors(of: characteristic)
        case .read(let attribute): .read(attribute)
        case .write(let attribute, let value, let withResponse):
            .write(attribute, value, withResponse: withResponse)
        case .setNotify(let attribute, let enabled): .setNotify(attribute, enabled)
        case .readDescriptor(let attribute): .readDescriptor(attribute)
        case .writeDescriptor(let attribute, let value): .writeDescriptor(attribute, value)
        case .readRSSI: .readSignalStrength
        case .openL2CAPChannel(let psm): .openChannel(psm: psm)
        }
    }

    private func intern(_ uuids: [String]) -> [NameID] {
        uuids.map(names.intern)
    }

    // MARK: To the app

    /// What the app reads of an event; nil for an event that has no callback.
    func body(_ delivery: AppDelivery, wallSeconds: Double) -> WireDeliveryBody? {
        let event = delivery.event
        switch event.kind {
        case .bluetoothPoweredOn: return .centralState(.poweredOn)
        case .bluetoothPoweredOff: return .centralState(.poweredOff)
        case .peripheralDiscovered: return discovery(delivery)
        case .peripheralConnected:
            return .centralConnected(peripheral: identifier(event), name: name(delivery.payload))
        case .peripheralConnectionFailed:
            return .centralFailedToConnect(peripheral: identifier(event), failure: failure(delivery.payload))
        case .peripheralDisconnected:
            return .centralDisconnected(
                peripheral: identifier(event),
                failure: failure(delivery.payload),
                timestamp: wallSeconds,
                isReconnecting: delivery.reconnects
            )
        case .characteristicNotified, .servicesDiscovered, .includedServicesDiscovered, .characteristicsDiscovered,
            .descriptorsDiscovered, .valueRead, .valueWritten, .notificationStateChanged, .descriptorRead,
            .descriptorWritten, .signalStrengthRead, .nameChanged, .servicesModified, .readyToWrite:
            return .peripheral(identifier(event), peripheralEvent(delivery))
        case .serviceAdded, .advertisingStarted, .centralSubscribed, .centralUnsubscribed, .readRequested,
            .writeRequested, .readyToUpdate, .channelPublished, .channelUnpublished:
            return nil
        case .channelDataAvailable: return .channelData
        case .channelOpened: return .peripheral(identifier(event), peripheralEvent(delivery))
        case .connectionEvent:
            guard case .connectionEvent(let connected) = delivery.payload else { return nil }
            return .centralConnectionEvent(peripheral: identifier(event), name: nil, isConnected: connected)
        case .positionFixed, .significantChange, .visitBegan, .visitEnded, .regionEntered, .regionExited,
            .regionStateDetermined, .monitoringStarted, .monitoringFailed, .locationUpdatesPaused,
            .authorizationChanged, .locationFailed, .beaconSighted, .beaconsRanged:
            return locationEvent(delivery, wallSeconds: wallSeconds).map { .location($0) }
        case .audioActivated, .audioStarted, .audioInBackground, .audioStopped, .audioInterrupted,
            .audioInterruptionEnded, .audioRouteChanged, .audioRanDry, .audioSilent, .audioAudible,
            .microphoneAnswered:
            return audioEvent(delivery).map { .audio($0) }
        case .accessoryConnected, .accessoryDisconnected, .accessorySessionOpened, .accessoryDataAvailable,
            .accessorySessionEnded:
            return accessoryEvent(delivery).map { .accessory($0) }
        case .voipData: return .voip(.data(socket: event.local))
        case .voipClosed: return .voip(.closed(socket: event.local))
        case .voipKeepAlive: return .voip(.keepAlive)
        case .voipAfterBoot, .voipAfterExit: return .voip(.started)
        }
    }

    private func peripheralEvent(_ delivery: AppDelivery) -> WirePeripheralEvent {
        let attribute = delivery.event.attribute
        let failure = failure(delivery.payload)
        switch delivery.event.kind {
        case .servicesDiscovered: return .services(services(delivery.payload), failure: failure)
        case .includedServicesDiscovered:
            return .includedServices(services(delivery.payload), service: attribute, failure: failure)
        case .characteristicsDiscovered:
            return .characteristics(characteristics(delivery.payload), service: attribute, failure: failure)
        case .descriptorsDiscovered:
            return .descriptors(descriptors(delivery.payload), characteristic: attribute, failure: failure)
        case .valueWritten: return .written(attribute: attribute, failure: failure)
        case .descriptorRead:
            return .descriptorValue(attribute: attribute, value: value(delivery.payload), failure: failure)
        case .descriptorWritten: return .descriptorWritten(attribute: attribute, failure: failure)
        case .notificationStateChanged:
            var on = false
            if case .notifying(let notifying) = delivery.payload { on = notifying }
            return .notifyState(attribute: attribute, notifying: on, failure: failure)
        case .signalStrengthRead:
            var strength = 127
            if case .signalStrength(let value) = delivery.payload { strength = Int(value) }
            return .rssi(strength, failure: failure)
        case .nameChanged: return .nameChanged(name(delivery.payload))
        case .servicesModified:
            if case .handles(let handles) = delivery.payload { return .modifiedServices(handles) }
            return .modifiedServices([])
        case .channelOpened:
            var psm: UInt16 = 0
            if case .psm(let opened) = delivery.payload { psm = opened }
            return .channelOpened(psm: psm, failure: failure)
        case .readyToWrite: return .readyToWrite
        case .characteristicNotified, .valueRead, .bluetoothPoweredOn, .bluetoothPoweredOff, .peripheralDiscovered,
            .peripheralConnected, .peripheralConnectionFailed, .peripheralDisconnected, .serviceAdded,
            .advertisingStarted, .centralSubscribed, .centralUnsubscribed, .readRequested, .writeRequested,
            .readyToUpdate, .channelPublished, .channelUnpublished, .channelDataAvailable,
            .connectionEvent:
            return .value(attribute: attribute, value: value(delivery.payload), failure: failure)
        default: preconditionFailure("\(delivery.event.kind.word) is no event of a peripheral")
        }
    }

    private func discovery(_ delivery: AppDelivery) -> WireDeliveryBody? {
        guard case .advertisement(let seen) = delivery.payload else { return nil }
        return .centralDiscovered(
            WireDiscovery(
                identifier: identifier(delivery.event),
                name: seen.localName,
                localName: seen.localName,
                services: seen.services,
                manufacturerData: seen.manufacturerData,
                serviceData: seen.serviceData.map { WireServiceData(uuid: $0.service, data: $0.data) },
                txPower: seen.txPower.map(Int.init),
                isConnectable: seen.connectable,
                rssi: Int(seen.signalStrength)
            )
        )
    }

    /// What a manager gets back in willRestoreState.
    func restoration(_ state: RestoredState, known: (NameID) -> KnownPeripheral?) -> WireRestoration {
        let peripherals = state.peripherals.map { peripheral in
            let known = known(peripheral.name)
            return WirePeripheral(
                identifier: identifiers.identifier(of: peripheral.name),
                name: known?.name,
                state: peripheral.connected ? .connected : .connecting,
                services: peripheral.connected ? services(known, subscribed: peripheral.subscriptions) : []
            )
        }
        return WireRestoration(
            peripherals: peripherals,
            scanServices: state.scanServices?.map(names.text),
            scanAllowsDuplicates: state.scanAllowsDuplicates
        )
    }

    private func services(_ known: KnownPeripheral?, subscribed: [AttributeHandle]) -> [WireService] {
        guard let known else { return [] }
        return known.services.map { service in
            WireService(
                uuid: service.uuid,
                handle: service.handle,
                isPrimary: service.primary,
                characteristics: known.characteristics.filter { $0.service == service.handle }.map {
                    WireCharacteristic(
                        uuid: $0.uuid,
                        handle: $0.handle,
                        properties: WireProperties(rawValue: $0.properties),
                        isNotifying: subscribed.contains($0.handle)
                    )
                }
            )
        }
    }

    /// The state of Bluetooth as a manager is told it.
    static func radioState(_ state: BluetoothState) -> WireRadioState {
        switch state {
        case .poweredOff: .poweredOff
        case .poweredOn: .poweredOn
        case .unauthorized: .unauthorized
        }
    }

    // MARK: Payloads

    private func identifier(_ event: WakeEvent) -> String { identifiers.identifier(of: event.peripheral) }

    func failure(_ payload: EventPayload) -> WireFailure? {
        guard case .failure(let failure) = payload else { return nil }
        let domain =
            switch failure.domain {
            case .core: "CBErrorDomain"
            case .att: "CBATTErrorDomain"
            }
        return WireFailure(domain: domain, code: Int(failure.code), message: failure.message)
    }

    private func value(_ payload: EventPayload) -> [UInt8]? {
        if case .value(let bytes) = payload { bytes } else { nil }
    }

    private func name(_ payload: EventPayload) -> String? {
        if case .name(let name) = payload { name } else { nil }
    }

    private func services(_ payload: EventPayload) -> [WireService] {
        guard case .services(let services) = payload else { return [] }
        return services.map { WireService(uuid: $0.uuid, handle: $0.handle, isPrimary: $0.primary) }
    }

    private func characteristics(_ payload: EventPayload) -> [WireCharacteristic] {
        guard case .characteristics(let characteristics) = payload else { return [] }
        return characteristics.map {
            WireCharacteristic(
                uuid: $0.uuid,
                handle: $0.handle,
                properties: WireProperties(rawValue: $0.properties)
            )
        }
    }

    private func descriptors(_ payload: EventPayload) -> [WireDescriptor] {
        guard case .descriptors(let descriptors) = payload else { return [] }
        return descriptors.map { WireDescriptor(uuid: $0.uuid, handle: $0.handle) }
    }
}
