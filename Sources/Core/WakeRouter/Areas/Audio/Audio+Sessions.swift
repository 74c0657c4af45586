import WakeModel

/// What apps ask of sound, and who plays when (AUD-5).
extension Router {
    mutating func audio(_ request: AudioRequest, from app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        if apps[index].isEnding {
            AudioArea.refuse(request, of: app, into: &output)
            return
        }
        attachSound(app, into: &output)
        switch request {
        case .setCategory(let category, let options):
            areas.audio.apps[index].category = category
            areas.audio.apps[index].options = options
            let sounded = areas.audio.apps[index].isSounding
            settleSound(of: app, into: &output)
            if sounded, !areas.audio.apps[index].isSounding { raiseSound(.audioInBackground, app, into: &output) }
        case .activate(let number):
            keepFromFreezing(app, into: &output)
            raiseSound(.audioActivated, app, local: number, into: &output)
        case .deactivate(let notifiesOthers): deactivate(app, notifiesOthers: notifiesOthers, into: &output)
        case .start(let number, let plays, let records):
            start(app, .init(request: number, engine: .init(plays: plays, records: records)), into: &output)
        case .stop:
            areas.audio.apps[index].start = nil
            stopEngine(of: app, into: &output)
        case .preferBuffer(let span):
            areas.audio.apps[index].preferred = max(.zero, span)
            settleSound(of: app, into: &output)
        case .requestPermission: askForMicrophone(app, into: &output)
        }
    }

    private mutating func attachSound(_ app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard !areas.audio.apps[index].attached else { return }
        areas.audio.apps[index].attached = true
        areas.audio.apps[index].since = now
        Self.insert(app, into: &areas.audio.users)
        deliverWaiting(to: app, into: &output)
    }

    private mutating func start(_ app: AppID, _ start: AudioRecord.Start, into output: inout RouterOutput) {
        let index = Int(app.number)
        keepFromFreezing(app, into: &output)
        if let other = areas.audio.apps[index].start {
            let refusal = AudioAnswer.refused(AudioErrorCode.cannotStartPlaying)
            output.actions.append(.audioAnswer(app, request: other.request, refusal))
        }
        areas.audio.apps[index].start = start
        if start.engine.records, areas.audio.apps[index].permission == .undetermined {
            askForMicrophone(app, into: &output)
        }
        let isActive = areas.audio.apps[index].activation != nil
        raiseSound(isActive ? .audioStarted : .audioActivated, app, local: start.request, into: &output)
    }

    /// The app itself ends what it plays (AUD-2).
    private mutating func stopEngine(of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        let sounded = areas.audio.apps[index].isSounding
        areas.audio.apps[index].engine = nil
        if sounded, apps[index].state == .background, areas.audio.apps[index].activation != nil {
            areas.audio.apps[index].lingersUntil = now.advanced(by: AudioRules.lingering)
        }
        settleSound(of: app, into: &output)
        if sounded { raiseSound(.audioStopped, app, into: &output) }
    }

    private mutating func deactivate(_ app: AppID, notifiesOthers: Bool, into output: inout RouterOutput) {
        let index = Int(app.number)
        areas.audio.apps[index].start = nil
        areas.audio.apps[index].interruption = .none
        stopEngine(of: app, into: &output)
        guard areas.audio.apps[index].activation != nil else { return }
        areas.audio.apps[index].endActivation()
        settleSounds(into: &output)
        letOthersGoOn(after: app, told: notifiesOthers, into: &output)
        settle(app, into: &output)
    }

    /// The user allows it, unless he said otherwise before (AUD-10).
    private mutating func askForMicrophone(_ app: AppID, into output: inout RouterOutput) {
        let isDenied = areas.audio.apps[Int(app.number)].permission == .denied
        if !isDenied { areas.audio.apps[Int(app.number)].permission = .granted }
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
        guard !areas.audio.apps[Int(app.number)].mixes else { return [] }
        return areas.audio.users.filter { $0 != app && areas.audio.apps[Int($0.number)].activation?.mixes == false }
    }

    /// The session becomes active, and those that cannot mix with it inactive (AUD-5).
    mutating func activateSession(of app: AppID, by event: WakeEvent, into output: inout RouterOutput) {
        let index = Int(app.number)
        let others = interrupted(by: app)
        let record = areas.audio.apps[index]
        areas.audio.apps[index].interruption = .none
        areas.audio.apps[index].activation = .init(
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
        areas.audio.apps[index].endActivation()
        areas.audio.apps[index].engine = nil
        areas.audio.apps[index].interruption = interruption
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
        for other in areas.audio.users where areas.audio.apps[Int(other.number)].interruption == .app(app) {
            if told {
                goOn(other, subject: apps[Int(app.number)].face.bundle, parent: .none, into: &output)
            } else {
                areas.audio.apps[Int(other.number)].interruption = .endless
            }
        }
    }

    private mutating func goOn(_ app: AppID, subject: NameID?, parent: EventID, into output: inout RouterOutput) {
        areas.audio.apps[Int(app.number)].interruption = .none
        raiseSound(.audioInterruptionEnded, app, by: subject, parent: parent, into: &output)
    }

    mutating func callBegan(by event: EventID, into output: inout RouterOutput) {
        guard !areas.audio.inCall else { return }
        areas.audio.inCall = true
        for app in areas.audio.users where areas.audio.apps[Int(app.number)].activation != nil {
            interrupt(app, .call, subject: NameID.none, parent: event, into: &output)
        }
    }

    mutating func callEnded(by event: EventID, into output: inout RouterOutput) {
        guard areas.audio.inCall else { return }
        areas.audio.inCall = false
        for app in areas.audio.users where areas.audio.apps[Int(app.number)].interruption == .call {
            goOn(app, subject: NameID.none, parent: event, into: &output)
        }
    }

    // MARK: What the source is told

    mutating func settleSounds(into output: inout RouterOutput) {
        for app in areas.audio.users { settleSound(of: app, into: &output) }
    }

    /// Keeps what the source plays in step with what the app may.
    mutating func settleSound(of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        let stream = stream(of: app)
        defer { countSilence(of: app) }
        guard stream != areas.audio.apps[index].stream else { return }
        let sounded = areas.audio.apps[index].isSounding
        areas.audio.apps[index].stream = stream
        if sounded, !areas.audio.apps[index].isSounding, apps[index].state == .background {
            // Background tasks have their whole time from here on.
            apps[index].taskBudgetEnds = now.advanced(by: profile.taskBudget)
        }
        if !sounded, areas.audio.apps[index].isSounding { areas.audio.apps[index].silent = false }
        output.actions.append(.audio(stream.map { .play(app, $0) } ?? .stop(app)))
        reschedule(app)
    }

    /// The time during which silence alone keeps an app running in the background is counted, and told in the end (AUD-4).
    private mutating func countSilence(of app: AppID) {
        let index = Int(app.number)
        let counts =
            areas.audio.apps[index].silent && areas.audio.apps[index].isSounding && apps[index].state == .background
        if counts, areas.audio.apps[index].silentSince == nil {
            areas.audio.apps[index].silentSince = now
        } else if !counts, let since = areas.audio.apps[index].silentSince {
            areas.audio.apps[index].silence = areas.audio.apps[index].silence + now.since(since)
            areas.audio.apps[index].silentSince = nil
        }
    }

    private func stream(of app: AppID) -> AudioStream? {
        let record = areas.audio.apps[Int(app.number)]
        guard let engine = record.engine, record.activation != nil, record.attached else { return nil }
        let runs =
            switch apps[Int(app.number)].state {
            case .notRunning, .suspended: false
            case .background:
                apps[Int(app.number)].face.modes.contains(.audio) && record.category.goesOnInBackground
                    && !(record.silent && profile.areas.audio.silenceLimit != nil)
            case .active, .inactive: true
            }
        let ducked = areas.audio.users.contains {
            $0 != app && areas.audio.apps[Int($0.number)].activation?.ducks == true
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
    mutating func soundMoved(_ app: AppID, from: AppState, to: AppState, into output: inout RouterOutput) {
        guard areas.audio.apps[Int(app.number)].attached, to != .notRunning else { return }
        let leaves = to == .background && (from == .active || from == .inactive)
        let sounded = areas.audio.apps[Int(app.number)].isSounding
        settleSound(of: app, into: &output)
        if leaves, sounded { raiseSound(.audioInBackground, app, into: &output) }
    }

    /// Suspension ends an active session; the app hears so when it runs again (AUD-6).
    mutating func soundSuspended(_ app: AppID, into output: inout RouterOutput) {
        guard areas.audio.apps[Int(app.number)].attached, areas.audio.apps[Int(app.number)].activation != nil else {
            return
        }
        interrupt(app, .endless, reason: .appWasSuspended, subject: nil, parent: .none, into: &output)
        letOthersGoOn(after: app, told: false, into: &output)
        settleSounds(into: &output)
    }

    /// The process is gone, and its session with it.
    mutating func detachSound(of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        guard areas.audio.apps[index].attached else { return }
        areas.audio.apps[index].attached = false
        areas.audio.apps[index].endActivation()
        areas.audio.apps[index].engine = nil
        areas.audio.apps[index].start = nil
        letOthersGoOn(after: app, told: false, into: &output)
        settleSounds(into: &output)
    }

    /// A new process starts without a session; the user's word and the count of late buffers stay.
    mutating func forgetSound(of app: AppID) {
        let old = areas.audio.apps[Int(app.number)]
        guard old.since != nil else { return }
        areas.audio.users.removeAll { $0 == app }
        areas.audio.apps[Int(app.number)] = AudioRecord()
        areas.audio.apps[Int(app.number)].permission = old.permission
        areas.audio.apps[Int(app.number)].underruns = old.underruns
        areas.audio.apps[Int(app.number)].silence = old.silence
    }
}

extension AudioArea {
    /// A request that cannot be looked at is answered all the same.
    static func refuse(_ request: AudioRequest, of app: AppID, into output: inout RouterOutput) {
        switch request {
        case .activate(let number), .start(let number, _, _):
            let refusal = AudioAnswer.refused(AudioErrorCode.cannotStartPlaying)
            output.actions.append(.audioAnswer(app, request: number, refusal))
        case .setCategory, .deactivate, .stop, .preferBuffer, .requestPermission: break
        }
    }
}
