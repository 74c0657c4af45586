import Foundation
import Testing
import WakeDevices
import WakeModel

/// Foundation's calendar says what the model's should find.
@Suite("Calendar triggers beside Foundation's")
struct CalendarOracleTests {
    /// A generator that gives the same numbers for the same seed on every machine.
    private struct Chance: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            return mixed ^ (mixed >> 31)
        }

        /// Once in so many times.
        mutating func once(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
    }

    /// The clock is put forward by an hour, by half an hour and at midnight, back at midnight, twice a year and around Ramadan, or
    /// never.
    private static let zones = [
        "Europe/Berlin", "America/New_York", "America/Santiago", "America/Havana", "Australia/Lord_Howe",
        "Africa/Casablanca", "Africa/Cairo", "Asia/Beirut", "Asia/Kathmandu", "Pacific/Chatham", "Etc/GMT+5",
    ]
    private static let start = 1_769_767_230 as Int64

    private func date(_ second: Int64) -> Date { Date(timeIntervalSince1970: Double(second)) }

    /// Compares the next times of components, one after the other.
    private func compare(_ match: DateMatch, after start: Int64, in name: String, count: Int) throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: name))
        let zone = ZoneSetting.name(name).zone(around: start)
        let known = date(start + 11 * 31_536_000)
        var second = start
        for _ in 0..<count {
            let found = match.next(after: second, in: zone)
            let theirs = calendar.nextDate(
                after: date(second),
                matching: Self.components(match),
                matchingPolicy: .nextTime
            )
            // Later than the zone is known they may be an hour apart.
            if let theirs, theirs > known { return }
            #expect(found.map(date) == theirs, "\(name): \(match) after \(date(second))")
            guard let found, date(found) == theirs else { return }
            second = found
        }
    }

    private static func components(_ match: DateMatch) -> DateComponents {
        func number(_ unit: CalendarUnit) -> Int? { match[unit].map { Int($0) } }
        var components = DateComponents()
        components.year = number(.year)
        components.dayOfYear = number(.dayOfYear)
        components.quarter = number(.quarter)
        components.month = number(.month)
        components.day = number(.day)
        components.hour = number(.hour)
        components.minute = number(.minute)
        components.second = number(.second)
        components.weekday = number(.weekday)
        components.weekdayOrdinal = number(.weekdayOrdinal)
        components.weekOfMonth = number(.weekOfMonth)
        components.weekOfYear = number(.weekOfYear)
        components.yearForWeekOfYear = number(.yearForWeekOfYear)
        return components
    }

    /// Each unit is there once in so many times.
    private static let shares: KeyValuePairs<CalendarUnit, Int> = [
        .year: 10, .month: 3, .day: 3, .hour: 2, .minute: 2, .second: 5, .weekday: 3, .weekdayOrdinal: 10,
        .weekOfMonth: 12, .weekOfYear: 15, .yearForWeekOfYear: 20, .quarter: 12, .dayOfYear: 25,
    ]

    private func anyMatch(_ chance: inout Chance) -> DateMatch {
        var match = DateMatch()
        while match == DateMatch() {
            for (unit, share) in Self.shares where chance.once(in: share) {
                let isYear = unit == .year || unit == .yearForWeekOfYear
                let range = isYear ? 2_025...2_030 : unit.range
                let edges = [range.lowerBound, range.upperBound, 2, 3]
                match[unit] =
                    !isYear && chance.once(in: 3)
                    ? edges.filter { range.contains($0) }.randomElement(using: &chance)
                    : Int64.random(in: range, using: &chance)
            }
        }
        return match
    }

    @Test("NOTE-1: of 400 random components in eleven zones, each comes when Foundation says", arguments: 0..<8)
    func random(part: Int) throws {
        var chance = Chance(state: UInt64(part))
        for _ in 0..<50 {
            let name = Self.zones.randomElement(using: &chance)!
            let zone = ZoneSetting.name(name).zone(around: Self.start)
            var start = Self.start + Int64.random(in: 0..<4 * 31_536_000, using: &chance)
            let changes = zone.changes.filter { $0.at > Self.start }.prefix(8)
            if chance.once(in: 2), let change = changes.randomElement(using: &chance) {
                start = change.at + Int64.random(in: -100_000...100_000, using: &chance)
            }
            if chance.once(in: 3) { start -= start % 3_600 }
            try compare(anyMatch(&chance), after: start, in: name, count: 3)
        }
    }

    @Test("NOTE-1: hours around each change of the clock are found as Foundation finds them", arguments: zones)
    func changes(name: String) throws {
        let zone = ZoneSetting.name(name).zone(around: Self.start)
        for change in zone.changes.filter({ $0.at > Self.start }).prefix(2) {
            for hour in [0, 1, 2, 3, 23] as [UInt8] {
                for minute in [nil, 15, 45] as [UInt8?] {
                    var match = DateMatch()
                    (match.hour, match.minute) = (hour, minute)
                    try compare(match, after: change.at - 90_000, in: name, count: 3)
                }
            }
        }
    }
}
