import WakeModel

/// A day of the Gregorian calendar, counted from 1970-01-01.
struct CivilDay: Equatable {
    var year: Int64
    /// 1 to 12.
    var month: Int64
    /// 1 to 31.
    var day: Int64

    init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// The date of a day: eras of 400 years, whose days are counted from the first of March.
    init(number: Int64) {
        let shifted = number + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * ofYear + 2) / 153
        day = ofYear - (153 * march + 2) / 5 + 1
        month = march < 10 ? march + 3 : march - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The days from 1970-01-01 to it.
    var number: Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let ofEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + ofYear
        return era * 146_097 + ofEra - 719_468
    }

    /// The same day some months later; the last of its month where that is shorter.
    func advanced(months: Int64) -> CivilDay {
        let count = year * 12 + month - 1 + months
        let first = CivilDay(year: count / 12, month: count % 12 + 1, day: 1)
        let next = CivilDay(year: (count + 1) / 12, month: (count + 1) % 12 + 1, day: 1)
        return CivilDay(year: first.year, month: first.month, day: min(day, next.number - first.number))
    }

    /// 1 for Sunday to 7.
    static func weekday(_ number: Int64) -> Int64 {
        // 1970-01-01 was a Thursday.
        let since = (number + 4) % 7
        return (since < 0 ? since + 7 : since) + 1
    }
}

extension DateMatch {
    /// How far ahead is looked: beyond the longest time between two leap days.
    private static let horizon: Int64 = 366 * 9

    /// The first second after another at which a clock shows it, in seconds of that clock since 1970; nil when it never does.
    func next(after seconds: Int64) -> Int64? {
        let secondsOfDay: Int64 = 86_400
        let first = Self.floor(seconds + 1, secondsOfDay)
        for number in first...first + Self.horizon where shows(day: number) {
            let start = number * secondsOfDay
            if let time = time(from: max(0, seconds + 1 - start)) { return start + time }
        }
        return nil
    }

    private static func floor(_ number: Int64, _ divisor: Int64) -> Int64 {
        number >= 0 ? number / divisor : (number - divisor + 1) / divisor
    }

    private func shows(day number: Int64) -> Bool {
        let date = CivilDay(number: number)
        if let year, Int64(year) != date.year { return false }
        if let month, Int64(month) != date.month { return false }
        if let day, Int64(day) != date.day { return false }
        if let weekday, Int64(weekday) != CivilDay.weekday(number) { return false }
        return true
    }

    /// The first second of a day at which it is shown, from one on. What is left out is anything, where something finer is given.
    private func time(from least: Int64) -> Int64? {
        let hours = hour.map { Int64($0)...Int64($0) } ?? (minute != nil || second != nil ? 0...23 : 0...0)
        let minutes = minute.map { Int64($0)...Int64($0) } ?? (second != nil ? 0...59 : 0...0)
        for hour in hours where hour * 3_600 + 3_599 >= least {
            for minute in minutes {
                let time = hour * 3_600 + minute * 60 + Int64(second ?? 0)
                if time >= least { return time }
            }
        }
        return nil
    }
}

extension NotificationTrigger {
    /// When it is due for the first time.
    ///
    /// - Returns: nil when it never is.
    func first(from now: Instant, by clock: PhoneClock) -> Instant? {
        switch self {
        case .now: now
        case .interval(let span, _): now.advanced(by: span)
        case .date(let seconds, let isWall, .never): max(now, clock.instant(seconds, isWall: isWall))
        case .date(let seconds, let isWall, let unit):
            clock.instant(seconds, isWall: isWall) > now
                ? clock.instant(seconds, isWall: isWall)
                : clock.next(unit, of: seconds, isWall: isWall, after: now)
        case .matching(let match, _):
            match.next(after: clock.wall(now)).map { clock.instant($0, isWall: true) }
        }
    }

    /// When it is due again, after it was due; nil when it is not.
    func next(after due: Instant, now: Instant, by clock: PhoneClock) -> Instant? {
        switch self {
        case .now, .date(_, _, .never): return nil
        case .interval(let span, let repeats):
            guard repeats, span > .zero else { return nil }
            let missed = max(0, now.since(due).nanoseconds) / span.nanoseconds
            return Instant(nanoseconds: due.nanoseconds + (missed + 1) * span.nanoseconds)
        case .date(let seconds, let isWall, let unit):
            return clock.next(unit, of: seconds, isWall: isWall, after: now)
        case .matching(let match, let repeats):
            guard repeats else { return nil }
            return match.next(after: clock.wall(now)).map { clock.instant($0, isWall: true) }
        }
    }
}

extension PhoneClock {
    private static let second: Int64 = 1_000_000_000

    /// What the clock on the wall shows, in whole seconds since 1970.
    func wall(_ now: Instant) -> Int64 {
        let passed = nanoseconds(at: now)
        return (passed >= 0 ? passed / Self.second : (passed - Self.second + 1) / Self.second) + Int64(zone)
    }

    /// The instant of a date; one before the run is its beginning, and one that nanoseconds cannot say is never.
    func instant(_ seconds: Int64, isWall: Bool) -> Instant {
        let (date, isFar) = (seconds - (isWall ? Int64(zone) : 0)).multipliedReportingOverflow(by: Self.second)
        let (since, isFarther) = date.subtractingReportingOverflow(epoch)
        return isFar || isFarther ? .distantFuture : Instant(nanoseconds: max(0, since))
    }

    /// When a date comes again that repeats in a unit of the calendar, for the first time after an instant.
    func next(_ unit: RepeatInterval, of seconds: Int64, isWall: Bool, after now: Instant) -> Instant? {
        let fixed: Int64
        switch unit {
        case .never: return nil
        case .minute: fixed = 60
        case .hour: fixed = 3_600
        case .day: fixed = 86_400
        case .week: fixed = 7 * 86_400
        case .month: return next(months: 1, of: seconds, isWall: isWall, after: now)
        case .quarter: return next(months: 3, of: seconds, isWall: isWall, after: now)
        case .year: return next(months: 12, of: seconds, isWall: isWall, after: now)
        }
        let current = isWall ? wall(now) : wall(now) - Int64(zone)
        let rounds = current < seconds ? 0 : (current - seconds) / fixed + 1
        return instant(seconds + rounds * fixed, isWall: isWall)
    }

    private func next(months: Int64, of seconds: Int64, isWall: Bool, after now: Instant) -> Instant? {
        let ofDay = 86_400 as Int64
        let local = isWall ? seconds : seconds + Int64(zone)
        let number = local >= 0 ? local / ofDay : (local - ofDay + 1) / ofDay
        let start = CivilDay(number: number)
        let today = CivilDay(number: wall(now) / ofDay)
        // From a round before today's month on, so that the first one after now is not missed.
        var rounds = max(0, ((today.year - start.year) * 12 + today.month - start.month) / months - 1)
        while true {
            let date = start.advanced(months: rounds * months)
            let at = instant(date.number * ofDay + local - number * ofDay, isWall: true)
            if at > now { return at }
            rounds += 1
        }
    }
}
