import WakeModel

/// The section `steps` of a scenario: when each of them happens, and how often.
extension ScenarioReading {
    /// How often the steps of a scenario may happen in all.
    private static let happeningLimit = 2_000_000

    func steps(_ node: YAMLNode?) throws(FileError) -> [Step] {
        guard let node else { return [] }
        var steps: [Step] = []
        var happenings = 0
        for node in try node.list(expecting: "steps") {
            let step = try step(node)
            happenings += step.times
            if happenings > Self.happeningLimit {
                throw node.error(
                    found: "steps that happen \(happenings) times in all",
                    expected: "at most \(Self.happeningLimit)"
                )
            }
            steps.append(step)
        }
        return steps
    }

    private func step(_ node: YAMLNode) throws(FileError) -> Step {
        let triggers = ["at", "after", "when"]
        let rest = ["within", "every", "times"] + verbs.flatMap(\.extras)
        let fields = try Fields(node, of: "a step", keys: triggers + verbs.map(\.word) + rest)
        let (key, value) = try fields.one(of: triggers, called: "a time")
        let trigger: Step.Trigger
        switch key {
        case "at": trigger = .at(try value.duration())
        case "after": trigger = .after(try value.duration())
        default: trigger = .when(try condition(value), within: try fields["within"]?.interval() ?? .seconds(60))
        }
        if key != "when" { try fields.refuse(["within"], beside: key) }
        let (times, every) = try repetition(fields)
        return Step(
            line: node.line,
            column: node.column,
            trigger: trigger,
            times: times,
            every: every,
            verb: try verb(fields)
        )
    }

    private func repetition(_ fields: Fields) throws(FileError) -> (times: Int, every: Instant.Span) {
        guard let node = fields["every"] else {
            if let node = fields["times"] {
                throw node.error(found: "'times' without 'every'", expected: "the time between them")
            }
            return (1, .zero)
        }
        let every = try node.interval()
        return (try fields.required("times").integer(in: 1...Self.happeningLimit), every)
    }

    private func condition(_ node: YAMLNode) throws(FileError) -> Step.Condition {
        let fields = try Fields(
            node,
            of: "a condition",
            keys: ["app", "verdict", "reason", "kind", "rule", "count", "state"]
        )
        let apps = try appNames.resolve(try fields.required("app"))
        if let state = fields["state"] {
            try fields.refuse(["verdict", "reason", "kind", "rule", "count"], beside: "state")
            return .state(apps: apps, try appState(state))
        }
        let count = try fields["count"]?.integer(in: 1...10_000_000) ?? 1
        return .decisions(apps: apps, try filter(fields, of: "a condition"), count: count)
    }

    func filter(_ fields: Fields, of what: String) throws(FileError) -> DecisionFilter {
        let filter = DecisionFilter(
            verdict: try fields["verdict"]?.word("verdict"),
            reason: try fields["reason"]?.word("reason"),
            kind: try fields["kind"]?.word("kind of event"),
            rule: try fields["rule"]?.word("rule", of: RuleID.allCases, \.text)
        )
        if filter == DecisionFilter() {
            throw fields.node.error(found: "\(what) about nothing", expected: "a verdict, reason, kind, rule or state")
        }
        return filter
    }

    func appState(_ node: YAMLNode) throws(FileError) -> AppState {
        try node.word("state")
    }
}
