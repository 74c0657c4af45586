import WakeModel
import WakeReports
import WakeRouter

/// Whether the inputs of a run, taken through a fresh router, give its decisions again, byte for byte (SYS-3).
package struct DeterminismCheck {
    /// How many inputs were taken.
    package let inputs: Int
    /// How many decisions came of them.
    package let decisions: Int
    /// The first record that the log has otherwise, and the one that came of the inputs; nil where all agree.
    package let difference: RecordDifference?
    /// How many records the longer of the two has.
    private let records: Int

    /// Takes the inputs of a run that is over: those after its latest snapshot, or all of them.
    ///
    /// - Parameters:
    ///   - appFolders: where bundles of the scenario are looked for.
    ///   - reachingBack: takes the inputs from the first that is still there.
    /// - Throws: ``CommandFailure`` when the folder has no journal, or its logs cannot be read.
    package init(run folder: RunFolder, appFolders: [String], reachingBack: Bool = false) throws(CommandFailure) {
        var (header, kept) = try Self.records(of: folder)
        var replay = try JournalReplay(run: folder.path, appFolders: appFolders, reachingBack: reachingBack)
        let log = DecisionLog(header: header, profile: replay.profile, names: replay.names.text)
        try replay.play { _, output in
            // In memory nothing can go wrong with it.
            if !output.decisions.isEmpty { try? log.append(batch: output.decisions[...]) }
        }
        var made = log.records
        if reachingBack {
            // The log of a live run may begin later than its journal, and either earlier than the other.
            let first = max(
                kept.first.flatMap(DecisionLog.number) ?? .none,
                made.first.flatMap(DecisionLog.number) ?? .none
            )
            kept.removeAll { DecisionLog.number(of: $0).map { $0 < first } ?? false }
            made.removeAll { DecisionLog.number(of: $0).map { $0 < first } ?? false }
        } else if replay.start > 0 {
            kept = kept.suffix(made.count)
        }
        (inputs, decisions) = (replay.inputs, made.count)
        let place = zip(kept, made).enumerated().first { $1.0 != $1.1 }?.offset ?? min(kept.count, made.count)
        records = max(kept.count, made.count)
        difference =
            place == records
            ? nil
            : RecordDifference(
                number: place + 1,
                left: place < kept.count ? kept[place] : nil,
                right: place < made.count ? made[place] : nil
            )
    }

    /// The head of a run's log, and its records in full. A damaged line is left out, and is missed.
    private static func records(of folder: RunFolder) throws(CommandFailure) -> (LogHeader, [[UInt8]]) {
        do throws(ReportError) {
            let header = try RunLog(folder: folder.path, checks: false).header
            var records: [[UInt8]] = []
            try RunLog.eachRecord(folder: folder.path) { record in
                records.append(record)
                return true
            }
            return (header, Array(records.dropFirst()))
        } catch {
            throw CommandFailure(.environment, error)
        }
    }

    /// For people, in a line or two.
    package var text: String {
        guard let difference else {
            return
                "determinism: \(inputs) inputs through a fresh router gave the same \(decisions) decisions, byte for byte (SYS-3)"
        }
        return "determinism (SYS-3): " + difference.text(of: records, names: ("the log", "a fresh router"))
    }

    /// Adds to the run's outcomes that it can be repeated.
    package func note(in folder: RunFolder, at end: Instant) throws(CommandFailure) {
        guard difference == nil else { return }
        do throws(ReportError) {
            let log = try OutcomeLog(continuing: folder.outcomes)
            try log.append(DeedEntry(deed: .repeatedItself, at: end))
            try log.flush()
        } catch {
            throw CommandFailure(.environment, error)
        }
    }
}
