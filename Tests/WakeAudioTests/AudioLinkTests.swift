import Glibc
import Testing
import WakeAudio
import WakeModel
import WakeWire

@Suite("Sound in shared memory")
struct AudioLinkTests {
    /// The app's end of a link's output ring.
    private func appEnd(_ link: AudioLink) throws -> AudioRing {
        try AudioRing(
            try #require(link.shared.output),
            .init(channels: AudioFormat.outputChannels, capacity: Int(link.shared.capacity)),
            side: .writer,
            fresh: false
        )
    }

    /// Writes a position into an output ring's memory, as a hostile app may.
    private func forge(_ written: UInt64, in link: AudioLink) throws {
        let address = unsafe mmap(
            nil,
            4_096,
            PROT_READ | PROT_WRITE,
            MAP_SHARED,
            try #require(link.shared.output),
            0
        )
        let memory = unsafe try #require(address)
        unsafe memory.storeBytes(of: written, toByteOffset: 64, as: UInt64.self)
        unsafe munmap(memory, 4_096)
    }

    private func write(_ samples: [Float], to ring: AudioRing) throws -> Int {
        unsafe try ring.write(samples.count / AudioFormat.outputChannels) { piece, before in
            for place in piece.indices {
                unsafe piece[place] = samples[before * AudioFormat.outputChannels + place]
            }
        }
    }

    @Test("What an app writes is mixed sample for sample, round the end of the ring")
    func mixes() throws {
        let link = try AudioLink(plays: true, records: false, frames: 1_024)
        let app = try appEnd(link)
        var mixer = AudioMixer()
        var value: Float = 0
        for _ in 0..<40 {
            let samples = (0..<2_000).map { _ in
                value = value >= 0.5 ? -0.5 : value + 0.000_5
                return value
            }
            #expect(try write(samples, to: app) == 1_000)
            mixer.begin(1_000)
            #expect(try mixer.add(try #require(link.output), gain: AudioFormat.fullGain) == (1_000, false))
            #expect(Array(mixer.sum[..<2_000]) == samples)
        }
    }

    @Test("AUD-5: A ducked app is lower in the mix, and a sum beyond the range is cut")
    func ducks() throws {
        let first = try AudioLink(plays: true, records: false, frames: 256)
        let second = try AudioLink(plays: true, records: false, frames: 256)
        _ = try write([0.5, 0.9], to: try appEnd(first))
        _ = try write([0.5, 0.9], to: try appEnd(second))
        var mixer = AudioMixer()
        mixer.begin(1)
        _ = try mixer.add(try #require(first.output), gain: AudioFormat.fullGain)
        _ = try mixer.add(try #require(second.output), gain: 200)
        #expect(abs(mixer.sum[0] - 0.6) < 0.000_1)
        mixer.clip()
        #expect(mixer.sum[1] == 1)
    }

    @Test("A position that cannot be is refused, and so is one that goes back")
    func hostile() throws {
        let link = try AudioLink(plays: true, records: false, frames: 256)
        let app = try appEnd(link)
        let output = try #require(link.output)
        _ = try write([Float](repeating: 0.1, count: 200), to: app)
        _ = unsafe try output.read(100) { _, _ in }
        for jump in [UInt64(1) << 40, 50] {
            try forge(jump, in: link)
            #expect(throws: AudioRingFault.badPosition(written: jump, read: 100)) { try output.readable() }
        }
    }

    @Test("What is no number is silence, and silence is noticed")
    func notNumbers() throws {
        let link = try AudioLink(plays: true, records: false, frames: 256)
        _ = try write([.nan, .infinity, -.infinity, 0], to: try appEnd(link))
        var mixer = AudioMixer()
        mixer.begin(2)
        #expect(try mixer.add(try #require(link.output), gain: AudioFormat.fullGain) == (2, true))
        #expect(mixer.sum[..<4] == [0, 0, 0, 0])
    }

    @Test("A full ring takes no more, and an empty one gives none")
    func bounds() throws {
        let link = try AudioLink(plays: true, records: true, frames: 256)
        let app = try appEnd(link)
        let much = [Float](repeating: 0.1, count: 2 * (AudioLink.capacity + 10))
        #expect(try write(much, to: app) == AudioLink.capacity)
        #expect(try write([0, 0], to: app) == 0)
        #expect(try link.output?.readable() == AudioLink.capacity)
        let heard = try AudioRing(
            try #require(link.shared.input),
            .init(channels: 1, capacity: AudioLink.capacity),
            side: .reader,
            fresh: false
        )
        #expect(unsafe try heard.read(10) { _, _ in } == 0)
    }
}
