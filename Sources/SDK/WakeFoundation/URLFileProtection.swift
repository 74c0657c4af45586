import Foundation

/// When a file can be read; taken here without effect, as protection of files is by any other way.
public struct URLFileProtection: RawRepresentable, Hashable, Sendable {
    /// Foundation's word.
    public let rawValue: String

    /// A protection by Foundation's word.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// While the phone is unlocked.
    public static let complete = Self(rawValue: "NSURLFileProtectionComplete")
    /// While the phone is unlocked, and as long as it stays open.
    public static let completeUnlessOpen = Self(rawValue: "NSURLFileProtectionCompleteUnlessOpen")
    /// From the first unlock after a restart on.
    public static let completeUntilFirstUserAuthentication = Self(
        rawValue: "NSURLFileProtectionCompleteUntilFirstUserAuthentication"
    )
    /// Always.
    public static let none = Self(rawValue: "NSURLFileProtectionNone")
}

extension URLResourceKey {
    /// The protection of a file, a ``URLFileProtection``. It can be set, and no file has it.
    public static var fileProtectionKey: URLResourceKey { URLResourceKey(rawValue: "NSURLFileProtectionKey") }
}

extension URLResourceValues {
    /// The protection of a file: none is known here.
    public var fileProtection: URLFileProtection? { allValues[.fileProtectionKey] as? URLFileProtection }
}
