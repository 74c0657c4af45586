import WakeModel

/// Standard updates that go on in the background: they hold the app, or wait for it (LOC-2, LOC-3).
extension Router {
    /// Whether running updates keep an app in the background from being suspended (LOC-3).
    func updatesHold(_ index: Int) -> Bool {
        guard profile.areas.location.backgroundFlag, !areas.location.apps[index].managers.isEmpty,
            apps[index].face.modes.contains(.location)
        else { return false }
        let isAlways: Bool
        switch apps[index].face.locationAuthorization {
        case .always, .provisionalAlways: isAlways = true
        case .whenInUse: isAlways = !profile.areas.location.levels
        case .notDetermined, .restricted, .denied: return false
        }
        return areas.location.apps[index].managers.contains { manager in
            guard manager.attached, let updates = manager.updates else { return false }
            return updates.allowsBackground && !updates.paused && (isAlways || updates.beganInForeground)
        }
    }

    /// Keeps an app running that updates have begun to hold, and lets go of one that they hold no more.
    ///
    /// - Parameter held: Whether they held it before.
    mutating func followUpdates(of app: AppID, held: Bool, into output: inout RouterOutput) {
        let index = Int(app.number)
        let holds = updatesHold(index)
        guard holds != held, apps[index].state == .background else { return }
        if holds {
            keepFromFreezing(app, into: &output)
        } else {
            beginTaskBudget(of: app)
            settle(app, into: &output)
        }
    }

    /// The user lets the app know the position no more: the update that waits for it is not given (LOC-5).
    mutating func denyKept(of app: AppID, into output: inout RouterOutput) {
        let index = Int(app.number)
        for place in apps[index].waiting.indices.reversed()
        where apps[index].waiting[place].deferred && apps[index].waiting[place].event.kind == .positionFixed {
            let item = apps[index].waiting.remove(at: place)
            dismiss(item, of: app, verdict: .deny, reason: .notAuthorized, into: &output)
        }
    }

    /// Of the updates that wait for a manager only the newest is kept (LOC-2).
    mutating func replaceKept(of app: AppID, by slots: SlotSet, into output: inout RouterOutput) {
        let index = Int(app.number)
        var position = 0
        while position < apps[index].waiting.count {
            guard apps[index].waiting[position].deferred,
                apps[index].waiting[position].event.kind == .positionFixed
            else {
                position += 1
                continue
            }
            apps[index].waiting[position].interest.slots.subtract(slots)
            if apps[index].waiting[position].interest.slots.isEmpty {
                let item = apps[index].waiting.remove(at: position)
                dismiss(item, of: app, verdict: .coalesce, reason: .newerUpdateKept, into: &output)
            } else {
                position += 1
            }
        }
    }
}
