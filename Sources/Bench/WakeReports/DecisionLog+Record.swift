import WakeModel

// One record, its fields in the order of the schema.
extension DecisionLog {
    func write(_ decision: Decision, census: Census, into line: inout ShapedRecord) {
        line.append("{\"schema\":\"wake.decision/2\",\"seq\":")
        line.append(decision.id.number)
        line.append(",\"id\":")
        line.append(decision.id)
        line.append(fragments.phone)
        line.append(quoted: decision.at)
        line.append(",\"event\":{\"id\":")
        line.append(decision.event)
        line.append(fragments.kinds[Int(decision.kind.rawValue)])
        line.append(name: name(decision.subject))
        line.append(",\"origin\":")
        line.append(name: name(decision.origin))
        line.append(",\"parent\":")
        line.append(decision.parent)
        line.append("},\"app\":")
        writeMiddle(decision, into: &line)
        writeCensus(census, into: &line)
        line.append(",\"supersedes\":")
        line.append(decision.supersedes)
        line.append("}")
    }

    private func writeMiddle(_ decision: Decision, into line: inout ShapedRecord) {
        let snapshot = decision.snapshot
        writeApp(snapshot, into: &line)
        line.append(",\"interest\":")
        writeInterest(decision, into: &line)
        line.append(",\"budget\":")
        writeBudget(snapshot, into: &line)
        line.append(fragments.verdicts[Int(decision.verdict.rawValue)])
        line.append(fragments.reasons[Int(decision.reason.rawValue)])
        line.append(fragments.rules[Int(decision.rule.rawValue)])
        line.append(",\"checks\":[")
        writeChecks(decision, into: &line)
        line.append("],\"would_have\":")
        writeWouldHave(decision, into: &line)
        line.append(",\"fix\":")
        line.append(fragments.fix(decision.reason, of: decision.kind))
        line.append(",\"census\":")
    }

    private func writeApp(_ snapshot: AppSnapshot, into line: inout ShapedRecord) {
        guard snapshot.bundle != .none else { return line.append("null") }
        line.append("{\"bundle\":")
        line.append(name: name(snapshot.bundle))
        line.append(",\"state_before\":\"")
        line.append(raw: snapshot.state.word(hasExited: snapshot.lastExit != 0))
        line.append("\",\"since\":")
        line.append(quoted: snapshot.stateSince)
        line.append(",\"last_exit\":")
        if snapshot.lastExit == 0 {
            line.append("null")
        } else {
            line.append("{\"cause\":")
            line.append(fragments.exitCauses[Int(snapshot.lastExitCause.rawValue)])
            line.append(",\"id\":")
            line.append(exit: snapshot.lastExit)
            line.append(",\"t\":")
            line.append(quoted: snapshot.lastExitAt)
            line.append("}")
        }
        line.append(",\"generation\":")
        line.append(UInt64(snapshot.generation))
        // Only then: no other debugger makes a difference (SYS-5).
        if snapshot.debugger == .exempting { line.append(",\"debugger\":\"exempting\"") }
        line.append("}")
    }

    /// How the app was interested; null where the event is for no app by itself, though apps may have to do with it.
    private func writeInterest(_ decision: Decision, into line: inout ShapedRecord) {
        let snapshot = decision.snapshot
        if decision.app == .none, decision.reason != .noRegistration { return line.append("null") }
        guard snapshot.via != .none else { return line.append("{\"registered\":false}") }
        line.append("{\"registered\":true,\"via\":")
        line.append(fragments.registrations[Int(snapshot.via.rawValue)])
        line.append(",\"restore_id\":")
        writeNameOrNull(snapshot.restoreIdentifier, into: &line)
        line.append(",\"registered_at\":")
        line.append(quoted: snapshot.registeredAt)
        line.append("}")
    }

    /// The time of the wake; null in the foreground, and where there is no app to wake.
    private func writeBudget(_ snapshot: AppSnapshot, into line: inout ShapedRecord) {
        guard snapshot.budgetLimit > .zero else { return line.append("null") }
        line.append("{\"limit_ms\":")
        line.append(snapshot.budgetLimit.milliseconds)
        line.append(",\"used_ms\":")
        line.append(snapshot.budgetUsed.milliseconds)
        line.append(",\"left_ms\":")
        line.append(max(.zero, snapshot.budgetLimit - snapshot.budgetUsed).milliseconds)
        line.append("}")
    }

    private func writeWouldHave(_ decision: Decision, into line: inout ShapedRecord) {
        guard let wouldHave = decision.wouldHave else { return line.append("null") }
        line.append("{")
        line.append(fragments.wouldHave[Int(wouldHave.rawValue)])
        writeAlsoFailing(decision.checks, into: &line)
        line.append("}")
    }

    func writeNameOrNull(_ id: NameID, into line: inout ShapedRecord) {
        if id == .none { line.append("null") } else { line.append(name: name(id)) }
    }

    private func writeAlsoFailing(_ checks: CheckResults, into line: inout ShapedRecord) {
        let decisive = checks.decisive
        line.append(",\"also_failing\":[")
        var first = true
        if checks.failing.nonzeroBitCount > 1 {
            for check in Self.allChecks where checks[check] == .fail && check != decisive {
                line.append(first ? "\"" as StaticString : ",\"")
                first = false
                line.append(raw: check.rule.text)
                line.append("\"")
            }
        }
        line.append("]")
    }

    /// How many apps saw the event, how many got it, and why the others did not.
    struct Census {
        var apps: UInt64 = 0
        var woke: UInt64 = 0
        /// Of those that were not woken, by reason; empty when there is one decision, whose reason is `only`.
        var counts: [UInt64] = []
        var only: Reason?

        init(_ decisions: ArraySlice<Decision>) {
            if decisions.count > 1 { counts = [UInt64](repeating: 0, count: Reason.allCases.count) }
            for decision in decisions {
                if decision.app != .none { apps += 1 }
                if decision.verdict == .resume || decision.verdict == .relaunch {
                    woke += 1
                } else if decisions.count == 1 {
                    only = decision.reason
                } else {
                    counts[Int(decision.reason.rawValue)] += 1
                }
            }
        }
    }

    private func writeCensus(_ census: Census, into line: inout ShapedRecord) {
        line.append("{\"apps\":")
        line.append(census.apps)
        line.append(",\"woke\":")
        line.append(census.woke)
        line.append(",\"by_reason\":{")
        if let only = census.only {
            line.append(fragments.reasonKeys[Int(only.rawValue)])
            line.append(1 as UInt64)
        }
        var first = true
        for reason in DecisionFragments.reasonsByWord where !census.counts.isEmpty {
            let count = census.counts[Int(reason.rawValue)]
            if count == 0 { continue }
            if !first { line.append(",") }
            first = false
            line.append(fragments.reasonKeys[Int(reason.rawValue)])
            line.append(count)
        }
        line.append("}}")
    }

    private func name(_ id: NameID) -> [UInt8] {
        let number = Int(id.number)
        while quotedNames.count <= number { quotedNames.append([]) }
        if quotedNames[number].isEmpty {
            var quoted = LineBuffer()
            quoted.append(quoted: id == .none ? "" : names(id))
            quotedNames[number] = quoted.bytes
        }
        return quotedNames[number]
    }
}
