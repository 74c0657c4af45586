import Testing
import WakeModel

@testable import WakeBench

/// The table "Which mechanism brings a dead app back" of the rulebook's facts, cell by cell: Y, N, or ? where no source settles it.
@Suite("The table of relaunches")
struct RelaunchTableTests {
    /// Purged by the system, crashed, force-quit, reboot and still locked, reboot and unlocked once: to iOS 7, 8 to 10, and from
    /// 11 on where they differ.
    private static let facts: [(mechanism: String, ios8: String, ios17: String, ios26: String)] = [
        ("BLE with restore identifier", "YYNNN", "YYNNY", "YYNNY"),
        ("BLE without restore identifier", "NNNNN", "NNNNN", "NNNNN"),
        ("region (Always)", "YYYNY", "YYYNY", "YY?NY"),
        ("beacon region (Always)", "YYYNY", "YYYNY", "YY?NY"),
        ("significant change (Always)", "YYYNY", "YYYNY", "YY?NY"),
        ("visits (Always)", "YYYNY", "YYYNY", "YY?NY"),
        ("standard location updates", "NNNNN", "NNNNN", "NNNNN"),
        ("region (When In Use)", "NNNNN", "NNNNN", "NNNNN"),
        ("audio", "NNNNN", "NNNNN", "NNNNN"),
        ("external accessory", "NNNNN", "NNNNN", "NNNNN"),
        ("VoIP socket", "YYN?Y", "YYN?Y", "YYN?Y"),
        ("background URLSession", "YYNNY", "YYNNY", "YYNNY"),
        // The fact is of iOS 5 to 12; from 13 on there is no Newsstand.
        ("Newsstand download", "YYNNY", "NNNNN", "NNNNN"),
        ("PushKit", "YYY?Y", "YYY?Y", "YYY?Y"),
        ("silent push", "YYNNY", "YYNNY", "YYNNY"),
        // The fact says what the user sees after a restart, not whether the app is launched.
        ("visible push", "NNN??", "NNN??", "NNN??"),
        ("Newsstand push", "YYNNY", "NNNNN", "NNNNN"),
        ("background fetch", "YYNNY", "YYNNY", "YYNNY"),
        ("BGAppRefreshTask", "NNNNN", "YYNNY", "YYNNY"),
        ("BGProcessingTask", "NNNNN", "YYNNY", "YYNNY"),
    ]

    @Test(
        "LAUNCH-1, LAUNCH-2: each cell of each profile is what the facts say",
        arguments: [Profile.ios8, .ios17, .ios26]
    )
    func cells(profile: Profile) {
        let rows = RelaunchTable(profile: profile).rows
        #expect(Set(rows.map(\.mechanism)) == Set(Self.facts.map(\.mechanism)))
        for fact in Self.facts {
            let known = profile == .ios8 ? fact.ios8 : profile == .ios17 ? fact.ios17 : fact.ios26
            let row = rows.first { $0.mechanism == fact.mechanism }
            let found = row?.cells.map { $0.isRelaunched ? "Y" : "N" }.joined() ?? ""
            let settled = zip(known, found).map { $0 == "?" ? $0 : $1 }
            #expect(String(settled) == known, "\(fact.mechanism): \(found)")
        }
    }

    @Test("A cell that was decided names the rule")
    func rules() throws {
        let table = RelaunchTable(profile: .ios17)
        let belt = try #require(table.rows.first { $0.mechanism == "BLE without restore identifier" })
        #expect(belt.cells[0] == RelaunchTable.Cell(isRelaunched: false, rule: .btc6))
        #expect(table.lines.count == table.rows.count + 1)
        #expect(table.lines[0].contains("FORCE-QUIT"))
    }
}
