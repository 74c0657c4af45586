import WakeDevices

/// One thing that a fuzzer does to a device.
package enum FuzzOperation: Hashable, Sendable {
    case read(UInt16)
    case readPart(UInt16, offset: UInt16)
    /// With all further requests that it takes.
    case readLong(UInt16)
    case readType(UInt16, from: UInt16, to: UInt16)
    case write(UInt16, [UInt8])
    /// The value that was read of it is written to what takes no writes, and must be refused.
    case writeBack(UInt16)
    /// In parts, and executed.
    case writeLong(UInt16, [UInt8])
    /// In parts, and given up.
    case prepare(UInt16, [UInt8])
    /// Without responses, one right after the other.
    case commands(UInt16, [UInt8], count: Int)
    case configure(UInt16, [UInt8])
    /// Everything is subscribed to and unsubscribed from, so many times.
    case storm(Int)
    /// What no client should send.
    case malformed([UInt8])
    case reconnect(mtu: Int)

    /// One word, as records have it.
    package var word: String {
        switch self {
        case .read: "read"
        case .readPart: "read-part"
        case .readLong: "read-long"
        case .readType: "read-type"
        case .write: "write"
        case .writeBack: "write-back"
        case .writeLong: "write-long"
        case .prepare: "prepare"
        case .commands: "commands"
        case .configure: "configure"
        case .storm: "storm"
        case .malformed: "malformed"
        case .reconnect: "reconnect"
        }
    }

    /// What it is done to; nil for the device as a whole.
    package var handle: UInt16? {
        switch self {
        case .read(let handle), .readPart(let handle, _), .readLong(let handle), .write(let handle, _),
            .writeBack(let handle), .writeLong(let handle, _), .prepare(let handle, _), .commands(let handle, _, _),
            .configure(let handle, _):
            handle
        case .readType, .storm, .malformed, .reconnect: nil
        }
    }

    /// What is sent; nil where that is no value.
    package var value: [UInt8]? {
        switch self {
        case .write(_, let value), .writeLong(_, let value), .prepare(_, let value), .commands(_, let value, _),
            .configure(_, let value), .malformed(let value):
            value
        case .read, .readPart, .readLong, .readType, .writeBack, .storm, .reconnect: nil
        }
    }

    /// How often; nil for once.
    package var count: Int? {
        switch self {
        case .commands(_, _, let count), .storm(let count): count
        default: nil
        }
    }
}

extension FuzzOperation {
    /// The longest value that any MTU has room for in one packet.
    static let longestPacket = 514

    /// The same with a value that one packet of a link holds: the longest stay the longest, and the rest any length.
    func fitting(_ mtu: Int) -> FuzzOperation {
        switch self {
        case .write(let handle, let value): return .write(handle, Self.fitting(value, mtu - 3))
        case .commands(let handle, let value, let count):
            return .commands(handle, Self.fitting(value, mtu - 3), count: count)
        case .read, .readPart, .readLong, .readType, .writeBack, .writeLong, .prepare, .configure, .storm, .malformed,
            .reconnect:
            return self
        }
    }

    private static func fitting(_ value: [UInt8], _ room: Int) -> [UInt8] {
        guard value.count > room else { return value }
        let below = longestPacket - value.count
        return Array(value.prefix(below <= 1 ? room - below : value.count % (room + 1)))
    }
}

/// What a fuzzer does next, by a seed and what the device has: the same of both is the same order of operations, whatever the
/// device answers.
package struct FuzzPlan: Sendable {
    /// Where values may be written to.
    package enum Writes: Hashable, Sendable {
        case none
        case all
        /// Canonical UUIDs of characteristics.
        case some(Set<String>)

        func contains(_ uuid: String) -> Bool {
            switch self {
            case .none: false
            case .all: true
            case .some(let uuids): uuids.contains(uuid)
            }
        }
    }

    private static let longestValue = 512
    private static let mostCommands = 40
    private static let malformed: [[UInt8]] = [
        [0x0a], [0x0a, 0x00], [0x0a, 0x00, 0x00], [0x0a, 0xff, 0xff], [0x0c, 0x01, 0x00, 0xff, 0xff],
        [0x08, 0x05, 0x00, 0x01, 0x00, 0x03, 0x28], [0x08, 0x00, 0x00, 0xff, 0xff, 0x03, 0x28],
        [0x10, 0x01, 0x00, 0xff, 0xff, 0x03, 0x28], [0x04, 0xff, 0xff, 0x01, 0x00], [0x0e, 0x01, 0x00], [0x12],
        [0x16, 0x01, 0x00], [0x18, 0x07], [0x2a, 0x01, 0x02], [0x3e],
    ]

    private let readable: [UInt16]
    private let all: [UInt16]
    private let closed: [UInt16]
    private let writable: [UInt16]
    private let commandable: [UInt16]
    private let configurations: [(handle: UInt16, value: [UInt8])]
    private var random: SimulatedRandom
    private var sinceLink = 0

    package init(_ target: FuzzTarget, seed: UInt64, writes: Writes) {
        let characteristics = target.characteristics
        all = characteristics.map(\.handle)
        readable = characteristics.filter(\.canRead).map(\.handle)
        closed = characteristics.filter { $0.canRead && !$0.takesCommands && !$0.takesRequests }.map(\.handle)
        let allowed = characteristics.filter { writes.contains($0.uuid) }
        writable = allowed.filter(\.takesRequests).map(\.handle)
        commandable = allowed.filter(\.takesCommands).map(\.handle)
        configurations = characteristics.filter(\.notifies).compactMap { each in
            each.configuration.map { ($0, each.subscription) }
        }
        random = SimulatedRandom(seed: seed, name: "fuzz")
    }

    /// The characteristics that take values and are not written to.
    package static func leftOut(_ target: FuzzTarget, _ writes: Writes) -> [FuzzTarget.Characteristic] {
        target.characteristics.filter { ($0.takesCommands || $0.takesRequests) && !writes.contains($0.uuid) }
    }

    private mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(max(1, bound))) }

    private mutating func one(_ handles: [UInt16]) -> UInt16? { handles.isEmpty ? nil : handles[below(handles.count)] }

    /// Any length up to a bound, and those around the bounds more often.
    private mutating func value(upTo most: Int) -> [UInt8] {
        let edges = [0, 1, 20, 21, most - 1, most]
        let length = below(3) == 0 ? min(most, edges[below(edges.count)]) : below(most + 1)
        return (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    /// Links take seconds to end and begin, so a new one comes once in a while.
    private static let operationsOfLink = 60

    package mutating func next() -> FuzzOperation {
        sinceLink += 1
        if sinceLink > Self.operationsOfLink + below(Self.operationsOfLink) {
            sinceLink = 0
            return .reconnect(mtu: [23, 24, 64, 185, 247, 517][below(6)])
        }
        while true {
            if let operation = draw() { return operation }
        }
    }

    /// Nil where the device has nothing of the kind that was drawn.
    private mutating func draw() -> FuzzOperation? {
        switch below(16) {
        case 0, 1: return one(all).map { .read($0) }
        case 2: return one(readable).map { .readPart($0, offset: UInt16(below(Self.longestValue + 2))) }
        case 3: return one(readable).map { .readLong($0) }
        case 4:
            let first = UInt16(1 + below(64))
            return .readType(UInt16(0x2a00 + below(64)), from: first, to: first + UInt16(below(256)))
        case 5: return one(closed).map { .writeBack($0) }
        case 6, 7, 8:
            guard let handle = one(writable) else { return nil }
            return .write(handle, value(upTo: FuzzOperation.longestPacket))
        case 9:
            guard let handle = one(writable) else { return nil }
            return .writeLong(handle, value(upTo: Self.longestValue))
        case 10:
            guard let handle = one(writable + closed) else { return nil }
            return .prepare(handle, value(upTo: Self.longestValue))
        case 11, 12:
            guard let handle = one(commandable) else { return nil }
            return .commands(handle, value(upTo: FuzzOperation.longestPacket), count: 1 + below(Self.mostCommands))
        case 13:
            guard !configurations.isEmpty else { return nil }
            let (handle, value) = configurations[below(configurations.count)]
            return .configure(handle, below(3) == 0 ? [0, 0] : value)
        case 14: return configurations.isEmpty ? nil : .storm(1 + below(8))
        default: return .malformed(Self.malformed[below(Self.malformed.count)])
        }
    }
}
