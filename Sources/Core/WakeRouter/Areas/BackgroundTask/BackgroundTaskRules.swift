import WakeModel

/// What the rules of background tasks look at beside the app and the phone.
struct BackgroundTaskQuestion {
    var kind: BackgroundTaskKind
    var state: AppState
    var now: Instant
    var lever = TaskLever.none
    /// A lever has what runs expire: there is nothing to ask of it but whether its app is there.
    var isExpiration = false
    // Whether what the checks of time ask is so.
    var isIntervalOver = true
    var isSpaced = true
    var hasBegun = true
    /// The request is not for so far ahead that nobody remembers it, or the app was used since.
    var isRemembered = true
    var isEligible = true
    var hasHandler = true
    /// Nobody uses the phone, and nobody did for long enough.
    var isIdle = true
    var hasPower = true
    var hasNetwork = true
    var refreshes = true
    var usesFetch: Bool { kind == .fetch }
}

extension BackgroundTaskQuestion: AreaQuestion {
    func refusal(_ decisive: Check, in results: CheckResults) -> (Verdict, Reason) {
        switch decisive {
        case .modePresent: (.deny, .modeMissing)
        case .fetchIntervalOver: (.deny, .minimumInterval)
        case .chancesAllow: (.deny, .chancesLow)
        case .useExpected: (.deny, .useNotExpected)
        case .fetchNotPaused: (.deny, .fetchPaused)
        case .handlerRegistered: (.deny, .noLaunchHandler)
        case .beginDateReached: (.deny, .beforeBeginDate)
        case .usedSinceFarRequest: (.deny, .farDateUnused)
        case .phoneIdle: (.deny, .phoneInUse)
        case .externalPower: (.deny, .noExternalPower)
        case .networkThere: (.deny, .noNetwork)
        case .askedOrUsedInForeground: (.deny, .notEligible)
        case .lowPowerModeOff: (.deny, .lowPowerMode)
        case .backgroundRefreshOn: (.deny, .refreshOff)
        default: preconditionFailure("\(decisive) never fails for a background task")
        }
    }

    func acceptance(launching: Bool) -> (Verdict, Reason) {
        let (verdict, _) = Acceptance.usual(in: state, launching: launching)
        if lever != .none || isExpiration { return (verdict, .leverUsed) }
        return switch kind {
        case .fetch: (verdict, .fetched)
        case .refresh: (verdict, .refreshTaskRuns)
        case .processing: (verdict, .processingTaskRuns)
        }
    }

    /// What an app owes for a task keeps it running; the time is that of the launch, whatever else is handed over (BGT-6).
    func keepsRunning(_ modes: BackgroundModes) -> Bool { false }

    var isAnswered: Bool { true }
}

/// The rules of background fetch and of the task scheduler.
enum BackgroundTaskRules {
    /// What only time brings: a later try meets it.
    static let ofTime: [Check] = [.fetchIntervalOver, .chancesAllow, .useExpected, .beginDateReached]

    /// Evaluates every check.
    static func evaluate(_ question: BackgroundTaskQuestion, of app: AppSnapshot, by constants: Constants)
        -> CheckResults
    {
        var results = CheckResults(ofLaunching: app, by: constants)
        if question.isExpiration { return results }
        let figures = constants.profile.areas.backgroundTask
        let isForced = question.lever == .regardless
        /// Permissions, which only the strongest lever passes over.
        func permission(_ check: Check, _ holds: Bool) {
            results[check] = isForced ? .notApplicable : passes(holds, where: true)
        }
        /// Times and states of the phone, for which the scheduler waits.
        func moment(_ check: Check, _ holds: Bool) {
            results[check] =
                isForced || question.lever == .allowed ? .notApplicable : passes(holds, where: true)
        }
        let isProcessing = question.kind == .processing
        permission(.modePresent, app.modes.contains(isProcessing ? .processing : .fetch))
        let isPaused = figures.heedsLowPower && app.conditions.contains(.lowPowerMode)
        if question.usesFetch {
            moment(.fetchIntervalOver, question.isIntervalOver)
            permission(.fetchNotPaused, question.refreshes && !isPaused)
        } else {
            results[.handlerRegistered] = passes(question.hasHandler, where: true)
            moment(.beginDateReached, question.hasBegun)
            moment(.usedSinceFarRequest, question.isRemembered)
            permission(.lowPowerModeOff, !isPaused)
            permission(.backgroundRefreshOn, question.refreshes)
            permission(.askedOrUsedInForeground, question.isEligible)
        }
        moment(.chancesAllow, question.isSpaced)
        if isProcessing {
            moment(.phoneIdle, question.isIdle)
            moment(.externalPower, question.hasPower)
            moment(.networkThere, question.hasNetwork)
        } else {
            moment(.useExpected, isNear(app.task.expectedUse, at: question, figures))
        }
        return results
    }

    /// Whether a refresh now is shortly before the expected use; without a habit any time is as good (FETCH-4).
    private static func isNear(
        _ expected: Instant,
        at question: BackgroundTaskQuestion,
        _ figures: BackgroundTaskFigures
    ) -> Bool { expected == .distantFuture || expected.since(question.now) <= figures.lead }
}
