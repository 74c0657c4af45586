import Dispatch
import Synchronization
import WakeWire

/// Who in the app runs its background tasks, each a manager of the client's with the queue that its handler is called on, and who
/// fetches what is new.
package enum BackgroundTaskHandlers {
    /// Takes the number of a fetch on the main queue.
    package typealias Fetch = @MainActor @Sendable (UInt32) -> Void

    private struct Handlers {
        /// By the identifiers of their tasks.
        var launches: [String: UInt32] = [:]
        var expirations: UInt32?
        var fetch: Fetch?
    }

    private static let handlers = Mutex(Handlers())

    /// From now on the manager hears of each task of the identifier that is to run.
    package static func setLaunch(of identifier: String, manager: UInt32) {
        handlers.withLock { $0.launches[identifier] = manager }
    }

    /// From now on the manager hears of the tasks whose time is nearly over.
    package static func setExpirations(manager: UInt32) { handlers.withLock { $0.expirations = manager } }

    /// The handler hears of each fetch from now on.
    package static func setFetch(_ handler: @escaping Fetch) { handlers.withLock { $0.fetch = handler } }

    /// Takes a fetch; on the main queue.
    static func receive(_ body: WireDeliveryBody) {
        guard case .backgroundTask(.fetch(let number)) = body, let fetch = handlers.withLock({ $0.fetch }) else {
            return
        }
        MainActor.assumeIsolated { fetch(number) }
    }

    /// Which manager hears of an event; nil when none does.
    static func manager(for event: WireBackgroundTaskEvent) -> UInt32? {
        let handlers = handlers.withLock { $0 }
        switch event {
        case .launched(_, let identifier, _):
            if handlers.launches[identifier] == nil {
                complain("no launch handler is registered for the task \(identifier)")
            }
            return handlers.launches[identifier]
        case .expired: return handlers.expirations
        case .fetch: return nil
        }
    }
}
