import WakeModel

/// Completion handlers that an API demands of an app, each within its time (CPU-2).
///
/// An area keeps them for each app. While there is one the app runs (``Area/lingers(_:)``); one that does not come in time ends it.
struct OwedAnswers: Equatable, Codable {
    struct Answer: Equatable, Codable {
        /// The area's own number for it.
        var number: UInt32
        var due: Instant
        /// What the process ends with when the answer does not come.
        var code: Int64
    }

    /// In the order in which they began to be owed.
    private(set) var answers: [Answer] = [] {
        didSet { (due, until) = times }
    }

    /// Until when an app may run for them; zero when it owes none.
    private(set) var until = Instant.zero
    /// When the first of them is due; the distant future when none is owed.
    private(set) var due = Instant.distantFuture

    private var times: (due: Instant, until: Instant) {
        answers.reduce((.distantFuture, .zero)) { (min($0.due, $1.due), max($0.until, $1.due)) }
    }

    var isConsistent: Bool { times == (due, until) }

    var isEmpty: Bool { answers.isEmpty }

    func owes(_ number: UInt32) -> Bool { answers.contains { $0.number == number } }

    mutating func owe(_ number: UInt32, until due: Instant, code: Int64) {
        answers.append(Answer(number: number, due: due, code: code))
    }

    /// The app answered. Says whether the answer was owed.
    mutating func answered(_ number: UInt32) -> Bool {
        guard let place = answers.firstIndex(where: { $0.number == number }) else { return false }
        answers.remove(at: place)
        return true
    }

    /// One answer is due by an instant at the latest.
    mutating func shorten(_ number: UInt32, to due: Instant) {
        for place in answers.indices where answers[place].number == number {
            answers[place].due = min(answers[place].due, due)
        }
    }

    /// The process is gone, and owes nothing any more.
    mutating func removeAll() { answers.removeAll() }

    /// Takes out the first that was due by an instant.
    mutating func takeOverdue(at now: Instant) -> Answer? {
        guard let place = answers.firstIndex(where: { $0.due <= now }) else { return nil }
        return answers.remove(at: place)
    }
}

extension Router {
    /// An answer did not come in time: the process ends with its code (CPU-2). An app that the user sees has all the time.
    mutating func endForAnswer(_ answer: OwedAnswers.Answer, of app: AppID) {
        guard apps[app].state == .background, !spare(app) else { return }
        act(.did(app, .endedForAnswer))
        end(app, cause: .watchdog, code: answer.code, by: .none)
    }

    /// The app has answered: its wakes with a completion handler last until what it still owes is due, and no other wake is shorter by
    /// it (LIFE-11).
    mutating func finishAnswered(_ app: AppID) {
        guard apps[app].state == .background else { return }
        apps[app].finishAnswered(owed: areas.lingers(app), at: now, by: constants)
        settle(app)
    }
}
