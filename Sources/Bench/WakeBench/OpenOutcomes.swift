import WakeModel
import WakeReports

/// The outcomes of each app's wake that is not over, oldest first.
struct OpenOutcomes: Codable {
    private var byApp: [[Outcome]] = []
    /// The most outcomes of one wake that wait for its end; beyond it they are written when they are answered.
    private static let limit = 256
    /// The most callbacks that are kept of one decision.
    static let mostCallbacks = 1_024

    mutating func addApp() { byApp.append([]) }

    /// How many apps were added.
    var apps: Int { byApp.count }

    mutating func begin(_ outcome: Outcome, of app: Int) { byApp[app].append(outcome) }

    /// All of an app's, which are open no more.
    mutating func takeAll(of app: Int) -> [Outcome] {
        let all = byApp[app]
        byApp[app].removeAll()
        return all
    }

    mutating func started(pid: Int32, of app: Int) {
        if let last = byApp[app].indices.last { byApp[app][last].pid = pid }
    }

    mutating func greeted(after spawn: Instant.Span, of app: Int) {
        if let last = byApp[app].indices.last { byApp[app][last].spawn = spawn }
    }

    /// What no decision is behind belongs to the wake that is going on, if there is one; in the foreground there is none.
    ///
    /// - Returns: false for one that there is no room for.
    mutating func sent(
        _ callback: Outcome.Callback,
        for decision: DecisionID,
        to app: Int,
        inForeground: Bool
    ) -> Bool {
        let latest = inForeground ? nil : byApp[app].indices.last
        guard let place = decision == .none ? latest : place(of: decision, app) else { return true }
        guard byApp[app][place].delivered.count < Self.mostCallbacks else { return false }
        byApp[app][place].delivered.append(callback)
        return true
    }

    /// - Returns: the outcome, when nothing more is waited for: in the foreground there is no wake that would have to end.
    mutating func answered(_ decision: DecisionID, by app: Int, inForeground: Bool) -> Outcome? {
        guard let place = place(of: decision, app) else { return nil }
        byApp[app][place].acknowledged = true
        return inForeground || byApp[app].count > Self.limit ? byApp[app].remove(at: place) : nil
    }

    /// The oldest decision whose outcome is open; nil when none is.
    var oldest: DecisionID? { byApp.compactMap { $0.first?.decision }.min() }

    /// Decisions that processes acknowledged before the bench died.
    mutating func acknowledged(_ decisions: Set<DecisionID>) {
        for app in byApp.indices {
            for place in byApp[app].indices where decisions.contains(byApp[app][place].decision) {
                byApp[app][place].acknowledged = true
            }
        }
    }

    /// Where the open outcome of a decision is; answers come in the order of the decisions, so it is near the front.
    private func place(of decision: DecisionID, _ app: Int) -> Int? {
        let all = byApp[app]
        var low = 0
        var high = all.count
        while low < high {
            let middle = (low + high) / 2
            if all[middle].decision < decision { low = middle + 1 } else { high = middle }
        }
        return low < all.count && all[low].decision == decision ? low : nil
    }
}
