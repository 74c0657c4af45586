import Testing
import WakeModel

@testable import WakeWire

@Suite("The messages of pushes")
struct PushMessageTests {
    private static let requests: [WirePushRequest] = [
        .register, .unregister, .registerCalls, .unregisterCalls, .completed(number: .max, result: .noData),
        .reportCall, .callBegan, .callEnded, .callHandled(number: 3), .isRegistered(id: 9),
        .extended(number: 4, WireNotification(identifier: "tea", body: "Ready.", isRemote: true)),
    ]
    private static let events: [WirePushEvent] = [
        .registered(token: Array(0..<32), calls: true), .failed(calls: false, message: "No."),
        .received(number: 1, payload: #"{"aps":{}}"#), .called(number: 2, payload: #"{"aps":{},"x":"é"}"#),
        .extend(number: 4, WireNotification(identifier: "tea", userInfo: #"{"aps":{}}"#, isRemote: true)),
        .extensionExpires(number: 4),
    ]

    @Test("A request is read as it was written, and cut anywhere it is refused", arguments: requests)
    func request(request: WirePushRequest) throws {
        let packet = AppMessage.push(request).encode()
        #expect(try AppMessage(decoding: packet) == .push(request))
        for length in packet.indices {
            #expect(throws: WireError.cut(packet, at: length)) { try AppMessage(decoding: Array(packet[..<length])) }
        }
    }

    @Test("An event is read as it was written, and cut anywhere it is refused", arguments: events)
    func event(event: WirePushEvent) throws {
        let message = BenchMessage.deliver(WireDelivery(delivery: 3, cause: "push", manager: 0, body: .push(event)))
        let packet = message.encode()
        #expect(try BenchMessage(decoding: packet) == message)
        for length in packet.indices {
            #expect(throws: WireError.cut(packet, at: length)) { try BenchMessage(decoding: Array(packet[..<length])) }
        }
    }

    @Test("A device token of another length is refused")
    func token() {
        let event = WirePushEvent.registered(token: [1, 2, 3], calls: false)
        let packet = BenchMessage.deliver(WireDelivery(delivery: 3, cause: "push", manager: 0, body: .push(event)))
            .encode()
        #expect(throws: WireError.badValue(key: "token", expected: "32 bytes")) { try BenchMessage(decoding: packet) }
    }

    @Test("PUSH-5: no payload that a setting lets through is longer than what an app can be told")
    func limits() {
        let settings = ProfileSetting.all.filter { $0.rule == .push5 }
        #expect(settings.map(\.name) == ["push.payloadLimit", "push.callPayloadLimit"])
        for setting in settings {
            guard case .count(let range, _) = setting.kind else {
                Issue.record("\(setting.name) is no number")
                continue
            }
            #expect(Int(range.upperBound) == WireLimits.pushPayloadBytes)
        }
    }
}
