import WakeModel

/// Standard updates that go on in the background: they hold the app, or wait for it (LOC-2, LOC-3).
extension Router {
    /// Whether running updates keep an app in the background from being suspended (LOC-3).
    func updatesHold(_ app: AppID) -> Bool {
        guard profile.areas.location.backgroundFlag, !areas.location.apps[app].managers.isEmpty,
            apps[app].snapshot.modes.contains(.location)
        else { return false }
        let isAlways: Bool
        switch apps[app].snapshot.locationAuthorization {
        case .always, .provisionalAlways: isAlways = true
        case .whenInUse, .allowOnce: isAlways = !profile.areas.location.levels || apps[app].snapshot.keptInUse
        case .notDetermined, .restricted, .denied: return false
        }
        return areas.location.apps[app].managers.contains { manager in
            guard manager.attached, let updates = manager.updates else { return false }
            return updates.allowsBackground && !updates.paused && (isAlways || updates.beganInForeground)
        }
    }

    /// Keeps an app running that updates have begun to hold, and lets go of one that they hold no more.
    ///
    /// - Parameter held: Whether they held it before.
    mutating func followUpdates(of app: AppID, held: Bool) {
        let holds = updatesHold(app)
        guard holds != held, apps[app].state == .background else { return }
        if holds {
            keepFromFreezing(app)
        } else {
            beginTaskBudget(of: app)
            settle(app)
        }
    }

    /// The user lets the app know the position no more: the update that waits for it is not given (LOC-5).
    mutating func denyKept(of app: AppID) {
        for place in apps[app].waiting.indices.reversed()
        where apps[app].waiting[place].deferred && apps[app].waiting[place].event.kind == .positionFixed {
            let item = apps[app].waiting.remove(at: place)
            dismiss(item, of: app, verdict: .deny, reason: .notAuthorized)
        }
    }

    /// Of the updates that wait for a manager only the newest is kept (LOC-2).
    mutating func replaceKept(of app: AppID, by slots: SlotSet) {
        var position = 0
        while position < apps[app].waiting.count {
            guard apps[app].waiting[position].deferred,
                apps[app].waiting[position].event.kind == .positionFixed
            else {
                position += 1
                continue
            }
            apps[app].waiting[position].interest.slots.subtract(slots)
            if apps[app].waiting[position].interest.slots.isEmpty {
                let item = apps[app].waiting.remove(at: position)
                dismiss(item, of: app, verdict: .coalesce, reason: .newerUpdateKept)
            } else {
                position += 1
            }
        }
    }
}
