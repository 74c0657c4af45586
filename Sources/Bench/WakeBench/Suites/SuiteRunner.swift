import Glibc
import WakeModel
import WakeProcesses
import WakeReports
import WakeSystem

/// Plays the runs of a suite, each in a process of its own: whatever becomes of one, the others are played.
package final class SuiteRunner {
    /// How runs are played.
    package struct Settings: Sendable {
        /// How many at a time.
        package var jobs = 1
        /// The program `wakebench`.
        package var program: String
        /// What each run is given beside its scenario, its folder and its seed.
        package var arguments: [String] = []
        /// Where each run looks for what its scenario names.
        package var searchFolders: [String] = []
        /// Seconds of wall time after which a run is interrupted; nil for any time.
        package var timeLimit: Int64?
        /// The process that started the suite, with which it ends as if interrupted; nil for one that does not matter.
        package var parent: Int32?

        package init(program: String) {
            self.program = program
        }
    }

    /// A run that goes on.
    private final class Playing {
        let place: Int
        let beganAt: Int64
        let output: Output
        /// What results the folder had before.
        let before: FileMark?
        var child: ChildProgram?
        /// Interrupts it when its time is over, and kills it when that does not help.
        var limit: Timer?
        var isOverdue = false

        init(_ place: Int, _ output: Output, before: FileMark?) {
            (self.place, self.output, self.before) = (place, output, before)
            beganAt = MonotonicClock.now()
        }
    }

    /// Hears of each run that begins, and of how many go on then.
    package var began: (_ run: SuiteRun, _ playing: [String]) -> Void = { _, _ in }
    /// Hears of each run that is over.
    package var ended: (SuiteEntry) -> Void = { _ in }

    /// Seconds that an interrupted run has to write its reports.
    private static let grace: Int64 = 20

    private let runs: [SuiteRun]
    private let folder: String
    private let settings: Settings
    private let loop: EventLoop
    private var next = 0
    private var playing: [Playing] = []
    private var entries: [SuiteEntry?]
    private var interruptions = 0

    /// - Parameter folder: where each run gets a folder of its own.
    /// - Throws: ``CommandFailure`` with exit code 12 when the kernel gives no descriptors.
    package init(_ plan: SuitePlan, in folder: String, _ settings: Settings) throws(CommandFailure) {
        runs = plan.runs
        self.folder = folder
        self.settings = settings
        entries = Array(repeating: nil, count: runs.count)
        do { loop = try EventLoop() } catch { throw CommandFailure(.environment, "\(error)") }
    }

    /// Plays all runs. SIGINT, SIGTERM and SIGHUP interrupt those that go on, which write their reports, and no other begins;
    /// a second one ends them at once.
    ///
    /// - Returns: what became of each run, in the order of the plan.
    /// - Throws: ``CommandFailure`` with exit code 12 when the kernel gives no descriptors, and 4 for a parent that is none.
    package func play() throws(CommandFailure) -> SuiteResults {
        let (began, beganAt) = (WallClock.now(), MonotonicClock.now())
        try Run.follow(settings.parent)
        do {
            let signals = try SignalSet([SIGINT, SIGTERM, SIGHUP]).asked.map { number in
                try loop.signal(number) { [unowned self] in interrupt() }
            }
            fill()
            while !playing.isEmpty { try loop.runOnce() }
            for signal in signals { signal.cancel() }
        } catch { throw CommandFailure(.environment, "\(error)") }
        let all = entries.enumerated().map { place, entry in
            entry ?? SuiteEntry(notPlayed: runs[place].name, runs[place])
        }
        let took = Instant.Span(nanoseconds: MonotonicClock.now() - beganAt)
        return SuiteResults(
            began: began,
            took: took,
            folder: folder,
            entries: all,
            isInterrupted: interruptions > 0
        )
    }

    private func interrupt() {
        interruptions += 1
        for each in playing { each.child?.signal(interruptions > 1 ? SIGKILL : SIGINT) }
    }

    /// Begins as many runs as there is room for.
    private func fill() {
        while playing.count < settings.jobs, next < runs.count, interruptions == 0 {
            let place = next
            next += 1
            // What cannot be begun costs the others nothing either.
            do throws(CommandFailure) { try begin(place) } catch {
                var entry = SuiteEntry(runs[place].name, runs[place], took: 0)
                entry.fail(error.code, RunResults.Fault(error))
                entries[place] = entry
                ended(entry)
            }
        }
    }

    private func begin(_ place: Int) throws(CommandFailure) {
        let run = runs[place]
        let own = folder + "/" + run.name
        _ = try RunFolder(making: own)
        let before = FileMark(own + "/" + RunResults.name)
        let each = Playing(place, try Output(own + "/" + Output.name), before: before)
        var words = ["run", run.scenario, "--out", own, "--quiet", "--parent", "\(getpid())"] + settings.arguments
        if let seed = run.seed { words += ["--seed", "\(seed)"] }
        do {
            each.child = try ChildProgram(settings.program, words, output: each.output.number, on: loop) {
                [unowned self, unowned each] end in
                over(each, end)
            }
            if let limit = settings.timeLimit {
                let timer = try loop.timer(on: .monotonic) { [unowned each] in
                    each.child?.signal(each.isOverdue ? SIGKILL : SIGINT)
                    each.isOverdue = true
                    each.limit?.arm(at: MonotonicClock.now() + Self.grace * 1_000_000_000)
                }
                timer.arm(at: each.beganAt + limit * 1_000_000_000)
                each.limit = timer
            }
        } catch {
            throw CommandFailure(.environment, "\(run.scenario): cannot be played: \(error)")
        }
        playing.append(each)
        began(run, playing.map { runs[$0.place].name })
    }

    /// Why a run has said nothing, as far as its folder tells.
    private static func silence(in folder: String) -> String {
        var space = statvfs()
        guard unsafe statvfs(folder, &space) == 0 else { return "it said nothing" }
        let free = UInt64(space.f_bavail) * UInt64(space.f_frsize)
        guard free < 65_536 else { return "it said nothing" }
        return "\(folder)/\(Output.name) has no room for what it said: \(free) bytes are free there; free some space, "
            + "or give another --out"
    }

    private func over(_ each: Playing, _ end: ChildProgram.End) {
        playing.removeAll { $0 === each }
        let run = runs[each.place]
        let own = folder + "/" + run.name
        var entry = SuiteEntry(run.name, run, took: MonotonicClock.now() - each.beganAt)
        let hasResults = FileMark(own + "/" + RunResults.name) != each.before
        let said = each.output.lastLine()
        entry.finish(end, folder: hasResults ? own : nil, lastLine: said.isEmpty ? Self.silence(in: own) : said)
        entry.placeFault(reading: run.scenario, searchFolders: settings.searchFolders)
        if each.isOverdue, let limit = settings.timeLimit {
            entry.fail(.timeout, "took longer than \(limit) s of wall time, and was interrupted")
        }
        entries[each.place] = entry
        ended(entry)
        fill()
    }
}

/// What tells a file from one that was written later in its place.
private struct FileMark: Hashable {
    private let number: UInt64
    private let seconds: Int
    private let nanoseconds: Int

    /// Nil for a file that is not there.
    init?(_ path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        (number, seconds, nanoseconds) = (UInt64(status.st_ino), status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }
}

/// What a run prints, kept beside its logs.
private final class Output {
    static let name = "output.txt"
    private let descriptor: Descriptor
    var number: Int32 { descriptor.number }

    init(_ path: String) throws(CommandFailure) {
        let flags = O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC
        let number = unsafe open(path, flags, 0o600)
        guard number >= 0 else {
            throw CommandFailure(.environment, SystemError(last: "open", subject: path).description)
        }
        descriptor = Descriptor(owning: number)
    }

    /// The last line that says something, without the program's name; empty for none.
    func lastLine() -> String {
        let end = lseek(number, 0, SEEK_END)
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe pread(number, &bytes, bytes.count, max(0, end - off_t(bytes.count)))
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        let line = text.split(whereSeparator: \.isNewline).last.map(String.init) ?? ""
        let name = "wakebench: "
        return line.hasPrefix(name) ? String(line.dropFirst(name.count)) : line
    }
}
