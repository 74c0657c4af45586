import WakeModel
import WakeReports

/// How far the logs of a run had come at a snapshot.
struct LogPlaces: SnapshotPart {
    var decisions = DecisionLogPlace()
    /// In bytes.
    var outcomes = 0

    mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&decisions)
        try coder.code(&outcomes)
    }
}

extension Outcome.Ending: ByteCoded {}

extension Outcome: SnapshotPart {
    package mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&decision)
        try coder.code(&event)
        try coder.code(&at)
        try coder.code(&wall)
        try coder.code(&pid)
        try coder.code(&spawn)
        try coder.code(&delivered, blank: .blank)
        try coder.code(&acknowledged)
        try coder.code(&used)
        try coder.code(&ended)
        try coder.code(&exit)
    }

    /// One that is read from a snapshot.
    init(of app: String) {
        self.init(decision: .none, event: .none, app: app, at: .zero, wall: 0)
    }
}

extension Outcome.Callback: SnapshotPart {
    package mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&name)
        try coder.code(&at)
        try coder.code(&value)
    }
}

extension ExitEntry: SnapshotPart {
    package mutating func code(with coder: inout SnapshotCoder) throws(EncodingFault) {
        try coder.code(&number)
        try coder.code(&app)
        try coder.code(&at)
        try coder.code(&generation)
        try coder.code(&cause)
        try coder.code(&code)
        try coder.code(&stateBefore)
        try coder.code(&pid)
        try coder.code(&atLaunch)
    }
}
