import Foundation
import Testing

@testable import AVFAudio

@Suite("Sound of other rates")
struct ResamplerTests {
    @Test("A tone keeps its pitch whatever its rate, over buffers of all sizes", arguments: [8_000.0, 44_100, 96_000])
    func pitch(rate: Double) {
        var resampler = Resampler(from: rate, to: 48_000)
        var heard: [Float] = []
        for size in [1, 480, 7, 1_024, 4_096, 2, 1_500] {
            let needed = resampler.needed(for: size)
            let before = Int(resampler.given)
            resampler.take(needed) { frame, side in
                side == 0 ? Float(sin(2 * .pi * 100 * Double(before + frame) / rate)) : 0.25
            }
            resampler.give(size) { _, side, sample in
                if side == 0 { heard.append(sample) } else { #expect(sample == 0.25 || heard.count < 8) }
            }
        }
        // The source's first frame follows a frame of silence.
        let late = 48_000 / rate
        let worst = heard.indices.dropFirst(8).map { place in
            abs(heard[place] - Float(sin(2 * .pi * 100 * (Double(place) - late) / 48_000)))
        }.max()
        #expect(worst ?? 1 < 0.001)
        #expect(abs(Double(resampler.given) - Double(heard.count) * rate / 48_000) <= 3)
    }
}
