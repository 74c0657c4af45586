import Foundation

/// A kind of push of its own.
public struct PKPushType: RawRepresentable, Hashable, Sendable {
    /// The text behind the type.
    public let rawValue: String

    /// A type from its text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Calls that come in.
    public static let voIP = PKPushType(rawValue: "PKPushTypeVoIP")
    /// News for a watch's face; never on this phone.
    public static let complication = PKPushType(rawValue: "PKPushTypeComplication")
    /// Changes of files of a provider; never on this phone.
    public static let fileProvider = PKPushType(rawValue: "PKPushTypeFileProvider")
}

/// The device token of an app for a type of push.
open class PKPushCredentials: NSObject, @unchecked Sendable {
    /// The type.
    public let type: PKPushType
    /// The token, which the app's server pushes to.
    public let token: Data

    init(type: PKPushType, token: Data) {
        self.type = type
        self.token = token
        super.init()
    }
}

/// What a push brought.
open class PKPushPayload: NSObject, @unchecked Sendable {
    /// The type of the push.
    public let type: PKPushType
    /// Its payload.
    public let dictionaryPayload: [AnyHashable: Any]

    init(type: PKPushType, dictionaryPayload: [AnyHashable: Any]) {
        self.type = type
        self.dictionaryPayload = dictionaryPayload
        super.init()
    }
}
