import Foundation
import Synchronization
import WakeWire

/// Who in the app hears that one of its background sessions has something for it.
package enum TransferHandlers {
    /// Takes a session's identifier and a completion handler on the main queue.
    package typealias Handler = @MainActor @Sendable (String, @escaping @Sendable () -> Void) -> Void

    private static let application = Mutex<Handler?>(nil)

    /// The application hears of it from now on.
    package static func setApplication(_ handler: @escaping Handler) { application.withLock { $0 = handler } }

    /// Takes what is for the process itself; on the main queue.
    static func receive(_ body: WireDeliveryBody) {
        guard case .transfer(.events(let session)) = body else { return }
        let call = HandlerCall(session)
        guard let handler = application.withLock({ $0 }) else { return call.make() }
        MainActor.assumeIsolated { handler(session) { call.make() } }
    }
}

/// The call of a completion handler, which counts once.
private final class HandlerCall: Sendable {
    private let session: String
    private let isMade = Atomic(false)

    init(_ session: String) { self.session = session }

    func make() {
        guard !isMade.exchange(true, ordering: .acquiringAndReleasing) else { return }
        BenchClient.shared.send(.transfer(manager: 0, .handled(session: session)))
    }
}
