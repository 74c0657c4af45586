import WakeModel
import WakeReports
import WakeRouter

/// Whether the inputs of a run, taken through a fresh router, give its decisions again, byte for byte (SYS-3).
package struct DeterminismCheck {
    /// How many inputs were taken.
    package let inputs: Int
    /// How many decisions came of them.
    package let decisions: Int
    /// The first record that the log has otherwise, and the one that came of the inputs, each nil for none at that place; nil where
    /// all agree.
    package let difference: (recorded: String?, made: String?)?

    /// Takes the inputs of a run that is over: those after its latest snapshot, or all of them.
    ///
    /// - Parameter appFolders: where bundles of the scenario are looked for.
    /// - Throws: ``CommandFailure`` when the folder has no journal, or its logs cannot be read.
    package init(run folder: RunFolder, appFolders: [String]) throws(CommandFailure) {
        let header: LogHeader
        var kept: [[UInt8]] = []
        do throws(ReportError) {
            header = try RunLog(folder: folder.path, checks: false).header
            var isFirst = true
            try RunLog.eachRecord(folder: folder.path) { record in
                if !isFirst { kept.append(record) }
                isFirst = false
                return true
            }
        } catch {
            throw CommandFailure(.environment, error)
        }
        var replay = try JournalReplay(run: folder.path, appFolders: appFolders)
        let log = DecisionLog(header: header, profile: replay.profile, names: replay.names.text)
        try replay.play { _, output in
            // In memory nothing can go wrong with it.
            if !output.decisions.isEmpty { try? log.append(batch: output.decisions[...]) }
        }
        let made = log.records
        if replay.start > 0 { kept = kept.suffix(made.count) }
        (inputs, decisions) = (replay.inputs, made.count)
        let place = zip(kept, made).enumerated().first { $1.0 != $1.1 }?.offset ?? min(kept.count, made.count)
        difference =
            place == max(kept.count, made.count) ? nil : (Self.text(kept, place), Self.text(made, place))
    }

    private static func text(_ records: [[UInt8]], _ place: Int) -> String? {
        place < records.count ? String(decoding: records[place], as: UTF8.self) : nil
    }

    /// For people, in a line or two.
    package var text: String {
        guard let difference else {
            return
                "determinism: \(inputs) inputs through a fresh router gave the same \(decisions) decisions, byte for byte (SYS-3)"
        }
        return "determinism: the log has \(difference.recorded ?? "nothing more")\n"
            + "  and a fresh router says \(difference.made ?? "nothing more") (SYS-3)"
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
