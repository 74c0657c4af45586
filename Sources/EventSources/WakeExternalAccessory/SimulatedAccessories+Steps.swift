import WakeModel
import WakePorts

/// What a scenario does with simulated accessories.
extension SimulatedAccessories {
    /// Whether an accessory is plugged in, or in range.
    package func isAttached(_ name: String) throws(SourceFailure) -> Bool { devices[try index(name)].isPresent }

    /// Whether an accessory is in range, and the radio is off that it comes over.
    package func lacksRadio(_ name: String) throws(SourceFailure) -> Bool {
        let device = devices[try index(name)]
        return device.isPresent && device.connection == nil
    }

    /// Plugs an accessory in, or brings it into range. Harmless when it is there.
    package func simulateAttach(device name: String, origin: NameID, at now: Instant) throws(SourceFailure) {
        attach(try index(name), origin, at: now)
    }

    /// Pulls an accessory, or takes it out of range. Harmless when it is away.
    package func simulateDetach(device name: String, origin: NameID, at now: Instant) throws(SourceFailure) {
        detach(try index(name), origin, at: now)
    }

    /// The accessory sends bytes beside its script, over each open session of a protocol, or of any.
    ///
    /// - Returns: whether there was such a session.
    @discardableResult
    package func simulateSend(
        device name: String,
        protocolName: String?,
        value: [UInt8],
        at now: Instant
    ) throws(SourceFailure) -> Bool {
        self.now = max(self.now, now)
        let index = try index(name)
        let place = devices[index].description.protocols.firstIndex { $0.name == protocolName }
        if let protocolName, place == nil {
            throw SourceFailure(.unknown, "\(name) offers no protocol '\(protocolName)'")
        }
        var isSent = false
        for session in sessions where session.device == index && (place == nil || place == session.place) {
            send(value, over: session, at: now)
            isSent = true
        }
        return isSent
    }

    /// Arms a fault of an accessory.
    ///
    /// - Returns: whether it stays for later, or has a session to happen to.
    @discardableResult
    package func arm(fault: String, device name: String, at now: Instant) throws(SourceFailure) -> Bool {
        self.now = max(self.now, now)
        let index = try index(name)
        guard let known = devices[index].description.faults.first(where: { $0.name == fault }) else {
            throw SourceFailure(.unknown, "\(name) has no fault '\(fault)'")
        }
        switch known.effect {
        case .unplugAfterReceived(let count, let back):
            devices[index].faults.bytesBeforeUnplug = count
            devices[index].faults.backAfter = back ?? devices[index].faults.backAfter
        case .unplugAfterSent(let count, let back):
            devices[index].faults.valuesBeforeUnplug = count
            devices[index].faults.backAfter = back ?? devices[index].faults.backAfter
        case .stall(let span):
            devices[index].faults.stalledUntil = now.advanced(by: span)
            for session in sessions where session.device == index { session.socket.wantsBytes = false }
            return sessions.contains { $0.device == index }
        case .garbage(let count): devices[index].faults.garbage += count
        case .flood(let count):
            devices[index].faults.flood += count
            look(at: now)
        }
        return true
    }

    private func index(_ name: String) throws(SourceFailure) -> Int {
        guard let index = devices.firstIndex(where: { $0.name == name }) else {
            throw SourceFailure(.unknown, "no accessory '\(name)'")
        }
        return index
    }
}
