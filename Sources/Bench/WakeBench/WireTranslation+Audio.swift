import WakeModel
import WakePorts
import WakeWire

/// Sound on the wire and on the desk.
extension WireTranslation {
    /// A refusal in the codes of ``AudioErrorCode``.
    static func audioFailure(_ code: Int32) -> WireFailure {
        let message =
            switch code {
            case AudioErrorCode.cannotInterruptOthers:
                "The session cannot interrupt the app that plays; only the foreground app may."
            case AudioErrorCode.insufficientPriority: "A call has priority."
            case AudioErrorCode.incompatibleCategory: "The category does not play or record here."
            case AudioErrorCode.resourceNotAvailable: "The stream could not be made."
            default: "The app may not start playing or recording here."
            }
        return WireFailure(domain: "NSOSStatusErrorDomain", code: Int(code), message: message)
    }

    /// What an app reads of an event of sound; nil for any other.
    func audioEvent(_ delivery: AppDelivery) -> WireAudioEvent? {
        let event = delivery.event
        switch event.kind {
        case .audioInterrupted: return .interrupted(reason: UInt8(clamping: event.local))
        case .audioInterruptionEnded: return .interruptionEnded(shouldResume: !event.failed)
        case .audioRouteChanged:
            guard case .audioRoute(let route, let previous) = delivery.payload else { return nil }
            return .routeChanged(reason: UInt8(clamping: event.local), route, previous: previous)
        case .microphoneAnswered: return .permissionAnswered(granted: !event.failed)
        case .audioStopped where event.failed: return .lost
        case .audioRanDry: return .noted(event.kind.word, count: event.local)
        default: return event.kind.source == .audio ? .noted(event.kind.word, count: 0) : nil
        }
    }
}
