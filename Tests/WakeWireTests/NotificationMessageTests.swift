import Testing

@testable import WakeWire

@Suite("The messages of notifications")
struct NotificationMessageTests {
    private static let full: WireNotification = {
        var trigger = WireNotificationTrigger()
        trigger.date = 1_767_225_600
        trigger.isWall = true
        trigger.unit = .month
        return WireNotification(
            identifier: "rent",
            title: "Rent",
            subtitle: "Again",
            body: "Pay it.",
            badge: 2,
            sound: "coin.caf",
            userInfo: "{}",
            category: "payment",
            thread: "home",
            trigger: trigger,
            date: 1_767_225_600.5
        )
    }()
    private static let clock: WireNotification = {
        var trigger = WireNotificationTrigger()
        (trigger.year, trigger.month, trigger.day, trigger.weekday) = (2_026, 12, 31, 7)
        (trigger.hour, trigger.minute, trigger.second, trigger.repeats) = (23, 59, 59, true)
        (trigger.weekdayOrdinal, trigger.weekOfMonth, trigger.weekOfYear) = (5, 6, 53)
        (trigger.yearForWeekOfYear, trigger.quarter, trigger.dayOfYear) = (2_026, 4, 366)
        return WireNotification(identifier: "x", sound: "", trigger: trigger)
    }()
    private static let requests: [WireNotificationRequest] = [
        .schedule(full), .schedule(clock), .cancel(identifiers: ["a", "b"]), .cancelAll, .withdraw(identifiers: []),
        .withdrawAll, .present(number: .max, shows: true), .setBadge(7), .list(id: 9, delivered: true, from: 3),
        .isAllowed(id: 9),
    ]
    private static let events: [WireNotificationEvent] = [.due(number: 1, full), .tapped(clock)]

    @Test("A request is read as it was written, and cut anywhere it is refused", arguments: requests)
    func request(request: WireNotificationRequest) throws {
        let packet = AppMessage.notification(request).encode()
        #expect(try AppMessage(decoding: packet) == .notification(request))
        for length in packet.indices {
            #expect(throws: WireError.cut(packet, at: length)) { try AppMessage(decoding: Array(packet[..<length])) }
        }
    }

    @Test("An event is read as it was written, and cut anywhere it is refused", arguments: events)
    func event(event: WireNotificationEvent) throws {
        let delivery = WireDelivery(delivery: 3, cause: "notification", manager: 0, body: .notification(event))
        let message = BenchMessage.deliver(delivery)
        let packet = message.encode()
        #expect(try BenchMessage(decoding: packet) == message)
        for length in packet.indices {
            #expect(throws: WireError.cut(packet, at: length)) { try BenchMessage(decoding: Array(packet[..<length])) }
        }
    }

    @Test("A reply has a part of a list, and how many there are")
    func list() throws {
        let part = WireNotifications(list: [Self.full], count: 64, badge: 3)
        let reply = BenchMessage.reply(id: 1, WireReply(notifications: part))
        #expect(try BenchMessage(decoding: reply.encode()) == reply)
    }

    @Test("The largest notification fits into a packet, however its texts are written")
    func largest() {
        func text(_ count: Int) -> String { String(repeating: "\u{1}", count: count) }
        let notification = WireNotification(
            identifier: text(WireLimits.notificationIdentifierBytes),
            title: text(WireLimits.notificationTitleBytes),
            subtitle: text(WireLimits.notificationTitleBytes),
            body: text(WireLimits.notificationBodyBytes),
            badge: .max,
            sound: text(WireLimits.notificationTitleBytes),
            userInfo: text(WireLimits.userInfoBytes),
            trigger: Self.clock.trigger
        )
        let list = Array(repeating: notification, count: WireLimits.notificationsListed)
        let reply = BenchMessage.reply(id: 1, WireReply(notifications: WireNotifications(list: list, count: 1)))
        #expect(reply.encode().count <= WireLimits.packetBytes)
    }

    @Test(
        "A request with a value that means nothing is refused",
        arguments: [
            (#"{"type":"notification.schedule"}"#, WireError.missing(key: "notification")),
            (#"{"type":"notification.schedule","notification":{}}"#, .missing(key: "identifier")),
            (
                #"{"type":"notification.schedule","notification":{"identifier":""}}"#,
                .badValue(key: "identifier", expected: "1 to 155 bytes of text")
            ),
            (
                #"{"type":"notification.schedule","notification":{"identifier":"a","trigger":{"interval":-1}}}"#,
                .badValue(key: "interval", expected: "a number from 0.0 to 1000000000.0")
            ),
            (
                #"{"type":"notification.schedule","notification":{"identifier":"a","trigger":{"date":1,"unit":"eon"}}}"#,
                .badValue(key: "unit", expected: "one of never, minute, hour, day, week, month, quarter, year")
            ),
            (
                #"{"type":"notification.schedule","notification":{"identifier":"a","trigger":{"hour":24}}}"#,
                .badValue(key: "hour", expected: "a whole number from 0 to 23")
            ),
            (
                #"{"type":"notification.schedule","notification":{"identifier":"a","trigger":{"weekdayOrdinal":6}}}"#,
                .badValue(key: "weekdayOrdinal", expected: "a whole number from 1 to 5")
            ),
            (#"{"type":"notification.present","number":1}"#, .missing(key: "shows")),
            (
                #"{"type":"notification.setBadge","badge":-1}"#,
                .badValue(key: "badge", expected: "a whole number from 0 to 2147483647")
            ),
            (#"{"type":"notification.list","id":1}"#, .missing(key: "delivered")),
            (#"{"type":"notification.cancel"}"#, .missing(key: "identifiers")),
            (#"{"type":"notification.isAllowed"}"#, .missing(key: "id")),
        ]
    )
    func refused(packet: String, error: WireError) {
        #expect(throws: error) { try AppMessage(decoding: Array(packet.utf8)) }
    }
}
