import WakeDevices

/// Finds the handles of a device's attributes by a table that somebody gives: the attributes are known, and in which order, but not where
/// they begin.
package struct TableFit {
    /// Why a table does not fit.
    package enum Failure: Error, Hashable, Sendable {
        /// Nothing that the capture shows can be what the table says.
        case none
        /// It fits with its first service at each of these handles.
        case several([UInt16])
    }

    /// What an attribute at a place of a table can be used for.
    private enum Use {
        case declaration
        case value(CharacteristicProperties)
        case configuration
        case descriptor
    }

    private var uses: [Use] = []
    private let peripheral: BluetoothPeripheral

    private init(_ peripheral: BluetoothPeripheral) {
        var peripheral = peripheral
        // Imports write Service Changed behind all others, where it has not its handles.
        while peripheral.services.count > 1, peripheral.services.last?.uuid == PeripheralRules.genericAttribute {
            peripheral.services.removeLast()
        }
        self.peripheral = peripheral
        for service in peripheral.services {
            uses.append(.declaration)
            for characteristic in service.characteristics {
                uses += [.declaration, .value(characteristic.properties)]
                if characteristic.properties.canNotify { uses.append(.configuration) }
                uses += characteristic.descriptors.map { _ in .descriptor }
            }
        }
    }

    /// The table of a device of a capture, by the device file that says what it has.
    package static func table(
        of peripheral: BluetoothPeripheral,
        on device: CapturedDevice
    ) throws(Failure) -> AttributeTable {
        let fit = TableFit(peripheral)
        let notified = device.streams.filter { $0.value.count > 0 }.map { Int($0.key) }
        let written =
            device.writes.keys.map { Int($0) } + device.streams.filter { $0.value.count == 0 }.map { Int($0.key) }
        let read = device.table.values.keys.map { Int($0) }
        var best: (score: Int, starts: [UInt16]) = (0, [])
        for start in 1..<max(2, 65_536 - fit.uses.count) where notified.allSatisfy({ fit.notifies($0 - start) }) {
            let score =
                notified.count + written.count { fit.takesWrites($0 - start) }
                + read.count { fit.isReadable($0 - start) }
            if score > best.score { best = (score, []) }
            if score == best.score, score > 0, best.starts.count < 4 { best.starts.append(UInt16(start)) }
        }
        guard let start = best.starts.first else { throw .none }
        if best.starts.count > 1 { throw .several(best.starts) }
        return fit.table(from: start)
    }

    private func notifies(_ place: Int) -> Bool {
        guard uses.indices.contains(place), case .value(let properties) = uses[place] else { return false }
        return properties.canNotify
    }

    private func takesWrites(_ place: Int) -> Bool {
        guard uses.indices.contains(place) else { return false }
        switch uses[place] {
        case .value(let properties):
            return !properties.isDisjoint(with: [.write, .writeWithoutResponse, .authenticatedSignedWrites])
        case .configuration: return true
        case .declaration, .descriptor: return false
        }
    }

    private func isReadable(_ place: Int) -> Bool {
        guard uses.indices.contains(place) else { return false }
        if case .value(let properties) = uses[place] { return properties.contains(.read) }
        return true
    }

    /// The table with its first service at a handle.
    private func table(from start: UInt16) -> AttributeTable {
        var table = AttributeTable()
        var handle = start
        for service in peripheral.services {
            let first = handle
            handle += 1
            for characteristic in service.characteristics {
                let made = AttributeTable.Characteristic(
                    properties: UInt8(truncatingIfNeeded: characteristic.properties.rawValue),
                    value: handle + 1,
                    uuid: AttributeType(characteristic.uuid)
                )
                table.add(made, at: handle)
                handle += 2
                if characteristic.properties.canNotify {
                    table.types[handle] = .clientConfiguration
                    handle += 1
                }
                for descriptor in characteristic.descriptors {
                    table.types[handle] = AttributeType(descriptor.uuid)
                    handle += 1
                }
            }
            let uuid = AttributeType(service.uuid)
            table.services[first] = AttributeTable.Service(end: handle - 1, uuid: uuid, isPrimary: service.primary)
        }
        return table
    }
}

extension AttributeType {
    /// Of the spelling of device files.
    init(_ canonical: String) {
        let digits = BluetoothUUID.long(canonical).filter { $0 != "-" }
        let bytes = stride(from: 30, through: 0, by: -2).map { place -> UInt8 in
            let start = digits.index(digits.startIndex, offsetBy: place)
            return UInt8(digits[start...].prefix(2), radix: 16) ?? 0
        }
        self = AttributeType(bytes.span) ?? .short(0)
    }
}
