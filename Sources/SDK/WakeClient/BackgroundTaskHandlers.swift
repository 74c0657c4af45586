import Dispatch
import Synchronization
import WakeWire

/// Who in the app runs its background tasks, and fetches what is new: each is a manager of the client's, with the queue that its
/// handler is called on.
package enum BackgroundTaskHandlers {
    private struct Handlers {
        /// By the identifiers of their tasks.
        var launches: [String: UInt32] = [:]
        var expirations: UInt32?
        var fetch: UInt32?
    }

    private static let handlers = Mutex(Handlers())

    /// From now on the manager hears of each task of the identifier that is to run.
    package static func setLaunch(of identifier: String, manager: UInt32) {
        handlers.withLock { $0.launches[identifier] = manager }
    }

    /// From now on the manager hears of the tasks whose time is nearly over.
    package static func setExpirations(manager: UInt32) { handlers.withLock { $0.expirations = manager } }

    /// From now on the manager hears of each fetch.
    package static func setFetch(manager: UInt32) { handlers.withLock { $0.fetch = manager } }

    /// Who hears of an event; nil when nobody does.
    static func manager(for event: WireBackgroundTaskEvent) -> UInt32? {
        let handlers = handlers.withLock { $0 }
        switch event {
        case .launched(_, let identifier, _):
            if handlers.launches[identifier] == nil {
                complain("no launch handler is registered for the task \(identifier)")
            }
            return handlers.launches[identifier]
        case .expired: return handlers.expirations
        case .fetch: return handlers.fetch
        }
    }
}
