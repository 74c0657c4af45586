import WakeModel

/// What a developer's levers do (BGT-12).
extension Router {
    /// A developer has a task run: the event of the task follows. Nothing happens where there is no such task.
    mutating func simulateLaunch(_ event: WakeEvent) {
        guard let app = event.app, isInstalled(app) else { return }
        let lever = event.lever == .none ? .scheduled : event.lever
        guard let item = leverItem(event.subject, lever, of: app), !areas.backgroundTask.apps[app].isUnderWay(item)
        else {
            return
        }
        var checks = CheckResults()
        checks[.anyoneRegistered] = .pass
        reached = true
        recordUnaddressed(event, Ruling(.coalesce, .ledToEvents, wouldHave: .coalesce), checks: checks)
        raise(item, lever, of: app, by: event.id)
        planTasks(of: app)
    }

    /// What the lever is pulled for: a request that waits; the strongest lever needs none.
    private func leverItem(_ identifier: NameID, _ lever: TaskLever, of app: AppID) -> BackgroundTaskRecord.Item? {
        let record = areas.backgroundTask.apps[app]
        let figures = profile.areas.backgroundTask
        if let item = record.pending.first(where: {
            ($0.kind == .fetch) == (identifier == .none) && $0.identifier == identifier
        }) {
            return item
        }
        guard lever == .regardless else { return nil }
        if identifier == .none {
            guard figures.hasFetch, !ignoresFetch(of: app), apps[app].snapshot.modes.contains(.fetch) else {
                return nil
            }
            return .init(kind: .fetch, identifier: .none, since: apps[app].installedAt)
        }
        return record.known.first { $0.identifier == identifier }
    }

    /// Whether a task of the identifier runs and has not expired.
    func expires(_ identifier: NameID, of app: AppID) -> BackgroundTaskRecord.Run? {
        guard isInstalled(app), apps[app].hasProcess, identifier != .none else { return nil }
        return areas.backgroundTask.apps[app].running.first {
            $0.item.identifier == identifier && !$0.isExpired && $0.isHandedOver
        }
    }

    /// The number of the task of an identifier that an app has; nil when it has none.
    package func taskNumber(_ identifier: NameID, of app: AppID) -> UInt32? {
        guard isInstalled(app) else { return nil }
        return areas.backgroundTask.apps[app].running.first { $0.item.identifier == identifier && $0.isHandedOver }?
            .number
    }

    /// The app is told that its task expires: it has the moment that it has then.
    mutating func simulatedExpiration(_ event: WakeEvent, of app: AppID) {
        guard let run = expires(event.subject, of: app) else { return }
        let ends = now.advanced(by: profile.areas.backgroundTask.expirationMargin)
        areas.backgroundTask.apps[app].owed.shorten(run.number, to: ends)
        expireTasks(of: app, by: event.id) { $0.number == run.number }
    }
}
