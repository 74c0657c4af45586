import WakeModel

/// What the random world's apps ask to be run for, and who pulls the scheduler's levers.
extension RandomWorld {
    private static let clock = PhoneClock(epoch: 1_767_225_600_000_000_000, zone: 3_600)

    /// A week is long for a random world: in most of them the scheduler counts in seconds.
    static func hasten(_ figures: inout BackgroundTaskFigures, _ seed: UInt64) {
        figures.processingLimit = .seconds(60)
        figures.idle = .milliseconds(1)
        if seed % 4 != 0 { figures.spacing = .milliseconds(100) }
        if seed % 3 != 0 { figures.habitDays = 1 }
        if seed % 2 == 0 { figures.farDate = .seconds(1) }
        if seed % 3 == 0 { figures.recentUse = .seconds(60) }
    }

    static func taskIdentifiers(of index: Int) -> [NameID]? {
        index % 4 == 1 ? nil : (0..<3).map { NameID(UInt32(900 + $0)) }
    }

    private mutating func anyIdentifier() -> NameID { NameID(UInt32(900 + chance.below(4))) }

    mutating func registerHandlers(_ index: Int) {
        for identifier in Self.taskIdentifiers(of: index) ?? [] where !chance.once(in: 4) {
            hear(.request(AppID(UInt32(index)), .backgroundTask(.register(identifier))))
        }
        if chance.once(in: 3) {
            hear(.request(AppID(UInt32(index)), .backgroundTask(.setFetchInterval(.zero, clock: Self.clock))))
        }
        for _ in 0..<3 where chance.once(in: 2) {
            hear(
                .request(AppID(UInt32(index)), .backgroundTask(.submit(anySubmission(), clock: Self.clock, answer: 1)))
            )
        }
    }

    mutating func anyTaskRequest(of app: AppID) -> AppRequest {
        if let place = tasks.lastIndex(where: { $0.app == app }), !chance.once(in: 4) {
            let task = tasks.remove(at: place)
            let downloaded: Bool? = chance.once(in: 3) ? nil : chance.once(in: 2)
            return task.isFetch
                ? .backgroundTask(.fetched(task.number, chance.pick(FetchResult.allCases), downloaded: downloaded))
                : .backgroundTask(.complete(task.number, success: chance.once(in: 2)))
        }
        switch chance.below(40) {
        case 0: return .backgroundTask(.register(anyIdentifier(), answer: 2))
        case 1...3: return .backgroundTask(.cancel(anyIdentifier()))
        case 4: return .backgroundTask(.cancelAll)
        case 5: return .backgroundTask(.complete(UInt32(chance.below(1_000)), success: true))
        case 6...10:
            let intervals: [Instant.Span?] = [nil, .zero, .seconds(2), .seconds(600)]
            return .backgroundTask(.setFetchInterval(chance.pick(intervals), clock: Self.clock))
        default: return .backgroundTask(.submit(anySubmission(), clock: Self.clock, answer: 1))
        }
    }

    private mutating func anySubmission() -> BackgroundTaskSubmission {
        let ahead: [Instant.Span?] = [nil, nil, .seconds(1), .seconds(61), .seconds(9 * 86_400)]
        return BackgroundTaskSubmission(
            identifier: anyIdentifier(),
            isProcessing: chance.once(in: 2),
            begins: chance.pick(ahead).map { now.advanced(by: $0) },
            needsPower: chance.once(in: 2),
            needsNetwork: chance.once(in: 3),
            isOfExtension: chance.once(in: 6)
        )
    }

    /// An app has a task from now on.
    mutating func noteTask(_ event: WakeEvent, of app: AppID) {
        guard BackgroundTaskKind.allCases.contains(where: { $0.event == event.kind }) else { return }
        tasks.append((app, event.task, event.subject, event.kind == .fetchDue))
        if tasks.count > 32 { tasks.removeFirst(16) }
    }

    /// A developer has a task run, or expire; often the app has asked for it just before.
    mutating func pullLever(for app: AppID? = nil) {
        let known = app
        let app = app ?? AppID(UInt32(chance.below(Self.appCount)))
        if chance.once(in: 3), let task = tasks.last(where: { !$0.isFetch && ($0.app == known || known == nil) }) {
            return simulate(.taskExpirationSimulated, task.identifier, of: task.app)
        }
        if chance.once(in: 6) {
            hear(.phone(chance.pick([.displayOff, .chargerDisconnected, .lowPowerModeOff])), isEvent: true)
        }
        if chance.once(in: 6) { hear(.user(app, .allowRefresh), isEvent: true) }
        switch chance.below(6) {
        case 0, 1:
            let submission = anySubmission()
            hear(.request(app, .backgroundTask(.submit(submission, clock: Self.clock))))
            simulate(.taskLaunchSimulated, submission.identifier, of: app)
        case 2:
            hear(.request(app, .backgroundTask(.setFetchInterval(.seconds(600), clock: Self.clock))))
            simulate(.taskLaunchSimulated, .none, of: app)
        default: simulate(.taskLaunchSimulated, chance.once(in: 3) ? .none : anyIdentifier(), of: app)
        }
    }

    private mutating func simulate(_ kind: EventKind, _ identifier: NameID, of app: AppID) {
        let event = WakeEvent(kind: kind, local: UInt32(1 + chance.below(3)), subject: identifier, app: app)
        hear(.event(event), isEvent: true)
    }
}
