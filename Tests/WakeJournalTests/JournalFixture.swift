import Foundation
import WakeJournal
import WakeModel
import WakePorts

/// A folder of its own for one test, removed with it.
final class JournalFolder {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "wake-journal-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var path: String { folder.appending(path: "journal.sqlite").path }

    var bytesOnDisk: Int {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }

    /// A journal with the names that the examples speak of.
    func create(
        _ settings: SQLiteJournal.Settings = .init(),
        names: [String] = ["com.acme.heart", "night.yaml:31 – Gürtel", "belt", "2A37"]
    ) throws -> SQLiteJournal {
        let journal = try SQLiteJournal(creating: path, meta: .example, settings: settings)
        try journal.begin()
        for (place, name) in names.enumerated() { try journal.append(NameID(UInt32(place + 1)), text: name) }
        try journal.commit()
        return journal
    }
}

extension JournalMeta {
    static let example = JournalMeta(
        run: "20261121T020000-1",
        scenarioPath: "night.yaml",
        scenarioHash: "9f86d081",
        seed: 42,
        profile: .ios17,
        backends: "bluetooth=simulated",
        freezer: "cgroup2",
        date: 1_767_225_600
    )
}

/// The nth notification of a belt.
func notification(_ number: UInt64) -> Input {
    .event(
        WakeEvent(
            kind: .characteristicNotified,
            peripheral: NameID(3),
            attribute: 14,
            subject: NameID(4),
            origin: NameID(2),
            id: EventID(number)
        )
    )
}

func exit(_ number: UInt64) -> ExitRecord {
    ExitRecord(
        number: number,
        app: AppID(0),
        generation: 1,
        cause: .memory,
        code: -9,
        stateBefore: .suspended,
        causedBy: .none,
        at: second(number)
    )
}

func second(_ number: UInt64) -> Instant { Instant.zero.advanced(by: .seconds(Int64(number))) }

extension SQLiteJournal {
    /// An input with the number of its event.
    func append(
        _ input: Input,
        payload: EventPayload,
        sequence: UInt64,
        at: Instant,
        origin: NameID
    ) throws(JournalError) {
        let id = if case .event(let event) = input { event.id } else { EventID.none }
        try append(input, id: id, payload: payload, sequence: sequence, at: at, origin: origin)
    }

    /// One turn: the nth notification.
    func turn(_ number: UInt64, payload: EventPayload = .value([6, 72])) throws {
        try begin()
        try append(
            notification(number),
            payload: payload,
            sequence: number,
            at: second(number),
            origin: NameID(2)
        )
        try commit()
    }

    func sequences(after: UInt64 = 0) throws -> [UInt64] {
        var sequences: [UInt64] = []
        try readInputs(after: after) { (input) throws(JournalError) in sequences.append(input.sequence) }
        return sequences
    }
}
