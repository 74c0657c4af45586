import Testing
import WakeModel
import WakeReports

@Suite("Equal verdicts, simulated and real")
struct EquivalenceTests {
    let left: ReportFixture
    let right: ReportFixture

    init() throws {
        left = try ReportFixture()
        right = try ReportFixture()
    }

    /// A wake, a refusal and ten values, at times that start at `offset`.
    private func batches(_ fixture: ReportFixture, offset: Int64 = 10) -> [[Decision]] {
        [
            [fixture.resume(1, at: second(offset))], [fixture.resume(2, at: second(offset + 1))],
            [fixture.forceQuit(3, at: second(offset + 2))],
        ]
    }

    private func outcomes(_ fixture: ReportFixture, count: UInt64) -> [Outcome] {
        (1...count).map { fixture.outcome($0, value: "06\($0)") }
    }

    /// The first line of each difference that is told; none of equal runs.
    private func differences(_ simulated: RunLog, _ real: RunLog) -> [String] {
        let comparison = RunComparison(simulated, real, names: ("simulated", "real"))
        if comparison.isEqual { return [] }
        let told = comparison.lines.dropLast().filter { !$0.hasPrefix("  ") }
        return told.isEmpty ? [comparison.summary] : told
    }

    @Test("Runs at other times, with other ids and pids, are equal")
    func equal() throws {
        let real = try right.run(
            [[right.nobody(1, at: second(0))]] + batches(right, offset: 100),
            outcomes: outcomes(right, count: 10).map { outcome in
                var other = outcome
                other.pid = 9
                return other
            }
        )
        let simulated = try left.run(
            [[left.nobody(7, at: second(1))]] + batches(left),
            outcomes: outcomes(left, count: 10)
        )
        #expect(differences(simulated, real) == [])
    }

    @Test("A repeat more or less is no difference")
    func repeats() throws {
        let simulated = try left.run(batches(left))
        let real = try right.run([batches(right)[0]] + batches(right))
        #expect(differences(simulated, real) == [])
    }

    @Test("One altered verdict is found and named")
    func altered() throws {
        var changed = batches(right)
        changed[2][0].verdict = .drop
        let found = differences(try left.run(batches(left)), try right.run(changed))
        #expect(
            found == [
                "com.acme.heart, step 2: simulated has region-entered home: deny, ForceQuit, LAUNCH-2 "
                    + "(T+00:00:12.000, d-000003); real has region-entered home: drop, ForceQuit, LAUNCH-2 "
                    + "(T+00:00:12.000, d-000003)"
            ]
        )
    }

    @Test("Each part of a step counts", arguments: 0..<4)
    func parts(part: Int) throws {
        var changed = batches(right)
        switch part {
        case 0: changed[2][0].reason = .bluetoothOff
        case 1: changed[2][0].rule = .btc10
        case 2: changed[2][0].kind = .peripheralConnected
        default: changed[2][0].subject = right.names.intern("other-belt/2A37")
        }
        #expect(differences(try left.run(batches(left)), try right.run(changed)).count == 1)
    }

    @Test("A missing step is found, whichever run lacks it")
    func missing() throws {
        let whole = try left.run(batches(left))
        let short = try right.run(Array(batches(right).prefix(2)))
        #expect(differences(whole, short).first?.contains("only simulated has") == true)
        #expect(differences(short, whole).first?.contains("only real has") == true)
    }

    @Test("A run of an app that the other does not know is different")
    func otherApp() throws {
        let real = try right.run(batches(right) + [[right.resume(9, at: second(50), app: 1, bundle: "com.acme.b")]])
        #expect(differences(try left.run(batches(left)), real).count == 1)
    }

    @Test(
        "Values are compared in order up to the shorter run, which may lack a tenth",
        arguments: [(10, 9, true), (10, 8, false)]
    )
    func values(longer: UInt64, shorter: UInt64, same: Bool) throws {
        let simulated = try left.run(batches(left), outcomes: outcomes(left, count: longer))
        let real = try right.run(batches(right), outcomes: outcomes(right, count: shorter))
        #expect(differences(simulated, real).isEmpty == same)
        #expect(differences(real, simulated).isEmpty == same)
    }

    @Test("One altered value is found and named")
    func alteredValue() throws {
        var changed = outcomes(right, count: 10)
        changed[4].delivered[0].value = "ff"
        let simulated = try left.run(batches(left), outcomes: outcomes(left, count: 10))
        let real = try right.run(batches(right), outcomes: changed)
        #expect(
            differences(simulated, real) == [
                "com.acme.heart, value 5: simulated has 065 (T+00:00:05.000, d-000005); "
                    + "real has ff (T+00:00:05.000, d-000005)"
            ]
        )
    }

    @Test("Two runs without decisions are equal, which is said with its reason; one beside one with decisions is not")
    func empty() throws {
        let comparison = RunComparison(try left.run([]), try right.run([]), names: ("simulated", "real"))
        #expect(comparison.isEqual)
        #expect(comparison.lines == ["equal verdicts: simulated and real, neither of which has a decision"])
        #expect(comparison.json.hasPrefix(#"{"schema":"wake.compare/1","ok":true,"equal":true,"#))
        #expect(differences(try left.run([]), try right.run(batches(right))) != [])
        #expect(differences(try left.run(batches(left)), try right.run([])) != [])
    }
}
