import WakeDevices
import WakeModel
import WakePorts

/// What changes of a peripheral while it is used: its services and its name.
extension SimulatedBluetooth {
    /// Services come and go. Over a link that is up the peripheral says so where it has Service Changed; where it has not, the phone
    /// goes by what it has found (BTC-14).
    func changeServices(of index: Int, _ change: BluetoothPeripheral.ServicesChange, at now: Instant) {
        let (before, hears) = (peripherals[index].attributes, peripherals[index].hearsChanges)
        let added = peripherals[index].description.places(addedBy: change)
        let changed = peripherals[index].attributes.change(removing: change.removed, adding: added)
        for service in changed {
            for place in before.services[service].characteristics {
                let number = peripherals[index].firstCharacteristic + place
                pauseTimetable(number, at: now)
                characteristics[number].subscribers.removeAll()
            }
        }
        peripherals[index].compareTables()
        guard peripherals[index].link == .up else { return }
        if hears {
            indicateChange(of: index, from: before, at: now)
        } else if peripherals[index].isStale {
            prepare(.report(SourceReport(untoldChange(of: index))), at: now)
        }
    }

    /// A link is up to a peripheral whose attributes are not what the phone keeps of them. A bonded one tells of services that came and
    /// went while it was away, as Service Changed does; of anything else nothing tells (BTC-14).
    func compareAttributes(of index: Int, at now: Instant) {
        let peripheral = peripherals[index]
        let isOtherService = zip(peripheral.table.services, peripheral.attributes.services).contains { kept, own in
            kept.isShown != own.isShown
        }
        if peripheral.hearsChanges, isOtherService {
            indicateChange(of: index, from: peripheral.table, at: now)
        } else {
            prepare(.report(SourceReport(untoldChange(of: index))), at: now)
        }
    }

    /// The peripheral tells by Service Changed what is not as it was: a range of handles for each service that went, and all of them
    /// where services only came. What was known of attributes in it is void, and the phone looks anew.
    private func indicateChange(of index: Int, from before: SimulatedAttributes, at now: Instant) {
        let places = before.services.indices
        let after = peripherals[index].attributes
        let gone = places.filter { before.services[$0].isShown && !after.services[$0].isShown }
        for place in gone {
            indicateChange(of: index, in: before.services[place].handle...before.services[place].last, at: now)
        }
        if gone.isEmpty, places.contains(where: { !before.services[$0].isShown && after.services[$0].isShown }) {
            traceServiceChanged(1...AttributeHandle.max, of: index, at: now)
            peripherals[index].forgetTable()
            prepare(event(.servicesModified, of: peripherals[index].nameID), .handles([]), at: now)
        }
    }

    private func indicateChange(of index: Int, in void: ClosedRange<AttributeHandle>, at now: Instant) {
        traceServiceChanged(void, of: index, at: now)
        let known = peripherals[index].table.offered.map(\.handle).filter { void.contains($0) }
        peripherals[index].forgetTable()
        peripherals[index].found.remove(void)
        let changed = event(
            .servicesModified,
            of: peripherals[index].nameID,
            attribute: void.lowerBound,
            local: UInt32(void.upperBound)
        )
        prepare(changed, .handles(known.isEmpty ? [void.lowerBound] : known), at: now)
    }

    /// A scenario has the peripheral indicate Service Changed by itself: the first and the last handle that are void, lowest byte first,
    /// and all of them for any other value. Says whether the phone hears it.
    func say(_ value: [UInt8], ofChangesOn index: Int, at now: Instant) -> Bool {
        let peripheral = peripherals[index]
        guard peripheral.link == .up, peripheral.inRange, peripheral.hearsChanges else { return false }
        let handles =
            value.count == 4 ? [0, 2].map { AttributeHandle(value[$0]) | AttributeHandle(value[$0 + 1]) << 8 } : []
        let isRange = handles.count == 2 && handles[0] > 0 && handles[0] <= handles[1]
        indicateChange(of: index, in: isRange ? handles[0]...handles[1] : 1...AttributeHandle.max, at: now)
        return true
    }

    /// What the router is told of a change that the phone is not told of; of one client that has come to such a link, or of all.
    func untoldChange(of index: Int, to client: BluetoothClient? = nil) -> WakeEvent {
        event(.servicesModified, of: peripherals[index].nameID, client: client, failed: true)
    }

    /// The phone forgets what it has found of a peripheral's attributes; false where it keeps nothing of them.
    ///
    /// - Throws: ``SourceFailure`` of kind unknown when there is no such device.
    package func forgetAttributes(of device: String) throws(SourceFailure) -> Bool {
        let index = try known(device)
        defer { peripherals[index].forgetTable() }
        return peripherals[index].kept != nil
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
