import WakeModel
import WakeReports

/// Bounds how many signposts of one app a run keeps: the first of them, and all later ones are counted.
struct SignpostBound {
    /// The most of one app in a run.
    static let most = 65_536
    /// The most bytes that they take in its log.
    static let mostBytes = 16 << 20
    /// How many are kept, and their bytes.
    private(set) var kept: HeldSignposts
    /// How many came after them.
    private(set) var lost = 0

    /// - Parameter held: what the run has already, from before the bench died.
    init(held: HeldSignposts) { kept = held }

    /// Whether another one is kept; one that is not is counted.
    mutating func admits() -> Bool {
        guard lost == 0, kept.count < Self.most, kept.bytes < Self.mostBytes else {
            lost += 1
            return false
        }
        return true
    }

    /// What was kept before a snapshot counts too, and what was lost.
    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        var before = kept
        try coder.code(&before)
        try coder.code(&lost)
        if coder.isReading { kept = before + kept }
    }

    /// One was kept.
    mutating func keeps(bytes: Int) { kept.add(bytes: bytes) }
}
