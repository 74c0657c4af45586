import WakeBlueZ
import WakeBus
import WakeDevices
import WakeModel
import WakeSystem

/// This machine's adapter, for a visit to one device.
package final class LiveAdapter {
    /// A device that was heard.
    package struct Heard: Hashable, Sendable {
        package var id: BlueZDeviceID
        package var advertisement: BlueZAdvertisement
    }

    let adapter: BlueZAdapter
    let loop: EventLoop
    let waiting: LiveWait
    private var heard: [BlueZDeviceID: BlueZAdvertisement] = [:]
    /// In the order in which they were heard.
    private var order: [BlueZDeviceID] = []
    private(set) var resolved: Set<BlueZDeviceID> = []
    private(set) var ended: Set<BlueZDeviceID> = []

    /// How long after a device was first heard its answer to a scan may come.
    private static let answerTime = Duration.seconds(1)
    private static let startTime = Duration.seconds(20)
    private static let listLimit = 4_096
    /// Told of what the adapter says, after this has taken notice.
    var told: ((BlueZEvent) -> Void)?

    /// Looks for the adapter, switches it on and begins to follow it.
    ///
    /// - Parameters:
    ///   - address: the adapter's own; nil for any.
    ///   - probes: whether it is asked for beforehand, for which the loop stands still.
    ///   - stop: ends what is waited for.
    /// - Throws: ``LiveFailure/missing(_:)``.
    package init(
        address: String?,
        bus: BusAddress = .system,
        of program: BlueZProgram = .bluetoothd,
        on loop: EventLoop,
        probes: Bool = true,
        stop: StopFlag? = nil
    ) throws(LiveFailure) {
        self.loop = loop
        waiting = LiveWait(loop, stop: stop)
        adapter = BlueZAdapter(.init(address: address), bus: bus, of: program, on: loop)
        do throws(BusError) {
            if probes { try adapter.probe() }
            try adapter.start()
        } catch {
            throw .missing(error.message)
        }
        adapter.heard = { [unowned self] in hear($0) }
        guard try waiting.wait(for: Self.startTime, until: { adapter.isReady }) else {
            throw .missing("the adapter did not become ready: \(program.name) does not answer")
        }
    }

    deinit { adapter.stop() }

    private func hear(_ event: BlueZEvent) {
        switch event {
        case .sighted(let device, let advertisement):
            if heard[device] == nil {
                guard order.count < Self.listLimit else { return }
                order.append(device)
            }
            heard[device] = advertisement
        case .resolved(let device): resolved.insert(device)
        case .disconnected(let device, _): ended.insert(device)
        case .ready, .off, .gone, .connected, .renamed, .notified: break
        }
        told?(event)
    }

    /// Listens until a device is heard, and a little longer for its answer to the scan.
    ///
    /// - Parameters:
    ///   - wanted: an address, or the name that it advertises.
    ///   - deadline: in nanoseconds of ``MonotonicClock``.
    package func find(_ wanted: String, to deadline: Int64) throws(LiveFailure) -> Heard {
        heard.removeAll()
        order.removeAll()
        adapter.scan(BlueZScan(services: [], duplicates: true))
        let found = try waiting.wait(to: deadline) { !matching(wanted).isEmpty }
        if found { _ = try waiting.wait(for: Self.answerTime) { false } }
        adapter.scan(nil)
        _ = try waiting.wait(for: Self.startTime) { !adapter.isDiscovering }
        let matches = matching(wanted)
        guard let device = matches.first, let advertisement = heard[device] else {
            throw .notHeard(order.map { "\($0.address)\(heard[$0]?.name.map { " (\($0))" } ?? "")" })
        }
        guard matches.count == 1 else { throw .several(matches.map(\.address)) }
        return Heard(id: device, advertisement: advertisement)
    }

    private func matching(_ wanted: String) -> [BlueZDeviceID] {
        order.filter { $0.address == wanted.uppercased() || heard[$0]?.name == wanted }
    }

    /// Connects through bluetoothd and waits for the table of attributes.
    func connect(_ device: BlueZDeviceID, to deadline: Int64) throws(LiveFailure) {
        adapter.own(device)
        adapter.want(device)
        guard try waiting.wait(to: deadline, until: { resolved.contains(device) }) else {
            adapter.giveUp(device)
            throw .notReached("\(device.address) was heard, and its services did not come in time")
        }
    }

    /// The value of a characteristic, or why there is none.
    func read(_ device: BlueZDeviceID, _ handle: UInt16) throws(LiveFailure) -> BlueZAdapter.Outcome {
        var outcome: BlueZAdapter.Outcome?
        adapter.read(device, handle) { outcome = $0 }
        // bluetoothd answers by itself after 30 s.
        _ = try waiting.wait(for: .seconds(40)) { outcome != nil }
        return outcome ?? .failure(BlueZAdapter.linkGone)
    }

    /// Ends the link.
    func leave(_ device: BlueZDeviceID) throws(LiveFailure) {
        adapter.giveUp(device)
        _ = try waiting.wait(for: .seconds(5)) { !adapter.isConnected(device) }
    }
}
