import WakeModel
import WakePorts
import WakeReports

/// The snapshots of a run, which a recovery begins with.
///
/// A snapshot is kept where nothing is under way. None holds simulated centrals, accessories and calls: a run that uses them
/// is recovered from the last snapshot before it did.
extension Run {
    /// Keeps a snapshot, when one is due and can be.
    func keepSnapshot() throws {
        guard journal.isKept, bench.needsSnapshot, canBeKept else { return }
        try bench.commit()
        var places = try recorder.places()
        var coder = SnapshotCoder()
        do throws(EncodingFault) {
            try coder.code(&places)
            try code(with: &coder)
        } catch {
            preconditionFailure("a snapshot that is written has no fault: \(error)")
        }
        try bench.append(snapshot: coder.bytes)
    }

    /// Takes the place of all inputs up to the latest snapshot; false when there is none.
    func restoreSnapshot() throws(JournalError) -> Bool {
        guard var coder = journal.snapshot else { return false }
        var places = LogPlaces()
        do throws(EncodingFault) {
            try coder.code(&places)
            try code(with: &coder)
            try coder.finish()
        } catch {
            throw journal.damagedSnapshot(error)
        }
        replayedTo = bench.now
        return true
    }

    private func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try bench.code(with: &coder, profile: profile)
        try driver.code(with: &coder)
        try recorder.code(with: &coder)
        let simulated = simulated
        var isThere = [simulated.radio != nil, simulated.positions != nil, simulated.sound != nil]
        let wasThere = isThere
        try coder.code(&isThere)
        guard isThere == wasThere else { throw coder.fault }
        try simulated.radio?.code(with: &coder)
        try simulated.positions?.code(with: &coder)
        try simulated.sound?.code(with: &coder)
        // All that a peripheral role can have that was never told anything is the adapter's power.
        if coder.isReading, let radio = simulated.radio { simulated.phones?.setPower(radio.poweredOn, at: bench.now) }
    }

    /// Whether a snapshot would hold all that must come back.
    private var canBeKept: Bool {
        guard !bench.hasCommandedOthers, simulated.radio?.canBeKept != false else { return false }
        return scenario.devices.allSatisfy { device in
            switch device.form {
            case .peripheral, .beacon, .track, .audio: true
            case .central: simulated.phones == nil
            case .accessory: simulated.accessories == nil
            case .callServer: simulated.calls == nil
            }
        }
    }
}
