import WakeModel

/// What became of one run of a suite.
package struct SuiteEntry: LogRecord, Hashable, Sendable {
    package enum Outcome: String, CaseIterable, Hashable, Sendable {
        /// It was played, and each expectation was met.
        case passed
        /// An expectation was not met.
        case failed
        /// It could not be played to its end.
        case error
        /// It was interrupted.
        case interrupted
        /// The suite was interrupted before it.
        case notRun = "not-run"
    }

    /// What the run is called in its suite, and its folder in the suite's.
    package var name: String
    /// The scenario's file, from where the command was given.
    package var scenario: String
    /// The seed that the suite gave it; nil for the scenario's own.
    package var seed: UInt64?
    package var outcome = Outcome.notRun
    /// The exit code of its `wakebench run`; nil when there was none.
    package var exitCode: Int64?
    /// How long its process took by the wall clock.
    package var took: Instant.Span = .zero
    /// What the run's folder says that it came to; nil when it does not.
    package var results: RunResults?
    /// What its log says of it; nil without one.
    package var header: LogHeader?
    /// Why it is an error; nil when it is none.
    package var fault: RunResults.Fault?
    /// The page of the run, from the suite's folder; nil without one.
    package var report: String?

    package init(name: String, scenario: String, seed: UInt64? = nil, took: Instant.Span = .zero) {
        (self.name, self.scenario, self.seed, self.took) = (name, scenario, seed, took)
    }

    package static let blank = SuiteEntry(name: "", scenario: "")

    package mutating func code(with coder: inout RecordCoder) {
        coder.need("name", &name)
        coder.code("scenario", &scenario)
        coder.code("seed", ifKnown: &seed)
        coder.need("outcome", &outcome, \.rawValue, Outcome.init(rawValue:))
        coder.code("exit_code", ifKnown: &exitCode)
        coder.code("took_ms", &took)
        coder.code("report", ifKnown: &report)
        coder.code("fault", object: &fault)
        coder.code("results", object: &results)
    }

    /// What went wrong, a line each with its place in the scenario, and what explains it.
    var failures: [(complaint: String, explanation: String)] {
        let missed = (results?.cases ?? []).filter { $0.failure != nil }.map { each in
            let place = each.place.isEmpty ? "" : "  [\(each.place)]"
            return (complaint: "\(each.name); \(each.failure ?? "")\(place)", explanation: each.details)
        }
        guard let fault else { return missed }
        return [(complaint: fault.complaint, explanation: fault.explanation)] + missed
    }

    /// What went wrong, a line each.
    package var complaints: [String] { failures.map(\.complaint) }
}

/// What became of a suite: `suite.json` in its folder.
package struct SuiteResults: LogLine, Hashable, Sendable {
    /// When it began, in nanoseconds since 1970.
    package var began: Int64
    /// How long it took by the wall clock.
    package var took: Instant.Span
    /// The suite's folder.
    package var folder: String
    /// In the order in which the runs were to be played.
    package var entries: [SuiteEntry]
    package var isInterrupted: Bool

    package init(
        began: Int64,
        took: Instant.Span,
        folder: String,
        entries: [SuiteEntry],
        isInterrupted: Bool = false
    ) {
        (self.began, self.took, self.folder, self.entries) = (began, took, folder, entries)
        self.isInterrupted = isInterrupted
    }

    package static let name = "suite.json"
    package static let schema = "wake.suite/1"
    package static let blank = SuiteResults(began: 0, took: .zero, folder: "", entries: [])

    package mutating func code(with coder: inout RecordCoder) {
        var isGood = isGood
        coder.code("ok", &isGood)
        coder.code("interrupted", &isInterrupted)
        coder.code("began", &began)
        coder.code("took_ms", &took)
        coder.code("folder", &folder)
        coder.code("runs", objects: &entries)
    }

    /// Whether each run was played to its end and met what was expected.
    package var isGood: Bool { !isInterrupted && entries.allSatisfy { $0.outcome == .passed } }

    package func count(_ outcome: SuiteEntry.Outcome) -> Int { entries.count { $0.outcome == outcome } }

    /// Such as `78 runs: 76 passed, 1 failed, 1 error; 21.4 s`.
    package var summary: String {
        let words = SuiteEntry.Outcome.allCases.compactMap { outcome -> String? in
            let count = count(outcome)
            if count == 0 { return nil }
            // Of these the error alone is a noun.
            return outcome == .error ? Plural.text(count, "error") : "\(count) \(SuiteTable.word(outcome))"
        }
        return "\(Plural.text(entries.count, "run")): \(words.joined(separator: ", ")); \(SuiteTable.seconds(took))"
    }

    /// As one JSON object, without a line's end.
    package var json: [UInt8] {
        var line = LineBuffer()
        line.append(line: self)
        return line.bytes
    }
}
