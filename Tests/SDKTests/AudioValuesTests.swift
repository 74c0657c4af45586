import AVFoundation
import Testing

@Suite("The values of sound")
struct AudioValuesTests {
    @Test("Formats are equal when they say the same, and nil when they make no sense")
    func formats() throws {
        let stereo = try #require(AVAudioFormat(standardFormatWithSampleRate: 48_000, channels: 2))
        #expect(stereo.isStandard && !stereo.isInterleaved && stereo.channelCount == 2)
        #expect(stereo == AVAudioFormat(standardFormatWithSampleRate: 48_000, channels: 2))
        #expect(stereo != AVAudioFormat(standardFormatWithSampleRate: 44_100, channels: 2))
        #expect(AVAudioFormat(standardFormatWithSampleRate: 0, channels: 2) == nil)
        #expect(AVAudioFormat(standardFormatWithSampleRate: 48_000, channels: 9) == nil)
    }

    @Test("A buffer has room for its frames, and no more, in each channel")
    func buffers() throws {
        let format = try #require(AVAudioFormat(standardFormatWithSampleRate: 48_000, channels: 2))
        let buffer = try #require(AVAudioPCMBuffer(pcmFormat: format, frameCapacity: 100))
        buffer.frameLength = 200
        #expect(buffer.frameLength == 100)
        let channels = unsafe try #require(buffer.floatChannelData)
        unsafe channels[0][99] = 1
        unsafe channels[1][0] = 2
        #expect(unsafe channels[0][99] == 1)
        #expect(unsafe channels[1] == channels[0] + 100)
        let integers = AVAudioFormat(commonFormat: .pcmFormatInt16, sampleRate: 8_000, channels: 1, interleaved: true)
        #expect(AVAudioPCMBuffer(pcmFormat: try #require(integers), frameCapacity: 1) == nil)
    }

    @Test("A list of buffers is laid out as in C")
    func lists() {
        let list = unsafe AudioBufferList.allocate(maximumBuffers: 3)
        defer { unsafe UnsafeMutableRawPointer(list.unsafeMutablePointer).deallocate() }
        for place in 0..<3 {
            unsafe list[place] = AudioBuffer(mNumberChannels: UInt32(place), mDataByteSize: 4, mData: nil)
        }
        #expect(unsafe list.map { unsafe $0.mNumberChannels } == [0, 1, 2])
        let memory = unsafe UnsafeMutableRawPointer(list.unsafeMutablePointer)
        #expect(unsafe memory.load(as: UInt32.self) == 3)
        #expect(unsafe memory.load(fromByteOffset: 8 + 16, as: UInt32.self) == 1)
        #expect(unsafe AudioBufferList.sizeInBytes(maximumBuffers: 3) == 8 + 3 * 16)
    }

    @Test("Codes and numbers are Apple's")
    func numbers() {
        #expect(AVAudioSession.ErrorCode.cannotInterruptOthers.rawValue == 0x2169_6e74)
        #expect(AVAudioSession.ErrorCode.insufficientPriority.rawValue == 0x2170_7269)
        #expect(AVAudioSession.ErrorCode.cannotStartPlaying.rawValue == 0x2170_6c61)
        #expect(AVAudioSession.ErrorCode.incompatibleCategory.rawValue == 0x2163_6174)
        #expect(AVAudioSession.ErrorCode.resourceNotAvailable.rawValue == 0x2172_6573)
        #expect(AVAudioSession.CategoryOptions.interruptSpokenAudioAndMixWithOthers.contains(.mixWithOthers))
        #expect(AVAudioSession.InterruptionReason.appWasSuspended.rawValue == 1)
        #expect(AVAudioSession.RouteChangeReason.oldDeviceUnavailable.rawValue == 2)
    }
}
