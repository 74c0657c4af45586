/// What a clock is to show; what is left out is looked for as Foundation does it: see ``next(after:in:)``.
package struct DateMatch: Hashable, Codable, Sendable {
    /// 1 to 9999, as ``yearForWeekOfYear``; the ranges of all are those of ``CalendarUnit``.
    package var year: Int32?
    package var month: UInt8?
    package var day: UInt8?
    /// 1 for Sunday to 7.
    package var weekday: UInt8?
    package var hour: UInt8?
    package var minute: UInt8?
    package var second: UInt8?
    /// Which of its weekdays in its month a day is.
    package var weekdayOrdinal: UInt8?
    package var weekOfMonth: UInt8?
    package var weekOfYear: UInt8?
    /// The year that a week belongs to.
    package var yearForWeekOfYear: Int32?
    package var quarter: UInt8?
    package var dayOfYear: UInt16?

    package init() {}

    /// What is to be shown of a unit; nil for anything. Numbers that its field cannot hold are cut to what it can.
    package subscript(unit: CalendarUnit) -> Int64? {
        get {
            switch unit {
            case .year: year.map(Int64.init)
            case .dayOfYear: dayOfYear.map(Int64.init)
            case .quarter: quarter.map(Int64.init)
            case .month: month.map(Int64.init)
            case .day: day.map(Int64.init)
            case .hour: hour.map(Int64.init)
            case .minute: minute.map(Int64.init)
            case .second: second.map(Int64.init)
            case .weekday: weekday.map(Int64.init)
            case .weekdayOrdinal: weekdayOrdinal.map(Int64.init)
            case .weekOfMonth: weekOfMonth.map(Int64.init)
            case .weekOfYear: weekOfYear.map(Int64.init)
            case .yearForWeekOfYear: yearForWeekOfYear.map(Int64.init)
            }
        }
        set {
            let small = newValue.map { UInt8(clamping: $0) }
            switch unit {
            case .year: year = newValue.map { Int32(clamping: $0) }
            case .dayOfYear: dayOfYear = newValue.map { UInt16(clamping: $0) }
            case .quarter: quarter = small
            case .month: month = small
            case .day: day = small
            case .hour: hour = small
            case .minute: minute = small
            case .second: second = small
            case .weekday: weekday = small
            case .weekdayOrdinal: weekdayOrdinal = small
            case .weekOfMonth: weekOfMonth = small
            case .weekOfYear: weekOfYear = small
            case .yearForWeekOfYear: yearForWeekOfYear = newValue.map { Int32(clamping: $0) }
            }
        }
    }

    /// The units that are given, the coarsest first.
    var units: [CalendarUnit] { CalendarUnit.allCases.filter { self[$0] != nil } }

    /// The first second after another at which a clock shows it, as Foundation's `Calendar.nextDate` finds it with the matching
    /// policy `.nextTime`: what is left out is anything where it is coarser than all that is given, and mostly the least where it is
    /// finer. A day that its month lacks is the beginning of the next month, a time at which the clock is put forward is when it
    /// is, and of a time that the clock shows twice the first counts.
    ///
    /// - Parameter second: Seconds since 1970, as the result.
    /// - Returns: nil when no clock shows it any more, when nothing is given, or something out of its range.
    package func next(after second: Int64, in zone: PhoneZone) -> Int64? {
        let units = units
        guard let coarsest = units.first, let finest = units.last,
            units.allSatisfy({ unit in self[unit].map { unit.range.contains($0) } ?? true })
        else { return nil }
        return CalendarSearch(wanted: self, coarsest: coarsest, finest: finest, zone: zone, start: second).found()
    }
}
