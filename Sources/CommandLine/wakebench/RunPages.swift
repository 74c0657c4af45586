import Foundation
import WakeBench
import WakeModel
import WakeReports

/// The files that a run folder has for its readers: made from its logs and its results, when the run ends or later.
enum RunPages {
    /// Writes the page and the trace, and `junit.xml` when the results of the run are known.
    static func write(_ folder: RunFolder, _ log: RunLog, _ results: RunResults?) throws(CommandFailure) {
        if let results { try writeJUnit(results, log.header, to: folder.junit) }
        try save(HTMLReport.text(log, title: folder.path, results: results), folder.report)
        do { try ChromeTrace.save(log, to: folder.trace) } catch {
            throw CommandFailure(.environment, error)
        }
    }

    static func writeJUnit(_ results: RunResults, _ header: LogHeader? = nil, to path: String) throws(CommandFailure) {
        try save(JUnitReport.text(results, header: header), path)
    }

    /// The logs of a run folder.
    static func log(_ folder: RunFolder) throws(CommandFailure) -> RunLog {
        do { return try RunLog(folder: folder.path) } catch {
            switch error.kind {
            case .missing: throw CommandFailure(.notFound, error)
            case .foreign: throw CommandFailure(.invalidFile, error)
            case .full, .system: throw CommandFailure(.environment, error)
            }
        }
    }

    private static func save(_ text: String, _ path: String) throws(CommandFailure) {
        do { try ReportFile.write(text, to: path) } catch { throw CommandFailure(.environment, error) }
    }

    // MARK: Results

    /// What a run came to, with the nearest decisions to what was missed.
    ///
    /// - Parameter log: read when something was missed.
    static func results(
        _ run: Run,
        _ failure: CommandFailure?,
        log: () throws(CommandFailure) -> RunLog
    ) throws(CommandFailure) -> RunResults {
        var results = RunResults(
            title: run.scenario.name,
            file: run.scenario.file.split(separator: "/").last.map(String.init) ?? "",
            began: run.ending?.began ?? 0,
            took: run.ending?.took ?? .zero,
            end: run.reached
        )
        // Whoever interrupts a run waits for its end, and not for a log of any length to be searched.
        let isInterrupted = failure?.code == .interrupted
        let isMissed = !isInterrupted && (failure != nil || !run.driver.judgements.allSatisfy(\.met))
        let nearest = try isMissed ? NearestDecisions(log()) : nil
        results.fault = failure.map { failure in
            let missed = run.driver.unmet
            let details = missed.map { missed in
                missed.apps.prefix(3).map { app in
                    nearest?.text(
                        app: run.bundle(ofApp: app),
                        sought: missed.sought,
                        at: results.end,
                        folder: run.folder.path
                    ) ?? ""
                }
            }
            return RunResults.Fault(
                kind: failure.code.kind,
                message: failure.line,
                details: ([failure.line] + (details ?? [])).joined(separator: "\n")
            )
        }
        results.cases = run.driver.judgements.map { judgement in
            JUnitReport.Case(
                name: "\(judgement.app) \(judgement.expected)",
                place: run.scenario.origin(line: judgement.line),
                failure: judgement.met ? nil : "found \(judgement.found)",
                details: judgement.met
                    ? ""
                    : nearest?.text(
                        app: run.bundle(ofApp: judgement.number),
                        sought: judgement.sought,
                        at: results.end,
                        folder: run.folder.path
                    ) ?? ""
            )
        }
        return results
    }

    /// The results of a run that could not begin, such as one of a scenario that cannot be read.
    static func results(of scenario: String, _ failure: CommandFailure) -> RunResults {
        let file = scenario.split(separator: "/").last.map(String.init) ?? scenario
        let title = file.split(separator: ".").first.map(String.init) ?? file
        return RunResults(
            title: title,
            file: file,
            fault: RunResults.Fault(kind: failure.code.kind, message: failure.line)
        )
    }
}
