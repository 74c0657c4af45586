import Testing
import WakeModel
import WakePorts
import WakePush

/// APNs as a provider meets it: one app of the phone, and a token.
private struct Provider {
    static let app = AppID(0)
    static let bundle = "com.example.messenger"
    static let epoch: Int64 = 1_767_225_600_000_000_000

    let names = NameTable()
    var desk: PushDesk
    /// What was reported last.
    private(set) var report: SourceReport?

    init(modes: [BackgroundMode] = [.remoteNotification, .voip], registered: Bool = true) {
        desk = PushDesk(names: names, figures: Profile.ios17.areas.push, epoch: Self.epoch)
        desk.add(.init(bundle: Self.bundle, modes: BackgroundModes(modes)), as: Self.app)
        desk.register(Self.app, forCalls: false, registered)
        desk.register(Self.app, forCalls: true, registered)
    }

    /// Sends a push, with what is changed of one that APNs takes.
    mutating func send(
        _ payload: String = #"{"aps":{"content-available":1}}"#,
        forCalls: Bool = false,
        change: (inout PushMessage) -> Void = { _ in }
    ) -> PushAnswer {
        var message = PushMessage(
            token: desk.token(of: Self.app, forCalls: forCalls),
            topic: forCalls ? Self.bundle + ".voip" : Self.bundle,
            payload: Array(payload.utf8)
        )
        change(&message)
        let result = desk.receive(message, origin: .none, at: .zero)
        report = result.report
        return result.answer
    }
}

@Suite("The desk of APNs")
struct PushDeskTests {
    private static let wrong: [(PushRefusal, @Sendable (inout PushMessage) -> Void)] = [
        (.badDeviceToken, { $0.token = [1, 2] }),
        (.missingTopic, { $0.topic = nil }),
        (.deviceTokenNotForTopic, { $0.topic = "com.example.other" }),
        (.deviceTokenNotForTopic, { $0.topic = Provider.bundle + ".voip" }),
        (.topicDisallowed, { $0.topic = Provider.bundle + ".complication" }),
        (.invalidPushType, { $0.type = "quiet" }),
        (.invalidPushType, { $0.type = "voip" }),
        (.badPriority, { $0.priority = 3 }),
        (.badExpirationDate, { $0.expiration = -1 }),
        (.badCollapseID, { $0.collapseID = String(repeating: "x", count: 65) }),
        (.badCollapseID, { $0.collapseID = "" }),
        (.payloadEmpty, { $0.payload = [] }),
        (.payloadEmpty, { $0.payload = Array("{}".utf8) }),
        (.payloadEmpty, { $0.payload = Array("[1]".utf8) }),
    ]

    @Test("A push that is right is accepted, and reported for the app that the token is of")
    func accepted() {
        var provider = Provider()
        #expect(provider.send() == .accepted)
        #expect(provider.report?.event.kind == .pushReceived)
        #expect(provider.report?.event.app == Provider.app)
        #expect(provider.report?.event.pushNumber == 1)
        #expect(provider.report?.payload == .push(Array(#"{"aps":{"content-available":1}}"#.utf8)))
        #expect(provider.send(forCalls: true) == .accepted)
        #expect(provider.report?.event.kind == .callPushReceived)
        #expect(provider.report?.event.pushNumber == 2)
    }

    @Test("What the phone and its apps need of a payload is read: category and thread too, and that a push brought it")
    func content() {
        var provider = Provider()
        let aps = #"{"alert":{"title":"Ada","body":"Tea"},"badge":3,"category":"drink","thread-id":"kitchen"}"#
        #expect(provider.send { $0.payload = Array(#"{"aps":\#(aps)}"#.utf8) } == .accepted)
        let content = provider.report?.event.push.content
        #expect(content?.title == "Ada" && content?.body == "Tea" && content?.badge == 3)
        #expect(content?.category == "drink" && content?.thread == "kitchen")
        #expect(content?.isRemote == true)
    }

    @Test(
        "A push with a wrong header is refused in Apple's words, and nothing is reported",
        arguments: wrong
    )
    func refused(refusal: PushRefusal, change: @Sendable (inout PushMessage) -> Void) {
        var provider = Provider()
        #expect(provider.send(change: change) == .refused(refusal))
        #expect(refusal.status == 400)
        #expect(provider.report == nil)
    }

    @Test("LAUNCH-6: a push for an app that does not ask for any is refused as Unregistered, and is in the records")
    func unregistered() {
        var provider = Provider(registered: false)
        #expect(provider.send() == .refused(.unregistered))
        #expect(PushRefusal.unregistered.status == 410)
        #expect(provider.report?.event.app == Provider.app)
    }

    @Test(
        "PUSH-5: a payload of more than 4096 bytes is refused, of a VoIP push of more than 5120, and is in the records"
    )
    func sizes() {
        func payload(_ size: Int) -> String {
            let head = #"{"aps":{},"x":""#
            return head + String(repeating: "x", count: size - head.utf8.count - 2) + #""}"#
        }
        var provider = Provider()
        #expect(provider.send(payload(4_096)) == .accepted)
        #expect(provider.send(payload(4_097)) == .refused(.payloadTooLarge))
        #expect(PushRefusal.payloadTooLarge.status == 413)
        #expect(provider.report?.event.push.size == 4_097)
        #expect(provider.report?.payload == .push([]))
        #expect(provider.report?.event.push.content == NotificationContent())
        #expect(provider.send(payload(5_120), forCalls: true) == .accepted)
        #expect(provider.send(payload(5_121), forCalls: true) == .refused(.payloadTooLarge))
    }

    @Test("What the router decides by is read from the headers and from aps")
    func facts() {
        var provider = Provider()
        let payload =
            #"{"aps":{"alert":{"title":"Ada","subtitle":"Tea","body":"Now"},"badge":3,"sound":"chime.caf","mutable-content":1}}"#
        _ = provider.send(payload) {
            ($0.type, $0.priority, $0.collapseID, $0.expiration) = ("alert", 5, "tea", 1_767_225_660)
        }
        let push = provider.report!.event.push
        #expect((push.type, push.priority) == (.alert, .normal))
        #expect(push.expiration == .at(Instant(nanoseconds: 60_000_000_000)))
        #expect(push.isNotification && push.isMutable && push.isCollapsible && !push.isContentAvailable)
        #expect(push.identifier == provider.names.known("tea"))
        #expect((push.content.title, push.content.subtitle, push.content.body) == ("Ada", "Tea", "Now"))
        #expect(push.content.badge == 3)
        #expect(push.content.sound == .file("chime.caf", nil))
        #expect(push.content.userInfo == payload)
    }

    @Test("Without headers a push is an alert at once, and apns-expiration 0 is tried once")
    func usual() {
        var provider = Provider()
        _ = provider.send(#"{"aps":{"alert":"Hello","sound":"default"}}"#)
        let push = provider.report!.event.push
        #expect((push.type, push.priority, push.expiration) == (.alert, .high, .none))
        #expect((push.content.body, push.content.sound) == ("Hello", .standard))
        _ = provider.send { $0.expiration = 0 }
        #expect(provider.report?.event.push.expiration == .once)
    }

    @Test("NEWS-1: content-available is about a new issue for an app with no other mode for pushes")
    func newsstand() {
        var provider = Provider(modes: [.newsstandContent])
        _ = provider.send()
        #expect(provider.report?.event.kind == .newsstandPushReceived)
        _ = provider.send(#"{"aps":{"alert":"Hello"}}"#)
        #expect(provider.report?.event.kind == .pushReceived)
        provider = Provider(modes: [.newsstandContent, .remoteNotification])
        _ = provider.send()
        #expect(provider.report?.event.kind == .pushReceived)
    }

    @Test("A device token has 32 bytes, and each app two of its own")
    func tokens() {
        let tokens = ["com.example.a", "com.example.b"].flatMap { bundle in
            [false, true].map { DeviceToken.bytes(of: bundle, forCalls: $0) }
        }
        #expect(tokens.allSatisfy { $0.count == 32 })
        #expect(Set(tokens).count == 4)
        #expect(DeviceToken.text([0, 0xab, 0x1f]) == "00ab1f")
    }
}

@Suite("Simulated pushes")
struct SimulatedPushTests {
    private func end(_ played: PlayedExtension) -> (SimulatedPush, Reports) {
        let names = NameTable()
        let desk = PushDesk(names: names, figures: Profile.ios17.areas.push, epoch: 0)
        let end = SimulatedPush(desk: desk, extensions: [AppID(0): played], names: names)
        let reports = Reports()
        end.report = { reports.all.append($0) }
        return (end, reports)
    }

    private final class Reports {
        var all: [SourceReport] = []
    }

    private func due(_ content: NotificationContent = NotificationContent()) -> ScheduledNotification {
        ScheduledNotification(identifier: .none, content: content, trigger: .now)
    }

    @Test("PUSH-9: a played extension answers in its time, with its own text and memory")
    func answers() {
        var played = PlayedExtension()
        (played.after, played.memory, played.body) = (.seconds(2), 12, "decrypted")
        let (end, reports) = end(played)
        var content = NotificationContent()
        content.title = "Ada"
        end.perform(.runExtension(AppID(0), 7, due(content)), at: .zero)
        #expect(end.nextDeadline == Instant(nanoseconds: 2_000_000_000))
        end.timeReached(Instant(nanoseconds: 2_000_000_000))
        #expect(reports.all.map(\.event.pushNumber) == [7])
        #expect(reports.all[0].event.push.content.title == "Ada")
        #expect(reports.all[0].event.push.content.body == "decrypted")
        #expect(reports.all[0].event.push.extensionMemory == 12)
        #expect(!reports.all[0].event.failed)
    }

    @Test("PUSH-9: a played extension may crash, hang, or be ended by the phone", arguments: [true, false])
    func fails(crashes: Bool) {
        var played = PlayedExtension()
        (played.after, played.ending) = (.seconds(1), crashes ? .crash : .hang)
        let (end, reports) = end(played)
        end.perform(.runExtension(AppID(0), 1, due()), at: .zero)
        end.timeReached(Instant(nanoseconds: 60_000_000_000))
        #expect(reports.all.map(\.event.failed) == (crashes ? [true] : []))
        end.perform(.runExtension(AppID(0), 2, due()), at: .zero)
        end.perform(.endExtension(AppID(0), 2), at: .zero)
        #expect(end.nextDeadline == nil)
    }

    @Test("A push that no phone could get is an error with APNs' answer")
    func refused() {
        let (end, _) = end(PlayedExtension())
        #expect(throws: SourceFailure(.unknown, "APNs refuses the push with 400 BadDeviceToken")) {
            try end.send(PushMessage(token: [1], topic: "x", payload: [1]), .none, at: .zero)
        }
    }
}
