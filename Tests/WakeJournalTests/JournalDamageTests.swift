import Foundation
import Testing
@testable import WakeJournal
import WakeModel
import WakePorts

@Suite("A damaged journal")
struct JournalDamageTests {
    let place: JournalFolder

    /// Five turns, a snapshot after the second, and one delivery on its way.
    init() throws {
        place = try JournalFolder()
        let journal = try place.create()
        for number in 1...5 as ClosedRange<UInt64> {
            try journal.turn(number)
            guard number == 2 else { continue }
            try journal.begin()
            try journal.append(snapshot: [1, 2, 3], sequence: 2, at: second(2))
            for event in [1, 2] as [UInt64] {
                let delivery = Delivery(
                    app: AppID(0),
                    event: EventID(event),
                    decision: DecisionID(event),
                    generation: 1
                )
                try journal.append(delivery)
            }
            try journal.acknowledge(app: AppID(0), event: EventID(2))
            try journal.commit()
        }
    }

    private func alter(_ statement: String) throws {
        let connection = try Connection(path: place.path, creating: false)
        try connection.execute(statement)
    }

    /// Reads what a recovery does: all but the inputs, and those after the snapshot.
    private func readAll() throws {
        let journal = try SQLiteJournal(opening: place.path)
        let recovery = try journal.recover()
        try journal.readInputs(after: recovery.snapshot?.sequence ?? 0, names: recovery.names.count) { _ in }
    }

    @Test("What is whole is read back, deliveries that were acknowledged and those that were not")
    func whole() throws {
        let journal = try SQLiteJournal(opening: place.path)
        let recovery = try journal.recover()
        #expect(try journal.sequences(after: 2) == [3, 4, 5])
        #expect(recovery.unacknowledged.map(\.event.number) == [1])
    }

    @Test(
        "A row that was altered, removed or renumbered is refused with its place",
        arguments: [
            ("UPDATE names SET text = 'com.acme.hearts' WHERE number = 1", "name 1"),
            ("DELETE FROM names WHERE number = 2", "name 2"),
            ("UPDATE names SET number = 9 WHERE number = 4", "name 4"),
            ("UPDATE names SET text = x'ff' WHERE number = 3", "name 3"),
            // Inputs speak of the names 3 and 4: the trap of 'name 26 was never interned'.
            ("DELETE FROM names WHERE number > 2", "input 3: a number that stands for nothing"),
            ("UPDATE inputs SET at = at + 1 WHERE seq = 3", "input 3"),
            ("UPDATE inputs SET origin = 3 WHERE seq = 4", "input 4"),
            ("UPDATE inputs SET event = 9 WHERE seq = 4", "input 4"),
            ("UPDATE inputs SET payload = NULL WHERE seq = 5", "input 5"),
            ("UPDATE inputs SET payload = input, input = payload WHERE seq = 5", "input 5"),
            ("UPDATE inputs SET input = substr(input, 1, length(input) - 1) WHERE seq = 3", "input 3"),
            ("UPDATE inputs SET seq = 77 WHERE seq = 3", "input 77"),
            ("UPDATE inputs SET seq = 'three' WHERE seq = 3", ""),
            ("UPDATE snapshots SET snapshot = x'010203ff'", "the snapshot after input 2"),
            ("UPDATE snapshots SET seq = 3", "the snapshot after input 3"),
            ("UPDATE deliveries SET acknowledged = 1 WHERE event = 1", "the delivery of event 1 to app 0"),
            ("UPDATE deliveries SET acknowledged = 0 WHERE event = 2", "the delivery of event 2 to app 0"),
            ("UPDATE deliveries SET acknowledged = 7 WHERE event = 2", "the delivery of event 2 to app 0"),
            ("UPDATE deliveries SET app = 3 WHERE event = 1", "the delivery of event 1 to app 3"),
            ("UPDATE meta SET value = '43' WHERE key = 'seed'", "what the run is"),
            ("UPDATE meta SET value = x'00' WHERE key = 'profile'", "what the run is"),
            ("DELETE FROM meta WHERE key = 'freezer'", "what the run is"),
            ("DELETE FROM meta WHERE key = 'sum'", "no sum"),
            ("UPDATE meta SET value = 'over' WHERE key = 'state'", "the run's state"),
            ("DROP TABLE names", "no such table: names"),
            ("DROP TABLE inputs", "no such table: inputs"),
            ("DROP TABLE deliveries", "no such table: deliveries"),
            ("ALTER TABLE inputs RENAME COLUMN event TO other", "no such column: event"),
        ]
    )
    func altered(statement: String, says: String) throws {
        do { try alter(statement) } catch {
            // What the library does not let in cannot stand there.
            #expect(says.isEmpty)
            return
        }
        let error = #expect(throws: JournalError.self) { try readAll() }
        guard case .damaged(let what) = error?.kind else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(what.hasPrefix(says), "\(what)")
        #expect(error?.description.contains("journal.sqlite: damaged (") == true)
    }

    @Test("How a run ended is read back as it was, and an end that was altered is refused", arguments: [true, false])
    func ending(isInterrupted: Bool) throws {
        let ending = RunEnding(
            at: second(3),
            isInterrupted: isInterrupted,
            began: 1_795_000_000_000_000_000,
            took: .milliseconds(1_234)
        )
        #expect(try SQLiteJournal(opening: place.path).recover().end == nil)
        try SQLiteJournal(opening: place.path).end(ending)
        let found = try SQLiteJournal(opening: place.path).recover()
        #expect(found.end == ending)
        #expect(!found.finished)
        let words = isInterrupted ? ("interrupted", "played") : ("played", "interrupted")
        try alter("UPDATE meta SET value = replace(value, '\(words.0)', '\(words.1)') WHERE key = 'state'")
        let error = #expect(throws: JournalError.self) { try SQLiteJournal(opening: place.path).recover() }
        #expect(error?.kind == .damaged("the run's state"))
    }
}
