import Foundation

/// A result code: 0 is success.
public typealias OSStatus = Int32

/// Success.
public let noErr: OSStatus = 0

/// A number of frames.
public typealias AVAudioFrameCount = UInt32

/// A position in frames.
public typealias AVAudioFramePosition = Int64

/// A number of channels.
public typealias AVAudioChannelCount = UInt32

/// The number of an input or output of a node.
public typealias AVAudioNodeBus = Int

/// The samples of one buffer.
@unsafe
public struct AudioBuffer {
    /// The channels that are interleaved in it.
    public var mNumberChannels: UInt32
    /// Its size in bytes.
    public var mDataByteSize: UInt32
    /// Its samples.
    public var mData: UnsafeMutableRawPointer?

    /// No samples.
    public init() {
        unsafe self.init(mNumberChannels: 0, mDataByteSize: 0, mData: nil)
    }

    /// Samples at an address.
    public init(mNumberChannels: UInt32, mDataByteSize: UInt32, mData: UnsafeMutableRawPointer?) {
        unsafe self.mNumberChannels = mNumberChannels
        unsafe self.mDataByteSize = mDataByteSize
        unsafe self.mData = mData
    }
}

/// Buffers of variable number: the first, behind which the others stand in memory.
@unsafe
public struct AudioBufferList {
    /// How many there are.
    public var mNumberBuffers: UInt32
    /// The first of them.
    public var mBuffers: AudioBuffer

    /// One empty buffer.
    public init() {
        unsafe self.init(mNumberBuffers: 1, mBuffers: AudioBuffer())
    }

    /// A list with its first buffer.
    public init(mNumberBuffers: UInt32, mBuffers: AudioBuffer) {
        unsafe self.mNumberBuffers = mNumberBuffers
        unsafe self.mBuffers = mBuffers
    }

    /// The size of a list of so many buffers, in bytes.
    public static func sizeInBytes(maximumBuffers: Int) -> Int {
        unsafe MemoryLayout<AudioBufferList>.size + max(0, maximumBuffers - 1) * MemoryLayout<AudioBuffer>.stride
    }

    /// Memory for a list of so many buffers, all empty, that the caller frees.
    public static func allocate(maximumBuffers: Int) -> UnsafeMutableAudioBufferListPointer {
        let size = unsafe sizeInBytes(maximumBuffers: maximumBuffers)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        let list = unsafe memory.assumingMemoryBound(to: AudioBufferList.self)
        unsafe list.pointee.mNumberBuffers = UInt32(maximumBuffers)
        return unsafe UnsafeMutableAudioBufferListPointer(list)
    }
}

/// The buffers of a list as a collection.
@unsafe
public struct UnsafeMutableAudioBufferListPointer: @unsafe MutableCollection, @unsafe RandomAccessCollection {
    /// The list.
    public var unsafeMutablePointer: UnsafeMutablePointer<AudioBufferList>

    /// The buffers of a list.
    public init(_ list: UnsafeMutablePointer<AudioBufferList>) {
        unsafe unsafeMutablePointer = list
    }

    /// The buffers of a list; nil for no list.
    public init?(_ list: UnsafeMutablePointer<AudioBufferList>?) {
        guard let list = unsafe list else {
            return nil
        }
        unsafe self.init(list)
    }

    /// The list, not to be changed.
    public var unsafePointer: UnsafePointer<AudioBufferList> {
        unsafe UnsafePointer(unsafeMutablePointer)
    }

    /// How many buffers there are.
    public var count: Int {
        get { unsafe Int(unsafeMutablePointer.pointee.mNumberBuffers) }
        nonmutating set { unsafe unsafeMutablePointer.pointee.mNumberBuffers = UInt32(newValue) }
    }

    /// The first position.
    public var startIndex: Int { 0 }

    /// The position behind the last.
    public var endIndex: Int { unsafe count }

    /// A buffer.
    public subscript(index: Int) -> AudioBuffer {
        get { unsafe address(index).pointee }
        nonmutating set { unsafe address(index).pointee = newValue }
    }

    private func address(_ index: Int) -> UnsafeMutablePointer<AudioBuffer> {
        unsafe precondition(index >= 0 && index < count, "buffer \(index) of \(count)")
        let first =
            unsafe UnsafeMutableRawPointer(unsafeMutablePointer) + MemoryLayout<AudioBufferList>.offset(of: \.mBuffers)!
        return unsafe first.assumingMemoryBound(to: AudioBuffer.self) + index
    }
}

/// Which fields of a time stamp are valid.
public struct AudioTimeStampFlags: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt32

    /// A set from its bits.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The position in frames is valid.
    public static let sampleTimeValid = AudioTimeStampFlags(rawValue: 1)
    /// The time of the machine is valid.
    public static let hostTimeValid = AudioTimeStampFlags(rawValue: 2)
}

/// When a buffer begins.
public struct AudioTimeStamp: Sendable {
    /// In frames from the start of the stream.
    public var mSampleTime: Double
    /// In nanoseconds of the machine's clock, which is not that of the run under virtual time.
    public var mHostTime: UInt64
    /// The rate of the machine's sound against what it should be.
    public var mRateScalar: Double
    /// Which fields are valid.
    public var mFlags: AudioTimeStampFlags

    /// The beginning.
    public init() {
        self.init(mSampleTime: 0, mHostTime: 0)
    }

    /// A position and a time.
    public init(mSampleTime: Double, mHostTime: UInt64) {
        self.mSampleTime = mSampleTime
        self.mHostTime = mHostTime
        mRateScalar = 1
        mFlags = [.sampleTimeValid, .hostTimeValid]
    }
}

/// When a buffer begins.
public final class AVAudioTime: NSObject, @unchecked Sendable {
    /// In nanoseconds of the machine's clock.
    public let hostTime: UInt64
    /// In frames from the start of the stream.
    public let sampleTime: AVAudioFramePosition
    /// Frames a second.
    public let sampleRate: Double

    /// A position, and a time that is not valid when none is given.
    public init(hostTime: UInt64 = 0, sampleTime: AVAudioFramePosition, atRate sampleRate: Double) {
        self.hostTime = hostTime
        self.sampleTime = sampleTime
        self.sampleRate = sampleRate
    }

    /// Whether the position is valid.
    public var isSampleTimeValid: Bool { true }

    /// Whether the time of the machine is valid.
    public var isHostTimeValid: Bool { hostTime != 0 }
}
