import WakeModel

/// What the rules of sound look at beside the app and the phone.
struct AudioQuestion {
    var kind: EventKind
    var state: AppState
    /// Of `audioInterruptionEnded`: without shouldResume.
    var failed = false
    var category = AudioCategory.soloAmbient
    /// What the app's engine does, or would.
    var plays = false
    var records = false
    /// There was nothing but silence for longer than the limit (AUD-4).
    var silent = false
    var inCall = false
    /// The session would interrupt an app that plays (AUD-8).
    var interruptsPlayer = false
}

extension AudioQuestion: AreaQuestion {
    func refusal(_ decisive: Check, in results: CheckResults) -> (Verdict, Reason) {
        switch decisive {
        case .asksToBeWoken: (.defer, .answerWaits)
        case .soundModePresent: (state == .suspended ? .defer : .deny, .soundModeMissing)
        case .audible: (.deny, .silentTooLong)
        case .noCall: (.deny, .callHasPriority)
        case .categoryAllows: (.deny, .categoryForbids)
        case .interruptsNobody: (.deny, .cannotInterruptOthers)
        case .relaunchedBySound: (.deny, .notRelaunchedBySound)
        default: preconditionFailure("\(decisive) never fails for one app's sound")
        }
    }

    func acceptance(launching: Bool) -> (Verdict, Reason) {
        let (verdict, reason) = Acceptance.usual(in: state, launching: launching)
        let background = state == .background
        return switch kind {
        case .audioInterrupted: (verdict, .interrupted)
        case .audioInterruptionEnded: (verdict, failed || verdict == .relaunch ? reason : .shouldResume)
        case .audioRanDry: (verdict, .ranDry)
        case .audioStarted where background, .audioInBackground where background, .audioSilent where background:
            (verdict, .playsOn)
        case .audioStopped where background: (verdict, .stoppedPlaying)
        default: (verdict, reason)
        }
    }

    func keepsRunning(_ modes: BackgroundModes) -> Bool {
        modes.contains(.audio) && (kind == .audioInterrupted || kind == .audioInterruptionEnded)
    }
}

/// The checks of events of sound, in the order of the rulebook.
enum AudioRules {
    /// How long an app whose sound stopped in the background has to end its session before AUD-2 suspends it; it is
    /// suspended at once when it has. No document gives a figure: assumed.
    static let lingering = Instant.Span.seconds(5)

    /// After how long a run of silence is told where it has no limit. No document gives a figure: assumed.
    static let silenceNotice = Instant.Span.seconds(10)

    /// Evaluates every check; none is left out because an earlier one failed.
    ///
    /// What holds passes. What does not hold fails where it stands in the way of the app in its state, and is not
    /// applicable elsewhere.
    static func evaluate(_ question: AudioQuestion, of app: AppSnapshot, by constants: Constants)
        -> CheckResults
    {
        let dead = question.state == .notRunning
        let suspended = question.state == .suspended
        let background = question.state == .background
        let asks = isWish(question.kind)
        var results = CheckResults(ofLaunching: app, by: constants)
        results[.asksToBeWoken] = passes(wakes(question), where: suspended)
        results[.soundModePresent] =
            !asks && !wakes(question)
            ? .notApplicable : passes(app.modes.contains(.audio), where: background && asks || suspended || dead)
        results[.audible] =
            constants.profile.areas.audio.silenceLimit == nil
            ? .notApplicable : passes(!question.silent, where: background && isAboutSilence(question.kind))
        results[.noCall] = !asks ? .notApplicable : passes(!question.inCall, where: question.kind != .audioInBackground)
        results[.categoryAllows] =
            !asks
            ? .notApplicable
            : passes(fits(question) && (!background || question.category.goesOnInBackground), where: true)
        results[.interruptsNobody] =
            question.kind != .audioActivated
            ? .notApplicable : passes(!question.interruptsPlayer, where: background)
        results[.relaunchedBySound] =
            !dead ? .notApplicable : passes(constants.profile.areas.audio.relaunches && wakes(question), where: true)
        return results
    }

    /// Whether it is about what an app would like to do.
    private static func isWish(_ kind: EventKind) -> Bool {
        kind == .audioActivated || kind == .audioStarted || kind == .audioInBackground
    }

    private static func isAboutSilence(_ kind: EventKind) -> Bool {
        kind == .audioSilent || kind == .audioInBackground || kind == .audioStarted
    }

    /// Whether it is for a suspended app to go on with (AUD-6).
    private static func wakes(_ question: AudioQuestion) -> Bool {
        question.kind == .audioInterruptionEnded && !question.failed
    }

    /// Whether the category has the directions of the engine (AUD-7).
    private static func fits(_ question: AudioQuestion) -> Bool {
        if question.kind == .audioActivated { return true }
        return (!question.plays || question.category.plays) && (!question.records || question.category.records)
    }

    /// What a refused request is told, in the codes of ``AudioErrorCode``.
    static func code(of reason: Reason) -> Int32 {
        switch reason {
        case .callHasPriority: AudioErrorCode.insufficientPriority
        case .categoryForbids: AudioErrorCode.incompatibleCategory
        case .cannotInterruptOthers: AudioErrorCode.cannotInterruptOthers
        default: AudioErrorCode.cannotStartPlaying
        }
    }
}
