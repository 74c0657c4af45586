import Foundation
import WakeModel
import WakeWire

/// What the bench delivers.
extension CLLocationManager {
    func receive(_ event: WireLocationEvent) {
        switch event {
        case .updated(let positions): update(positions.map { CLLocation($0) })
        case .failed(let failure):
            lock.withLock { awaitsOne = false }
            delegate?.locationManager(self, didFailWithError: appError(failure))
        case .visited(let visit):
            if lock.withLock({ isVisiting }) { delegate?.locationManager(self, didVisit: CLVisit(visit)) }
        case .paused:
            // The app must begin again by itself (LOC-7).
            lock.withLock { isUpdating = false }
            delegate?.locationManagerDidPauseLocationUpdates(self)
        case .resumed:
            lock.withLock { isUpdating = true }
            delegate?.locationManagerDidResumeLocationUpdates(self)
        case .authorization(let authorization, let isPrecise):
            LocationServices.shared.learn(authorization, isPrecise: isPrecise)
            delegate?.locationManagerDidChangeAuthorization(self)
        case .deferredFinished(let failure):
            lock.withLock { isDeferring = false }
            delegate?.locationManager(self, didFinishDeferredUpdatesWithError: failure.map(appError))
        case .ranged(let identifier, let beacons): range(identifier, beacons.map { CLBeacon($0) })
        case .rangingFailed(let identifier, let failure): failRanging(identifier, appError(failure))
        case .regionEntered(let identifier), .regionExited(let identifier), .regionState(let identifier, _),
            .monitoringStarted(let identifier), .monitoringFailed(let identifier, _):
            if sees(identifier) { receiveRegion(event) }
            if identifier.hasPrefix(MonitorWatcher.prefix) { tellMonitor(event) }
        }
    }

    private func update(_ locations: [CLLocation]) {
        guard let last = locations.last, isWaiting() else { return }
        locationBeforeUpdate = LocationServices.shared.location
        LocationServices.shared.location = last
        delegate?.locationManager(self, didUpdateLocations: locations)
    }

    /// Whether a position is for this manager; of what is for all, only those hear that began it.
    private func isWaiting() -> Bool {
        lock.withLock { exchange(&awaitsOne, with: false) || isUpdating || isSignificant }
    }

    private func receiveRegion(_ event: WireLocationEvent) {
        let services = LocationServices.shared
        switch event {
        case .regionEntered(let identifier):
            guard let region = services.region(identifier).map(CLRegion.made) else { return }
            delegate?.locationManager(self, didEnterRegion: region)
            delegate?.locationManager(self, didDetermineState: .inside, for: region)
        case .regionExited(let identifier):
            guard let region = services.region(identifier).map(CLRegion.made) else { return }
            delegate?.locationManager(self, didExitRegion: region)
            delegate?.locationManager(self, didDetermineState: .outside, for: region)
        case .regionState(let identifier, let state):
            guard let region = services.region(identifier).map(CLRegion.made) else { return }
            delegate?.locationManager(self, didDetermineState: CLRegionState(state), for: region)
        case .monitoringStarted(let identifier):
            guard let region = services.confirm(identifier).map(CLRegion.made) else { return }
            delegate?.locationManager(self, didStartMonitoringFor: region)
        case .monitoringFailed(let identifier, let failure):
            let region = services.refuse(identifier).map(CLRegion.made)
            delegate?.locationManager(self, monitoringDidFailFor: region, withError: appError(failure))
        default: break
        }
    }

    /// A crossing is for all managers: whichever hears of it, the monitor that it is for does.
    private func tellMonitor(_ event: WireLocationEvent) {
        switch event {
        case .regionEntered(let identifier): MonitorWatcher.hear(identifier, .satisfied)
        case .regionExited(let identifier): MonitorWatcher.hear(identifier, .unsatisfied)
        default: break
        }
    }

    private func range(_ identifier: String, _ beacons: [CLBeacon]) {
        switch lock.withLock({ ranged[identifier] }) {
        case .region(let region): delegate?.locationManager(self, didRangeBeacons: beacons, in: region)
        case .constraint(let constraint):
            delegate?.locationManager(self, didRange: beacons, satisfying: constraint)
        case nil: break
        }
    }

    private func failRanging(_ identifier: String, _ error: any Error) {
        switch lock.withLock({ ranged[identifier] }) {
        case .region(let region): delegate?.locationManager(self, rangingBeaconsDidFailFor: region, withError: error)
        case .constraint(let constraint):
            delegate?.locationManager(self, didFailRangingFor: constraint, error: error)
        case nil: break
        }
    }

    func refuseImpossibleRegions() {
        for region in lock.withLock({ exchange(&impossibleRegions, with: []) }) {
            delegate?.locationManager(self, monitoringDidFailFor: region, withError: CLError(.regionMonitoringFailure))
        }
    }

    func tellDeferredFinished(_ error: CLError) {
        delegate?.locationManager(self, didFinishDeferredUpdatesWithError: error)
    }
}

extension CLRegionState {
    fileprivate init(_ state: RegionState) {
        self = CLRegionState(rawValue: Int(state.rawValue)) ?? .unknown
    }
}
