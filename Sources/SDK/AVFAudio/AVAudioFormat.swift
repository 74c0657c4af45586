import Foundation

/// How samples are written.
public enum AVAudioCommonFormat: UInt, Sendable {
    /// Anything else.
    case otherFormat = 0
    /// 32-bit floating point.
    case pcmFormatFloat32 = 1
    /// 64-bit floating point.
    case pcmFormatFloat64 = 2
    /// 16-bit integers.
    case pcmFormatInt16 = 3
    /// 32-bit integers.
    case pcmFormatInt32 = 4
}

/// The form of sound: the emulated phone renders Float32 alone.
public final class AVAudioFormat: NSObject, @unchecked Sendable {
    /// How samples are written.
    public let commonFormat: AVAudioCommonFormat
    /// Frames a second.
    public let sampleRate: Double
    /// Samples of one frame.
    public let channelCount: AVAudioChannelCount
    /// Whether the channels of a frame stand side by side in one buffer.
    public let isInterleaved: Bool

    /// A form of sound; nil when it makes no sense.
    public init?(
        commonFormat: AVAudioCommonFormat,
        sampleRate: Double,
        channels: AVAudioChannelCount,
        interleaved: Bool
    ) {
        guard sampleRate > 0, sampleRate <= 1_000_000, (1...8).contains(channels) else {
            return nil
        }
        self.commonFormat = commonFormat
        self.sampleRate = sampleRate
        channelCount = channels
        isInterleaved = interleaved
    }

    /// Float32 with a buffer for each channel; nil when it makes no sense.
    public convenience init?(standardFormatWithSampleRate sampleRate: Double, channels: AVAudioChannelCount) {
        self.init(commonFormat: .pcmFormatFloat32, sampleRate: sampleRate, channels: channels, interleaved: false)
    }

    /// Whether it is Float32 with a buffer for each channel.
    public var isStandard: Bool { commonFormat == .pcmFormatFloat32 && !isInterleaved }

    /// Whether both say the same.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? AVAudioFormat else {
            return false
        }
        return commonFormat == other.commonFormat && sampleRate == other.sampleRate
            && channelCount == other.channelCount && isInterleaved == other.isInterleaved
    }

    /// The same for equal formats.
    public override var hash: Int { Int(sampleRate) &* 31 &+ Int(channelCount) }

    /// For people.
    public override var description: String {
        "<AVAudioFormat: \(channelCount) ch, \(Int(sampleRate)) Hz, \(isInterleaved ? "interleaved" : "deinterleaved")>"
    }
}

/// Samples in memory, Float32.
@safe
public class AVAudioPCMBuffer: NSObject, @unchecked Sendable {
    /// The form of the sound.
    public let format: AVAudioFormat
    /// Frames for which there is room.
    public let frameCapacity: AVAudioFrameCount
    /// Frames that are there, at most ``frameCapacity``.
    public var frameLength: AVAudioFrameCount {
        didSet { frameLength = min(frameLength, frameCapacity) }
    }
    private let samples: UnsafeMutablePointer<Float>
    private let channels: UnsafeMutablePointer<UnsafeMutablePointer<Float>>

    /// Room for so many frames; nil when the format is not Float32.
    public init?(pcmFormat format: AVAudioFormat, frameCapacity: AVAudioFrameCount) {
        guard format.commonFormat == .pcmFormatFloat32 else {
            return nil
        }
        self.format = format
        self.frameCapacity = frameCapacity
        frameLength = 0
        let count = Int(format.channelCount)
        unsafe samples = .allocate(capacity: max(1, Int(frameCapacity) * count))
        unsafe samples.initialize(repeating: 0, count: max(1, Int(frameCapacity) * count))
        unsafe channels = .allocate(capacity: count)
        for channel in 0..<count {
            let offset = format.isInterleaved ? channel : channel * Int(frameCapacity)
            unsafe (channels + channel).initialize(to: samples + offset)
        }
    }

    deinit {
        unsafe samples.deallocate()
        unsafe channels.deallocate()
    }

    /// The first sample of each channel; the next is ``stride`` further on.
    public var floatChannelData: UnsafePointer<UnsafeMutablePointer<Float>>? {
        unsafe UnsafePointer(channels)
    }

    /// From one sample of a channel to the next.
    public var stride: Int { format.isInterleaved ? Int(format.channelCount) : 1 }
}
