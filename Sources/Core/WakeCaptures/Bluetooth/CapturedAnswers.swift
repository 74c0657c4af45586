import WakeDevices
import WakeModel

/// What a device of a capture sent in answer to writes, told from what it sent of itself.
///
/// A value is an answer to the write before it when it came within 2 s, over the same link, by a subscription from before the write;
/// or when it stands between such a write and a value of the written characteristic, which ends the answer as that of a control point,
/// and no pause between is longer. A characteristic whose values are all answers sends nothing of itself. One with any other value does,
/// and all of its values are taken for that.
struct CapturedAnswers {
    /// A characteristic that the file has.
    struct Target {
        /// The position of its service.
        var service: Int
        var uuid: AttributeType
        var properties: CharacteristicProperties
        /// Of its value.
        var handle: UInt16
    }

    /// A value that was sent.
    private struct Sent {
        var stream: CapturedStream
        var index: Int
        var handle: UInt16

        var time: Int64 { stream.times[index] }
        var fact: CapturedStream.Fact { stream.facts[index] }
    }

    private struct Written: Hashable {
        var handle: UInt16
        var value: [UInt8]
    }

    /// In nanoseconds.
    private static let longestPause: Int64 = 2_000_000_000
    /// An exchange over the link takes this long of itself; such a pause is left out.
    private static let linkTime = Instant.Span.milliseconds(100)
    /// Of a characteristic.
    private static let mostRules = 256
    /// Of all rules.
    private static let mostActions = 4_096
    private static let mostBytes = 512 << 10
    /// Each time one characteristic or more is found to send of itself.
    private static let mostRounds = 16

    /// By the position of the characteristic that is written; empty where nothing is an answer.
    private(set) var rules: [[BluetoothAnswers.Rule]] = []
    /// Those that send answers and nothing else, by the handle of the value.
    private(set) var senders: Set<UInt16> = []
    /// Answers to a value that was answered before, or beyond what a file takes.
    private(set) var others = 0
    /// How many values of what sends of itself came within 2 s of a write, by the handle of the value.
    private(set) var doubtful: [UInt16: Int] = [:]
    /// The text that the rules take in a file, in bytes at most.
    private(set) var size = 0

    private let targets: [Target]
    /// The first of each UUID, in each service and in all.
    private let named: (near: [Name: Int], anywhere: [AttributeType: Int])
    private var actions = 0

    private struct Name: Hashable {
        var service: Int
        var uuid: AttributeType
    }

    private static func names(_ targets: [Target]) -> (near: [Name: Int], anywhere: [AttributeType: Int]) {
        let near = targets.enumerated().map { (Name(service: $1.service, uuid: $1.uuid), $0) }
        let anywhere = targets.enumerated().map { ($1.uuid, $0) }
        return (Dictionary(near) { first, _ in first }, Dictionary(anywhere) { first, _ in first })
    }

    /// - Parameters:
    ///   - targets: the characteristics of the file, by their position.
    ///   - range: the moments whose writes become rules, in nanoseconds since 1970.
    init(_ device: CapturedDevice, _ targets: [Target], in range: ClosedRange<Int64>, _ pace: Pace) {
        self.targets = targets
        named = Self.names(targets)
        let positions = Dictionary(targets.enumerated().map { ($1.handle, $0) }) { first, _ in first }
        let writes = device.written.sorted { $0.happening.order < $1.happening.order }
        let taken = writes.filter { $0.error == 0 }
        guard taken.contains(where: { isUsable($0, positions) }) else {
            refuse(writes, positions, in: range)
            return
        }
        var sent: [Sent] = []
        for (handle, stream) in device.streams where positions[handle] != nil {
            sent += (0..<stream.kept).map { Sent(stream: stream, index: $0, handle: handle) }
        }
        sent.sort { $0.fact.happening.order < $1.fact.happening.order }
        let all = sent
        var found: [[Int]] = []
        for round in 1...Self.mostRounds {
            found = Self.answers(sent, taken)
            let selfish = selfSending(sent, taken, found, positions)
            if selfish.isEmpty { break }
            if round == Self.mostRounds { sent = [] } else { sent.removeAll { selfish.contains($0.handle) } }
            if sent.isEmpty { found = taken.map { _ in [] } }
        }
        senders = Set(sent.map(\.handle))
        rules = Array(repeating: [], count: targets.count)
        for (write, places) in zip(taken, found) where !places.isEmpty && range.contains(write.time) {
            add(write, places.map { sent[$0] }, positions, pace)
        }
        refuse(writes, positions, in: range)
        doubt(all, taken, positions)
    }

    /// Without writes.
    init() { (targets, named) = ([], ([:], [:])) }

    /// Whether a file can say what is done about a write.
    private func isUsable(_ write: CapturedDevice.Write, _ positions: [UInt16: Int]) -> Bool {
        guard !write.value.isEmpty, let position = positions[write.handle] else { return false }
        return !targets[position].properties.isDisjoint(with: [.write, .writeWithoutResponse])
    }

    // MARK: Answers

    /// For each write the places of what was sent in answer.
    private static func answers(_ sent: [Sent], _ writes: [CapturedDevice.Write]) -> [[Int]] {
        var place = 0
        return writes.indices.map { index in
            let write = writes[index]
            let next = index + 1 < writes.count ? writes[index + 1].happening.order : .max
            while place < sent.count, sent[place].fact.happening.order < write.happening.order { place += 1 }
            var places: [Int] = []
            var (end, before, isChained) = (0, write.time, true)
            while place < sent.count, sent[place].fact.happening.order < next {
                let (one, fact) = (sent[place], sent[place].fact)
                if fact.happening.link == write.happening.link, fact.subscribed < write.happening.order {
                    places.append(place)
                    isChained = isChained && one.time - before <= longestPause
                    before = one.time
                    if one.time - write.time <= longestPause || isChained && one.handle == write.handle {
                        end = places.count
                    }
                }
                place += 1
            }
            return Array(places.prefix(end))
        }
    }

    /// Which characteristics send of themselves, or what no rule says.
    private func selfSending(
        _ sent: [Sent],
        _ writes: [CapturedDevice.Write],
        _ found: [[Int]],
        _ positions: [UInt16: Int]
    ) -> Set<UInt16> {
        var handles: Set<UInt16> = []
        var isAnswer = [Bool](repeating: false, count: sent.count)
        for (write, places) in zip(writes, found) where isUsable(write, positions) {
            let isLong = places.count > BluetoothAnswers.Rule.actionLimit
            for place in places {
                isAnswer[place] = true
                if isLong || !isNamed(sent[place].handle, from: write.handle, positions) {
                    handles.insert(sent[place].handle)
                }
            }
        }
        for (one, isAnswer) in zip(sent, isAnswer) where !isAnswer { handles.insert(one.handle) }
        return handles
    }

    /// Whether the UUID of a characteristic means it in a rule of another: the first of the same service, else of all.
    private func isNamed(_ handle: UInt16, from written: UInt16, _ positions: [UInt16: Int]) -> Bool {
        guard handle != written else { return true }
        guard let own = positions[written], let position = positions[handle] else { return false }
        let uuid = targets[position].uuid
        return (named.near[Name(service: targets[own].service, uuid: uuid)] ?? named.anywhere[uuid]) == position
    }

    // MARK: Rules

    private mutating func add(
        _ write: CapturedDevice.Write,
        _ sent: [Sent],
        _ positions: [UInt16: Int],
        _ pace: Pace
    ) {
        guard let own = positions[write.handle] else { return }
        let room = 64 + 2 * write.value.count + sent.reduce(0) { $0 + 160 + 2 * $1.stream.length($1.index) }
        guard rules[own].count < Self.mostRules, actions + sent.count <= Self.mostActions,
            size + room <= Self.mostBytes, !has(write.value, own)
        else {
            others += 1
            return
        }
        var pauses = PacedPauses(pace)
        var before = write.time
        var done: [BluetoothAnswers.Action] = []
        for one in sent {
            let pause = pauses.next(max(0, one.time - before))
            before = one.time
            let position = positions[one.handle] ?? own
            let properties = targets[position].properties
            done.append(
                BluetoothAnswers.Action(
                    after: done.isEmpty && pause < Self.linkTime ? .zero : pause,
                    send: Array(one.stream.value(one.index).prefix(512)),
                    on: position,
                    isIndication: properties.contains(.indicate)
                        && (one.fact.isIndication || !properties.contains(.notify))
                )
            )
        }
        rules[own].append(BluetoothAnswers.Rule(to: write.value, done))
        actions += done.count
        size += room
    }

    private func has(_ value: [UInt8], _ position: Int) -> Bool {
        rules[position].contains { if case .write(let pattern) = $0.trigger { pattern.bytes == value } else { false } }
    }

    /// A value that the device never took is refused with the code that it said.
    private mutating func refuse(
        _ writes: [CapturedDevice.Write],
        _ positions: [UInt16: Int],
        in range: ClosedRange<Int64>
    ) {
        let refused = writes.filter { $0.error != 0 && range.contains($0.time) && isUsable($0, positions) }
        if refused.isEmpty { return }
        if rules.isEmpty { rules = Array(repeating: [], count: targets.count) }
        let taken = Set(writes.filter { $0.error == 0 }.map { Written(handle: $0.handle, value: $0.value) })
        for write in refused where !taken.contains(Written(handle: write.handle, value: write.value)) {
            guard let own = positions[write.handle], !has(write.value, own), rules[own].count < Self.mostRules,
                actions < Self.mostActions
            else { continue }
            rules[own].append(BluetoothAnswers.Rule(to: write.value, [BluetoothAnswers.Action(error: write.error)]))
            actions += 1
            size += 64 + 2 * write.value.count
        }
    }

    /// Counts what came soon after a write, of those that send of themselves.
    private mutating func doubt(_ sent: [Sent], _ writes: [CapturedDevice.Write], _ positions: [UInt16: Int]) {
        var place = 0
        for one in sent where !senders.contains(one.handle) {
            let fact = one.fact
            while place + 1 < writes.count, writes[place + 1].happening.order < fact.happening.order { place += 1 }
            let write = writes[place]
            guard write.happening.order < fact.happening.order, write.happening.link == fact.happening.link,
                fact.subscribed < write.happening.order, one.time - write.time <= Self.longestPause,
                isUsable(write, positions)
            else { continue }
            doubtful[one.handle, default: 0] += 1
        }
    }
}
