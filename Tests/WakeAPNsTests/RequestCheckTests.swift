import Testing

@testable import WakeAPNs

@Suite("What is checked of a push")
struct RequestCheckTests {
    /// A request that is wrong in one thing.
    struct Wrong: CustomTestStringConvertible, Sendable {
        var words: String
        var head: RequestHead
        var body: [UInt8] = Array("{}".utf8)
        var reason: APNsReason

        var testDescription: String { words }

        init(_ words: String, _ head: RequestHead, body: [UInt8] = Array("{}".utf8), _ reason: APNsReason) {
            (self.words, self.head, self.body, self.reason) = (words, head, body, reason)
        }
    }

    static let wrong = [
        Wrong("another method", request(method: "GET"), .methodNotAllowed),
        Wrong("another method on another path", request(method: "GET", path: "/"), .methodNotAllowed),
        Wrong("another path", request(path: "/4/device/" + deviceToken), .badPath),
        Wrong("a path that only begins the same", request(path: "/3/devices"), .badPath),
        Wrong("a path that goes on", request(path: "/3/device/\(deviceToken)/"), .badPath),
        Wrong("a topic twice", request(adding: [RequestHead.Field("apns-topic", "a")]), .duplicateHeaders),
        Wrong("no authorization", request(["authorization": nil]), .missingProviderToken),
        Wrong("another scheme", request(["authorization": "basic " + token()]), .missingProviderToken),
        Wrong("a bearer of nothing", request(["authorization": "bearer "]), .missingProviderToken),
        Wrong("no token", request(["authorization": "bearer abc"]), .invalidProviderToken),
        Wrong(
            "an old token",
            request(["authorization": "bearer " + token(iat: "\(noon - 3_601)")]),
            .expiredProviderToken
        ),
        Wrong(
            "a token of the future",
            request(["authorization": "bearer " + token(iat: "\(noon + 1)")]),
            .invalidProviderToken
        ),
        Wrong("an identifier that is none", request(["apns-id": "1"]), .badMessageID),
        Wrong(
            "an identifier with one digit less",
            request(["apns-id": "123e4567-e89b-12d3-a456-42665544000"]),
            .badMessageID
        ),
        Wrong("an expiration in words", request(["apns-expiration": "soon"]), .badExpirationDate),
        Wrong("an expiration before 1970", request(["apns-expiration": "-1"]), .badExpirationDate),
        Wrong("an expiration beyond numbers", request(["apns-expiration": "99999999999999999999"]), .badExpirationDate),
        Wrong("an empty expiration", request(["apns-expiration": ""]), .badExpirationDate),
        Wrong("a priority between", request(["apns-priority": "7"]), .badPriority),
        Wrong("a kind that is none", request(["apns-push-type": "silent"]), .invalidPushType),
        Wrong("a kind in capitals", request(["apns-push-type": "Alert"]), .invalidPushType),
        Wrong(
            "a long collapse identifier",
            request(["apns-collapse-id": String(repeating: "c", count: 65)]),
            .badCollapseID
        ),
        Wrong("no topic", request(["apns-topic": nil]), .missingTopic),
        Wrong("an empty topic", request(["apns-topic": ""]), .missingTopic),
        Wrong("a topic with a space", request(["apns-topic": "com.example app"]), .badTopic),
        Wrong("a long topic", request(["apns-topic": String(repeating: "a", count: 256)]), .badTopic),
        Wrong("no device token", request(path: "/3/device/"), .missingDeviceToken),
        Wrong("no device token, and no slash", request(path: "/3/device"), .missingDeviceToken),
        Wrong("a device token that is no number", request(path: "/3/device/xyz0"), .badDeviceToken),
        Wrong("half a byte of a device token", request(path: "/3/device/abc"), .badDeviceToken),
        Wrong(
            "a device token of too many bytes",
            request(path: "/3/device/" + String(repeating: "ab", count: 129)),
            .badDeviceToken
        ),
        Wrong("nothing to say", request(), body: [], .payloadEmpty),
        Wrong("more than anybody reads", request(), body: [UInt8](repeating: 32, count: 65_536), .payloadTooLarge),
        Wrong(
            "the device token after the provider's",
            request(path: "/3/device/x", ["authorization": nil]),
            .missingProviderToken
        ),
    ]

    private func check(_ head: RequestHead, body: [UInt8] = Array("{}".utf8)) throws(APNsReason) -> PushNotification {
        let check = RequestCheck(head, body: body)
        var trust = ProviderTrust()
        return try check.notification(id: check.id { "new" }, trust: &trust, at: noon)
    }

    @Test("A request that is wrong in one thing is refused for it", arguments: wrong)
    func refused(wrong: Wrong) {
        #expect(throws: wrong.reason) { try check(wrong.head, body: wrong.body) }
    }

    @Test("A push is what its fields say")
    func whole() throws {
        let id = "123E4567-e89b-12d3-a456-426655440000"
        let head = request(
            path: "/3/device/ABcd",
            [
                "apns-id": id, "apns-expiration": "\(noon)", "apns-priority": "5", "apns-push-type": "background",
                "apns-collapse-id": String(repeating: "c", count: 64),
            ],
            adding: [RequestHead.Field("user-agent", "a"), RequestHead.Field("user-agent", "b")]
        )
        let payload = Array("{\"aps\":{\"content-available\":1}}".utf8)
        #expect(
            try check(head, body: payload)
                == PushNotification(
                    id: id,
                    deviceToken: "abcd",
                    topic: "com.example.app",
                    pushType: .background,
                    priority: 5,
                    expiration: noon,
                    collapseID: String(repeating: "c", count: 64),
                    payload: payload
                )
        )
    }

    @Test("A push that says little has the priority 10 and a new identifier, and no kind, end or collapse identifier")
    func little() throws {
        let push = try check(request(["apns-push-type": nil]))
        #expect(push.priority == 10 && push.id == "new")
        #expect(push.pushType == nil && push.expiration == nil && push.collapseID == nil)
    }

    @Test("A wrong identifier is not repeated in the answer")
    func wrongID() {
        #expect(RequestCheck(request(["apns-id": "1"]), body: []).id { "new" } == "new")
    }

    @Test("PUSH-5: what is too large for its kind is the owner's to say", arguments: [4_097, 5_121, 65_535])
    func sizes(size: Int) throws {
        #expect(try check(request(), body: [UInt8](repeating: 32, count: size)).payload.count == size)
    }

    @Test("Each kind of push is known by Apple's word for it", arguments: APNsPushType.allCases)
    func types(type: APNsPushType) throws {
        #expect(try check(request(["apns-push-type": type.rawValue])).pushType == type)
        #expect(type.rawValue == type.rawValue.lowercased())
    }

    @Test("Each reason has the status of Apple's table")
    func statuses() {
        let table = Dictionary(grouping: APNsReason.allCases, by: \.status).mapValues { $0.map(\.rawValue) }
        #expect(
            table == [
                400: [
                    "BadCollapseId", "BadDeviceToken", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic",
                    "DeviceTokenNotForTopic", "DuplicateHeaders", "IdleTimeout", "InvalidPushType",
                    "MissingDeviceToken", "MissingTopic", "PayloadEmpty", "TopicDisallowed",
                ],
                403: [
                    "BadCertificate", "ExpiredProviderToken", "Forbidden", "InvalidProviderToken",
                    "MissingProviderToken",
                ],
                404: ["BadPath"], 405: ["MethodNotAllowed"], 410: ["ExpiredToken", "Unregistered"],
                413: ["PayloadTooLarge"], 429: ["TooManyProviderTokenUpdates", "TooManyRequests"],
                500: ["InternalServerError"], 503: ["ServiceUnavailable", "Shutdown"],
            ]
        )
    }
}
