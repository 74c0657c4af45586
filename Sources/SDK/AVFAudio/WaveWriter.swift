import Foundation
import Synchronization

/// Writes what is heard into a WAV file, on a queue of its own.
final class WaveWriter: Sendable {
    /// How samples are written.
    struct Layout: Sendable {
        let sampleRate: Double
        let channels: Int
        let isFloat: Bool

        var bytes: Int { isFloat ? 4 : 2 }

        /// The layout that settings ask for.
        init(_ url: URL, _ settings: [String: Any]) throws {
            func number(_ key: String) -> NSNumber? {
                // Numbers of all kinds are given, and bridge.
                switch settings[key] {
                case let value as NSNumber: value
                case let value as UInt32: NSNumber(value: value)
                case let value as Int32: NSNumber(value: value)
                default: nil
                }
            }
            let name = url.lastPathComponent
            guard url.isFileURL, url.pathExtension.lowercased() == "wav" else {
                throw WaveFile.error(
                    0x7479_703F,
                    "\(name) is no WAV file by its name, and this phone records no other; give a URL that ends in .wav"
                )
            }
            guard number(AVFormatIDKey).map({ $0.uint32Value == kAudioFormatLinearPCM }) ?? true else {
                throw WaveFile.error(
                    0x666D_743F,
                    "\(name) is to be recorded in another way than linear PCM, the one that this phone has; give "
                        + "kAudioFormatLinearPCM as AVFormatIDKey"
                )
            }
            isFloat = number(AVLinearPCMIsFloatKey)?.boolValue ?? false
            channels = number(AVNumberOfChannelsKey)?.intValue ?? 1
            sampleRate = number(AVSampleRateKey)?.doubleValue ?? AVAudioEngine.microphoneFormat.sampleRate
            let bits = number(AVLinearPCMBitDepthKey)?.intValue ?? (isFloat ? 32 : 16)
            guard bits == (isFloat ? 32 : 16), (1...2).contains(channels), (1_000...384_000).contains(sampleRate),
                number(AVLinearPCMIsBigEndianKey)?.boolValue != true
            else {
                throw WaveFile.error(
                    0x666D_743F,
                    "\(name) is to have \(bits) bits, \(channels) channels, \(sampleRate) Hz; this phone "
                        + "records 16 bits, or 32 with AVLinearPCMIsFloatKey, little-endian, 1 or 2 channels, 1000 to "
                        + "384000 Hz"
                )
            }
        }
    }

    private struct State {
        var file: FileHandle?
        var isWhole = true
        /// Frames written.
        var frames = 0
        var most: Int?
        var atMost: (@Sendable () -> Void)?
        var resampler: Resampler
        /// What was heard and is not taken by the resampler.
        var heard: [Float] = []
    }

    private let url: URL
    private let layout: Layout
    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "wakebench.recorder")

    init(_ url: URL, _ layout: Layout) {
        self.url = url
        self.layout = layout
        let resampler = Resampler(from: AVAudioEngine.microphoneFormat.sampleRate, to: layout.sampleRate)
        state = Mutex(State(resampler: resampler))
    }

    private func head(_ frames: Int) -> Data {
        Data(
            WaveFile.head(
                sampleRate: layout.sampleRate,
                channels: layout.channels,
                bytes: layout.bytes,
                isFloat: layout.isFloat,
                length: frames * layout.channels * layout.bytes
            )
        )
    }

    /// Makes the file unless it is open; says whether it is.
    func open() -> Bool {
        state.withLock { state in
            if state.file != nil { return true }
            guard FileManager.default.createFile(atPath: url.path, contents: head(0)),
                let file = try? FileHandle(forWritingTo: url), (try? file.seekToEnd()) != nil
            else {
                return false
            }
            let resampler = Resampler(from: AVAudioEngine.microphoneFormat.sampleRate, to: layout.sampleRate)
            let (most, atMost) = (state.most, state.atMost)
            state = State(file: file, most: most, atMost: atMost, resampler: resampler)
            return true
        }
    }

    /// Has no more than so many seconds written, and calls the body at the last.
    func stopAfter(seconds: Double, _ body: @escaping @Sendable () -> Void) {
        let most = Int(min(max(0, seconds), 1_000_000) * layout.sampleRate)
        state.withLock { state in
            state.most = most
            state.atMost = body
        }
    }

    /// The seconds written.
    var seconds: Double { state.withLock { $0.file == nil ? 0 : Double($0.frames) / layout.sampleRate } }

    /// Takes what was heard, on the render thread; it is written on the queue.
    func take(_ buffer: AVAudioPCMBuffer) {
        guard let channels = unsafe buffer.floatChannelData else { return }
        let samples = (0..<Int(buffer.frameLength)).map { unsafe channels[0][$0] }
        queue.async { [self] in write(samples) }
    }

    /// Writes samples of the microphone's rate.
    func write(_ samples: [Float]) {
        let reached = state.withLock { state -> (@Sendable () -> Void)? in
            guard let file = state.file else { return nil }
            var frames = resampled(samples, &state)
            var end: (@Sendable () -> Void)?
            if let most = state.most, state.frames + frames.count >= most {
                frames = Array(frames.prefix(most - state.frames))
                end = state.atMost
                state.atMost = nil
            }
            let bytes = frames.flatMap { sample in
                (0..<layout.channels).flatMap { _ in encoded(sample) }
            }
            if (try? file.write(contentsOf: bytes)) == nil { state.isWhole = false }
            state.frames += frames.count
            return end
        }
        reached?()
    }

    private func resampled(_ samples: [Float], _ state: inout State) -> [Float] {
        guard state.resampler.ratio != 1 else { return samples }
        state.heard += samples
        var count = Int(Double(state.heard.count) / state.resampler.ratio) + 2
        while count > 0, state.resampler.needed(for: count) > state.heard.count { count -= 1 }
        let needed = state.resampler.needed(for: count)
        let heard = state.heard
        state.resampler.take(needed) { frame, _ in heard[frame] }
        state.heard.removeFirst(needed)
        var frames = [Float](repeating: 0, count: count)
        state.resampler.give(count) { frame, side, sample in
            if side == 0 { frames[frame] = sample }
        }
        return frames
    }

    private func encoded(_ sample: Float) -> [UInt8] {
        let bits =
            layout.isFloat ? sample.bitPattern : UInt32(bitPattern: Int32((min(max(sample, -1), 1) * 32_767).rounded()))
        return (0..<layout.bytes).map { UInt8(truncatingIfNeeded: bits >> UInt32(8 * $0)) }
    }

    /// Finishes the file.
    ///
    /// - Returns: whether it is whole; nil when there is none.
    @discardableResult
    func finish() -> Bool? {
        // What was heard before is written first.
        queue.sync {}
        return state.withLock { state in
            guard let file = state.file else { return nil }
            let isWhole =
                state.isWhole && (try? file.seek(toOffset: 0)) != nil
                && (try? file.write(contentsOf: head(state.frames))) != nil
            try? file.close()
            state.file = nil
            (state.most, state.atMost) = (nil, nil)
            return isWhole
        }
    }
}
