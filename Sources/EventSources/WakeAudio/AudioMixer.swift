import WakeModel
import WakeWire

/// Adds the sound of several apps to one buffer of the phone's output, in stereo.
///
/// Allocates nothing after it was made, so that a sound card's thread may use it.
package struct AudioMixer {
    /// The sum so far, interleaved; at most ``AudioFormat/lockedFrames`` frames.
    package private(set) var sum: [Float]
    /// The frames of the buffer at hand.
    package private(set) var frames = 0

    package init() {
        sum = [Float](repeating: 0, count: Int(AudioFormat.lockedFrames) * AudioFormat.outputChannels)
    }

    /// Begins a buffer of silence.
    ///
    /// - Parameter frames: At most ``AudioFormat/lockedFrames``.
    package mutating func begin(_ frames: Int) {
        self.frames = min(max(0, frames), Int(AudioFormat.lockedFrames))
        for place in 0..<self.frames * AudioFormat.outputChannels { sum[place] = 0 }
    }

    /// Adds what an app has rendered, at most the buffer's frames.
    ///
    /// - Parameter gain: In thousandths.
    /// - Returns: How many frames there were, and whether all of them were silent.
    package mutating func add(_ ring: AudioRing, gain: UInt16) throws(AudioRingFault) -> (frames: Int, silent: Bool) {
        var silent = true
        let factor = Float(gain) / Float(AudioFormat.fullGain)
        let channels = AudioFormat.outputChannels
        var sum = self.sum
        self.sum = []
        defer { self.sum = sum }
        let count = unsafe try ring.read(frames) { samples, before in
            for place in samples.indices {
                let sample = unsafe samples[place]
                // The app writes what it likes into its own memory: what is no number is silence.
                guard sample.isFinite, sample != 0 else { continue }
                if abs(sample) > Self.audible { silent = false }
                sum[before * channels + place] += sample * factor
            }
        }
        return (count, silent)
    }

    /// Cuts the sum to the range that a sound card plays.
    package mutating func clip() {
        for place in 0..<frames * AudioFormat.outputChannels { sum[place] = min(1, max(-1, sum[place])) }
    }

    /// The quietest sample that counts as sound: the last bit of 16 (AUD-4).
    package static let audible: Float = 1.0 / 32_768
}
