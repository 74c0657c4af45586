import WakeAudio
import WakeModel
import WakeReports

/// What a caller may want to know of a run's sound.
extension Run {
    /// Tells of each buffer that the simulated sound card plays, with its frames.
    package func soundHeard(_ heard: @escaping (Int) -> Void) {
        (audio as? SimulatedAudio)?.heard = { _, frames in heard(frames) }
    }

    /// The apps that silence alone kept running in the background, and how long, in the order of the scenario (AUD-4).
    package var silentApps: [(app: String, time: Instant.Span)] {
        scenario.apps.enumerated().compactMap { number, app in
            let time = bench.router.silence(of: AppID(UInt32(number)), at: bench.now)
            return time == .zero ? nil : (app.name, time)
        }
    }

    /// Leaves a note for each of them in the logs, so that every report of the run has it.
    func noteSilence() {
        for number in scenario.apps.indices {
            let app = AppID(UInt32(number))
            let time = bench.router.silence(of: app, at: bench.now)
            if time > .zero {
                recorder.note("silence alone kept it running for \(LogTime.text(time)) (AUD-4)", of: app)
            }
        }
    }

    /// The apps whose buffers came late, and how many, in the order of the scenario (AUD-11).
    package var lateBuffers: [(app: String, count: UInt64)] {
        scenario.apps.enumerated().compactMap { number, app in
            let count = bench.router.underruns(of: AppID(UInt32(number)))
            return count == 0 ? nil : (app.name, count)
        }
    }
}
