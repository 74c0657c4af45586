import WakeModel
import WakeWire

extension WireTranslation {
    /// What an app asks for without a socket; the request to watch one goes with its duplicate.
    static func voip(_ request: WireVoIPRequest) -> VoIPRequest? {
        switch request {
        case .watch: nil
        case .unwatch(let socket): .unwatch(socket)
        case .setKeepAlive(_, let period): .setKeepAlive(period: keepAlivePeriod(period))
        case .clearKeepAlive: .clearKeepAlive
        }
    }

    /// A period in whole milliseconds; the wire lets none through that is no time of the bench.
    static func keepAlivePeriod(_ seconds: Double) -> Instant.Span {
        .milliseconds(Int64(seconds * 1_000))
    }

    /// What an app reads of an event of its calls; nil for one that has no callback.
    static func voipEvent(_ event: WakeEvent) -> WireVoIPEvent? {
        switch event.kind {
        case .voipData: .data(socket: event.socket)
        case .voipClosed: .closed(socket: event.socket)
        case .voipKeepAlive: .keepAlive
        case .voipAfterBoot, .voipAfterExit: .started
        default: nil
        }
    }
}
