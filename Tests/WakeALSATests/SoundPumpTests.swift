import Glibc
import SoundCardStandIn
import Testing
import WakeSystem
@testable import WakeALSA

@Suite("The pump between apps and a sound card", .serialized)
struct SoundPumpTests {
    @Test("What an app renders arrives in the file plug-in bit by bit, after one buffer of silence")
    func file() throws {
        let card = try SoundCardStandIn()
        let stage = try PumpStage()
        try stage.begin(playing: SoundPump.End(card.file, .short))
        stage.pump?.run([.playback])
        // Periods are counted by the pump's thread, edges are told on the loop, which may come later.
        #expect(try stage.wait { stage.frames.periods >= 20 && !stage.edges.isEmpty })
        stage.pump?.stop()
        let bytes = try card.played()
        #expect(bytes.prefix(960 * 8).allSatisfy { $0 == 0 })
        #expect(sounds(bytes, .float32) == stage.frames.rendered)
        #expect(stage.edges.first == .started(.playback))
    }

    @Test("A PCM that keeps no time is fed in time all the same")
    func paces() throws {
        let stage = try PumpStage()
        try stage.begin(playing: SoundPump.End("null", .short))
        let began = MonotonicClock.now()
        stage.pump?.run([.playback])
        #expect(try stage.wait { stage.frames.periods >= 60 })
        // 60 periods are 300 ms, of which some 40 pass before the plug-in is found out.
        #expect(MonotonicClock.now() - began > 240_000_000)
    }

    @Test("A card plays all that an app renders, bit by bit", arguments: [SoundCardStandIn.Format.float, .signed16])
    func plays(format: SoundCardStandIn.Format) throws {
        let card = try SoundCardStandIn()
        let stage = try PumpStage()
        try stage.begin(playing: SoundPump.End(card.paced(format), .short))
        stage.pump?.run([.playback])
        #expect(try stage.wait { stage.frames.periods >= 40 })
        stage.pump?.stop()
        let played = sounds(try card.played(), format == .float ? .float32 : .signed16)
        #expect(played == stage.frames.rendered)
    }

    @Test("What a card hears arrives bit by bit", arguments: [SoundCardStandIn.Format.float, .signed16])
    func records(format: SoundCardStandIn.Format) throws {
        let card = try SoundCardStandIn()
        let numbers = (0..<9_600).map(CountedFrames.sample)
        let sampleFormat: SampleFormat = format == .float ? .float32 : .signed16
        try card.hear(numbers.flatMap { bytes($0, sampleFormat) })
        let stage = try PumpStage()
        try stage.begin(recording: SoundPump.End(card.paced(format), .short))
        stage.pump?.run([.capture])
        #expect(try stage.wait { stage.frames.heard.count >= 9_600 && !stage.edges.isEmpty })
        stage.pump?.stop()
        #expect(stage.edges.first == .started(.capture))
        // A machine that is busy may miss what a card hears, and then says so.
        if !stage.edges.contains(where: { if case .ranDry = $0 { true } else { false } }) {
            #expect(Array(stage.frames.heard.prefix(9_600)) == numbers)
        }
    }

    @Test(
        "AUD-11: A card that is not fed in time runs dry, which is told and counted, and goes on without losing a sample"
    )
    func runsDry() throws {
        let card = try SoundCardStandIn()
        let stage = try PumpStage(stallAt: 10)
        try stage.begin(playing: SoundPump.End(card.paced(), .short))
        stage.pump?.run([.playback])
        #expect(try stage.wait { stage.edges.contains(.runsAgain(.playback)) && stage.frames.periods >= 20 })
        stage.pump?.stop()
        #expect(
            Array(stage.edges.prefix(3)) == [.started(.playback), .ranDry(.playback, total: 1), .runsAgain(.playback)]
        )
        #expect(sounds(try card.played(), .float32) == stage.frames.rendered)
    }

    @Test(
        "AUD-11: What a card hears and nobody takes in time is lost, which is told and counted, and it goes on to hear"
    )
    func overruns() throws {
        let card = try SoundCardStandIn()
        try card.hear((0..<96_000).flatMap { bytes(CountedFrames.sample($0), .float32) })
        let stage = try PumpStage(stallAt: 10)
        try stage.begin(recording: SoundPump.End(card.paced(), .short))
        stage.pump?.run([.capture])
        #expect(try stage.wait { stage.edges.contains(.runsAgain(.capture)) && stage.frames.periods >= 20 })
        stage.pump?.stop()
        #expect(
            Array(stage.edges.prefix(3)) == [.started(.capture), .ranDry(.capture, total: 1), .runsAgain(.capture)]
        )
    }

    @Test("A card that is pulled out while it plays is gone, once, and the pump ends well")
    func pulledOut() throws {
        let card = try SoundCardStandIn()
        let stage = try PumpStage()
        try stage.begin(playing: SoundPump.End(card.paced(), .short))
        stage.pump?.run([.playback])
        #expect(try stage.wait { stage.frames.periods >= 5 })
        card.unplug()
        #expect(try stage.wait { stage.edges.contains { if case .gone = $0 { true } else { false } } })
        guard case .gone(.playback, let error)? = stage.edges.last else {
            Issue.record("\(stage.edges)")
            return
        }
        #expect(error.kind == .gone)
        #expect(error.device == card.paced())
        let periods = stage.frames.periods
        stage.pump?.run([.playback])
        stage.pump?.stop()
        #expect(stage.frames.periods == periods)
    }

    @Test("A pump at rest has played everything, and starts again when it is asked to")
    func rests() throws {
        let card = try SoundCardStandIn()
        let stage = try PumpStage()
        try stage.begin(playing: SoundPump.End(card.paced(), .short))
        stage.pump?.run([.playback])
        #expect(try stage.wait { stage.frames.periods >= 5 })
        stage.pump?.run([])
        #expect(try stage.wait { stage.edges.last == .rested(.playback) })
        let periods = stage.frames.periods
        #expect(sounds(try card.played(), .float32) == stage.frames.rendered)
        stage.pump?.run([.playback])
        let starts = { stage.edges.count { $0 == .started(.playback) } }
        #expect(try stage.wait { stage.frames.periods > periods && starts() >= 2 })
        #expect(starts() == 2)
    }

    @Test("A card whose clock is a little wrong is left to its own time for an hour, and one that takes all is not")
    func pace() {
        let grant = SoundGrant(rate: 48_000, format: .float32, channels: 2, periodFrames: 480, bufferFrames: 1_920)
        for part in [0.995, 1, 1.005] {
            var pace = Pace(grant)
            pace.begin(at: 0)
            for period in 1...360_000 {
                let now = Int64(Double(period) * 10_000_000 / part)
                guard pace.allowsPeriod(at: now) else { break }
                pace.count(480)
            }
            #expect(pace.isKept)
        }
        var pace = Pace(grant)
        pace.begin(at: 0)
        var periods = 0
        while pace.allowsPeriod(at: 0) {
            pace.count(480)
            periods += 1
        }
        #expect(!pace.isKept)
        #expect(periods < 5)
        #expect(pace.due == 10_000_000)
    }

    private func bytes(_ sample: Float, _ format: SampleFormat) -> [UInt8] {
        switch format {
        case .float32: (0..<4).map { UInt8(truncatingIfNeeded: sample.bitPattern >> (8 * UInt32($0))) }
        case .signed16:
            (0..<2).map { UInt8(truncatingIfNeeded: SampleConversion.signed16(sample) >> (8 * Int16($0))) }
        }
    }
}
