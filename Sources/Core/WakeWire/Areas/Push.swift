import WakeModel

/// What an app asks about pushes.
package enum WirePushRequest: Equatable, Sendable {
    /// registerForRemoteNotifications; answered by `push.registered`.
    case register
    case unregister
    /// A push registry wants VoIP pushes; answered by `push.registered`.
    case registerCalls
    case unregisterCalls
    /// The completion handler of the push with that number was called.
    case completed(number: UInt32, result: FetchResult)
    /// CallKit was told of an incoming call.
    case reportCall
    /// The app makes a call.
    case callBegan
    /// One of the app's calls is over.
    case callEnded
    /// The callback of the VoIP push with that number has returned.
    case callHandled(number: UInt32)
    /// Whether the app has a device token for pushes other than VoIP; answered by a reply with `granted`.
    case isRegistered(id: UInt64)
    /// What the app's service extension makes of the notification of the push with that number.
    case extended(number: UInt32, WireNotification)
}

/// What an app is told about pushes.
package enum WirePushEvent: Equatable, Sendable {
    /// The app's device token: 32 bytes.
    case registered(token: [UInt8], calls: Bool)
    /// The app gets no device token.
    case failed(calls: Bool, message: String)
    /// A push came, whose completion handler is to be called; the payload is a JSON object.
    case received(number: UInt32, payload: String)
    /// A VoIP push came.
    case called(number: UInt32, payload: String)
    /// To a service extension: it may change the notification of the push with that number.
    case extend(number: UInt32, WireNotification)
    /// To a service extension: its time is nearly over.
    case extensionExpires(number: UInt32)
}

extension WireLimits {
    /// The longest payload of a push that APNs takes, in bytes.
    package static let pushPayloadBytes = Int(PushFigures.largestPayload)
    /// A device token, in bytes.
    package static let deviceTokenBytes = 32
}

// MARK: Coding

extension WirePushRequest: AreaMessage {
    static let area = "push"
    static let blanks: [Self] = [
        .register, .unregister, .registerCalls, .unregisterCalls, .completed(number: 0, result: .newData), .reportCall,
        .callBegan, .callEnded, .callHandled(number: 0), .isRegistered(id: 0), .extended(number: 0, .blank),
    ]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .register, .unregister, .registerCalls, .unregisterCalls, .reportCall, .callBegan, .callEnded: break
        case .completed(let number, let result):
            self = try .completed(
                number: coder.field("number", number, .whole),
                result: coder.field("result", result, .word)
            )
        case .callHandled(let number): self = try .callHandled(number: coder.field("number", number, .whole))
        case .isRegistered(let id): self = try .isRegistered(id: coder.field("id", id, .whole))
        case .extended(let number, let notification):
            self = try .extended(
                number: coder.field("number", number, .whole),
                coder.field("notification", notification, .object)
            )
        }
    }
}

extension WirePushEvent: AreaMessage {
    static let area = "push"
    static let blanks: [Self] = [
        .registered(token: [], calls: false), .failed(calls: false, message: ""), .received(number: 0, payload: ""),
        .called(number: 0, payload: ""), .extend(number: 0, .blank), .extensionExpires(number: 0),
    ]

    mutating func code(_ coder: inout FieldCoder) throws(WireError) {
        switch self {
        case .registered(let token, let calls):
            self = try .registered(
                token: coder.field("token", token, .deviceToken),
                calls: coder.field("calls", calls, .bool, absent: false)
            )
        case .failed(let calls, let message):
            self = try .failed(
                calls: coder.field("calls", calls, .bool, absent: false),
                message: coder.field("message", message, .text(atMost: 512))
            )
        case .received(let number, let payload):
            self = try .received(
                number: coder.field("number", number, .whole),
                payload: coder.field("payload", payload, .text(atMost: WireLimits.pushPayloadBytes))
            )
        case .called(let number, let payload):
            self = try .called(
                number: coder.field("number", number, .whole),
                payload: coder.field("payload", payload, .text(atMost: WireLimits.pushPayloadBytes))
            )
        case .extend(let number, let notification):
            self = try .extend(
                number: coder.field("number", number, .whole),
                coder.field("notification", notification, .object)
            )
        case .extensionExpires(let number):
            self = try .extensionExpires(number: coder.field("number", number, .whole))
        }
    }
}

extension FetchResult: WireWord {}

extension FieldShape where Value == [UInt8] {
    /// A device token in base64.
    fileprivate static var deviceToken: FieldShape {
        .base64 { (found) throws(WireError) in
            let bytes = try found.bytes()
            guard bytes.count == WireLimits.deviceTokenBytes else {
                throw found.bad("\(WireLimits.deviceTokenBytes) bytes")
            }
            return bytes
        }
    }
}
