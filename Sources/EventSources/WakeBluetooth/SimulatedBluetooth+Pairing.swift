import WakeDevices
import WakeModel
import WakePorts

/// Pairing: what a secured attribute asks for, and how the device and its user answer.
extension SimulatedBluetooth {
    /// From the refused request to the end of the pairing, with a user who reads a dialogue.
    private static let pairingTime = (low: Instant.Span.seconds(1), high: Instant.Span.seconds(3))

    /// What an operation needs of the link.
    private func security(of operation: BluetoothOperation, on index: Int) -> BluetoothPeripheral.Security {
        switch operation {
        case .read, .write, .setNotify:
            let place = place(reachedBy: operation, on: index)
            return place.map { peripherals[index].attributes.characteristics[$0].security } ?? .none
        case .openChannel(let psm):
            return peripherals[index].description.channels.first { $0.psm == psm }?.security ?? .none
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors,
            .readDescriptor, .writeDescriptor, .readSignalStrength:
            return .none
        }
    }

    /// The first unanswered request needs more security than the link has: the phone pairs, and asks again. True when it
    /// does so now, and the request waits.
    func pairs(for index: Int, at now: Instant) -> Bool {
        guard let request = peripherals[index].requests.first, !request.hasPaired,
            security(of: request.operation, on: index) > peripherals[index].security
        else { return false }
        peripherals[index].requests[0].hasPaired = true
        if let refusal = refusal(of: request.operation, on: index) {
            traceRefusal(of: request.operation, refusal, on: index, at: now)
        }
        switch peripherals[index].description.pairing {
        case .reject: break
        case .justWorks: peripherals[index].security = .encrypted
        case .numeric, .passkey: peripherals[index].security = .authenticated
        }
        let span = peripherals[index].random.span(from: Self.pairingTime.low, to: Self.pairingTime.high)
        peripherals[index].pairingEnds = now.advanced(by: span)
        return true
    }

    /// Says what fails because the pairing for it has failed, or has not made the link as secure as it must be.
    func tellUnpaired(
        _ operation: BluetoothOperation,
        _ failure: BluetoothFailure,
        for client: BluetoothClient,
        on index: Int,
        at now: Instant
    ) {
        guard let missed else { return }
        let (name, table) = (peripherals[index].name, peripherals[index].table)
        let uuid = table.characteristic(at: operation.attribute).map { table.characteristics[$0].uuid } ?? ""
        let what =
            switch operation {
            case .read: "read \(uuid)"
            case .write: "write \(uuid)"
            case .setNotify: "subscribe \(uuid)"
            case .openChannel(let psm): "open L2CAP channel \(psm)"
            default: uuid
            }
        let pairing =
            peripherals[index].description.pairing == .reject
            ? "\(name) rejects pairing" : "pairing with \(name) does not authenticate the link"
        missed("\(pairing): \(what) fails: \(failure.message)", client, now)
    }

    /// Why an operation is refused; nil when the link is secure enough.
    func refusal(of operation: BluetoothOperation, on index: Int) -> BluetoothFailure? {
        let needed = security(of: operation, on: index)
        guard needed > peripherals[index].security else { return nil }
        return needed == .authenticated ? .insufficientAuthentication : .insufficientEncryption
    }
}
