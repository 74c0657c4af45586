import WakeBench
import WakeDevices
import WakeModel
import WakeReports

/// The files that a run folder has for its readers: made from its logs and its results, when the run ends or later.
enum RunPages {
    /// Writes the page and the trace, and `junit.xml` when the results of the run are known.
    static func write(_ folder: RunFolder, _ log: RunLog, _ results: RunResults?) throws(CommandFailure) {
        if let results { try writeJUnit(results, log.header, to: folder.junit) }
        try save(HTMLReport.bytes(HTMLReport.Run(log, title: folder.path, results: results)), folder.report)
        do { try ChromeTrace.save(log, to: folder.trace, began: results?.began ?? 0) } catch {
            throw CommandFailure(.environment, error)
        }
    }

    static func writeJUnit(_ results: RunResults, _ header: LogHeader? = nil, to path: String) throws(CommandFailure) {
        try save(Array(JUnitReport.text(results, header: header).utf8), path, isShared: true)
    }

    /// The logs of a run folder.
    static func log(_ folder: RunFolder) throws(CommandFailure) -> RunLog {
        do { return try RunLog(folder: folder.path, evidence: true) } catch {
            switch error.kind {
            case .missing: throw RunPlace.missing(error, folder.path)
            case .foreign: throw CommandFailure(.invalidFile, error)
            case .full, .link, .noFolder, .system: throw CommandFailure(.environment, error)
            }
        }
    }

    /// Writes the page of two runs into the folder of the first.
    ///
    /// - Returns: its path.
    static func write(_ first: RunFolder, _ second: RunFolder) throws(CommandFailure) -> String {
        let runs = try [first, second].map { (folder) throws(CommandFailure) in
            HTMLReport.Run(try log(folder), title: folder.path, results: try results(folder))
        }
        try save(HTMLReport.bytes(runs[0], runs[1]), first.comparison)
        return first.comparison
    }

    /// What the run of a folder came to; nil when the folder does not say.
    static func results(_ folder: RunFolder) throws(CommandFailure) -> RunResults? {
        do { return try RunResults(folder: folder.path) } catch { throw CommandFailure(.invalidFile, error) }
    }

    /// - Parameter isShared: whether others of the machine may read one that is made: what build servers read, and what is wanted
    ///   at a place of the user's own.
    static func save(_ text: String, _ path: String, isShared: Bool = false) throws(CommandFailure) {
        try save(Array(text.utf8), path, isShared: isShared)
    }

    static func save(_ bytes: [UInt8], _ path: String, isShared: Bool = false) throws(CommandFailure) {
        do throws(ReportError) {
            let file = try LogFile(replacing: path, isShared: isShared)
            try file.write(bytes)
            try file.finish()
        } catch {
            throw CommandFailure(.environment, error)
        }
    }

    // MARK: Results

    /// What a run came to.
    ///
    /// - Parameter nearest: tells of the nearest decisions to what was missed; nil where they are not looked for.
    static func results(
        _ run: Run,
        _ failure: CommandFailure?,
        nearest: NearestDecisions? = nil
    ) -> RunResults {
        var results = RunResults(
            title: run.scenario.name,
            file: RunFolder.fromHere(run.scenario.file),
            began: run.began,
            took: run.took,
            end: run.reached
        )
        results.line = firstLine(run.scenario)
        results.decisions = Int64(run.verdicts.reduce(0, +))
        func near(_ app: Int, _ sought: DecisionFilter?) -> String {
            let (bundle, folder) = (run.bundle(ofApp: app), run.folder.path)
            if let nearest {
                let filter = sought ?? DecisionFilter()
                return nearest.text(app: bundle, sought: filter, ends: sought == nil, at: run.reached, folder: folder)
            }
            // Its logs can be read, but were not yet.
            return failure?.code == .interrupted ? NearestDecisions.command(about: bundle, folder: folder) : ""
        }
        results.fault = failure.map { failure in
            let details = run.driver.unmet.map { missed in missed.apps.prefix(3).map { near($0, missed.sought) } }
            return RunResults.Fault(failure, details: ([failure.line] + (details ?? [])).joined(separator: "\n"))
        }
        func missed(_ judgement: ScenarioDriver.Judgement) -> Instant? {
            guard !judgement.met else { return nil }
            let bundle = run.bundle(ofApp: judgement.number)
            guard let most = judgement.most, let sought = judgement.sought else { return run.reached }
            return nearest?.excess(app: bundle, sought: sought, over: most) ?? run.reached
        }
        results.cases = run.driver.judgements.map { judgement in
            JUnitReport.Case(
                name: "\(judgement.app) \(judgement.expected)",
                place: run.scenario.place(line: judgement.line),
                file: RunFolder.fromHere(run.scenario.file),
                line: Int64(judgement.line),
                failure: judgement.met ? nil : "found \(judgement.found)",
                details: judgement.met ? "" : near(judgement.number, judgement.sought),
                at: missed(judgement)
            )
        }
        return results
    }

    /// The results of a run that could not begin, such as one of a scenario that cannot be read.
    ///
    /// - Parameter began: when that was tried, in nanoseconds since 1970.
    static func results(of options: RunOptions, _ failure: CommandFailure, began: Int64) -> RunResults {
        let scenario = try? Scenario.load(file: options.scenario, searchFolders: options.appFolders)
        let name = options.scenario.split(separator: "/").last.map(String.init) ?? options.scenario
        var results = RunResults(
            title: scenario?.name ?? name.split(separator: ".").first.map(String.init) ?? name,
            file: RunFolder.fromHere(options.scenario),
            began: began,
            fault: RunResults.Fault(failure)
        )
        results.line = scenario.map(firstLine) ?? 0
        return results
    }

    /// Where the play of a scenario begins in its file, see ``RunResults/line``.
    private static func firstLine(_ scenario: Scenario) -> Int64 {
        Int64(scenario.steps.first?.line ?? scenario.apps.first?.line ?? 0)
    }
}
