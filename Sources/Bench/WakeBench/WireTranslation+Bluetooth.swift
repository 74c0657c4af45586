import WakeModel
import WakePorts
import WakeWire

/// Centrals: the wire carries identifiers and UUIDs, the router names.
extension WireTranslation {
    // MARK: From the app

    /// What the app asks for; nil when it names a peripheral nobody knows.
    func central(_ manager: ManagerNumber, _ request: CentralRequest) -> AppRequest? {
        switch request {
        case .create(_, let identifier, _):
            .createManager(manager, restoreIdentifier: names.intern(identifier ?? ""))
        case .scan(let services, let allowDuplicates, _):
            .scan(manager, services: services.map(names.intern), allowDuplicates: allowDuplicates)
        case .stopScan: .stopScan(manager)
        case .connect(let peripheral, let options, _):
            identifiers.name(of: peripheral).map { .connect(manager, peripheral: $0, options: options) }
        case .cancel(let peripheral):
            identifiers.name(of: peripheral).map { .cancelConnection(manager, peripheral: $0) }
        case .release: .releaseManager(manager)
        case .registerForConnectionEvents(let services, let peripherals):
            .watchConnections(
                manager,
                peripherals: (peripherals ?? []).compactMap { identifiers.name(of: $0) },
                services: (services ?? []).map(names.intern)
            )
        case .retrieve, .retrieveConnected: nil
        }
    }

    /// What a GATT operation is to the radio; nil for a question that the bench answers.
    func operation(_ request: PeripheralRequest) -> BluetoothOperation? {
        switch request {
        case .discoverServices(let services): .discoverServices((services ?? []).map(names.intern))
        case .discoverIncludedServices(let services, let service):
            .discoverIncludedServices(of: service, (services ?? []).map(names.intern))
        case .discoverCharacteristics(let characteristics, let service):
            .discoverCharacteristics(of: service, (characteristics ?? []).map(names.intern))
        case .discoverDescriptors(let characteristic): .discoverDescriptors(of: characteristic)
        case .read(let attribute): .read(attribute)
        case .write(let attribute, let value, let withResponse):
            .write(attribute, value, withResponse: withResponse)
        case .setNotify(let attribute, let enabled): .setNotify(attribute, enabled)
        case .readDescriptor(let attribute): .readDescriptor(attribute)
        case .writeDescriptor(let attribute, let value): .writeDescriptor(attribute, value)
        case .readRSSI: .readSignalStrength
        case .openL2CAPChannel(let psm): .openChannel(psm: psm)
        case .writeRoom: nil
        }
    }

    // MARK: To the app

    /// What a central manager or one of its peripherals reads of an event; nil for one that has no callback.
    func centralEvent(_ delivery: AppDelivery, wallSeconds: Double) -> WireDeliveryBody? {
        let event = delivery.event
        switch event.kind {
        case .bluetoothPoweredOn: return .central(.state(.poweredOn))
        case .bluetoothPoweredOff: return .central(.state(.poweredOff))
        case .peripheralDiscovered: return discovery(delivery).map { .central(.discovered($0)) }
        case .peripheralConnected:
            return .central(.connected(peripheral: identifier(event), name: name(delivery.payload)))
        case .peripheralConnectionFailed:
            return .central(.failedToConnect(peripheral: identifier(event), failure: failure(delivery.payload)))
        case .peripheralDisconnected:
            return .central(
                .disconnected(
                    peripheral: identifier(event),
                    failure: failure(delivery.payload),
                    timestamp: wallSeconds,
                    isReconnecting: delivery.reconnects
                )
            )
        case .connectionEvent:
            guard case .connectionEvent(let connected) = delivery.payload else { return nil }
            return .central(.connectionEvent(peripheral: identifier(event), name: nil, isConnected: connected))
        case .channelDataAvailable: return .channelData
        default: return peripheralEvent(delivery).map { .peripheral(identifier(event), $0) }
        }
    }

    private func peripheralEvent(_ delivery: AppDelivery) -> WirePeripheralEvent? {
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
        case .characteristicNotified, .valueRead:
            return .value(attribute: attribute, value: value(delivery.payload), failure: failure)
        default: return nil
        }
    }

    private func discovery(_ delivery: AppDelivery) -> WireDiscovery? {
        guard case .advertisement(let seen) = delivery.payload else { return nil }
        return WireDiscovery(identifier: identifier(delivery.event), name: seen.localName, seen)
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
                        properties: $0.properties,
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
            WireCharacteristic(uuid: $0.uuid, handle: $0.handle, properties: $0.properties)
        }
    }

    private func descriptors(_ payload: EventPayload) -> [GATTDescriptor] {
        if case .descriptors(let descriptors) = payload { descriptors } else { [] }
    }
}
