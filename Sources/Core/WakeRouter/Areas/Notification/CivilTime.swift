import WakeModel

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
        case .matching(let match, _): clock.next(match, after: now)
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
            // A moment after an hour that the clock shows twice has begun, Foundation takes the second one for the next.
            let next = clock.next(match, after: due)
            return next.map { $0 > now } ?? true ? next : clock.next(match, after: now)
        }
    }

    /// When it is due by another clock than the one it was due by. What comes once keeps the time that the wall was to show then, and
    /// comes at once where that is past; what comes again is looked for anew.
    func due(by clock: PhoneClock, from now: Instant, before: (due: Instant, clock: PhoneClock)) -> Instant {
        switch self {
        case .now, .interval: return before.due
        case .date: return first(from: now, by: clock) ?? before.due
        case .matching(_, let repeats):
            if repeats, let due = first(from: now, by: clock) { return due }
            return max(now, clock.instant(before.clock.wall(before.due), isWall: true))
        }
    }
}

extension PhoneClock {
    /// Seconds since 1970, or before it: farther dates stand for this one.
    private static let farthest: Int64 = 1 << 40

    /// The instant of a date; one before the run is its beginning, and one that nanoseconds cannot say is never.
    func instant(_ seconds: Int64, isWall: Bool) -> Instant {
        let second = isWall ? zone.second(ofWall: seconds) : seconds
        return max(.zero, instant(second))
    }

    /// When the clock shows something for the first time after an instant.
    func next(_ match: DateMatch, after instant: Instant) -> Instant? {
        match.next(after: seconds(at: instant), in: zone).map { self.instant($0, isWall: false) }
    }

    /// When a date comes again that repeats in a unit of the calendar, for the first time after an instant.
    func next(_ unit: RepeatInterval, of date: Int64, isWall: Bool, after now: Instant) -> Instant? {
        let date = min(max(date, -Self.farthest), Self.farthest)
        // Where the clock is put forward or back, days and weeks on the wall have other lengths, and minutes and hours have not.
        let began = isWall ? zone.second(ofWall: date) : date
        switch unit {
        case .never: return nil
        case .minute: return next(every: 60, from: began, isWall: false, after: now)
        case .hour: return next(every: 3_600, from: began, isWall: false, after: now)
        case .day: return next(every: 86_400, from: date, isWall: isWall, after: now)
        case .week: return next(every: 7 * 86_400, from: date, isWall: isWall, after: now)
        case .month: return next(months: 1, of: date, isWall: isWall, after: now)
        case .quarter: return next(months: 3, of: date, isWall: isWall, after: now)
        case .year: return next(months: 12, of: date, isWall: isWall, after: now)
        }
    }

    private func next(every length: Int64, from date: Int64, isWall: Bool, after now: Instant) -> Instant {
        let current = isWall ? wall(now) : seconds(at: now)
        var rounds = current < date ? 0 : (current - date) / length + 1
        while true {
            let at = instant(date + rounds * length, isWall: isWall)
            // On the wall a time may be over that it is to show again.
            if at > now { return at }
            rounds += 1
        }
    }

    private func next(months: Int64, of date: Int64, isWall: Bool, after now: Instant) -> Instant {
        // A date that is the same everywhere keeps its time in Greenwich, and has its day by the calendar on the wall.
        let ahead = isWall ? 0 : zone.offset(at: date)
        let (number, time) = (date + ahead).floored(by: 86_400)
        let start = CivilDay(number: number)
        let today = CivilDay(number: wall(now).floored(by: 86_400).quotient)
        // From a round before today's month on, so that the first one after now is not missed.
        var rounds = max(0, ((today.year - start.year) * 12 + today.month - start.month) / months - 1)
        while true {
            let date = start.advanced(months: rounds * months)
            let at = instant(date.number * 86_400 + time - ahead, isWall: isWall)
            if at > now { return at }
            rounds += 1
        }
    }
}
