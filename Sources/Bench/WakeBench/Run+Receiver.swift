import WakeModel

extension Run {
    /// The apps that kept the receiver on, and for how long, in the order of the scenario (LOC-9).
    package var receiverTimes: [(app: AppID, time: Instant.Span)] {
        scenario.apps.indices.compactMap { number in
            let app = AppID(UInt32(number))
            let time = bench.router.receiverTime(of: app, at: max(bench.now, reached))
            return time > .zero ? (app, time) : nil
        }
    }
}
