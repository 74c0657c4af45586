import WakeBus

/// What counts of an adapter's object.
struct BlueZAdapterFacts: Equatable, Sendable {
    var path: String
    var address: String?
    var isOn = false
}

/// What counts of a device's object.
struct BlueZDeviceFacts: Equatable, Sendable {
    var path: String
    /// As bluetoothd says it. Address and type both change when a device that used a private address is paired.
    var id: BlueZDeviceID
    var isConnected = false
    /// The attribute table is complete. Connected alone does not say so.
    var isResolved = false
    var isPairedOrTrusted = false
    /// It has a signal strength, so that it was heard in a discovery that goes on.
    var isMeasured = false
}

/// A D-Bus signal of bluetoothd, and what it means.
enum BlueZSignal: Equatable, Sendable {
    case adapterAppeared(BlueZAdapterFacts)
    case adapterChanged(BlueZAdapterFacts)
    case deviceAppeared(BlueZDeviceFacts)
    case deviceChanged(BlueZDeviceFacts, DeviceChange)
    /// Objects that went, sorted by path.
    case vanished([String])
    /// Why the link of a device's object is about to end, in BlueZ's word. Since BlueZ 5.83, such as
    /// `org.bluez.Reason.Timeout`; it comes before Connected changes.
    case reason(path: String, String)
    /// A service, characteristic or descriptor of a device came.
    case attributeAppeared(path: String)
    /// A characteristic's value changed: by a notification, or by anybody's read.
    case value(path: String, [UInt8])

    /// What a change of a device's properties tells.
    struct DeviceChange: OptionSet, Sendable {
        let rawValue: UInt8

        static let connected = DeviceChange(rawValue: 1)
        static let disconnected = DeviceChange(rawValue: 2)
        static let resolved = DeviceChange(rawValue: 4)
        /// It was heard advertising.
        static let heard = DeviceChange(rawValue: 8)
        /// It was heard with a signal strength.
        static let measured = DeviceChange(rawValue: 16)
        /// It has another name: it said so, or bluetoothd read it.
        static let renamed = DeviceChange(rawValue: 32)
    }
}

extension BlueZObjects {
    /// Takes a signal into the copy of the objects. What it means; nil when it means nothing here.
    mutating func take(_ signal: BusSignal) -> BlueZSignal? {
        let arguments = signal.arguments
        switch (signal.interface, signal.member, arguments.count) {
        case (BlueZName.objectManager, "InterfacesAdded", 2):
            guard let path = arguments[0].text else { return nil }
            add(path, arguments[1])
            if arguments[1][BlueZName.device] != nil { return device(at: path).map(BlueZSignal.deviceAppeared) }
            if Self.attributes.contains(where: { arguments[1][$0] != nil }) { return .attributeAppeared(path: path) }
            return adapter(at: path).map(BlueZSignal.adapterAppeared)
        case (BlueZName.objectManager, "InterfacesRemoved", 2):
            guard let path = arguments[0].text else { return nil }
            let interfaces = arguments[1].texts ?? []
            let gone = remove(path, interfaces)
            // An object that is no device any more may keep other interfaces.
            return .vanished(gone.isEmpty && interfaces.contains(BlueZName.device) ? [path] : gone)
        case (BlueZName.properties, "PropertiesChanged", 3):
            guard let interface = arguments[0].text else { return nil }
            // The commonest by far; the latest value is not asked of the copy.
            if interface == BlueZName.characteristic, let value = arguments[1]["Value"]?.bytes,
                arguments[1].entries?.count == 1
            {
                return .value(path: signal.path, value)
            }
            let wasConnected = device(at: signal.path)?.isConnected == true
            change(signal.path, interface, arguments[1], without: arguments[2].texts ?? [])
            return changed(signal.path, interface, arguments[1], wasConnected: wasConnected)
        case (BlueZName.device, "Disconnected", 1...):
            guard let reason = arguments[0].text, device(at: signal.path) != nil else { return nil }
            return .reason(path: signal.path, reason)
        default: return nil
        }
    }

    private static let attributes = [BlueZName.service, BlueZName.characteristic, BlueZName.descriptor]

    private func changed(
        _ path: String,
        _ interface: String,
        _ changed: BusValue,
        wasConnected: Bool
    ) -> BlueZSignal? {
        switch interface {
        case BlueZName.adapter: return adapter(at: path).map(BlueZSignal.adapterChanged)
        case BlueZName.characteristic: return changed["Value"]?.bytes.map { .value(path: path, $0) }
        case BlueZName.device:
            var change: BlueZSignal.DeviceChange = []
            let connected = changed["Connected"]?.bool
            if connected == true { change.insert(.connected) }
            if connected == false, wasConnected { change.insert(.disconnected) }
            if changed["ServicesResolved"]?.bool == true { change.insert(.resolved) }
            if changed["Name"] != nil { change.insert(.renamed) }
            if changed["RSSI"] != nil { change.insert(.measured) }
            if ["RSSI", "ManufacturerData", "ServiceData", "TxPower", "Name"].contains(where: { changed[$0] != nil }) {
                change.insert(.heard)
            }
            return device(at: path).map { .deviceChanged($0, change) }
        default: return nil
        }
    }

    /// The adapters, sorted by path.
    var adapters: [BlueZAdapterFacts] { paths(with: BlueZName.adapter).compactMap(adapter) }

    /// The devices, sorted by path.
    var devices: [BlueZDeviceFacts] { paths(with: BlueZName.device).compactMap(device) }

    func device(at path: String) -> BlueZDeviceFacts? {
        guard let properties = properties(path, BlueZName.device), let address = properties["Address"]?.text else {
            return nil
        }
        return BlueZDeviceFacts(
            path: path,
            id: BlueZDeviceID(address: address, isRandom: properties["AddressType"]?.text == "random"),
            isConnected: properties["Connected"]?.bool == true,
            isResolved: properties["ServicesResolved"]?.bool == true,
            isPairedOrTrusted: properties["Paired"]?.bool == true || properties["Trusted"]?.bool == true,
            isMeasured: properties["RSSI"] != nil
        )
    }

    private func adapter(at path: String) -> BlueZAdapterFacts? {
        properties(path, BlueZName.adapter).map { properties in
            let isOn = properties["Powered"]?.bool == true
            return BlueZAdapterFacts(path: path, address: properties["Address"]?.text, isOn: isOn)
        }
    }
}
