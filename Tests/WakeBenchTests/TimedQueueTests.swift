import Testing
import WakeModel
import WakePorts

@Suite("Things to do at instants")
struct TimedQueueTests {
    @Test("Things to do come out earliest first, and in the order of adding at one instant")
    func queue() {
        var queue = TimedQueue<Int>()
        var expected: [(Int64, Int)] = []
        for number in 0..<500 {
            let at = Int64(number * 17 % 40)
            expected.append((at, number))
            queue.add(number, at: Instant(nanoseconds: at))
        }
        expected.sort { $0 < $1 }
        #expect(queue.takeDue(by: Instant(nanoseconds: -1)) == nil)
        var taken: [Int] = []
        while let next = queue.takeDue(by: Instant(nanoseconds: 40)) { taken.append(next.element) }
        #expect(taken == expected.map(\.1))
        #expect(queue.isEmpty)
    }
}
