import WakeModel

/// Pushes that wait: at APNs for the phone (PUSH-4), and at the phone for its system to give the app time (PUSH-3, PWR-2).
extension Router {
    /// Whether APNs reaches the phone.
    var isReachable: Bool { !conditions.contains(.shutDown) && conditions.hasNetwork }

    /// The push has its verdict: a wake by a background push counts (PUSH-3), and what is older and still held gives way.
    mutating func notePush(_ event: WakeEvent, _ verdict: Verdict, of app: AppID) {
        guard verdict.delivers else { return }
        if event.kind == .pushReceived, !event.push.isVisible, verdict == .resume || verdict == .relaunch,
            profile.areas.push.limit != nil
        {
            let now = self.now
            let window = profile.areas.push.limitWindow
            areas.push.apps[app].wakes.removeAll { now.since($0) >= window }
            areas.push.apps[app].wakes.append(now)
        }
        if event.kind != .callPushReceived, let held = areas.push.apps[app].held, held.event.id < event.id {
            areas.push.apps[app].held = nil
            lose(held, of: app, reason: .newerPushKept)
        }
    }

    /// A push is not given to its app now; only the newest is kept.
    mutating func keepPush(_ event: WakeEvent, of app: AppID, _ decision: DecisionID) {
        act(.keep(app, event.id))
        var kept = PushRecord.Kept(event: event, decision: decision)
        if isReachable {
            let older = areas.push.apps[app].held
            areas.push.apps[app].held = kept
            setRelease(of: app)
            if let older { lose(older, of: app, reason: .newerPushKept) }
            return
        }
        let end = now.advanced(by: profile.areas.push.storage)
        switch event.push.expiration {
        case .at(let expiration): kept.event.push.expiration = .at(min(expiration, end))
        case .none, .once: kept.event.push.expiration = .at(end)
        }
        let isCall = event.kind == .callPushReceived
        let older = areas.push.apps[app].stored.firstIndex { ($0.event.kind == .callPushReceived) == isCall }
            .map { areas.push.apps[app].stored.remove(at: $0) }
        areas.push.apps[app].stored.append(kept)
        if let older { lose(older, of: app, reason: .newerPushStored) }
    }

    private mutating func setRelease(of app: AppID) {
        areas.push.apps[app].release = .distantFuture
        guard areas.push.apps[app].held != nil, !isPaused else { return }
        areas.push.apps[app].release = nextPush(of: app)
    }

    /// Low Power Mode pauses background pushes (PWR-2).
    private var isPaused: Bool { profile.areas.push.pausesInLowPower && conditions.contains(.lowPowerMode) }

    /// When an app may be woken by a background push again: at once, or when a wake no longer counts (PUSH-3).
    private func nextPush(of app: AppID) -> Instant {
        let (figures, now) = (profile.areas.push, self.now)
        let wakes = areas.push.apps[app].wakes.filter { now.since($0) < figures.limitWindow }
        guard let limit = figures.limit, wakes.count >= Int(limit) else { return now }
        return wakes[wakes.count - Int(limit)].advanced(by: figures.limitWindow)
    }

    // MARK: Given after all

    /// What the phone holds is decided anew: its system has time for the app again, or the user launched it (LAUNCH-8).
    mutating func releaseHeldPush(of app: AppID, byUser: Bool) {
        guard let kept = areas.push.apps[app].held else { return }
        areas.push.apps[app].held = nil
        areas.push.apps[app].release = .distantFuture
        if byUser { act(.did(app, .gaveWhatWaited)) }
        decideAgain(kept, of: app)
    }

    private mutating func decideAgain(_ kept: PushRecord.Kept, of app: AppID) {
        decideAnew(kept.event, of: app, held: nil, supersedes: kept.decision, restarted: false)
        act(.discard(app, kept.event.id))
    }

    /// The phone is in reach again, or Low Power Mode is off.
    mutating func releasePushes(after before: PhoneConditions) {
        let wasReachable = !before.contains(.shutDown) && before.hasNetwork
        for app in everyApp where apps[app].installed {
            if isReachable, !wasReachable {
                let stored = areas.push.apps[app].stored
                areas.push.apps[app].stored.removeAll()
                for kept in stored { decideAgain(kept, of: app) }
            }
            if before.contains(.lowPowerMode) != conditions.contains(.lowPowerMode) { setRelease(of: app) }
            reschedule(app)
        }
    }

    /// Something of an app's pushes may be due.
    mutating func pushesDue(of app: AppID) {
        answersDue(of: app)
        extensionsDue(of: app)
        while let place = areas.push.apps[app].stored.firstIndex(where: { isOver($0.event.push) }) {
            decideAgain(areas.push.apps[app].stored.remove(at: place), of: app)
        }
        guard areas.push.apps[app].release <= now else { return }
        setRelease(of: app)
        if areas.push.apps[app].release <= now { releaseHeldPush(of: app, byUser: false) }
    }

    private func isOver(_ push: Push) -> Bool {
        if case .at(let end) = push.expiration { end <= now } else { false }
    }

    // MARK: Lost

    /// What was kept will not reach its app: the end of its record.
    private mutating func lose(_ kept: PushRecord.Kept, of app: AppID, reason: Reason) {
        var snapshot = apps[app].snapshot
        observePhone(&snapshot)
        recordLoss(kept.event, of: app, reason: reason, kept.decision, snapshot)
        act(.discard(app, kept.event.id))
    }

    mutating func dropHeldPush(of app: AppID) {
        guard let held = areas.push.apps[app].held else { return }
        areas.push.apps[app].held = nil
        areas.push.apps[app].release = .distantFuture
        lose(held, of: app, reason: .heldPushDropped)
    }

    mutating func dropHeldPushes() {
        for app in everyApp where apps[app].installed { dropHeldPush(of: app) }
    }

    /// The app is gone from the phone, with its device tokens.
    mutating func forgetPushes(of app: AppID) {
        let record = areas.push.apps[app]
        areas.push.apps[app] = PushRecord()
        for kept in record.stored + (record.held.map { [$0] } ?? []) { lose(kept, of: app, reason: .registrationEnded) }
        for item in record.extensions { act(.push(.endExtension(app, item.number))) }
        if record.registeredAt != nil { act(.push(.unregister(app, forCalls: false))) }
        if record.callsRegisteredAt != nil { act(.push(.unregister(app, forCalls: true))) }
    }
}
