import WakeBench
import WakeReports

/// `wakebench help` and `wakebench exit-codes`.
enum HelpCommand {
    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        if words.isEmpty {
            Terminal.print(overview, hanging: 0)
            return .done
        }
        if words.count == 1, WakebenchProgram.isNoun(words[0]) {
            print(page(ofNoun: words[0]))
            return .done
        }
        let verb = try WakebenchProgram.find(words)
        let usage = (verb.words + [verb.usage, verb.options.isEmpty ? "" : "[OPTIONS]"]).filter { !$0.isEmpty }
        print("usage: wakebench \(usage.joined(separator: " "))")
        Terminal.print(verb.help, hanging: 0)
        for option in verb.options {
            let name = [option.short, option.name].compactMap { $0 }.joined(separator: ", ")
            Terminal.print("  \(name)\(option.value.map { " " + $0 } ?? "")", hanging: 6)
            Terminal.print("      \(option.help)", hanging: 6)
        }
        return .done
    }

    /// The verbs of a noun, such as `scenario`.
    private static func page(ofNoun noun: String) -> String {
        let verbs = WakebenchProgram.verbs.filter { $0.words[0] == noun }
        return
            (["usage: wakebench \(noun) VERB", ""] + lines(verbs)
            + ["", "wakebench \(noun) VERB --help shows the options of one."]).joined(separator: "\n")
    }

    private static var overview: String {
        (["Wakebench decides, as iOS does, when an app may run, and says why.", ""] + lines(WakebenchProgram.verbs)
            + ["", "wakebench help VERB shows its options."]).joined(separator: "\n")
    }

    /// A line a verb, in two columns.
    private static func lines(_ verbs: [WakebenchProgram.Verb]) -> [String] {
        let rows = verbs.map { verb in
            [(["  wakebench"] + verb.words + [verb.usage]).filter { !$0.isEmpty }.joined(separator: " "), verb.help]
        }
        return TextTable.lines(rows, width: Terminal.width)
    }

    static func exitCodes(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: [.flag("--json", "")])
        if arguments.has("--json") {
            let codes = ExitCode.allCases.map { "{\"code\":\($0.rawValue),\"meaning\":\(Output.json($0.meaning))}" }
            print("{\"schema\":\"wake.exit-codes/1\",\"codes\":[\(codes.joined(separator: ","))]}")
        } else {
            for code in ExitCode.allCases { print("\(code.rawValue)\t\(code.meaning)") }
        }
        return .done
    }
}
