import Glibc
import WakeSystem

/// A client's end of a channel of the Attribute Protocol (Bluetooth Core, volume 3, part F): one request at a time, the device's
/// own notifications and indications beside it.
final class AttributeLink {
    /// What comes of a request.
    enum Answer: Equatable {
        /// A response, whole.
        case response([UInt8])
        case refused(UInt8)
        /// Nothing in time. After 30 s the channel is of no more use.
        case silence
        /// The link ended first.
        case ended
        /// The kernel did not take it.
        case unsent(Int32)
    }

    /// How long a response may take (part F, 3.3.3).
    private let patience: Duration
    /// The longest packet.
    private static let longest = 517

    private let waiting: LiveWait
    /// -1 once it is closed.
    private var number: Int32
    private var watch: Watch?
    private var buffer = [UInt8](repeating: 0, count: 672)
    private var received: [UInt8]?
    private var isWritable = true
    private(set) var isOpen = true
    /// What both ends agreed on.
    private(set) var mtu = 23
    /// Values that came of themselves.
    private(set) var notified = 0
    /// Packets that answer nothing.
    private(set) var strays = 0

    /// - Parameter patience: what the specification says, unless a test is in a hurry.
    init(owning number: Int32, _ waiting: LiveWait, patience: Duration = .seconds(30)) throws(SystemError) {
        (self.number, self.patience) = (number, patience)
        self.waiting = waiting
        watch = try waiting.loop.watch(number, for: .readable) { [unowned self] in ready($0) }
    }

    deinit { end() }

    private func ready(_ readiness: Readiness) {
        if readiness.contains(.writable) {
            isWritable = true
            watch?.setInterests(.readable)
        }
        guard !readiness.isDisjoint(with: [.readable, .hangup, .failed]) else { return }
        while isOpen {
            let count = repeatingInterrupted { unsafe recv(number, &buffer, buffer.count, 0) }
            if count < 0, errno == EAGAIN { return }
            if count <= 0 { return end() }
            take(Array(buffer[..<count]))
        }
    }

    private func end() {
        isOpen = false
        watch?.cancel()
        watch = nil
        if number >= 0 { Glibc.close(number) }
        number = -1
    }

    private func take(_ packet: [UInt8]) {
        switch packet[0] {
        case 0x1b, 0x23: notified += 1
        case 0x1d:
            notified += 1
            _ = write([0x1e])
        // The device may be a client, too; there is nothing here for it.
        case 0x02: _ = write([0x03, UInt8(Self.longest & 0xff), UInt8(Self.longest >> 8)])
        case let opcode where opcode & 1 == 0 && opcode & 0x40 == 0 && opcode != 0x1e:
            _ = write([0x01, opcode, 0, 0, 0x06])
        case 0x52, 0xd2, 0x1e: break
        default: if received == nil { received = packet } else { strays += 1 }
        }
    }

    /// - Returns: an errno; 0 when it went, `EAGAIN` when it must wait.
    private func write(_ packet: [UInt8]) -> Int32 {
        let sent = repeatingInterrupted {
            unsafe Glibc.send(number, packet, packet.count, Int32(truncatingIfNeeded: MSG_NOSIGNAL))
        }
        return sent < 0 ? errno : 0
    }

    /// Sends a packet, waiting for room.
    ///
    /// - Returns: nil when it went.
    func send(_ packet: [UInt8]) throws(LiveFailure) -> Answer? {
        let deadline = MonotonicClock.now() + Int64(patience / .nanoseconds(1))
        while isOpen {
            switch write(packet) {
            case 0: return nil
            case EAGAIN:
                isWritable = false
                watch?.setInterests([.readable, .writable])
                guard try waiting.wait(to: deadline, until: { isWritable || !isOpen }) else { return .silence }
            case ENOTCONN, ECONNRESET, EPIPE, ETIMEDOUT, ECONNABORTED: end()
            case let code: return .unsent(code)
            }
        }
        return .ended
    }

    /// Sends a request and waits for what comes of it.
    func request(_ packet: [UInt8], within time: Duration? = nil) throws(LiveFailure) -> Answer {
        received = nil
        if let failure = try send(packet) { return failure }
        let deadline = MonotonicClock.now() + Int64((time ?? patience) / .nanoseconds(1))
        while true {
            guard try waiting.wait(to: deadline, until: { received != nil || !isOpen }) else { return .silence }
            guard let answer = received else { return .ended }
            received = nil
            if answer.count >= 5, answer[0] == 0x01, answer[1] == packet[0] { return .refused(answer[4]) }
            if answer[0] == packet[0] + 1 { return .response(answer) }
            strays += 1
        }
    }

    /// Exchanges the MTU, as each link may once.
    func exchange(mtu wanted: Int, within time: Duration? = nil) throws(LiveFailure) -> Answer {
        let answer = try request([0x02] + word(UInt16(wanted)), within: time)
        if case .response(let packet) = answer, packet.count >= 3 {
            mtu = max(23, min(wanted, Int(packet[1]) | Int(packet[2]) << 8))
        }
        return answer
    }

    /// Lets go of the channel; the kernel ends the link when nobody else has one.
    func close() { end() }
}

/// A number of two bytes, lowest first.
func word(_ number: UInt16) -> [UInt8] { [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)] }
