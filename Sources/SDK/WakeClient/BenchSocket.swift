import CWakeClient
import Foundation
import Synchronization
import WakeWire

/// The app's end of the socket: whole packets in, whole packets out.
package final class BenchSocket: Sendable {
    /// What came out of the socket.
    package enum Packet {
        /// So many bytes at the front of the buffer.
        case bytes(Int, [ReceivedDescriptor] = [])
        case tooLarge(Int)
        case closed
        /// No packet was there.
        case nothing
    }

    /// What is there for the main thread.
    struct Look: OptionSet {
        let rawValue: Int32

        /// The socket has a packet, or has ended.
        static let packet = Look(rawValue: Int32(WAKE_PACKET))
        /// The main queue has blocks to run.
        static let blocks = Look(rawValue: Int32(WAKE_BLOCKS))
    }

    let descriptor: Int32
    private let sending = Mutex<[UInt8]>([])

    /// Takes over a connected descriptor of type SOCK_SEQPACKET.
    package init(descriptor: Int32) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    /// The descriptor that the bench left in the environment, or nil when no bench started this process.
    package static func inherited() -> BenchSocket? {
        guard let text = unsafe getenv(WireLimits.socketVariable),
            let descriptor = unsafe Int32(String(cString: text)),
            descriptor > 2, isSequencedPacketSocket(descriptor)
        else {
            return nil
        }
        unsafe unsetenv(WireLimits.socketVariable)
        return BenchSocket(descriptor: descriptor)
    }

    private static func isSequencedPacketSocket(_ descriptor: Int32) -> Bool {
        var type: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        let result = unsafe getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length)
        return result == 0 && type == Int32(SOCK_SEQPACKET.rawValue)
    }

    /// Sends one packet, waiting while the socket is full; false when the bench is gone.
    ///
    /// A bench that reads nothing for a minute counts as gone.
    ///
    /// - Parameter descriptor: What goes with the packet as a duplicate.
    package func send(_ message: AppMessage, with descriptor: Int32? = nil) -> Bool {
        sending.withLock { buffer in
            buffer.removeAll(keepingCapacity: true)
            message.append(to: &buffer)
            guard buffer.count <= WireLimits.packetBytes else {
                complain(
                    "a request of \(buffer.count) bytes is over the wire's \(WireLimits.packetBytes), dropped"
                )
                return true
            }
            return push(buffer, with: descriptor)
        }
    }

    private func push(_ packet: [UInt8], with passed: Int32?) -> Bool {
        var attempts = 0
        while attempts < 6 {
            let sent = passed.map { sendPacket(packet, with: $0) } ?? sendPacket(packet)
            let cause = errno
            if sent >= 0 {
                return true
            }
            switch cause {
            case EINTR: continue
            case EAGAIN: if !waitForRoom() { attempts += 1 }
            default: return false
            }
        }
        complain("the bench has read nothing for a minute")
        return false
    }

    /// Whether there is room within ten seconds, or something else to learn from sending. The socket has no limit of its own
    /// for it: with one, virtual time would have to answer each reading and writing of the app's.
    private func waitForRoom() -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&entry, 1, 10_000) != 0
    }

    private static let sendFlags = Int32(truncatingIfNeeded: MSG_NOSIGNAL) | Int32(truncatingIfNeeded: MSG_DONTWAIT)

    private func sendPacket(_ packet: [UInt8]) -> Int {
        unsafe packet.withUnsafeBytes {
            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Self.sendFlags)
        }
    }

    private func sendPacket(_ packet: [UInt8], with passed: Int32) -> Int {
        var packet = packet
        return unsafe withUnsafeTemporaryAllocation(byteCount: ControlData.size, alignment: 16) { control in
            unsafe packet.withUnsafeMutableBytes { bytes in
                var part = unsafe iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                return unsafe withUnsafeMutablePointer(to: &part) { part in
                    var header = unsafe msghdr()
                    unsafe header.msg_iov = part
                    unsafe header.msg_iovlen = 1
                    unsafe header.msg_control = control.baseAddress
                    unsafe header.msg_controllen = ControlData.write(passed, to: control)
                    return unsafe sendmsg(descriptor, &header, Self.sendFlags)
                }
            }
        }
    }

    /// Waits for a packet, or the end. Says whether there is one in time.
    func waitForPacket(until end: DispatchTime) -> Bool {
        while true {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let count = unsafe poll(&entry, 1, Self.milliseconds(until: end))
            // What is wrong with the socket is told by reading it.
            if count > 0 || count < 0 && errno != EINTR { return true }
            if end <= .now() { return false }
        }
    }

    /// For poll(2): not less than there are.
    private static func milliseconds(until end: DispatchTime) -> Int32 {
        guard end != .distantFuture else { return -1 }
        let now = DispatchTime.now()
        return end <= now ? 0 : Int32(clamping: (end.uptimeNanoseconds - now.uptimeNanoseconds + 999_999) / 1_000_000)
    }

    /// Looks without waiting.
    func look() -> Look { Look(rawValue: wake_look(descriptor)) }

    /// Takes the next packet, which comes to stand at the front of the buffer.
    ///
    /// - Parameter waits: Waits for one where none is there.
    package func receive(into buffer: inout [UInt8], waits: Bool = true) -> Packet {
        while true {
            var descriptors: [ReceivedDescriptor] = []
            let received = receivePacket(into: &buffer, &descriptors, waits: waits)
            let cause = errno
            if received > buffer.count {
                return .tooLarge(received)
            }
            if received > 0 {
                return .bytes(received, descriptors)
            }
            if received == 0, !isHungUp {
                return .bytes(0)
            }
            guard received < 0, cause == EINTR || cause == EAGAIN else {
                return .closed
            }
            if !waits, cause == EAGAIN {
                return .nothing
            }
        }
    }

    private func receivePacket(
        into buffer: inout [UInt8],
        _ descriptors: inout [ReceivedDescriptor],
        waits: Bool
    ) -> Int {
        unsafe withUnsafeTemporaryAllocation(byteCount: ControlData.size, alignment: 16) { control in
            unsafe buffer.withUnsafeMutableBytes { bytes in
                var part = unsafe iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                return unsafe withUnsafeMutablePointer(to: &part) { part in
                    var header = unsafe msghdr()
                    unsafe header.msg_iov = part
                    unsafe header.msg_iovlen = 1
                    unsafe header.msg_control = control.baseAddress
                    unsafe header.msg_controllen = control.count
                    let flags = Int32(MSG_TRUNC) | Int32(MSG_CMSG_CLOEXEC) | (waits ? 0 : Int32(MSG_DONTWAIT))
                    let received = unsafe recvmsg(descriptor, &header, flags)
                    let cause = errno
                    if received >= 0 {
                        let used = unsafe UnsafeRawBufferPointer(
                            rebasing: control[..<Int(header.msg_controllen)]
                        )
                        descriptors = unsafe ControlData.descriptors(in: used).map { ReceivedDescriptor($0) }
                    }
                    errno = cause
                    return received
                }
            }
        }
    }

    /// An empty packet and the end look alike to `recv`; `poll` tells them apart.
    private var isHungUp: Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLHUP) != 0
    }

    /// Ends both directions.
    package func shutDown() {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }
}

/// Says one line about the bench on stderr.
package func complain(_ line: String) {
    let bytes = Array("wakebench: \(line)\n".utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
}
