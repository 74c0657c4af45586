import Glibc
import WakeAudio
import WakeBench

// What a second of sound costs: the bench that asks for the buffers and adds them up, and the app that renders them.

do {
    let arguments = CommandLine.arguments
    guard (2...3).contains(arguments.count) else {
        throw Failure(description: "usage: AudioBenchmark FOLDER [SECONDS]; the folder holds ToneRadio.app")
    }
    let seconds = arguments.count == 3 ? Int(arguments[2]) : 60
    guard let seconds, (5...3_600).contains(seconds) else {
        throw Failure(description: "give the seconds of sound, 5 to 3600")
    }
    for (clock, length) in [(RunOptions.Clock.virtual, seconds), (.real, min(seconds, 10))] {
        let cost = try Measurement(folder: arguments[1], clock: clock, seconds: length).run()
        print(cost)
    }
} catch {
    let line = Array("AudioBenchmark: \(error)\n".utf8)
    _ = unsafe write(2, line, line.count)
    exit(2)
}

/// Why there is no measurement, in a line.
struct Failure: Error, CustomStringConvertible {
    let description: String
}

/// One run of the radio.
struct Measurement {
    let folder: String
    let clock: RunOptions.Clock
    let seconds: Int

    /// Plays for so long, and says what it cost.
    func run() throws -> String {
        let name = clock == .real ? "real" : "virtual"
        let scenario = "\(folder)/\(name).yaml"
        try write(
            """
            scenario: audio-benchmark
            apps:
              - {bundle: ToneRadio.app, name: radio}
            steps:
              - {at: 0s, launch: radio}
              - {at: 1s, home: radio}
            expect:
              - {app: radio, state: background}
            until: \(seconds)s

            """,
            to: scenario
        )
        var options = RunOptions(scenario: scenario, out: "\(folder)/\(name)")
        options.clock = clock
        options.appFolders = [folder]
        let run = try WakeBench.Run(options)
        var frames = 0
        var buffer = 0
        run.soundHeard {
            frames += $0
            buffer = max(buffer, $0)
        }
        let before = Self.processorTime()
        do { try run.execute() } catch { throw Failure(description: error.message) }
        guard frames > 0, run.driver.judgements.allSatisfy(\.met) else {
            throw Failure(description: "the radio did not play")
        }
        let played = Double(frames) / 48_000
        let after = Self.processorTime()
        let bench = (after.own - before.own) / played * 1_000
        let app = (after.children - before.children) / played * 1_000
        return "\(name) time, \(Self.text(played)) s of sound, buffers of \(buffer) frames: "
            + "bench \(Self.text(bench)) ms and app \(Self.text(app)) ms of CPU per second of sound, "
            + "\(run.lateBuffers.reduce(0) { $0 + $1.count }) late buffers"
    }

    private func write(_ text: String, to path: String) throws {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(description: "\(path) cannot be written") }
        defer { close(file) }
        let bytes = Array(text.utf8)
        guard unsafe Glibc.write(file, bytes, bytes.count) == bytes.count else {
            throw Failure(description: "\(path) cannot be written")
        }
    }

    /// Seconds of CPU so far, in ticks of the kernel: of the process, and of its children that have ended.
    private static func processorTime() -> (own: Double, children: Double) {
        var spent = tms()
        unsafe times(&spent)
        let second = Double(sysconf(Int32(_SC_CLK_TCK)))
        return (
            own: Double(spent.tms_utime + spent.tms_stime) / second,
            children: Double(spent.tms_cutime + spent.tms_cstime) / second
        )
    }

    private static func text(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let cents = hundredths % 100
        return "\(hundredths / 100).\(cents < 10 ? "0" : "")\(cents)"
    }
}
