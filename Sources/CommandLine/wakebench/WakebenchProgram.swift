import Foundation
import WakeBench
import WakeDevices
import WakeJSON
import WakeReports

/// The program: a table of verbs.
@main
enum WakebenchProgram {
    /// One verb of the command line.
    struct Verb: Sendable {
        /// The words that call it, such as `scenario check`.
        var words: [String]
        /// What follows the words in the help.
        var usage: String
        var help: String
        var options: [Arguments.Option]
        var run: @Sendable ([String]) throws(CommandFailure) -> ExitCode

        init(
            _ words: String,
            _ usage: String,
            _ help: String,
            _ run: @escaping @Sendable ([String]) throws(CommandFailure) -> ExitCode,
            options: [Arguments.Option] = []
        ) {
            // By bytes: parting a text looks for whole characters, and each start makes all verbs.
            self.words = words.utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
            (self.usage, self.help, self.options, self.run) = (usage, help, options, run)
        }
    }

    static let verbs =
        playing + ServeCommand.verbs + [TopCommand.verb] + LivePhoneVerbs.all + LiveAppVerbs.all + LiveWorldVerbs.all
        + [SimctlCommand.verb]
        + general

    private static let playing = [
        Verb(
            "run",
            "SCENARIO.yaml|FOLDER...",
            "play a scenario: apps, devices, steps in time, expectations; or several, and say at the end what failed: the exit code "
                + "is that of the first that could not be played to its end, else 7 where an expectation was not met",
            RunCommand.run,
            options: RunCommand.options
        ),
        Verb("scenario run", "SCENARIO.yaml|FOLDER...", "the same as run", RunCommand.run, options: RunCommand.options),
        Verb(
            "scenario check",
            "SCENARIO.yaml",
            "read a scenario and say whether it is good",
            RunCommand.check,
            options: RunCommand.checkOptions
        ),
        Verb(
            "shrink",
            "SCENARIO.yaml -o SMALLER.yaml",
            "write the smallest scenario that still fails as this one does, or still comes to a decision",
            ShrinkCommand.run,
            options: ShrinkCommand.options
        ),
        Verb(
            "app new",
            "NAME",
            "write a small app to begin with, and print the commands that play it",
            NewAppCommand.run,
            options: NewAppCommand.options
        ),
        Verb(
            "app bundle",
            "PROGRAM",
            "make Name.app of an app's program and its Info.plist",
            AppCommand.bundle,
            options: AppCommand.bundleOptions
        ),
        Verb(
            "app verify",
            "NAME.app",
            "say whether an app can be installed, what it asks for that is not here, and what it lacks for a phone",
            AppCommand.verify,
            options: AppCommand.verifyOptions
        ),
        Verb(
            "device check",
            "DEVICE.yaml|CAPTURE...",
            "compare peripherals with what Apple advises their makers: files, captures, or a live one; exit code 7 when something "
                + "is found",
            DeviceCommand.check,
            options: DeviceCommand.checkOptions
        ),
        Verb(
            "device fuzz",
            "ADDRESS|NAME",
            "fuzz a real device as careless clients would, and log what it answers; exit code 7 when a fault is found",
            PeripheralFuzzCommand.run,
            options: PeripheralFuzzCommand.options
        ),
        PeripheralAirCommand.verb,
        Verb(
            "import",
            "FILE...",
            "say what captures show, and make a device file of it",
            ImportCommand.run,
            options: ImportCommand.options
        ),
        RecordCommand.radio, RecordCommand.receivers, RecordCommand.serialPorts, RecordCommand.calls,
        Verb(
            "why",
            "APP [REASON|RULE|EVENT] [SUBJECT]",
            "say why an app was woken, or was not; a reason, a rule or an event chooses among decisions, and d-000012 in place of "
                + "APP is one of them",
            WhyCommand.run,
            options: WhyCommand.options
        ),
        Verb(
            "can-wake",
            "APP [REASON|RULE|EVENT] [SUBJECT]",
            "say whether an app would wake if an event of a run came again at its end, and what would change the answer; "
                + "without EVENT which kinds there were",
            CanWakeCommand.run,
            options: CanWakeCommand.options
        ),
        Verb(
            "app exits",
            "[APP]",
            "say when the processes of a run's apps ended, in which state, and how; default all apps",
            ExitsCommand.run,
            options: ExitsCommand.options
        ),
        Verb(
            "task list",
            "[APP]",
            "say what apps wait to be run for by the scheduler at the end of a run, when, and what it waits for",
            TaskCommand.list,
            options: TaskCommand.options
        ),
        Verb(
            "task history",
            "[RUN]",
            "say day by day when apps were refreshed and did their processing; default ./wakebench-runs/latest",
            TaskCommand.history,
            options: TaskCommand.historyOptions
        ),
        Verb(
            "blame",
            "[RUN]",
            "show the energy use of each app in a run; default ./wakebench-runs/latest",
            BlameCommand.run,
            options: BlameCommand.options
        ),
        Verb(
            "report",
            "[RUN [RUN]]",
            "write the page and the trace of a run, another form of it, or one page of two runs; default ./wakebench-runs/latest",
            RunReport.make,
            options: ExportCommand.options
        ),
        Verb(
            "log",
            "[RUN]",
            "print the decisions of a run, each record in full; default ./wakebench-runs/latest",
            LogCommand.run,
            options: LogCommand.options
        ),
        Verb(
            "compare",
            "RUN RUN",
            "say where the verdicts of two runs differ, such as a simulated and a real one, and the likely causes",
            WhyCommand.compare,
            options: WhyCommand.compareOptions
        ),
        Verb(
            "rules",
            "[ID | --coverage RUN...]",
            "list the rules, or show one with its sources; or count what they decided in runs, or show what relaunches",
            RulesCommand.run,
            options: RulesCommand.options
        ),
    ]

    private static let general = [
        Verb(
            "doctor",
            "",
            "say what this machine can do, and what is missing; removes empty control groups of killed runs",
            DoctorCommand.run,
            options: DoctorCommand.options
        ),
        Verb(
            "exit-codes",
            "",
            "list the exit codes",
            HelpCommand.exitCodes,
            options: [.flag("--json", "print one JSON object")]
        ),
        Verb(
            "completion",
            "bash|zsh|fish",
            "print what completes command lines of wakebench in a shell",
            CompletionCommand.run,
            options: CompletionCommand.options
        ),
        Verb("help", "[VERB]", "show what there is", HelpCommand.run, options: HelpCommand.options),
    ]

    static func main() {
        StandardStreams.secure()
        // A reader that goes away, or a file that may not grow (ulimit -f), is no reason to die with a signal.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        exit(finish(run(Array(CommandLine.arguments.dropFirst()))).rawValue)
    }

    /// What was to be read and could not be written is a failure of a command that had none.
    private static func finish(_ code: ExitCode) -> ExitCode {
        guard let failure = StandardStreams.outputFailure() else { return code }
        Output.complain("standard output: \(failure)")
        return code == .done ? .environment : code
    }

    /// Carries out a command line; what is wrong reaches stderr as one line.
    static func run(_ words: [String]) -> ExitCode {
        do throws(CommandFailure) {
            guard let first = words.first else { return try HelpCommand.run([]) }
            if asksForHelp(first) { return try HelpCommand.run(words.filter { !asksForHelp($0) }) }
            if words == ["--version"] {
                print("wakebench \(wakebenchVersion)")
                return .done
            }
            if words.count == 2, asksForHelp(words[1]), isNoun(first) { return try HelpCommand.run([first]) }
            let verb = try find(words)
            let rest = Array(words.dropFirst(verb.words.count))
            if rest.prefix(while: { $0 != "--" }).contains(where: asksForHelp) {
                return try HelpCommand.run(verb.words)
            }
            try refuseRunOption(of: verb, rest)
            return try verb.run(rest)
        } catch {
            let isAsked = words.contains("--json")
            if isAsked {
                print("{\"schema\":\"wake.error/1\",\"ok\":false,\"error\":\(Output.error(error))}")
            } else {
                Output.complain(error.line)
            }
            return error.code
        }
    }

    /// `--run` names the run of verbs about an app; others take its folder as a word.
    private static func refuseRunOption(of verb: Verb, _ words: [String]) throws(CommandFailure) {
        let isGiven = words.prefix { $0 != "--" }.contains { $0 == "--run" || $0.hasPrefix("--run=") }
        guard isGiven, verb.usage.contains("RUN"), !verb.options.contains(where: { $0.name == "--run" }) else { return }
        let usage = "wakebench \(verb.words.joined(separator: " ")) \(verb.usage)"
        throw CommandFailure(.usage, "unknown option --run", hint: "give the folder as RUN: \(usage)")
    }

    /// The verb with the most words that the line begins with.
    static func find(_ words: [String]) throws(CommandFailure) -> Verb {
        if let verb = verbs.filter({ words.starts(with: $0.words) }).max(by: { $0.words.count < $1.words.count }) {
            return verb
        }
        if isNoun(words[0]) { throw unknownVerb(of: words[0], words.dropFirst().first) }
        let given = words.prefix(2).joined(separator: " ")
        let near =
            Suggestion.nearest(to: words[0], among: verbs.map { $0.words[0] })
            ?? Suggestion.nearest(to: given, among: verbs.map { $0.words.joined(separator: " ") })
        throw CommandFailure(
            .usage,
            "unknown command '\(words[0])'",
            hint: near.map { "did you mean '\($0)'?" } ?? "see 'wakebench help'"
        )
    }

    /// Whether a word is a noun that has verbs, such as `scenario`.
    static func isNoun(_ word: String) -> Bool { verbs.contains { $0.words.count > 1 && $0.words[0] == word } }

    private static func unknownVerb(of noun: String, _ word: String?) -> CommandFailure {
        let known = verbs.filter { $0.words[0] == noun }.map { $0.words[1] }
        let all = "its verbs are \(known.joined(separator: ", "))"
        guard let word else { return CommandFailure(.usage, "\(noun) needs a verb", hint: all) }
        let near = Suggestion.nearest(to: word, among: known)
        return CommandFailure(
            .usage,
            "unknown verb '\(word)' of \(noun)",
            hint: near.map { "did you mean '\(noun) \($0)'?" } ?? all
        )
    }

    private static func asksForHelp(_ word: String) -> Bool { word == "--help" || word == "-h" }
}

/// Where words go: data to stdout, talk to stderr.
enum Output {
    /// One line on stderr.
    static func complain(_ line: String) { StandardStreams.complain(complaint(line)) }

    /// The line as it stands on stderr, or in a log in its place.
    static func complaint(_ line: String) -> String { "wakebench: \(TerminalText.escaped(flat(line)))\n" }

    private static func flat(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    /// An error as a JSON object: the code, its word, what is wrong, what to do about it, and where that is.
    static func error(_ failure: CommandFailure) -> String {
        var failure = failure
        (failure.message, failure.hint) = (flat(failure.message), failure.hint.map(flat))
        return String(decoding: failure.json.encoded, as: UTF8.self)
    }

    /// A text as a JSON string.
    static func json(_ text: String) -> String {
        let data = try? JSONSerialization.data(
            withJSONObject: text,
            options: [.fragmentsAllowed, .withoutEscapingSlashes]
        )
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }
}
