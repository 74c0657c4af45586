import WakeModel
import WakePorts
import WakeSystem
import WakeWire

/// What real apps must know of the rest of the bench.
extension Run: ProcessAppSurroundings {
    func backgroundSecondsRemaining(of app: AppID) -> Double? {
        bench.router.backgroundTimeRemaining(of: app, at: bench.now).map { Double($0.nanoseconds) / 1e9 }
    }

    func linkState(of app: AppID, manager: ManagerNumber, to peripheral: NameID) -> WireLinkState {
        switch bench.router.connection(of: app, manager: manager, to: peripheral) {
        case .some(true): .connected
        case .some(false): .connecting
        case .none: .disconnected
        }
    }

    func isFreezing(_ app: AppID) -> Bool { bench.router.isFreezing(app) }

    func locationFacts(of app: AppID) -> LocationFacts {
        let regions = bench.router.monitoredRegions(of: app)
        return LocationFacts(
            authorization: bench.router.locationAuthorization(of: app),
            circles: regions.circles,
            beacons: regions.beacons,
            mayGoOnInBackground: bench.router.allowsBackgroundUpdates(of: app)
        )
    }

    func audioFacts(of app: AppID) -> AudioFacts {
        let others = bench.router.otherAudio(beside: app)
        return AudioFacts(
            permission: bench.router.microphonePermission(of: app),
            otherPlaying: others.playing,
            silenceSecondary: others.silenceSecondary,
            route: areas.audio.port.route
        )
    }

    /// The accessories that an app may see now, in order of connection (EA-3).
    func accessories(of app: AppID) -> [Accessory] {
        let visible = bench.router.visibleAccessories(of: app)
        return areas.accessory.port.accessories.filter { visible.contains($0.connection) }
    }

    func grantsTask(of app: AppID) -> Bool { bench.router.grantsTask(of: app, at: bench.now) }

    func grantsKeepAlive(of app: AppID, period: Instant.Span) -> Bool {
        bench.router.grantsKeepAlive(of: app, period: period)
    }

    /// Apps in virtual time have a date of their own.
    var wallSeconds: Double {
        let date = processes?.host.time.map { $0.realBase + bench.now.nanoseconds }
        return Double(date ?? WallClock.now()) / 1e9
    }

    var voip: any VoIPPort { areas.voip.port }

    func stream(of app: AppID) -> SharedAudio? { try? areas.audio.port.share(with: app) }

    var radio: any BluetoothCentralPort { areas.bluetooth.radio }

    func maximumUpdateLength(of central: NameID) -> UInt16 {
        areas.bluetooth.peripheralRole.maximumUpdateLength(of: central)
    }

    func updateRoom(of app: AppID, manager: ManagerNumber) -> (room: Int, turn: UInt64) {
        let client = bench.router.client(of: app, manager: manager)
        return (client.map(areas.bluetooth.peripheralRole.updateRoom) ?? .max, bench.sequence)
    }

    func note(_ fact: ProcessFact, of app: AppID) {
        recorder.note(fact, of: app)
    }

    func note(_ signpost: WireSignpost, of app: AppID) {
        recorder.note(signpost, of: app, at: instant(of: signpost))
    }

    /// When an app made a signpost that has arrived now. In real time its monotonic clock is the bench's; virtual time
    /// stands still while apps run.
    private func instant(of signpost: WireSignpost) -> Instant {
        guard realTime else { return max(reached, bench.now) }
        let now = MonotonicClock.now()
        let then = signpost.time.map { min(Int64($0 * 1e9), now) } ?? now
        return Instant(nanoseconds: max(0, then - startedAt))
    }
}
