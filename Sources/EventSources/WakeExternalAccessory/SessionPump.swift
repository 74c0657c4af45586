import WakePorts
import WakeSystem

/// Moves bytes between the link of an accessory and the session of an app, without waiting for either.
///
/// In each direction it keeps at most so many bytes. When what is for the app is full it stops reading a link that holds its
/// sender, so that the kernel does; of one that does not, more is an overflow (EA-5). When what is for the accessory is full
/// it stops reading the app, whose stream then has no space. Each descriptor is watched only for what can move.
package final class SessionPump {
    /// Why the link is no more.
    package enum End: Sendable {
        /// Nothing comes any more; the error when it is one.
        case linkClosed(SystemError?)
        /// A link that does not hold its sender brought more than the buffer holds.
        case overflow
    }

    package let socket: SessionSocket
    /// Called once, when the link has ended; what has arrived still goes to the app while the pump lives. Not called after
    /// ``unlink()``, ``finish(_:)`` and ``close()``.
    package var ended: ((End) -> Void)?

    private let link: any AccessoryLink
    private let limit: Int
    /// The link is open.
    package private(set) var isLinked = true
    private var watch: Watch?
    /// Of a link that tells elsewhere when it has room.
    private var roomWatch: Watch?
    private var toLink = ByteQueue()
    private var isMoving = false
    private var finished: (() -> Void)?

    /// The most bytes that are read at a time.
    private static let block = 16_384
    /// The most bytes that move in one go, so that other sessions get their turn.
    private static let longestTurn = 1 << 20

    /// Takes over the link, and closes it.
    ///
    /// - Parameter limit: The most bytes that wait in each direction, beside what the kernel holds.
    package init(link: any AccessoryLink, limit: Int = 65_536, loop: EventLoop) throws(SystemError) {
        self.link = link
        self.limit = limit
        do throws(SystemError) {
            socket = try SessionSocket(limit: limit, loop: loop)
            watch = try loop.watch(link.number, for: .readable) { [unowned self] _ in move() }
            if let room = link.roomNumber {
                roomWatch = try loop.watch(room, for: .readable) { [unowned self] _ in move() }
            }
        } catch {
            link.close()
            throw error
        }
        socket.ready = { [unowned self] in move() }
        watchWhatCanMove()
    }

    deinit { close() }

    /// Moves what can be moved now.
    package func move() {
        guard !isMoving else { return }
        isMoving = true
        var budget = Self.longestTurn
        var moved = true
        while moved, budget > 0 {
            moved = false
            if let count = readLink() {
                moved = true
                budget -= count
            }
            if socket.flush() { moved = true }
            if isLinked, let bytes = socket.receive(atMost: limit - toLink.count) {
                toLink.append(bytes)
                moved = true
                budget -= bytes.count
            }
            if writeLink() { moved = true }
        }
        isMoving = false
        if let done = finished, toLink.isEmpty || !isLinked {
            close()
            done()
            return
        }
        watchWhatCanMove()
    }

    /// Whether the link may be read now.
    private var readsLink: Bool {
        isLinked && finished == nil && !socket.isAppGone && (socket.room > 0 || !link.holdsSender)
    }

    /// Reads once from the link, where there is room or its sender cannot be held.
    ///
    /// - Returns: how many bytes came; nil when none did.
    private func readLink() -> Int? {
        guard readsLink else { return nil }
        let size = link.holdsSender ? min(Self.block, socket.room) : Self.block
        var buffer = [UInt8](repeating: 0, count: size)
        do throws(SystemError) {
            guard let count = try link.read(into: &buffer) else { return nil }
            guard count > 0 else {
                end(.linkClosed(nil))
                return nil
            }
            if socket.offer(buffer[..<count]) < count, !socket.isAppGone { end(.overflow) }
            return count
        } catch {
            end(.linkClosed(error))
            return nil
        }
    }

    /// Writes to the link what it takes.
    private func writeLink() -> Bool {
        var moved = false
        while isLinked, !toLink.isEmpty {
            do throws(SystemError) {
                guard let count = try link.write(Array(toLink.prefix(Self.block))), count > 0 else { break }
                toLink.removeFirst(count)
                moved = true
            } catch {
                end(.linkClosed(error))
            }
        }
        return moved
    }

    private func end(_ why: End) {
        guard isLinked else { return }
        closeLink()
        let ended = ended
        self.ended = nil
        ended?(why)
    }

    private func closeLink() {
        watch?.cancel()
        watch = nil
        roomWatch?.cancel()
        roomWatch = nil
        if isLinked { link.close() }
        isLinked = false
        toLink.removeAll()
    }

    private func watchWhatCanMove() {
        socket.wantsBytes = isLinked && toLink.count < limit
        guard let watch, isLinked else { return }
        var interests: Readiness = []
        if readsLink { interests.insert(.readable) }
        if let roomWatch {
            if toLink.isEmpty { roomWatch.disable() } else { roomWatch.enable() }
        } else if !toLink.isEmpty {
            interests.insert(.writable)
        }
        if interests.isEmpty {
            watch.disable()
        } else {
            watch.setInterests(interests)
            watch.enable()
        }
    }

    /// The accessory is gone: what has arrived still goes to the app while the pump lives.
    package func unlink() {
        ended = nil
        move()
        closeLink()
        watchWhatCanMove()
    }

    /// The app has ended the session: what it wrote goes to the link, and then both sides end.
    ///
    /// - Parameter done: called when that is so, possibly from inside the call.
    package func finish(_ done: @escaping () -> Void) {
        ended = nil
        finished = done
        move()
    }

    /// Ends both sides at once.
    package func close() {
        ended = nil
        finished = nil
        closeLink()
        socket.close()
    }
}
