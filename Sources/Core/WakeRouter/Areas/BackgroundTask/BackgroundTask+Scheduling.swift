import WakeModel

/// When the scheduler tries to run what apps ask for. It looks ahead: each request has the instant of its next try, and a try
/// that is refused leaves a record of what stands in the way; after that there is none before nothing does.
extension Router {
    /// Finds the next try of each request of an app.
    mutating func planTasks(of app: AppID) {
        guard !areas.backgroundTask.apps[app].pending.isEmpty else { return }
        // One launch at a time: what is not handed over with the others waits for its end.
        let isBusy = !areas.backgroundTask.apps[app].owed.isEmpty || !areas.backgroundTask.apps[app].arriving.isEmpty
        let waits = isBusy || !isInstalled(app) || apps[app].state == .active || apps[app].state == .inactive
        for place in areas.backgroundTask.apps[app].pending.indices {
            let item = areas.backgroundTask.apps[app].pending[place]
            let next =
                waits || areas.backgroundTask.apps[app].isUnderWay(item) ? .distantFuture : nextTry(of: item, app)
            if next != item.next { areas.backgroundTask.apps[app].pending[place].next = next }
        }
    }

    /// Finds the next try of each request on the phone.
    mutating func planAllTasks() {
        for app in everyApp where !areas.backgroundTask.apps[app].pending.isEmpty {
            planTasks(of: app)
            reschedule(app)
        }
    }

    private mutating func nextTry(of item: BackgroundTaskRecord.Item, _ app: AppID) -> Instant {
        var at = max(now, max(item.notBefore, opens(item, app)))
        guard item.wasRefused else {
            // The first try of a processing task says what it waits for.
            return item.kind == .processing ? at : nearUse(at, app)
        }
        guard hindrances(of: item, app).isEmpty else { return .distantFuture }
        if item.kind != .processing { return nearUse(at, app) }
        at = max(at, areas.backgroundTask.usedUntil.advanced(by: profile.areas.backgroundTask.idle))
        return at
    }

    /// The checks that fail now, and that time alone does not let pass.
    private mutating func hindrances(of item: BackgroundTaskRecord.Item, _ app: AppID) -> [Check] {
        let results = results(for: item, app)
        return Check.allCases.filter { check in
            guard results[check] == .fail, !BackgroundTaskRules.ofTime.contains(check) else { return false }
            return check != .phoneIdle || !isIdle
        }
    }

    private mutating func results(for item: BackgroundTaskRecord.Item, _ app: AppID) -> CheckResults {
        var snapshot = apps[app].snapshot
        observePhone(&snapshot)
        let question = taskQuestion(item, .none, app, showing: &snapshot)
        return BackgroundTaskRules.evaluate(question, of: snapshot, by: constants)
    }

    // MARK: Chances

    /// The instant, not before another, from which a refresh is shortly before an expected use (FETCH-4).
    private func nearUse(_ instant: Instant, _ app: AppID) -> Instant {
        guard let expected = habit(of: app)?.next(from: instant) else { return instant }
        let lead = profile.areas.backgroundTask.lead.nanoseconds
        return max(instant, Instant(nanoseconds: max(0, expected.at.nanoseconds - lead)))
    }

    func habit(of app: AppID) -> UseHabit? {
        guard let clock = areas.backgroundTask.clock else { return nil }
        return UseHabit(of: areas.backgroundTask.apps[app].uses, at: now, by: clock, profile.areas.backgroundTask)
    }

    /// How long an app waits between two runs: the better its answers the shorter, and the longer the longer nobody has used it
    /// (FETCH-3, FETCH-4).
    private func spacing(of app: AppID, after run: Instant) -> Instant.Span {
        let record = areas.backgroundTask.apps[app]
        let unused = run.since(record.lastUse ?? apps[app].installedAt).nanoseconds / 86_400_000_000_000
        let times = (Int64(1) << Int64(record.doublings)) * (1 + min(30, max(0, unused)))
        let (span, overflow) = profile.areas.backgroundTask.spacing.nanoseconds.multipliedReportingOverflow(by: times)
        return Instant.Span(nanoseconds: overflow ? .max : span)
    }

    private func intervalEnds(_ item: BackgroundTaskRecord.Item, _ app: AppID) -> Instant {
        guard item.kind == .fetch else { return .zero }
        return areas.backgroundTask.apps[app].lastRefresh?.advanced(by: item.interval) ?? .zero
    }

    private func spacingEnds(_ item: BackgroundTaskRecord.Item, _ app: AppID) -> Instant {
        let record = areas.backgroundTask.apps[app]
        let last = item.kind == .processing ? record.lastProcessing : record.lastRefresh
        let ends = last.map { $0.advanced(by: spacing(of: app, after: $0)) } ?? .zero
        // Just after its use there is nothing new for an app.
        guard item.kind != .processing, let use = record.lastUse else { return ends }
        return max(ends, use.advanced(by: profile.areas.backgroundTask.spacing))
    }

    /// When its request, its interval and its chances let it run at the earliest.
    private func opens(_ item: BackgroundTaskRecord.Item, _ app: AppID) -> Instant {
        max(item.begins, max(intervalEnds(item, app), spacingEnds(item, app)))
    }

    // MARK: Looking

    /// What the rules look at, which the snapshot shows.
    mutating func taskQuestion(
        _ item: BackgroundTaskRecord.Item,
        _ lever: TaskLever,
        _ app: AppID,
        showing snapshot: inout AppSnapshot
    ) -> BackgroundTaskQuestion {
        let record = areas.backgroundTask.apps[app]
        let figures = profile.areas.backgroundTask
        let isInFront = apps[app].state == .active || apps[app].state == .inactive
        let lastUse = isInFront ? now : record.lastUse
        snapshot.task.lastUse = lastUse ?? .zero
        // What is handed over with others needs no chance of its own.
        let isBeside = !record.owed.isEmpty
        snapshot.task.opens = isBeside ? item.begins : opens(item, app)
        snapshot.task.doublings = record.doublings
        snapshot.task.lever = lever
        if item.kind != .processing, let expected = habit(of: app)?.next(from: now) {
            snapshot.task.expectedUse = expected.at
            snapshot.task.habitDays = expected.days
        }
        snapshot.forceQuitLifted =
            item.kind == .processing && figures.outlivesForceQuit && snapshot.state == .notRunning && isBarred(app)
        let isFar = item.begins.since(item.since) >= figures.farDate
        let isRecent = lastUse.map { now.since($0) <= figures.recentUse } ?? false
        var question = BackgroundTaskQuestion(kind: item.kind, state: snapshot.state, now: now, lever: lever)
        question.isIntervalOver = intervalEnds(item, app) <= now
        question.isSpaced = isBeside || spacingEnds(item, app) <= now
        question.hasBegun = item.begins <= now
        // The use in which the app asked is none since.
        question.isRemembered = !isFar || isInFront || record.lastOpened.map { $0 > item.since } ?? false
        question.isEligible = item.isOfForeground || isRecent
        question.hasHandler =
            !apps[app].hasProcess || apps[app].isLaunching || record.handlers.contains(item.identifier)
        question.isIdle = isIdle && now.since(areas.backgroundTask.usedUntil) >= figures.idle
        question.hasPower =
            !item.needsPower && !snapshot.forceQuitLifted || conditions.contains(.externalPower)
        question.hasNetwork = !item.needsNetwork || conditions.hasNetwork
        question.refreshes = refreshes(app)
        return question
    }

    /// A request that waits, and what the scheduler says to it now: a look that changes nothing.
    package struct TaskOutlook: Hashable, Sendable {
        package var kind: BackgroundTaskKind
        /// None for a fetch.
        package var identifier: NameID
        package var since: Instant
        /// The next try; nil while something stands in the way that time alone does not clear.
        package var nextChance: Instant?
        /// When the user is expected to open the app next; nil without a habit.
        package var expectedUse: Instant?
        /// The checks that fail now, in the order of the rulebook.
        package var unmet: [Check]
        package var begins: Instant?
        package var needsPower: Bool
        package var needsNetwork: Bool
    }

    /// What an app waits to be run for, in the order in which it asked (BGT-2).
    package func tasks(of app: AppID, at now: Instant) -> [TaskOutlook] {
        guard isInstalled(app) else { return [] }
        var router = self
        router.now = max(router.now, now)
        return areas.backgroundTask.apps[app].pending.map { item in
            let results = router.results(for: item, app)
            return TaskOutlook(
                kind: item.kind,
                identifier: item.identifier,
                since: item.since,
                nextChance: item.next == .distantFuture ? nil : item.next,
                expectedUse: item.kind == .processing ? nil : habit(of: app)?.next(from: now)?.at,
                unmet: Check.allCases.filter { results[$0] == .fail },
                begins: item.begins == .zero ? nil : item.begins,
                needsPower: item.needsPower,
                needsNetwork: item.needsNetwork
            )
        }
    }

    // MARK: Trying

    /// Tries what is due. What is due together is handed over together, in the time of one launch (BGT-6).
    mutating func tasksDue(of app: AppID) {
        guard !areas.backgroundTask.isOff, areas.backgroundTask.apps[app].next <= now else { return }
        planTasks(of: app)
        let due = areas.backgroundTask.apps[app].pending.filter { $0.next <= now }
        guard let first = due.first else { return }
        for item in due where (item.kind == .processing) == (first.kind == .processing) {
            raise(item, .none, of: app, by: .none)
        }
        planTasks(of: app)
    }

    /// Puts an event in place for something that an app is to be run for.
    mutating func raise(_ item: BackgroundTaskRecord.Item, _ lever: TaskLever, of app: AppID, by parent: EventID) {
        let number = arrive(item, lever, app)
        raise(
            WakeEvent(kind: item.kind.event, local: number, subject: item.identifier, app: app, parent: parent),
            .none
        )
    }

    /// - Returns: the number of its event.
    private mutating func arrive(_ item: BackgroundTaskRecord.Item, _ lever: TaskLever, _ app: AppID) -> UInt32 {
        areas.backgroundTask.lastNumber &+= 1
        let number = areas.backgroundTask.lastNumber
        areas.backgroundTask.apps[app].arriving.append(.init(number: number, item: item, lever: lever))
        return number
    }

    /// The event by which the scheduler would try again what an earlier event tried, whatever the time. Nil where the app does not
    /// wait to be run for it.
    mutating func nextTask(after event: WakeEvent) -> WakeEvent? {
        guard let app = event.app, isInstalled(app),
            let item = areas.backgroundTask.apps[app].pending.first(where: {
                $0.kind.event == event.kind && $0.identifier == event.subject
            }), !areas.backgroundTask.apps[app].isUnderWay(item)
        else { return nil }
        var next = event
        next.local = arrive(item, .none, app)
        return next
    }

    /// It did not reach the app: the request stays, and is tried again when nothing stands in its way.
    mutating func lostTask(_ number: UInt32, of app: AppID) {
        guard isInstalled(app) else { return }
        areas.backgroundTask.apps[app].running.removeAll { $0.number == number }
        guard let run = areas.backgroundTask.apps[app].take(number) else { return }
        if let place = areas.backgroundTask.apps[app].pending.firstIndex(where: { $0.isSame(run.item) }) {
            areas.backgroundTask.apps[app].pending[place].wasRefused = true
            // Whatever it was lost for: no two tries come at once.
            areas.backgroundTask.apps[app].pending[place].notBefore = now.advanced(by: .seconds(1))
        }
        planTasks(of: app)
    }
}
