import Glibc
import WakeDevices
import WakeModel
import WakeReports
import WakeSystem

/// Makes a scenario smaller while a run of it still comes to what is to be kept.
///
/// What is tried is delta debugging by pieces, the largest first (Zeller and Hildebrandt, "Simplifying and Isolating
/// Failure-Inducing Input", 2002), over the parts of the tree: of what remains, no part can be left out by itself. Each try is a
/// run in virtual time, so the result depends on the files, the seed and the bounds alone.
package final class ScenarioShrinker {
    /// When it stops, done or not.
    package struct Bounds: Sendable {
        package var runs = 5_000
        package var time = Instant.Span.seconds(1_800)

        package init() {}
    }

    /// How far it is.
    package struct Progress: Hashable, Sendable {
        package var runs = 0
        /// Steps and values of timetables.
        package var events = 0
        package var apps = 0
        package var devices = 0
        package var elapsed = Instant.Span.zero
        /// What is being left out, such as `steps`.
        package var part = ""
    }

    package enum Ending: Sendable {
        /// No part can be left out by itself.
        case smallest
        case runs
        case time
        case interrupted
    }

    /// Why it does not go on.
    enum Stop: Error {
        case ended(Ending)
        case failed(CommandFailure)
    }

    package let goal: ShrinkGoal
    /// What the smallest so far comes to, in its own words.
    package private(set) var kept: String
    /// How it was at first.
    package let first: Progress
    package private(set) var progress: Progress
    /// Told after each run.
    package var follow: ((Progress) -> Void)?
    /// The smallest so far.
    private(set) var best: ShrinkCase
    private let options: RunOptions
    private let bounds: Bounds
    private let out: String
    private let folder: TemporaryFolder
    private let began = MonotonicClock.now()
    private let endings = SignalSet([SIGINT, SIGTERM, SIGHUP])
    private var tried: Set<UInt64> = []

    /// Plays the scenario as it is, to learn what is to be kept.
    ///
    /// - Parameters:
    ///   - options: of each run; its scenario is what is made smaller.
    ///   - out: where the result goes; it is written each time that it becomes smaller.
    /// - Throws: ``CommandFailure`` when the scenario cannot be played, or there is nothing to keep.
    package init(
        _ options: RunOptions,
        keeping wish: ShrinkGoal.Wish,
        bounds: Bounds = Bounds(),
        out: String
    ) throws(CommandFailure) {
        (self.options, self.bounds, self.out) = (options, bounds, out)
        folder = try TemporaryFolder()
        var whole: ShrinkCase
        do {
            // What is wrong with it is told by its own lines.
            _ = try Scenario.load(file: options.scenario, searchFolders: options.appFolders)
            whole = try ShrinkCase(file: options.scenario)
        } catch {
            throw CommandFailure(.invalidFile, error)
        }
        if let seed = options.seed { whole.scenario = whole.scenario.setting("seed", to: .scalar("\(seed)")) }
        if let profile = options.profile {
            whole.scenario = whole.scenario.setting("profile", to: .scalar(profile.name))
        }
        let start = try ShrinkStart(whole, wish, played: try Self.play(whole, options, in: folder))
        folder.remove("run")
        (best, goal, kept) = (start.start, start.goal, start.goal.text)
        var progress = Progress(runs: 1)
        progress.measure(whole)
        (first, self.progress) = (progress, progress)
    }

    /// Leaves out what can be left out.
    ///
    /// - Throws: ``CommandFailure`` when a file cannot be written, or the goal is not reached a second time.
    package func shrink() throws(CommandFailure) -> Ending {
        do throws(SystemError) { try endings.block() } catch {
            throw CommandFailure(.internal, error.description)
        }
        defer { endings.restore() }
        do throws(Stop) {
            guard try attempt(best) else {
                throw .failed(
                    CommandFailure(.nonDeterminism, "\(options.scenario): a second run of it does not come to the same")
                )
            }
            try leaveOutAll()
            return .smallest
        } catch {
            switch error {
            case .ended(let ending): return ending
            case .failed(let failure): throw failure
            }
        }
    }

    /// The lines that the result begins with.
    package var comments: [String] {
        [
            "Reduced by wakebench shrink from \(options.scenario): \(Plural.text(first.events, "event")) "
                + "to \(progress.events).",
            "Kept: \(kept).",
        ]
    }

    // MARK: One try

    /// Plays a case, and takes it over when the goal is reached.
    func attempt(_ candidate: ShrinkCase) throws(Stop) -> Bool {
        try checkBounds()
        guard tried.insert(Self.signature(candidate)).inserted else { return false }
        let (isReached, wasAsked): (Bool, Bool)
        do throws(CommandFailure) {
            guard let played = try playable(candidate) else { return false }
            progress.runs += 1
            let finding = ShrinkFinding(played.run, played.failure)
            isReached = goal.isReached(finding)
            wasAsked = played.failure?.code == .interrupted || played.run.cameLate
            folder.remove("run")
            if isReached { try take(candidate, finding) }
        } catch { throw Stop.failed(error) }
        progress.elapsed = elapsed
        follow?(progress)
        if wasAsked { throw Stop.ended(.interrupted) }
        return isReached
    }

    private func take(_ candidate: ShrinkCase, _ finding: ShrinkFinding) throws(CommandFailure) {
        best = candidate
        kept = goal.text(of: finding)
        progress.measure(candidate)
        try best.save(to: out, comments: comments)
    }

    private var elapsed: Instant.Span { Instant.Span(nanoseconds: MonotonicClock.now() - began) }

    private func checkBounds() throws(Stop) {
        if endings.isPending { throw .ended(.interrupted) }
        if progress.runs >= bounds.runs { throw .ended(.runs) }
        if elapsed >= bounds.time { throw .ended(.time) }
    }

    /// Nil for a case that is no scenario any more.
    private func playable(_ candidate: ShrinkCase) throws(CommandFailure) -> (run: Run, failure: CommandFailure?)? {
        do throws(CommandFailure) { return try Self.play(candidate, options, in: folder) } catch {
            switch error.code {
            case .invalidFile, .usage, .notFound, .wrongState: return nil
            default: throw error
            }
        }
    }

    /// Plays a case to its end, or to its fault.
    private static func play(
        _ candidate: ShrinkCase,
        _ options: RunOptions,
        in folder: TemporaryFolder
    ) throws(CommandFailure) -> (run: Run, failure: CommandFailure?) {
        var options = options
        folder.remove("files")
        options.scenario = try candidate.write(into: folder.path + "/files")
        options.out = folder.path + "/run"
        options.clock = .virtual
        options.journal = false
        let run = try Run(options)
        do throws(CommandFailure) { try run.execute() } catch {
            guard error.code != .environment, error.code != .internal else { throw error }
            return (run, error)
        }
        return (run, run.fault)
    }

    /// What a case says, in 64 bits.
    private static func signature(_ candidate: ShrinkCase) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for text in [YAMLWriter.text(candidate.scenario)] + candidate.devices.map({ YAMLWriter.text($0.root) }) {
            for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        return hash
    }

    // MARK: Lists

    func begin(_ part: String) { progress.part = part }

    /// Leaves out as many of the members of a list as can be.
    ///
    /// - Parameter keeping: the case with the members of these numbers alone.
    func leaveOut(of count: Int, _ keeping: ([Int]) -> ShrinkCase) throws(Stop) {
        guard count > 0 else { return }
        var kept = Array(0..<count)
        if try attempt(keeping([])) { return }
        var size = max(1, count / 2)
        while true {
            var isLess = false
            // What comes late is needed least.
            var end = kept.count
            while end > 0 {
                let start = max(0, end - size)
                var fewer = kept
                fewer.removeSubrange(start..<end)
                if !fewer.isEmpty, try attempt(keeping(fewer)) {
                    kept = fewer
                    isLess = true
                }
                end = start
            }
            if size == 1, !isLess { return }
            size = size == 1 ? 1 : min(size / 2, max(1, kept.count / 2))
        }
    }
}

extension ScenarioShrinker.Progress {
    fileprivate mutating func measure(_ candidate: ShrinkCase) {
        events = candidate.events
        apps = candidate.count("apps")
        devices = candidate.count("devices")
    }
}
