import WakeDevices
import WakeModel
import WakePorts
import WakeReports
import WakeRouter

/// Plays a scenario's steps in time, and counts what its conditions and expectations look at.
package final class ScenarioDriver: BenchObserver {
    /// Carries out a verb: the run knows the bench and the devices.
    package typealias Perform = (_ verb: Verb, _ origin: NameID) throws(SourceFailure) -> Void

    /// A step that waits for something, and since when.
    private struct Waiting: Codable {
        var step: Int
        var since: Instant
        /// The decisions seen so far that fit, one count an app.
        var counts: [Int]
    }

    /// One count of an expectation, an app at a time.
    private struct Tally {
        var expectation: Int
        var app: Int
        var count = 0
    }

    private var scenario: Scenario
    /// Whether others say when the run ends.
    private let isOpenEnded: Bool
    private let origins: [NameID]
    private var due = TimedQueue<(step: Int, round: Int)>()
    private var waiting: [Waiting] = []
    private var tallies: [Tally] = []
    /// The tallies of decisions and of exits that look at an app.
    private var talliesOf: [[Int]] = []
    private var states: [AppState]
    private var unfinished: Int
    private var lastStepAt = Instant.zero

    /// Whether steps that are due wait for what came before them to be taken.
    package private(set) var isHeld = false

    /// Why the run cannot go on, once it cannot: a `when` that did not come true, or a step that could not be carried out.
    package private(set) var failure: String?

    /// A step that could not be carried out, and why.
    package struct Stopped: Hashable, Sendable {
        /// The step's place in its file.
        package var line: Int
        package var column: Int
        package var cause: SourceFailure
    }

    /// Set with ``failure``; nil when a `when` did not come true.
    package private(set) var stopped: Stopped?

    /// What a `when` that did not come true looked for, and what it saw instead.
    package struct Missed: Hashable, Sendable {
        /// The step's place in its file.
        package var line: Int
        package var column: Int
        /// The apps that fell short, by their places in the scenario.
        package var apps: [Int] = []
        /// Nil where it looked at the state of an app.
        package var sought: DecisionFilter?
        /// `2 resume`, or `the state suspended`.
        package var wanted = ""
        /// What each of the apps had: a number of decisions, or a state.
        package var found: [String] = []
        /// For how long it waited.
        package var within = Instant.Span.zero
        /// All of it in words.
        package var text = ""
    }

    /// Set with ``failure``; nil when a step could not be carried out.
    package private(set) var unmet: Missed?

    /// - Parameter isOpenEnded: whether the run goes on when the scenario has come to its end.
    package init(_ scenario: Scenario, names: NameTable, isOpenEnded: Bool = false) {
        (self.scenario, self.isOpenEnded) = (scenario, isOpenEnded)
        origins = scenario.steps.map { names.intern(scenario.origin(line: $0.line)) }
        states = Array(repeating: .notRunning, count: scenario.apps.count)
        unfinished = scenario.steps.reduce(0) { $0 + $1.times }
        talliesOf = Array(repeating: [], count: scenario.apps.count)
        for (number, expectation) in scenario.expectations.enumerated() {
            for app in expectation.apps {
                talliesOf[app].append(tallies.count)
                tallies.append(Tally(expectation: number, app: app))
            }
        }
        scheduleFixed()
    }

    private func scheduleFixed() {
        for (number, step) in scenario.steps.enumerated() {
            if case .at(let span) = step.trigger { schedule(number, from: Instant.zero.advanced(by: span)) }
        }
        if let first = scenario.steps.first { arm(0, first, at: .zero) }
    }

    /// The step before this one has happened, or the run begins.
    private func arm(_ number: Int, _ step: Step, at now: Instant) {
        switch step.trigger {
        case .at: break
        case .after(let span): schedule(number, from: now.advanced(by: span))
        case .when(.decisions(let apps, _, _), _):
            waiting.append(Waiting(step: number, since: now, counts: Array(repeating: 0, count: apps.count)))
        case .when(.state, _): waiting.append(Waiting(step: number, since: now, counts: []))
        }
    }

    private func schedule(_ number: Int, from first: Instant) {
        let step = scenario.steps[number]
        var at = first
        // Those of one instant are in the order of their lines, whenever they were scheduled.
        due.added = UInt64(number) << Self.roundBits
        for round in 0..<step.times {
            due.add((number, round), at: at)
            at = at.advanced(by: step.every)
        }
    }

    /// A step happens at most 2 000 000 times.
    private static let roundBits: UInt64 = 21

    /// Apps have joined the scenario, which has the same steps and expectations as before.
    func join(_ scenario: Scenario) {
        self.scenario = scenario
        let count = scenario.apps.count - states.count
        states += Array(repeating: .notRunning, count: count)
        talliesOf += Array(repeating: [], count: count)
    }

    // MARK: Time

    /// The next instant at which a step is due, a condition runs out, or the run ends.
    package var nextDeadline: Instant? {
        var next = due.next ?? .distantFuture
        for item in waiting { next = min(next, timeout(item)) }
        next = min(next, end ?? .distantFuture)
        return next == .distantFuture ? nil : next
    }

    /// When the run ends; nil while steps are still to come and the scenario names no end.
    package var end: Instant? {
        if isOpenEnded { return nil }
        if let until = scenario.until { return Instant.zero.advanced(by: until) }
        return unfinished == 0 ? lastStepAt.advanced(by: Scenario.quietTime) : nil
    }

    private func timeout(_ waiting: Waiting) -> Instant {
        guard case .when(_, let within) = scenario.steps[waiting.step].trigger else { return .distantFuture }
        return waiting.since.advanced(by: within)
    }

    /// Carries out what is due.
    ///
    /// - Parameter waits: whether a step is not carried out yet; those after it wait with it.
    package func timeReached(_ now: Instant, waits: (Verb) -> Bool, perform: Perform) {
        isHeld = false
        while failure == nil {
            if let place = waiting.firstIndex(where: holds) {
                let step = waiting.remove(at: place).step
                schedule(step, from: now)
            }
            if let first = due.first, first.at <= now, waits(scenario.steps[first.element.step].verb) {
                isHeld = true
                break
            }
            guard let (_, item) = due.takeDue(by: now) else { break }
            let step = scenario.steps[item.step]
            unfinished -= 1
            lastStepAt = now
            do throws(SourceFailure) { try perform(step.verb, origins[item.step]) } catch {
                failure = "\(scenario.place(line: step.line)): \(error.message)"
                stopped = Stopped(line: step.line, column: step.column, cause: error)
                return
            }
            if item.round == 0, item.step + 1 < scenario.steps.count {
                arm(item.step + 1, scenario.steps[item.step + 1], at: now)
            }
        }
        for item in waiting where timeout(item) <= now && failure == nil {
            guard let missed = missed(item) else { continue }
            failure = "\(scenario.place(line: missed.line)): \(missed.text)"
            unmet = missed
        }
    }

    private func missed(_ waiting: Waiting) -> Missed? {
        let step = scenario.steps[waiting.step]
        guard case .when(let condition, let within) = step.trigger else { return nil }
        let seconds = Double(within.milliseconds) / 1_000
        var missed = Missed(line: step.line, column: step.column, within: within)
        switch condition {
        case .decisions(let apps, let filter, let count):
            let short = zip(apps, waiting.counts).filter { $0.1 < count }
            let who = short.map { scenario.apps[$0.0].name }.joined(separator: ", ")
            let saw = short.map { apps.count == 1 ? "saw \($0.1)" : "\(scenario.apps[$0.0].name) saw \($0.1)" }
            let others = short.count == apps.count ? "" : ", of \(apps.count) apps"
            (missed.apps, missed.sought) = (short.map(\.0), filter)
            (missed.wanted, missed.found) = ("\(count) \(filter.words)", short.map { "\($0.1)" })
            missed.text =
                "waited \(seconds) s for \(missed.wanted) of \(who); " + saw.joined(separator: ", ") + others
        case .state(let apps, let state):
            missed.apps = apps.filter { states[$0] != state }
            (missed.wanted, missed.found) = ("the state \(state.word)", missed.apps.map { states[$0].word })
            let who = zip(missed.apps, missed.found).map { "\(scenario.apps[$0.0].name) is \($0.1)" }
            missed.text = "waited \(seconds) s for \(missed.wanted); \(who.joined(separator: ", "))"
        }
        return missed
    }

    private func holds(_ waiting: Waiting) -> Bool {
        guard case .when(let condition, _) = scenario.steps[waiting.step].trigger else { return false }
        switch condition {
        case .decisions(_, _, let count): return waiting.counts.allSatisfy { $0 >= count }
        case .state(let apps, let state): return apps.allSatisfy { states[$0] == state }
        }
    }

    /// The steps that have not happened, and those that have not as often as they were to, by their places in the scenario; and
    /// how often they have not.
    var leftOut: (steps: [Int], rounds: [Int], count: Int) {
        var first: [Int: Int] = [:]
        for entry in due.entries {
            first[entry.element.step] = min(first[entry.element.step] ?? .max, entry.element.round)
        }
        var (steps, rounds): ([Int], [Int]) = ([], [])
        for (number, step) in scenario.steps.enumerated() {
            var isBegun = first[number] != 0 && !waiting.contains { $0.step == number }
            let isFixed = if case .at = step.trigger { true } else { false }
            // Any other comes after the one before it, or is looked for from then on.
            if !isFixed, number > 0, steps.last == number - 1 { isBegun = false }
            if !isBegun { steps.append(number) } else if first[number] != nil { rounds.append(number) }
        }
        return (steps, rounds, due.entries.count { rounds.contains($0.element.step) })
    }

    /// Whether a condition has come true that nothing has acted on yet.
    package var hasWork: Bool { failure == nil && waiting.contains(where: holds) }

    // MARK: Watching

    package func observe(_ item: InboxItem, _ output: RouterOutput, at now: Instant) {
        for action in output.actions {
            switch action {
            case .moved(let app, _, let state): states[Int(app.number)] = state
            case .exited(let record): count(record)
            default: break
            }
        }
        for decision in output.decisions where decision.app != .none { count(decision) }
    }

    private func count(_ record: ExitRecord) {
        for number in talliesOf[Int(record.app.number)] {
            guard case .exits(let cause, _) = scenario.expectations[tallies[number].expectation].subject else {
                continue
            }
            if cause == nil || cause == record.cause { tallies[number].count += 1 }
        }
    }

    private func count(_ decision: Decision) {
        let app = Int(decision.app.number)
        for number in talliesOf[app] {
            guard case .decisions(let filter, _) = scenario.expectations[tallies[number].expectation].subject else {
                continue
            }
            if filter.matches(decision) { tallies[number].count += 1 }
        }
        for place in waiting.indices {
            guard case .when(.decisions(let apps, let filter, _), _) = scenario.steps[waiting[place].step].trigger,
                let column = apps.firstIndex(of: app), filter.matches(decision)
            else { continue }
            waiting[place].counts[column] += 1
        }
    }

    // MARK: Snapshots

    /// Where the driver stands. Of a step that happens many times only the next is written: the others follow from it.
    func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        var next = Dictionary(grouping: due.entries) { $0.element.step }.values
            .compactMap { rounds in rounds.min { $0.element.round < $1.element.round } }
            .sorted { $0.element.step < $1.element.step }
            .map { Planned(step: $0.element.step, round: $0.element.round, at: $0.at, order: $0.order) }
        var added = due.added
        try coder.code(&next)
        try coder.code(&added)
        if coder.isReading { try plan(next, added, coder) }
        try coder.code(&waiting)
        guard waiting.allSatisfy({ scenario.steps.indices.contains($0.step) }) else { throw coder.fault }
        var counts = tallies.map(\.count)
        try coder.code(&counts)
        guard counts.count == tallies.count else { throw coder.fault }
        for place in tallies.indices { tallies[place].count = counts[place] }
        try coder.code(&states)
        // Apps may have joined since.
        guard states.count <= scenario.apps.count else { throw coder.fault }
        states += Array(repeating: .notRunning, count: scenario.apps.count - states.count)
        try coder.code(&unfinished)
        try coder.code(&lastStepAt)
    }

    private func plan(_ steps: [Planned], _ added: UInt64, _ coder: SnapshotCoder) throws(EncodingFault) {
        var entries: [TimedQueue<(step: Int, round: Int)>.Entry] = []
        for planned in steps {
            guard scenario.steps.indices.contains(planned.step) else { throw coder.fault }
            let step = scenario.steps[planned.step]
            guard 0..<step.times ~= planned.round else { throw coder.fault }
            var (at, order) = (planned.at, planned.order)
            for round in planned.round..<step.times {
                entries.append(.init(at: at, order: order, element: (planned.step, round)))
                at = at.advanced(by: step.every)
                order += 1
            }
        }
        due = TimedQueue(entries, added: added)
    }

    /// The next round of a step that has been scheduled.
    private struct Planned: Codable {
        var step: Int
        var round: Int
        var at: Instant
        var order: UInt64
    }

    // MARK: Judging

    /// What one expectation came to for one app.
    package struct Judgement: Hashable, Sendable {
        package var app: String
        /// The app's place in the scenario.
        package var number: Int
        /// The expectation's place in the scenario, and in its file.
        package var expectation: Int
        package var line: Int
        package var column: Int
        /// `resume: at least 1`.
        package var expected = ""
        /// `0`.
        package var found: String
        package var met = false
        /// What was looked for in decisions; nil where it is about the ends of an app's processes, or its state.
        package var sought: DecisionFilter?
        /// The most of them that there may be; nil for any number.
        package var most: Int?
    }

    /// Every expectation, in the order of the file.
    package var judgements: [Judgement] {
        tallies.map { tally in
            let expectation = scenario.expectations[tally.expectation]
            var judgement = Judgement(
                app: scenario.apps[tally.app].name,
                number: tally.app,
                expectation: tally.expectation,
                line: expectation.line,
                column: expectation.column,
                found: "\(tally.count)"
            )
            switch expectation.subject {
            case .decisions(let filter, let count):
                judgement.expected = "\(filter.words): \(count.words)"
                judgement.met = count.contains(tally.count)
                judgement.sought = filter
                judgement.most = count.atMost
            case .exits(let cause, let count):
                judgement.expected = "exits\(cause.map { " with cause \($0.word)" } ?? ""): \(count.words)"
                judgement.met = count.contains(tally.count)
            case .state(let state):
                judgement.expected = "state \(state.word) at the end"
                judgement.found = states[tally.app].word
                judgement.met = states[tally.app] == state
            }
            return judgement
        }
    }
}

extension Scenario {
    /// A line of the file, by the path that the command was given: `nights/night.yaml:31`.
    package func place(line: Int) -> String { "\(RunFolder.fromHere(file)):\(line)" }
}

extension DecisionFilter {
    /// `relaunch ForceQuit characteristic-notified decisions`, as far as given.
    var words: String {
        let parts = [verdict?.word, reason?.word, kind?.word, rule?.text].compactMap { $0 }
        return parts.isEmpty ? "decisions" : parts.joined(separator: " ")
    }
}
