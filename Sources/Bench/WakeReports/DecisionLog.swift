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
    /// What was set for the run, such as backends and settings of the profile by name; written in the order of the keys.
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
        line.append("{\"schema\":\"wake.log/2\",\"version\":")
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

/// Writes decisions as `wake.decision/1` records: virtual time and the router's facts only, in a fixed order, so that two
/// runs with the same header are the same bytes.
///
/// What many records share is written once, as a `wake.shape/1` line before the first of them: a record with `"$0"`, `"$1"` and so
/// on in place of its values. A record is then a line such as `{"shape":3,"values":[412,"d-000412"]}`. ``ShapedLines`` puts them
/// together again.
package final class DecisionLog {
    private let file: LogFile
    private let names: (NameID) -> String
    private let fragments: DecisionFragments
    /// Names as quoted JSON, by number.
    private var quotedNames: [[UInt8]] = []
    private var shapes = ShapeIndex()
    private var record = ShapedRecord()
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
        // From now on the file is known for what it is.
        try file.flush()
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
        var reader = DecisionReader()
        do {
            var lines = try LineReader(path)
            while let line = try lines.next() {
                length = lines.offset
                if let record = reader.record(of: line) { last = record.id }
            }
        } catch  where error.kind == .missing {
            return (try DecisionLog(creating: path, header: header, profile: profile, names: names), .none)
        }
        if length == 0 {
            return (try DecisionLog(creating: path, header: header, profile: profile, names: names), .none)
        }
        let file = try LogFile(continuing: path, after: length)
        let log = DecisionLog(file: file, header: header, profile: profile, names: names)
        for shape in reader.shapes { log.shapes.insert(shape) }
        return (log, last)
    }

    private init(file: LogFile, header: LogHeader, profile: Profile, names: @escaping (NameID) -> String) {
        self.file = file
        self.names = names
        fragments = DecisionFragments(header, profile: profile)
    }

    /// The lines that have not been written: all of them when the log is in memory.
    package var contents: String { file.line.text }

    /// Appends the decisions of one turn, in order. Decisions of one event that follow each other share a census.
    package func append(batch: [Decision]) throws(ReportError) {
        var start = 0
        while start < batch.count {
            var end = start + 1
            while end < batch.count, batch[end].event == batch[start].event { end += 1 }
            let census = Census(batch[start..<end])
            for position in start..<end {
                try write(batch[position], census: census)
            }
            start = end
        }
    }

    private func write(_ decision: Decision, census: Census) throws(ReportError) {
        record.begin(writingShape: false)
        write(decision, census: census, into: &record)
        if let number = shapes.number(of: record.signature) { return try writeValues(number) }
        let signature = record.signature
        record.begin(writingShape: true)
        write(decision, census: census, into: &record)
        guard let (number, isNew) = shapes.number(of: record.shape.bytes, signature: signature) else {
            file.line.append(RecordShape(record.shape.bytes)?.record(record.values.bytes) ?? [])
            return try file.endLine()
        }
        if isNew {
            file.line.append(ShapedLines.shapePrefix)
            file.line.append(UInt64(number))
            file.line.append(ShapedLines.recordKey)
            file.line.append(record.shape.bytes)
            file.line.append("}")
            try file.endLine()
        }
        try writeValues(number)
    }

    /// The line of the record, whose shape the log has.
    private func writeValues(_ shape: Int) throws(ReportError) {
        file.line.append(ShapedLines.valuesPrefix)
        file.line.append(UInt64(shape))
        file.line.append(ShapedLines.valuesKey)
        file.line.append(record.values.bytes)
        file.line.append("]}")
        try file.endLine()
    }

    /// From now on only what stands before the latest ``settle()`` reaches the file.
    package func hold() { file.hold() }

    /// What was appended so far has happened for good.
    package func settle() throws(ReportError) { try file.settle() }

    /// Writes what has come together to the file.
    package func flush() throws(ReportError) {
        try file.flush()
    }

    // MARK: One record

    private func write(_ decision: Decision, census: Census, into line: inout ShapedRecord) {
        line.append("{\"schema\":\"wake.decision/1\",\"seq\":")
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
            line.append("{\"cause\":\"")
            line.append(raw: snapshot.lastExitCause.word)
            line.append("\",\"id\":")
            line.append(exit: snapshot.lastExit)
            line.append(",\"t\":")
            line.append(quoted: snapshot.lastExitAt)
            line.append("}")
        }
        line.append(",\"generation\":")
        line.append(UInt64(snapshot.generation))
        line.append("}")
    }

    /// How the app was interested; null where the event is for no app by itself, though apps may have to do with it.
    private func writeInterest(_ decision: Decision, into line: inout ShapedRecord) {
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

    private func writeNameOrNull(_ id: NameID, into line: inout ShapedRecord) {
        if id == .none { line.append("null") } else { line.append(name: name(id)) }
    }

    private func writeChecks(_ decision: Decision, into line: inout ShapedRecord) {
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
                line.append(",\"lifted_by\":\"")
                line.append(raw: decision.snapshot.accessorySetUp ? RuleID.btc8.text : RuleID.launch3.text)
                line.append("\"")
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
        into line: inout ShapedRecord
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
        case .modePresent, .scanHasMode, .voipModePresent, .accessoryModePresent, .soundModePresent:
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
            line.append(",\"bluetooth_off_since\":")
            line.append(snapshot.bluetoothOffSince)
            if snapshot.bluetoothOffLifted { line.append(",\"bluetooth_off_lifted\":true") }
            line.append(",\"link_ended_by_restart\":")
            line.append(snapshot.endedByReboot)
            if snapshot.accessorySetUp { line.append(",\"accessory_set_up\":true") }
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
        case .socketsWatched:
            line.append(",\"observed\":")
            line.append(result == .pass)
            line.append(",\"sdk\":")
            if snapshot.sdk == .unknown {
                line.append("null")
            } else {
                line.append("\"")
                line.append(raw: snapshot.sdk.text)
                line.append("\"")
            }
        case .updatesInBackground, .updatesWake, .sideWanted, .crossesBoundary, .beaconIsNew, .protocolListed,
            .notificationsAsked, .noCall, .categoryAllows, .interruptsNobody, .notDuplicate,
            .deliveryWanted, .anyoneRegistered, .roomInQueues, .lastsUntilDecided:
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

    private func writeForceQuit(_ snapshot: AppSnapshot, into line: inout ShapedRecord) {
        line.append(",\"observed\":")
        line.append(snapshot.forceQuit)
        guard snapshot.forceQuit else { return }
        line.append(",\"since\":")
        line.append(quoted: snapshot.forceQuitAt)
        line.append(",\"set_by\":")
        line.append(snapshot.forceQuitBy)
        line.append(fragments.forceQuitClearedBy)
    }

    private func writeAlsoFailing(_ checks: CheckResults, into line: inout ShapedRecord) {
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
    private struct Census {
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
