import WakeModel

/// What a record shows of what a check looked at.
struct Observer: Sendable {
    typealias Writing = @Sendable (DecisionLog, Observed, inout ShapedRecord) -> Void

    /// The figures of the run's profile, which are the same in all records.
    var figures: @Sendable (Profile, inout LineBuffer) -> Void = { _, _ in }
    /// What has set the check aside; nil where nothing has.
    var lifted: @Sendable (AppSnapshot) -> String? = { _ in nil }
    /// Whether what was seen is shown then, too.
    var isShownLifted = false
    /// Writes what was seen, since when it was so, and what set it.
    let write: Writing

    /// A yes or no is all that there was to see. What a check saw is always a text, so that tables have one type for it; figures stand
    /// beside it, each under a name of its own.
    static func flag(_ value: @escaping @Sendable (Observed) -> Bool) -> Observer {
        Observer { $0.observe(value($1), into: &$2) }
    }

    static func word(_ word: @escaping @Sendable (Observed) -> String) -> Observer {
        Observer { $0.observe(word: word($1), into: &$2) }
    }

    /// In the order of ``Check``: each by the word that checks.tsv has for it.
    static let byCheck = Check.allCases.map { check in
        guard let observer = all[check.row.observed] else {
            let error = TableError("checks.tsv", line: check.row.line, "there is no \(check.row.observed) to observe")
            preconditionFailure("\(error)")
        }
        return observer
    }

    /// Those that are of no area.
    static let common: [String: Observer] = [
        "answer": .flag { $0.result == .pass },
        "exits-on-suspend": .flag { $0.snapshot.exitsOnSuspend },
        "registration": Observer { log, seen, line in
            line.append(",\"observed\":")
            line.append(log.fragments.registrations[Int(seen.snapshot.via.rawValue)])
        },
        "kind": .word { $0.decision.kind.word },
        "state": Observer { log, seen, line in
            log.observe(word: seen.snapshot.state.word(hasExited: seen.snapshot.lastExit != 0), into: &line)
            line.append(",\"since\":")
            line.append(quoted: seen.snapshot.stateSince)
        },
        "modes": Observer { log, seen, line in
            line.append(",\"observed\":")
            line.append(log.fragments.modes(seen.snapshot.modes))
        },
        "restore-identifier": Observer { log, seen, line in
            line.append(",\"observed\":")
            log.writeNameOrNull(seen.snapshot.restoreIdentifier, into: &line)
        },
        "sdk": Observer { log, seen, line in
            log.observe(seen.result == .pass, into: &line)
            line.append(",\"sdk\":")
            if seen.snapshot.sdk == .unknown { return line.append("null") }
            line.append("\"")
            line.append(raw: seen.snapshot.sdk.text)
            line.append("\"")
        },
        "force-quit": Observer(
            lifted: { snapshot in
                guard snapshot.forceQuitLifted else { return nil }
                if snapshot.via == .pushKit { return RuleID.push6.text }
                if snapshot.via == .processingTask { return RuleID.bgt15.text }
                return (snapshot.accessorySetUp ? RuleID.btc8 : .launch3).text
            },
            isShownLifted: true,
            write: { $0.writeForceQuit($1.snapshot, into: &$2) }
        ),
        "first-unlock": Observer(
            lifted: { $0.firstUnlockLifted ? $0.via.ruleBeforeFirstUnlock.text : nil },
            isShownLifted: true,
            write: { $0.writeFirstUnlock($1.snapshot, into: &$2) }
        ),
    ]
}

/// What one check of a decision saw.
struct Observed {
    let decision: Decision
    let result: CheckResult
    /// Those of the observer.
    let figures: Fragment

    var snapshot: AppSnapshot { decision.snapshot }
}

// The checks of a record, and what each looked at.
extension DecisionLog {
    func writeChecks(_ decision: Decision, into line: inout ShapedRecord) {
        let decisive = decision.checks.decisive
        var first = true
        for check in Self.allChecks {
            let result = decision.checks[check]
            if result == .notEvaluated { continue }
            if !first { line.append(",") }
            first = false
            line.append(fragments.check(check, result, decisive: check == decisive))
            let place = Int(check.rawValue)
            let (observer, figures) = (Observer.byCheck[place], fragments.figures[place])
            let seen = Observed(decision: decision, result: result, figures: figures)
            if result == .pass || result == .fail {
                observer.write(self, seen, &line)
            } else if let lifted = observer.lifted(decision.snapshot) {
                line.append(",\"lifted_by\":\"")
                line.append(raw: lifted)
                line.append("\"")
                if observer.isShownLifted { observer.write(self, seen, &line) }
            }
            line.append("}")
        }
    }

    func observe(_ value: Bool, into line: inout ShapedRecord) {
        line.append(value ? ",\"observed\":\"true\"" as StaticString : ",\"observed\":\"false\"")
    }

    func observe(count: UInt64, into line: inout ShapedRecord) {
        line.append(",\"observed\":")
        line.append(quoted: count)
    }

    func observe(word: String, into line: inout ShapedRecord) {
        line.append(",\"observed\":\"")
        line.append(raw: word)
        line.append("\"")
    }

    fileprivate func writeForceQuit(_ snapshot: AppSnapshot, into line: inout ShapedRecord) {
        observe(snapshot.forceQuit, into: &line)
        guard snapshot.forceQuit else { return }
        line.append(",\"since\":")
        line.append(quoted: snapshot.forceQuitAt)
        line.append(",\"set_by\":")
        line.append(snapshot.forceQuitBy)
        line.append(fragments.forceQuitClearedBy)
    }

    fileprivate func writeFirstUnlock(_ snapshot: AppSnapshot, into line: inout ShapedRecord) {
        observe(snapshot.unlockedSinceBoot, into: &line)
        if snapshot.unlockedSinceBoot {
            line.append(",\"since\":")
            line.append(quoted: snapshot.unlockedAt)
        }
        line.append(",\"passcode\":")
        line.append(snapshot.passcode)
    }
}
