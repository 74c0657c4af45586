/// A request that is whole: what is checked of it before its owner hears of it, and in which order.
///
/// No I/O and no clock: the same request gets the same answer.
package struct RequestCheck {
    /// The most bytes of a collapse identifier.
    package static let collapseIDLimit = 64
    /// The most bytes of a device token. Apple names no length; those in use have 32, those of Live Activities 80.
    package static let deviceTokenLimit = 128
    /// The most bytes of a body: as many as HTTP/2 has a client send unasked. A larger one is refused before anybody hears of it; how
    /// much of these a push may have is its owner's to say (PUSH-5).
    package static let largestBody = 65_535
    /// The most bytes of a topic, as of a bundle identifier.
    static let topicLimit = 255

    var head: RequestHead
    /// The body, of which no more is needed than ``largestBody`` and one byte.
    var body: [UInt8]

    package init(_ head: RequestHead, body: [UInt8]) {
        self.head = head
        self.body = body
    }

    /// The identifier that the answer bears: the request's own, or a new one where it has none that is correct.
    package func id(_ make: () -> String) -> String {
        guard let id = head.value("apns-id"), Self.isUUID(id) else { return make() }
        return id
    }

    /// The push that is asked for.
    ///
    /// What is wrong first is told: the method, the path, repeated fields, the provider, then the fields and the payload. Apple
    /// publishes no order, but the provider is known to be checked before the device token.
    ///
    /// - Parameters:
    ///   - id: ``id(_:)``.
    ///   - trust: what is known of the provider on this connection.
    ///   - now: seconds since 1970.
    /// - Throws: the reason of a refusal.
    package func notification(
        id: String,
        trust: inout ProviderTrust,
        at now: Int64
    ) throws(APNsReason) -> PushNotification {
        guard head.method == "POST" else { throw .methodNotAllowed }
        let deviceToken = try deviceToken()
        guard !head.hasDuplicates else { throw .duplicateHeaders }
        try trust.admit(head.value("authorization"), at: now)
        if let given = head.value("apns-id"), given != id { throw .badMessageID }
        let expiration = try expiration()
        let priority = try priority()
        let pushType = try pushType()
        let collapseID = head.value("apns-collapse-id")
        guard collapseID?.utf8.count ?? 0 <= Self.collapseIDLimit else { throw .badCollapseID }
        let topic = try topic(trust.certificate)
        guard !deviceToken.isEmpty else { throw .missingDeviceToken }
        guard Self.isDeviceToken(deviceToken) else { throw .badDeviceToken }
        guard !body.isEmpty else { throw .payloadEmpty }
        guard body.count <= Self.largestBody else { throw .payloadTooLarge }
        return PushNotification(
            id: id,
            deviceToken: deviceToken.lowercased(),
            topic: topic,
            pushType: pushType,
            priority: priority,
            expiration: expiration,
            collapseID: collapseID,
            payload: body
        )
    }

    /// What stands behind `/3/device/`, which may be nothing.
    private func deviceToken() throws(APNsReason) -> String {
        let folder = "/3/device"
        guard head.path.hasPrefix(folder) else { throw .badPath }
        let rest = head.path.dropFirst(folder.count)
        guard rest.first ?? "/" == "/", !rest.dropFirst().contains("/") else { throw .badPath }
        return String(rest.dropFirst())
    }

    private func expiration() throws(APNsReason) -> Int64? {
        guard let text = head.value("apns-expiration") else { return nil }
        guard let seconds = Self.number(text) else { throw .badExpirationDate }
        return seconds
    }

    private func priority() throws(APNsReason) -> Int {
        switch head.value("apns-priority") {
        case nil, "10": 10
        case "5": 5
        case "1": 1
        default: throw .badPriority
        }
    }

    private func pushType() throws(APNsReason) -> APNsPushType? {
        guard let word = head.value("apns-push-type") else { return nil }
        guard let type = APNsPushType(rawValue: word) else { throw .invalidPushType }
        return type
    }

    private func topic(_ certificate: ClientCertificate?) throws(APNsReason) -> String {
        guard let topic = head.value("apns-topic") else {
            guard let certificate, !certificate.hasManyTopics, let own = certificate.topic else { throw .missingTopic }
            return own
        }
        guard !topic.isEmpty else { throw .missingTopic }
        guard topic.utf8.count <= Self.topicLimit, topic.utf8.allSatisfy(Self.isOfTopic) else { throw .badTopic }
        if let certificate, !certificate.covers(topic) { throw .topicDisallowed }
        return topic
    }

    /// What a bundle identifier consists of: letters, digits, hyphens and periods; underscores are met as well.
    private static func isOfTopic(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    private static func isDeviceToken(_ text: String) -> Bool {
        let digits = text.utf8
        return digits.count.isMultiple(of: 2) && digits.count <= 2 * deviceTokenLimit
            && digits.allSatisfy(isHexadecimal)
    }

    /// 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12, with hyphens between them.
    private static func isUUID(_ text: String) -> Bool {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12] && groups.allSatisfy { $0.allSatisfy(isHexadecimal) }
    }

    /// A whole number without a sign.
    private static func number(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}
