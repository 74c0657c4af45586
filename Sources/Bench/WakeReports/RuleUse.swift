import WakeModel

/// How often each rule decided in runs, and how often it was asked.
///
/// A rule decided where a record names it, or a deed (``DeedEntry``), and where something else that the logs have can come of
/// no other rule:
/// - a move of state (LIFE-1), and one to suspended (LIFE-3);
/// - the end of a process, which leaves its record (LIFE-10);
/// - a launch for an event, which is handed to the process as its cause (LAUNCH-7);
/// - the time that a wake was given, as its record shows it, which is the window of its source (LOC-8 and others);
/// - the time for which an app kept the receiver on (LOC-9);
/// - what a check of a record was lifted by.
///
/// Of what an app's process does itself the logs show nothing, and this version decides nothing by some rules: ``shown`` has the others.
/// It was asked where a record shows a check of it that passed or failed.
package struct RuleUse: Sendable {
    private var decisions = [Int](repeating: 0, count: RuleID.allCases.count)
    private var questions = [Int](repeating: 0, count: RuleID.allCases.count)
    /// How many runs were counted.
    package private(set) var runs = 0

    package init() {}

    /// Counts a run.
    package mutating func add(_ log: RunLog) {
        runs += 1
        for record in log.decisions {
            count(record.rule)
            if record.verdict == .relaunch, record.event != .none { count(.launch7) }
            if let window = Self.window(of: record) { count(window) }
            for check in record.checks where check.result == .pass || check.result == .fail {
                questions[Int(check.rule.rawValue)] += 1
            }
            for rule in record.checks.compactMap(\.liftedBy) { count(rule) }
        }
        for deed in log.deeds { count(deed.deed.rule) }
        for move in log.moves { count(move.to == .suspended ? .life3 : .life1) }
        for _ in log.exits { count(.life10) }
        for _ in log.receiver { count(.loc9) }
    }

    private mutating func count(_ rule: RuleID) { decisions[Int(rule.rawValue)] += 1 }

    /// The rule that gives a wake its time; nil for what is no wake, or shows no time.
    private static func window(of record: DecisionRecord) -> RuleID? {
        guard record.verdict == .resume || record.verdict == .relaunch, record.budget != nil else { return nil }
        return Registration(word: record.via)?.windowRule
    }

    /// How often a rule decided, or one with which it shares its code: an alias counts for its rule, and the rule for its alias.
    package func decided(_ rule: RuleID) -> Int {
        let shared =
            RuleID.allCases.filter { RuleCatalogue.entry($0).aliasOf == rule } + [RuleCatalogue.entry(rule).aliasOf]
        return decisions[Int(rule.rawValue)] + shared.compactMap { $0 }.map { decisions[Int($0.rawValue)] }.reduce(0, +)
    }

    /// How often a rule was asked.
    package func asked(_ rule: RuleID) -> Int { questions[Int(rule.rawValue)] }

    /// The rules that can decide in a run, in the order of the rulebook.
    package static let shown = RuleID.allCases.filter { rule in
        !RuleCatalogue.entry(rule).isInProcess && RuleCoverage.standing(of: rule) != .undecided
    }

    /// Those that decided nothing.
    package var unused: [RuleID] { Self.shown.filter { decided($0) == 0 } }

    /// A line a rule under a heading: its id, how often it decided, and how often it was asked.
    package var lines: [String] {
        let rows = RuleID.allCases.map { [$0.text, String(decided($0)), String(asked($0))] }
        return TextTable.lines([["RULE", "DECIDED", "ASKED"]] + rows)
    }

    /// One line about all rules.
    package var summary: String {
        let count = Self.shown.count - unused.count
        let runs = "\(runs) \(runs == 1 ? "run" : "runs")"
        if unused.isEmpty { return "each of the \(count) rules decided in \(runs)" }
        return "\(count) of \(Self.shown.count) rules decided in \(runs); none of "
            + unused.map(\.text).joined(separator: " ")
    }
}
