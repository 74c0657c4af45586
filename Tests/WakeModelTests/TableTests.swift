import Foundation
import Testing
import WakeModel

@Suite("The embedded tables")
struct TableTests {
    /// The members of a closed list, for tables about it.
    private enum Colour: CaseIterable, Sendable { case red, green }

    private func table(_ text: String) throws(TableError) -> Table {
        try Table("colours.tsv", Array(text.utf8), columns: ["colour", "word"])
    }

    @Test("Rows come in the order of the list that they are about, whatever theirs")
    func order() throws {
        let rows = try table("colour\tword\ngreen\tVert\nred\t\n").rows(of: Colour.self, by: "colour") { "\($0)" }
        #expect(rows.map { $0["word"] } == [nil, "Vert"])
        #expect(rows.map(\.line) == [3, 2])
    }

    @Test(
        "A malformed table is refused with its line",
        arguments: [
            ("colour\nred\n", "colours.tsv:1: expected the columns colour, word"),
            ("colour\tword\nred\tRouge\ngreen\n", "colours.tsv:3: 1 cells for 2 columns"),
            ("colour\tword\nred\tRouge\tRosso\ngreen\tVert\n", "colours.tsv:2: 3 cells for 2 columns"),
            ("colour\tword\nred\tRouge\n\ngreen\tVert\n", "colours.tsv:3: 1 cells for 2 columns"),
            ("colour\tword\nred\tRouge\n\tVert\n", "colours.tsv:3: colour is empty"),
        ]
    )
    func malformed(text: String, refusal: String) {
        do throws(TableError) {
            _ = try table(text).rows(of: Colour.self, by: "colour") { "\($0)" }
            Issue.record("accepted")
        } catch {
            #expect(error.description == refusal)
        }
    }

    @Test(
        "A table with a hole, a double or a stranger is refused with its line",
        arguments: [
            ("red\tRouge\n", "colours.tsv:3: there is no row for green"),
            ("red\tRouge\ngreen\tVert\nred\tRosso\n", "colours.tsv:4: red is in line 2 already"),
            ("red\tRouge\nblue\tBleu\ngreen\tVert\n", "colours.tsv:3: there is no blue"),
        ]
    )
    func incomplete(rows: String, refusal: String) throws {
        let table = try table("colour\tword\n" + rows)
        do throws(TableError) {
            _ = try table.rows(of: Colour.self, by: "colour") { "\($0)" }
            Issue.record("accepted")
        } catch {
            #expect(error.description == refusal)
        }
    }

    @Test("A cell that must be filled, or must name something, is refused with its line when it does not")
    func cells() throws {
        let row = try #require(table("colour\tword\nred\t\n").rows.first)
        do throws(TableError) {
            _ = try row.filled("word")
            Issue.record("accepted")
        } catch {
            #expect(error.description == "colours.tsv:2: word is empty")
        }
        do throws(TableError) {
            _ = try row.value("colour") { RuleID(text: $0) }
            Issue.record("accepted")
        } catch {
            #expect(error.description == "colours.tsv:2: colour: there is no red")
        }
    }

    @Test("A table that is not UTF-8 is refused with its line")
    func encoding() {
        let bytes = Array("colour\tword\nred\tRou".utf8) + [0xff] + Array("ge\ngreen\tVert\n".utf8)
        do throws(TableError) {
            _ = try Table("colours.tsv", bytes, columns: ["colour", "word"])
            Issue.record("accepted")
        } catch {
            #expect(error.description == "colours.tsv:2: this is not UTF-8")
        }
    }
}

@Suite("What the tables say of reasons, checks and kinds of event")
struct TableRowTests {
    @Test("A reason, a check and a kind take their words from their rows")
    func words() {
        #expect(Reason.benchRestarted.word == "BenchRestart")
        #expect(Reason.benchRestarted.rule == .sys2)
        #expect(Check.bluetoothOn.rule == .btc10)
        #expect(Check.bluetoothOn.statement == "Bluetooth is on")
        #expect(EventKind.signalStrengthRead.word == "rssi-read")
        #expect(EventKind.signalStrengthRead.source == .bluetooth)
        #expect(EventKind.writeRequested.mode == .bluetoothPeripheral)
    }

    @Test("No two reasons, no two checks and no two kinds have one word")
    func doubles() {
        #expect(Set(Reason.allCases.map(\.word)).count == Reason.allCases.count)
        #expect(Set(Check.allCases.map(\.statement)).count == Check.allCases.count)
        #expect(Set(EventKind.allCases.map(\.word)).count == EventKind.allCases.count)
    }

    private func refusal(_ rows: [String]) -> String? {
        let general = Reason.allCases.map { "\($0)\t\t\($0.word)\tSYS-4\tso it is\t" }
        let lines = ["reason\tmode\tword\trule\tbecause\tadvice"] + general + rows + [""]
        do throws(TableError) {
            _ = try ReasonRow.all(Array(lines.joined(separator: "\n").utf8))
            return nil
        } catch {
            return error.problem
        }
    }

    /// The first column of an embedded table, of the rows that are about a member.
    private static func names(_ table: String, _ isMember: ([Substring]) -> Bool = { _ in true }) throws -> [Substring]
    {
        let file = URL(filePath: #filePath).appending(path: "../../../Sources/Core/WakeModel/Tables/\(table)")
            .standardized
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").dropFirst()
        return lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false) }.filter(isMember).map { $0[0] }
    }

    @Test("The rows of reasons, checks and deeds are in the order of their lists, which the program takes for granted")
    func inOrder() throws {
        #expect(try Self.names("reasons.tsv") { $0[1].isEmpty } == Reason.allCases.map { "\($0)" })
        #expect(try Self.names("checks.tsv") == Check.allCases.map { "\($0)" })
        #expect(try Self.names("deeds.tsv") == Deed.allCases.map { "\($0)" })
    }

    @Test("What is said of a reason for one background mode is said once, and of a reason and a mode that are there")
    func variants() {
        #expect(refusal(["overflow\taudio\t\t\tthe buffer was full\t"]) == nil)
        #expect(
            refusal(["overflow\taudio\t\t\ta\t", "overflow\taudio\t\t\tb\t"]) == "overflow is there already for audio"
        )
        #expect(refusal(["overflown\taudio\t\t\ta\t"]) == "reason: there is no overflown")
        #expect(refusal(["overflow\tradio\t\t\ta\t"]) == "mode: there is no radio")
        let count = Reason.allCases.count
        #expect(refusal(["overflow\t\t\t\ta\t"]) == "\(count + 1) rows for \(count) members")
    }
}

@Suite("The kinds of event")
struct EventKindTests {
    private func refusal(_ rows: [String]) -> String? {
        do throws(TableError) {
            _ = try EventRow.all(
                Array((["kind\tword\tsource\tmode\tcallback"] + rows + [""]).joined(separator: "\n").utf8)
            )
            return nil
        } catch {
            return error.problem
        }
    }

    @Test("A kind is its row's, which is there once")
    func rows() {
        #expect(EventKind.allCases.map(\.rawValue) == EventKind.allCases.indices.map { UInt8($0) })
        #expect(EventKind(rawValue: UInt8(EventKind.allCases.count)) == nil)
        #expect(refusal(["rung\trung\tvoip\tvoip\tstream"]) == nil)
        #expect(
            refusal(["rung\trung\tvoip\tvoip\tstream", "rung\trings\tvoip\tvoip\tstream"]) == "rung is there already"
        )
        #expect(refusal(["rung\trung\tbell\tvoip\tstream"]) == "source: there is no bell")
    }

    @Test("Each area declares its own kinds, by the names and numbers of their rows")
    func declared() throws {
        let areas = try #require(
            FileManager.default.enumerator(
                at: URL(filePath: #filePath).appending(path: "../../../Sources/Core/WakeModel/Areas").standardized,
                includingPropertiesForKeys: nil
            )
        )
        var names: [Int: String] = [:]
        for case let file as URL in areas where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /static var (\w+): EventKind \{ EventKind\(row: (\d+)\) \}/) {
                let row = try #require(Int(match.output.2))
                #expect(names.updateValue(String(match.output.1), forKey: row) == nil, "two kinds of row \(row)")
                let kind = try #require(EventKind(rawValue: UInt8(row)))
                let area = file.deletingLastPathComponent().lastPathComponent.lowercased()
                // A source may be called by the last part of its area's name.
                #expect(area.hasSuffix(kind.source.word), "\(kind) is declared by \(area)")
            }
        }
        #expect(EventKind.allCases.map { names[Int($0.rawValue)] } == EventKind.allCases.map { "\($0)" })
    }
}
