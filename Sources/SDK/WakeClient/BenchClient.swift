import Foundation
import Synchronization
import WakeWire

/// The process's one connection to its bench.
///
/// What arrives goes to the queues of those it is for. The main run loop reads the socket, or a thread of its own in virtual time
/// and where some of them are other queues than the main one; who waits for an answer reads meanwhile. Requests are sent from any thread. When
/// the bench is gone the process ends quietly. In a process that no bench started, ``WithoutBench`` answers.
package final class BenchClient: Sendable {
    /// Takes the deliveries of one manager on its queue, and the descriptor that came with the packet.
    package typealias Receiver = @Sendable (WireDeliveryBody, ReceivedDescriptor?) -> Void
    /// Takes the callbacks of the application on the main queue.
    package typealias ApplicationReceiver = @Sendable (WireCallback, WireAppState) -> Void

    private struct State {
        var welcome: Welcome?
        var isApplicationRunning = false
        var nextNumber: UInt64 = 1
        var nextManager: UInt32 = 1
        var waiting: [UInt64: @Sendable (WireReply, [ReceivedDescriptor]) -> Void] = [:]
        var managers: [UInt32: Manager] = [:]
        var application: ApplicationReceiver?
        var currentWake: Wakebench.Wake?
        var idleReader = IdleReader.nobody
    }

    struct Manager {
        var queue: DispatchQueue
        /// The same for the same queue, which may come as several objects.
        var queueNumber: UInt64
        var hearsOfAll: Bool
        /// It takes the app's VoIP pushes.
        var hearsOfCalls = false
        var receiver: Receiver
    }

    /// Nil when no bench started this process.
    let socket: BenchSocket?
    let reading = ReadingMemory()
    private let state = Mutex(State())
    private let welcomed = DispatchSemaphore(value: 0)

    /// The connection to the bench that started this process.
    ///
    /// Without one the process says so on stderr, once, and with `WAKEBENCH_REQUIRED=1` it exits with code 2.
    package static let shared: BenchClient = {
        let socket = BenchSocket.inherited()
        if socket == nil { WithoutBench.checkAllowed() }
        isConnected.store(socket != nil, ordering: .releasing)
        return BenchClient(socket: socket)
    }()

    private static let isConnected = Atomic(false)

    /// The connection where the application or a manager has made it; for what alone is no reason to make one.
    package static var connected: BenchClient? { isConnected.load(ordering: .acquiring) ? shared : nil }

    /// Whether a bench started this process.
    package var hasBench: Bool { socket != nil }

    private init(socket: BenchSocket?) {
        self.socket = socket
        DispatchQueue.main.setSpecific(key: Self.queueNumber, value: Self.mainNumber)
        guard socket != nil else { return }
        send(.hello(version: WireLimits.version, client: "swift", pid: Int(getpid()), batches: true))
        // Virtual time goes on once all rest: what is read, and when, must not hang on what the main queue is busy with.
        if ProcessInfo.processInfo.environment["WAKEBENCH_TIME_PAGE"] != nil { readInThread() }
    }

    // MARK: Sending

    /// Sends a message; ends the process when the bench is gone.
    package func send(_ message: AppMessage) {
        guard let socket else {
            return goOn(after: message)
        }
        if !socket.send(message) {
            endWithBench()
        }
    }

    /// Tells a manager what a message brings about where there is no bench.
    private func goOn(after message: AppMessage) {
        guard let (number, body) = WithoutBench.event(after: message),
            let manager = state.withLock({ $0.managers[number] })
        else {
            return
        }
        manager.queue.async { manager.receiver(body, nil) }
    }

    /// Sends a request and waits for its answer; the main queue is not needed for it.
    ///
    /// A bench that does not answer within 30 s is reported on stderr, and the answer is a failure.
    ///
    /// - Parameter descriptor: What goes with the packet as a duplicate.
    package func request(with descriptor: Int32? = nil, _ make: (UInt64) -> AppMessage) -> WireReply {
        requestWithDescriptors(with: descriptor, make).reply
    }

    /// The same, and the descriptors that came with the answer.
    package func requestWithDescriptors(
        with descriptor: Int32? = nil,
        _ make: (UInt64) -> AppMessage
    ) -> (reply: WireReply, descriptors: [ReceivedDescriptor]) {
        guard let socket else {
            let message = make(mintNumber())
            goOn(after: message)
            return (WithoutBench.reply(to: message), [])
        }
        let answer = Answer()
        let id = state.withLock { state in
            let id = state.nextNumber
            state.nextNumber += 1
            state.waiting[id] = { answer.give($0, $1) }
            return id
        }
        let message = make(id)
        if !socket.send(message, with: descriptor) {
            endWithBench()
        }
        if let reply = wait(on: answer.arrived, seconds: 30, for: { answer.given }) {
            return reply
        }
        state.withLock { _ = $0.waiting.removeValue(forKey: id) }
        complain("the bench has not answered request \(id) for 30 s")
        let failure = WireFailure(domain: "WakebenchErrorDomain", code: 1, message: "No answer")
        return (WireReply(failure: failure), [])
    }

    /// A number that no request or task of this process has had.
    package func mintNumber() -> UInt64 {
        state.withLock { state in
            defer { state.nextNumber += 1 }
            return state.nextNumber
        }
    }

    // MARK: Receivers

    /// Gives a manager its number; its deliveries and their descriptors go to the receiver on the queue from now on.
    ///
    /// A location manager hears also of what is for all of them; their queue is the main one. Of several that hear of VoIP pushes
    /// the latest does.
    package func register(
        queue: DispatchQueue,
        hearsOfAll: Bool = false,
        hearsOfCalls: Bool = false,
        receiver: @escaping Receiver
    ) -> UInt32 {
        let (number, manager) = state.withLock { state in
            let number = state.nextManager
            state.nextManager += 1
            let queue = inOrder(queue)
            let manager = Manager(
                queue: queue,
                queueNumber: self.number(of: queue, UInt64(number)),
                hearsOfAll: hearsOfAll,
                hearsOfCalls: hearsOfCalls,
                receiver: receiver
            )
            state.managers[number] = manager
            return (number, manager)
        }
        if manager.queueNumber != Self.mainNumber { readInThread() }
        return number
    }

    /// The queue itself, or, for one of the system's concurrent queues, a queue on it that keeps deliveries in order.
    private func inOrder(_ queue: DispatchQueue) -> DispatchQueue {
        queue.label.hasPrefix("com.apple.root.")
            ? DispatchQueue(label: "wakebench.manager", target: queue) : queue
    }

    /// The number of a queue, which it gets here where it has none.
    private func number(of queue: DispatchQueue, _ fresh: UInt64) -> UInt64 {
        if let known = queue.getSpecific(key: Self.queueNumber) {
            return known
        }
        queue.setSpecific(key: Self.queueNumber, value: fresh)
        return fresh
    }

    private static let queueNumber = DispatchSpecificKey<UInt64>()
    /// The number of the main queue.
    private static let mainNumber: UInt64 = 0

    /// Forgets a manager; what still arrives for it is acknowledged and dropped.
    package func unregister(manager: UInt32) {
        state.withLock { _ = $0.managers.removeValue(forKey: manager) }
    }

    /// Hands the application's callbacks to the receiver, and waits for what the bench tells a fresh process.
    ///
    /// Without a bench it ends the process: nobody would ever tell the application anything.
    package static func runApplication(receiver: @escaping ApplicationReceiver) -> Welcome {
        WithoutBench.need()
        if !shared.hasBench { WithoutBench.end() }
        shared.state.withLock { state in
            state.application = receiver
            state.isApplicationRunning = true
        }
        return shared.waitForWelcome()
    }

    /// Waits for the welcome in a program without an application; it counts as launched once its main queue drains.
    package func runWithoutApplication() {
        guard hasBench else { return }
        // Nobody knows whether such a program ever runs the main run loop.
        if !state.withLock({ $0.isApplicationRunning }) { readInThread() }
        _ = waitForWelcome()
        DispatchQueue.main.async { [self] in
            let isFirst = state.withLock { state in
                defer { state.isApplicationRunning = true }
                return !state.isApplicationRunning
            }
            if isFirst {
                send(.launched)
            }
        }
    }

    /// The latest wake.
    package var currentWake: Wakebench.Wake? {
        state.withLock { $0.currentWake }
    }

    private func waitForWelcome() -> Welcome {
        let welcome = wait(on: welcomed) { state.withLock { $0.welcome } }
        // Others may wait for it as well.
        welcomed.signal()
        guard let welcome else { preconditionFailure("an endless wait has ended") }
        return welcome
    }

    /// Runs the main run loop for good, and has it read the socket where all callbacks are for the main queue.
    @MainActor
    package func runMainLoop() -> Never {
        let reads = state.withLock { state in
            guard state.idleReader == .nobody else { return false }
            state.idleReader = .mainLoop
            return true
        }
        if reads, let socket, let loop = MainLoopReader(self, socket) { loop.run() }
        readInThread()
        while true { _ = RunLoop.main.run(mode: .default, before: .distantFuture) }
    }

    var idleReader: IdleReader { state.withLock { $0.idleReader } }

    /// Says whether a thread is to read that did not before.
    func startsThread() -> Bool {
        state.withLock { state in
            defer { state.idleReader = .thread }
            return state.idleReader != .thread
        }
    }

    // MARK: Reading

    /// Takes the messages of a packet in their order.
    func receive(_ packet: ReceivedMessages) {
        let (messages, descriptor) = (packet.messages, packet.descriptor)
        var run = packet.all.map { DeliveryRun($0, receivers(of: $0.manager)) }
        guard run == nil else {
            return hand(over: &run, of: messages, descriptor)
        }
        for place in messages.indices {
            guard case .deliver(let delivery) = messages[place] else {
                hand(over: &run, of: messages, descriptor)
                handle(messages[place], messages.count == 1 ? packet.descriptors : [])
                continue
            }
            let goesOn = run?.takes(delivery, at: place, receivers: { receivers(of: delivery) }) ?? false
            if !goesOn {
                hand(over: &run, of: messages, descriptor)
                run = DeliveryRun(delivery, at: place, receivers(of: delivery))
            }
        }
        hand(over: &run, of: messages, descriptor)
    }

    private func handle(_ message: BenchMessage, _ descriptors: [ReceivedDescriptor]) {
        switch message {
        case .welcome(let welcome):
            state.withLock { state in
                state.welcome = welcome
                state.currentWake = welcome.cause.map {
                    Wakebench.Wake(cause: $0.source, event: $0.event, decision: $0.decision)
                }
            }
            welcomed.signal()
        case .callback(let delivery, let callback, let appState):
            perform(delivery, callback, appState)
        case .reply(let id, let reply):
            state.withLock({ $0.waiting.removeValue(forKey: id) })?(reply, descriptors)
        case .deliver:
            break
        }
    }

    private func perform(_ delivery: UInt64, _ callback: WireCallback, _ appState: WireAppState) {
        guard let application = state.withLock({ $0.application }) else {
            return send(.acknowledge(delivery: delivery))
        }
        DispatchQueue.main.async { [self] in
            application(callback, appState)
            DispatchQueue.main.async { [self] in
                ExpiringActivities.afterEnd(of: callback) { [self] in
                    send(.acknowledge(delivery: delivery))
                }
            }
        }
    }

    /// Has a run's deliveries done on their queue, and acknowledged once the queue has drained after them.
    private func hand(
        over run: inout DeliveryRun?,
        of messages: [BenchMessage],
        _ descriptor: ReceivedDescriptor?
    ) {
        guard let all = run.take() else {
            return
        }
        guard let queue = all.queue else {
            return send(all.acknowledgement)
        }
        queue.async { [self] in
            deliver(all, of: messages, descriptor)
            queue.async { [self] in
                guard all.isAboutChannel else {
                    return send(all.acknowledgement)
                }
                DescriptorStreams.tellAll { [self] in
                    send(all.acknowledgement)
                }
            }
        }
    }

    /// Has the deliveries of a run done, on their queue.
    func deliver(_ run: DeliveryRun, of messages: [BenchMessage], _ descriptor: ReceivedDescriptor?) {
        for part in run.parts {
            for place in part.places {
                guard case .deliver(let delivery) = messages[place] else { continue }
                note(delivery)
                for manager in part.receivers { manager.receiver(delivery.body, descriptor) }
            }
        }
    }

    /// What a packet is as one run for the main queue; nil when there is more in it, or the run is not over with its callbacks.
    func mainRun(_ packet: ReceivedMessages) -> DeliveryRun? {
        let run: DeliveryRun
        if let values = packet.all {
            run = DeliveryRun(values, receivers(of: values.manager))
        } else if packet.messages.count == 1, case .deliver(let delivery) = packet.messages[0] {
            run = DeliveryRun(delivery, at: 0, receivers(of: delivery))
        } else {
            return nil
        }
        return run.queueNumber == Self.mainNumber && !run.isAboutChannel ? run : nil
    }

    /// What is for the app's calls, its notifications, its pushes, or its sessions before they are made, has no manager.
    private func receivers(of delivery: WireDelivery) -> [Manager] {
        switch delivery.body {
        case .voip: [Self.calls]
        case .notification: [Self.notifications]
        case .push(let event): event.isForCalls ? callReceivers : [Self.pushes]
        case .backgroundTask(.fetch): [Self.fetches]
        case .backgroundTask(let event):
            BackgroundTaskHandlers.manager(for: event).map { receivers(of: $0) } ?? []
        case .transfer(.events): [Self.transfers]
        default: receivers(of: delivery.manager)
        }
    }

    private static let calls = Manager(
        queue: .main,
        queueNumber: mainNumber,
        hearsOfAll: false,
        receiver: { body, _ in VoIPHandlers.receive(body) }
    )

    private static let notifications = Manager(
        queue: .main,
        queueNumber: mainNumber,
        hearsOfAll: false,
        receiver: { body, _ in NotificationHandlers.receive(body) }
    )

    private static let pushes = Manager(
        queue: .main,
        queueNumber: mainNumber,
        hearsOfAll: false,
        receiver: { body, _ in PushHandlers.receive(body) }
    )

    /// Who takes the app's VoIP pushes.
    private var callReceivers: [Manager] {
        state.withLock { state in
            state.managers.filter { $0.value.hearsOfCalls }.max { $0.key < $1.key }.map { [$0.value] } ?? []
        }
    }

    private static let fetches = Manager(
        queue: .main,
        queueNumber: mainNumber,
        hearsOfAll: false,
        receiver: { body, _ in BackgroundTaskHandlers.receive(body) }
    )

    private static let transfers = Manager(
        queue: .main,
        queueNumber: mainNumber,
        hearsOfAll: false,
        receiver: { body, _ in TransferHandlers.receive(body) }
    )

    /// The manager that a delivery names, or all that hear of what is for all, oldest first.
    private func receivers(of manager: UInt32) -> [Manager] {
        state.withLock { state in
            guard manager == 0 else { return state.managers[manager].map { [$0] } ?? [] }
            return state.managers.filter { $0.value.hearsOfAll }.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    private func note(_ delivery: WireDelivery) {
        guard delivery.event != nil || delivery.cause != nil else {
            return
        }
        let wake = Wakebench.Wake(
            cause: delivery.cause ?? delivery.body.source,
            event: delivery.event,
            decision: delivery.decision
        )
        state.withLock { $0.currentWake = wake }
    }

    /// An app does not outlive its bench; `exit` handlers are not run because other threads still work.
    func endWithBench() -> Never {
        fflush(nil)
        _exit(0)
    }
}

/// A place where whoever reads leaves the answer for a waiting thread.
private final class Answer: Sendable {
    private let reply = Mutex<(WireReply, [ReceivedDescriptor])?>(nil)
    let arrived = DispatchSemaphore(value: 0)

    func give(_ value: WireReply, _ descriptors: [ReceivedDescriptor]) {
        reply.withLock { $0 = (value, descriptors) }
        arrived.signal()
    }

    var given: (WireReply, [ReceivedDescriptor])? { reply.withLock { $0 } }
}
