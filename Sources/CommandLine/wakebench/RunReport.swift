import Foundation
import WakeBench
import WakeModel
import WakeReports

/// Plays a run and says what came of it.
enum RunReport {
    static func play(_ options: RunOptions, quiet: Bool, json: Bool) throws(CommandFailure) -> ExitCode {
        let run = try Run(options)
        for note in run.notes { Output.complain("note: \(note)") }
        var failure: CommandFailure?
        do { try run.execute() } catch { failure = error }
        if let failure, failure.code != .interrupted { throw failure }
        let log = try write(run)
        if options.followsLatest { run.folder.becomeLatest() }
        let judgements = run.driver.judgements
        let good = run.driver.failure == nil && judgements.allSatisfy(\.met) && failure == nil
        if json {
            print(object(run, log, good))
        } else {
            if !quiet { print(Timeline.text(log) + "\n") }
            for judgement in judgements where !quiet || !judgement.met {
                let place = "\(run.scenario.origin(line: judgement.line))"
                let verdict = judgement.met ? "met    " : "NOT MET"
                print("\(verdict)  \(judgement.app) \(judgement.expected); found \(judgement.found)  [\(place)]")
            }
            print(Timeline.summary(log))
            print("report: \(run.folder.report)")
        }
        if let failure { throw failure }
        if let reason = run.driver.failure { throw CommandFailure(.timeout, reason) }
        return good ? .done : .expectationFailed
    }

    /// Writes the reports, and gives back the logs they are made from.
    private static func write(_ run: Run) throws(CommandFailure) -> RunLog {
        do {
            let log = try RunLog(folder: run.folder.path)
            let cases = run.driver.judgements.map { judgement in
                JUnitReport.Case(
                    name: "\(judgement.app) \(judgement.expected)",
                    place: run.scenario.origin(line: judgement.line),
                    failure: judgement.met ? nil : "found \(judgement.found)"
                )
            }
            let title = run.scenario.name
            try save(HTMLReport.text(log, title: title, cases: cases), run.folder.report)
            try save(ChromeTrace.text(log), run.folder.trace)
            try save(
                JUnitReport.text(suite: title, lasted: log.end.since(.zero), cases),
                run.folder.junit
            )
            return log
        } catch let error as ReportError {
            throw CommandFailure(.environment, error.description)
        } catch {
            throw CommandFailure(.environment, "\(run.folder.path): cannot write the reports: \(error)")
        }
    }

    private static func save(_ text: String, _ path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    private static func object(_ run: Run, _ log: RunLog, _ good: Bool) -> String {
        let judgements = run.driver.judgements.map { judgement in
            "{\"app\":\(Output.json(judgement.app)),\"line\":\(judgement.line),"
                + "\"expected\":\(Output.json(judgement.expected)),\"found\":\(Output.json(judgement.found)),"
                + "\"met\":\(judgement.met)}"
        }
        return "{\"schema\":\"wake.run/1\",\"ok\":\(good),\"folder\":\(Output.json(run.folder.path)),"
            + "\"decisions\":\(log.decisions.count),\"expectations\":[\(judgements.joined(separator: ","))]}"
    }
}
