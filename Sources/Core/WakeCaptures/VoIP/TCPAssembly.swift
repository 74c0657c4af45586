/// One direction of a TCP connection: its segments put in order.
struct TCPAssembly {
    /// What comes of a segment.
    enum Outcome {
        case taken
        /// All of it had come before.
        case again
        /// What is missing before it never came: what stands behind was gone on with.
        case gap
    }

    /// What waits for something before it, at most.
    private static let mostPending = 256
    private static let mostBytes = 256 << 10

    /// The number of the first byte; nil before it is known.
    private(set) var first: UInt32?
    private var next: UInt32 = 0
    /// In order.
    private var pending: [(sequence: UInt32, bytes: [UInt8])] = []
    private(set) var pendingBytes = 0

    /// Says which number the first byte has.
    mutating func start(at sequence: UInt32) {
        self = TCPAssembly()
        first = sequence
        next = sequence
    }

    /// Takes a segment; what follows on what was there goes to the end of `stream`.
    mutating func take(_ sequence: UInt32, _ bytes: Span<UInt8>, into stream: inout [UInt8]) -> Outcome {
        let ahead = Int(Int32(bitPattern: sequence &- next))
        if ahead <= 0 {
            guard -ahead < bytes.count else { return .again }
            append(bytes.extracting(-ahead..<bytes.count).copied(), &stream)
            drain(&stream)
            return .taken
        }
        let place = pending.firstIndex { Int32(bitPattern: $0.sequence &- next) >= ahead } ?? pending.count
        if place < pending.count, pending[place].sequence == sequence, pending[place].bytes.count >= bytes.count {
            return .again
        }
        pending.insert((sequence, bytes.copied()), at: place)
        pendingBytes += bytes.count
        guard pending.count > Self.mostPending || pendingBytes > Self.mostBytes else { return .taken }
        _ = jump(&stream)
        return .gap
    }

    /// Goes on behind what never came; false when nothing waits.
    mutating func jump(_ stream: inout [UInt8]) -> Bool {
        guard let following = pending.first else { return false }
        next = following.sequence
        stream.removeAll()
        drain(&stream)
        return true
    }

    private mutating func append(_ bytes: [UInt8], _ stream: inout [UInt8]) {
        stream += bytes
        next &+= UInt32(truncatingIfNeeded: bytes.count)
    }

    private mutating func drain(_ stream: inout [UInt8]) {
        var done = 0
        for (sequence, bytes) in pending {
            let ahead = Int(Int32(bitPattern: sequence &- next))
            if ahead > 0 { break }
            done += 1
            pendingBytes -= bytes.count
            if -ahead < bytes.count { append(Array(bytes[(-ahead)...]), &stream) }
        }
        pending.removeFirst(done)
    }
}
