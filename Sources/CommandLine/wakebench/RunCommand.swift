import Foundation
import WakeBench
import WakeDevices
import WakeModel
import WakeReports

/// `wakebench run` and `wakebench scenario check`.
enum RunCommand {
    static let appFolder = Arguments.Option.value(
        "--apps",
        "DIR",
        "a folder with app bundles; may be given again"
    )

    static let checkOptions: [Arguments.Option] = [appFolder, .json]

    private static let realBackends = BackendChoice.sources.map { source in
        "\(source.word)=\(BackendChoice.words(for: source).dropFirst().joined(separator: "|"))"
    }.joined(separator: ", ")

    static let options = generalOptions + areaOptions + endingOptions + SuiteCommand.options

    private static let areaOptions: [Arguments.Option] = RunOptions.ofAreas.map { .value($0.name, $0.value, $0.help) }

    private static let generalOptions: [Arguments.Option] = [
        .value(
            "--backend",
            "simulated|real|\(BackendChoice.words(for: BackendChoice.sources[0])[1])|SOURCE=WORD[,...]",
            "where events come from, in place of the scenario's backends: "
                + "simulated, or real, which is the first of\n      " + realBackends
        ),
        .value("--clock", "virtual|real", "default: virtual for simulated backends, real otherwise"),
        .value("--freezer", "automatic|cgroup2|cgroup1|sigstop", "how a suspended app is kept from running"),
        .value(
            "--memory-pressure",
            "steps|psi",
            "who says that memory is short: the scenario's steps, or this machine's kernel too"
        ),
        .value(
            "--phone",
            "steps|machine",
            "who says that the phone is charged and has a network: the scenario, or this machine too"
        ),
        .value("--profile", "NAME", "the OS generation: ios6 ios8 ios12 ios13 ios17 ios26"),
        .value(
            "--set",
            "NAME=VALUE",
            "a switch or figure of the profile, over the scenario's; may be given again; 'rules --settings' lists them"
        ),
        .value("--diff", "PROFILE", "run again with this profile, and list the verdicts that change, with their rules"),
        .value("--seed", "N", "the seed of everything random"),
        .value(
            "--out",
            "DIR",
            "the run folder; default ./wakebench-runs/TIME; ./wakebench-runs/latest leads to the last run, wherever it lies"
        ),
        appFolder,
    ]

    private static let endingOptions: [Arguments.Option] = [
        .value("--patience", "SECONDS", "wall time after which an app that owes an answer counts as overrun"),
        .value(
            "--date",
            "DATE",
            "when the run begins, for apps in virtual time; default the scenario's, or \(RunDate.usual)"
        ),
        .flag(
            "--check-determinism",
            "replay the run's inputs through a new router, and compare; exit code 10 if decisions differ in a byte"
        ),
        .value(
            "--from",
            "RUN",
            "play no scenario: replay the journal of a run or of a phone through a new router, and compare; exit code 10 if "
                + "decisions differ"
        ),
        .flag("--force", "replace a run or a suite in --out that is over"),
        .flag("--follow", "print each decision when it is made, as a run in real time does on a terminal"),
        .value("--app-log", "MIB", "how much is kept of what an app prints, the newest, in MiB; default 16"),
        .value("--junit", "FILE", "write JUnit there too, an error in it when the run could not begin"),
        .value("--parent", "PID", "the process that starts the run: the run ends with it, as if interrupted"),
        .flag("--no-journal", "keep no journal: the run cannot be continued after a crash"),
        .flag("--quiet", short: "-q", "print the last line only"),
        .flag("--json", "print one JSON object instead of text"),
    ]

    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        if let folder = arguments.value("--from") { return try again(folder, arguments) }
        if SuiteCommand.isSuite(arguments) { return try SuiteCommand.run(arguments) }
        var run = try options(arguments, scenario: try arguments.only("SCENARIO.yaml"))
        run.appFolders += defaultAppFolders
        guard arguments.value("--out") == nil else { return try play(run, arguments) }
        return try RunFolder.withOwnPlace { (place) throws(CommandFailure) -> ExitCode in
            var own = run
            own.out = place
            return try play(own, arguments)
        }
    }

    private static func play(_ run: RunOptions, _ arguments: Arguments) throws(CommandFailure) -> ExitCode {
        let (quiet, json, follow) = (arguments.has("--quiet"), arguments.has("--json"), arguments.has("--follow"))
        if follow, quiet || json {
            throw CommandFailure(
                .usage,
                "--follow and \(json ? "--json" : "--quiet") exclude each other",
                hint: "give one"
            )
        }
        if let other = try profile(arguments, "--diff") {
            if json || follow {
                throw CommandFailure(.usage, "--diff prints a table", hint: "leave --json and --follow out")
            }
            return try compare(run, with: other)
        }
        let checks = arguments.has("--check-determinism")
        if checks, json || !run.journal {
            throw CommandFailure(
                .usage,
                "--check-determinism and \(json ? "--json" : "--no-journal") exclude each other",
                hint: "give one"
            )
        }
        let code = try RunReport.play(run, quiet: quiet, json: json, follow: follow)
        return try checks ? repeated(run, code) : code
    }

    /// Replays a run's journal through a new router, and compares the decisions.
    private static func again(_ folder: String, _ arguments: Arguments) throws(CommandFailure) -> ExitCode {
        guard arguments.rest.isEmpty, Set(arguments.names).isSubset(of: ["--from", "--apps", "--json"])
        else {
            throw CommandFailure(
                .usage,
                "--from takes what it needs from the run",
                hint: "give --apps or --json beside it, or nothing"
            )
        }
        try RunPlace.require(folder)
        let check = try DeterminismCheck(
            run: RunFolder(of: folder),
            appFolders: arguments.all("--apps") + defaultAppFolders,
            reachingBack: true
        )
        return try LogCommand.tell(check, of: folder, json: arguments.has("--json"))
    }

    /// Replays a finished run through a new router, and compares the decisions (SYS-3).
    private static func repeated(_ run: RunOptions, _ code: ExitCode) throws(CommandFailure) -> ExitCode {
        let folder = RunFolder(of: run.out)
        let check = try DeterminismCheck(run: folder, appFolders: run.appFolders)
        for line in check.text.split(separator: "\n") { print(TerminalText.escaped(String(line))) }
        guard check.difference == nil else { return .nonDeterminism }
        try check.note(in: folder, at: try WhyCommand.read(run.out, checks: false).end)
        return code
    }

    /// Plays a run once with its own profile and once with another, each in a folder of its own in `--out`.
    private static func compare(_ options: RunOptions, with other: Profile) throws(CommandFailure) -> ExitCode {
        var logs: [RunLog] = []
        for profile in [options.profile, other] {
            var run = options
            run.profile = profile
            run.out = options.out + "/" + (profile?.name ?? "own")
            do {
                try FileManager.default.createDirectory(atPath: options.out, withIntermediateDirectories: true)
            } catch {
                throw CommandFailure(.environment, "\(options.out): cannot be made", hint: "give another --out")
            }
            print("\(run.out):")
            // What a scenario waits for and expects in one generation need not come in another.
            do throws(CommandFailure) {
                let code = try RunReport.play(run, quiet: true, json: false, follow: false)
                guard code == .done || code == .expectationFailed else { return code }
            } catch {
                guard error.code == .timeout else { throw error }
                Output.complain("note: \(error.message)")
            }
            logs.append(try WhyCommand.read(run.out, checks: false))
        }
        print("")
        let names = (logs[0].header.profile, other.name)
        for line in VerdictChanges(logs[0], logs[1]).lines(names: names, width: Terminal.width) { print(line) }
        return .done
    }

    static func check(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: checkOptions)
        let file = try arguments.only("SCENARIO.yaml")
        let good: CheckPage
        do {
            let scenario = try Scenario.load(
                file: file,
                searchFolders: arguments.all("--apps") + defaultAppFolders
            )
            good = CheckPage(scenario, file: file)
        } catch {
            throw CommandFailure(.invalidFile, error)
        }
        print(try arguments.has("--json") ? Output.json(page: good) : good.line)
        return .done
    }

    /// What is said of a scenario that is good, for people and as `wake.scenario-check/1`.
    private struct CheckPage: Encodable {
        var schema = "wake.scenario-check/1"
        var ok = true
        var file: String
        /// Its own name.
        var scenario: String
        var apps: Int
        var devices: Int
        var steps: Int
        var expectations: Int

        init(_ scenario: Scenario, file: String) {
            (self.file, self.scenario) = (file, scenario.name)
            (apps, devices) = (scenario.apps.count, scenario.devices.count)
            (steps, expectations) = (scenario.steps.count, scenario.expectations.count)
        }

        var line: String {
            let parts = [(apps, "app"), (devices, "device"), (steps, "step"), (expectations, "expectation")]
            return "\(file): good: \(parts.map { Plural.text($0, $1) }.joined(separator: ", "))"
        }
    }

    /// Where bundles are looked for beside the scenario's folder and `--apps`: WAKEBENCH_APPS, and what Scripts/bundle
    /// makes here and in the repository that this program was built in.
    static var defaultAppFolders: [String] {
        let named = ProcessInfo.processInfo.environment["WAKEBENCH_APPS"]?.split(separator: ":").map(String.init)
        let here = FileManager.default.currentDirectoryPath
        let built = Installation.repository.flatMap { $0 == here ? nil : $0 + "/.build/apps" }
        return (named ?? []) + [".build/apps"] + (built.map { [$0] } ?? [])
    }

    /// The profile that an option names; nil without it.
    static func profile(
        _ arguments: Arguments,
        _ option: String = "--profile"
    ) throws(CommandFailure) -> Profile? {
        guard let name = arguments.value(option) else { return nil }
        guard let profile = Profile.named(name) else {
            throw CommandFailure(unknown: "profile '\(name)'", known: Profile.all.map(\.name))
        }
        return profile
    }

    static func options(_ arguments: Arguments, scenario: String) throws(CommandFailure) -> RunOptions {
        var options = RunOptions(
            scenario: scenario,
            out: arguments.value("--out") ?? RunFolder.defaultPath()
        )
        for text in arguments.all("--backend") { options.backends += try BackendWords.parse(text) }
        if let word = arguments.value("--clock") {
            options.clock = try choice(word, "--clock", RunOptions.Clock.self)
        }
        if let word = arguments.value("--freezer") {
            options.freezer = try choice(word, "--freezer", RunOptions.FreezerWord.self)
        }
        if let word = arguments.value("--memory-pressure") {
            options.memoryPressure = try choice(word, "--memory-pressure", RunOptions.MemoryPressureSource.self)
        }
        if let word = arguments.value("--phone") {
            options.phone = try choice(word, "--phone", RunOptions.PhoneSource.self)
        }
        options.profile = try profile(arguments)
        for text in arguments.all("--set") {
            do {
                options.settings.append(try SettingText.change(text))
            } catch {
                throw CommandFailure(.usage, "--set \(error.text)")
            }
        }
        options.seed = try read(arguments, "--seed", "a whole number from 0") { UInt64($0) }
        options.patience =
            try read(arguments, "--patience", "seconds, more than 0 and at most 3600") {
                Double($0).flatMap { $0 > 0 && $0 <= 3_600 ? $0 : nil }
            } ?? options.patience
        options.date = try read(arguments, "--date", RunDate.expected) { RunDate($0) }
        if let size = try read(arguments, "--app-log", "MiB, 1 to 65536", { number($0, in: 1...65_536) }) {
            options.appLogLimit = size << 20
        }
        options.appFolders = arguments.all("--apps")
        options.radioProgram = Installation.radio(.bridge)
        options.tell = Output.complain
        options.journal = !arguments.has("--no-journal")
        options.replaces = arguments.has("--force")
        options.junit = arguments.value("--junit")
        options.parent = try read(arguments, "--parent", "the number of a process") { number($0, in: 1...Int32.max) }
        // A run of another program's is that program's to tell of.
        options.followsLatest = options.parent == nil
        for option in RunOptions.ofAreas {
            for text in arguments.all(option.name) where !option.take(&options, text) {
                throw CommandFailure(.usage, "\(option.name) \(text): expected \(option.expected)")
            }
        }
        return options
    }

    /// The value of an option, as `value` reads it; nil without the option.
    private static func read<Value>(
        _ arguments: Arguments,
        _ option: String,
        _ expected: String,
        _ value: (String) -> Value?
    ) throws(CommandFailure) -> Value? {
        guard let text = arguments.value(option) else { return nil }
        guard let value = value(text) else { throw CommandFailure(.usage, "\(option) \(text): expected \(expected)") }
        return value
    }

    private static func number<Number: FixedWidthInteger>(_ text: String, in range: ClosedRange<Number>) -> Number? {
        Number(text).flatMap { range.contains($0) ? $0 : nil }
    }

    private static func choice<Choice: RawRepresentable & CaseIterable>(
        _ word: String,
        _ option: String,
        _: Choice.Type
    ) throws(CommandFailure) -> Choice where Choice.RawValue == String {
        if let choice = Choice(rawValue: word) { return choice }
        throw CommandFailure(unknown: "value '\(word)' of \(option)", known: Choice.allCases.map(\.rawValue))
    }
}

/// The words of `--backend`.
enum BackendWords {
    /// `simulated` (or `fake`) and `real` for every source, a backend's own word, or `SOURCE=WORD[,...]`.
    static func parse(_ text: String) throws(CommandFailure) -> [BackendChoice] {
        var choices: [BackendChoice] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            choices += sides.count == 2 ? [try one(sides[0], sides[1])] : try bare(sides[0])
        }
        return choices
    }

    private static func bare(_ word: String) throws(CommandFailure) -> [BackendChoice] {
        if word == "simulated" || word == "fake" {
            return BackendChoice.sources.map { BackendChoice(source: $0, word: "simulated") }
        }
        if word == "real" {
            return BackendChoice.sources.map {
                BackendChoice(source: $0, word: BackendChoice.words(for: $0).dropFirst().first ?? "simulated")
            }
        }
        for source in BackendChoice.sources where BackendChoice.words(for: source).contains(word) {
            return [BackendChoice(source: source, word: word)]
        }
        let known = ["simulated", "real"] + BackendChoice.sources.flatMap { BackendChoice.words(for: $0).dropFirst() }
        throw CommandFailure(unknown: "backend '\(word)'", known: known)
    }

    private static func one(_ name: String, _ word: String) throws(CommandFailure) -> BackendChoice {
        guard let source = Source(word: name) else {
            throw CommandFailure(unknown: "source '\(name)' of --backend", known: Source.allCases.map(\.word))
        }
        let known = BackendChoice.words(for: source)
        let plain = word == "fake" ? "simulated" : word
        guard known.contains(plain) else {
            throw CommandFailure(unknown: "backend '\(word)' of \(name)", known: known)
        }
        return BackendChoice(source: source, word: plain)
    }
}
