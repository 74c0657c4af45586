import WakeModel

/// What an app asks of a peripheral.
package enum PeripheralRequest: Equatable, Sendable {
    /// Finds services; nil means all.
    case discoverServices([String]?)
    /// Finds the services that a service includes; nil means all.
    case discoverIncludedServices([String]?, service: UInt16)
    /// Finds characteristics of a service; nil means all.
    case discoverCharacteristics([String]?, service: UInt16)
    /// Finds the descriptors of a characteristic.
    case discoverDescriptors(characteristic: UInt16)
    /// Reads a characteristic's value.
    case read(attribute: UInt16)
    /// Writes a characteristic's value.
    case write(attribute: UInt16, value: [UInt8], withResponse: Bool)
    /// Turns notifications or indications on or off.
    case setNotify(attribute: UInt16, enabled: Bool)
    /// Reads a descriptor's value.
    case readDescriptor(attribute: UInt16)
    /// Writes a descriptor's value.
    case writeDescriptor(attribute: UInt16, value: [UInt8])
    /// Reads the signal strength of the connection.
    case readRSSI
    /// Opens an L2CAP channel; answered by `peripheral.channelOpened`.
    case openL2CAPChannel(psm: UInt16)
    /// How many more writes without response the phone takes now, and how long; answered by a reply with `room` and `longest`.
    case writeRoom(id: UInt64)
}

/// What happened to a peripheral.
package enum WirePeripheralEvent: Equatable, Sendable {
    /// Services were found.
    case services([WireService], failure: WireFailure?)
    /// Included services were found.
    case includedServices([WireService], service: UInt16, failure: WireFailure?)
    /// Characteristics were found.
    case characteristics([WireCharacteristic], service: UInt16, failure: WireFailure?)
    /// Descriptors were found.
    case descriptors([GATTDescriptor], characteristic: UInt16, failure: WireFailure?)
    /// A read or notified value.
    case value(attribute: UInt16, value: [UInt8]?, failure: WireFailure?)
    /// The value of a descriptor.
    case descriptorValue(attribute: UInt16, value: [UInt8]?, failure: WireFailure?)
    /// A write with response was answered.
    case written(attribute: UInt16, failure: WireFailure?)
    /// A descriptor's write was answered.
    case descriptorWritten(attribute: UInt16, failure: WireFailure?)
    /// Notifications are on or off.
    case notifyState(attribute: UInt16, notifying: Bool, failure: WireFailure?)
    /// The signal strength, in dBm.
    case rssi(Int, failure: WireFailure?)
    /// The name changed; nil when there is none any more.
    case nameChanged(String?)
    /// These services are no longer valid.
    case modifiedServices([UInt16])
    /// Writes without response can go on.
    case readyToWrite
    /// A channel is open; a connected socket comes with the packet unless there is a failure.
    case channelOpened(psm: UInt16, failure: WireFailure?)
}

// MARK: Coding

extension PeripheralRequest: AreaMessage {
    static let area = "peripheral"
    static let blanks: [Self] = [
        .discoverServices(nil), .discoverIncludedServices(nil, service: 0), .discoverCharacteristics(nil, service: 0),
        .discoverDescriptors(characteristic: 0), .read(attribute: 0),
        .write(attribute: 0, value: [], withResponse: false), .setNotify(attribute: 0, enabled: false),
        .readDescriptor(attribute: 0), .writeDescriptor(attribute: 0, value: []), .readRSSI, .openL2CAPChannel(psm: 0),
        .writeRoom(id: 0),
    ]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .discoverServices(let services):
            self = try .discoverServices(coder.field("services", services, .uuids))
        case .discoverIncludedServices(let services, let service):
            let service = try coder.field("service", service, .whole)
            self = try .discoverIncludedServices(coder.field("services", services, .uuids), service: service)
        case .discoverCharacteristics(let uuids, let service):
            let service = try coder.field("service", service, .whole)
            self = try .discoverCharacteristics(coder.field("characteristics", uuids, .uuids), service: service)
        case .discoverDescriptors(let characteristic):
            self = try .discoverDescriptors(characteristic: coder.field("characteristic", characteristic, .whole))
        case .read(let attribute): self = try .read(attribute: coder.field("attribute", attribute, .whole))
        case .write(let attribute, let value, let withResponse):
            self = try .write(
                attribute: coder.field("attribute", attribute, .whole),
                value: coder.field("value", value, .value),
                withResponse: coder.field("withResponse", withResponse, .bool)
            )
        case .setNotify(let attribute, let enabled):
            self = try .setNotify(
                attribute: coder.field("attribute", attribute, .whole),
                enabled: coder.field("enabled", enabled, .bool)
            )
        case .readDescriptor(let attribute):
            self = try .readDescriptor(attribute: coder.field("attribute", attribute, .whole))
        case .writeDescriptor(let attribute, let value):
            self = try .writeDescriptor(
                attribute: coder.field("attribute", attribute, .whole),
                value: coder.field("value", value, .value)
            )
        case .openL2CAPChannel(let psm): self = try .openL2CAPChannel(psm: coder.field("psm", psm, .whole))
        case .writeRoom(let id): self = try .writeRoom(id: coder.field("id", id, .whole))
        case .readRSSI: break
        }
    }
}

extension WirePeripheralEvent: AreaMessage {
    static let area = "peripheral"
    static let blanks: [Self] = [
        .services([], failure: nil), .includedServices([], service: 0, failure: nil),
        .characteristics([], service: 0, failure: nil), .descriptors([], characteristic: 0, failure: nil),
        .value(attribute: 0, value: nil, failure: nil), .descriptorValue(attribute: 0, value: nil, failure: nil),
        .written(attribute: 0, failure: nil), .descriptorWritten(attribute: 0, failure: nil),
        .notifyState(attribute: 0, notifying: false, failure: nil), .rssi(0, failure: nil), .nameChanged(nil),
        .modifiedServices([]), .readyToWrite, .channelOpened(psm: 0, failure: nil),
    ]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .services(let services, let failure):
            self = try .services(
                coder.field("services", services, .list(), absent: []),
                failure: coder.failure(failure)
            )
        case .includedServices(let services, let service, let failure):
            let service = try coder.field("service", service, .whole)
            self = try .includedServices(
                coder.field("services", services, .list(), absent: []),
                service: service,
                failure: coder.failure(failure)
            )
        case .characteristics(let characteristics, let service, let failure):
            let service = try coder.field("service", service, .whole)
            self = try .characteristics(
                coder.field("characteristics", characteristics, .list(), absent: []),
                service: service,
                failure: coder.failure(failure)
            )
        case .descriptors(let descriptors, let characteristic, let failure):
            let characteristic = try coder.field("characteristic", characteristic, .whole)
            self = try .descriptors(
                coder.field("descriptors", descriptors, .list(), absent: []),
                characteristic: characteristic,
                failure: coder.failure(failure)
            )
        case .value, .descriptorValue, .written, .descriptorWritten, .notifyState: try codeAttribute(&coder)
        case .rssi(let rssi, let failure):
            self = try .rssi(coder.field("rssi", rssi, .decibels), failure: coder.failure(failure))
        case .nameChanged(let name): self = try .nameChanged(coder.field("name", name, .text))
        case .modifiedServices(let handles):
            self = try .modifiedServices(
                coder.field("services", handles, .wholes("an array of attribute handles"))
            )
        case .channelOpened(let psm, let failure):
            self = try .channelOpened(psm: coder.field("psm", psm, .whole), failure: coder.failure(failure))
        case .readyToWrite: break
        }
    }

    /// The fields of what happened to an attribute.
    private mutating func codeAttribute(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .value(let attribute, let value, let failure):
            self = try .value(
                attribute: coder.field("attribute", attribute, .whole),
                value: coder.field("value", value, .value),
                failure: coder.failure(failure)
            )
        case .descriptorValue(let attribute, let value, let failure):
            self = try .descriptorValue(
                attribute: coder.field("attribute", attribute, .whole),
                value: coder.field("value", value, .value),
                failure: coder.failure(failure)
            )
        case .written(let attribute, let failure):
            self = try .written(
                attribute: coder.field("attribute", attribute, .whole),
                failure: coder.failure(failure)
            )
        case .descriptorWritten(let attribute, let failure):
            self = try .descriptorWritten(
                attribute: coder.field("attribute", attribute, .whole),
                failure: coder.failure(failure)
            )
        case .notifyState(let attribute, let notifying, let failure):
            self = try .notifyState(
                attribute: coder.field("attribute", attribute, .whole),
                notifying: coder.field("notifying", notifying, .bool),
                failure: coder.failure(failure)
            )
        case .services, .includedServices, .characteristics, .descriptors, .rssi, .nameChanged, .modifiedServices,
            .readyToWrite, .channelOpened:
            preconditionFailure("\(word) is about no attribute")
        }
    }
}
