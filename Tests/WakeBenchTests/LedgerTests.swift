import Testing
import WakeModel
import WakePorts

@testable import WakeBench

/// Keeps what it is told of deliveries, a line a call.
private final class Scribe: Journal {
    var lines: [String] = []

    func begin() { lines.append("begin") }
    func append(
        _ input: Input,
        id: EventID,
        payload: EventPayload,
        sequence: UInt64,
        at: Instant,
        origin: NameID
    ) {
        lines.append("input \(sequence)")
    }
    func append(_ exit: ExitRecord) { lines.append("exit \(exit.number)") }
    func append(_ delivery: Delivery) { lines.append("delivery \(delivery.event.number)") }
    func acknowledge(app: AppID, from first: EventID, through last: EventID) {
        lines.append("taken \(first.number) to \(last.number)")
    }
    func append(_ command: JournaledCommand) {}
    func append(_ name: NameID, text: String) {}
    func append(snapshot: [UInt8], sequence: UInt64, at: Instant) { lines.append("snapshot \(sequence)") }
    func commit() { lines.append("commit") }
    func rollback() {}
    func end(_ ending: RunEnding) {}
    func finish() {}
}

@Suite("What the bench writes into its journal")
struct LedgerTests {
    private let scribe = Scribe()
    private let app = AppID(0)

    /// A ledger with these events on their way to an app, all committed.
    private func ledger(gathers: Bool, _ events: ClosedRange<UInt64>) throws -> Ledger {
        var ledger = Ledger(scribe, names: NameTable())
        ledger.gathersAcknowledgements = gathers
        try ledger.begin(at: .zero)
        for event in events {
            try ledger.append(Delivery(app: app, event: EventID(event), decision: DecisionID(event), generation: 1))
        }
        try ledger.commit()
        scribe.lines = []
        return ledger
    }

    private func instant(_ milliseconds: Int64) -> Instant { Instant.zero.advanced(by: .milliseconds(milliseconds)) }

    @Test("In real time what processes have taken comes together for 100 ms, and is written and committed then")
    func gathered() throws {
        var ledger = try ledger(gathers: true, 1...3)
        for event in UInt64(1)...3 {
            ledger.note(acknowledged: EventID(event), by: app, at: instant(Int64(event) * 10))
        }
        #expect(ledger.commitDue == instant(110))
        #expect(!ledger.mustAcknowledge(at: instant(109)))
        #expect(ledger.mustAcknowledge(at: instant(110)))
        try ledger.begin(at: instant(110))
        #expect(ledger.mustCommit(at: instant(110)))
        try ledger.commit()
        #expect(scribe.lines == ["begin", "taken 1 to 3", "commit"])
        #expect(ledger.commitDue == nil)
        #expect(!ledger.mustAcknowledge(at: instant(1_000)))
    }

    @Test("What comes together is not written with a turn before it is due, and is due all the same")
    func turnBefore() throws {
        var ledger = try ledger(gathers: true, 1...1)
        ledger.note(acknowledged: EventID(1), by: app, at: .zero)
        try ledger.begin(at: instant(50))
        try ledger.commit()
        #expect(scribe.lines == ["begin", "commit"])
        #expect(ledger.commitDue == instant(100))
    }

    @Test("In virtual time it is written with the next turn, and committed within 100 ms")
    func notGathered() throws {
        var ledger = try ledger(gathers: false, 1...1)
        ledger.note(acknowledged: EventID(1), by: app, at: instant(7))
        #expect(ledger.mustAcknowledge(at: instant(7)))
        try ledger.begin(at: instant(7))
        #expect(scribe.lines == ["begin", "taken 1 to 1"])
        #expect(!ledger.mustCommit(at: instant(106)))
        #expect(ledger.mustCommit(at: instant(107)))
    }

    @Test("Events that were taken beside one that was not are written one by one: it stays to be recovered")
    func gap() throws {
        var ledger = try ledger(gathers: true, 1...3)
        ledger.note(acknowledged: EventID(1), by: app, at: .zero)
        ledger.note(acknowledged: EventID(3), by: app, at: .zero)
        try ledger.begin(at: instant(100))
        #expect(scribe.lines == ["begin", "taken 1 to 1", "taken 3 to 3"])
    }

    @Test("What a process had not taken ends with it")
    func exit() throws {
        var ledger = try ledger(gathers: true, 1...2)
        ledger.note(acknowledged: EventID(1), by: app, at: .zero)
        try ledger.begin(at: instant(100))
        scribe.lines = []
        try ledger.append(
            ExitRecord(
                number: 1,
                app: app,
                generation: 1,
                cause: .memory,
                code: 0,
                stateBefore: .suspended,
                causedBy: .none,
                at: instant(100)
            )
        )
        #expect(scribe.lines == ["exit 1", "taken 2 to 2"])
    }
}
