import WakeModel

extension Observer {
    static let pushes: [String: Observer] = [
        "push-wakes": Observer(
            figures: { profile, line in
                if let limit = profile.areas.push.limit {
                    line.append(",\"limit\":")
                    line.append(UInt64(limit))
                }
                line.append(",\"window_ms\":")
                line.append(profile.areas.push.limitWindow.milliseconds)
            },
            write: { log, seen, line in
                log.observe(seen.result == .pass, into: &line)
                line.append(",\"wakes\":")
                line.append(UInt64(seen.snapshot.pushWakes))
                line.append(seen.figures)
            }
        ),
        "unreported-calls": Observer(
            figures: { profile, line in
                if let limit = profile.areas.push.unreportedLimit {
                    line.append(",\"limit\":")
                    line.append(UInt64(limit))
                }
            },
            write: { log, seen, line in
                log.observe(seen.result == .pass, into: &line)
                line.append(",\"calls\":")
                line.append(UInt64(seen.snapshot.unreportedCalls))
                line.append(seen.figures)
            }
        ),
        "network": .word { seen in
            let conditions = seen.snapshot.conditions
            if conditions.contains(.shutDown) { return "shut-down" }
            if conditions.contains(.airplaneMode) { return "airplane-mode" }
            return conditions.hasWifi ? "wifi" : conditions.contains(.cellular) ? "cellular" : "none"
        },
        "low-power-mode": .flag { $0.snapshot.conditions.contains(.lowPowerMode) },
    ]
}
