import WakeBundles
import WakeDevices
import WakeJSON
import WakeModel
import WakePorts
import WakeReports
import WakeSystem

/// What a phone is told to do, and what came of it.
extension LivePhone {
    /// What becomes of a command.
    enum Acceptance {
        case accepted(UInt64)
        /// It was accepted before under this identifier; nothing is done again.
        case repeated(UInt64)
    }

    /// Accepts a command: once this returns, it survives the bench.
    ///
    /// - Parameters:
    ///   - command: `{"step": {...}}`, `{"install": {...}}` or `{"advance": NANOSECONDS}`, beside the instant with `"by"` or
    ///     `"to"` and the nanoseconds that were said.
    ///   - id: what whoever gives it calls it; empty for none.
    ///   - limit: for how many nanoseconds what is decided is taken to come of it, unless all is quiet before.
    /// - Throws: ``CommandFailure``; the phone is as before, or cannot go on, where its journal or its logs cannot be written.
    func accept(_ command: JSONValue, id: String, within limit: Int64) throws(CommandFailure) -> Acceptance {
        if let number = try given.number(of: id, as: command, live) { return .repeated(number) }
        let deed = try deed(of: command)
        let before = lastDecision
        let line = JSONValue.object(command.members + [GivenCommands.mark(before)])
        given.begin(id, command, live, after: before, until: Self.deadline(after: limit))
        tune()
        var number: UInt64?
        defer { given.end(id, as: number) }
        do {
            // It happens now, and what was there before it is decided before it.
            if run.realTime { _ = try run.turnInRealTime() }
            try run.bench.run(at: run.reached)
            try run.carryOut(deed, line: String(decoding: line.encoded, as: UTF8.self), id: id)
            try run.bench.run(at: run.reached)
            try run.bench.commit()
        } catch let refusal as SourceFailure {
            throw CommandFailure(refusal)
        } catch {
            // The router may have gone further than its journal: only what the journal has goes on.
            let failure = Daemon.failure(CommandFailure(error), of: folder)
            failed?(failure)
            throw failure
        }
        if case .advance(let instant) = deed { target = max(target, instant) }
        number = run.lastCommand
        return .accepted(run.lastCommand)
    }

    /// Ends the answers of commands that nothing more comes of, and writes them down.
    ///
    /// - Parameter isEnd: whether nothing more comes of any.
    func closeCommands(isEnd: Bool = false) throws(CommandFailure) {
        guard given.hasOpen else { return }
        let isQuiet = isQuiet
        guard isQuiet || isEnd || given.deadline <= MonotonicClock.now() else { return }
        do { try run.bench.commit() } catch { throw CommandFailure(error) }
        let bound = isQuiet || isEnd ? Int64.max : MonotonicClock.now()
        defer { tune() }
        try given.close(before: bound, at: tellTime(), last: lastDecision, isSettled: isQuiet)
    }

    /// What came of a command that was accepted under an identifier: so far, where more may come.
    ///
    /// - Throws: ``CommandFailure`` with exit code 4 where the logs have it no more.
    func answer(to id: String) throws(CommandFailure) -> GivenAnswer {
        var answer = try given.answer(to: id, at: tellTime(), last: lastDecision)
        if let records = recent.records(after: answer.after, through: answer.through) {
            answer.records = records
        } else {
            let records = try loggedRecords(after: answer.after, through: answer.through)
            guard let records else { throw given.forgotten(id) }
            answer.records = records
        }
        return answer
    }

    /// Whether nothing more comes of a command that was accepted under an identifier.
    func isAnswered(_ id: String) -> Bool { given.isAnswered(id) }

    /// Where the clock stood when nothing more came of such a command; nil before, and for no identifier.
    func endOfAnswer(to id: String) -> String? { given.end(of: id) }

    /// Reads the records of decisions from the logs; nil where the logs have them no more.
    private func loggedRecords(
        after: DecisionID,
        through: DecisionID
    ) throws(CommandFailure) -> [[UInt8]]? {
        guard through > after else { return [] }
        do throws(ReportError) {
            try run.recorder.flush()
            let found = try run.folder.records(after: after, through: through, atMost: Meanwhile.mostRecords)
            if let found, through == lastDecision { recent.take(found, after: after, through: through) }
            return found
        } catch {
            throw CommandFailure(.environment, error)
        }
    }

    private func deed(of command: JSONValue) throws(CommandFailure) -> Run.LiveDeed {
        if let step = command["step"] {
            do throws(FileError) { return .step(try live.verb(step)) } catch { throw CommandFailure(live: error) }
        }
        if let entry = command["install"] { return try install(entry) }
        guard let advance = command["advance"]?.integer, !run.realTime else {
            throw CommandFailure(
                .wrongState,
                "\(name): its clock is the machine's, and cannot be set forward",
                hint: "make a phone with --clock virtual"
            )
        }
        guard (0...Self.latest).contains(advance) else {
            throw CommandFailure(.usage, "the clock cannot go on to \(advance) ns", hint: "at most 100 years")
        }
        return .advance(Instant(nanoseconds: advance))
    }

    /// A hundred years, in nanoseconds.
    static let latest: Int64 = 3_155_760_000_000_000_000

    // MARK: Apps that join

    /// An entry of `apps`: a new app, another version of one that is there, or one that had been uninstalled, which finds
    /// nothing of what it kept.
    private func install(_ entry: JSONValue) throws(CommandFailure) -> Run.LiveDeed {
        guard let path = entry["bundle"]?.string else { return .install(try join(entry)) }
        let bundle: AppBundle
        do throws(BundleError) { bundle = try AppBundle.read(path) } catch {
            throw CommandFailure(.invalidFile, error)
        }
        let known = run.scenario.apps.indices.first { run.bundle(ofApp: $0) == bundle.identifier }
        guard let known else { return .install(try join(entry)) }
        if run.bench.router.isInstalled(AppID(UInt32(known))) {
            return .step(.install(app: known, bundle: bundle.path))
        }
        try run.processes?.replaceUninstalled(by: bundle, at: known)
        return .install(known..<known + 1)
    }

    private func join(_ entry: JSONValue) throws(CommandFailure) -> Range<Int> {
        let before = try folder.readJoined()
        let range: Range<Int>
        do throws(FileError) { range = try live.join(entry) } catch { throw CommandFailure(live: error) }
        do throws(CommandFailure) {
            let bundles = try RealApps.read(live.scenario).filter { range.contains($0.position) }
            try folder.writeJoined(before + [entry])
            try run.takeOn(range, bundles)
        } catch {
            live.leave(range)
            try folder.writeJoined(before)
            throw error
        }
        return range
    }
}

extension CommandFailure {
    /// What was said to a live phone and is none of what can be.
    fileprivate init(live error: FileError) {
        self.init(.usage, error.found, hint: "expected \(error.expected)")
    }
}
