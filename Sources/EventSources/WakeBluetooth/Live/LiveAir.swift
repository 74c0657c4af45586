import Glibc
import WakeBlueZ
import WakeSystem

/// The way to a device through the kernel's sockets, with bluetoothd for what only it knows; where the controller is not the kernel's,
/// through that org.bluez alone.
final class LiveAir: FuzzAir {
    private let adapter: LiveAdapter
    private let device: BlueZDeviceID

    /// How long a link may take to come up: of the slowest that is advised, some eight advertisements.
    private static let linkTime = Duration.seconds(10)
    /// How long a link may take to end: the kernel keeps it for 2 s after its last socket.
    private static let endTime = Duration.seconds(10)
    private static let listeningTime: Int64 = 10_000_000_000
    /// How much longer the bus may take to say that an answer did not come.
    private static let answerTime = Duration.seconds(2)

    init(_ adapter: LiveAdapter, _ device: BlueZDeviceID) { (self.adapter, self.device) = (adapter, device) }

    var waiting: LiveWait { adapter.waiting }

    func connect() throws(LiveFailure) -> AttributeLink? {
        if adapter.adapter.hasRadio { return try connectByRadio() }
        do throws(SystemError) {
            let number = try AttributeSocket.connect(to: device, adapter: adapter.adapter.ownAddress ?? "")
            let descriptor = Descriptor(owning: number)
            var isDecided = false
            let watch = try waiting.loop.watch(number, for: .writable) { _ in isDecided = true }
            let isInTime: Bool
            do throws(LiveFailure) {
                isInTime = try waiting.wait(for: Self.linkTime) { isDecided }
            } catch {
                watch.cancel()
                throw SystemError("sd_event_run", code: EIO)
            }
            watch.cancel()
            guard isInTime, AttributeSocket.failure(of: number, to: device) == nil else { return nil }
            return try AttributeLink(owning: descriptor.release(), waiting)
        } catch {
            // Nobody answers, or the kernel is still busy with the link before; the rest is this machine's.
            let ofDevice = [
                EHOSTDOWN, EHOSTUNREACH, ETIMEDOUT, ECONNREFUSED, ECONNRESET, ECONNABORTED, EBUSY, ENOTCONN,
            ]
            if ofDevice.contains(error.code) { return nil }
            throw .missing("\(error.description); see wakebench doctor")
        }
    }

    /// The same where the adapter's org.bluez makes the link; what it answers is of the device, unless it is not there.
    private func connectByRadio() throws(LiveFailure) -> AttributeLink? {
        var answer: BlueZAdapter.Opened?
        adapter.adapter.openAttributes(of: device, within: Self.linkTime) { answer = $0 }
        // It is answered in that time, or for that it is over.
        _ = try waiting.wait(for: Self.linkTime + Self.answerTime) { answer != nil }
        switch answer {
        case .success(let socket):
            do throws(SystemError) { return try AttributeLink(owning: socket.take(), waiting) } catch {
                throw .missing(error.description)
            }
        case .failure(let error) where error.isAboutNobody:
            throw .missing("\(device.address): \(error.message); does its org.bluez still run?")
        case .failure, nil: return nil
        }
    }

    func leave() throws(LiveFailure) {
        _ = try waiting.wait(for: Self.endTime) { !adapter.adapter.isConnected(device) }
    }

    func isHeard() throws(LiveFailure) -> Bool {
        do throws(LiveFailure) {
            _ = try adapter.find(device.address, to: MonotonicClock.now() + Self.listeningTime)
            return true
        } catch {
            guard case .notHeard = error else { throw error }
            return false
        }
    }
}

extension PeripheralFuzz {
    /// Connects to a device that was heard, and looks at what it has.
    package convenience init(
        _ heard: LiveAdapter.Heard,
        adapter: LiveAdapter,
        seed: UInt64,
        writes: FuzzPlan.Writes
    ) throws(LiveFailure) {
        try self.init(LiveAir(adapter, heard.id), seed: seed, writes: writes)
    }
}
