import Foundation

/// What became of a connection of the phone.
public enum CBConnectionEvent: Int, Sendable {
    /// The connection went.
    case peerDisconnected = 0
    /// The connection came up.
    case peerConnected = 1
}

/// Which connections of the phone an app is told of.
public struct CBConnectionEventMatchingOption: RawRepresentable, Hashable, Sendable {
    /// The text behind the option.
    public let rawValue: String

    /// An option from its text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Those of peripherals with one of these services, an array of ``CBUUID``.
    public static let serviceUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionServiceUUIDs")
    /// Those of these peripherals, an array of `UUID`.
    public static let peripheralUUIDs = Self(
        rawValue: "kCBConnectionEventMatchingOptionPeripheralUUIDs"
    )
}
