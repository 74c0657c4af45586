import Foundation
import WakeBench
import WakeModel
import WakeReports

/// `wakebench shrink`: the smallest scenario that still comes to the same.
enum ShrinkCommand {
    static let options: [Arguments.Option] = [
        .value("--output", "FILE", short: "-o", "where the result goes, such as smaller.yaml"),
        .flag("--force", "replace a file that is there"),
        .value(
            "--keep",
            "APP:VERDICT[:REASON[:KIND]]",
            "a decision that must still be made, such as heart:deny:ForceQuit; default: the expectations that fail, or the fault"
        ),
        .value("--expect", "N", "keep only the failure of the expectation in this place of the file, from 1"),
        RunCommand.appFolder,
        .value("--profile", "NAME", "the OS generation: ios6 ios8 ios12 ios13 ios17 ios26"),
        .value("--seed", "N", "the seed of everything random"),
        .value("--max-runs", "N", "stop after so many runs; default 5000"),
        .value("--max-time", "SECONDS", "stop after so long; default 1800"),
        .flag("--quiet", short: "-q", "say nothing of what is going on"),
        .json,
    ]

    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        let file = try arguments.only("SCENARIO.yaml")
        guard let out = arguments.value("--output") else {
            throw CommandFailure(.usage, "-o FILE is missing", hint: "it says where the smaller scenario goes")
        }
        guard !isSame(file, out) else {
            throw CommandFailure(.usage, "-o \(out): that is the scenario itself", hint: "give another file")
        }
        guard arguments.has("--force") || !FileManager.default.fileExists(atPath: out) else {
            throw CommandFailure(
                .wrongState,
                in: out,
                "it is there already",
                hint: "give another file, or --force to replace it"
            )
        }
        var run = RunOptions(scenario: file, out: "")
        run.appFolders = arguments.all("--apps") + RunCommand.defaultAppFolders
        run.profile = try RunCommand.profile(arguments)
        run.seed = try whole(arguments, "--seed").map(UInt64.init)
        var bounds = ScenarioShrinker.Bounds()
        if let runs = try whole(arguments, "--max-runs") { bounds.runs = runs }
        if let seconds = try whole(arguments, "--max-time") { bounds.time = .seconds(Int64(min(seconds, 1_000_000))) }
        let shrinker = try ScenarioShrinker(run, keeping: try wish(arguments), bounds: bounds, out: out)
        let talk = Talk(isQuiet: arguments.has("--quiet"))
        talk.begin(shrinker)
        shrinker.follow = { talk.tell($0) }
        let ending = try shrinker.shrink()
        talk.end()
        return try tell(ending, shrinker, out, json: arguments.has("--json"))
    }

    private static func isSame(_ one: String, _ other: String) -> Bool {
        func place(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }
        return place(one) == place(other)
    }

    private static func whole(_ arguments: Arguments, _ option: String) throws(CommandFailure) -> Int? {
        guard let text = arguments.value(option) else { return nil }
        guard let number = Int(text), number >= 0 else {
            throw CommandFailure(.usage, "\(option) \(text): expected a whole number from 0")
        }
        return number
    }

    private static func wish(_ arguments: Arguments) throws(CommandFailure) -> ShrinkGoal.Wish {
        let number = try whole(arguments, "--expect")
        if let text = arguments.value("--keep") {
            guard number == nil else {
                throw CommandFailure(.usage, "--keep and --expect exclude each other", hint: "give one")
            }
            return try ShrinkGoal.Wish(text)
        }
        return number.map { .expectation($0) } ?? .failures
    }

    private static func tell(
        _ ending: ScenarioShrinker.Ending,
        _ shrinker: ScenarioShrinker,
        _ out: String,
        json: Bool
    ) throws(CommandFailure) -> ExitCode {
        let code: ExitCode = ending == .interrupted ? .interrupted : .done
        if json {
            print(try Output.json(page: Page(ok: code == .done, ending, shrinker, out)))
        } else {
            let (first, last) = (shrinker.first, shrinker.progress)
            let parts = [
                "\(last.events) of \(Plural.text(first.events, "event"))",
                "\(last.apps) of \(Plural.text(first.apps, "app"))",
                "\(last.devices) of \(Plural.text(first.devices, "device"))", "after \(Plural.text(last.runs, "run"))",
            ]
            print("\(TerminalText.escaped(out)): \(parts.joined(separator: ", "))")
            print("kept: \(TerminalText.escaped(shrinker.kept))")
        }
        if ending == .runs || ending == .time {
            Output.complain("note: stopped at its bound; --max-\(ending == .runs ? "runs" : "time") sets another")
        }
        return code
    }

    /// `wake.shrink/1`.
    private struct Page: Encodable {
        struct Count: Encodable {
            var before: Int
            var after: Int
        }

        var schema = "wake.shrink/1"
        var ok: Bool
        /// The smaller scenario.
        var file: String
        /// What it still comes to.
        var kept: String
        var events: Count
        var apps: Count
        var devices: Count
        var runs: Int
        /// `smallest`, or what it stopped at: `runs`, `time`, `interrupted`.
        var ended: String

        init(ok: Bool, _ ending: ScenarioShrinker.Ending, _ shrinker: ScenarioShrinker, _ file: String) {
            let (first, last) = (shrinker.first, shrinker.progress)
            (self.ok, self.file, kept, ended) = (ok, file, shrinker.kept, "\(ending)")
            events = Count(before: first.events, after: last.events)
            apps = Count(before: first.apps, after: last.apps)
            devices = Count(before: first.devices, after: last.devices)
            runs = last.runs
        }
    }

    /// What is said on stderr meanwhile: one line that changes on a terminal, elsewhere a line each time that half is gone.
    private final class Talk {
        private let isQuiet: Bool
        private let console: Console?
        private var told = Int.max

        init(isQuiet: Bool) {
            self.isQuiet = isQuiet
            console = !isQuiet && isatty(STDERR_FILENO) != 0 ? Console(showsProgress: true) : nil
        }

        func begin(_ shrinker: ScenarioShrinker) {
            guard !isQuiet else { return }
            Output.complain("keeps: \(shrinker.goal.text)")
            tell(shrinker.first)
        }

        func tell(_ progress: ScenarioShrinker.Progress) {
            guard !isQuiet else { return }
            let parts = [
                Plural.text(progress.events, "event"), Plural.text(progress.apps, "app"),
                "\(Plural.text(progress.devices, "device")) after \(Plural.text(progress.runs, "run"))",
                LogTime.text(progress.elapsed),
            ]
            let text = parts.joined(separator: ", ") + (progress.part.isEmpty ? "" : "; \(progress.part)")
            if let console { return console.progress(text) }
            guard progress.events <= told / 2 else { return }
            told = progress.events
            Output.complain(text)
        }

        func end() { console?.clear() }
    }
}
