import Foundation
import Synchronization
import WakeClient
import WakeWire

/// Has live updates go on in the background, from when it is made until it is invalidated or let go.
///
/// One that is made in the foreground also makes When In Use enough there: updates come, and so do the events of monitors and regions
/// (SESS-3). As with ``CLLocationManager/allowsBackgroundLocationUpdates``, an app without `location` among its background modes ends
/// where it has both a session and live updates (LOC-6).
open class CLBackgroundActivitySession: NSObject, @unchecked Sendable {
    private let isHeld = Mutex(true)
    private let number: UInt32

    /// Begins a session.
    public override init() {
        let client = BenchClient.shared
        client.runWithoutApplication()
        number = UInt32(truncatingIfNeeded: client.mintNumber())
        super.init()
        client.send(.location(manager: number, .beginSession))
        BackgroundActivities.begin()
    }

    /// Ends the session.
    open func invalidate() {
        guard isHeld.withLock({ exchange(&$0, with: false) }) else { return }
        BackgroundActivities.end()
        BenchClient.shared.send(.location(manager: number, .endSession))
    }

    deinit { invalidate() }
}

/// What goes on in the background during a session.
protocol BackgroundActivity: AnyObject, Sendable {
    func goOnInBackground(_ wanted: Bool)
}

/// The live updates of the process, and how many sessions are held.
enum BackgroundActivities {
    private struct State {
        var sessions = 0
        var activities: [ObjectIdentifier: any BackgroundActivity] = [:]
    }

    private static let state = Mutex(State())

    static func begin() { change(by: 1) }

    static func end() { change(by: -1) }

    private static func change(by count: Int) {
        let (changed, wanted) = state.withLock { state in
            let before = state.sessions > 0
            state.sessions += count
            let wanted = state.sessions > 0
            return (before == wanted ? [] : Array(state.activities.values), wanted)
        }
        for activity in changed { activity.goOnInBackground(wanted) }
    }

    static func add(_ activity: any BackgroundActivity) {
        let wanted = state.withLock { state in
            state.activities[ObjectIdentifier(activity)] = activity
            return state.sessions > 0
        }
        if wanted { activity.goOnInBackground(true) }
    }

    static func remove(_ activity: any BackgroundActivity) {
        state.withLock { _ = $0.activities.removeValue(forKey: ObjectIdentifier(activity)) }
    }
}
