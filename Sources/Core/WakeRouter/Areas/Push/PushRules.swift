import WakeModel

/// What the rules of pushes look at beside the app and the phone.
struct PushQuestion {
    var kind: EventKind
    var state: AppState
    var push: Push
    /// The phone is on and has a network.
    var isReachable: Bool
    /// Its apns-expiration has passed, or was 0 while the phone was out of reach.
    var isExpired: Bool
    var fits: Bool
    /// How many wakes by background pushes there were within the window of PUSH-3.
    var wakes: UInt32
    /// How many calls the app did not report (PUSH-8).
    var unreported: UInt32
    var isAnswered = false
    /// The checks that would fail, a bit each, were a push that is for the user alone for the app, too.
    var failingForApp: UInt128 = 0
}

extension PushQuestion: AreaQuestion {
    func refusal(_ decisive: Check, in results: CheckResults) -> (Verdict, Reason) {
        switch decisive {
        case .modePresent: (.deny, .modeMissing)
        case .backgroundPushesKnown: (.deny, .noBackgroundPushes)
        case .priorityAllows: (.deny, .priorityForbids)
        case .pushesLeft: (.defer, .heldBySystem)
        case .notExpired: (.drop, .pushExpired)
        case .phoneReachable: (.defer, .storedByServer)
        case .payloadFits: (.deny, .payloadTooLarge)
        case .callsReported: (.deny, .callsNotReported)
        case .pushForApp: (.deny, .pushForUser)
        case .newsstandThere: (.deny, .newsstandGone)
        case .lowPowerModeOff: (.defer, .lowPowerMode)
        case .backgroundRefreshOn: (.deny, .refreshOff)
        default: preconditionFailure("\(decisive) never fails for one app's pushes")
        }
    }

    func acceptance(launching: Bool) -> (Verdict, Reason) {
        let (verdict, reason) = Acceptance.usual(in: state, launching: launching)
        guard verdict == .resume || verdict == .relaunch else { return (verdict, reason) }
        switch kind {
        case .callPushReceived: return (verdict, .calledByPush)
        case .newsstandPushReceived: return (verdict, .newIssue)
        default: return (verdict, .wokenByPush)
        }
    }

    /// Of what is for the user alone nothing was asked that is asked of what is for its app.
    func results(_ results: CheckResults, passing decisive: Check) -> CheckResults {
        var passed = results
        passed[decisive] = .pass
        guard decisive == .pushForApp else { return passed }
        return CheckResults(lower: passed.lower | failingForApp, upper: passed.upper | failingForApp)
    }

    func keepsRunning(_ modes: BackgroundModes) -> Bool { modes.contains(kind.mode) }
}

/// The checks of pushes, in the order of the rulebook.
enum PushRules {
    /// Evaluates every check; none is left out because an earlier one failed. What is for the user alone asks nothing of its app,
    /// and what the phone decides by itself matters for what reaches it.
    static func evaluate(_ question: PushQuestion, of app: AppSnapshot, by constants: Constants) -> CheckResults {
        let isForApp = question.kind != .pushReceived || question.push.isContentAvailable
        var results = CheckResults()
        if isForApp {
            results = CheckResults(ofLaunching: app, by: constants)
            // To be reached the phone must be on, and APNs keeps what does not reach it.
            if results[.phoneIsOn] == .fail { results[.phoneIsOn] = .notEvaluated }
            switch question.kind {
            case .callPushReceived: evaluateCall(question, of: app, by: constants, in: &results)
            case .newsstandPushReceived:
                results[.newsstandThere] = passes(
                    constants.profile.areas.push.newsstand,
                    where: isAsleep(question.state)
                )
            default: evaluateBackground(question, of: app, by: constants, in: &results)
            }
        }
        if question.kind == .pushReceived { results[.pushForApp] = isForApp ? .pass : .fail }
        results[.notExpired] = question.push.expiration == .none ? .notApplicable : question.isExpired ? .fail : .pass
        results[.phoneReachable] = question.isReachable ? .pass : .fail
        results[.payloadFits] = question.fits ? .pass : .fail
        return results
    }

    private static func isAsleep(_ state: AppState) -> Bool { state == .notRunning || state == .suspended }

    private static func evaluateBackground(
        _ question: PushQuestion,
        of app: AppSnapshot,
        by constants: Constants,
        in results: inout CheckResults
    ) {
        let figures = constants.profile.areas.push
        let isAsleep = isAsleep(question.state)
        let arrives = question.isReachable && !question.isExpired && question.fits
        results[.modePresent] = passes(app.modes.contains(.remoteNotification), where: isAsleep)
        results[.backgroundPushesKnown] = passes(figures.background, where: isAsleep)
        results[.priorityAllows] =
            !figures.checksPriority || question.push.isVisible
            ? .notApplicable
            : passes(question.push.priority != .high && question.push.type == .background, where: isAsleep)
        if let limit = figures.limit, !question.push.isVisible {
            results[.pushesLeft] = passes(question.wakes < limit, where: isAsleep && arrives)
        } else {
            results[.pushesLeft] = .notApplicable
        }
        if figures.needsRefresh { results[.backgroundRefreshOn] = passes(app.refreshes, where: isAsleep && arrives) }
        results[.lowPowerModeOff] =
            figures.pausesInLowPower
            ? passes(!app.conditions.contains(.lowPowerMode), where: isAsleep && arrives) : .notApplicable
    }

    private static func evaluateCall(
        _ question: PushQuestion,
        of app: AppSnapshot,
        by constants: Constants,
        in results: inout CheckResults
    ) {
        results[.modePresent] = passes(app.modes.contains(question.kind.mode), where: isAsleep(question.state))
        if let limit = constants.profile.areas.push.unreportedLimit {
            results[.callsReported] = passes(question.unreported < limit, where: question.state == .notRunning)
        } else {
            results[.callsReported] = .notApplicable
        }
    }

    /// Whether a push comes too late at an instant (PUSH-4).
    static func isExpired(_ push: Push, at now: Instant, reachable: Bool) -> Bool {
        switch push.expiration {
        case .none: false
        case .once: !reachable
        case .at(let end): end <= now
        }
    }

    /// Whether APNs takes a payload of the push's size (PUSH-5).
    static func fits(_ size: UInt32, isCall: Bool, by figures: PushFigures) -> Bool {
        size <= (isCall ? figures.callPayloadLimit : figures.payloadLimit)
    }
}
