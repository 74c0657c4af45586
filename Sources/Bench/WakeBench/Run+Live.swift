import WakeBundles
import WakeDevices
import WakeJournal
import WakeJSON
import WakeModel
import WakePorts
import WakeReports
import WakeSystem

/// A run without an end of its own, which others command while it goes on.
extension Run {
    /// Begins, or goes on where the bench before ended.
    func beginLive() throws(CommandFailure) {
        do {
            startedAt = MonotonicClock.now()
            assignApps()
            if journal.recovery == nil { begin() } else { try recover() }
            hasPlayed = true
            recorder.reading = .soon
            bench.ledger.gathersAcknowledgements = realTime
            if realTime { hearMachine() }
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Ends so that the next bench goes on from here: the apps' processes end with this one.
    func stopLive() throws(CommandFailure) {
        defer { letGo() }
        do {
            if realTime { reached = max(reached, machineTime) }
            try bench.commit()
            // A clock whose file was removed has one again before the last instant is kept.
            try? requireInPlace()
            try clock?.keep(reached)
            try keepSnapshotNow()
            recorder.committed()
            try recorder.flush()
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Ends what it has begun, and closes its journal with it.
    func letGo() {
        areas.stop()
        scripted.stop()
        processes?.host.stop()
        scripted.view = nil
        bench.letGo()
    }

    /// Asks whether what this run writes would be found again. The file of its clock, of which all is known, is made anew.
    ///
    /// - Throws: ``CommandFailure`` with exit code 4 where somebody removed or replaced its folder, its journal or a log, and 12
    ///   where the clock has no file any more.
    func requireInPlace() throws(CommandFailure) {
        do throws(JournalError) { try journal.requireInPlace() } catch { throw CommandFailure(error) }
        do throws(ReportError) { try recorder.requireInPlace() } catch { throw CommandFailure(.wrongState, error) }
        try clock?.returnToPlace()
    }

    // MARK: Commands

    /// What a command does.
    enum LiveDeed {
        case step(Verb)
        /// The apps at these positions have joined the scenario, and are installed.
        case install(Range<Int>)
        /// The clock of a virtual phone goes on to an instant.
        case advance(Instant)
    }

    /// Carries out a command at the present instant, and writes it down with what comes of it at once: both are kept with the
    /// next commit, or neither.
    ///
    /// - Parameters:
    ///   - line: what a recovery reads of it.
    ///   - id: what whoever gives it calls it; empty for none.
    func carryOut(_ deed: LiveDeed, line: String, id: String) throws {
        let origin = names.intern(Self.liveOrigin)
        switch deed {
        case .step(let verb):
            try checkCanAct(verb)
            try perform(verb, origin, at: reached)
        case .install(let range): for number in range { installApp(number) }
        case .advance: break
        }
        lastCommand += 1
        try bench.append(
            JournaledCommand(number: lastCommand, after: bench.sequence, at: reached, id: id, line: line)
        )
    }

    /// What records call a command.
    private static let liveOrigin = "live"

    /// Takes apps on that have joined ``live``; they are installed by ``carryOut(_:line:id:)``.
    ///
    /// - Throws: ``CommandFailure`` when one cannot be run here.
    func takeOn(_ range: Range<Int>, _ bundles: [(position: Int, bundle: AppBundle)]) throws(CommandFailure) {
        guard let live else { return }
        if processes == nil, !bundles.isEmpty { try makeProcesses() }
        for (position, bundle) in bundles { try processes?.join(bundle, at: position) }
        scenario = live.scenario
        driver.join(scenario)
        for number in range {
            let (app, id) = (scenario.apps[number], AppID(UInt32(number)))
            assign(app, as: id)
            for area in areas.all { area.join(app, as: id, in: self) }
        }
    }

    private func makeProcesses() throws(CommandFailure) {
        let date = options.date ?? scenario.phone.date ?? .usual
        let made = try Run.realApps([], setup, profile, journal.runName, date, areas, &notes)
        processes = made
        try connect(made)
    }

    // MARK: Recovery

    /// How many apps its journal has; 0 of a run that begins.
    func appCount() throws(CommandFailure) -> Int {
        do throws(JournalError) { return try journal.appCount() } catch { throw CommandFailure(error) }
    }

    /// The commands that the latest snapshot does not hold, oldest first.
    var commandsToReplay: ArraySlice<JournaledCommand> {
        (journal.recovery?.commands ?? []).filter { $0.number > lastCommand }[...]
    }

    /// Carries out again what was commanded before an input.
    func replay(_ commands: inout ArraySlice<JournaledCommand>, before sequence: UInt64) {
        while let command = commands.first, command.after < sequence {
            commands.removeFirst()
            reachReplayed(command.at)
            lastCommand = command.number
            guard let value = JSONValue(parsing: Array(command.line.utf8)), let step = value["step"],
                let verb = try? live?.verb(step)
            else { continue }
            for source in areas.sources where source.isReplayed { source.timeReached(command.at) }
            // As with the steps of a scenario: what it made happen comes from the journal.
            try? areas.perform(verb, names.intern(Self.liveOrigin), in: scenario, at: command.at)
            record(verb, at: command.at)
        }
    }

    /// When the last command of the journal was given.
    var lastCommandedAt: Instant { journal.recovery?.commands.last?.at ?? .zero }

    /// How far the clock of a virtual phone is to go by the commands of the journal.
    var commandedTo: Instant {
        for command in (journal.recovery?.commands ?? []).reversed() where command.line.hasPrefix("{\"advance\"") {
            let target = JSONValue(parsing: Array(command.line.utf8))?["advance"]?.integer
            return target.map { Instant(nanoseconds: $0) } ?? .zero
        }
        return .zero
    }
}
