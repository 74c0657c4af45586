import WakeModel

/// What a record shows of what a check looked at: the words of checks.tsv.
enum Observation: String, CaseIterable, Sendable {
    /// A yes or no is all that there was to see.
    case answer
    case state
    case forceQuit = "force-quit"
    case firstUnlock = "first-unlock"
    case registration
    case kind
    case modes
    case restoreIdentifier = "restore-identifier"
    case sinceExit = "since-exit"
    case bluetoothPower = "bluetooth-power"
    case bluetoothAuthorization = "bluetooth-authorization"
    case locationAuthorization = "location-authorization"
    case exitsOnSuspend = "exits-on-suspend"
    case distance
    case pause
    case dwell
    case services
    case silenceLimit = "silence-limit"
    case sdk
    case voipWakes = "voip-wakes"

    /// In the order of ``Check``.
    static let byCheck = Check.allCases.map { check in
        guard let observation = Observation(rawValue: check.row.observed) else {
            let error = TableError("checks.tsv", line: check.row.line, "there is no \(check.row.observed) to observe")
            preconditionFailure("\(error)")
        }
        return observation
    }
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
        switch Observation.byCheck[Int(check.rawValue)] {
        case .answer: observe(result == .pass, into: &line)
        case .pause: observe(result == .fail, into: &line)
        case .bluetoothPower: observe(snapshot.bluetoothOn, into: &line)
        case .bluetoothAuthorization: observe(snapshot.bluetoothAllowed, into: &line)
        case .exitsOnSuspend: observe(snapshot.exitsOnSuspend, into: &line)
        case .registration: observe(word: snapshot.via.word, into: &line)
        case .kind: observe(word: decision.kind.word, into: &line)
        case .state:
            observe(word: snapshot.state.word(hasExited: snapshot.lastExit != 0), into: &line)
            line.append(",\"since\":")
            line.append(quoted: snapshot.stateSince)
        case .modes:
            line.append(",\"observed\":")
            line.append(fragments.modes(snapshot.modes))
        case .restoreIdentifier:
            line.append(",\"observed\":")
            writeNameOrNull(snapshot.restoreIdentifier, into: &line)
        case .services:
            line.append(",\"observed\":")
            line.append(UInt64(snapshot.scanServices))
        case .silenceLimit:
            observe(result == .pass, into: &line)
            line.append(fragments.silenceLimit)
        case .voipWakes:
            line.append(",\"observed\":{\"wakes\":")
            line.append(UInt64(snapshot.voipWakes))
            line.append(fragments.voipWakeLimit)
        case .sdk:
            observe(result == .pass, into: &line)
            writeSDK(snapshot.sdk, into: &line)
        case .forceQuit: writeForceQuit(snapshot, into: &line)
        case .firstUnlock: writeFirstUnlock(snapshot, into: &line)
        case .locationAuthorization: writeLocationAuthorization(snapshot, into: &line)
        case .sinceExit: writeSinceExit(snapshot, into: &line)
        case .distance: writeDistance(snapshot, into: &line)
        case .dwell: writeDwell(result, decision, into: &line)
        }
    }

    private func observe(_ value: Bool, into line: inout ShapedRecord) {
        line.append(",\"observed\":")
        line.append(value)
    }

    private func observe(word: String, into line: inout ShapedRecord) {
        line.append(",\"observed\":\"")
        line.append(raw: word)
        line.append("\"")
    }

    private func writeForceQuit(_ snapshot: AppSnapshot, into line: inout ShapedRecord) {
        observe(snapshot.forceQuit, into: &line)
        guard snapshot.forceQuit else { return }
        line.append(",\"since\":")
        line.append(quoted: snapshot.forceQuitAt)
        line.append(",\"set_by\":")
        line.append(snapshot.forceQuitBy)
        line.append(fragments.forceQuitClearedBy)
    }

    private func writeFirstUnlock(_ snapshot: AppSnapshot, into line: inout ShapedRecord) {
        observe(snapshot.unlockedSinceBoot, into: &line)
        if snapshot.unlockedSinceBoot {
            line.append(",\"since\":")
            line.append(quoted: snapshot.unlockedAt)
        }
        line.append(",\"passcode\":")
        line.append(snapshot.passcode)
    }

    private func writeLocationAuthorization(_ snapshot: AppSnapshot, into line: inout ShapedRecord) {
        observe(word: snapshot.locationAuthorization.word, into: &line)
        guard snapshot.locationAuthorization == .whenInUse else { return }
        line.append(",\"in_use\":")
        line.append(snapshot.state == .active || snapshot.state == .inactive)
        guard snapshot.via == .standardUpdates else { return }
        line.append(",\"began_in_foreground\":")
        line.append(snapshot.beganInForeground)
    }

    private func writeSinceExit(_ snapshot: AppSnapshot, into line: inout ShapedRecord) {
        line.append(",\"observed\":{\"restarted_since\":")
        line.append(snapshot.rebootedSince)
        line.append(",\"bluetooth_off_since\":")
        line.append(snapshot.bluetoothOffSince)
        if snapshot.bluetoothOffLifted { line.append(",\"bluetooth_off_lifted\":true") }
        line.append(",\"link_ended_by_restart\":")
        line.append(snapshot.endedByReboot)
        if snapshot.accessorySetUp { line.append(",\"accessory_set_up\":true") }
        line.append("}")
    }

    private func writeDistance(_ snapshot: AppSnapshot, into line: inout ShapedRecord) {
        line.append(",\"observed\":{\"filter_m\":")
        line.append(metres: Sphere.metres(chord: snapshot.filterChord))
        line.append(",\"moved_m\":")
        if snapshot.movedSquare.isFinite {
            line.append(metres: Sphere.metres(chord: snapshot.movedSquare.squareRoot()))
        } else {
            line.append("null")
        }
        line.append("}")
    }

    private func writeDwell(_ result: CheckResult, _ decision: Decision, into line: inout ShapedRecord) {
        observe(result == .pass, into: &line)
        if decision.checks[.crossesBoundary] == .pass {
            // The fix that is decided on began the dwell.
            line.append(",\"since\":")
            line.append(quoted: decision.at)
        }
        line.append(fragments.dwell)
    }

    private func writeSDK(_ sdk: SDKVersion, into line: inout ShapedRecord) {
        line.append(",\"sdk\":")
        if sdk == .unknown { return line.append("null") }
        line.append("\"")
        line.append(raw: sdk.text)
        line.append("\"")
    }
}
