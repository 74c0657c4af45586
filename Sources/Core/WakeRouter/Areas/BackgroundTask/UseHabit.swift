import WakeModel

/// The times of day at which the user opens an app, as they are learnt from its uses (FETCH-4).
struct UseHabit {
    /// A time of day that is expected.
    struct Expected: Equatable {
        var at: Instant
        /// On how many days the app was opened then.
        var days: UInt8
    }

    private static let day: Int64 = 86_400_000_000_000

    /// On how many days the app was opened in each part of a day.
    private var days: [UInt8]
    private let slot: Int64
    private let habitDays: UInt8
    /// Nanoseconds from a midnight of the phone's clock to instant zero.
    private let shift: Int64

    /// - Parameter uses: oldest first.
    init(of uses: [Instant], at now: Instant, by clock: PhoneClock, _ figures: BackgroundTaskFigures) {
        slot = figures.slot.nanoseconds
        habitDays = UInt8(clamping: figures.habitDays)
        shift = Self.modulo(clock.epoch &+ Int64(clock.zone) &* 1_000_000_000, Self.day)
        let count = Int((Self.day + slot - 1) / slot)
        days = Array(repeating: 0, count: count)
        var lastDay = Array(repeating: Int64.min, count: count)
        for use in uses where now.since(use) <= figures.memory {
            let passed = shift &+ use.nanoseconds
            let place = Int(Self.modulo(passed, Self.day) / slot)
            let number = passed / Self.day
            guard lastDay[place] != number else { continue }
            lastDay[place] = number
            if days[place] < .max { days[place] += 1 }
        }
    }

    /// The next time of day, from an instant on, at which the user is expected to open the app; nil when there is no habit.
    func next(from instant: Instant) -> Expected? {
        guard days.contains(where: { $0 >= habitDays }) else { return nil }
        let passed = shift &+ instant.nanoseconds
        let midnight = instant.nanoseconds &- Self.modulo(passed, Self.day)
        for offset in [0, Self.day] {
            for place in days.indices where days[place] >= habitDays {
                let start = Instant(nanoseconds: midnight &+ offset &+ Int64(place) * slot)
                if start >= instant { return Expected(at: start, days: days[place]) }
            }
        }
        return nil
    }

    private static func modulo(_ value: Int64, _ divisor: Int64) -> Int64 {
        let rest = value % divisor
        return rest < 0 ? rest + divisor : rest
    }
}
