import Foundation
import Glibc
import Testing
import WakeJournal
import WakeModel
import WakePorts

/// How often this thread has had the kernel write something; nil where the kernel does not count.
private func writes() -> Int? {
    let text = try? String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
    return text?.split(separator: "\n").first { $0.hasPrefix("syscw:") }.flatMap { Int($0.dropFirst(7)) }
}

@Suite("What a journal costs")
struct WriteTests {
    @Test(
        "A commit has the kernel write once, however many pages it fills, and all of it is there after a crash",
        .enabled(if: writes() != nil, "the kernel counts no writes")
    )
    func onceForEachCommit() throws {
        let folder = try JournalFolder()
        let journal = try folder.create()
        var before = try #require(writes())
        var most = 0
        for number in 1...500 as ClosedRange<UInt64> {
            try journal.begin()
            try journal.append(
                notification(number),
                payload: .value([UInt8](repeating: 7, count: number % 50 == 0 ? 20_000 : 20)),
                sequence: number,
                at: second(number),
                origin: NameID(2)
            )
            try journal.append(
                Delivery(app: AppID(0), manager: 1, event: EventID(number), decision: DecisionID(number), generation: 1)
            )
            if number > 1 { try journal.acknowledge(app: AppID(0), event: EventID(number - 1)) }
            try journal.commit()
            let now = try #require(writes())
            most = max(most, now - before)
            before = now
        }
        #expect(most == 1)

        // The files as a crash would leave them: the journal is still open.
        let copy = try JournalFolder()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: folder.path + suffix, toPath: copy.path + suffix)
        }
        #expect(try SQLiteJournal(opening: copy.path).sequences() == Array(1...500))
    }

    @Test("A turn that is taken back leaves nothing in the log, also when it was larger than memory holds")
    func takenBack() throws {
        let folder = try JournalFolder()
        let journal = try folder.create()
        try journal.turn(1)
        try journal.begin()
        for number in 2...2_000 as ClosedRange<UInt64> {
            try journal.append(
                notification(number),
                payload: .value([UInt8](repeating: 7, count: 3_000)),
                sequence: number,
                at: second(number),
                origin: NameID(2)
            )
        }
        journal.rollback()
        try journal.turn(2)
        #expect(try journal.sequences() == [1, 2])
        let copy = try JournalFolder()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: folder.path + suffix, toPath: copy.path + suffix)
        }
        #expect(try SQLiteJournal(opening: copy.path).sequences() == [1, 2])
    }
}
