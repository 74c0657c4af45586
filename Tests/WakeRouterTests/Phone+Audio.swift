import WakeModel

@testable import WakeRouter

/// Verbs for what apps do with sound.
extension Phone {
    /// What the router says to the source of sound.
    var audioCommands: [AudioCommand] {
        actions.compactMap { if case .command(.audio(let command)) = $0 { command } else { nil } }
    }

    /// What requests were told.
    var audioAnswers: [AudioAnswer] {
        actions.compactMap { if case .tell(_, .audioAnswer(_, let answer)) = $0 { answer } else { nil } }
    }

    /// What the source was told of an app last; nil when it was told to stop, or nothing.
    func stream(of app: AppID) -> AudioStream? { router.areas.audio.apps[Int(app.number)].stream }

    func isSounding(_ app: AppID) -> Bool { stream(of: app)?.runs == true }

    mutating func audio(_ app: AppID, _ request: AudioRequest) { self.request(app, .audio(request)) }

    /// The user opens an app, which sets its category and plays.
    mutating func player(
        _ category: AudioCategory = .playback,
        _ options: AudioOptions = [],
        modes: [BackgroundMode] = [.audio],
        records: Bool = false
    ) -> AppID {
        let app = install(modes)
        user(.launch, app)
        audio(app, .setCategory(category, options))
        audio(app, .start(request: 1, plays: category.plays, records: records || category == .record))
        report(app, .launched)
        return app
    }

    /// The user goes home, and the host does what it is asked.
    mutating func leavePlaying(_ app: AppID) {
        user(.home, app)
        report(app, .returned(.didEnterBackground))
    }

    mutating func happenSound(_ kind: EventKind, _ app: AppID?, local: UInt32 = 0, failed: Bool = false) {
        hear(.event(WakeEvent(kind: kind, local: local, failed: failed, app: app)))
    }

    /// The reasons given for one app's events of a kind.
    func reasons(_ kind: EventKind, of app: AppID) -> [Reason] {
        decisions.filter { $0.kind == kind && $0.app == app }.map(\.reason)
    }
}
