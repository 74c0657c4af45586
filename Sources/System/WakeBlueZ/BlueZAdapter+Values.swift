import Glibc
import WakeBus
import WakeSystem

/// Reading, writing and notifications.
extension BlueZAdapter {
    /// The outcome of an operation on an attribute.
    package typealias Outcome = Result<[UInt8], BusError>

    /// How many operations may wait for one attribute.
    static let laneLimit = 1_024

    /// The operations on one attribute, one at a time: bluetoothd answers a second one with InProgress.
    final class Lane {
        struct Operation {
            var begin: (@escaping (Bus.Answer) -> Void) -> Void
            var isRead: Bool
            var completion: (Bus.Answer) -> Void
        }

        var waiting: [Operation] = []
        var running: Operation?
        /// Counts what ran, so that an answer after the end of the link finds nobody.
        var turn = 0

        func failAll() {
            turn += 1
            let failed = (running.map { [$0] } ?? []) + waiting
            running = nil
            waiting.removeAll()
            for operation in failed { operation.completion(.failure(BlueZAdapter.linkGone)) }
        }
    }

    /// A characteristic that notifies us.
    final class Notifying {
        let device: BlueZDeviceID
        let handle: UInt16
        var path: BlueZNotificationPath
        /// The socket of AcquireNotify.
        var socket: BusDescriptor?
        var watch: Watch?
        /// Ends the time in which a fast stream's values come together; nil before the first.
        var gathering: Timer?
        var isGathering = false
        /// When the socket was last read, in nanoseconds of ``MonotonicClock``.
        var lastRead: Int64 = 0
        /// Values that arrived while a read was on its way; one of them may be the read's own echo.
        var heldBack: [[UInt8]] = []

        init(_ device: BlueZDeviceID, _ handle: UInt16, _ path: BlueZNotificationPath) {
            self.device = device
            self.handle = handle
            self.path = path
        }

        deinit {
            watch?.cancel()
            gathering?.cancel()
        }
    }

    /// For how long the values of a fast stream come together before they are read, in nanoseconds: a few connection
    /// intervals. A stream is fast when two values come within half of it; a single value is read at once.
    static let gatheringTime: Int64 = 50_000_000

    package static let linkGone = BusError(name: "org.bluez.Error.NotConnected", message: "the link is gone")
    static let noAttribute = BusError(name: "org.bluez.Error.DoesNotExist", message: "there is no such attribute")

    // MARK: Operations

    package func read(_ device: BlueZDeviceID, _ handle: UInt16, completion: @escaping (Outcome) -> Void) {
        operate(device, handle, BlueZName.characteristic, "ReadValue", [.properties([])], isRead: true, completion)
    }

    package func write(
        _ device: BlueZDeviceID,
        _ handle: UInt16,
        _ value: [UInt8],
        withResponse: Bool,
        completion: @escaping (Outcome) -> Void
    ) {
        let options = BusValue.properties([("type", .string(withResponse ? "request" : "command"))])
        operate(device, handle, BlueZName.characteristic, "WriteValue", [.bytes(value), options], completion)
    }

    package func readDescriptor(_ device: BlueZDeviceID, _ handle: UInt16, completion: @escaping (Outcome) -> Void) {
        operate(device, handle, BlueZName.descriptor, "ReadValue", [.properties([])], completion)
    }

    package func writeDescriptor(
        _ device: BlueZDeviceID,
        _ handle: UInt16,
        _ value: [UInt8],
        completion: @escaping (Outcome) -> Void
    ) {
        operate(device, handle, BlueZName.descriptor, "WriteValue", [.bytes(value), .properties([])], completion)
    }

    private func characteristic(_ handle: UInt16, of device: BlueZDeviceID) -> String? {
        attribute(handle, BlueZName.characteristic, of: device)
    }

    private func attribute(_ handle: UInt16, _ interface: String, of device: BlueZDeviceID) -> String? {
        guard hasLink(device), let path = path(of: device) else { return nil }
        return objects.paths(with: interface, atOrBelow: path).first { BlueZAttributes.handle($0) == handle }
    }

    /// Asks an attribute of a device for something, whose outcome is the value that is answered, if there is one.
    private func operate(
        _ device: BlueZDeviceID,
        _ handle: UInt16,
        _ interface: String,
        _ member: String,
        _ arguments: [BusValue],
        isRead: Bool = false,
        _ completion: @escaping (Outcome) -> Void
    ) {
        guard let path = attribute(handle, interface, of: device) else {
            return completion(.failure(Self.noAttribute))
        }
        operate(path, interface, member, arguments, isRead: isRead) { answer in
            completion(answer.map { $0.first?.bytes ?? [] })
        }
    }

    private func operate(
        _ path: String,
        _ interface: String,
        _ member: String,
        _ arguments: [BusValue] = [],
        isRead: Bool = false,
        completion: @escaping (Bus.Answer) -> Void
    ) {
        let call = BusCall(BlueZName.daemon, path, interface, member, arguments)
        let lane = lanes[path] ?? Lane()
        lanes[path] = lane
        guard lane.waiting.count < Self.laneLimit else {
            return completion(.failure(BusError(name: "org.bluez.Error.Failed", message: "too many operations wait")))
        }
        lane.waiting.append(
            Lane.Operation(
                begin: { [weak self] answered in self?.ask(call, timeout: .seconds(35), answered) },
                isRead: isRead,
                completion: completion
            )
        )
        runLane(path)
    }

    private func runLane(_ path: String) {
        guard let lane = lanes[path], lane.running == nil, !lane.waiting.isEmpty else { return }
        let operation = lane.waiting.removeFirst()
        lane.running = operation
        lane.turn += 1
        let turn = lane.turn
        operation.begin { [weak self] answer in
            guard let self, lane.turn == turn else { return }
            lane.running = nil
            if operation.isRead { dropEcho(path, answer) }
            drainGathering()
            operation.completion(answer)
            runLane(path)
        }
    }

    /// What was asked of the attributes below a path fails, and nothing of them notifies any more. What they notified
    /// before is told first.
    func endLanes(below path: String) {
        let prefix = path + "/"
        for key in notifying.keys.filter({ $0.hasPrefix(prefix) }).sorted() {
            drain(key)
            let entry = notifying.removeValue(forKey: key)
            for value in entry?.heldBack ?? [] { tellNotified(entry, value) }
        }
        for key in lanes.keys.filter({ $0.hasPrefix(prefix) }).sorted() { lanes.removeValue(forKey: key)?.failAll() }
    }

    private func tellNotified(_ entry: Notifying?, _ value: [UInt8]) {
        guard let entry else { return }
        heard?(.notified(entry.device, entry.handle, value, entry.path))
    }

    // MARK: Notifications

    /// Subscribes. Values come as ``BlueZEvent/notified(_:_:_:_:)``, possibly before the completion: a device may notify
    /// before it answers.
    ///
    /// - Parameter stream: use a socket of our own where bluetoothd grants one. It loses what is notified before the
    ///   answer to the subscription, and what arrives while it is full.
    package func startNotifying(
        _ device: BlueZDeviceID,
        _ handle: UInt16,
        stream: Bool,
        completion: @escaping (Result<BlueZNotificationPath, BusError>) -> Void
    ) {
        guard let path = characteristic(handle, of: device) else { return completion(.failure(Self.noAttribute)) }
        if let present = notifying[path] { return completion(.success(present.path)) }
        if stream {
            acquire(path, device, handle, completion)
        } else {
            signal(path, device, handle, completion)
        }
    }

    private func signal(
        _ path: String,
        _ device: BlueZDeviceID,
        _ handle: UInt16,
        _ completion: @escaping (Result<BlueZNotificationPath, BusError>) -> Void
    ) {
        notifying[path] = Notifying(device, handle, .startNotify)
        operate(path, BlueZName.characteristic, "StartNotify") { [weak self] answer in
            guard let self else { return }
            switch answer {
            case .success: completion(.success(.startNotify))
            // Our own earlier subscription, kept over a reconnect.
            case .failure(let error) where error.kind == "InProgress": completion(.success(.startNotify))
            case .failure(let error):
                notifying[path] = nil
                completion(.failure(error))
            }
        }
    }

    private func acquire(
        _ path: String,
        _ device: BlueZDeviceID,
        _ handle: UInt16,
        _ completion: @escaping (Result<BlueZNotificationPath, BusError>) -> Void
    ) {
        operate(path, BlueZName.characteristic, "AcquireNotify", [.properties([])]) { [weak self] answer in
            guard let self else { return }
            if case .success(let values) = answer, let socket = values.first?.descriptor {
                let entry = Notifying(device, handle, .acquireNotify)
                entry.socket = socket
                entry.watch = try? loop.watch(socket.borrowed, for: .readable, priority: .urgent) { [weak self] _ in
                    self?.arrived(path)
                }
                entry.gathering = try? loop.timer(on: .monotonic, priority: .urgent) { [weak self] in
                    self?.gathered(path)
                }
                notifying[path] = entry
                completion(.success(.acquireNotify))
                return
            }
            if case .failure(Self.linkGone) = answer { return completion(.failure(Self.linkGone)) }
            // InProgress: somebody has StartNotify on; NotPermitted: somebody has the socket; NotSupported: there is none.
            signal(path, device, handle, completion)
        }
    }

    /// Unsubscribes from all that is below a path, and waits for no answer.
    func stopNotifying(below path: String) {
        for (key, entry) in notifying where key.hasPrefix(path + "/") && entry.path == .startNotify {
            tell(key, BlueZName.characteristic, "StopNotify")
        }
    }

    /// Unsubscribes.
    package func stopNotifying(_ device: BlueZDeviceID, _ handle: UInt16, completion: @escaping () -> Void) {
        guard let path = characteristic(handle, of: device), let entry = notifying.removeValue(forKey: path) else {
            return completion()
        }
        switch entry.path {
        // StopNotify would close whoever's socket it is; ours closes with the entry.
        case .acquireNotify: completion()
        case .startNotify: operate(path, BlueZName.characteristic, "StopNotify") { _ in completion() }
        }
    }

    /// How a characteristic notifies; nil when it does not.
    package func notificationPath(_ device: BlueZDeviceID, _ handle: UInt16) -> BlueZNotificationPath? {
        characteristic(handle, of: device).flatMap { notifying[$0]?.path }
    }

    private func arrived(_ path: String) {
        guard let entry = notifying[path] else { return }
        let now = MonotonicClock.now()
        let isFast = now - entry.lastRead < Self.gatheringTime / 2
        entry.lastRead = now
        drain(path)
        guard isFast, let watch = entry.watch, let timer = entry.gathering else { return }
        watch.disable()
        entry.isGathering = true
        timer.arm(at: now + Self.gatheringTime)
    }

    private func gathered(_ path: String) {
        guard let entry = notifying[path] else { return }
        let count = drain(path)
        guard let watch = entry.watch, let timer = entry.gathering else { return }
        entry.lastRead = MonotonicClock.now()
        if count > 1 {
            timer.arm(at: entry.lastRead + Self.gatheringTime)
        } else {
            entry.isGathering = false
            watch.enable()
        }
    }

    /// What came before an answer is told before it.
    private func drainGathering() {
        for path in notifying.keys.sorted() where notifying[path]?.isGathering == true { drain(path) }
    }

    /// Reads the socket until it is empty: bluetoothd drops what finds it full and says nothing.
    ///
    /// - Returns: the number of values.
    @discardableResult
    private func drain(_ path: String) -> Int {
        guard let entry = notifying[path], let socket = entry.socket else { return 0 }
        var values = 0
        while notifying[path] === entry {
            let flags = Int32(truncatingIfNeeded: MSG_DONTWAIT)
            let count = unsafe recv(socket.borrowed, &valueBuffer, valueBuffer.count, flags)
            if count > 0 {
                values += 1
                tellNotified(entry, Array(valueBuffer[..<count]))
            } else if count < 0, errno == EINTR {
                continue
            } else if count < 0, errno == EAGAIN {
                break
            } else {
                closedFromOutside(path, entry)
                break
            }
        }
        return values
    }

    /// bluetoothd closed the socket. Mostly the link is going, which is told by itself; but somebody else's StopNotify
    /// does so too, and then the other way is taken.
    private func closedFromOutside(_ path: String, _ entry: Notifying) {
        entry.watch?.cancel()
        entry.watch = nil
        entry.gathering?.cancel()
        entry.gathering = nil
        entry.isGathering = false
        entry.socket = nil
        delays.after(500, .resubscribe(path)) { [weak self] in
            guard let self, notifying[path] === entry, hasLink(entry.device) else { return }
            signal(path, entry.device, entry.handle) { _ in }
        }
    }

    func valueChanged(_ path: String, _ value: [UInt8]) {
        // Value also changes when somebody reads; it is a notification only where we subscribed.
        guard let entry = notifying[path], entry.path == .startNotify else { return }
        if lanes[path]?.running?.isRead == true {
            if entry.heldBack.count < Self.laneLimit { entry.heldBack.append(value) }
        } else {
            tellNotified(entry, value)
        }
    }

    /// bluetoothd tells a read's value as a change as well, right before it answers the read: the last change that is
    /// equal to the answer is no notification.
    private func dropEcho(_ path: String, _ answer: Bus.Answer) {
        guard let entry = notifying[path] else { return }
        var values = entry.heldBack
        entry.heldBack.removeAll()
        if case .success(let answered) = answer, let echo = values.lastIndex(of: answered.first?.bytes ?? []) {
            values.remove(at: echo)
        }
        for value in values { tellNotified(entry, value) }
    }
}
