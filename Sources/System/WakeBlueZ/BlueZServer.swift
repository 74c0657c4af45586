import WakeBus

/// What this machine offers as a peripheral: services and an advertisement, kept registered with bluetoothd.
///
/// Each service is an application of its own to bluetoothd, because it ignores services that an application grows later:
/// so a service comes or goes and no other one moves. After a restart of bluetoothd, or when the adapter is back,
/// everything is registered again in the old order, and at the old handles where they are free.
package final class BlueZServer {
    /// The object below which everything is exported.
    static let root = "/org/wakebench"

    /// A service, and how far bluetoothd is with it.
    struct Entry {
        enum State {
            /// Not in bluetoothd's table. Valid transitions to: `asked`.
            case waiting
            /// Valid transitions to: `registered`, `waiting`, `refused`.
            case asked
            /// Valid transitions to: `waiting`.
            case registered
            /// bluetoothd does not take it; it is not asked again.
            case refused
        }

        var service: BlueZLocalService
        var state = State.waiting
        /// The handle that bluetoothd gave before; 0 for none.
        var handle: UInt16 = 0
        /// Whether the owner heard what became of it.
        var isTold = false
        /// Whether values that never change are given out.
        var isServing = true
    }

    let adapter: BlueZAdapter
    /// Where events go.
    package var heard: ((BlueZServerEvent) -> Void)?

    /// In order of publication.
    private(set) var entries: [Entry] = []
    /// Objects of services that nobody wants any more and that bluetoothd still has.
    private var leaving: [String] = []
    private var isAsking = false
    private var failures = 0
    private var exported: BusSubscription?

    var advertising = Advertising()
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
        for entry in entries { retire(entry) }
        entries.removeAll()
        advertise(nil)
        subscriptions.removeAll()
        if adapter.isReady, let path = adapter.path {
            for object in leaving {
                adapter.tell(path, BlueZName.gattManager, "UnregisterApplication", [.objectPath(object)])
            }
        }
        leaving.removeAll()
        adapter.server = nil
    }

    // MARK: Services

    /// Offers a service. ``BlueZServerEvent/published(_:refusal:)`` tells when it is in the table.
    package func publish(_ service: BlueZLocalService) {
        precondition(!entries.contains { $0.service.number == service.number }, "service \(service.number) twice")
        entries.append(Entry(service: service))
        proceed()
    }

    /// Takes a service back; its subscriptions end silently and its open requests are refused.
    package func unpublish(_ number: UInt32) {
        guard let index = entries.firstIndex(where: { $0.service.number == number }) else { return }
        let entry = entries.remove(at: index)
        let members = Set(entry.service.characteristics.map(\.number))
        subscriptions.removeAll { members.contains($0.characteristic) }
        for (request, pending) in requests.sorted(by: { $0.key < $1.key })
        where members.contains(pending.characteristic) {
            refuse(request, code: BlueZAttributeError.unlikely)
        }
        retire(entry)
        proceed()
    }

    /// Gives the values of a service that never change out from now on, or refuses them.
    package func serve(_ serves: Bool, _ number: UInt32) {
        guard let index = entries.firstIndex(where: { $0.service.number == number }) else { return }
        entries[index].isServing = serves
    }

    private func retire(_ entry: Entry) {
        switch entry.state {
        case .asked, .registered: leaving.append(Self.path(of: entry.service.number))
        case .waiting, .refused: break
        }
    }

    static func path(of service: UInt32) -> String { "\(root)/service\(service)" }

    /// Asks bluetoothd for the next thing that it does not have or should not have: one at a time, so that handles are
    /// given in the order of publication.
    func proceed() {
        guard adapter.isReady, exported != nil, let path = adapter.path, !isAsking,
            !adapter.delays.isWaiting(.server)
        else { return }
        if let object = leaving.first {
            isAsking = true
            let call = BusCall(
                BlueZName.daemon,
                path,
                BlueZName.gattManager,
                "UnregisterApplication",
                [.objectPath(object)]
            )
            adapter.ask(call) { [weak self] _ in
                // An error says that bluetoothd does not have it, which is what was asked for.
                guard let self else { return }
                leaving.removeFirst()
                isAsking = false
                proceed()
            }
        } else if let index = entries.firstIndex(where: { $0.state == .waiting }) {
            isAsking = true
            entries[index].state = .asked
            register(entries[index].service.number, path)
        } else {
            proceedAdvertising(path)
        }
    }

    private func register(_ number: UInt32, _ adapterPath: String) {
        let arguments: [BusValue] = [.objectPath(Self.path(of: number)), .properties([])]
        let call = BusCall(BlueZName.daemon, adapterPath, BlueZName.gattManager, "RegisterApplication", arguments)
        adapter.ask(call) { [weak self] answer in
            guard let self else { return }
            isAsking = false
            // Taken back meanwhile: it is among those that leave.
            if let index = entries.firstIndex(where: { $0.service.number == number }) {
                registered(index, answer)
            }
            proceed()
        }
    }

    private func registered(_ index: Int, _ answer: Bus.Answer) {
        switch answer {
        case .success: taken(index)
        // An adapter that was switched off and on again kept its table.
        case .failure(let error) where error.kind == "AlreadyExists": taken(index)
        case .failure(let error) where error.isTimeout || error.isAboutNobody || error.isAboutSomethingGone:
            entries[index].state = .waiting
            pause()
        case .failure where entries[index].handle != 0:
            // Somebody else's service has the handles now.
            entries[index].handle = 0
            entries[index].state = .waiting
        case .failure(let error):
            entries[index].state = .refused
            tell(index, refusal: error)
        }
    }

    private func taken(_ index: Int) {
        failures = 0
        entries[index].state = .registered
        tell(index, refusal: nil)
    }

    private func tell(_ index: Int, refusal: BusError?) {
        guard !entries[index].isTold else { return }
        entries[index].isTold = true
        heard?(.published(entries[index].service.number, refusal: refusal))
    }

    /// Asks again a little later, and later each time.
    func pause() {
        failures += 1
        adapter.delays.after(min(8_000, 125 << Int64(min(failures, 6))), .server) { [weak self] in self?.proceed() }
    }

    /// bluetoothd says which handle a service has.
    func setHandle(_ handle: UInt16, of number: UInt32) {
        guard let index = entries.firstIndex(where: { $0.service.number == number }) else { return }
        entries[index].handle = handle
    }

    // MARK: The adapter

    func busOpened(_ bus: Bus) {
        exported = try? bus.export(Self.root, andBelow: true) { [weak self] in self?.answer($0) ?? false }
        proceed()
    }

    func busEnded() { exported = nil }

    func adapterReady() { proceed() }

    /// The adapter is off: it keeps its table and loses its links and its advertisement.
    func adapterOff() {
        isAsking = false
        for index in entries.indices where entries[index].state == .asked { entries[index].state = .waiting }
        advertisementLost()
        linksEnded()
    }

    /// bluetoothd or the adapter went, and with it everything that was registered.
    func adapterLeft() {
        isAsking = false
        leaving.removeAll()
        for index in entries.indices where entries[index].state != .refused { entries[index].state = .waiting }
        advertisementLost()
        advertising.leaving = nil
        linksEnded()
    }
}

extension BlueZServer {
    /// Looks once, before a loop runs, whether the adapter can be a peripheral.
    ///
    /// - Throws: ``BusError`` whose message names what is missing and the remedy.
    package static func probe(
        _ choice: BlueZAdapterChoice,
        bus address: BusAddress = .system,
        timeout: Duration = .seconds(10)
    ) throws(BusError) {
        let (path, _) = try BlueZAdapter.probe(choice, bus: address, timeout: timeout)
        let call = BusCall(BlueZName.daemon, "/", BlueZName.objectManager, "GetManagedObjects")
        var objects = BlueZObjects()
        objects.replace(with: try Bus.ask(address, call, timeout: timeout).first)
        for interface in [BlueZName.gattManager, BlueZName.advertisingManager]
        where objects.properties(path, interface) == nil {
            let message =
                "\(path) cannot be a peripheral: bluetoothd offers no \(interface) on it; use an adapter with the "
                + "roles central and peripheral (see bluetoothctl show)"
            throw BusError(name: "org.bluez.Error.NotSupported", message: message)
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
