extension Wakebench {
    /// The verdict about one event and one app, and what it was based on.
    public struct Decision: Hashable, Sendable, CustomStringConvertible {
        /// Such as `d-000412`.
        public let id: String
        /// Since the run began, by its clock.
        public let time: Duration
        /// What happened.
        public let kind: EventKind
        /// What the event is about, such as `belt/2A37`; empty for nothing.
        public let subject: String
        /// The bundle identifier; nil when no app had registered for the event.
        public let app: String?
        /// What the app was given of it.
        public let verdict: Verdict
        /// Why.
        public let reason: Reason
        /// The rule behind the reason, such as `LAUNCH-2`: `wakebench rules LAUNCH-2` says it.
        public let rule: String
        /// Every question that was asked, in the order of the rules.
        public let checks: [Check]
        /// The verdict with the decisive check passed; nil when there is no telling.
        public let wouldHave: Verdict?
        /// What could be done about it.
        public let fix: [String]
        /// The decision that this one ends, such as one that had put the event off; nil for none.
        public let supersedes: String?

        /// One question, and its answer.
        public struct Check: Hashable, Sendable {
            /// Such as `LAUNCH-2`.
            public let rule: String
            /// Such as `app not force-quit by the user`.
            public let name: String
            /// The answer.
            public let result: Result
            /// Whether it decided the verdict: the first that failed.
            public let isDecisive: Bool

            /// What a check may come to.
            public enum Result: String, CaseIterable, Sendable {
                case pass
                case fail
                case notApplicable = "not-applicable"
                case notEvaluated = "not-evaluated"
            }
        }

        /// The check that decided; nil when none failed.
        public var decisive: Check? { checks.first(where: \.isDecisive) }

        /// One line: `T+00:00:22.173 com.example.pulse characteristic-notified belt/2A37: resume, Resumed [LIFE-4]`.
        public var description: String {
            let subject = subject.isEmpty ? "" : " \(subject)"
            let failed = decisive.map { "; not so: \($0.name) [\($0.rule)]" } ?? ""
            return
                "\(LogTime.text(time)) \(app ?? "-") \(kind.rawValue)\(subject): \(verdict.rawValue), \(reason.rawValue) "
                + "[\(rule)]\(failed)"
        }
    }
}
