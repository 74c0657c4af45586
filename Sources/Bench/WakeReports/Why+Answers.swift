import WakeModel

/// What would become of events that are only asked about.
extension Why {
    /// An event that is only asked about, and what there is to say of it.
    struct Answered {
        var record: DecisionRecord
        /// What the app has lost that such an event came by.
        var lost: [Loss]
        /// Of an event that nobody is registered for: why, where more is known than that.
        var decisive: Cause?
        /// Of an event that nobody is registered for: what the app waits for of the same device.
        var waits: [RegistrationEntry.Kept]

        var reason: Reason { decisive?.reason ?? record.reason }
        var rule: RuleID { decisive?.rule ?? record.rule }
    }

    /// Why the app is not registered for something.
    struct Cause {
        var reason: Reason
        var rule: RuleID
        /// Since when.
        var at: Instant
        var because: String
        /// What to do about it; nil where nobody can say.
        var advice: String?

        var text: String { "  because  \(reason.word)   \(because)   \(Why.ruleText(rule))" }
    }

    func answered(_ record: DecisionRecord) -> Answered {
        var answered = Answered(record: record, lost: [], decisive: nil, waits: [])
        if record.verdict.delivers { return answered }
        answered.lost = losses(of: record.source)
        guard record.app == nil else { return answered }
        // Of an app that had registered, what took that is more than that nobody has.
        let loss = answered.lost.last { $0.isAbout(record.subject) } ?? answered.lost.last { $0.isAbout(nil) }
        answered.decisive = absence ?? refusal(of: record.source) ?? loss?.cause
        let device = record.subject.prefix { $0 != "/" }
        answered.waits = (log.registrations[app]?.kept ?? []).filter { kept in
            guard Registration(word: kept.via)?.source.word == record.source else { return false }
            return !kept.subject.isEmpty && kept.subject.prefix { $0 != "/" } == device
        }
        return answered
    }

    /// Whether a question is about what is said of an event that is only asked about.
    package func isAnswered(_ record: DecisionRecord, with question: Question) -> Bool {
        if case .events = question { return true }
        let answered = answered(record)
        return switch question {
        case .reason(let reason): answered.reason == reason || answered.lost.contains { $0.reason == reason }
        case .rule(let rule):
            answered.rule == rule || record.decisive?.rule == rule || answered.lost.contains { $0.rule == rule }
        case .events: true
        case .registration(let registration):
            record.via == registration.word || answered.waits.contains { $0.via == registration.word }
                || answered.lost.contains { $0.entries.contains { $0.via == registration.word } }
        case .exit(let number):
            record.lastExit?.id == "x-\(number)" || answered.lost.contains { $0.exit?.number == number }
        }
    }

    /// What stands in the way of all events of some kinds, of none for those of any, with the rule and what to do about it; nil where
    /// nothing is known to.
    package func nothingComes(of kinds: [String]) -> String? {
        let sources = kinds.compactMap { EventKind(word: $0)?.source.word }
        let refusal = kinds.isEmpty ? self.refusal : Set(sources).count == 1 ? refusal(of: sources[0]) : nil
        guard let cause = absence ?? refusal else { return nil }
        return "\(cause.because) (\(cause.rule.text))" + (cause.advice.map { "; \($0)" } ?? "")
    }

    /// The reason and the rule of what is said of an event: `ForceQuit [LAUNCH-2]`.
    package func words(_ record: DecisionRecord) -> String {
        let answered = answered(record)
        return "\(answered.reason.word) [\(answered.rule.text)]"
    }

    /// Says of each whether the app would wake for it, and why; those that fare alike are told together.
    ///
    /// - Parameter records: what a router makes of each event, in the app's run as its logs leave it.
    package func answer(_ records: [DecisionRecord]) -> String {
        var groups: [(answers: [Answered], reasoning: [String])] = []
        for record in records {
            let answered = answered(record)
            let reasoning = reasoning(of: answered)
            let place = groups.firstIndex { group in
                let first = group.answers[0].record
                return group.reasoning == reasoning && first.kind == record.kind && first.verdict == record.verdict
            }
            if let place { groups[place].answers.append(answered) } else { groups.append(([answered], reasoning)) }
        }
        let lines = groups.flatMap { group -> [String] in
            let first = group.answers[0].record
            let subjects = group.answers.map(\.record.subject).filter { !$0.isEmpty }.joined(separator: ", ")
            let what = subjects.isEmpty ? first.kind : "\(first.kind) \(subjects)"
            let answer = first.verdict.delivers ? "yes" : "no"
            return [
                "\(answer): \(what): \(first.verdict.word), \(group.answers[0].reason.word)",
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

    private func reasoning(of answered: Answered) -> [String] {
        let (record, waits) = (answered.record, answered.waits.map(wait))
        guard let cause = answered.decisive else {
            // What it has lost, or waits for of a device, says more than what any app would have to do.
            let waitsForDevice = !waits.isEmpty && record.subject != app
            let saysMore = record.app == nil && (!answered.lost.isEmpty || waitsForDevice)
            let advice = saysMore ? [] : advice(record)
            return reasoning(record) + advice.map { "  try      \($0)" } + barred(record)
                + lost(answered.lost, beside: advice) + waits
        }
        var lines = [cause.text] + (cause.reason == .forceQuit ? [] : barred(record)) + lost(answered.lost)
        if let advice = cause.advice.map({ "  try      \($0)" }), !lines.contains(advice) { lines.append(advice) }
        return lines + waits
    }

    /// That a force quit bars the app, too, where an event that does not wake it did not ask for that.
    private func barred(_ record: DecisionRecord) -> [String] { record.verdict.delivers ? [] : reasons(after: record) }

    /// What ``answer(_:)`` says of one event, for programs.
    package func page(asked record: DecisionRecord) -> CanWakePage.Answer {
        let answered = answered(record)
        var decision = DecisionPage(record, in: self)
        decision.decision = nil
        if let cause = answered.decisive { decision.explain(by: cause) }
        return CanWakePage.Answer(
            app: app,
            wakes: record.verdict.delivers,
            decision: decision,
            forceQuit: record.verdict.delivers ? nil : forceQuit,
            lost: answered.lost.map(WhyPage.Lost.init),
            waits: answered.waits.map(waiting)
        )
    }
}
