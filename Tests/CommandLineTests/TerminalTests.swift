import ChildProcess
import Foundation
import Testing

@Suite("What the program shows on a terminal")
struct TerminalTests {
    private func inFolder(_ body: (Program) throws -> Void) throws {
        let program = try Program()
        defer { program.clean() }
        try body(program)
    }

    /// A line without what colours it.
    private func plain(_ line: String) -> String {
        line.replacing(/\u{1b}\[[0-9]*m/, with: "")
    }

    @Test("The table of a run and that of why fit 80 columns", arguments: [80, 60] as [UInt16])
    func narrow(columns: UInt16) throws {
        try inFolder { program in
            try program.writeForceQuit()
            for words in [
                ["run", "swiped.yaml", "--out", "out", "--seed", "7"],
                ["why", "heart", "--run", "out"],
                ["why", "heart", "--run", "out", "--since", "1h"],
                ["help"], ["help", "run"], ["rules"], ["rules", "--settings"],
            ] {
                let (code, lines) = try PseudoTerminal(columns: columns).run(program, words)
                #expect(code == 0, "\(lines)")
                // The path of a report is one word, and is not broken.
                for line in lines where !line.contains("report.html") {
                    #expect(plain(line).count <= Int(columns), "\(line)")
                }
            }
        }
    }

    @Test("Verdicts have colours on a terminal, never with NO_COLOR, and never elsewhere")
    func colours() throws {
        try inFolder { program in
            try program.writeForceQuit()
            let words = ["run", "swiped.yaml", "--seed", "7"]
            let (_, coloured) = try PseudoTerminal(columns: 200).run(program, words)
            #expect(coloured.contains { $0.contains("\u{1b}[32mresume\u{1b}[0m") }, "\(coloured)")
            let (_, plain) = try PseudoTerminal(columns: 200).run(program, words, environment: ["NO_COLOR": "1"])
            #expect(plain.contains { $0.contains("  resume  ") })
            #expect(!plain.contains { $0.contains("\u{1b}") })
            #expect(try !program.run("run", "swiped.yaml", environment: ["TERM": "xterm"]).output.contains("\u{1b}"))
        }
    }

    @Test("A run in real time prints its decisions on a terminal as lines, and no table after them")
    func realTime() throws {
        try inFolder { program in
            try program.write("belt.yaml", Scenarios.belt)
            try program.write("real.yaml", Scenarios.connecting(until: "500ms"))
            let words = ["run", "real.yaml", "--out", "out", "--clock", "real"]
            let (code, lines) = try PseudoTerminal(columns: 200).run(program, words)
            #expect(code == 0, "\(lines)")
            let connected = lines.filter { $0.contains("peripheral-connected belt") }
            #expect(connected.count == 1, "\(lines)")
            #expect(!lines.contains { $0.hasPrefix("TIME") })
        }
    }

    @Test("On the progress line the clock of a run in real time ticks, though nothing happens")
    func ticking() throws {
        try inFolder { program in
            try program.write("still.yaml", Scenarios.small.replacing("until: 1s", with: "until: 2500ms"))
            let words = ["run", "still.yaml", "--out", "out", "--clock", "real"]
            let (code, lines) = try PseudoTerminal(columns: 80).run(program, words)
            #expect(code == 0, "\(lines)")
            for second in ["T+00:00:01", "T+00:00:02"] {
                #expect(lines.contains { $0.hasPrefix("\(second)  ") && $0.hasSuffix(" decisions") }, "\(lines)")
            }
        }
    }

    @Test("With --follow each decision is printed while the run goes on, and why works meanwhile")
    func follow() throws {
        try inFolder { program in
            try program.write("belt.yaml", Scenarios.belt)
            try program.write("real.yaml", Scenarios.connecting(until: "10m"))
            let lines = Pipe()
            let run = try program.start(
                ["run", "real.yaml", "--clock", "real", "--follow"],
                output: .pipe(lines)
            )
            var text = ""
            while !text.contains("peripheral-connected belt") {
                let piece = lines.fileHandleForReading.availableData
                try #require(!piece.isEmpty, "it ended too early: \(text)")
                text += String(decoding: piece, as: UTF8.self)
            }
            #expect(text.contains("launch"))
            let why = try program.run("why", "heart")
            #expect(run.isRunning)
            #expect(why.code == 0, "\(why.errors)")
            #expect(why.output.contains("peripheral-connected belt"), "\(why.output)")
            run.send(SIGINT)
            _ = try lines.fileHandleForReading.readToEnd()
            run.waitUntilExit()
            #expect(run.terminationStatus == 130)
        }
    }

    @Test("--follow goes with neither --quiet nor --json")
    func excluded() throws {
        try inFolder { program in
            try program.write("small.yaml", Scenarios.small)
            expectRefusal(try program.run("run", "small.yaml", "--follow", "-q"), code: 2, says: "--follow", "--quiet")
        }
    }
}

extension Program {
    /// Starts the program with its stdout going where the test says, and its stderr nowhere.
    func start(_ words: [String], output: ChildProcess.Stream) throws -> ChildProcess {
        let process = ChildProcess(Self.path, words)
        process.folder = folder
        process.standardOutput = output
        process.standardError = .null
        try process.run()
        return process
    }
}
