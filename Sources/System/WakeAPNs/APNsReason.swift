/// Why a push is refused: the strings of Apple's "Handling notification responses from APNs".
///
/// Of that table three are missing, which cannot occur here: `BadCertificateEnvironment` and `BadEnvironmentKeyIdInToken`, since
/// there is one environment, and `UnrelatedKeyIdInToken`, since no key is bound to topics.
package enum APNsReason: String, Error, CaseIterable, Sendable {
    /// A collapse identifier longer than 64 bytes.
    case badCollapseID = "BadCollapseId"
    /// A device token that is no even number of hexadecimal digits, or that the owner does not know.
    case badDeviceToken = "BadDeviceToken"
    case badExpirationDate = "BadExpirationDate"
    /// An apns-id that is no UUID in its canonical form.
    case badMessageID = "BadMessageId"
    case badPriority = "BadPriority"
    case badTopic = "BadTopic"
    /// The owner's: the token is another app's, or of another kind.
    case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
    case duplicateHeaders = "DuplicateHeaders"
    /// A request that was not whole in time, or a connection on which none came for long.
    case idleTimeout = "IdleTimeout"
    case invalidPushType = "InvalidPushType"
    case missingDeviceToken = "MissingDeviceToken"
    case missingTopic = "MissingTopic"
    case payloadEmpty = "PayloadEmpty"
    /// The certificate is for another topic.
    case topicDisallowed = "TopicDisallowed"
    /// The client's certificate names no topic, or is not valid now.
    case badCertificate = "BadCertificate"
    /// The provider's token is more than an hour old.
    case expiredProviderToken = "ExpiredProviderToken"
    /// The owner's.
    case forbidden = "Forbidden"
    case invalidProviderToken = "InvalidProviderToken"
    /// Neither a token nor a certificate of a provider.
    case missingProviderToken = "MissingProviderToken"
    case badPath = "BadPath"
    case methodNotAllowed = "MethodNotAllowed"
    /// The owner's: the device token has expired.
    case expiredToken = "ExpiredToken"
    /// The owner's: the device token is active no more for the topic.
    case unregistered = "Unregistered"
    case payloadTooLarge = "PayloadTooLarge"
    /// The provider's token was changed twice within 20 minutes.
    case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
    /// The owner's: too many for one device.
    case tooManyRequests = "TooManyRequests"
    /// The owner's.
    case internalServerError = "InternalServerError"
    /// The owner's.
    case serviceUnavailable = "ServiceUnavailable"
    /// The server is being shut down.
    case shutdown = "Shutdown"

    /// The HTTP status that it comes with.
    package var status: Int {
        switch self {
        case .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority, .badTopic,
            .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken,
            .missingTopic, .payloadEmpty, .topicDisallowed:
            400
        case .badCertificate, .expiredProviderToken, .forbidden, .invalidProviderToken, .missingProviderToken: 403
        case .badPath: 404
        case .methodNotAllowed: 405
        case .expiredToken, .unregistered: 410
        case .payloadTooLarge: 413
        case .tooManyProviderTokenUpdates, .tooManyRequests: 429
        case .internalServerError: 500
        case .serviceUnavailable, .shutdown: 503
        }
    }
}
