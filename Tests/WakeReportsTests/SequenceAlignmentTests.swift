import Testing

@testable import WakeReports

@Suite("What belongs together in two sequences")
struct SequenceAlignmentTests {
    /// Numbers that look random and are the same each time.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 16 ^ state << 20
        }
    }

    /// How many members the longest common subsequence has, by the table that everybody knows.
    private func common(_ left: [Int], _ right: [Int]) -> Int {
        var row = [Int](repeating: 0, count: right.count + 1)
        for one in left {
            var corner = 0
            for (place, other) in right.enumerated() {
                let above = row[place + 1]
                row[place + 1] = one == other ? corner + 1 : max(above, row[place])
                corner = above
            }
        }
        return row[right.count]
    }

    @Test(
        "Outside of the gaps all members are equal, and no alignment leaves fewer over",
        arguments: 0..<200 as Range<UInt64>
    )
    func shortest(seed: UInt64) {
        var numbers = Numbers(state: seed)
        let letters = Int.random(in: 1...4, using: &numbers)
        let sides = (0..<2).map { _ in
            (0..<Int.random(in: 0...24, using: &numbers)).map { _ in Int.random(in: 0..<letters, using: &numbers) }
        }
        let alignment = SequenceAlignment(sides[0], sides[1])
        #expect(!alignment.isCut)
        let end = SequenceAlignment.Gap(
            left: sides[0].count..<sides[0].count,
            right: sides[1].count..<sides[1].count
        )
        var (one, other, agreed) = (0, 0, 0)
        for gap in alignment.gaps + [end] {
            #expect(sides[0][one..<gap.left.lowerBound] == sides[1][other..<gap.right.lowerBound])
            agreed += gap.left.lowerBound - one
            (one, other) = (gap.left.upperBound, gap.right.upperBound)
        }
        #expect(agreed == common(sides[0], sides[1]))
    }

    @Test("One member less is one gap, wherever it is", arguments: [0, 1, 12_000, 22_999])
    func oneLess(place: Int) {
        let whole = (0..<23_000).map { $0 % 7 }
        var short = whole
        short.remove(at: place)
        #expect(SequenceAlignment(whole, short).gaps == [.init(left: place..<place + 1, right: place..<place)])
    }

    @Test("What is too different is given up at the limit, and what came before it stands")
    func cut() {
        let alignment = SequenceAlignment(Array(0..<5_000), Array(0..<100) + Array(10_000..<14_900), limit: 50)
        #expect(alignment.isCut)
        #expect(alignment.gaps.first?.left.lowerBound == 100)
        #expect(alignment.gaps.last?.left.upperBound == 5_000)
        #expect(alignment.gaps.last?.right.upperBound == 5_000)
    }
}
