import WakeModel

extension Observer {
    static let calls: [String: Observer] = [
        "voip-wakes": Observer(
            figures: { profile, line in
                if let limit = profile.areas.voip.wakeLimit {
                    line.append(",\"limit\":")
                    line.append(UInt64(limit))
                }
                line.append(",\"window_ms\":")
                line.append(profile.areas.voip.wakeWindow.milliseconds)
            },
            lifted: { $0.voipWakeLimitLifted ? "voip.wakeLimit: off" : nil },
            write: { log, seen, line in
                log.observe(seen.result == .pass, into: &line)
                line.append(",\"wakes\":")
                line.append(UInt64(seen.snapshot.voipWakes))
                line.append(seen.figures)
            }
        )
    ]
}
