/// The event that a listener of a monitor has been given, which is handled when it asks for the next, or listens no more (MON-3).
final class EventAtHand {
    private weak var watcher: MonitorWatcher?
    private var event: CLMonitor.Event?

    init(_ watcher: MonitorWatcher) {
        self.watcher = watcher
    }

    deinit { replace(by: nil) }

    func replace(by next: CLMonitor.Event?) {
        if let event { watcher?.finish(event) }
        event = next
    }
}
