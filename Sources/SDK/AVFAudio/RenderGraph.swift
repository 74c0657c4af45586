import Foundation
import WakeWire

/// What the render thread does with a buffer: a picture of an engine's nodes at one moment.
struct RenderGraph: Sendable {
    struct Source: Sendable {
        let node: AVAudioSourceNode
        /// On the way to the output.
        let mixers: [AVAudioMixerNode]
        let format: AVAudioFormat

        var volume: Float { mixers.reduce(node.volume) { $0 * $1.outputVolume } }
    }

    var sources: [Source] = []
    var sinks: [AVAudioSinkNode] = []
    var tap: AVAudioNode.Tap?
}

/// Renders the buffers of one stream, on one thread.
@safe final class Renderer {
    private static let mostFrames = 16_384
    private static let mostChannels = 8
    private static let rate = AVAudioEngine.hardwareFormat.sampleRate

    private let scratch: UnsafeMutablePointer<Float>
    private let list: UnsafeMutableAudioBufferListPointer
    /// Stereo, interleaved.
    private let mix: UnsafeMutablePointer<Float>
    private var rendered: Int64 = 0
    private var heard: Int64 = 0
    private var tapped: AVAudioPCMBuffer?
    /// Of sources of another rate.
    private var resamplers: [ObjectIdentifier: Resampler] = [:]

    init() {
        unsafe scratch = .allocate(capacity: Self.mostFrames * Self.mostChannels)
        unsafe scratch.initialize(repeating: 0, count: Self.mostFrames * Self.mostChannels)
        unsafe mix = .allocate(capacity: Self.mostFrames * 2)
        unsafe mix.initialize(repeating: 0, count: Self.mostFrames * 2)
        unsafe list = AudioBufferList.allocate(maximumBuffers: Self.mostChannels)
    }

    deinit {
        unsafe scratch.deallocate()
        unsafe mix.deallocate()
        unsafe UnsafeMutableRawPointer(list.unsafeMutablePointer).deallocate()
    }

    /// Renders up to so many frames into an output ring.
    func play(_ graph: RenderGraph, _ frames: Int, into ring: AudioRing) throws(AudioRingFault) {
        let frames = min(frames, Self.mostFrames)
        unsafe mix.update(repeating: 0, count: frames * 2)
        for source in graph.sources { add(source, frames) }
        if resamplers.count > graph.sources.count {
            let names = Set(graph.sources.map { ObjectIdentifier($0.node) })
            resamplers = resamplers.filter { names.contains($0.key) }
        }
        let mix = unsafe mix
        let written = unsafe try ring.write(frames) { piece, before in
            for place in piece.indices { unsafe piece[place] = mix[before * 2 + place] }
        }
        rendered += Int64(written)
    }

    private func add(_ source: RenderGraph.Source, _ frames: Int) {
        let rate = source.format.sampleRate
        guard rate != Self.rate else {
            if render(source, frames, since: rendered) { addAsIs(source, frames) }
            return
        }
        let name = ObjectIdentifier(source.node)
        let known = resamplers[name].flatMap { $0.ratio == rate / Self.rate ? $0 : nil }
        var resampler = known ?? Resampler(from: rate, to: Self.rate)
        // So many that what they need has room.
        let most = max(1, Int(Double(Self.mostFrames - 4) / resampler.ratio))
        var done = 0
        while done < frames {
            let piece = min(most, frames - done)
            addResampled(source, done..<(done + piece), &resampler)
            done += piece
        }
        resamplers[name] = resampler
    }

    /// Has a source fill the scratch.
    ///
    /// - Returns: whether there is something to hear.
    private func render(_ source: RenderGraph.Source, _ frames: Int, since: Int64) -> Bool {
        let format = source.format
        let channels = Self.channels(of: format)
        unsafe list.count = format.isInterleaved ? 1 : channels
        for buffer in 0..<(format.isInterleaved ? 1 : channels) {
            unsafe list[buffer] = AudioBuffer(
                mNumberChannels: format.isInterleaved ? UInt32(channels) : 1,
                mDataByteSize: UInt32(frames * 4 * (format.isInterleaved ? channels : 1)),
                mData: scratch + buffer * frames
            )
        }
        unsafe scratch.update(repeating: 0, count: frames * channels)
        var isSilence = ObjCBool(false)
        var time = AudioTimeStamp(mSampleTime: Double(since), mHostTime: DispatchTime.now().uptimeNanoseconds)
        let status = unsafe source.node.block(
            &isSilence,
            &time,
            AVAudioFrameCount(frames),
            list.unsafeMutablePointer
        )
        return status == noErr && !isSilence.boolValue
    }

    private static func channels(of format: AVAudioFormat) -> Int { min(Int(format.channelCount), mostChannels) }

    /// Where a side's samples of so many frames in the scratch are; a single channel is for both sides.
    private static func layout(of side: Int, _ frames: Int, in format: AVAudioFormat) -> (start: Int, stride: Int) {
        let channels = channels(of: format)
        let channel = min(side, channels - 1)
        return format.isInterleaved ? (channel, channels) : (channel * frames, 1)
    }

    private func addAsIs(_ source: RenderGraph.Source, _ frames: Int) {
        let volume = source.volume
        for side in 0..<2 {
            let (start, stride) = Self.layout(of: side, frames, in: source.format)
            for frame in 0..<frames { unsafe mix[frame * 2 + side] += scratch[start + frame * stride] * volume }
        }
    }

    private func addResampled(_ source: RenderGraph.Source, _ frames: Range<Int>, _ resampler: inout Resampler) {
        let needed = resampler.needed(for: frames.count)
        let isHeard = render(source, needed, since: resampler.given)
        let (scratch, mix) = unsafe (scratch, mix)
        let sides = [0, 1].map { Self.layout(of: $0, needed, in: source.format) }
        resampler.take(needed) { frame, side in
            isHeard ? unsafe scratch[sides[side].start + frame * sides[side].stride] : 0
        }
        let volume = source.volume
        resampler.give(frames.count) { frame, side, sample in
            unsafe mix[(frames.lowerBound + frame) * 2 + side] += sample * volume
        }
    }

    /// Reads up to so many frames of an input ring and hands them on.
    func hear(_ graph: RenderGraph, _ frames: Int, from ring: AudioRing) throws(AudioRingFault) {
        let scratch = unsafe scratch
        let count = unsafe try ring.read(min(frames, Self.mostFrames)) { piece, before in
            for place in piece.indices { unsafe scratch[before + place] = piece[place] }
        }
        guard count > 0 else {
            return
        }
        var time = AudioTimeStamp(mSampleTime: Double(heard), mHostTime: DispatchTime.now().uptimeNanoseconds)
        for sink in graph.sinks {
            unsafe list.count = 1
            unsafe list[0] = AudioBuffer(mNumberChannels: 1, mDataByteSize: UInt32(count * 4), mData: scratch)
            _ = unsafe sink.block(&time, AVAudioFrameCount(count), list.unsafePointer)
        }
        if let tap = graph.tap { collect(count, for: tap) }
        heard += Int64(count)
    }

    /// Gathers frames until a tap's buffer is full.
    private func collect(_ count: Int, for tap: AVAudioNode.Tap) {
        var taken = 0
        while taken < count {
            let buffer =
                tapped
                ?? AVAudioPCMBuffer(
                    pcmFormat: AVAudioEngine.microphoneFormat,
                    frameCapacity: AVAudioFrameCount(tap.frames)
                )!
            let length = Int(buffer.frameLength)
            let part = min(count - taken, Int(buffer.frameCapacity) - length)
            let samples = unsafe buffer.floatChannelData![0]
            for frame in 0..<part { unsafe samples[length + frame] = scratch[taken + frame] }
            buffer.frameLength = AVAudioFrameCount(length + part)
            taken += part
            tapped = buffer
            if buffer.frameLength == buffer.frameCapacity {
                let end = heard + Int64(taken)
                tapped = nil
                tap.block(
                    buffer,
                    AVAudioTime(
                        hostTime: DispatchTime.now().uptimeNanoseconds,
                        sampleTime: end - Int64(buffer.frameLength),
                        atRate: AVAudioEngine.microphoneFormat.sampleRate
                    )
                )
            }
        }
    }
}
