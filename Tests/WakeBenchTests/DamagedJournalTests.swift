import ChildProcess
import Foundation
import Testing
@testable import WakeJournal
import WakePorts

/// Going on with journals that were damaged in every way we could think of.
@Suite("A damaged journal", .serialized)
struct DamagedJournalTests {
    /// How many altered journals of each story.
    private static let mutants = 100
    private static let mutantsWithProcesses = 15

    @Test("Going on with a damaged journal ends with a clear word or a true run: played apps")
    func played() throws {
        try examine(Self.mutants) { program in
            let belt = """
                device: bluetooth-peripheral
                address: "F0:11:22:33:44:55"
                advertising: {services: [180D]}
                gatt:
                  - service: 180D
                    characteristics:
                      - uuid: 2A37
                        properties: [notify]
                        repeat: true
                        notifications: [{after: 15s, counter: {count: 3, every: 2s, width: 1}}]

                """
            try program.write(belt, to: "belt.yaml")
            let app = """
                modes: [bluetooth-central]
                    restore-identifier: central
                    uses: [{device: belt, characteristic: 2A37}]
                """
            let scenario = """
                scenario: damage
                devices: [{file: belt.yaml, name: belt}]
                apps:
                  - scripted: com.example.one
                    name: one
                    \(app)
                  - scripted: com.example.two
                    name: two
                    \(app)
                steps:
                  - {at: 0, launch: one}
                  - {at: 3s, launch: two}
                  - {at: 5s, home: two}
                  - {at: 300s, every: 400s, times: 8, terminate: one, cause: memory}
                  - {at: 700s, every: 500s, times: 6, launch: one}
                until: 60m

                """
            try program.write(scenario, to: "scenario.yaml")
        }
    }

    @Test(
        "Going on with a damaged journal ends with a clear word or a true run: processes",
        .enabled(if: BenchProgram.python, "/usr/bin/python3 is missing"),
        .timeLimit(.minutes(10))
    )
    func processes() throws {
        try examine(Self.mutantsWithProcesses, comparesLogs: false) { try Story.virtual.prepare(in: $0) }
    }

    /// Breaks a run off, damages its journal so many times, and goes on with each.
    private func examine(
        _ mutants: Int,
        comparesLogs: Bool = true,
        prepare: (BenchProgram) throws -> Void
    ) throws {
        let program = try BenchProgram()
        try prepare(program)
        try breakOff(program)
        try FileManager.default.moveItem(atPath: path(program, "out"), toPath: path(program, "broken"))
        let whole = try goOn(program) { _ in }
        try #require(whole.code == 0, "\(whole.errors)")
        var refused = 0
        var wentOn = 0
        for seed in 1...mutants {
            var mutation = Mutation(seed: UInt64(seed))
            let outcome = try goOn(program) { try mutation.damage($0) }
            switch outcome.code {
            case 0:
                wentOn += 1
                if comparesLogs { #expect(outcome.decisions == whole.decisions, "\(mutation)") }
            case 4, 11:
                refused += 1
                #expect(outcome.errors.contains("journal.sqlite: "), "\(mutation): \(outcome.errors)")
                #expect(outcome.errors.split(separator: "\n").count == 1, "\(mutation): \(outcome.errors)")
            default: Issue.record("\(mutation): code \(outcome.code): \(outcome.errors)")
            }
        }
        // Damage that strikes what no recovery reads is of no consequence.
        #expect(refused > mutants / 3)
        print("\(mutants) damaged journals: \(refused) refused, \(wentOn) of no consequence")
        #expect(program.waitForTheDead().isEmpty)
    }

    private func path(_ program: BenchProgram, _ name: String) -> String { program.folder.appending(path: name).path }

    private static let arguments = ["run", "scenario.yaml", "--apps", "apps", "--out", "out", "-q"]

    /// A run that broke off at the same place each time: its log found no space.
    private func breakOff(_ program: BenchProgram) throws {
        let limited = ["/bin/bash", "-c", "ulimit -f 160; exec \"$@\"", "limited"]
        let outcome = try program.run(Self.arguments, as: limited)
        try #require(outcome.code != 0)
        let connection = try Connection(path: path(program, "out/journal.sqlite"), creating: false)
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try #require(try connection.number("SELECT count(*) FROM inputs") > 20)
    }

    private func goOn(
        _ program: BenchProgram,
        _ damage: (String) throws -> Void
    ) throws -> (code: Int32, errors: String, decisions: [Substring]) {
        let out = path(program, "out")
        try? FileManager.default.removeItem(atPath: out)
        try FileManager.default.copyItem(atPath: path(program, "broken"), toPath: out)
        try damage(out + "/journal.sqlite")
        let outcome = try program.run(Self.arguments)
        return (outcome.code, outcome.errors, try program.lines(of: "out/decisions.ndjson"))
    }
}

/// One seeded way to damage a journal.
private struct Mutation: CustomStringConvertible {
    private let seed: UInt64
    private var state: UInt64
    private var did = ""

    init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    var description: String { "mutant \(seed) (\(did))" }

    private mutating func below(_ bound: Int64) -> Int64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return Int64((mixed ^ (mixed >> 31)) % UInt64(max(1, bound)))
    }

    private mutating func one<Value>(of values: [Value]) -> Value { values[Int(below(Int64(values.count)))] }

    private static let keys = [
        ("inputs", "seq"), ("names", "number"), ("deliveries", "event"), ("exits", "number"), ("meta", "key"),
        ("snapshots", "seq"),
    ]
    private static let blobs = [
        ("inputs", "seq", "input"), ("inputs", "seq", "payload"), ("names", "number", "text"),
        ("meta", "key", "value"), ("exits", "number", "exit"), ("snapshots", "seq", "snapshot"),
    ]
    private static let numbers = [
        ("inputs", "seq"), ("inputs", "at"), ("inputs", "origin"), ("inputs", "event"), ("names", "number"),
        ("deliveries", "event"), ("deliveries", "app"), ("deliveries", "acknowledged"), ("deliveries", "manager"),
        ("deliveries", "generation"), ("snapshots", "at"), ("exits", "number"),
    ]

    mutating func damage(_ path: String) throws {
        if below(8) == 0 { return try damageFile(path) }
        let connection = try Connection(path: path, creating: false)
        func count(_ table: String) throws -> Int64 { try connection.number("SELECT count(*) FROM \(table)") }
        switch below(5) {
        case 0:
            let (table, key) = one(of: Self.keys)
            let row = below(try count(table))
            did = "DELETE FROM \(table) WHERE \(key) = (SELECT \(key) FROM \(table) LIMIT 1 OFFSET \(row))"
        case 1:
            let (table, key, column) = one(of: Self.blobs)
            let row = below(try count(table))
            let place = below(24)
            did = """
                UPDATE \(table) SET \(column) = CAST(substr(\(column), 1, \(place)) || x'\(String(16 + below(240), radix: 16))'
                || substr(\(column), \(place + 2)) AS BLOB)
                WHERE \(key) = (SELECT \(key) FROM \(table) LIMIT 1 OFFSET \(row))
                """
        case 2:
            let (table, key) = one(of: [("inputs", "seq"), ("names", "number")])
            did = "DELETE FROM \(table) WHERE \(key) > \(below(try count(table)))"
        case 3:
            let (table, key) = one(of: [("inputs", "seq"), ("names", "number")])
            let (first, second) = (1 + below(try count(table)), 1 + below(try count(table)))
            did = """
                UPDATE \(table) SET \(key) = -1 WHERE \(key) = \(first);
                UPDATE \(table) SET \(key) = \(first) WHERE \(key) = \(second);
                UPDATE \(table) SET \(key) = \(second) WHERE \(key) = -1
                """
        default:
            let (table, column) = one(of: Self.numbers)
            let row = below(try count(table))
            let values = [-1, 0, 1, 2, below(100), Int64.max, Int64.min, 1 << 32]
            did = """
                UPDATE OR IGNORE \(table) SET \(column) = \(one(of: values)) WHERE \(column) =
                (SELECT \(column) FROM \(table) LIMIT 1 OFFSET \(row))
                """
        }
        try connection.execute(did)
    }

    /// Alters or cuts the file itself.
    private mutating func damageFile(_ path: String) throws {
        var bytes = try Data(contentsOf: URL(filePath: path))
        if below(3) == 0 {
            let length = Int(below(Int64(bytes.count)))
            did = "cut at \(length)"
            bytes = bytes.prefix(length)
        } else {
            let place = Int(below(Int64(bytes.count)))
            did = "byte \(place)"
            bytes[place] ^= UInt8(1 + below(255))
        }
        try bytes.write(to: URL(filePath: path))
    }
}
