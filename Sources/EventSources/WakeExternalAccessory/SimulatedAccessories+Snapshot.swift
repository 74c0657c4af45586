import WakeDevices
import WakeModel
import WakePorts

/// How simulated accessories come back once the bench has died.
extension SimulatedAccessories {
    /// What a snapshot holds of them. Sessions end with the processes that have them; until then, while a journal is read
    /// back, what they send may pull their accessory again.
    package func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&now)
        try coder.code(&lastConnection)
        try coder.code(&hasConnected)
        try coder.code(&isRadioOn)
        try coder.code(each: &devices)
        var kept = sessions.map(KeptSession.init)
        try coder.code(&kept)
        guard coder.isReading else { return }
        for session in sessions { session.socket.close() }
        sessions.removeAll()
        for each in kept {
            guard devices.indices.contains(each.device), devices[each.device].protocolIDs.indices.contains(each.place)
            else { throw coder.fault }
            // Nobody has its other end any more: without a socket it is over a little earlier.
            guard let socket = try? SessionSocket(limit: Self.sessionBuffer, loop: loop) else { continue }
            guard each.restore(add(each.number, each.device, each.place, socket)) else { throw coder.fault }
        }
    }

    package var heardKinds: [EventKind] { [.accessoryDisconnected] + EventKind.ofRadioPower }

    /// What an app's bytes did to an accessory does not happen again while a journal is read back, since nobody writes them:
    /// that the accessory went is what is known of it.
    ///
    /// With the radio what comes over it goes, and comes again (EA-2).
    package func hear(_ event: WakeEvent, _ payload: EventPayload, at now: Instant) {
        if let isOn = event.turnsRadio { return setRadio(isOn) }
        guard event.app == nil, let index = devices.firstIndex(where: { $0.nameID == event.peripheral }),
            devices[index].connection == event.local
        else { return }
        pull(index, at: now)
    }
}

/// Where a session is in its script, and what it has not got rid of.
private struct KeptSession: Codable {
    let number: AccessorySession
    let device: Int
    let place: Int
    let positions: [Timetable.Position]
    let due: [Instant?]
    let tail: [UInt8]
    let backlog: [UInt8]
    let pace: LinkPace.Standing

    init(_ session: SimulatedSession) {
        number = session.number
        device = session.device
        place = session.place
        positions = session.players.map(\.position)
        due = session.players.map(\.due)
        tail = session.tail
        backlog = Array(session.backlog.prefix(session.backlog.count))
        pace = session.pace.standing
    }

    /// - Returns: whether the session's script is one that it can be in.
    func restore(_ session: SimulatedSession) -> Bool {
        guard positions.count == session.players.count, due.count == positions.count else { return false }
        for player in session.players.indices {
            guard session.players[player].timetable.holds(positions[player]) else { return false }
            session.players[player].position = positions[player]
            session.players[player].due = due[player]
        }
        session.tail = tail
        session.backlog.append(backlog)
        session.pace.standing = pace
        return true
    }
}

extension SimulatedAccessory: SnapshotPart {
    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&isPresent)
        try coder.code(&connection)
        try coder.code(&nextPresence)
        try coder.code(&presenceDue)
        try coder.code(&backAt)
        try coder.code(&faults)
        try coder.code(&random)
        if coder.isReading, nextPresence > description.presence.count { throw coder.fault }
    }
}
