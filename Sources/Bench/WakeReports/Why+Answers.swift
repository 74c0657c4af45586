import WakeModel

/// What would become of events that are only asked about.
extension Why {
    /// Says of each whether the app would wake for it, and why; those that fare alike are told together.
    ///
    /// - Parameter records: what a router makes of each event, in the app's run as its logs leave it.
    package func answer(_ records: [DecisionRecord]) -> String {
        var groups: [(records: [DecisionRecord], reasoning: [String])] = []
        for record in records {
            let reasoning = reasoning(aboutWhatIsAsked: record)
            let place = groups.firstIndex { group in
                group.reasoning == reasoning && group.records[0].kind == record.kind
                    && group.records[0].verdict == record.verdict
            }
            if let place { groups[place].records.append(record) } else { groups.append(([record], reasoning)) }
        }
        let lines = groups.flatMap { group -> [String] in
            let first = group.records[0]
            let subjects = group.records.map(\.subject).filter { !$0.isEmpty }.joined(separator: ", ")
            let what = subjects.isEmpty ? first.kind : "\(first.kind) \(subjects)"
            let answer = first.verdict.delivers ? "yes" : "no"
            return [
                "\(answer): \(what): \(first.verdict.word), \(first.reason.word)",
                "\(app)  \(Self.prospect(first.verdict)) \(first.source) \(what)",
            ] + group.reasoning
        }
        return lines.map(TerminalText.escaped).joined(separator: "\n")
    }

    private static func prospect(_ verdict: Verdict) -> String {
        switch verdict {
        case .resume, .relaunch: "would be woken by"
        case .foregroundDeliver, .backgroundDeliver: "runs, and would be given"
        case .defer: "would get only when it runs next"
        case .coalesce, .drop, .deny: "would not be woken by"
        }
    }

    private func reasoning(aboutWhatIsAsked record: DecisionRecord) -> [String] {
        let lost = lostFor(record)
        // Of an app that had registered, what took that is more than that nobody has.
        let advice = record.app == nil && !lost.isEmpty ? [] : advice(record)
        return reasoning(record) + advice.map { "  try      \($0)" } + self.lost(lost, beside: advice)
    }

    /// What the app has lost that such an event came by.
    private func lostFor(_ record: DecisionRecord) -> [Loss] {
        record.verdict.delivers ? [] : losses(of: record.source)
    }

    /// What ``answer(_:)`` says of one event, for programs.
    package func page(asked record: DecisionRecord) -> CanWakePage.Answer {
        var decision = DecisionPage(record, in: self)
        decision.decision = nil
        return CanWakePage.Answer(
            app: app,
            wakes: record.verdict.delivers,
            decision: decision,
            lost: lostFor(record).map(WhyPage.Lost.init)
        )
    }
}
