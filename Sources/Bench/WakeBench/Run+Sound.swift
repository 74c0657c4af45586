import WakeAudio
import WakeModel

/// What a caller may want to know of a run's sound.
extension Run {
    /// Tells of each buffer that the simulated sound card plays, with its frames.
    package func soundHeard(_ heard: @escaping (Int) -> Void) {
        (audio as? SimulatedAudio)?.heard = { _, frames in heard(frames) }
    }

    /// The apps whose buffers came late, and how many, in the order of the scenario (AUD-11).
    package var lateBuffers: [(app: String, count: UInt64)] {
        scenario.apps.enumerated().compactMap { number, app in
            let count = bench.router.underruns(of: AppID(UInt32(number)))
            return count == 0 ? nil : (app.name, count)
        }
    }
}
