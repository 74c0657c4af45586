import WakeBlueZ
import WakeModel
import WakePorts
import WakeSystem

/// Beacons that somebody looks for, among all that is heard.
extension BlueZBluetooth {
    /// What was heard of one beacon.
    struct HeardBeacon {
        var device: BlueZDeviceID
        /// When it was last reported, on the monotonic clock.
        var reportedAt: Int64
        /// When it was last heard.
        var heardAt: Int64
        /// The strengths since then.
        var sum = 0.0
        var count = 0
    }

    /// A beacon is reported at most as often as this, in nanoseconds.
    private static let pause: Int64 = 1_000_000_000
    /// The most beacons of which the last report is remembered.
    private static let limit = 4_096

    package func watchBeacons(_ beacons: [BeaconIdentity], at now: Instant) {
        watched = beacons
        if beacons.isEmpty { forgetBeacons() }
        scanChanged()
    }

    /// Hears an advertisement; true when it is a beacon's and nothing else, so that no app may see it.
    func heardBeacon(_ device: BlueZDeviceID, _ heard: BlueZAdvertisement) -> Bool {
        guard let data = heard.manufacturerData, let signal = BeaconSignal(manufacturerData: data) else { return false }
        if watched.wants(signal, names) { count(signal, device, heard.signalStrength) }
        return heard.name == nil && heard.services.isEmpty && heard.serviceData.isEmpty
    }

    private func count(_ signal: BeaconSignal, _ device: BlueZDeviceID, _ strength: Int?) {
        let now = MonotonicClock.now()
        var entry = heardBeacons[signal] ?? HeardBeacon(device: device, reportedAt: now - Self.pause, heardAt: now)
        entry.heardAt = now
        // 127 is how a controller says that it does not know.
        if let strength, strength != 127 {
            entry.sum += Double(strength)
            entry.count += 1
        }
        guard now - entry.reportedAt >= Self.pause else {
            heardBeacons[signal] = entry
            if !isBeaconDue { beaconDue.arm(at: entry.reportedAt + Self.pause) }
            isBeaconDue = true
            return
        }
        tell(signal, entry, now)
    }

    private func tell(_ signal: BeaconSignal, _ heard: HeardBeacon, _ now: Int64) {
        guard let subject = subject(of: signal) else { return }
        let event = signal.report(
            signalStrength: heard.count > 0 ? heard.sum / Double(heard.count) : nil,
            age: Instant.Span(nanoseconds: now - heard.heardAt),
            names: names,
            subject: subject,
            origin: origin
        )
        if heardBeacons.count >= Self.limit { heardBeacons.removeAll() }
        heardBeacons[signal] = HeardBeacon(device: heard.device, reportedAt: now, heardAt: now)
        say(event, .none)
    }

    /// A second is over: what was heard in it is told, whether more is heard or not, so that a beacon is gone when it should be.
    func tellBeacons() {
        isBeaconDue = false
        let now = MonotonicClock.now()
        let untold = heardBeacons.filter { $0.value.heardAt > $0.value.reportedAt && watched.wants($0.key, names) }
            .sorted { $0.value.heardAt < $1.value.heardAt }
        for (signal, heard) in untold where now - heard.reportedAt >= Self.pause { tell(signal, heard, now) }
        guard let next = untold.map({ $0.value.reportedAt + Self.pause }).filter({ $0 > now }).min() else { return }
        beaconDue.arm(at: next)
        isBeaconDue = true
    }

    /// What was heard and is not told yet means nothing any more.
    func forgetBeacons() {
        heardBeacons.removeAll()
        beaconDue.disarm()
        isBeaconDue = false
    }

    /// A beacon of the scenario goes by its name, any other by what it says; nil when there is no name for it.
    private func subject(of signal: BeaconSignal) -> NameID? {
        let known = beacons.first {
            $0.beacon.uuid == signal.uuid && $0.beacon.major == signal.major && $0.beacon.minor == signal.minor
        }
        if let known { return names.intern(known.name) }
        return air.name("\(signal.uuid)/\(signal.major)/\(signal.minor)")
    }
}
