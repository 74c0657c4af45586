import Foundation
import Testing
import WakeWire

@Suite("The Reminders app")
struct RemindersTests {
    private static let swiftApp = [AppProcess.repository.appending(path: ".build/debug/Reminders").path]
    private static let pythonApp = [
        "/usr/bin/python3", AppProcess.repository.appending(path: "Sources/Examples/RemindersPython/reminders.py").path,
    ]
    private static let tea: WireNotification = {
        var trigger = WireNotificationTrigger()
        trigger.interval = 240
        return reminder("tea", "The tea is ready.", trigger)
    }()
    private static let morning: WireNotification = {
        var trigger = WireNotificationTrigger()
        (trigger.hour, trigger.minute, trigger.repeats) = (7, 30, true)
        return reminder("morning", "Good morning.", trigger)
    }()

    private static func reminder(
        _ identifier: String,
        _ body: String,
        _ trigger: WireNotificationTrigger?
    ) -> WireNotification {
        WireNotification(
            identifier: identifier,
            body: body,
            badge: 1,
            sound: "",
            userInfo: "{\"kind\":\"\(identifier)\"}",
            trigger: trigger
        )
    }

    /// Starts the app and answers for the phone, a notification a reply; gives what it scheduled before it had launched.
    private func launch(
        _ app: AppProcess,
        pending: [WireNotification],
        isAllowed: Bool = true
    ) throws -> [WireNotification] {
        guard case .hello = try app.bench.next() else { throw BenchFailure(description: "no hello") }
        app.bench.send(.welcome(Welcome(state: .background, options: LaunchOptions())))
        var scheduled: [WireNotification] = []
        var isLaunched = false
        try app.bench.wait { message in
            switch message {
            case .notification(.list(let id, delivered: false, let from)):
                let part = Array(pending.dropFirst(Int(from)).prefix(1))
                let answer = WireNotifications(list: part, count: UInt32(pending.count))
                app.bench.send(.reply(id: id, WireReply(notifications: answer)))
            case .notification(.isAllowed(let id)):
                app.bench.send(.reply(id: id, WireReply(granted: isAllowed)))
            case .notification(.schedule(var notification)):
                // Swift and Python put spaces differently.
                notification.userInfo = notification.userInfo.replacing(" ", with: "")
                scheduled.append(notification)
            case .launched: isLaunched = true
            default: break
            }
            return isLaunched && scheduled.count == 2 - pending.count
        }
        return scheduled
    }

    @Test("NOTE-1: it schedules what the phone does not know yet", arguments: [swiftApp, pythonApp])
    func schedules(command: [String]) throws {
        let app = try AppProcess(command)
        #expect(try launch(app, pending: []) == [Self.tea, Self.morning])
        _ = try app.end()
    }

    @Test("NOTE-7: it is told whether its user lets it show notifications", arguments: [true, false])
    func authorization(isAllowed: Bool) throws {
        let app = try AppProcess(Self.swiftApp)
        _ = try launch(app, pending: [Self.morning, Self.tea], isAllowed: isAllowed)
        #expect(try app.end().lines.contains("requestAuthorization \(isAllowed)"))
    }

    @Test("NOTE-4: what the phone lists as pending it does not schedule again", arguments: [swiftApp, pythonApp])
    func lists(command: [String]) throws {
        let app = try AppProcess(command)
        #expect(try launch(app, pending: [Self.morning, Self.tea]) == [])
        let lines = try app.end().lines
        #expect(lines.contains("pending [\"morning\", \"tea\"]"))
    }

    @Test("NOTE-3: in the foreground it has the user see what it is given", arguments: [swiftApp, pythonApp])
    func presents(command: [String]) throws {
        let app = try AppProcess(command)
        _ = try launch(app, pending: [Self.morning, Self.tea])
        app.bench.deliver(1, manager: 0, .notification(.due(number: 7, Self.tea)))
        #expect(try app.bench.untilAcknowledged(1) == [.notification(.present(number: 7, shows: true))])
        #expect(try app.end().lines.last == "willPresent tea")
    }

    @Test("NOTE-6: a tap tells it which, with its own values", arguments: [swiftApp, pythonApp])
    func tapped(command: [String]) throws {
        let app = try AppProcess(command)
        _ = try launch(app, pending: [Self.morning, Self.tea])
        app.bench.deliver(1, manager: 0, .notification(.tapped(Self.morning)))
        #expect(try app.bench.untilAcknowledged(1) == [.notification(.setBadge(0))])
        #expect(try app.end().lines.last == "didReceive morning badge=1")
    }
}
