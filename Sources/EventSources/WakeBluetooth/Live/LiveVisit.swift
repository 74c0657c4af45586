import WakeBlueZ
import WakeCaptures
import WakeDevices
import WakeSystem

/// Makes a device speak: connects to it, subscribes to all of which it notifies and reads what can be read, again each time its link
/// is back.
package final class LiveVisit {
    package let address: String
    /// How many links there were.
    package private(set) var links = 0
    package private(set) var isLinked = false
    /// What the device has, as bluetoothd knows it; a capture does not show it when bluetoothd knew it before.
    package private(set) var table = AttributeTable()
    /// How many characteristics are subscribed to on the latest link.
    package private(set) var subscriptions = 0
    /// What was refused, each once.
    package private(set) var refusals: [String] = []

    private let adapter: LiveAdapter
    private let device: BlueZDeviceID
    /// The link is up, and its attributes are to be asked for.
    private var isToAsk = false
    /// The link has gone, and is wanted again.
    private var isToConnect = false

    private static let mostRefusals = 64

    /// Finds a device and connects to it.
    ///
    /// - Parameters:
    ///   - wanted: an address, or the name that it advertises.
    ///   - within: how long all that may take.
    ///   - follow: told of each stage, in a few words.
    package init(
        _ wanted: String,
        adapter: LiveAdapter,
        within: Duration,
        follow: (String) -> Void
    ) throws(LiveFailure) {
        let deadline = MonotonicClock.now() + Int64(within / .nanoseconds(1))
        follow("listening for \(wanted)")
        let heard = try adapter.find(wanted, to: deadline)
        (self.adapter, device, address) = (adapter, heard.id, heard.id.address)
        adapter.told = { [weak self] in self?.hear($0) }
        follow("connecting to \(address)")
        try adapter.connect(device, to: deadline)
        turn()
    }

    private func hear(_ event: BlueZEvent) {
        switch event {
        case .connected(device):
            links += 1
            isLinked = true
        case .resolved(device): isToAsk = true
        case .disconnected(device, _):
            (isLinked, isToAsk, isToConnect) = (false, false, true)
            subscriptions = 0
        case .ready, .off, .gone, .sighted, .connected, .resolved, .renamed, .disconnected, .notified: break
        }
    }

    /// Does what has become due; to be called after each turn of the loop.
    package func turn() {
        if isToConnect {
            isToConnect = false
            adapter.adapter.want(device)
            // bluetoothd forgets a device that it does not hear for a while.
            adapter.adapter.scan(BlueZScan(services: [], duplicates: false))
        }
        if isToAsk {
            isToAsk = false
            adapter.adapter.scan(nil)
            ask()
        }
    }

    /// Subscribes first: what a device sends by itself may count from that, and a value that is read is there later, too.
    private func ask() {
        let attributes = adapter.adapter.attributes(of: device)
        table = AttributeTable(attributes)
        for each in attributes.characteristics where each.flags.contains("notify") || each.flags.contains("indicate") {
            adapter.adapter.startNotifying(device, each.handle, stream: false) { [weak self] answer in
                switch answer {
                case .success: self?.subscriptions += 1
                case .failure(let error): self?.refuse("subscribing to \(Self.name(each.uuid))", error.kind)
                }
            }
        }
        for each in attributes.characteristics where each.flags.contains("read") {
            adapter.adapter.read(device, each.handle) { [weak self] answer in
                if case .failure(let error) = answer { self?.refuse("reading \(Self.name(each.uuid))", error.kind) }
            }
        }
    }

    private static func name(_ uuid: String) -> String { BlueZPeripheral.canonical(uuid) }

    private func refuse(_ what: String, _ why: some StringProtocol) {
        // A link that has gone refuses all that was asked.
        let line = "\(what) was refused: \(why)"
        guard isLinked, !refusals.contains(line), refusals.count < Self.mostRefusals else { return }
        refusals.append(line)
    }

    /// Ends the link.
    package func leave() throws(LiveFailure) {
        adapter.adapter.scan(nil)
        try adapter.leave(device)
    }
}

extension AttributeTable {
    /// What bluetoothd says that a device has.
    init(_ attributes: BlueZAttributes) {
        self.init()
        let starts = attributes.services.map(\.handle).sorted()
        for service in attributes.services {
            let next = starts.first { $0 > service.handle }
            addService(service.uuid, isPrimary: service.primary, from: service.handle, to: next.map { $0 - 1 } ?? .max)
        }
        let bits: [String: UInt8] = [
            "broadcast": 0x01, "read": 0x02, "write-without-response": 0x04, "write": 0x08, "notify": 0x10,
            "indicate": 0x20, "authenticated-signed-writes": 0x40, "extended-properties": 0x80,
        ]
        for each in attributes.characteristics {
            addCharacteristic(
                each.uuid,
                properties: each.flags.reduce(0) { $0 | bits[$1, default: 0] },
                at: each.handle
            )
        }
        for each in attributes.descriptors { addDescriptor(each.uuid, at: each.handle) }
    }
}
