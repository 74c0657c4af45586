import Foundation
import Testing
import WakeModel
import WakeWire

@testable import UIKit
@testable import UserNotifications

@Suite("Triggers of notifications")
struct NotificationTriggerTests {
    private static let full: DateComponents = {
        var components = DateComponents(year: 2_026, month: 3, day: 31, hour: 23, minute: 59, second: 58)
        components.weekday = 7
        components.weekdayOrdinal = 5
        components.weekOfMonth = 6
        components.weekOfYear = 53
        components.yearForWeekOfYear = 2_027
        components.quarter = 4
        components.dayOfYear = 366
        return components
    }()

    @Test("NOTE-1: the phone is told all units of a date, and tells them back")
    func allUnits() throws {
        let trigger = UNCalendarNotificationTrigger(dateMatching: Self.full, repeats: true)
        let wire = try #require(trigger.wire)
        #expect(wire.repeats)
        #expect(
            CalendarUnit.allCases.map { wire.match[$0] } == [2_026, 366, 4, 3, 31, 23, 59, 58, 7, 5, 6, 53, 2_027]
        )
        let back = try #require(wire.trigger(due: nil) as? UNCalendarNotificationTrigger)
        #expect(back.dateComponents == Self.full && back.repeats)
    }

    @Test(
        "NOTE-1: a component out of its range is no date, and does not leave the others",
        arguments: [
            DateComponents(month: 13, hour: 8), DateComponents(hour: 24), DateComponents(hour: 7, minute: -1),
            DateComponents(hour: 7, weekday: 2, weekdayOrdinal: 6), DateComponents(month: 3, day: 32),
        ]
    )
    func outOfRange(components: DateComponents) {
        let trigger = UNCalendarNotificationTrigger(dateMatching: components, repeats: true)
        #expect(trigger.wire?.match == DateMatch())
        #expect(trigger.nextTriggerDate() == nil)
    }

    @Test(
        "NOTE-1: nextTriggerDate is what Foundation's calendar finds, in a zone that has summer time too",
        arguments: ["UTC", "Europe/Berlin"]
    )
    func next(name: String) throws {
        let zone = try #require(TimeZone(identifier: name))
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let start = Date(timeIntervalSince1970: 1_774_650_030.5)
        for components in [
            DateComponents(month: 3, hour: 8), DateComponents(day: 31, hour: 9), DateComponents(hour: 2, minute: 30),
            DateComponents(hour: 9, weekday: 2, weekdayOrdinal: 1), DateComponents(month: 2, day: 29),
            DateComponents(hour: 8, second: 30), DateComponents(weekday: 2, weekOfYear: 20),
        ] {
            let trigger = UNCalendarNotificationTrigger(dateMatching: components, repeats: false)
            let found = calendar.nextDate(after: start, matching: components, matchingPolicy: .nextTime)
            #expect(found != nil && found == trigger.date(after: start, in: zone), "\(components)")
        }
    }

    @Test("NOTE-1: a fire date on the wall is read back by the offset that its zone has then, and not by today's")
    func fireDate() throws {
        let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
        let july = 1_782_864_000.0
        #expect(UILocalNotification.date(july, on: berlin) == Date(timeIntervalSince1970: july - 7_200))
        let january = 1_767_225_600.0
        #expect(UILocalNotification.date(january, on: berlin) == Date(timeIntervalSince1970: january - 3_600))
        // 29 March, 03:30 in summer: two and a half hours after midnight.
        let change = 1_774_755_000.0
        #expect(UILocalNotification.date(change, on: berlin) == Date(timeIntervalSince1970: change - 7_200))
        #expect(UILocalNotification.date(january, on: nil) == Date(timeIntervalSince1970: january))
    }

    @Test("A trigger that the phone has says when it is due by the phone")
    func due() {
        let due = Date(timeIntervalSince1970: 1_767_225_600)
        var wire = WireNotificationTrigger()
        wire.hour = 7
        let trigger = wire.trigger(due: due) as? UNCalendarNotificationTrigger
        #expect(trigger?.nextTriggerDate() == due)
    }
}
