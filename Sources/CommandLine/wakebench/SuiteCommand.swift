import Foundation
import WakeBench
import WakeReports

/// `wakebench run` of several scenarios, or of one with several seeds.
enum SuiteCommand {
    static let options: [Arguments.Option] = [
        .value("--jobs", "N", short: "-j", "of several scenarios, play so many at a time, 1 to 1024; default 1"),
        .value("--seeds", "1-20", "play each scenario with each of these seeds: ranges and numbers, with commas"),
        .value("--repeat", "N", "play each scenario so often"),
        .value("--shard", "I/N", "of all that is to be played, play the I-th of N parts, such as 2/3"),
        .value("--time-limit", "SECONDS", "of several scenarios, interrupt one that takes longer by the wall clock"),
    ]

    /// The options that a suite itself carries out.
    private static let own: Set<String> = [
        "--jobs", "--seeds", "--repeat", "--shard", "--time-limit", "--out", "--quiet", "--json", "--junit", "--parent",
    ]

    /// Whether a command line is about more than one run of one file.
    static func isSuite(_ arguments: Arguments) -> Bool {
        if arguments.rest.count > 1 || options.contains(where: { arguments.has($0.name) }) { return true }
        return arguments.rest.first.flatMap(ScenarioSearch.isFolder) == true
    }

    static func run(_ arguments: Arguments) throws(CommandFailure) -> ExitCode {
        let plan = try plan(arguments)
        // A mistake in an option is told once, and not by each run.
        let common = try RunCommand.options(arguments, scenario: arguments.rest[0])
        let settings = try settings(arguments, common)
        guard arguments.value("--out") == nil else {
            return try play(plan, common, settings, arguments, in: common.out)
        }
        return try RunFolder.withOwnPlace { (place) throws(CommandFailure) -> ExitCode in
            try play(plan, common, settings, arguments, in: place)
        }
    }

    private static func play(
        _ plan: SuitePlan,
        _ common: RunOptions,
        _ settings: SuiteRunner.Settings,
        _ arguments: Arguments,
        in path: String
    ) throws(CommandFailure) -> ExitCode {
        let folder = try RunFolder.ofSuite(path, replaces: common.replaces)
        let talk = Talk(plan, isQuiet: arguments.has("--quiet") || arguments.has("--json"))
        let runner = try SuiteRunner(plan, in: folder.path, settings)
        runner.began = { talk.began($0, $1) }
        runner.ended = { talk.ended($0) }
        let suite = try runner.play()
        talk.over()
        do throws(CommandFailure) { try write(suite, in: folder, junit: common.junit) } catch {
            // What came of the runs is not lost with the disk's space.
            if !arguments.has("--json") { tell(suite, isQuiet: arguments.has("--quiet"), hasPage: false) }
            throw error
        }
        // Whoever asks about it is told which runs it has.
        if common.followsLatest { _ = folder.becomeLatest() }
        if arguments.has("--json") {
            print(String(decoding: suite.json, as: UTF8.self))
        } else {
            tell(suite, isQuiet: arguments.has("--quiet"))
        }
        return suite.isInterrupted ? .interrupted : code(suite)
    }

    // MARK: What to play

    private static func plan(_ arguments: Arguments) throws(CommandFailure) -> SuitePlan {
        guard !arguments.rest.isEmpty else {
            throw CommandFailure(.usage, "SCENARIO.yaml is missing", hint: "name scenarios, or a folder of them")
        }
        for option in ["--follow", "--diff"] where arguments.has(option) {
            throw CommandFailure(.usage, "\(option) is for one run", hint: "leave it out, or give one scenario")
        }
        if arguments.has("--seed"), arguments.has("--seeds") {
            throw CommandFailure(.usage, "--seed and --seeds exclude each other", hint: "give one")
        }
        var seeds: [UInt64] = []
        if let text = arguments.value("--seeds") {
            guard let read = SuitePlan.seeds(text) else {
                throw CommandFailure(.usage, "--seeds \(text): expected numbers and ranges, such as 1-20,99")
            }
            seeds = read
        }
        var shard: SuitePlan.Shard?
        if let text = arguments.value("--shard") {
            guard let read = SuitePlan.Shard(text) else {
                throw CommandFailure(.usage, "--shard \(text): expected a part of a number of parts, such as 2/3")
            }
            shard = read
        }
        let repetitions = try number(arguments, "--repeat", in: 1...SuitePlan.mostRuns) ?? 1
        let files = try ScenarioSearch.files(arguments.rest)
        return try SuitePlan(files, seeds: seeds, repetitions: repetitions, shard: shard)
    }

    private static func settings(
        _ arguments: Arguments,
        _ common: RunOptions
    ) throws(CommandFailure) -> SuiteRunner.Settings {
        guard let program = Installation.program else {
            throw CommandFailure(.environment, "/proc/self/exe cannot be read", hint: "mount /proc")
        }
        var settings = SuiteRunner.Settings(program: program)
        settings.jobs = try number(arguments, "--jobs", in: 1...1_024) ?? 1
        if settings.jobs > 1, let real = common.backends.first(where: { $0.word != "simulated" }) {
            throw CommandFailure(
                .usage,
                "--jobs \(settings.jobs): runs with \(real.source.word)=\(real.word) would share one adapter",
                hint: "leave --jobs out"
            )
        }
        settings.timeLimit = try number(arguments, "--time-limit", in: 1...1_000_000).map(Int64.init)
        settings.parent = common.parent
        settings.arguments = arguments.words(without: own)
        settings.searchFolders = common.appFolders + RunCommand.defaultAppFolders
        return settings
    }

    private static func number(
        _ arguments: Arguments,
        _ option: String,
        in range: ClosedRange<Int>
    ) throws(CommandFailure) -> Int? {
        guard let text = arguments.value(option) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw CommandFailure(.usage, "\(option) \(text): expected \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    // MARK: What came of it

    private static func write(
        _ suite: SuiteResults,
        in folder: RunFolder,
        junit: String?
    ) throws(CommandFailure) {
        let text = JUnitReport.text(suite)
        try RunPages.save(text, folder.junit, isShared: true)
        if let junit { try RunPages.save(text, junit, isShared: true) }
        try RunPages.save(SuitePage.text(suite), folder.path + "/" + SuitePage.name)
        try RunPages.save(suite.json + [0x0a], folder.path + "/" + SuiteResults.name)
    }

    private static func tell(_ suite: SuiteResults, isQuiet: Bool, hasPage: Bool = true) {
        let failures = SuiteTable.failures(suite, isColoured: Terminal.isColoured)
        for line in failures { print(line) }
        if !isQuiet || !failures.isEmpty { print("") }
        print(suite.summary)
        if hasPage { print("report: \(TerminalText.escaped(suite.folder))/\(SuitePage.name)") }
    }

    /// What a build server goes by: the first error, else whether an expectation was missed.
    private static func code(_ suite: SuiteResults) -> ExitCode {
        let error = suite.entries.first { $0.outcome == .error || $0.outcome == .interrupted }
        if let code = error?.exitCode { return ExitCode(rawValue: Int32(clamping: code)) ?? .internal }
        return suite.isGood ? .done : .expectationFailed
    }

    /// What is said while the suite is played.
    private final class Talk {
        private let isQuiet: Bool
        private let console: Console
        private let nameWidth: Int
        private let count: Int
        private var done = 0
        private var failed = 0

        init(_ plan: SuitePlan, isQuiet: Bool) {
            self.isQuiet = isQuiet
            console = Console(showsProgress: !isQuiet && isatty(STDERR_FILENO) != 0)
            nameWidth = plan.runs.map(\.name.count).max() ?? 0
            count = plan.runs.count
        }

        func began(_ run: SuiteRun, _ playing: [String]) {
            guard console.showsProgress else { return }
            let failures = failed > 0 ? ", \(failed) not passed" : ""
            console.progress("\(done) of \(count)\(failures); \(playing.joined(separator: ", "))")
        }

        func ended(_ entry: SuiteEntry) {
            done += 1
            // What did not pass stands at the end, with what explains it.
            if entry.outcome != .passed { failed += 1 }
            guard !isQuiet, entry.outcome == .passed else { return }
            console.clear()
            print(SuiteTable.line(entry, nameWidth: nameWidth, isColoured: Terminal.isColoured))
            fflush(nil)
        }

        func over() { console.clear() }
    }
}
