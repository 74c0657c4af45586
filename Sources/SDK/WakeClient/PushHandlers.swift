import Foundation
import Synchronization
import WakeWire

/// Who in the process hears of its pushes: the application, or a service extension. Registries of PushKit hear of VoIP pushes by
/// themselves.
package enum PushHandlers {
    /// Takes an event on the main queue.
    package typealias Handler = @MainActor @Sendable (WirePushEvent) -> Void

    private struct Heard {
        var handler: Handler?
        /// What the process knows of its device token; nil before it was told.
        var isRegistered: Bool?
        var reportedCalls: UInt64 = 0
    }

    private static let heard = Mutex(Heard())

    /// The handler hears of each event from now on.
    package static func set(_ handler: @escaping Handler) { heard.withLock { $0.handler = handler } }

    /// Takes an event; on the main queue. A push that nobody hears of brings nothing new.
    static func receive(_ body: WireDeliveryBody) {
        guard case .push(let event) = body else { return }
        if case .registered = event { heard.withLock { $0.isRegistered = true } }
        if let handler = heard.withLock({ $0.handler }) {
            MainActor.assumeIsolated { handler(event) }
        } else if case .received(let number, _) = event {
            BenchClient.shared.send(.push(.completed(number: number, result: .noData)))
        }
    }

    // MARK: Device tokens

    /// Asks for a device token for pushes other than VoIP.
    package static func register() { BenchClient.shared.send(.push(.register)) }

    /// The app has no such token any more.
    package static func unregister() {
        heard.withLock { $0.isRegistered = false }
        BenchClient.shared.send(.push(.unregister))
    }

    /// Whether the app has such a token; a process that was not told asks.
    package static var isRegistered: Bool {
        if let known = heard.withLock({ $0.isRegistered }) { return known }
        return BenchClient.shared.request { .push(.isRegistered(id: $0)) }.granted == true
    }

    // MARK: Calls

    /// The phone is told of an incoming call (PUSH-7).
    package static func reportCall() {
        heard.withLock { $0.reportedCalls += 1 }
        BenchClient.shared.send(.push(.reportCall))
    }

    /// The app makes a call (PUSH-10).
    package static func callBegan() { BenchClient.shared.send(.push(.callBegan)) }

    /// One of the app's calls is over.
    package static func callEnded() { BenchClient.shared.send(.push(.callEnded)) }

    /// How many calls this process has reported.
    package static var reportedCalls: UInt64 { heard.withLock { $0.reportedCalls } }
}

extension WirePushEvent {
    /// Whether it is for who takes VoIP pushes.
    var isForCalls: Bool {
        switch self {
        case .registered(_, let calls), .failed(let calls, _): calls
        case .called: true
        case .received, .extend, .extensionExpires: false
        }
    }
}
