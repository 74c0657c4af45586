import WakeModel

/// When transfers run: what they wait for, and how long they may take.
extension Router {
    /// Begins a task that may run, and holds one that may not.
    mutating func consider(_ place: TransferPlace, of app: AppID) {
        let session = areas.transfer.apps[app].sessions[place.session]
        let task = session.tasks[place.task]
        guard task.stage == .waiting || task.stage == .running else { return }
        let hold = TransferRules.hold(
            task,
            allowsCellular: session.configuration.allowsCellular,
            on: conditions,
            isOff: areas.transfer.isOff,
            isIdle: isIdle,
            at: now
        )
        areas.transfer.apps[app][place].looksAt = looksAgain(task, hold)
        guard let hold else {
            if task.stage == .waiting { begin(place, task, session, of: app) }
            return
        }
        if task.stage == .running {
            act(.transfer(.suspend(task.transfer)))
            areas.transfer.apps[app][place].stage = .waiting
            areas.transfer.apps[app][place].resumes = true
        }
        guard task.hold != hold else { return }
        areas.transfer.apps[app][place].hold = hold
        tell(hold, of: task, in: session.identifier, of: app)
    }

    private func looksAgain(_ task: TransferRecord.Task, _ hold: TransferRecord.Hold?) -> Instant {
        switch hold {
        case .beginDate: task.wishes.earliestBegin ?? .distantFuture
        case .resumes: task.limitEnds
        case .retry: task.retriesAt
        case .shutDown, .lowPower, .goodMoment, .network, nil: .distantFuture
        }
    }

    private mutating func begin(
        _ place: TransferPlace,
        _ task: TransferRecord.Task,
        _ session: TransferRecord.Session,
        of app: AppID
    ) {
        areas.transfer.apps[app][place].hold = nil
        areas.transfer.apps[app][place].stage = .running
        areas.transfer.apps[app][place].resumes = true
        act(
            .transfer(
                .begin(
                    app,
                    task.transfer,
                    task: task.number,
                    session: session.identifier,
                    task.order,
                    requestTimeout: session.configuration.requestTimeout ?? profile.areas.transfer.requestTimeout,
                    resumes: task.resumes
                )
            )
        )
    }

    private mutating func tell(
        _ hold: TransferRecord.Hold,
        of task: TransferRecord.Task,
        in session: NameID,
        of app: AppID
    ) {
        switch hold {
        case .shutDown, .retry: break
        case .beginDate: act(.did(app, .heldForBeginDate, subject: session))
        case .resumes: act(.did(app, .heldForResumes, subject: session))
        case .lowPower: act(.did(app, .pausedForLowPower, subject: session))
        case .goodMoment: act(.did(app, .heldForGoodMoment, subject: session))
        case .network:
            raise(
                WakeEvent(
                    kind: .transferWaiting,
                    local: task.transfer,
                    subject: session,
                    app: app,
                    manager: task.number
                )
            )
        }
    }

    /// Every task of every app is looked at: the phone has changed.
    mutating func considerAllTransfers() {
        for app in everyApp where !areas.transfer.apps[app].sessions.isEmpty {
            considerTransfers(of: app)
            reschedule(app)
        }
    }

    private mutating func considerTransfers(of app: AppID) {
        for place in transferPlaces(of: app) { consider(place, of: app) }
    }

    private func transferPlaces(of app: AppID) -> [TransferPlace] {
        let sessions = areas.transfer.apps[app].sessions
        return sessions.indices.flatMap { session in
            sessions[session].tasks.indices.map { TransferPlace(session: session, task: $0) }
        }
    }

    /// What the source had is asked for again: it may have died with the bench (SYS-2).
    mutating func takeUpTransfers() {
        guard !areas.transfer.isOff else { return }
        for app in everyApp where apps[app].installed {
            for place in transferPlaces(of: app) {
                let session = areas.transfer.apps[app].sessions[place.session]
                switch session.tasks[place.task].stage {
                case .running, .challenged:
                    begin(place, session.tasks[place.task], session, of: app)
                    areas.transfer.apps[app][place].stage = session.tasks[place.task].stage
                case .suspended, .waiting, .over, .kept, .telling, .told: break
                }
            }
        }
    }

    // MARK: The resume rate limiter

    /// A wake by a session lengthens the wait of what is created in the background from now on (XFER-8).
    mutating func lengthenResumeDelay(of app: AppID, in session: NameID) {
        let delay = areas.transfer.apps[app].resumeDelay(at: now)
        let first = profile.areas.transfer.resumeDelay
        let longest = Instant.Span.seconds(3_660 * 24 * 3_600)
        areas.transfer.apps[app].resumeDelay = delay == .zero ? first : min(longest, delay + delay)
        areas.transfer.apps[app].delaySince = now
        act(.did(app, .lengthenedResumeDelay, subject: session))
    }

    /// The user sees the app: nothing of it waits for the limiter any more (XFER-8).
    mutating func liftResumeDelay(of app: AppID) {
        guard areas.transfer.apps[app].resumeDelay > .zero else { return }
        areas.transfer.apps[app].resumeDelay = .zero
        for place in transferPlaces(of: app) {
            areas.transfer.apps[app][place].limitEnds = .zero
            consider(place, of: app)
        }
    }

    // MARK: Time

    mutating func transfersDue(of app: AppID) {
        handlersDue(of: app)
        guard !areas.transfer.isOff, areas.transfer.apps[app].tasksDue <= now else { return }
        for place in transferPlaces(of: app) {
            let task = areas.transfer.apps[app][place]
            guard task.stage.isUnderWay else { continue }
            if task.timesOutAt <= now {
                let session = areas.transfer.apps[app].sessions[place.session].identifier
                act(.did(app, .timedOutTransfer, subject: session))
                endTransfer(place, .timedOut, of: app)
            } else if task.looksAt <= now {
                areas.transfer.apps[app][place].looksAt = .distantFuture
                consider(place, of: app)
            }
        }
    }

    /// A completion handler that was never called ends its app (XFER-10), where the profile has a code for that.
    private mutating func handlersDue(of app: AppID) {
        while let answer = areas.transfer.apps[app].owed.takeOverdue(at: now) {
            guard answer.code != 0, apps[app].state == .background, !apps[app].isEnding else { continue }
            if !isExempt(app) { act(.did(app, .endedForTransferHandler)) }
            endForAnswer(answer, of: app)
        }
    }
}
