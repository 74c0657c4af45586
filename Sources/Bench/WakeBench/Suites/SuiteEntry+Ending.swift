import Glibc
import WakeDevices
import WakeModel
import WakeProcesses
import WakeReports

extension SuiteEntry {
    /// A run that has been played.
    ///
    /// - Parameter took: nanoseconds of the wall clock.
    init(_ name: String, _ run: SuiteRun, took: Int64) {
        let scenario = RunFolder.fromHere(run.scenario)
        self.init(name: name, scenario: scenario, seed: run.seed, took: Instant.Span(nanoseconds: took))
    }

    /// A run that was not begun, because the suite was interrupted.
    init(notPlayed name: String, _ run: SuiteRun) {
        self.init(name: name, scenario: RunFolder.fromHere(run.scenario), seed: run.seed)
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
            default: fail(code, results?.fault ?? RunResults.Fault(said: lastLine))
            }
        // The suite's own signal, before the run could write anything.
        case .killed(signal: SIGINT): fail(.interrupted, "interrupted before it began")
        case .killed(let signal):
            fail(.internal, "the process that played it was ended by signal \(signal)")
        }
    }

    /// Reads a scenario that could not be read again: what the run said of it is one line, without the column.
    mutating func placeFault(reading file: String, searchFolders: [String]) {
        guard exitCode == Int64(ExitCode.invalidFile.rawValue) else { return }
        do throws(FileError) { _ = try Scenario.load(file: file, searchFolders: searchFolders) } catch {
            let read = RunResults.Fault(CommandFailure(.invalidFile, error))
            if read.message == fault?.message { fault = read }
        }
    }

    /// Counts it as one that could not be played to its end.
    mutating func fail(_ code: ExitCode, _ message: String) {
        fail(code, RunResults.Fault(kind: code.word, message: message))
    }

    /// The same, with what is known of why.
    mutating func fail(_ code: ExitCode, _ known: RunResults.Fault) {
        outcome = code == .interrupted ? .interrupted : .error
        exitCode = Int64(code.rawValue)
        fault = known
        fault?.kind = code.word
    }
}

extension RunResults.Fault {
    /// Why a run ended before its time, or could not begin.
    package init(_ failure: CommandFailure, details: String = "") {
        self.init(kind: failure.code.word, message: failure.line, details: details)
        hint = failure.hint
        guard let place = failure.place, place.line > 0 else { return }
        (file, line) = (RunFolder.fromHere(place.file), Int64(place.line))
        if place.column > 0 { column = Int64(place.column) }
    }

    /// A line that the program said; where it begins with a place in a file that is there, with its parts.
    fileprivate init(said line: String) {
        self.init(kind: "", message: line)
        let parts = line.split(separator: ":", maxSplits: 2).map(String.init)
        guard parts.count == 3, let number = Int64(parts[1]), number > 0, parts[2].hasPrefix(" "),
            unsafe access(parts[0], R_OK) == 0
        else { return }
        (file, self.line) = (RunFolder.fromHere(parts[0]), number)
    }
}
