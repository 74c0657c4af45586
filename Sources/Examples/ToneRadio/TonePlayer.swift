import AVFoundation
import Foundation

/// Plays an A of 440 Hz, half as loud as can be, and goes on after a call.
@MainActor
final class TonePlayer {
    private let engine = AVAudioEngine()
    private let session = AVAudioSession.sharedInstance()
    private var observers: [any NSObjectProtocol] = []

    init() {
        let format = engine.outputNode.inputFormat(forBus: 0)
        let step = 2 * Float.pi * 440 / Float(format.sampleRate)
        // The block alone knows the phase, and runs on one thread.
        nonisolated(unsafe) var phase: Float = 0
        let tone = AVAudioSourceNode { _, _, frameCount, audioBufferList in
            let buffers = UnsafeMutableAudioBufferListPointer(audioBufferList)
            for frame in 0..<Int(frameCount) {
                let sample = 0.5 * sin(phase)
                phase += step
                if phase > 2 * .pi { phase -= 2 * .pi }
                for buffer in buffers {
                    buffer.mData?.assumingMemoryBound(to: Float.self)[frame] = sample
                }
            }
            return noErr
        }
        engine.attach(tone)
        engine.connect(tone, to: engine.mainMixerNode, format: format)
        let center = NotificationCenter.default
        let interruptions = center.addObserver(
            forName: AVAudioSession.interruptionNotification,
            object: nil,
            queue: nil
        ) { [weak self] note in
            let type = note.userInfo?[AVAudioSessionInterruptionTypeKey] as? UInt ?? 0
            let options = note.userInfo?[AVAudioSessionInterruptionOptionKey] as? UInt ?? 0
            MainActor.assumeIsolated { self?.interrupted(type, options) }
        }
        let routes = center.addObserver(
            forName: AVAudioSession.routeChangeNotification,
            object: nil,
            queue: nil
        ) { [weak self] note in
            let reason = note.userInfo?[AVAudioSessionRouteChangeReasonKey] as? UInt ?? 0
            MainActor.assumeIsolated { self?.routeChanged(reason) }
        }
        observers = [interruptions, routes]
    }

    var isPlaying: Bool { engine.isRunning }

    func play() {
        do {
            try session.setCategory(.playback, mode: .default)
            // A tone can wait: longer buffers wake the processor less often.
            try session.setPreferredIOBufferDuration(0.085)
            try session.setActive(true)
            try engine.start()
            log("playing rate=\(Int(session.sampleRate)) buffer=\(Int(session.ioBufferDuration * 1_000))ms")
        } catch {
            log("not playing: \(error.localizedDescription)")
        }
    }

    private func interrupted(_ type: UInt, _ options: UInt) {
        guard AVAudioSession.InterruptionType(rawValue: type) == .ended else {
            log("interrupted playing=\(isPlaying)")
            return
        }
        let shouldResume = AVAudioSession.InterruptionOptions(rawValue: options).contains(.shouldResume)
        log("interruption ended shouldResume=\(shouldResume)")
        if shouldResume { play() }
    }

    private func routeChanged(_ reason: UInt) {
        let name = session.currentRoute.outputs.first?.portName ?? "nowhere"
        log("route changed reason=\(reason) output=\(name)")
    }
}
