import WakeModel

/// In what two runs differ that ought to have come to the same, and the likely causes as far as their records tell them.
///
/// Equal runs have, for each app, the same steps in the same order, consecutive repeats counted once, because a real radio repeats
/// itself, and the same values up to the end of the shorter run, which may be at most a tenth shorter.
package struct RunComparison: Sendable {
    /// What one of the runs has at a difference.
    package struct Side: Hashable, Sendable {
        /// The place in the app's sequence, counted from 1.
        package var number: Int
        /// Such as `region-entered home: deny, ForceQuit, LAUNCH-2`, or a value.
        package var text: String
        package var at: Instant
        package var decision: DecisionID
        /// How many neighbours it stands for: 1 for itself.
        package var count = 1
    }

    /// One difference.
    package struct Difference: Hashable, Sendable {
        package enum Kind: String, Sendable {
            /// Both have the event, and another verdict.
            case verdict
            /// Only one has it.
            case missing
            /// Both have it, and in another place.
            case moved
            /// A value of the app is another.
            case value
            /// One run has too few values.
            case count
            /// From here on nothing was aligned.
            case rest
        }

        package var kind: Kind
        /// Nil where the run has nothing there.
        package var left: Side?
        package var right: Side?
        /// How many agree since the difference before, or since the beginning.
        package var before = 0
        /// How many agree until the next difference, or to the end.
        package var after = 0
        /// One line each; empty where the records tell none.
        package var causes: [String] = []
    }

    /// What came of one app.
    package struct App: Sendable {
        /// The bundle identifier; `-` for events that nobody registered for.
        package var app: String
        /// How many steps each run has, and how many of them agree.
        package var steps: (left: Int, right: Int, agree: Int)
        /// The same of values.
        package var values: (left: Int, right: Int, agree: Int)
        /// The furthest apart that agreeing steps are.
        package var shift: Instant.Span
        /// In the order of the steps, then of the values; at most ``RunComparison/limit``.
        package var differences: [Difference]
        /// How many more there are.
        package var leftOff = 0
    }

    /// What the runs are called.
    package let names: (left: String, right: String)
    /// The apps of both, by name.
    package let apps: [App]
    /// What was set differently for the runs, one line each.
    package let settings: [String]
    /// The most differences of an app that are told.
    package static let limit = 20

    /// - Parameters:
    ///   - left: read with or without its checks: those of decisions that differ are looked up in its folder.
    ///   - names: what the runs are called.
    package init(_ left: RunLog, _ right: RunLog, names: (String, String)) {
        self.names = names
        settings = Self.settings(left.header, right.header, names)
        let (lefts, rights) = (AppSequences(left), AppSequences(right))
        var apps = lefts.apps.union(rights.apps).sorted().map { app in
            var comparison = AppComparison(app, (left, lefts), (right, rights), names)
            comparison.compareSteps()
            comparison.compareValues()
            return comparison.result
        }
        Self.explain(&apps, left, right, names)
        self.apps = apps
    }

    /// Where both runs have an event and other verdicts, names the checks that came to something else.
    private static func explain(_ apps: inout [App], _ left: RunLog, _ right: RunLog, _ names: (String, String)) {
        let changed = apps.flatMap(\.differences).filter { $0.kind == .verdict }
        let lefts = DecisionChecks(Set(changed.compactMap(\.left?.decision.number)), of: left)
        let rights = DecisionChecks(Set(changed.compactMap(\.right?.decision.number)), of: right)
        for app in apps.indices {
            for place in apps[app].differences.indices where apps[app].differences[place].kind == .verdict {
                let difference = apps[app].differences[place]
                guard let one = difference.left, let other = difference.right else { continue }
                let lines = DecisionChecks.differences((one.decision, lefts), (other.decision, rights), names)
                apps[app].differences[place].causes = lines + difference.causes
            }
        }
    }

    /// Whether the runs came to the same, as two runs without decisions did, too.
    package var isEqual: Bool { apps.allSatisfy(\.differences.isEmpty) }

    private static func settings(_ left: LogHeader, _ right: LogHeader, _ names: (String, String)) -> [String] {
        var lines: [String] = []
        func tell(_ what: String, _ one: String?, _ other: String?) {
            guard one != other else { return }
            lines.append("\(what): \(names.0) has \(one ?? "none"); \(names.1) has \(other ?? "none")")
        }
        tell("version", left.version, right.version)
        tell("profile", left.profile, right.profile)
        tell("seed", "\(left.seed)", "\(right.seed)")
        for name in Set(left.settings.keys).union(right.settings.keys).sorted() {
            tell(name, left.settings[name], right.settings[name])
        }
        return lines
    }
}
