import WakeModel

/// A decision as ``Why`` explains it, for programs.
package struct DecisionPage: Encodable, Sendable {
    struct Set: Encodable {
        var setting: String
        var value: String
    }

    struct Callback: Encodable {
        var callback: String
        var value: String?
    }

    /// What became of it.
    struct Result: Encodable {
        /// 0 for a scripted app.
        var pid: Int32
        var spawnMs: Double?
        var usedMs: Double?
        var ended: String?
        var exitId: String?
        var acknowledged: Bool
        var delivered: [Callback]
    }

    struct Census: Encodable {
        var apps: Int
        var woke: Int
        var byReason: [String: Int]
    }

    /// Such as `d-000412`; nil for one that was only asked about.
    var decision: String?
    var t: String
    var event: String
    var source: String
    var kind: String
    var subject: String
    /// The bundle identifier; nil when no app had registered.
    var app: String?
    var verdict: String
    var reason: String
    var rule: String
    var confidence: String
    /// What of the rule is assumed.
    var assumed: String?
    /// For people.
    var because: String
    /// Why what was found may not be so, for people; nil where nothing speaks against it.
    var doubt: String?
    /// The rules of which no check failed.
    var passed: [String]
    /// The verdict with the decisive check passed.
    var wouldHave: String?
    var alsoFailing: [String]
    /// What the run sets of these rules.
    var set: [Set]
    /// A debugger exempts the app from limits of time.
    var exempt: Bool
    /// What came with the event, in hexadecimal.
    var value: String?
    var outcome: Result?
    /// The decision that replaced it.
    var supersededBy: String?
    /// The one that it replaces.
    var supersedes: String?
    /// What would make the app wake, for people.
    var advice: [String]
    /// All the apps that saw the event; nil where none had registered.
    var census: Census?

    init(_ decision: DecisionRecord, in why: Why) {
        let entry = RuleCatalogue.entry(decision.rule)
        self.decision = decision.id == .none ? nil : LogTime.text(decision.id)
        (t, event) = (LogTime.text(decision.at), LogTime.text(decision.event))
        (source, kind, subject, app) = (decision.source, decision.kind, decision.subject, decision.app)
        (verdict, reason, rule) = (decision.verdict.word, decision.reason.word, decision.rule.text)
        (confidence, assumed, because) = (entry.confidence.word, entry.assumed, why.because(decision))
        doubt = why.doubt(about: decision)?.row.sentence
        passed = why.passedRules(decision).map(\.text)
        wouldHave = decision.decisive == nil ? nil : decision.wouldHave?.word
        alsoFailing = decision.alsoFailing
        set = why.changes(decision).map { Set(setting: $0.setting, value: $0.value) }
        exempt = decision.isExempt
        value = why.log.value(of: decision)
        outcome = why.log.outcomes[decision.id.number].map(Result.init)
        supersededBy = why.later[decision.id.number].map { LogTime.text($0) }
        supersedes = decision.supersedes == .none ? nil : LogTime.text(decision.supersedes)
        advice = why.advice(decision)
        guard decision.app != nil else { return }
        let reasons = decision.census.byReason.map { ($0.reason, $0.count) }
        census = Census(
            apps: decision.census.apps,
            woke: decision.census.woke,
            byReason: Dictionary(reasons, uniquingKeysWith: +)
        )
    }

    /// Nobody is registered for the event, for that cause.
    mutating func explain(by cause: Why.Cause) {
        let entry = RuleCatalogue.entry(cause.rule)
        (reason, rule, because) = (cause.reason.word, cause.rule.text, cause.because)
        (confidence, assumed, passed) = (entry.confidence.word, entry.assumed, [])
        advice = cause.advice.map { [$0] } ?? []
    }
}

extension DecisionPage.Result {
    init(_ outcome: Outcome) {
        (pid, acknowledged) = (outcome.pid, outcome.acknowledged)
        (spawnMs, usedMs) = (outcome.spawn.map(Self.milliseconds), outcome.used.map(Self.milliseconds))
        ended = outcome.ended?.word
        exitId = outcome.exit == 0 ? nil : "x-\(outcome.exit)"
        delivered = outcome.delivered.map { DecisionPage.Callback(callback: $0.name, value: $0.value) }
    }

    private static func milliseconds(_ span: Instant.Span) -> Double { Double(span.nanoseconds / 1_000) / 1_000 }
}
