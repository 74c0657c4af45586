import Foundation
import Synchronization
import WakeWire

/// What all location managers of the process share, as the bench last told it.
final class LocationServices: Sendable {
    static let shared = LocationServices()

    private struct State {
        var authorization = CLAuthorizationStatus.notDetermined
        var isPrecise = true
        var largestRadius = 0.0
        var isKnown = false
        /// The regions that are monitored, by identifier.
        var monitored: [String: WireRegion] = [:]
        /// The regions whose monitoring was asked for and not answered, by identifier.
        var asked: [String: WireRegion] = [:]
        /// The region that was refused last: every manager is told of it in turn.
        var refused: WireRegion?
        var location: CLLocation?
    }

    private let state = Mutex(State())

    /// The first manager was told what holds; what later ones are told is the same or older than what came since.
    func learn(_ status: WireLocationStatus) {
        state.withLock { state in
            state.largestRadius = status.largestRadius
            if state.isKnown { return }
            state.isKnown = true
            state.authorization = CLAuthorizationStatus(status.authorization)
            state.isPrecise = status.isPrecise
            for region in status.regions where state.monitored[region.identifier] == nil {
                state.monitored[region.identifier] = region
            }
        }
    }

    func learn(_ authorization: WireAuthorization, isPrecise: Bool) {
        state.withLock { state in
            state.isKnown = true
            state.authorization = CLAuthorizationStatus(authorization)
            state.isPrecise = isPrecise
        }
    }

    var isKnown: Bool { state.withLock { $0.isKnown } }
    var authorization: CLAuthorizationStatus { state.withLock { $0.authorization } }
    var accuracy: CLAccuracyAuthorization { state.withLock { $0.isPrecise } ? .fullAccuracy : .reducedAccuracy }
    var largestRadius: Double { state.withLock { $0.largestRadius } }

    var location: CLLocation? {
        get { state.withLock { $0.location } }
        set { state.withLock { $0.location = newValue } }
    }

    // MARK: Regions

    var monitored: [WireRegion] { state.withLock { Array($0.monitored.values) } }

    /// The region that an event names.
    func region(_ identifier: String) -> WireRegion? {
        state.withLock { $0.monitored[identifier] ?? $0.asked[identifier] }
    }

    func ask(for region: WireRegion) {
        state.withLock { $0.asked[region.identifier] = region }
    }

    /// The region is monitored; nil when the app has taken it back.
    func confirm(_ identifier: String) -> WireRegion? {
        state.withLock { state in
            if let region = state.asked.removeValue(forKey: identifier) { state.monitored[identifier] = region }
            return state.monitored[identifier]
        }
    }

    /// The region is not monitored; one of that name that was, still is.
    func refuse(_ identifier: String) -> WireRegion? {
        state.withLock { state in
            if let region = state.asked.removeValue(forKey: identifier) { state.refused = region }
            return state.refused?.identifier == identifier ? state.refused : state.monitored[identifier]
        }
    }

    func forget(_ identifier: String) {
        state.withLock { state in
            state.monitored[identifier] = nil
            state.asked[identifier] = nil
        }
    }
}

extension CLAuthorizationStatus {
    fileprivate init(_ authorization: WireAuthorization) {
        switch authorization {
        case .notDetermined: self = .notDetermined
        case .restricted: self = .restricted
        case .denied: self = .denied
        case .authorizedAlways: self = .authorizedAlways
        case .authorizedWhenInUse: self = .authorizedWhenInUse
        }
    }
}
