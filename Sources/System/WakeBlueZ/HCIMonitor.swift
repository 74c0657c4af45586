import CBluetooth
import CWakeShims
import Glibc
import WakeSystem

/// Hears what goes between the Bluetooth controllers of this machine and their stacks, through the kernel's HCI monitor. It changes
/// nothing, and knows nothing of runs.
package final class HCIMonitor {
    /// Bytes that may wait in the kernel while the loop is busy; it counts a packet with what it needs to keep it.
    private static let room: Int32 = 8 << 20
    /// The most messages that are read before others have their turn.
    private static let mostAtOnce = 64
    /// The most that are read at the end, when what still comes is of no interest.
    private static let mostAtEnd = 65_536

    /// Where messages go, oldest first.
    package var heard: ((HCIMonitorFrame) -> Void)?
    /// How many messages there was no room for, of all controllers.
    package var lost: Int { dropped + noted }
    /// Nothing more comes.
    package private(set) var hasEnded = false
    /// How many messages were none: shorter than their header, or of another length than it says.
    package private(set) var damaged = 0

    /// What the kernel counts, and what messages say.
    private var dropped = 0
    private var noted = 0
    private let descriptor: Descriptor
    private var watch: Watch?
    private var buffer: [UInt8]

    /// Opens the monitor and begins to listen.
    ///
    /// - Throws: ``SystemError``, of code `EPERM` without CAP_NET_RAW, and `EAFNOSUPPORT` where the kernel has no Bluetooth, or the
    ///   network namespace is not the machine's first.
    package convenience init(on loop: EventLoop) throws(SystemError) {
        let number = wake_monitor_open(Self.room)
        guard number >= 0 else { throw SystemError(last: "open", subject: "HCI monitor") }
        try self.init(Descriptor(owning: number), on: loop)
    }

    /// Listens to a socket of messages.
    ///
    /// - Parameter longest: how many bytes of a message are read; what is longer counts as damaged.
    package init(
        _ socket: consuming Descriptor,
        on loop: EventLoop,
        longest: Int = HCIMonitorFrame.longest
    ) throws(SystemError) {
        descriptor = socket
        buffer = [UInt8](repeating: 0, count: longest)
        watch = try loop.watch(descriptor.number, for: .readable) { [unowned self] _ in read(atMost: Self.mostAtOnce) }
    }

    deinit { watch?.cancel() }

    /// Reads what is there still, and listens no more.
    package func finish() {
        guard watch != nil else { return }
        read(atMost: Self.mostAtEnd)
        watch?.cancel()
        watch = nil
    }

    private func read(atMost limit: Int) {
        for _ in 0..<limit {
            var (time, isCut) = (Int64(0), Int32(0))
            let count = unsafe wake_monitor_receive(descriptor.number, &buffer, buffer.count, &time, &isCut)
            guard count > 0 else {
                // No message is empty: there will be no more, as after any failure but that there is none now.
                if count == 0 || errno != EAGAIN {
                    hasEnded = true
                    watch?.cancel()
                }
                break
            }
            take(count, time, isCut: isCut != 0)
        }
        dropped = max(dropped, wake_lost_packets(descriptor.number))
    }

    private func take(_ count: Int, _ time: Int64, isCut: Bool) {
        let stamp = time > 0 ? time : WallClock.now()
        // Of what a class holds no span can be lent in optimised builds.
        let bytes = buffer
        guard !isCut, let frame = HCIMonitorFrame(bytes.span.extracting(0..<count), time: stamp) else {
            damaged += 1
            return
        }
        noted += frame.lostBefore ?? 0
        heard?(frame)
    }
}
