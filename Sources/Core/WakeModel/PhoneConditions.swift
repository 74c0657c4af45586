/// What of the phone the system looks at before it lets apps work in the background: power, network, switches and display.
package struct PhoneConditions: OptionSet, Hashable, Codable, Sendable {
    package var rawValue: UInt16

    @inlinable
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// A charger is connected.
    @inlinable
    package static var externalPower: Self { Self(rawValue: 1) }
    /// The phone is in a Wi-Fi network.
    @inlinable
    package static var wifi: Self { Self(rawValue: 2) }
    /// Mobile data is there.
    @inlinable
    package static var cellular: Self { Self(rawValue: 4) }
    @inlinable
    package static var lowPowerMode: Self { Self(rawValue: 8) }
    /// Background App Refresh is off for every app.
    @inlinable
    package static var refreshOff: Self { Self(rawValue: 16) }
    @inlinable
    package static var displayOn: Self { Self(rawValue: 32) }
    /// Neither Wi-Fi nor mobile data comes through, whatever is switched on.
    @inlinable
    package static var airplaneMode: Self { Self(rawValue: 64) }
    /// The phone is off: nothing reaches any app (SYS-1).
    @inlinable
    package static var shutDown: Self { Self(rawValue: 128) }

    /// A phone that lies unlocked on a desk.
    @inlinable
    package static var usual: Self { Self(rawValue: 2 | 4 | 32) }

    // Asked for each decision: the set's own would not be inlined in another module.
    @inlinable
    package func contains(_ conditions: Self) -> Bool { rawValue & conditions.rawValue == conditions.rawValue }

    /// Whether there is any network.
    package var hasNetwork: Bool { !contains(.airplaneMode) && !isDisjoint(with: [.wifi, .cellular]) }

    /// Whether there is a network that costs nothing by the byte.
    package var hasWifi: Bool { contains(.wifi) && !contains(.airplaneMode) }
}
