import Foundation
import WakeBench
import WakeModel
import WakeReports

/// `wakebench log`: the decisions of a run, each record in full, with what came with its event.
enum LogCommand {
    static let options: [Arguments.Option] = [
        RunPlace.phone,
        .value("--app", "APP", "the records of this app only: com.example.heart, or heart as in the scenario"),
        .value("--cursor", "N", "leave out the decisions up to this number, which records have as seq"),
        .flag("--follow", short: "-f", "wait for further records while the run goes on, and end with it"),
        .flag(
            "--check-determinism",
            "replay the run's inputs through a new router instead; exit code 10 if its decisions are not those of the log"
        ),
        .flag("--json", "an object a line, as without it; one object of --check-determinism, and of an error"),
    ]

    static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        let arguments = try Arguments(words, options: options)
        let path = try RunPlace.folder(arguments, word: arguments.rest.isEmpty ? nil : arguments.only("RUN"))
        if arguments.has("--check-determinism") { return try check(path, arguments) }
        let cursor = try cursor(arguments)
        let app = try arguments.value("--app").map { (word) throws(CommandFailure) in
            try WhyCommand.app(word, in: WhyCommand.read(path, checks: false), path)
        }
        let page = Page()
        if arguments.has("--follow") {
            // At once, whether it waits for the run or for a reader: all that was to be read is written before it waits.
            signal(SIGINT) { _ in _exit(ExitCode.interrupted.rawValue) }
            let follower = LogFollower(RunFolder(of: path), app: app, after: cursor, page.add, caughtUp: page.flush)
            return try ended(follower.follow(), page, path)
        }
        do {
            var records = try RecordReader(folder: path, app: app, after: cursor, values: true)
            var isTaken = page.add(records.first)
            while isTaken, let record = try records.next() { isTaken = page.add(record) }
        } catch {
            if error.kind == .missing { throw RunPlace.missing(error, path) }
            throw CommandFailure(.invalidFile, error)
        }
        _ = page.flush()
        if let failure = page.failure { throw failure }
        return .done
    }

    private static func cursor(_ arguments: Arguments) throws(CommandFailure) -> UInt64 {
        guard let text = arguments.value("--cursor") else { return 0 }
        guard let number = UInt64(text) else {
            throw CommandFailure(.usage, "--cursor \(text): expected the number of a decision, from 0")
        }
        return number
    }

    private static func ended(
        _ ending: LogFollower.Ending,
        _ page: Page,
        _ path: String
    ) throws(CommandFailure) -> ExitCode {
        if let failure = page.failure { throw failure }
        switch ending {
        case .over, .refused: return .done
        case .brokenOff:
            throw CommandFailure(
                .wrongState,
                "\(path): the run broke off, and no process plays it",
                hint: "the command that began it goes on with it"
            )
        }
    }

    /// Whether a run that is over can be repeated (SYS-3).
    private static func check(_ path: String, _ arguments: Arguments) throws(CommandFailure) -> ExitCode {
        for option in ["--app", "--cursor", "--follow"] where arguments.has(option) {
            throw CommandFailure(.usage, "--check-determinism and \(option) exclude each other", hint: "give one")
        }
        try RunPlace.require(path)
        let check = try DeterminismCheck(run: RunFolder(of: path), appFolders: RunCommand.defaultAppFolders)
        return try tell(check, of: path, json: arguments.has("--json"))
    }

    /// Says whether a run was decided the same again.
    static func tell(_ check: DeterminismCheck, of path: String, json: Bool) throws(CommandFailure) -> ExitCode {
        if json {
            print(try Output.json(page: CheckPage(check, folder: path)))
        } else {
            for line in check.text.split(separator: "\n") { print(TerminalText.escaped(String(line))) }
        }
        return check.difference == nil ? .done : .nonDeterminism
    }

    /// `wake.determinism/1`.
    private struct CheckPage: Encodable {
        var schema = "wake.determinism/1"
        var ok: Bool
        var folder: String
        var inputs: Int
        var decisions: Int
        /// For people.
        var summary: String

        init(_ check: DeterminismCheck, folder: String) {
            (ok, self.folder, summary) = (check.difference == nil, folder, check.text)
            (inputs, decisions) = (check.inputs, check.decisions)
        }
    }

    /// What has come together for stdout.
    private final class Page {
        private var bytes = Data()
        private(set) var failure: CommandFailure?

        /// Adds a line.
        ///
        /// - Returns: false when stdout takes no more.
        func add(_ line: [UInt8]) -> Bool {
            bytes.append(contentsOf: line)
            bytes.append(0x0a)
            return bytes.count < 256 << 10 || flush()
        }

        /// Writes all of it; the same.
        func flush() -> Bool {
            guard failure == nil else { return false }
            defer { bytes.removeAll(keepingCapacity: true) }
            do { try FileHandle.standardOutput.write(contentsOf: bytes) } catch {
                let found = "standard output: cannot be written"
                failure = CommandFailure(.environment, found, hint: "send it where there is room")
            }
            return failure == nil
        }
    }
}
