import WakeModel
import WakePorts
import WakeReports
import WakeWire

/// The life of an app, in the wire's words.
extension WireTranslation {
    /// What a fresh process is told.
    func welcome(_ state: AppState, _ cause: LaunchCause?) -> Welcome {
        var options = LaunchOptions()
        if let cause { for area in Areas.rows { area.explain(cause, in: &options, names) } }
        return Welcome(
            state: Self.appState(state),
            cause: cause.map {
                WireCause(
                    source: $0.event.kind.source.word,
                    kind: $0.event.kind.word,
                    subject: names.text($0.event.subject),
                    event: LogTime.text($0.event.id),
                    decision: LogTime.text($0.decision)
                )
            },
            options: options
        )
    }

    static func appState(_ state: AppState) -> WireAppState {
        switch state {
        case .active: .active
        case .inactive: .inactive
        case .background, .suspended, .notRunning: .background
        }
    }

    static func callback(_ callback: LifecycleCallback) -> WireCallback {
        switch callback {
        case .willResignActive: .willResignActive
        case .didEnterBackground: .didEnterBackground
        case .willEnterForeground: .willEnterForeground
        case .didBecomeActive: .didBecomeActive
        case .willTerminate: .willTerminate
        case .taskExpiration: .taskExpiration(tokens: [])
        case .didReceiveMemoryWarning: .didReceiveMemoryWarning
        }
    }
}
