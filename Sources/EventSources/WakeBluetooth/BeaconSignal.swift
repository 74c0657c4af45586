import Glibc
import WakeDevices
import WakeModel

/// What an iBeacon says of itself in one advertisement.
struct BeaconSignal: Hashable {
    /// Apple's number among companies (Bluetooth Assigned Numbers).
    static let company: [UInt8] = [0x4c, 0x00]

    /// 36 characters in capitals.
    var uuid: String
    var major: UInt16
    var minor: UInt16
    /// What a receiver one metre away measures, in dBm, as the beacon says.
    var measuredPower: Int8
}

extension BeaconSignal {
    /// The beacon in manufacturer data, company number first; nil when it is something else.
    init?(manufacturerData data: [UInt8]) {
        guard data.count >= 25, data.starts(with: Self.company + [0x02, 0x15]) else { return nil }
        let digits = data[4..<20].map { $0.hexadecimal.uppercased() }
        let parts = [digits[..<4], digits[4..<6], digits[6..<8], digits[8..<10], digits[10...]]
        uuid = parts.map { $0.joined() }.joined(separator: "-")
        major = UInt16(data[20]) << 8 | UInt16(data[21])
        minor = UInt16(data[22]) << 8 | UInt16(data[23])
        measuredPower = Int8(bitPattern: data[24])
    }

    /// The beacon as manufacturer data, company number first.
    var manufacturerData: [UInt8] {
        let digits = uuid.utf8.filter { $0 != UInt8(ascii: "-") }
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).map { place in
            UInt8(String(decoding: digits[place...place + 1], as: UTF8.self), radix: 16) ?? 0
        }
        let numbers = [major, minor].flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        return Self.company + [0x02, 0x15] + bytes + numbers + [UInt8(bitPattern: measuredPower)]
    }

    /// The distance that a signal strength speaks of, in metres: free space, exponent 2, as a phone assumes that does not
    /// know its surroundings. -1 when the strength is unknown.
    func distance(signalStrength: Double?) -> Double {
        guard let signalStrength else { return -1 }
        return pow(10, (Double(measuredPower) - signalStrength) / 20)
    }

    /// What is reported of it.
    ///
    /// - Parameter age: How long ago it was last heard.
    func report(
        signalStrength: Double?,
        age: Instant.Span = .zero,
        names: NameTable,
        subject: NameID,
        origin: NameID
    ) -> WakeEvent {
        WakeEvent(
            kind: .beaconSighted,
            subject: subject,
            beacon: BeaconSighting(
                uuid: names.intern(uuid),
                major: major,
                minor: minor,
                distance: Float(distance(signalStrength: signalStrength)),
                signalStrength: signalStrength.map { Int16($0.rounded()) } ?? 0,
                age: age
            ),
            origin: origin
        )
    }
}

extension [BeaconIdentity] {
    /// Whether somebody looks for a beacon.
    func wants(_ signal: BeaconSignal, _ names: NameTable) -> Bool {
        guard let uuid = names.known(signal.uuid) else { return false }
        let sighting = BeaconSighting(uuid: uuid, major: signal.major, minor: signal.minor)
        return contains { $0.matches(sighting) }
    }
}

extension Advertisement {
    /// As an app sees it: Core Bluetooth hides what an iBeacon says. Nil when nothing else is in it.
    var withoutBeacon: Advertisement? {
        guard let data = manufacturerData, BeaconSignal(manufacturerData: data) != nil else { return self }
        var rest = self
        rest.manufacturerData = nil
        return rest.localName == nil && rest.services.isEmpty && rest.serviceData.isEmpty ? nil : rest
    }
}
