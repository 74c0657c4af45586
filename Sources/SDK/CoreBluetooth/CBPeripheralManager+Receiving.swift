import Foundation
import WakeClient
import WakeWire

// What the bench delivers, on the manager's queue.
extension CBPeripheralManager {
    func receive(_ event: WirePeripheralManagerEvent, _ descriptor: ReceivedDescriptor?) {
        switch event {
        case .state(let state):
            receive(CBManagerState(state))
        case .willRestore(let restoration):
            receive(restoration)
        case .serviceAdded(let service, let failure):
            receiveAdded(service, failure)
        case .advertisingStarted(let failure):
            if failure == nil {
                lock.withLock { storedIsAdvertising = true }
            }
            delegate?.peripheralManagerDidStartAdvertising(self, error: appError(failure))
        case .subscribed(let central, let characteristic):
            if let characteristic = own(characteristic), let central = known(central) {
                characteristic.subscribe(central)
                delegate?.peripheralManager(self, central: central, didSubscribeTo: characteristic)
            }
        case .unsubscribed(let central, let characteristic):
            if let characteristic = own(characteristic), let central = known(central) {
                characteristic.unsubscribe(central)
                delegate?.peripheralManager(self, central: central, didUnsubscribeFrom: characteristic)
            }
        case .readRequest, .writeRequests:
            receiveRequest(event)
        case .readyToUpdate:
            delegate?.peripheralManagerIsReady(toUpdateSubscribers: self)
        case .channelPublished, .channelUnpublished, .channelOpened:
            receiveChannel(event, descriptor)
        }
    }

    /// Below powered off the system forgets what was published.
    private func receive(_ state: CBManagerState) {
        setState(state)
        if state.rawValue < CBManagerState.poweredOff.rawValue {
            forgetServices()
            lock.withLock { storedIsAdvertising = false }
        }
        if state != .poweredOn {
            lock.withLock { unanswered = [] }
        }
        delegate?.peripheralManagerDidUpdateState(self)
    }

    private func receive(_ restoration: WirePeripheralRestoration) {
        var restored: [String: Any] = [:]
        var all: [CBMutableService] = []
        for service in restoration.services {
            let object = CBMutableService(service, among: lock.withLock { services })
            lock.withLock {
                services[object.number] = object
                for characteristic in object.ownCharacteristics {
                    characteristics[characteristic.number] = characteristic
                }
            }
            all.append(object)
        }
        for subscription in restoration.subscriptions {
            if let characteristic = own(subscription.characteristic),
                let central = known(subscription.central)
            {
                characteristic.subscribe(central)
            }
        }
        if !all.isEmpty {
            restored[CBPeripheralManagerRestoredStateServicesKey] = all
        }
        if let advertisement = restoration.advertisement {
            lock.withLock { storedIsAdvertising = true }
            restored[CBPeripheralManagerRestoredStateAdvertisementDataKey] = advertisement.data
        }
        delegate?.peripheralManager(self, willRestoreState: restored)
    }

    private func receiveAdded(_ number: UInt32, _ failure: WireFailure?) {
        guard let service = lock.withLock({ services[number] }) else {
            return
        }
        if failure != nil {
            forget(service)
        }
        delegate?.peripheralManager(self, didAdd: service, error: appError(failure))
    }

    private func receiveRequest(_ event: WirePeripheralManagerEvent) {
        switch event {
        case .readRequest(let central, let number, let characteristic, let offset):
            let characteristic = own(characteristic)
            let requests = [request(number, of: central, to: characteristic, at: offset, value: nil)]
                .compactMap(\.self)
            answerable(number, requests, of: 1) {
                delegate?.peripheralManager(self, didReceiveRead: $0[0])
            }
        case .writeRequests(let central, let number, let writes):
            let requests = writes.compactMap {
                request(
                    number,
                    of: central,
                    to: own($0.characteristic),
                    at: $0.offset,
                    value: Data($0.value)
                )
            }
            answerable(number, requests, of: writes.count) {
                delegate?.peripheralManager(self, didReceiveWrite: $0)
            }
        default:
            break
        }
    }

    private func request(
        _ number: UInt32,
        of central: WireCentral,
        to characteristic: CBMutableCharacteristic?,
        at offset: UInt16,
        value: Data?
    ) -> CBATTRequest? {
        guard let characteristic, let central = known(central) else {
            return nil
        }
        return CBATTRequest(
            number: number,
            central: central,
            characteristic: characteristic,
            offset: Int(offset),
            value: value
        )
    }

    /// Hands requests to the delegate; those for a service that was taken back meanwhile fail at once.
    private func answerable(
        _ number: UInt32,
        _ requests: [CBATTRequest],
        of count: Int,
        _ tell: ([CBATTRequest]) -> Void
    ) {
        guard count > 0, requests.count == count, delegate != nil else {
            return refuse(number)
        }
        _ = lock.withLock { unanswered.insert(number) }
        tell(requests)
    }

    private func receiveChannel(
        _ event: WirePeripheralManagerEvent,
        _ descriptor: ReceivedDescriptor?
    ) {
        switch event {
        case .channelPublished(let psm, let failure):
            delegate?.peripheralManager(self, didPublishL2CAPChannel: psm, error: appError(failure))
        case .channelUnpublished(let psm, let failure):
            delegate?.peripheralManager(self, didUnpublishL2CAPChannel: psm, error: appError(failure))
        case .channelOpened(let central, let psm, let failure):
            var channel: CBL2CAPChannel?
            if failure == nil, let descriptor, let peer = known(central) {
                channel = CBL2CAPChannel(descriptor, peer: peer, psm: psm)
            }
            let error = channel == nil ? appError(failure ?? .lostChannel) : nil
            delegate?.peripheralManager(self, didOpen: channel, error: error)
        default:
            break
        }
    }

    private func own(_ number: UInt32) -> CBMutableCharacteristic? {
        lock.withLock { characteristics[number] }
    }

    /// The object for a central: the one that somebody still holds, or a new one.
    private func known(_ central: WireCentral) -> CBCentral? {
        guard let identifier = UUID(uuidString: central.identifier) else {
            return nil
        }
        let length = Int(central.maximumUpdateLength)
        return lock.withLock {
            if let object = centrals[identifier]?.object {
                object.maximumUpdateValueLength = length
                return object
            }
            centrals = centrals.filter { $0.value.object != nil }
            let object = CBCentral(identifier: identifier, maximumUpdateValueLength: length)
            centrals[identifier] = Weak(object)
            return object
        }
    }
}

extension WirePeripheralRestoration.Advertisement {
    fileprivate var data: [String: Any] {
        var data: [String: Any] = [:]
        if let localName {
            data[CBAdvertisementDataLocalNameKey] = localName
        }
        if !services.isEmpty {
            data[CBAdvertisementDataServiceUUIDsKey] = services.map { CBUUID(string: $0) }
        }
        return data
    }
}
