/// A push as a provider hands it to APNs: the path, the headers and the body of its request.
package struct PushMessage: Hashable, Sendable {
    package var token: [UInt8]
    /// apns-topic.
    package var topic: String?
    /// apns-push-type.
    package var type: String?
    /// apns-priority.
    package var priority: Int?
    /// apns-expiration, in seconds since 1970; 0 for a push that is tried once.
    package var expiration: Int64?
    /// apns-collapse-id.
    package var collapseID: String?
    package var payload: [UInt8]

    package init(
        token: [UInt8],
        topic: String? = nil,
        type: String? = nil,
        priority: Int? = nil,
        expiration: Int64? = nil,
        collapseID: String? = nil,
        payload: [UInt8]
    ) {
        self.token = token
        self.topic = topic
        self.type = type
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.payload = payload
    }
}

/// What APNs answers at once.
package enum PushAnswer: Hashable, Sendable {
    case accepted
    case refused(PushRefusal)
}

/// Why APNs does not take a push, in the words of its answers.
package enum PushRefusal: String, CaseIterable, Sendable {
    case badCollapseID = "BadCollapseId"
    case badDeviceToken = "BadDeviceToken"
    case badExpirationDate = "BadExpirationDate"
    case badPriority = "BadPriority"
    case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
    case invalidPushType = "InvalidPushType"
    case missingTopic = "MissingTopic"
    case payloadEmpty = "PayloadEmpty"
    case topicDisallowed = "TopicDisallowed"
    case unregistered = "Unregistered"
    case payloadTooLarge = "PayloadTooLarge"
    case tooManyRequests = "TooManyRequests"

    /// The HTTP status of the answer.
    package var status: Int {
        switch self {
        case .unregistered: 410
        case .payloadTooLarge: 413
        case .tooManyRequests: 429
        default: 400
        }
    }
}
