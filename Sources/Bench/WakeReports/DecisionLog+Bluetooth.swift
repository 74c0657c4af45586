import WakeModel

extension Observer {
    static let bluetooth: [String: Observer] = [
        "bluetooth-power": .flag { $0.snapshot.bluetoothOn },
        "bluetooth-authorization": .flag { $0.snapshot.bluetoothAllowed },
        "services": Observer { $0.observe(count: UInt64($1.snapshot.scanServices), into: &$2) },
        "since-exit": Observer { log, seen, line in
            let snapshot = seen.snapshot
            log.observe(seen.result == .pass, into: &line)
            line.append(",\"restarted_since\":")
            line.append(snapshot.rebootedSince)
            line.append(",\"bluetooth_off_since\":")
            line.append(snapshot.bluetoothOffSince)
            if snapshot.bluetoothOffLifted { line.append(",\"bluetooth_off_lifted\":true") }
            line.append(",\"link_ended_by_restart\":")
            line.append(snapshot.endedByReboot)
            if snapshot.accessorySetUp { line.append(",\"accessory_set_up\":true") }
        },
    ]
}

extension Why {
    /// That the user does not let the app use Bluetooth, where its last process asked for that; nil where it did not, or another
    /// version of the app may have brought another answer since.
    var refusal: Cause? {
        guard let deed = log.deeds.last(where: { $0.app == app && $0.deed == .refusedRadio }) else { return nil }
        let isOver =
            log.moves.contains { $0.app == app && $0.from == .notRunning && $0.at > deed.at }
            || log.exits.contains { $0.app == app && $0.cause == .update && $0.at >= deed.at }
        if isOver { return nil }
        return Cause(
            reason: .bluetoothNotAuthorized,
            rule: deed.deed.rule,
            at: deed.at,
            because: "\(deed.deed.row.sentence), at \(LogTime.shortText(deed.at))",
            advice: ReasonText.advice(.bluetoothNotAuthorized, of: .bluetoothCentral)
        )
    }

    /// The same where it is about events of a source.
    func refusal(of source: String) -> Cause? { source == Source.bluetooth.word ? refusal : nil }
}
