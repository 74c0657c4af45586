import WakeDevices
import WakeModel
import WakeReports

/// What a smaller scenario must still come to.
package struct ShrinkGoal: Sendable {
    /// What the user wants kept.
    package enum Wish: Hashable, Sendable {
        /// What fails now: the expectations that are not met, or the fault that ends the run.
        case failures
        /// The expectation of this place in the file, from 1, which is not met now.
        case expectation(Int)
        /// A decision that is made now.
        case decision(app: String, DecisionFilter)
    }

    /// How an expectation must come out.
    enum Demand: Hashable, Sendable {
        case met
        /// So many were found: one less would be another failure.
        case tooFew(Int)
        /// However many: as few as are still too many say the same.
        case tooMany
        /// It is about a state, and finds this one.
        case state(String)
    }

    /// In the order of the case's expectations.
    var demands: [Demand] = []
    /// How many of the last demands are not the user's: what was decided instead.
    var probes = 0
    /// Beside which of the user's demands each of these stands; nil for beside what a step waited for.
    var besides: [Int?] = []
    /// Whether a decision is kept, and no failure.
    var isOfDecision = false
    /// How the run must end; nil for a run that comes to its end.
    var fault: ExitCode?
    /// How an app must die at its launch; nil where none does.
    var death: String?
    /// What a step must wait for in vain, and what it sees instead; nil for none.
    var unmet: Unmet?
    /// What the first run came to, in words, such as `heart deny: 0, found 1`.
    package internal(set) var text = ""

    /// What a step waited for in vain.
    struct Unmet: Hashable, Sendable {
        var wanted: String
        /// What an app had instead.
        var found: String
        var within: Instant.Span
    }

    /// Whether a run comes to all of it.
    func isReached(_ finding: ShrinkFinding) -> Bool {
        guard finding.fault == fault, death == nil || finding.ending == death,
            finding.expectations.count == demands.count
        else { return false }
        if let unmet, !finding.unmet.contains(unmet) { return false }
        guard unmet != nil || finding.unmet.isEmpty else { return false }
        return zip(finding.expectations, demands).allSatisfy { found, demand in
            demand == .met ? found.allSatisfy { $0.demand == .met } : found.contains { $0.demand == demand }
        }
    }

    /// What a run comes to, in the words of its own scenario.
    func text(of finding: ShrinkFinding) -> String {
        let instead = finding.expectations.suffix(probes).map { $0.first?.subject ?? "" }
        return text(ending: finding.ending, Array(finding.expectations.dropLast(probes)), instead)
    }

    /// - Parameters:
    ///   - own: what the user's expectations came to.
    ///   - instead: what came instead, in the order of ``besides``.
    fileprivate func text(ending: String?, _ own: [[ShrinkFinding.Outcome]], _ instead: [String]) -> String {
        if isOfDecision, let decision = own.first?.first { return "\(decision.app) \(decision.sought.words)" }
        func beside(_ number: Int?) -> String {
            zip(besides, instead).filter { $0.0 == number && !$0.1.isEmpty }.map { " (instead: \($0.1))" }.joined()
        }
        var missed: [String] = []
        for (number, outcomes) in own.enumerated() {
            for (place, outcome) in outcomes.filter({ $0.demand != .met }).enumerated() {
                missed.append("\(outcome.what), found \(outcome.found)" + (place == 0 ? beside(number) : ""))
            }
        }
        var parts = ending.map { [$0 + beside(nil)] } ?? []
        parts += missed.prefix(3)
        if missed.count > 3 { parts.append("and \(missed.count - 3) more not met") }
        return parts.joined(separator: "; ")
    }
}

extension ShrinkGoal.Wish {
    /// Reads `APP:VERDICT[:REASON[:KIND]]`.
    ///
    /// - Throws: ``CommandFailure`` with exit code 2 for a word that is none.
    package init(_ text: String) throws(CommandFailure) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard (2...4).contains(parts.count), !parts[0].isEmpty else {
            throw CommandFailure(.usage, "--keep \(text): expected APP:VERDICT[:REASON[:KIND]]")
        }
        var filter = DecisionFilter()
        filter.verdict = try Self.word(parts[1], "verdict", Verdict.self)
        if parts.count > 2 { filter.reason = try Self.word(parts[2], "reason", Reason.self) }
        if parts.count > 3 { filter.kind = try Self.word(parts[3], "kind of event", EventKind.self) }
        self = .decision(app: parts[0], filter)
    }

    private static func word<Value: Worded>(
        _ text: String,
        _ what: String,
        _: Value.Type
    ) throws(CommandFailure) -> Value {
        if let value = Value.allCases.first(where: { $0.word.lowercased() == text.lowercased() }) { return value }
        let near = Suggestion.nearest(to: text, among: Value.allCases.map(\.word))
        throw CommandFailure(.usage, "--keep: unknown \(what) '\(text)'", hint: near.map { "did you mean \($0)?" })
    }
}

/// What a run of a case came to.
struct ShrinkFinding {
    /// What an expectation came to for one of its apps.
    struct Outcome {
        var demand: ShrinkGoal.Demand
        /// The scenario's name of the app.
        var app: String
        /// The app and what was expected of it.
        var what: String
        var found: String
        var sought: DecisionFilter
        /// What is looked at, without how much of it is expected: `exits with cause memory`.
        var subject: String
    }

    /// Nil when the run came to its end.
    var fault: ExitCode?
    /// Why it did not, in words that hold wherever the file's lines stand.
    var ending: String?
    /// What a step waited for in vain, for each app that fell short.
    var unmet: [ShrinkGoal.Unmet]
    /// How each expectation came out.
    var expectations: [[Outcome]]

    init(_ run: Run, _ failure: CommandFailure?) {
        fault = failure?.code
        let missed = run.driver.unmet
        switch failure?.code {
        case .timeout: ending = missed?.text ?? failure?.message
        case .appFault: ending = run.diedAtLaunch.map { "\($0.app) \($0.words)" } ?? failure?.message
        default: ending = run.driver.stopped?.cause.message ?? failure?.message
        }
        unmet = (missed?.found ?? []).map { found in
            ShrinkGoal.Unmet(wanted: missed?.wanted ?? "", found: found, within: missed?.within ?? .zero)
        }
        let judgements = Dictionary(grouping: run.driver.judgements, by: \.expectation)
        expectations = run.scenario.expectations.enumerated().map { number, expectation in
            (judgements[number] ?? []).map { judgement in
                Outcome(
                    demand: Self.demand(judgement, expectation),
                    app: judgement.app,
                    what: "\(judgement.app) \(judgement.expected)",
                    found: judgement.found,
                    sought: judgement.sought ?? DecisionFilter(),
                    subject: expectation.subject.words
                )
            }
        }
    }

    private static func demand(_ judgement: ScenarioDriver.Judgement, _ expectation: Expectation) -> ShrinkGoal.Demand {
        guard !judgement.met else { return .met }
        switch expectation.subject {
        case .state: return .state(judgement.found)
        case .decisions(_, let count), .exits(_, let count):
            let found = Int(judgement.found) ?? 0
            return found < count.atLeast ? .tooFew(found) : .tooMany
        }
    }
}

extension Expectation.Subject {
    fileprivate var words: String {
        switch self {
        case .decisions(let filter, _): filter.words
        case .exits(let cause, _): "exits" + (cause.map { " with cause \($0.word)" } ?? "")
        case .state(let state): "state \(state.word)"
        }
    }
}

/// Finds out what a scenario comes to, and what of it is to be kept.
struct ShrinkStart {
    let run: Run
    let finding: ShrinkFinding
    private let failure: CommandFailure?
    private(set) var goal = ShrinkGoal()
    /// What the goal's text is of: the failures that are kept, and what came instead of each.
    private var told: ShrinkFinding
    private var instead: [String] = []
    /// The scenario with the expectations of the goal alone.
    private(set) var start: ShrinkCase

    init(
        _ start: ShrinkCase,
        _ wish: ShrinkGoal.Wish,
        played: (run: Run, failure: CommandFailure?)
    ) throws(CommandFailure) {
        self.start = start
        (run, failure) = played
        finding = ShrinkFinding(run, failure)
        told = finding
        goal.fault = finding.fault
        goal.death = finding.fault == .appFault ? finding.ending : nil
        goal.unmet = finding.unmet.first
        switch wish {
        case .failures: try keepFailures()
        case .expectation(let number): try keep(expectation: number)
        case .decision(let app, let filter): try keep(filter, of: app)
        }
    }

    private mutating func keepFailures() throws(CommandFailure) {
        let failed = finding.expectations.indices.filter { !isMet($0) }
        guard !failed.isEmpty || failure != nil else {
            throw CommandFailure(
                .wrongState,
                in: start.scenario.file,
                "nothing fails in it",
                hint: "say what to keep with --keep APP:VERDICT[:REASON[:KIND]]"
            )
        }
        told.expectations = failed.map { finding.expectations[$0] }
        goal.text = goal.text(of: told)
        try pin(failed)
        guard let unmet = run.driver.unmet, let app = unmet.apps.first else { return }
        if unmet.found.first == AppState.notRunning.word {
            try addProbe(ofEnd: app, otherThan: nil, beside: nil)
        } else {
            try addProbe(app, unmet.sought ?? DecisionFilter(), beside: nil)
        }
    }

    private func isMet(_ number: Int) -> Bool { finding.expectations[number].allSatisfy { $0.demand == .met } }

    private mutating func keep(expectation number: Int) throws(CommandFailure) {
        guard finding.expectations.indices.contains(number - 1) else {
            throw CommandFailure(
                .notFound,
                "--expect \(number): \(start.scenario.file) has "
                    + Plural.text(finding.expectations.count, "expectation")
            )
        }
        guard !isMet(number - 1) else {
            throw CommandFailure(
                .wrongState,
                "--expect \(number): that expectation is met",
                hint: "name one that is not"
            )
        }
        told.expectations = [finding.expectations[number - 1]]
        goal.text = goal.text(of: told)
        try pin([number - 1])
    }

    /// The expectations of these numbers stay as they are, and come out as they do now.
    private mutating func pin(_ numbers: [Int]) throws(CommandFailure) {
        let all = start.scenario["expect"]?.children ?? []
        start.scenario = start.scenario.setting("expect", to: .sequence(numbers.map { all[$0] }))
        goal.demands = numbers.map { number in finding.expectations[number].map(\.demand).first { $0 != .met } ?? .met }
        for (place, (number, demand)) in zip(numbers, goal.demands).enumerated() {
            guard let missed = run.driver.judgements.first(where: { $0.expectation == number && !$0.met }) else {
                continue
            }
            switch (demand, run.scenario.expectations[number].subject) {
            case (.tooFew, .decisions(let sought, _)): try addProbe(missed.number, sought, beside: place)
            case (.tooFew(0), .exits(let cause, _)):
                try addProbe(ofEnd: missed.number, otherThan: cause, beside: place)
            case (.state(AppState.notRunning.word), _):
                try addProbe(ofEnd: missed.number, otherThan: nil, beside: place)
            default: break
            }
        }
    }

    private mutating func keep(_ filter: DecisionFilter, of app: String) throws(CommandFailure) {
        let apps = run.scenario.apps.indices.filter { number in
            let own = run.scenario.apps[number]
            return own.name == app || own.group == app || run.bundle(ofApp: number) == app
        }
        guard !apps.isEmpty else {
            let near = Suggestion.nearest(to: app, among: run.scenario.apps.map(\.name))
            throw CommandFailure(
                .notFound,
                "no app \(app) in \(start.scenario.file)",
                hint: near.map { "did you mean \($0)?" }
            )
        }
        let bundles = Dictionary(apps.map { (run.bundle(ofApp: $0), $0) }) { first, _ in first }
        // Of a group, the member that has it first.
        let found = try log().decisions.first { bundles[$0.app ?? ""] != nil && Self.fits($0, filter) }
        guard let number = found?.app.flatMap({ bundles[$0] }) else {
            throw CommandFailure(
                .notFound,
                "no decision '\(filter.words)' about \(app) in \(start.scenario.file)",
                hint: "'wakebench run' prints those that there are"
            )
        }
        let name = run.scenario.apps[number].name
        start.scenario = start.scenario.setting("expect", to: .sequence([Self.expectation(filter, of: name)]))
        goal.demands = [.met]
        goal.isOfDecision = true
        goal.text = "\(name) \(filter.words)"
    }

    private func log() throws(CommandFailure) -> RunLog {
        do { return try RunLog(folder: run.folder.path, checks: false) } catch {
            throw CommandFailure(.environment, error)
        }
    }

    // MARK: What lies near

    /// Where too little came, a run without anything would do: the decision that came instead stays, too.
    ///
    /// - Parameter demand: which of the demands that is about; nil for what a step waited for.
    private mutating func addProbe(_ app: Int, _ sought: DecisionFilter, beside demand: Int?) throws(CommandFailure) {
        let log = try log()
        let bundle = run.bundle(ofApp: app)
        let near = log.decisions.filter { $0.app == bundle && !Self.fits($0, sought) }
            .enumerated().max {
                (Self.nearness($0.element, sought), $0.offset) < (Self.nearness($1.element, sought), $1.offset)
            }
        guard let found = near?.element else { return }
        let filter = DecisionFilter(
            verdict: found.verdict,
            reason: found.reason,
            kind: EventKind(word: found.kind)
        )
        add(Self.expectation(filter, of: run.scenario.apps[app].name), .met, filter.words, beside: demand)
    }

    /// Where an app did not end so, or does not run, its last other end stays, or else the state that it is in.
    private mutating func addProbe(
        ofEnd app: Int,
        otherThan cause: ExitCause?,
        beside demand: Int?
    ) throws(CommandFailure) {
        let log = try log()
        let bundle = run.bundle(ofApp: app)
        let node = YAMLNode.mapping(["app": .scalar(run.scenario.apps[app].name)])
        if let exit = log.exits.last(where: { $0.app == bundle && $0.cause != cause }) {
            let none = node.setting("exits", to: .scalar("0")).setting("cause", to: .scalar(exit.cause.word))
            add(none, .tooMany, "exits with cause \(exit.cause.word)", beside: demand)
        } else if let state = log.moves.last(where: { $0.app == bundle })?.to, state != .notRunning {
            add(node.setting("state", to: .scalar(state.word)), .met, "state \(state.word)", beside: demand)
        }
    }

    private mutating func add(
        _ probe: YAMLNode,
        _ demand: ShrinkGoal.Demand,
        _ words: String,
        beside other: Int?
    ) {
        let list = start.scenario["expect"]?.children ?? []
        start.scenario = start.scenario.setting("expect", to: .sequence(list + [probe]))
        start.probes += 1
        goal.probes += 1
        goal.demands.append(demand)
        goal.besides.append(other)
        instead.append(words)
        goal.text = goal.text(ending: told.ending, told.expectations, instead)
    }

    private static func fits(_ decision: DecisionRecord, _ sought: DecisionFilter) -> Bool {
        sought.verdict.map { $0 == decision.verdict } ?? true && sought.reason.map { $0 == decision.reason } ?? true
            && sought.kind.map { $0.word == decision.kind } ?? true && sought.rule.map { $0 == decision.rule } ?? true
    }

    /// The kind counts most; where none is sought, what was refused comes before what was not.
    private static func nearness(_ decision: DecisionRecord, _ sought: DecisionFilter) -> Int {
        let isRefused = Paint.of(verdict: decision.verdict.word) != .green
        return (sought.kind?.word == decision.kind ? 4 : 0) + (isRefused ? 2 : 0)
    }

    private static func expectation(_ filter: DecisionFilter, of app: String) -> YAMLNode {
        var node = YAMLNode.mapping(["app": .scalar(app)])
        if let verdict = filter.verdict { node = node.setting("verdict", to: .scalar(verdict.word)) }
        if let reason = filter.reason { node = node.setting("reason", to: .scalar(reason.word)) }
        if let kind = filter.kind { node = node.setting("kind", to: .scalar(kind.word)) }
        return node.setting("at-least", to: .scalar("1"))
    }
}
