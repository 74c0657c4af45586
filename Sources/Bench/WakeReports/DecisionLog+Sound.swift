import WakeModel

extension Observer {
    static let sound: [String: Observer] = [
        "silence-limit": Observer(
            figures: { profile, line in
                guard let limit = profile.areas.audio.silenceLimit else { return }
                line.append(",\"limit_ms\":")
                line.append(limit.milliseconds)
            },
            write: { log, seen, line in
                log.observe(seen.result == .pass, into: &line)
                line.append(seen.figures)
            }
        )
    ]
}
