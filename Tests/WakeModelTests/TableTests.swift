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
        let rows = try table("colour\tword\ngreen\tVert\nred\t\n").rows(of: Colour.self, by: "colour")
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
            _ = try table(text).rows(of: Colour.self, by: "colour")
            Issue.record("accepted")
        } catch {
            #expect(error.description == refusal)
        }
    }

    @Test(
        "A table with a hole, a double or a stranger is refused with its line",
        arguments: [
            ("red\tRouge\n", "colours.tsv:2: there is no row for green"),
            ("red\tRouge\ngreen\tVert\nred\tRosso\n", "colours.tsv:4: red is in line 2 already"),
            ("red\tRouge\nblue\tBleu\ngreen\tVert\n", "colours.tsv:3: there is no blue"),
        ]
    )
    func incomplete(rows: String, refusal: String) throws {
        let table = try table("colour\tword\n" + rows)
        do throws(TableError) {
            _ = try table.rows(of: Colour.self, by: "colour")
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
