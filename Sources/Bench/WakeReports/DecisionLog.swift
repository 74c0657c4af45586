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
    private let profile: Profile
    private let fragments: DecisionFragments
    /// Names as quoted JSON, by number.
    private var quotedNames: [[UInt8]] = []
    /// The latest decisions, by app: an app that is told the same again has the same middle of the line.
    private var middles = [Middle](repeating: Middle(), count: DecisionLog.middlesLimit)
    private static let middlesLimit = 256
    private static let allChecks = Check.allCases

    /// Makes the file at `path`. `profile` is what the router decides by, and `names` gives the text of a name.
    package convenience init(
        creating path: String,
        header: LogHeader,
        profile: Profile,
        names: @escaping (NameID) -> String
    ) throws(ReportError) {
        try self.init(file: LogFile(creating: path), header: header, profile: profile, names: names)
        header.write(into: &file.line)
        try file.endLine()
    }

    /// Keeps the lines in memory: see ``contents``.
    package convenience init(header: LogHeader, profile: Profile, names: @escaping (NameID) -> String) {
        self.init(file: LogFile(), header: header, profile: profile, names: names)
        header.write(into: &file.line)
        file.line.append(byte: 0x0a)
    }

    /// Goes on with the file of a run that broke off. A last line without an end is removed.
    ///
    /// - Returns: with the log, the last decision that the file holds: those after it come from the journal.
    package static func continuing(
        _ path: String,
        header: LogHeader,
        profile: Profile,
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
            return (try DecisionLog(creating: path, header: header, profile: profile, names: names), .none)
        }
        if length == 0 {
            return (try DecisionLog(creating: path, header: header, profile: profile, names: names), .none)
        }
        let file = try LogFile(continuing: path, after: length)
        return (DecisionLog(file: file, header: header, profile: profile, names: names), last)
    }

    private init(file: LogFile, header: LogHeader, profile: Profile, names: @escaping (NameID) -> String) {
        self.file = file
        self.names = names
        self.profile = profile
        fragments = DecisionFragments(phone: header.phone, profile: profile)
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
                write(batch[position], census: census, into: &file.line)
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

    /// What a line says of the app and of the checks, and the decision that it was written for.
    private struct Middle {
        var decision: Decision?
        var text: [UInt8] = []

        /// Whether the decision differs from this one's in nothing that the middle of its line tells.
        func fits(_ other: Decision) -> Bool {
            guard let decision else { return false }
            return decision.checks.bits == other.checks.bits && decision.app == other.app
                && decision.kind.rawValue == other.kind.rawValue && decision.verdict.rawValue == other.verdict.rawValue
                && decision.reason.rawValue == other.reason.rawValue && decision.rule.rawValue == other.rule.rawValue
                && decision.wouldHave == other.wouldHave && decision.snapshot == other.snapshot
        }
    }

    private func write(_ decision: Decision, census: [UInt8], into line: inout LineBuffer) {
        line.append("{\"schema\":\"wake.decision/1\",\"seq\":")
        line.append(decision.id.number)
        line.append(",\"id\":")
        line.append(decision.id)
        line.append(fragments.phone)
        line.append(quoted: decision.at)
        line.append(",\"event\":{\"id\":")
        line.append(decision.event)
        line.append(fragments.kinds[Int(decision.kind.rawValue)])
        line.append(name(decision.subject))
        line.append(",\"origin\":")
        line.append(name(decision.origin))
        line.append(",\"parent\":")
        line.append(decision.parent)
        line.append("},\"app\":")
        let slot = Int(decision.app.number) % Self.middlesLimit
        if middles[slot].fits(decision) {
            line.append(middles[slot].text)
        } else if decision.kind.source == .location {
            // Some of its checks tell the instant.
            writeMiddle(decision, into: &line)
        } else {
            let start = line.count
            writeMiddle(decision, into: &line)
            middles[slot].decision = decision
            middles[slot].text.removeAll(keepingCapacity: true)
            middles[slot].text.append(contentsOf: line.bytes[start...])
        }
        line.append(census)
        line.append(",\"supersedes\":")
        line.append(decision.supersedes)
        line.append("}")
    }

    private func writeMiddle(_ decision: Decision, into line: inout LineBuffer) {
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

    private func writeApp(_ snapshot: AppSnapshot, into line: inout LineBuffer) {
        guard snapshot.bundle != .none else { return line.append("null") }
        line.append("{\"bundle\":")
        line.append(name(snapshot.bundle))
        line.append(",\"state_before\":\"")
        line.append(raw: snapshot.state.word(hasExited: snapshot.lastExit != 0))
        line.append("\",\"since\":")
        line.append(quoted: snapshot.stateSince)
        line.append(",\"last_exit\":")
        if snapshot.lastExit == 0 {
            line.append("null")
        } else {
            line.append("{\"cause\":\"")
            line.append(raw: snapshot.lastExitCause.word)
            line.append("\",\"id\":\"x-")
            line.append(snapshot.lastExit)
            line.append("\",\"t\":")
            line.append(quoted: snapshot.lastExitAt)
            line.append("}")
        }
        line.append(",\"generation\":")
        line.append(UInt64(snapshot.generation))
        line.append("}")
    }

    /// How the app was interested; null where the event is for no app by itself, though apps may have to do with it.
    private func writeInterest(_ decision: Decision, into line: inout LineBuffer) {
        let snapshot = decision.snapshot
        if decision.app == .none, decision.reason != .noRegistration { return line.append("null") }
        guard snapshot.via != .none else { return line.append("{\"registered\":false}") }
        line.append("{\"registered\":true,\"via\":\"")
        line.append(raw: snapshot.via.word)
        line.append("\",\"restore_id\":")
        writeNameOrNull(snapshot.restoreIdentifier, into: &line)
        line.append(",\"registered_at\":")
        line.append(quoted: snapshot.registeredAt)
        line.append("}")
    }

    /// The time of the wake; null in the foreground, and where there is no app to wake.
    private func writeBudget(_ snapshot: AppSnapshot, into line: inout LineBuffer) {
        guard snapshot.budgetLimit > .zero else { return line.append("null") }
        line.append("{\"limit_ms\":")
        line.append(snapshot.budgetLimit.milliseconds)
        line.append(",\"used_ms\":")
        line.append(snapshot.budgetUsed.milliseconds)
        line.append(",\"left_ms\":")
        line.append(max(.zero, snapshot.budgetLimit - snapshot.budgetUsed).milliseconds)
        line.append("}")
    }

    private func writeWouldHave(_ decision: Decision, into line: inout LineBuffer) {
        guard let wouldHave = decision.wouldHave else { return line.append("null") }
        line.append("{")
        line.append(fragments.wouldHave[Int(wouldHave.rawValue)])
        writeAlsoFailing(decision.checks, into: &line)
        line.append("}")
    }

    private func writeNameOrNull(_ id: NameID, into line: inout LineBuffer) {
        if id == .none { line.append("null") } else { line.append(name(id)) }
    }

    private func writeChecks(_ decision: Decision, into line: inout LineBuffer) {
        let decisive = decision.checks.decisive
        var first = true
        for check in Self.allChecks {
            let result = decision.checks[check]
            if result == .notEvaluated { continue }
            if !first { line.append(",") }
            first = false
            line.append(fragments.check(check, result, decisive: check == decisive))
            if result == .pass || result == .fail {
                writeObserved(check, result, decision, into: &line)
            } else if check == .notForceQuit, decision.snapshot.forceQuitLifted {
                line.append(",\"lifted_by\":\"LAUNCH-3\"")
                writeForceQuit(decision.snapshot, into: &line)
            } else if check == .voipWakesLeft, decision.snapshot.voipWakeLimitLifted {
                line.append(",\"lifted_by\":\"voip.wakeLimit: off\"")
            }
            line.append("}")
        }
    }

    /// What the check looked at, since when it was so, and what set it.
    private func writeObserved(
        _ check: Check,
        _ result: CheckResult,
        _ decision: Decision,
        into line: inout LineBuffer
    ) {
        let snapshot = decision.snapshot
        switch check {
        case .updatesReachProcess, .rangesWhileRunning, .accessoryReachesProcess, .relaunchedBySound:
            line.append(",\"observed\":\"")
            line.append(raw: snapshot.state.word(hasExited: snapshot.lastExit != 0))
            line.append("\",\"since\":")
            line.append(quoted: snapshot.stateSince)
        case .notForceQuit:
            writeForceQuit(snapshot, into: &line)
        case .unlockedSinceBoot:
            line.append(",\"observed\":")
            line.append(snapshot.unlockedSinceBoot)
            if snapshot.unlockedSinceBoot {
                line.append(",\"since\":")
                line.append(quoted: snapshot.unlockedAt)
            }
            line.append(",\"passcode\":")
            line.append(snapshot.passcode)
        case .asksToBeWoken:
            line.append(",\"observed\":\"")
            line.append(raw: snapshot.via.word)
            line.append("\"")
        case .voipWakesLeft:
            line.append(",\"observed\":{\"wakes\":")
            line.append(UInt64(snapshot.voipWakes))
            line.append(fragments.voipWakeLimit)
        case .modePresent, .voipModePresent, .accessoryModePresent, .soundModePresent:
            line.append(",\"observed\":")
            line.append(fragments.modes(snapshot.modes))
        case .authorized:
            line.append(",\"observed\":\"")
            line.append(raw: snapshot.locationAuthorization.word)
            line.append("\"")
            guard snapshot.locationAuthorization == .whenInUse else { break }
            line.append(",\"in_use\":")
            line.append(snapshot.state == .active || snapshot.state == .inactive)
            guard snapshot.via == .standardUpdates else { break }
            line.append(",\"began_in_foreground\":")
            line.append(snapshot.beganInForeground)
        case .restoreIdentifier:
            line.append(",\"observed\":")
            writeNameOrNull(snapshot.restoreIdentifier, into: &line)
        case .exitAllowsRelaunch:
            line.append(",\"observed\":{\"restarted_since\":")
            line.append(snapshot.rebootedSince)
            line.append("}")
        case .bluetoothOn:
            line.append(",\"observed\":")
            line.append(snapshot.bluetoothOn)
        case .runsInBackground:
            line.append(",\"observed\":")
            line.append(snapshot.exitsOnSuspend)
        case .peripheralPreserved:
            line.append(",\"observed\":")
            writeNameOrNull(snapshot.restoreIdentifier, into: &line)
        case .bluetoothAuthorized:
            line.append(",\"observed\":")
            line.append(snapshot.bluetoothAllowed)
        case .beyondDistanceFilter:
            line.append(",\"observed\":{\"filter_m\":")
            line.append(metres: Sphere.metres(chord: snapshot.filterChord))
            line.append(",\"moved_m\":")
            if snapshot.movedSquare.isFinite {
                line.append(metres: Sphere.metres(chord: snapshot.movedSquare.squareRoot()))
            } else {
                line.append("null")
            }
            line.append("}")
        case .updatesInBackground, .sideWanted, .crossesBoundary, .beaconIsNew, .protocolListed, .notificationsAsked,
            .socketsWatched, .noCall, .categoryAllows, .interruptsNobody, .notDuplicate, .deliveryWanted,
            .anyoneRegistered, .roomInQueues, .lastsUntilDecided:
            // A yes or no is all that there was to see.
            line.append(",\"observed\":")
            line.append(result == .pass)
        case .audible:
            line.append(",\"observed\":")
            line.append(result == .pass)
            line.append(fragments.silenceLimit)
        case .scanNamesServices:
            line.append(",\"observed\":")
            line.append(UInt64(snapshot.scanServices))
        case .requestOfCentral:
            line.append(",\"observed\":\"")
            line.append(raw: decision.kind.word)
            line.append("\"")
        case .notPaused:
            line.append(",\"observed\":")
            line.append(result == .fail)
        case .dwellOver:
            line.append(",\"observed\":")
            line.append(result == .pass)
            if decision.checks[.crossesBoundary] == .pass {
                // The fix that is decided on began the dwell.
                line.append(",\"since\":")
                line.append(quoted: decision.at)
            }
            line.append(fragments.dwell)
        }
    }

    private func writeForceQuit(_ snapshot: AppSnapshot, into line: inout LineBuffer) {
        line.append(",\"observed\":")
        line.append(snapshot.forceQuit)
        guard snapshot.forceQuit else { return }
        line.append(",\"since\":")
        line.append(quoted: snapshot.forceQuitAt)
        line.append(",\"set_by\":")
        line.append(snapshot.forceQuitBy)
        line.append(fragments.forceQuitClearedBy)
    }

    private func writeAlsoFailing(_ checks: CheckResults, into line: inout LineBuffer) {
        let decisive = checks.decisive
        line.append(",\"also_failing\":[")
        var first = true
        if checks.failingMask.nonzeroBitCount > 1 {
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
    private func census(of decisions: ArraySlice<Decision>) -> [UInt8] {
        if decisions.count == 1, let only = decisions.first {
            if only.verdict.delivers { return fragments.censusOfOneWoken }
            return only.app == .none
                ? fragments.censusOfNobody[Int(only.reason.rawValue)] : fragments.censusOfOne[Int(only.reason.rawValue)]
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
