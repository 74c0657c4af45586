import Glibc
import WakePorts
import WakeSystem

/// Carries the bytes of one session between the accessory's link and the app's socket, in order and without loss.
///
/// It keeps a bounded number of bytes a direction. When that is full, what can wait is not read any more, so that the kernel
/// holds the sender; of a link that cannot wait, more is an overflow (EA-5).
final class SessionPump {
    /// How a session ends other than by its app.
    enum End: Equatable {
        /// The link's other end has gone.
        case gone
        /// A link that cannot wait brought more than the buffer holds.
        case overflow
        /// The kernel refused to read or write.
        case failed(SystemError)
    }

    /// The most bytes read at once.
    static let piece = 16_384
    /// How often a direction is served in a turn before others have theirs.
    private static let turns = 4
    /// How long the last bytes of a session may take to leave, in milliseconds.
    static let patience: Int64 = 2_000

    /// Called once, when the session ends by itself. What arrived goes on to the app.
    var ended: ((End) -> Void)?
    /// Called once, when nothing is left to be carried and both ends are let go of.
    var finished: (() -> Void)?

    private let loop: EventLoop
    private let limit: Int
    private var link: (any AccessoryLink)?
    private var linkWatch: Watch?
    /// The bench's end of the app's socket.
    private var socket: SocketLink?
    private var socketWatch: Watch?
    /// From the accessory, for the app.
    private var inbound = ByteQueue()
    /// From the app, for the accessory.
    private var outbound = ByteQueue()
    /// The app writes no more.
    private var appIsDone = false
    /// The session was closed: what the app wrote is still brought out.
    private var isClosing = false
    private var isFinishing = false
    private var deadline: Timer?
    private var buffer = [UInt8](repeating: 0, count: SessionPump.piece)

    /// Takes over a link and the bench's end of the app's socket, a non-blocking stream.
    ///
    /// - Throws: ``SystemError`` when the loop takes no more descriptors; the ends are closed then.
    init(
        _ link: any AccessoryLink,
        socket descriptor: Int32,
        loop: EventLoop,
        limit: Int
    ) throws(SystemError) {
        self.loop = loop
        self.limit = limit
        self.link = link
        let socket = SocketLink(owning: descriptor)
        self.socket = socket
        linkWatch = try loop.watch(link.number, for: .readable) { [weak self] in self?.linkReady($0) }
        socketWatch = try loop.watch(descriptor, for: .readable) { [weak self] in self?.socketReady($0) }
    }

    /// How many bytes are on their way, to the app and to the accessory.
    var waiting: (inbound: Int, outbound: Int) { (inbound.count, outbound.count) }

    /// The session is over: what the app wrote is brought out while that goes on within ``patience``; nothing more arrives.
    func close() {
        guard !isClosing, !isFinishing else { return }
        isClosing = true
        ended = nil
        inbound = ByteQueue()
        guard link != nil else { return finish() }
        let timer = try? loop.timer(on: .monotonic) { [weak self] in self?.drop() }
        timer?.arm(at: MonotonicClock.now() + Self.patience * 1_000_000)
        deadline = timer
        readSocket()
        adjust()
    }

    /// Lets go of both ends now.
    func drop() {
        ended = nil
        closeSocket()
        deadline = nil
        linkWatch?.cancel()
        linkWatch = nil
        link?.drop()
        link = nil
        let finished = finished
        self.finished = nil
        finished?()
    }

    private func closeSocket() {
        socketWatch?.cancel()
        socketWatch = nil
        socket?.drop()
        socket = nil
    }

    // MARK: Carrying

    private func linkReady(_ readiness: Readiness) {
        // A link that is over says so to whoever reads it, after its last bytes, and to whoever writes.
        if !readiness.isDisjoint(with: [.readable, .hangup, .failed]) { readLink() }
        if !readiness.isDisjoint(with: [.writable, .hangup, .failed]) { writeLink() }
        adjust()
    }

    private func socketReady(_ readiness: Readiness) {
        if !readiness.isDisjoint(with: [.readable, .hangup, .failed]) { readSocket() }
        if readiness.contains(.writable) { writeSocket() }
        if readiness.contains(.hangup), appIsDone {
            // The app has closed its end, or died.
            inbound = ByteQueue()
            closeSocket()
        }
        adjust()
    }

    /// The accessory has gone, as others say.
    func linkLeft() {
        ended = nil
        readLink()
        linkEnded(.gone)
        adjust()
    }

    private var hasRoomForApp: Bool { inbound.count <= limit - Self.piece }
    private var hasRoomForAccessory: Bool { outbound.count <= limit - Self.piece }

    private func readLink() {
        for _ in 0..<Self.turns {
            guard let link, !isClosing else { return }
            if link.canWait, !hasRoomForApp { return }
            do throws(SystemError) {
                guard let count = try link.read(into: &buffer) else { return }
                if count == 0 { return linkEnded(.gone) }
                guard socket != nil else { continue }
                guard inbound.count + count <= limit else { return linkEnded(.overflow) }
                inbound.append(buffer[..<count])
            } catch {
                return linkEnded(error.meansGone ? .gone : .failed(error))
            }
            writeSocket()
        }
    }

    private func writeSocket() {
        while let socket, !inbound.isEmpty {
            guard let count = try? socket.write(inbound.next(Self.piece)) ?? 0, count > 0 else { return }
            inbound.drop(count)
        }
    }

    private func readSocket() {
        for _ in 0..<Self.turns {
            guard let socket, !appIsDone else { return }
            guard hasRoomForAccessory else { return }
            let read: Int?
            do throws(SystemError) { read = try socket.read(into: &buffer) } catch { read = 0 }
            guard let count = read, count > 0 else {
                // Of a session that is closed, what there is is all there will be.
                if read != nil || isClosing { appIsDone = true }
                return
            }
            // What is written to an accessory that has gone is lost, as on a cable that hangs in the air.
            if link != nil { outbound.append(buffer[..<count]) }
            writeLink()
        }
    }

    private func writeLink() {
        while let link, !outbound.isEmpty {
            do throws(SystemError) {
                guard let count = try link.write(outbound.next(Self.piece)), count > 0 else { return }
                outbound.drop(count)
            } catch {
                return linkEnded(error.meansGone ? .gone : .failed(error))
            }
        }
    }

    /// The link is over; what has arrived is for the app to read, however late.
    private func linkEnded(_ end: End) {
        guard let link else { return }
        linkWatch?.cancel()
        linkWatch = nil
        self.link = nil
        link.drop()
        outbound = ByteQueue()
        if isClosing { return finish() }
        let ended = ended
        self.ended = nil
        ended?(end)
        writeSocket()
        if inbound.isEmpty { finish() } else { adjust() }
    }

    /// Nothing is left to be carried. The link is kept until the last byte has left.
    private func finish() {
        guard !isFinishing else { return }
        isFinishing = true
        linkWatch?.cancel()
        linkWatch = nil
        closeSocket()
        guard let link else { return drop() }
        link.finish(on: loop) { [self] in drop() }
    }

    /// Waits for what can go on, and for nothing else.
    private func adjust() {
        let isCarriedOut = isClosing ? appIsDone && outbound.isEmpty : link == nil && inbound.isEmpty
        if isCarriedOut { return finish() }
        if let linkWatch {
            var interests: Readiness = outbound.isEmpty ? [] : .writable
            if !isClosing, link?.canWait == false || hasRoomForApp { interests.insert(.readable) }
            linkWatch.wait(for: interests)
        }
        if let socketWatch {
            var interests: Readiness = inbound.isEmpty ? [] : .writable
            if !appIsDone, hasRoomForAccessory { interests.insert(.readable) }
            socketWatch.wait(for: interests)
        }
    }
}

extension Watch {
    /// Waits for some things, or for nothing at all: not even for a hang-up, which would be told again and again.
    fileprivate func wait(for interests: Readiness) {
        if interests.isEmpty { return disable() }
        setInterests(interests)
        enable()
    }
}

/// Bytes in the order in which they came.
struct ByteQueue {
    private var bytes: [UInt8] = []
    private var first = 0

    var count: Int { bytes.count - first }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ more: ArraySlice<UInt8>) { bytes.append(contentsOf: more) }

    /// At most so many of the oldest.
    func next(_ most: Int) -> ArraySlice<UInt8> { bytes[first..<min(bytes.count, first + most)] }

    /// The oldest are done with.
    mutating func drop(_ count: Int) {
        first += count
        if first == bytes.count {
            bytes.removeAll(keepingCapacity: true)
            first = 0
        } else if first >= 32_768 {
            bytes.removeSubrange(..<first)
            first = 0
        }
    }
}

extension SystemError {
    /// The device or the link has gone, in the words of any driver.
    var meansGone: Bool {
        [EIO, ENODEV, ENXIO, EPIPE, ECONNRESET, ENOTCONN, ESHUTDOWN, ETIMEDOUT, EBADFD].contains(code)
    }
}
