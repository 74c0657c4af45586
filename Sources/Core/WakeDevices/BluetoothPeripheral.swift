import WakeModel

/// A BLE peripheral as a device file describes it: what it says on the air, its attribute table and its behaviour.
package struct BluetoothPeripheral: Hashable, Sendable {
    /// The path of the device file.
    package var file: String
    /// The advertised local name; nil when it advertises none.
    package var name: String?
    /// Six bytes, most significant first.
    package var address: [UInt8]
    package var advertising: Advertising
    package var connection = Connection()
    package var services: [Service]
    /// The ATT MTU that it agrees to, in bytes, header included: within ``mtuRange``.
    package var mtu: Int
    /// What it answers to writes and reads.
    package var answers: BluetoothAnswers
    /// The L2CAP channels that it offers.
    package var channels: [Channel]
    package var pairing: Pairing
    package var faults: [DeviceFault<Effect>]

    /// From what every link begins with to what the longest value needs (Bluetooth Core Specification, volume 3, part F, 3.2.8).
    package static let mtuRange = 23...517
    /// What a device agrees to that says nothing, as with an iPhone.
    package static let usualMTU = 185

    /// What the link must be before an attribute can be used.
    package enum Security: UInt8, Comparable, CaseIterable, Codable, Sendable {
        case none
        /// Any pairing will do.
        case encrypted
        /// Somebody must have compared or typed a number.
        case authenticated

        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// How the peripheral, and the user beside it, answer to pairing.
    package enum Pairing: Hashable, Sendable {
        /// Without a number: encrypted, and not authenticated.
        case justWorks
        /// Both show the same number, and the user says so.
        case numeric
        /// The peripheral shows a number, and the user types it.
        case passkey(UInt32)
        /// It, or the user, refuses.
        case reject
    }

    /// What the peripheral sends on the air.
    package struct Advertising: Hashable, Sendable {
        /// The time from one advertisement to the next.
        package var interval = Instant.Span.milliseconds(100)
        /// Canonical UUIDs.
        package var services: [String] = []
        package var manufacturerData: [UInt8]?
        package var serviceData: [Advertisement.ServiceData] = []
        package var connectable = true
        /// Whether it goes on while there is a link.
        package var whileConnected = false
        /// In dBm.
        package var txPower: Int16?
        /// What a central beside it measures, in dBm.
        package var signalStrength: Int16 = -55
    }

    /// A service of the attribute table.
    package struct Service: Hashable, Sendable {
        /// Canonical.
        package var uuid: String
        package var primary: Bool
        package var characteristics: [Characteristic]
    }

    /// A characteristic of the attribute table.
    package struct Characteristic: Hashable, Sendable {
        /// Canonical.
        package var uuid: String
        package var properties: CharacteristicProperties
        /// Notifications may be read from a descriptor of their own on BlueZ (AcquireNotify).
        package var stream: Bool
        package var value: [UInt8]
        package var security: Security
        package var timetable: Timetable
        /// Those beside the client configuration, which each notifying characteristic has of itself.
        package var descriptors: [Descriptor]
        package var line: Int
    }

    /// A descriptor of the attribute table.
    package struct Descriptor: Hashable, Sendable {
        /// Canonical.
        package var uuid: String
        package var value: [UInt8]
    }

    /// An L2CAP channel that the peripheral offers.
    package struct Channel: Hashable, Sendable {
        package var psm: UInt16
        /// Whether it sends back what it gets.
        package var echo: Bool
        package var security: Security
        /// What it sends of itself, from the moment the channel is open.
        package var timetable: Timetable
        package var line: Int
    }

    /// What an armed fault does.
    package enum Effect: Hashable, Sendable {
        /// Subscribing is answered this much later.
        case lateSubscribeAnswer(Instant.Span)
        /// The link drops after so many more notifications; once.
        case disconnectAfter(Int)
        /// When the link next goes, every attribute moves up by so many handles, and nobody is told.
        case staleHandles(Int)
        /// Operations get no answer, and the link drops this long after the first.
        case noAnswer(Instant.Span)
        /// The timetables stand still for this long.
        case holdNotifications(Instant.Span)
        /// An L2CAP channel is closed with so many more values sent; once.
        case closeChannelAfter(Int)
        /// L2CAP channels are refused from now on.
        case refuseChannels
        /// Notified values are cut to so many bytes, as by a wrongly negotiated MTU.
        case cutValues(Int)
        /// Services come and go; the phone is told of it by Service Changed, where the peripheral has that.
        case changeServices(ServicesChange)
        /// It has another name from now on.
        case changeName(String)
    }

    /// How the attribute table changes while the peripheral is used.
    package struct ServicesChange: Hashable, Sendable {
        /// The UUIDs of the services that go, canonical.
        package var removed: [String]
        /// The services that come, behind all others.
        package var added: [Service]

        package init(removed: [String] = [], added: [Service] = []) {
            self.removed = removed
            self.added = added
        }
    }

    /// The services that its faults bring, in their order; they are not there before.
    package var servicesToCome: [Service] {
        faults.flatMap { fault -> [Service] in
            if case .changeServices(let change) = fault.effect { change.added } else { [] }
        }
    }

    /// Where the services that a change brings stand, among those of the file and ``servicesToCome``.
    package func places(addedBy change: ServicesChange) -> Range<Int> {
        var place = services.count
        for fault in faults {
            guard case .changeServices(let each) = fault.effect else { continue }
            if each == change { break }
            place += each.added.count
        }
        return place..<place + change.added.count
    }

    /// The address in the usual spelling, `F0:11:22:33:44:55`.
    package var addressText: String { BluetoothAddress.text(address) }

    /// Whether anything of it can make the phone pair.
    package var wantsPairing: Bool {
        pairing != .justWorks || channels.contains { $0.security != .none }
            || services.contains { $0.characteristics.contains { $0.security != .none } }
    }
}

/// The property bits of the Bluetooth specification.
package struct CharacteristicProperties: OptionSet, Hashable, Sendable {
    package var rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let broadcast = CharacteristicProperties(rawValue: 1)
    package static let read = CharacteristicProperties(rawValue: 2)
    package static let writeWithoutResponse = CharacteristicProperties(rawValue: 4)
    package static let write = CharacteristicProperties(rawValue: 8)
    package static let notify = CharacteristicProperties(rawValue: 16)
    package static let indicate = CharacteristicProperties(rawValue: 32)
    package static let authenticatedSignedWrites = CharacteristicProperties(rawValue: 64)
    package static let extendedProperties = CharacteristicProperties(rawValue: 128)

    /// The words of device files, lowest bit first.
    package static let words: [(word: String, property: CharacteristicProperties)] = [
        ("broadcast", .broadcast), ("read", .read), ("write-without-response", .writeWithoutResponse),
        ("write", .write), ("notify", .notify), ("indicate", .indicate),
        ("authenticated-signed-writes", .authenticatedSignedWrites), ("extended-properties", .extendedProperties),
    ]

    /// Whether a client can subscribe.
    package var canNotify: Bool { contains(.notify) || contains(.indicate) }
}
