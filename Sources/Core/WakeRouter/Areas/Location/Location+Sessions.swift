import WakeModel

/// Background activity sessions: they keep an app with When In Use in use while it is in the background (SESS-3).
extension Router {
    /// The most sessions that a process holds.
    static let activitySessionsLimit = 64

    mutating func beginSession(_ number: ManagerNumber, of app: AppID) {
        let sessions = areas.location.apps[app].sessions
        guard number != 0, !sessions.contains(where: { $0.number == number }) else {
            act(.refused(app, number == 0 ? .unknownManager : .duplicateManager))
            return
        }
        guard sessions.count < Self.activitySessionsLimit else {
            act(.refused(app, .tooMany))
            return
        }
        let isInFront = apps[app].state == .active || apps[app].state == .inactive
        areas.location.apps[app].sessions.append(.init(number: number, beganInForeground: isInFront))
        noteSessions(of: app)
    }

    mutating func endSession(_ number: ManagerNumber, of app: AppID) {
        guard let place = areas.location.apps[app].sessions.firstIndex(where: { $0.number == number }) else {
            act(.refused(app, .unknownManager))
            return
        }
        areas.location.apps[app].sessions.remove(at: place)
        noteSessions(of: app)
    }

    /// None outlives the process.
    mutating func endSessions(of app: AppID) {
        guard !areas.location.apps[app].sessions.isEmpty else { return }
        areas.location.apps[app].sessions = []
        noteSessions(of: app)
    }

    private mutating func noteSessions(of app: AppID) {
        apps[app].snapshot.keptInUse =
            profile.areas.location.backgroundSessions
            && areas.location.apps[app].sessions.contains(where: \.beganInForeground)
    }
}
