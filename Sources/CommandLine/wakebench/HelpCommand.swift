import WakeBench

/// `wakebench help` and `wakebench exit-codes`.
enum HelpCommand {
    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        if words.isEmpty {
            print(overview)
            return .done
        }
        let verb = try WakebenchProgram.find(words)
        print(
            "usage: wakebench \((verb.words + [verb.usage, verb.options.isEmpty ? "" : "[OPTIONS]"]).filter { !$0.isEmpty }.joined(separator: " "))"
        )
        print(verb.help)
        for option in verb.options {
            let name = [option.short, option.name].compactMap { $0 }.joined(separator: ", ")
            print("  \(name)\(option.value.map { " " + $0 } ?? "")\n      \(option.help)")
        }
        return .done
    }

    private static var overview: String {
        let verbs = WakebenchProgram.verbs.map { verb in
            let call = (verb.words + [verb.usage]).filter { !$0.isEmpty }.joined(separator: " ")
            return "  wakebench \(call)\(String(repeating: " ", count: max(1, 30 - call.count)))\(verb.help)"
        }
        return
            (["Wakebench decides, as iOS does, when an app may run, and says why.", ""] + verbs
            + ["", "wakebench help VERB shows its options."]).joined(separator: "\n")
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
