import Foundation
import WakeClient
import WakeModel
import WakeWire

// MARK: The manager's side

extension CBPeripheral {
    func setName(_ name: String?) {
        if let name {
            lock.withLock { storedName = name }
        }
    }

    func restore(_ peripheral: WirePeripheral) {
        setName(peripheral.name)
        state = CBPeripheralState(peripheral.state)
        guard !peripheral.services.isEmpty else {
            return
        }
        for service in merge(peripheral.services) {
            let known = peripheral.services.first { $0.handle == service.handle }?.characteristics ?? []
            if !known.isEmpty {
                merge(known, into: service)
            }
        }
    }

    /// The connection is over: what was asked for fails, then the services are gone.
    func endLink(becoming state: CBPeripheralState) {
        let unanswered = lock.withLock {
            storedState = state
            writeRoom = 0
            return exchange(&pending, with: [])
        }
        for operation in unanswered {
            fail(operation)
        }
        let void = lock.withLock { servicesByHandle.values }
        for service in void {
            service.invalidate()
        }
        lock.withLock {
            storedServices = nil
            servicesByHandle = [:]
            characteristics = [:]
            descriptors = [:]
        }
    }

    func receive(_ event: WirePeripheralEvent, _ descriptor: ReceivedDescriptor? = nil) {
        switch event {
        case .services(let services, let failure):
            answered(.discoverServices)
            merge(services)
            delegate?.peripheral(self, didDiscoverServices: appError(failure))
        case .includedServices(let services, let handle, let failure):
            receiveIncluded(services, handle, failure)
        case .characteristics(let found, let handle, let failure):
            answered(.discoverCharacteristics(handle))
            if let service = service(handle) {
                merge(found, into: service)
                delegate?.peripheral(self, didDiscoverCharacteristicsFor: service, error: appError(failure))
            }
        case .descriptors(let found, let handle, let failure):
            receiveDescriptors(found, handle, failure)
        case .value, .written, .notifyState:
            receiveCharacteristicEvent(event)
        case .descriptorValue, .descriptorWritten:
            receiveDescriptorEvent(event)
        case .rssi(let rssi, let failure):
            answered(.readRSSI)
            delegate?.peripheral(self, didReadRSSI: NSNumber(value: rssi), error: appError(failure))
        case .nameChanged(let name):
            lock.withLock { storedName = name }
            delegate?.peripheralDidUpdateName(self)
        case .modifiedServices(let handles):
            let removed = remove(handles)
            delegate?.peripheral(self, didModifyServices: removed)
        case .readyToWrite:
            delegate?.peripheralIsReady(toSendWriteWithoutResponse: self)
        case .channelOpened(let psm, let failure):
            receiveChannel(psm, failure, descriptor)
        }
    }

    private func receiveChannel(
        _ psm: UInt16,
        _ failure: WireFailure?,
        _ descriptor: ReceivedDescriptor?
    ) {
        answered(.openChannel(psm))
        let channel =
            failure == nil ? descriptor.flatMap { CBL2CAPChannel($0, peer: self, psm: psm) } : nil
        let failure = channel == nil ? failure ?? .lostChannel : nil
        delegate?.peripheral(self, didOpen: channel, error: appError(failure))
    }

    private func receiveIncluded(_ services: [WireService], _ handle: UInt16, _ failure: WireFailure?) {
        answered(.discoverIncludedServices(handle))
        guard let service = service(handle) else {
            return
        }
        service.includedServices = services.map { known($0) }
        delegate?.peripheral(self, didDiscoverIncludedServicesFor: service, error: appError(failure))
    }

    private func receiveDescriptors(
        _ found: [GATTDescriptor],
        _ handle: UInt16,
        _ failure: WireFailure?
    ) {
        answered(.discoverDescriptors(handle))
        guard let characteristic = characteristic(handle) else {
            return
        }
        let all = lock.withLock {
            found.map { descriptor in
                let object = descriptors[descriptor.handle] ?? CBDescriptor(descriptor, of: characteristic)
                descriptors[descriptor.handle] = object
                return object
            }
        }
        characteristic.descriptors = all
        delegate?.peripheral(self, didDiscoverDescriptorsFor: characteristic, error: appError(failure))
    }

    private func receiveCharacteristicEvent(_ event: WirePeripheralEvent) {
        switch event {
        case .value(let handle, let value, let failure):
            guard let characteristic = take(value, of: handle) else {
                return
            }
            delegate?.peripheral(self, didUpdateValueFor: characteristic, error: appError(failure))
        case .written(let handle, let failure):
            answered(.write(handle))
            if let characteristic = characteristic(handle) {
                delegate?.peripheral(self, didWriteValueFor: characteristic, error: appError(failure))
            }
        case .notifyState(let handle, let notifying, let failure):
            answered(.setNotify(handle))
            if let characteristic = characteristic(handle) {
                characteristic.isNotifying = notifying
                delegate?.peripheral(
                    self,
                    didUpdateNotificationStateFor: characteristic,
                    error: appError(failure)
                )
            }
        default:
            break
        }
    }

    /// Notes the answer to a read, or a notified value; gives the characteristic where it is known.
    private func take(_ value: [UInt8]?, of handle: UInt16) -> CBCharacteristic? {
        let data = value.map { Data($0) }
        return lock.withLock {
            if !pending.isEmpty, let index = pending.firstIndex(of: .read(handle)) {
                pending.remove(at: index)
            }
            let characteristic = characteristics[handle]
            if let data {
                characteristic?.setValueLocked(data)
            }
            return characteristic
        }
    }

    private func receiveDescriptorEvent(_ event: WirePeripheralEvent) {
        switch event {
        case .descriptorValue(let handle, let value, let failure):
            answered(.readDescriptor(handle))
            guard let descriptor = lock.withLock({ descriptors[handle] }) else {
                return
            }
            if let value {
                descriptor.setValue(value)
            }
            delegate?.peripheral(self, didUpdateValueFor: descriptor, error: appError(failure))
        case .descriptorWritten(let handle, let failure):
            answered(.writeDescriptor(handle))
            if let descriptor = lock.withLock({ descriptors[handle] }) {
                delegate?.peripheral(self, didWriteValueFor: descriptor, error: appError(failure))
            }
        default:
            break
        }
    }

    private func fail(_ operation: Operation) {
        let failure = WireFailure(
            domain: CBErrorDomain,
            code: CBError.Code.peripheralDisconnected.rawValue,
            message: "The specified device has disconnected from us."
        )
        switch operation {
        case .discoverServices:
            delegate?.peripheral(self, didDiscoverServices: appError(failure))
        case .discoverIncludedServices(let handle):
            if let service = service(handle) {
                delegate?.peripheral(
                    self,
                    didDiscoverIncludedServicesFor: service,
                    error: appError(failure)
                )
            }
        case .discoverCharacteristics(let handle):
            receive(.characteristics([], service: handle, failure: failure))
        case .discoverDescriptors(let handle):
            if let characteristic = characteristic(handle) {
                delegate?.peripheral(
                    self,
                    didDiscoverDescriptorsFor: characteristic,
                    error: appError(failure)
                )
            }
        case .read(let handle):
            receive(.value(attribute: handle, value: nil, failure: failure))
        case .write(let handle):
            receive(.written(attribute: handle, failure: failure))
        case .setNotify(let handle):
            receive(.notifyState(attribute: handle, notifying: false, failure: failure))
        case .readDescriptor(let handle):
            receive(.descriptorValue(attribute: handle, value: nil, failure: failure))
        case .writeDescriptor(let handle):
            receive(.descriptorWritten(attribute: handle, failure: failure))
        case .readRSSI:
            receive(.rssi(127, failure: failure))
        case .openChannel(let psm):
            receive(.channelOpened(psm: psm, failure: failure))
        }
    }

    private func answered(_ operation: Operation) {
        lock.withLock {
            if let index = pending.firstIndex(of: operation) {
                pending.remove(at: index)
            }
        }
    }

    private func service(_ handle: UInt16) -> CBService? {
        lock.withLock { servicesByHandle[handle] }
    }

    private func characteristic(_ handle: UInt16) -> CBCharacteristic? {
        lock.withLock { characteristics[handle] }
    }

    /// The object of a service; the same as before where it was found before.
    private func known(_ service: WireService) -> CBService {
        lock.withLock {
            let object = servicesByHandle[service.handle] ?? CBService(service, of: self, lock: lock)
            servicesByHandle[service.handle] = object
            return object
        }
    }

    @discardableResult
    private func merge(_ found: [WireService]) -> [CBService] {
        let objects = found.map { known($0) }
        return lock.withLock {
            let before = (storedServices ?? []).filter { old in !objects.contains { $0 === old } }
            let all = (before + objects).sorted { $0.handle < $1.handle }
            storedServices = all
            return all
        }
    }

    private func merge(_ found: [WireCharacteristic], into service: CBService) {
        let before = service.characteristics ?? []
        let objects = lock.withLock {
            found.map { characteristic in
                let object =
                    characteristics[characteristic.handle] ?? CBCharacteristic(characteristic, of: service)
                characteristics[characteristic.handle] = object
                return object
            }
        }
        let others = before.filter { old in !objects.contains { $0 === old } }
        service.characteristics = (others + objects).sorted { $0.handle < $1.handle }
    }

    /// Takes out the services with these handles and all that belongs to them; gives those that were there.
    private func remove(_ handles: [UInt16]) -> [CBService] {
        let removed = handles.compactMap { service($0) }
        let attributes = removed.flatMap { $0.characteristics ?? [] }
        let inner = attributes.flatMap { $0.descriptors ?? [] }
        for service in removed {
            service.invalidate()
        }
        lock.withLock {
            storedServices?.removeAll { service in removed.contains { $0 === service } }
            for service in removed {
                servicesByHandle[service.handle] = nil
            }
            for characteristic in attributes {
                characteristics[characteristic.handle] = nil
            }
            for descriptor in inner {
                descriptors[descriptor.handle] = nil
            }
        }
        return removed
    }
}
