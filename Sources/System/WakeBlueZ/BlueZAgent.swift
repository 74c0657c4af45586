import WakeBus

/// How a device is paired with: what its user would answer.
package enum BlueZPairing: Hashable, Sendable {
    /// Accept whatever needs no number.
    case justWorks
    /// The numbers are the same.
    case numeric
    /// The number that the device shows, 0 to 999999.
    case passkey(UInt32)
    case reject
}

/// The one who answers bluetoothd's questions while it pairs.
final class BlueZAgent {
    static let path = "/org/wakebench/agent"
    static let interface = "org.bluez.Agent1"
    static let manager = "org.bluez.AgentManager1"

    private var exported: BusSubscription?
    /// How the device of an object is paired with; nil for one that is none of ours.
    var pairing: (String) -> BlueZPairing?
    /// The unique name of bluetoothd, the only one who is answered.
    var daemon: () -> String? = { nil }

    init(pairing: @escaping (String) -> BlueZPairing?) { self.pairing = pairing }

    /// Answers on a bus from now on.
    func export(on bus: Bus) throws(BusError) {
        exported = try bus.export(Self.path) { [unowned self] in answer($0) }
    }

    func withdraw() { exported = nil }

    private func answer(_ call: IncomingCall) -> Bool {
        guard call.interface == Self.interface else { return false }
        guard call.sender == daemon() else {
            call.fail(.notTheDaemon(call))
            return true
        }
        let pairing = call.arguments.first?.text.flatMap(pairing)
        switch (call.member, pairing) {
        case ("Release", _), ("Cancel", _): call.reply()
        // Another program's devices are paired by that program's user, not by us.
        case (_, .none), (_, .reject): reject(call)
        case ("RequestPasskey", .passkey(let number)): call.reply([.uint32(number)])
        case ("RequestPinCode", .passkey(let number)): call.reply([.string(String(number))])
        case ("RequestConfirmation", .numeric), ("RequestConfirmation", .justWorks), ("RequestAuthorization", _),
            ("AuthorizeService", _), ("DisplayPasskey", _), ("DisplayPinCode", _):
            call.reply()
        case ("RequestPasskey", _), ("RequestPinCode", _), ("RequestConfirmation", _): reject(call)
        default: return false
        }
        return true
    }

    private func reject(_ call: IncomingCall) {
        call.fail(BusError(name: "org.bluez.Error.Rejected", message: "the user does not pair with \(call.path)"))
    }
}

extension BusError {
    /// What anybody but bluetoothd hears who calls what is there for it.
    static func notTheDaemon(_ call: IncomingCall) -> BusError {
        BusError(
            name: "org.freedesktop.DBus.Error.AccessDenied",
            message: "\(call.interface).\(call.member) is for bluetoothd, not for \(call.sender)"
        )
    }
}

/// Pairing.
extension BlueZAdapter {
    /// Tells bluetoothd who answers its questions. Without an agent it would refuse, or ask a desktop.
    func register(_ agent: BlueZAgent, on bus: Bus) {
        agent.daemon = { [weak self] in self?.owner }
        do throws(BusError) { try agent.export(on: bus) } catch { return }
        let arguments: [BusValue] = [.objectPath(BlueZAgent.path), .string("KeyboardDisplay")]
        ask(BusCall(BlueZName.daemon, "/org/bluez", BlueZAgent.manager, "RegisterAgent", arguments)) { [weak self] _ in
            self?.tell("/org/bluez", BlueZAgent.manager, "RequestDefaultAgent", [.objectPath(BlueZAgent.path)])
        }
    }

    /// Pairs with a connected device; one that is paired already is.
    package func pair(_ device: BlueZDeviceID, completion: @escaping (BusError?) -> Void) {
        guard let path = path(of: device) else { return completion(Self.linkGone) }
        let call = BusCall(BlueZName.daemon, path, BlueZName.device, "Pair")
        ask(call, timeout: .seconds(65)) { answer in
            switch answer {
            case .success: completion(nil)
            case .failure(let error): completion(error.kind == "AlreadyExists" ? nil : error)
            }
        }
    }
}
