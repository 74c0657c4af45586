import AVFoundation
import UIKit

/// The sound of a call: a tone stands for the other's voice, whose RTP (RFC 3550) this example leaves out.
///
/// With the background mode audio it goes on, and with it the app, for as long as the call lasts.
@MainActor
final class CallSound {
    private let engine = AVAudioEngine()
    private let session = AVAudioSession.sharedInstance()

    init() {
        let format = engine.outputNode.inputFormat(forBus: 0)
        let step = 2 * Float.pi * 425 / Float(format.sampleRate)
        // The block alone knows the phase, and runs on one thread.
        nonisolated(unsafe) var phase: Float = 0
        let voice = AVAudioSourceNode { _, _, frameCount, audioBufferList in
            let buffers = UnsafeMutableAudioBufferListPointer(audioBufferList)
            for frame in 0..<Int(frameCount) {
                let sample = 0.25 * sin(phase)
                phase += step
                if phase > 2 * .pi { phase -= 2 * .pi }
                for buffer in buffers {
                    buffer.mData?.assumingMemoryBound(to: Float.self)[frame] = sample
                }
            }
            return noErr
        }
        engine.attach(voice)
        engine.connect(voice, to: engine.mainMixerNode, format: format)
    }

    func begin() {
        do {
            try session.setCategory(.playAndRecord, mode: .voiceChat)
            // A phone with its screen locked plays in buffers this long by itself; in a call one does not hear it.
            try session.setPreferredIOBufferDuration(0.085)
            try session.setActive(true)
            try engine.start()
            log("call sounds")
        } catch {
            log("no sound: \(error.localizedDescription)")
        }
    }

    func end() {
        engine.stop()
        try? session.setActive(false, options: .notifyOthersOnDeactivation)
    }
}
