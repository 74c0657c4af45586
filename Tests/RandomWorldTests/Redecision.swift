import WakeModel

@testable import WakeRouter

/// Decides refused events a second time with the one fact changed that the decisive check looked at: by a copy of the router
/// from before the turn, and not by the record. What comes out is what the record says would have been.
struct Redecision {
    /// How many records were decided again, by check.
    private(set) var counts = [Int](repeating: 0, count: Check.allCases.count)
    /// How many of them had another result beside the one that was changed: two checks look at the one fact.
    private(set) var entangled = 0
    private(set) var violation: String?
    private var output = RouterOutput()

    /// The checks whose fact can be changed by itself.
    static let changeable: [Check] = [
        .notForceQuit, .unlockedSinceBoot, .modePresent, .updatesInBackground, .beyondDistanceFilter, .authorized,
        .notPaused, .precisionNotNeeded,
        .sideWanted, .soundModePresent, .noCall, .voipModePresent, .accessoryModePresent, .notDuplicate,
        .restoreIdentifier, .scanHasMode,
        .exitAllowsRelaunch, .lowPowerModeOff, .backgroundRefreshOn, .refreshWhereNeeded, .externalPower, .bluetoothOn,
        .peripheralPreserved,
        .bluetoothAuthorized, .runsInBackground, .phoneReachable, .pushesLeft, .callsReported,
    ]

    mutating func check(_ input: Input, id: EventID, at now: Instant, from before: Router, _ decisions: [Decision]) {
        guard case .event(let event) = input else { return }
        for decision in decisions where decision.event == event.id && decision.app != .none {
            guard decision.supersedes == .none, let decisive = decision.checks.decisive,
                let wouldHave = decision.wouldHave
            else { continue }
            var router = before
            guard Self.change(decisive, decision, event, in: &router) else { continue }
            output.removeAll()
            router.handle(input, id: id, at: now, into: &output)
            let again = output.decisions.first { $0.event == event.id && $0.app == decision.app }
            counts[Int(decisive.rawValue)] += 1
            compare(decision, decisive, wouldHave, again)
        }
    }

    private mutating func compare(_ decision: Decision, _ decisive: Check, _ wouldHave: Verdict, _ again: Decision?) {
        let head = "SYS-4: \(decision.id), \(decision.kind.word), \(decision.verdict.word) \(decision.reason.word)"
        guard let again else {
            violation = violation ?? "\(head): with \(decisive) changed it is not decided"
            return
        }
        if again.checks[decisive] == .fail {
            violation = violation ?? "\(head): with its fact changed \(decisive) still fails"
        }
        // Of what cannot pass, as where an exception lifts it, it is enough that it stands in the way no more.
        var others = again.checks
        others[decisive] = .fail
        guard others == decision.checks else {
            entangled += 1
            return
        }
        if again.verdict != wouldHave {
            violation = violation ?? "\(head): without \(decisive) it is \(again.verdict.word), not \(wouldHave.word)"
        }
    }

    mutating func add(_ other: Redecision) {
        for index in counts.indices { counts[index] += other.counts[index] }
        entangled += other.entangled
    }

    /// The changeable checks that were never decided again.
    var missing: [String] { Self.changeable.filter { counts[Int($0.rawValue)] == 0 }.map { "\($0) decided again" } }

    var text: String {
        "decided again with one fact changed: \(counts.reduce(0, +)), of them \(entangled) with another check changed beside it; "
            + Self.changeable.map { "\($0) \(counts[Int($0.rawValue)])" }.joined(separator: ", ")
    }

    // MARK: Facts

    /// Makes the statement of a check hold. False where that is no one fact, or not in the test's hands.
    private static func change(_ check: Check, _ decision: Decision, _ event: WakeEvent, in router: inout Router)
        -> Bool
    {
        let index = Int(decision.app.number)
        switch check {
        case .notForceQuit: router.apps[index].snapshot.forceQuit = false
        case .unlockedSinceBoot: router.unlockedSinceBoot = true
        case .modePresent:
            router.apps[index].snapshot.modes.insert(
                BackgroundModes([
                    .bluetoothCentral, .bluetoothPeripheral, .location, .remoteNotification, .voip, .fetch, .processing,
                ])
            )
        case .soundModePresent: router.apps[index].snapshot.modes.insert(BackgroundModes([.audio]))
        case .voipModePresent: router.apps[index].snapshot.modes.insert(BackgroundModes([.voip]))
        case .accessoryModePresent: router.apps[index].snapshot.modes.insert(BackgroundModes([.externalAccessory]))
        case .authorized: router.apps[index].snapshot.locationAuthorization = .always
        case .exitAllowsRelaunch:
            // That the restart ended the link is a fact of the event.
            if decision.snapshot.endedByReboot { return false }
            router.apps[index].snapshot.rebootedSince = false
            router.apps[index].snapshot.bluetoothOffSince = false
        case .scanHasMode: router.apps[index].snapshot.modes.insert(BackgroundModes([.bluetoothCentral]))
        case .bluetoothAuthorized: router.apps[index].snapshot.bluetoothAllowed = true
        case .runsInBackground: router.apps[index].snapshot.exitsOnSuspend = false
        case .bluetoothOn: router.areas.bluetooth.isOn = true
        case .noCall: router.areas.audio.inCall = false
        case .lowPowerModeOff: router.conditions.remove(.lowPowerMode)
        case .phoneReachable:
            guard !router.conditions.contains(.shutDown) else { return false }
            router.conditions.remove(.airplaneMode)
            router.conditions.insert(.wifi)
        case .pushesLeft: router.areas.push.apps[index].wakes.removeAll()
        case .callsReported: router.areas.push.apps[index].unreported = 0
        case .externalPower: router.conditions.insert(.externalPower)
        case .backgroundRefreshOn, .refreshWhereNeeded:
            router.conditions.remove(.refreshOff)
            router.apps[index].snapshot.refreshRefused = false
        case .updatesInBackground, .beyondDistanceFilter, .notPaused:
            // One fix that was asked for has no such settings.
            guard router.areas.location.apps[index].managers.allSatisfy({ $0.updates != nil || $0.wantsFix == nil })
            else {
                return false
            }
            changeUpdates(check, of: index, in: &router)
        case .precisionNotNeeded: router.areas.location.apps[index].isReduced = false
        case .sideWanted: changeRegion(event, of: index, in: &router)
        case .notDuplicate:
            for slot in router.areas.bluetooth.apps[index].managers.indices {
                router.areas.bluetooth.apps[index].managers[slot].scan?.seen.removeAll()
            }
        case .restoreIdentifier, .peripheralPreserved:
            guard router.profile.areas.bluetooth.restoration else { return false }
            for slot in router.areas.bluetooth.apps[index].managers.indices
            where router.areas.bluetooth.apps[index].managers[slot].restoreIdentifier == .none {
                router.areas.bluetooth.apps[index].managers[slot].restoreIdentifier = NameID(999)
            }
        default: return false
        }
        return true
    }

    private static func changeUpdates(_ check: Check, of index: Int, in router: inout Router) {
        for place in router.areas.location.apps[index].managers.indices {
            switch check {
            case .updatesInBackground:
                router.areas.location.apps[index].managers[place].updates?.allowsBackground = true
            case .beyondDistanceFilter: router.areas.location.apps[index].managers[place].updates?.filterChord = 0
            default: router.areas.location.apps[index].managers[place].updates?.paused = false
            }
        }
    }

    private static func changeRegion(_ event: WakeEvent, of index: Int, in router: inout Router) {
        guard let slot = router.areas.location.apps[index].region(named: event.region) else { return }
        switch router.areas.location.apps[index].regions[slot]!.shape {
        case .circular(var region):
            (region.notifyOnEntry, region.notifyOnExit) = (true, true)
            router.areas.location.apps[index].regions[slot]!.shape = .circular(region)
        case .beacons(var region):
            (region.notifyOnEntry, region.notifyOnExit) = (true, true)
            router.areas.location.apps[index].regions[slot]!.shape = .beacons(region)
        }
    }
}
