import WakeModel
import WakeReports

/// What happens in a run, as rows for whoever follows it: they are told once their turns are committed.
final class FollowedRows {
    /// Told of what happened, once it has happened for good; nil when nobody follows.
    var follow: ((Timeline.Row) -> Void)? {
        didSet {
            guard follow == nil else { return }
            rows.removeAll()
            deferred.removeAll()
        }
    }
    /// While a journal is read back: what happened was told before.
    var isReplaying = false
    /// What the user, the phone or the system did last, as records call it.
    var lastAct = ""
    /// What happened in turns that are not committed yet.
    private var rows: [Timeline.Row] = []
    /// What came with events that are to be decided again, by their decisions; kept while somebody follows.
    private var deferred: [DecisionID: String] = [:]
    private let names: NameTable

    init(names: NameTable) { self.names = names }

    private var isFollowed: Bool { follow != nil && !isReplaying }

    func add(_ row: @autoclosure () -> Timeline.Row) {
        if isFollowed { rows.append(row()) }
    }

    /// - Parameter pid: the process that the decision found; 0 for none.
    func add(_ decision: Decision, _ item: InboxItem, pid: @autoclosure () -> Int32) {
        guard isFollowed else { return }
        let value = item.value(for: decision) ?? deferred.removeValue(forKey: decision.supersedes)
        if decision.verdict == .defer, let value { deferred[decision.id] = value }
        rows.append(Timeline.Row(decision, pid: pid(), value: value ?? "", names: names.text))
    }

    /// Has the row of the last act say what became of it, as the run's table does.
    ///
    /// - Parameter app: what the scenario calls the app that it is about; nil for none.
    func add(_ finding: DeedEntry, of app: String?) {
        guard isFollowed else { return }
        let whose = app.map { " \($0)" } ?? ""
        let row = Timeline.Row(
            at: finding.at,
            app: finding.app,
            what: "\(lastAct): \(finding.text)",
            note: "\(lastAct)\(whose): \(finding.text)"
        )
        let place = rows.lastIndex { $0.event == lastAct && $0.app == row.app && $0.at == row.at }
        if let place { rows[place] = row } else { rows.append(row) }
    }

    /// Tells what has happened for good.
    func tell() {
        guard let follow, !rows.isEmpty else { return }
        for row in rows { follow(row) }
        rows.removeAll(keepingCapacity: true)
    }
}
