/// apns-push-type, as far as apps of this phone are concerned.
package enum PushType: UInt8, Worded, Codable, Sendable {
    case alert
    case background
    /// A VoIP push.
    case call

    package var word: String { self == .call ? "voip" : spelled }

    /// The apns-topic of an app's VoIP pushes, or of all others.
    package static func topic(of bundle: String, forCalls: Bool) -> String { forCalls ? bundle + ".voip" : bundle }
}
