import Testing
import WakeAudio
import WakeDevices
import WakeModel
import WakePorts
import WakeSystem
import WakeWire

/// A simulated sound card, its clock, and what it said.
private final class Card {
    let names = NameTable()
    let audio: SimulatedAudio
    private let loop: EventLoop
    private(set) var now = Instant.zero
    private(set) var reports: [SourceReport] = []
    private(set) var notes: [String] = []
    private(set) var heard: [Float] = []

    init(_ device: String? = nil, inRealTime: Bool = false) throws {
        loop = try EventLoop()
        let devices = try device.map { text in
            [
                ScenarioDevice(
                    name: "headset",
                    group: "headset",
                    line: 1,
                    form: .audio(try AudioDevice.parse(Array(text.utf8), file: "headset.yaml"))
                )
            ]
        }
        audio = SimulatedAudio(devices: devices ?? [], names: names, loop: loop, inRealTime: inRealTime)
        audio.report = { [unowned self] in reports.append($0) }
        audio.note = { [unowned self] _, text in notes.append(text) }
        audio.heard = { [unowned self] samples, frames in heard += samples[..<(frames * 2)] }
        try audio.start(at: .zero)
    }

    var kinds: [EventKind] { reports.map(\.event.kind) }

    func wait(_ span: Instant.Span) {
        let end = now.advanced(by: span)
        while let next = audio.nextDeadline, next <= end {
            now = max(now, next)
            audio.timeReached(now)
        }
        now = end
    }

    /// The bench comes late: nothing was looked at meanwhile.
    func sleep(_ span: Instant.Span) {
        now = now.advanced(by: span)
        audio.timeReached(now)
    }

    func forget() { reports = [] }
}

private let radio = AppID(3)

@Suite("The simulated sound card")
struct SimulatedAudioTests {
    private func play(_ card: Card, _ stream: AudioStream) { card.audio.perform(.play(radio, stream), at: card.now) }

    @Test("AUD-4: Silence is said once it has lasted for the limit, and sound as soon as it is back")
    func silence() throws {
        let card = try Card()
        play(card, AudioStream(plays: true, records: false, silenceLimit: .seconds(10)))
        card.audio.pretend(.silence, of: radio, at: card.now)
        card.wait(.milliseconds(9_999))
        #expect(card.kinds == [])
        card.wait(.milliseconds(1))
        #expect(card.kinds == [.audioSilent])
        #expect(card.reports.first?.event.app == radio)
        card.audio.pretend(.tone, of: radio, at: card.now)
        #expect(card.kinds == [.audioSilent, .audioAudible])
    }

    @Test("AUD-4: Who records may be silent, and so may who has no limit or does not run")
    func noSilence() throws {
        for stream in [
            AudioStream(plays: true, records: true, silenceLimit: .seconds(10)),
            AudioStream(plays: true, records: false),
            AudioStream(plays: true, records: false, runs: false, silenceLimit: .seconds(10)),
        ] {
            let card = try Card()
            play(card, stream)
            card.audio.pretend(.silence, of: radio, at: card.now)
            card.wait(.seconds(100))
            #expect(card.kinds == [])
        }
    }

    @Test("AUD-11: A stall is as many late buffers as fit into it, said once")
    func stall() throws {
        let card = try Card()
        play(card, AudioStream(plays: true, records: false))
        card.audio.pretend(.stall(.milliseconds(500)), of: radio, at: card.now)
        card.wait(.seconds(5))
        #expect(card.kinds == [.audioRanDry])
        #expect(card.reports.first?.event.local == 23)
    }

    @Test("A device that is plugged in is the way of sound, and the phone again when it is pulled out")
    func routes() throws {
        let card = try Card(
            "device: audio-device\nname: Buds\noutput: headphones\nfaults: [{name: out, removed: true}]\n"
        )
        try card.audio.plug("headset", true, at: .zero)
        #expect(card.audio.route.output == .init(.headphones, name: "Buds"))
        #expect(card.audio.route.input == AudioRoute.builtIn.input)
        #expect(card.reports.last?.payload == .audioRoute(card.audio.route, previous: .builtIn))
        try card.audio.plug("headset", true, at: .zero)
        #expect(card.reports.count == 1)
        try card.audio.arm(fault: "out", device: "headset", at: .zero)
        #expect(card.reports.last?.event.local == UInt32(AudioRouteReason.oldDeviceUnavailable.rawValue))
        #expect(card.audio.route == .builtIn)
        #expect(throws: SourceFailure(.unknown, "no sound device is called 'ghost'")) {
            try card.audio.plug("ghost", true, at: .zero)
        }
    }

    @Test("An xrun storm makes buffers late of everyone who plays")
    func storm() throws {
        let card = try Card("device: audio-device\nname: Buds\noutput: usb\nfaults: [{name: storm, underruns: 200}]\n")
        play(card, AudioStream(plays: true, records: false))
        card.audio.perform(.play(AppID(4), AudioStream(plays: true, records: false, runs: false)), at: .zero)
        try card.audio.arm(fault: "storm", device: "headset", at: .zero)
        #expect(card.kinds == [.audioRanDry])
        #expect(card.reports.first?.event.local == 200)
    }

    /// The app's end of the output ring.
    private func appEnd(_ card: Card) throws -> AudioRing {
        let shared = try card.audio.share(with: radio)
        return try AudioRing(
            try #require(shared.output),
            .init(channels: 2, capacity: Int(shared.capacity)),
            side: .writer,
            fresh: false
        )
    }

    private func render(_ ring: AudioRing, _ value: Float) throws {
        while ring.position < ring.wanted {
            _ = unsafe try ring.write(Int(ring.wanted - ring.position)) { piece, _ in
                for place in piece.indices { unsafe piece[place] = value }
            }
        }
    }

    @Test("Time waits for an app that shares memory, and each buffer is played once")
    func pulls() throws {
        let card = try Card()
        play(card, AudioStream(plays: true, records: false, frames: 480))
        let ring = try appEnd(card)
        card.wait(.zero)
        for step in 0..<10 {
            #expect(!card.audio.isQuiet)
            try render(ring, Float(step + 1) / 100)
            #expect(card.audio.isQuiet)
            card.wait(.milliseconds(10))
        }
        let buffers = stride(from: 0, to: card.heard.count, by: 960).map { card.heard[$0] }
        #expect(buffers.prefix(2) == [0, 0.01])
        #expect(card.heard.count >= 9 * 960)
        #expect(ring.underruns == 0)
    }

    @Test("AUD-11: What was not rendered when it is due is late, in the ring and in the report")
    func late() throws {
        let card = try Card()
        play(card, AudioStream(plays: true, records: false, frames: 480))
        let ring = try appEnd(card)
        card.wait(.milliseconds(10))
        card.audio.giveUpWaiting(at: card.now)
        #expect(card.audio.isQuiet)
        card.wait(.milliseconds(10))
        #expect(ring.underruns >= 1)
        #expect(card.kinds == [.audioRanDry])
    }

    @Test("AUD-11: In real time an app is asked ahead, and a bench that comes late does not count that as the app's")
    func lateBench() throws {
        let card = try Card(inRealTime: true)
        play(card, AudioStream(plays: true, records: false, frames: 480))
        let ring = try appEnd(card)
        card.wait(.zero)
        #expect(ring.wanted == 3 * 480)
        while ring.position < ring.wanted { _ = unsafe try ring.write(480) { _, _ in } }
        for _ in 0..<3 {
            card.sleep(.seconds(1))
            #expect(ring.underruns == 0)
        }
        card.sleep(.seconds(1))
        #expect(ring.underruns == 1)
        #expect(card.kinds == [.audioRanDry])
    }

    @Test("Another direction is another stream, and its end is told to the app")
    func newDirections() throws {
        let card = try Card()
        play(card, AudioStream(plays: true, records: false))
        let ring = try appEnd(card)
        play(card, AudioStream(plays: true, records: false, runs: false))
        #expect(!ring.hasEnded)
        play(card, AudioStream(plays: true, records: true))
        #expect(ring.hasEnded)
        #expect(try card.audio.share(with: radio).input != nil)
        card.audio.perform(.stop(radio), at: card.now)
        #expect(throws: SourceFailure(.unknown, "app 3 has no stream")) { try card.audio.share(with: radio) }
        #expect(card.audio.nextDeadline == nil)
    }

    @Test("AUD-10: The microphone gives what the device hears, and silence to who may not")
    func microphone() throws {
        for hears in [true, false] {
            let card = try Card(
                "device: audio-device\nname: Buds\ninput: headset-microphone\nhears: {tone: 1000}\nplugged: true\n"
            )
            play(card, AudioStream(plays: false, records: true, frames: 480, hears: hears))
            let shared = try card.audio.share(with: radio)
            let ring = try AudioRing(
                try #require(shared.input),
                .init(channels: 1, capacity: Int(shared.capacity)),
                side: .reader,
                fresh: false
            )
            card.wait(.milliseconds(10))
            var samples: [Float] = []
            _ = unsafe try ring.read(480) { piece, _ in
                for place in piece.indices { unsafe samples.append(piece[place]) }
            }
            #expect(samples.count == 480)
            let loudest = samples.map { abs($0) }.max() ?? 0
            #expect(hears ? loudest > 0.499 : loudest == 0)
        }
    }
}
