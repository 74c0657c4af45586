import WakeModel

/// The steps and values of a run, by app.
struct AppSequences {
    /// What must be equal of a decision.
    struct Step: Hashable, CustomStringConvertible {
        var kind: String
        var subject: String
        var verdict: Verdict
        var reason: Reason
        var rule: RuleID

        init(_ decision: DecisionRecord) {
            kind = decision.kind
            subject = decision.subject
            verdict = decision.verdict
            reason = decision.reason
            rule = decision.rule
        }

        var happening: String { subject.isEmpty ? kind : "\(kind) \(subject)" }
        var description: String { "\(happening): \(verdict.word), \(reason.word), \(rule.text)" }
    }

    /// A step, and the first of the decisions that it stands for, by its place in the log.
    struct Place {
        var step: Step
        var decision: Int
    }

    /// What an app read.
    struct Value {
        var text: String
        var decision: DecisionID
        var at: Instant
    }

    /// Consecutive repeats are one; `-` for events that nobody registered for.
    private(set) var steps: [String: [Place]] = [:]
    /// What apps were given, in the order of the decisions; the bytes that wait for them on a stream are none of it.
    private(set) var values: [String: [Value]] = [:]

    init(_ log: RunLog) {
        for (place, decision) in log.decisions.enumerated() {
            let step = Step(decision)
            let app = decision.app ?? "-"
            if steps[app]?.last?.step != step { steps[app, default: []].append(Place(step: step, decision: place)) }
        }
        for (number, outcome) in log.outcomes.sorted(by: { $0.key < $1.key }) {
            for callback in outcome.delivered {
                // How much waits unread on a stream is left to time, and a real peer says each time which call it is.
                guard let text = callback.value, callback.name != EventKind.channelDataAvailable.callback else {
                    continue
                }
                let value = Value(text: text, decision: DecisionID(number), at: callback.at)
                values[outcome.app, default: []].append(value)
            }
        }
    }

    var apps: Set<String> { Set(steps.keys).union(values.keys) }
}

/// Compares what came of one app in two runs.
struct AppComparison {
    typealias Difference = RunComparison.Difference
    typealias Side = RunComparison.Side

    private let names: (String, String)
    private let left: RunLog
    private let right: RunLog
    private let leftSteps: [AppSequences.Place]
    private let rightSteps: [AppSequences.Place]
    private let leftValues: [AppSequences.Value]
    private let rightValues: [AppSequences.Value]
    private(set) var result: RunComparison.App
    private var evidence: DifferenceEvidence

    init(
        _ app: String,
        _ left: (log: RunLog, all: AppSequences),
        _ right: (log: RunLog, all: AppSequences),
        _ names: (String, String)
    ) {
        self.names = names
        (self.left, self.right) = (left.log, right.log)
        (leftSteps, rightSteps) = (left.all.steps[app] ?? [], right.all.steps[app] ?? [])
        (leftValues, rightValues) = (left.all.values[app] ?? [], right.all.values[app] ?? [])
        evidence = DifferenceEvidence(app: app, left.log, right.log, names)
        result = RunComparison.App(
            app: app,
            steps: (leftSteps.count, rightSteps.count, 0),
            values: (leftValues.count, rightValues.count, 0),
            shift: .zero,
            differences: []
        )
    }

    // MARK: Steps

    mutating func compareSteps() {
        let alignment = SequenceAlignment(leftSteps.map(\.step), rightSteps.map(\.step))
        var (one, other) = (0, 0)
        var found: [Found] = []
        for (number, gap) in alignment.gaps.enumerated() {
            agree(one..<gap.left.lowerBound, from: other)
            found += alignment.isCut && number == alignment.gaps.count - 1 ? [Found(.rest, gap)] : parted(gap)
            (one, other) = (gap.left.upperBound, gap.right.upperBound)
        }
        agree(one..<leftSteps.count, from: other)
        found = Self.joined(found) { [leftSteps, rightSteps] gap, next in
            gap.left.map { leftSteps[$0].step } == next.right.map { rightSteps[$0].step }
                && gap.right.map { rightSteps[$0].step } == next.left.map { leftSteps[$0].step }
        }
        for (number, each) in found.enumerated() {
            guard result.differences.count < RunComparison.limit else {
                result.leftOff += found.count - number
                return
            }
            let before = each.gap.left.lowerBound - (number == 0 ? 0 : found[number - 1].end.left)
            let next = number + 1 < found.count ? found[number + 1].gap.left.lowerBound : leftSteps.count
            tell(each, before: max(0, before), after: max(0, next - each.end.left))
        }
    }

    /// A difference, where it stands in both.
    private struct Found {
        var kind: Difference.Kind
        var gap: SequenceAlignment.Gap
        /// Where the other half of what has moved stands; nil for any other.
        var moved: SequenceAlignment.Gap?

        init(_ kind: Difference.Kind, _ gap: SequenceAlignment.Gap) {
            self.kind = kind
            self.gap = gap
        }

        /// What comes first after it.
        var end: (left: Int, right: Int) {
            let last = moved ?? gap
            return (last.left.upperBound, last.right.upperBound)
        }
    }

    /// Steps that stand in both runs at the same place.
    private mutating func agree(_ ones: Range<Int>, from other: Int) {
        result.steps.agree += ones.count
        for (offset, one) in ones.enumerated() {
            let apart = rightTime(other + offset).since(leftTime(one))
            if abs(apart.nanoseconds) > abs(result.shift.nanoseconds) { result.shift = apart }
        }
    }

    private func leftTime(_ step: Int) -> Instant { left.decisions[leftSteps[step].decision].at }
    private func rightTime(_ step: Int) -> Instant { right.decisions[rightSteps[step].decision].at }

    /// A gap in parts: events that both have, with other verdicts, and what only one has.
    private func parted(_ gap: SequenceAlignment.Gap) -> [Found] {
        guard !gap.left.isEmpty, !gap.right.isEmpty else { return [Found(.missing, gap)] }
        let ones = gap.left.map { leftSteps[$0].step.happening }
        let others = gap.right.map { rightSteps[$0].step.happening }
        var found: [Found] = []
        var (one, other) = (gap.left.lowerBound, gap.right.lowerBound)
        func take(to left: Int, _ right: Int) {
            while one < left, other < right {
                found.append(Found(.verdict, .init(left: one..<one + 1, right: other..<other + 1)))
                (one, other) = (one + 1, other + 1)
            }
        }
        for part in SequenceAlignment(ones, others).gaps {
            take(to: gap.left.lowerBound + part.left.lowerBound, gap.right.lowerBound + part.right.lowerBound)
            let (leftEnd, rightEnd) = (
                gap.left.lowerBound + part.left.upperBound, gap.right.lowerBound + part.right.upperBound
            )
            found.append(Found(.missing, .init(left: one..<leftEnd, right: other..<rightEnd)))
            (one, other) = (leftEnd, rightEnd)
        }
        take(to: gap.left.upperBound, gap.right.upperBound)
        return found
    }

    /// What one run has before what agrees, and the other after it, has moved.
    private static func joined(
        _ found: [Found],
        isSwapped: (SequenceAlignment.Gap, SequenceAlignment.Gap) -> Bool
    ) -> [Found] {
        var joined: [Found] = []
        for each in found {
            if let last = joined.last, last.kind == .missing, each.kind == .missing, isSwapped(last.gap, each.gap) {
                joined[joined.count - 1].kind = .moved
                joined[joined.count - 1].moved = each.gap
            } else {
                joined.append(each)
            }
        }
        return joined
    }

    private mutating func tell(_ found: Found, before: Int, after: Int) {
        let other = found.moved ?? found.gap
        let left = found.gap.left.isEmpty ? other.left : found.gap.left
        let right = found.gap.right.isEmpty ? other.right : found.gap.right
        var difference = Difference(kind: found.kind, before: before, after: after)
        difference.left = left.first.map { side(leftSteps[$0], $0, self.left, count: left.count) }
        difference.right = right.first.map { side(rightSteps[$0], $0, self.right, count: right.count) }
        let previous = (
            found.gap.left.lowerBound == 0 ? nil : leftTime(found.gap.left.lowerBound - 1),
            found.gap.right.lowerBound == 0 ? nil : rightTime(found.gap.right.lowerBound - 1)
        )
        let next = (
            found.end.left < leftSteps.count ? leftTime(found.end.left) : self.left.end,
            found.end.right < rightSteps.count ? rightTime(found.end.right) : self.right.end
        )
        difference.causes = evidence.causes(
            left.first.map { leftSteps[$0].decision },
            right.first.map { rightSteps[$0].decision },
            after: previous,
            before: next
        )
        result.differences.append(difference)
    }

    private func side(_ place: AppSequences.Place, _ number: Int, _ log: RunLog, count: Int) -> Side {
        let decision = log.decisions[place.decision]
        return Side(
            number: number + 1,
            text: place.step.description,
            at: decision.at,
            decision: decision.id,
            count: count
        )
    }

    // MARK: Values

    /// Values are compared up to the end of the shorter run, which may be at most a tenth shorter.
    mutating func compareValues() {
        let (ones, others) = (leftValues.map(\.text), rightValues.map(\.text))
        let shorter = min(ones.count, others.count)
        let place = (0..<shorter).first { ones[$0] != others[$0] }
        result.values.agree = place ?? shorter
        guard let place else { return compareCounts() }
        let rest = SequenceAlignment(Array(ones[place...]), Array(others[place...]))
        let left = ones.count - place
        let gone = rest.gaps.reduce(0) { $0 + $1.left.count }
        let first = rest.gaps.first ?? .init(left: 0..<1, right: 0..<1)
        let next = rest.gaps.count > 1 ? rest.gaps[1].left.lowerBound : left
        result.values.agree += left - gone
        var difference = Difference(kind: .value, before: place, after: next - first.left.upperBound)
        difference.left = side(leftValues[place], place)
        difference.right = side(rightValues[place], place)
        difference.causes = words(of: first)
        result.differences.append(difference)
    }

    private func words(of gap: SequenceAlignment.Gap) -> [String] {
        func count(_ number: Int) -> String { "\(number) value\(number == 1 ? "" : "s")" }
        switch (gap.left.count, gap.right.count) {
        case (0, let more): return ["\(names.1) has \(count(more)) there that \(names.0) has not"]
        case (let more, 0): return ["\(names.0) has \(count(more)) there that \(names.1) has not"]
        case (let one, let other):
            return one == other ? [] : ["\(names.0) has \(count(one)) there, \(names.1) \(count(other))"]
        }
    }

    private mutating func compareCounts() {
        let (shorter, longer) = (min(leftValues.count, rightValues.count), max(leftValues.count, rightValues.count))
        guard (longer - shorter) * 10 > longer else { return }
        var difference = Difference(kind: .count, before: shorter)
        let isLeft = leftValues.count > shorter
        let side = side(isLeft ? leftValues[shorter] : rightValues[shorter], shorter)
        if isLeft { difference.left = side } else { difference.right = side }
        result.differences.append(difference)
    }

    private func side(_ value: AppSequences.Value, _ place: Int) -> Side {
        Side(number: place + 1, text: value.text, at: value.at, decision: value.decision)
    }
}
