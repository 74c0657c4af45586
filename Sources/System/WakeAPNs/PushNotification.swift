/// A push as a provider asked for it, correct in form; whether there is such a device, and what becomes of it, is its
/// owner's to say.
package struct PushNotification: Equatable, Sendable {
    /// The apns-id: a UUID in its canonical form, the provider's or a new one.
    package var id: String
    /// Hexadecimal digits in lower case.
    package var deviceToken: String
    /// The apns-topic, or the one that the provider's certificate is for.
    package var topic: String
    /// Nil when the provider gave none.
    package var pushType: APNsPushType?
    /// 1, 5 or 10; 10 when the provider gave none.
    package var priority: Int
    /// Seconds since 1970; 0 to try once; nil when the provider gave none (PUSH-4).
    package var expiration: Int64?
    /// At most 64 bytes.
    package var collapseID: String?
    /// At least one byte, at most ``RequestCheck/largestBody``. Neither its JSON nor the size of its kind is checked (PUSH-5).
    package var payload: [UInt8]
}

/// What the owner of the server answers a push.
package enum APNsAnswer: Equatable, Sendable {
    case accepted
    /// - Parameter timestamp: milliseconds since 1970: when the device token was found to be active no more
    ///   (``APNsReason/unregistered``).
    case refused(APNsReason, timestamp: Int64? = nil)
}
