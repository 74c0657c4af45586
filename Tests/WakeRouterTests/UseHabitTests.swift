import Testing
import WakeModel

@testable import WakeRouter

@Suite("Times of day at which an app is used")
struct UseHabitTests {
    /// Noon of 27 March 2026 in Greenwich; on 29 March at 01:00 there, clocks are put forward in Berlin.
    private static let noon = 1_774_612_800 as Int64
    private static let change = 1_774_746_000 as Int64

    private static var clock: PhoneClock {
        var zone = PhoneZone(offset: 3_600)
        zone.name = "Europe/Berlin"
        zone.changes = [PhoneZone.Change(at: change, offset: 7_200)]
        return PhoneClock(epoch: noon * 1_000_000_000, zone: zone)
    }

    private func instant(_ second: Int64) -> Instant { Self.clock.instant(second) }

    private func habit(of uses: [Int64]) -> UseHabit {
        let figures = Profile.ios17.areas.backgroundTask
        return UseHabit(of: uses.map(instant), at: instant(uses.last ?? 0), by: Self.clock, figures)
    }

    @Test("FETCH-4: a habit is a time on the wall, before the clock is put forward and after it")
    func changedClock() {
        let day = 86_400 as Int64
        // 08:10 on the wall of 28 March, in winter, and of 29 and 30 March, in summer.
        let uses = [Self.noon + 19 * 3_600 + 600, Self.noon + 42 * 3_600 + 600, Self.noon + 66 * 3_600 + 600]
        let habit = habit(of: uses)
        let last = uses[2] - 600
        #expect(habit.next(from: instant(uses[2])) == UseHabit.Expected(at: instant(last + day), days: 3))
        // At 19:00 of the evening before the change 08:00 is twelve hours away.
        let evening = Self.noon + 30 * 3_600
        #expect(habit.next(from: instant(evening))?.at == instant(Self.noon + 42 * 3_600))
    }

    @Test("FETCH-4: a time of the day that was over when the run began is not expected before it")
    func beforeTheRun() {
        let uses = ([19, 42, 66] as [Int64]).map { Self.noon + $0 * 3_600 + 600 }
        let expected = habit(of: uses).next(from: .zero)
        // The run begins at 13:00, and 08:00 is the next morning.
        #expect(expected?.at == instant(Self.noon + 19 * 3_600))
    }
}
