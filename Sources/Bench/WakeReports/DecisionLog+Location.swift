import WakeModel

extension Observer {
    static let location: [String: Observer] = [
        "pause": .flag { $0.result == .fail },
        "location-authorization": Observer { log, seen, line in
            let snapshot = seen.snapshot
            log.observe(word: snapshot.locationAuthorization.word, into: &line)
            guard [.whenInUse, .allowOnce].contains(snapshot.locationAuthorization) else { return }
            line.append(",\"in_use\":")
            line.append(snapshot.state == .active || snapshot.state == .inactive)
            if snapshot.keptInUse { line.append(",\"lifted_by\":\"SESS-3\"") }
            guard snapshot.via == .standardUpdates else { return }
            line.append(",\"began_in_foreground\":")
            line.append(snapshot.beganInForeground)
        },
        "distance": Observer { log, seen, line in
            log.observe(seen.result == .pass, into: &line)
            line.append(",\"filter_m\":")
            line.append(metres: Sphere.metres(chord: seen.snapshot.filterChord))
            line.append(",\"moved_m\":")
            if seen.snapshot.movedSquare.isFinite {
                line.append(metres: Sphere.metres(chord: seen.snapshot.movedSquare.squareRoot()))
            } else {
                line.append("null")
            }
        },
        "dwell": Observer(
            figures: { profile, line in
                line.append(",\"dwell_ms\":")
                line.append(profile.areas.location.regionDwell.milliseconds)
            },
            write: { log, seen, line in
                log.observe(seen.result == .pass, into: &line)
                if seen.decision.checks[.crossesBoundary] == .pass {
                    // The fix that is decided on began the dwell.
                    line.append(",\"since\":")
                    line.append(quoted: seen.decision.at)
                }
                line.append(seen.figures)
            }
        ),
    ]
}

extension Why {
    /// That the user has denied the app its location; nil for another reason. The logs do not hold each change of it, so that the
    /// last that they hold need not be the denial.
    func denial(_ decision: DecisionRecord) -> String? {
        let isDenied = decision.decisive?.observed == LocationAuthorization.denied.word
        return decision.reason == .notAuthorized && isDenied ? "the user has denied it" : nil
    }
}
