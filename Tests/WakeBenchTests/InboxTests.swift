import Testing
import WakeBench
import WakeModel
import WakePorts
import WakeRouter

/// Keeps all decisions.
private final class DecisionKeeper: BenchObserver {
    var decisions: [Decision] = []
    var users = 0

    func observe(_ item: InboxItem, _ output: RouterOutput, at now: Instant) {
        if case .user = item.input { users += 1 }
        decisions += output.decisions
    }
}

@Suite("The inbox")
struct InboxTests {
    @Test("A full inbox drops the oldest events of a source with reason Overflow, and nothing of the user's (SYS-4)")
    func overflow() throws {
        let names = NameTable()
        let bench = Bench(
            router: Router(profile: .ios17),
            names: names,
            journal: NoJournal()
        )
        let keeper = DecisionKeeper()
        bench.add(keeper)
        let belt = names.intern("belt")
        let event = WakeEvent(kind: .characteristicNotified, peripheral: belt, subject: belt, origin: belt)
        bench.submit(.user(AppID(0), .launch), origin: belt)
        for _ in 0..<Bench.inboxLimit - 1 + 100 { bench.submit(SourceReport(event, .value([0, 72]))) }
        try bench.run(at: .zero)

        let dropped = keeper.decisions.prefix { $0.reason == .overflow }
        // The user's action has the number 1; the events follow.
        #expect(dropped.map(\.event.number) == Array(2..<102))
        #expect(dropped.allSatisfy { $0.verdict == .drop && $0.rule == Reason.overflow.rule })
        let rest = keeper.decisions.dropFirst(100)
        #expect(rest.count == Bench.inboxLimit - 1)
        #expect(rest.allSatisfy { $0.reason == .noRegistration })
        #expect(keeper.users == 1)
    }
}
