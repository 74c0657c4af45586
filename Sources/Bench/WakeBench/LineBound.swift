import WakeModel

/// Bounds how many lines of one kind an app can have a run write: the first of them are kept, and all later ones are counted.
struct LineBound {
    /// The most lines that are kept.
    let most: Int
    private(set) var kept = 0
    /// How many came after them.
    private(set) var lost = 0

    init(most: Int) { self.most = most }

    /// Whether another one is kept; one that is not is counted.
    mutating func admits() -> Bool {
        guard kept < most else {
            lost += 1
            return false
        }
        kept += 1
        return true
    }

    /// What came before a snapshot counts, too.
    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&kept)
        try coder.code(&lost)
        guard (0...most).contains(kept), lost >= 0 else { throw coder.fault }
    }
}
