/// A day of the Gregorian calendar, counted from 1970-01-01.
package struct CivilDay: Equatable, Sendable {
    package var year: Int64
    /// 1 to 12.
    package var month: Int64
    /// 1 to 31.
    package var day: Int64

    package init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// The date of a day: eras of 400 years, whose days are counted from the first of March.
    package init(number: Int64) {
        let (era, ofEra) = (number + 719_468).floored(by: 146_097)
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * ofYear + 2) / 153
        day = ofYear - (153 * march + 2) / 5 + 1
        month = march < 10 ? march + 3 : march - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The days from 1970-01-01 to it.
    package var number: Int64 {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).floored(by: 400)
        let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let ofEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + ofYear
        return era * 146_097 + ofEra - 719_468
    }

    /// The same day some months later; the last of its month where that is shorter.
    package func advanced(months: Int64) -> CivilDay {
        let first = firstOfMonth(after: months)
        let next = firstOfMonth(after: months + 1)
        return CivilDay(year: first.year, month: first.month, day: min(day, next.number - first.number))
    }

    /// The first day of the month that comes so many months later.
    package func firstOfMonth(after months: Int64) -> CivilDay {
        let (year, month) = (self.year * 12 + self.month - 1 + months).floored(by: 12)
        return CivilDay(year: year, month: month + 1, day: 1)
    }

    /// 1 for Sunday to 7.
    package static func weekday(_ number: Int64) -> Int64 { sinceSunday(number) + 1 }

    /// The days from the latest Sunday to a day. 1970-01-01 was a Thursday.
    static func sinceSunday(_ number: Int64) -> Int64 { (number + 4).floored(by: 7).remainder }

    static func first(ofYear year: Int64) -> Int64 { CivilDay(year: year, month: 1, day: 1).number }

    /// The Sunday with which the weeks of a year begin: that of the week of 1 January.
    static func firstOfWeeks(ofYear year: Int64) -> Int64 {
        let first = first(ofYear: year)
        return first - sinceSunday(first)
    }
}

/// The units of a calendar that a trigger may give, as Foundation has them: the Gregorian calendar of the United States, whose weeks
/// begin on Sunday, and whose first week of a month or a year is the one of its first day.
///
/// They are in the order in which Foundation takes one for coarser than another: weekdays and weeks come after seconds.
package enum CalendarUnit: Int, CaseIterable, Sendable {
    case year
    case dayOfYear
    case quarter
    case month
    case day
    case hour
    case minute
    case second
    case weekday
    /// Which of its weekdays in its month a day is.
    case weekdayOrdinal
    case weekOfMonth
    case weekOfYear
    /// The year that a week belongs to.
    case yearForWeekOfYear

    /// What a trigger may give.
    package var range: ClosedRange<Int64> {
        switch self {
        case .year, .yearForWeekOfYear: 1...9_999
        case .dayOfYear: 1...366
        case .quarter: 1...4
        case .month: 1...12
        case .day: 1...31
        case .hour: 0...23
        case .minute, .second: 0...59
        case .weekday: 1...7
        case .weekdayOrdinal: 1...5
        case .weekOfMonth: 1...6
        case .weekOfYear: 1...53
        }
    }

    /// The unit in whose next round a search goes on.
    var above: CalendarUnit {
        switch self {
        case .year, .dayOfYear, .quarter, .month: .year
        case .day, .weekdayOrdinal, .weekOfMonth: .month
        case .hour: .day
        case .minute: .hour
        case .second: .minute
        case .weekday: .weekOfMonth
        case .weekOfYear, .yearForWeekOfYear: .yearForWeekOfYear
        }
    }

    /// What a day has of it; 0 of hours, minutes and seconds.
    func value(on number: Int64) -> Int64 {
        let date = CivilDay(number: number)
        switch self {
        case .year: return date.year
        case .dayOfYear: return number - CivilDay.first(ofYear: date.year) + 1
        case .quarter: return quarter(on: number, date.year)
        case .month: return date.month
        case .day: return date.day
        case .hour, .minute, .second: return 0
        case .weekday: return CivilDay.weekday(number)
        case .weekdayOrdinal: return (date.day - 1) / 7 + 1
        case .weekOfMonth: return (date.day - 1 + CivilDay.sinceSunday(number - date.day + 1)) / 7 + 1
        case .weekOfYear: return (number - CivilDay.firstOfWeeks(ofYear: yearOfWeek(of: number))) / 7 + 1
        case .yearForWeekOfYear: return yearOfWeek(of: number)
        }
    }

    /// The year of the Saturday of its week.
    private func yearOfWeek(of number: Int64) -> Int64 {
        CivilDay(number: number + 6 - CivilDay.sinceSunday(number)).year
    }

    /// By the days of the year, as Foundation counts it: 31 March, 30 June and 30 September are of the next quarter.
    private func quarter(on number: Int64, _ year: Int64) -> Int64 {
        let march = CivilDay(year: year, month: 3, day: 31).number
        return 1 + Int64([0, 91, 183].count { number >= march + $0 })
    }
}
