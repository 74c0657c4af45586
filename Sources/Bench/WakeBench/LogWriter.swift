import WakeModel
import WakeReports

/// Writes the two logs of a run: what is committed reaches their files when their readers need it.
final class LogWriter {
    private var decisions: DecisionLog
    private(set) var outcomes: OutcomeLog
    /// Which part of the logs these are.
    private var part: UInt64
    /// Decisions that go before this one are in the file already, after a restart.
    let resumeAfter: DecisionID
    /// Set by the first line that could not be written; the run ends with it.
    private(set) var failure: ReportError?

    /// When somebody reads the logs.
    enum Reading {
        case atEnd
        /// While the run goes on: each turn reaches the files as soon as it is committed.
        case atOnce
        /// While the run goes on, in real time: what comes in quick succession reaches the files together.
        case soon
    }

    var reading = Reading.atEnd {
        didSet { outcomes.isPutOff = reading == .soon }
    }
    /// When what was committed must have reached the files; nil when all has, or nobody reads them before the end.
    private(set) var writingDue: Instant?
    /// When they were written last.
    private var written = Instant(nanoseconds: -gatheringTime.nanoseconds)
    /// For how long lines come together before they are written to files that are read meanwhile.
    private static let gatheringTime = Instant.Span.milliseconds(100)
    /// What was decided since, where it is written together; what a turn decided ends where the next begins.
    private var unwritten: [Decision] = []
    private var turns: [Int] = []
    /// The most of it.
    private static let mostUnwritten = 1_024
    /// The bytes of both logs beyond which a live run begins them anew.
    private static let longestPart = 8 << 20

    init(decisions: DecisionLog, outcomes: OutcomeLog, part: UInt64, resumeAfter: DecisionID) {
        self.decisions = decisions
        self.outcomes = outcomes
        self.part = part
        // A turn that was never committed has never happened.
        decisions.hold()
        outcomes.hold()
        self.resumeAfter = resumeAfter
    }

    /// - Throws: ``ReportError`` where a log was removed or renamed, or another file has its name.
    func requireInPlace() throws(ReportError) {
        try decisions.requireInPlace()
        try outcomes.requireInPlace()
    }

    /// How far the files have come.
    var places: LogPlaces { LogPlaces(part: part, decisions: decisions.place, outcomes: outcomes.length) }

    /// Begins the logs anew when they have grown long. The two parts before are kept beside.
    ///
    /// - Returns: whether they had; nothing is in the new ones yet.
    func beginPart(
        in folder: RunFolder,
        _ header: LogHeader,
        _ profile: Profile,
        names: NameTable
    ) throws(ReportError) -> Bool {
        guard decisions.place.length + outcomes.length > Self.longestPart else { return false }
        try folder.endPart(part)
        part += 1
        let isPutOff = outcomes.isPutOff
        decisions = try DecisionLog(creating: folder.decisions, header: header, profile: profile, names: names.text)
        outcomes = try OutcomeLog(creating: folder.outcomes)
        decisions.hold()
        outcomes.hold()
        outcomes.isPutOff = isPutOff
        return true
    }

    /// Carries out a writing; the first that fails ends the run.
    func keep(_ write: () throws(ReportError) -> Void) {
        guard failure == nil else { return }
        do throws(ReportError) { try write() } catch { failure = error }
    }

    /// Appends a line; the first that cannot be written ends the run.
    func keep(_ line: some LogLine) {
        keep { () throws(ReportError) in try outcomes.append(line) }
    }

    /// What was appended so far has happened for good.
    func settle(at now: Instant) {
        keep { () throws(ReportError) in
            try outcomes.settle()
            // Whoever reads a decision looks up there what came with its event.
            if decisions.isLong { try outcomes.flush() }
            try decisions.settle()
            switch reading {
            case .atEnd: break
            case .atOnce: try flush(at: now)
            case .soon: writingDue = writingDue ?? max(now, written.advanced(by: Self.gatheringTime))
            }
        }
    }

    /// Nobody waits for what comes together before it is written, while an app may wait for the turn that decided it.
    func write(_ batch: [Decision]) throws(ReportError) {
        guard reading == .soon else { return try append(batch[...]) }
        unwritten += batch
        turns.append(unwritten.count)
        if unwritten.count >= Self.mostUnwritten { try writeTurns() }
    }

    private func writeTurns() throws(ReportError) {
        var start = 0
        for end in turns {
            try append(unwritten[start..<end])
            start = end
        }
        unwritten.removeAll(keepingCapacity: true)
        turns.removeAll(keepingCapacity: true)
    }

    private func append(_ batch: ArraySlice<Decision>) throws(ReportError) {
        let isNew = resumeAfter == .none || batch[batch.startIndex].id > resumeAfter
        let rest = isNew ? batch : batch.filter { $0.id > resumeAfter }[...]
        if !rest.isEmpty { try decisions.append(batch: rest) }
    }

    /// Writes out what is buffered.
    func flush(at now: Instant) throws(ReportError) {
        if let failure { throw failure }
        try writeTurns()
        try outcomes.settle()
        try outcomes.flush()
        try decisions.settle()
        try decisions.flush()
        (writingDue, written) = (nil, now)
    }
}
