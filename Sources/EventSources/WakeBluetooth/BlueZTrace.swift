import Glibc
import WakeBlueZ
import WakeCaptures
import WakeModel
import WakePorts
import WakeSystem

/// What goes between bluetoothd's stack and the one adapter that a run uses, without keys: as the kernel's HCI monitor tells it, or an
/// org.bluez whose controller is not the kernel's.
package final class BlueZTrace: BluetoothTracePort {
    private let adapter: BlueZAdapter
    private let loop: EventLoop
    /// The kernel's.
    private var monitor: HCIMonitor?
    /// That of an org.bluez of the run's own, which is not there before the run begins.
    private var radio: RadioMonitor?
    private var packets = OwnPackets()
    private var write: ((HCIPacket) -> Void)?
    private var start: Int64 = 0

    package init(of adapter: BlueZAdapter, on loop: EventLoop) { (self.adapter, self.loop) = (adapter, loop) }

    package func openTrace() throws(SourceFailure) {
        if adapter.program == .bridge {
            radio = RadioMonitor(of: adapter, on: loop)
            return
        }
        do throws(SystemError) {
            monitor = try HCIMonitor(on: loop)
        } catch {
            throw SourceFailure(.environment, "--capture: \(error); \(Self.remedy(for: error))")
        }
    }

    /// What to do when the monitor cannot be opened.
    ///
    /// - Parameter other: for what has no remedy of its own.
    static func remedy(
        for error: SystemError,
        other: String = "run without --capture, or record beside the run with btmon -w FILE"
    ) -> String {
        switch error.code {
        case EPERM, EACCES:
            "it takes CAP_NET_RAW: run as root, or once setcap cap_net_raw+ep on the file of wakebench"
        case EAFNOSUPPORT, EPROTONOSUPPORT:
            "the kernel has no Bluetooth (modprobe bluetooth), or this is a container with a network of its own"
        default: other
        }
    }

    package func trace(since start: Int64, to write: @escaping (HCIPacket) -> Void) {
        (self.start, self.write) = (start, write)
        monitor?.heard = { [weak self] frame in self?.hear(frame) }
        radio?.heard = { [weak self] frame in self?.hear(frame) }
        radio?.begin()
    }

    package func endTrace() -> [String] {
        monitor?.finish()
        radio?.finish()
        write = nil
        var lines: [String] = []
        let lost = (monitor?.lost ?? 0) + (radio?.lost ?? 0)
        if lost > 0 {
            lines.append("capture: \(lost) packets of this machine's adapters came too fast, and may be missing")
        }
        let damaged = (monitor?.damaged ?? 0) + (radio?.damaged ?? 0)
        if damaged > 0 { lines.append("capture: \(damaged) messages of the HCI monitor made no sense") }
        if let failure = radio?.failure { lines.append("capture: \(failure)") }
        return lines
    }

    private func hear(_ frame: HCIMonitorFrame) {
        packets.own.note(path: adapter.path ?? packets.own.path ?? adapter.probedPath, address: adapter.ownAddress)
        if let packet = packets.take(frame, since: start) { write?(packet) }
    }
}

/// Makes packets of the messages of one controller, without keys.
struct OwnPackets {
    var own = OwnController()
    private var secrets = HCISecrets()

    /// Takes notice of a message.
    ///
    /// - Parameter start: the wall time that the packets' times count from, in nanoseconds since 1970.
    /// - Returns: nil when it is no packet, or none of the own controller's.
    mutating func take(_ frame: HCIMonitorFrame, since start: Int64) -> HCIPacket? {
        guard own.hears(frame), let kind = frame.kind.packet else { return nil }
        var packet = HCIPacket(
            kind: kind.kind,
            fromHost: kind.fromHost,
            bytes: frame.bytes,
            at: Instant(nanoseconds: frame.time - start)
        )
        secrets.erase(from: &packet)
        return packet
    }
}

/// Which messages are the adapter's own: its number may become another's when it is unplugged.
struct OwnController {
    /// What a controller has said of its address.
    private enum Identity: Equatable {
        case nothing
        /// It has none of its own.
        case none
        case address(String)
    }

    /// The adapter's object, such as `/org/bluez/hci0`.
    private(set) var path: String?
    private var index: UInt16?
    private var address: String?
    private var identities: [UInt16: Identity] = [:]

    /// Where the adapter is, and its address; nil while that is not known, and what was known before holds.
    mutating func note(path: String?, address: String?) {
        if let address, address != self.address { self.address = address }
        guard let path, path != self.path else { return }
        self.path = path
        index = path.split(separator: "/").last.flatMap { $0.hasPrefix("hci") ? UInt16($0.dropFirst(3)) : nil }
    }

    /// Takes notice of a message.
    ///
    /// - Returns: whether it is of the own adapter.
    mutating func hears(_ frame: HCIMonitorFrame) -> Bool {
        switch frame.kind {
        case .appeared: identities[frame.index] = frame.address.map { .address($0) } ?? .nothing
        case .identified: identities[frame.index] = frame.address.map { .address($0) } ?? Identity.none
        case .disappeared: identities[frame.index] = nil
        case .command, .event, .sentData, .receivedData, .other: break
        }
        guard frame.index == index, let identity = identities[frame.index] else { return false }
        guard let address else { return true }
        return identity == .none || identity == .address(address)
    }
}

extension HCIMonitorFrame.Kind {
    /// What is written down: commands, events and data; voice and isochronous data are left out.
    fileprivate var packet: (kind: HCIPacket.Kind, fromHost: Bool)? {
        switch self {
        case .command: (.command, true)
        case .event: (.event, false)
        case .sentData: (.data, true)
        case .receivedData: (.data, false)
        case .appeared, .disappeared, .identified, .other: nil
        }
    }
}
