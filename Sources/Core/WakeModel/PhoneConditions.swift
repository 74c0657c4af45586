/// What of the phone the system looks at before it lets apps work in the background: power, network, switches and display.
package struct PhoneConditions: OptionSet, Hashable, Codable, Sendable {
    package var rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// A charger is connected.
    package static let externalPower = Self(rawValue: 1)
    /// The phone is in a Wi-Fi network.
    package static let wifi = Self(rawValue: 2)
    /// Mobile data is there.
    package static let cellular = Self(rawValue: 4)
    package static let lowPowerMode = Self(rawValue: 8)
    /// Background App Refresh is off for every app.
    package static let refreshOff = Self(rawValue: 16)
    package static let displayOn = Self(rawValue: 32)
    /// Neither Wi-Fi nor mobile data comes through, whatever is switched on.
    package static let airplaneMode = Self(rawValue: 64)
    /// The phone is off: nothing reaches any app (SYS-1).
    package static let shutDown = Self(rawValue: 128)

    /// A phone that lies unlocked on a desk.
    package static let usual: Self = [.wifi, .cellular, .displayOn]

    /// Whether there is any network.
    package var hasNetwork: Bool { !contains(.airplaneMode) && !isDisjoint(with: [.wifi, .cellular]) }

    /// Whether there is a network that costs nothing by the byte.
    package var hasWifi: Bool { contains(.wifi) && !contains(.airplaneMode) }
}
