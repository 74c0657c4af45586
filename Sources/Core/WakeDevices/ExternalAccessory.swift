import WakeModel

/// An external accessory as a device file describes it: who it says it is, the protocols that it offers, what each does, and how
/// it can misbehave.
package struct ExternalAccessory: Hashable, Sendable {
    /// The path of the device file.
    package var file: String
    package var name: String
    package var manufacturer = ""
    package var model = ""
    package var serialNumber = ""
    package var firmwareRevision = ""
    package var hardwareRevision = ""
    package var transport: Transport
    /// At least one, each name once.
    package var protocols: [AccessoryProtocol]
    /// When it is plugged in and pulled, or in range and not; empty for one that is there from the beginning to the end.
    package var presence: [Presence] = []
    package var faults: [DeviceFault<Effect>] = []

    /// How the accessory is found.
    package enum Transport: Hashable, Sendable {
        case usb(USB)
        /// Six bytes, most significant first.
        case bluetooth(address: [UInt8])

        /// Whether it comes over the phone's radio, and not by wire.
        package var needsRadio: Bool { if case .bluetooth = self { true } else { false } }
    }

    /// A USB device, by its descriptors.
    package struct USB: Hashable, Sendable {
        package var vendor: UInt16
        package var product: UInt16
        /// The serial number of its descriptor; nil when any will do.
        package var serialNumber: String?
    }

    /// A protocol that the accessory offers, and what stands behind it.
    package struct AccessoryProtocol: Hashable, Sendable {
        /// A reverse-DNS string, as in UISupportedExternalAccessoryProtocols.
        package var name: String
        package var link: Link
        package var script = Script()
        package var line = 0
    }

    /// What carries the bytes of a protocol.
    package enum Link: Hashable, Sendable {
        /// A serial port of a USB interface.
        case tty(interface: Int)
        /// The reports of a USB interface.
        case hid(HID)
        /// An RFCOMM channel of a service; of the service's record when it has no number.
        case rfcomm(service: String, channel: Int?)

        /// Whether its sender can be held, so that nothing is lost (EA-5).
        package var canWait: Bool {
            switch self {
            case .tty, .rfcomm: true
            case .hid: false
            }
        }

        /// What it carries to the accessory at most, in bytes a second: bulk transfers at full speed (USB 2.0, table 5-9), a
        /// report a frame (5.7.3), or packets of the kind 3-DH5 one after the other (Bluetooth Core, volume 2, part B, 6.7).
        package var rate: Int {
            switch self {
            case .tty: 1_216_000
            case .hid(let reports): reports.size * 1_000
            case .rfcomm: 272_262
            }
        }
    }

    /// Reports in both directions: what arrives is a report's data; what is sent is cut into reports and filled with zeros.
    package struct HID: Hashable, Sendable {
        package var interface = 0
        /// Nil when the interface's reports have no numbers.
        package var report: UInt8?
        /// The bytes of a report without its number, from 1 to 1 024.
        package var size = 64
    }

    /// What an accessory sends of itself, and answers, on one protocol; it begins anew with each session.
    package struct Script: Hashable, Sendable {
        /// From the moment the session is open.
        package var timetable = Timetable()
        package var answers: [Answer] = []
        /// Whether it sends back what it gets.
        package var echo = false
    }

    /// What is sent when certain bytes have arrived.
    package struct Answer: Hashable, Sendable {
        /// What must be the last that arrived; 1 to 256 bytes.
        package var to: [UInt8]
        /// From the moment they have arrived. When it runs already it begins anew.
        package var timetable: Timetable
    }

    /// One change between being there and not.
    package struct Presence: Hashable, Sendable {
        /// The pause before it.
        package var after: Instant.Span
        package var attached: Bool
    }

    /// What an armed fault does, once, over all sessions of the accessory.
    ///
    /// One that is pulled comes back after a time, unless that is nil: as a new connection, and on USB under the next free number.
    package enum Effect: Hashable, Sendable {
        /// It is pulled when it has taken so many more bytes: in the middle of a write.
        case unplugAfterReceived(Int, backAfter: Instant.Span? = nil)
        /// It is pulled when it has sent so many more values.
        case unplugAfterSent(Int, backAfter: Instant.Span? = nil)
        /// It neither takes nor sends anything for this long.
        case stall(Instant.Span)
        /// It sends so many bytes of nonsense before the next value.
        case garbage(Int)
        /// It sends so many bytes at once, as fast as they go.
        case flood(Int)
    }

    /// What an app reads of it once it is connected.
    package func accessory(_ connection: AccessoryConnection) -> Accessory {
        Accessory(
            connection: connection,
            name: name,
            manufacturer: manufacturer,
            model: model,
            serialNumber: serialNumber,
            firmwareRevision: firmwareRevision,
            hardwareRevision: hardwareRevision,
            protocols: protocols.map(\.name)
        )
    }

    /// The Bluetooth address in the usual spelling; nil for one on USB.
    package var addressText: String? {
        if case .bluetooth(let address) = transport { BluetoothAddress.text(address) } else { nil }
    }

    /// The accessory that a scenario's `count` makes of this one: another serial number, or address.
    package func copy(_ number: Int) -> ExternalAccessory {
        guard number > 1 else { return self }
        var copy = self
        copy.serialNumber += "-\(number)"
        switch transport {
        case .usb(var usb):
            usb.serialNumber = usb.serialNumber.map { "\($0)-\(number)" }
            copy.transport = .usb(usb)
        case .bluetooth(let address):
            copy.transport = .bluetooth(address: BluetoothPeripheral.address(address, plus: number - 1))
        }
        return copy
    }
}
