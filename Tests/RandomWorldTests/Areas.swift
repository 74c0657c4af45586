import WakeModel

// What the random world and its observer have of each area, a line each; what a line means stands in the files that are named
// for the area.

extension RandomWorld {
    /// Lets something happen in an area, by a number that was drawn; false for a number of none.
    mutating func happen(_ number: Int) -> Bool {
        switch number {
        case 350..<560: radio()
        case 560..<585: whereabouts()
        case 585..<595: calls()
        case 595..<615: sound()
        case 615..<640: plug()
        case 640..<660: glance()
        case 660..<668: transferSomething()
        case 668..<684: pushes()
        case 684..<692: pullLever()
        default: return false
        }
        return true
    }

    /// The background modes of an app.
    static func modes(of index: Int) -> BackgroundModes {
        var modes: BackgroundModes = []
        if index % 4 != 3 { modes.insert(BackgroundModes([.bluetoothCentral])) }
        if index % 3 != 1 { modes.insert(BackgroundModes([.bluetoothPeripheral])) }
        if index % 2 == 0 { modes.insert(BackgroundModes([.location])) }
        if index % 4 < 2 { modes.insert(BackgroundModes([.audio])) }
        if index % 3 != 2 { modes.insert(BackgroundModes([.externalAccessory])) }
        if index % 5 < 3 { modes.insert(BackgroundModes([.voip])) }
        if index % 2 == 1 || index == 2 { modes.insert(BackgroundModes([.newsstandContent])) }
        if index % 4 != 2 { modes.insert(BackgroundModes([.remoteNotification])) }
        if index % 3 != 2 { modes.insert(BackgroundModes([.fetch])) }
        if index % 5 != 4 { modes.insert(BackgroundModes([.processing])) }
        return modes
    }
}

extension Observer {
    /// Whether an event gives a running app time of its own (LIFE-11).
    func opensWindow(_ decision: Decision, of app: App) -> Bool {
        switch decision.snapshot.via {
        case .region, .beaconRegion, .significantChange, .visits: true
        case .standardUpdates:
            decision.snapshot.modes.contains(.location) && decision.checks[.updatesInBackground] == .pass
                && !profile.areas.location.backgroundFlag
        case .answer:
            decision.snapshot.modes.contains(.location) && profile.areas.location.backgroundFlag
                && (decision.kind == .locationUpdatesPaused || decision.kind == .authorizationChanged)
        case .ranging: false
        case .audioSession:
            decision.snapshot.modes.contains(.audio)
                && (decision.kind == .audioInterrupted || decision.kind == .audioInterruptionEnded)
        case .accessoryNotifications, .accessorySession:
            decision.snapshot.modes.contains(.externalAccessory) && decision.kind != .accessorySessionOpened
        case .voipSocket, .keepAlive, .voipMode: hasCalls(decision.snapshot)
        case .notification, .transferSession: false
        case .transferEvents, .newsstandDownload: true
        case .remoteNotifications, .pushKit, .newsstandMode: decision.snapshot.modes.contains(decision.kind.mode)
        // The time is that of what is owed (BGT-6).
        case .fetch, .refreshTask, .processingTask: false
        default: CentralsObserver.opensWindow(decision, of: app)
        }
    }

    /// Whether an app has made what an event is delivered to.
    func isThere(_ manager: ManagerNumber, _ via: Registration, of app: App) -> Bool {
        switch via.source {
        // The process itself.
        case .voip, .notification, .push, .task: true
        case .transfer: manager == 0 || app.transferSessions.contains(manager)
        default:
            manager == 0
                ? app.usesSound || app.managers.contains { $0 >= RandomWorld.locationManagers[0] }
                : app.managers.contains(manager)
        }
    }
}
