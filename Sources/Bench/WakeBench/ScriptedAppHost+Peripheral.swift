import WakeDevices
import WakeModel
import WakePorts

/// Scripted apps that act as a peripheral: they publish, advertise, and answer from the values of their script.
extension ScriptedAppHost {
    /// The peripheral manager that a scripted app makes.
    static let peripheralManager: ManagerNumber = 2

    /// What a script publishes: its services with numbers, and the values of their characteristics.
    struct Publication {
        private(set) var services: [LocalService] = []
        private(set) var values: [UInt32: [UInt8]] = [:]
        /// The characteristics that notify or indicate, by UUID; of several with one the first.
        private(set) var notifying: [String: UInt32] = [:]

        init(_ script: ScriptedPeripheral?) {
            var number: UInt32 = 0
            for service in script?.services ?? [] {
                number += 1
                var local = LocalService(number: number, uuid: service.uuid, primary: service.primary)
                for characteristic in service.characteristics {
                    number += 1
                    local.characteristics.append(Self.local(characteristic, number))
                    values[number] = characteristic.value
                    if characteristic.properties.canNotify, notifying[characteristic.uuid] == nil {
                        notifying[characteristic.uuid] = number
                    }
                }
                services.append(local)
            }
        }

        private static func local(
            _ characteristic: BluetoothPeripheral.Characteristic,
            _ number: UInt32
        ) -> LocalCharacteristic {
            let writes: CharacteristicProperties = [.write, .writeWithoutResponse, .authenticatedSignedWrites]
            let isWriteable = !characteristic.properties.isDisjoint(with: writes)
            return LocalCharacteristic(
                number: number,
                uuid: characteristic.uuid,
                properties: characteristic.properties.rawValue,
                permissions: (characteristic.properties.contains(.read) ? 1 : 0) | (isWriteable ? 2 : 0),
                descriptors: characteristic.descriptors.map { LocalDescriptor(uuid: $0.uuid, value: $0.value) }
            )
        }
    }

    /// A value for centrals that are subscribed to a characteristic: for all of them where none is named.
    struct Update {
        var characteristic: UInt32
        var value: [UInt8]
        var centrals: [NameID] = []
    }

    /// Publishes and advertises, unless restoration brought it back.
    func publish(_ app: AppID) {
        guard let script = apps[app]!.script.peripheral, !apps[app]!.isPublished else { return }
        apps[app]!.isPublished = true
        for service in apps[app]!.publication.services { ask(.addService(service), app) }
        guard script.advertises else { return }
        let services = script.services.map { names.intern($0.uuid) }
        ask(.startAdvertising(localName: script.name, services: services), app)
    }

    /// What centrals do is answered at once.
    func serve(_ delivery: AppDelivery, of app: AppID) {
        let event = delivery.event
        let process = apps[app]!
        switch (event.kind, delivery.payload) {
        case (.bluetoothPoweredOn, _): publish(app)
        case (.readRequested, .readRequest(let offset)):
            let value = process.values[event.local] ?? []
            let fits = Int(offset) <= value.count
            let result = fits ? AttributeError.success : AttributeError.invalidOffset
            let rest = fits ? Array(value.dropFirst(Int(offset))) : nil
            ask(.respond(request: event.request, result: result, value: rest), app)
        case (.writeRequested, .writeRequests(let writes)):
            for write in writes { process.write(write) }
            ask(.respond(request: event.request, result: AttributeError.success, value: nil), app)
        case (.centralSubscribed, _):
            guard let value = process.values[event.local] else { return }
            send(Update(characteristic: event.local, value: value, centrals: [event.peripheral]), of: app)
        case (.readyToUpdate, _): sendRest(of: app)
        case (.bluetoothPoweredOff, _): process.unsent.removeAll()
        default: break
        }
    }

    // MARK: Values

    /// A step has an app notify a value, which a read gives from then on; one that does not run does nothing.
    ///
    /// - Returns: false when it has as many values waiting as it keeps.
    func notify(_ uuid: String, _ value: [UInt8], by app: AppID) -> Bool {
        guard let own = apps[app], own.running, !own.frozen, let number = own.publication.notifying[uuid] else {
            return true
        }
        guard own.unsent.count < Self.mostUnsent else { return false }
        own.values[number] = value
        send(Update(characteristic: number, value: value), of: app)
        return true
    }

    /// The most values of an app that wait for room.
    static let mostUnsent = 1_000

    /// As an app does with CBPeripheralManager: what `updateValue` does not take waits until the manager is ready again.
    private func send(_ update: Update, of app: AppID) {
        apps[app]!.unsent.append(update)
        sendRest(of: app)
    }

    private func sendRest(of app: AppID) {
        let own = apps[app]!
        while let first = own.unsent.first, takesUpdate(of: app) {
            own.unsent.removeFirst()
            ask(
                .updateValue(characteristic: first.characteristic, value: first.value, centrals: first.centrals),
                app
            )
        }
    }

    private func takesUpdate(of app: AppID) -> Bool {
        guard let view else { return true }
        let (room, turn) = view.updateRoom(of: app, manager: Self.peripheralManager)
        return updatesAsked.take(app, Self.peripheralManager, of: room, turn)
    }

    func ask(_ asked: PeripheralManagerRequest, _ app: AppID) {
        request(.peripheralManager(Self.peripheralManager, asked), from: app)
    }
}

extension ScriptedAppHost.App {
    /// The value from the offset on is what the central wrote.
    fileprivate func write(_ write: LocalWrite) {
        let kept = values[write.characteristic]?.prefix(Int(write.offset)) ?? []
        values[write.characteristic] = kept + write.value
    }
}
