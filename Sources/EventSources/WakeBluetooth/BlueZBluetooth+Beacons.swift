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
        if beacons.isEmpty { heardBeacons.removeAll() }
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
        var entry = heardBeacons[signal] ?? HeardBeacon(device: device, reportedAt: now - Self.pause)
        // 127 is how a controller says that it does not know.
        if let strength, strength != 127 {
            entry.sum += Double(strength)
            entry.count += 1
        }
        guard now - entry.reportedAt >= Self.pause else {
            heardBeacons[signal] = entry
            return
        }
        guard let subject = subject(of: signal) else { return }
        let event = signal.report(
            signalStrength: entry.count > 0 ? entry.sum / Double(entry.count) : nil,
            names: names,
            subject: subject,
            origin: origin
        )
        if heardBeacons.count >= Self.limit { heardBeacons.removeAll() }
        heardBeacons[signal] = HeardBeacon(device: device, reportedAt: now)
        say(event, .none)
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
