import Foundation

/// The part that both directions of a stream over a descriptor share: its state, and its way to the delegate.
///
/// Foundation's own streams deliver no events on Linux. Here a dispatch source tells when the descriptor is ready, and a
/// timer that never fires by itself stands in each run loop the stream is scheduled in: setting its date is the one way
/// to wake another thread's run loop with what Foundation offers. As on Apple's systems one event is told once, and again
/// only after the app has read or written.
final class DescriptorStream: @unchecked Sendable {
    enum Direction {
        case input
        case output
    }

    /// One run loop that the stream is scheduled in.
    private struct Place {
        let runLoop: RunLoop
        let timer: Timer
        var modes: [RunLoop.Mode]
        /// A block of its waits to be run.
        var isAsked = false
    }

    private static let queue = DispatchQueue(label: "wakebench.streams")
    /// How often the delegate is told at most before the run loop has its turn.
    private static let longestTurn = 256

    let direction: Direction
    let isSocket: Bool
    /// Whether one read takes one whole packet, so that what the app has no room for must be kept.
    let keepsPackets: Bool
    /// What the app set of the stream; read and written where the stream is.
    private(set) var properties: [Stream.PropertyKey: AnyObject] = [:]
    private let lock = NSLock()
    private weak var stream: Stream?
    private weak var twin: DescriptorStream?
    /// Whether it is one of two streams over one connection.
    private var isPaired = false
    private var descriptor: Int32
    private var status = Stream.Status.notOpen
    private var error: NSError?
    /// The end will be no end but this error: bytes were lost.
    private var failureAtEnd: Int32?
    private var owed: Stream.Event = []
    private var watch: (number: Int, source: any DispatchSourceProtocol)?
    private var watches = 0
    private var places: [Place] = []
    /// Who waits until the delegate has been told all that is owed.
    private var waiting: [() -> Void] = []
    /// How many are finding out what is to be told, or are telling it.
    private var tellers = 0

    /// The connection in the making that it is over.
    private let connection: StreamConnection?
    /// Of two streams over one connection: what both know of it.
    private var calls: CallsMark?

    init(_ direction: Direction, descriptor: Int32, _ connection: StreamConnection? = nil) {
        self.direction = direction
        self.connection = connection
        self.descriptor = descriptor
        var type: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        isSocket = unsafe getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0
        keepsPackets = isSocket && type != Int32(SOCK_STREAM.rawValue)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        if !isSocket {
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        }
    }

    deinit {
        close()
    }

    /// Tells whose events these are, and which stream ends when the other end of this one is gone.
    func serve(_ stream: Stream, twin: DescriptorStream? = nil) {
        lock.withLock {
            self.stream = stream
            self.twin = twin ?? self.twin
            isPaired = isPaired || twin != nil
        }
        if let twin {
            // The first of the two makes it, and the second finds it.
            let known = twin.lock.withLock { twin.calls }
            lock.withLock { calls = known ?? CallsMark() }
        }
    }

    /// Sets a property; the one that tells of calls marks the socket.
    func set(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool {
        properties[key] = property
        guard key == .networkServiceType else {
            return true
        }
        return setForCalls((property as? NSString)?.description == StreamNetworkServiceTypeValue.voIP.rawValue)
    }

    /// Marks the socket as one of the app's calls, or takes the mark back. A connection in the making is marked once it is
    /// there.
    ///
    /// - Returns: whether that was possible, as far as it is known.
    func setForCalls(_ isForCalls: Bool) -> Bool {
        let (calls, descriptor) = lock.withLock { (self.calls, self.descriptor) }
        guard let calls, isSocket || connection != nil else {
            return false
        }
        return calls.set(isForCalls, descriptor, connection)
    }

    // MARK: State

    var currentStatus: Stream.Status {
        lock.withLock { status }
    }

    var currentError: NSError? {
        lock.withLock { error }
    }

    func open() {
        let isFirst = lock.withLock {
            guard status == .notOpen else {
                return false
            }
            status = .opening
            return true
        }
        guard isFirst else {
            return
        }
        guard let connection else {
            return opened()
        }
        connection.whenDecided { [weak self] code in
            if code == 0 {
                self?.opened()
            } else {
                self?.fail(code)
            }
        }
    }

    private func opened() {
        let isNew = lock.withLock {
            guard status == .opening else {
                return false
            }
            status = .open
            owed.insert(.openCompleted)
            return true
        }
        if isNew {
            // Watched first: who asks once the delegate knows that it is open hears of what has come.
            arm()
            signal()
        }
    }

    func close() {
        let (watch, descriptor, places, twin, waiting, calls) = lock.withLock {
            defer {
                self.waiting = []
                status = .closed
                owed = []
                self.watch = nil
                self.descriptor = -1
                self.places = []
            }
            return (self.watch, self.descriptor, self.places, self.twin, self.waiting, self.calls)
        }
        for place in places {
            place.timer.invalidate()
        }
        watch?.source.cancel()
        for handler in waiting {
            handler()
        }
        if descriptor >= 0 {
            // The bench has a duplicate, which would keep the connection up.
            if isPaired, isSocket, twin?.hasDescriptor != true {
                calls?.end()
                _ = shutdown(descriptor, Int32(SHUT_RDWR))
            }
            _ = Glibc.close(descriptor)
        }
    }

    private var hasDescriptor: Bool {
        lock.withLock { descriptor >= 0 }
    }

    /// The descriptor for a read or write of the app; nil when the stream is not open.
    func openDescriptor() -> Int32? {
        lock.withLock { status == .open ? descriptor : nil }
    }

    /// Bytes were lost: what has come can still be read, and then the stream fails instead of ending.
    func failAtEnd(_ code: Int32) {
        lock.withLock { failureAtEnd = code }
        arm()
    }

    /// The other end is gone and nothing is left to read.
    func end() {
        if let code = lock.withLock({ failureAtEnd }) { return fail(code) }
        let isNew = lock.withLock {
            guard status == .open else {
                return false
            }
            status = .atEnd
            owed.insert(.endEncountered)
            return true
        }
        if isNew {
            signal()
        }
    }

    /// The twin has found the other end gone; what came before it left is still to be read.
    private func otherEndIsGone() {
        switch direction {
        case .input: arm()
        case .output: end()
        }
    }

    func fail(_ code: Int32) {
        let isNew = lock.withLock {
            guard status == .open || status == .opening else {
                return false
            }
            status = .error
            error = NSError(domain: NSPOSIXErrorDomain, code: Int(code))
            owed = .errorOccurred
            return true
        }
        if isNew {
            signal()
        }
    }

    // MARK: The descriptor

    /// What `poll` says of the descriptor now, or once there is something, when it may wait.
    func readiness(of descriptor: Int32, waiting: Bool) -> Int16 {
        let wanted = Int16(direction == .input ? POLLIN : POLLOUT)
        var entry = pollfd(fd: descriptor, events: wanted, revents: 0)
        while unsafe poll(&entry, 1, waiting ? -1 : 0) < 0, errno == EINTR {}
        return entry.revents
    }

    /// Asks to be told when the descriptor is ready again, unless that is asked already or told and not used.
    func arm() {
        lock.withLock {
            guard status == .open, watch == nil, !places.isEmpty, owed.isDisjoint(with: readyEvent) else {
                return
            }
            // The source gets a descriptor of its own: the stream's may be closed before the source has let go of it.
            let watched = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
            guard watched >= 0 else {
                return complain("no descriptor is left for the events of a stream: error \(errno)")
            }
            let source: any DispatchSourceProtocol =
                direction == .input
                ? DispatchSource.makeReadSource(fileDescriptor: watched, queue: Self.queue)
                : DispatchSource.makeWriteSource(fileDescriptor: watched, queue: Self.queue)
            watches += 1
            let number = watches
            source.setEventHandler { [weak self] in
                source.cancel()
                self?.becameReady(number)
            }
            source.setCancelHandler {
                _ = Glibc.close(watched)
            }
            watch = (number, source)
            source.resume()
        }
    }

    private var readyEvent: Stream.Event {
        direction == .input ? .hasBytesAvailable : .hasSpaceAvailable
    }

    private func becameReady(_ number: Int) {
        let descriptor = lock.withLock { () -> Int32? in
            guard watch?.number == number else {
                return nil
            }
            watch = nil
            guard status == .open else {
                return nil
            }
            tellers += 1
            return self.descriptor
        }
        guard let descriptor else {
            return
        }
        defer {
            lock.withLock { tellers -= 1 }
            signal()
        }
        let state = readiness(of: descriptor, waiting: false)
        let isHungUp = state & Int16(POLLHUP | POLLERR) != 0
        if direction == .input, isHungUp, let code = failure(descriptor) {
            fail(code)
            lock.withLock { twin }?.otherEndIsGone()
            return
        }
        if direction == .output ? isHungUp : isAtEnd(descriptor, isHungUp: isHungUp) {
            end()
            if isHungUp {
                lock.withLock { twin }?.otherEndIsGone()
            }
            return
        }
        tellReady()
    }

    /// The app can read or write now.
    func tellReady() {
        lock.withLock {
            if status == .open {
                owed.insert(readyEvent)
            }
        }
        signal()
    }

    /// Tells the delegate now of what there is, if it was not told before, and calls the handler when that is done: at once
    /// when there is nothing to tell or nobody to tell it on.
    func tell(_ handler: @escaping () -> Void) {
        let (isOwed, ready) = lock.withLock { () -> (Bool, Int?) in
            guard !places.isEmpty else {
                return (false, nil)
            }
            guard owed.isEmpty, tellers == 0 else {
                waiting.append(handler)
                return (true, nil)
            }
            guard status == .open, let watch, readiness(of: descriptor, waiting: false) != 0 else {
                return (false, nil)
            }
            watch.source.cancel()
            waiting.append(handler)
            return (true, watch.number)
        }
        if let ready {
            becameReady(ready)
        } else if !isOwed {
            handler()
        }
    }

    /// The error of a socket that failed and has nothing left to read; nil for another.
    private func failure(_ descriptor: Int32) -> Int32? {
        var byte: UInt8 = 0
        guard isSocket, unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) < 0 else {
            return nil
        }
        return errno == EAGAIN || errno == EINTR ? nil : errno
    }

    /// Whether a ready descriptor is ready only to say that nothing comes any more.
    private func isAtEnd(_ descriptor: Int32, isHungUp: Bool) -> Bool {
        guard isSocket else {
            return false
        }
        var byte: UInt8 = 0
        let count = unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        return count == 0 && (!keepsPackets || isHungUp)
    }

    // MARK: The run loops

    func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        lock.withLock {
            if let index = places.firstIndex(where: { $0.runLoop === runLoop }) {
                places[index].modes.append(mode)
                runLoop.add(places[index].timer, forMode: mode)
                return
            }
            let timer = Timer(fire: .distantFuture, interval: 1e9, repeats: true) { [weak self] _ in
                self?.deliver()
                // A run of the loop for one input source ends when that was handled; a timer alone does not end it.
                RunLoop.current._stop()
            }
            runLoop.add(timer, forMode: mode)
            places.append(Place(runLoop: runLoop, timer: timer, modes: [mode]))
        }
        signal()
        arm()
    }

    /// Foundation cannot take a timer out of one mode: a place that keeps modes gets a new timer for them.
    func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        let rest = lock.withLock { () -> [RunLoop.Mode] in
            guard let index = places.firstIndex(where: { $0.runLoop === runLoop }) else {
                return []
            }
            let place = places.remove(at: index)
            place.timer.invalidate()
            return place.modes.filter { $0 != mode }
        }
        for mode in rest {
            schedule(in: runLoop, forMode: mode)
        }
    }

    /// Wakes the run loops when there is something to tell, or somebody waits for what was told already.
    ///
    /// While a timer's handler runs, a date that is not after its last one is ignored, and a clock may stand still: so that
    /// nothing is lost then, a block that the loop runs after its timers tells it too.
    func signal() {
        let (timers, asked) = lock.withLock { () -> ([Timer], [(RunLoop, [RunLoop.Mode])]) in
            guard !owed.isEmpty || !waiting.isEmpty && tellers == 0 else {
                return ([], [])
            }
            let asked = places.filter { !$0.isAsked }.map { ($0.runLoop, $0.modes) }
            for index in places.indices {
                places[index].isAsked = true
            }
            return (places.map(\.timer), asked)
        }
        for (runLoop, modes) in asked {
            runLoop.perform(inModes: modes) { [weak self] in
                self?.answer()
            }
        }
        for timer in timers {
            timer.fireDate = .distantPast
        }
    }

    /// What `signal` asked a run loop for.
    private func answer() {
        lock.withLock {
            guard let index = places.firstIndex(where: { $0.runLoop === RunLoop.current }) else {
                return
            }
            places[index].isAsked = false
        }
        deliver()
    }

    /// Tells the delegate what is owed; runs on a run loop of the stream.
    private func deliver() {
        lock.withLock { tellers += 1 }
        deliverOwed()
        // Who waits, waits for all that is there; an app that reads a little at a time is told again and again.
        for _ in 0..<Self.longestTurn {
            guard isReadyAgain() else {
                break
            }
            deliverOwed()
        }
        let told = lock.withLock { () -> [() -> Void] in
            tellers -= 1
            // Another thread has found something meanwhile: that is told first.
            guard tellers == 0, owed.isEmpty else {
                return []
            }
            return exchange(&waiting, with: [])
        }
        for handler in told {
            handler()
        }
    }

    private func deliverOwed() {
        while let (stream, delegate, event) = next() {
            if event == readyEvent, isStale() {
                arm()
            } else {
                delegate.stream(stream, handle: event)
            }
        }
    }

    /// Whether somebody waits and the descriptor is ready again, which is then owed.
    private func isReadyAgain() -> Bool {
        let ready = lock.withLock { () -> Int? in
            guard !waiting.isEmpty, status == .open, let watch, readiness(of: descriptor, waiting: false) != 0 else {
                return nil
            }
            watch.source.cancel()
            return watch.number
        }
        if let ready {
            becameReady(ready)
        }
        return ready != nil
    }

    private func next() -> (Stream, any StreamDelegate, Stream.Event)? {
        guard let stream = lock.withLock({ stream }), let delegate = stream.delegate else {
            return nil
        }
        return lock.withLock {
            let order: [Stream.Event] = [.openCompleted, .errorOccurred, readyEvent, .endEncountered]
            guard let event = order.first(where: { owed.contains($0) }) else {
                return nil
            }
            owed.remove(event)
            return (stream, delegate, event)
        }
    }

    /// Whether the app used up what made the descriptor ready before it was told.
    private func isStale() -> Bool {
        switch stream {
        case let input as InputStream: !input.hasBytesAvailable
        case let output as OutputStream: !output.hasSpaceAvailable
        default: false
        }
    }
}
