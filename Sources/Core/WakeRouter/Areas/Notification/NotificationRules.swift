import WakeModel

/// What the rules of notifications look at beside the app and the phone.
struct NotificationQuestion {
    var kind: EventKind
    var state: AppState
}

extension NotificationQuestion: AreaQuestion {
    func refusal(_ decisive: Check, in results: CheckResults) -> (Verdict, Reason) {
        precondition(decisive == .appInFront, "\(decisive) never fails for a notification")
        return (.deny, .shownBySystem)
    }

    func acceptance(launching: Bool) -> (Verdict, Reason) {
        let (verdict, reason) = Acceptance.usual(in: state, launching: launching)
        if kind == .notificationTapped { return (verdict, .tapped) }
        return (verdict, reason == .launching ? .launching : .notificationInFront)
    }

    /// What the user sees of an app does not make it run in the background.
    func keepsRunning(_ modes: BackgroundModes) -> Bool { false }
}

/// The rules of local notifications.
enum NotificationRules {
    /// Evaluates every check.
    static func evaluate(_ question: NotificationQuestion, of app: AppSnapshot, by constants: Constants) -> CheckResults
    {
        guard question.kind == .notificationDue else {
            // Whoever taps brings the app to the front first: what is asked matters where it ended meanwhile.
            return CheckResults(ofLaunching: app, by: constants)
        }
        var results = CheckResults()
        results[.appInFront] = passes(isInFront(question.state), where: true)
        return results
    }

    /// Whether the user has an app in that state before him (NOTE-3).
    static func isInFront(_ state: AppState) -> Bool { state == .active || state == .inactive }

    /// What is heard of a sound: a file in another format, or too long, gives way to the default sound (NOTE-5).
    static func played(_ sound: NotificationSound, by constants: Constants) -> PlayedSound {
        switch sound {
        case .none: .none
        case .standard: .standard
        case .file(_, let file):
            if let file, plays(file.format), file.length <= constants.profile.areas.notification.soundLimit {
                .own
            } else {
                .standard
            }
        }
    }

    private static func plays(_ format: SoundFormat) -> Bool {
        switch format {
        case .linearPCM, .ima4, .ulaw, .alaw: true
        case .other: false
        }
    }
}
