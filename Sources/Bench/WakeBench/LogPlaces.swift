import WakeReports

/// How far the logs of a run had come at a snapshot.
struct LogPlaces: Codable {
    var decisions = DecisionLogPlace()
    /// In bytes.
    var outcomes = 0
}
