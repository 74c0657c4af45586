import AVFoundation
import Foundation

/// Records the microphone in memory, and says once a second how loud it is.
@MainActor
final class VoiceRecorder {
    private let engine = AVAudioEngine()
    private let session = AVAudioSession.sharedInstance()

    func begin() {
        session.requestRecordPermission { isAllowed in
            DispatchQueue.main.async { self.record(isAllowed) }
        }
    }

    private func record(_ isAllowed: Bool) {
        log("microphone allowed=\(isAllowed)")
        do {
            try session.setCategory(.record, mode: .measurement)
            try session.setActive(true)
            let format = engine.inputNode.outputFormat(forBus: 0)
            engine.inputNode.installTap(onBus: 0, bufferSize: 4_800, format: format, block: Self.meter())
            try engine.start()
        } catch {
            log("not recording: \(error.localizedDescription)")
        }
    }

    /// Adds up what it hears, and prints a line for each second of it.
    nonisolated private static func meter() -> AVAudioNodeTapBlock {
        // The block alone knows them, and runs on one thread.
        nonisolated(unsafe) var seconds = 0
        nonisolated(unsafe) var frames = 0
        nonisolated(unsafe) var energy: Float = 0
        return { buffer, _ in
            guard let samples = buffer.floatChannelData?[0] else { return }
            for frame in 0..<Int(buffer.frameLength) { energy += samples[frame] * samples[frame] }
            frames += Int(buffer.frameLength)
            guard frames >= 48_000 else { return }
            seconds += 1
            log("heard second=\(seconds) level=\(Int((energy / Float(frames)).squareRoot() * 1_000))")
            (frames, energy) = (0, 0)
        }
    }
}
