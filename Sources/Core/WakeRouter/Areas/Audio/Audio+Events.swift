import WakeModel

/// From an event of sound to the apps that use it.
extension Router {
    mutating func routeSound(_ event: WakeEvent) {
        guard let app = event.app else {
            for app in areas.audio.users { tellSound(app, event) }
            return
        }
        guard isInstalled(app), !isAnswered(event, for: app) else { return }
        if !isOverflowing { noteSound(event, of: app) }
        tellSound(app, event)
    }

    /// Whether a choice in Settings is the answer that the app has already: it is told of changes alone. What the app asked for has
    /// no origin.
    private mutating func isAnswered(_ event: WakeEvent, for app: AppID) -> Bool {
        guard event.kind == .microphoneAnswered, event.origin != .none else { return false }
        guard areas.audio.apps[app].permission == (event.failed ? .denied : .granted) else { return false }
        reached = true
        return true
    }

    /// What a source or the user says is so, whether the app hears of it or not.
    private mutating func noteSound(_ event: WakeEvent, of app: AppID) {
        switch event.kind {
        case .audioSilent: noteSilence(of: app)
        case .audioAudible: areas.audio.apps[app].silent = false
        case .audioRanDry: areas.audio.apps[app].underruns &+= UInt64(event.lateBuffers)
        case .audioStopped where event.failed: areas.audio.apps[app].engine = nil
        case .microphoneAnswered: areas.audio.apps[app].permission = event.failed ? .denied : .granted
        default: break
        }
    }

    /// The silence began so long ago as it takes to be told.
    private mutating func noteSilence(of app: AppID) {
        areas.audio.apps[app].silent = true
        guard profile.areas.audio.silenceLimit == nil, areas.audio.apps[app].isSounding,
            apps[app].state == .background
        else {
            return
        }
        let began = Instant(nanoseconds: now.nanoseconds - AudioRules.silenceNotice.nanoseconds)
        if areas.audio.apps[app].silentSince == nil {
            areas.audio.apps[app].silentSince = max(began, apps[app].snapshot.stateSince)
        }
    }

    private mutating func tellSound(_ app: AppID, _ event: WakeEvent) {
        guard let interest = soundInterest(of: app) else { return }
        let before = output.decisions.count
        decide(event, for: interest)
        let decision = output.decisions.count > before ? output.decisions[before] : nil
        switch event.kind {
        case .audioActivated: activationDecided(event, app, decision)
        case .audioStarted: startDecided(event, app, decision)
        case .audioSilent, .audioAudible, .audioStopped, .microphoneAnswered: settleSound(of: app)
        default: break
        }
        settle(app)
        reschedule(app)
    }

    /// How an app is interested in events of sound; nil when it does not use it.
    mutating func soundInterest(of app: AppID) -> Interest? {
        guard isInstalled(app), let since = areas.audio.apps[app].since else { return nil }
        return Interest(app, via: .audioSession, since: since)
    }

    /// What the rules look at.
    mutating func soundQuestion(of app: AppID, _ event: WakeEvent) -> AudioQuestion {
        let record = areas.audio.apps[app]
        let engine = record.start?.engine ?? record.engine
        return AudioQuestion(
            kind: event.kind,
            state: apps[app].state,
            failed: event.failed,
            category: record.category,
            plays: engine?.plays ?? false,
            records: engine?.records ?? false,
            silent: record.silent,
            inCall: areas.audio.inCall,
            interruptsPlayer: event.kind == .audioActivated
                && interrupted(by: app).contains { areas.audio.apps[$0].isSounding }
        )
    }

    private mutating func activationDecided(_ event: WakeEvent, _ app: AppID, _ decision: Decision?) {
        let isGranted = decision?.verdict.delivers == true && areas.audio.apps[app].attached
        if isGranted { activateSession(of: app, by: event) }
        if let start = areas.audio.apps[app].start, start.request == event.audioRequest {
            if isGranted {
                raiseSound(.audioStarted, app, local: start.request, parent: event.id)
                return
            }
            areas.audio.apps[app].start = nil
        }
        answerSound(event, app, isGranted: isGranted, decision)
    }

    private mutating func startDecided(_ event: WakeEvent, _ app: AppID, _ decision: Decision?) {
        guard let start = areas.audio.apps[app].start, start.request == event.audioRequest else { return }
        areas.audio.apps[app].start = nil
        let isGranted = decision?.verdict.delivers == true && areas.audio.apps[app].activation != nil
        if isGranted {
            areas.audio.apps[app].engine = start.engine
            areas.audio.apps[app].silent = false
            settleSound(of: app)
        }
        answerSound(event, app, isGranted: isGranted, decision)
    }

    private mutating func answerSound(_ event: WakeEvent, _ app: AppID, isGranted: Bool, _ decision: Decision?) {
        guard event.audioRequest != 0, areas.audio.apps[app].attached else { return }
        let record = areas.audio.apps[app]
        let code = decision.map { AudioRules.code(of: $0.reason) } ?? AudioErrorCode.cannotStartPlaying
        let frames = record.frames(for: record.engine, locked: isLocked)
        let answer = isGranted ? AudioAnswer.granted(frames: frames) : .refused(code)
        act(.tell(app, .audioAnswer(request: event.audioRequest, answer)))
    }

    // MARK: Questions

    /// What the user lets an app hear (AUD-10).
    package func microphonePermission(of app: AppID) -> MicrophonePermission {
        isInstalled(app) ? areas.audio.apps[app].permission : .undetermined
    }

    /// Whether an app's audio session is active (AUD-5).
    package func hasActiveSession(_ app: AppID) -> Bool { isInstalled(app) && areas.audio.apps[app].activation != nil }

    /// How many of an app's buffers came late (AUD-11).
    package func underruns(of app: AppID) -> UInt64 {
        Int(app.number) < apps.count ? areas.audio.apps[app].underruns : 0
    }

    /// How long silence alone kept an app running in the background (AUD-4).
    package func silence(of app: AppID, at now: Instant) -> Instant.Span {
        guard Int(app.number) < apps.count else { return .zero }
        let record = areas.audio.apps[app]
        return record.silence + (record.silentSince.map { now.since($0) } ?? .zero)
    }

    /// Whether another app's session is active, and whether one of them does not mix.
    package func otherAudio(beside app: AppID) -> (playing: Bool, silenceSecondary: Bool) {
        let others = areas.audio.users.filter { $0 != app }.map { areas.audio.apps[$0] }
        return (
            others.contains { $0.isSounding && $0.stream?.plays == true },
            others.contains { $0.isSounding && $0.stream?.plays == true && $0.activation?.mixes == false }
        )
    }
}
