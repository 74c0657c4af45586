import WakeModel
import WakePorts
import WakeReports

/// The snapshots of a run, which a recovery begins with.
///
/// A snapshot is kept where nothing is under way. An area whose simulated ends are amid something that none holds says so:
/// the snapshot is kept once that is over.
extension Run {
    /// Keeps a snapshot, when one is due and can be.
    func keepSnapshot() throws {
        guard bench.needsSnapshot else { return }
        try keepSnapshotNow()
    }

    /// Keeps a snapshot, when one can be and anything was accepted since the latest.
    func keepSnapshotNow() throws {
        guard journal.isKept, bench.canTakeSnapshot, areas.all.allSatisfy(\.canBeKept) else { return }
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
        if live != nil { try recorder.beginPart(in: folder, header, profile) }
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
        return true
    }

    private func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try bench.code(with: &coder, profile: profile)
        try coder.code(&lastCommand)
        try driver.code(with: &coder)
        try recorder.code(with: &coder)
        var isThere = areas.sources.map(\.isSimulated)
        let wasThere = isThere
        try coder.code(&isThere)
        guard isThere == wasThere else { throw coder.fault }
        for area in areas.all { try area.code(with: &coder, at: bench.now) }
    }
}
