import Foundation
import Testing
import WakeJournal
import WakeModel
import WakePorts

@Suite("The journal of a run")
struct JournalTests {
    let place: JournalFolder

    init() throws { place = try JournalFolder() }

    @Test("SYS-3: what the user did is read with the number that it took")
    func act() throws {
        let journal = try place.create()
        try journal.begin()
        try journal.append(
            .user(AppID(0), .launch),
            id: EventID(7),
            payload: .none,
            sequence: 1,
            at: second(1),
            origin: .none
        )
        try journal.commit()
        var read: [EventID] = []
        try journal.readInputs { (input) throws(JournalError) in read.append(input.id) }
        #expect(read == [EventID(7)])
    }

    @Test("An input is read back with its time, origin and payload")
    func input() throws {
        try place.create().turn(1)
        var read: [JournaledInput] = []
        try SQLiteJournal(opening: place.path).readInputs { (input) throws(JournalError) in read.append(input) }
        #expect(read.count == 1)
        #expect(read.first?.sequence == 1)
        #expect(read.first?.at == second(1))
        #expect(read.first?.origin == NameID(2))
        #expect(read.first?.input == notification(1))
        #expect(read.first?.payload == .value([6, 72]))
    }

    @Test("A turn that was not committed leaves nothing")
    func uncommitted() throws {
        var journal: SQLiteJournal? = try place.create()
        try journal?.turn(1)
        try journal?.begin()
        try journal?.append(notification(2), payload: .none, sequence: 2, at: second(2), origin: .none)
        journal = nil
        #expect(try SQLiteJournal(opening: place.path).sequences() == [1])
    }

    @Test("Committed turns survive the sudden death of the bench")
    func death() throws {
        let journal = try place.create()
        for number in 1...50 as ClosedRange<UInt64> { try journal.turn(number) }
        try journal.begin()
        try journal.append(notification(51), payload: .none, sequence: 51, at: second(51), origin: .none)
        // What a dead bench leaves is what lies in the files now.
        let after = try JournalFolder()
        for file in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: place.path + file, toPath: after.path + file)
        }
        #expect(try SQLiteJournal(opening: after.path).sequences() == Array(1...50))
    }

    @Test("Recovery gives the run, the names, the latest snapshot and the inputs after it")
    func recovery() throws {
        let journal = try place.create()
        for number in 1...5 as ClosedRange<UInt64> { try journal.turn(number) }
        for sequence in [2, 4] as [UInt64] {
            try journal.begin()
            try journal.append(snapshot: [UInt8(sequence)], sequence: sequence, at: second(sequence))
            try journal.commit()
        }
        let recovery = try journal.recover()
        #expect(recovery.meta == .example)
        #expect(!recovery.finished)
        #expect(recovery.names == ["com.acme.heart", "night.yaml:31 – Gürtel", "belt", "2A37"])
        #expect(recovery.snapshot == JournaledSnapshot(sequence: 4, at: second(4), bytes: [4]))
        #expect(try journal.sequences(after: 4) == [5])
        #expect(recovery.counts.inputs == 5)
        #expect(recovery.counts.lastSequence == 5)
        #expect(recovery.counts.lastEvent == EventID(5))
    }

    @Test("Recovery gives the deliveries that nobody acknowledged, by the newest process")
    func unacknowledged() throws {
        let journal = try place.create()
        func send(_ event: UInt64, decision: UInt64, generation: UInt32) throws {
            let delivery = Delivery(
                app: AppID(0),
                manager: 1,
                event: EventID(event),
                decision: DecisionID(decision),
                generation: generation
            )
            try journal.append(delivery)
        }
        try journal.begin()
        try send(1, decision: 1, generation: 1)
        try send(2, decision: 2, generation: 1)
        try send(3, decision: 3, generation: 1)
        try send(3, decision: 4, generation: 2)
        try journal.acknowledge(app: AppID(0), event: EventID(1))
        try journal.commit()
        let recovery = try journal.recover()
        #expect(recovery.unacknowledged.map(\.event.number) == [2, 3])
        #expect(recovery.unacknowledged.map(\.decision.number) == [2, 4])
        #expect(recovery.unacknowledged.map(\.generation) == [1, 2])
        #expect(recovery.counts.acknowledged == 1)
    }

    @Test("A range takes an app's events from its first to its last, and no other app's")
    func acknowledgedRange() throws {
        let journal = try place.create()
        try journal.begin()
        for event in UInt64(1)...6 {
            let app = AppID(event == 3 ? 1 : 0)
            try journal.append(
                Delivery(app: app, manager: 1, event: EventID(event), decision: DecisionID(event), generation: 1)
            )
        }
        try journal.acknowledge(app: AppID(0), from: EventID(2), through: EventID(5))
        try journal.commit()
        let recovery = try journal.recover()
        #expect(recovery.unacknowledged.map(\.event.number) == [1, 3, 6])
        #expect(recovery.counts.acknowledged == 3)
    }

    @Test("The same event for the same process is refused the second time")
    func noRepeat() throws {
        let journal = try place.create()
        let delivery = Delivery(app: AppID(0), event: EventID(1), decision: DecisionID(1), generation: 1)
        try journal.begin()
        try journal.append(delivery)
        try journal.commit()
        try journal.begin()
        let columns = "deliveries.event, deliveries.app, deliveries.manager, deliveries.generation"
        #expect(throws: JournalError(.damaged("UNIQUE constraint failed: \(columns)"), path: place.path)) {
            try journal.append(delivery)
        }
    }

    @Test("A run that finished says so")
    func finished() throws {
        let journal = try place.create()
        try journal.finish()
        #expect(try journal.recover().finished)
    }

    @Test("Old inputs and exits go when the file passes its bound, and acknowledged deliveries with each snapshot")
    func rotation() throws {
        let journal = try place.create(.init(bound: 256 << 10))
        let turns: UInt64 = 4_000
        for number in 1...turns {
            try journal.begin()
            try journal.append(
                notification(number),
                payload: .value([UInt8](repeating: 7, count: 200)),
                sequence: number,
                at: second(number),
                origin: .none
            )
            try journal.append(exit(number))
            try journal.append(
                Delivery(app: AppID(0), event: EventID(number), decision: DecisionID(number), generation: 1)
            )
            // One is never acknowledged: its input stays.
            if number != 5 { try journal.acknowledge(app: AppID(0), event: EventID(number)) }
            if number % 500 == 0 {
                try journal.append(snapshot: [1], sequence: number, at: second(number))
            }
            try journal.commit()
        }
        #expect(try journal.bytesInUse < 1 << 20)
        #expect(place.bytesOnDisk < 1 << 20)
        let recovery = try journal.recover()
        #expect(recovery.snapshot?.sequence == turns)
        #expect(try journal.sequences() == [5] + Array(turns - 499...turns))
        #expect(recovery.counts.exits == 0)
        #expect(recovery.unacknowledged.map(\.event.number) == [5])
        #expect(recovery.counts.deliveries == 0)
        #expect(recovery.counts.lastExit == turns)
    }

    @Test("Inputs after the last snapshot but one stay, whatever the bound")
    func rotationKeepsTwoSnapshots() throws {
        let journal = try place.create(.init(bound: 0))
        for number in 1...30 as ClosedRange<UInt64> {
            try journal.turn(number)
            if number % 10 == 0 {
                try journal.begin()
                try journal.append(snapshot: [], sequence: number, at: second(number))
                try journal.commit()
            }
        }
        #expect(try journal.sequences() == Array(21...30))
    }
}

@Suite("A journal that cannot be written or read")
struct JournalFailureTests {
    let place: JournalFolder

    init() throws { place = try JournalFolder() }

    @Test("A full disk is named, leaves nothing half written, and the turn succeeds once there is space")
    func full() throws {
        let journal = try place.create(.init(pageLimit: 160))
        var number: UInt64 = 0
        let fault = #expect(throws: JournalError.self) {
            while true {
                try journal.turn(number + 1, payload: .value([UInt8](repeating: 1, count: 2000)))
                number += 1
            }
        }
        #expect(fault?.kind == .full)
        #expect(fault?.description.hasPrefix("\(place.path): no space left") == true)
        #expect(number > 10)
        #expect(try journal.readCounts().inputs == Int64(number))
        try journal.setPageLimit(nil)
        try journal.turn(number + 1, payload: .value([UInt8](repeating: 1, count: 2000)))
        #expect(try journal.readCounts().inputs == Int64(number) + 1)
    }

    @Test("A journal that a live process holds is refused, and the process is named")
    func inUse() throws {
        let journal = try place.create()
        let fault = #expect(throws: JournalError.self) { try SQLiteJournal(opening: place.path) }
        #expect(fault?.kind == .inUse(pid: ProcessInfo.processInfo.processIdentifier))
        #expect(fault?.description.contains("\(ProcessInfo.processInfo.processIdentifier)") == true)
        try journal.turn(1)
    }

    @Test("The lock of a journal is its user's alone, whatever it was before: who may open it may lock it")
    func lockOfItsUser() throws {
        let lock = place.path + ".lock"
        func rights() throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: lock)[.posixPermissions] as? Int
        }
        _ = try place.create()
        #expect(try rights() == 0o600)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: lock)
        _ = try SQLiteJournal(opening: place.path)
        #expect(try rights() == 0o600)
    }

    @Test(
        "Nothing is accepted into a file of the journal that was removed or renamed, or whose name another has",
        arguments: ["", "-wal"],
        [true, false]
    )
    func displaced(suffix: String, isReplaced: Bool) throws {
        let journal = try place.create()
        try journal.turn(1)
        let file = place.path + suffix
        try FileManager.default.moveItem(atPath: file, toPath: file + ".away")
        if isReplaced { try FileManager.default.copyItem(atPath: file + ".away", toPath: file) }
        #expect(throws: JournalError(.displaced, path: place.path)) { try journal.turn(2) }
        if isReplaced { try FileManager.default.removeItem(atPath: file) }
        try FileManager.default.moveItem(atPath: file + ".away", toPath: file)
        try journal.turn(2)
        #expect(try journal.sequences() == [1, 2])
    }

    @Test("A journal is never made over another")
    func exists() throws {
        _ = try place.create()
        #expect(throws: JournalError(.exists, path: place.path)) { try place.create() }
    }

    @Test("What a bench left that died while making its journal does not stand in the way of the next")
    func halfMade() throws {
        try Data("half".utf8).write(to: URL(filePath: place.path + ".new"))
        let journal = try place.create()
        #expect(try journal.recover().meta == .example)
        #expect(!FileManager.default.fileExists(atPath: place.path + ".new"))
    }

    @Test("A journal that is not there is missing, and opening it leaves nothing behind")
    func missing() throws {
        #expect(throws: JournalError(.missing, path: place.path)) { try SQLiteJournal(opening: place.path) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.folder.path).isEmpty)
    }

    @Test("A folder that is not there is refused with the system's words")
    func noFolder() {
        let path = place.folder.path + "/none/journal.sqlite"
        let words = "open: No such file or directory"
        #expect(throws: JournalError(.system(words), path: path + ".lock")) {
            try SQLiteJournal(creating: path, meta: .example)
        }
    }

    @Test(
        "A file that is something else is refused",
        arguments: ["", "hello", String(repeating: "text\n", count: 2000)]
    )
    func notAJournal(content: String) throws {
        try Data(content.utf8).write(to: URL(fileURLWithPath: place.path))
        #expect(throws: JournalError(.notAJournal, path: place.path)) { try SQLiteJournal(opening: place.path) }
    }

    @Test("A journal of another version is refused with the version")
    func version() throws {
        _ = try place.create()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: place.path))
        // The header's user version: four bytes at 60.
        bytes[63] = 99
        try bytes.write(to: URL(fileURLWithPath: place.path))
        #expect(throws: JournalError(.version(99), path: place.path)) { try SQLiteJournal(opening: place.path) }
    }

    @Test("A journal with pages of noise is refused or read, never a crash")
    func noise() throws {
        let journal = try place.create()
        for number in 1...200 as ClosedRange<UInt64> { try journal.turn(number) }
        try journal.finish()
        let whole = try Data(contentsOf: URL(fileURLWithPath: place.path))
        for seed in 1...60 {
            let folder = try JournalFolder()
            var bytes = whole
            var state = UInt64(seed) &* 0x9e37_79b9_7f4a_7c15
            for _ in 0..<40 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes[100 + Int(state >> 33) % (bytes.count - 100)] = UInt8(truncatingIfNeeded: state >> 20)
            }
            try bytes.write(to: URL(fileURLWithPath: folder.path))
            guard let recovery = try? SQLiteJournal(opening: folder.path).recover() else { continue }
            #expect(recovery.meta == .example)
        }
    }

    @Test("A cut journal is refused or read, never a crash", arguments: [50, 100, 4096, 5000, 12_288])
    func cut(length: Int) throws {
        var journal: SQLiteJournal? = try place.create()
        for number in 1...200 as ClosedRange<UInt64> { try journal?.turn(number) }
        journal = nil
        let bytes = try Data(contentsOf: URL(fileURLWithPath: place.path))
        try bytes.prefix(length).write(to: URL(fileURLWithPath: place.path))
        // The first 100 bytes say what the file is, and how long.
        let kind: JournalError.Kind = length < 100 ? .notAJournal : .damaged("database disk image is malformed")
        #expect(throws: JournalError(kind, path: place.path)) { try SQLiteJournal(opening: place.path).recover() }
    }

    @Test("A turn can be begun again after it was rolled back")
    func rollback() throws {
        let journal = try place.create()
        try journal.begin()
        try journal.append(notification(1), payload: .none, sequence: 1, at: .zero, origin: .none)
        journal.rollback()
        journal.rollback()
        try journal.turn(1)
        #expect(try journal.sequences() == [1])
    }
}
