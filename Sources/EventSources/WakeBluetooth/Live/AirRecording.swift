import WakeBlueZ
import WakeCaptures
import WakeModel
import WakeSystem

// What is passed on by those who do not know its room.
package typealias AirMonitor = HCIMonitor

/// Hears what one controller of this machine and its stack say to each other, without keys; it changes nothing.
package final class AirRecording {
    /// Which controller is heard.
    private enum Place {
        /// The adapter that a visit uses.
        case adapter(BlueZAdapter)
        /// The one with an address, in capitals.
        case address(String)
        /// The only one.
        case any
    }

    private static let listingTime = Duration.milliseconds(200)
    private static let openingTime = Duration.seconds(10)

    private let place: Place
    private let monitor: HCIMonitor
    private let start: Int64
    private let write: (HCIPacket) -> Void
    private var packets = OwnPackets()
    /// The addresses of the controllers that are there.
    private var controllers: [UInt16: String] = [:]
    /// How many packets were heard.
    package private(set) var count = 0
    /// How many of them brought a value of which a device told by itself.
    package private(set) var values = 0

    /// Hears the adapter of a visit.
    ///
    /// - Parameters:
    ///   - start: the wall time that the packets' times count from, in nanoseconds since 1970.
    ///   - write: takes each packet, oldest first.
    package init(
        _ adapter: LiveAdapter,
        by monitor: HCIMonitor,
        since start: Int64,
        write: @escaping (HCIPacket) -> Void
    ) {
        (place, self.monitor, self.start, self.write) = (.adapter(adapter.adapter), monitor, start, write)
        monitor.heard = { [weak self] in self?.hear($0) }
    }

    /// Hears a controller that others use.
    ///
    /// - Parameter address: the controller's own; nil for the only one that is there.
    /// - Throws: ``LiveFailure/missing(_:)`` when it is not there, ``LiveFailure/severalAdapters(_:)`` when it is not said which.
    package init(
        controller address: String?,
        by monitor: HCIMonitor,
        since start: Int64,
        waiting: LiveWait,
        write: @escaping (HCIPacket) -> Void
    ) throws(LiveFailure) {
        place = address.map { .address($0.uppercased()) } ?? .any
        (self.monitor, self.start, self.write) = (monitor, start, write)
        monitor.heard = { [weak self] in self?.hear($0) }
        // The monitor begins with those that are there; one without an address of its own is known by its number alone.
        _ = try waiting.wait(for: Self.listingTime) { isKnown }
        if isKnown { return }
        let there = controllers.sorted { $0.key < $1.key }.map { "\($0.value) (hci\($0.key))" }
        guard let address else {
            throw there.isEmpty ? .missing("no Bluetooth controller is there; plug one in") : .severalAdapters(there)
        }
        let list = there.isEmpty ? "none is" : "there are \(there.joined(separator: ", "))"
        throw .missing("no Bluetooth controller \(address) is there; \(list)")
    }

    /// Opens the kernel's HCI monitor.
    ///
    /// - Throws: ``LiveFailure/missing(_:)`` with the remedy.
    package static func monitor(on loop: EventLoop) throws(LiveFailure) -> AirMonitor {
        do throws(SystemError) { return try HCIMonitor(on: loop) } catch {
            throw .missing("\(error); \(BlueZTrace.remedy(for: error, other: "see whether btmon -w FILE hears it"))")
        }
    }

    /// Opens the HCI monitor of an adapter: its org.bluez's, where the controller is not the kernel's, else the kernel's.
    ///
    /// - Throws: ``LiveFailure/missing(_:)`` with the remedy.
    package static func monitor(of adapter: LiveAdapter) throws(LiveFailure) -> AirMonitor {
        guard adapter.adapter.hasRadio else { return try monitor(on: adapter.loop) }
        var answer: BlueZAdapter.Opened?
        adapter.adapter.openMonitor { answer = $0 }
        _ = try adapter.waiting.wait(for: openingTime) { answer != nil }
        switch answer {
        case .success(let socket):
            do throws(SystemError) {
                return try HCIMonitor(Descriptor(owning: socket.take()), on: adapter.loop)
            } catch {
                throw .missing("\(error)")
            }
        case .failure(let error): throw .missing("the monitor of the controller cannot be opened: \(error)")
        case nil: throw .missing("the monitor of the controller did not open in time; does its org.bluez still run?")
        }
    }

    private var isKnown: Bool {
        switch place {
        case .adapter: true
        case .address(let wanted): controllers.contains { $0.value == wanted }
        case .any: controllers.count == 1
        }
    }

    private func hear(_ frame: HCIMonitorFrame) {
        switch frame.kind {
        case .appeared, .identified:
            controllers[frame.index] = frame.address ?? controllers[frame.index] ?? "no address"
        case .disappeared: controllers[frame.index] = nil
        case .command, .event, .sentData, .receivedData, .other: break
        }
        note()
        guard let packet = packets.take(frame, since: start) else { return }
        count += 1
        if packet.bringsValue { values += 1 }
        write(packet)
    }

    /// Which messages are wanted: by a number that may become another's, and an address.
    private func note() {
        switch place {
        case .adapter(let adapter):
            let path = adapter.path ?? packets.own.path ?? adapter.probedPath
            packets.own.note(path: path, address: adapter.ownAddress)
        case .address(let wanted):
            guard let found = controllers.first(where: { $0.value == wanted }) else { return }
            packets.own.note(path: "hci\(found.key)", address: wanted)
        case .any:
            // The first that was alone stays the one.
            guard packets.own.path == nil, controllers.count == 1, let found = controllers.first else { return }
            packets.own.note(path: "hci\(found.key)", address: nil)
        }
    }

    /// Hears what is there still, and no more.
    ///
    /// - Returns: what the recording lacks, a line each; empty when it is whole.
    package func finish() -> [String] {
        monitor.finish()
        var lines: [String] = []
        if monitor.lost > 0 {
            lines.append("\(monitor.lost) packets of this machine's controllers came too fast, and may be missing")
        }
        if monitor.damaged > 0 { lines.append("\(monitor.damaged) messages of the HCI monitor made no sense") }
        return lines
    }
}

extension HCIPacket {
    /// Whether it begins a notification or an indication of the Attribute Protocol.
    fileprivate var bringsValue: Bool {
        guard kind == .data, !fromHost, bytes.count > 8, bytes[1] >> 4 & 3 != 1 else { return false }
        let isAttribute = bytes[6] == 4 && bytes[7] == 0
        return isAttribute && [0x1b, 0x1d, 0x23].contains(bytes[8])
    }
}
