import Glibc
import SoundCardStandIn
import Testing
import WakeALSA
import WakeDevices
import WakeModel
import WakePorts
import WakeSystem
@testable import WakeAudio

/// ALSA behind the port, on a card made of files, in this machine's time.
private final class Stage {
    let loop: EventLoop
    let card: SoundCardStandIn
    let audio: ALSAAudio
    private(set) var reports: [SourceReport] = []
    private(set) var notes: [String] = []
    private let began = MonotonicClock.now()
    private let timer: WakeSystem.Timer

    init(_ format: SoundCardStandIn.Format = .float, name: String? = nil, microphone: String? = nil) throws {
        loop = try EventLoop()
        card = try SoundCardStandIn()
        timer = try loop.timer(on: .monotonic) {}
        audio = try ALSAAudio(
            card: name ?? card.paced(format),
            microphone: microphone,
            devices: [],
            names: NameTable(),
            loop: loop
        )
        audio.report = { [weak self] in self?.reports.append($0) }
        audio.note = { [weak self] in self?.notes.append("\($0.number): \($1)") }
    }

    deinit {
        audio.stop()
    }

    var now: Instant { Instant(nanoseconds: MonotonicClock.now() - began) }

    func start() throws { try audio.start(at: now) }

    func play(_ app: UInt32, _ order: AudioStream) { audio.perform(.play(AppID(app), order), at: now) }

    func count(_ kind: EventKind) -> Int { reports.filter { $0.event.kind == kind }.count }

    /// Runs the loop as the bench does, until the condition holds, at most 20 s.
    func wait(until condition: () throws -> Bool) throws -> Bool {
        let end = now.advanced(by: .seconds(20))
        while try !condition() {
            guard now < end else { return false }
            if let due = audio.nextDeadline, due <= now {
                audio.timeReached(now)
                continue
            }
            timer.arm(at: began + min(end, audio.nextDeadline ?? end).nanoseconds)
            try loop.runOnce()
        }
        return true
    }

    /// What was played, without silence.
    func played() throws -> [Float] {
        let bytes = try card.played()
        return stride(from: 0, to: bytes.count - 3, by: 4).compactMap { start in
            let number = bytes[start..<(start + 4)].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            let sample = Float(bitPattern: number)
            return sample == 0 ? nil : sample
        }
    }
}

@Suite("Sound on the cards of this machine", .serialized)
struct ALSAAudioTests {
    private let playing = AudioStream(plays: true, records: false, frames: 512)
    private let recording = AudioStream(plays: false, records: true, frames: 512)

    @Test("What an app renders is played bit by bit, and the app is asked for as much as is played")
    func plays() throws {
        let stage = try Stage()
        try stage.start()
        stage.play(0, playing)
        let app = try SoundingApp(try stage.audio.share(with: AppID(0)), on: stage.loop)
        #expect(try stage.wait { app.rendered.count >= 40_000 })
        stage.audio.stop()
        let played = try stage.played()
        #expect(played.count > 20_000)
        #expect(played == Array(app.rendered.prefix(played.count)))
        // No more than is asked for ahead, and what the card holds.
        #expect(app.rendered.count - played.count <= 2 * (1_024 + 5 * 512))
    }

    @Test("AUD-5: Two apps that mix are added up, the ducked one lower")
    func mixes() throws {
        let stage = try Stage()
        try stage.start()
        stage.play(0, playing)
        var ducked = playing
        ducked.gain = 250
        stage.play(1, ducked)
        let apps = try [AppID(0), AppID(1)].map {
            try SoundingApp(try stage.audio.share(with: $0), on: stage.loop, share: 0.5)
        }
        #expect(try stage.wait { apps.allSatisfy { $0.rendered.count >= 20_000 } })
        stage.audio.stop()
        let played = try stage.played()
        // They begin at the same time or a period apart; from there on the sum is known.
        let start = try #require(played.indices.first { played[$0] == app(0, $0) + app(1, 0) })
        let sums = (start..<played.count).filter { played[$0] == app(0, $0) + app(1, $0 - start) }.count
        #expect(sums == played.count - start)
        #expect(start % 2_048 == 0)
    }

    private func app(_ number: Int, _ index: Int) -> Float {
        let sample = SoundingApp.sample(index) * 0.5
        return number == 0 ? sample : sample * 0.25
    }

    @Test("AUD-10: What the microphone hears reaches an app that may hear it, and silence one that may not")
    func records() throws {
        let stage = try Stage()
        // Both channels of a frame are the same, and so is their mean.
        let samples = (0..<9_600).map(SoundingApp.sample)
        try stage.card.hear(
            samples.flatMap { sample in
                let bytes = (0..<4).map { UInt8(truncatingIfNeeded: sample.bitPattern >> (8 * UInt32($0))) }
                return bytes + bytes
            }
        )
        try stage.start()
        stage.play(0, recording)
        var deaf = recording
        deaf.hears = false
        stage.play(1, deaf)
        let apps = try [AppID(0), AppID(1)].map { try SoundingApp(try stage.audio.share(with: $0), on: stage.loop) }
        #expect(try stage.wait { apps.allSatisfy { $0.heard.count >= 9_600 } })
        let sounds = apps[0].heard.filter { $0 != 0 }
        let first = try #require(sounds.first)
        let place = try #require(samples.firstIndex(of: first))
        #expect(sounds == Array(samples[place...].prefix(sounds.count)))
        #expect(sounds.count > 4_800)
        #expect(apps[1].heard.allSatisfy { $0 == 0 })
    }

    @Test("A sound card that is removed while it plays is a change of route, and apps go on to be asked for sound")
    func removed() throws {
        let stage = try Stage()
        try stage.start()
        stage.play(0, playing)
        let app = try SoundingApp(try stage.audio.share(with: AppID(0)), on: stage.loop)
        #expect(try stage.wait { app.rendered.count >= 8_192 })
        stage.card.unplug()
        #expect(try stage.wait { stage.count(.audioRouteChanged) > 0 })
        let report = try #require(stage.reports.last)
        #expect(report.event.local == UInt32(AudioRouteReason.oldDeviceUnavailable.rawValue))
        #expect(report.payload == .audioRoute(stage.audio.route, previous: .builtIn))
        #expect(stage.audio.route.output == nil)
        let before = app.rendered.count
        #expect(try stage.wait { app.rendered.count >= before + 16_384 })
        #expect(stage.count(.audioRouteChanged) == 1)
    }

    @Test("A microphone that cannot be opened is a change of route, and the app that records is told why")
    func noMicrophone() throws {
        let stage = try Stage(microphone: "hw:NoSuchCard")
        try stage.start()
        stage.play(0, recording)
        #expect(stage.count(.audioRouteChanged) == 1)
        #expect(stage.notes.count == 1)
        #expect(stage.notes.first?.contains("hw:NoSuchCard: snd_pcm_open") == true, "\(stage.notes)")
    }

    @Test("AUD-4: A run of silence longer than the limit is told once, and so is the sound after it")
    func silence() throws {
        let stage = try Stage()
        try stage.start()
        var limited = playing
        limited.silenceLimit = Instant.Span(nanoseconds: 200_000_000)
        stage.play(0, limited)
        let app = try SoundingApp(try stage.audio.share(with: AppID(0)), on: stage.loop)
        app.isSilent = true
        #expect(try stage.wait { stage.count(.audioSilent) > 0 })
        app.isSilent = false
        #expect(try stage.wait { stage.count(.audioAudible) > 0 })
        #expect(stage.count(.audioSilent) == 1)
    }

    @Test("AUD-11: An app that answers no more runs dry, which is counted in its ring and told")
    func late() throws {
        let stage = try Stage()
        try stage.start()
        stage.play(0, playing)
        let app = try SoundingApp(try stage.audio.share(with: AppID(0)), on: stage.loop)
        #expect(try stage.wait { app.rendered.count >= 8_192 })
        app.isLazy = true
        #expect(try stage.wait { stage.count(.audioRanDry) > 0 })
        let report = try #require(stage.reports.first { $0.event.kind == .audioRanDry })
        #expect(report.event.app == AppID(0))
        #expect(report.event.local > 0)
        #expect(try #require(app.output).underruns > 0)
    }

    @Test("AUD-3: A stream that rests asks for nothing and goes on where it was")
    func rests() throws {
        let stage = try Stage()
        try stage.start()
        stage.play(0, playing)
        let app = try SoundingApp(try stage.audio.share(with: AppID(0)), on: stage.loop)
        #expect(try stage.wait { app.rendered.count >= 8_192 })
        var resting = playing
        resting.runs = false
        stage.play(0, resting)
        stage.play(1, AudioStream(plays: true, records: false))
        let other = try SoundingApp(try stage.audio.share(with: AppID(1)), on: stage.loop)
        let before = app.rendered.count
        #expect(try stage.wait { other.rendered.count >= 16_384 })
        // What it was asked for before it may still have rendered.
        #expect(app.rendered.count <= before + 2 * (1_024 + 5 * 512))
        stage.play(0, playing)
        #expect(try stage.wait { app.rendered.count >= before + 16_384 })
    }

    @Test("An app whose memory makes no sense loses its sound, is noted, and takes nobody with it")
    func hostile() throws {
        let stage = try Stage()
        try stage.start()
        stage.play(0, playing)
        stage.play(1, playing)
        let shared = try stage.audio.share(with: AppID(0))
        let other = try SoundingApp(try stage.audio.share(with: AppID(1)), on: stage.loop)
        #expect(try stage.wait { other.rendered.count >= 8_192 })
        let address = unsafe mmap(nil, 4_096, PROT_READ | PROT_WRITE, MAP_SHARED, try #require(shared.output), 0)
        let memory = unsafe try #require(address)
        unsafe memory.storeBytes(of: UInt64(1) << 40, toByteOffset: 64, as: UInt64.self)
        #expect(try stage.wait { stage.count(.audioStopped) > 0 })
        unsafe munmap(memory, 4_096)
        #expect(
            stage.reports.contains { $0.event.kind == .audioStopped && $0.event.failed && $0.event.app == AppID(0) }
        )
        #expect(stage.notes.count == 1)
        let before = other.rendered.count
        #expect(try stage.wait { other.rendered.count >= before + 8_192 })
    }

    @Test("Without the sound card that was named, the start says which is missing and what to do")
    func missing() throws {
        let stage = try Stage(name: "no-such-card")
        let failure = #expect(throws: SourceFailure.self) { try stage.start() }
        #expect(failure?.kind == .environment)
        #expect(failure?.message.hasPrefix("audio=alsa: sound card no-such-card: ") == true)
        #expect(failure?.message.hasSuffix("name a PCM that `aplay -L` lists") == true)
    }
}
