import WakeModel
import WakePorts

/// What a snapshot holds of the peripheral role and of the centrals that play a script.
///
/// Of centrals that are phones of the bench it holds nothing but who is in reach: while a journal is read back they have no
/// link, and what they asked comes from it.
extension SimulatedPeripheralRole {
    /// Whether all of its state can be kept now: an exchange over a channel, of which an app has the other end, cannot.
    package var canBeKept: Bool { centrals.allSatisfy { $0.channel == nil } }

    package func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&poweredOn)
        try coder.code(&attributes)
        try coder.code(&clients)
        try coder.code(&handles)
        if coder.isReading, !handles.isConsistent { throw coder.fault }
        try coder.code(&lastRequest)
        try coder.code(&lastPhoneRequest)
        try coder.code(&lastUpdate)
        try coder.code(&prepared)
        try coder.code(&preparedAt)
        try codeOffered(with: &coder)
        try codeCentrals(with: &coder)
        try codeRequests(with: &coder)
        guard coder.isReading else { return }
        advertisement = poweredOn ? clients.advertisement : nil
        updates.removeAll()
        for value in centrals.flatMap(\.outgoing) {
            updates[value.update, default: Update(client: value.subscription.client, remaining: 0)].remaining += 1
        }
    }

    private func codeOffered(with coder: inout SnapshotCoder) throws(EncodingFault) {
        var holders = offered.map(\.client)
        var numbers = offered.map(\.psm)
        try coder.code(&holders)
        try coder.code(&numbers)
        guard holders.count == numbers.count else { throw coder.fault }
        offered = zip(holders, numbers).map { (client: $0, psm: $1) }
    }

    /// Phones that came by unnamed are behind those of the scenario, and in no snapshot.
    private func codeCentrals(with coder: inout SnapshotCoder) throws(EncodingFault) {
        var inReach = centrals.prefix(named).map(\.inRange)
        try coder.code(&inReach)
        guard inReach.count == named else { throw coder.fault }
        for index in centrals.indices.prefix(named) {
            centrals[index].inRange = inReach[index]
            if centrals[index].phone == nil { try centrals[index].code(with: &coder) }
        }
    }

    private func codeRequests(with coder: inout SnapshotCoder) throws(EncodingFault) {
        var asked = requests.filter { centrals[$0.value.central].phone == nil }
        try coder.code(&asked)
        guard coder.isReading else { return }
        guard asked.values.allSatisfy({ (0..<named).contains($0.central) }) else { throw coder.fault }
        requests = asked
    }

    /// How many centrals the scenario names.
    private var named: Int { centrals.count { deviceNames.contains($0.name) } }
}

extension SimulatedCentral: SnapshotPart {
    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&random)
        try coder.code(&step)
        try coder.code(&activity)
        try coder.code(&orders)
        try coder.code(&interruption)
        try coder.code(&isUp)
        try coder.code(&lossDue)
        try coder.code(&subscriptions)
        try codeReceived(with: &coder)
        try coder.code(&readSoFar)
        try coder.code(&outgoing)
        try coder.code(&arrival)
        try coder.code(&faults)
        guard coder.isReading else { return }
        // None is written amid an exchange, and one would never end.
        if case .exchanging = activity { throw coder.fault }
        if !(0...description.script.count).contains(step) { throw coder.fault }
    }

    private mutating func codeReceived(with coder: inout SnapshotCoder) throws(EncodingFault) {
        var uuids = received.keys.sorted()
        var counts = uuids.map { received[$0] ?? 0 }
        try coder.code(&uuids)
        try coder.code(&counts)
        guard uuids.count == counts.count else { throw coder.fault }
        received = Dictionary(zip(uuids, counts)) { _, last in last }
    }
}
