import Foundation
import Synchronization
import WakeClient

/// The engine of the app's players and recorder: an app has one stream, which they share.
final class AppStream: Sendable {
    static let shared = AppStream()

    struct Hearing: Sendable {
        let owner: ObjectIdentifier
        let block: AVAudioNodeTapBlock
    }

    private struct State {
        var engine: AVAudioEngine?
        var sources: [AVAudioSourceNode] = []
        var hearing: Hearing?

        /// What an interruption stopped stays so until the app plays it again.
        mutating func forgetStopped() {
            if engine?.isRunning == true { return }
            (engine, sources, hearing) = (nil, [], nil)
        }

        /// Makes the engine anew, for a stream that plays and records what is wanted now.
        ///
        /// The new stream takes the place of the old one at the bench, so that the app sounds all the while.
        mutating func restart() throws {
            let old = engine.take()
            if sources.isEmpty, hearing == nil {
                old?.stop()
                return
            }
            let new = AVAudioEngine()
            for source in sources {
                new.attach(source)
                new.connect(source, to: new.mainMixerNode, format: source.format)
            }
            if let hearing { new.inputNode.installTap(onBus: 0, bufferSize: 1_024, format: nil, block: hearing.block) }
            do {
                try new.start()
                old?.wasStopped()
            } catch {
                old?.stop()
                throw error
            }
            engine = new
        }
    }

    private let state = Mutex(State())

    private func checkFree(_ engine: AVAudioEngine?) throws {
        if AVAudioSession.engines.isRunning(beside: engine) {
            throw AVAudioSession.error(.resourceNotAvailable, "an AVAudioEngine of the app has the phone's one stream")
        }
    }

    /// Begins to play a source.
    ///
    /// - Throws: What ``AVAudioEngine/start()`` does, and an error when an engine of the app's own runs.
    func play(_ source: AVAudioSourceNode) throws {
        try state.withLock { state in
            state.forgetStopped()
            try checkFree(state.engine)
            if state.sources.contains(where: { $0 === source }) { return }
            state.sources.append(source)
            if let engine = state.engine, state.sources.count > 1 {
                engine.attach(source)
                engine.connect(source, to: engine.mainMixerNode, format: source.format)
                return
            }
            do {
                try state.restart()
            } catch {
                state.sources.removeAll { $0 === source }
                throw error
            }
        }
    }

    /// Plays a source no more.
    func stop(_ source: AVAudioSourceNode) {
        state.withLock { state in
            guard state.sources.contains(where: { $0 === source }) else { return }
            state.sources.removeAll { $0 === source }
            state.engine?.detach(source)
            if state.sources.isEmpty { try? state.restart() }
        }
    }

    /// Whether a source is played.
    func plays(_ source: AVAudioSourceNode) -> Bool {
        state.withLock { state in
            state.engine?.isRunning == true && state.sources.contains { $0 === source }
        }
    }

    /// Begins to hear; there is one who does so at a time.
    ///
    /// - Throws: What ``AVAudioEngine/start()`` does, and an error when an engine of the app's own runs.
    func hear(_ hearing: Hearing) throws {
        try state.withLock { state in
            state.forgetStopped()
            try checkFree(state.engine)
            state.hearing = hearing
            do {
                try state.restart()
            } catch {
                state.hearing = nil
                throw error
            }
        }
    }

    /// Hears no more.
    func stopHearing(_ owner: ObjectIdentifier) {
        state.withLock { state in
            guard state.hearing?.owner == owner else { return }
            state.hearing = nil
            try? state.restart()
        }
    }

    /// Whether somebody hears.
    func hears(_ owner: ObjectIdentifier) -> Bool {
        state.withLock { $0.engine?.isRunning == true && $0.hearing?.owner == owner }
    }
}
