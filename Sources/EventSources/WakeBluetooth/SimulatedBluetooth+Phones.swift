import WakeModel
import WakePorts

/// The other phones of the bench beside the peripherals of device files.
extension SimulatedBluetooth {
    /// The phone is on the air that the others share, from now on and until it leaves.
    ///
    /// - Parameters:
    ///   - phone: what the bench calls it.
    ///   - wake: has it take a turn, later.
    package func join(_ air: SharedAir, as phone: String, wake: @escaping () -> Void) {
        self.air = air.join(phone, lookingFor: Set(phones?.phones.map(\.phone) ?? []), wake: wake)
    }

    /// The phone is alone from now on.
    package func leaveAir(suddenly: Bool) {
        air?.leave(suddenly: suddenly)
        air = nil
    }

    /// What other phones said since the last turn.
    func hearPhones(at now: Instant) {
        guard let air, air.hasNews else {
            phones?.timeReached(now)
            return
        }
        // What was due before comes first.
        phones?.timeReached(now)
        for (phone, message) in air.takeNews() {
            phones?.hear(message, from: phone, at: now)
            visited?(message, phone, now)
        }
        phones?.timeReached(now)
    }

    // MARK: What a scenario does to a phone

    /// The link to a phone goes; nothing happens when there is none.
    package func simulateDisconnect(phone device: String, at now: Instant) {
        guard let phones, let index = phones.position(ofDevice: device) else { return }
        phones.lose(index, because: .peripheralDisconnected, at: now)
    }

    /// A phone leaves the reach of this one's apps as centrals, or comes back.
    package func simulateRange(phone device: String, inRange: Bool, at now: Instant) {
        guard let phones, let index = phones.position(ofDevice: device) else { return }
        phones.simulateRange(index, inRange: inRange, at: now)
    }

    /// Whether there is a link to a phone as a peripheral; nil for what is none of the scenario's.
    package func hasLink(phone device: String) -> Bool? {
        guard let phones, let index = phones.position(ofDevice: device) else { return nil }
        return phones.phones[index].link == .up
    }

    /// Whether a phone is on the air and in reach; nil for what is none of the scenario's.
    package func isInReach(phone device: String) -> Bool? {
        guard let phones, let index = phones.position(ofDevice: device) else { return nil }
        return phones.phones[index].inRange && air?.reaches(phones.phones[index].phone) == true
    }
}

/// What the port is asked about phones.
extension PhonePeripherals {
    func position(ofDevice device: String) -> Int? { phones.firstIndex { $0.device == device } }

    func known(_ name: NameID) -> KnownPeripheral? {
        guard let index = position(of: name), phones[index].wasDiscovered || phones[index].wasConnected else {
            return nil
        }
        return phones[index].known
    }

    func found(on name: NameID) -> FoundAttributes? { position(of: name).map { phones[$0].found } }

    func connected(services: [NameID]) -> [NameID] {
        phones
            .filter { $0.link == .up && $0.known.services.contains { services.contains(names.intern($0.uuid)) } }
            .sorted { $0.connectedAs < $1.connectedAs }
            .map(\.name)
    }

    func writeRoom(of client: BluetoothClient, to name: NameID) -> Int {
        guard let index = position(of: name), phones[index].isConnected(client),
            let place = phones[index].holder(client)
        else { return 0 }
        return phones[index].holders[place].writes.room
    }

    func longestWriteCommand(to name: NameID) -> Int? {
        guard let index = position(of: name), phones[index].link == .up else { return nil }
        return WriteQueue.longest(mtu: phones[index].mtu)
    }
}
