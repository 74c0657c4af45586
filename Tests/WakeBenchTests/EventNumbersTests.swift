import Testing
import WakeModel

@testable import WakeBench

@Suite("The numbers of a journal's inputs")
struct EventNumbersTests {
    private func event(_ number: UInt64) -> Input { .event(WakeEvent(kind: .positionFixed, id: EventID(number))) }

    @Test("SYS-3: of two acts at one instant the second keeps its number, whatever the router found in the first")
    func found() {
        var numbers = EventNumbers()
        let inputs: [Input] = [.phone(.lock), event(3), event(4), .phone(.unlock), .phone(.lock)]
        #expect(inputs.map { numbers.number(of: $0).number } == [1, 3, 4, 2, 5])
        #expect(numbers.last == 5)
    }

    @Test("SYS-2: what was submitted and not accepted before the bench died has taken its number with it")
    func restarted() {
        var numbers = EventNumbers(after: 10)
        let inputs: [Input] = [event(13), .benchRestarted, .phone(.lock), event(16)]
        #expect(inputs.map { numbers.number(of: $0).number } == [13, 14, 15, 16])
    }

    @Test("What is no event and no act takes no number")
    func others() {
        var numbers = EventNumbers(after: 4)
        #expect(numbers.number(of: .timeReached) == .none)
        #expect(numbers.number(of: .request(AppID(0), .done)) == .none)
        #expect(numbers.number(of: .phone(.lock)).number == 5)
    }
}
