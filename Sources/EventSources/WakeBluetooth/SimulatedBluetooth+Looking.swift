import WakeDevices
import WakeModel

/// What people who look at the radio are told.
extension SimulatedBluetooth {
    /// What the phone would measure of a peripheral, in dBm; nil for what is none, or is out of reach.
    package func signalStrength(of device: String) -> Int? {
        guard let peripheral = peripheral(device), peripheral.inRange else { return nil }
        return Int(peripheral.advertisement.signalStrength)
    }

    /// Whether a device is in the radio's reach; nil for what is none of its devices.
    package func isInRange(_ device: String) -> Bool? {
        peripheral(device)?.inRange ?? beacons.first { $0.name == device }?.inRange
    }

    /// Whether a peripheral has a link; nil for what is none of its peripherals.
    package func hasLink(_ device: String) -> Bool? { peripheral(device).map { $0.link == .up } }

    /// Why a fault that is armed now changes nothing; nil where it does, or waits for what it is about.
    package func lack(of fault: String, _ device: String) -> String? {
        if let index = beacon(device), let armed = beacons[index].description.faults.first(where: { $0.name == fault })
        {
            return lack(of: armed.effect, ofBeacon: index)
        }
        guard let peripheral = peripheral(device) else { return nil }
        switch peripheral.description.faults.first(where: { $0.name == fault })?.effect {
        case .changeName(let name)?:
            return peripheral.localName == name ? "nothing changed, as it has that name already" : nil
        case .changeServices(let change)?:
            let (added, services) = (peripheral.description.places(addedBy: change), peripheral.attributes.services)
            let isSo = services.indices.allSatisfy { place in
                added.contains(place)
                    ? services[place].isOffered
                    : !services[place].isOffered || !change.removed.contains(services[place].uuid)
            }
            return isSo ? "nothing changed, as it has these services already" : nil
        default: return nil
        }
    }

    /// Why a value that a peripheral notifies now reaches nobody, and whether apps could tell more of it.
    package func silence(of device: String, on characteristic: String) -> (why: String, isOfApps: Bool) {
        guard poweredOn else { return ("Bluetooth is off", false) }
        guard let peripheral = peripheral(device) else { return ("there is no \(device)", false) }
        guard peripheral.inRange else { return ("\(device) is out of range", false) }
        guard let place = peripheral.attributes.characteristic(named: characteristic) else {
            guard peripheral.attributes.isOfSystem(characteristic) else {
                return ("\(device) does not offer that characteristic now", false)
            }
            return (peripheral.link == .up ? "the phone has not subscribed to it" : "\(device) has no link", false)
        }
        if peripheral.isStale, reachable(peripheral.firstCharacteristic + place) {
            return ("the phone keeps an old table of \(device), and knows no such handle (BTC-14)", false)
        }
        if peripheral.link != .up, !peripheral.description.advertising.connectable {
            return ("nobody is subscribed, as \(device) lets nobody connect", false)
        }
        return ("nobody is subscribed", true)
    }

    /// The characteristics of a peripheral that it can notify, each with the value that a read would give now.
    package func notified(by device: String) -> [(uuid: String, value: [UInt8])] {
        guard let peripheral = peripheral(device) else { return [] }
        let attributes = peripheral.attributes
        return attributes.characteristics.indices.compactMap { place in
            let characteristic = attributes.characteristics[place]
            guard characteristic.properties.canNotify, attributes.services[characteristic.service].isShown else {
                return nil
            }
            return (characteristic.uuid, characteristics[peripheral.firstCharacteristic + place].value)
        }
    }

    private func peripheral(_ device: String) -> SimulatedPeripheral? { peripherals.first { $0.name == device } }
}
