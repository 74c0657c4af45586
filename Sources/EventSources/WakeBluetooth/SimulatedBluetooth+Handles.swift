import WakeDevices
import WakeModel

/// Operations by handle. The phone means what has the handle in the table that it goes by; the peripheral does what it does with the
/// attribute that has it now (BTC-14).
extension SimulatedBluetooth {
    // MARK: What a handle reaches

    /// What has the handle of a value in the two tables: the characteristic that the phone means, and the peripheral's attribute, nil for
    /// none. Nil where the phone has found no such characteristic.
    private func reached(
        _ handle: AttributeHandle,
        on index: Int
    ) -> (meant: Int, found: SimulatedAttributes.Attribute?)? {
        let table = peripherals[index].table
        guard let meant = table.characteristic(at: handle) else { return nil }
        guard peripherals[index].isStale else { return (meant, .value(meant)) }
        return (meant, peripherals[index].attributes.attribute(at: handle + 1))
    }

    /// The characteristic whose client configuration the phone writes for a characteristic, or why that fails.
    private func configured(_ handle: AttributeHandle, on index: Int) -> Result<Int, BluetoothFailure> {
        let (table, attributes) = (peripherals[index].table, peripherals[index].attributes)
        guard let meant = table.characteristic(at: handle) else { return .failure(.invalidHandle) }
        guard let configuration = table.configuration(of: meant) else {
            return .failure(BluetoothFailure(domain: .att, code: 6, message: "The request is not supported."))
        }
        guard peripherals[index].isStale else { return .success(meant) }
        switch attributes.attribute(at: configuration) {
        case nil: return .failure(.invalidHandle)
        case .descriptor(let place)? where attributes.descriptors[place].isConfiguration:
            return .success(attributes.descriptors[place].characteristic)
        default: return .failure(.writingNotPermitted)
        }
    }

    /// The characteristic of the peripheral that an operation reads, writes or subscribes to; nil for none.
    func place(reachedBy operation: BluetoothOperation, on index: Int) -> Int? {
        switch operation {
        case .read(let handle), .write(let handle, _, _):
            if case .value(let place)? = reached(handle, on: index)?.found { place } else { nil }
        case .setNotify(let handle, _): try? configured(handle, on: index).get()
        default: nil
        }
    }

    // MARK: Carrying out

    func read(_ handle: AttributeHandle, of index: Int, at now: Instant) -> Answer {
        guard let (meant, found) = reached(handle, on: index) else { return .invalidHandle }
        let subject = peripherals[index].table.characteristics[meant].subject
        guard case .value(let place)? = found else { return read(found, subject, of: index) }
        guard peripherals[index].attributes.characteristics[place].properties.contains(.read) else {
            return .failure(subject, code: 2, "Reading is not permitted.")
        }
        if let refusal = reaction(of: index, to: .read, on: place, at: now) {
            return Answer(subject: subject, payload: .failure(refusal))
        }
        return read(found, subject, of: index)
    }

    /// The value of an attribute.
    private func read(_ attribute: SimulatedAttributes.Attribute?, _ subject: NameID, of index: Int) -> Answer {
        let attributes = peripherals[index].attributes
        switch attribute {
        case nil: return Answer(subject: subject, payload: .failure(.invalidHandle))
        case .value(let place)?:
            let value = characteristics[peripherals[index].firstCharacteristic + place].value
            return Answer(subject: subject, payload: .value(value))
        case .descriptor(let place)?:
            return Answer(subject: subject, payload: .value(value(of: attributes.descriptors[place], on: index)))
        case .service?, .declaration?:
            return Answer(subject: subject, payload: .value(attribute.map(attributes.declared) ?? []))
        }
    }

    func write(
        _ value: [UInt8],
        to handle: AttributeHandle,
        of index: Int,
        withResponse: Bool,
        at now: Instant
    ) -> Answer {
        guard let (meant, found) = reached(handle, on: index) else { return .invalidHandle }
        let subject = peripherals[index].table.characteristics[meant].subject
        guard let found else { return Answer(subject: subject, payload: .failure(.invalidHandle)) }
        guard case .value(let place) = found,
            peripherals[index].attributes.characteristics[place].properties.contains(
                withResponse ? .write : .writeWithoutResponse
            )
        else { return Answer(subject: subject, payload: .failure(.writingNotPermitted)) }
        // A command is one packet.
        guard value.count <= (withResponse ? 512 : peripherals[index].description.mtu - 3) else {
            return .failure(subject, code: 13, "The value's length is invalid.")
        }
        if let refusal = reaction(of: index, to: .write(value), on: place, at: now), withResponse {
            return Answer(subject: subject, payload: .failure(refusal))
        }
        return Answer(subject: subject, payload: .none)
    }

    /// The descriptor that the phone means by a handle, and what the peripheral has there.
    private func reachedDescriptor(
        _ handle: AttributeHandle,
        on index: Int
    ) -> (subject: NameID, found: SimulatedAttributes.Attribute?)? {
        let table = peripherals[index].table
        guard let meant = table.descriptor(at: handle) else { return nil }
        let found =
            peripherals[index].isStale ? peripherals[index].attributes.attribute(at: handle) : .descriptor(meant)
        return (table.descriptors[meant].subject, found)
    }

    func readDescriptor(_ handle: AttributeHandle, of index: Int) -> Answer {
        guard let (subject, found) = reachedDescriptor(handle, on: index) else { return .invalidHandle }
        return read(found, subject, of: index)
    }

    func writeDescriptor(_ value: [UInt8], to handle: AttributeHandle, of index: Int) -> Answer {
        guard let (subject, found) = reachedDescriptor(handle, on: index) else { return .invalidHandle }
        guard let found else { return Answer(subject: subject, payload: .failure(.invalidHandle)) }
        guard case .descriptor(let place) = found, !peripherals[index].attributes.descriptors[place].isConfiguration
        else { return Answer(subject: subject, payload: .failure(.writingNotPermitted)) }
        guard value.count <= 512 else { return .failure(subject, code: 13, "The value's length is invalid.") }
        peripherals[index].attributes.descriptors[place].value = value
        return Answer(subject: subject, payload: .none)
    }

    /// The client configuration shows whether anybody is subscribed; the others hold what they were given.
    private func value(of descriptor: SimulatedAttributes.Descriptor, on index: Int) -> [UInt8] {
        guard descriptor.isConfiguration else { return descriptor.value }
        let number = peripherals[index].firstCharacteristic + descriptor.characteristic
        guard !characteristics[number].subscribers.isEmpty else { return [0, 0] }
        let properties = peripherals[index].attributes.characteristics[descriptor.characteristic].properties
        return [properties.contains(.notify) ? 1 : 2, 0]
    }

    func setNotify(
        _ on: Bool,
        _ handle: AttributeHandle,
        of index: Int,
        for client: BluetoothClient,
        at now: Instant
    ) -> Answer {
        let table = peripherals[index].table
        let subject = table.characteristic(at: handle).map { table.characteristics[$0].subject }
        switch configured(handle, on: index) {
        case .failure(let failure): return Answer(subject: subject, payload: .failure(failure))
        case .success(let place):
            let number = peripherals[index].firstCharacteristic + place
            if !on {
                unsubscribe(client, from: number, at: now)
            } else if !characteristics[number].subscribers.contains(client) {
                characteristics[number].subscribers.append(client)
                runTimetable(number, at: now)
            }
            return Answer(subject: subject, payload: .notifying(on))
        }
    }
}

extension BluetoothFailure {
    /// CBATTError.writeNotPermitted
    static let writingNotPermitted = BluetoothFailure(domain: .att, code: 3, message: "Writing is not permitted.")
}

extension BluetoothOperation {
    /// Whether it looks for attributes.
    var isDiscovery: Bool {
        switch self {
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors: true
        default: false
        }
    }
}
