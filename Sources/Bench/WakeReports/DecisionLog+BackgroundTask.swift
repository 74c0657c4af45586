import WakeModel

/// What the checks of fetch and of the task scheduler look at.
extension Observer {
    static let backgroundTasks: [String: Observer] = [
        "task-opens": Observer(lifted: lever) { log, seen, line in
            log.observe(seen.result == .pass, into: &line)
            line.append(",\"since\":")
            line.append(quoted: seen.snapshot.task.opens)
        },
        "task-chances": Observer(
            figures: { profile, line in
                line.append(",\"spacing_ms\":")
                line.append(profile.areas.backgroundTask.spacing.milliseconds)
            },
            lifted: lever,
            write: { log, seen, line in
                log.observe(seen.result == .pass, into: &line)
                line.append(",\"opens\":")
                line.append(quoted: seen.snapshot.task.opens)
                line.append(",\"doublings\":")
                line.append(UInt64(seen.snapshot.task.doublings))
                line.append(seen.figures)
            }
        ),
        "expected-use": Observer(
            figures: { profile, line in
                line.append(",\"lead_ms\":")
                line.append(profile.areas.backgroundTask.lead.milliseconds)
            },
            lifted: lever,
            write: { log, seen, line in
                log.observe(seen.result == .pass, into: &line)
                line.append(",\"expected\":")
                if seen.snapshot.task.expectedUse == .distantFuture {
                    line.append("null")
                } else {
                    line.append(quoted: seen.snapshot.task.expectedUse)
                }
                line.append(",\"days\":")
                line.append(UInt64(seen.snapshot.task.habitDays))
                line.append(seen.figures)
            }
        ),
        "last-use": Observer(lifted: lever) { log, seen, line in
            log.observe(seen.result == .pass, into: &line)
            guard seen.snapshot.task.lastUse > .zero else { return }
            line.append(",\"since\":")
            line.append(quoted: seen.snapshot.task.lastUse)
        },
        "phone-refresh": Observer(lifted: lever) { log, seen, line in
            log.observe(seen.result == .pass, into: &line)
            line.append(",\"background_refresh\":")
            line.append(seen.snapshot.refreshes)
            line.append(",\"low_power_mode\":")
            line.append(seen.snapshot.conditions.contains(.lowPowerMode))
        },
        "phone-idle": Observer(lifted: lever) { log, seen, line in
            log.observe(seen.result == .pass, into: &line)
        },
        "external-power": Observer(lifted: lever) { log, seen, line in
            log.observe(seen.snapshot.conditions.contains(.externalPower), into: &line)
        },
        "network": Observer(lifted: lever) { log, seen, line in
            log.observe(seen.snapshot.conditions.hasNetwork, into: &line)
        },
        "low-power-mode": Observer(lifted: lever) { log, seen, line in
            log.observe(seen.snapshot.conditions.contains(.lowPowerMode), into: &line)
        },
        "background-refresh": Observer(lifted: lever) { log, seen, line in
            log.observe(seen.snapshot.refreshes, into: &line)
        },
    ]

    /// The lever that passes over what the scheduler asks (BGT-12).
    private static func lever(_ snapshot: AppSnapshot) -> String? {
        snapshot.task.lever == .none ? nil : "lever: \(snapshot.task.lever.word)"
    }
}
