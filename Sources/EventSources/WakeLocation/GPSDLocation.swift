import WakeDevices
import WakeModel
import WakePorts
import WakeSystem

/// Positions from gpsd, over its JSON protocol.
///
/// While somebody wants fixes gpsd is asked to watch its receivers, else it may switch them off. When gpsd goes, that is
/// reported once, as a failure that names it, and the connection is tried again at growing intervals; the first fix
/// after it is back is a fix like any other. Every fix is reported once, by its time: gpsd may say more than once what it
/// knows of a moment, so a fix is held until the next or for a pause. Of several receivers the first that has a fix is
/// followed, until it is gone.
package final class GPSDLocation: ReceiverLocation {
    package static let usualHost = "localhost"
    package static let usualPort: UInt16 = 2947
    /// How long ``start(at:)`` and each further attempt wait for gpsd's greeting, in milliseconds.
    package static let patience: Int64 = 3_000
    /// The pauses between attempts in milliseconds; the last one is kept to.
    static let pauses: [Int64] = [100, 250, 500, 1_000, 2_000, 5_000]
    /// The longest line; gpsd's own limit is below it.
    static let lineLimit = 65_536
    /// How long a fix is held at first, in milliseconds.
    static let usualHold: Int64 = 100
    /// The longest that a fix is ever held, in milliseconds: receivers mostly have one a second.
    static let longestHold: Int64 = 1_000
    /// The most bytes read in a turn.
    private static let mostInTurn = 262_144

    /// Where the connection stands.
    private enum State {
        /// Valid transitions to: `connecting`.
        case away
        /// Others are the addresses still to be tried. Valid transitions to: `greeting`, `connecting`, `away`.
        case connecting(StreamSocket, others: [StreamSocket.Address])
        /// Connected, and waiting for gpsd to say that it is one. Valid transitions to: `up`, `away`.
        case greeting(StreamSocket)
        /// Valid transitions to: `away`.
        case up(StreamSocket)
        case stopped
    }

    /// Whether gpsd has confirmed that it tells of fixes.
    package private(set) var isWatching = false
    /// Lines that were none of gpsd's.
    package private(set) var damagedLines = 0
    /// How many fixes were reported.
    package private(set) var fixes = 0

    private let host: String
    private let port: UInt16
    private var addresses: [StreamSocket.Address] = []
    private var state = State.away
    private var watch: Watch?
    private var line: [UInt8] = []
    private var isOverlong = false
    private var receiver = GPSDReceiver()
    /// The fix that is held, and since when by the monotonic clock; the time of the last one stays.
    private var held: TrackPoint?
    private var heldSince: Int64 = 0
    private var lastTimestamp: Double?
    /// How long a fix is held, in milliseconds: longer where gpsd has said more of one later than that.
    private(set) var hold = GPSDLocation.usualHold
    private let holding: Timer
    private var buffer = [UInt8](repeating: 0, count: 16_384)

    /// gpsd at a host and port.
    ///
    /// - Parameter silence: after how many milliseconds without a word of its receiver that is lost: gpsd does not say so.
    /// - Throws: ``SystemError`` when the loop takes no more timers.
    package init(
        names: NameTable,
        loop: EventLoop,
        host: String = GPSDLocation.usualHost,
        port: UInt16 = GPSDLocation.usualPort,
        silence: Int64 = ReceiverLocation.usualSilence
    ) throws(SystemError) {
        self.host = host
        self.port = port
        holding = try loop.timer(on: .monotonic)
        try super.init("gpsd", names: names, loop: loop, silence: silence)
        retry.handler = { [unowned self] in timerDue() }
        holding.handler = { [unowned self] in sayHeld() }
        absence.handler = { [unowned self] in
            receiver.forget()
            lost("gpsd on \(place) hears nothing of its receiver; check that it is plugged in")
        }
    }

    /// Whether gpsd answers at the moment.
    package var isUp: Bool {
        if case .up = state { true } else { false }
    }

    private var place: String { "\(host):\(port)" }

    // MARK: The port

    package override func start(at now: Instant) throws(SourceFailure) {
        let end = MonotonicClock.now() + Self.patience * 1_000_000
        try begin()
        // What talks without end, and never greets, is no gpsd either.
        while MonotonicClock.now() < end, let (socket, forReading) = waitedFor,
            socket.wait(forReading: forReading, until: end)
        {
            ready()
        }
        guard isUp else {
            let what =
                if case .greeting = state { "what listens on \(place) is no gpsd" } else { "no gpsd on \(place)" }
            close()
            state = .stopped
            retry.disarm()
            throw SourceFailure(
                .environment,
                "location=gpsd: \(what); start gpsd with a receiver, or name another port"
            )
        }
    }

    /// Begins to connect, without waiting for it.
    func begin() throws(SourceFailure) {
        do throws(SystemError) {
            addresses = try StreamSocket.resolve(host: host, port: port)
        } catch {
            throw SourceFailure(.environment, "location=gpsd: the host \(host) is not known; name another")
        }
        attempt(addresses)
    }

    package override func stop() {
        super.stop()
        held = nil
        holding.disarm()
        close()
        state = .stopped
    }

    /// Asks for fixes when somebody wants them, and that there be none when nobody does.
    override func positioningChanged() {
        held = nil
        holding.disarm()
        guard case .up(let socket) = state else { return }
        lastTimestamp = nil
        isWatching = false
        expectWord()
        let words = isPositioning ? #"{"enable":true,"json":true}"# : #"{"enable":false}"#
        // A connection that does not take so little is not well: its end is found by reading.
        if !socket.write("?WATCH=\(words);\n") { retry.arm(at: 1) }
    }

    // MARK: Connecting

    /// The socket that is waited for before gpsd is up, and for what.
    private var waitedFor: (socket: StreamSocket, forReading: Bool)? {
        switch state {
        case .connecting(let socket, _): (socket, false)
        case .greeting(let socket): (socket, true)
        case .away, .up, .stopped: nil
        }
    }

    private func attempt(_ addresses: [StreamSocket.Address]) {
        var rest = addresses[...]
        while let address = rest.popFirst() {
            guard let socket = try? StreamSocket(connectingTo: address) else { continue }
            state = .connecting(socket, others: Array(rest))
            listen(to: socket, for: .writable)
            retry.arm(after: Self.patience)
            return
        }
        tryLater()
    }

    private func tryLater() {
        close()
        state = .away
        tryLater(Self.pauses)
    }

    private func listen(to socket: StreamSocket, for interests: Readiness) {
        watch?.cancel()
        watch = try? loop.watch(socket.number, for: interests) { [weak self] _ in self?.ready() }
    }

    private func close() {
        isWatching = false
        absence.disarm()
        watch?.cancel()
        watch = nil
        line.removeAll()
        isOverlong = false
    }

    private func timerDue() {
        switch state {
        case .away: attempt(addresses)
        // Nobody answered in time.
        case .connecting(_, let others): attempt(others)
        case .greeting: tryLater()
        // A request did not go out.
        case .up: gone()
        case .stopped: break
        }
    }

    /// The descriptor that is waited for is ready, or has failed.
    private func ready() {
        switch state {
        case .away, .stopped: break
        case .connecting(let socket, let others):
            if socket.failure() != nil { return attempt(others) }
            state = .greeting(socket)
            listen(to: socket, for: .readable)
        case .greeting(let socket), .up(let socket): receive(from: socket)
        }
    }

    private func gone() {
        guard case .up = state else { return tryLater() }
        sayHeld()
        interruptions += 1
        attempts = 0
        tryLater()
        isLost = false
        lost("gpsd on \(place) went away; positions are missing until it is back")
    }

    // MARK: Hearing

    private func receive(from socket: StreamSocket) {
        var total = 0
        while total < Self.mostInTurn {
            guard let count = try? socket.read(into: &buffer) ?? -1 else { return gone() }
            // Nothing more is there.
            if count < 0 { return }
            if count == 0 { return gone() }
            total += count
            for index in 0..<count {
                take(buffer[index])
                // A report may have ended it all.
                guard isListening(to: socket) else { return }
            }
        }
    }

    private func isListening(to socket: StreamSocket) -> Bool {
        switch state {
        case .greeting(let known), .up(let known): known === socket
        case .away, .connecting, .stopped: false
        }
    }

    private func take(_ byte: UInt8) {
        guard byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") else {
            if line.count < Self.lineLimit { line.append(byte) } else { isOverlong = true }
            return
        }
        defer {
            line.removeAll(keepingCapacity: true)
            isOverlong = false
        }
        guard !line.isEmpty else { return }
        guard !isOverlong, let said = GPSDLine(line) else {
            damagedLines += 1
            return
        }
        hear(said)
    }

    private func hear(_ said: GPSDLine) {
        switch said {
        case .watching(let isOn): isWatching = isOn && isPositioning
        case .greeting:
            guard case .greeting(let socket) = state else { return }
            state = .up(socket)
            attempts = 0
            retry.disarm()
            if isPositioning { positioningChanged() }
        case .fix(let point, let device):
            guard isPositioning else { return }
            let others = receiver.others.count
            let isFollowed = receiver.takes(fixOf: device)
            if receiver.others.count > others, let text = receiver.note { note?("gpsd on \(place): \(text)") }
            guard isFollowed else { return }
            expectWord()
            take(point)
        case .noFix(let device):
            guard receiver.isMeant(by: device) else { return }
            sayHeld()
            expectWord()
            lost("the receiver of gpsd on \(place) does not know where it is")
        case .receiver(let device, isActive: false):
            guard receiver.isMeant(by: device) else { return }
            receiver.forget()
            sayHeld()
            lost("gpsd on \(place) has lost its receiver; plug it in again")
        case .receiver(_, isActive: true), .other: break
        }
    }

    /// Holds a fix until gpsd has said what it knows of its time.
    private func take(_ point: TrackPoint) {
        if let held, held.timestamp == point.timestamp {
            self.held?.complete(with: point)
            return
        }
        sayHeld()
        if let time = point.timestamp, time == lastTimestamp {
            // It has been reported. gpsd takes so long over each moment, and what it says of the next is waited for.
            let taken = (MonotonicClock.now() - heldSince) / 1_000_000
            hold = min(max(hold, taken + Self.usualHold), Self.longestHold)
            return
        }
        held = point
        heldSince = MonotonicClock.now()
        lastTimestamp = point.timestamp
        holding.arm(after: hold)
    }

    private func sayHeld() {
        guard let point = held else { return }
        held = nil
        holding.disarm()
        fixes += 1
        say(point)
    }
}
