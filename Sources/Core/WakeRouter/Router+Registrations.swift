import WakeModel

/// Something that an app waits for, as the system keeps it.
package struct KeptRegistration: Hashable, Sendable {
    package var via: Registration
    /// The peripheral, the region, the accessory or the peer; ``NameID/none`` for none.
    package var subject: NameID
    package var since: Instant
    /// Why its events do not wake the app as the user's answers are now; nil where these stand in no way.
    package var lacks: Reason?
}

/// What apps are registered for: a look for those who explain a silence. Nothing is decided by it.
extension Router {
    /// All that an app is registered for, in the order of the areas; nothing for an app that was never installed.
    package func registrations(of app: AppID) -> [KeptRegistration] {
        guard Int(app.number) < apps.count, apps[app].installed else { return [] }
        var kept: [KeptRegistration] = []
        askAreas { kept += $0.registrations(of: app, self) }
        return kept
    }

    /// What would be said to an event that nobody is registered for of an app that the user force-quit: the bar, which took
    /// what the app was registered for (LAUNCH-2). Nothing for an app that runs, or is not barred, and where a force quit takes
    /// nothing.
    package mutating func refuseBarred(
        _ event: WakeEvent,
        for app: AppID,
        at now: Instant,
        into output: inout RouterOutput
    ) {
        guard isInstalled(app), isBarred(app), !apps[app].hasProcess, event.kind.source.endsWithForceQuit else {
            return
        }
        swap(&self.output, &output)
        self.now = max(self.now, now)
        var snapshot = apps[app].snapshot
        observePhone(&snapshot)
        var checks = CheckResults(ofLaunching: snapshot, by: constants)
        checks[.anyoneRegistered] = .fail
        let ruling = Ruling(.deny, .forceQuit, wouldHave: .drop)
        _ = record(event, app: app, ruling, checks: checks, supersedes: .none, snapshot: snapshot)
        swap(&self.output, &output)
    }

    /// Says of all that an app was registered for, and is no more, what took it.
    ///
    /// - Parameter held: what ``registrations(of:)`` gave before.
    mutating func tellLost(_ held: [KeptRegistration], of app: AppID, to taker: Deed, by event: EventID = .none) {
        for one in lost(of: app, since: held) { act(.lost(app, one.via, subject: one.subject, taker, event)) }
    }

    /// Says of all that an app was registered for, and is no more, that it went with its process, by the rule of its area.
    ///
    /// - Parameter cause: what ended the process so that more goes with it than with any end; nil for any end.
    mutating func tellEnded(_ held: [KeptRegistration], of app: AppID, by cause: Deed?, _ event: EventID) {
        for one in lost(of: app, since: held) {
            let taker = area(of: one.via.source).taker(of: one.via, ending: cause, self)
            act(.lost(app, one.via, subject: one.subject, taker, event))
        }
    }

    private func lost(of app: AppID, since held: [KeptRegistration]) -> [KeptRegistration] {
        guard !held.isEmpty else { return [] }
        let kept = registrations(of: app)
        return held.filter { one in !kept.contains { $0.isSame(as: one) } }
    }
}

extension KeptRegistration {
    /// Whether both are for the same: a link that is up is what the request for it was for.
    fileprivate func isSame(as other: KeptRegistration) -> Bool {
        let links: [Registration] = [.connection, .pendingConnect]
        return subject == other.subject && (via == other.via || links.contains(via) && links.contains(other.via))
    }
}
