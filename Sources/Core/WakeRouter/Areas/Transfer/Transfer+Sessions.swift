import WakeModel

/// What apps ask of their sessions and tasks.
extension Router {
    mutating func transfer(_ request: TransferRequest, by manager: ManagerNumber, of app: AppID) {
        switch request {
        case .join(let identifier, let configuration):
            join(identifier, configuration, manager, of: app)
            return
        case .handledEvents(let identifier):
            handledEvents(identifier, of: app)
            return
        default: break
        }
        guard let session = areas.transfer.apps[app].sessions.firstIndex(where: { $0.manager == manager }) else {
            act(.refused(app, .unknownSession))
            return
        }
        switch request {
        case .join, .handledEvents: break
        case .invalidate(let cancels): invalidate(session, cancels: cancels, of: app)
        case .create(let number, let order): create(number, order, in: session, of: app)
        case .resume(let number, let wishes):
            ask(number, in: session, of: app) { $0.resume($1, wishes, of: app) }
        case .suspend(let number): ask(number, in: session, of: app) { $0.suspend($1, of: app) }
        case .cancel(let number):
            ask(number, in: session, of: app) { $0.endTransfer($1, .cancelled, of: app) }
        case .cancelKeepingBytes(let number):
            ask(number, in: session, of: app) { $0.cancelKeepingBytes($1, of: app) }
        case .answer(let number, let answer):
            ask(number, in: session, of: app) { $0.answer($1, answer, of: app) }
        }
    }

    /// The tasks of a session whose results are not taken, in order of their making; nothing for a session that is not there.
    package func transferTasks(of app: AppID, in session: NameID) -> [(
        number: TransferTaskNumber, order: TransferOrder, isSuspended: Bool
    )] {
        guard isInstalled(app) else { return [] }
        return areas.transfer.apps[app].sessions.first { $0.identifier == session }?.tasks
            .map { ($0.number, $0.order, $0.stage == .suspended) } ?? []
    }

    /// Whether an app has made a session in its process at hand, and whether it was invalidated; nil for one that is not there.
    package func transferSession(of app: AppID, _ session: NameID) -> (isMade: Bool, isInvalid: Bool)? {
        guard isInstalled(app) else { return nil }
        return areas.transfer.apps[app].sessions.first { $0.identifier == session }
            .map { ($0.manager != nil, !$0.takesTasks) }
    }

    /// What an app said of a transfer before it was begun; nil for one that is not there (XFER-7).
    package func transferWishes(of app: AppID, _ transfer: TransferNumber) -> TransferWishes? {
        guard isInstalled(app) else { return nil }
        return areas.transfer.apps[app].place(of: transfer).map { areas.transfer.apps[app][$0].wishes }
    }

    /// The app's own number for a transfer, and its session's identifier; nil for one that is not there.
    package func transferTask(of app: AppID, _ transfer: TransferNumber) -> (
        session: NameID, number: TransferTaskNumber
    )? {
        guard isInstalled(app), let place = areas.transfer.apps[app].place(of: transfer) else { return nil }
        let session = areas.transfer.apps[app].sessions[place.session]
        return (session.identifier, session.tasks[place.task].number)
    }

    /// Whether the source is to carry a transfer on; false for one that waits, nil for one that has its end or is not there.
    package func transferIsUnderWay(_ transfer: TransferNumber) -> Bool? {
        for record in areas.transfer.apps {
            guard let place = record.place(of: transfer) else { continue }
            switch record[place].stage {
            case .running, .challenged: return true
            case .suspended, .waiting: return false
            case .over, .kept, .telling, .told: return nil
            }
        }
        return nil
    }

    /// Whether a transfer is remembered, be it with its result alone.
    package func hasTransfer(_ transfer: TransferNumber) -> Bool {
        areas.transfer.apps.contains { $0.place(of: transfer) != nil }
    }

    // MARK: Sessions

    /// A session made again is the one that there is (XFER-3).
    private mutating func join(
        _ identifier: NameID,
        _ configuration: TransferConfiguration,
        _ manager: ManagerNumber,
        of app: AppID
    ) {
        if let fault = fault(of: configuration.kind, manager, identifier, of: app) {
            act(.refused(app, fault))
            return
        }
        guard let place = areas.transfer.apps[app].sessions.firstIndex(where: { $0.identifier == identifier }) else {
            areas.transfer.apps[app].lastSession &+= 1
            areas.transfer.apps[app].sessions.append(
                .init(
                    identifier: identifier,
                    number: areas.transfer.apps[app].lastSession,
                    configuration: configuration,
                    since: now,
                    manager: manager
                )
            )
            return
        }
        areas.transfer.apps[app].sessions[place].manager = manager
        areas.transfer.apps[app].sessions[place].configuration = configuration
        areas.transfer.apps[app].sessions[place].takesTasks = true
        act(.did(app, .joinedSession, subject: identifier))
        tellKept(place, of: app)
    }

    private func fault(
        of kind: TransferSessionKind,
        _ manager: ManagerNumber,
        _ identifier: NameID,
        of app: AppID
    ) -> RequestFault? {
        let figures = profile.areas.transfer
        let sessions = areas.transfer.apps[app].sessions
        if manager == 0 { return .unknownSession }
        if kind == .newsstand ? !figures.newsstand : !figures.sessions { return .unavailable }
        if kind == .newsstand, !apps[app].snapshot.modes.contains(.newsstandContent) { return .newsstandModeMissing }
        if let session = sessions.first(where: { $0.identifier == identifier }) {
            let isFree = session.manager == nil || !session.takesTasks
            return isFree && session.configuration.kind == kind ? nil : .duplicateSession
        }
        if sessions.contains(where: { $0.manager == manager }) { return .duplicateSession }
        return sessions.count < TransferRequest.sessionsLimit ? nil : .tooMany
    }

    private mutating func invalidate(_ session: Int, cancels: Bool, of app: AppID) {
        areas.transfer.apps[app].sessions[session].takesTasks = false
        if cancels {
            for task in areas.transfer.apps[app].sessions[session].tasks.indices {
                endTransfer(TransferPlace(session: session, task: task), .cancelled, of: app)
            }
        }
        removeInvalidSessions(of: app)
    }

    /// A session that takes no tasks goes with its last one. Only the last in the list: slots stand for places in it.
    mutating func removeInvalidSessions(of app: AppID) {
        while let last = areas.transfer.apps[app].sessions.last, !last.takesTasks, !last.owesFinish,
            last.tasks.isEmpty
        {
            areas.transfer.apps[app].sessions.removeLast()
        }
    }

    // MARK: Tasks

    private mutating func create(
        _ number: TransferTaskNumber,
        _ order: TransferOrder,
        in session: Int,
        of app: AppID
    ) {
        let record = areas.transfer.apps[app]
        guard record.sessions[session].takesTasks else {
            act(.refused(app, .unknownSession))
            return
        }
        guard number != 0, record.sessions[session].isFree(number) else {
            act(.refused(app, .duplicateTransfer))
            return
        }
        guard record.sessions.reduce(0, { $0 + $1.tasks.count }) < TransferRequest.tasksLimit else {
            act(.refused(app, .tooMany))
            return
        }
        let identifier = record.sessions[session].identifier
        guard order.kind.outlivesProcess else {
            act(.did(app, .refusedTransfer, subject: identifier))
            act(.refused(app, .notFromFile))
            return
        }
        areas.transfer.lastTransfer &+= 1
        var task = TransferRecord.Task(
            number: number,
            transfer: areas.transfer.lastTransfer,
            order: order,
            isDiscretionary: record.sessions[session].configuration.isDiscretionary
        )
        if apps[app].state == .background, record.sessions[session].configuration.kind == .background {
            limit(&task, in: identifier, of: app)
        }
        areas.transfer.apps[app].sessions[session].tasks.append(task)
    }

    /// What is created in the background waits for a good moment (XFER-6), and for the resume rate limiter (XFER-8).
    private mutating func limit(_ task: inout TransferRecord.Task, in session: NameID, of app: AppID) {
        if !task.isDiscretionary, profile.areas.transfer.backgroundIsDiscretionary {
            task.isDiscretionary = true
            act(.did(app, .treatedAsDiscretionary, subject: session))
        }
        let delay = areas.transfer.apps[app].resumeDelay(at: now)
        guard delay > .zero else { return }
        task.limitEnds = now.advanced(by: delay)
        // The wait passes from where it lets something begin: what begins then may wake the app again.
        areas.transfer.apps[app].delaySince = max(areas.transfer.apps[app].delaySince, task.limitEnds)
    }

    private mutating func ask(
        _ number: TransferTaskNumber,
        in session: Int,
        of app: AppID,
        _ perform: (inout Router, TransferPlace) -> Void
    ) {
        guard let task = areas.transfer.apps[app].sessions[session].task(number) else {
            act(.refused(app, .unknownTransfer))
            return
        }
        perform(&self, TransferPlace(session: session, task: task))
    }

    private mutating func resume(_ place: TransferPlace, _ wishes: TransferWishes, of app: AppID) {
        let session = areas.transfer.apps[app].sessions[place.session]
        guard session.tasks[place.task].stage == .suspended else { return }
        guard session.tasks[place.task].order.isHTTP else {
            act(.did(app, .refusedScheme, subject: session.identifier))
            endTransfer(place, .unsupportedURL, of: app)
            return
        }
        areas.transfer.apps[app][place].stage = .waiting
        if session.tasks[place.task].timesOutAt == .distantFuture {
            let timeout = session.configuration.resourceTimeout ?? profile.areas.transfer.resourceTimeout
            areas.transfer.apps[app][place].timesOutAt = now.advanced(by: timeout)
            areas.transfer.apps[app][place].wishes = wishes
            if !profile.areas.transfer.beginDates { areas.transfer.apps[app][place].wishes.earliestBegin = nil }
        }
        consider(place, of: app)
    }

    private mutating func suspend(_ place: TransferPlace, of app: AppID) {
        switch areas.transfer.apps[app][place].stage {
        case .waiting: break
        case .running: act(.transfer(.suspend(areas.transfer.apps[app][place].transfer)))
        case .suspended, .challenged, .over, .kept, .telling, .told: return
        }
        areas.transfer.apps[app][place].stage = .suspended
        areas.transfer.apps[app][place].hold = nil
    }

    /// What the source has it fails itself, for it alone knows what there is to go on from (XFER-9).
    private mutating func cancelKeepingBytes(_ place: TransferPlace, of app: AppID) {
        guard areas.transfer.apps[app][place].stage == .running else { return endTransfer(place, .cancelled, of: app) }
        act(.transfer(.cancelKeepingBytes(areas.transfer.apps[app][place].transfer)))
    }

    private mutating func answer(_ place: TransferPlace, _ answer: ChallengeAnswer, of app: AppID) {
        guard case .challenged(let challenge, let event) = areas.transfer.apps[app][place].stage else {
            act(.refused(app, .unknownRequest))
            return
        }
        act(.discard(app, event))
        areas.transfer.apps[app][place].stage = .running
        act(.transfer(.answer(areas.transfer.apps[app][place].transfer, challenge: challenge, answer)))
    }
}
