import Testing
import WakeModel

@testable import WakeBench

@Suite("When what costs is due")
struct PaceTests {
    private func instant(_ milliseconds: Int64) -> Instant { Instant.zero.advanced(by: .milliseconds(milliseconds)) }

    @Test("PUSH-9: with a period it is due at once after a pause, and else once in a period, however often it is asked")
    func period() {
        var pace = Pace(.milliseconds(100))
        let asked: [Int64] = [0, 1, 50, 99, 100, 101, 500, 501, 600]
        #expect(asked.filter { pace.isDue(at: instant($0)) } == [0, 100, 500, 600])
        #expect(pace.next == instant(700))
    }

    @Test("PUSH-9: without one it is due each time, and nobody is to wait for it")
    func always() {
        var pace = Pace(nil)
        #expect([0, 0, 1].allSatisfy { pace.isDue(at: instant($0)) })
        #expect(pace.next == nil)
    }
}
