import WakeModel
import WakeRouter

/// What the first line of a log says of its run.
package struct LogHeader: Hashable, Sendable {
    /// The version of the program.
    package var version: String
    /// The name of the emulated phone.
    package var phone: String
    package var seed: UInt64
    package var profile: String
    /// What two runs with this header have in common: `router` when their decisions are byte-identical.
    package var determinism: String
    /// What was set for the run, such as backends; written in the order of the keys.
    package var settings: [String: String]

    package init(
        version: String,
        phone: String,
        seed: UInt64,
        profile: String,
        determinism: String,
        settings: [String: String] = [:]
    ) {
        self.version = version
        self.phone = phone
        self.seed = seed
        self.profile = profile
        self.determinism = determinism
        self.settings = settings
    }

    func write(into line: inout LineBuffer) {
        line.append("{\"schema\":\"wake.log/1\",\"version\":")
        line.append(quoted: version)
        line.append(",\"phone\":")
        line.append(quoted: phone)
        line.append(",\"seed\":")
        line.append(seed)
        line.append(",\"profile\":")
        line.append(quoted: profile)
        line.append(",\"determinism\":")
        line.append(quoted: determinism)
        line.append(",\"settings\":{")
        for (position, setting) in settings.sorted(by: { $0.key < $1.key }).enumerated() {
            if position > 0 { line.append(",") }
            line.append(quoted: setting.key)
            line.append(":")
            line.append(quoted: setting.value)
        }
        line.append("}}")
    }
}

/// Writes decisions as `wake.decision/1` lines: virtual time and the router's facts only, in a fixed order, so that two
/// runs with the same header are the same bytes.
package final class DecisionLog {
    private let file: LogFile
    private let names: (NameID) -> String
    private let fragments: DecisionFragments
    /// Names as quoted JSON, by number.
    private var quotedNames: [[UInt8]] = []

    /// Makes the file at `path`. `names` gives the text of a name.
    package convenience init(
        creating path: String,
        header: LogHeader,
        names: @escaping (NameID) -> String
    ) throws(ReportError) {
        try self.init(file: LogFile(creating: path), header: header, names: names)
        header.write(into: &file.line)
        try file.endLine()
    }

    /// Keeps the lines in memory: see ``contents``.
    package convenience init(header: LogHeader, names: @escaping (NameID) -> String) {
        self.init(file: LogFile(), header: header, names: names)
        header.write(into: &file.line)
        file.line.append(byte: 0x0a)
    }

    /// Goes on with the file of a run that broke off. A last line without an end is removed.
    ///
    /// - Returns: with the log, the last decision that the file holds: those after it come from the journal.
    package static func continuing(
        _ path: String,
        header: LogHeader,
        names: @escaping (NameID) -> String
    ) throws(ReportError) -> (log: DecisionLog, last: DecisionID) {
        var length = 0
        var last = DecisionID.none
        do {
            var lines = try LineReader(path)
            while let line = try lines.next() {
                length = lines.offset
                if let id = JSONValue(parsing: line)?["id"]?.string.flatMap(LogTime.number) { last = DecisionID(id) }
            }
        } catch  where error.kind == .missing {
            return (try DecisionLog(creating: path, header: header, names: names), .none)
        }
        if length == 0 { return (try DecisionLog(creating: path, header: header, names: names), .none) }
        let file = try LogFile(continuing: path, after: length)
        return (DecisionLog(file: file, header: header, names: names), last)
    }

    private init(file: LogFile, header: LogHeader, names: @escaping (NameID) -> String) {
        self.file = file
        self.names = names
        fragments = DecisionFragments(phone: header.phone)
    }

    /// The lines that have not been written: all of them when the log is in memory.
    package var contents: String { file.line.text }

    /// Appends the decisions of one turn, in order. Decisions of one event that follow each other share a census.
    package func append(batch: [Decision]) throws(ReportError) {
        var start = 0
        while start < batch.count {
            var end = start + 1
            while end < batch.count, batch[end].event == batch[start].event { end += 1 }
            let census = census(of: batch[start..<end])
            for position in start..<end {
                write(batch[position], census: census)
                try file.endLine()
            }
            start = end
        }
    }

    /// From now on only what stands before the latest ``settle()`` reaches the file.
    package func hold() { file.hold() }

    /// What was appended so far has happened for good.
    package func settle() throws(ReportError) { try file.settle() }

    /// Writes what has come together to the file.
    package func flush() throws(ReportError) {
        try file.flush()
    }

    // MARK: One line

    private func write(_ decision: Decision, census: [UInt8]) {
        let snapshot = decision.snapshot
        file.line.append("{\"schema\":\"wake.decision/1\",\"seq\":")
        file.line.append(decision.id.number)
        file.line.append(",\"id\":")
        file.line.append(decision.id)
        file.line.append(fragments.phone)
        file.line.append(quoted: decision.at)
        file.line.append(",\"event\":{\"id\":")
        file.line.append(decision.event)
        file.line.append(fragments.kinds[Int(decision.kind.rawValue)])
        file.line.append(name(decision.subject))
        file.line.append(",\"origin\":")
        file.line.append(name(decision.origin))
        file.line.append(",\"parent\":")
        file.line.append(decision.parent)
        file.line.append("},\"app\":")
        writeApp(snapshot)
        file.line.append(",\"interest\":")
        writeInterest(snapshot, registered: decision.app != .none)
        file.line.append(fragments.verdicts[Int(decision.verdict.rawValue)])
        file.line.append(fragments.reasons[Int(decision.reason.rawValue)])
        file.line.append(fragments.rules[Int(decision.rule.rawValue)])
        file.line.append(",\"checks\":[")
        writeChecks(decision)
        file.line.append("],\"would_have\":{")
        file.line.append(fragments.wouldHave[Int(decision.wouldHave.rawValue)])
        writeAlsoFailing(decision.checks)
        file.line.append("},\"fix\":")
        file.line.append(fragments.fix(decision.reason, of: decision.kind.source))
        file.line.append(",\"census\":")
        file.line.append(census)
        file.line.append(",\"supersedes\":")
        file.line.append(decision.supersedes)
        file.line.append("}")
    }

    private func writeApp(_ snapshot: AppSnapshot) {
        guard snapshot.bundle != .none else { return file.line.append("null") }
        file.line.append("{\"bundle\":")
        file.line.append(name(snapshot.bundle))
        file.line.append(",\"state_before\":\"")
        file.line.append(raw: snapshot.state.word(hasExited: snapshot.lastExit != 0))
        file.line.append("\",\"since\":")
        file.line.append(quoted: snapshot.stateSince)
        file.line.append(",\"last_exit\":")
        if snapshot.lastExit == 0 {
            file.line.append("null")
        } else {
            file.line.append("{\"cause\":\"")
            file.line.append(raw: snapshot.lastExitCause.word)
            file.line.append("\",\"id\":\"x-")
            file.line.append(snapshot.lastExit)
            file.line.append("\",\"t\":")
            file.line.append(quoted: snapshot.lastExitAt)
            file.line.append("}")
        }
        file.line.append(",\"generation\":")
        file.line.append(UInt64(snapshot.generation))
        file.line.append("}")
    }

    private func writeInterest(_ snapshot: AppSnapshot, registered: Bool) {
        guard registered else { return file.line.append("{\"registered\":false}") }
        file.line.append("{\"registered\":true,\"via\":\"")
        file.line.append(raw: snapshot.via.word)
        file.line.append("\",\"restore_id\":")
        writeNameOrNull(snapshot.restoreIdentifier)
        file.line.append(",\"registered_at\":")
        file.line.append(quoted: snapshot.registeredAt)
        file.line.append("}")
    }

    private func writeNameOrNull(_ id: NameID) {
        if id == .none { file.line.append("null") } else { file.line.append(name(id)) }
    }

    private func writeChecks(_ decision: Decision) {
        let decisive = decision.checks.decisive
        var first = true
        for check in Check.allCases {
            let result = decision.checks[check]
            if result == .notEvaluated { continue }
            if !first { file.line.append(",") }
            first = false
            file.line.append(fragments.check(check, result, decisive: check == decisive))
            if result == .pass || result == .fail { writeObserved(check, decision.snapshot) }
            file.line.append("}")
        }
    }

    /// What the check looked at, since when it was so, and what set it.
    private func writeObserved(_ check: Check, _ snapshot: AppSnapshot) {
        switch check {
        case .terminatedBySystem:
            file.line.append(",\"observed\":\"")
            file.line.append(raw: snapshot.state.word(hasExited: snapshot.lastExit != 0))
            file.line.append("\",\"since\":")
            file.line.append(quoted: snapshot.stateSince)
        case .notForceQuit:
            file.line.append(",\"observed\":")
            file.line.append(snapshot.forceQuit)
            if snapshot.forceQuit {
                file.line.append(",\"since\":")
                file.line.append(quoted: snapshot.forceQuitAt)
                file.line.append(",\"set_by\":")
                file.line.append(snapshot.forceQuitBy)
                file.line.append(",\"cleared_by\":[\"user launch\",\"reboot\"]")
            }
        case .unlockedSinceBoot:
            file.line.append(",\"observed\":")
            file.line.append(snapshot.unlockedSinceBoot)
            if snapshot.unlockedSinceBoot {
                file.line.append(",\"since\":")
                file.line.append(quoted: snapshot.unlockedAt)
            }
            file.line.append(",\"passcode\":")
            file.line.append(snapshot.passcode)
        case .registered:
            file.line.append(",\"observed\":\"")
            file.line.append(raw: snapshot.via.word)
            file.line.append("\"")
        case .modePresent:
            file.line.append(",\"observed\":")
            file.line.append(fragments.modes(snapshot.modes))
        case .authorized:
            file.line.append(",\"observed\":\"")
            file.line.append(raw: snapshot.locationAuthorization.word)
            file.line.append("\"")
        case .budgetLeft, .locationBudgetLeft:
            let left = max(.zero, snapshot.budgetLimit - snapshot.budgetUsed)
            file.line.append(",\"observed\":{\"limit_ms\":")
            file.line.append(snapshot.budgetLimit.milliseconds)
            file.line.append(",\"used_ms\":")
            file.line.append(snapshot.budgetUsed.milliseconds)
            file.line.append(",\"left_ms\":")
            file.line.append(left.milliseconds)
            file.line.append("}")
        case .restoreIdentifier:
            file.line.append(",\"observed\":")
            writeNameOrNull(snapshot.restoreIdentifier)
        case .exitAllowsRelaunch:
            file.line.append(",\"observed\":")
            if snapshot.lastExit == 0 {
                file.line.append("null")
            } else {
                file.line.append("\"")
                file.line.append(raw: snapshot.lastExitCause.word)
                file.line.append("\"")
            }
        case .bluetoothOn:
            file.line.append(",\"observed\":")
            file.line.append(snapshot.bluetoothOn)
        case .runsInBackground:
            file.line.append(",\"observed\":")
            file.line.append(snapshot.exitsOnSuspend)
        case .peripheralPreserved, .locationLiftsForceQuit, .asksToBeWoken, .updatesInBackground, .updatesReachProcess,
            .beyondDistanceFilter, .notPaused, .sideWanted, .rangesWhileRunning, .crossesBoundary, .dwellOver,
            .beaconIsNew:
            file.line.append(",\"observed\":")
            writeNameOrNull(snapshot.restoreIdentifier)
        case .bluetoothAuthorized:
            file.line.append(",\"observed\":")
            file.line.append(snapshot.bluetoothAllowed)
        case .requestOfCentral, .scanNamesServices, .notDuplicate, .deliveryWanted:
            break
        }
    }

    private func writeAlsoFailing(_ checks: CheckResults) {
        let decisive = checks.decisive
        file.line.append(",\"also_failing\":[")
        var first = true
        if checks.failingMask.nonzeroBitCount > 1 {
            for check in Check.allCases where checks[check] == .fail && check != decisive {
                file.line.append(first ? "\"" as StaticString : ",\"")
                first = false
                file.line.append(raw: check.rule.text)
                file.line.append("\"")
            }
        }
        file.line.append("]")
    }

    /// How many apps saw the event, how many got it, and why the others did not.
    private func census(of decisions: ArraySlice<Decision>) -> [UInt8] {
        if decisions.count == 1, let only = decisions.first {
            if only.verdict.delivers { return fragments.censusOfOneWoken }
            return only.app == .none
                ? fragments.censusOfNobody : fragments.censusOfOne[Int(only.reason.rawValue)]
        }
        var counts = [UInt64](repeating: 0, count: Reason.allCases.count)
        var apps: UInt64 = 0
        var woke: UInt64 = 0
        for decision in decisions {
            if decision.app != .none { apps += 1 }
            if decision.verdict.delivers { woke += 1 } else { counts[Int(decision.reason.rawValue)] += 1 }
        }
        return DecisionFragments.census(apps: apps, woke: woke, counts: counts)
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
