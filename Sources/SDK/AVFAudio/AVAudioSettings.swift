/// Names a way of writing sound.
public typealias AudioFormatID = UInt32

/// Linear PCM, the one way in which this phone records.
public let kAudioFormatLinearPCM: AudioFormatID = 0x6C70_636D
/// AAC, which this phone does not record.
public let kAudioFormatMPEG4AAC: AudioFormatID = 0x6161_6320
/// Apple Lossless, which this phone does not record.
public let kAudioFormatAppleLossless: AudioFormatID = 0x616C_6163

/// The way of writing sound, an ``AudioFormatID``.
public let AVFormatIDKey = "AVFormatIDKey"
/// Frames a second.
public let AVSampleRateKey = "AVSampleRateKey"
/// Samples of a frame.
public let AVNumberOfChannelsKey = "AVNumberOfChannelsKey"
/// Bits of a sample of linear PCM.
public let AVLinearPCMBitDepthKey = "AVLinearPCMBitDepthKey"
/// Whether samples of linear PCM have the most significant byte first.
public let AVLinearPCMIsBigEndianKey = "AVLinearPCMIsBigEndianKey"
/// Whether samples of linear PCM have a fraction.
public let AVLinearPCMIsFloatKey = "AVLinearPCMIsFloatKey"
/// Whether channels of linear PCM stand one after the other.
public let AVLinearPCMIsNonInterleaved = "AVLinearPCMIsNonInterleaved"
/// How well an encoder works, an ``AVAudioQuality``; linear PCM has none.
public let AVEncoderAudioQualityKey = "AVEncoderQualityKey"
/// Bits a second of an encoder; linear PCM has none.
public let AVEncoderBitRateKey = "AVEncoderBitRateKey"

/// How well an encoder works.
public enum AVAudioQuality: Int, Sendable {
    /// The least.
    case min = 0
    /// Little.
    case low = 0x20
    /// In between.
    case medium = 0x40
    /// Well.
    case high = 0x60
    /// As well as can be.
    case max = 0x7F
}
