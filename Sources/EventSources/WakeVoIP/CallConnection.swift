import CWakeShims
import Glibc
import WakeDevices
import WakeModel
import WakePorts
import WakeSystem

/// One connection of a call server, and how far its plan has come.
///
/// Of a scripted app it has no socket: what the server says is heard at once, and what it waits for is taken as said.
final class CallConnection {
    /// Its place among the connections of all servers, from 1.
    let number: UInt64
    let server: Int
    let plan: [CallServer.Step]
    let answers: [CallServer.Answer]
    /// -1 for a scripted app's, and after the end.
    private(set) var descriptor: Int32
    /// The app's end, to find its duplicate.
    let appEnd: SocketAddress?
    /// The scripted app's socket.
    let scripted: WatchedSockets.Owner?
    var watch: Watch?

    private var messages: CallMessages
    private var latest = CallMessage(head: [])
    private var step = 0
    /// When a pause or stall is over.
    private(set) var due: Instant?
    private var stalls = false
    private let seed: UInt64
    private lazy var random = PouredBytes(seed: ~seed)
    private lazy var poured = PouredBytes(seed: seed)
    private var toPour = 0
    private var outgoing: [UInt8] = []
    /// The first bytes that a scripted app was told of at once; what is poured is not among them.
    private var toScripted: [UInt8] = []
    private(set) var received: UInt64 = 0
    private(set) var sent: UInt64 = 0
    /// How much of it had come to the app when it was looked at last.
    private var come: UInt64 = 0
    private(set) var isOver = false
    /// It has no more to read: the app writes no more.
    private(set) var isRead = false
    private var wasReset = false
    /// The phone has no network: what the server does waits, and so does what the app writes (VOIP-7).
    private var isCut: Bool
    /// What the server did meanwhile that the phone would notice, oldest first.
    private var held: [CallServer.Step] = []
    /// Since when something has waited for the network; nil while nothing does.
    private var waitsSince: Instant?
    /// Its side is ended: it writes no more.
    private var saysNothing = false
    /// What the network carries of the app's, as one of 100 Mbit/s does.
    private var pace = LinkPace(rate: 12_500_000, burst: 1_048_576)

    /// What waits to be sent, at most.
    private static let pieceBytes = 65_536

    /// - Parameter isCut: whether the phone has no network.
    /// - Parameter seed: the one of the run.
    init(
        _ number: UInt64,
        server: Int,
        _ description: CallServer,
        descriptor: Int32,
        scripted: WatchedSockets.Owner? = nil,
        isCut: Bool = false,
        seed: UInt64
    ) {
        self.number = number
        self.server = server
        plan = description.plan
        answers = description.answers
        self.descriptor = descriptor
        self.scripted = scripted
        self.isCut = isCut
        appEnd = descriptor >= 0 ? .peer(descriptor) : nil
        messages = CallMessages(description.framing)
        self.seed = seed &+ number &- 1
    }

    deinit { end() }

    /// Closes the server's end, so that the app sees the end or the reset.
    func end() {
        watch?.cancel()
        watch = nil
        wasReset = isReset
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    /// Nobody is at the other end any more.
    func leave() { isOver = true }

    /// Whether the app's end was closed before it had read all that it was sent.
    var isReset: Bool {
        if wasReset { return true }
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        return unsafe poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLERR) != 0
    }

    /// What happened on the connection that the app may see.
    enum Outcome {
        case nothing
        case said
        case ended(failed: Bool)
    }

    /// Whether it has something to say that the app has no room for.
    var isFull: Bool { !outgoing.isEmpty }

    // MARK: The plan

    /// Goes on with what waited for the network, and then with the plan, as far as it goes at `now`.
    func advance(at now: Instant) -> Outcome {
        var said = false
        while !isOver {
            let outcome: Outcome
            if !isCut, !held.isEmpty {
                guard flush(&said) else { break }
                outcome = perform(held.removeFirst(), at: now)
            } else {
                if let due {
                    if due > now { break }
                    self.due = nil
                    stalls = false
                }
                guard flush(&said), step < plan.count else { break }
                let next = plan[step]
                if case .await = next, scripted == nil { break }
                step += 1
                outcome = carryOut(next, at: now)
            }
            switch outcome {
            case .nothing: break
            case .said: said = true
            case .ended(let failed): return .ended(failed: failed)
            }
        }
        return said ? .said : .nothing
    }

    /// Writes what was left of before. Says whether nothing is left.
    private func flush(_ said: inout Bool) -> Bool {
        if toPour > 0 || !outgoing.isEmpty, push() { said = true }
        return toPour == 0 && outgoing.isEmpty
    }

    /// Does one thing, whatever the plan says: at once, or after what waits.
    func carryOut(_ step: CallServer.Step, at now: Instant) -> Outcome {
        guard !isOver else { return .nothing }
        guard step.reachesPhone, isCut || !held.isEmpty else { return perform(step, at: now) }
        held.append(step)
        guard isCut else { return advance(at: now) }
        waitsSince = waitsSince ?? now
        return .nothing
    }

    /// The phone has no network any more.
    func cut(at now: Instant) {
        isCut = true
        if isFull { waitsSince = now }
    }

    /// The phone has a network again: what waited comes, or the connection has failed.
    ///
    /// - Parameter timeout: how long something may have waited; nil for ever.
    func rejoin(timeout: Instant.Span?, at now: Instant) -> Outcome {
        isCut = false
        defer { waitsSince = nil }
        if let waitsSince, let timeout, now.since(waitsSince) >= timeout { return perform(.reset, at: now) }
        return advance(at: now)
    }

    private func perform(_ step: CallServer.Step, at now: Instant) -> Outcome {
        switch step {
        case .send(let text): return send(latest.filled(text))
        case .pour(let count):
            toPour += count
            return push() ? .said : .nothing
        case .await: return .nothing
        case .pause(let span):
            due = now.advanced(by: span)
            return .nothing
        case .stall(let span):
            due = now.advanced(by: span)
            stalls = true
            return .nothing
        case .garbage(let count): return send(random.next(count))
        case .halfClose:
            saysNothing = true
            if descriptor >= 0 { _ = shutdown(descriptor, Int32(SHUT_WR)) }
            return .ended(failed: false)
        case .close:
            isOver = true
            return .ended(failed: false)
        case .reset:
            isOver = true
            if descriptor >= 0 {
                // Closing without lingering sends a reset (socket(7), tcp(7)).
                var linger = linger(l_onoff: 1, l_linger: 0)
                let size = socklen_t(MemoryLayout.size(ofValue: linger))
                _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, size)
            }
            return .ended(failed: true)
        }
    }

    /// Takes the first bytes that a scripted app has to be told of: no socket holds them.
    func takeSaid() -> [UInt8] {
        defer { toScripted = [] }
        return toScripted
    }

    private func send(_ bytes: [UInt8]) -> Outcome {
        if scripted != nil {
            toScripted += bytes.prefix(UnreadBytes.limit - toScripted.count)
            return .said
        }
        outgoing += bytes
        return push() ? .said : .nothing
    }

    /// Writes as much as the app has room for.
    private func push() -> Bool {
        if isCut { return false }
        if scripted != nil {
            defer { toPour = 0 }
            return toPour > 0
        }
        if saysNothing {
            outgoing = []
            toPour = 0
        }
        var wrote = false
        while true {
            if outgoing.isEmpty, toPour > 0 {
                outgoing = poured.next(min(toPour, Self.pieceBytes))
                toPour -= outgoing.count
            }
            guard !outgoing.isEmpty else { return wrote }
            let flags = Int32(truncatingIfNeeded: MSG_NOSIGNAL) | Int32(truncatingIfNeeded: MSG_DONTWAIT)
            let count = repeatingInterrupted { unsafe Glibc.send(descriptor, outgoing, outgoing.count, flags) }
            if count < 0 {
                if errno != EAGAIN {
                    wasReset = true
                    outgoing = []
                    toPour = 0
                }
                return wrote
            }
            sent += UInt64(count)
            outgoing.removeFirst(count)
            wrote = wrote || count > 0
        }
    }

    // MARK: Reading

    /// When the network carries on what the app writes without end.
    var roomDue: Instant? { canRead ? pace.nextRoom : nil }

    /// Whether anything can come of the app.
    private var canRead: Bool { descriptor >= 0 && !isRead && !isOver && !stalls && !isCut }

    /// Reads what there is and the network has carried. Says whether there was anything, the end included.
    func read(at now: Instant) -> Bool {
        guard canRead else { return false }
        var buffer = [UInt8](repeating: 0, count: Self.pieceBytes)
        var found = false
        while true {
            let room = min(pace.room(at: now), buffer.count)
            guard room > 0 else { return found }
            let flags = Int32(truncatingIfNeeded: MSG_DONTWAIT)
            let count = repeatingInterrupted { unsafe recv(descriptor, &buffer, room, flags) }
            if count < 0, errno == EAGAIN { return found }
            found = true
            guard count > 0 else {
                isRead = true
                if count < 0 { (isOver, wasReset) = (true, true) }
                return true
            }
            pace.took(count, at: now)
            received += UInt64(count)
            messages.add(buffer[..<count])
        }
    }

    /// Tells the app's end at once that all was read: it may hold small packets back until then (RFC 9293, section 3.7.4).
    func acknowledge() {
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_QUICKACK, &on, size)
    }

    /// Answers the messages that have come whole, and goes on with the plan.
    func answer(at now: Instant) -> Outcome {
        var outcome = advance(at: now)
        while !isOver, !isCut {
            let pings = messages.takePings()
            if pings > 0, case .said = send(Array(repeatElement(CallMessages.pong, count: pings).joined())) {
                outcome = .said
            }
            guard let message = messages.next() else { break }
            var next = Outcome.nothing
            if due == nil, step < plan.count, case .await(let prefix) = plan[step], message.begins(with: prefix) {
                latest = message
                step += 1
                next = advance(at: now)
            } else if let answer = answers.first(where: { message.begins(with: $0.prefix) }) {
                next = send(message.filled(answer.text))
            }
            switch next {
            case .nothing: break
            case .said: outcome = .said
            case .ended: return next
            }
        }
        // An app that has ended its side hears no more.
        if isRead, !isOver, isAtRest { isOver = true }
        return outcome
    }

    /// Whether it says nothing more by itself: its plan is done, or waits for what the app is to say.
    private var isAtRest: Bool {
        guard outgoing.isEmpty, toPour == 0, held.isEmpty else { return false }
        guard step < plan.count else { return true }
        if due == nil, case .await = plan[step] { return true }
        return false
    }

    /// How many bytes the app has sent that have not come; 0 when it is not known.
    func missing(from app: Int32) -> UInt64 {
        var counts = wake_tcp_counts()
        guard !isRead, !isOver, !stalls, !isCut, unsafe wake_tcp_counts(app, &counts) == 0 else { return 0 }
        let given = counts.sent + UInt64(counts.not_sent)
        return given > received ? given - received : 0
    }

    /// Whether all that was sent has come to the app, as far as it has room.
    func hasArrived(at app: Int32) -> Bool {
        guard !hasCome(to: app) else { return true }
        var own = wake_tcp_counts()
        return unsafe wake_tcp_counts(descriptor, &own) != 0 || own.not_sent > 0
    }

    /// Whether all that was sent has come to the app, whether or not it had room at first; true when it is not known.
    func hasCome(to app: Int32) -> Bool {
        guard sent > come else { return true }
        var counts = wake_tcp_counts()
        guard unsafe wake_tcp_counts(app, &counts) == 0 else { return true }
        come = counts.received
        return come >= sent
    }
}
