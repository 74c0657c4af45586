import WakeModel

/// What apps ask about pushes, and what they owe for them.
extension Router {
    mutating func push(_ request: PushRequest, from app: AppID) {
        switch request {
        case .register:
            if areas.push.apps[app].registeredAt == nil { areas.push.apps[app].registeredAt = now }
            register(app, forCalls: false)
        case .unregister:
            areas.push.apps[app].registeredAt = nil
            act(.push(.unregister(app, forCalls: false)))
        case .registerCalls:
            guard profile.areas.push.pushKit else {
                act(.refused(app, .unavailable))
                return
            }
            if areas.push.apps[app].callsRegisteredAt == nil { areas.push.apps[app].callsRegisteredAt = now }
            register(app, forCalls: true)
        case .unregisterCalls:
            areas.push.apps[app].callsRegisteredAt = nil
            act(.push(.unregister(app, forCalls: true)))
        case .fetched(let number, _): fetched(number, by: app)
        case .reportCall:
            for place in areas.push.apps[app].calls.indices { areas.push.apps[app].calls[place].isReported = true }
            areas.push.apps[app].callsInProgress &+= 1
            act(.did(app, .reportedCall))
        case .callBegan: areas.push.apps[app].callsInProgress &+= 1
        case .callEnded: areas.push.apps[app].callsInProgress -= min(1, areas.push.apps[app].callsInProgress)
        case .callHandled(let number): callHandled(number, by: app)
        }
    }

    private mutating func register(_ app: AppID, forCalls: Bool) {
        act(.push(.register(app, forCalls: forCalls)))
        act(.tell(app, .deviceToken(forCalls: forCalls)))
    }

    /// The end that pushes come in by is told again whom they may be for.
    mutating func registerForPushesAgain() {
        for app in everyApp where apps[app].installed {
            let record = areas.push.apps[app]
            if record.registeredAt != nil { act(.push(.register(app, forCalls: false))) }
            if record.callsRegisteredAt != nil { act(.push(.register(app, forCalls: true))) }
        }
    }

    /// How an app is interested in an event now; nil when it is not.
    func pushInterest(of app: AppID, in event: WakeEvent) -> Interest? {
        guard isInstalled(app) else { return nil }
        let record = areas.push.apps[app]
        switch event.kind {
        case .pushReceived: return record.registeredAt.map { Interest(app, via: .remoteNotifications, since: $0) }
        case .callPushReceived: return record.callsRegisteredAt.map { Interest(app, via: .pushKit, since: $0) }
        case .newsstandPushReceived:
            guard record.registeredAt != nil, apps[app].snapshot.modes.contains(.newsstandContent) else { return nil }
            return Interest(app, via: .newsstandMode, since: apps[app].installedAt)
        default: return nil
        }
    }

    // MARK: What a process owes

    /// A process has a push: it owes a completion handler (PUSH-1), or the report of a call (PUSH-7).
    mutating func oweForPush(_ event: WakeEvent, by app: AppID) {
        let figures = profile.areas.push
        let number = event.pushNumber
        if event.kind == .callPushReceived {
            guard mustReportCalls(app) else { return }
            let spared = sparesReport(app)
            if let spared { act(.did(app, spared, event.id)) }
            if spared == .sparedReportInFront { return }
            if areas.push.apps[app].calls.count >= PushArea.owedLimit { areas.push.apps[app].calls.removeFirst() }
            let due = now.advanced(by: figures.reportLimit)
            // One that need not be reported has a callback all the same, with which its wake ends (LIFE-11).
            areas.push.apps[app].calls.append(
                .init(number: number, event: event.id, due: due, isReported: spared != nil)
            )
        } else if figures.background, areas.push.apps[app].fetches.answers.count < PushArea.owedLimit {
            let due = now.advanced(by: figures.window)
            areas.push.apps[app].fetches.owe(number, until: due, code: figures.terminationCode)
        }
    }

    /// Only apps that were built for it must report calls (PUSH-7).
    func mustReportCalls(_ app: AppID) -> Bool {
        let sdk = apps[app].snapshot.sdk
        return profile.areas.push.reportsCalls && (sdk == .unknown || sdk.major >= 13)
    }

    /// What spares an app the report of a call that a push tells it of: the system's view when it has the push counts (PUSH-10).
    private func sparesReport(_ app: AppID) -> Deed? {
        if areas.push.apps[app].callsInProgress > 0 { return .sparedReportOnCall }
        return apps[app].state == .active || apps[app].state == .inactive ? .sparedReportInFront : nil
    }

    private mutating func fetched(_ number: UInt32, by app: AppID) {
        guard areas.push.apps[app].fetches.answered(number) else {
            act(.refused(app, .unknownRequest))
            return
        }
        act(.did(app, .fetchedForPush))
        finishAnswered(app)
    }

    private mutating func callHandled(_ number: UInt32, by app: AppID) {
        guard let place = areas.push.apps[app].calls.firstIndex(where: { $0.number == number }) else { return }
        let call = areas.push.apps[app].calls.remove(at: place)
        if call.isReported {
            finishAnswered(app)
        } else {
            // The exception of PushKit's own in the process.
            endForCall(call, of: app, cause: .crash, code: ExitRecord.abort)
        }
    }

    private mutating func endForCall(_ call: PushRecord.Call, of app: AppID, cause: ExitCause, code: Int64) {
        areas.push.apps[app].unreported += 1
        areas.push.apps[app].calls.removeAll()
        act(.did(app, .endedForCall, call.event))
        end(app, cause: cause, code: code, by: call.event)
    }

    /// The process is gone, and owes nothing any more. One that crashed over a call did not report it either (PUSH-8).
    mutating func endPushes(of app: AppID) {
        let cause = apps[app].snapshot.lastExitCause
        if cause == .crash, areas.push.apps[app].calls.contains(where: { !$0.isReported }) {
            areas.push.apps[app].unreported += 1
        }
        areas.push.apps[app].calls.removeAll()
        areas.push.apps[app].callsInProgress = 0
        areas.push.apps[app].fetches.removeAll()
        // What the bench took with it the phone would still hold.
        if cause != .bench { dropHeldPush(of: app) }
    }

    /// What an app owes did not come in time: it ends (PUSH-1, PUSH-7).
    mutating func answersDue(of app: AppID) {
        while let late = areas.push.apps[app].fetches.takeOverdue(at: now) { endForAnswer(late, of: app) }
        while let place = areas.push.apps[app].calls.firstIndex(where: { $0.due <= now }) {
            let call = areas.push.apps[app].calls.remove(at: place)
            if call.isReported || spare(app) { continue }
            endForCall(call, of: app, cause: .policy, code: TerminationCode.unreportedCall)
        }
    }
}
