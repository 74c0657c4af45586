import Glibc
import WakeModel
import WakeProcesses
import WakeSystem
import WakeVirtualTime
import WakeWire

/// One process of an app: what it was told, what it owes an answer to, and the packets on their way to it.
final class AppProcess {
    /// What a delivery waits for.
    enum Owed {
        case nothing(DecisionID)
        case event(EventID, DecisionID)
        case callback(LifecycleCallback)
    }

    /// A packet that waits for room, and the descriptors that travel with it.
    private final class Outbound {
        let bytes: [UInt8]
        let descriptors: [Int32]

        init(bytes: [UInt8], descriptors: [Int32]) {
            self.bytes = bytes
            self.descriptors = descriptors
        }

        deinit { for descriptor in descriptors { close(descriptor) } }
    }

    /// What the process host calls it: a number of its own, since an app's next process may start while the last
    /// one is still dying.
    let key: UInt32
    /// The identifier of its bundle.
    let name: String
    let welcome: Welcome
    /// On the monotonic clock, in nanoseconds.
    let startedAt: Int64
    var greeted = false
    private(set) var launched = false
    var frozen = false
    var freezing = false
    /// It is to go on once it was sent what was gathered for it.
    var isToBeThawed = false
    /// It is to be frozen once it rests.
    var freezesAtRest = false
    /// The patience with it has run out; it is not waited for until it owes nothing any more.
    private(set) var overrun = false
    private(set) var connected = true
    /// Since when it has owed something without a pause, on the monotonic clock in nanoseconds; nil while it owes nothing.
    private var owingSince: Int64?
    /// What is for its location managers and its calls, until it has launched.
    var held: [BenchMessage] = []
    /// It understands packets of several messages.
    var takesBatches = false
    /// Those of its managers that are of the peripheral role.
    var peripheralManagers: Set<ManagerNumber> = []
    /// Its virtual clock; nil on wall time.
    var clock: AppClock?
    /// It was said that one of its waits does not keep to it.
    var isUnheldKnown = false
    /// It is known whether it keeps to it.
    var isTimeKnown = false
    /// Where a program that it has started was seen to wait on wall time; nil when none was.
    var waitsOutside: Unrest?
    /// That was told.
    var isOutsideKnown = false
    /// The patience has run out in which it was to come to rest.
    private(set) var neverRests = false
    /// When it ran out last, on the run's clock; nil when it never did.
    private(set) var gaveUpAt: Instant?
    /// How much it has said since time moved last.
    var saidAtInstant = 0
    /// Nothing takes its processor from it before it waits; only where that is allowed.
    var runsUntilItWaits = true
    /// Since when it does not rest, while it does not.
    var spin = Spin()
    var faults = 0
    /// What was said of what it uses and holds.
    var told = ToldMeasures()
    /// Hears what it does against the rules of the wire.
    var onFault: ((String) -> Void)?
    private let host: ProcessHost
    private var nextDelivery: UInt64 = 1
    private var owed: [(number: UInt64, what: Owed)] = []
    private var batch = PacketBatch()
    /// Packets that the socket has no room for.
    private var outbound: [Outbound] = []

    /// The most packets that wait for one app's socket; beyond it the app counts as gone deaf and is cut off.
    private static let outboundLimit = 4_096

    init(key: UInt32, name: String, welcome: Welcome, startedAt: Int64, host: ProcessHost) {
        self.key = key
        self.name = name
        self.welcome = welcome
        self.startedAt = startedAt
        self.host = host
        owingSince = startedAt
    }

    /// Whether virtual time must wait for it.
    var isBusy: Bool { freezing || waitedForSince != nil }

    /// Since when virtual time waits for something that it owes: to launch, to answer, or to end once it has closed its
    /// socket. One that never rests is not waited for, whatever it owes.
    var waitedForSince: Int64? { frozen || overrun || neverRests ? nil : owingSince }

    /// It runs, and listens.
    func hasLaunched() {
        guard !launched else { return }
        launched = true
        overrun = false
        owingSince = owed.isEmpty ? nil : MonotonicClock.now()
    }

    /// It has closed its socket, on its way out or for good. Its end is waited for as long as an answer.
    func hasDisconnected() {
        connected = false
        owingSince = owingSince ?? MonotonicClock.now()
    }

    /// The patience with it has run out.
    func hasOverrun() { overrun = true }

    /// It is not waited for any more, until it rests later than `now` of the run.
    func giveUp(at now: Instant) {
        neverRests = true
        gaveUpAt = now
    }

    /// It was looked at, at `now` of the run.
    func looked(atRest isAtRest: Bool, reads: UInt64, now: Instant) {
        if isAtRest {
            if gaveUpAt != now { neverRests = false }
            spin.rests()
        } else {
            spin.began(reads: reads, at: MonotonicClock.now())
        }
    }

    // MARK: Answers

    /// The number of a delivery that it owes an answer to from now on.
    func owe(_ what: Owed) -> UInt64 {
        let number = nextDelivery
        nextDelivery += 1
        owed.append((number, what))
        owingSince = owingSince ?? MonotonicClock.now()
        return number
    }

    /// It has answered deliveries.
    ///
    /// - Returns: what they waited for; nil when it does not owe each of them.
    func answer(_ first: UInt64, through last: UInt64) -> [Owed]? {
        let taken = owed.filter { $0.number >= first && $0.number <= last }
        guard last >= first, !taken.isEmpty, UInt64(taken.count) - 1 == last - first else { return nil }
        owed.removeAll { $0.number >= first && $0.number <= last }
        if owed.isEmpty, launched, connected { (overrun, owingSince) = (false, nil) }
        return taken.map(\.what)
    }

    /// Whether another of its managers has still to take an event.
    func owes(_ event: EventID) -> Bool {
        owed.contains { other in
            if case .event(event, _) = other.what { true } else { false }
        }
    }

    // MARK: Packets

    /// Puts a message into the packet in the making. Says whether that packet began with it.
    func gather(_ message: BenchMessage) -> Bool {
        let begins = batch.isEmpty
        if batch.add(message) { return begins }
        sendBatch()
        if !batch.add(message) { send(message.encode(), with: []) }
        return begins
    }

    /// Sends the packet that was in the making.
    func sendBatch() {
        batch.take { send($0, with: []) }
    }

    /// Sends a message as a packet of its own.
    func send(_ message: BenchMessage, with descriptors: [Int32]) {
        sendBatch()
        send(message.encode(), with: descriptors)
    }

    private func send(_ bytes: [UInt8], with descriptors: [Int32]) {
        guard outbound.isEmpty else {
            enqueue(bytes, with: descriptors)
            return
        }
        switch host.send(bytes, descriptors: descriptors, to: key) {
        case .sent: break
        case .full: enqueue(bytes, with: descriptors)
        // What it said before is still to be read, and then the end of the socket, which tells whether it runs on.
        case .closed: break
        case .refused(let code): onFault?("a packet of \(bytes.count) bytes cannot be sent: error \(code)")
        }
    }

    /// The socket is full: the packet waits in order until the app reads, as far as the bound allows.
    private func enqueue(_ bytes: [UInt8], with descriptors: [Int32]) {
        guard outbound.count < Self.outboundLimit else {
            if connected {
                onFault?("reads nothing; \(Self.outboundLimit) packets wait, further ones are lost")
            }
            hasDisconnected()
            hasOverrun()
            return
        }
        // Its own duplicates: the owner's may be closed before there is room.
        outbound.append(Outbound(bytes: bytes, descriptors: descriptors.map { dup($0) }.filter { $0 >= 0 }))
        host.notifyWhenWritable(key)
    }

    /// The socket has room again.
    func writable() {
        var sent = 0
        for packet in outbound {
            guard case .sent = host.send(packet.bytes, descriptors: packet.descriptors, to: key) else { break }
            sent += 1
        }
        outbound.removeFirst(sent)
        if !outbound.isEmpty { host.notifyWhenWritable(key) }
    }
}
