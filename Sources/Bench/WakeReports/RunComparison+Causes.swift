import WakeJSON
import WakeModel

/// What the records of two runs tell about why an app fared differently.
struct DifferenceEvidence {
    /// Something that is no decision and may lead to one.
    private struct Happening {
        var at: Instant
        /// The same in both runs for the same thing.
        var word: String
        var place: String
    }

    private let app: String
    private let left: RunLog
    private let right: RunLog
    private let names: (String, String)
    private let happenings: (left: [Happening], right: [Happening])
    /// What was said of an earlier difference is not said again.
    private var told: Set<String> = []
    /// The most lines about what happened in one run only.
    private static let shown = 3
    /// The most decisions that are looked through for one difference.
    private static let looked = 5_000

    init(app: String, _ left: RunLog, _ right: RunLog, _ names: (String, String)) {
        self.app = app
        (self.left, self.right, self.names) = (left, right, names)
        happenings = (Self.happenings(left, app), Self.happenings(right, app))
    }

    private static func happenings(_ log: RunLog, _ app: String) -> [Happening] {
        var all = log.acts.filter { $0.app == nil || $0.app == app }.map { act in
            Happening(at: act.at, word: act.word, place: act.origin)
        }
        // What was done to the app tells more than the end that came of it.
        let done = Set(log.acts.filter { $0.app == app }.map(\.at))
        all += log.exits.filter { $0.app == app && !done.contains($0.at) }.map { exit in
            Happening(at: exit.at, word: "exit by \(exit.cause.word)", place: "")
        }
        all += log.ranges.map { range in
            Happening(at: range.at, word: "\(range.device) \(range.inRange ? "in" : "out of") range", place: "")
        }
        return all.sorted { ($0.at, $0.word) < ($1.at, $1.word) }
    }

    /// One line each, the most telling first.
    ///
    /// - Parameters:
    ///   - one: the decision's place in the left log; nil where the run has none.
    ///   - other: the same in the right.
    ///   - after: the step before in each run; nil at the beginning.
    ///   - before: the step after in each run, or its end.
    mutating func causes(
        _ one: Int?,
        _ other: Int?,
        after: (Instant?, Instant?),
        before: (Instant, Instant)
    ) -> [String] {
        let starts = (after.0 ?? .zero, after.1 ?? .zero)
        var causes: [String] = []
        switch (one.map { left.decisions[$0] }, other.map { right.decisions[$0] }) {
        case (let one?, let other?): causes = states(one, other) + onlyInOne(until: (one.at, other.at))
        case (let one?, nil):
            causes = onlyInOne(until: (one.at, min(before.1, Self.counterpart(of: one.at, starts.0, starts.1))))
            causes.append(absence(of: one, in: right, names.1, starts.1, before.1))
        case (nil, let other?):
            causes = onlyInOne(until: (min(before.0, Self.counterpart(of: other.at, starts.1, starts.0)), other.at))
            causes.append(absence(of: other, in: left, names.0, starts.0, before.0))
        case (nil, nil): break
        }
        return causes.filter { told.insert($0).inserted }
    }

    /// When something would be due that the other run has at a time: as long after the step before, and a second for what differs.
    private static func counterpart(of time: Instant, _ start: Instant, _ otherStart: Instant) -> Instant {
        otherStart.advanced(by: time.since(start)).advanced(by: .seconds(1))
    }

    // MARK: How the app stood

    private func states(_ one: DecisionRecord, _ other: DecisionRecord) -> [String] {
        guard one.kind == other.kind, one.subject == other.subject else { return [] }
        var lines: [String] = []
        func tell(_ what: String, _ left: String, _ right: String) {
            if left != right { lines.append("\(what) \(left) in \(names.0) and \(right) in \(names.1)") }
        }
        tell("the app was", state(one), state(other))
        tell("registered via", one.via, other.via)
        tell("its restore identifier was", one.restoreIdentifier ?? "none", other.restoreIdentifier ?? "none")
        tell("a debugger was", one.isExempt ? "attached" : "absent", other.isExempt ? "attached" : "absent")
        return lines
    }

    /// An app without a process is told with its end.
    private func state(_ decision: DecisionRecord) -> String {
        guard let exit = decision.lastExit, decision.stateBefore == "terminated" else { return decision.stateBefore }
        return "\(decision.stateBefore) (\(exit.cause))"
    }

    // MARK: What happened

    private func onlyInOne(until times: (Instant, Instant)) -> [String] {
        let (ones, others) = (happenings.left.filter { $0.at <= times.0 }, happenings.right.filter { $0.at <= times.1 })
        let lefts = Self.without(ones, others).map { line($0, names.0, names.1, happenings.right, times.1) }
        let rights = Self.without(others, ones).map { line($0, names.1, names.0, happenings.left, times.0) }
        return (lefts.suffix(Self.shown) + rights.suffix(Self.shown)).map(\.self)
    }

    /// Those that the others do not have, as often as they do not.
    private static func without(_ all: [Happening], _ others: [Happening]) -> [Happening] {
        var counts: [String: Int] = [:]
        for other in others { counts[other.word, default: 0] += 1 }
        return all.filter { each in
            counts[each.word, default: 0] -= 1
            return counts[each.word, default: 0] < 0
        }
    }

    private func line(
        _ happening: Happening,
        _ name: String,
        _ other: String,
        _ others: [Happening],
        _ time: Instant
    ) -> String {
        let place = happening.place.isEmpty ? "" : " [\(happening.place)]"
        let later = others.first { $0.word == happening.word && $0.at > time }
        let there = later.map { "; \(other) has it at \(LogTime.text($0.at)) only" } ?? ", and \(other) has not"
        return "\(name) has '\(happening.word)' at \(LogTime.text(happening.at))\(place) before it\(there)"
    }

    /// Why a run may have no such decision.
    private func absence(
        of decision: DecisionRecord,
        in log: RunLog,
        _ name: String,
        _ start: Instant,
        _ end: Instant
    ) -> String {
        let happening = decision.happening
        let near = decisions(of: log, from: start, to: end).filter {
            $0.kind == decision.kind && $0.subject == decision.subject && $0.app != decision.app
        }
        if let nobody = near.first(where: { $0.app == nil }) {
            return
                "in \(name) no app was registered for \(happening) at \(LogTime.text(nobody.at)) (\(LogTime.text(nobody.id)))"
        }
        if let other = near.first {
            return "in \(name) \(happening) at \(LogTime.text(other.at)) was for \(other.app ?? "-"), not for \(app)"
        }
        return "\(name) heard of no \(happening) from \(LogTime.text(start)) to \(LogTime.text(end))"
    }

    /// Those of a time, at most as many as are looked through.
    private func decisions(of log: RunLog, from start: Instant, to end: Instant) -> ArraySlice<DecisionRecord> {
        var (low, high) = (0, log.decisions.count)
        while low < high {
            let middle = (low + high) / 2
            if log.decisions[middle].at < start { low = middle + 1 } else { high = middle }
        }
        return log.decisions[low...].prefix(Self.looked).prefix { $0.at <= end }
    }
}

/// The checks of a few decisions, as the log has them.
struct DecisionChecks {
    /// One of a record's checks, in JSON.
    struct Check {
        var rule: String
        var name: String
        var result: String
        var observed: String
        var isDecisive: Bool
        var since: String
    }

    private var checks: [UInt64: [Check]] = [:]

    /// Reads a run's log once.
    init(_ numbers: Set<UInt64>, of log: RunLog) {
        guard !numbers.isEmpty, !log.folder.isEmpty else { return }
        var wanted = numbers.count
        // What the log does not tell is not told.
        try? RunLog.eachRecord(folder: log.folder) { record in
            guard let number = DecisionLog.number(of: record)?.number, numbers.contains(number),
                let value = JSONValue(parsing: record)
            else { return true }
            checks[number] = value["checks"]?.array.map(Self.check)
            wanted -= 1
            return wanted > 0
        }
    }

    private static func check(_ value: JSONValue) -> Check {
        Check(
            rule: value["rule"]?.string ?? "",
            name: value["name"]?.string ?? "",
            result: value["result"]?.string ?? "",
            observed: observed(value),
            isDecisive: value["decisive"]?.bool ?? false,
            since: value["since"]?.string.map { " since \($0)" } ?? ""
        )
    }

    /// What is told otherwise than as observed.
    private static let known: Set = [
        "rule", "name", "result", "decisive", "confidence", "assumed", "observed", "since", "set_by", "cleared_by",
        "lifted_by", "set",
    ]

    /// What a check saw, and the figures beside it: `true, wakes 2, limit 3`.
    private static func observed(_ check: JSONValue) -> String {
        func text(_ value: JSONValue) -> String { value.string ?? value.text }
        let figures = check.members.filter { !known.contains($0.key) }.map { "\($0.key) \(text($0.value))" }
        return ([check["observed"].map(text) ?? "nothing"] + figures).joined(separator: ", ")
    }

    /// One line for each check that came to something else, those that decided first.
    static func differences(
        _ one: (DecisionID, DecisionChecks),
        _ other: (DecisionID, DecisionChecks),
        _ names: (String, String)
    ) -> [String] {
        guard let left = one.1.checks[one.0.number], let right = other.1.checks[other.0.number] else { return [] }
        var lines: [(rank: Int, text: String)] = []
        for check in left {
            guard let match = right.first(where: { $0.rule == check.rule && $0.name == check.name }) else { continue }
            guard (check.result, check.observed) != (match.result, match.observed) else { continue }
            let decides = check.isDecisive || match.isDecisive
            guard decides || check.result != match.result else { continue }
            lines.append(
                (
                    decides ? 0 : 1,
                    "\(check.rule) (\(check.name)): \(names.0) \(words(check)); \(names.1) \(words(match))"
                )
            )
        }
        let sorted = lines.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
        return sorted.prefix(shown).map(\.element.text)
    }

    private static let shown = 3

    private static func words(_ check: Check) -> String {
        check.result == CheckResult.notApplicable.word
            ? check.result : "\(check.result), observed \(check.observed)\(check.since)"
    }
}
