extension Wakebench {
    /// A run that is over: what was decided, and what became of the apps.
    public struct Run: Sendable, CustomStringConvertible {
        /// Every verdict, in the order in which they were given.
        public let decisions: [Decision]
        /// How processes came to their ends, in order.
        public let exits: [Exit]
        /// The expectations of the scenario that were not met; empty in a run that was not asked to allow failure.
        public let failedExpectations: [FailedExpectation]
        /// Why the run ended before its time: a step waited in vain, or an app could not be launched. Nil when it did not.
        public let fault: Fault?
        /// That of `wakebench run`: 0, or with failure allowed 6, 7 or 8.
        public let exitCode: Int32
        /// Where the run's clock stood at the end.
        public let end: Duration
        /// What the bench said on stderr, at most 64 KiB of it.
        public let talk: String
        /// The run folder, for `wakebench why` and `wakebench report`; nil when it was not kept.
        public let folder: String?
        /// The apps of the scenario, in its order.
        public let apps: [AppName]
        let logs: [String: String]

        /// The two names of an app.
        public struct AppName: Hashable, Sendable {
            /// CFBundleIdentifier.
            public let identifier: String
            /// What the scenario calls it.
            public let name: String
        }

        /// How a process came to its end.
        public struct Exit: Hashable, Sendable {
            /// The bundle identifier.
            public let app: String
            /// Since the run began, by its clock.
            public let time: Duration
            /// What ended it.
            public let cause: ExitCause
            /// The exit code, the negative number of a signal, or a watchdog's code such as 0x8badf00d.
            public let code: Int
        }

        /// A line of `expect:` that was not met.
        public struct FailedExpectation: Hashable, Sendable, CustomStringConvertible {
            /// What should have been, such as `heart relaunch characteristic-notified: 1`.
            public let expected: String
            /// What was, such as `found 0`.
            public let found: String
            /// Where it stands, such as `/home/anna/belt/night.yaml:31`; of a text `scenario.yaml:31`.
            public let place: String
            /// The nearest decisions, a line each, and the command that explains them.
            public let details: String

            /// All of it: a line, and those of ``details``.
            public var description: String { "\(place): \(expected); \(found)\n\(details)" }
        }

        /// What ended a run before its time.
        public struct Fault: Hashable, Sendable, CustomStringConvertible {
            /// The word of the exit code, such as `timeout`.
            public let kind: String
            /// One line.
            public let message: String
            /// The message, and the nearest decisions, a line each.
            public let details: String

            /// The most that is known of it.
            public var description: String { details.isEmpty ? message : details }
        }

        /// The decisions about an app, or of a kind; nil for a part that does not matter.
        ///
        /// - Parameters:
        ///   - app: what the scenario calls it, or its bundle identifier.
        ///   - subject: what records call it, such as `belt/2A37`.
        /// - Throws: ``Failure/unknownApp(_:known:)`` when the scenario has no such app: nothing was decided about it, and
        ///   a test that expects nothing would hold for ever.
        public func decisions(
            app: String? = nil,
            kind: EventKind? = nil,
            verdict: Verdict? = nil,
            reason: Reason? = nil,
            subject: String? = nil
        ) throws(Failure) -> [Decision] {
            let identifier = try app.map(identifier)
            return decisions.filter { decision in
                (identifier == nil || decision.app == identifier) && (kind == nil || decision.kind == kind)
                    && (verdict == nil || decision.verdict == verdict)
                    && (reason == nil || decision.reason == reason)
                    && (subject == nil || decision.subject == subject)
            }
        }

        /// How many such decisions there are; see ``decisions(app:kind:verdict:reason:subject:)``.
        public func count(
            app: String? = nil,
            kind: EventKind? = nil,
            verdict: Verdict? = nil,
            reason: Reason? = nil,
            subject: String? = nil
        ) throws(Failure) -> Int {
            try decisions(app: app, kind: kind, verdict: verdict, reason: reason, subject: subject).count
        }

        /// The first of such decisions; see ``decisions(app:kind:verdict:reason:subject:)``.
        public func first(
            app: String? = nil,
            kind: EventKind? = nil,
            verdict: Verdict? = nil,
            reason: Reason? = nil,
            subject: String? = nil
        ) throws(Failure) -> Decision? {
            try decisions(app: app, kind: kind, verdict: verdict, reason: reason, subject: subject).first
        }

        /// What a real app printed, all its processes together: the newest 16 MiB. Empty for a scripted app.
        ///
        /// - Throws: ``Failure/unknownApp(_:known:)``.
        public func log(of app: String) throws(Failure) -> String { logs[try identifier(app)] ?? "" }

        private func identifier(_ app: String) throws(Failure) -> String {
            let found = apps.first { $0.name == app } ?? apps.first { $0.identifier == app }
            guard let found else { throw .unknownApp(app, known: apps.map { "\($0.name) (\($0.identifier))" }) }
            return found.identifier
        }

        /// The decisions, a line each.
        public var description: String { decisions.map(\.description).joined(separator: "\n") }
    }
}
