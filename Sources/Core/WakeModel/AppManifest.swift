/// A set of background modes.
package struct BackgroundModes: OptionSet, Hashable, Codable, Sendable {
    package var rawValue: UInt16

    @inlinable
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package init(_ modes: some Sequence<BackgroundMode>) {
        self.init(rawValue: modes.reduce(0) { $0 | 1 << $1.rawValue })
    }

    @inlinable
    package func contains(_ mode: BackgroundMode) -> Bool { rawValue & (1 << mode.rawValue) != 0 }

    /// The members in the order of MODE-1.
    package var members: [BackgroundMode] { BackgroundMode.allCases.filter { contains($0) } }
}

/// The SDK that an app was built with: DTSDKName, or DTPlatformVersion, of Info.plist.
package struct SDKVersion: Hashable, Codable, Sendable {
    package var major: UInt16
    package var minor: UInt16

    @inlinable
    package init(_ major: UInt16, _ minor: UInt16 = 0) {
        self.major = major
        self.minor = minor
    }

    /// The bundle does not say.
    @inlinable package static var unknown: SDKVersion { SDKVersion(0) }

    /// The version in a text such as `9.3`, `iphoneos9.3` or `iphonesimulator10.0`; nil when it holds none.
    package init?(text: String) {
        let parts = text.drop { !$0.isASCII || !$0.isNumber }.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.prefix(2).map { UInt16($0) }
        guard (1...3).contains(parts.count), let major = numbers[0], major > 0 else { return nil }
        guard numbers.count == 2 else {
            self.init(major)
            return
        }
        guard let minor = numbers[1] else { return nil }
        self.init(major, minor)
    }

    /// Whether sockets of apps built with it may be marked for VoIP on every phone (VOIP-1).
    @inlinable package var keepsLegacySockets: Bool { major > 0 && major < 10 }

    /// Such as `9.3`.
    package var text: String { "\(major).\(minor)" }
}
