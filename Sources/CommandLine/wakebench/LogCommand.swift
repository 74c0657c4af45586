import Foundation
import WakeBench
import WakeReports

/// `wakebench log`: the decisions of a run, each record in full.
enum LogCommand {
    static let options: [Arguments.Option] = [
        .value("--app", "APP", "the records of this app only: com.example.heart, or heart as in the scenario"),
        .flag(
            "--check-determinism",
            "take the run's inputs through a fresh router instead: 10 when its decisions are not those of the log"
        ),
    ]

    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        let path = arguments.rest.isEmpty ? "wakebench-runs/latest" : try arguments.only("RUN")
        if arguments.has("--check-determinism") { return try check(path) }
        let app = try arguments.value("--app").map { (word) throws(CommandFailure) in
            try WhyCommand.app(word, in: WhyCommand.read(path, checks: false), path)
        }
        var page = Data()
        var failure: CommandFailure?
        do {
            try RunLog.eachRecord(folder: path, app: app) { line in
                page.append(contentsOf: line)
                page.append(0x0a)
                if page.count >= 256 << 10 { failure = flush(&page) }
                return failure == nil
            }
        } catch {
            throw CommandFailure(error.kind == .missing ? .notFound : .invalidFile, error)
        }
        if let failure = failure ?? flush(&page) { throw failure }
        return .done
    }

    /// Whether a run that is over can be repeated (SYS-3).
    private static func check(_ path: String) throws(CommandFailure) -> ExitCode {
        let check = try DeterminismCheck(run: RunFolder(of: path), appFolders: RunCommand.defaultAppFolders)
        for line in check.text.split(separator: "\n") { print(TerminalText.escaped(String(line))) }
        return check.difference == nil ? .done : .nonDeterminism
    }

    /// Prints what has come together.
    private static func flush(_ page: inout Data) -> CommandFailure? {
        defer { page.removeAll(keepingCapacity: true) }
        do { try FileHandle.standardOutput.write(contentsOf: page) } catch {
            return CommandFailure(.internal, "stdout: cannot be written; send it where there is room")
        }
        return nil
    }
}
