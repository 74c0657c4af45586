import WakeModel
import WakePorts
import WakeWire

/// The peripheral role: the wire carries identifiers and UUIDs, the router names.
extension WireTranslation {
    // MARK: From the app

    /// What the app asks for; nil when it names a central nobody knows.
    func peripheralManager(_ request: WirePeripheralManagerRequest) -> PeripheralManagerRequest? {
        switch request {
        case .create(_, let identifier, _): .create(restoreIdentifier: names.intern(identifier ?? ""))
        case .addService(let service): .addService(service)
        case .removeService(let number): .removeService(number)
        case .removeAllServices: .removeAllServices
        case .startAdvertising(let localName, let services):
            .startAdvertising(localName: localName, services: services.map(names.intern))
        case .stopAdvertising: .stopAdvertising
        case .updateValue(_, let characteristic, let value, let centrals):
            known(centrals).map { .updateValue(characteristic: characteristic, value: value, centrals: $0) }
        case .respond(let request, let result, let value):
            .respond(request: request, result: result, value: value)
        case .publishChannel(let encrypted): .publishChannel(encrypted: encrypted)
        case .unpublishChannel(let psm): .unpublishChannel(psm: psm)
        case .release: .release
        }
    }

    /// The names of centrals, none of them for all that are subscribed; nil when some are named and none is known.
    private func known(_ centrals: [String]?) -> [NameID]? {
        guard let centrals else { return [] }
        let known = centrals.compactMap { identifiers.name(of: $0) }
        return known.isEmpty ? nil : known
    }

    // MARK: To the app

    /// What a peripheral manager reads of an event; nil for one that has no callback.
    ///
    /// - Parameter length: How many bytes an update to a central may have.
    func peripheralManagerEvent(
        _ delivery: AppDelivery,
        length: (NameID) -> UInt16
    ) -> WirePeripheralManagerEvent? {
        let event = delivery.event
        let failure = failure(delivery.payload)
        var central: WireCentral { self.central(event.peripheral, length) }
        switch (event.kind, delivery.payload) {
        case (.bluetoothPoweredOn, _): return .state(.poweredOn)
        case (.bluetoothPoweredOff, _): return .state(.poweredOff)
        case (.serviceAdded, _): return .serviceAdded(service: event.local, failure: failure)
        case (.advertisingStarted, _): return .advertisingStarted(failure: failure)
        case (.centralSubscribed, _): return .subscribed(central, characteristic: event.local)
        case (.centralUnsubscribed, _): return .unsubscribed(central, characteristic: event.local)
        case (.readRequested, .readRequest(let offset)):
            return .readRequest(central, request: event.request, characteristic: event.local, offset: offset)
        case (.writeRequested, .writeRequests(let writes)):
            return .writeRequests(central, request: event.request, writes)
        case (.readyToUpdate, _): return .readyToUpdate
        case (.channelPublished, _):
            return .channelPublished(psm: UInt16(truncatingIfNeeded: event.local), failure: failure)
        case (.channelUnpublished, _):
            return .channelUnpublished(psm: UInt16(truncatingIfNeeded: event.local), failure: failure)
        case (.channelOpened, .psm(let psm)): return .channelOpened(central, psm: psm, failure: nil)
        case (.channelOpened, _): return .channelOpened(central, psm: 0, failure: failure)
        default: return nil
        }
    }

    private func central(_ name: NameID, _ length: (NameID) -> UInt16) -> WireCentral {
        WireCentral(identifier: identifiers.identifier(of: name), maximumUpdateLength: length(name))
    }

    /// What a peripheral manager gets back in willRestoreState.
    func restoration(_ state: RestoredPeripheral, length: (NameID) -> UInt16) -> WirePeripheralRestoration {
        WirePeripheralRestoration(
            services: state.services,
            subscriptions: state.subscribed.map {
                .init(characteristic: $0.characteristic, central: central($0.central, length))
            },
            advertisement: state.advertised.map {
                .init(localName: $0.localName, services: $0.services.map(names.text))
            }
        )
    }
}
