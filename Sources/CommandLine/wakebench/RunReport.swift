import Foundation
import WakeBench
import WakeModel
import WakeReports
import WakeSystem

/// Plays a run and says what came of it.
enum RunReport {
    static func play(
        _ options: RunOptions,
        quiet: Bool,
        json: Bool,
        follow: Bool
    ) throws(CommandFailure) -> ExitCode {
        let began = WallClock.now()
        let run: Run
        do { run = try Run(options) } catch {
            // Whatever becomes of the file, this is what stopped the run.
            if let junit = options.junit {
                try? RunPages.writeJUnit(RunPages.results(of: options, error, began: began), to: junit)
            }
            throw error
        }
        for note in run.notes { Output.complain("note: \(note)") }
        // So that `why` finds it while it goes on.
        if options.followsLatest, !run.folder.becomeLatest(), !quiet {
            let place = ShellWord.quoted(run.folder.path)
            Output.complain("note: \(RunFolder.latestLink) cannot be made here; name this run by --run \(place)")
        }
        let follows = follow || run.realTime && Terminal.isOutput && !quiet && !json
        let console = Console(showsProgress: !quiet && isatty(STDERR_FILENO) != 0)
        var failure: CommandFailure?
        do {
            failure = try execute(run, console, follows: follows)
        } catch {
            // What stopped the bench itself is told where build servers look, as far as there is room.
            let results = RunPages.results(run, error)
            try? results.save(to: run.folder.path)
            try? RunPages.writeJUnit(results, run.header, to: run.folder.junit)
            try? run.junit?.write(JUnitReport.text(results, header: run.header))
            throw error
        }
        if run.bench.unrecorded > 0 {
            let events = Plural.text(Int(run.bench.unrecorded), "event")
            let lost = "\(events) came faster than could be decided, and got no verdict"
            Output.complain("note: \(lost); slow the source down")
        }
        for line in run.captureLosses { Output.complain("note: \(line)") }
        let decisions = run.verdicts.reduce(0, +)
        let log = try decisions <= wholeReportLimit ? RunPages.log(run.folder) : nil
        let ended = try finish(run, log, failure)
        failure = ended.failure
        let met = run.driver.judgements.allSatisfy(\.met)
        if json {
            print(object(run, decisions, failure, good: met && failure == nil))
            return failure?.code ?? (met ? .done : .expectationFailed)
        }
        tell(run, log, ended.results, quiet: quiet, follows: follows)
        if let failure { throw failure }
        return met ? .done : .expectationFailed
    }

    /// Writes the results and the pages of a run that is over.
    ///
    /// - Returns: what the run came to, and the failure of before, or else why a page was not written.
    private static func finish(
        _ run: Run,
        _ log: RunLog?,
        _ failure: CommandFailure?
    ) throws(CommandFailure) -> (results: RunResults, failure: CommandFailure?) {
        let isMissed = failure != nil || !run.driver.judgements.allSatisfy(\.met)
        // Whoever interrupts a run waits for its end, and not for a log of any length to be read and searched.
        let isRead = log == nil && isMissed && failure?.code != .interrupted
        let searched = try isRead ? RunPages.log(run.folder) : log
        let nearest = isMissed ? searched.map(NearestDecisions.init) : nil
        let results = RunPages.results(run, failure, nearest: nearest)
        do { try results.save(to: run.folder.path) } catch { throw CommandFailure(.environment, error) }
        if let log { try RunPages.write(run.folder, log, results) }
        let header = log?.header ?? run.header
        if log == nil { try RunPages.writeJUnit(results, header, to: run.folder.junit) }
        var failure = failure
        do throws(ReportError) { try run.junit?.write(JUnitReport.text(results, header: header)) } catch {
            // The run is no less over for it.
            failure = failure ?? CommandFailure(.environment, error)
        }
        try run.finish()
        return (results, failure)
    }

    /// What people read at the end of a run.
    private static func tell(_ run: Run, _ log: RunLog?, _ results: RunResults, quiet: Bool, follows: Bool) {
        if let log, !quiet, !follows {
            print(Timeline.text(log, width: Terminal.width, isColoured: Terminal.isColoured) + "\n")
        }
        tellOutcomes(run, results, all: !quiet && log != nil)
        if !run.lateBuffers.isEmpty {
            print("late buffers of sound: \(run.lateBuffers.map { "\($0.app) \($0.count)" }.joined(separator: ", "))")
        }
        func list(_ times: [(app: AppID, time: Instant.Span)]) -> String {
            times.map { "\(run.name(of: $0.app)) \(LogTime.text($0.time))" }.joined(separator: ", ")
        }
        if !run.receiverTimes.isEmpty { print("receiver on (LOC-9): \(list(run.receiverTimes))") }
        if !run.silentApps.isEmpty { print("kept running by silence alone (AUD-4): \(list(run.silentApps))") }
        Terminal.print(Timeline.summary(counts: run.verdicts), hanging: 2)
        for path in run.captures { print("capture: \(path)") }
        let later = "wakebench report \(ShellWord.quoted(run.folder.path))"
        print("report: \(log == nil ? later : run.folder.report)")
    }

    /// How expectations came out, and a step that waited in vain; under what was not met the nearest decisions, and the command
    /// that explains them, as in JUnit.
    ///
    /// - Parameter all: whether those that were met are told, too.
    private static func tellOutcomes(_ run: Run, _ results: RunResults, all: Bool) {
        // Expectations about one app often have the same to tell.
        var told: Set<String> = []
        func show(_ said: String, _ place: String, isMet: Bool, _ explanation: String) {
            let word = isMet ? "met    " : "NOT MET"
            let line = "\(word)  \(TerminalText.escaped("\(said)  [\(place)]"))"
            let folded = TextTable.prose(line, width: Terminal.width, hanging: 9)
            let paint = Terminal.isColoured ? (isMet ? Paint.green : .red) : nil
            print((paint?.on(word) ?? word) + folded.dropFirst(word.count))
            guard told.insert(explanation).inserted else { return }
            // A command is copied as it stands.
            for line in explanation.split(separator: "\n") { print("         " + TerminalText.escaped(String(line))) }
        }
        if let unmet = run.driver.unmet, let fault = results.fault {
            show(unmet.text, run.scenario.place(line: unmet.line), isMet: false, fault.explanation)
        }
        for (judgement, outcome) in zip(run.driver.judgements, results.cases) where all || !judgement.met {
            let said = "\(judgement.app) \(judgement.expected); found \(judgement.found)"
            show(said, outcome.place, isMet: judgement.met, outcome.details)
        }
    }

    /// Plays the run to its end.
    ///
    /// - Returns: why it ended early, with logs that can be read: it was interrupted, an app died at its launch, or a step
    ///   waited in vain or could not be carried out.
    private static func execute(
        _ run: Run,
        _ console: Console,
        follows: Bool
    ) throws(CommandFailure) -> CommandFailure? {
        if console.showsProgress {
            run.progress = { console.progress("\(LogTime.shortText($0))  \(Plural.text($1, "decision"))") }
        }
        if follows { run.follow = { console.show($0) } }
        defer { console.clear() }
        do { try run.execute() } catch {
            guard error.code == .interrupted, run.hasPlayed else { throw error }
            return error
        }
        return run.fault
    }

    /// Runs with more decisions get their pages on request only: they take longer than the run.
    private static let wholeReportLimit = 10_000

    /// `wakebench report`: the pages of a run that is over, or one page of two runs.
    static func make(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: ExportCommand.options)
        let two = arguments.rest.count == 2
        let path =
            try two ? arguments.rest[0] : arguments.rest.isEmpty ? RunPlace.latest() : arguments.only("RUN")
        let folder = RunFolder(of: path)
        let files = try two ? write(folder, RunFolder(of: arguments.rest[1])) : write(folder, arguments)
        if arguments.has("--json") {
            print(try Output.json(page: ReportPage(folder: folder.path, files: files)))
        } else {
            for file in files { print(file.line) }
        }
        return .done
    }

    private static func write(_ first: RunFolder, _ second: RunFolder) throws(CommandFailure) -> [ReportPage.File] {
        [ReportPage.File(form: "report", path: try RunPages.write(first, second))]
    }

    private static func write(_ folder: RunFolder, _ arguments: Arguments) throws(CommandFailure) -> [ReportPage.File] {
        let results = try RunPages.results(folder)
        if let files = try ExportCommand.run(arguments, folder, results) { return files }
        try RunPages.write(folder, try RunPages.log(folder), results)
        return [
            ReportPage.File(form: "report", path: folder.report), ReportPage.File(form: "trace", path: folder.trace),
        ]
    }

    private static func object(_ run: Run, _ decisions: Int, _ failure: CommandFailure?, good: Bool) -> String {
        let error = failure.map { ",\"error\":\(Output.error($0))" } ?? ""
        let file = Output.json(RunFolder.fromHere(run.scenario.file))
        let judgements = run.driver.judgements.map { judgement in
            "{\"app\":\(Output.json(judgement.app)),\"file\":\(file),\"line\":\(judgement.line),"
                + "\"column\":\(judgement.column),\"expected\":\(Output.json(judgement.expected)),"
                + "\"found\":\(Output.json(judgement.found)),\"met\":\(judgement.met)}"
        }
        let late = run.lateBuffers.map { "\(Output.json($0.app)):\($0.count)" }
        let silent = run.silentApps.map { "\(Output.json(run.name(of: $0.app))):\($0.time.milliseconds)" }
        let sound =
            (late.isEmpty ? "" : ",\"late_buffers\":{\(late.joined(separator: ","))}")
            + (silent.isEmpty ? "" : ",\"silence_ms\":{\(silent.joined(separator: ","))}")
        return "{\"schema\":\"wake.run/1\",\"ok\":\(good),\"folder\":\(Output.json(run.folder.path)),"
            + "\"decisions\":\(decisions),\"expectations\":[\(judgements.joined(separator: ","))]\(sound)\(error)}"
    }
}
