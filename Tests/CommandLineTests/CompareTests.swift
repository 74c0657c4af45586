import Foundation
import Testing

@Suite("Runs that are compared")
struct CompareTests {
    @Test("Two runs without decisions are equal: exit code 0, as text and as JSON; one beside a run with some is not")
    func withoutDecisions() throws {
        let program = try Program()
        defer { program.clean() }
        let empty = "scenario: e\napps: [{scripted: com.example.a, name: a}]\nsteps: [{at: 0, launch: a}]\nuntil: 10s\n"
        try program.write("empty.yaml", empty)
        try program.writeForceQuit()
        for (file, out) in [("empty.yaml", "a"), ("empty.yaml", "b"), ("swiped.yaml", "c")] {
            #expect(try program.run("run", file, "--out", out, "-q").code == 0)
        }
        let equal = try program.run("compare", "a", "b")
        #expect(equal.code == 0 && equal.errors == "")
        #expect(equal.output == "equal verdicts: a and b, neither of which has a decision\n")
        let json = try program.run("compare", "a", "b", "--json")
        #expect(json.code == 0)
        #expect(json.output.hasPrefix(#"{"schema":"wake.compare/1","ok":true,"equal":true,"#))
        for pair in [["a", "c"], ["c", "a"]] {
            #expect(try program.run(Program.path, ["compare"] + pair).code == 10)
        }
    }
}
