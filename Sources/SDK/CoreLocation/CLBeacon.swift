import Foundation
import WakeWire

/// Whose beacons are meant: all of a UUID, a group of them, or one.
open class CLBeaconIdentityConstraint: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    /// The UUID that the beacons share.
    public let uuid: UUID
    /// The number of a group; nil means all.
    public let major: CLBeaconMajorValue?
    /// The number in the group; nil means all.
    public let minor: CLBeaconMinorValue?

    init(_ uuid: UUID, major: CLBeaconMajorValue?, minor: CLBeaconMinorValue?) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
        super.init()
    }

    /// All beacons of a UUID.
    public convenience init(uuid: UUID) {
        self.init(uuid, major: nil, minor: nil)
    }

    /// The beacons of a group.
    public convenience init(uuid: UUID, major: CLBeaconMajorValue) {
        self.init(uuid, major: major, minor: nil)
    }

    /// One beacon.
    public convenience init(uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue) {
        self.init(uuid, major: major, minor: minor)
    }

    var shape: WireRegionShape { .beacons(uuid: uuid.uuidString, major: major, minor: minor) }

    /// Whether the other means the same beacons.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CLBeaconIdentityConstraint else { return false }
        return other.uuid == uuid && other.major == major && other.minor == minor
    }

    /// Equal for equal constraints.
    open override var hash: Int { uuid.hashValue }

    /// The same object, which does not change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// True.
    public static var supportsSecureCoding: Bool { true }

    /// A constraint out of an archive; nil when it has no UUID.
    public required init?(coder: NSCoder) {
        guard let text = coder.decodeObject(of: NSString.self, forKey: "uuid"),
            let uuid = UUID(uuidString: text as String)
        else {
            return nil
        }
        self.uuid = uuid
        major = coder.decodeObject(of: NSNumber.self, forKey: "major")?.uint16Value
        minor = coder.decodeObject(of: NSNumber.self, forKey: "minor")?.uint16Value
        super.init()
    }

    /// Writes the constraint into an archive.
    open func encode(with coder: NSCoder) {
        coder.encode(uuid.uuidString as NSString, forKey: "uuid")
        coder.encode(major.map { NSNumber(value: $0) }, forKey: "major")
        coder.encode(minor.map { NSNumber(value: $0) }, forKey: "minor")
    }
}

/// Where beacons can be heard.
open class CLBeaconRegion: CLRegion {
    /// Whose beacons.
    public let beaconIdentityConstraint: CLBeaconIdentityConstraint
    /// Whether the state is told each time the display is turned on inside.
    open var notifyEntryStateOnDisplay = false

    init(
        beaconIdentityConstraint: CLBeaconIdentityConstraint,
        identifier: String,
        notifyEntryStateOnDisplay: Bool
    ) {
        self.beaconIdentityConstraint = beaconIdentityConstraint
        self.notifyEntryStateOnDisplay = notifyEntryStateOnDisplay
        super.init(identifier: identifier)
    }

    /// Where the beacons of a constraint can be heard.
    public convenience init(beaconIdentityConstraint: CLBeaconIdentityConstraint, identifier: String) {
        self.init(
            beaconIdentityConstraint: beaconIdentityConstraint,
            identifier: identifier,
            notifyEntryStateOnDisplay: false
        )
    }

    /// Where any beacon of a UUID can be heard.
    public convenience init(uuid: UUID, identifier: String) {
        self.init(beaconIdentityConstraint: CLBeaconIdentityConstraint(uuid: uuid), identifier: identifier)
    }

    /// Where a beacon of a group can be heard.
    public convenience init(uuid: UUID, major: CLBeaconMajorValue, identifier: String) {
        let constraint = CLBeaconIdentityConstraint(uuid: uuid, major: major)
        self.init(beaconIdentityConstraint: constraint, identifier: identifier)
    }

    /// Where one beacon can be heard.
    public convenience init(
        uuid: UUID,
        major: CLBeaconMajorValue,
        minor: CLBeaconMinorValue,
        identifier: String
    ) {
        let constraint = CLBeaconIdentityConstraint(uuid: uuid, major: major, minor: minor)
        self.init(beaconIdentityConstraint: constraint, identifier: identifier)
    }

    /// Where any beacon of a UUID can be heard; the name before iOS 13.
    public convenience init(proximityUUID: UUID, identifier: String) {
        self.init(uuid: proximityUUID, identifier: identifier)
    }

    /// Where a beacon of a group can be heard; the name before iOS 13.
    public convenience init(proximityUUID: UUID, major: CLBeaconMajorValue, identifier: String) {
        self.init(uuid: proximityUUID, major: major, identifier: identifier)
    }

    /// Where one beacon can be heard; the name before iOS 13.
    public convenience init(
        proximityUUID: UUID,
        major: CLBeaconMajorValue,
        minor: CLBeaconMinorValue,
        identifier: String
    ) {
        self.init(uuid: proximityUUID, major: major, minor: minor, identifier: identifier)
    }

    /// The UUID that the beacons share.
    open var uuid: UUID { beaconIdentityConstraint.uuid }
    /// The UUID that the beacons share; the name before iOS 13.
    open var proximityUUID: UUID { uuid }
    /// The number of a group.
    open var major: NSNumber? { beaconIdentityConstraint.major.map { NSNumber(value: $0) } }
    /// The number in the group.
    open var minor: NSNumber? { beaconIdentityConstraint.minor.map { NSNumber(value: $0) } }

    /// What to advertise to be such a beacon; -59 dBm at one metre when no power is given.
    open func peripheralData(withMeasuredPower measuredPower: NSNumber?) -> NSMutableDictionary {
        let numbers = [beaconIdentityConstraint.major ?? 0, beaconIdentityConstraint.minor ?? 0]
        var bytes = unsafe withUnsafeBytes(of: uuid.uuid) { unsafe Data($0) }
        for number in numbers { bytes.append(contentsOf: [UInt8(number >> 8), UInt8(number & 0xff)]) }
        bytes.append(UInt8(bitPattern: measuredPower?.int8Value ?? -59))
        return NSMutableDictionary(dictionary: ["kCBAdvDataAppleBeaconKey": bytes])
    }

    override var wire: WireRegion? {
        WireRegion(
            identifier: identifier,
            shape: beaconIdentityConstraint.shape,
            notifyOnEntry: notifyOnEntry,
            notifyOnExit: notifyOnExit,
            notifyEntryStateOnDisplay: notifyEntryStateOnDisplay
        )
    }

    /// A region of its own that is like this one.
    open override func copy(with zone: NSZone? = nil) -> Any {
        copyOptions(
            to: CLBeaconRegion(
                beaconIdentityConstraint: beaconIdentityConstraint,
                identifier: identifier,
                notifyEntryStateOnDisplay: notifyEntryStateOnDisplay
            )
        )
    }

    /// A region out of an archive; nil when a part is missing.
    public required init?(coder: NSCoder) {
        guard let constraint = coder.decodeObject(of: CLBeaconIdentityConstraint.self, forKey: "constraint") else {
            return nil
        }
        beaconIdentityConstraint = constraint
        notifyEntryStateOnDisplay = coder.decodeBool(forKey: "notifyEntryStateOnDisplay")
        super.init(coder: coder)
    }

    /// Writes the region into an archive.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(beaconIdentityConstraint, forKey: "constraint")
        coder.encode(notifyEntryStateOnDisplay, forKey: "notifyEntryStateOnDisplay")
    }
}

/// A beacon in sight.
open class CLBeacon: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    /// The UUID that it shares with others.
    public let uuid: UUID
    /// The number of its group.
    public let major: NSNumber
    /// Its number in the group.
    public let minor: NSNumber
    /// How far it is, roughly.
    public let proximity: CLProximity
    /// How far it is, in metres; below 0 means not known.
    public let accuracy: CLLocationAccuracy
    /// The signal strength, in dBm; 0 when unknown.
    public let rssi: Int
    /// When it was seen.
    public let timestamp: Date

    /// The UUID that it shares with others; the name before iOS 13.
    open var proximityUUID: UUID { uuid }

    init(_ beacon: WireBeacon) {
        uuid = UUID(uuidString: beacon.uuid) ?? UUID()
        major = NSNumber(value: beacon.major)
        minor = NSNumber(value: beacon.minor)
        proximity =
            switch beacon.proximity {
            case .unknown: .unknown
            case .immediate: .immediate
            case .near: .near
            case .far: .far
            }
        accuracy = beacon.accuracy
        rssi = beacon.rssi
        timestamp = Date(timeIntervalSince1970: beacon.timestamp)
        super.init()
    }

    /// The same object, which does not change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// True.
    public static var supportsSecureCoding: Bool { true }

    /// A beacon out of an archive; nil when a part is missing.
    public required init?(coder: NSCoder) {
        guard let text = coder.decodeObject(of: NSString.self, forKey: "uuid"),
            let uuid = UUID(uuidString: text as String)
        else {
            return nil
        }
        self.uuid = uuid
        major = NSNumber(value: coder.decodeInteger(forKey: "major"))
        minor = NSNumber(value: coder.decodeInteger(forKey: "minor"))
        proximity = CLProximity(rawValue: coder.decodeInteger(forKey: "proximity")) ?? .unknown
        accuracy = coder.decodeDouble(forKey: "accuracy")
        rssi = coder.decodeInteger(forKey: "rssi")
        timestamp = Date(timeIntervalSince1970: coder.decodeDouble(forKey: "timestamp"))
        super.init()
    }

    /// Writes the beacon into an archive.
    open func encode(with coder: NSCoder) {
        coder.encode(uuid.uuidString as NSString, forKey: "uuid")
        coder.encode(major.intValue, forKey: "major")
        coder.encode(minor.intValue, forKey: "minor")
        coder.encode(proximity.rawValue, forKey: "proximity")
        coder.encode(accuracy, forKey: "accuracy")
        coder.encode(rssi, forKey: "rssi")
        coder.encode(timestamp.timeIntervalSince1970, forKey: "timestamp")
    }
}
