import Foundation
import WakeBench
import WakeDevices
import WakeModel
import WakeReports

/// `wakebench record`: what real hardware does, written down as it happens, and a device file made of it.
enum RecordCommand {
    static let out = Arguments.Option.value(
        "--out",
        "DEVICE.yaml",
        short: "-o",
        "the device file that is made in the end; what is recorded stands beside it"
    )
    static let time = Arguments.Option.value(
        "--for",
        "DURATION",
        "how long, at most 30 days; without it until Ctrl-C"
    )
    static let closing: [Arguments.Option] = [
        .flag("--force", "replace files that are there"),
        .flag("--json", "print one JSON object"),
    ]

    private static let longest = Instant.Span.seconds(30 * 86_400)

    /// What all recordings are asked.
    struct Wish {
        let arguments: Arguments
        let out: String
        /// The device file without its ending, for what stands beside it.
        let stem: String
        /// Nil until somebody interrupts.
        let time: Instant.Span?
        private let console = Console(showsProgress: isatty(STDERR_FILENO) != 0)

        init(_ arguments: Arguments) throws(CommandFailure) {
            self.arguments = arguments
            guard let out = arguments.value("--out"), !out.isEmpty else {
                throw CommandFailure(.usage, "DEVICE.yaml is missing", hint: "name the device file with --out")
            }
            let name = out.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
            let ending = name.lastIndex(of: ".").map { name[$0...] } ?? ""
            (self.out, stem) = (out, String(out.dropLast(ending.count)))
            time = try ImportCommand.duration(arguments, "--for")
            if let time, time <= .zero || time > longest {
                throw CommandFailure(.usage, "--for \(DurationText.text(time)): not within 30 days")
            }
            try checkRoom([out])
        }

        /// The one word that may say what is recorded.
        func source(_ what: String) throws(CommandFailure) -> String? {
            guard arguments.rest.count <= 1 else {
                throw CommandFailure(.usage, "one \(what) expected, not \(arguments.rest.count)")
            }
            return arguments.rest.first
        }

        /// Refuses files that are there, and one that would be the device file, too.
        func checkRoom(_ files: [String]) throws(CommandFailure) {
            for file in files {
                try ImportCommand.checkRoom(file, arguments)
            }
        }

        /// A file beside the device file, for what is recorded.
        func beside(_ ending: String) throws(CommandFailure) -> String {
            let file = stem + ending
            guard file != out else {
                throw CommandFailure(
                    .usage,
                    "\(out): what is recorded stands in a file of that name",
                    hint: "call it \(stem).yaml"
                )
            }
            try checkRoom([file])
            return file
        }

        func follow(_ line: String) { Output.complain(line) }

        /// One line on a terminal; nil when stderr is none.
        var progress: ((RecordingProgress) -> Void)? {
            guard console.showsProgress else { return nil }
            return { [console] now in
                let seconds = now.time.milliseconds / 1000
                console.progress("recording: \(DurationText.text(.seconds(seconds))), \(now.counts); Ctrl-C ends it")
            }
        }

        /// Records, and takes the progress line away. Of a recording that did not begin no file is left; of one that could not go on
        /// all that was written is.
        func record<Outcome>(
            to files: [String],
            _ recording: () throws(CommandFailure) -> Outcome
        ) throws(CommandFailure) -> Outcome {
            defer { console.clear() }
            do throws(CommandFailure) { return try recording() } catch {
                if error.code != .environment { remove(files) }
                throw error
            }
        }

        private func remove(_ files: [String]) {
            for file in files { try? FileManager.default.removeItem(atPath: file) }
        }

        /// Why a recording that brought nothing is none; its files are removed.
        func failure(_ end: RecordingEnd, _ what: String, _ files: [String]) -> CommandFailure {
            remove(files)
            switch end {
            case .time:
                let span = time.map { " in \(DurationText.text($0))" } ?? ""
                return CommandFailure(.timeout, "\(what)\(span)", hint: "no file is written")
            case .interrupted: return CommandFailure(.interrupted, what, hint: "no file is written")
            case .gone(let why): return CommandFailure(.environment, "\(why), and \(what)", hint: "no file is written")
            }
        }
    }

    // MARK: The end

    /// What is said of a recording, beside what an import says of its files.
    struct Page: Encodable {
        var ok = true
        var schema = "wakebench.record/1"
        /// The files that were recorded, in which nothing is left out but keys.
        var captures: [String]
        var end: String
        var seconds: Double
        /// Of each kind of thing that was recorded.
        var counts: [String: Int]
        var device: String?
        var notes: [String]
    }

    /// Tells of a recording that is written.
    ///
    /// - Parameter made: what the same code as that of `import` made of it.
    static func tell(
        _ wish: Wish,
        _ made: ImportCommand.Made,
        _ page: Page,
        _ end: RecordingEnd
    ) throws(CommandFailure) -> ExitCode {
        var (page, code) = (page, ExitCode.done)
        // Who asked for a time was promised all of it.
        if case .gone(let why) = end, let time = wish.time {
            (page.ok, code) = (false, .environment)
            let (lasted, wanted) = (
                DurationText.text(.milliseconds(Int64(page.seconds * 1000))), DurationText.text(time)
            )
            Output.complain("\(why) after \(lasted) of \(wanted); what came before is recorded")
        }
        if wish.arguments.has("--json") {
            print("\(try Output.json(page: page).dropLast()),\"import\":\(made.json)}")
            return code
        }
        let counts = page.counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        let time = DurationText.text(.milliseconds(Int64(page.seconds * 1000)))
        let lines = ["recorded in \(time): \(counts)"] + page.notes.map { "note: \($0)" }
        for line in made.lines + lines { print(TerminalText.escaped(line)) }
        return code
    }

    static func word(_ end: RecordingEnd) -> String {
        switch end {
        case .time: "time"
        case .interrupted: "interrupted"
        case .gone: "gone"
        }
    }

    static func seconds(_ span: Instant.Span) -> Double { Double(span.milliseconds) / 1000 }
}
