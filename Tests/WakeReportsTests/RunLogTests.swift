import Foundation
import Testing
import WakeJSON
import WakeModel

@testable import WakeReports

@Suite("Reading the logs of a run")
struct RunLogTests {
    let fixture: ReportFixture

    init() throws { fixture = try ReportFixture() }

    @Test("A decision reads back with what readers need")
    func decision() throws {
        let log = try fixture.run([[fixture.forceQuit(412, at: second(8047), event: 398)]])
        let record = try #require(log.decisions.first)
        #expect(log.header == ReportFixture.header)
        #expect(record.id == DecisionID(412))
        #expect(record.at == second(8047))
        #expect(record.event == EventID(398))
        #expect(record.app == "com.acme.heart")
        #expect(record.stateBefore == "terminated")
        #expect(record.verdict == .deny)
        #expect(record.reason == .forceQuit)
        #expect(record.rule == .launch2)
        #expect(record.decisive?.rule == .launch2)
        #expect(record.decisive?.since == second(7080))
        #expect(record.decisive?.setBy == "e-000371")
        #expect(record.alsoFailing == ["LOC-5"])
        #expect(record.budget?.limit == 10_000)
        #expect(record.lastExit?.id == "x-1")
        #expect(log.end == second(8047))
    }

    @Test("The last outcome of a decision counts, with its callbacks")
    func outcome() throws {
        var first = fixture.outcome(1)
        first.ended = nil
        let last = fixture.outcome(1, value: "0648")
        let log = try fixture.run([[fixture.resume(1, at: second(1))]], outcomes: [first, last])
        var expected = last
        expected.wall = 0
        #expect(log.outcomes == [1: expected])
    }

    @Test("An outcome's line has the time of day and its parts in order")
    func outcomeLine() throws {
        let log = OutcomeLog()
        var outcome = fixture.outcome(431, value: "0648")
        outcome.exit = 18
        outcome.ended = .killed
        try log.append(outcome)
        #expect(
            log.contents
                == #"{"schema":"wake.outcome/1","decision":"d-000431","event":"e-000431","app":"com.acme.heart","#
                + #""t":"T+00:07:11.000","wall":"2026-11-21T04:00:11.120Z","pid":4711,"spawn_ms":38,"#
                + #""delivered":[{"callback":"didUpdateValueFor","t":"T+00:07:11.000","value":"0648"}],"#
                + #""acknowledged":true,"used_ms":612,"ended":"killed","exit_id":"x-18"}"# + "\n"
        )
    }

    @Test(
        "The time of day is the calendar's",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (951_782_400_000_000_000, "2000-02-29T00:00:00.000Z"),
            (-1_000_000, "1969-12-31T23:59:59.999Z"), (4_107_542_399_000_000_000, "2100-02-28T23:59:59.000Z"),
        ] as [(Int64, String)]
    )
    func wall(nanoseconds: Int64, text: String) {
        #expect(WallTime.text(nanoseconds) == text)
    }

    @Test("Moves, ends of processes and notes read back")
    func others() throws {
        let move = StateMove(app: "com.acme.heart", at: second(1), from: .suspended, to: .background, pid: 7)
        let exit = ExitEntry(
            number: 3,
            app: "com.acme.heart",
            at: second(2),
            generation: 1,
            cause: .memory,
            code: -9,
            stateBefore: .suspended,
            pid: 7
        )
        let outcomes = try OutcomeLog(creating: fixture.outcomesPath)
        try outcomes.append(move)
        try outcomes.append(exit)
        try outcomes.append(Note(text: "the night is over", at: second(3)))
        try outcomes.flush()
        let decisions = try DecisionLog(
            creating: fixture.decisionsPath,
            header: ReportFixture.header,
            profile: .ios17,
            names: fixture.names.text
        )
        try decisions.flush()
        let log = try RunLog(folder: fixture.folder.path)
        #expect(log.moves == [move])
        #expect(log.exits == [exit])
        #expect(log.notes.map(\.text) == ["the night is over"])
        #expect(log.end == second(3))
    }

    @Test("Lines that are put off reach the file in order, and as far as they have happened for good")
    func putOff() throws {
        let outcomes = try OutcomeLog(creating: fixture.outcomesPath)
        outcomes.hold()
        outcomes.isPutOff = true
        func notes() throws -> [String] {
            try outcomes.flush()
            let text = try String(contentsOfFile: fixture.outcomesPath, encoding: .utf8)
            return text.split(separator: "\n").compactMap { line in
                JSONValue(parsing: Array(line.utf8)).flatMap(Note.init)?.text
            }
        }
        try outcomes.append(Note(text: "first", at: second(1)))
        #expect(try notes() == [])
        try outcomes.append(Note(text: "second", at: second(2)))
        try outcomes.settle()
        try outcomes.append(Note(text: "third", at: second(3)))
        #expect(try notes() == ["first", "second"])
        let size = try outcomes.appendMeasured(Note(text: "fourth", at: second(4)))
        let alone = OutcomeLog()
        #expect(try size == alone.appendMeasured(Note(text: "fourth", at: second(4))))
        #expect(try notes() == ["first", "second"])
        try outcomes.append(Note(text: "fifth", at: second(5)))
        #expect(try notes() == ["first", "second"])
        try outcomes.settle()
        #expect(try notes() == ["first", "second", "third", "fourth", "fifth"])
    }

    @Test("A log that is given up holds the lines that were put off")
    func putOffAtTheEnd() throws {
        var outcomes: OutcomeLog? = try OutcomeLog(creating: fixture.outcomesPath)
        outcomes?.isPutOff = true
        try outcomes?.append(Note(text: "the last", at: second(1)))
        outcomes = nil
        #expect(try String(contentsOfFile: fixture.outcomesPath, encoding: .utf8).contains("the last"))
    }

    @Test(
        "An identifier has six digits or as many as it needs",
        arguments: [
            (0, "000000"), (398, "000398"), (999_999, "999999"), (1_000_000, "1000000"),
            (9_999_999_999_999, "9999999999999"), (10_000_000_000_000, "10000000000000"),
            (UInt64.max, "18446744073709551615"),
        ] as [(UInt64, String)]
    )
    func identifiers(number: UInt64, digits: String) {
        #expect(LogTime.text(DecisionID(number)) == "d-" + digits)
        #expect(LogTime.text(EventID(number)) == "e-" + digits)
    }

    @Test("A move reads the same whether or not it is written as the bench does", arguments: [#"a \"b\""#, "é"])
    func moves(app: String) throws {
        let outcomes = OutcomeLog()
        let move = StateMove(app: app, at: second(3_700), from: .suspended, to: .notRunning, pid: -1)
        try outcomes.append(move)
        let line = outcomes.contents
        _ = try fixture.run([])
        try Data((line + line.replacing(":", with: ": ").replacing("T+01: 01: 40", with: "T+01:01:40")).utf8)
            .write(to: URL(fileURLWithPath: fixture.outcomesPath))
        #expect(try RunLog(folder: fixture.folder.path).moves == [move, move])
    }

    @Test("The value of an event is one line for all of its decisions, and reads the same however it is written")
    func values() throws {
        let outcomes = OutcomeLog()
        try outcomes.append(ValueEntry(event: EventID(1), value: "0648"))
        let line = outcomes.contents
        #expect(line == #"{"schema":"wake.value/1","event":"e-000001","value":"0648"}"# + "\n")
        _ = try fixture.run([
            [fixture.resume(1, at: second(1))],
            [fixture.resume(2, at: second(1), event: 1, app: 1, bundle: "com.acme.run")],
            [fixture.resume(3, at: second(2))],
        ])
        for text in [line, line.replacing(":", with: ": ")] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: fixture.outcomesPath))
            let log = try RunLog(folder: fixture.folder.path)
            #expect(log.decisions.map { log.value(of: $0) } == ["0648", "0648", nil])
        }
    }

    @Test("One app's lines can be read alone, with events that nobody registered for")
    func oneApp() throws {
        let batches = [
            [fixture.resume(1, at: second(1))],
            [fixture.resume(2, at: second(2), app: 1, bundle: "com.acme.other")],
            [fixture.nobody(3, at: second(3))],
        ]
        let log = try fixture.run(batches, app: "com.acme.other")
        #expect(log.decisions.map(\.id.number) == [2, 3])
    }

    @Test("A log cut at any byte is read up to there")
    func cut() throws {
        _ = try fixture.run([[fixture.resume(1, at: second(1))], [fixture.forceQuit(2, at: second(2))]])
        let whole = try Data(contentsOf: URL(fileURLWithPath: fixture.decisionsPath))
        let ends = whole.indices.filter { whole[$0] == 0x0a }
        for length in stride(from: ends[0] + 1, through: whole.count, by: 7) {
            try whole.prefix(length).write(to: URL(fileURLWithPath: fixture.decisionsPath))
            let log = try RunLog(folder: fixture.folder.path)
            // The first line, then a shape and a record for each.
            #expect(log.decisions.count == (ends.count { $0 < length } - 1) / 2)
        }
    }

    @Test("Scrambled lines are left out, never a crash")
    func scrambled() throws {
        _ = try fixture.run([[fixture.forceQuit(1, at: second(1))]], outcomes: [fixture.outcome(1, value: "06")])
        let count = try RunLog(folder: fixture.folder.path, evidence: true).decisions.count
        for path in [fixture.decisionsPath, fixture.outcomesPath] {
            let whole = try Data(contentsOf: URL(fileURLWithPath: path))
            let start = path == fixture.decisionsPath ? (whole.firstIndex(of: 0x0a) ?? 0) + 1 : 0
            var state: UInt64 = 1
            for _ in 0..<120 {
                var bytes = whole
                for _ in 0..<3 {
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    bytes[start + Int(state >> 33) % (bytes.count - start)] = UInt8(truncatingIfNeeded: state >> 24)
                }
                try bytes.write(to: URL(fileURLWithPath: path))
                let log = try RunLog(folder: fixture.folder.path, evidence: true)
                #expect(path == fixture.outcomesPath ? log.decisions.count == count : log.decisions.count <= count)
                _ = Timeline.text(log)
                _ = Why(log, app: "com.acme.heart").explanation()
                _ = try PageReading(HTMLReport.bytes(.init(log, title: "x"))).records()
                _ = try ChromeTrace.text(log)
            }
            try whole.write(to: URL(fileURLWithPath: path))
        }
    }

    @Test("A folder without a run is refused with the file's name")
    func missing() {
        #expect(throws: ReportError(.missing, path: "/none/decisions.ndjson")) { try RunLog(folder: "/none") }
    }

    @Test("A file that is no log is refused", arguments: ["", "hello\n", "{}\n"])
    func foreign(content: String) throws {
        try Data(content.utf8).write(to: URL(fileURLWithPath: fixture.decisionsPath))
        #expect(throws: ReportError(.foreign("not a log of wakebench"), path: fixture.decisionsPath)) {
            try RunLog(folder: fixture.folder.path)
        }
    }

    @Test(
        "LOC-9: how long apps kept the receiver on is read from the log, the last word of each, and shown on the page"
    )
    func receiver() throws {
        _ = try fixture.run([[fixture.resume(1, at: second(10))]])
        let log = try OutcomeLog(creating: fixture.outcomesPath)
        try log.append(ReceiverEntry(app: "com.acme.heart", at: second(20), milliseconds: 1_000))
        try log.append(ReceiverEntry(app: "com.acme.<run>", at: second(20), milliseconds: 1_500))
        try log.append(ReceiverEntry(app: "com.acme.heart", at: second(30), milliseconds: 90_000))
        try log.flush()
        let run = try RunLog(folder: fixture.folder.path)
        #expect(run.receiver.map(\.app) == ["com.acme.<run>", "com.acme.heart"])
        #expect(run.receiver.map(\.time) == [.milliseconds(1_500), .seconds(90)])
        #expect(run.end == second(30))
        let page = String(decoding: HTMLReport.bytes(.init(run, title: "run")), as: UTF8.self)
        #expect(page.contains("<tr><td>com.acme.&lt;run&gt;</td><td>1.5s</td></tr>"))
        #expect(page.contains("<tr><td>com.acme.heart</td><td>1m30s</td></tr>"))
        let other = String(decoding: HTMLReport.bytes(.init(try fixture.run([]), title: "run")), as: UTF8.self)
        #expect(!other.contains("Receiver"))
    }
}
