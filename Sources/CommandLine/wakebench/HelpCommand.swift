import WakeBench
import WakeReports

/// `wakebench help` and `wakebench exit-codes`.
enum HelpCommand {
    static let options: [Arguments.Option] = [
        .flag("--json", "print all verbs and their options as one JSON object"),
        .flag("--man", "print the manual page wakebench(1)"),
    ]

    static func run(_ given: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(given, options: options)
        let words = arguments.rest
        for option in options where arguments.has(option.name) && (!words.isEmpty || given.count > 1) {
            throw CommandFailure(.usage, "help \(option.name) is about all verbs", hint: "give nothing else")
        }
        if arguments.has("--json") {
            print(try Output.json(page: Table()))
            return .done
        }
        if arguments.has("--man") {
            print(ManualPage.text)
            return .done
        }
        if words.isEmpty {
            HelpOverview.show()
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

    /// A line a verb, in two columns.
    private static func lines(_ verbs: [WakebenchProgram.Verb]) -> [String] {
        let rows = verbs.map { verb in
            [(["  wakebench"] + verb.words + [verb.usage]).filter { !$0.isEmpty }.joined(separator: " "), verb.help]
        }
        return TextTable.lines(rows, width: Terminal.width)
    }

    /// All verbs, for programs.
    private struct Table: Encodable {
        struct Verb: Encodable {
            struct Option: Encodable {
                var name: String
                var short: String?
                var value: String?
                var help: String
            }
            var words: [String]
            var usage: String
            var help: String
            var options: [Option]
        }
        var schema = "wake.help/1"
        var ok = true
        var version = wakebenchVersion
        var verbs = WakebenchProgram.verbs.map { verb in
            Verb(
                words: verb.words,
                usage: verb.usage,
                help: verb.help,
                options: verb.options.map {
                    Verb.Option(name: $0.name, short: $0.short, value: $0.value, help: $0.help)
                }
            )
        }
    }

    static func exitCodes(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: [.flag("--json", "")])
        if arguments.has("--json") {
            let codes = ExitCode.allCases.map { "{\"code\":\($0.rawValue),\"meaning\":\(Output.json($0.meaning))}" }
            print("{\"schema\":\"wake.exit-codes/1\",\"ok\":true,\"codes\":[\(codes.joined(separator: ","))]}")
        } else {
            for code in ExitCode.allCases { print("\(code.rawValue)\t\(code.meaning)") }
        }
        return .done
    }
}
