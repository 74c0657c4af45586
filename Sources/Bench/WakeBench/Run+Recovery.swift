import WakeDevices
import WakeJournal
import WakeModel
import WakePorts
import WakeReports
import WakeSystem

/// Recovery of a run that broke off: from the latest snapshot and the inputs after it.
extension Run {
    /// Brings the bench back to where a broken run's journal ends, and lets it go on from there: every process is gone,
    /// every connection was closed, and what no process had acknowledged is decided again.
    func recover() throws {
        bench.adoptNames((journal.recovery?.names.count ?? 0) + 1)
        guard
            journal.recovery?.snapshot != nil || (journal.recovery?.counts.inputs ?? 0) > 0
                || !commandsToReplay.isEmpty
        else {
            // The bench died before it accepted anything, or there was nothing to accept.
            begin()
            setClock(to: clock?.instant ?? .zero)
            return
        }
        var steps = ReplayedSteps()
        try readInputs(&steps)
        try compareReplay()
        try recorder.takeAcknowledged(from: journal)
        recorder.isReplaying = false
        let now = max(bench.now, lastCommandedAt, clock?.instant ?? .zero)
        notes.append("going on at \(LogTime.text(now)) with the run that broke off in \(folder.path)")
        let origin = names.intern("bench-restart")
        bench.endReplay(
            unacknowledged: journal.recovery?.unacknowledged ?? [],
            events: try journal.undelivered(),
            origin: origin
        )
        for (verb, origin) in steps.lost { try perform(verb, origin, at: now) }
        setClock(to: now)
        for area in areas.all { area.closeLinks(self, origin, at: now, isReplay: false) }
        for area in areas.all { area.resume(at: now) }
    }

    /// Goes on from the instant that the bench before had reached. Steps since the last input, of which the journal says nothing,
    /// are carried out again, each at its instant.
    private func setClock(to now: Instant) {
        if let damage = clock?.damage {
            notes.append("\(folder.clock): \(damage); time goes on from the last input")
        }
        while driver.failure == nil, let next = driver.nextDeadline, next < min(now, driver.end ?? .distantFuture) {
            step(to: next, waiting: false)
        }
        reached = now
        startedAt = MonotonicClock.now() - now.nanoseconds
        goesOnAt = now
    }

    /// What the inputs since the snapshot made must be what the journal and the log have: else inputs were lost.
    private func compareReplay() throws(JournalError) {
        guard let counts = journal.recovery?.counts else { return }
        let replayed = bench.replayed
        if replayed.exits != counts.exits {
            throw journal.damaged("its inputs make \(replayed.exits) exits, and it holds \(counts.exits)")
        }
        if replayed.deliveries != counts.deliveries {
            throw journal.damaged(
                "its inputs make \(replayed.deliveries) deliveries, and it holds \(counts.deliveries)"
            )
        }
        if replayed.lastDecision < recorder.resumeAfter {
            throw journal.damaged(
                "its inputs end at decision \(replayed.lastDecision.number), and the log at \(recorder.resumeAfter.number)"
            )
        }
    }

    /// Restores the latest snapshot, and takes every input after it through the bench again.
    private func readInputs(_ steps: inout ReplayedSteps) throws {
        recorder.isReplaying = true
        bench.beginReplay()
        if !(try restoreSnapshot()) { areas.begin(scenario, isReplay: true) }
        var commands = commandsToReplay
        try journal.inputs { (input) throws(JournalError) in
            if isInterrupted() { return }
            replay(&commands, before: input.sequence)
            if case .install(let app, _) = input.input, Int(app.number) >= scenario.apps.count {
                throw journal.damaged("input \(input.sequence) installs an app that the scenario does not have")
            }
            if input.isStep {
                // Conditions are looked at where the run did so: what is so only amid the inputs of an instant it never saw.
                reachReplayed(input.at)
                carryOutReplayed(input.origin, at: input.at, &steps)
            } else {
                steps.accepted(input)
            }
            if case .benchRestarted = input.input {
                for area in areas.all { area.closeLinks(self, input.origin, at: input.at, isReplay: true) }
            }
            bench.replay(input)
        }
        replay(&commands, before: .max)
        guard !interrupted else {
            throw CommandFailure(
                .interrupted,
                "interrupted while the journal in \(folder.path) was read back",
                hint: "give the same command again to go on with that run"
            )
        }
    }

    /// Brings a run back that came to its end, and whose reports are still to be written.
    func readBack(to ending: RunEnding) throws {
        let end = ending.at
        bench.adoptNames((journal.recovery?.names.count ?? 0) + 1)
        var steps = ReplayedSteps()
        try readInputs(&steps)
        try compareReplay()
        try recorder.takeAcknowledged(from: journal)
        reachReplayed(end)
        reached = end
        interrupted = ending.isInterrupted
        self.ending = ending
        let moment = LogTime.text(end)
        notes.append("the run in \(folder.path) was already finished at \(moment); only its reports are written")
        try recorder.finish(at: end)
    }

    /// Lets conditions of the scenario come true, or not in their time, while a journal is read back. Steps wait for their input.
    func reachReplayed(_ now: Instant) {
        repeat {
            driver.timeReached(now, waits: { _ in true }, perform: { _, _ in })
        } while driver.failure == nil && driver.hasWork
    }

    /// Carries out a step once more, where the journal has it.
    private func carryOutReplayed(_ step: NameID, at now: Instant, _ steps: inout ReplayedSteps) {
        // What devices do of their own at the instant of a step comes before it.
        for source in areas.sources where source.isReplayed { source.timeReached(now) }
        var isDone = false
        driver.timeReached(now) { _ in
            isDone
        } perform: { (verb, origin) throws(SourceFailure) in
            isDone = isDone || origin == step
            steps.performed(verb, origin)
            // What a step did to a simulated end itself is done again; what it made happen comes from the journal.
            try performParts(of: verb, at: now) { (verb) throws(SourceFailure) in
                try areas.perform(verb, origin, in: scenario, at: now)
                record(verb, at: now)
            }
        }
    }
}

extension JournaledInput {
    /// Whether it says that a step was carried out.
    fileprivate var isStep: Bool {
        if case .timeReached = input { origin != .none } else { false }
    }
}

/// The steps that a replay carried out, against the inputs that the journal has of them.
struct ReplayedSteps {
    /// Steps whose input the journal does not have yet, oldest first.
    private var open: [(verb: Verb, origin: NameID, inputs: Int)] = []

    mutating func performed(_ verb: Verb, _ origin: NameID) {
        switch verb {
        case .user(let apps, _), .terminate(let apps, _, _), .uninstall(let apps):
            open.append((verb, origin, apps.count))
        case .install: open.append((verb, origin, 1))
        case .setUp(let apps, let devices): open.append((verb, origin, apps.count * devices.count))
        case .phone, .clock: open.append((verb, origin, 1))
        case .notify, .update, .order, .disconnect, .range, .arm, .forgetAttributes, .cross, .position, .play, .visit,
            .attach, .send,
            .authorize, .note, .call, .microphone, .plug, .sound, .tap, .notifications, .process, .transfer, .push,
            .simulateTask, .expireTask, .submitTask, .registerTask:
            break
        }
    }

    mutating func accepted(_ input: JournaledInput) {
        guard let place = open.firstIndex(where: { $0.origin == input.origin }) else { return }
        open[place].inputs -= 1
        if open[place].inputs == 0 { open.remove(at: place) }
    }

    /// Steps that were carried out when the bench died, before their input was accepted.
    var lost: [(Verb, NameID)] { open.map { ($0.verb, $0.origin) } }
}
