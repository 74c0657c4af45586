import WakeDevices
import WakeModel
import WakePorts

/// What changes of a peripheral while it is used: its services and its name.
extension SimulatedBluetooth {
    /// Services come and go. Over a link that is up the peripheral says so, as Service Changed does, with a range of handles;
    /// what was known of attributes in it is void.
    func changeServices(of index: Int, _ change: BluetoothPeripheral.ServicesChange, at now: Instant) {
        let added = change.added.map(\.uuid)
        let before = peripherals[index].attributes.offered.count
        let gone = peripherals[index].attributes.change(removing: change.removed, adding: added)
        let came = peripherals[index].attributes.offered.count + gone.count > before
        for service in gone {
            for place in peripherals[index].attributes.services[service].characteristics {
                let number = peripherals[index].firstCharacteristic + place
                pauseTimetable(number, at: now)
                characteristics[number].subscribers.removeAll()
            }
        }
        guard peripherals[index].link == .up else { return }
        let services = gone.map { peripherals[index].attributes.services[$0] }
        for service in services {
            let changed = event(
                .servicesModified,
                of: peripherals[index].nameID,
                attribute: service.handle,
                local: UInt32(service.last)
            )
            traceServiceChanged(service.handle...service.last, of: index, at: now)
            prepare(changed, .handles([service.handle]), at: now)
        }
        if gone.isEmpty, came {
            traceServiceChanged(1...AttributeHandle.max, of: index, at: now)
            prepare(event(.servicesModified, of: peripherals[index].nameID), .handles([]), at: now)
        }
    }

    /// The peripheral has another name; over a link that is up the phone hears of it.
    func changeName(of index: Int, to name: String, at now: Instant) {
        peripherals[index].localName = name
        if peripherals[index].link == .up { readName(of: index, at: now) }
    }

    /// The phone reads the name among the attributes of a peripheral with a link. It tells of one that differs from what
    /// apps were told before; to a phone that never saw the peripheral its name is no news.
    func readName(of index: Int, at now: Instant) {
        let peripheral = peripherals[index]
        guard let name = peripheral.localName else { return }
        traceName(name, of: index, at: now)
        guard name != peripheral.knownName else { return }
        peripherals[index].knownName = name
        guard peripheral.knownName != nil || peripheral.wasDiscovered else { return }
        prepare(event(.nameChanged, of: peripheral.nameID), .name(name), at: now)
    }
}
