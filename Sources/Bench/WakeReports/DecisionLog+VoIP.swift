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
                line.append("}")
            },
            lifted: { $0.voipWakeLimitLifted ? "voip.wakeLimit: off" : nil },
            write: { _, seen, line in
                line.append(",\"observed\":{\"wakes\":")
                line.append(UInt64(seen.snapshot.voipWakes))
                line.append(seen.figures)
            }
        )
    ]
}
