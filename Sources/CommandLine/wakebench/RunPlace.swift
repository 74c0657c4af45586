import Foundation
import WakeBench
import WakeJSON
import WakeReports

/// Where the run is that a verb is about.
enum RunPlace {
    static let phone = Arguments.Option.value(
        "--phone",
        "NAME",
        short: "-p",
        "the run of this phone of the daemon; one that is booted may be a tenth of a second behind"
    )

    /// The folder that was named by `--phone`, by `--run`, or by the only word; by default the last run.
    static func folder(_ arguments: Arguments, word: String? = nil) throws(CommandFailure) -> String {
        let named = word ?? arguments.value("--run")
        guard let phone = arguments.value("--phone") else {
            guard let named else { return try latest() }
            if let failure = refusal(ofFile: named) { throw failure }
            return named
        }
        guard named == nil else {
            throw CommandFailure(.usage, "--phone and a run exclude each other", hint: "give one")
        }
        guard let folder = Daemon.runFolder(of: phone, state: Daemon.usualState()) else {
            throw CommandFailure(.notFound, "no phone '\(phone)' in \(Daemon.usualState())", hint: "see 'phone list'")
        }
        return folder
    }

    /// The folder of the run that was played last below the current folder. A note says which it is where that is none of those
    /// that have their places beside each other.
    ///
    /// - Throws: ``CommandFailure`` with exit code 3 where none was played, or it is not there any more.
    static func latest() throws(CommandFailure) -> String {
        let link = RunFolder.latestLink
        guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: link) else {
            // A copy of it, such as a build server keeps.
            if FileManager.default.fileExists(atPath: link) { return link }
            throw CommandFailure(.notFound, "no run was played in this folder", hint: remedy)
        }
        let isElsewhere = target.hasPrefix("/")
        let folder = isElsewhere ? RunFolder.fromHere(target) : "\(RunFolder.defaultParent)/\(target)"
        guard FileManager.default.fileExists(atPath: folder) else {
            throw CommandFailure(.notFound, in: folder, "the last run is not there any more", hint: remedy)
        }
        if isElsewhere {
            let title = (try? RunResults(folder: folder))?.title
            Output.complain("note: the last run is \(folder)\(title.map { ", of the scenario \($0)" } ?? "")")
        }
        return folder
    }

    private static let remedy = "play one with 'wakebench run SCENARIO.yaml', or name the folder of a run"

    /// Refuses a folder that has no run.
    static func require(_ folder: String) throws(CommandFailure) {
        do throws(ReportError) { _ = try RunLog.header(folder: folder) } catch {
            throw error.kind == .missing ? missing(error, folder) : CommandFailure(.invalidFile, error)
        }
    }

    /// What to say of a file in place of the folder of a run, such as a page in that; nil for anything else.
    private static func refusal(ofFile path: String) -> CommandFailure? {
        guard ScenarioSearch.isFolder(path) == false else { return nil }
        let above = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let isInRun = FileManager.default.fileExists(atPath: "\(above)/\(RunLog.decisionsName)")
        return CommandFailure(
            .notFound,
            in: path,
            "a file, and not the folder of a run",
            hint: isInRun ? "give its folder, \(above)" : "give the folder of a run"
        )
    }

    /// Why there is no log in a folder: a suite's has one for each of its runs.
    static func missing(_ error: ReportError, _ folder: String) -> CommandFailure {
        if let failure = refusal(ofFile: folder) { return failure }
        let suite = FileManager.default.contents(atPath: "\(folder)/\(SuiteResults.name)").flatMap {
            JSONValue(parsing: Array($0))
        }
        let runs = suite?["runs"]?.array ?? []
        let failed = runs.first { $0["outcome"]?.string == SuiteEntry.Outcome.failed.rawValue }
        guard let name = (failed ?? runs.first)?["name"]?.string else { return CommandFailure(.notFound, error) }
        return CommandFailure(
            .notFound,
            in: folder,
            "the folder of a suite of \(Plural.text(runs.count, "run"))",
            hint: "name one of them, such as \(folder)/\(name)"
        )
    }
}
