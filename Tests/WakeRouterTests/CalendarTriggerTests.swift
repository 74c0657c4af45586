import Testing
import WakeModel

@testable import WakeRouter

/// A second since 1970 of a date and a time in Greenwich, such as `2026-03-01 08:00:30`.
private func second(_ text: String) -> Int64 {
    let numbers = text.split { "- :".contains($0) }.compactMap { Int64($0) }
    let time = numbers.dropFirst(3) + [0, 0, 0]
    let date = CivilDay(year: numbers[0], month: numbers[1], day: numbers[2])
    return date.number * 86_400 + time[3] * 3_600 + time[4] * 60 + time[5]
}

/// The same the other way round, without seconds where there are none.
private func text(_ second: Int64) -> String {
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let (number, time) = second.floored(by: 86_400)
    let date = CivilDay(number: number)
    let seconds = time % 60 == 0 ? "" : ":\(two(time % 60))"
    return "\(date.year)-\(two(date.month))-\(two(date.day)) \(two(time / 3_600)):\(two(time / 60 % 60))\(seconds)"
}

private func given(_ set: (inout DateMatch) -> Void) -> DateMatch {
    var match = DateMatch()
    set(&match)
    return match
}

/// What the clock of a zone shows at the next times of a match.
private func times(_ match: DateMatch, after start: String, in zone: PhoneZone, count: Int) -> [String] {
    var found: Int64? = zone.second(ofWall: second(start))
    return (0..<count).compactMap { _ in
        found = found.flatMap { match.next(after: $0, in: zone) }
        return found.map { text(zone.wall(at: $0)) }
    }
}

private func zone(_ name: String, _ offset: Int32, _ changes: [(at: String, offset: Int32)]) -> PhoneZone {
    var zone = PhoneZone(offset: offset)
    zone.name = name
    zone.changes = changes.map { PhoneZone.Change(at: second($0.at), offset: $0.offset) }
    return zone
}

private let greenwich = PhoneZone(offset: 0)
private let berlin = zone(
    "Europe/Berlin",
    3_600,
    [("2026-03-29 01:00", 7_200), ("2026-10-25 01:00", 3_600), ("2027-03-28 01:00", 7_200)]
)
/// Its clock is put forward at midnight.
private let santiago = zone(
    "America/Santiago",
    -10_800,
    [("2026-04-05 03:00", -14_400), ("2026-09-06 04:00", -10_800)]
)

extension Phone {
    /// Time passes up to so many seconds of the run.
    fileprivate mutating func wait(until seconds: Int64) {
        wait(Instant.zero.advanced(by: .seconds(seconds)).since(now))
    }
}

/// What each of these gives was found by Foundation's `Calendar.nextDate(after:matching:matchingPolicy:)` with `.nextTime`.
@Suite("Calendar triggers")
struct CalendarTriggerTests {
    /// A row of a table.
    struct Row: Sendable, CustomTestStringConvertible {
        var match: DateMatch
        var start: String
        var zone: PhoneZone
        var times: [String]

        init(
            _ start: String,
            in zone: PhoneZone = greenwich,
            _ times: [String],
            _ set: (inout DateMatch) -> Void
        ) {
            (self.start, self.zone, self.times) = (start, zone, times)
            match = given(set)
        }

        var testDescription: String { "\(start) \(zone.name) \(times)" }
    }

    private func check(_ row: Row) {
        #expect(times(row.match, after: row.start, in: row.zone, count: row.times.count) == row.times)
    }

    private static let start = "2026-01-30 10:00:30"

    private static let gapRows = [
        Row(start, ["2026-03-01 00:00", "2027-03-01 00:00"]) { $0.month = 3 },
        Row(start, ["2026-03-01 08:00", "2027-03-01 08:00"]) { ($0.month, $0.hour) = (3, 8) },
        Row(start, ["2026-03-02 07:00", "2027-03-01 07:00", "2028-03-06 07:00"]) {
            ($0.month, $0.weekday, $0.hour) = (3, 2, 7)
        },
        Row(start, ["2026-01-31 08:00:30", "2026-02-01 08:00:30"]) { ($0.hour, $0.second) = (8, 30) },
        Row(start, ["2026-02-01 00:05", "2026-03-01 00:05"]) { ($0.day, $0.minute) = (1, 5) },
        Row(start, ["2026-03-01 00:05", "2027-03-01 00:05"]) { ($0.month, $0.minute) = (3, 5) },
        Row(start, ["2026-02-02 00:05", "2026-02-02 01:05", "2026-02-02 02:05"]) { ($0.weekday, $0.minute) = (2, 5) },
        Row(start, ["2026-02-13 00:00", "2026-03-13 00:00", "2026-11-13 00:00"]) { ($0.day, $0.weekday) = (13, 6) },
        Row("2026-03-10 10:00", ["2027-03-01 08:00"]) { ($0.month, $0.hour) = (3, 8) },
    ]

    @Test(
        "NOTE-1: what is left out is anything above what is given, and the least below and between",
        arguments: gapRows
    )
    func gaps(row: Row) { check(row) }

    @Test("NOTE-1: a year comes once")
    func years() {
        let year = given { $0.year = 2_027 }
        #expect(times(year, after: Self.start, in: greenwich, count: 3) == ["2027-01-01 00:00"])
        let hour = given { ($0.year, $0.hour) = (2_027, 8) }
        #expect(times(hour, after: Self.start, in: greenwich, count: 3) == ["2027-01-01 08:00"])
        let past = given { $0.year = 2_025 }
        #expect(times(past, after: Self.start, in: greenwich, count: 1) == [])
    }

    private static let missingRows = [
        Row(start, ["2026-01-31 09:00", "2026-03-01 00:00", "2026-03-31 09:00", "2026-05-01 00:00"]) {
            ($0.day, $0.hour) = (31, 9)
        },
        Row(start, ["2026-03-01 00:00", "2026-03-30 00:00"]) { $0.day = 30 },
        Row("2026-01-31 13:00", ["2026-03-01 00:00", "2026-03-30 00:00"]) { $0.day = 30 },
        Row(start, ["2026-03-01 00:00", "2027-03-01 00:00", "2028-02-29 00:00", "2029-03-01 00:00"]) {
            ($0.month, $0.day) = (2, 29)
        },
        Row(start, ["2026-03-01 00:00", "2027-03-01 00:00", "2028-03-01 00:00"]) { ($0.month, $0.day) = (2, 31) },
        Row(start, ["2026-07-01 00:00", "2027-07-01 00:00"]) { ($0.month, $0.day) = (6, 31) },
        Row(start, ["2028-02-29 09:00", "2032-02-29 09:00"]) {
            ($0.quarter, $0.month, $0.day, $0.hour) = (1, 2, 29, 9)
        },
    ]

    @Test("NOTE-1: a day that its month lacks is the beginning of the next month", arguments: missingRows)
    func missing(row: Row) { check(row) }

    private static let weekRows = [
        Row(start, ["2026-02-02 00:00", "2026-03-02 00:00", "2026-04-06 00:00"]) {
            ($0.weekday, $0.weekdayOrdinal) = (2, 1)
        },
        Row(start, ["2026-02-10 00:00", "2026-03-10 00:00", "2026-04-07 00:00"]) {
            ($0.weekday, $0.weekOfMonth) = (3, 2)
        },
        Row(start, ["2026-02-01 00:00", "2026-03-01 00:00", "2026-04-01 00:00"]) { $0.weekOfMonth = 1 },
        Row(start, ["2026-05-31 00:00", "2026-08-30 00:00", "2027-01-31 00:00"]) {
            ($0.weekday, $0.weekOfMonth) = (1, 6)
        },
        Row(start, ["2026-03-01 00:00", "2027-02-28 00:00", "2028-02-27 00:00"]) { $0.weekOfYear = 10 },
        Row(start, ["2028-12-24 00:00", "2033-12-25 00:00"]) { $0.weekOfYear = 53 },
        Row(start, ["2026-05-11 09:00"]) {
            ($0.yearForWeekOfYear, $0.weekOfYear, $0.weekday, $0.hour) = (2_026, 20, 2, 9)
        },
        Row(start, ["2027-01-01 00:00"]) { ($0.yearForWeekOfYear, $0.weekOfYear, $0.weekday) = (2_027, 1, 6) },
        Row(start, ["2026-04-01 08:00", "2027-04-01 08:00"]) { ($0.quarter, $0.hour) = (2, 8) },
        Row(start, ["2026-07-15 12:00", "2027-07-15 12:00"]) { ($0.quarter, $0.day, $0.hour) = (3, 15, 12) },
        Row(start, ["2027-03-01 00:00", "2028-03-01 00:00"]) { ($0.quarter, $0.month) = (2, 3) },
        Row(start, ["2026-03-01 06:00", "2027-03-01 06:00", "2028-02-29 06:00"]) {
            ($0.dayOfYear, $0.hour) = (60, 6)
        },
        Row(start, ["2028-12-31 00:00", "2032-12-31 00:00"]) { $0.dayOfYear = 366 },
    ]

    @Test("NOTE-1: ordinals, weeks, quarters and days of the year count", arguments: weekRows)
    func weeks(row: Row) { check(row) }

    private static let changeRows = [
        Row("2026-03-28 12:00", in: berlin, ["2026-03-29 03:00", "2026-03-30 02:30"]) {
            ($0.hour, $0.minute) = (2, 30)
        },
        Row("2026-03-24 00:00", in: berlin, ["2026-03-29 03:00", "2026-04-05 02:00"]) {
            ($0.weekday, $0.hour) = (1, 2)
        },
        Row("2026-10-24 12:00", in: berlin, ["2026-10-25 02:30", "2026-10-26 02:30"]) {
            ($0.hour, $0.minute) = (2, 30)
        },
        Row("2026-10-25 01:45", in: berlin, ["2026-10-25 02:30", "2026-10-25 02:30", "2026-10-25 03:30"]) {
            $0.minute = 30
        },
        Row("2026-10-01 00:00", in: berlin, ["2026-10-31 09:00", "2026-12-01 00:00"]) { ($0.day, $0.hour) = (31, 9) },
        Row("2026-09-05 12:00", in: santiago, ["2026-09-06 01:00", "2026-09-07 00:15"]) {
            ($0.hour, $0.minute) = (0, 15)
        },
        Row("2026-07-01 12:00", in: santiago, ["2026-09-06 01:00"]) { ($0.month, $0.day, $0.hour) = (9, 6, 0) },
    ]

    @Test(
        "NOTE-1: a time at which the clock is put forward is when it is, and of a time that it shows twice the first counts",
        arguments: changeRows
    )
    func changes(row: Row) { check(row) }

    @Test("NOTE-1: of a time that the clock shows twice the first is the one in summer")
    func doubled() {
        let half = given { ($0.hour, $0.minute) = (2, 30) }
        #expect(half.next(after: second("2026-10-24 12:00"), in: berlin) == second("2026-10-25 00:30"))
        #expect(berlin.second(ofWall: second("2026-10-25 02:30")) == second("2026-10-25 00:30"))
        #expect(berlin.second(ofWall: second("2026-10-25 03:00")) == second("2026-10-25 02:00"))
        #expect(berlin.second(ofWall: second("2026-03-29 02:30")) == second("2026-03-29 01:00"))
        #expect(berlin.second(ofWall: second("2026-03-29 03:00")) == second("2026-03-29 01:00"))
        #expect(berlin.second(ofWall: second("2026-03-29 01:59:59")) == second("2026-03-29 00:59:59"))
    }

    @Test("NOTE-1: nothing, or a unit out of its range, is never")
    func outOfRange() {
        #expect(DateMatch().next(after: 0, in: greenwich) == nil)
        for unit in CalendarUnit.allCases {
            for number in [unit.range.lowerBound - 1, unit.range.upperBound + 1] where number >= 0 {
                var match = DateMatch()
                match[unit] = number
                #expect(match[unit] == number && match.next(after: 0, in: greenwich) == nil, "\(unit) \(number)")
            }
        }
    }

    // MARK: On the phone

    /// The phone's clock where instant zero is a time on the wall of a zone.
    private static func clock(_ wall: String, _ zone: PhoneZone) -> PhoneClock {
        PhoneClock(epoch: zone.second(ofWall: second(wall)) * 1_000_000_000, zone: zone)
    }

    private let app = AppID(0)

    /// A phone whose app scheduled something and is in the background.
    private func phone(_ trigger: NotificationTrigger, by clock: PhoneClock) -> Phone {
        var phone = Phone()
        let app = phone.appInFront()
        let notification = ScheduledNotification(
            identifier: Phone.notice,
            content: NotificationContent(),
            trigger: trigger
        )
        phone.notification(app, .schedule(notification, clock: clock))
        phone.leave(app)
        phone.forget()
        return phone
    }

    private static let noon = given { ($0.month, $0.day, $0.hour) = (1, 30, 12) }

    @Test(
        "NOTE-1, SYS-1: what comes once keeps its time on the wall in another zone, and comes at once where that is past",
        arguments: [
            .matching(noon, repeats: false), .matching(given { $0.hour = 12 }, repeats: false),
            .matching(given { ($0.year, $0.month, $0.day, $0.hour) = (2_026, 1, 30, 12) }, repeats: false),
            .matching(given { ($0.year, $0.month, $0.day, $0.hour) = (2_026, 1, 30, 12) }, repeats: true),
            .date(seconds: second("2026-01-30 12:00"), isWall: true, repeats: .never),
        ] as [NotificationTrigger]
    )
    func onceInAnotherZone(trigger: NotificationTrigger) {
        let clock = Self.clock("2026-01-30 10:00:30", greenwich)
        for (zone, due) in [(7_200, 3_600), (3_600, 3_600), (1_800, 5_370), (-3_600, 10_770)] as [(Int32, Int64)] {
            var phone = phone(trigger, by: clock)
            #expect(phone.dueAfter(app) == [7_170])
            phone.wait(until: 3_600)
            phone.hear(.clock(PhoneClock(epoch: clock.epoch, zone: zone)))
            phone.hear(.timeReached)
            let waits = phone.dueAfter(app)
            #expect(due == 3_600 ? waits == [] && phone.shown.count == 1 : waits == [due], "\(zone)")
        }
    }

    @Test("NOTE-1, SYS-1: a clock that is set past what comes once brings it at once, and one that is set back later")
    func onceByAnotherClock() {
        let clock = Self.clock("2026-01-30 10:00", greenwich)
        for (moved, due) in [(10_800, 600), (-3_600, 10_800)] as [(Int64, Int64)] {
            var phone = phone(.matching(Self.noon, repeats: false), by: clock)
            phone.wait(until: 600)
            phone.hear(.clock(PhoneClock(epoch: clock.epoch + moved * 1_000_000_000, zone: greenwich)))
            phone.hear(.timeReached)
            #expect(phone.shown.map(\.at) == (due == 600 ? [Instant.zero.advanced(by: .seconds(600))] : []))
            #expect(phone.dueAfter(app) == (due == 600 ? [] : [due]))
        }
    }

    @Test("NOTE-1, SYS-1: what comes again is looked for anew in another zone")
    func againInAnotherZone() {
        let clock = Self.clock("2026-01-30 10:00", greenwich)
        var phone = phone(.matching(given { $0.hour = 12 }, repeats: true), by: clock)
        #expect(phone.dueAfter(app) == [7_200])
        // It is 13:00 there, and noon is tomorrow.
        phone.wait(until: 3_600)
        phone.hear(.clock(PhoneClock(epoch: clock.epoch, zone: 7_200)))
        #expect(phone.shown == [])
        #expect(phone.dueAfter(app) == [86_400])
    }

    @Test("NOTE-1: what is told late of an hour that comes twice does not come twice")
    func toldLate() {
        let clock = Self.clock("2026-10-24 12:00", berlin)
        var phone = phone(.matching(given { $0.hour = 2 }, repeats: true), by: clock)
        #expect(phone.dueAfter(app) == [14 * 3_600])
        phone.waitUnnoticed(.seconds(14 * 3_600 + 10))
        phone.hear(.timeReached)
        #expect(phone.shown.count == 1)
        #expect(phone.dueAfter(app) == [39 * 3_600])
    }

    @Test(
        "NOTE-1: a fire date comes again at its time of day where the clock is put back, and minutes and hours pass evenly",
        arguments: [
            (.minute, true, "2026-10-25 00:31"), (.hour, true, "2026-10-25 01:30"), (.day, true, "2026-10-26 01:30"),
            (.week, true, "2026-11-01 01:30"), (.month, true, "2026-11-25 01:30"), (.hour, false, "2026-10-25 01:30"),
            (.day, false, "2026-10-26 00:30"), (.month, false, "2026-11-25 00:30"),
        ] as [(RepeatInterval, Bool, String)]
    )
    func fireDate(unit: RepeatInterval, isWall: Bool, next: String) {
        // 02:30 in summer, in Greenwich 00:30.
        let date = second(isWall ? "2026-10-25 02:30" : "2026-10-25 00:30")
        let clock = Self.clock("2026-10-25 00:00", berlin)
        var phone = phone(.date(seconds: date, isWall: isWall, repeats: unit), by: clock)
        #expect(phone.dueAfter(app) == [9_000])
        phone.wait(until: 9_000)
        #expect(phone.shown.count == 1)
        #expect(phone.dueAfter(app) == [second(next) - second("2026-10-24 22:00")])
    }

    @Test("NOTE-1: a fire date that is scheduled in the second of two hours comes the day after")
    func fireDateInTheSecondHour() {
        // 02:10 for the second time.
        let clock = PhoneClock(epoch: second("2026-10-25 01:10") * 1_000_000_000, zone: berlin)
        let trigger = NotificationTrigger.date(seconds: second("2026-10-20 02:30"), isWall: true, repeats: .day)
        let phone = phone(trigger, by: clock)
        #expect(phone.dueAfter(app) == [second("2026-10-26 01:30") - second("2026-10-25 01:10")])
    }

    @Test("NOTE-1: a fire date comes at the time to which the clock is put forward, and at its own again after it")
    func fireDateInAGap() {
        let clock = Self.clock("2026-03-28 02:30", berlin)
        let trigger = NotificationTrigger.date(seconds: second("2026-03-27 02:30"), isWall: true, repeats: .day)
        var phone = phone(trigger, by: clock)
        #expect(phone.dueAfter(app) == [second("2026-03-29 01:00") - second("2026-03-28 01:30")])
        phone.wait(until: 86_400)
        #expect(phone.dueAfter(app) == [second("2026-03-30 00:30") - second("2026-03-28 01:30")])
    }

    // MARK: Zones

    @Test("A zone is found from what it is at each second, with all of its changes")
    func sampled() {
        let start = second("2026-06-01 00:00")
        let found = PhoneZone(name: "Europe/Berlin", around: start) { Int(berlin.offset(at: $0)) }
        #expect(found.offset == 3_600)
        #expect(found.changes == berlin.changes)
        #expect(found.isSame(as: berlin))
        let fixed = PhoneZone(name: "Asia/Kathmandu", around: start) { _ in 20_700 }
        #expect(fixed.changes == [] && fixed.offset(at: start) == 20_700)
        #expect(!fixed.isSame(as: found) && !fixed.isSame(as: PhoneZone(offset: 20_700)))
        #expect(PhoneZone(offset: 60).isSame(as: PhoneZone(offset: 60)))
    }
}
