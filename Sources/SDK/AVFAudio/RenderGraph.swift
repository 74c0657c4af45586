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

    private let scratch: UnsafeMutablePointer<Float>
    private let list: UnsafeMutableAudioBufferListPointer
    /// Stereo, interleaved.
    private let mix: UnsafeMutablePointer<Float>
    private var rendered: Int64 = 0
    private var heard: Int64 = 0
    private var tapped: AVAudioPCMBuffer?

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
        let mix = unsafe mix
        let written = unsafe try ring.write(frames) { piece, before in
            for place in piece.indices { unsafe piece[place] = mix[before * 2 + place] }
        }
        rendered += Int64(written)
    }

    private func add(_ source: RenderGraph.Source, _ frames: Int) {
        let format = source.format
        let channels = min(Int(format.channelCount), Self.mostChannels)
        let isInterleaved = format.isInterleaved
        unsafe list.count = isInterleaved ? 1 : channels
        for buffer in 0..<(isInterleaved ? 1 : channels) {
            unsafe list[buffer] = AudioBuffer(
                mNumberChannels: isInterleaved ? UInt32(channels) : 1,
                mDataByteSize: UInt32(frames * 4 * (isInterleaved ? channels : 1)),
                mData: scratch + buffer * frames
            )
        }
        unsafe scratch.update(repeating: 0, count: frames * channels)
        var isSilence = ObjCBool(false)
        var time = AudioTimeStamp(
            mSampleTime: Double(rendered),
            mHostTime: DispatchTime.now().uptimeNanoseconds
        )
        let status = unsafe source.node.block(
            &isSilence,
            &time,
            AVAudioFrameCount(frames),
            list.unsafeMutablePointer
        )
        guard status == noErr, !isSilence.boolValue else {
            return
        }
        let volume = source.volume
        for side in 0..<2 {
            let channel = min(side, channels - 1)
            for frame in 0..<frames {
                let place = isInterleaved ? frame * channels + channel : channel * frames + frame
                unsafe mix[frame * 2 + side] += scratch[place] * volume
            }
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
