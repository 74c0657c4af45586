import Testing
import WakeModel
import WakePorts
import WakeRouter

@testable import WakeBench
@testable import WakeJournal

/// Keeps all decisions.
private final class DecisionKeeper: BenchObserver {
    var decisions: [Decision] = []
    var users = 0
    /// The numbers that the inputs took.
    var numbers: [EventID] = []

    func observe(_ item: InboxItem, _ output: RouterOutput, at now: Instant) {
        if case .user = item.input { users += 1 }
        decisions += output.decisions
        numbers.append(item.id)
    }
}

/// Keeps the inputs.
private final class InputKeeper: Journal {
    var inputs: [JournaledInput] = []

    func append(
        _ input: Input,
        id: EventID,
        payload: EventPayload,
        sequence: UInt64,
        at: Instant,
        origin: NameID
    ) {
        inputs.append(
            JournaledInput(sequence: sequence, at: at, origin: origin, id: id, input: input, payload: payload)
        )
    }

    func begin() {}
    func append(_ exit: ExitRecord) {}
    func append(_ delivery: Delivery) {}
    func acknowledge(app: AppID, from first: EventID, through last: EventID) {}
    func append(_ command: JournaledCommand) {}
    func append(_ name: NameID, text: String) {}
    func append(snapshot: [UInt8], sequence: UInt64, at: Instant) {}
    func commit() {}
    func rollback() {}
    func end(_ ending: RunEnding) {}
    func finish() {}
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

    @Test("SYS-3: after events that were lost without a verdict a replay gives what was done the same numbers")
    func lost() throws {
        let names = NameTable()
        let belt = names.intern("belt")
        let event = WakeEvent(kind: .characteristicNotified, peripheral: belt, subject: belt, origin: belt)
        let journal = InputKeeper()
        let bench = Bench(router: Router(profile: .ios17), names: names, journal: journal, inboxLimit: 4)
        let played = DecisionKeeper()
        bench.add(played)
        for _ in 0..<12 { bench.submit(SourceReport(event, .value([0, 72]))) }
        bench.submit(.user(AppID(0), .launch), origin: belt)
        try bench.run(at: .zero)
        #expect(bench.unrecorded == 4)
        #expect(played.numbers.map(\.number) == [1, 2, 3, 4, 9, 10, 11, 12, 13])

        let again = Bench(router: Router(profile: .ios17), names: names, journal: NoJournal())
        let replayed = DecisionKeeper()
        again.add(replayed)
        for input in journal.inputs { again.replay(input) }
        #expect(replayed.numbers == played.numbers)
        #expect(replayed.decisions == played.decisions)
    }
}
