import WakeReports

/// How far the logs of a run had come at a snapshot.
struct LogPlaces: Codable {
    /// Which part of the logs is being written: those of a live run begin anew when they have grown long.
    var part: UInt64 = 0
    var decisions = DecisionLogPlace()
    /// In bytes.
    var outcomes = 0
}
