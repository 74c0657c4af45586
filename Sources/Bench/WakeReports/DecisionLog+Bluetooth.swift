import WakeModel

extension Observer {
    static let bluetooth: [String: Observer] = [
        "bluetooth-power": .flag { $0.snapshot.bluetoothOn },
        "bluetooth-authorization": .flag { $0.snapshot.bluetoothAllowed },
        "services": Observer { _, seen, line in
            line.append(",\"observed\":")
            line.append(UInt64(seen.snapshot.scanServices))
        },
        "since-exit": Observer { _, seen, line in
            let snapshot = seen.snapshot
            line.append(",\"observed\":{\"restarted_since\":")
            line.append(snapshot.rebootedSince)
            line.append(",\"bluetooth_off_since\":")
            line.append(snapshot.bluetoothOffSince)
            if snapshot.bluetoothOffLifted { line.append(",\"bluetooth_off_lifted\":true") }
            line.append(",\"link_ended_by_restart\":")
            line.append(snapshot.endedByReboot)
            if snapshot.accessorySetUp { line.append(",\"accessory_set_up\":true") }
            line.append("}")
        },
    ]
}
