import Glibc
import WakeSystem

@testable import WakeBluetooth

/// A server of the Attribute Protocol at the other end of a socket, with one service: what a fuzzer meets without a radio.
final class PretendServer: FuzzAir {
    /// What becomes of it with the first value of so many bytes that is written.
    enum Bug {
        case none
        case hangs
        case vanishes
        case drops
        /// It takes writes to what takes none.
        case open
    }

    static let service = "C2A9A400-8A2D-4B6E-9B43-5B0D6A8D0E11"

    let waiting: LiveWait
    private let bug: Bug
    private let length: Int
    private var number: Int32 = -1
    private var watch: Watch?
    private var buffer = [UInt8](repeating: 0, count: 1_024)
    private(set) var isDead = false
    private var hasDropped = false
    /// All that it was asked, in order.
    private(set) var requests: [[UInt8]] = []
    /// By the handle of the value.
    private(set) var values: [UInt16: [UInt8]] = [3: [1], 5: [2], 8: [3], 11: [9]]

    init(_ loop: EventLoop, bug: Bug = .none, length: Int = .max) {
        (waiting, self.bug, self.length) = (LiveWait(loop), bug, length)
    }

    deinit { end() }

    private func end() {
        watch?.cancel()
        watch = nil
        if number >= 0 { close(number) }
        number = -1
    }

    // MARK: The air

    func connect() throws(LiveFailure) -> AttributeLink? {
        if isDead, bug == .vanishes { return nil }
        end()
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .missing("socketpair") }
        number = ends[0]
        do throws(SystemError) {
            watch = try waiting.loop.watch(number, for: .readable) { [unowned self] _ in hear() }
            return try AttributeLink(owning: ends[1], waiting, patience: .milliseconds(300))
        } catch {
            throw .missing(error.description)
        }
    }

    func leave() throws(LiveFailure) {}

    func isHeard() throws(LiveFailure) -> Bool { !isDead }

    // MARK: Answers

    private func hear() {
        while number >= 0 {
            let count = unsafe recv(number, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN { return }
            if count <= 0 { return end() }
            let packet = Array(buffer[..<count])
            requests.append(packet)
            if isDead { continue }
            guard let answer = answer(packet), !isDead, number >= 0 else { continue }
            _ = unsafe send(number, answer, answer.count, Int32(truncatingIfNeeded: MSG_NOSIGNAL))
        }
    }

    private func refuse(_ packet: [UInt8], _ error: UInt8) -> [UInt8] { [1, packet[0], 0, 0, error] }

    private func answer(_ packet: [UInt8]) -> [UInt8]? {
        func number(_ place: Int) -> UInt16 { UInt16(packet[place]) | UInt16(packet[place + 1]) << 8 }
        switch packet[0] {
        case 0x52: return nil
        case 0x02 where packet.count == 3: return [3, 64, 0]
        case 0x10 where packet.count == 7:
            let uuid: [UInt8] = [
                0x11, 0x0e, 0x8d, 0x6a, 0x0d, 0x5b, 0x43, 0x9b, 0x6e, 0x4b, 0x2d, 0x8a, 0x00, 0xa4, 0xa9, 0xc2,
            ]
            return number(1) > 1 ? refuse(packet, 0x0a) : [0x11, 20, 1, 0, 20, 0] + uuid
        case 0x08 where packet.count == 7:
            // A value to read, one to write, one that notifies, and a control point.
            let all: [[UInt8]] = [
                [2, 0, 0x02, 3, 0, 0x24, 0x2a], [4, 0, 0x0a, 5, 0, 0x39, 0x2a], [7, 0, 0x12, 8, 0, 0x37, 0x2a],
                [10, 0, 0x0c, 11, 0, 0x52, 0x2a],
            ]
            let rest = all.filter { UInt16($0[0]) >= number(1) }
            return rest.isEmpty || number(5) != 0x2803 ? refuse(packet, 0x0a) : [9, 7] + rest.flatMap { $0 }
        case 0x04 where packet.count == 5:
            return number(1) <= 9 && number(3) == 9 ? [5, 1, 9, 0, 2, 0x29] : refuse(packet, 0x0a)
        case 0x0a where packet.count == 3: return values[number(1)].map { [0x0b] + $0 } ?? refuse(packet, 0x01)
        case 0x12 where packet.count >= 3: return written(packet, number(1))
        case 0x16 where packet.count >= 5: return [0x17] + packet.dropFirst()
        case 0x18 where packet.count == 2: return [0x19]
        default: return refuse(packet, 0x04)
        }
    }

    private func written(_ packet: [UInt8], _ handle: UInt16) -> [UInt8]? {
        let value = Array(packet.dropFirst(3))
        if handle == 9 { return [0x13] }
        guard [5, 11].contains(handle) || bug == .open else { return refuse(packet, 0x03) }
        values[handle] = value
        if value.count >= length, !hasDropped {
            hasDropped = true
            switch bug {
            case .hangs: isDead = true
            case .vanishes:
                isDead = true
                end()
            case .drops: end()
            case .none, .open: break
            }
        }
        return [0x13]
    }
}
