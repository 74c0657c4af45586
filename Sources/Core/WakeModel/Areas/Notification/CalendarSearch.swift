/// Looks for the next time at which a clock shows what is given, and finds what Foundation finds, oddities included: apps and
/// nextTriggerDate count on them.
///
/// A round begins at some second, and goes unit by unit, from the year on, to the first time that shows each. Where the outcome does not
/// show all, there may be no such time in the round, such as 31 June: then the time in its place is taken, or the next round begins.
/// All times are seconds since 1970.
struct CalendarSearch {
    let wanted: DateMatch
    /// Of the units that are given.
    let coarsest: CalendarUnit
    let finest: CalendarUnit
    let zone: PhoneZone
    let start: Int64

    /// After so many rounds Foundation gives up as well.
    private static let rounds = 101

    /// What a round has come to.
    private struct Outcome {
        var at: Int64
        /// It stands for a time that there is not.
        var isSubstitute = false
    }

    func found() -> Int64? {
        var from = start
        for _ in 0..<Self.rounds {
            let match = completed(from)
            let outcome = corrected(Outcome(at: first(from, match)), from, match)
            if let outcome, outcome.at > start {
                let others = differences(outcome.at, wanted)
                // Foundation never minds the quarter.
                if others.isEmpty || outcome.isSubstitute || others.contains(.quarter) { return outcome.at }
            }
            from = next(from, outcome?.at)
        }
        return nil
    }

    // MARK: Rounds

    /// What is looked for in a round: a month without a year is this year's or the next one's, and a day without a month is this
    /// month's as long as it is to come.
    private func completed(_ from: Int64) -> DateMatch {
        var match = wanted
        let today = CivilDay(number: day(from))
        if coarsest == .month {
            match[.year] = today.year
            if from > resolved(match) { match[.year] = today.year + 1 }
        } else if coarsest == .day, let day = wanted[.day], day > today.day {
            match[.month] = today.month
        }
        return match
    }

    /// The one time that a year and a month with other units stand for, finer ones before coarser ones.
    private func resolved(_ match: DateMatch) -> Int64 {
        let month = match[.month] ?? 1
        var year = match[.yearForWeekOfYear] ?? match[.year] ?? 1
        let weekday = match[.weekday].map { $0 - 1 }
        var first: Int64 { CivilDay(year: year, month: month, day: 1).number }
        let number: Int64
        if let day = match[.day] {
            if match.yearForWeekOfYear != nil, let week = match.weekOfYear {
                if month == 1, week >= 52 { year += 1 }
                if month > 1, week == 1 { year -= 1 }
            }
            number = first + day - 1
        } else if let weekday, let ordinal = match[.weekdayOrdinal] {
            number = first + (weekday - CivilDay.sinceSunday(first)).floored(by: 7).remainder + 7 * (ordinal - 1)
        } else if let weekday, let week = match[.weekOfYear] {
            number = CivilDay.firstOfWeeks(ofYear: year) + weekday + 7 * (week - 1)
        } else if let weekday, let week = match[.weekOfMonth] {
            number = first - CivilDay.sinceSunday(first) + weekday + 7 * (week - 1)
        } else if match.yearForWeekOfYear != nil {
            number = CivilDay.firstOfWeeks(ofYear: year) + (weekday ?? 0) + 7 * ((match[.weekOfYear] ?? 1) - 1)
        } else {
            number = first
        }
        let time = (match[.hour] ?? 0) * 3_600 + (match[.minute] ?? 0) * 60 + (match[.second] ?? 0)
        return zone.second(ofWall: number * 86_400 + time)
    }

    /// Where the round after one begins.
    private func next(_ from: Int64, _ found: Int64?) -> Int64 {
        let border = end(of: coarsest.above, from)
        guard let found else { return border }
        // The clock shows the hour once more.
        if found < start, coarsest == .hour, value(.hour, found) == value(.hour, found + 3_600) { return found + 3_600 }
        return found < border ? border : beyond(found)
    }

    /// One finest unit after what a round has found beyond its end.
    private func beyond(_ found: Int64) -> Int64 {
        let days: Int64
        switch finest {
        case .second: return found + 1
        case .minute: return found + 60
        case .hour: return found + 3_600
        case .weekdayOrdinal, .weekOfMonth, .weekOfYear: days = 7
        case .yearForWeekOfYear:
            let year = value(.yearForWeekOfYear, found)
            days = CivilDay.firstOfWeeks(ofYear: year + 1) - CivilDay.firstOfWeeks(ofYear: year)
        default: days = 1
        }
        return zone.second(ofWall: zone.wall(at: found) + days * 86_400)
    }

    /// The beginning of the next year, month, week, day, hour or minute.
    private func end(of unit: CalendarUnit, _ second: Int64) -> Int64 {
        let number = day(second)
        switch unit {
        case .minute: return beginning(ofMinute: second) + 60
        case .hour: return beginning(ofHour: second) + 3_600
        case .day: return beginning(ofDay: number + 1)
        case .weekOfMonth: return beginning(ofDay: number + 7 - CivilDay.sinceSunday(number))
        case .month: return beginning(ofDay: CivilDay(number: number).firstOfMonth(after: 1).number)
        case .yearForWeekOfYear: return beginning(ofDay: CivilDay.firstOfWeeks(ofYear: unit.value(on: number) + 1))
        default: return beginning(ofDay: CivilDay.first(ofYear: CivilDay(number: number).year + 1))
        }
    }

    // MARK: Substitutes

    /// What is to be taken in place of what a round has found; nil for nothing.
    private func corrected(_ outcome: Outcome, _ from: Int64, _ match: DateMatch) -> Outcome? {
        let others = differences(outcome.at, match)
        guard let first = others.first, !others.contains(.quarter) else { return outcome }
        if others == [.hour], let forward = forward(outcome.at) { return Outcome(at: forward, isSubstitute: true) }
        switch first.above {
        case .year:
            guard match.day != nil, match.month != nil, others.contains(.month) || others.contains(.day) else {
                return outcome
            }
            return substitute(from, match)
        case .month where value(.month, outcome.at) == 2:
            return Outcome(at: end(of: .month, outcome.at), isSubstitute: true)
        default:
            return Outcome(at: self.first(end(of: first.above, from), wanted))
        }
    }

    /// When the clock is put forward in the hour of a second, or was just before it.
    private func forward(_ second: Int64) -> Int64? {
        let this = beginning(ofHour: second)
        let (before, hour, after) = (value(.hour, this - 1), value(.hour, this), value(.hour, this + 3_600))
        if after - hour > 1 || hour == 23 && after > 0 { return this + 3_600 }
        return hour - before > 1 || before == 23 && hour > 0 ? this : nil
    }

    /// A day that its month lacks: the beginning of the next month, with what else is given; of 29 February in some quarter, that day
    /// of the next leap year.
    private func substitute(_ from: Int64, _ match: DateMatch) -> Outcome? {
        let today = CivilDay(number: day(from))
        guard let month = match[.month], today.month != month || today.day != match[.day] else { return nil }
        if wanted.month == 2 {
            let leapYear = today.year + 4 - today.year.floored(by: 4).remainder
            let leapDay = first(beginning(ofDay: CivilDay.first(ofYear: leapYear)), match)
            if differences(leapDay, match).isEmpty { return Outcome(at: leapDay) }
        }
        var other = match
        other[.year] = max(match[.year] ?? today.year, today.year)
        other[.month] = month % 12 + 1
        other[.day] = 1
        let found = first(start, other)
        guard differences(found, other).isEmpty else { return nil }
        return Outcome(at: beginning(ofDay: day(found)), isSubstitute: true)
    }

    // MARK: Unit by unit

    /// The first time from a second on that shows what is given, as far as one unit does not undo what the one before has found.
    private func first(_ from: Int64, _ match: DateMatch) -> Int64 {
        var walk = DayWalk(number: day(from))
        walk.passYears(match)
        walk.passWeeksAndDays(match)
        var second = walk.hasMoved ? beginning(ofDay: walk.number) : from
        if let hour = match[.hour] { second = beginning(ofHour: hour, second) }
        if let minute = match[.minute] {
            second = beginning(ofMinute: second)
            while value(.minute, second) != minute { second += 60 }
        }
        if let wanted = match[.second] { second += (wanted - value(.second, second)).floored(by: 60).remainder }
        return second
    }

    /// The beginning of the next hour of a number, or of this one. Where the clock is put forward past it, the hour before it.
    private func beginning(ofHour wanted: Int64, _ from: Int64) -> Int64 {
        var hour = value(.hour, from)
        let morning = beginning(ofDay: day(from))
        // A day that the clock is put forward at has no midnight.
        if wanted == 0, hour == value(.hour, morning), hour != 0 { return morning }
        if hour == wanted { return beginning(ofHour: from) }
        var second = from
        while hour != wanted {
            let this = beginning(ofHour: second)
            let before = hour
            hour = value(.hour, this + 3_600)
            let isForward = hour - before == 2 || before == 23 && hour == 1
            if isForward { hour -= 1 }
            second = isForward ? this : this + 3_600
        }
        return second
    }

    /// What a second shows otherwise than is given, the coarsest first.
    private func differences(_ second: Int64, _ match: DateMatch) -> [CalendarUnit] {
        match.units.filter { match[$0] != value($0, second) }
    }

    private func value(_ unit: CalendarUnit, _ second: Int64) -> Int64 {
        let (number, time) = zone.wall(at: second).floored(by: 86_400)
        return switch unit {
        case .hour: time / 3_600
        case .minute: time / 60 % 60
        case .second: time % 60
        default: unit.value(on: number)
        }
    }

    private func day(_ second: Int64) -> Int64 { zone.wall(at: second).floored(by: 86_400).quotient }
    private func beginning(ofDay number: Int64) -> Int64 { zone.second(ofWall: number * 86_400) }
    private func beginning(ofMinute second: Int64) -> Int64 { second - second.floored(by: 60).remainder }

    private func beginning(ofHour second: Int64) -> Int64 {
        second - zone.wall(at: second).floored(by: 3_600).remainder
    }
}

/// Goes from a day to those that show what is given.
private struct DayWalk {
    private(set) var number: Int64
    /// It is the beginning of the day that counts, and no time in it.
    private(set) var hasMoved = false

    init(number: Int64) { self.number = number }

    mutating func passYears(_ match: DateMatch) {
        if let year = match[.year], shows(otherwise: .year, match) { go(to: CivilDay.first(ofYear: year)) }
        if let year = match[.yearForWeekOfYear], shows(otherwise: .yearForWeekOfYear, match) {
            go(to: CivilDay.firstOfWeeks(ofYear: year))
        }
        if let quarter = match[.quarter] {
            go(to: CivilDay(year: CivilDay(number: number).year, month: 3 * quarter - 2, day: 1).number)
        }
        while shows(otherwise: .weekOfYear, match) { go(to: nextSunday) }
        while shows(otherwise: .dayOfYear, match) { go(to: number + 1) }
        while shows(otherwise: .month, match) { go(to: nextMonth) }
    }

    mutating func passWeeksAndDays(_ match: DateMatch) {
        while shows(otherwise: .weekOfMonth, match) {
            // The first week begins with its month.
            go(to: match.weekOfMonth == 1 ? min(nextSunday, nextMonth) : nextSunday)
        }
        if shows(otherwise: .weekdayOrdinal, match) {
            go(to: number + 1)
            while shows(otherwise: .weekdayOrdinal, match) || shows(otherwise: .weekday, match) { go(to: number + 1) }
        }
        while shows(otherwise: .weekday, match) { go(to: number + 1) }
        guard match.day != nil else { return }
        go(to: number)
        let month = CivilDay(number: number).month
        while shows(otherwise: .day, match) {
            // Not past a whole month that lacks the day.
            if abs(CivilDay(number: number + 1).month - month) >= 2 { return }
            go(to: number + 1)
        }
    }

    private var nextSunday: Int64 { number + 7 - CivilDay.sinceSunday(number) }
    private var nextMonth: Int64 { CivilDay(number: number).firstOfMonth(after: 1).number }

    private func shows(otherwise unit: CalendarUnit, _ match: DateMatch) -> Bool {
        match[unit].map { $0 != unit.value(on: number) } ?? false
    }

    private mutating func go(to number: Int64) {
        self.number = number
        hasMoved = true
    }
}
