import WakeModel

/// What apps ask of sound, and who plays when (AUD-5).
extension Router {
    mutating func audio(_ request: AudioRequest, from app: AppID) {
        if apps[app].isEnding {
            refuse(request, of: app)
            return
        }
        attachSound(app)
        switch request {
        case .setCategory(let category, let options):
            areas.audio.apps[app].category = category
            areas.audio.apps[app].options = options
            let sounded = areas.audio.apps[app].isSounding
            settleSound(of: app)
            if sounded, !areas.audio.apps[app].isSounding { raiseSound(.audioInBackground, app) }
        case .activate(let number):
            keepFromFreezing(app)
            raiseSound(.audioActivated, app, local: number)
        case .deactivate(let notifiesOthers): deactivate(app, notifiesOthers: notifiesOthers)
        case .start(let number, let plays, let records):
            start(app, .init(request: number, engine: .init(plays: plays, records: records)))
        case .stop:
            areas.audio.apps[app].start = nil
            stopEngine(of: app)
        case .preferBuffer(let span):
            areas.audio.apps[app].preferred = max(.zero, span)
            settleSound(of: app)
        case .requestPermission: askForMicrophone(app)
        }
    }

    private mutating func attachSound(_ app: AppID) {
        guard !areas.audio.apps[app].attached else { return }
        areas.audio.apps[app].attached = true
        areas.audio.apps[app].since = now
        areas.audio.users.insertInOrder(app)
        deliverWaiting(to: app)
    }

    private mutating func start(_ app: AppID, _ start: AudioRecord.Start) {
        keepFromFreezing(app)
        if let other = areas.audio.apps[app].start {
            let refusal = AudioAnswer.refused(AudioErrorCode.cannotStartPlaying)
            act(.tell(app, .audioAnswer(request: other.request, refusal)))
        }
        areas.audio.apps[app].start = start
        if start.engine.records, areas.audio.apps[app].permission == .undetermined {
            askForMicrophone(app)
        }
        let isActive = areas.audio.apps[app].activation != nil
        raiseSound(isActive ? .audioStarted : .audioActivated, app, local: start.request)
    }

    /// The app itself ends what it plays (AUD-2).
    private mutating func stopEngine(of app: AppID) {
        let sounded = areas.audio.apps[app].isSounding
        areas.audio.apps[app].engine = nil
        if sounded, apps[app].state == .background, areas.audio.apps[app].activation != nil {
            areas.audio.apps[app].lingersUntil = now.advanced(by: AudioRules.lingering)
        }
        settleSound(of: app)
        if sounded { raiseSound(.audioStopped, app) }
    }

    private mutating func deactivate(_ app: AppID, notifiesOthers: Bool) {
        areas.audio.apps[app].start = nil
        areas.audio.apps[app].interruption = .none
        stopEngine(of: app)
        guard areas.audio.apps[app].activation != nil else { return }
        areas.audio.apps[app].endActivation()
        settleSounds()
        letOthersGoOn(after: app, told: notifiesOthers)
        settle(app)
    }

    /// The user allows it, unless he said otherwise before (AUD-10).
    private mutating func askForMicrophone(_ app: AppID) {
        let isDenied = areas.audio.apps[app].permission == .denied
        if !isDenied { areas.audio.apps[app].permission = .granted }
        act(.did(app, isDenied ? .deniedMicrophone : .allowedMicrophone))
        raiseSound(.microphoneAnswered, app, failed: isDenied)
    }

    mutating func raiseSound(
        _ kind: EventKind,
        _ app: AppID,
        local: UInt32 = 0,
        failed: Bool = false,
        by other: NameID? = nil,
        parent: EventID = .none
    ) {
        raise(
            WakeEvent(
                kind: kind,
                local: local,
                subject: other ?? apps[app].snapshot.bundle,
                failed: failed,
                app: app,
                parent: parent
            )
        )
    }

    // MARK: Who plays

    /// Whether a session that is to become active would interrupt others, and which.
    func interrupted(by app: AppID) -> [AppID] {
        guard !areas.audio.apps[app].mixes else { return [] }
        return areas.audio.users.filter { $0 != app && areas.audio.apps[$0].activation?.mixes == false }
    }

    /// The session becomes active, and those that cannot mix with it inactive (AUD-5).
    mutating func activateSession(of app: AppID, by event: WakeEvent) {
        let others = interrupted(by: app)
        let record = areas.audio.apps[app]
        areas.audio.apps[app].interruption = .none
        areas.audio.apps[app].activation = .init(
            since: record.activation?.since ?? now,
            mixes: record.mixes,
            ducks: record.options.contains(.duckOthers)
        )
        for other in others {
            interrupt(other, .app(app), subject: apps[app].snapshot.bundle, parent: event.id)
        }
        settleSounds()
    }

    /// A session is inactive before its app hears of it (AUD-6).
    private mutating func interrupt(
        _ app: AppID,
        _ interruption: AudioRecord.Interruption,
        reason: AudioInterruptionReason = .other,
        subject: NameID?,
        parent: EventID
    ) {
        areas.audio.apps[app].endActivation()
        areas.audio.apps[app].engine = nil
        areas.audio.apps[app].interruption = interruption
        settleSound(of: app)
        raiseSound(.audioInterrupted, app, local: UInt32(reason.rawValue), by: subject, parent: parent)
        reschedule(app)
    }

    /// Those that a session interrupted hear that it is over, or never do (AUD-6).
    private mutating func letOthersGoOn(after app: AppID, told: Bool) {
        for other in areas.audio.users where areas.audio.apps[other].interruption == .app(app) {
            if told {
                goOn(other, subject: apps[app].snapshot.bundle, parent: .none)
            } else {
                areas.audio.apps[other].interruption = .endless
            }
        }
    }

    private mutating func goOn(_ app: AppID, resumes: Bool = true, subject: NameID?, parent: EventID) {
        areas.audio.apps[app].interruption = .none
        raiseSound(.audioInterruptionEnded, app, failed: !resumes, by: subject, parent: parent)
    }

    mutating func callBegan(by event: EventID) {
        guard !areas.audio.inCall else { return }
        areas.audio.inCall = true
        for app in areas.audio.users where areas.audio.apps[app].activation != nil {
            interrupt(app, .call, subject: NameID.none, parent: event)
        }
    }

    /// What a call interrupted hears that it is over, with or without shouldResume, or hears nothing (AUD-6).
    mutating func callEnded(_ change: PhoneChange, by event: EventID) {
        guard areas.audio.inCall else { return }
        areas.audio.inCall = false
        for app in areas.audio.users where areas.audio.apps[app].interruption == .call {
            if change == .callEndedUntold {
                areas.audio.apps[app].interruption = .endless
                act(.did(app, .leftInterrupted, event))
            } else {
                goOn(app, resumes: change == .callEnded, subject: NameID.none, parent: event)
            }
        }
    }

    // MARK: What the source is told

    mutating func settleSounds() {
        for app in areas.audio.users { settleSound(of: app) }
    }

    /// Keeps what the source plays in step with what the app may.
    mutating func settleSound(of app: AppID) {
        let stream = stream(of: app)
        defer { countSilence(of: app) }
        guard stream != areas.audio.apps[app].stream else { return }
        let sounded = areas.audio.apps[app].isSounding
        if let stream, let before = areas.audio.apps[app].stream, stream.frames != before.frames {
            act(.did(app, .grantedBuffer))
        }
        areas.audio.apps[app].stream = stream
        if sounded, !areas.audio.apps[app].isSounding, apps[app].state == .background {
            // Background tasks have their whole time from here on.
            apps[app].taskBudgetEnds = now.advanced(by: profile.taskBudget)
        }
        if !sounded, areas.audio.apps[app].isSounding { areas.audio.apps[app].silent = false }
        act(.audio(stream.map { .play(app, $0) } ?? .stop(app)))
        reschedule(app)
    }

    /// The time during which silence alone keeps an app running in the background is counted, and told in the end (AUD-4).
    private mutating func countSilence(of app: AppID) {
        let counts =
            areas.audio.apps[app].silent && areas.audio.apps[app].isSounding && apps[app].state == .background
        if counts, areas.audio.apps[app].silentSince == nil {
            areas.audio.apps[app].silentSince = now
        } else if !counts, let since = areas.audio.apps[app].silentSince {
            areas.audio.apps[app].silence = areas.audio.apps[app].silence + now.since(since)
            areas.audio.apps[app].silentSince = nil
        }
    }

    private func stream(of app: AppID) -> AudioStream? {
        let record = areas.audio.apps[app]
        guard let engine = record.engine, record.activation != nil, record.attached else { return nil }
        let runs =
            switch apps[app].state {
            case .notRunning, .suspended: false
            case .background:
                apps[app].snapshot.modes.contains(.audio) && record.category.goesOnInBackground
                    && !(record.silent && profile.areas.audio.silenceLimit != nil)
            case .active, .inactive: true
            }
        let ducked = areas.audio.users.contains {
            $0 != app && areas.audio.apps[$0].activation?.ducks == true
        }
        return AudioStream(
            plays: engine.plays,
            records: engine.records,
            runs: runs,
            frames: record.frames(for: engine, locked: isLocked),
            gain: ducked ? AudioFormat.duckedGain : AudioFormat.fullGain,
            hears: record.permission == .granted,
            silenceLimit: profile.areas.audio.silenceLimit ?? AudioRules.silenceNotice
        )
    }

    // MARK: The process

    /// The app went to the foreground or the background.
    mutating func soundMoved(_ app: AppID, from: AppState, to: AppState) {
        guard areas.audio.apps[app].attached, to != .notRunning else { return }
        let leaves = to == .background && (from == .active || from == .inactive)
        let sounded = areas.audio.apps[app].isSounding
        settleSound(of: app)
        if leaves, sounded { raiseSound(.audioInBackground, app) }
    }

    /// Suspension ends an active session; the app hears so when it runs again (AUD-6).
    mutating func soundSuspended(_ app: AppID) {
        guard areas.audio.apps[app].attached, areas.audio.apps[app].activation != nil else {
            return
        }
        interrupt(app, .endless, reason: .appWasSuspended, subject: nil, parent: .none)
        letOthersGoOn(after: app, told: false)
        settleSounds()
    }

    /// The process is gone, and its session with it.
    mutating func detachSound(of app: AppID) {
        guard areas.audio.apps[app].attached else { return }
        areas.audio.apps[app].attached = false
        areas.audio.apps[app].endActivation()
        areas.audio.apps[app].engine = nil
        areas.audio.apps[app].start = nil
        letOthersGoOn(after: app, told: false)
        settleSounds()
    }

    /// A new process starts without a session; the user's word and the count of late buffers stay.
    mutating func forgetSound(of app: AppID) {
        let old = areas.audio.apps[app]
        guard old.since != nil else { return }
        areas.audio.users.removeAll { $0 == app }
        areas.audio.apps[app] = AudioRecord()
        areas.audio.apps[app].permission = old.permission
        areas.audio.apps[app].underruns = old.underruns
        areas.audio.apps[app].silence = old.silence
    }

    /// A request that cannot be looked at is answered all the same.
    mutating func refuse(_ request: AudioRequest, of app: AppID) {
        switch request {
        case .activate(let number), .start(let number, _, _):
            let refusal = AudioAnswer.refused(AudioErrorCode.cannotStartPlaying)
            act(.tell(app, .audioAnswer(request: number, refusal)))
        case .setCategory, .deactivate, .stop, .preferBuffer, .requestPermission: break
        }
    }
}
