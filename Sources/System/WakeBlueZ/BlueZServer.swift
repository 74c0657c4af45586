import WakeBus

/// What this machine offers as a peripheral: services and an advertisement, kept registered with bluetoothd.
///
/// Each service is an application of its own to bluetoothd, because it ignores services that an application grows later:
/// so a service comes or goes and no other one moves. After a restart of bluetoothd, or when the adapter is back,
/// everything is registered again in the old order, and at the old handles where they are free.
package final class BlueZServer {
    let adapter: BlueZAdapter
    /// Where events go.
    package var heard: ((BlueZServerEvent) -> Void)?

    private(set) var machine = BlueZServerMachine()
    private var exported: BusSubscription?

    var requests: [UInt32: Pending] = [:]
    var lastRequest: UInt32 = 0
    var subscriptions: [Subscription] = []
    var sending = Sending()

    /// A server on an adapter, which has one at most. The adapter may be followed already or later.
    package init(on adapter: BlueZAdapter) {
        self.adapter = adapter
        adapter.server = self
        if let bus = adapter.bus { busOpened(bus) }
    }

    /// Ends: what is registered is given back, open requests are refused, and nothing is told any more.
    package func stop() {
        heard = nil
        exported = nil
        refuseAll()
        subscriptions.removeAll()
        let calls = machine.stop()
        if adapter.isReady, let path = adapter.path {
            for call in calls { adapter.tell(path, call.interface, call.member, call.arguments) }
        }
        adapter.server = nil
    }

    // MARK: What is wanted

    /// Offers a service. ``BlueZServerEvent/published(_:refusal:)`` tells when it is in the table.
    package func publish(_ service: BlueZLocalService) {
        machine.publish(service)
        proceed()
    }

    /// Takes a service back; its subscriptions end silently and its open requests are refused.
    package func unpublish(_ number: UInt32) {
        guard let service = machine.unpublish(number) else { return }
        let members = Set(service.characteristics.map(\.number))
        subscriptions.removeAll { members.contains($0.characteristic) }
        for (request, pending) in requests.sorted(by: { $0.key < $1.key })
        where members.contains(pending.characteristic) {
            refuse(request, code: BlueZAttributeError.unlikely)
        }
        proceed()
    }

    /// Gives the values of a service that never change out from now on, or refuses them.
    package func serve(_ serves: Bool, _ number: UInt32) { machine.change(number) { $0.isServing = serves } }

    /// Advertises this from now on; nil ends it. ``BlueZServerEvent/advertising(refusal:)`` tells what became of it.
    package func advertise(_ advertisement: BlueZLocalAdvertisement?) {
        perform(machine.advertise(advertisement))
        proceed()
    }

    // MARK: Asking

    /// Asks bluetoothd for the next thing that it does not have or should not have.
    private func proceed() {
        guard adapter.isReady, exported != nil, let path = adapter.path, !adapter.delays.isWaiting(.server),
            let call = machine.next()
        else { return }
        adapter.ask(path, call.interface, call.member, call.arguments) { [weak self] answer in
            guard let self else { return }
            if case .failure(let error) = answer {
                perform(machine.answered(call, error))
            } else {
                perform(machine.answered(call, nil))
            }
            proceed()
        }
    }

    private func perform(_ actions: [BlueZServerMachine.Action]) {
        for action in actions {
            switch action {
            case .say(let event): heard?(event)
            case .pause(let milliseconds):
                adapter.delays.after(milliseconds, .server) { [weak self] in self?.proceed() }
            }
        }
    }

    /// bluetoothd says which handle a service has.
    func setHandle(_ handle: UInt16, of number: UInt32) { machine.change(number) { $0.handle = handle } }

    /// bluetoothd takes the advertisement back.
    func advertisementReleased(_ object: String) { perform(machine.released(object)) }

    // MARK: The adapter

    func busOpened(_ bus: Bus) {
        let root = BlueZServerMachine.root
        exported = try? bus.export(root, andBelow: true) { [weak self] in self?.answer($0) ?? false }
        proceed()
    }

    func busEnded() { exported = nil }

    func adapterReady() { proceed() }

    /// The adapter is off: it loses its links and its advertisement.
    func adapterOff() {
        machine.adapterOff()
        linksEnded()
    }

    /// bluetoothd or the adapter went, and with it everything that was registered.
    func adapterLeft() {
        machine.adapterLeft()
        linksEnded()
    }
}

extension BlueZServer {
    /// The name of the error with which ``probe()`` says that the adapter is there, and cannot be a peripheral.
    package static let cannotBePeripheral = "org.bluez.Error.NotSupported"

    /// Looks once, before a loop runs, whether the adapter can be a peripheral.
    ///
    /// - Throws: ``BusError`` whose message names what is missing and the remedy.
    package func probe() throws(BusError) {
        let (path, objects) = try adapter.probe()
        for interface in [BlueZName.gattManager, BlueZName.advertisingManager]
        where objects.properties(path, interface) == nil {
            let message =
                "\(path) cannot be a peripheral: \(adapter.program.name) offers no \(interface) on it; "
                + adapter.program.remedyOfRole
            throw BusError(name: Self.cannotBePeripheral, message: message)
        }
    }
}

/// Codes of the Attribute Protocol that servers answer with (Bluetooth Core Specification, volume 3, part F, 3.4.1.1).
package enum BlueZAttributeError {
    package static let readNotPermitted: UInt8 = 0x02
    package static let writeNotPermitted: UInt8 = 0x03
    package static let requestNotSupported: UInt8 = 0x06
    package static let invalidOffset: UInt8 = 0x07
    package static let insufficientAuthorization: UInt8 = 0x08
    package static let invalidValueLength: UInt8 = 0x0D
    package static let unlikely: UInt8 = 0x0E
    package static let insufficientResources: UInt8 = 0x11

    /// The D-Bus error that makes bluetoothd answer with a code. It knows few of them; the rest become 0x0E.
    static func error(_ code: UInt8) -> BusError {
        let hex = "0x" + String(code, radix: 16)
        let kind =
            switch code {
            case readNotPermitted, writeNotPermitted: "NotPermitted"
            case requestNotSupported: "NotSupported"
            case invalidOffset: "InvalidOffset"
            case insufficientAuthorization: "NotAuthorized"
            case invalidValueLength: "InvalidValueLength"
            // Codes of the application's own; bluetoothd before 5.59 answers 0x80 for each.
            case 0x80...0x9F: "Failed"
            default: "Unlikely"
            }
        return BusError(name: "org.bluez.Error." + kind, message: hex)
    }
}
