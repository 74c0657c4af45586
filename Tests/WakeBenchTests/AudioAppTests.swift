import ChildProcess
import Foundation
import Testing
import WakeAudio
import WakeModel
import WakeReports

@testable import WakeBench

@Suite("Real apps that use sound")
struct AudioAppTests {
    /// A run of a scenario with bundles of the test's own, and what the phone played.
    private final class Stage {
        let bench: BenchProgram
        let run: Run
        private(set) var left: [Float] = []

        init(_ bench: BenchProgram, _ scenario: String, patience: Double? = nil) throws {
            self.bench = bench
            var options = RunOptions(
                scenario: scenario,
                out: bench.folder.appending(path: "out").path
            )
            options.appFolders = [bench.folder.appending(path: "apps").path]
            if let patience { options.patience = patience }
            run = try Run(options)
            run.areas.audio.simulated?.heard = { [unowned self] samples, frames in
                for frame in 0..<frames { left.append(samples[frame * 2]) }
            }
        }

        /// How many buffers of an app came late.
        var underruns: UInt64 { run.bench.router.underruns(of: AppID(0)) }

        func execute() throws {
            try run.execute()
            #expect(run.driver.failure == nil)
            for judgement in run.driver.judgements { #expect(judgement.met, "line \(judgement.line): \(judgement)") }
        }
    }

    private func shipped(_ name: String) -> String {
        BenchProgram.repository.appending(path: "Devices/Scenarios/\(name)").path
    }

    @Test("AUD-1, AUD-6: The radio plays in the background, stops for a call and goes on, to the sample")
    func toneRadio() throws {
        let bench = try BenchProgram()
        try bench.install("ToneRadio")
        let stage = try Stage(bench, shipped("tone-radio.yaml"))
        try stage.execute()
        let start = try #require(stage.left.firstIndex { $0 != 0 }) - 1
        var phase: Float = 0
        let step = 2 * Float.pi * 440 / 48_000
        var wrong = 0
        // Six seconds of it until the call.
        for place in start..<start + 5 * 48_000 {
            if stage.left[place] != 0.5 * sin(phase) { wrong += 1 }
            phase += step
            if phase > 2 * .pi { phase -= 2 * .pi }
        }
        #expect(wrong == 0)
        #expect(stage.left.count > 10 * 48_000)
        #expect(stage.underruns == 0)
        let log = try bench.lines(of: "out/apps/com.example.tone-radio.log").dropFirst()
        #expect(
            log == [
                "playing rate=48000 buffer=85ms", "didEnterBackground playing=true", "interrupted playing=false",
                "interruption ended shouldResume=true", "playing rate=48000 buffer=85ms",
            ]
        )
    }

    @Test("AUD-10: The recorder hears the headset's voice, and silence when the plug is out")
    func recorder() throws {
        let bench = try BenchProgram()
        try bench.install("Recorder")
        let stage = try Stage(bench, shipped("headset-recorder.yaml"))
        try stage.execute()
        let levels = try bench.lines(of: "out/apps/com.example.recorder.log").compactMap { line in
            line.split(separator: "level=").last.flatMap { Int($0) }
        }
        // A sine of half the range is 0.354 on the average.
        #expect(levels.prefix(6).allSatisfy { (352...355).contains($0) })
        #expect(levels.count >= 9)
        #expect(levels.last == 0)
    }

    @Test("A player plays its file to the sample, and a recorder then writes as much of a voice as was asked for")
    func memo() throws {
        let bench = try BenchProgram()
        let bundle = bench.folder.appending(path: "apps/MemoApp.app")
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        try link(try BenchProgram.built("MemoApp"), to: bundle.appending(path: "MemoApp").path)
        try bench.write(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
                <key>CFBundleIdentifier</key><string>test.memo</string>
                <key>CFBundleExecutable</key><string>MemoApp</string>
            </dict></plist>
            """,
            to: "apps/MemoApp.app/Info.plist"
        )
        try bench.write(
            """
            scenario: memo
            devices:
              - {file: \(BenchProgram.repository.path)/Devices/Audio/headset.yaml, name: headset}
            apps:
              - {bundle: MemoApp.app, name: memo, authorizations: {microphone: granted}}
            steps:
              - {at: 0s, plug: headset}
              - {at: 1s, launch: memo}
            until: 20s
            """,
            to: "memo.yaml"
        )
        let stage = try Stage(bench, bench.folder.appending(path: "memo.yaml").path)
        try stage.execute()
        let start = try #require(stage.left.firstIndex { $0 != 0 })
        let heard = stage.left[start..<start + 48_000]
        let wrong = heard.enumerated().first { $1 != Float($0 % 1_000 + 1) / 32_768 }
        #expect(wrong == nil)
        #expect(stage.left[(start + 48_000)...].allSatisfy { $0 == 0 })
        let log = try bench.lines(of: "out/apps/test.memo.log")
        #expect(log.prefix(3) == ["play true true 1.0", "played true false 0.0", "record true true"])
        #expect(log.suffix(1) == ["deleted true true"])
        let recorded = try #require(log.dropFirst(3).first).split(separator: " ")
        #expect(recorded.prefix(3) == ["recorded", "true", "24000"])
        // A sine of half the range is 0.354 on the average.
        #expect(try (340...360).contains(#require(recorded.last.flatMap { Int($0) })))
    }

    private func soundApp(_ behaviour: String, until end: String = "2s", in bench: BenchProgram) throws {
        let source = BenchProgram.repository.appending(path: "Tests/Support/SoundApp/sound.py")
        let text = try String(contentsOf: source, encoding: .utf8)
        try bench.makeApp(
            "Sound",
            "test.sound",
            text: text.replacing("BEHAVIOUR = \"plays\"", with: "BEHAVIOUR = \"\(behaviour)\"")
        )
        try bench.write(
            """
            scenario: sound
            apps:
              - {bundle: Sound.app, name: sound}
            steps:
              - {at: 0s, launch: sound}
            until: \(end)
            """,
            to: "sound.yaml"
        )
    }

    private func play(_ behaviour: String, until end: String = "2s", patience: Double? = nil) throws -> Stage {
        let bench = try BenchProgram()
        try soundApp(behaviour, until: end, in: bench)
        let stage = try Stage(bench, bench.folder.appending(path: "sound.yaml").path, patience: patience)
        try stage.execute()
        return stage
    }

    @Test(
        "An app in another language plays by the memory alone, and each of its samples arrives once and in order",
        .enabled(if: BenchProgram.python, "needs /usr/bin/python3")
    )
    func otherLanguage() throws {
        let stage = try play("plays")
        let start = try #require(stage.left.firstIndex { $0 == -0.5 })
        let heard = stage.left[start...]
        #expect(heard.count > 48_000)
        let wrong = heard.enumerated().filter { $1 != (Float($0 % 4_096) - 2_048) / 4_096 }
        #expect(wrong.isEmpty)
        #expect(stage.underruns == 0)
    }

    @Test(
        "AUD-11: A buffer that is not answered within the patience is an underrun, and the sound goes on",
        .enabled(if: BenchProgram.python, "needs /usr/bin/python3")
    )
    func lateBuffer() throws {
        // It is not waited for until it answers the next one, so that on a busy machine the gap is longer.
        let stage = try play("late", until: "1m", patience: 1)
        #expect(stage.underruns >= 1)
        let start = try #require(stage.left.firstIndex { $0 == -0.5 })
        // Four buffers, a gap of those that ran dry, and then what comes next.
        let rest = stage.left[(start + 4 * 1_024)...]
        let gap = rest.prefix { $0 == 0 }
        #expect(gap.count == Int(stage.underruns) * 1_024)
        #expect(rest.dropFirst(gap.count).first == -0.5)
    }

    @Test(
        "Positions that cannot be end the stream and are noted, and the bench goes on",
        .enabled(if: BenchProgram.python, "needs /usr/bin/python3")
    )
    func hostile() throws {
        let stage = try play("hostile", patience: 1)
        #expect(stage.run.bench.router.state(of: AppID(0)) == .active)
        #expect(stage.run.areas.audio.simulated?.sharing == [])
        let outcomes = try stage.bench.lines(of: "out/outcomes.ndjson").joined()
        #expect(outcomes.contains("positions cannot be"))
        let decisions = try stage.bench.lines(of: "out/decisions.ndjson").joined()
        #expect(decisions.contains("\"kind\":\"audio-stopped\""))
    }

    @Test(
        "An app that dies as it plays frees its memory",
        .enabled(if: BenchProgram.python, "needs /usr/bin/python3")
    )
    func dies() throws {
        let stage = try play("dies")
        #expect(stage.run.bench.router.state(of: AppID(0)) == .notRunning)
        #expect(stage.run.areas.audio.simulated?.sharing == [])
    }
}
