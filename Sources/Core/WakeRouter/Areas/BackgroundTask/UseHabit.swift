import WakeModel

/// The times of day at which the user opens an app, as they are learnt from its uses (FETCH-4).
struct UseHabit {
    /// A time of day that is expected.
    struct Expected: Equatable {
        var at: Instant
        /// On how many days the app was opened then.
        var days: UInt8
    }

    private static let second: Int64 = 1_000_000_000
    private static let day: Int64 = 86_400 * second

    /// On how many days the app was opened in each part of a day.
    private var days: [UInt8]
    private let slot: Int64
    private let habitDays: UInt8
    private let clock: PhoneClock

    /// - Parameter uses: oldest first.
    init(of uses: [Instant], at now: Instant, by clock: PhoneClock, _ figures: BackgroundTaskFigures) {
        self.clock = clock
        slot = figures.slot.nanoseconds
        habitDays = UInt8(clamping: figures.habitDays)
        let count = Int((Self.day + slot - 1) / slot)
        days = Array(repeating: 0, count: count)
        var lastDay = Array(repeating: Int64.min, count: count)
        for use in uses where now.since(use) <= figures.memory {
            let (number, time) = Self.time(on: clock, at: use)
            let place = Int(time / slot)
            guard lastDay[place] != number else { continue }
            lastDay[place] = number
            if days[place] < .max { days[place] += 1 }
        }
    }

    /// The next time of day, from an instant on, at which the user is expected to open the app; nil when there is no habit.
    func next(from instant: Instant) -> Expected? {
        guard days.contains(where: { $0 >= habitDays }) else { return nil }
        let today = Self.time(on: clock, at: instant).day
        for number in [today, today + 1] {
            for place in days.indices where days[place] >= habitDays {
                let start = instantOf(number, Int64(place) * slot)
                if start >= instant { return Expected(at: start, days: days[place]) }
            }
        }
        return nil
    }

    /// The instant of a time on the wall, in nanoseconds of its day.
    private func instantOf(_ day: Int64, _ time: Int64) -> Instant {
        let (seconds, rest) = time.floored(by: Self.second)
        let wall = day * 86_400 + seconds
        return clock.instant(clock.zone.second(ofWall: wall)).advanced(by: Instant.Span(nanoseconds: rest))
    }

    /// The day that a clock shows, and the nanoseconds of it that have passed.
    private static func time(on clock: PhoneClock, at instant: Instant) -> (day: Int64, time: Int64) {
        let (number, seconds) = clock.wall(instant).floored(by: 86_400)
        return (number, seconds * second + clock.nanoseconds(at: instant).floored(by: second).remainder)
    }
}
