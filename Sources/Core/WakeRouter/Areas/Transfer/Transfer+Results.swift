import WakeModel

/// The ends of transfers: kept with their session, told to the process that has joined it, and wakes for both.
extension Router {
    // MARK: What the source says

    /// An event of a transfer comes in. Says whether it is one of a transfer that goes on, or of a result on its way.
    mutating func hears(_ event: WakeEvent, of app: AppID) -> Bool {
        guard event.transfer != 0 else { return event.kind == .transferEventsFinished }
        guard let place = areas.transfer.apps[app].place(of: event.transfer) else { return false }
        let stage = areas.transfer.apps[app][place].stage
        switch event.kind {
        case .transferEnded:
            if case .telling = stage { return event.parent != .none || stage.isOfSystem }
            guard stage.isUnderWay else { return false }
            return ended(place, stage, event, of: app)
        case .transferChallenged: return challenged(place, stage, event, of: app)
        case .transferProgressed, .transferWaiting: return stage.isUnderWay
        default: return false
        }
    }

    private mutating func ended(
        _ place: TransferPlace,
        _ stage: TransferRecord.Stage,
        _ event: WakeEvent,
        of app: AppID
    ) -> Bool {
        let session = areas.transfer.apps[app].sessions[place.session].identifier
        if case .challenged(_, let challenge) = stage { act(.discard(app, challenge)) }
        switch event.transferEnd {
        case .finished, .failed: areas.transfer.apps[app][place].stage = .over
        case .interrupted, .interruptedResumable:
            let resumes = event.transferEnd == .interruptedResumable
            areas.transfer.apps[app][place].stage = .waiting
            areas.transfer.apps[app][place].retriesAt = now.advanced(by: profile.areas.transfer.retryDelay)
            areas.transfer.apps[app][place].resumes = resumes
            act(.did(app, resumes ? .resumedTransfer : .retriedTransfer, subject: session, event.id))
            consider(place, of: app)
        }
        return true
    }

    private mutating func challenged(
        _ place: TransferPlace,
        _ stage: TransferRecord.Stage,
        _ event: WakeEvent,
        of app: AppID
    ) -> Bool {
        switch stage {
        case .challenged(event.challenge, let kept): return event.parent == kept
        case .challenged(_, let older):
            // The source began anew, and asks again.
            act(.discard(app, older))
        case .running: break
        case .suspended, .waiting, .over, .kept, .telling, .told: return false
        }
        act(.keep(app, event.id))
        areas.transfer.apps[app][place].stage = .challenged(event.challenge, event.id)
        areas.transfer.apps[app][place].hasAsked = false
        return true
    }

    /// The event of the next transfer of a session, after an earlier one: its own goes on, or another's. Nil where none does that
    /// could have such an event.
    func nextTransfer(after event: WakeEvent) -> WakeEvent? {
        guard event.kind.source == .transfer, let app = event.app, isInstalled(app), event.transfer != 0,
            let session = areas.transfer.apps[app].sessions.first(where: { $0.identifier == event.subject })
        else { return nil }
        let asks = event.kind == .transferChallenged
        let tasks = session.tasks.filter { asks ? $0.stage == .running : $0.stage.isUnderWay }
        guard let task = tasks.first(where: { $0.transfer == event.transfer }) ?? tasks.first else { return nil }
        guard event.kind != .transferEnded else {
            return WakeEvent.transferEnded(
                task.transfer,
                of: app,
                task: task.number,
                event.subject,
                .finished,
                origin: event.origin
            )
        }
        var next = event
        (next.local, next.manager) = (task.transfer, task.number)
        return next
    }

    // MARK: Deciding

    /// How an app is interested in an event now; nil when it is not.
    func transferInterest(of app: AppID, in event: WakeEvent) -> Interest? {
        guard isInstalled(app), let session = session(of: event, app) else { return nil }
        let since = areas.transfer.apps[app].sessions[session].since
        if isLive(session, of: app) || !TransferRules.wakes(event.kind) {
            return Interest(app, slot: UInt16(session + 1), via: .transferSession, since: since)
        }
        let isIssue = areas.transfer.apps[app].sessions[session].configuration.kind == .newsstand
        return Interest(app, via: isIssue ? .newsstandDownload : .transferEvents, since: since)
    }

    /// The session of an event that still matters to it.
    private func session(of event: WakeEvent, _ app: AppID) -> Int? {
        guard event.transfer != 0 else {
            return areas.transfer.apps[app].sessions.firstIndex { $0.identifier == event.subject }
        }
        guard let place = areas.transfer.apps[app].place(of: event.transfer) else { return nil }
        let isWanted: Bool
        switch (event.kind, areas.transfer.apps[app][place].stage) {
        case (.transferEnded, .over), (.transferEnded, .telling): isWanted = true
        case (.transferEnded, .told(let told, _)): isWanted = told == event.id
        // What was on its way when the bench died is with its session again.
        case (.transferEnded, .kept(.event(let kept, _))): isWanted = kept == event.id || kept == event.parent
        case (.transferEnded, .kept(.failure)): isWanted = event.transferEnd == .failed
        case (.transferEnded, .waiting), (.transferEnded, .running): isWanted = !event.transferEnd.isOver
        case (.transferChallenged, .challenged(let challenge, _)): isWanted = challenge == event.challenge
        case (.transferProgressed, let stage), (.transferWaiting, let stage): isWanted = stage.isUnderWay
        default: isWanted = false
        }
        return isWanted ? place.session : nil
    }

    /// Whether the app runs, and its process has joined the session.
    private func isLive(_ session: Int, of app: AppID) -> Bool {
        areas.transfer.apps[app].sessions[session].manager != nil && apps[app].state != .suspended
            && apps[app].state != .notRunning
    }

    func transferQuestion(on event: WakeEvent, for interest: Interest) -> TransferQuestion {
        let record = areas.transfer.apps[interest.app]
        let task = record.place(of: event.transfer)
        guard let place = task?.session ?? record.sessions.firstIndex(where: { $0.identifier == event.subject }) else {
            preconditionFailure("an event of no session is decided")
        }
        let session = record.sessions[place]
        return TransferQuestion(
            kind: event.kind,
            end: event.transferEnd,
            state: apps[interest.app].state,
            isLive: isLive(place, of: interest.app),
            session: session.configuration.kind,
            sendsLaunchEvents: session.configuration.sendsLaunchEvents,
            left: session.tasks.count { $0.stage.isUnderWay && $0.transfer != event.transfer },
            isAnnounced: record.owed.owes(session.number),
            wasKept: task.map { record[$0].stage.wasKept } ?? false || event.parent != .none
        )
    }

    /// An event reached the app: a result, or the word that its session has something for it.
    mutating func carriedOut(_ event: WakeEvent, _ verdict: Verdict, for interest: Interest) {
        let app = interest.app
        guard let session = session(of: event, app) else { return }
        if interest.via == .transferSession {
            switch event.kind {
            case .transferEventsFinished: areas.transfer.apps[app].sessions[session].owesFinish = false
            case .transferEnded: noteTold(event, of: app)
            case .transferChallenged: noteAsked(event, of: app)
            default: break
            }
            return
        }
        keepResult(of: event, of: app)
        let identifier = areas.transfer.apps[app].sessions[session].identifier
        if interest.via == .transferEvents {
            let number = areas.transfer.apps[app].sessions[session].number
            let due = now.advanced(by: profile.areas.transfer.window)
            areas.transfer.apps[app].owed.owe(number, until: due, code: profile.areas.transfer.terminationCode ?? 0)
            areas.transfer.apps[app].sessions[session].owesFinish = true
            if verdict == .resume || verdict == .relaunch { lengthenResumeDelay(of: app, in: identifier) }
        }
        tellKept(session, of: app)
    }

    // MARK: Results

    /// A result did not reach a process that has joined its session: it is kept with the session (XFER-3).
    mutating func keepResult(of event: WakeEvent, of app: AppID) {
        guard event.kind == .transferEnded, let place = areas.transfer.apps[app].place(of: event.transfer) else {
            return
        }
        switch areas.transfer.apps[app][place].stage {
        case .told(let told, _) where told != event.id: return
        case .over:
            act(.keep(app, event.id))
            areas.transfer.apps[app][place].stage = .kept(.event(event.id, event.transferEnd))
        case .telling(let result, _), .told(_, let result): areas.transfer.apps[app][place].stage = .kept(result)
        case .suspended, .waiting, .running, .challenged, .kept: return
        }
    }

    /// The process has the challenge, and is asked once.
    private mutating func noteAsked(_ event: WakeEvent, of app: AppID) {
        guard let place = areas.transfer.apps[app].place(of: event.transfer) else { return }
        areas.transfer.apps[app][place].hasAsked = true
    }

    /// The process is given the result, which stays with the session until it has taken it.
    private mutating func noteTold(_ event: WakeEvent, of app: AppID) {
        guard event.kind == .transferEnded, let place = areas.transfer.apps[app].place(of: event.transfer) else {
            return
        }
        switch areas.transfer.apps[app][place].stage {
        case .telling(let result, _), .kept(let result), .told(_, let result):
            areas.transfer.apps[app][place].stage = .told(event.id, result)
        case .over:
            act(.keep(app, event.id))
            areas.transfer.apps[app][place].stage = .told(event.id, .event(event.id, event.transferEnd))
        case .suspended, .waiting, .running, .challenged: break
        }
    }

    /// Whether the system keeps an event until the process that was given it has taken it: the result of a transfer (XFER-3).
    package func keepsUntilTaken(_ event: EventID, for app: AppID) -> Bool {
        isInstalled(app) && areas.transfer.apps[app].place(toldBy: event) != nil
    }

    /// The process has taken the result, and what was kept of it goes (XFER-3).
    mutating func tookResult(_ event: EventID, of app: AppID) {
        guard let place = areas.transfer.apps[app].place(toldBy: event) else { return }
        let task = areas.transfer.apps[app][place]
        if case .told(_, .event(let kept, let end)) = task.stage {
            act(.discard(app, kept))
            // Its app has moved the file, or does not want it.
            if end == .finished { act(.transfer(.release(task.transfer))) }
        }
        areas.transfer.apps[app].sessions[place.session].tasks.remove(at: place.task)
        removeInvalidSessions(of: app)
    }

    /// A process that runs and has joined a session is told all that was kept with it, once each (XFER-3).
    mutating func tellKept(_ session: Int, of app: AppID) {
        guard isLive(session, of: app) else { return }
        let identifier = areas.transfer.apps[app].sessions[session].identifier
        for position in areas.transfer.apps[app].sessions[session].tasks.indices {
            let place = TransferPlace(session: session, task: position)
            let task = areas.transfer.apps[app][place]
            switch areas.transfer.apps[app][place].stage {
            case .kept(let result):
                areas.transfer.apps[app][place].stage = .telling(result, wasKept: true)
                raise(result, of: task, in: identifier, of: app)
            case .challenged(let challenge, let event):
                guard !task.hasAsked else { break }
                areas.transfer.apps[app][place].hasAsked = true
                raise(
                    WakeEvent(
                        kind: .transferChallenged,
                        local: task.transfer,
                        request: challenge,
                        subject: identifier,
                        app: app,
                        manager: task.number,
                        parent: event
                    )
                )
            case .suspended, .waiting, .running, .over, .telling, .told: break
            }
        }
        if areas.transfer.apps[app].sessions[session].owesFinish {
            raise(WakeEvent(kind: .transferEventsFinished, subject: identifier, app: app))
        }
    }

    /// A process runs again, whatever woke it: what was kept for it meanwhile is told.
    mutating func tellAllKept(of app: AppID) {
        for session in areas.transfer.apps[app].sessions.indices { tellKept(session, of: app) }
    }

    private mutating func raise(
        _ result: TransferRecord.Result,
        of task: TransferRecord.Task,
        in session: NameID,
        of app: AppID
    ) {
        switch result {
        case .event(let event, let end):
            raise(.transferEnded(task.transfer, of: app, task: task.number, session, end, parent: event))
        case .failure(let failure):
            raise(
                .transferEnded(task.transfer, of: app, task: task.number, session, .failed),
                .transfer(.failed(failure))
            )
        }
    }

    /// The system, or the app, ends a transfer.
    mutating func endTransfer(_ place: TransferPlace, _ failure: TransferFailure, of app: AppID) {
        guard stop(place, of: app) else { return }
        let session = areas.transfer.apps[app].sessions[place.session].identifier
        areas.transfer.apps[app][place].stage = .telling(.failure(failure), wasKept: false)
        raise(.failure(failure), of: areas.transfer.apps[app][place], in: session, of: app)
    }

    /// The source hears that a transfer is over. Says whether it had no end yet.
    private mutating func stop(_ place: TransferPlace, of app: AppID) -> Bool {
        let task = areas.transfer.apps[app][place]
        switch task.stage {
        case .suspended, .waiting:
            if task.resumes || task.retriesAt > .zero { act(.transfer(.cancel(task.transfer))) }
        case .running: act(.transfer(.cancel(task.transfer)))
        case .challenged(_, let event):
            act(.discard(app, event))
            act(.transfer(.cancel(task.transfer)))
        case .over, .kept, .telling, .told: return false
        }
        return true
    }

    // MARK: The app

    /// The completion handler of a session was called (XFER-10); the wake is over with the last of them (LIFE-11).
    mutating func handledEvents(_ identifier: NameID, of app: AppID) {
        guard let session = areas.transfer.apps[app].sessions.first(where: { $0.identifier == identifier }),
            areas.transfer.apps[app].owed.answered(session.number)
        else {
            act(.refused(app, .unknownRequest))
            return
        }
        finishAnswered(app)
    }

    /// Its app sleeps, and the system goes on with its transfers (XFER-1).
    mutating func carryTransfersOn(of app: AppID) {
        for session in areas.transfer.apps[app].sessions where session.tasks.contains(where: { $0.stage == .running }) {
            act(.did(app, .carriedOnTransfers, subject: session.identifier))
        }
    }

    /// The process is gone: the sessions stay with what there is of them (XFER-1, XFER-3).
    mutating func processWithTransfersEnded(_ app: AppID) {
        areas.transfer.apps[app].owed.removeAll()
        guard !areas.transfer.apps[app].sessions.isEmpty else { return }
        if !isBarred(app) { carryTransfersOn(of: app) }
        for session in areas.transfer.apps[app].sessions.indices {
            areas.transfer.apps[app].sessions[session].manager = nil
            areas.transfer.apps[app].sessions[session].owesFinish = false
            for task in areas.transfer.apps[app].sessions[session].tasks.indices {
                areas.transfer.apps[app].sessions[session].tasks[task].hasAsked = false
                // It may not have read it: the next process is given it again.
                if case .told(_, let result) = areas.transfer.apps[app].sessions[session].tasks[task].stage {
                    areas.transfer.apps[app].sessions[session].tasks[task].stage = .kept(result)
                }
            }
        }
        removeInvalidSessions(of: app)
    }

    /// A force quit cancels all that is under way; the next process that joins the session is told (XFER-5).
    mutating func cancelTransfers(of app: AppID) {
        for session in areas.transfer.apps[app].sessions.indices {
            var cancels = false
            for task in areas.transfer.apps[app].sessions[session].tasks.indices {
                let place = TransferPlace(session: session, task: task)
                guard stop(place, of: app) else { continue }
                cancels = true
                areas.transfer.apps[app][place].stage = .kept(.failure(.forceQuit))
            }
            guard cancels else { continue }
            let identifier = areas.transfer.apps[app].sessions[session].identifier
            act(.did(app, .cancelledTransfers, subject: identifier, apps[app].snapshot.forceQuitBy))
        }
    }

    /// The app is gone from the phone, with its transfers and their results.
    mutating func forgetTransfers(of app: AppID) {
        for session in areas.transfer.apps[app].sessions.indices {
            for task in areas.transfer.apps[app].sessions[session].tasks.indices {
                let place = TransferPlace(session: session, task: task)
                switch areas.transfer.apps[app][place].stage {
                case .kept(.event(let event, _)), .telling(.event(let event, _), _), .told(_, .event(let event, _)):
                    act(.discard(app, event))
                    // What it brought is nobody's.
                    act(.transfer(.cancel(areas.transfer.apps[app][place].transfer)))
                default: _ = stop(place, of: app)
                }
            }
        }
        areas.transfer.apps[app] = TransferRecord()
    }
}

extension TransferRecord.Stage {
    /// A result of the system's own is on its way.
    fileprivate var isOfSystem: Bool {
        if case .telling(.failure, _) = self { true } else { false }
    }

    /// A result that was kept with the session is on its way.
    fileprivate var wasKept: Bool {
        if case .telling(_, true) = self { true } else { false }
    }
}
