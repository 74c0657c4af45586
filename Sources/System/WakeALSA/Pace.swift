/// Finds out whether a PCM keeps time, and keeps it where it does not.
///
/// A sound card takes as many frames as it plays. The `null` plug-in, and whatever writes to a file on top of it, takes
/// all there are at once.
struct Pace {
    /// A card's clock and the machine's differ by less than this part of the time.
    static let tolerance = 0.01
    /// A card's position moves in steps; they are shorter than this, in nanoseconds.
    static let step: Int64 = 20_000_000

    /// Whether the PCM tells by itself when it is ready.
    private(set) var isKept = true
    private let rate: Int
    private let period: Int
    private var began: Int64 = 0
    private var moved = 0

    init(_ grant: SoundGrant) {
        rate = grant.rate
        period = grant.periodFrames
    }

    /// Frames begin to move.
    mutating func begin(at now: Int64) {
        began = now
        moved = 0
    }

    /// Frames have moved.
    mutating func count(_ frames: Int) {
        moved += frames
    }

    /// Whether the next period is due, which is for the PCM to say as long as it tells the truth.
    mutating func allowsPeriod(at now: Int64) -> Bool {
        guard isKept else { return now >= due }
        let possible = Double(now - began + Self.step) / 1e9 * Double(rate) * (1 + Self.tolerance)
        if Double(moved) <= possible + Double(period) { return true }
        isKept = false
        begin(at: now)
        return false
    }

    /// When the next period is due for a PCM that keeps no time, in nanoseconds.
    var due: Int64 { began + Int64(moved + period) * 1_000_000_000 / Int64(rate) }
}
