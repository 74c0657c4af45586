import WakeModel

/// Where positions come from: tracks, gpsd and NMEA receivers stand behind it alike.
///
/// Everything happens on the bench's one thread. A fix is reported as ``EventKind/positionFixed`` with
/// ``EventPayload/position(_:)``; what a scenario says directly, such as a crossing or a visit, as an event of its own.
///
/// The backends are `simulated`, `gpsd` and `nmea`; a receiver that is missing cannot start.
package protocol LocationPort: SourcePort {
    /// Carries out a command of the router; those of the radio are ignored.
    func perform(_ command: LocationCommand, at now: Instant)
}

extension LocationPort {
    package func takes(_ command: SourceCommand) -> Bool {
        if case .location = command { command.watchedBeacons == nil } else { false }
    }
    package func carryOut(_ command: SourceCommand, at now: Instant) {
        if case .location(let command) = command { perform(command, at: now) }
    }
}
