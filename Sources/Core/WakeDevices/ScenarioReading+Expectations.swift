import WakeModel

/// The section `expect` of a scenario.
extension ScenarioReading {
    func expectation(_ node: YAMLNode) throws(FileError) -> Expectation {
        let counts = ["count", "at-least", "at-most"]
        let filters = ["verdict", "reason", "kind", "rule"]
        let fields = try Fields(
            node,
            of: "an expectation",
            keys: ["app", "state", "exits", "cause"] + filters + counts
        )
        let apps = try appNames.resolve(try fields.required("app"))
        let subject: Expectation.Subject
        if let state = fields["state"] {
            try fields.refuse(filters + counts + ["exits", "cause"], beside: "state")
            subject = .state(try appState(state))
        } else if let exits = fields["exits"] {
            try fields.refuse(filters + counts, beside: "exits")
            let number = try exits.integer(in: 0...10_000_000)
            let cause: ExitCause? = try fields["cause"]?.word("cause")
            subject = .exits(cause, Expectation.Count(atLeast: number, atMost: number))
        } else {
            try fields.refuse(["cause"], beside: "a decision")
            subject = .decisions(try filter(fields, of: "an expectation"), try count(of: fields))
        }
        return Expectation(line: node.line, column: node.column, apps: apps, subject: subject)
    }

    private func count(of fields: Fields) throws(FileError) -> Expectation.Count {
        let range = 0...1_000_000_000
        if let node = fields["count"] {
            try fields.refuse(["at-least", "at-most"], beside: "count")
            let number = try node.integer(in: range)
            return Expectation.Count(atLeast: number, atMost: number)
        }
        let most = try fields["at-most"]?.integer(in: range)
        let least = try fields["at-least"]?.integer(in: range) ?? (most == nil ? 1 : 0)
        if let most, let node = fields["at-most"], most < least {
            throw node.error(found: "at-most \(most) below at-least \(least)", expected: "at least \(least)")
        }
        return Expectation.Count(atLeast: least, atMost: most)
    }
}
