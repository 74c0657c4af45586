import Glibc
import WakeModel
import WakeProcesses
import WakeReports

extension SuiteEntry {
    /// A run that has been played.
    ///
    /// - Parameter took: nanoseconds of the wall clock.
    init(_ name: String, _ run: SuiteRun, took: Int64) {
        self.init(name: name, scenario: run.scenario, seed: run.seed, took: Instant.Span(nanoseconds: took))
    }

    /// A run that was not begun, because the suite was interrupted.
    init(notPlayed name: String, _ run: SuiteRun) {
        self.init(name: name, scenario: run.scenario, seed: run.seed)
    }

    /// Says how a run came out, by how its process ended and what is in its folder.
    ///
    /// - Parameters:
    ///   - folder: where its results are; nil when it wrote none.
    ///   - lastLine: what it said last, which says why it could not be played.
    mutating func finish(_ end: ChildProgram.End, folder: String?, lastLine: String) {
        if let folder, let results = try? RunResults(folder: folder) {
            self.results = results
            header = try? RunLog.header(folder: folder)
            if unsafe access(folder + "/report.html", R_OK) == 0 { report = "\(name)/report.html" }
        }
        switch end {
        case .exited(let status):
            let code = ExitCode(rawValue: status) ?? .internal
            switch code {
            case .done where results != nil: (outcome, exitCode) = (.passed, 0)
            case .expectationFailed where results != nil: (outcome, exitCode) = (.failed, Int64(code.rawValue))
            case .done: fail(.internal, "ended without results: \(lastLine)")
            default: fail(code, results?.fault?.message ?? lastLine)
            }
        // The suite's own signal, before the run could write anything.
        case .killed(signal: SIGINT): fail(.interrupted, "interrupted before it began")
        case .killed(let signal):
            fail(.internal, "the process that played it was ended by signal \(signal)")
        }
    }

    /// Counts it as one that could not be played to its end.
    mutating func fail(_ code: ExitCode, _ message: String) {
        outcome = code == .interrupted ? .interrupted : .error
        exitCode = Int64(code.rawValue)
        fault = RunResults.Fault(kind: code.word, message: message)
    }
}
