import Glibc
import WakeSystem

/// A client's connection: it carries bytes between the socket, TLS and the conversation, and decides nothing.
final class APNsConnection {
    /// Where it stands.
    private enum State {
        /// Speaks TLS first. Valid transitions to: `talking`, `ending`, `closed`.
        case beginning
        /// Valid transitions to: `ending`, `closed`.
        case talking(APNsConversation)
        /// All is said; the client's end is waited for, since closing at once would take what it has not read. Valid
        /// transitions to: `closed`.
        case ending(until: Int64)
        case closed
    }

    /// Bytes read in a row before others have their turn.
    private static let readSize = 16_384
    private static let readsInTurn = 4
    /// While so many bytes wait for the client to read, nothing is read from it.
    private static let outputLimit = 65_536

    private let descriptor: Descriptor
    private let desk: APNsDesk
    private let channel: TLSChannel?
    /// The client, where it may not push.
    private let stranger: Stranger?
    /// It is over; called once.
    private let closed: () -> Void
    private var state: State
    private let begunAt = MonotonicClock.now()
    private var watch: Watch?
    private var timer: Timer?
    private var armedFor = Int64.max
    private var input = [UInt8](repeating: 0, count: readSize)
    private var plain = [UInt8](repeating: 0, count: readSize)
    private var output: [UInt8] = []
    /// How much of the output has gone.
    private var written = 0
    private var writtenAt: Int64 = 0
    /// Answers have come that were not heard of when their requests were; they go when the socket takes them, all at once.
    private var hasLateAnswers = false
    private var interests: Readiness = .readable

    /// - Parameters:
    ///   - channel: TLS; nil for none.
    ///   - stranger: the client, where it may not push.
    init(
        _ descriptor: consuming Descriptor,
        _ desk: APNsDesk,
        channel: TLSChannel?,
        stranger: Stranger?,
        on loop: EventLoop,
        closed: @escaping () -> Void
    ) throws(SystemError) {
        let number = descriptor.number
        self.descriptor = descriptor
        self.desk = desk
        self.channel = channel
        self.stranger = stranger
        self.closed = closed
        state = .beginning
        if channel == nil { talk(certificate: nil) }
        timer = try loop.timer(on: .monotonic) { [unowned self] in timeReached() }
        watch = try loop.watch(number, for: .readable) { [unowned self] in ready($0) }
        flush()
    }

    private func talk(certificate: ClientCertificate?) {
        let conversation = APNsConversation(desk, certificate: certificate, stranger: stranger, at: begunAt)
        conversation.answeredLater = { [unowned self] in
            guard !hasLateAnswers else { return }
            hasLateAnswers = true
            settle()
        }
        state = .talking(conversation)
    }

    /// Says that the server ends, and then does.
    func shutDown() {
        if case .talking(let conversation) = state {
            conversation.shutDown()
            flush()
        } else if case .beginning = state {
            close()
        }
    }

    var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    /// Whether the client may not push.
    var isStrangers: Bool { stranger != nil }

    /// Whether nothing is lost with it: HTTP/2 has not begun, or all is said.
    var mayGiveWay: Bool {
        switch state {
        case .beginning, .ending: true
        case .talking(let conversation): !conversation.hasBegun
        case .closed: false
        }
    }

    /// Says what there is to say, as far as the socket takes it, and ends.
    func sayAndClose() {
        if !isClosed { flush() }
        close()
    }

    /// Ends at once.
    func close() {
        guard !isClosed else { return }
        state = .closed
        watch = nil
        timer = nil
        closed()
    }

    // MARK: Reading

    private func ready(_ readiness: Readiness) {
        if readiness.contains(.readable) {
            receive()
        } else if !readiness.isDisjoint(with: [.failed, .hangup]) {
            return close()
        }
        flush()
    }

    private func receive() {
        for _ in 0..<Self.readsInTurn {
            guard !isClosed else { return }
            let count: Int?
            do throws(SystemError) { count = try descriptor.read(into: &input) } catch { return close() }
            guard let count else { return }
            guard count > 0 else {
                flush()
                return close()
            }
            hear(count)
            if count < input.count || output.count - written >= Self.outputLimit { return }
        }
    }

    /// So many bytes came.
    private func hear(_ count: Int) {
        guard let channel else { return tell(input, count) }
        if case .ending = state { return }
        give(input, count, to: channel)
        if case .beginning = state, channel.state == .open {
            talk(certificate: channel.certificate)
        }
        while true {
            let count = channel.read(into: &plain)
            guard count > 0 else { break }
            tell(plain, count)
        }
    }

    // A span of the connection's own buffer might outlive it, for all that the compiler sees.
    private func give(_ bytes: [UInt8], _ count: Int, to channel: TLSChannel) {
        channel.receive(bytes.span.extracting(0..<count))
    }

    private func tell(_ bytes: [UInt8], _ count: Int) {
        guard case .talking(let conversation) = state else { return }
        conversation.receive(bytes.span.extracting(0..<count), at: MonotonicClock.now())
    }

    // MARK: Writing

    /// Sends what there is to say, and looks what comes next.
    private func flush() {
        hasLateAnswers = false
        gather()
        while written < output.count {
            guard let count = send() else { break }
            guard count > 0 else { return close() }
            written += count
            writtenAt = MonotonicClock.now()
            if written == output.count {
                output.removeAll(keepingCapacity: true)
                written = 0
                gather()
            }
        }
        if output.isEmpty, isOver { end() }
        settle()
    }

    /// Takes what the conversation says, until there is enough to send.
    private func gather() {
        let wasEmpty = output.isEmpty
        if case .talking(let conversation) = state {
            let limit = Self.outputLimit - output.count
            if let channel {
                var said: [UInt8] = []
                conversation.takeOutput(into: &said, upTo: limit)
                channel.write(said)
            } else {
                conversation.takeOutput(into: &output, upTo: Self.outputLimit)
            }
        }
        channel?.takeOutput(into: &output)
        if wasEmpty { writtenAt = MonotonicClock.now() }
    }

    /// - Returns: how many bytes went, 0 when the connection is gone, nil when none goes now.
    private func send() -> Int? {
        let (number, start) = (descriptor.number, written)
        let count = unsafe output.withUnsafeBytes { bytes in
            // A client that has gone must not send the process a signal.
            repeatingInterrupted {
                unsafe Glibc.send(number, bytes.baseAddress! + start, bytes.count - start, Int32(MSG_NOSIGNAL))
            }
        }
        if count >= 0 { return count }
        return errno == EAGAIN ? nil : 0
    }

    private var isOver: Bool {
        switch state {
        case .beginning: channel?.state == .failed
        case .talking(let conversation): conversation.isOver || channel?.state == .closed || channel?.state == .failed
        case .ending, .closed: false
        }
    }

    private func end() {
        state = .ending(until: MonotonicClock.now() + desk.limits.ending.nanoseconds)
        if let channel {
            channel.end()
            channel.takeOutput(into: &output)
            if let count = send() { written += count }
        }
        output = []
        written = 0
        _ = shutdown(descriptor.number, Int32(SHUT_WR))
    }

    // MARK: Waiting

    /// Waits for what comes next, and no longer than for that.
    private func settle() {
        guard !isClosed else { return }
        var wanted: Readiness = []
        if output.count - written < Self.outputLimit { wanted.insert(.readable) }
        if !output.isEmpty || hasLateAnswers { wanted.insert(.writable) }
        if wanted != interests {
            interests = wanted
            watch?.setInterests(wanted)
        }
        let deadline = deadline
        if deadline < armedFor {
            armedFor = deadline
            timer?.arm(at: deadline)
        }
    }

    private var deadline: Int64 {
        let reading = output.isEmpty ? Int64.max : writtenAt + desk.limits.reading.nanoseconds
        switch state {
        case .beginning: return min(reading, begunAt + desk.limits.beginning.nanoseconds, lastMoment)
        case .talking(let conversation): return min(reading, conversation.nextDeadline ?? .max, lastMoment)
        case .ending(let until): return min(until, lastMoment)
        case .closed: return .max
        }
    }

    /// When it is closed whatever is being said.
    private var lastMoment: Int64 { stranger == nil ? .max : begunAt + desk.limits.stranger.nanoseconds }

    /// The timer went off, perhaps for what has been done meanwhile.
    private func timeReached() {
        armedFor = .max
        let now = MonotonicClock.now()
        guard deadline <= now else { return settle() }
        guard now < lastMoment, output.isEmpty || now < writtenAt + desk.limits.reading.nanoseconds,
            case .talking(let conversation) = state, conversation.timeReached(now)
        else { return close() }
        flush()
    }
}
