import ChildProcess
import Foundation
import SoundCardStandIn
import Testing
import WakeDevices
import WakeModel

@testable import WakeBench

@Suite("Real apps on a sound card", .serialized)
struct SoundCardTests {
    /// A folder with the radio, and a scenario that begins when it plays.
    private func stage(_ steps: [String], expect: [String]) throws -> BenchProgram {
        let bench = try BenchProgram()
        let bundle = bench.folder.appending(path: "apps/ToneRadio.app")
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        let source = BenchProgram.repository.appending(path: "Sources/Examples/ToneRadio/Info.plist")
        for file in [URL(filePath: try BenchProgram.built("ToneRadio")), source] {
            try link(file.path, to: bundle.appending(path: file.lastPathComponent).path)
        }
        let lines =
            [
                "scenario: card", "apps:", "  - {bundle: ToneRadio.app, name: radio}", "steps:",
                "  - {at: 0, launch: radio}",
                "  - {when: {app: radio, kind: audio-started}, within: 60s, note: it plays}",
            ] + steps + ["expect:"] + expect
        try bench.write(lines.joined(separator: "\n") + "\n", to: "card.yaml")
        return bench
    }

    private func floats(_ bytes: [UInt8]) -> [Float] {
        stride(from: 0, to: bytes.count - 3, by: 4).map { start in
            Float(bitPattern: bytes[start..<(start + 4)].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
        }
    }

    @Test("AUD-1: What the radio plays in the foreground and in the background comes out of the card, to the sample")
    func plays() throws {
        let card = try SoundCardStandIn()
        let bench = try stage(
            ["  - {after: 500ms, home: radio}", "  - {after: 1s, note: the end}"],
            expect: ["  - {app: radio, kind: audio-in-background, reason: PlaysOn, count: 1}"]
        )
        var options = RunOptions(
            scenario: bench.folder.appending(path: "card.yaml").path,
            out: bench.folder.appending(path: "out").path
        )
        options.appFolders = [bench.folder.appending(path: "apps").path]
        options.backends = [BackendChoice(source: .audio, word: "alsa")]
        options.soundCard = card.paced()
        let run = try Run(options)
        try run.execute()
        #expect(run.driver.failure == nil)
        for judgement in run.driver.judgements { #expect(judgement.met, "line \(judgement.line): \(judgement)") }

        let samples = floats(try card.played())
        let left = stride(from: 0, to: samples.count, by: 2).map { samples[$0] }
        // The first sample of a sine is zero.
        let start = try #require(left.firstIndex { $0 != 0 }) - 1
        var phase: Float = 0
        let step = 2 * Float.pi * 440 / 48_000
        var wrong = 0
        for place in start..<start + 48_000 {
            if left[place] != 0.5 * sin(phase) { wrong += 1 }
            phase += step
            if phase > 2 * .pi { phase -= 2 * .pi }
        }
        #expect(wrong == 0)
    }

    @Test("A sound card that is pulled out as the radio plays is a route change for it, and the run goes on")
    func removed() throws {
        let card = try SoundCardStandIn()
        let bench = try stage(
            [
                "  - {when: {app: radio, kind: audio-route-changed}, within: 60s, note: the card has gone}",
                "  - {after: 200ms, note: the end}",
            ],
            expect: [
                "  - {app: radio, kind: audio-route-changed, verdict: foreground-deliver, count: 1}",
                "  - {app: radio, state: active}",
            ]
        )
        let process = try bench.start([
            "run", "card.yaml", "--backend", "audio=alsa", "--sound-card", card.paced(), "--apps", "apps",
            "--out", "out",
        ])
        let name = "out/apps/com.example.tone-radio.log"
        let end = Date().addingTimeInterval(BenchProgram.patience)
        while try !bench.lines(of: name).contains(where: { $0.hasPrefix("playing") }), process.isRunning, Date() < end {
            moment(milliseconds: 2)
        }
        card.unplug()
        process.waitUntilExit()
        let said = try bench.lines(of: "stdout").joined(separator: "\n")
        #expect(process.terminationStatus == 0, "\(said)")
        let log = try bench.lines(of: name)
        #expect(log.contains("route changed reason=2 output=nowhere"))
    }

    @Test("Without the sound card the run is refused with 12, and the line says what to do")
    func missing() throws {
        let bench = try stage([], expect: ["  - {app: radio, state: active}"])
        let (code, errors) = try bench.run([
            "run", "card.yaml", "--backend", "audio=alsa", "--sound-card", "hw:No,7", "--apps", "apps", "--out", "out",
        ])
        #expect(code == 12)
        #expect(errors.contains("audio=alsa: sound card hw:No,7: "))
        #expect(errors.split(separator: "\n").count == 1)
    }
}
