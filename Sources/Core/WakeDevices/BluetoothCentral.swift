import WakeModel

/// A BLE central as a device file describes it: what it does with an app that is a peripheral, step by step in time.
package struct BluetoothCentral: Hashable, Sendable {
    /// The path of the device file.
    package var file: String
    /// What people call it; nil when the file does not say.
    package var name: String?
    /// Six bytes, most significant first.
    package var address: [UInt8]
    /// The ATT MTU that it agrees to, in bytes, header included: 23 to 517.
    package var mtu: Int
    /// The connection interval: a request and its answer take at least one each.
    package var interval: Instant.Span
    /// Whether it finds services in the overflow area of a phone's advertisement, as an iPhone does (BTP-2).
    package var readsOverflow: Bool
    package var script: [Step]
    /// Whether the script begins again after its last step.
    package var repeats: Bool
    package var faults: [DeviceFault<Effect>]

    /// One thing that the central does.
    package struct Step: Hashable, Sendable {
        package var line: Int
        /// Its key in the file.
        package var word: String
        package var action: Action
    }

    /// What a step does; the next one begins when it is done.
    package enum Action: Hashable, Codable, Sendable {
        /// Lets time pass.
        case wait(Instant.Span)
        /// Looks for a peripheral that advertises the service and connects to it. After `within` it is given up.
        case connect(service: String, within: Instant.Span?)
        /// Reads the whole attribute table.
        case discover
        /// Reads a characteristic to its end, in as many requests as the MTU asks for.
        case read(String)
        case write(String, [UInt8], WriteKind)
        case subscribe(String, indications: Bool)
        case unsubscribe(String)
        /// Waits until so many values of a characteristic came since it was subscribed to or waited for. After `within`
        /// the script goes on all the same.
        case awaitValues(String, count: Int, within: Instant.Span?)
        /// Opens the L2CAP channel of a PSM, sends the value, and closes the channel when as many bytes came back. After
        /// `within` it is given up.
        case exchange(psm: UInt16, [UInt8], within: Instant.Span?)
        case disconnect
    }

    /// How a value is written.
    package enum WriteKind: UInt8, CaseIterable, Codable, Sendable {
        /// With a response.
        case request
        /// Without one.
        case command
        /// Prepared in pieces and executed at once.
        case prepared
    }

    /// What an armed fault does.
    package enum Effect: Hashable, Sendable {
        /// The link drops with so many more values or answers; once.
        case disconnectAfter(Int)
        /// Indications are never confirmed again.
        case neverConfirm
        /// Each value takes this long to be taken, so that the peripheral's queue fills.
        case slowReader(Instant.Span)
    }

    /// The address in the usual spelling, `F0:11:22:33:44:55`.
    package var addressText: String { BluetoothAddress.text(address) }

    /// What the first `connect` of its script looks for; nil when there is none.
    package var firstService: String? {
        for step in script {
            if case .connect(let service, _) = step.action { return service }
        }
        return nil
    }
}

/// What a step of a scenario has a scripted central do.
package struct CentralOrder: Hashable, Sendable {
    /// A position in ``Scenario/devices``.
    package var device: Int
    /// The step's key.
    package var word: String
    package var action: BluetoothCentral.Action
}

/// Bluetooth device addresses, six bytes, most significant first.
package enum BluetoothAddress {
    /// The usual spelling, `F0:11:22:33:44:55`.
    package static func text(_ bytes: [UInt8]) -> String {
        bytes.map { $0.hexadecimal.uppercased() }.joined(separator: ":")
    }
}
