import WakeModel

/// What an app owes for the tasks that it has, and what becomes of it and of its chances.
extension Router {
    // MARK: Handed over

    /// The app has it: the request is used up, and the time of the launch runs (BGT-4, BGT-6).
    mutating func handOver(_ number: UInt32, to app: AppID, by event: EventID) {
        var run: BackgroundTaskRecord.Run
        if let arrived = areas.backgroundTask.apps[app].take(number) {
            run = arrived
            consume(run, of: app, by: event)
        } else if let lost = areas.backgroundTask.apps[app].running.first(where: { $0.number == number }) {
            // The bench died while it was on its way.
            run = lost
        } else {
            return
        }
        run.at = now
        run.isExpired = false
        areas.backgroundTask.apps[app].running.removeAll { $0.number == number || $0.item.isSame(run.item) }
        areas.backgroundTask.apps[app].running.append(run)
        owe(run, of: app)
        // With external power it may take all the processor time that it wants (BGT-7).
        countProcessorTime(of: app, in: apps[app].state)
        planTasks(of: app)
    }

    private mutating func consume(_ run: BackgroundTaskRecord.Run, of app: AppID, by event: EventID) {
        guard run.lever != .regardless else { return }
        if run.item.kind == .processing {
            areas.backgroundTask.apps[app].lastProcessing = now
        } else {
            areas.backgroundTask.apps[app].lastRefresh = now
        }
        guard let place = areas.backgroundTask.apps[app].pending.firstIndex(where: { $0.isSame(run.item) }) else {
            return
        }
        if run.item.kind == .fetch {
            areas.backgroundTask.apps[app].pending[place].wasRefused = false
        } else {
            areas.backgroundTask.apps[app].pending.remove(at: place)
            act(.did(app, .consumedTaskRequest, subject: run.item.identifier, event))
        }
    }

    private mutating func owe(_ run: BackgroundTaskRecord.Run, of app: AppID) {
        let figures = profile.areas.backgroundTask
        if areas.backgroundTask.apps[app].owed.isEmpty {
            let ends = now.advanced(by: run.item.kind == .processing ? figures.processingLimit : figures.refreshLimit)
            areas.backgroundTask.apps[app].ends = ends
            areas.backgroundTask.apps[app].expires = .distantFuture
        }
        let ends = areas.backgroundTask.apps[app].ends
        if run.item.kind != .fetch, areas.backgroundTask.apps[app].expires == .distantFuture {
            let expires = Instant(nanoseconds: ends.nanoseconds - figures.expirationMargin.nanoseconds)
            areas.backgroundTask.apps[app].expires = max(now, expires)
        }
        let code = run.item.kind == .fetch ? figures.fetchTerminationCode : figures.taskTerminationCode
        areas.backgroundTask.apps[app].owed.owe(run.number, until: ends, code: code)
        guard apps[app].state == .background else { return }
        // The wake goes on to the answer, whatever began it (LIFE-11), and a background task has its time from there (TASK-8).
        apps[app].openAnotherWindow(
            ends.since(now),
            isAnswered: true,
            at: now,
            extends: profile.wakeWindow == .each,
            taskBudget: profile.taskBudget
        )
    }

    /// Whether what an app does now may take all the processor time it wants: a processing task that requires external power, and
    /// has it (BGT-7, CPU-1).
    package func isExemptFromProcessorLimit(_ app: AppID) -> Bool {
        conditions.contains(.externalPower)
            && areas.backgroundTask.apps[app].running.contains { $0.item.kind == .processing && $0.item.needsPower }
    }

    // MARK: Answers

    mutating func completed(_ number: UInt32, of app: AppID) {
        guard let run = answered(number, of: app) else { return act(.refused(app, .unknownTask)) }
        act(.did(app, .completedTaskRequest, subject: run.item.identifier))
        if run.item.kind == .refresh { judge(run, .newData, isTruthful: true, of: app) }
        finishTasks(of: app)
    }

    mutating func fetched(_ number: UInt32, _ result: FetchResult, downloaded: Bool?, of app: AppID) {
        guard let run = answered(number, of: app) else { return act(.refused(app, .unknownTask)) }
        judge(run, result, isTruthful: result != .newData || downloaded != false, of: app)
        finishTasks(of: app)
    }

    private mutating func answered(_ number: UInt32, of app: AppID) -> BackgroundTaskRecord.Run? {
        guard areas.backgroundTask.apps[app].owed.answered(number),
            let place = areas.backgroundTask.apps[app].running.firstIndex(where: { $0.number == number })
        else { return nil }
        return areas.backgroundTask.apps[app].running.remove(at: place)
    }

    private mutating func finishTasks(of app: AppID) {
        countProcessorTime(of: app, in: apps[app].state)
        if areas.backgroundTask.apps[app].owed.isEmpty {
            areas.backgroundTask.apps[app].running = []
            areas.backgroundTask.apps[app].endTime()
        }
        finishAnswered(app)
        planTasks(of: app)
    }

    // MARK: Chances

    /// Quick and truthful answers raise an app's chances, others lower them; that it failed raises none (FETCH-3).
    private mutating func judge(
        _ run: BackgroundTaskRecord.Run,
        _ result: FetchResult,
        isTruthful: Bool,
        of app: AppID
    ) {
        guard run.lever != .regardless else { return }
        let isQuick = now.since(run.at) <= profile.areas.backgroundTask.quickAnswer
        let before = areas.backgroundTask.apps[app].doublings
        if isQuick && isTruthful {
            guard before > 0, result != .failed else { return }
            areas.backgroundTask.apps[app].doublings = before - 1
            act(.did(app, .raisedChances))
        } else {
            lowerChances(of: app, by: 1, .loweredChances)
        }
    }

    private mutating func lowerChances(of app: AppID, by steps: UInt8, _ deed: Deed) {
        let before = areas.backgroundTask.apps[app].doublings
        let after = min(BackgroundTaskRecord.mostDoublings, before + steps)
        guard after > before else { return }
        areas.backgroundTask.apps[app].doublings = after
        act(.did(app, deed))
    }

    // MARK: Time

    /// Expiration handlers run before the time ends, and who has not answered at its end is ended (BGT-8, FETCH-2).
    mutating func taskTimeDue(of app: AppID) {
        if areas.backgroundTask.apps[app].expires <= now {
            areas.backgroundTask.apps[app].expires = .distantFuture
            expireTasks(of: app, by: .none) { _ in true }
        }
        while let answer = areas.backgroundTask.apps[app].owed.takeOverdue(at: now) {
            overdue(answer, of: app)
        }
    }

    private mutating func overdue(_ answer: OwedAnswers.Answer, of app: AppID) {
        let place = areas.backgroundTask.apps[app].running.firstIndex { $0.number == answer.number }
        let run = place.map { areas.backgroundTask.apps[app].running.remove(at: $0) }
        if areas.backgroundTask.apps[app].owed.isEmpty { areas.backgroundTask.apps[app].endTime() }
        if apps[app].state == .background, !isExempt(app) {
            if run?.lever != .regardless { lowerChances(of: app, by: 2, .loweredForOverrun) }
            act(.did(app, run?.item.kind == .fetch ? .endedForFetch : .endedForTaskRequest))
        }
        endForAnswer(answer, of: app)
        planTasks(of: app)
    }

    /// Calls the expiration handlers of tasks that the app has, each once.
    mutating func expireTasks(
        of app: AppID,
        by event: EventID,
        where matches: (BackgroundTaskRecord.Run) -> Bool
    ) {
        for place in areas.backgroundTask.apps[app].running.indices {
            let run = areas.backgroundTask.apps[app].running[place]
            guard run.item.kind != .fetch, !run.isExpired, run.isHandedOver, matches(run) else { continue }
            areas.backgroundTask.apps[app].running[place].isExpired = true
            act(.did(app, .expiredTaskRequest, subject: run.item.identifier, event))
            // A lever's event tells the app itself.
            if event == .none, apps[app].state != .suspended {
                act(.tell(app, .taskExpiration(run.number, run.item.identifier)))
            }
        }
    }

    /// The user takes the phone, or what a task requires is gone: processing ends (BGT-7).
    mutating func interruptProcessing(of app: AppID) {
        let interrupted = areas.backgroundTask.apps[app].running.filter(isInterrupted).map(\.number)
        guard !interrupted.isEmpty else { return }
        act(.did(app, .interruptedProcessing))
        let ends = now.advanced(by: profile.areas.backgroundTask.expirationMargin)
        for number in interrupted { areas.backgroundTask.apps[app].owed.shorten(number, to: ends) }
        expireTasks(of: app, by: .none) { interrupted.contains($0.number) }
    }

    private func isInterrupted(_ run: BackgroundTaskRecord.Run) -> Bool {
        guard run.item.kind == .processing, !run.isExpired, run.isHandedOver else { return false }
        guard run.lever == .none || run.lever == .scheduled else { return false }
        return !isIdle || run.item.needsPower && !conditions.contains(.externalPower)
            || run.item.needsNetwork && !conditions.hasNetwork
    }
}
