import Glibc
import Testing
import WakeSystem

@Suite("Clocks")
struct ClocksTests {
    @Test("A time of day that nanoseconds cannot say is the latest or the earliest that they can, and no fault")
    func saturation() {
        func nanoseconds(_ seconds: Int, _ rest: Int = 0) -> Int64 {
            WallClock.nanoseconds(of: timespec(tv_sec: seconds, tv_nsec: rest))
        }
        #expect(nanoseconds(1_767_225_600, 250) == 1_767_225_600_000_000_250)
        // 2262-04-11, the last second that is whole, and the next one; 2262-05-01.
        #expect(nanoseconds(9_223_372_036, 854_775_807) == .max)
        #expect(nanoseconds(9_223_372_036, 999_999_999) == .max)
        #expect(nanoseconds(9_225_100_800) == .max)
        #expect(nanoseconds(.max, 999_999_999) == .max)
        #expect(nanoseconds(-1, 500_000_000) == -500_000_000)
        #expect(nanoseconds(.min) == .min)
    }
}
