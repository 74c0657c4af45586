import Glibc
import WakeBus
import WakeSystem

/// `org.wakebench.Radio1`, which the org.bluez of Scripts/radio has on each adapter beside BlueZ's interfaces: what stands for the
/// kernel's Bluetooth sockets, to which its controllers are unknown.
extension BlueZAdapter {
    /// What is answered with a descriptor.
    package typealias Opened = Result<BusDescriptor, BusError>

    /// How long a channel may take to open: its answer, a pairing where the device wants one, and the answer after it.
    private static let channelPatience = Duration.seconds(110)

    /// Whether the adapter is there and has the interface; without it the kernel's sockets are the way.
    package var hasRadio: Bool { path.map { objects.properties($0, BlueZName.radio) != nil } ?? false }

    /// Opens a channel over the link to a device. The descriptor is a non-blocking stream.
    ///
    /// - Parameter completion: called once, never from inside the call. An error that the device answered ends in L2CAP's result, such as
    ///   `0x0002`.
    func openChannel(_ psm: UInt16, at device: String, completion: @escaping (Opened) -> Void) {
        askRadio("OpenChannel", [.objectPath(device), .uint16(psm)], timeout: Self.channelPatience) { answer in
            completion(answer.flatMap { Self.descriptor(in: $0) })
        }
    }

    /// Offers channels to centrals: the PSM, and a socket of packets, each with the central and a channel's descriptor.
    func listenForChannels(encrypted: Bool, completion: @escaping (Result<(UInt16, BusDescriptor), BusError>) -> Void) {
        askRadio("ListenChannels", [.bool(encrypted)]) { answer in
            completion(
                answer.flatMap { values -> Result<(UInt16, BusDescriptor), BusError> in
                    guard let psm = values.first?.integer.flatMap({ UInt16(exactly: $0) }) else {
                        return .failure(Self.noDescriptor)
                    }
                    return Self.descriptor(in: Array(values.dropFirst())).map { (psm, $0) }
                }
            )
        }
    }

    /// Opens a socket of the messages that ``HCIMonitor`` reads.
    package func openMonitor(completion: @escaping (Opened) -> Void) {
        askRadio("Monitor") { answer in completion(answer.flatMap { Self.descriptor(in: $0) }) }
    }

    /// Connects to a device for its attributes alone: a non-blocking socket of whole packets, on which nothing else speaks. The link ends
    /// with it.
    ///
    /// - Parameter patience: how long the link may take; the attempt is given up then.
    package func openAttributes(
        of device: BlueZDeviceID,
        within patience: Duration,
        completion: @escaping (Opened) -> Void
    ) {
        guard let path = path(of: device) else { return completion(.failure(Self.linkGone)) }
        askRadio("OpenAttributes", [.objectPath(path)], timeout: patience) { [weak self] answer in
            if case .failure(let error) = answer, error.isTimeout {
                self?.tell(path, BlueZName.device, "Disconnect")
            }
            completion(answer.flatMap { Self.descriptor(in: $0) })
        }
    }

    /// Asks the adapter's interface. The answer comes whatever has become of the adapter meanwhile, as long as this connection stands.
    private func askRadio(
        _ member: String,
        _ arguments: [BusValue] = [],
        timeout: Duration = Bus.usualTimeout,
        completion: @escaping (Bus.Answer) -> Void
    ) {
        guard let bus, let path else { return completion(.failure(Self.linkGone)) }
        let call = BusCall(BlueZName.daemon, path, BlueZName.radio, member, arguments)
        bus.call(call, timeout: timeout, completion: completion)
    }

    private static let noDescriptor = BusError(name: "org.bluez.Error.Failed", message: "it gave no descriptor")

    private static func descriptor(in values: [BusValue]) -> Opened {
        values.first?.descriptor.map { .success($0) } ?? .failure(noDescriptor)
    }
}

/// Takes what goes between an adapter's org.bluez and a controller that is not the kernel's: from when the adapter is there, and again
/// when another org.bluez has come.
package final class RadioMonitor {
    /// Where messages go, oldest first.
    package var heard: ((HCIMonitorFrame) -> Void)? { didSet { monitor?.heard = heard } }
    /// Why nothing is heard, in words; nil while it is not known, and when something is.
    package private(set) var failure: String?

    private weak var adapter: BlueZAdapter?
    private let loop: EventLoop
    private var monitor: HCIMonitor?
    private var isAsking = false
    private var isFinished = false
    /// Of monitors that have ended.
    private var before = (lost: 0, damaged: 0)

    package init(of adapter: BlueZAdapter, on loop: EventLoop) { (self.adapter, self.loop) = (adapter, loop) }

    /// How many messages there was no room for.
    package var lost: Int { before.lost + (monitor?.lost ?? 0) }
    /// How many messages were none.
    package var damaged: Int { before.damaged + (monitor?.damaged ?? 0) }

    /// Listens from now on, as soon as the adapter is there.
    package func begin() {
        adapter?.monitor = self
        if adapter?.isReady == true { adapterReady() }
    }

    /// Reads what is there still, and listens no more.
    package func finish() {
        isFinished = true
        monitor?.finish()
    }

    /// The adapter is there. A monitor outlives its going and coming, and ends with org.bluez alone.
    func adapterReady() {
        guard let adapter, !isAsking, !isFinished, monitor?.hasEnded != false else { return }
        guard adapter.hasRadio else {
            failure = "this org.bluez does not tell what goes to its controller"
            return
        }
        isAsking = true
        adapter.openMonitor { [weak self] in self?.opened($0) }
    }

    private func opened(_ answer: BlueZAdapter.Opened) {
        isAsking = false
        guard !isFinished else { return }
        before = (lost, damaged)
        monitor = nil
        do {
            let number = try answer.get().take()
            let monitor = try HCIMonitor(Descriptor(owning: number), on: loop)
            monitor.heard = heard
            self.monitor = monitor
            failure = nil
        } catch {
            failure = "the monitor of the controller cannot be opened: \(error)"
        }
    }
}
