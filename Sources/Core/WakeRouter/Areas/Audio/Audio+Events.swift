import WakeModel

/// From an event of sound to the apps that use it.
extension Router {
    mutating func routeSound(_ event: WakeEvent, into output: inout RouterOutput) {
        guard let app = event.app else {
            for app in areas.audio.users { tellSound(app, event, into: &output) }
            return
        }
        guard isInstalled(app) else { return }
        if !isOverflowing { noteSound(event, of: app) }
        tellSound(app, event, into: &output)
    }

    /// What a source or the user says is so, whether the app hears of it or not.
    private mutating func noteSound(_ event: WakeEvent, of app: AppID) {
        let index = Int(app.number)
        switch event.kind {
        case .audioSilent: noteSilence(of: index)
        case .audioAudible: areas.audio.apps[index].silent = false
        case .audioRanDry: areas.audio.apps[index].underruns &+= UInt64(event.lateBuffers)
        case .audioStopped where event.failed: areas.audio.apps[index].engine = nil
        case .microphoneAnswered: areas.audio.apps[index].permission = event.failed ? .denied : .granted
        default: break
        }
    }

    /// The silence began so long ago as it takes to be told.
    private mutating func noteSilence(of index: Int) {
        areas.audio.apps[index].silent = true
        guard profile.areas.audio.silenceLimit == nil, areas.audio.apps[index].isSounding,
            apps[index].state == .background
        else {
            return
        }
        let began = Instant(nanoseconds: now.nanoseconds - AudioRules.silenceNotice.nanoseconds)
        if areas.audio.apps[index].silentSince == nil {
            areas.audio.apps[index].silentSince = max(began, apps[index].face.stateSince)
        }
    }

    private mutating func tellSound(_ app: AppID, _ event: WakeEvent, into output: inout RouterOutput) {
        guard let interest = soundInterest(of: app) else { return }
        let before = output.decisions.count
        decide(event, for: interest, into: &output)
        let decision = output.decisions.count > before ? output.decisions[before] : nil
        switch event.kind {
        case .audioActivated: activationDecided(event, app, decision, into: &output)
        case .audioStarted: startDecided(event, app, decision, into: &output)
        case .audioSilent, .audioAudible, .audioStopped, .microphoneAnswered: settleSound(of: app, into: &output)
        default: break
        }
        settle(app, into: &output)
        reschedule(app)
    }

    /// How an app is interested in events of sound; nil when it does not use it.
    mutating func soundInterest(of app: AppID) -> Interest? {
        guard isInstalled(app), let since = areas.audio.apps[Int(app.number)].since else { return nil }
        return Interest(app, via: .audioSession, since: since)
    }

    /// What the rules look at.
    mutating func soundQuestion(of app: AppID, _ event: WakeEvent) -> AudioQuestion {
        let index = Int(app.number)
        let record = areas.audio.apps[index]
        let engine = record.start?.engine ?? record.engine
        return AudioQuestion(
            kind: event.kind,
            state: apps[index].state,
            failed: event.failed,
            category: record.category,
            plays: engine?.plays ?? false,
            records: engine?.records ?? false,
            silent: record.silent,
            inCall: areas.audio.inCall,
            interruptsPlayer: event.kind == .audioActivated
                && interrupted(by: app).contains { areas.audio.apps[Int($0.number)].isSounding }
        )
    }

    private mutating func activationDecided(
        _ event: WakeEvent,
        _ app: AppID,
        _ decision: Decision?,
        into output: inout RouterOutput
    ) {
        let index = Int(app.number)
        let isGranted = decision?.verdict.delivers == true && areas.audio.apps[index].attached
        if isGranted { activateSession(of: app, by: event, into: &output) }
        if let start = areas.audio.apps[index].start, start.request == event.audioRequest {
            if isGranted {
                raiseSound(.audioStarted, app, local: start.request, parent: event.id, into: &output)
                return
            }
            areas.audio.apps[index].start = nil
        }
        answerSound(event, app, isGranted: isGranted, decision, into: &output)
    }

    private mutating func startDecided(
        _ event: WakeEvent,
        _ app: AppID,
        _ decision: Decision?,
        into output: inout RouterOutput
    ) {
        let index = Int(app.number)
        guard let start = areas.audio.apps[index].start, start.request == event.audioRequest else { return }
        areas.audio.apps[index].start = nil
        let isGranted = decision?.verdict.delivers == true && areas.audio.apps[index].activation != nil
        if isGranted {
            areas.audio.apps[index].engine = start.engine
            areas.audio.apps[index].silent = false
            settleSound(of: app, into: &output)
        }
        answerSound(event, app, isGranted: isGranted, decision, into: &output)
    }

    private mutating func answerSound(
        _ event: WakeEvent,
        _ app: AppID,
        isGranted: Bool,
        _ decision: Decision?,
        into output: inout RouterOutput
    ) {
        guard event.audioRequest != 0, areas.audio.apps[Int(app.number)].attached else { return }
        let record = areas.audio.apps[Int(app.number)]
        let code = decision.map { AudioRules.code(of: $0.reason) } ?? AudioErrorCode.cannotStartPlaying
        output.actions.append(
            .audioAnswer(
                app,
                request: event.audioRequest,
                isGranted ? .granted(frames: record.frames(for: record.engine, locked: isLocked)) : .refused(code)
            )
        )
    }

    // MARK: Questions

    /// What the user lets an app hear (AUD-10).
    package func microphonePermission(of app: AppID) -> MicrophonePermission {
        isInstalled(app) ? areas.audio.apps[Int(app.number)].permission : .undetermined
    }

    /// How many of an app's buffers came late (AUD-11).
    package func underruns(of app: AppID) -> UInt64 {
        Int(app.number) < apps.count ? areas.audio.apps[Int(app.number)].underruns : 0
    }

    /// How long silence alone kept an app running in the background (AUD-4).
    package func silence(of app: AppID, at now: Instant) -> Instant.Span {
        guard Int(app.number) < apps.count else { return .zero }
        let record = areas.audio.apps[Int(app.number)]
        return record.silence + (record.silentSince.map { now.since($0) } ?? .zero)
    }

    /// Whether another app's session is active, and whether one of them does not mix.
    package func otherAudio(beside app: AppID) -> (playing: Bool, silenceSecondary: Bool) {
        let others = areas.audio.users.filter { $0 != app }.map { areas.audio.apps[Int($0.number)] }
        return (
            others.contains { $0.isSounding && $0.stream?.plays == true },
            others.contains { $0.isSounding && $0.stream?.plays == true && $0.activation?.mixes == false }
        )
    }
}
