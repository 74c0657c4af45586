import Foundation
import WakeWire

/// A region that can be monitored: a circle or the reach of beacons.
///
/// Two regions of one kind are equal when they have the same identifier.
open class CLRegion: NSObject, NSCopying, NSSecureCoding {
    /// The app's name for it.
    public let identifier: String
    /// Whether entries are told.
    open var notifyOnEntry = true
    /// Whether exits are told.
    open var notifyOnExit = true

    init(identifier: String) {
        self.identifier = identifier
        super.init()
    }

    /// What the bench is told; nil for what is neither circle nor beacons.
    var wire: WireRegion? { nil }

    /// Whether the other is a region of the same kind and identifier.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CLRegion else { return false }
        return type(of: other) == type(of: self) && other.identifier == identifier
    }

    /// Equal for equal regions.
    open override var hash: Int { identifier.hashValue }

    /// A region of its own that is like this one.
    open func copy(with zone: NSZone? = nil) -> Any {
        copyOptions(to: CLRegion(identifier: identifier))
    }

    func copyOptions<Region: CLRegion>(to copy: Region) -> Region {
        copy.notifyOnEntry = notifyOnEntry
        copy.notifyOnExit = notifyOnExit
        return copy
    }

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// A region out of an archive; nil when a part is missing.
    public required init?(coder: NSCoder) {
        guard let identifier = coder.decodeObject(of: NSString.self, forKey: "identifier") else { return nil }
        self.identifier = identifier as String
        notifyOnEntry = coder.decodeBool(forKey: "notifyOnEntry")
        notifyOnExit = coder.decodeBool(forKey: "notifyOnExit")
        super.init()
    }

    /// Writes the region into an archive.
    open func encode(with coder: NSCoder) {
        coder.encode(identifier as NSString, forKey: "identifier")
        coder.encode(notifyOnEntry, forKey: "notifyOnEntry")
        coder.encode(notifyOnExit, forKey: "notifyOnExit")
    }
}

/// A circle on Earth.
open class CLCircularRegion: CLRegion {
    /// The middle.
    public let center: CLLocationCoordinate2D
    /// Metres.
    public let radius: CLLocationDistance

    /// A circle on Earth; one that is too large to be monitored fails when it is asked for.
    public init(center: CLLocationCoordinate2D, radius: CLLocationDistance, identifier: String) {
        self.center = center
        self.radius = radius
        super.init(identifier: identifier)
    }

    /// Whether a place is inside.
    open func contains(_ coordinate: CLLocationCoordinate2D) -> Bool {
        center.distance(to: coordinate) <= radius
    }

    override var wire: WireRegion? {
        guard CLLocationCoordinate2DIsValid(center), radius >= 0 else { return nil }
        let radius = min(radius, WireLimits.largestDistance)
        return WireRegion(
            identifier: identifier,
            shape: .circle(latitude: center.latitude, longitude: center.longitude, radius: radius),
            notifyOnEntry: notifyOnEntry,
            notifyOnExit: notifyOnExit
        )
    }

    /// A circle of its own that is like this one.
    open override func copy(with zone: NSZone? = nil) -> Any {
        copyOptions(to: CLCircularRegion(center: center, radius: radius, identifier: identifier))
    }

    /// A circle out of an archive; nil when a part is missing.
    public required init?(coder: NSCoder) {
        guard coder.containsValue(forKey: "latitude"), coder.containsValue(forKey: "longitude"),
            coder.containsValue(forKey: "radius")
        else {
            return nil
        }
        center = CLLocationCoordinate2D(
            latitude: coder.decodeDouble(forKey: "latitude"),
            longitude: coder.decodeDouble(forKey: "longitude")
        )
        radius = coder.decodeDouble(forKey: "radius")
        super.init(coder: coder)
    }

    /// Writes the circle into an archive.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(center.latitude, forKey: "latitude")
        coder.encode(center.longitude, forKey: "longitude")
        coder.encode(radius, forKey: "radius")
    }
}

extension CLRegion {
    /// The region that the wire tells of.
    static func made(of region: WireRegion) -> CLRegion {
        let made: CLRegion =
            switch region.shape {
            case .circle(let latitude, let longitude, let radius):
                CLCircularRegion(
                    center: CLLocationCoordinate2D(latitude: latitude, longitude: longitude),
                    radius: radius,
                    identifier: region.identifier
                )
            case .beacons(let uuid, let major, let minor):
                CLBeaconRegion(
                    beaconIdentityConstraint: CLBeaconIdentityConstraint(
                        UUID(uuidString: uuid) ?? UUID(),
                        major: major,
                        minor: minor
                    ),
                    identifier: region.identifier,
                    notifyEntryStateOnDisplay: region.notifyEntryStateOnDisplay
                )
            }
        made.notifyOnEntry = region.notifyOnEntry
        made.notifyOnExit = region.notifyOnExit
        return made
    }
}
