/// Which members of two sequences belong together, so that as few as possible are left over: the greedy algorithm of Myers, "An O(ND)
/// Difference Algorithm and Its Variations", 1986.
///
/// Time grows with the length times the differences, memory with the square of the differences, and both are bounded: after
/// ``limit`` differences the rest stays unaligned.
struct SequenceAlignment {
    /// Neighbours without a counterpart: of one sequence, or of both in the same place.
    struct Gap: Equatable {
        var left: Range<Int>
        var right: Range<Int>
    }

    /// In order, none touching the next.
    private(set) var gaps: [Gap] = []
    /// Whether the last gap is only where it was given up.
    private(set) var isCut = false
    /// The most members that may be left over.
    static let limit = 1_000

    init<Member: Equatable>(_ left: [Member], _ right: [Member], limit: Int = Self.limit) {
        var start = 0
        while start < left.count, start < right.count, left[start] == right[start] { start += 1 }
        var (leftEnd, rightEnd) = (left.count, right.count)
        while leftEnd > start, rightEnd > start, left[leftEnd - 1] == right[rightEnd - 1] {
            leftEnd -= 1
            rightEnd -= 1
        }
        if leftEnd == start || rightEnd == start {
            if leftEnd != rightEnd { gaps = [Gap(left: start..<leftEnd, right: start..<rightEnd)] }
            return
        }
        var search = Search(left[start..<leftEnd], right[start..<rightEnd])
        isCut = !search.run(limit: limit)
        gaps = search.gaps
        if isCut { gaps.append(Gap(left: search.reached.left..<leftEnd, right: search.reached.right..<rightEnd)) }
        join()
    }

    /// Gaps that touch are one.
    private mutating func join() {
        var joined: [Gap] = []
        for gap in gaps {
            if let last = joined.last, last.left.upperBound == gap.left.lowerBound,
                last.right.upperBound == gap.right.lowerBound
            {
                joined[joined.count - 1] = Gap(
                    left: last.left.lowerBound..<gap.left.upperBound,
                    right: last.right.lowerBound..<gap.right.upperBound
                )
            } else {
                joined.append(gap)
            }
        }
        gaps = joined
    }

    /// The way from the beginnings of both to their ends with the fewest steps that pass a member of one alone.
    private struct Search<Member: Equatable> {
        private let left: ArraySlice<Member>
        private let right: ArraySlice<Member>
        /// For each number of such steps, how far into the left each diagonal comes; those from -number to number in steps of 2.
        private var reaches: [[Int32]] = []
        /// How far the way leads.
        private(set) var reached = (left: 0, right: 0)
        private(set) var gaps: [Gap] = []

        init(_ left: ArraySlice<Member>, _ right: ArraySlice<Member>) {
            (self.left, self.right) = (left, right)
        }

        /// - Returns: whether the way leads to the ends.
        mutating func run(limit: Int) -> Bool {
            for steps in 0...limit {
                let (reach, isThere) = extended(steps)
                reaches.append(reach)
                if isThere {
                    walkBack(from: left.count - right.count)
                    return true
                }
            }
            // The diagonal that comes furthest.
            let last = reaches[limit]
            let best = last.indices.max {
                2 * Int(last[$0]) - diagonal($0, limit) < 2 * Int(last[$1]) - diagonal($1, limit)
            }
            walkBack(from: diagonal(best ?? 0, limit))
            return false
        }

        private func diagonal(_ place: Int, _ steps: Int) -> Int { 2 * place - steps }

        /// How far into the left a diagonal comes with so many steps; -1 for one that is out of their reach.
        private func reach(_ diagonal: Int, _ steps: Int) -> Int {
            abs(diagonal) > steps ? -1 : Int(reaches[steps][(diagonal + steps) / 2])
        }

        private func extended(_ steps: Int) -> (reach: [Int32], isThere: Bool) {
            var reaches: [Int32] = []
            reaches.reserveCapacity(steps + 1)
            for place in 0...steps {
                let diagonal = diagonal(place, steps)
                let start = steps == 0 ? 0 : entry(diagonal, steps).x
                let end = start < 0 ? start : slid(start, diagonal)
                reaches.append(Int32(end))
                if end == left.count, end - diagonal == right.count { return (reaches, true) }
            }
            return (reaches, false)
        }

        /// How far equal members lead on a diagonal.
        private func slid(_ start: Int, _ diagonal: Int) -> Int {
            var x = start
            while x < left.count, x - diagonal < right.count,
                left[left.startIndex + x] == right[right.startIndex + x - diagonal]
            {
                x += 1
            }
            return x
        }

        /// Where a diagonal is entered by the last of so many steps, and whether that passes a member of the left; -1 when it is out
        /// of their reach.
        private func entry(_ diagonal: Int, _ steps: Int) -> (x: Int, passesLeft: Bool) {
            let (below, above) = (reach(diagonal - 1, steps - 1), reach(diagonal + 1, steps - 1))
            let across = below >= 0 && below < left.count ? below + 1 : -1
            let down = above >= 0 && above - diagonal <= right.count ? above : -1
            return across > down ? (across, true) : (down, false)
        }

        private mutating func walkBack(from end: Int) {
            var diagonal = end
            var steps = reaches.count - 1
            let x = reach(diagonal, steps)
            reached = (left.startIndex + x, right.startIndex + x - diagonal)
            while steps > 0 {
                let (x, passesLeft) = entry(diagonal, steps)
                let (one, other) = (left.startIndex + x, right.startIndex + x - diagonal)
                gaps.append(
                    passesLeft
                        ? Gap(left: one - 1..<one, right: other..<other)
                        : Gap(left: one..<one, right: other - 1..<other)
                )
                diagonal += passesLeft ? -1 : 1
                steps -= 1
            }
            gaps.reverse()
        }
    }
}
