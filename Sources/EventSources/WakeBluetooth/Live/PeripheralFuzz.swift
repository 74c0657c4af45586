import WakeBlueZ
import WakeDevices
import WakeModel
import WakeSystem

/// The way to a device that is fuzzed; the kernel's sockets stand behind it, or a test's.
protocol FuzzAir: AnyObject {
    var waiting: LiveWait { get }
    /// A new link; nil when none comes up.
    func connect() throws(LiveFailure) -> AttributeLink?
    /// Waits until the link is down that was let go of.
    func leave() throws(LiveFailure)
    /// Whether the device is heard advertising.
    func isHeard() throws(LiveFailure) -> Bool
}

/// Does to a device what a hurried, careless client does, one operation after the other, and writes down what it does about it.
package final class PeripheralFuzz {
    /// How long is waited.
    struct Patience {
        /// For a device that is only asked whether it is there.
        var probe = Duration.seconds(10)
        /// For an answer to what no client should send.
        var malformed = Duration.milliseconds(500)
    }

    private static let firstMTU = 517
    private static let listLimit = 1_000

    private let air: any FuzzAir
    private let patience: Patience
    private let writes: FuzzPlan.Writes
    private let seed: UInt64
    private var link: AttributeLink
    package let target: FuzzTarget
    /// What was read at first, by handle.
    private var values: [UInt16: [UInt8]] = [:]
    private var summary = FuzzSummary()
    private let began = MonotonicClock.now()

    /// Connects and looks at what the device has.
    ///
    /// - Throws: ``LiveFailure/notReached(_:)`` when there is no link, or the device does not say what it has.
    init(
        _ air: any FuzzAir,
        seed: UInt64,
        writes: FuzzPlan.Writes,
        patience: Patience = Patience()
    ) throws(LiveFailure) {
        (self.air, self.seed, self.writes, self.patience) = (air, seed, writes, patience)
        guard let link = try air.connect() else { throw .notReached("it was heard, and no link came up") }
        self.link = link
        _ = try link.exchange(mtu: Self.firstMTU)
        guard let target = try FuzzTarget(discovering: link) else {
            throw .notReached("it did not say what it has; see wakebench device check --live")
        }
        self.target = target
        summary.links = 1
        summary.leftOut = FuzzPlan.leftOut(target, writes)
        values = try readAll()
    }

    private func readAll() throws(LiveFailure) -> [UInt16: [UInt8]] {
        var values: [UInt16: [UInt8]] = [:]
        for characteristic in target.characteristics where characteristic.canRead {
            if case .response(let packet) = try link.request([0x0a] + word(characteristic.handle)) {
                values[characteristic.handle] = Array(packet.dropFirst())
            }
        }
        return values
    }

    // MARK: The run

    /// Goes on for so long, or until the device is lost or somebody stops it.
    ///
    /// - Parameter record: takes each operation, in order.
    package func run(
        for time: Duration,
        isStopped: () -> Bool,
        record: (FuzzRecord) -> Void
    ) throws(LiveFailure) -> FuzzSummary {
        let end = MonotonicClock.now() + Int64(time / .nanoseconds(1))
        var plan = FuzzPlan(target, seed: seed, writes: writes)
        while MonotonicClock.now() < end, summary.end == .answered {
            if isStopped() {
                summary.wasInterrupted = true
                break
            }
            let (start, before) = (MonotonicClock.now(), link.notified)
            let operation = plan.next().fitting(link.mtu)
            let answer = try perform(operation)
            summary.operations += 1
            let done = FuzzRecord(
                number: summary.operations,
                at: start - began,
                operation: operation,
                answer: answer,
                latency: MonotonicClock.now() - start,
                notified: max(0, link.notified - before)
            )
            record(done)
            try count(done)
            if summary.end == .answered { summary.before = done }
        }
        if summary.end == .answered { try finish() }
        return summary
    }

    private func count(_ record: FuzzRecord) throws(LiveFailure) {
        summary.notified += record.notified
        switch record.answer {
        case .value, .done, .ignored: summary.answered += 1
        case .refused:
            summary.answered += 1
            summary.refused += 1
        case .silence:
            if summary.hangs.count < Self.listLimit { summary.hangs.append(record) }
            link.close()
        case .gone, .unsent: break
        }
        if record.answer == .done, case .writeBack(let handle) = record.operation, !summary.opened.contains(handle) {
            summary.opened.append(handle)
        }
        if summary.end != .answered {
            summary.diedOf = record
            return
        }
        // A link may end between two operations; that is the last one's.
        if link.isOpen { return }
        if record.answer != .silence, summary.disconnects.count < Self.listLimit { summary.disconnects.append(record) }
        try reconnect(mtu: Self.firstMTU)
        if summary.end != .answered { summary.diedOf = record }
    }

    /// Begins a new link; where that fails, the end is noted.
    private func reconnect(mtu: Int) throws(LiveFailure) {
        link.close()
        try air.leave()
        guard let new = try air.connect() else {
            summary.end = try air.isHeard() ? .unreachable : .gone
            return
        }
        link = new
        summary.links += 1
        switch try link.exchange(mtu: mtu, within: patience.probe) {
        case .response, .refused: break
        case .silence, .ended, .unsent: summary.end = .silent
        }
    }

    private func finish() throws(LiveFailure) {
        for characteristic in target.characteristics where characteristic.notifies {
            if let handle = characteristic.configuration { _ = try link.request([0x12] + word(handle) + [0, 0]) }
        }
        if !link.isOpen { try reconnect(mtu: Self.firstMTU) }
        guard summary.end == .answered else { return }
        guard try isThere() else {
            summary.end = .silent
            return
        }
        let last = try readAll()
        summary.changed = target.characteristics.filter { each in
            guard !each.notifies, !writes.contains(each.uuid), let first = values[each.handle],
                let now = last[each.handle]
            else { return false }
            return first != now
        }
        link.close()
        try air.leave()
    }

    private func isThere() throws(LiveFailure) -> Bool {
        switch try link.request([0x10, 1, 0, 0xff, 0xff, 0x00, 0x28], within: patience.probe) {
        case .response, .refused: true
        case .silence, .ended, .unsent: false
        }
    }

    // MARK: Operations

    private func perform(_ operation: FuzzOperation) throws(LiveFailure) -> FuzzAnswer {
        switch operation {
        case .read(let handle): return try ask([0x0a] + word(handle))
        case .readPart(let handle, let offset): return try ask([0x0c] + word(handle) + word(offset))
        case .readLong(let handle): return try readLong(handle)
        case .readType(let uuid, let first, let last): return try ask([0x08] + word(first) + word(last) + word(uuid))
        case .write(let handle, let value), .configure(let handle, let value):
            return try ask([0x12] + word(handle) + value)
        case .writeBack(let handle):
            return try ask([0x12] + word(handle) + values[handle, default: []].prefix(link.mtu - 3))
        case .writeLong(let handle, let value): return try prepare(handle, value, flag: 1)
        case .prepare(let handle, let value): return try prepare(handle, value, flag: 0)
        case .commands(let handle, let value, let count):
            for _ in 0..<count {
                if let failure = try link.send([0x52] + word(handle) + value) {
                    return Self.answer(failure)
                }
            }
            return try ask([0x10, 1, 0, 0xff, 0xff, 0x00, 0x28], says: .done)
        case .storm(let rounds): return try storm(rounds)
        case .malformed(let packet): return try malformed(packet)
        case .reconnect(let mtu):
            try reconnect(mtu: mtu)
            return summary.end == .answered ? .done : .gone
        }
    }

    private func ask(_ packet: [UInt8], says: FuzzAnswer? = nil) throws(LiveFailure) -> FuzzAnswer {
        let answer = try link.request(packet)
        if let says, case .response = answer { return says }
        return Self.answer(answer)
    }

    private static func answer(_ answer: AttributeLink.Answer) -> FuzzAnswer {
        switch answer {
        case .response(let packet): packet.count > 1 ? .value(packet.count - 1) : .done
        case .refused(let error): .refused(error)
        case .silence: .silence
        case .ended: .gone
        case .unsent(let code): .unsent(SystemError("send", code: code).reason)
        }
    }

    /// As many bytes as one attribute may have.
    private static let longestValue = 512

    private func readLong(_ handle: UInt16) throws(LiveFailure) -> FuzzAnswer {
        var length = 0
        var packet = [0x0a] + word(handle)
        while length <= Self.longestValue {
            let answer = try link.request(packet)
            guard case .response(let part) = answer else {
                // A value that ends where a packet does may be refused its further part.
                if length > 0, case .refused = answer { break }
                return Self.answer(answer)
            }
            length += part.count - 1
            if part.count < link.mtu { break }
            packet = [0x0c] + word(handle) + word(UInt16(length))
        }
        return .value(length)
    }

    private func prepare(_ handle: UInt16, _ value: [UInt8], flag: UInt8) throws(LiveFailure) -> FuzzAnswer {
        let room = link.mtu - 5
        var refusal: FuzzAnswer?
        for offset in stride(from: 0, to: max(1, value.count), by: room) {
            let part = value.dropFirst(offset).prefix(room)
            let answer = try link.request([0x16] + word(handle) + word(UInt16(offset)) + part)
            if case .response = answer { continue }
            refusal = Self.answer(answer)
            break
        }
        if let refusal, refusal == .silence || refusal == .gone { return refusal }
        // What was taken before a refusal is given up.
        let answer = try ask([0x18, refusal == nil ? flag : 0])
        return refusal ?? answer
    }

    private func storm(_ rounds: Int) throws(LiveFailure) -> FuzzAnswer {
        var last = FuzzAnswer.done
        for _ in 0..<rounds {
            for isOn in [true, false] {
                for characteristic in target.characteristics where characteristic.notifies {
                    guard let handle = characteristic.configuration else { continue }
                    last = try ask([0x12] + word(handle) + (isOn ? characteristic.subscription : [0, 0]))
                    if last == .silence || last == .gone { return last }
                }
            }
        }
        return last
    }

    private func malformed(_ packet: [UInt8]) throws(LiveFailure) -> FuzzAnswer {
        let answer = try link.request(packet, within: patience.malformed)
        guard answer == .silence else { return Self.answer(answer) }
        return try ask([0x10, 1, 0, 0xff, 0xff, 0x00, 0x28], says: .ignored)
    }
}
