import WakeModel
import WakePorts

/// An input as it was accepted.
package struct JournaledInput: Hashable, Sendable {
    package var sequence: UInt64
    package var at: Instant
    package var origin: NameID
    /// The event number that it took; none for what takes none.
    package var id: EventID
    package var input: Input
    package var payload: EventPayload
}

/// The run as it stood after an input.
package struct JournaledSnapshot: Hashable, Sendable {
    package var sequence: UInt64
    package var at: Instant
    package var bytes: [UInt8]

    package init(sequence: UInt64, at: Instant, bytes: [UInt8]) {
        self.sequence = sequence
        self.at = at
        self.bytes = bytes
    }
}

/// How much a journal holds, and the highest number of each kind that was ever given; 0 for none.
package struct JournalCounts: Hashable, Sendable {
    package var inputs: Int64 = 0
    /// Since the latest snapshot.
    package var exits: Int64 = 0
    /// Since the latest snapshot.
    package var deliveries: Int64 = 0
    package var acknowledged: Int64 = 0
    package var lastSequence: UInt64 = 0
    package var lastEvent = EventID.none
    package var lastExit: UInt64 = 0
}

/// All that a bench needs to go on where another died.
package struct JournalRecovery: Sendable {
    package var meta: JournalMeta
    /// The run came to its end and its reports were written: there is nothing to go on with.
    package var finished: Bool
    /// How the run came to its end; nil when it broke off before.
    package var end: RunEnding?
    /// The texts of the names 1, 2, 3 and so on.
    package var names: [String]
    /// The latest; nil when the run ended before its first.
    package var snapshot: JournaledSnapshot?
    /// Sent, or about to be sent, and never acknowledged; by event, app and manager, the newest process of each.
    package var unacknowledged: [Delivery]
    /// What the run was told and the journal still has, oldest first.
    package var commands: [JournaledCommand]
    package var counts: JournalCounts
}

extension SQLiteJournal {
    /// Reads all that is needed to go on.
    ///
    /// - Throws: ``JournalError/Kind/damaged(_:)`` with the place of the first row that does not fit its sum, or that
    ///   stands for nothing.
    package func recover() throws(JournalError) -> JournalRecovery {
        let (meta, finished, end) = try readMeta()
        let names = try readNames()
        let snapshot = try readSnapshot()
        try checkDeliveries()
        return JournalRecovery(
            meta: meta,
            finished: finished,
            end: end,
            names: names,
            snapshot: snapshot,
            unacknowledged: try readUnacknowledged(),
            commands: try readCommands(),
            counts: try readCounts()
        )
    }

    /// Gives every input after `sequence` that is still there, oldest first.
    ///
    /// - Parameters:
    ///   - names: how many names the journal has; an input that speaks of another is damaged.
    ///   - undelivered: only those that bring an event of which a delivery was not acknowledged.
    package func readInputs(
        after sequence: UInt64 = 0,
        names: Int = Int(UInt32.max),
        undelivered: Bool = false,
        _ body: (JournaledInput) throws(JournalError) -> Void
    ) throws(JournalError) {
        let part = undelivered ? "AND event IN (SELECT event FROM deliveries WHERE acknowledged = 0)" : ""
        let statement = try Statement(
            "SELECT seq, at, origin, input, payload, event, sum FROM inputs WHERE seq > ?1 \(part) ORDER BY seq",
            on: connection
        )
        statement.bind(1, sequence)
        while try statement.next() { try body(try input(in: statement, names: UInt32(clamping: names))) }
    }

    private func readMeta() throws(JournalError) -> (JournalMeta, finished: Bool, end: RunEnding?) {
        var texts: [String: [UInt8]] = [:]
        let statement = try Statement("SELECT key, value FROM meta", on: connection)
        while try statement.next() {
            if let key = statement.text(0) { texts[key] = statement.bytes(1) }
        }
        func text(_ key: String) throws(JournalError) -> String {
            guard let bytes = texts[key], let text = String(validating: bytes, as: UTF8.self) else {
                throw JournalError(.damaged("no \(key)"), path: path)
            }
            return text
        }
        guard let seed = UInt64(try text("seed")) else { throw JournalError(.damaged("no seed"), path: path) }
        guard let date = Int64(try text("date")) else { throw JournalError(.damaged("no date"), path: path) }
        let summed = texts.filter { $0.key != "state" && $0.key != Self.sumKey }.map { ($0.key, $0.value) }
        guard try text(Self.sumKey) == "\(RowSum.meta(summed))" else {
            throw JournalError(.damaged("what the run is"), path: path)
        }
        let state = try text("state")
        let end = Self.end(in: state)
        guard state == "running" || state == "finished" || end != nil else {
            throw JournalError(.damaged("the run's state"), path: path)
        }
        let meta = JournalMeta(
            run: try text("run"),
            scenarioPath: try text("scenario.path"),
            scenarioHash: try text("scenario.hash"),
            seed: seed,
            profile: try decode(texts["profile"] ?? [], "the profile"),
            backends: try text("backends"),
            freezer: try text("freezer"),
            date: date
        )
        return (meta, state == "finished", end)
    }

    /// How the run came to its end, by a state that says so.
    private static func end(in state: String) -> RunEnding? {
        let words = state.split(separator: " ")
        guard words.count == 6, let at = Int64(words[1]), let began = Int64(words[3]), let took = Int64(words[4]) else {
            return nil
        }
        let ending = RunEnding(
            at: Instant(nanoseconds: at),
            isInterrupted: words[2] == interruptedWord,
            began: began,
            took: Instant.Span(nanoseconds: took)
        )
        return Self.state(of: ending) == state ? ending : nil
    }

    private func readNames() throws(JournalError) -> [String] {
        var names: [String] = []
        let statement = try Statement("SELECT number, text, sum FROM names ORDER BY number", on: connection)
        while try statement.next() {
            guard statement.int64(0) == Int64(names.count) + 1, let text = statement.text(1),
                statement.int64(2) == RowSum.name(statement.int64(0), text: Array(text.utf8))
            else {
                throw JournalError(.damaged("name \(names.count + 1)"), path: path)
            }
            names.append(text)
        }
        return names
    }

    /// The snapshot that the first input that is still there may follow; nil where that is the run's first.
    package func readFirstSnapshot() throws(JournalError) -> JournaledSnapshot? {
        let first = try connection.number("SELECT coalesce(min(seq), 0) FROM inputs")
        return first == 1 ? nil : try readSnapshot(where: "seq >= \(first - 1)", order: "seq")
    }

    private func readSnapshot(
        where fits: String = "true",
        order: String = "seq DESC"
    ) throws(JournalError) -> JournaledSnapshot? {
        let statement = try Statement(
            "SELECT seq, at, snapshot, sum FROM snapshots WHERE \(fits) ORDER BY \(order) LIMIT 1",
            on: connection
        )
        guard try statement.next() else { return nil }
        let snapshot = JournaledSnapshot(
            sequence: statement.uint64(0),
            at: Instant(nanoseconds: statement.int64(1)),
            bytes: statement.bytes(2)
        )
        let sum = RowSum.snapshot(sequence: snapshot.sequence, at: statement.int64(1), bytes: snapshot.bytes)
        guard sum == statement.int64(3) else {
            throw JournalError(.damaged("the snapshot after input \(snapshot.sequence)"), path: path)
        }
        return snapshot
    }

    private func readCommands() throws(JournalError) -> [JournaledCommand] {
        var commands: [JournaledCommand] = []
        let statement = try Statement(
            "SELECT number, seq, at, id, line, sum FROM commands ORDER BY number",
            on: connection
        )
        while try statement.next() {
            let number = statement.uint64(0)
            guard let id = statement.text(3), let line = statement.text(4) else {
                throw JournalError(.damaged("command \(number)"), path: path)
            }
            let at = Instant(nanoseconds: statement.int64(2))
            let command = JournaledCommand(number: number, after: statement.uint64(1), at: at, id: id, line: line)
            guard statement.int64(5) == RowSum.command(command), number == (commands.last?.number ?? number - 1) + 1
            else {
                throw JournalError(.damaged("command \(number)"), path: path)
            }
            commands.append(command)
        }
        return commands
    }

    private func checkDeliveries() throws(JournalError) {
        let statement = try Statement(
            "SELECT event, app, manager, generation, decision, acknowledged, sum FROM deliveries",
            on: connection
        )
        while try statement.next() {
            let sum = RowSum.delivery(
                event: statement.uint64(0),
                app: statement.int64(1),
                manager: statement.int64(2),
                generation: statement.int64(3),
                decision: statement.uint64(4)
            )
            let isWhole =
                switch statement.int64(5) {
                case 0: statement.int64(6) == sum
                case 1: statement.int64(6) == ~sum
                default: false
                }
            guard isWhole else {
                let place = "the delivery of event \(statement.uint64(0)) to app \(statement.int64(1))"
                throw JournalError(.damaged(place), path: path)
            }
        }
    }

    private func readUnacknowledged() throws(JournalError) -> [Delivery] {
        var deliveries: [Delivery] = []
        let statement = try Statement(
            """
            SELECT event, app, manager, max(generation), decision FROM deliveries WHERE acknowledged = 0
            GROUP BY event, app, manager ORDER BY event, app, manager
            """,
            on: connection
        )
        while try statement.next() { deliveries.append(delivery(in: statement)) }
        return deliveries
    }

    /// The decisions from one on that were delivered, and all of whose deliveries were acknowledged.
    package func readAcknowledged(from decision: DecisionID) throws(JournalError) -> Set<DecisionID> {
        let statement = try Statement(
            "SELECT decision FROM deliveries WHERE decision >= ?1 GROUP BY decision HAVING min(acknowledged) = 1",
            on: connection
        )
        statement.bind(1, decision.number)
        var decisions: Set<DecisionID> = []
        while try statement.next() { decisions.insert(DecisionID(statement.uint64(0))) }
        return decisions
    }

    package func readCounts() throws(JournalError) -> JournalCounts {
        let statement = try Statement(
            """
            SELECT (SELECT count(*) FROM inputs),
                (SELECT count(*) FROM exits WHERE number > (SELECT coalesce(max(exit), 0) FROM snapshots)),
                (SELECT count(*) FROM deliveries)
                    - coalesce((SELECT deliveries FROM snapshots ORDER BY seq DESC LIMIT 1), 0),
                (SELECT coalesce(sum(acknowledged), 0) FROM deliveries),
                (SELECT coalesce(max(seq), 0) FROM inputs), (SELECT coalesce(max(event), 0) FROM inputs),
                (SELECT coalesce(max(number), 0) FROM exits)
            """,
            on: connection
        )
        guard try statement.next() else { return JournalCounts() }
        return JournalCounts(
            inputs: statement.int64(0),
            exits: statement.int64(1),
            deliveries: statement.int64(2),
            acknowledged: statement.int64(3),
            lastSequence: statement.uint64(4),
            lastEvent: EventID(statement.uint64(5)),
            lastExit: statement.uint64(6)
        )
    }

    private func input(in statement: Statement, names: UInt32) throws(JournalError) -> JournaledInput {
        let sequence = statement.uint64(0)
        let (input, payload) = (statement.bytes(3), statement.bytes(4))
        let sum = RowSum.input(
            sequence: sequence,
            at: statement.int64(1),
            origin: statement.int64(2),
            event: statement.uint64(5),
            bytes: input + payload,
            split: input.count
        )
        let place = "input \(sequence)"
        guard sum == statement.int64(6), 0...Int64(names) ~= statement.int64(2) else {
            throw JournalError(.damaged(place), path: path)
        }
        return JournaledInput(
            sequence: sequence,
            at: Instant(nanoseconds: statement.int64(1)),
            origin: NameID(UInt32(truncatingIfNeeded: statement.int64(2))),
            id: EventID(statement.uint64(5)),
            input: try decode(input, place, names: names),
            payload: payload.isEmpty ? .none : try decode(payload, "the payload of \(place)", names: names)
        )
    }

    private func delivery(in statement: Statement) -> Delivery {
        Delivery(
            app: AppID(UInt32(truncatingIfNeeded: statement.int64(1))),
            manager: UInt32(truncatingIfNeeded: statement.int64(2)),
            event: EventID(statement.uint64(0)),
            decision: DecisionID(statement.uint64(4)),
            generation: UInt32(truncatingIfNeeded: statement.int64(3))
        )
    }

    private func decode<Value: Decodable>(
        _ bytes: [UInt8],
        _ what: String,
        names: UInt32 = .max
    ) throws(JournalError) -> Value {
        do { return try ByteReader.read(from: bytes, names: names) } catch {
            throw JournalError(.damaged("\(what): \(error)"), path: path)
        }
    }
}
