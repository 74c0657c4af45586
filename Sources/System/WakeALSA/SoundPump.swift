import Glibc
import Synchronization
import WakeSystem

/// Moves frames between apps and one sound card, on a thread of its own.
///
/// The thread waits in poll for the card and for orders. It touches nothing of the event loop: what happens at its edges
/// is told there, in order, on the loop's thread. It has real-time priority where that is allowed.
package final class SoundPump {
    /// Where frames go to or come from: a PCM by name, and what to ask of it.
    package struct End: Hashable, Sendable {
        package var name: String
        package var request: SoundRequest

        package init(_ name: String, _ request: SoundRequest = SoundRequest()) {
            self.name = name
            self.request = request
        }
    }

    /// What the card that plays has granted.
    package let playback: SoundGrant?
    /// What the card that records has granted.
    package let capture: SoundGrant?
    /// The numbers of the cards behind it: none for plug-ins without one.
    package let cards: Set<Int32>
    private let shared: Shared
    private var watch: Watch?
    private var thread: pthread_t?

    /// Opens the card, and rests until ``run(_:)``.
    ///
    /// - Parameter report: hears of edges, on the loop's thread, until the pump is stopped or released.
    /// - Throws: ``SoundError`` for a card that cannot be opened; ``SystemError`` when there is no thread for it.
    package init(
        playing playback: End? = nil,
        recording capture: End? = nil,
        frames: any SoundFrames,
        loop: EventLoop,
        report: @escaping (SoundEdge) -> Void
    ) throws {
        let player = try playback.map { try SoundStream($0.name, .playback, asking: $0.request) }
        let recorder = try capture.map { try SoundStream($0.name, .capture, asking: $0.request) }
        self.playback = player?.granted
        self.capture = recorder?.granted
        cards = Set([player, recorder].compactMap { $0?.card })
        shared = try Shared()
        let shared = shared
        watch = try loop.watch(shared.edgeSignal, for: .readable) { _ in
            for edge in shared.takeEdges() { report(edge) }
        }
        let lanes = [player, recorder].compactMap { $0 }.map { Lane($0, frames) }
        let work = PumpThread(lanes, shared)
        thread = try beginThread("sound card") { work.work() }
    }

    deinit {
        stop()
    }

    /// Moves frames in these directions from now on, and in no others: nothing at all costs nothing.
    package func run(_ directions: Set<SoundDirection>) {
        shared.order { $0.wanted = directions }
    }

    /// Whether the thread goes before ordinary ones; false until it runs.
    package var isRealTime: Bool { shared.isRealTime }

    /// Closes the card, after it has played what it still has, at most the length of its buffer. Harmless when done
    /// already.
    ///
    /// - Parameter drains: false to end at once, which loses what has not been played.
    package func stop(drains: Bool = true) {
        watch?.cancel()
        watch = nil
        guard let thread else { return }
        self.thread = nil
        shared.order { ($0.ends, $0.drains) = (true, drains) }
        pthread_join(thread, nil)
    }
}

/// What the loop and the pump's thread say to each other.
final class Shared: Sendable {
    struct Orders: Sendable {
        var wanted: Set<SoundDirection> = []
        var ends = false
        var drains = true
    }

    /// More are not kept for a loop that does not listen: the counts in the ones that come later tell the same.
    private static let mostEdges = 256

    private let orderBell: Descriptor
    private let edgeBell: Descriptor
    private let orders = Mutex(Orders())
    private let edges = Mutex<[SoundEdge]>([])
    private let realTime = Mutex(false)

    init() throws(SystemError) {
        orderBell = try doorbell()
        edgeBell = try doorbell()
    }

    /// Readable when there are orders.
    var orderSignal: Int32 { orderBell.number }
    /// Readable when there are edges.
    var edgeSignal: Int32 { edgeBell.number }

    var isRealTime: Bool {
        get { realTime.withLock { $0 } }
        set { realTime.withLock { $0 = newValue } }
    }

    func order(_ change: (inout sending Orders) -> Void) {
        orders.withLock { change(&$0) }
        orderBell.ring()
    }

    func takeOrders() -> Orders {
        _ = orderBell.answerDoorbell()
        return orders.withLock { $0 }
    }

    func tell(_ edge: SoundEdge) {
        edges.withLock { edges in
            if edges.count >= Self.mostEdges {
                switch edge {
                case .ranDry, .runsAgain: return
                case .started, .rested, .gone: break
                }
            }
            edges.append(edge)
        }
        edgeBell.ring()
    }

    func takeEdges() -> [SoundEdge] {
        _ = edgeBell.answerDoorbell()
        return edges.withLock { edges in
            defer { edges.removeAll(keepingCapacity: true) }
            return edges
        }
    }
}

/// What the pump's thread does. It belongs to that thread once it runs.
private final class PumpThread: @unchecked Sendable {
    private var lanes: [Lane]
    private let shared: Shared
    private var descriptors: [pollfd] = []
    private var wanted: Set<SoundDirection> = []

    init(_ lanes: [Lane], _ shared: Shared) {
        self.lanes = lanes
        self.shared = shared
        let places = 1 + lanes.reduce(0) { $0 + $1.stream.descriptorCount }
        descriptors = Array(repeating: pollfd(fd: -1, events: 0, revents: 0), count: places)
        descriptors[0] = pollfd(fd: shared.orderSignal, events: Int16(POLLIN), revents: 0)
    }

    func work() {
        goFirst()
        while true {
            let orders = shared.takeOrders()
            if orders.ends { return finish(drains: orders.drains) }
            if orders.wanted != wanted {
                wanted = orders.wanted
                forEachLane { lane, tell throws(SoundError) in
                    try lane.want(orders.wanted.contains(lane.stream.direction), tell: tell)
                }
            }
            forEachLane { lane, tell throws(SoundError) in try lane.serve(tell: tell) }
            wait()
        }
    }

    /// A lane that fails is closed; the others go on.
    private func forEachLane(_ body: (Lane, (SoundEdge) -> Void) throws(SoundError) -> Void) {
        var failed: [Int] = []
        for (index, lane) in lanes.enumerated() {
            do throws(SoundError) {
                try body(lane, shared.tell)
            } catch {
                failed.append(index)
                shared.tell(.gone(lane.stream.direction, error))
            }
        }
        for index in failed.reversed() { lanes.remove(at: index) }
    }

    private func finish(drains: Bool) {
        for lane in lanes where lane.isWanted && drains { lane.finish() }
        lanes = []
    }

    /// Until a card or an order wants something.
    private func wait() {
        var count = 1
        var due: Int64?
        for lane in lanes {
            lane.places = nil
            guard lane.isWanted else { continue }
            if lane.pace.isKept {
                let places = count..<(count + lane.stream.descriptorCount)
                lane.stream.fill(&descriptors[places])
                lane.places = places
                count = places.upperBound
            } else {
                due = min(due ?? .max, lane.pace.due)
            }
        }
        guard poll(count, until: due) > 0 else { return }
        forEachLane { lane, _ throws(SoundError) in
            guard let places = lane.places, descriptors[places].contains(where: { $0.revents != 0 }) else { return }
            let hasFailed = descriptors[places].contains { Int32($0.revents) & (POLLERR | POLLHUP | POLLNVAL) != 0 }
            lane.stream.acknowledge(&descriptors[places])
            if hasFailed { try lane.failedToWait() }
        }
    }

    /// Poll's time is in milliseconds, rounded up: what is late by less is made good by the next time.
    private func poll(_ count: Int, until due: Int64?) -> Int32 {
        let left = due.map { max(0, $0 - MonotonicClock.now() + 999_999) / 1_000_000 }
        let timeout = left.map { Int32(clamping: $0) } ?? -1
        return unsafe descriptors.withUnsafeMutableBufferPointer { places in
            unsafe Glibc.poll(places.baseAddress, nfds_t(count), timeout)
        }
    }

    private func goFirst() {
        var parameter = sched_param(sched_priority: max(1, sched_get_priority_min(SCHED_FIFO)))
        let code = unsafe pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter)
        shared.isRealTime = code == 0
    }
}
