import WakeDevices
import WakeModel

/// Times that people read at a glance.
extension ScenarioShrinker {
    /// The pauses that are tried, the shortest first.
    private static let pauses: [Int64] = [1, 10, 30, 60, 600, 3_600, 36_000, 86_400].map { $0 * 1_000_000_000 }

    func shortenTimes() throws(Stop) {
        begin("times")
        try spaceSteps()
        for number in best.steps.indices.dropFirst() { try shortenPause(before: number) }
        try roundTimes(of: .scenario)
        for number in best.devices.indices where best.usesDevice(number) { try roundTimes(of: .device(number)) }
    }

    private static func time(_ step: YAMLNode) -> Int64? { step["at"]?.scalar.flatMap(DurationText.span)?.nanoseconds }

    private static func step(_ step: YAMLNode, at time: Int64) -> YAMLNode {
        step.setting("at", to: .scalar(DurationText.text(Instant.Span(nanoseconds: time))))
    }

    /// Puts all steps the same pause apart, in the order of their times.
    private func spaceSteps() throws(Stop) {
        let times = best.steps.compactMap(Self.time)
        guard times.count == best.steps.count, times.count > 1 else { return }
        let order = times.indices.sorted { (times[$0], $0) < (times[$1], $1) }
        let base = best
        var ordered = base
        ordered.steps = order.map { base.steps[$0] }
        if order != Array(times.indices) { _ = try attempt(ordered) }
        for pause in Self.pauses where pause * Int64(times.count - 1) < times[order[order.count - 1]] {
            var candidate = ordered
            candidate.steps = ordered.steps.enumerated().map { Self.step($0.element, at: Int64($0.offset) * pause) }
            if try attempt(candidate) { return }
        }
    }

    /// Brings a step and all after it nearer to the one before.
    private func shortenPause(before number: Int) throws(Stop) {
        let steps = best.steps
        guard let own = Self.time(steps[number]), let before = Self.time(steps[number - 1]), own > before else {
            return
        }
        for pause in Self.pauses where pause < own - before {
            var candidate = best
            candidate.steps = steps.enumerated().map { place, step in
                guard place >= number, let time = Self.time(step) else { return step }
                return Self.step(step, at: max(0, time - (own - before) + pause))
            }
            if try attempt(candidate) { return }
        }
    }

    /// Cuts what is no whole number of its unit, as coarsely as can be; nothing becomes shorter than half of what it was.
    private func roundTimes(of document: ShrinkCase.Document) throws(Stop) {
        for path in Self.times(in: best[document], at: []) {
            guard let node = best[document][path], case .scalar(let text, let quoted) = node.content,
                let span = DurationText.span(text)
            else { continue }
            for unit in Self.pauses.reversed() + [500_000_000, 100_000_000, 10_000_000] where unit <= span.nanoseconds {
                let rounded = span.nanoseconds / unit * unit
                guard rounded < span.nanoseconds, rounded >= span.nanoseconds / 2 else { continue }
                var candidate = best
                let new = DurationText.text(Instant.Span(nanoseconds: rounded))
                candidate[document] = best[document].replacing(path, with: node.with(.scalar(new, quoted: quoted)))
                if try attempt(candidate) { break }
            }
        }
    }

    private static func times(in node: YAMLNode, at path: YAMLNode.Path) -> [YAMLNode.Path] {
        if let text = node.scalar { return text != "0" && DurationText.span(text) != nil ? [path] : [] }
        return node.children.enumerated().flatMap { times(in: $0.element, at: path + [$0.offset]) }
    }
}
