import WakeModel

/// What apps ask of sound, and who plays when (AUD-5).
extension Router {
    mutating func audio(_ request: AudioRequest, from app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        if case .ending = apps[index].phase {
            refuseSound(.audio(request), of: app, into: &output)
            return
        }
        attachSound(app, into: &output)
        switch request {
        case .setCategory(let category, let options):
            apps[index].audio.category = category
            apps[index].audio.options = options
            let sounded = apps[index].audio.isSounding
            settleSound(of: app, into: &output)
            if sounded, !apps[index].audio.isSounding { raiseSound(.audioInBackground, app, into: &output) }
        case .activate(let number):
            keepFromFreezing(app, into: &output)
            raiseSound(.audioActivated, app, local: number, into: &output)
        case .deactivate(let notifiesOthers): deactivate(app, notifiesOthers: notifiesOthers, into: &output)
        case .start(let number, let plays, let records):
            start(app, .init(request: number, engine: .init(plays: plays, records: records)), into: &output)
        case .stop:
            apps[index].audio.start = nil
            stopEngine(of: app, into: &output)
        case .preferBuffer(let span):
            apps[index].audio.preferred = max(.zero, span)
            settleSound(of: app, into: &output)
        case .requestPermission: askForMicrophone(app, into: &output)
        }
    }

    /// A request that cannot be looked at is answered all the same.
    mutating func refuseSound(_ request: AppRequest, of app: AppID, into output: inout RouterOutput) {
        switch request {
        case .audio(.activate(let number)), .audio(.start(let number, _, _)):
            let refusal = AudioAnswer.refused(AudioErrorCode.cannotStartPlaying)
            output.actions.append(.audioAnswer(app, request: number, refusal))
        default: break
        }
    }

    private mutating func attachSound(_ app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard !apps[index].audio.attached else { return }
        apps[index].audio.attached = true
        apps[index].audio.since = now
        Self.insert(app, into: &audioApps)
        deliverWaiting(to: app, into: &output)
    }

    /// The request was on its way when the freeze began: it is decided first.
    mutating func keepFromFreezing(_ app: AppID, into output: inout RouterOutput) {
        guard apps[Int(app.number)].phase == .freezing else { return }
        apps[Int(app.number)].phase = .running
        output.actions.append(.thaw(app))
        decideHeld(of: app, into: &output)
    }

    private mutating func start(_ app: AppID, _ start: AudioRecord.Start, into output: inout RouterOutput) {
        let index = Int(app.number)
        keepFromFreezing(app, into: &output)
        if let other = apps[index].audio.start {
            let refusal = AudioAnswer.refused(AudioErrorCode.cannotStartPlaying)
            output.actions.append(.audioAnswer(app, request: other.request, refusal))
        }
        apps[index].audio.start = start
        if start.engine.records, apps[index].audio.permission == .undetermined { askForMicrophone(app, into: &output) }
        let isActive = apps[index].audio.activation != nil
        raiseSound(isActive ? .audioStarted : .audioActivated, app, local: start.request, into: &output)
    }

    /// The app itself ends what it plays (AUD-2).
    private mutating func stopEngine(of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        let sounded = apps[index].audio.isSounding
        apps[index].audio.engine = nil
        if sounded, apps[index].state == .background, apps[index].audio.activation != nil {
            apps[index].audio.lingersUntil = now.advanced(by: AudioRules.lingering)
        }
        settleSound(of: app, into: &output)
        if sounded { raiseSound(.audioStopped, app, into: &output) }
    }

    private mutating func deactivate(_ app: AppID, notifiesOthers: Bool, into output: inout RouterOutput) {
        let index = Int(app.number)
        apps[index].audio.start = nil
        apps[index].audio.interruption = .none
        stopEngine(of: app, into: &output)
        guard apps[index].audio.activation != nil else { return }
        apps[index].audio.endActivation()
        settleSounds(into: &output)
        letOthersGoOn(after: app, told: notifiesOthers, into: &output)
        settle(app, into: &output)
    }

    /// The user allows it, unless he said otherwise before (AUD-10).
    private mutating func askForMicrophone(_ app: AppID, into output: inout RouterOutput) {
        let isDenied = apps[Int(app.number)].audio.permission == .denied
        if !isDenied { apps[Int(app.number)].audio.permission = .granted }
        raiseSound(.microphoneAnswered, app, failed: isDenied, into: &output)
    }

    func raiseSound(
        _ kind: EventKind,
        _ app: AppID,
        local: UInt32 = 0,
        failed: Bool = false,
        by other: NameID? = nil,
        parent: EventID = .none,
        into output: inout RouterOutput
    ) {
        output.actions.append(
            .raise(
                WakeEvent(
                    kind: kind,
                    local: local,
                    subject: other ?? apps[Int(app.number)].face.bundle,
                    failed: failed,
                    app: app,
                    parent: parent
                ),
                .none
            )
        )
    }

    // MARK: Who plays

    /// Whether a session that is to become active would interrupt others, and which.
    func interrupted(by app: AppID) -> [AppID] {
        guard !apps[Int(app.number)].audio.mixes else { return [] }
        return audioApps.filter { $0 != app && apps[Int($0.number)].audio.activation?.mixes == false }
    }

    /// The session becomes active, and those that cannot mix with it inactive (AUD-5).
    mutating func activateSession(of app: AppID, by event: WakeEvent, into output: inout RouterOutput) {
        let index = Int(app.number)
        let others = interrupted(by: app)
        let record = apps[index].audio
        apps[index].audio.interruption = .none
        apps[index].audio.activation = .init(
            since: record.activation?.since ?? now,
            mixes: record.mixes,
            ducks: record.options.contains(.duckOthers)
        )
        for other in others {
            interrupt(other, .app(app), subject: apps[index].face.bundle, parent: event.id, into: &output)
        }
        settleSounds(into: &output)
    }

    /// A session is inactive before its app hears of it (AUD-6).
    private mutating func interrupt(
        _ app: AppID,
        _ interruption: AudioRecord.Interruption,
        reason: AudioInterruptionReason = .other,
        subject: NameID?,
        parent: EventID,
        into output: inout RouterOutput
    ) {
        let index = Int(app.number)
        apps[index].audio.endActivation()
        apps[index].audio.engine = nil
        apps[index].audio.interruption = interruption
        settleSound(of: app, into: &output)
        raiseSound(
            .audioInterrupted,
            app,
            local: UInt32(reason.rawValue),
            by: subject,
            parent: parent,
            into: &output
        )
        reschedule(app)
    }

    /// Those that a session interrupted hear that it is over, or never do (AUD-6).
    private mutating func letOthersGoOn(after app: AppID, told: Bool, into output: inout RouterOutput) {
        for other in audioApps where apps[Int(other.number)].audio.interruption == .app(app) {
            if told {
                goOn(other, subject: apps[Int(app.number)].face.bundle, parent: .none, into: &output)
            } else {
                apps[Int(other.number)].audio.interruption = .endless
            }
        }
    }

    private mutating func goOn(_ app: AppID, subject: NameID?, parent: EventID, into output: inout RouterOutput) {
        apps[Int(app.number)].audio.interruption = .none
        raiseSound(.audioInterruptionEnded, app, by: subject, parent: parent, into: &output)
    }

    mutating func callBegan(by event: EventID, into output: inout RouterOutput) {
        guard !inCall else { return }
        inCall = true
        for app in audioApps where apps[Int(app.number)].audio.activation != nil {
            interrupt(app, .call, subject: NameID.none, parent: event, into: &output)
        }
    }

    mutating func callEnded(by event: EventID, into output: inout RouterOutput) {
        guard inCall else { return }
        inCall = false
        for app in audioApps where apps[Int(app.number)].audio.interruption == .call {
            goOn(app, subject: NameID.none, parent: event, into: &output)
        }
    }

    mutating func setLocked(_ locked: Bool, into output: inout RouterOutput) {
        isLocked = locked
        settleSounds(into: &output)
    }

    // MARK: What the source is told

    mutating func settleSounds(into output: inout RouterOutput) {
        for app in audioApps { settleSound(of: app, into: &output) }
    }

    /// Keeps what the source plays in step with what the app may.
    mutating func settleSound(of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        let stream = stream(of: app)
        defer { countSilence(of: app) }
        guard stream != apps[index].audio.stream else { return }
        let sounded = apps[index].audio.isSounding
        apps[index].audio.stream = stream
        if sounded, !apps[index].audio.isSounding, apps[index].state == .background {
            // Background tasks have their whole time from here on.
            apps[index].taskBudgetEnds = now.advanced(by: profile.taskBudget)
        }
        if !sounded, apps[index].audio.isSounding { apps[index].audio.silent = false }
        output.actions.append(.audio(stream.map { .play(app, $0) } ?? .stop(app)))
        reschedule(app)
    }

    /// The time during which silence alone keeps an app running in the background is counted, and told in the end (AUD-4).
    private mutating func countSilence(of app: AppID) {
        let index = Int(app.number)
        let counts = apps[index].audio.silent && apps[index].audio.isSounding && apps[index].state == .background
        if counts, apps[index].audio.silentSince == nil {
            apps[index].audio.silentSince = now
        } else if !counts, let since = apps[index].audio.silentSince {
            apps[index].audio.silence = apps[index].audio.silence + now.since(since)
            apps[index].audio.silentSince = nil
        }
    }

    private func stream(of app: AppID) -> AudioStream? {
        let record = apps[Int(app.number)].audio
        guard let engine = record.engine, record.activation != nil, record.attached else { return nil }
        let runs =
            switch apps[Int(app.number)].state {
            case .notRunning, .suspended: false
            case .background:
                apps[Int(app.number)].face.modes.contains(.audio) && record.category.goesOnInBackground
                    && !(record.silent && profile.audioSilenceLimit != nil)
            case .active, .inactive: true
            }
        let ducked = audioApps.contains {
            $0 != app && apps[Int($0.number)].audio.activation?.ducks == true
        }
        return AudioStream(
            plays: engine.plays,
            records: engine.records,
            runs: runs,
            frames: record.frames(for: engine, locked: isLocked),
            gain: ducked ? AudioFormat.duckedGain : AudioFormat.fullGain,
            hears: record.permission == .granted,
            silenceLimit: profile.audioSilenceLimit ?? AudioRules.silenceNotice
        )
    }

    // MARK: The process

    /// The app went to the foreground or the background.
    mutating func soundMoved(_ app: AppID, from: AppState, to: AppState, into output: inout RouterOutput) {
        guard to != .notRunning else { return }
        let leaves = to == .background && (from == .active || from == .inactive)
        let sounded = apps[Int(app.number)].audio.isSounding
        settleSound(of: app, into: &output)
        if leaves, sounded { raiseSound(.audioInBackground, app, into: &output) }
    }

    /// Suspension ends an active session; the app hears so when it runs again (AUD-6).
    mutating func soundSuspended(_ app: AppID, into output: inout RouterOutput) {
        guard apps[Int(app.number)].audio.activation != nil else { return }
        interrupt(app, .endless, reason: .appWasSuspended, subject: nil, parent: .none, into: &output)
        letOthersGoOn(after: app, told: false, into: &output)
        settleSounds(into: &output)
    }

    /// The process is gone, and its session with it.
    mutating func detachSound(of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard apps[index].audio.attached else { return }
        apps[index].audio.attached = false
        apps[index].audio.endActivation()
        apps[index].audio.engine = nil
        apps[index].audio.start = nil
        letOthersGoOn(after: app, told: false, into: &output)
        settleSounds(into: &output)
    }

    /// A new process starts without a session; the user's word and the count of late buffers stay.
    mutating func forgetSound(of app: AppID) {
        let old = apps[Int(app.number)].audio
        guard old.since != nil else { return }
        audioApps.removeAll { $0 == app }
        apps[Int(app.number)].audio = AudioRecord()
        apps[Int(app.number)].audio.permission = old.permission
        apps[Int(app.number)].audio.underruns = old.underruns
        apps[Int(app.number)].audio.silence = old.silence
    }
}
